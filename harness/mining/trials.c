#include "harness/mining/trials.h"
#include "core/stats.h"
#include "harness/host/progress.h"

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
static enum hn_code judge(struct hn_context *ctx, const struct hn_trials *t, uint64_t seed,
                          struct hn_judged_pair *verdict) {
    const struct hn_pool *pool = t->population->pool;
    struct hn_pair_at *pair = hn_alloc(ctx, t->pairs, sizeof *pair);
    if (!pair || hn_population_draw(ctx, t->population, t->pairs, seed, pair))
        return ctx->code;
    for (int64_t i = 0; i < t->pairs; i++) {
        int64_t at = pair[i].query * pool->width + pair[i].position;
        bool relevant = (pool->flags[at] & HN_IS_HIDDEN) != 0;
        verdict[i] = (struct hn_judged_pair){pair[i], relevant, 1};
    }
    qsort(verdict, (size_t)t->pairs, sizeof *verdict, by_pair);
    return HN_OK;
}

static enum hn_code run_sheet(struct hn_context *ctx, const struct hn_trials *t, int64_t sheet,
                              const struct found *to) {
    struct hn_price price[HN_PRICES_MAX];
    struct hn_share_estimate estimate;
    uint64_t seed = t->seed + (uint64_t)sheet;
    HN_SCOPE(ctx);
    struct hn_judged_pair *verdict = hn_alloc(ctx, t->pairs, sizeof *verdict);
    if (!verdict || judge(ctx, t, seed, verdict) ||
        hn_estimate_open(ctx, t->miner, t->population, verdict, t->pairs, t->pairs, seed,
                         &estimate) ||
        hn_price_run(ctx, t->miner, t->population->pool, &estimate, t->setting, t->settings, price))
        return ctx->code;
    for (int s = 0; s < t->settings; s++) {
        int64_t at = s * t->sheets + sheet;
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

static void summarize(const struct found *f, int64_t n, struct hn_sheet_trial *out) {
    double truth = out->truth.false_share.mean, sum = 0, held = 0;
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

static enum hn_code run_sheets(struct hn_context *ctx, const struct hn_trials *t,
                               const struct found *to) {
    struct hn_progress progress;
    enum hn_code code = HN_OK;
    hn_progress_begin(&progress, t->sheets, 0, t->quiet);
    progress.unit = "sheets";
    for (int64_t sheet = 0; sheet < t->sheets && !code; sheet++) {
        hn_progress_show(&progress, "judging");
        code = run_sheet(ctx, t, sheet, to);
        progress.done++;
    }
    hn_progress_end(&progress);
    return code;
}

enum hn_code hn_trials_run(struct hn_context *ctx, const struct hn_trials *t,
                           struct hn_sheet_trial *out) {
    struct hn_price truth[HN_PRICES_MAX];
    int64_t size = t->settings * t->sheets;
    HN_SCOPE(ctx);
    struct found all = {hn_alloc(ctx, size, sizeof(double)), hn_alloc(ctx, size, sizeof(double)),
                        hn_alloc(ctx, size, sizeof(double)), hn_alloc(ctx, size, sizeof(double))};
    if (!all.mean || !all.model || !all.lo || !all.hi ||
        hn_price_run(ctx, t->miner, t->population->pool, NULL, t->setting, t->settings, truth) ||
        run_sheets(ctx, t, &all))
        return ctx->code;
    for (int s = 0; s < t->settings; s++) {
        int64_t at = s * t->sheets;
        const struct found own = {all.mean + at, all.model + at, all.lo + at, all.hi + at};
        out[s].truth = truth[s];
        summarize(&own, t->sheets, &out[s]);
    }
    return HN_OK;
}
