// The proximity graph of BatchSampler (BS algorithm 2, eq. 3).
//
// Candidates are scattered rows, so this is a gather and bound by memory: rows are fetched ahead of
// their use, and everything else a thread touches (a bit per item, M ids and scores) stays in its
// nearest cache.
#include "samplers/proximity.h"
#include "core/select.h"
#include "core/sinks.h"
#include "samplers/marks.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <string.h>

enum {
    ROWS = 4096, // items between two looks at the stop flag
    AHEAD = 16,  // candidates fetched ahead
    LINE = 16    // floats of a cache line
};

struct scratch {
    uint64_t *marks;          // [hn_marks_words(n)], clear between items
    int32_t *candidate;       // [m]
    struct hn_scored *scored; // [m]
};

static void scratch_free(struct hn_context *ctx, struct scratch *s, int threads) {
    for (int i = 0; s && i < threads; i++) {
        hn_free(ctx, s[i].marks);
        hn_free(ctx, s[i].candidate);
        hn_free(ctx, s[i].scored);
    }
    hn_free(ctx, s);
}

static struct scratch *scratch_new(struct hn_context *ctx, int64_t n, int64_t m, int threads) {
    struct scratch *s = hn_zalloc(ctx, threads, sizeof *s);
    if (!s)
        return NULL;
    for (int i = 0; i < threads; i++) {
        s[i].marks = hn_zalloc(ctx, hn_marks_words(n), sizeof *s[i].marks);
        s[i].candidate = hn_alloc(ctx, m, sizeof *s[i].candidate);
        s[i].scored = hn_alloc(ctx, m, sizeof *s[i].scored);
        if (!s[i].marks || !s[i].candidate || !s[i].scored) {
            scratch_free(ctx, s, threads);
            return NULL;
        }
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
    hn_stream_open(&stream, spec->seed, "proximity.candidates", spec->stream_step, 0, v);
    for (int64_t i = 0; i < m; i++) {
        int32_t j = (int32_t)(others - m + i);
        int32_t t = (int32_t)hn_stream_below(&stream, (uint32_t)j + 1);
        t = hn_marked(marks, t) ? j : t;
        hn_mark(marks, t);
        candidate[i] = t;
    }
    for (int64_t i = 0; i < m; i++) {
        hn_unmark(marks, candidate[i]);
        candidate[i] += candidate[i] >= v;
    }
}

static void fetch_row(const struct hn_matrix *x, int32_t id) {
    for (int64_t k = 0; k < x->cols; k += LINE)
        __builtin_prefetch(hn_row(x, id) + k);
}

// target[k]: the neighbours of v.
static void choose_neighbours(const struct hn_matrix *x, const struct hn_proximity *spec, int32_t v,
                              struct scratch *s, int32_t *target) {
    const float *query = hn_row(x, v);
    hn_proximity_candidates(spec, x->rows, v, s->marks, s->candidate);
    for (int64_t i = 0; i < spec->m; i++) {
        if (i + AHEAD < spec->m)
            fetch_row(x, s->candidate[i + AHEAD]);
        int32_t id = s->candidate[i];
        s->scored[i] =
            (struct hn_scored){.score = (double)hn_dot(query, hn_row(x, id), x->cols), .id = id};
    }
    int64_t kept = hn_select_top(s->scored, spec->m, spec->k, hn_dot_bound(x->cols), query, x);
    for (int64_t i = 0; i < kept; i++)
        target[i] = s->scored[i].id;
}

static enum hn_code choose_all(struct hn_context *ctx, const struct hn_matrix *x,
                               const struct hn_proximity *spec, struct hn_graph *out) {
    struct scratch *scratch = scratch_new(ctx, x->rows, spec->m, ctx->threads);
    if (!scratch)
        return ctx->code;
    enum hn_code code = HN_OK;
    for (int64_t from = 0; from < x->rows && !code; from += ROWS) {
        int64_t to = hn_min(from + ROWS, x->rows);
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 16)
        for (int64_t v = from; v < to; v++)
            choose_neighbours(x, spec, (int32_t)v, &scratch[omp_get_thread_num()],
                              out->target + out->start[v]);
        code = hn_check_stop(ctx);
    }
    scratch_free(ctx, scratch, ctx->threads);
    return code;
}

// With all items as candidates the scattered rows become one matrix product.
static enum hn_code nearest_of_all(struct hn_context *ctx, const struct hn_matrix *x,
                                   const struct hn_proximity *spec, struct hn_work *work,
                                   struct hn_graph *out) {
    struct hn_topk top = {.k = spec->k, .skip_self = true};
    struct hn_sweep sweep = {.x = *x, .y = *x};
    hn_sweep_add(&sweep, &hn_topk_sink, &top, HN_SIDE_ROWS);
    enum hn_code code = hn_sweep_run(ctx, &sweep);
    if (!code)
        memcpy(out->target, top.id, (size_t)(x->rows * spec->k) * sizeof *top.id);
    hn_topk_free(ctx, &top);
    work->dot += sweep.n_dot;
    work->bytes += sweep.n_dot * x->cols * (int64_t)sizeof(float);
    return code;
}

// Weights decide where a walk goes, so they are exact products and the same everywhere.
static void weigh(const struct hn_matrix *x, struct hn_graph *g, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t v = 0; v < g->n; v++)
        for (int64_t e = g->start[v]; e < g->start[v + 1]; e++)
            g->weight[e] = (float)hn_dot_exact(hn_row(x, v), hn_row(x, g->target[e]), x->cols);
}

static void count_work(const struct hn_matrix *x, const struct hn_proximity *spec,
                       struct hn_work *work) {
    int64_t row = x->cols * (int64_t)sizeof(float);
    if (spec->m < x->rows - 1) {
        work->dot += x->rows * spec->m;
        work->draw += x->rows * spec->m;
        work->bytes += x->rows * spec->m * row;
    }
    if (spec->weighted) {
        work->dot += x->rows * spec->k;
        work->bytes += x->rows * spec->k * row;
    }
    work->edge += x->rows * spec->k;
    work->bytes += x->rows * spec->k * (int64_t)sizeof(int32_t);
}

enum hn_code hn_proximity_independent(struct hn_context *ctx, const struct hn_matrix *x,
                                      const struct hn_proximity *spec, struct hn_work *work,
                                      struct hn_graph *out) {
    struct hn_proximity fit = *spec;
    fit.m = hn_min(spec->m, x->rows - 1);
    fit.k = hn_min(spec->k, x->rows - 1);
    if (spec->k < 1 || spec->k > spec->m)
        return hn_fail(ctx, HN_USAGE,
                       "K = %" PRId64 " exceeds M = %" PRId64
                       ": the neighbours are chosen among the candidates, so K has to be from 1 "
                       "to M",
                       spec->k, spec->m);
    enum hn_code code = hn_graph_regular(ctx, x->rows, fit.k, fit.weighted, out);
    if (code)
        return code;
    code = fit.m < x->rows - 1 ? choose_all(ctx, x, &fit, out)
                               : nearest_of_all(ctx, x, &fit, work, out);
    if (code) {
        hn_graph_free(ctx, out);
        return code;
    }
    if (fit.weighted)
        weigh(x, out, ctx->threads);
    count_work(x, &fit, work);
    return HN_OK;
}

enum hn_code hn_graph_overlap(struct hn_context *ctx, const struct hn_graph *fresh,
                              const struct hn_graph *stale, double *share) {
    if (fresh->n != stale->n)
        return hn_fail(ctx, HN_INTERNAL, "overlap of graphs of %" PRId64 " and %" PRId64 " nodes",
                       fresh->n, stale->n);
    uint64_t *marks = hn_zalloc(ctx, hn_marks_words(fresh->n), sizeof *marks);
    if (!marks)
        return ctx->code;
    int64_t shared = 0;
    for (int64_t v = 0; v < fresh->n; v++) {
        for (int64_t e = stale->start[v]; e < stale->start[v + 1]; e++)
            hn_mark(marks, stale->target[e]);
        for (int64_t e = fresh->start[v]; e < fresh->start[v + 1]; e++)
            shared += hn_marked(marks, fresh->target[e]);
        for (int64_t e = stale->start[v]; e < stale->start[v + 1]; e++)
            hn_unmark(marks, stale->target[e]);
    }
    int64_t edges = hn_graph_edges(fresh);
    *share = edges > 0 ? (double)shared / (double)edges : NAN;
    hn_free(ctx, marks);
    return HN_OK;
}
