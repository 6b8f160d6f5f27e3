// Tables of the report for results of `hardneg train`: accuracies beside the untrained encoder with
// differences paired by seed, and what drawing and building cost of a step.
#include "plots/page/trained.h"
#include "plots/report/report.h"

#include <math.h>

enum { TITLE = 160, LABEL = 96 };

struct row {
    const struct hn_trained *t;
    struct hn_trained_row of;
};

static void put_setting(FILE *html, const struct hn_html_column *c, const void *of) {
    const struct row *row = of;
    (void)c;
    hn_html(html, "<th scope=row>%s</th>", row->of.name);
}

static struct hn_html_number seeds(const struct hn_html_column *c, const void *of) {
    const struct row *row = of;
    (void)c;
    return (struct hn_html_number){(double)hn_trained_seeds(row->t, row->of.setting)};
}

// Of one of the task's columns.
static struct hn_html_number accuracy(const struct hn_html_column *c, const void *of) {
    const struct row *row = of;
    struct hn_moments m = hn_trained_at(row->t, row->of.setting, c->from, row->of.step);
    return (struct hn_html_number){m.mean, m.deviation};
}

// The largest of a run's evaluations.
static struct hn_html_number best(const struct hn_html_column *c, const void *of) {
    const struct row *row = of;
    struct hn_moments m = hn_trained_at(row->t, row->of.setting, c->from, HN_BEST_STEP);
    bool trained = row->of.step == HN_LAST_STEP;
    return (struct hn_html_number){trained ? m.mean : NAN, m.deviation};
}

static struct hn_difference compare(const struct row *row, const char *column) {
    if (row->of.setting == row->of.base)
        return (struct hn_difference){.mean = NAN, .p = NAN};
    return hn_trained_difference(row->t, row->of.setting, row->of.base, column);
}

static struct hn_html_number difference(const struct hn_html_column *c, const void *of) {
    struct hn_difference d = compare(of, c->from);
    return (struct hn_html_number){d.mean, d.error};
}

static struct hn_html_number p_value(const struct hn_html_column *c, const void *of) {
    return (struct hn_html_number){compare(of, c->from).p};
}

static struct hn_html_number cost(const struct hn_html_column *c, const void *of) {
    const struct row *row = of;
    return (struct hn_html_number){
        hn_trained_at(row->t, row->of.setting, c->from, HN_OF_RUNS).mean};
}

#define SETTING                                                                                    \
    { "Setting", .put = put_setting }
#define SEEDS                                                                                      \
    { "Seeds", .format = "%.0f", .number = seeds }

// The table of `row`'s base, from the row behind that one on.
static void put_table(FILE *html, const struct hn_html_column *column, int n, struct row row,
                      const char *caption) {
    char title[TITLE];
    hn_trained_title(row.t, row.of.base, title, sizeof title);
    hn_html(html,
            "<div class=scroll role=region tabindex=0 aria-label=\"Training\">"
            "<table class=sortable><caption>%s: %s</caption>\n",
            title, caption);
    hn_html_heads(html, column, n, n);
    while (hn_trained_next_row(row.t, &row.of))
        hn_html_row(html, column, n, &row);
    fputs("</tbody></table></div>\n", html);
}

// The columns that the task has at its last evaluation, and the difference in the first of them.
static enum hn_code put_accuracies(FILE *html, struct hn_context *ctx, const struct hn_trained *t,
                                   int64_t base) {
    int n = 0;
    const char *first = hn_trained_column(t, base);
    char name[LABEL], top[LABEL], minus[2 * LABEL],
        (*title)[LABEL] = hn_alloc(ctx, t->table->n_columns, sizeof *title);
    struct hn_html_column *column = hn_alloc(ctx, t->table->n_columns + 5, sizeof *column);
    if (!title || !column)
        return ctx->code;
    column[n++] = (struct hn_html_column)SETTING;
    column[n++] = (struct hn_html_column)SEEDS;
    for (int c = hn_trained_next(t, base, -1); c >= 0; c = hn_trained_next(t, base, c), n++) {
        const struct hn_column *of = &t->table->column[c];
        char *named = title[c];
        bool share = hn_trained_is_share(of->name);
        snprintf(named, LABEL, "%s%s", of->name, share ? " (%)" : "");
        column[n] = (struct hn_html_column){
            named, of->long_name, of->name, HN_HTML_PLUS_MINUS("%.3f"), 1, accuracy};
        if (share)
            column[n] = (struct hn_html_column){
                named, of->long_name, of->name, HN_HTML_PLUS_MINUS("%.2f"), 100, accuracy};
    }
    static const char best_of[] =
        "largest of a run's evaluations: picking it is worth something by "
        "itself, and a paper may have reported it";
    snprintf(top, sizeof top, "best %s%s", first, hn_trained_is_share(first) ? " (%)" : "");
    column[n++] = (struct hn_html_column){
        top, best_of, first, HN_HTML_PLUS_MINUS("%.2f"), hn_trained_is_share(first) ? 100 : 1,
        best};
    hn_trained_label(t, base, name, sizeof name);
    snprintf(minus, sizeof minus, "%s minus %s", first, name);
    column[n++] = (struct hn_html_column){.title = minus,
                                          .from = first,
                                          .format = "%+.2f",
                                          .more = " <small>se %.2f</small>",
                                          .scale = hn_trained_is_share(first) ? 100 : 1,
                                          .number = difference};
    column[n++] = (struct hn_html_column){"p", NULL, first, "%.2g", .number = p_value};
    put_table(html, column, n, (struct row){t, {.base = base, .setting = -1}},
              "last evaluation, mean ± deviation over seeds. Differences are paired by seed, with "
              "standard error and p of a paired t test.");
    return HN_OK;
}

static void put_costs(FILE *html, const struct hn_trained *t, int64_t base) {
    static const char step[] = "of a step with all its costs";
    static const struct hn_html_column columns[] = {
        SETTING,
        SEEDS,
        {"Cost_T (ms)", "forward, backward and update of a step", "cost_t", "%.3g", NULL, 1e3,
         cost},
        {"Cost_S (ms)", "drawing a batch", "cost_s", "%.3g", NULL, 1e3, cost},
        {"Cost_G / t (ms)", "building, per step", "cost_g_over_t", "%.3g", NULL, 1e3, cost},
        {"Cost_S (% of a step)", step, "share_s", "%.2f", NULL, 100, cost},
        {"Cost_G / t (% of a step)", step, "share_g", "%.2f", NULL, 100, cost},
        {"Embedding (% of a step)", "of all items, for builds", "share_e", "%.2f", NULL, 100, cost},
        {"Products (GFLOP)", "matrix products of a step", "flops_per_step", "%.3g", NULL, 1e-9,
         cost},
        {"Of the floor (%)",
         "what the products would take at the measured sgemm rate, as a share of Cost_T",
         "share_of_floor", "%.1f", NULL, 100, cost}};
    enum { COLUMNS = sizeof columns / sizeof columns[0] };
    put_table(html, columns, COLUMNS, (struct row){t, {base, base, HN_LAST_REFERENCE, ""}},
              "what a step costs, means over steps and seeds.");
}

enum hn_code hn_html_training(FILE *html, struct hn_context *ctx, const struct hn_results *r) {
    struct hn_trained t;
    enum hn_code code = hn_trained_open(ctx, r, &t);
    if (code)
        return code == HN_NOT_APPLICABLE || code == HN_DATA ? HN_OK : code;
    fputs("<section aria-labelledby=training><h2 id=training>Training</h2>\n", html);
    for (int64_t k = 0; k < t.settings && !code; k++)
        if (t.setting[k].base < 0)
            code = put_accuracies(html, ctx, &t, k);
    fputs("<h3>Costs</h3>\n", html);
    for (int64_t k = 0; k < t.settings; k++)
        if (t.setting[k].base < 0)
            put_costs(html, &t, k);
    fputs("</section>\n", html);
    return code;
}
