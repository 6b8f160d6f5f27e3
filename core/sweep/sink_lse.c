// SPDX-License-Identifier: GPL-3.0-or-later
// log sum_j exp(s_ij / tau) per row, for several temperatures.
//
// exp(s / tau) = 2^shift 2^y with y = rate s - shift, rate = log2(e) / tau, and the shift near it
// that `hn_powers_of` takes, so all terms of all rows share one shift. 2^y = 2^k 2^f, k the nearest
// integer, |f| <= 1/2, and 2^f is the polynomial of degree 6 with the least relative error on that
// interval, 1.86e-9 (core/sweep/simd_private.h).
//
// For tau >= 0.0241 all this is done in single precision. f = rate s - shift - k is found with two
// fused multiply-adds (rate is the sum of two floats), each rounded at the size of f: an error of
// 6e-8, of which the power has 4e-8; the last step of the polynomial adds 6e-8 and those before it
// less than half of that. The products s that it is applied to are themselves floats, good to
// hn_dot_bound(): at tau = 0.5 that is some 1e-5 in y at d = 128, and 1e-7 as a rule. For smaller
// tau, where terms would leave the range, it is done in double, with a relative error of 2e-9. Four
// terms may be added in single precision; sums are kept in double. All terms being positive, a sum
// has at most the relative error of its terms and of those additions, HN_POWERS_ERROR + 1.2e-7 =
// HN_LSE_ERROR, and a value an absolute error of that size; errors of terms have either sign, so
// that sums of many are far better (measured in tests/core/sweep/test_simd.c).
//
// Terms of a row are added in lanes per row and tile, those of a column of a tile one after the
// other; the sums of tiles exactly (core/wide_sum.h). So results depend on how the rows and columns
// are cut into tiles, never on the order in which these come, nor on who computes them. Where S is
// symmetric, or rows and columns are wanted at the same temperatures, an exponential is computed
// once and added to both.
#include "core/sweep/sinks.h"
#include "core/wide_sum.h"

#include <math.h>
#include <string.h>

static const double min_temperature = 0.003; // 2^y is a normal number down to s = -1

struct work {                      // its arrays belong to it
    struct hn_powers *powers;      // [n]
    struct hn_wide_layout *layout; // [n] of the sums at each temperature
    int64_t **sum;                 // [n] [rows x digits] each
    double *column;                // [threads x n x block] sums of the tile that is in work
    int64_t block, others;         // rows of a tile at most, and of the other side
};

// The least and the largest sum of a tile's terms, as powers of two: s from -1 to 1, and rounding.
static struct hn_wide_layout layout_of(const struct hn_powers *p, int64_t block) {
    enum { SPARE = 2 };
    int min = (int)floor(-p->rate - p->shift) - SPARE;
    return hn_wide_layout(min, SPARE + ilogb((double)block + 1) + 1);
}

static enum hn_code open_sums(struct hn_context *ctx, const struct hn_lse *l, struct work *work) {
    int64_t size;
    if (!HN_ALLOC(ctx, work->powers, l->n) || !HN_ALLOC(ctx, work->layout, l->n) ||
        !HN_ZALLOC(ctx, work->sum, l->n))
        return HN_MEMORY;
    for (int t = 0; t < l->n; t++) {
        work->powers[t] = hn_powers_of(l->temperature[t]);
        work->layout[t] = layout_of(&work->powers[t], work->block);
        if (!hn_mul(l->rows, work->layout[t].digits, &size))
            return hn_fail(ctx, HN_MEMORY, "log-sum-exp of %lld rows is too large",
                           (long long)l->rows);
        if (!HN_ZALLOC(ctx, work->sum[t], size))
            return HN_MEMORY;
    }
    return HN_OK;
}

static enum hn_code lse_begin(struct hn_context *ctx, void *self,
                              const struct hn_sweep_shape *shape) {
    struct hn_lse *l = self;
    for (int t = 0; t < l->n; t++)
        if (!(l->temperature[t] >= min_temperature) || !isfinite(l->temperature[t]))
            return hn_fail(ctx, HN_USAGE,
                           "temperature %g: a global log-sum-exp needs a finite one of at least %g",
                           l->temperature[t], min_temperature);
    struct work *work = hn_zalloc(ctx, 1, sizeof *work);
    if (!work)
        return HN_MEMORY;
    l->work = work;
    l->rows = shape->rows;
    work->block = shape->block;
    work->others = shape->cols;
    void *outer = hn_own(ctx, work);
    work->column = hn_zalloc(ctx, shape->threads * l->n, (size_t)shape->block * sizeof(double));
    enum hn_code code = work->column ? open_sums(ctx, l, work) : HN_MEMORY;
    hn_own(ctx, outer);
    return code;
}

static double *columns_of(const struct hn_lse *l, int t, int thread) {
    const struct work *work = l->work;
    return work->column + (thread * l->n + t) * work->block;
}

static void add_row(const struct hn_lse *l, int t, int64_t row, double sum) {
    const struct work *work = l->work;
    hn_wide_add(&work->layout[t], work->sum[t] + row * work->layout[t].digits, sum);
}

// The sums of a tile's columns, once its last row has been seen.
static void add_columns(const struct hn_lse *l, const struct hn_tile *tile, int thread) {
    const struct work *work = l->work;
    int64_t end = tile->row0 + tile->rows;
    if (end % work->block != 0 && end != work->others)
        return;
    for (int t = 0; t < l->n; t++) {
        double *column = columns_of(l, t, thread);
        for (int32_t j = 0; j < tile->cols; j++) {
            add_row(l, t, tile->col0 + j, column[j]);
            column[j] = 0;
        }
    }
}

// rows, cols: the sinks of the tile's rows and columns; either may be NULL. any: one that is not.
static void add_tile(const struct hn_lse *any, const struct hn_lse *rows, const struct hn_lse *cols,
                     const struct hn_tile *tile, int thread) {
    const struct hn_simd *scan = hn_simd_best();
    const struct work *work = any->work;
    for (int t = 0; t < any->n; t++) {
        const struct hn_powers *powers = &work->powers[t];
        double *column = cols ? columns_of(cols, t, thread) : NULL;
        for (int32_t i = 0; i < tile->rows; i++) {
            struct hn_span span[2];
            int spans = hn_tile_spans(tile, i, any->skip_self, span);
            for (int p = 0; p < spans; p++) {
                const float *s = tile->s + i * tile->stride + span[p].from;
                int64_t n = span[p].to - span[p].from;
                double *each = cols ? column + span[p].from : NULL;
                double sum = scan->powers(s, n, powers, each);
                if (rows)
                    add_row(rows, t, tile->row0 + i, sum);
            }
        }
    }
    if (cols)
        add_columns(cols, tile, thread);
}

static void lse_tile(void *self, const struct hn_tile *tile, int thread) {
    add_tile(self, self, NULL, tile, thread);
}

static void lse_across(void *self, const struct hn_tile *tile, int thread) {
    add_tile(self, NULL, self, tile, thread);
}

static void lse_both(void *self, void *other, const struct hn_tile *tile, int thread) {
    add_tile(self, self, other, tile, thread);
}

// The exponentials are the same where the temperatures are.
static bool lse_joins(const void *self, const void *other) {
    const struct hn_lse *a = self, *b = other;
    bool same = a->n == b->n && a->skip_self == b->skip_self;
    for (int t = 0; same && t < a->n; t++)
        same = a->temperature[t] == b->temperature[t];
    return same;
}

static enum hn_code lse_end(struct hn_context *ctx, void *self) {
    struct hn_lse *l = self;
    const struct work *work = l->work;
    int64_t size;
    if (!hn_mul(l->n, l->rows, &size))
        return hn_fail(ctx, HN_MEMORY, "log-sum-exp of %lld rows at %d temperatures is too large",
                       (long long)l->rows, l->n);
    if (!HN_ALLOC(ctx, l->value, size))
        return HN_MEMORY;
    for (int t = 0; t < l->n; t++) {
        double shift = M_LN2 * work->powers[t].shift;
        const struct hn_wide_layout *layout = &work->layout[t];
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
        for (int64_t i = 0; i < l->rows; i++)
            l->value[t * l->rows + i] =
                log(hn_wide_value(layout, work->sum[t] + i * layout->digits)) + shift;
    }
    hn_free(ctx, l->work);
    l->work = NULL;
    return HN_OK;
}

static void lse_key(const void *self, struct hn_digest *key) {
    const struct hn_lse *l = self;
    hn_digest_add_text(key, hn_simd_best()->name); // sums of a tile differ by rounding
    hn_digest_add_int(key, l->skip_self);
    hn_digest_add_int(key, l->n);
    for (int t = 0; t < l->n; t++)
        hn_digest_add_real(key, l->temperature[t]);
}

static bool any_term(const int64_t *digit, int digits) {
    int64_t any = 0;
    for (int k = 0; k < digits; k++)
        any |= digit[k];
    return any != 0;
}

// The rows from the first to the last that has any terms: of a part all, or those of its blocks.
static void find_rows(const struct hn_lse *l, int t, int64_t range[2]) {
    const struct work *work = l->work;
    int digits = work->layout[t].digits;
    range[0] = 0;
    range[1] = l->rows;
    while (range[0] < range[1] && !any_term(work->sum[t] + range[0] * digits, digits))
        range[0]++;
    while (range[0] < range[1] && !any_term(work->sum[t] + (range[1] - 1) * digits, digits))
        range[1]--;
}

static enum hn_code lse_save(struct hn_context *ctx, void *self, struct hn_bytes *out) {
    const struct hn_lse *l = self;
    const struct work *work = l->work;
    for (int t = 0; t < l->n; t++) {
        int64_t range[2], size = work->layout[t].digits * (int64_t)sizeof(int64_t);
        find_rows(l, t, range);
        int64_t *from = work->sum[t] + range[0] * work->layout[t].digits;
        int64_t bytes = (range[1] - range[0]) * size;
        if (hn_bytes_append(ctx, out, range, sizeof range) ||
            hn_bytes_append(ctx, out, from, bytes))
            return ctx->code;
        memset(from, 0, (size_t)bytes);
    }
    return HN_OK;
}

static enum hn_code lse_load(struct hn_context *ctx, void *self, struct hn_cursor *from) {
    const struct hn_lse *l = self;
    const struct work *work = l->work;
    for (int t = 0; t < l->n; t++) {
        int64_t range[2], digits = work->layout[t].digits, add;
        if (!hn_cursor_take(from, range, sizeof range) || range[0] < 0 || range[1] > l->rows)
            return hn_cursor_fail(ctx);
        for (int64_t k = range[0] * digits; k < range[1] * digits; k++) {
            if (!hn_cursor_take(from, &add, sizeof add))
                return hn_cursor_fail(ctx);
            work->sum[t][k] += add;
        }
    }
    return HN_OK;
}

static const struct hn_parted lse_parted = {lse_key, lse_save, lse_load};

void hn_lse_free(struct hn_context *ctx, struct hn_lse *l) {
    hn_free(ctx, l->work);
    hn_free(ctx, l->value);
    l->work = NULL;
    l->value = NULL;
}

const struct hn_sink_type hn_lse_sink = {.name = "lse",
                                         .begin = lse_begin,
                                         .tile = lse_tile,
                                         .end = lse_end,
                                         .across = lse_across,
                                         .both = lse_both,
                                         .joins = lse_joins,
                                         .parted = &lse_parted};
