// SPDX-License-Identifier: GPL-3.0-or-later
// The proximity graph of BatchSampler (BS algorithm 2, eq. 3).
//
// Candidates are scattered rows, so this is a gather and bound by memory: rows are fetched ahead of
// their use, and everything else a thread touches (a bit per item, M ids and scores) stays in its
// nearest cache.
//
// `reference` follows the authors' code instead of the text: candidates with replacement, the item
// itself among them, ranked by the two views side by side. Repeats stay, as the code keeps them: a
// neighbour that is listed twice is walked to twice as often, and a walk at an item that lists
// itself may stay there.
#include "samplers/proximity.h"
#include "core/bitset.h"
#include "core/parts.h"
#include "core/sweep/knn_lists.h"
#include "core/sweep/select.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <string.h>

enum {
    ROWS = 4096, // items between two looks at the stop flag
    AHEAD = 16   // candidates fetched ahead
};

struct scratch {
    uint64_t *marks;    // [hn_bitset_words(n)], clear between items
    int32_t *candidate; // [m]
    float *score;       // [m]
    struct hn_select_scratch select;
};

static struct scratch *scratch_new(struct hn_context *ctx, int64_t n, int64_t m, int threads) {
    struct scratch *s = hn_zalloc(ctx, threads, sizeof *s);
    for (int i = 0; i < threads && s; i++) {
        if (!HN_ZALLOC(ctx, s[i].marks, hn_bitset_words(n)) || !HN_ALLOC(ctx, s[i].candidate, m) ||
            !HN_ALLOC(ctx, s[i].score, m) || hn_select_scratch_open(ctx, m, &s[i].select))
            return NULL;
    }
    return s;
}

void hn_proximity_candidates(const struct hn_proximity *spec, int64_t n, int32_t v, uint64_t *marks,
                             int32_t *candidate) {
    int64_t others = n - 1, m = hn_min(spec->m, others);
    if (m == others) { // nothing to draw
        for (int32_t j = 0; j < (int32_t)others; j++)
            candidate[j] = j + (j >= v);
        return;
    }
    struct hn_stream stream;
    hn_stream_open(&stream, spec->seed, "proximity.candidates", spec->built_index, 0, v);
    hn_stream_distinct(&stream, others, m, marks, candidate);
    for (int64_t i = 0; i < m; i++)
        candidate[i] += candidate[i] >= v;
}

void hn_proximity_draws(const struct hn_proximity *spec, int64_t n, int32_t v, int32_t *candidate) {
    struct hn_stream stream;
    hn_stream_open(&stream, spec->seed, "proximity.reference", spec->built_index, 0, v);
    for (int64_t i = 0; i < spec->m; i++)
        candidate[i] = (int32_t)hn_stream_below(&stream, (uint32_t)n);
}

// State shared by the builders that gather rows.
struct gather {
    const struct hn_matrix *x;
    const struct hn_proximity *spec;
    double bound;  // of the float products
    bool repeated; // candidates as hn_proximity_draws() has them
};

// target[k]: the neighbours of v.
static void choose_neighbours(const struct gather *g, int32_t v, struct scratch *s,
                              int32_t *target) {
    const struct hn_matrix *x = g->x;
    const struct hn_proximity *spec = g->spec;
    const float *query = hn_row(x, v);
    if (g->repeated)
        hn_proximity_draws(spec, x->rows, v, s->candidate);
    else
        hn_proximity_candidates(spec, x->rows, v, s->marks, s->candidate);
    for (int64_t i = 0; i < spec->m; i++) {
        if (i + AHEAD < spec->m)
            hn_fetch_row(x, s->candidate[i + AHEAD]);
        s->score[i] = hn_dot(query, hn_row(x, s->candidate[i]), x->cols);
    }
    int64_t kept = hn_select_floats(s->score, s->candidate, spec->m, spec->k, -INFINITY, g->bound,
                                    query, x, false, &s->select);
    for (int64_t i = 0; i < kept; i++)
        target[i] = s->select.scored[i].id;
}

struct rows { // of the graph that is built
    const struct gather *gather;
    struct hn_graph *out;
    struct scratch *scratch;
    int64_t parts;
};

static enum hn_code choose_rows(struct hn_context *ctx, const struct rows *r, int64_t begin,
                                int64_t end) {
    enum hn_code code = HN_OK;
    for (int64_t from = begin; from < end && !code; from += ROWS) {
        int64_t to = hn_min(from + ROWS, end);
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 16)
        for (int64_t v = from; v < to; v++)
            choose_neighbours(r->gather, (int32_t)v, &r->scratch[omp_get_thread_num()],
                              r->out->target + r->out->start[v]);
        code = hn_check_stop(ctx);
    }
    return code;
}

// First row of a part; of the one behind the last, the number of rows.
static int64_t part_from(const struct rows *r, int64_t part) { return r->out->n * part / r->parts; }

// The neighbours of a part's rows.
static int32_t *part_targets(const struct rows *r, int64_t part, int64_t *bytes) {
    const int64_t *start = r->out->start;
    int64_t from = start[part_from(r, part)], to = start[part_from(r, part + 1)];
    *bytes = (to - from) * (int64_t)sizeof *r->out->target;
    return r->out->target + from;
}

static enum hn_code compute_part(struct hn_context *ctx, void *data, int64_t part,
                                 struct hn_bytes *found) {
    const struct rows *r = data;
    int64_t bytes;
    if (choose_rows(ctx, r, part_from(r, part), part_from(r, part + 1)))
        return ctx->code;
    const int32_t *target = part_targets(r, part, &bytes);
    return hn_bytes_append(ctx, found, target, bytes);
}

static enum hn_code take_part(struct hn_context *ctx, void *data, int64_t part,
                              struct hn_cursor *found) {
    int64_t bytes;
    int32_t *target = part_targets(data, part, &bytes);
    return hn_cursor_take(found, target, bytes) ? HN_OK : hn_cursor_fail(ctx);
}

static enum hn_code choose_parts(struct hn_context *ctx, struct rows *r) {
    const struct hn_proximity *spec = r->gather->spec;
    const int64_t number[] = {spec->m, spec->k, (int64_t)spec->seed, spec->built_index,
                              r->gather->repeated};
    struct hn_digest key;
    hn_parts_key(&key, "proximity", r->gather->x, r->gather->x);
    hn_digest_add_ints(&key, number, sizeof number / sizeof *number);
    const struct hn_parts_work work = {
        .key = &key, .parts = r->parts, .data = r, .compute = compute_part, .take = take_part};
    return hn_parts_run(ctx, &work);
}

static enum hn_code choose_all(struct hn_context *ctx, const struct gather *g, struct hn_work *work,
                               struct hn_graph *out) {
    int64_t n = g->x->rows, products;
    if (!hn_mul(n, g->spec->m, &products))
        return hn_fail(ctx, HN_USAGE, "M = %" PRId64 " is too large for %" PRId64 " items",
                       g->spec->m, n);
    HN_SCOPE(ctx);
    const struct hn_cut cut = {.multiplications = (double)products * (double)g->x->cols,
                               .coarse = 1,
                               .dealt = true,
                               .rows = n,
                               .block = 1};
    struct rows r = {.gather = g, .out = out, .parts = hn_parts_count(ctx, &cut)};
    r.scratch = scratch_new(ctx, n, g->spec->m, ctx->threads);
    if (!r.scratch)
        return ctx->code;
    work->dot += products;
    work->draw += products;
    work->bytes += products * g->x->cols * (int64_t)sizeof(float);
    return r.parts > 1 ? choose_parts(ctx, &r) : choose_rows(ctx, &r, 0, n);
}

// With all items as candidates the scattered rows become one matrix product.
static enum hn_code nearest_of_all(struct hn_context *ctx, const struct hn_matrix *x,
                                   const struct hn_proximity *spec, struct hn_work *work,
                                   struct hn_graph *out) {
    struct hn_knn_lists knn = {
        .x = *x, .y = *x, .k = hn_min(spec->k, x->rows - 1), .skip_self = true};
    int64_t n_dot;
    enum hn_code code = hn_knn_lists_run(ctx, &knn, &n_dot);
    if (!code)
        code = hn_graph_around(ctx, x->rows, knn.kept, spec->weighted, &knn.id, out);
    hn_knn_lists_free(ctx, &knn);
    work->dot += n_dot;
    work->bytes += n_dot * x->cols * (int64_t)sizeof(float);
    return code;
}

// Weights decide where a walk goes, so they are exact products and the same everywhere.
static void weigh(const struct hn_matrix *x, double scale, struct hn_graph *g, int threads,
                  struct hn_work *work) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t v = 0; v < g->n; v++)
        for (int64_t e = g->start[v]; e < g->start[v + 1]; e++)
            g->weight[e] =
                (float)(scale * hn_dot_exact(hn_row(x, v), hn_row(x, g->target[e]), x->cols));
    work->dot += hn_graph_edges(g);
    work->bytes += hn_graph_edges(g) * x->cols * (int64_t)sizeof(float);
}

// Rows of x1 and x2 side by side, in *owned.
static enum hn_code side_by_side(struct hn_context *ctx, const struct hn_items *items,
                                 float **owned, struct hn_matrix *out) {
    int64_t d = items->d, wide = 2 * d, floats;
    if (!hn_mul(items->n, wide, &floats))
        return hn_fail(ctx, HN_MEMORY, "two views of %" PRId64 " items are too many", items->n);
    if (!HN_ALLOC(ctx, *owned, floats))
        return ctx->code;
    *out = (struct hn_matrix){*owned, items->n, wide, wide};
    for (int64_t i = 0; i < items->n; i++) {
        memcpy(*owned + i * wide, hn_row(&items->x1, i), (size_t)d * sizeof **owned);
        memcpy(*owned + i * wide + d, hn_row(&items->x2, i), (size_t)d * sizeof **owned);
    }
    return HN_OK;
}

enum hn_code hn_proximity_build(struct hn_context *ctx, const struct hn_items *items,
                                const struct hn_proximity *spec, struct hn_work *work,
                                struct hn_graph *out) {
    struct hn_matrix x = items->x;
    struct gather gather = {
        .x = &x, .spec = spec, .repeated = spec->candidates == HN_CANDIDATES_REFERENCE};
    // Rows of two unit views have length sqrt(2): products, and what they are off, are double.
    double views = gather.repeated && hn_has_positive(items) ? 2 : 1;
    bool all = spec->candidates == HN_CANDIDATES_ALL || (!gather.repeated && spec->m >= x.rows - 1);
    float *both = NULL;
    if (spec->candidates != HN_CANDIDATES_ALL && (spec->k < 1 || spec->k > spec->m))
        return hn_fail(ctx, HN_USAGE,
                       "K = %" PRId64 " exceeds M = %" PRId64
                       ": the neighbours are chosen among the candidates, so K has to be from 1 "
                       "to M",
                       spec->k, spec->m);
    if (views > 1 && side_by_side(ctx, items, &both, &x))
        return ctx->code;
    gather.bound = views * hn_dot_bound(x.cols);
    *out = (struct hn_graph){.n = x.rows};
    enum hn_code code = all ? nearest_of_all(ctx, &x, spec, work, out)
                            : hn_graph_regular(ctx, x.rows, spec->k, spec->weighted, out);
    if (!code && !all)
        code = spec->candidates == HN_CANDIDATES_DEALT ? hn_proximity_deal(ctx, &x, spec, work, out)
                                                       : choose_all(ctx, &gather, work, out);
    if (code)
        hn_graph_free(ctx, out);
    else if (out->weight)
        weigh(&x, 1 / views, out, ctx->threads, work);
    if (!code) {
        work->edge += hn_graph_edges(out);
        work->bytes += hn_graph_edges(out) * (int64_t)sizeof *out->target;
    }
    hn_free(ctx, both);
    return code;
}

enum hn_code hn_graph_overlap(struct hn_context *ctx, const struct hn_graph *fresh,
                              const struct hn_graph *stale, double *share) {
    if (fresh->n != stale->n)
        return hn_fail(ctx, HN_INTERNAL, "overlap of graphs of %" PRId64 " and %" PRId64 " nodes",
                       fresh->n, stale->n);
    HN_SCOPE(ctx);
    uint64_t *marks = hn_zalloc(ctx, hn_bitset_words(fresh->n), sizeof *marks);
    if (!marks)
        return ctx->code;
    int64_t shared = 0;
    for (int64_t v = 0; v < fresh->n; v++) {
        for (int64_t e = stale->start[v]; e < stale->start[v + 1]; e++)
            hn_bitset_add(marks, stale->target[e]);
        for (int64_t e = fresh->start[v]; e < fresh->start[v + 1]; e++)
            shared += hn_bitset_has(marks, fresh->target[e]);
        for (int64_t e = stale->start[v]; e < stale->start[v + 1]; e++)
            hn_bitset_remove(marks, stale->target[e]);
    }
    int64_t edges = hn_graph_edges(fresh);
    *share = edges > 0 ? (double)shared / (double)edges : NAN;
    return HN_OK;
}
