// SPDX-License-Identifier: GPL-3.0-or-later
// Trials of estimates from judged pairs on data whose relevance is known.
#include "core/stats.h"
#include "core/text.h"
#include "harness/host/progress.h"
#include "harness/mining/price_work.h"
#include "results/records.h"
#include "retrieval/population.h"
#include "retrieval/price.h"
#include "retrieval/recommend.h"

#include <math.h>
#include <stdlib.h>

static int by_pair(const void *a, const void *b) {
    const struct hn_judged_pair *x = a, *y = b;
    int32_t query = (x->at.query > y->at.query) - (x->at.query < y->at.query);
    return query ? query : (x->at.position > y->at.position) - (x->at.position < y->at.position);
}

// The verdicts of a drawn sheet, by what is known to be relevant.
static enum hn_code judge(struct hn_context *ctx, const struct hn_price_work *w, uint64_t seed,
                          struct hn_judged_pair *verdict) {
    int64_t n = w->p->sheet;
    struct hn_pair_at *pair = hn_alloc(ctx, n, sizeof *pair);
    if (!pair || hn_population_draw(ctx, &w->population, n, seed, pair))
        return ctx->code;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = pair[i].query * w->pool.width + pair[i].position;
        bool relevant = (w->pool.flags[at] & HN_IS_HIDDEN) != 0;
        verdict[i] = (struct hn_judged_pair){pair[i], relevant, 1};
    }
    qsort(verdict, (size_t)n, sizeof *verdict, by_pair);
    return HN_OK;
}

static const double usual_limits[] = {.005, .01, .02, .05, .1, .2, .5};
enum { USUAL = sizeof usual_limits / sizeof *usual_limits };
static const double just_below = 0.97; // of a share: where a wrong recommendation is nearest

static int find_possible(const struct hn_price_work *w, double limit) {
    int best = -1;
    for (int s = 0; s < w->n; s++)
        if (w->price[s].false_share.mean <= limit && w->price[s].none <= w->p->max_none &&
            (best < 0 || w->price[s].hardness.mean > w->price[best].hardness.mean))
            best = s;
    return best;
}

static void add_limit(struct hn_price_work *w, double limit) {
    int k = 0;
    while (k < w->limits && w->limit[k].limit < limit)
        k++;
    if (!(limit > 0) || w->limits == HN_LIMITS_MAX || (k < w->limits && w->limit[k].limit <= limit))
        return;
    for (int i = w->limits++; i > k; i--)
        w->limit[i] = w->limit[i - 1];
    w->limit[k] = (struct hn_recommend_trial){.limit = limit, .possible = find_possible(w, limit)};
}

// --max-fn, or the usual limits and those just below the share of a window.
static void choose_limits(struct hn_price_work *w) {
    if (!isnan(w->p->max_fn)) {
        add_limit(w, w->p->max_fn);
        return;
    }
    for (int k = 0; k < USUAL; k++)
        add_limit(w, usual_limits[k]);
    for (int s = 0; s < w->n; s++)
        if (w->setting[s].family == HN_PRICE_RANK)
            add_limit(w, just_below * w->price[s].false_share.mean);
}

static void recommend(struct hn_price_work *w, const struct hn_price *price) {
    bool shown[HN_PRICES_MAX];
    for (int k = 0; k < w->limits; k++) {
        struct hn_recommend_trial *t = &w->limit[k];
        int best = hn_price_recommend(price, w->n, t->limit, w->p->max_none, shown);
        t->said += best >= 0;
        t->above += best >= 0 && w->price[best].false_share.mean > t->limit;
        t->hardness += best < 0 ? 0 : price[best].hardness.mean;
    }
}

// Adds a sheet to the sums in w->trial, and puts the ends of its intervals into lo and hi, both
// [settings x sheets].
static enum hn_code run_sheet(struct hn_context *ctx, struct hn_price_work *w, int64_t sheet,
                              double *lo, double *hi) {
    struct hn_price price[HN_PRICES_MAX];
    struct hn_share_estimate estimate;
    int64_t n = w->p->sheet;
    uint64_t seed = (uint64_t)(w->p->seed + sheet);
    HN_SCOPE(ctx);
    struct hn_judged_pair *verdict = hn_alloc(ctx, n, sizeof *verdict);
    if (!verdict || judge(ctx, w, seed, verdict) ||
        hn_estimate_open(ctx, &w->miner, &w->population, verdict, n, seed, &estimate) ||
        hn_price_run(ctx, &w->miner, &w->pool, &estimate, w->setting, w->n, price))
        return ctx->code;
    recommend(w, price);
    for (int s = 0; s < w->n; s++) {
        const struct hn_interval share = price[s].false_share;
        struct hn_sheet_trial *t = &w->trial[s];
        double truth = w->price[s].false_share.mean;
        t->mean += share.mean;
        t->error += (share.mean - truth) * (share.mean - truth);
        t->model += (price[s].model - truth) * (price[s].model - truth);
        t->holds += share.lo <= truth && truth <= share.hi;
        lo[s * w->p->trials + sheet] = share.lo;
        hi[s * w->p->trials + sheet] = share.hi;
    }
    return HN_OK;
}

static enum hn_code run_sheets(struct hn_context *ctx, struct hn_price_work *w, double *lo,
                               double *hi) {
    struct hn_progress progress;
    enum hn_code code = HN_OK;
    hn_progress_begin(&progress, w->p->trials, 0, w->quiet);
    progress.unit = "sheets";
    for (int64_t sheet = 0; sheet < w->p->trials && !code; sheet++) {
        hn_progress_show(&progress, "judging");
        code = run_sheet(ctx, w, sheet, lo, hi);
        progress.done++;
    }
    hn_progress_clear(&progress);
    return code;
}

enum hn_code hn_trials_run(struct hn_context *ctx, struct hn_price_work *w) {
    int64_t n = w->p->trials;
    HN_SCOPE(ctx);
    double *lo = hn_alloc(ctx, w->n * n, sizeof *lo), *hi = hn_alloc(ctx, w->n * n, sizeof *hi);
    if (!lo || !hi || hn_price_run(ctx, &w->miner, &w->pool, NULL, w->setting, w->n, w->price))
        return ctx->code;
    choose_limits(w);
    if (run_sheets(ctx, w, lo, hi))
        return ctx->code;
    for (int k = 0; k < w->limits; k++) {
        w->limit[k].hardness /= w->limit[k].said; // NaN: none was
        w->limit[k].said /= (double)n;
        w->limit[k].above /= (double)n;
    }
    for (int s = 0; s < w->n; s++) {
        struct hn_sheet_trial *t = &w->trial[s];
        t->mean /= (double)n;
        t->error = sqrt(t->error / (double)n);
        t->model = sqrt(t->model / (double)n);
        t->holds = isnan(w->price[s].false_share.mean) ? NAN : t->holds / (double)n;
        t->lo = hn_median(lo + s * n, n);
        t->hi = hn_median(hi + s * n, n);
    }
    return HN_OK;
}

static json_t *limits_of(const struct hn_price_work *w) {
    json_t *rows = json_array();
    for (int k = 0; k < w->limits; k++) {
        const struct hn_recommend_trial *t = &w->limit[k];
        const struct hn_price *p = t->possible < 0 ? NULL : &w->price[t->possible];
        json_array_append_new(
            rows, json_pack("{s:f, s:f, s:f, s:o, s:s, s:o}", "max_fn", t->limit, "recommended",
                            t->said, "above", t->above, "hardness", hn_json_real(t->hardness),
                            "hardest_within", p ? hn_price_name(p).text : "",
                            "hardest_within_hardness", hn_json_real(p ? p->hardness.mean : NAN)));
    }
    return rows;
}

static void print_limits(const struct hn_price_work *w, const json_t *rows) {
    static const struct hn_record_column columns[] = {{"max_fn", "--max-fn, %", 11, 3, 100},
                                                      {"recommended", "names one, %", 12, 1, 100},
                                                      {"above", "above limit, %", 14, 1, 100},
                                                      {"hardness", "hardness", 8, 2},
                                                      {"hardest_within", "hardest within it", -24},
                                                      {"hardest_within_hardness", "hardness", 8, 2},
                                                      {NULL}};
    printf(
        "\n--recommend, at most %g %% of the queries empty: in how many of the sheets it names a "
        "setting, and one whose share is above the limit.\n\n",
        100 * w->p->max_none);
    hn_records_print(columns, rows, stdout);
}

enum hn_code hn_trials_print(struct hn_context *ctx, const struct hn_price_work *w, bool json) {
    static const struct hn_record_column columns[] = {{"setting", "setting", -24},
                                                      {"truth", "truth, %", 8, 3, 100},
                                                      {"mean", "mean estimate, %", 16, 3, 100},
                                                      {"error", "error, %", 8, 3, 100},
                                                      {"model", "of model, %", 11, 3, 100},
                                                      {"lo", "95 % from", 9, 3, 100},
                                                      {"hi", "to", 7, 3, 100},
                                                      {"holds", "holds truth, %", 14, 1, 100},
                                                      {NULL}};
    json_t *rows = json_array(), *limits = limits_of(w);
    for (int i = 0; i < w->n; i++) {
        const struct hn_sheet_trial *t = &w->trial[i];
        json_array_append_new(
            rows, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "setting",
                            hn_price_name(&w->price[i]).text, "truth",
                            hn_json_real(w->price[i].false_share.mean), "mean",
                            hn_json_real(t->mean), "error", hn_json_real(t->error), "model",
                            hn_json_real(t->model), "lo", hn_json_real(t->lo), "hi",
                            hn_json_real(t->hi), "holds", hn_json_real(t->holds)));
    }
    if (json)
        return hn_json_print(ctx,
                             json_pack("{s:o, s:I, s:I, s:o, s:o}", "file",
                                       hn_json_text(w->corpus.info->file->path), "sheets",
                                       (json_int_t)w->p->trials, "pairs", (json_int_t)w->p->sheet,
                                       "limits", limits, "settings", rows),
                             stdout);
    printf("%s: estimates from %s of %s, filled in from /truth. error: root mean "
           "square of estimate - truth; of model: of its predictions alone; 95 %% from, to: "
           "medians of the intervals' ends.\n\n",
           w->corpus.info->file->path, hn_counted(w->p->trials, "sheet").text,
           hn_counted(w->p->sheet, "pair").text);
    hn_records_print(columns, rows, stdout);
    json_decref(rows);
    print_limits(w, limits);
    json_decref(limits);
    return HN_OK;
}
