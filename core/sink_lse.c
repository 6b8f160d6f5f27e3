// log sum_j exp(s_ij / tau) per row, for several temperatures.
//
// exp(s / tau) = e^(1/tau) 2^y with y = (s - 1) log2(e) / tau, so all terms of all rows share one
// shift. 2^y = 2^k 2^f, k the nearest integer, |f| <= 1/2, and 2^f is the polynomial of degree 6
// with the least relative error on that interval, 1.86e-9 (found by linear programming on 4001
// Chebyshev points). Rounding adds less than 2e-12: y has a relative error of 2^-51 and |y| < 962
// for tau >= 0.003, the polynomial some 1e-15. So each sum, all terms being positive, has a
// relative error below 2e-9 plus that of N additions, and a value an absolute error of that size.
//
// Terms are added in sixteen lanes per row and tile: the order depends on the tiling, never on the
// number of threads or the width of vectors.
#include "core/clones.h"
#include "core/sinks.h"

#include <math.h>
#include <string.h>

enum { LANES = 16 };

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

static inline double power(float s, double slope) {
    const double magic = 0x1.8p52; // adding it rounds to an integer and leaves that in the low bits
    double y = ((double)s - 1.0) * slope, shifted = y + magic, f = y - (shifted - magic);
    double p = 0.00015345812935346084;
    p = p * f + 0.0013399931255602927;
    p = p * f + 0.009618488953408912;
    p = p * f + 0.05550328776836112;
    p = p * f + 0.24022646890674412;
    p = p * f + 0.6931472057373775;
    p = p * f + 1.000000000554154;
    uint64_t bits, exponent;
    memcpy(&bits, &p, sizeof bits);
    memcpy(&exponent, &shifted, sizeof exponent);
    bits += exponent << 52;
    memcpy(&p, &bits, sizeof p);
    return p;
}

HN_CLONES
static double sum_of_powers(const float *s, int64_t n, double slope) {
    double lane[LANES] = {0};
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES)
        for (int l = 0; l < LANES; l++)
            lane[l] += power(s[j + l], slope);
    for (int l = 0; j < n; j++, l++)
        lane[l] += power(s[j], slope);
    for (int width = LANES / 2; width > 0; width /= 2)
        for (int l = 0; l < width; l++)
            lane[l] += lane[l + width];
    return lane[0];
}

static void lse_tile(void *self, const struct hn_tile *tile, int thread) {
    struct hn_lse *l = self;
    (void)thread;
    for (int32_t i = 0; i < tile->rows; i++) {
        struct hn_span span[2];
        int spans = hn_tile_spans(tile, i, l->skip_self, span);
        const float *s = tile->s + i * tile->stride;
        for (int t = 0; t < l->n; t++)
            for (int p = 0; p < spans; p++)
                l->value[t * l->rows + tile->row0 + i] += sum_of_powers(
                    s + span[p].from, span[p].to - span[p].from, M_LOG2E / l->temperature[t]);
    }
}

static enum hn_code lse_end(struct hn_context *ctx, void *self) {
    struct hn_lse *l = self;
    (void)ctx;
    for (int t = 0; t < l->n; t++)
        for (int64_t i = 0; i < l->rows; i++) {
            double *value = &l->value[t * l->rows + i];
            *value = log(*value) + 1 / l->temperature[t];
        }
    return HN_OK;
}

void hn_lse_free(struct hn_context *ctx, struct hn_lse *l) {
    hn_free(ctx, l->value);
    l->value = NULL;
}

const struct hn_sink_type hn_lse_sink = {"lse", lse_begin, lse_tile, lse_end};
