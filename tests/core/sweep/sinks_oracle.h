// SPDX-License-Identifier: GPL-3.0-or-later
// A naive double-precision oracle of the sinks.
#pragma once

#include "core/random.h"
#include "core/stats.h"
#include "core/sweep/sinks.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double temperatures[] = {0.01, 0.1, 1.0};
enum { TEMPERATURES = 3, BINS = 23 };

// All sinks at once, on one side.
struct bundle {
    struct hn_topk topk;
    struct hn_lse lse;
    struct hn_extrema extrema;
    struct hn_sweep_histogram histogram;
};

// What a bundle is asked for.
struct asked {
    struct hn_matrix x, y;
    const int32_t *x_label, *y_label;
    int64_t block, k;
    bool skip_self;
};

static inline void add_bundle(struct hn_sweep *sweep, struct bundle *b, const struct asked *a,
                              enum hn_side side) {
    bool cols = side == HN_SIDE_COLS;
    *b = (struct bundle){
        .topk = {.k = a->k, .skip_self = a->skip_self},
        .lse = {.temperature = temperatures, .n = TEMPERATURES, .skip_self = a->skip_self},
        .extrema = {.skip_self = a->skip_self},
        .histogram = {.bins = BINS,
                      .row_label = cols ? a->y_label : a->x_label,
                      .col_label = cols ? a->x_label : a->y_label,
                      .skip_self = a->skip_self},
    };
    hn_sweep_add(sweep, &hn_topk_sink, &b->topk, side);
    hn_sweep_add(sweep, &hn_lse_sink, &b->lse, side);
    hn_sweep_add(sweep, &hn_extrema_sink, &b->extrema, side);
    hn_sweep_add(sweep, &hn_histogram_sink, &b->histogram, side);
}

static inline void free_bundle(struct hn_context *ctx, struct bundle *b) {
    hn_topk_free(ctx, &b->topk);
    hn_lse_free(ctx, &b->lse);
    hn_extrema_free(ctx, &b->extrema);
    hn_sweep_histogram_free(ctx, &b->histogram);
}

static inline enum hn_code run_bundles(struct hn_context *ctx, const struct asked *a,
                                       struct bundle *rows, struct bundle *cols) {
    struct hn_sweep sweep = {.x = a->x, .y = a->y, .block = a->block};
    add_bundle(&sweep, rows, a, HN_SIDE_ROWS);
    add_bundle(&sweep, cols, a, HN_SIDE_COLS);
    return hn_sweep_run(ctx, &sweep);
}

struct scored {
    double score;
    int64_t id;
};

static inline int by_score(const void *a, const void *b) {
    const struct scored *p = a, *q = b;
    if (p->score != q->score)
        return p->score > q->score ? -1 : 1;
    return (p->id > q->id) - (p->id < q->id);
}

// Row i of S in double without the self column; returns the number of entries.
static inline int64_t exact_row(const struct hn_matrix *x, const struct hn_matrix *y, int64_t i,
                                bool skip_self, struct scored *row) {
    int64_t n = 0;
    for (int64_t j = 0; j < y->rows; j++)
        if (!skip_self || j != i)
            row[n++] = (struct scored){hn_dot_exact(hn_row(x, i), hn_row(y, j), x->cols), j};
    return n;
}

static inline bool topk_right(const struct hn_topk *t, int64_t i, struct scored *row, int64_t n) {
    qsort(row, (size_t)n, sizeof *row, by_score);
    for (int64_t k = 0; k < t->kept; k++)
        if (t->id[i * t->kept + k] != row[k].id || t->score[i * t->kept + k] != (float)row[k].score)
            return false;
    return true;
}

// `off`: what the float products may be off.
static inline bool lse_right(const struct hn_lse *l, int64_t i, const struct scored *row, int64_t n,
                             double off) {
    for (int t = 0; t < l->n; t++) {
        double tau = l->temperature[t], sum = 0, value = l->value[t * l->rows + i];
        for (int64_t k = 0; k < n; k++)
            sum += exp((row[k].score - 1) / tau);
        double wanted = log(sum) + 1 / tau;
        if (n == 0 ? value != -INFINITY : !(fabs(value - wanted) <= off / tau + HN_LSE_ERROR))
            return false;
    }
    return true;
}

static inline bool extrema_right(const struct hn_extrema *e, int64_t i, const struct scored *row,
                                 int64_t n, double off) {
    double max = -INFINITY, min = INFINITY;
    for (int64_t k = 0; k < n; k++) {
        max = fmax(max, row[k].score);
        min = fmin(min, row[k].score);
    }
    if (n == 0)
        return e->max[i] == -INFINITY && e->min[i] == INFINITY;
    return fabs(e->max[i] - max) <= off && fabs(e->min[i] - min) <= off;
}

// Cumulated counts of the entries that are surely or possibly in the lower bins, by relation.
static inline bool histogram_right(const struct hn_sweep_histogram *h, const struct hn_matrix *x,
                                   const struct hn_matrix *y, double off, struct scored *row) {
    uint64_t sure[HN_REL_COUNT][BINS] = {0}, possible[HN_REL_COUNT][BINS] = {0};
    for (int64_t i = 0; i < x->rows; i++) {
        int64_t n = exact_row(x, y, i, h->skip_self, row);
        for (int64_t k = 0; k < n; k++) {
            int32_t a = h->row_label ? h->row_label[i] : -1;
            int32_t b = h->col_label ? h->col_label[row[k].id] : -1;
            int relation = a < 0 || b < 0 ? HN_REL_UNKNOWN
                           : a == b       ? HN_REL_SAME
                                          : HN_REL_DIFFERENT;
            sure[relation][hn_cosine_bin((float)(row[k].score + off), BINS)]++;
            possible[relation][hn_cosine_bin((float)(row[k].score - off), BINS)]++;
        }
    }
    for (int relation = 0; relation < HN_REL_COUNT; relation++) {
        uint64_t counted = 0, min = 0, max = 0;
        for (int bin = 0; bin < BINS; bin++) {
            counted += h->count[relation * BINS + bin];
            min += sure[relation][bin];
            max += possible[relation][bin];
            if (counted < min || counted > max)
                return false;
        }
        if (min != max || counted != min)
            return false;
    }
    return true;
}

static inline bool bundle_right(struct hn_context *ctx, const struct bundle *b,
                                const struct hn_matrix *x, const struct hn_matrix *y,
                                const struct asked *a, double off) {
    struct scored *row = hn_alloc(ctx, y->rows, sizeof *row);
    int64_t others = hn_max(0, y->rows - a->skip_self);
    bool good = b->topk.rows == x->rows && b->topk.kept == hn_max(0, hn_min(a->k, others)) &&
                b->lse.rows == x->rows && b->extrema.rows == x->rows;
    for (int64_t i = 0; good && i < x->rows; i++) {
        int64_t n = exact_row(x, y, i, a->skip_self, row);
        good = lse_right(&b->lse, i, row, n, off) && extrema_right(&b->extrema, i, row, n, off) &&
               topk_right(&b->topk, i, row, n);
    }
    good = good && histogram_right(&b->histogram, x, y, off, row);
    hn_free(ctx, row);
    return good;
}

// Counts do not depend on the machine's products only if those are exact: bytes for all of these.
static inline bool same_results(const struct bundle *a, const struct bundle *b) {
    size_t kept = (size_t)(a->topk.rows * a->topk.kept), rows = (size_t)a->topk.rows;
    return a->topk.kept == b->topk.kept &&
           !memcmp(a->topk.id, b->topk.id, kept * sizeof *a->topk.id) &&
           !memcmp(a->topk.score, b->topk.score, kept * sizeof *a->topk.score) &&
           !memcmp(a->lse.value, b->lse.value, TEMPERATURES * rows * sizeof *a->lse.value) &&
           !memcmp(a->extrema.max, b->extrema.max, rows * sizeof *a->extrema.max) &&
           !memcmp(a->extrema.min, b->extrema.min, rows * sizeof *a->extrema.min) &&
           !memcmp(a->histogram.count, b->histogram.count, sizeof(uint64_t[HN_REL_COUNT * BINS]));
}

// Rows alone, which need no rounds, against rows and columns together.
static inline void check_rows_alone(struct hn_context *ctx, const struct asked *a,
                                    const struct bundle *rows) {
    struct hn_sweep sweep = {.x = a->x, .y = a->y, .block = a->block};
    struct bundle alone;
    add_bundle(&sweep, &alone, a, HN_SIDE_ROWS);
    HN_CHECK(ctx, hn_sweep_run(ctx, &sweep));
    CU_ASSERT(same_results(rows, &alone));
    CU_ASSERT(a->x.data == a->y.data || sweep.n_dot == a->x.rows * a->y.rows);
    free_bundle(ctx, &alone);
}

// One thread against the oracle, then 2, 3 and 4 threads against one.
static inline void check(const struct asked *a, double off) {
    struct hn_context ctx;
    struct bundle rows, cols;
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, run_bundles(&ctx, a, &rows, &cols));
    CU_ASSERT(bundle_right(&ctx, &rows, &a->x, &a->y, a, off));
    CU_ASSERT(bundle_right(&ctx, &cols, &a->y, &a->x, a, off));
    check_rows_alone(&ctx, a, &rows);
    for (ctx.threads = 2; ctx.threads <= 4; ctx.threads++) {
        struct bundle more_rows, more_cols;
        check_rows_alone(&ctx, a, &rows);
        HN_CHECK(&ctx, run_bundles(&ctx, a, &more_rows, &more_cols));
        CU_ASSERT(same_results(&rows, &more_rows));
        CU_ASSERT(same_results(&cols, &more_cols));
        free_bundle(&ctx, &more_rows);
        free_bundle(&ctx, &more_cols);
    }
    free_bundle(&ctx, &rows);
    free_bundle(&ctx, &cols);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}
