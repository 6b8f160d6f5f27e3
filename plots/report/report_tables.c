// Tables of the report: samplers, and claims with their verdicts.
#include "plots/page/curves.h"
#include "plots/report/report.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

struct shown {
    const char *column, *title, *help;
    double scale;
    const char *format; // NULL = a time
    int better;         // -1 smaller, 1 larger, 0 neither
};

static const struct shown columns[] = {
    {"fn_ratio", "False negatives (%)", "share of labelled pairs in a batch with the same label",
     100, "%.2f", -1},
    {"cos_mean", "Mean cosine", "mean cosine of in-batch negatives", 1, "%.4f", 0},
    {"cos_p99", "99th percentile cosine", "99th percentile of the cosines of in-batch negatives", 1,
     "%.3f", 0},
    {"hard_true_mean", "Hardest true neg.",
     "cosine of the hardest true negative, mean over anchors", 1, "%.4f", 1},
    {"gap", "Gap (nat)", "global minus training loss", 1, "%.3f", -1},
    {"pos_prob", "Positive prob.", "softmax probability of the positive in the batch", 1, "%.4f",
     0},
    {"coverage", "Coverage (%)", "distinct items of the first epoch", 100, "%.1f", 1},
    {"cost_s", "Cost_S", "drawing a batch, median", 1, NULL, -1},
    {"cost_g", "Cost_G", "building on new embeddings, median", 1, NULL, -1},
    {"n_dot", "Inner products", "of build and batches; the same number on every machine", 1, "%.3g",
     -1},
};

enum { COLUMNS = sizeof columns / sizeof columns[0], MOST_AT_ONCE = 40 }; // the rest: by scrolling

static void put_time(FILE *html, double seconds) {
    static const struct {
        double least, scale;
        const char *unit;
    } units[] = {{1, 1, "s"}, {1e-3, 1e3, "ms"}, {1e-6, 1e6, "µs"}, {0, 1e9, "ns"}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (seconds >= units[i].least) {
            fprintf(html, "%.3g %s", seconds * units[i].scale, units[i].unit);
            return;
        }
}

static void put_cell(FILE *html, const struct shown *c, struct hn_mean m) {
    if (isnan(m.mean)) {
        fputs("<td class=n data-v=\"\">–</td>", html);
        return;
    }
    fprintf(html, "<td class=n data-v=\"%.9g\">", m.mean);
    if (!c->format)
        put_time(html, m.mean);
    else
        fprintf(html, c->format, c->scale * m.mean);
    if (c->format && !isnan(m.half) && strcmp(c->column, "n_dot") != 0) {
        fputs(" <small>±&#8239;", html);
        fprintf(html, c->format, c->scale * m.half);
        fputs("</small>", html);
    }
    fputs("</td>", html);
}

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

static void put_heads(FILE *html, const bool *has) {
    fputs("<thead><tr><th scope=col><button type=button>Sampler</button></th>"
          "<th scope=col><button type=button>Options</button></th>",
          html);
    for (int c = 0; c < COLUMNS; c++)
        if (has[c]) {
            fputs("<th scope=col class=n title=\"", html);
            hn_html_text(html, columns[c].help);
            fprintf(html, "%s\"><button type=button>%s</button></th>",
                    columns[c].better < 0   ? "; smaller is better"
                    : columns[c].better > 0 ? "; larger is better"
                                            : "",
                    columns[c].title);
        }
    fputs("</tr></thead>\n<tbody>\n", html);
}

static void put_setting(FILE *html, const struct block *b, int s, const bool *has) {
    const struct hn_setting *setting = &b->groups->setting[s];
    size_t n = strlen(setting->sampler);
    bool named = strncmp(setting->label, setting->sampler, n) == 0;
    const char *options = setting->label + (named ? n + (setting->label[n] == ' ') : 0);
    fputs("<tr><th scope=row>", html);
    hn_html_text(html, setting->sampler);
    fputs("</th><td class=options title=\"", html);
    hn_html_text(html, setting->params);
    fputs("\">", html);
    hn_html_text(html, options);
    fputs("</td>", html);
    for (int c = 0; c < COLUMNS; c++)
        if (has[c])
            put_cell(html, &columns[c], last_mean(b, s, columns[c].column));
    fputs("</tr>\n", html);
}

static void put_block(FILE *html, const struct block *b) {
    const struct hn_groups *g = b->groups;
    bool has[COLUMNS] = {false};
    char title[HN_TITLE_SIZE];
    int64_t last = -1;
    int rows = 0;
    for (int s = 0; s < g->settings; s++) {
        int64_t step = last_step(b, s);
        last = step > last ? step : last;
        rows += step >= 0;
        for (int c = 0; c < COLUMNS; c++) {
            double mean = last_mean(b, s, columns[c].column).mean;
            // Trainings do not count inner products: a column of noughts says nothing.
            bool uncounted = strcmp(columns[c].column, "n_dot") == 0 && mean == 0;
            has[c] |= !isnan(mean) && !uncounted;
        }
    }
    if (rows == 0)
        return;
    hn_dataset_title(g->dataset[b->dataset], title, sizeof title);
    fprintf(html,
            "<div class=\"scroll%s\" role=region tabindex=0 aria-label=\"Samplers\">"
            "<table class=sortable><caption>",
            rows > MOST_AT_ONCE ? " long" : "");
    hn_html_text(html, title);
    fprintf(html, ", step %" PRId64, g->step[last]);
    if (g->temperatures > 1)
        fprintf(html, ", temperature %g", g->temperature[b->temperature]);
    fputs("; ± is half of a 95&#8239;% interval. A click on a heading sorts.</caption>\n", html);
    put_heads(html, has);
    for (int s = 0; s < g->settings; s++)
        if (last_step(b, s) >= 0)
            put_setting(html, b, s, has);
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
    hn_groups_free(ctx, &g);
    return HN_OK;
}

// Claims.

static void put_verdict(FILE *html, const char *verdict) {
    const char *class = strcmp(verdict, "holds") == 0          ? "holds"
                        : strcmp(verdict, "fails") == 0        ? "fails"
                        : strcmp(verdict, "inconclusive") == 0 ? "inconclusive"
                                                               : "soft";
    fprintf(html, "<td class=\"verdict %s\">", class);
    hn_html_text(html, verdict);
    fputs("</td>", html);
}

static void put_text(FILE *html, const char *class, const char *text) {
    fprintf(html, "<td class=%s>", class);
    hn_html_text(html, text);
    fputs("</td>", html);
}

static void put_own(FILE *html, const struct hn_table *t, int64_t row) {
    double own = hn_table_real(t, row, "own"), lo = hn_table_real(t, row, "own_lo"),
           hi = hn_table_real(t, row, "own_hi");
    if (isnan(own)) {
        fputs("<td class=n data-v=\"\">–</td>", html);
        return;
    }
    fprintf(html, "<td class=n data-v=\"%.9g\">%.4g", own, own);
    if (!isnan(lo) && !isnan(hi))
        fprintf(html, "<br><small>%.4g to %.4g</small>", lo, hi);
    fputs("</td>", html);
}

static void put_counts(FILE *html, const struct hn_table *t) {
    static const char *const verdicts[] = {"holds", "fails", "inconclusive", "not tested"};
    fputs("<p>", html);
    for (int v = 0; v < 4; v++) {
        int n = 0;
        for (int64_t row = 0; row < t->rows; row++)
            n += strcmp(hn_table_text(t, row, "verdict"), verdicts[v]) == 0;
        fprintf(html, "%s<b>%d</b> %s", v ? ", " : "", n, verdicts[v]);
    }
    fprintf(html, ", of %" PRId64 " claims.</p>\n", t->rows);
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

static void put_claims(FILE *html, const struct hn_report *report, const struct hn_table *t) {
    fputs("<div class=scroll role=region tabindex=0 aria-label=\"Claims\">"
          "<table class=\"sortable claims\"><caption>Own value: the difference or slope that is "
          "judged, with "
          "its 95&#8239;% interval.</caption>\n<thead><tr><th scope=col>"
          "<button type=button>Figure</button></th><th scope=col>"
          "<button type=button>Claim</button></th><th scope=col>"
          "<button type=button>Verdict</button></th><th scope=col class=n>"
          "<button type=button>Own value</button></th><th scope=col>Paper</th>"
          "<th scope=col>Why, and where</th></tr></thead>\n<tbody>\n",
          html);
    for (int64_t row = 0; row < t->rows; row++) {
        const char *id = hn_table_text(t, row, "id");
        bool drawn = is_shown(report, id);
        fputs("<tr><th scope=row>", html);
        if (drawn) {
            fputs("<a href=\"#", html);
            hn_html_text(html, id);
            fputs("\">", html);
        }
        hn_html_text(html, id);
        fputs(drawn ? "</a></th>" : "</th>", html);
        put_text(html, "wrap", hn_table_text(t, row, "statement"));
        put_verdict(html, hn_table_text(t, row, "verdict"));
        put_own(html, t, row);
        fputs("<td>", html);
        hn_html_text(html, hn_table_text(t, row, "paper"));
        fputs("<br><small>", html);
        hn_html_text(html, hn_table_text(t, row, "paper_table"));
        fputs("</small></td><td class=wrap>", html);
        hn_html_text(html, hn_table_text(t, row, "reason"));
        fputs("<br><small>", html);
        hn_html_text(html, hn_table_text(t, row, "at"));
        fputs("</small></td></tr>\n", html);
    }
    fputs("</tbody></table></div>\n", html);
}

static void put_levels(FILE *html, const struct hn_table *t) {
    fputs("<details><summary>Levels beside the paper's, as context</summary>\n<div class=scroll>"
          "<table><thead><tr><th scope=col>Figure</th><th scope=col>What</th><th scope=col "
          "class=n>Own</th><th scope=col class=n>Paper</th><th scope=col>Unit</th><th "
          "scope=col>Where</th></tr></thead>\n<tbody>\n",
          html);
    for (int64_t row = 0; row < t->rows; row++) {
        double paper = hn_table_real(t, row, "paper");
        fputs("<tr>", html);
        put_text(html, "wrap", hn_table_text(t, row, "id"));
        put_text(html, "wrap", hn_table_text(t, row, "what"));
        put_own(html, t, row);
        if (isnan(paper))
            fputs("<td class=n>–</td>", html);
        else
            fprintf(html, "<td class=n>%.4g</td>", paper);
        put_text(html, "wrap", hn_table_text(t, row, "unit"));
        put_text(html, "wrap", hn_table_text(t, row, "paper_table"));
        fputs("</tr>\n", html);
    }
    fputs("</tbody></table></div></details>\n", html);
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
        fputs("<li><b>", html);
        hn_html_text(html, hn_table_text(t, row, "id"));
        fputs("</b> ", html);
        hn_html_text(html, hn_table_text(t, row, "title"));
        fputs(": ", html);
        hn_html_text(html, hn_table_text(t, row, "reason"));
        fputs("</li>\n", html);
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
    if (claims && claims->rows > 0) {
        put_counts(html, claims);
        put_claims(html, report, claims);
    }
    if (levels && levels->rows > 0)
        put_levels(html, levels);
    if (ids)
        put_untested(html, ids);
    fputs("</section>\n", html);
}
