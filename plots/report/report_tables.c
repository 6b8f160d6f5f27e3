// Tables of the report: samplers, and claims with their verdicts.
#include "plots/page/curves.h"
#include "plots/report/report.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

// A table: a data set at a temperature.
struct block {
    const struct hn_groups *groups;
    int dataset, temperature;
};

// -1 where the setting has no row in it.
static int64_t last_step(const struct block *b, int setting) {
    return hn_last_step(b->groups, b->dataset, b->temperature, setting, "step");
}

static struct hn_mean last_mean(const struct block *b, int setting, const char *column) {
    struct hn_where where = {b->dataset, b->temperature, setting, last_step(b, setting)};
    struct hn_mean none = {NAN, NAN, 0};
    return where.step < 0 ? none : hn_groups_mean(b->groups, where, column);
}

struct row {
    const struct block *block;
    int setting;
};

static void put_sampler(FILE *html, const struct hn_html_column *c, const void *of) {
    const struct row *row = of;
    (void)c;
    hn_html(html, "<th scope=row>%s</th>", row->block->groups->setting[row->setting].sampler);
}

static void put_options(FILE *html, const struct hn_html_column *c, const void *of) {
    const struct row *row = of;
    const struct hn_setting *setting = &row->block->groups->setting[row->setting];
    const char *options = hn_setting_options(setting);
    (void)c;
    hn_html(html, "<td class=options title=\"%s\">%s</td>", setting->params,
            strcmp(options, setting->sampler) == 0 ? "" : options);
}

static struct hn_html_number measured(const struct hn_html_column *c, const void *of) {
    const struct row *row = of;
    struct hn_mean m = last_mean(row->block, row->setting, c->from);
    return (struct hn_html_number){m.mean, m.half};
}

#define PLUS_MINUS HN_HTML_PLUS_MINUS
static const struct hn_html_column samplers[] = {
    {"Sampler", .put = put_sampler},
    {"Options", .put = put_options},
    {"False negatives (%)",
     "share of labelled pairs in a batch with the same label; smaller is better", "fn_ratio",
     PLUS_MINUS("%.2f"), 100, measured},
    {"Mean cosine", "mean cosine of in-batch negatives", "cos_mean", PLUS_MINUS("%.4f"), 1,
     measured},
    {"99th percentile cosine", "99th percentile of the cosines of in-batch negatives", "cos_p99",
     PLUS_MINUS("%.3f"), 1, measured},
    {"Hardest true neg.",
     "cosine of the hardest true negative, mean over anchors; larger is better", "hard_true_mean",
     PLUS_MINUS("%.4f"), 1, measured},
    {"Gap (nat)", "global minus training loss; smaller is better", "gap", PLUS_MINUS("%.3f"), 1,
     measured},
    {"Positive prob.", "softmax probability of the positive in the batch", "pos_prob",
     PLUS_MINUS("%.4f"), 1, measured},
    {"Coverage (%)", "distinct items of the first epoch; larger is better", "coverage",
     PLUS_MINUS("%.1f"), 100, measured},
    {"Graph's age", "steps since the embeddings that the graph was built on", "graph_age",
     .number = measured},
    {"Cost_S", "drawing a batch, median; smaller is better", "cost_s", .number = measured},
    {"Cost_G", "building on new embeddings, median; smaller is better", "cost_g",
     .number = measured},
    {"Inner products", "of build and batches; the same number on every machine; smaller is better",
     "n_dot", "%.3g", .number = measured}};

enum {
    COLUMNS = sizeof samplers / sizeof samplers[0],
    MOST_AT_ONCE = 40
}; // the rest: by scrolling

// Whether any setting has a value. Trainings do not count inner products, and most graphs are
// fresh: a column of noughts says nothing.
static bool is_measured(const struct block *b, const struct hn_html_column *c) {
    bool zero_counts =
        c->from && strcmp(c->from, "n_dot") != 0 && strcmp(c->from, "graph_age") != 0;
    for (int s = 0; s < b->groups->settings && c->from; s++) {
        double mean = last_mean(b, s, c->from).mean;
        if (!isnan(mean) && (mean != 0 || zero_counts))
            return true;
    }
    return !c->from;
}

static void put_block(FILE *html, const struct block *b) {
    const struct hn_groups *g = b->groups;
    struct hn_html_column column[COLUMNS];
    char title[HN_TITLE_SIZE];
    int64_t last = -1;
    int rows = 0, n = 0;
    for (int s = 0; s < g->settings; s++) {
        int64_t step = last_step(b, s);
        last = step > last ? step : last;
        rows += step >= 0;
    }
    if (rows == 0)
        return;
    for (int c = 0; c < COLUMNS; c++)
        if (is_measured(b, &samplers[c]))
            column[n++] = samplers[c];
    hn_dataset_title(g->dataset[b->dataset], title, sizeof title);
    fprintf(html, "<div class=\"scroll%s\" role=region tabindex=0 aria-label=\"Samplers\">",
            rows > MOST_AT_ONCE ? " long" : "");
    hn_html(html, "<table class=sortable><caption>%s", title);
    fprintf(html, ", step %" PRId64, g->step[last]);
    if (g->temperatures > 1)
        fprintf(html, ", temperature %g", g->temperature[b->temperature]);
    fputs("; ± is half of a 95&#8239;% interval. A click on a heading sorts.</caption>\n", html);
    hn_html_heads(html, column, n, n);
    for (int s = 0; s < g->settings; s++)
        if (last_step(b, s) >= 0)
            hn_html_row(html, column, n, &(struct row){b, s});
    fputs("</tbody></table></div>\n", html);
}

enum hn_code hn_html_samplers(FILE *html, struct hn_context *ctx, const struct hn_results *r) {
    struct hn_groups g;
    struct hn_choice choice = {.most_settings = INT_MAX};
    enum hn_code code = hn_groups_make(ctx, r, choice, &g);
    if (code == HN_NOT_APPLICABLE)
        fputs("<p>There is no finished run.</p>\n", html);
    if (code)
        return code == HN_NOT_APPLICABLE ? HN_OK : code;
    for (int d = 0; d < g.datasets; d++)
        for (int t = 0; t < g.temperatures; t++)
            put_block(html, &(struct block){&g, d, t});
    if (g.more_datasets || g.more_temperatures)
        fprintf(html,
                "<p class=soft>The first %d data sets and temperatures; results.h5 holds "
                "all.</p>\n",
                HN_MOST_PANELS);
    return HN_OK;
}

// Claims.

struct claim {
    const struct hn_report *report;
    const struct hn_table *table;
    int64_t row;
};

static const char *cell(const struct claim *claim, const char *column) {
    return hn_table_text(claim->table, claim->row, column);
}

// Whether the page has a figure of that name: one of its own, or a general one of its trainings.
static bool is_shown(const struct hn_report *report, const char *id) {
    char name[HN_FIGURE_NAME], path[4096];
    struct hn_figure general;
    if (hn_figure_find(id))
        return true;
    if (!report->ids || !hn_figure_of_training(0, id, name, &general))
        return false;
    int n = snprintf(path, sizeof path, "%s/%s.h5", report->ids, id);
    return n > 0 && n < (int)sizeof path && access(path, R_OK) == 0;
}

static void put_id(FILE *html, const struct hn_html_column *c, const void *of) {
    const struct claim *claim = of;
    const char *id = cell(claim, c->from);
    if (is_shown(claim->report, id))
        hn_html(html, "<th scope=row><a href=\"#%s\">%s</a></th>", id, id);
    else
        hn_html(html, "<th scope=row>%s</th>", id);
}

static void put_verdict(FILE *html, const struct hn_html_column *c, const void *of) {
    const char *verdict = cell(of, c->from);
    bool known = strcmp(verdict, "holds") == 0 || strcmp(verdict, "fails") == 0 ||
                 strcmp(verdict, "inconclusive") == 0;
    hn_html(html, "<td class=\"verdict %s\">%s</td>", known ? verdict : "soft", verdict);
}

static void put_text(FILE *html, const struct hn_html_column *c, const void *of) {
    hn_html(html, "<td class=wrap>%s</td>", cell(of, c->from));
}

// "identity" or "ours", where a claim is not the paper's; files without kinds have the paper's
// alone.
static const char *not_papers(const struct hn_table *t, int64_t row) {
    const char *kind = hn_table_text(t, row, "kind");
    return strcmp(kind, "claim") == 0 ? "" : kind;
}

static void put_statement(FILE *html, const struct hn_html_column *c, const void *of) {
    const struct claim *claim = of;
    const char *kind = not_papers(claim->table, claim->row);
    hn_html(html, "<td class=wrap>%s%s%s</td>", kind, *kind ? ": " : "", cell(of, c->from));
}

static void put_paper(FILE *html, const struct hn_html_column *c, const void *of) {
    hn_html(html, "<td>%s<br><small>%s</small></td>", cell(of, c->from), cell(of, "paper_table"));
}

static void put_reason(FILE *html, const struct hn_html_column *c, const void *of) {
    hn_html(html, "<td class=wrap>%s<br><small>%s</small></td>", cell(of, c->from), cell(of, "at"));
}

static struct hn_html_number real(const struct hn_html_column *c, const void *of) {
    const struct claim *claim = of;
    char lo[32], hi[32];
    snprintf(lo, sizeof lo, "%s_lo", c->from);
    snprintf(hi, sizeof hi, "%s_hi", c->from);
    return (struct hn_html_number){hn_table_real(claim->table, claim->row, c->from),
                                   hn_table_real(claim->table, claim->row, lo),
                                   hn_table_real(claim->table, claim->row, hi)};
}

enum { SORTED_CLAIMS = 4, CLAIMS = 6, LEVELS = 6, IDS = 6 };
#define INTERVAL "<br><small>%.4g to %.4g</small>"

static const struct hn_html_column id_columns[IDS] = {
    {"Figure", .from = "id", .put = put_id},
    {"Source", .from = "source", .put = put_text},
    {"Verdict", .from = "verdict", .put = put_verdict},
    {"All corrected together", "by Holm's procedure over the page's identifiers",
     .from = "corrected", .put = put_verdict},
    {"Encoders", "that every comparison rests on, at least; 0: times of random rows", "encoders",
     "%.0f", .number = real},
    {"Data sets", NULL, "datasets", "%.0f", .number = real}};

static const struct hn_html_column claim_columns[CLAIMS] = {
    {"Figure", .from = "id", .put = put_id},
    {"Claim", .from = "statement", .put = put_statement},
    {"Verdict", .from = "verdict", .put = put_verdict},
    {"Own value", NULL, "own", "%.4g", INTERVAL, 1, real},
    {"Paper", .from = "paper", .put = put_paper},
    {"Why, and where", .from = "reason", .put = put_reason}};

static const struct hn_html_column level_columns[LEVELS] = {
    {"Figure", .from = "id", .put = put_text},
    {"What", .from = "what", .put = put_text},
    {"Own", NULL, "own", "%.4g", INTERVAL, 1, real},
    {"Paper", NULL, "paper", "%.4g", .number = real},
    {"Unit", .from = "unit", .put = put_text},
    {"Where", .from = "paper_table", .put = put_text}};

const char *const hn_html_verdicts[HN_HTML_VERDICTS] = {"holds", "fails", "inconclusive",
                                                        "not tested"};

int64_t hn_html_count(const struct hn_table *t, const char *column, const char *text,
                      const char *id) {
    int64_t n = 0;
    for (int64_t row = 0; row < t->rows; row++)
        n += strcmp(hn_table_text(t, row, column), text) == 0 &&
             (!id || strcmp(hn_table_text(t, row, "id"), id) == 0);
    return n;
}

// How many claims of the papers have each verdict, in words.
static void put_counts(FILE *html, const struct hn_table *t) {
    int64_t count[HN_HTML_VERDICTS] = {0}, papers = 0;
    for (int64_t row = 0; row < t->rows; row++) {
        bool counts = !*not_papers(t, row);
        papers += counts;
        for (int v = 0; v < HN_HTML_VERDICTS; v++)
            count[v] +=
                counts && strcmp(hn_table_text(t, row, "verdict"), hn_html_verdicts[v]) == 0;
    }
    for (int v = 0; v < HN_HTML_VERDICTS; v++)
        fprintf(html, "%s<b>%" PRId64 "</b> %s", v ? ", " : "<p>", count[v], hn_html_verdicts[v]);
    fprintf(html, ", of %" PRId64 " claims of the papers.", papers);
    if (papers < t->rows)
        fprintf(html, " Besides: %" PRId64 " identities, which are proved, and questions of ours.",
                t->rows - papers);
    fputs("</p>\n", html);
}

static void put_rows(FILE *html, const struct hn_html_column *column, int n,
                     const struct hn_report *report, const struct hn_table *t) {
    for (int64_t row = 0; row < t->rows; row++)
        hn_html_row(html, column, n, &(struct claim){report, t, row});
    fputs("</tbody></table></div>", html);
}

// The identifiers that were tested; files from before verdicts were corrected have no such table.
static void put_ids(FILE *html, const struct hn_report *report, const struct hn_table *t) {
    if (hn_table_find(t, "corrected") < 0)
        return;
    fputs("<div class=scroll role=region tabindex=0 aria-label=\"Verdicts\">"
          "<table class=\"sortable claims\"><caption>A figure or table fails if one of its claims "
          "fails, and holds if all hold.</caption>\n",
          html);
    hn_html_heads(html, id_columns, IDS, IDS);
    for (int64_t row = 0; row < t->rows; row++)
        if (strcmp(hn_table_text(t, row, "verdict"), "not tested") != 0)
            hn_html_row(html, id_columns, IDS, &(struct claim){report, t, row});
    fputs("</tbody></table></div>\n", html);
}

// What has no claim that could be tested: listed with the reason.
static void put_untested(FILE *html, const struct hn_table *t) {
    bool any = false;
    for (int64_t row = 0; row < t->rows; row++) {
        if (strcmp(hn_table_text(t, row, "verdict"), "not tested") != 0)
            continue;
        if (!any)
            fputs("<details><summary>Not tested, and what that would need</summary>\n<ul>\n", html);
        any = true;
        hn_html(html, "<li><b>%s</b> %s: %s</li>\n", hn_table_text(t, row, "id"),
                hn_table_text(t, row, "title"), hn_table_text(t, row, "reason"));
    }
    if (any)
        fputs("</ul></details>\n", html);
}

void hn_html_claims(FILE *html, const struct hn_report *report) {
    const struct hn_results *r = report->results;
    const struct hn_table *claims = hn_results_table(r, "claims");
    const struct hn_table *ids = hn_results_table(r, "claim_ids");
    const struct hn_table *levels = hn_results_table(r, "claim_levels");
    if (!claims && !ids)
        return;
    fputs("<section aria-labelledby=claims><h2 id=claims>What the papers claim</h2>\n"
          "<p>A claim holds if the whole 95&#8239;% interval lies on its side, fails if it lies on "
          "the other, and is inconclusive in between.</p>\n",
          html);
    if (ids)
        put_ids(html, report, ids);
    if (claims && claims->rows > 0) {
        put_counts(html, claims);
        fputs("<div class=scroll role=region tabindex=0 aria-label=\"Claims\">"
              "<table class=\"sortable claims\"><caption>Own value: the difference or slope that "
              "is judged, with its 95&#8239;% interval.</caption>\n",
              html);
        hn_html_heads(html, claim_columns, CLAIMS, SORTED_CLAIMS);
        put_rows(html, claim_columns, CLAIMS, report, claims);
        fputs("\n", html);
    }
    if (levels && levels->rows > 0) {
        fputs("<details><summary>Levels beside the paper's, as context</summary>\n"
              "<div class=scroll><table>",
              html);
        hn_html_heads(html, level_columns, LEVELS, 0);
        put_rows(html, level_columns, LEVELS, report, levels);
        fputs("</details>\n", html);
    }
    if (ids)
        put_untested(html, ids);
    fputs("</section>\n", html);
}
