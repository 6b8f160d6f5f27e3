// SPDX-License-Identifier: GPL-3.0-or-later
// Hardness and false negatives of the negatives that settings of mining leave.
#include "retrieval/price.h"

#include "core/front.h"
#include "retrieval/estimate.h"
#include "retrieval/miner.h"
#include "retrieval/population.h"
#include "retrieval/relevance.h"
#include "retrieval/streamed.h"
#include "retrieval/take.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <string.h>

const char *const hn_price_option[] = {"min-rank", "relative-margin", "absolute-margin",
                                       "max-score", "guide"};

enum { NEARER = 4 };                 // candidates behind the first 1 / NEARER of them are far
static const double ROUNDING = 1e-6; // of scores of rows in float

static const double ranks[] = {1, 2, 4, 6, 11, 21, 31, 51, 101};
static const double relative[] = {0, .01, .02, .05, .1, .2, .3, .5};
static const double absolute[] = {0, .01, .02, .05, .1, .2};
static const double quantiles[] = {.9, .75, .5, .25, .1};
static const double guides[] = {0, .02, .05, .1, .2};
#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static int add(struct hn_price_setting *out, int n, enum hn_price_family family,
               const double *value, int count) {
    for (int k = 0; k < count; k++)
        out[n++] = (struct hn_price_setting){family, value[k]};
    return n;
}

// Score of the best candidate that is not a known positive; NaN: there is none.
static double best_of(const struct hn_candidates *c) {
    for (int64_t i = 0; i < c->n; i++)
        if (!(c->flags[i] & (HN_IS_KNOWN | HN_IS_SELF)))
            return c->score[i];
    return NAN;
}

int hn_price_settings(const struct hn_miner *m, const struct hn_pool *pool, double *best,
                      struct hn_price_setting *out) {
    int64_t rows = 0;
    int n = 0;
    for (int k = 0; k < COUNT(ranks); k++)
        if (ranks[k] - 1 + (double)m->o.n <= (double)pool->width)
            n = add(out, n, HN_PRICE_RANK, &ranks[k], 1);
    n = add(out, n, HN_PRICE_RELATIVE, relative, COUNT(relative));
    n = add(out, n, HN_PRICE_ABSOLUTE, absolute, COUNT(absolute));
    for (int64_t i = 0; i < pool->count; i++) {
        const struct hn_candidates c = hn_pool_row(pool, i);
        double s = best_of(&c);
        if (!isnan(s))
            best[rows++] = s;
    }
    gsl_sort(best, 1, (size_t)rows);
    for (int k = 0; k < COUNT(quantiles) && rows > 0; k++) {
        // Rounded down to what is typed: the ceiling that is priced is the one that is printed.
        double s = floor(best[(int64_t)(quantiles[k] * (double)(rows - 1))] * 1000) / 1000;
        bool again = out[n - 1].family == HN_PRICE_CEILING && fabs(out[n - 1].value - s) <= 0;
        n = again ? n : add(out, n, HN_PRICE_CEILING, &s, 1); // few queries
    }
    return pool->guide ? add(out, n, HN_PRICE_GUIDE, guides, COUNT(guides)) : n;
}

static struct hn_mine_options options_of(const struct hn_miner *m,
                                         const struct hn_price_setting *s) {
    struct hn_mine_options o = m->o;
    o.guide = NAN; // the miner's makes the pool score it
    if (s->family == HN_PRICE_RANK)
        o.min_rank = (int64_t)s->value;
    else if (s->family == HN_PRICE_RELATIVE)
        o.relative_margin = s->value;
    else if (s->family == HN_PRICE_ABSOLUTE)
        o.absolute_margin = s->value;
    else if (s->family == HN_PRICE_CEILING)
        o.max_score = s->value;
    else
        o.guide = s->value;
    return o;
}

// The far candidates of each query, by the model's scores: those that filters by text and relevance
// leave behind the first quarter. One deviation for all queries: that of a single one may be as
// good as nothing (a corpus with many copies of a passage), and would weigh more than all others.
struct far {
    double *mean; // [count]
    double deviation;
};

static bool is_far(const struct hn_pool *p, int64_t row, int64_t i) {
    return !(p->flags[row * p->width + i] & (HN_IS_KNOWN | HN_IS_SELF | HN_IS_DUPLICATE));
}

static enum hn_code find_far(struct hn_context *ctx, const struct hn_pool *p, struct far *out) {
    double squares = 0, all = 0;
    if (!HN_ALLOC(ctx, out->mean, p->count))
        return ctx->code;
    for (int64_t row = 0; row < p->count; row++) {
        const double *score = p->score + row * p->width;
        double sum = 0, n = 0;
        for (int64_t i = p->width / NEARER; i < p->width; i++)
            if (is_far(p, row, i)) {
                sum += score[i];
                n++;
            }
        out->mean[row] = n > 0 ? sum / n : 0;
        for (int64_t i = p->width / NEARER; i < p->width; i++)
            if (is_far(p, row, i))
                squares += (score[i] - out->mean[row]) * (score[i] - out->mean[row]);
        all += n;
    }
    out->deviation = all > 0 ? sqrt(squares / all) : 0;
    if (out->deviation < ROUNDING)
        out->deviation = INFINITY; // equal scores: nothing is harder than anything
    return HN_OK;
}

// A query: how many negatives, how many of them false (or expected to be), the sum of their
// hardness; and how many no verdict decides, with the probability that a row of a sheet is one.
struct line {
    double count, wrong, hard, open, drawn;
};
enum { FIELDS = sizeof(struct line) / sizeof(double) };

// Adds the expected false negatives among the negatives chosen[n] of a row.
// inside[verdicts]: whether the pair is one of them.
static void expect_row(const struct hn_share_estimate *e, int64_t row, const int32_t *chosen,
                       int64_t n, struct line *to, bool *inside) {
    int64_t at = row * e->population->pool->width;
    to->wrong = 0;
    for (int64_t k = 0; k < n; k++) {
        int32_t rank = e->population->rank[at + chosen[k]];
        to->wrong += e->predicted[at + chosen[k]];
        to->open += rank > 0;
        to->drawn += hn_population_probability(e->population, rank);
    }
    for (int64_t v = e->start[row], k = 0; v < e->start[row + 1]; v++) {
        while (k < n && chosen[k] < e->verdict[v].at.position)
            k++;
        inside[v] = k < n && chosen[k] == e->verdict[v].at.position;
    }
}

// to[queries] and inside[verdicts]; e: NULL = by what is known to be relevant.
static enum hn_code price_rows(struct hn_context *ctx, const struct hn_mine_options *o,
                               const struct hn_pool *pool, const struct far *far,
                               const struct hn_share_estimate *e, struct line *to, bool *inside,
                               struct hn_attrition *attrition) {
    HN_SCOPE(ctx);
    int64_t width = pool->width;
    uint8_t *left = hn_alloc(ctx, ctx->threads * width, 1);
    int32_t *draw = hn_alloc(ctx, ctx->threads * width, sizeof *draw);
    int32_t *scratch = hn_alloc(ctx, ctx->threads * width, sizeof *scratch);
    if (!left || !draw || !scratch)
        return ctx->code;
#pragma omp parallel for num_threads(ctx->threads) schedule(static, 1)
    for (int t = 0; t < ctx->threads; t++) {
        struct hn_attrition own = {{0}};
        for (int64_t i = pool->count * t / ctx->threads; i < pool->count * (t + 1) / ctx->threads;
             i++) {
            const struct hn_candidates c = hn_pool_row(pool, i);
            int32_t *chosen = scratch + t * width;
            const double *score = pool->score + i * width;
            int64_t n = hn_filter_row(o, &c, left + t * width, draw + t * width, chosen, &own);
            to[i] = (struct line){.count = (double)n};
            for (int64_t k = 0; k < n; k++) {
                to[i].wrong += (c.flags[chosen[k]] & HN_IS_HIDDEN) != 0;
                to[i].hard += (score[chosen[k]] - far->mean[i]) / far->deviation;
            }
            if (e)
                expect_row(e, i, chosen, n, &to[i], inside);
        }
#pragma omp critical(hn_price)
        hn_attrition_add(attrition, &own);
    }
    return HN_OK;
}

static enum hn_code mark_front(struct hn_context *ctx, struct hn_price *p, int n) {
    HN_SCOPE(ctx);
    struct hn_front_point *point = hn_alloc(ctx, n, sizeof *point);
    enum hn_standing *standing = hn_alloc(ctx, n, sizeof *standing);
    if (!point || !standing)
        return ctx->code;
    for (int i = 0; i < n; i++)
        point[i] = (struct hn_front_point){p[i].negatives > 0 ? p[i].false_share.mean : NAN,
                                           p[i].hardness.mean, 0};
    hn_front(point, n, NULL, NULL, standing);
    for (int i = 0; i < n; i++)
        p[i].front = standing[i] == HN_ON_FRONT;
    return HN_OK;
}

// Evidence by the complete relevance: negatives of a query may be false all or none.
static struct hn_share_evidence evidence_of(const struct line *to, int64_t rows, double negatives) {
    struct hn_share_evidence e = {0};
    double max = 0;
    for (int64_t i = 0; i < rows; i++) {
        e.share += to[i].wrong / negatives;
        max = fmax(max, to[i].count);
    }
    for (int64_t i = 0; i < rows; i++) {
        double off = (to[i].wrong - e.share * to[i].count) / negatives;
        e.variance += off * off * (double)rows / (double)(rows - 1);
    }
    e.each = max / negatives;
    return e;
}

// If no negative is false the ratio's interval is a point: the upper end is then the share with
// which none would be false once in forty times, if those of a query were false all or none. They
// have its hidden positives in common, so as many negatives of fewer queries say less.
static struct hn_interval false_share(const struct line *to, int64_t rows, double negatives) {
    struct hn_interval share = hn_ratio_interval(&to->wrong, &to->count, FIELDS, rows, 0.95);
    double max = 0;
    for (int64_t i = 0; i < rows; i++)
        max = fmax(max, to[i].count);
    if (share.mean == 0)
        return (struct hn_interval){0, 0, 1 - pow(0.025, max / negatives)};
    share.lo = fmax(share.lo, 0);
    share.hi = fmin(share.hi, 1);
    return share;
}

static double between(double low, double x, double high) { return fmin(fmax(x, low), high); }

static struct hn_interval expected_share(struct hn_share_estimate *e, const struct line *to,
                                         const bool *inside, int64_t rows, struct hn_price *p) {
    struct hn_mined_pairs mined = {.negatives = (double)p->negatives, .inside = inside};
    for (int64_t i = 0; i < rows; i++) {
        mined.predicted += to[i].wrong;
        mined.open += to[i].open;
        mined.probability += to[i].drawn;
    }
    p->drawn = mined.probability;
    if (p->negatives == 0)
        return (struct hn_interval){NAN, NAN, NAN};
    struct hn_interval share = hn_estimate_share(e, &mined, 0.95);
    p->evidence = hn_estimate_evidence(e, &mined);
    p->model = mined.predicted / mined.negatives;
    share.mean = between(0, share.mean, 1);
    if (e->verdicts > 0) { // NaN else
        share.lo = between(0, share.lo, 1);
        share.hi = between(0, share.hi, 1);
    }
    return share;
}

static struct hn_price price_of(const struct line *to, int64_t rows, int64_t wanted) {
    double negatives = 0, fewer = 0, none = 0;
    for (int64_t i = 0; i < rows; i++) {
        negatives += to[i].count;
        fewer += to[i].count < (double)wanted;
        none += to[i].count == 0;
    }
    return (struct hn_price){.negatives = (int64_t)negatives,
                             .false_share = {NAN, NAN, NAN},
                             .evidence = {NAN, NAN, NAN},
                             .hardness =
                                 hn_ratio_interval(&to->hard, &to->count, FIELDS, rows, 0.95),
                             .fewer = fewer / (double)rows,
                             .none = none / (double)rows,
                             .model = NAN,
                             .drawn = NAN};
}

enum hn_code hn_price_run(struct hn_context *ctx, const struct hn_miner *m,
                          const struct hn_pool *pool, struct hn_share_estimate *estimate,
                          const struct hn_price_setting *setting, int n, struct hn_price *out) {
    HN_SCOPE(ctx);
    int64_t rows = pool->count;
    struct line *to = hn_alloc(ctx, rows, sizeof *to);
    bool *inside = hn_alloc(ctx, estimate ? estimate->verdicts : 0, sizeof *inside);
    struct far far;
    if (!to || !inside || find_far(ctx, pool, &far))
        return ctx->code;
    for (int s = 0; s < n; s++) {
        const struct hn_mine_options o = options_of(m, &setting[s]);
        struct hn_attrition attrition = {{0}};
        if (hn_check_stop(ctx) || price_rows(ctx, &o, pool, &far, estimate, to, inside, &attrition))
            return ctx->code;
        out[s] = price_of(to, rows, o.n);
        out[s].attrition = attrition;
        out[s].setting = setting[s];
        if (estimate)
            out[s].false_share = expected_share(estimate, to, inside, rows, &out[s]);
        else if (m->truth.start) {
            out[s].false_share = false_share(to, rows, (double)out[s].negatives);
            out[s].evidence = evidence_of(to, rows, (double)out[s].negatives);
        }
    }
    return mark_front(ctx, out, n);
}

// The model's scores of all that was mined, into score[count x width].
static enum hn_code score_mined(struct hn_context *ctx, const struct hn_miner *m,
                                const struct hn_mined *mined, double *score) {
    HN_SCOPE(ctx);
    struct hn_corpus_pair *pair = hn_alloc(ctx, mined->count * mined->width, sizeof *pair);
    int64_t n = 0;
    if (!pair)
        return ctx->code;
    for (int64_t i = 0; i < mined->count; i++)
        for (int64_t at = i * mined->width; at < i * mined->width + mined->n[i]; at++)
            pair[n++] = (struct hn_corpus_pair){(int32_t)i, hn_miner_merged(m, mined->id[at]), at};
    return hn_corpus_scores(ctx, &m->data, &m->data.rows[HN_QUERIES], pair, n, score);
}

enum hn_code hn_price_mined(struct hn_context *ctx, const struct hn_miner *m,
                            const struct hn_pool *pool, const struct hn_mined *mined,
                            struct hn_price *out) {
    HN_SCOPE(ctx);
    struct line *to = hn_zalloc(ctx, mined->count, sizeof *to);
    double *score = hn_alloc(ctx, mined->count * mined->width, sizeof *score);
    struct far far;
    if (!to || !score || score_mined(ctx, m, mined, score) || find_far(ctx, pool, &far))
        return ctx->code;
    for (int64_t i = 0; i < mined->count; i++) {
        to[i].count = mined->n[i];
        for (int64_t k = 0; k < mined->n[i]; k++) {
            int32_t passage = hn_miner_merged(m, mined->id[i * mined->width + k]);
            to[i].hard += (score[i * mined->width + k] - far.mean[i]) / far.deviation;
            to[i].wrong +=
                !hn_relevance_has(&m->known, i, passage) && hn_relevance_has(&m->truth, i, passage);
        }
    }
    *out = price_of(to, mined->count, m->o.n);
    if (m->truth.start) {
        out->false_share = false_share(to, mined->count, (double)out->negatives);
        out->evidence = evidence_of(to, mined->count, (double)out->negatives);
    }
    return HN_OK;
}

// The part of each query in the mean hardness of a setting into value[rows], as the ratio estimate
// has it: their mean is that of the setting.
static enum hn_code find_hardness(struct hn_context *ctx, const struct hn_miner *m,
                                  const struct hn_pool *pool, const struct far *far,
                                  const struct hn_price *price, double *value) {
    const struct hn_mine_options o = options_of(m, &price->setting);
    struct hn_attrition unused = {{0}};
    HN_SCOPE(ctx);
    struct line *to = hn_alloc(ctx, pool->count, sizeof *to);
    if (!to || hn_check_stop(ctx) || price_rows(ctx, &o, pool, far, NULL, to, NULL, &unused))
        return ctx->code;
    double mean = price->hardness.mean, each = (double)price->negatives / (double)pool->count;
    for (int64_t i = 0; i < pool->count; i++)
        value[i] = mean + (to[i].hard - mean * to[i].count) / each;
    return HN_OK;
}

enum hn_code hn_price_ties(struct hn_context *ctx, const struct hn_miner *m,
                           const struct hn_pool *pool, const struct hn_price *price, int n,
                           int best, bool *tie) {
    HN_SCOPE(ctx);
    int64_t rows = pool->count;
    int compared = 0;
    double *own = hn_alloc(ctx, rows, sizeof *own), *other = hn_alloc(ctx, rows, sizeof *other);
    struct far far;
    if (!own || !other || find_far(ctx, pool, &far) ||
        find_hardness(ctx, m, pool, &far, &price[best], own))
        return ctx->code;
    tie[best] = false;
    for (int i = 0; i < n; i++)
        compared += tie[i];
    int pairs = compared * (compared + 1) / 2; // any may come to be the best
    for (int i = 0; i < n; i++) {
        if (!tie[i])
            continue;
        if (find_hardness(ctx, m, pool, &far, &price[i], other))
            return ctx->code;
        for (int64_t q = 0; q < rows; q++)
            other[q] = own[q] - other[q];
        tie[i] = !(hn_mean_interval(other, 1, rows, 1 - 0.05 / pairs).lo > 0);
    }
    return HN_OK;
}
