// SPDX-License-Identifier: GPL-3.0-or-later
// The report of results of `hardneg train`. The opening says whether training improved on the
// baselines, and then which setting is best; tables have accuracies beside the baselines with
// differences paired by seed, and what drawing and building cost of a step.
#include "core/text.h"
#include "plots/report/report.h"
#include "plots/report/report_html.h"
#include "plots/report/report_private.h"
#include "results/analysis/trained.h"
#include "results/analysis/tuned.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MAX_PROBLEMS = 4, MAX_TIES = 6 };

struct row {
    const struct hn_trained *t;
    struct hn_trained_row of;
};

static void put_setting(FILE *html, const struct hn_html_column *c, const void *of) {
    const struct row *row = of;
    (void)c;
    if (row->of.step == HN_LAST_STEP)
        hn_html(html, "<th scope=row data-sampler=\"%s\">%s</th>",
                hn_trained_text(row->t, row->of.setting, "sampler"), row->of.name);
    else
        hn_html(html, "<th scope=row>%s</th>", row->of.name);
}

static struct hn_html_number seeds(const struct hn_html_column *c, const void *of) {
    const struct row *row = of;
    (void)c;
    return (struct hn_html_number){(double)row->t->overview.seeds[row->of.setting]};
}

// Of one of the task's columns.
static struct hn_html_number accuracy(const struct hn_html_column *c, const void *of) {
    const struct row *row = of;
    struct hn_mean m = hn_trained_at(row->t, row->of.setting, c->from, row->of.step);
    return (struct hn_html_number){m.mean, m.half};
}

// The largest of a run's evaluations.
static struct hn_html_number best(const struct hn_html_column *c, const void *of) {
    const struct row *row = of;
    struct hn_mean m = hn_trained_at(row->t, row->of.setting, c->from, HN_BEST_STEP);
    bool trained = row->of.step == HN_LAST_STEP;
    return (struct hn_html_number){trained ? m.mean : NAN, m.half};
}

static struct hn_mean compare(const struct row *row, const char *column) {
    if (row->of.setting == row->of.base)
        return hn_no_mean;
    return hn_trained_difference(row->t, row->of.setting, row->of.base, column);
}

static struct hn_html_number difference(const struct hn_html_column *c, const void *of) {
    struct hn_mean d = compare(of, c->from);
    return (struct hn_html_number){d.mean, d.half};
}

static struct hn_html_number p_value(const struct hn_html_column *c, const void *of) {
    return (struct hn_html_number){hn_mean_p(compare(of, c->from))};
}

static struct hn_html_number cost(const struct hn_html_column *c, const void *of) {
    const struct row *row = of;
    return (struct hn_html_number){
        hn_overview_mean(&row->t->overview, row->of.setting, c->from).mean};
}

#define SETTING                                                                                    \
    { "Setting", .put = put_setting }
#define SEEDS                                                                                      \
    { "Seeds", .format = "%.0f", .number = seeds }

// The table of `row`'s base, from the row behind that one on.
static void put_table(FILE *html, const struct hn_html_column *column, int n, struct row row,
                      const char *caption) {
    hn_html(html,
            "<div class=scroll role=region tabindex=0 aria-label=\"Training\">"
            "<table class=sortable><caption>%s: %s</caption>\n",
            hn_trained_title(row.t, row.of.base).text, caption);
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
    double scale = hn_trained_scale(first);
    char top[HN_LABEL_SIZE], minus[2 * HN_LABEL_SIZE],
        (*title)[HN_LABEL_SIZE] = hn_alloc(ctx, t->table->n_columns, sizeof *title);
    struct hn_html_column *column = hn_alloc(ctx, t->table->n_columns + 5, sizeof *column);
    if (!title || !column)
        return ctx->code;
    column[n++] = (struct hn_html_column)SETTING;
    column[n++] = (struct hn_html_column)SEEDS;
    for (int c = hn_trained_next(t, base, -1); c >= 0; c = hn_trained_next(t, base, c)) {
        const struct hn_column *of = &t->table->column[c];
        double its = hn_trained_scale(of->name);
        const char *format = its > 1 ? "%.2f" : "%.3f";
        snprintf(title[c], HN_LABEL_SIZE, "%s%s", of->name, its > 1 ? " (%)" : "");
        column[n++] = (struct hn_html_column){
            title[c], of->long_name, of->name, HN_HTML_PLUS_MINUS(format), its, accuracy};
    }
    static const char best_of[] =
        "largest of a run's evaluations: an optimistic number, which some papers report";
    snprintf(top, sizeof top, "best %s%s", first, scale > 1 ? " (%)" : "");
    column[n++] =
        (struct hn_html_column){top, best_of, first, HN_HTML_PLUS_MINUS("%.2f"), scale, best};
    hn_put_text(minus, sizeof minus, "%s minus %s", first, hn_trained_label(t, base).text);
    column[n++] = (struct hn_html_column){minus, NULL, first, "%+.2f", "%.2f", scale, difference};
    column[n++] =
        (struct hn_html_column){"p", "of a paired t test", first, "%.3f", .number = p_value};
    put_table(
        html, column, n, (struct row){t, {.base = base, .setting = -1}},
        "last evaluation, means over seeds; ± is half of a 95 % interval, from three seeds on. "
        "Differences are paired by seed.");
    return HN_OK;
}

static void put_costs(FILE *html, const struct hn_trained *t, int64_t base) {
    static const char step[] = "of a step with all its costs";
    static const struct hn_html_column columns[] = {
        SETTING,
        SEEDS,
        {"Cost_T (ms)", "forward, backward and update of a step", "cost_t", NULL, NULL, 1e3, cost},
        {"Cost_S (ms)", "drawing a batch", "cost_s", NULL, NULL, 1e3, cost},
        {"Cost_G / t (ms)", "building, per step", "cost_g_over_t", NULL, NULL, 1e3, cost},
        {"Cost_S (% of a step)", step, "share_s", "%.2f", NULL, 100, cost},
        {"Cost_G / t (% of a step)", step, "share_g", "%.2f", NULL, 100, cost},
        {"Embedding (% of a step)", "of all items, for builds", "share_e", "%.2f", NULL, 100, cost},
        {"Products (GFLOP)", "matrix products of a step", "flops_per_step", NULL, NULL, 1e-9, cost},
        {"Of the floor (%)",
         "what the products would take at the measured sgemm rate, as a share of Cost_T",
         "share_of_floor", "%.1f", NULL, 100, cost}};
    enum { COLUMNS = sizeof columns / sizeof columns[0] };
    put_table(html, columns, COLUMNS, (struct row){t, {base, base, HN_LAST_REFERENCE, ""}},
              "what a step costs, means over steps and seeds.");
}

// A recipe at the settings that the validation part chose.
struct tuned_row {
    const struct hn_tuned *t;
    int64_t row;
};

static void put_chosen(FILE *html, const struct hn_html_column *c, const void *of) {
    const struct tuned_row *row = of;
    const struct hn_trained *t = row->t->trained;
    int64_t setting = row->t->row[row->row].setting;
    (void)c;
    hn_html(html, "<th scope=row data-sampler=\"%s\">%s</th>",
            hn_trained_text(t, setting, "sampler"), hn_trained_name(t, setting, false).text);
}

static struct hn_html_number tried(const struct hn_html_column *c, const void *of) {
    const struct tuned_row *row = of;
    (void)c;
    return (struct hn_html_number){(double)row->t->row[row->row].tried};
}

// The base's value, or the difference to it with a star where it is told apart.
static void put_tuned_value(FILE *html, const struct hn_html_column *c, const void *of) {
    const struct tuned_row *row = of;
    const struct hn_tuned_row *own = &row->t->row[row->row];
    double scale = hn_trained_scale(c->from);
    bool base = own->base == row->row;
    int k = 0, digits = scale > 1 ? 2 : 3;
    while (strcmp(row->t->outcome[k], c->from) != 0)
        k++;
    struct hn_mean m = base ? hn_trained_at(row->t->trained, own->setting, c->from, HN_LAST_STEP)
                            : hn_tuned_difference(row->t, row->row, k);
    fputs("<td>", html);
    hn_html_amount(html, (struct hn_html_amount){"", scale, digits, !base}, m.mean, m.half);
    fputs(!base && own->p[k] <= 0.05 ? " *</td>" : "</td>", html);
}

static enum hn_code put_tuned(FILE *html, struct hn_context *ctx, const struct hn_tuned *t,
                              int64_t base) {
    struct hn_html_column *column = hn_alloc(ctx, t->outcomes + 2, sizeof *column);
    char(*title)[HN_LABEL_SIZE] = hn_alloc(ctx, t->outcomes, sizeof *title);
    if (!column || !title)
        return ctx->code;
    column[0] = (struct hn_html_column){"Chosen", .put = put_chosen};
    column[1] = (struct hn_html_column){"Tried", "learning rates and temperatures",
                                        .format = "%.0f", .number = tried};
    for (int k = 0; k < t->outcomes; k++) {
        snprintf(title[k], HN_LABEL_SIZE, "%s%s", t->outcome[k],
                 hn_trained_scale(t->outcome[k]) > 1 ? " (%)" : "");
        column[2 + k] =
            (struct hn_html_column){title[k], .from = t->outcome[k], .put = put_tuned_value};
    }
    hn_html(html,
            "<div class=scroll role=region tabindex=0 aria-label=\"Tuned\"><table>"
            "<caption>Each at the learning rate and temperature that %s chooses. The first row as "
            "it is, the others as differences to it, paired by seed; * told apart, with 95 %% for "
            "all of the table together (Holm).%s</caption>\n",
            t->by,
            hn_tuned_is_fair(t, base)
                ? ""
                : " Not all tried as many: those with more had more chances.");
    hn_html_heads(html, column, t->outcomes + 2, 0);
    for (int64_t r = base; r < t->rows; r++)
        if (t->row[r].base == base)
            hn_html_row(html, column, t->outcomes + 2, &(struct tuned_row){t, r});
    fputs("</tbody></table></div>\n", html);
    return HN_OK;
}

static enum hn_code put_all_tuned(FILE *html, struct hn_context *ctx,
                                  const struct hn_trained *trained) {
    struct hn_tuned t;
    enum hn_code code = hn_tuned_make(ctx, trained, &t);
    if (code)
        return code == HN_NOT_APPLICABLE ? HN_OK : code;
    fputs("<h3 id=tuned>Tuned</h3>\n", html);
    for (int64_t r = 0; r < t.rows && !code; r++)
        if (t.row[r].base == r)
            code = put_tuned(html, ctx, &t, r);
    return code;
}

// The opening.

// Settings of a problem: those that are compared with its base.
struct problem {
    const struct hn_trained *t;
    int64_t base, settings, improved;
    const char *column;
    struct hn_html_amount value, difference;
};

static void put_mean(FILE *html, const struct problem *p, struct hn_mean m) {
    hn_html_amount(html, p->value, m.mean, m.half);
}

static void put_difference(FILE *html, const struct problem *p, struct hn_mean d) {
    hn_html_amount(html, p->difference, d.mean, d.half);
}

// The best setting is picked among all, so intervals hold for all of them together.
static struct hn_mean last_of(const struct problem *p, int64_t k) {
    return hn_mean_among(hn_trained_at(p->t, k, p->column, HN_LAST_STEP), p->settings);
}

static struct hn_mean gain(const struct problem *p, int64_t k, int64_t step) {
    return hn_mean_among(hn_trained_gain(p->t, k, step, p->column), p->settings);
}

static struct hn_mean against(const struct problem *p, int64_t a, int64_t b) {
    return hn_mean_among(hn_trained_difference(p->t, a, b, p->column), p->settings);
}

// The gain over the baseline that is the closest to the setting, with its row; none if
// no baseline was evaluated.
static struct hn_mean closest_gain(const struct problem *p, int64_t k,
                                   struct hn_trained_row *closest) {
    struct hn_trained_row row = {.base = p->base, .setting = -1};
    struct hn_mean gained = hn_no_mean;
    double min = INFINITY;
    while (hn_trained_next_row(p->t, &row) && row.step != HN_LAST_STEP) {
        struct hn_mean d = gain(p, k, row.step);
        double lo = d.mean - (isfinite(d.half) ? d.half : 0);
        if (lo < min) {
            min = lo;
            gained = d;
            *closest = row;
        }
    }
    return gained;
}

// True if training with the setting improved on every baseline.
static bool is_improved(const struct problem *p, int64_t k) {
    struct hn_trained_row closest;
    return closest_gain(p, k, &closest).lo > 0;
}

// The setting with the highest mean: of all, or of those that improved; -1: none has a value.
static int64_t highest(const struct problem *p, bool improved) {
    int64_t best = -1;
    for (int64_t k = 0; k < p->t->settings; k++)
        if (p->t->base[k] == p->base && last_of(p, k).n > 0 && (!improved || is_improved(p, k)) &&
            (best < 0 || last_of(p, k).mean > last_of(p, best).mean))
            best = k;
    return best;
}

static void put_ties(FILE *html, const struct problem *p, int64_t best) {
    int n = 0;
    for (int64_t k = 0; k < p->t->settings; k++) {
        if (k == best || p->t->base[k] != p->base)
            continue;
        struct hn_mean d =
            hn_mean_among_pairs(hn_trained_difference(p->t, best, k, p->column), p->settings);
        if (d.n == 0 || hn_told_apart(d, true) != 0)
            continue;
        if (n < MAX_TIES)
            hn_html(html, n ? ", %s" : " Not significantly different: %s",
                    hn_trained_label(p->t, k).text);
        n++;
    }
    if (n > MAX_TIES)
        fprintf(html, " and %d more", n - MAX_TIES);
    fputs(n > 0 ? "." : "", html);
}

static void put_best(FILE *html, const struct problem *p, int64_t best) {
    hn_html(html,
            p->improved == 1  ? ": <b>%s</b> has %s "
            : p->improved > 1 ? "; of these <b>%s</b> has the highest %s, "
                              : " <b>%s</b> has the highest %s, ",
            hn_trained_label(p->t, best).text, p->column);
    put_mean(html, p, last_of(p, best));
    struct hn_mean to_base = against(p, best, p->base);
    if (best != p->base && to_base.n > 0) {
        fputs(", ", html);
        put_difference(html, p, to_base);
        hn_html(html, " against %s", hn_trained_label(p->t, p->base).text);
    }
    fputs(".", html);
    put_ties(html, p, best);
}

// Without an interval nothing is said to be better than anything.
static void put_undecided(FILE *html, const struct problem *p, int64_t best, int64_t seeds) {
    hn_html(html, "%s has %s ", hn_trained_label(p->t, best).text, p->column);
    put_mean(html, p, last_of(p, best));
    hn_html(html,
            " with %s. Run at least three seeds to see whether training improves on the baselines "
            "and which setting is best.",
            hn_counted(seeds, "seed").text);
}

static void put_problem(FILE *html, const struct problem *p) {
    struct hn_trained_row row;
    int64_t best = highest(p, p->improved > 0);
    if (best < 0)
        return;
    hn_html(html, "<p>%s: ", hn_trained_title(p->t, p->base).text);
    int64_t seeds = last_of(p, best).n;
    struct hn_mean d = closest_gain(p, best, &row);
    bool baseline = d.n > 0;
    double baseline_mean = baseline ? hn_trained_at(p->t, p->base, p->column, row.step).mean : NAN;
    if (!isfinite(last_of(p, best).half) || (baseline && !isfinite(d.half))) {
        put_undecided(html, p, best, seeds);
    } else if (!baseline) {
        fputs("no baseline was evaluated before training, so the page cannot tell whether training "
              "improved anything.",
              html);
        put_best(html, p, best);
    } else if (p->improved == 0) {
        fputs(
            gain(p, best, HN_UNTRAINED).lo > 0
                ? "training improves on the untrained encoder, but no setting is shown to improve "
                  "on every baseline. The highest mean, "
                : "no setting is shown to improve on every baseline. The highest mean, ",
            html);
        put_mean(html, p, last_of(p, best));
        fputs(", differs by ", html);
        put_difference(html, p, d);
        hn_html(html, " from the %s (", row.name);
        hn_html_amount(html, p->value, baseline_mean, NAN);
        fprintf(html, "; %s).", hn_counted(seeds, "seed").text);
    } else {
        fprintf(html, "training improves on every baseline with %" PRId64 " of %s", p->improved,
                hn_counted(p->settings, "setting").text);
        put_best(html, p, best);
        hn_html(html, " The closest baseline, the %s, has ", row.name);
        hn_html_amount(html, p->value, baseline_mean, NAN);
        fputs(" (difference ", html);
        put_difference(html, p, d);
        fprintf(html, "; %s).", hn_counted(seeds, "seed").text);
    }
    if (p->settings > 1 && isfinite(last_of(p, best).half))
        fputs(" Intervals here hold for all settings together, and are wider than the table's.",
              html);
    fputs("</p>\n", html);
}

bool hn_html_is_training(const struct hn_results *r) {
    return hn_results_table(r, "training") != NULL;
}

enum hn_code hn_html_training_answer(FILE *html, struct hn_context *ctx,
                                     const struct hn_results *r) {
    struct hn_trained t;
    int problems = 0;
    enum hn_code code = hn_trained_open(ctx, r, &t);
    if (code)
        return code == HN_NOT_APPLICABLE || code == HN_DATA ? HN_OK : code;
    for (int64_t base = 0; base < t.settings; base++) {
        if (t.base[base] != base || problems++ >= MAX_PROBLEMS)
            continue;
        const char *column = hn_trained_column(&t, base);
        double scale = hn_trained_scale(column);
        bool share = scale > 1;
        struct problem p = {.t = &t, .base = base, .column = column};
        p.value = (struct hn_html_amount){share ? "%" : "", scale, share ? 2 : 3, false};
        p.difference = (struct hn_html_amount){share ? "points" : "", scale, share ? 2 : 3, true};
        for (int64_t k = 0; k < t.settings; k++)
            p.settings += t.base[k] == base;
        for (int64_t k = 0; k < t.settings; k++)
            p.improved += t.base[k] == base && is_improved(&p, k);
        put_problem(html, &p);
    }
    if (problems > MAX_PROBLEMS)
        fprintf(html, "<p>See the tables for %d more tasks, temperatures and batch sizes.</p>\n",
                problems - MAX_PROBLEMS);
    return HN_OK;
}

enum hn_code hn_html_training(FILE *html, struct hn_context *ctx, const struct hn_results *r) {
    struct hn_trained t;
    enum hn_code code = hn_trained_open(ctx, r, &t);
    if (code)
        return code == HN_NOT_APPLICABLE || code == HN_DATA ? HN_OK : code;
    fputs("<section aria-labelledby=training><h2 id=training>Training</h2>\n", html);
    for (int64_t k = 0; k < t.settings && !code; k++)
        if (t.base[k] == k)
            code = put_accuracies(html, ctx, &t, k);
    if (!code)
        code = put_all_tuned(html, ctx, &t);
    fputs("<h3>Costs</h3>\n", html);
    for (int64_t k = 0; k < t.settings; k++)
        if (t.base[k] == k)
            put_costs(html, &t, k);
    fputs("</section>\n", html);
    return code;
}
