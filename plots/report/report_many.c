// One page over many results: what each is, ranks of samplers over data sets, the same settings
// side by side, and all settings in one table.
#include "core/stats.h"
#include "plots/page/trained.h"
#include "plots/report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct many {
    struct hn_context *ctx;
    FILE *html;
    const struct hn_report_of *report; // [n] in the order of `created`
    int64_t n;
    struct hn_results joined; // /runs of all, with column `result`
    struct hn_overview overview;
};

static const struct hn_column joined_columns[] = {
    {"result", HN_COLUMN_TEXT, "", "which of the results", HN_NEITHER, HN_ROLE_SETTING},
    {"accuracy", HN_COLUMN_REAL, "1", "first accuracy of the task at the last evaluation",
     HN_LARGER, HN_ROLE_QUALITY}};

static const char *title_of(const struct hn_report_of *r) {
    const char *title = hn_results_get(r->results, "title");
    return *title ? title : r->name;
}

// Titles that several results have are followed by the name of the folder, or the date.
static void compose_name(const struct many *m, int64_t i, char *text, size_t size) {
    const struct hn_report_of *own = &m->report[i];
    bool title = false, name = false;
    for (int64_t k = 0; k < m->n; k++) {
        bool same = k != i && strcmp(title_of(&m->report[k]), title_of(own)) == 0;
        title |= same;
        name |= same && strcmp(m->report[k].name, own->name) == 0;
    }
    snprintf(text, size, "%s", title_of(own));
    if (title && !name && strcmp(title_of(own), own->name) != 0)
        hn_append(text, size, " (%s)", own->name);
    else if (title)
        hn_append(text, size, " (%s, %" PRId64 ")", hn_results_get(own->results, "created"), i + 1);
}

// What is still the same, also because it was cut, is numbered: it would be taken for one result.
static void result_name(const struct many *m, int64_t i, char text[HN_LABEL_SIZE]) {
    char other[HN_LABEL_SIZE];
    bool again = false;
    compose_name(m, i, text, HN_LABEL_SIZE);
    for (int64_t k = 0; k < m->n; k++) {
        compose_name(m, k, other, sizeof other);
        again |= k != i && strcmp(other, text) == 0;
    }
    if (again)
        snprintf(text, HN_LABEL_SIZE, "%.40s (%" PRId64 ")", title_of(&m->report[i]), i + 1);
}

// Of each training the last evaluation.
static enum hn_code add_accuracies(struct many *m, const struct hn_results *r, int64_t first) {
    struct hn_trained t;
    enum hn_code code = hn_trained_open(m->ctx, r, &t);
    if (code)
        return code == HN_NOT_APPLICABLE || code == HN_DATA ? HN_OK : code;
    for (int64_t k = 0; k < t.settings; k++) {
        const double *value;
        (void)hn_trained_values(&t, k, hn_trained_column(&t, k), HN_LAST_STEP, &value);
        for (int64_t row = 0; row < r->runs.rows; row++)
            if (hn_trained_is_of(&t, row, k) &&
                hn_table_set_real(m->ctx, &m->joined.runs, first + row, "accuracy", *value++))
                return m->ctx->code;
    }
    return HN_OK;
}

static enum hn_code join(struct many *m) {
    struct hn_table *runs = &m->joined.runs;
    if (hn_table_init(m->ctx, runs, "runs") ||
        hn_table_add_columns(m->ctx, runs, joined_columns, 2))
        return m->ctx->code;
    for (int64_t i = 0; i < m->n; i++) {
        char name[HN_LABEL_SIZE];
        int64_t first = runs->rows;
        result_name(m, i, name);
        if (hn_table_append(m->ctx, runs, &m->report[i].results->runs))
            return m->ctx->code;
        for (int64_t row = first; row < runs->rows; row++)
            if (HN_TABLE_SET(m->ctx, runs, row, HN_TEXT_VALUE("result", name)))
                return m->ctx->code;
        if (add_accuracies(m, m->report[i].results, first))
            return m->ctx->code;
    }
    return HN_OK;
}

static int64_t count_distinct(const struct hn_table *t, const char *column) {
    int64_t n = 0;
    for (int64_t row = 0; row < t->rows; row++)
        n += hn_table_row_with(t, column, hn_table_text(t, row, column)) == row;
    return n;
}

static void put_results(const struct many *m) {
    fputs("<section aria-labelledby=results><h2 id=results>Results</h2>\n"
          "<div class=scroll><table class=sortable><thead><tr><th scope=col><button type=button>"
          "Result</button></th><th scope=col><button type=button>Run</button></th>"
          "<th scope=col class=n>Cells</th><th scope=col class=n>Done</th>"
          "<th scope=col class=n>Data sets</th><th scope=col>Commit</th><th scope=col>Processor"
          "</th><th scope=col>File</th></tr></thead>\n<tbody>\n",
          m->html);
    for (int64_t i = 0; i < m->n; i++) {
        const struct hn_results *r = m->report[i].results;
        char name[HN_LABEL_SIZE], commit[13];
        result_name(m, i, name);
        snprintf(commit, sizeof commit, "%s", hn_results_get_env(r, "git_commit"));
        hn_html(m->html, "<tr><th scope=row>%s</th><td>%s</td>", name,
                hn_results_get(r, "created"));
        fprintf(m->html,
                "<td class=n>%" PRId64 "</td><td class=n>%" PRId64 "</td><td class=n>%" PRId64
                "</td>",
                r->runs.rows, hn_html_count(&r->runs, "status", "ok", NULL),
                count_distinct(&r->runs, "dataset_sha256"));
        hn_html(m->html, "<td><code>%s</code></td><td>%s</td><td class=wrap>%s</td></tr>\n", commit,
                hn_results_get_env(r, "cpu_model"), m->report[i].file);
    }
    fputs("</tbody></table></div>\n</section>\n", m->html);
}

// Ranks of settings, named by their labels, among those that every data set has.
struct ranked {
    const char *column, *title;
    bool larger;
};
static const struct ranked ranked[] = {{"fn_ratio", "False negatives", false},
                                       {"hard_true_mean", "Hardest true neg.", true},
                                       {"gap", "Gap", false},
                                       {"accuracy", "Accuracy", true},
                                       {"cost_s", "Cost_S", false}};
enum { RANKED = sizeof ranked / sizeof ranked[0] };

struct ranks {
    const struct hn_overview *o;
    char (*label)[HN_LABEL_SIZE]; // [labels]
    const char **dataset;         // [datasets] digests
    int64_t labels, datasets;
    int64_t *of;    // [settings] its label, -1: not ranked
    int64_t *at;    // [settings] its data set
    bool *common;   // [labels] every data set has it
    double *sum;    // [labels x datasets] of ranks
    double *places; // [datasets] that were ranked
};

static const char *dataset_of(const struct hn_overview *o, int64_t setting) {
    return hn_table_text(&o->results->runs, o->first[setting], "dataset_sha256");
}

static void name_setting(struct ranks *k, int64_t s) {
    char label[HN_LABEL_SIZE];
    int64_t l = 0, d = 0;
    hn_overview_label(k->o, s, label, sizeof label);
    while (l < k->labels && strcmp(k->label[l], label) != 0)
        l++;
    while (d < k->datasets && strcmp(k->dataset[d], dataset_of(k->o, s)) != 0)
        d++;
    if (l == k->labels)
        memcpy(k->label[k->labels++], label, sizeof label);
    if (d == k->datasets)
        k->dataset[k->datasets++] = dataset_of(k->o, s);
    k->of[s] = l;
    k->at[s] = d;
}

static bool is_everywhere(const struct ranks *k, int64_t label) {
    int64_t n = 0;
    for (int64_t d = 0; d < k->datasets; d++)
        for (int64_t s = 0; s < k->o->settings; s++)
            if (k->of[s] == label && k->at[s] == d) {
                n++;
                break;
            }
    return n == k->datasets;
}

static enum hn_code find_labels(struct hn_context *ctx, struct ranks *k) {
    int64_t n = k->o->settings;
    k->label = hn_alloc(ctx, n, sizeof *k->label);
    k->dataset = hn_alloc(ctx, n, sizeof *k->dataset);
    k->of = hn_alloc(ctx, n, sizeof *k->of);
    k->at = hn_alloc(ctx, n, sizeof *k->at);
    k->common = hn_alloc(ctx, n, sizeof *k->common);
    if (!k->label || !k->dataset || !k->of || !k->at || !k->common)
        return ctx->code;
    for (int64_t s = 0; s < n; s++) {
        k->of[s] = k->at[s] = -1;
        if (hn_overview_seeds(k->o, s) > 0 && k->o->last[s])
            name_setting(k, s);
    }
    for (int64_t l = 0; l < k->labels; l++)
        k->common[l] = is_everywhere(k, l);
    k->sum = hn_alloc(ctx, k->labels * k->datasets, sizeof *k->sum);
    k->places = hn_alloc(ctx, k->datasets, sizeof *k->places);
    return k->sum && k->places ? HN_OK : ctx->code;
}

// Adds the ranks of a place, if all settings that are common have a value[labels] there; equal ones
// share theirs.
static void rank_place(struct ranks *k, const struct ranked *by, const double *value, int64_t d) {
    for (int64_t l = 0; l < k->labels; l++)
        if (k->common[l] && isnan(value[l]))
            return;
    for (int64_t l = 0; l < k->labels; l++) {
        double rank = 0.5;
        for (int64_t other = 0; other < k->labels && k->common[l]; other++)
            if (k->common[other])
                rank += value[other] == value[l]                  ? 0.5
                        : (value[other] < value[l]) != by->larger ? 1
                                                                  : 0;
        k->sum[l * k->datasets + d] += rank;
    }
    k->places[d]++;
}

static enum hn_code rank_all(struct hn_context *ctx, struct ranks *k, const struct ranked *by) {
    const struct hn_overview *o = k->o;
    HN_SCOPE(ctx);
    double *value = hn_alloc(ctx, k->labels, sizeof *value);
    if (!value)
        return ctx->code;
    memset(k->sum, 0, (size_t)(k->labels * k->datasets) * sizeof *k->sum);
    memset(k->places, 0, (size_t)k->datasets * sizeof *k->places);
    for (int64_t s = 0; s < o->settings; s++) {
        bool first = k->of[s] >= 0;
        for (int64_t e = 0; e < s && first; e++)
            first = k->of[e] < 0 || !hn_overview_same_place(o, e, s);
        for (int64_t l = 0; l < k->labels; l++)
            value[l] = NAN;
        for (int64_t e = s; e < o->settings && first; e++)
            if (k->of[e] >= 0 && hn_overview_same_place(o, e, s))
                value[k->of[e]] = hn_overview_mean(o, e, by->column).mean;
        if (first)
            rank_place(k, by, value, k->at[s]);
    }
    return HN_OK;
}

// Mean rank over data sets, of those that have places.
static struct hn_interval rank_of(const struct ranks *k, int64_t label, double *value) {
    int64_t n = 0;
    for (int64_t d = 0; d < k->datasets; d++)
        if (k->places[d] > 0)
            value[n++] = k->sum[label * k->datasets + d] / k->places[d];
    return hn_mean_interval(value, 1, n, 0.95);
}

struct rank_row {
    const struct ranks *k;
    const struct hn_interval *rank; // [labels x RANKED]
    int64_t label;
};

static void put_label(FILE *html, const struct hn_html_column *c, const void *of) {
    const struct rank_row *row = of;
    (void)c;
    hn_html(html, "<th scope=row>%s</th>", row->k->label[row->label]);
}

static struct hn_html_number mean_rank(const struct hn_html_column *c, const void *of) {
    const struct rank_row *row = of;
    int i = 0;
    while (strcmp(ranked[i].column, c->from) != 0)
        i++;
    const struct hn_interval *r = &row->rank[row->label * RANKED + i];
    return (struct hn_html_number){r->mean, 0.5 * (r->hi - r->lo)};
}

// over[RANKED]: data sets with a rank.
static void put_rank_table(const struct many *m, const struct ranks *k,
                           const struct hn_interval *rank, const int64_t *over) {
    struct hn_html_column column[1 + RANKED] = {{"Setting", .put = put_label}};
    char title[RANKED][96];
    int n = 1;
    for (int i = 0; i < RANKED; i++) {
        snprintf(title[i], sizeof title[i], "%s", ranked[i].title);
        if (over[i] < k->datasets)
            hn_append(title[i], sizeof title[i], " (on %" PRId64 ")", over[i]);
        if (over[i] > 0)
            column[n++] =
                (struct hn_html_column){title[i],
                                        ranked[i].larger ? "1: the largest" : "1: the smallest",
                                        ranked[i].column,
                                        HN_HTML_PLUS_MINUS("%.2f"),
                                        1,
                                        mean_rank};
    }
    fputs("<div class=scroll role=region tabindex=0 aria-label=Ranks><table id=ranks "
          "class=\"sortable fixed\">\n",
          m->html);
    hn_html_heads(m->html, column, n, n);
    for (int64_t l = 0; l < k->labels; l++)
        if (k->common[l])
            hn_html_row(m->html, column, n, &(struct rank_row){k, rank, l});
    fputs("</tbody></table></div>\n", m->html);
}

static enum hn_code put_ranks(struct many *m) {
    struct ranks k = {.o = &m->overview};
    int64_t over[RANKED] = {0}, common = 0, ranks = 0;
    HN_SCOPE(m->ctx);
    if (find_labels(m->ctx, &k))
        return m->ctx->code;
    struct hn_interval *rank = hn_alloc(m->ctx, k.labels * RANKED, sizeof *rank);
    double *value = hn_alloc(m->ctx, k.datasets, sizeof *value);
    if (!rank || !value)
        return m->ctx->code;
    for (int i = 0; i < RANKED; i++) {
        if (rank_all(m->ctx, &k, &ranked[i]))
            return m->ctx->code;
        for (int64_t l = 0; l < k.labels; l++)
            rank[l * RANKED + i] = rank_of(&k, l, value);
        for (int64_t d = 0; d < k.datasets; d++)
            over[i] += k.places[d] > 0;
        ranks += over[i];
    }
    for (int64_t l = 0; l < k.labels; l++)
        common += k.common[l];
    fputs("<section aria-labelledby=over><h2 id=over>Ranks over data sets</h2>\n", m->html);
    fprintf(m->html,
            "<p class=soft>%" PRId64 " of %" PRId64 " settings are measured on %s%" PRId64
            " data set%s, each at its last step. Ranks are among these, within one result and one "
            "batch size, loss, weighting and temperature; they are averaged over those, and then "
            "over data sets (on fewer where a heading says so); ± is half of a 95 %% interval over "
            "data sets, from two on.</p>\n",
            common, k.labels, k.datasets > 1 ? "all " : "the ", k.datasets,
            k.datasets > 1 ? "s" : "");
    if (common > 1 && ranks > 0)
        put_rank_table(m, &k, rank, over);
    else
        fputs("<p>No two settings were measured side by side on every data set, so there is "
              "nothing to rank.</p>\n",
              m->html);
    fputs("</section>\n", m->html);
    return HN_OK;
}

static enum hn_code put_page(struct many *m) {
    static const char *const link[][2] = {{"results", "Results"},
                                          {"over", "Ranks"},
                                          {"side", "Side by side"},
                                          {"samplers", "Settings"}};
    char title[64];
    snprintf(title, sizeof title, "%" PRId64 " results", m->n);
    hn_html_begin(m->html, title, "");
    for (size_t i = 0; i < sizeof link / sizeof link[0]; i++)
        hn_html(m->html, "<li><a href=\"#%s\">%s</a></li>\n", link[i][0], link[i][1]);
    fputs("</ul></nav>\n</header>\n<main id=main>\n", m->html);
    put_results(m);
    if (put_ranks(m))
        return m->ctx->code;
    fputs("<section aria-labelledby=side id=compare><h2 id=side>Side by side</h2>\n"
          "<p class=soft>The same setting in several results, in the order in which they were run, "
          "and the difference of two of them.</p>\n</section>\n"
          "<section aria-labelledby=samplers><h2 id=samplers>Settings</h2>\n<div class=answer>"
          "</div>\n",
          m->html);
    if (hn_html_samplers(m->html, m->ctx, &m->overview))
        return m->ctx->code;
    fputs("</section>\n", m->html);
    hn_html_end(m->html);
    return HN_OK;
}

static int by_date(const void *a, const void *b) {
    const struct hn_report_of *x = a, *y = b;
    int order =
        strcmp(hn_results_get(x->results, "created"), hn_results_get(y->results, "created"));
    return order ? order : strcmp(x->name, y->name);
}

enum hn_code hn_report_write_many(struct hn_context *ctx, struct hn_report_of *report, int64_t n,
                                  FILE *html) {
    struct many m = {.ctx = ctx, .html = html, .report = report, .n = n};
    HN_SCOPE(ctx);
    qsort(report, (size_t)n, sizeof *report, by_date);
    if (join(&m) || hn_overview_make(ctx, &m.joined, &m.overview))
        return ctx->code;
    return put_page(&m);
}
