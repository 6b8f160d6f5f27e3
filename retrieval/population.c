// SPDX-License-Identifier: GPL-3.0-or-later
// Draws pairs to be judged, with probabilities by rank.
#include "retrieval/population.h"

#include "core/random.h"
#include "core/text.h"
#include "retrieval/miner.h"

#include <math.h>

// Flags of candidates that filters by relevance and text take.
enum { TAKEN = HN_IS_KNOWN | HN_IS_BETWEEN | HN_IS_SELF | HN_IS_DUPLICATE };

static double size_of(int64_t rank) { return pow((double)rank, -.75); }

enum hn_code hn_population_build(struct hn_context *ctx, const struct hn_pool *pool,
                                 struct hn_population *out) {
    *out = (struct hn_population){.pool = pool};
    if (!HN_ALLOC(ctx, out->rank, pool->count * pool->width) ||
        !HN_ZALLOC(ctx, out->at, pool->width + 1))
        return ctx->code;
    for (int64_t i = 0; i < pool->count; i++) {
        int32_t rank = 0;
        for (int64_t k = i * pool->width; k < (i + 1) * pool->width; k++) {
            bool mined = !(pool->flags[k] & TAKEN), judged = pool->flags[k] & HN_IS_NEGATIVE;
            out->decided += mined && judged;
            out->rank[k] = mined && !judged ? ++rank : 0;
            out->at[out->rank[k]]++;
        }
    }
    for (int64_t rank = 1; rank <= pool->width; rank++) {
        out->pairs += out->at[rank];
        out->total += (double)out->at[rank] * size_of(rank);
    }
    return HN_OK;
}

double hn_population_probability(const struct hn_population *p, int32_t rank) {
    return rank > 0 ? size_of(rank) / p->total : 0;
}

// The queries that have a candidate at a rank into pair[at[rank]], in random order.
static void list_rank(const struct hn_population *p, int32_t rank, uint64_t seed, int32_t *order,
                      struct hn_pair_at *pair) {
    int64_t n = 0, width = p->pool->width;
    hn_permute(seed, "price.sheet.queries", 0, 0, rank, order, p->pool->count);
    for (int64_t i = 0; i < p->pool->count; i++)
        for (int64_t k = rank - 1; k < width; k++)
            if (p->rank[order[i] * width + k] == rank) {
                pair[n++] = (struct hn_pair_at){order[i], (int32_t)k};
                break;
            }
}

static void shuffle(uint64_t seed, struct hn_pair_at *pair, int64_t n) {
    struct hn_stream stream;
    hn_stream_open(&stream, seed, "price.sheet.rows", 0, 0, 0);
    for (int64_t k = n; k > 1; k--) {
        int64_t other = hn_stream_below(&stream, (uint32_t)k);
        struct hn_pair_at moved = pair[other];
        pair[other] = pair[k - 1];
        pair[k - 1] = moved;
    }
}

enum hn_code hn_population_draw(struct hn_context *ctx, const struct hn_population *p, int64_t n,
                                uint64_t seed, struct hn_pair_at *out) {
    struct hn_stream stream;
    HN_SCOPE(ctx);
    int32_t *order = hn_alloc(ctx, p->pool->count, sizeof *order);
    struct hn_pair_at *pair = hn_alloc(ctx, p->pool->count, sizeof *pair);
    if (!order || !pair)
        return ctx->code;
    if ((double)n > p->total)
        return hn_fail(
            ctx, HN_USAGE,
            "--sheet %lld: at most %s of %s can be drawn without one coming twice; draw fewer",
            (long long)n, hn_counted((int64_t)p->total, "pair").text,
            hn_counted(p->pool->count, "query").text);
    hn_stream_open(&stream, seed, "price.sheet.start", 0, 0, 0);
    double step = p->total / (double)n, start = hn_stream_uniform(&stream), before = 0;
    int64_t k = 0;
    for (int32_t rank = 1; rank <= p->pool->width && k < n; rank++) {
        int64_t here = p->at[rank];
        double size = size_of(rank), end = before + (double)here * size;
        bool last = rank == p->pool->width || p->at[rank + 1] == 0;
        bool listed = false;
        for (; k < n && (((double)k + start) * step < end || last); k++) {
            if (!listed)
                list_rank(p, rank, seed, order, pair);
            listed = true;
            double along = fmax(0, (((double)k + start) * step - before) / size);
            out[k] = pair[hn_min((int64_t)along, here - 1)];
        }
        before = end;
    }
    shuffle(seed, out, n);
    return HN_OK;
}
