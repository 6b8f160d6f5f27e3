// Trials of estimates from judged pairs on data whose relevance is known.
#include "core/stats.h"
#include "harness/host/progress.h"
#include "harness/mining/price_work.h"

#include <math.h>
#include <stdlib.h>

// Results by sheet: [settings x sheets] each.
struct found {
    double *mean, *model, *lo, *hi;
};

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

static enum hn_code run_sheet(struct hn_context *ctx, const struct hn_price_work *w, int64_t sheet,
                              const struct found *to) {
    struct hn_price price[HN_PRICES_MAX];
    struct hn_share_estimate estimate;
    int64_t n = w->p->sheet;
    uint64_t seed = (uint64_t)(w->p->seed + sheet);
    HN_SCOPE(ctx);
    struct hn_judged_pair *verdict = hn_alloc(ctx, n, sizeof *verdict);
    if (!verdict || judge(ctx, w, seed, verdict) ||
        hn_estimate_open(ctx, &w->miner, &w->population, verdict, n, n, seed, &estimate) ||
        hn_price_run(ctx, &w->miner, &w->pool, &estimate, w->setting, w->n, price))
        return ctx->code;
    for (int s = 0; s < w->n; s++) {
        int64_t at = s * w->p->trials + sheet;
        to->mean[at] = price[s].false_share.mean;
        to->model[at] = price[s].model;
        to->lo[at] = price[s].false_share.lo;
        to->hi[at] = price[s].false_share.hi;
    }
    return HN_OK;
}

static double root_error(const double *value, int64_t n, double truth) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (value[i] - truth) * (value[i] - truth);
    return sqrt(sum / (double)n);
}

static void summarize(const struct found *f, int64_t n, double truth, struct hn_sheet_trial *out) {
    double sum = 0, held = 0;
    out->error = root_error(f->mean, n, truth);
    out->model = root_error(f->model, n, truth);
    for (int64_t i = 0; i < n; i++) {
        sum += f->mean[i];
        held += f->lo[i] <= truth && truth <= f->hi[i];
    }
    out->mean = sum / (double)n;
    out->holds = isnan(truth) ? NAN : held / (double)n;
    out->lo = hn_median(f->lo, n);
    out->hi = hn_median(f->hi, n);
}

static enum hn_code run_sheets(struct hn_context *ctx, const struct hn_price_work *w,
                               const struct found *to) {
    struct hn_progress progress;
    enum hn_code code = HN_OK;
    hn_progress_begin(&progress, w->p->trials, 0, w->quiet);
    progress.unit = "sheets";
    for (int64_t sheet = 0; sheet < w->p->trials && !code; sheet++) {
        hn_progress_show(&progress, "judging");
        code = run_sheet(ctx, w, sheet, to);
        progress.done++;
    }
    hn_progress_clear(&progress);
    return code;
}

enum hn_code hn_trials_run(struct hn_context *ctx, struct hn_price_work *w) {
    int64_t n = w->p->trials, size = w->n * n;
    HN_SCOPE(ctx);
    struct found all = {hn_alloc(ctx, size, sizeof(double)), hn_alloc(ctx, size, sizeof(double)),
                        hn_alloc(ctx, size, sizeof(double)), hn_alloc(ctx, size, sizeof(double))};
    if (!all.mean || !all.model || !all.lo || !all.hi ||
        hn_price_run(ctx, &w->miner, &w->pool, NULL, w->setting, w->n, w->price) ||
        run_sheets(ctx, w, &all))
        return ctx->code;
    for (int s = 0; s < w->n; s++) {
        const struct found own = {all.mean + s * n, all.model + s * n, all.lo + s * n,
                                  all.hi + s * n};
        summarize(&own, n, w->price[s].false_share.mean, &w->trial[s]);
    }
    return HN_OK;
}
