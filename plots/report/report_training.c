// SPDX-License-Identifier: GPL-3.0-or-later
// The report of results of `hardneg train`. The opening says whether training improved on the
// baselines, and then which setting is best; tables have accuracies beside the baselines with
// differences paired by seed, and what drawing and building cost of a step.
#include "core/text.h"
#include "plots/report/report.h"
#include "plots/report/report_html.h"
#include "plots/report/report_private.h"
#include "results/analysis/trained_tables.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>

enum { MAX_PROBLEMS = 4, MAX_TIES = 6 };

// Baselines have no sampler.
static void put_name(FILE *html, const struct hn_record_column *c, const json_t *record,
                     const void *of) {
    const char *sampler = json_string_value(json_object_get(record, "sampler"));
    (void)of;
    fputs("<th scope=row", html);
    if (sampler)
        hn_html(html, " data-sampler=\"%s\"", sampler);
    hn_html(html, ">%s</th>", json_string_value(json_object_get(record, c->key)));
}

// Takes over the rows.
static void put_table(FILE *html, const char *label, const char *class, const struct hn_records *t,
                      const char *caption) {
    t->column[0].put = put_name;
    t->column[1].width = 0;
    hn_html_table(html, &(struct hn_html_table){label, "", class, caption, *class ? INT_MAX : 0,
                                                .column = t->column, .row = t->row});
}

static enum hn_code put_trained(FILE *html, struct hn_context *ctx, const struct hn_trained *t,
                                int64_t base, bool costs) {
    struct hn_records table;
    struct hn_phrase caption = hn_trained_title(t, base);
    if ((costs ? hn_trained_costs : hn_trained_accuracies)(ctx, t, base, &table))
        return ctx->code;
    (void)hn_records_take_out(table.column, "ties");
    hn_append(caption.text, sizeof caption.text, ": %s",
              costs ? "what a step costs, means over steps and seeds."
                    : "last evaluation, means over seeds; ± is the half-width of a 95 % interval, "
                      "from three "
                      "seeds on. Differences are paired by seed.");
    put_table(html, "Training", "sortable", &table, caption.text);
    return HN_OK;
}

static enum hn_code put_tuned(FILE *html, struct hn_context *ctx, const struct hn_tuned *t,
                              int64_t base) {
    struct hn_records table;
    struct hn_phrase caption;
    if (hn_tuned_outcomes(ctx, t, base, &table))
        return ctx->code;
    hn_put_text(caption.text, sizeof caption.text,
                "Each at the learning rate and temperature that %s chooses. The first row as it "
                "is, the others as differences to it, paired by seed; * told apart, with 95 %% for "
                "all of the table together (Holm).%s",
                t->by,
                hn_tuned_is_fair(t, base)
                    ? ""
                    : " Not all tried as many: those with more had more chances.");
    put_table(html, "Tuned", "", &table, caption.text);
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

// The other settings that the seeds do not tell from the best; or, judged false, that share too few
// seeds with it for an interval.
static void put_others(FILE *html, const struct problem *p, int64_t best, bool judged) {
    int n = 0;
    for (int64_t k = 0; k < p->t->settings; k++) {
        if (k == best || p->t->base[k] != p->base)
            continue;
        struct hn_mean d =
            hn_mean_among_pairs(hn_trained_difference(p->t, best, k, p->column), p->settings);
        if ((d.over == HN_OVER_SEEDS) != judged || hn_told_apart(d, true) != 0)
            continue;
        if (n < MAX_TIES)
            hn_html(html,
                    n > 0    ? ", %s"
                    : judged ? " Not significantly different: %s"
                             : " Fewer than three seeds in common with it, so not compared: %s",
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
    put_others(html, p, best, true);
    put_others(html, p, best, false);
}

// Without an interval nothing is said to be better than anything.
static void put_undecided(FILE *html, const struct problem *p, int64_t best, int64_t seeds) {
    hn_html(html, "%s has %s ", hn_trained_label(p->t, best).text, p->column);
    put_mean(html, p, last_of(p, best));
    hn_html(html, " with %s.", hn_counted(seeds, "seed").text);
}

// True if it has too few seeds.
static bool put_problem(FILE *html, const struct problem *p) {
    struct hn_trained_row row;
    int64_t best = highest(p, p->improved > 0);
    if (best < 0)
        return false;
    hn_html(html, "<p>%s: ", hn_trained_title(p->t, p->base).text);
    int64_t seeds = last_of(p, best).n;
    struct hn_mean d = closest_gain(p, best, &row);
    bool baseline = d.n > 0;
    double baseline_mean = baseline ? hn_trained_at(p->t, p->base, p->column, row.step).mean : NAN;
    bool undecided = !isfinite(last_of(p, best).half) || (baseline && !isfinite(d.half));
    if (undecided) {
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
    return undecided;
}

bool hn_html_is_training(const struct hn_results *r) {
    return hn_results_table(r, "training") != NULL;
}

enum hn_code hn_html_training_answer(FILE *html, struct hn_context *ctx,
                                     const struct hn_results *r) {
    struct hn_trained t;
    int problems = 0;
    bool undecided = false;
    enum hn_code code = hn_trained_open(ctx, r, &t);
    if (code)
        return code == HN_NOT_APPLICABLE || code == HN_DATA ? HN_OK : code;
    for (int64_t base = 0; base < t.settings; base++) {
        if (t.base[base] != base || problems++ >= MAX_PROBLEMS)
            continue;
        const char *column = hn_trained_column(&t, base);
        double scale = hn_trained_scale(column);
        bool share = scale > 1;
        int digits = hn_trained_digits(column);
        struct problem p = {.t = &t, .base = base, .column = column};
        p.value = (struct hn_html_amount){share ? "%" : "", scale, digits, false};
        p.difference = (struct hn_html_amount){share ? "points" : "", scale, digits, true};
        for (int64_t k = 0; k < t.settings; k++)
            p.settings += t.base[k] == base;
        for (int64_t k = 0; k < t.settings; k++)
            p.improved += t.base[k] == base && is_improved(&p, k);
        undecided |= put_problem(html, &p);
    }
    if (undecided)
        fputs("<p>Run at least three seeds to see whether training improves on the baselines and "
              "which setting is best.</p>\n",
              html);
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
            code = put_trained(html, ctx, &t, k, false);
    if (!code)
        code = put_all_tuned(html, ctx, &t);
    fputs("<h3>Costs</h3>\n", html);
    for (int64_t k = 0; k < t.settings && !code; k++)
        if (t.base[k] == k)
            code = put_trained(html, ctx, &t, k, true);
    fputs("</section>\n", html);
    return code;
}
