// SPDX-License-Identifier: GPL-3.0-or-later
// Mann and Whitney (1947): U = number of pairs (i, j) with y_j > x_i, a tie counting one half. Were
// all orders of n + m values equally likely, the number of them with U = u would be the coefficient
// of q^u in the Gaussian binomial prod_{i=1..n} (1 - q^(m+i)) / (1 - q^i). Normal approximation:
// mean nm/2, variance nm/12 ((N+1) - sum (t^3-t) / (N (N-1))), N = n + m, t the sizes of ties
// (Lehmann, Nonparametrics, 1.4), and 1/2 for continuity.
// Spearman (1904): the correlation of ranks.
// Holm, A simple sequentially rejective multiple test procedure (1979).
#include "core/rank_tests.h"
#include "core/random.h"
#include "core/stats.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_gamma.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

// log(2^53): up to here every count of orders is a whole number in a double.
static const double max_log_orders = 36.7;

// Twice U, which is whole also with ties, and the sum of t^3 - t over groups of equal values.
struct ranking {
    double twice_u, ties;
};

static double value_at(struct hn_samples x, struct hn_samples y, size_t position) {
    return position < (size_t)x.n ? x.value[position] : y.value[position - (size_t)x.n];
}

static void rank_groups(struct hn_samples x, struct hn_samples y, const size_t *order,
                        struct ranking *out) {
    int64_t all = x.n + y.n, below = 0; // of x, before the group
    *out = (struct ranking){0, 0};
    for (int64_t first = 0, end; first < all; first = end) {
        int64_t of_x = 0;
        double value = value_at(x, y, order[first]);
        for (end = first; end < all && value_at(x, y, order[end]) <= value; end++)
            of_x += order[end] < (size_t)x.n;
        double size = (double)(end - first), of_y = size - (double)of_x;
        out->twice_u += of_y * (2.0 * (double)below + (double)of_x);
        out->ties += size * size * size - size;
        below += of_x;
    }
}

static enum hn_code rank_all(struct hn_context *ctx, struct hn_samples x, struct hn_samples y,
                             struct ranking *out) {
    int64_t all = x.n + y.n;
    HN_SCOPE(ctx);
    size_t *order = hn_alloc(ctx, all, sizeof *order);
    double *value = hn_alloc(ctx, all, sizeof *value);
    if (!order || !value)
        return HN_MEMORY;
    for (int64_t i = 0; i < all; i++)
        value[i] = value_at(x, y, (size_t)i);
    gsl_sort_index(order, value, 1, (size_t)all);
    rank_groups(x, y, order, out);
    return HN_OK;
}

// count[u], u = 0 .. most, becomes the number of orders with U = u.
static void count_orders(double *count, int64_t max, int64_t n, int64_t m) {
    count[0] = 1;
    for (int64_t u = 1; u <= max; u++)
        count[u] = 0;
    for (int64_t i = 1; i <= n; i++) {
        for (int64_t u = max; u >= m + i; u--)
            count[u] -= count[u - m - i];
        for (int64_t u = i; u <= max; u++)
            count[u] += count[u - i];
    }
}

// Probability of U >= u, by counting the smaller of the two tails (they are mirror images).
static enum hn_code exact_tail(struct hn_context *ctx, int64_t n, int64_t m, int64_t u,
                               double log_orders, double *p) {
    int64_t mirrored = n * m - u; // U >= u is as likely as U <= mirrored
    bool lower = 2 * mirrored <= n * m;
    int64_t max = lower ? mirrored : u - 1;
    if (max < 0) {
        *p = 1;
        return HN_OK;
    }
    HN_SCOPE(ctx);
    double *count = hn_alloc(ctx, max + 1, sizeof *count);
    if (!count)
        return ctx->code;
    count_orders(count, max, n, m);
    double sum = 0;
    for (int64_t i = 0; i <= max; i++)
        sum += count[i];
    double share = sum / exp(log_orders);
    *p = fmin(1, lower ? share : 1 - share);
    return HN_OK;
}

static double normal_tail(struct hn_samples x, struct hn_samples y, const struct ranking *r) {
    double n = (double)x.n, m = (double)y.n, all = n + m;
    double variance = n * m / 12 * (all + 1 - r->ties / (all * (all - 1)));
    if (!(variance > 0))
        return 1; // all values are equal
    return gsl_cdf_ugaussian_Q((r->twice_u / 2 - n * m / 2 - 0.5) / sqrt(variance));
}

static bool usable(struct hn_samples s) {
    for (int64_t i = 0; i < s.n; i++)
        if (isnan(s.value[i]))
            return false;
    return s.n > 0;
}

enum hn_code hn_mann_whitney(struct hn_context *ctx, struct hn_samples x, struct hn_samples y,
                             double *p) {
    struct ranking r;
    *p = NAN;
    if (!usable(x) || !usable(y))
        return HN_OK;
    if (rank_all(ctx, x, y, &r))
        return ctx->code;
    bool few = x.n + y.n < 100000; // for GSL's sake; more are never counted
    double log_orders = few ? gsl_sf_lnchoose((unsigned)(x.n + y.n), (unsigned)x.n) : INFINITY;
    if (!(r.ties > 0) && log_orders <= max_log_orders)
        return exact_tail(ctx, x.n, y.n, (int64_t)(r.twice_u / 2), log_orders, p);
    *p = normal_tail(x, y, &r);
    return HN_OK;
}

enum hn_code hn_spearman(struct hn_context *ctx, const double *x, const double *y, int64_t n,
                         double *rho) {
    *rho = NAN;
    HN_SCOPE(ctx);
    double *ranks = hn_alloc(ctx, n, 2 * sizeof *ranks);
    if (!ranks)
        return ctx->code;
    if (n > 1)
        *rho = gsl_stats_spearman(x, 1, y, 1, (size_t)n, ranks);
    return HN_OK;
}

enum hn_code hn_holm(struct hn_context *ctx, double *p, int64_t n) {
    HN_SCOPE(ctx);
    size_t *position = hn_alloc(ctx, n, sizeof *position);
    size_t *order = hn_alloc(ctx, n, sizeof *order);
    double *tested = hn_alloc(ctx, n, sizeof *tested), min = 0;
    if (!position || !order || !tested)
        return ctx->code;
    int64_t tests = 0;
    for (int64_t i = 0; i < n; i++)
        if (!isnan(p[i])) {
            position[tests] = (size_t)i;
            tested[tests++] = p[i];
        }
    gsl_sort_index(order, tested, 1, (size_t)tests);
    for (int64_t i = 0; i < tests; i++) {
        min = fmax(min, fmin(1, tested[order[i]] * (double)(tests - i)));
        p[position[order[i]]] = min;
    }
    return HN_OK;
}

enum { ORDERS = 4000 }; // that are drawn

enum hn_code hn_ranks_apart(struct hn_context *ctx, const double *rank, int64_t items,
                            int64_t blocks, double *apart) {
    struct hn_stream stream;
    HN_SCOPE(ctx);
    int32_t *order = hn_alloc(ctx, items, sizeof *order);
    double *sum = hn_alloc(ctx, items, sizeof *sum), *range = hn_alloc(ctx, ORDERS, sizeof *range);
    if (!order || !sum || !range)
        return ctx->code;
    *apart = INFINITY;
    if (items < 2 || blocks < 1)
        return HN_OK;
    for (int32_t i = 0; i < items; i++)
        order[i] = i;
    hn_stream_open(&stream, 0, "ranks.alike", 0, 0, 0);
    for (int draw = 0; draw < ORDERS; draw++) {
        double min = INFINITY, max = 0;
        for (int64_t i = 0; i < items; i++)
            sum[i] = 0;
        for (int64_t block = 0; block < blocks; block++) {
            hn_stream_shuffle(&stream, order, items);
            for (int64_t i = 0; i < items; i++)
                sum[i] += rank[order[i] * blocks + block];
        }
        for (int64_t i = 0; i < items; i++) {
            min = fmin(min, sum[i]);
            max = fmax(max, sum[i]);
        }
        range[draw] = (max - min) / (double)blocks;
    }
    *apart = hn_quantile(range, ORDERS, 0.95);
    return HN_OK;
}
