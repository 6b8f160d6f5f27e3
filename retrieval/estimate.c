// SPDX-License-Identifier: GPL-3.0-or-later
// Difference estimator (Cassel, Sarndal and Wretman 1976) of the relevant pairs among mined ones:
// sum of the predictions, plus the sum over judged ones of (relevant - predicted) / (times expected
// in the sheets). A pair is predicted by a model fitted without its fifth of the judged pairs, so
// that the estimate has next to no bias however wrong the model is. Where a language model or the
// like judged many pairs and people some of these, (relevant - predicted) of a pair is foretold by
// trust times (its verdict - predicted): the sum is that over all its pairs, plus that over
// people's of what remains (prediction-powered, Angelopoulos et al. 2023). Trust, within [0, 1], is
// the slope of the one over the other in pairs of other fifths. Intervals: Bayesian bootstrap
// (Rubin 1981) over judged pairs, with half a relevant pair more: that is Jeffreys' interval for a
// share where all weights are equal, and has an upper end where no relevant pair was judged.
#include "retrieval/estimate.h"
#include "core/random.h"
#include "retrieval/miner.h"
#include "retrieval/pair_model.h"
#include "retrieval/population.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

enum { FOLDS = 5, REPLICATES = 1000 };

static enum hn_code draw_weights(struct hn_context *ctx, struct hn_share_estimate *e,
                                 uint64_t seed) {
    e->weight = hn_alloc(ctx, REPLICATES * e->verdicts, sizeof(double));
    e->extra = hn_alloc(ctx, REPLICATES, sizeof(double));
    e->value = hn_alloc(ctx, REPLICATES, sizeof(double));
    if (!e->weight || !e->extra || !e->value)
        return ctx->code;
    for (int64_t r = 0; r < REPLICATES; r++) {
        struct hn_stream stream;
        hn_stream_open(&stream, seed, "price.bootstrap", 0, 0, r);
        const gsl_rng rng = hn_stream_gsl(&stream);
        double z = gsl_ran_ugaussian(&rng), sum = z * z / 2;
        double *w = e->weight + r;
        e->extra[r] = sum; // gamma of 1/2
        for (int64_t i = 0; i < e->verdicts; i++)
            sum += w[i * REPLICATES] = gsl_ran_exponential(&rng, 1);
        for (int64_t i = 0; i < e->verdicts; i++)
            w[i * REPLICATES] *= (double)e->verdicts / sum;
        e->extra[r] *= (double)e->verdicts / sum;
    }
    return HN_OK;
}

static int32_t rank_of(const struct hn_share_estimate *e, const struct hn_judged_pair *v) {
    return e->population->rank[v->at.query * e->population->pool->width + v->at.position];
}

// Pairs that one row of the sheets stands for; 0: it has none. Of people; of models.
static double pairs_of_row(const struct hn_share_estimate *e, const struct hn_judged_pair *v,
                           bool models) {
    double drawn = hn_population_probability(e->population, rank_of(e, v));
    int64_t here = models ? v->model_rows : v->rows, all = models ? e->model_rows : e->rows;
    return here > 0 ? (double)here / ((double)all * drawn) : 0;
}

// Returns the trust in the models by the verdicts that are not of fold `without`; predicted[]
// without their own folds.
static double trust_of(const struct hn_share_estimate *e, const double *predicted,
                       const uint8_t *fold, int without) {
    double both = 0, square = 0;
    for (int64_t i = 0; i < e->verdicts; i++) {
        const struct hn_judged_pair *v = &e->verdict[i];
        if (fold[i] == without || v->rows == 0 || v->model_rows == 0)
            continue;
        double weight = pow(pairs_of_row(e, v, false), 2), said = v->model - predicted[i];
        both += weight * said * (v->relevant - predicted[i]);
        square += weight * said * said;
    }
    return square > 0 ? fmax(0, fmin(1, both / square)) : 0;
}

// Turns predictions of the judged pairs into what the verdicts add to their sum.
static void find_errors(struct hn_share_estimate *e, const uint8_t *fold) {
    double trust[FOLDS];
    for (int f = 0; f < FOLDS; f++)
        trust[f] = trust_of(e, e->error, fold, f);
    for (int64_t i = 0; i < e->verdicts; i++) {
        const struct hn_judged_pair *v = &e->verdict[i];
        double people = pairs_of_row(e, v, false), models = pairs_of_row(e, v, true);
        double told = models > 0 ? trust[fold[i]] * (v->model - e->error[i]) : 0;
        e->error[i] = people * (v->relevant - e->error[i] - told) + models * told;
    }
}

// Deals the verdicts out by rank, those of one rank in random order. Sheets have a fixed number of
// pairs of a rank: were folds dealt at random, a model that saw more of the first ranks would
// predict more, and be corrected by fewer pairs of these ranks.
static void deal_folds(const struct hn_share_estimate *e, uint64_t seed, int32_t *order,
                       uint8_t *fold) {
    int64_t dealt = 0;
    hn_permute(seed, "price.folds", 0, 0, 0, order, e->verdicts);
    for (int32_t rank = 1; dealt < e->verdicts; rank++)
        for (int64_t k = 0; k < e->verdicts; k++)
            if (rank_of(e, &e->verdict[order[k]]) == rank)
                fold[order[k]] = (uint8_t)(dealt++ % FOLDS);
}

// Predictions become the mean of the folds', weighted by their pairs.
static enum hn_code fit_folds(struct hn_context *ctx, const struct hn_pair_model *model,
                              struct hn_share_estimate *e, uint64_t seed) {
    double w[HN_PAIR_TERMS];
    HN_SCOPE(ctx);
    int32_t *order = hn_alloc(ctx, e->verdicts, sizeof *order);
    uint8_t *fold = hn_alloc(ctx, e->verdicts, 1);
    if (!order || !fold)
        return ctx->code;
    deal_folds(e, seed, order, fold);
    for (int f = 0; f < FOLDS; f++) {
        int64_t here = 0;
        if (hn_check_stop(ctx))
            return ctx->code;
        hn_pair_model_fit(model, e->verdict, e->verdicts, fold, f, w);
        for (int64_t i = 0; i < e->verdicts; i++) {
            const struct hn_judged_pair *v = &e->verdict[i];
            if (fold[i] != f)
                continue;
            here++;
            e->error[i] = hn_pair_model_at(model, w, v->at);
        }
        hn_pair_model_add(ctx, model, w, (double)here / (double)e->verdicts, e->predicted);
    }
    find_errors(e, fold);
    hn_pair_model_fit(model, e->verdict, e->verdicts, fold, FOLDS, w);
    e->slope = w[1];
    return HN_OK;
}

enum hn_code hn_estimate_open(struct hn_context *ctx, const struct hn_miner *m,
                              const struct hn_population *population,
                              const struct hn_judged_pair *verdict, int64_t verdicts, uint64_t seed,
                              struct hn_share_estimate *out) {
    struct hn_pair_model model;
    const struct hn_pool *pool = population->pool;
    *out = (struct hn_share_estimate){
        .population = population, .verdict = verdict, .verdicts = verdicts};
    for (int64_t i = 0; i < verdicts; i++) {
        out->rows += verdict[i].rows;
        out->model_rows += verdict[i].model_rows;
        out->people += verdict[i].rows > 0;
    }
    if (verdicts > 0 && out->people < HN_VERDICTS_MIN)
        return hn_fail(
            ctx, HN_DATA, "%lld pairs are judged%s; judge at least %d", (long long)out->people,
            out->model_rows ? " by people, and nobody knows how often a model is wrong" : "",
            HN_VERDICTS_MIN);
    out->predicted = hn_zalloc(ctx, pool->count * pool->width, sizeof(double));
    out->start = hn_zalloc(ctx, pool->count + 1, sizeof *out->start);
    out->error = hn_alloc(ctx, verdicts, sizeof(double));
    if (!out->predicted || !out->start || !out->error ||
        hn_pair_model_open(ctx, m, population, &model))
        return ctx->code;
    for (int64_t i = 0; i < verdicts; i++)
        out->start[verdict[i].at.query + 1]++;
    for (int64_t q = 0; q < pool->count; q++)
        out->start[q + 1] += out->start[q];
    if (verdicts == 0) {
        hn_pair_model_ranks(&model, out->predicted);
        return HN_OK;
    }
    return draw_weights(ctx, out, seed) ? ctx->code : fit_folds(ctx, &model, out, seed);
}

// The negatives of the setting that one judged pair of it stands for, on average.
static double pairs_of_one(const struct hn_share_estimate *e, const struct hn_mined_pairs *mined) {
    return mined->open > 0 ? mined->open / ((double)e->people * mined->probability) : 0;
}

struct hn_interval hn_estimate_share(struct hn_share_estimate *e,
                                     const struct hn_mined_pairs *mined, double level) {
    struct hn_interval share = {mined->predicted / mined->negatives, NAN, NAN};
    bool found = false;
    if (e->verdicts == 0)
        return share;
    double extra = pairs_of_one(e, mined);
    for (int64_t r = 0; r < REPLICATES; r++)
        e->value[r] = (mined->predicted + extra * e->extra[r]) / mined->negatives;
    for (int64_t i = 0; i < e->verdicts; i++) {
        double error = e->error[i] / mined->negatives;
        if (!mined->inside[i])
            continue;
        share.mean += error;
        found = found || (e->verdict[i].rows > 0 && e->verdict[i].relevant > 0);
        for (int64_t r = 0; r < REPLICATES; r++)
            e->value[r] += e->weight[i * REPLICATES + r] * error;
    }
    gsl_sort(e->value, 1, REPLICATES);
    share.lo = gsl_stats_quantile_from_sorted_data(e->value, 1, REPLICATES, (1 - level) / 2);
    share.hi = gsl_stats_quantile_from_sorted_data(e->value, 1, REPLICATES, (1 + level) / 2);
    share.lo = found ? fmin(share.lo, share.mean) : fmin(0, share.mean);
    share.hi = fmax(share.hi, share.mean);
    return share;
}

struct hn_share_evidence hn_estimate_evidence(const struct hn_share_estimate *e,
                                              const struct hn_mined_pairs *mined) {
    struct hn_share_evidence out = {.share = mined->predicted / mined->negatives,
                                    .variance = 0,
                                    .each = pairs_of_one(e, mined) / mined->negatives};
    if (e->verdicts == 0)
        return (struct hn_share_evidence){NAN, NAN, NAN};
    for (int64_t i = 0; i < e->verdicts; i++) {
        double error = mined->inside[i] ? e->error[i] / mined->negatives : 0;
        out.share += error;
        out.variance += error * error;
    }
    return out;
}
