// SPDX-License-Identifier: GPL-3.0-or-later
// Cosine histogram of the pairs of batches (BS figures 4-6; HC figures 5, 8-10): 200 bins on [-1,
// 1], every unordered pair of distinct items of a batch once (with negatives per
// anchor: every pair of anchor and negative), split into true negatives, false
// negatives and pairs of which a label is unknown; positives x1_a . x2_a apart, each distinct item
// of a batch once.
//
// Counts are the same for every matrix product: the bin of a pair is that of hn_dot_exact(),
// rounded to float. The float product decides where it is farther from the edges of its bin than
// the error bound; nearer ones (about 0.2 % at 128 dimensions) are multiplied again.
#include "core/clones.h"
#include "metrics/metric.h"

#include <math.h>
#include <string.h>

struct state {
    uint64_t *count; // [threads x HN_PAIR_KINDS x HN_HISTOGRAM_BINS]
    double slack;    // error bound of a float product, in bins
};

enum { COUNTS = HN_PAIR_KINDS * HN_HISTOGRAM_BINS };

static enum hn_code open_state(struct hn_context *ctx, void *self,
                               const struct hn_metric_env *env) {
    struct state *s = self;
    // The second term is the rounding of the exact product to float.
    s->slack = (hn_dot_bound(env->items->d) + 0x1p-23) * HN_HISTOGRAM_BINS / 2;
    return HN_ZALLOC(ctx, s->count, (int64_t)env->threads * COUNTS) ? HN_OK : ctx->code;
}

// Counts bins of cosines by their kinds. at_edge[b]: whether v[b] is too close to an edge.
HN_CLONES
static void bins_of(const float *v, const uint8_t *kind, int32_t n, double slack, int32_t *bin,
                    uint8_t *at_edge) {
    for (int32_t b = 0; b < n; b++) {
        bin[b] += kind[b] * HN_HISTOGRAM_BINS;
        double position = ((double)v[b] + 1.0) * 0.5 * HN_HISTOGRAM_BINS;
        double edge = (double)(int32_t)(position + 0.5);
        at_edge[b] = fabs(position - edge) <= slack;
    }
}

// Counts the pairs of item i with those of a block of its run.
static void add_block(const struct state *s, const struct hn_metric_env *env, int32_t i,
                      const struct hn_run *run, int32_t from, uint64_t *count) {
    const struct hn_matrix *x = &env->items->x, *y = hn_negative_rows(env->items);
    const uint8_t *kind = run->kind + from;
    int32_t bin[HN_RUN_BLOCK], n = hn_block(run->count, from);
    uint8_t at_edge[HN_RUN_BLOCK];
    hn_cosine_bins(run->cosine + from, n, HN_HISTOGRAM_BINS, bin);
    bins_of(run->cosine + from, kind, n, s->slack, bin, at_edge);
    for (int32_t b = 0; b < n; b++)
        count[bin[b]]++;
    const uint8_t *next = at_edge;
    while ((next = memchr(next, 1, (size_t)(at_edge + n - next)))) {
        int32_t b = (int32_t)(next++ - at_edge);
        const float *other = hn_row(y, run->id[from + b]);
        double exact = hn_dot_exact(hn_row(x, i), other, env->items->d);
        count[bin[b]]--;
        count[kind[b] * HN_HISTOGRAM_BINS + hn_cosine_bin((float)exact, HN_HISTOGRAM_BINS)]++;
    }
}

static void batch(void *self, const struct hn_metric_env *env, const struct hn_pairs *p, int thread,
                  double *record) {
    (void)record;
    const struct state *s = self;
    uint64_t *count = s->count + (int64_t)thread * COUNTS;
    for (int32_t a = 0; a < p->n; a++) {
        struct hn_run run[2];
        (void)hn_pairs_runs(p, a, true, run);
        for (int r = 0; r < 2; r++)
            for (int32_t from = 0; from < run[r].count; from += HN_RUN_BLOCK)
                add_block(s, env, p->id[a], &run[r], from, count);
    }
    for (int32_t a = 0; p->score && a < p->n; a++)
        count[HN_PAIR_POSITIVE * HN_HISTOGRAM_BINS +
              hn_cosine_bin(hn_pairs_positive(p, a), HN_HISTOGRAM_BINS)]++;
}

static enum hn_code finish(struct hn_context *ctx, void *self, const struct hn_metric_env *env,
                           const double *record, int64_t batches, double *value,
                           struct hn_cell_arrays *arrays) {
    (void)record, (void)batches, (void)value;
    const struct state *s = self;
    if (!HN_ZALLOC(ctx, arrays->histogram, COUNTS))
        return ctx->code;
    arrays->bins = HN_HISTOGRAM_BINS;
    for (int t = 0; t < env->threads; t++)
        for (int64_t i = 0; i < COUNTS; i++)
            arrays->histogram[i] += s->count[t * COUNTS + i];
    return HN_OK;
}

const struct hn_metric_type hn_metric_histogram = {
    .name = "histogram",
    .family = "histogram",
    .summary = "Histogram of in-batch cosines: true and false negatives, unlabelled, positives",
    .source = "BS figures 4 to 6; HC figures 5, 8 to 10",
    .needs = HN_METRIC_ANY,
    .state_size = sizeof(struct state),
    .open = open_state,
    .batch = batch,
    .finish = finish,
};
