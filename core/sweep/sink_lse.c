// log sum_j exp(s_ij / tau) per row, for several temperatures.
//
// exp(s / tau) = 2^shift 2^y with y = slope s - shift, slope = log2(e) / tau, and the shift near it
// that `hn_powers_of` takes, so all terms of all rows share one shift. 2^y = 2^k 2^f, k the nearest
// integer, |f| <= 1/2, and 2^f is the polynomial of degree 6 with the least relative error on that
// interval, 1.86e-9 (core/sweep/simd_private.h).
//
// For tau >= 0.0241 all this is done in single precision. f = slope s - shift - k is found with two
// fused multiply-adds (slope is the sum of two floats), each rounded at the size of f: an error of
// 6e-8, of which the power has 4e-8; the last step of the polynomial adds 6e-8 and those before it
// less than half of that. The products s that it is applied to are themselves floats, good to
// hn_dot_bound(): at tau = 0.5 that is some 1e-5 in y at d = 128, and 1e-7 as a rule. For smaller
// tau, where terms would leave the range, it is done in double, with a relative error of 2e-9. Four
// terms may be added in single precision; sums are kept in double. All terms being positive, a sum
// has at most the relative error of its terms and of those additions, HN_POWERS_ERROR + 1.2e-7 =
// HN_LSE_ERROR, and a value an absolute error of that size; errors of terms have either sign, so
// that sums of many are far better (measured in tests/core/sweep/test_simd.c).
//
// Terms of a row are added in lanes per row and tile, those of a column one after the
// other: the order depends on the tiling, never on the number of threads. Where S is symmetric, or
// rows and columns are wanted at the same temperatures, an exponential is computed once and added
// to both.
#include "core/sweep/sinks.h"

#include <math.h>

static const double temperature_least = 0.003; // 2^y is a normal number down to s = -1

static enum hn_code lse_begin(struct hn_context *ctx, void *self,
                              const struct hn_sweep_shape *shape) {
    struct hn_lse *l = self;
    int64_t size;
    for (int t = 0; t < l->n; t++)
        if (!(l->temperature[t] >= temperature_least) || !isfinite(l->temperature[t]))
            return hn_fail(ctx, HN_USAGE,
                           "temperature %g: a global log-sum-exp needs a finite one of at least %g",
                           l->temperature[t], temperature_least);
    if (!hn_mul(l->n, shape->rows, &size))
        return hn_fail(ctx, HN_MEMORY, "log-sum-exp of %lld rows at %d temperatures is too large",
                       (long long)shape->rows, l->n);
    l->rows = shape->rows;
    l->value = hn_zalloc(ctx, size, sizeof *l->value);
    return l->value ? HN_OK : HN_MEMORY;
}

// rows, cols: the sinks of the tile's rows and columns; either may be NULL. any: one that is not.
static void add_tile(const struct hn_lse *any, struct hn_lse *rows, struct hn_lse *cols,
                     const struct hn_tile *tile) {
    const struct hn_simd *scan = hn_simd_best();
    for (int t = 0; t < any->n; t++) {
        const struct hn_powers powers = hn_powers_of(any->temperature[t]);
        for (int32_t i = 0; i < tile->rows; i++) {
            struct hn_span span[2];
            int spans = hn_tile_spans(tile, i, any->skip_self, span);
            for (int p = 0; p < spans; p++) {
                const float *s = tile->s + i * tile->stride + span[p].from;
                int64_t n = span[p].to - span[p].from;
                double *each =
                    cols ? cols->value + t * cols->rows + tile->col0 + span[p].from : NULL;
                double *sum = rows ? rows->value + t * rows->rows + tile->row0 + i : NULL;
                if (sum && each)
                    *sum += scan->powers_both(s, n, &powers, each);
                else if (sum)
                    *sum += scan->powers(s, n, &powers);
                else
                    scan->powers_each(s, n, &powers, each);
            }
        }
    }
}

static void lse_tile(void *self, const struct hn_tile *tile, int thread) {
    (void)thread;
    add_tile(self, self, NULL, tile);
}

static void lse_across(void *self, const struct hn_tile *tile, int thread) {
    (void)thread;
    add_tile(self, NULL, self, tile);
}

static void lse_both(void *self, void *other, const struct hn_tile *tile, int thread) {
    (void)thread;
    add_tile(self, self, other, tile);
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
    (void)ctx;
    for (int t = 0; t < l->n; t++) {
        double shift = M_LN2 * hn_powers_of(l->temperature[t]).shift;
        for (int64_t i = 0; i < l->rows; i++) {
            double *value = &l->value[t * l->rows + i];
            *value = log(*value) + shift;
        }
    }
    return HN_OK;
}

void hn_lse_free(struct hn_context *ctx, struct hn_lse *l) {
    hn_free(ctx, l->value);
    l->value = NULL;
}

const struct hn_sink_type hn_lse_sink = {.name = "lse",
                                         .begin = lse_begin,
                                         .tile = lse_tile,
                                         .end = lse_end,
                                         .across = lse_across,
                                         .both = lse_both,
                                         .joins = lse_joins};
