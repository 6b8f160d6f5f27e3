// Tables of the report for results of `hardneg train`: accuracies beside the untrained encoder with
// differences paired by seed, and what drawing and building cost of a step.
#include "plots/page/trained.h"
#include "plots/report/report.h"

#include <math.h>

enum { TITLE = 160, LABEL = 96 };

struct row {
    const struct hn_trained *t;
    int64_t base, setting;
    enum { TRAINED, UNTRAINED, FEATURES } kind; // the last two: of the base
};

static void put_setting(FILE *html, const struct hn_html_column *c, const void *of) {
    static const char *const names[] = {NULL, "untrained encoder", "frozen features alone"};
    const struct row *row = of;
    char label[LABEL];
    (void)c;
    hn_trained_label(row->t, row->setting, label, sizeof label);
    hn_html(html, "<th scope=row>%s</th>", row->kind ? names[row->kind] : label);
}

static struct hn_html_number seeds(const struct hn_html_column *c, const void *of) {
    const struct row *row = of;
    (void)c;
    return (struct hn_html_number){(double)hn_trained_seeds(row->t, row->setting)};
}

// Of one of the task's columns.
static struct hn_html_number accuracy(const struct hn_html_column *c, const void *of) {
    const struct row *row = of;
    struct hn_moments m = row->kind == FEATURES ? hn_trained_features(row->t, row->base, c->from)
                                                : hn_trained_at(row->t, row->setting, c->from,
                                                                row->kind ? 0 : HN_LAST_STEP);
    return (struct hn_html_number){m.mean, m.deviation};
}

static struct hn_difference compare(const struct row *row, const char *column) {
    if (row->kind || row->setting == row->base)
        return (struct hn_difference){.mean = NAN, .p = NAN};
    return hn_trained_difference(row->t, row->setting, row->base, column);
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
    return (struct hn_html_number){hn_trained_cost(row->t, row->setting, c->from).mean};
}

#define SETTING                                                                                    \
    { "Setting", .put = put_setting }
#define SEEDS                                                                                      \
    { "Seeds", .format = "%.0f", .number = seeds }

static void put_heads(FILE *html, const struct hn_html_column *column, int n,
                      const struct hn_trained *t, int64_t base, const char *caption) {
    char title[TITLE];
    hn_trained_title(t, base, title, sizeof title);
    hn_html(html,
            "<div class=scroll role=region tabindex=0 aria-label=\"Training\">"
            "<table class=sortable><caption>%s: %s</caption>\n",
            title, caption);
    hn_html_heads(html, column, n, n);
}

// The settings that are compared with the base.
static void put_rows(FILE *html, const struct hn_html_column *column, int n,
                     const struct hn_trained *t, int64_t base) {
    for (int64_t k = base; k < t->settings; k++)
        if (k == base || t->setting[k].base == base)
            hn_html_row(html, column, n, &(struct row){t, base, k, TRAINED});
    fputs("</tbody></table></div>\n", html);
}

// The columns that the task has at its last evaluation, and the difference in the first of them.
static enum hn_code put_accuracies(FILE *html, struct hn_context *ctx, const struct hn_trained *t,
                                   int64_t base) {
    int n = 0;
    const char *first = hn_trained_column(t, base);
    char name[LABEL], minus[2 * LABEL],
        (*title)[LABEL] = hn_alloc(ctx, t->table->n_columns, sizeof *title);
    struct hn_html_column *column = hn_alloc(ctx, t->table->n_columns + 4, sizeof *column);
    if (!title || !column)
        goto done;
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
    hn_trained_label(t, base, name, sizeof name);
    snprintf(minus, sizeof minus, "%s minus %s", first, name);
    column[n++] = (struct hn_html_column){.title = minus,
                                          .from = first,
                                          .format = "%+.2f",
                                          .more = " <small>se %.2f</small>",
                                          .scale = hn_trained_is_share(first) ? 100 : 1,
                                          .number = difference};
    column[n++] = (struct hn_html_column){"p", NULL, first, "%.3f", .number = p_value};
    put_heads(html, column, n, t, base,
              "last evaluation, mean ± deviation over seeds. Differences are paired by seed, with "
              "standard error and p of a paired t test.");
    hn_html_row(html, column, n, &(struct row){t, base, base, UNTRAINED});
    if (hn_trained_has_features(t, base))
        hn_html_row(html, column, n, &(struct row){t, base, base, FEATURES});
    put_rows(html, column, n, t, base);
done:
    hn_free(ctx, title);
    hn_free(ctx, column);
    return n > 0 ? HN_OK : ctx->code;
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
    put_heads(html, columns, COLUMNS, t, base, "what a step costs, means over steps and seeds.");
    put_rows(html, columns, COLUMNS, t, base);
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
    hn_trained_free(ctx, &t);
    return code;
}
