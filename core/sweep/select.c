// SPDX-License-Identifier: GPL-3.0-or-later
// Exact selection: approximate scores decide what they can, exact ones the rest.
//
// If |f_i - e_i| <= b for float score f and exact score e, then f_i - f_j > 2b implies e_i > e_j.
// So, with F the k-th largest f, everything above F + 2b is among the k best by e, nothing below F
// - 2b is, and only the band between has to be scored exactly. Afterwards the k best are sorted by
// what is known of each, and only runs of neighbours within 2b of each other are scored and sorted
// again.
#include "core/sweep/select.h"
#include "core/sweep/simd.h"

#include <gsl/gsl_heapsort.h>
#include <math.h>
#include <string.h>

enum {
    SHORT = 12,      // insertion sort below this
    BISECTIONS = 24, // as many as a float has bits
    RANKED = 192,    // up to so many are sorted by counting
    SAMPLED = 16,    // one score of so many tells where the limit is
    SPREAD = 2,      // buckets per value where they are more
    FOUR = 4,
    AHEAD = 16 // rows fetched ahead
};

static bool before(const struct hn_scored *a, const struct hn_scored *b) {
    return a->score > b->score || (a->score == b->score && a->id < b->id);
}

static void swap(struct hn_scored *a, struct hn_scored *b) {
    struct hn_scored t = *a;
    *a = *b;
    *b = t;
}

static void insertion_sort(struct hn_scored *c, int64_t n) {
    for (int64_t i = 1; i < n; i++) {
        struct hn_scored t = c[i];
        int64_t j = i;
        for (; j > 0 && before(&t, &c[j - 1]); j--)
            c[j] = c[j - 1];
        c[j] = t;
    }
}

static int compare(const void *a, const void *b) { return before(b, a) - before(a, b); }

// The way out when pivots keep falling badly.
static void heap_sort(struct hn_scored *c, int64_t n) {
    gsl_heapsort(c, (size_t)n, sizeof *c, compare);
}

// Hoare's partition by the median of three, n >= 3: returns m in [1, n) such that no entry of
// [m, n) is before any of [0, m).
static int64_t split(struct hn_scored *c, int64_t n) {
    struct hn_scored *mid = &c[n / 2], *last = &c[n - 1];
    if (before(mid, c))
        swap(mid, c);
    if (before(last, mid)) {
        swap(last, mid);
        if (before(mid, c))
            swap(mid, c);
    }
    struct hn_scored pivot = *mid;
    int64_t i = 0, j = n - 1; // the ends are sentinels: c[0] <= pivot <= c[n - 1]
    for (;;) {
        do
            i++;
        while (before(&c[i], &pivot));
        do
            j--;
        while (before(&pivot, &c[j]));
        if (i >= j)
            return i;
        swap(&c[i], &c[j]);
    }
}

static int bad_splits_allowed(int64_t n) {
    int bits = 0;
    for (; n > 0; n /= 2)
        bits++;
    return 2 * bits;
}

static void sort(struct hn_scored *c, int64_t n, int budget) {
    while (n > SHORT) {
        if (budget-- == 0) {
            heap_sort(c, n);
            return;
        }
        int64_t m = split(c, n);
        if (m < n - m) { // recurse into the shorter part: the stack stays logarithmic
            sort(c, m, budget);
            c += m;
            n -= m;
        } else {
            sort(c + m, n - m, budget);
            n = m;
        }
    }
    insertion_sort(c, n);
}

// Puts the k first in order among c[0 .. k), in no particular order.
static void select_first(struct hn_scored *c, int64_t n, int64_t k) {
    int budget = bad_splits_allowed(n);
    while (n > SHORT && k > 0 && k < n) {
        if (budget-- == 0) {
            heap_sort(c, n);
            return;
        }
        int64_t m = split(c, n);
        if (k >= m) {
            c += m;
            n -= m;
            k -= m;
        } else {
            n = m;
        }
    }
    if (k > 0 && k < n)
        insertion_sort(c, n);
}

// Moves entries with score >= limit (or > limit if `above`) of c[n] to the front; their number.
static int64_t bring_forward(struct hn_scored *c, int64_t n, double limit, bool above) {
    int64_t m = 0;
    for (int64_t i = 0; i < n; i++)
        if (above ? c[i].score > limit : c[i].score >= limit)
            swap(&c[i], &c[m++]);
    return m;
}

// Four at a time: their sums do not wait for each other.
static void score_exactly(struct hn_scored *c, int64_t n, const float *x,
                          const struct hn_matrix *y) {
    const struct hn_simd *scan = hn_simd_best();
    for (int64_t i = 0; i < n;) {
        struct hn_scored *one[FOUR];
        const float *row[FOUR] = {x, x, x, x};
        double value[FOUR];
        int found = 0;
        for (; i < n && found < FOUR; i++) {
            if (i + AHEAD < n && !c[i + AHEAD].exact)
                hn_fetch_row(y, c[i + AHEAD].id);
            if (c[i].exact)
                continue;
            row[found] = hn_row(y, c[i].id);
            one[found++] = &c[i];
        }
        if (found == 1)
            value[0] = hn_dot_exact(x, row[0], y->cols);
        else if (found > 1)
            scan->dot_exact_4(x, row, y->cols, value);
        for (int l = 0; l < found; l++) {
            one[l]->score = value[l];
            one[l]->exact = true;
        }
    }
}

// Makes the first k of c[n] the k best by exact score, as a set; 0 < k < n.
static void select_set(struct hn_scored *c, int64_t n, int64_t k, double bound, const float *x,
                       const struct hn_matrix *y) {
    select_first(c, n, k);
    double kth = c[0].score;
    for (int64_t i = 1; i < k; i++)
        kth = fmin(kth, c[i].score);
    int64_t possible = k + bring_forward(c + k, n - k, kth - 2 * bound, false);
    if (possible == k)
        return;
    int64_t sure = bring_forward(c, k, kth + 2 * bound, true);
    score_exactly(c + sure, possible - sure, x, y);
    select_first(c + sure, possible - sure, k - sure);
}

int64_t hn_select_top(struct hn_scored *candidate, int64_t n, int64_t k, double bound,
                      const float *x, const struct hn_matrix *y) {
    struct hn_scored *c = candidate;
    for (int64_t i = 0; i < n; i++)
        c[i].exact = false;
    if (k >= n)
        k = n;
    else if (k > 0)
        select_set(c, n, k, bound, x, y);
    if (k <= 0)
        return 0;
    sort(c, k, bad_splits_allowed(k));
    for (int64_t from = 0, to; from < k; from = to) {
        for (to = from + 1; to < k && c[to - 1].score - c[to].score <= 2 * bound; to++)
            continue;
        if (to - from == 1)
            continue;
        score_exactly(c + from, to - from, x, y);
        sort(c + from, to - from, bad_splits_allowed(to - from));
    }
    return k;
}

// Bisection: counting is so fast that a selection does not pay.
float hn_select_limit(const float *value, int64_t n, int64_t k, float low) {
    const struct hn_simd *scan = hn_simd_best();
    float min = INFINITY, high = -INFINITY;
    scan->widen(value, n, &min, &high);
    low = fmaxf(low, min);
    high = nextafterf(high, INFINITY);
    if (scan->count(value, n, low) < k)
        return -INFINITY;
    for (int step = 0; step < BISECTIONS; step++) {
        float mid = 0.5F * (low + high);
        int32_t count = scan->count(value, n, mid);
        if (count < k) {
            high = mid;
            continue;
        }
        low = mid;
        if (count <= k + k / 16)
            break;
    }
    return low;
}

enum hn_code hn_select_scratch_open(struct hn_context *ctx, int64_t max,
                                    struct hn_select_scratch *s) {
    *s = (struct hn_select_scratch){0};
    max += HN_SCAN_SLACK;
    if (HN_ALLOC(ctx, s->position, max) && HN_ALLOC(ctx, s->rank, max) &&
        HN_ALLOC_ROWS(ctx, s->end, max, SPREAD) && HN_ALLOC(ctx, s->value, max) &&
        HN_ALLOC(ctx, s->scored, max))
        return HN_OK;
    hn_select_scratch_free(ctx, s);
    return HN_MEMORY;
}

void hn_select_scratch_free(struct hn_context *ctx, struct hn_select_scratch *s) {
    hn_free(ctx, s->position);
    hn_free(ctx, s->rank);
    hn_free(ctx, s->end);
    hn_free(ctx, s->value);
    hn_free(ctx, s->scored);
    *s = (struct hn_select_scratch){0};
}

// Sorts what is nearly sorted.
static void mend_order(struct hn_scored *c, int64_t n) {
    int64_t wrong = 0;
    for (int64_t i = 1; i < n; i++)
        wrong += before(&c[i], &c[i - 1]);
    if (wrong > n / 8)
        sort(c, n, bad_splits_allowed(n));
    else if (wrong > 0)
        insertion_sort(c, n);
}

// The scored positions[n] by descending value: counting is fastest for few.
static void order_few(const int32_t *id, int32_t n, struct hn_select_scratch *s) {
    hn_simd_best()->rank(s->value, n, s->rank);
    for (int32_t i = 0; i < n; i++)
        s->scored[s->rank[i]] = (struct hn_scored){(double)s->value[i], id[s->position[i]], false};
}

// bucket[i], below SPREAD n, of value[i]: from high to low in steps of equal width.
static void find_buckets(const float *value, int32_t n, int32_t *bucket) {
    const int32_t all = SPREAD * n;
    float low = INFINITY, high = -INFINITY;
    hn_simd_best()->widen(value, n, &low, &high);
    double top = (double)high, scale = high > low ? all / (top - (double)low) : 0;
    for (int32_t i = 0; i < n; i++)
        bucket[i] = (int32_t)fmin((top - (double)value[i]) * scale, all - 1);
}

// end[SPREAD n]: where each bucket begins; returns how many values the fullest holds.
static int32_t begin_buckets(const int32_t *bucket, int32_t n, int32_t *end) {
    memset(end, 0, (size_t)n * SPREAD * sizeof *end);
    for (int32_t i = 0; i < n; i++)
        end[bucket[i]]++;
    int32_t fullest = 0;
    for (int32_t b = 0, from = 0; b < SPREAD * n; b++) {
        int32_t held = end[b];
        fullest = held > fullest ? held : fullest;
        end[b] = from;
        from += held;
    }
    return fullest;
}

// The same for many: values spread over buckets, most of which hold one or none, are nearly in
// order.
static void order_many(const int32_t *id, int32_t n, struct hn_select_scratch *s) {
    find_buckets(s->value, n, s->rank);
    int32_t fullest = begin_buckets(s->rank, n, s->end);
    for (int32_t i = 0; i < n; i++)
        s->scored[s->end[s->rank[i]]++] =
            (struct hn_scored){(double)s->value[i], id[s->position[i]], false};
    if (fullest <= SHORT) {
        insertion_sort(s->scored, n);
        return;
    }
    for (int32_t b = 0, from = 0; b < SPREAD * n; from = s->end[b++])
        sort(s->scored + from, s->end[b] - from, bad_splits_allowed(s->end[b] - from));
}

// The end of the run from `from` on: scores of neighbours that could be the other way round.
static int64_t run_end(const struct hn_scored *c, int64_t n, int64_t from, double bound) {
    int64_t to = from + 1;
    while (to < n && c[to - 1].score - c[to].score <= 2 * bound)
        to++;
    return to;
}

// Of s->scored[n], by descending score, makes the first k the k best by exact score in their order:
// only runs have to be scored exactly, all of them at once, as their rows come from far away.
static void settle(struct hn_select_scratch *s, int64_t n, int64_t k, double bound, const float *x,
                   const struct hn_matrix *y) {
    struct hn_scored *scored = s->scored;
    int64_t runs = 0, all = 0;
    for (int64_t from = 0; from < k; from = all) {
        all = run_end(scored, n, from, bound);
        s->end[runs++] = (int32_t)all;
        for (int64_t i = from; i < all; i++)
            scored[i].exact = all - from == 1; // or as good as
    }
    score_exactly(scored, all, x, y);
    for (int64_t run = 0, from = 0; run < runs; from = s->end[run++])
        mend_order(scored + from, s->end[run] - from);
}

// Positions and values of what reaches `limit` within 2 bound; their number.
static int32_t take_reaching(const float *score, int64_t n, double limit, double bound,
                             struct hn_select_scratch *s) {
    float low = nextafterf((float)(limit - 2 * bound), -INFINITY);
    int32_t found = hn_simd_best()->filter(score, 0, (int32_t)n, low, s->position);
    for (int32_t i = 0; i < found; i++)
        s->value[i] = score[s->position[i]];
    return found;
}

// Those that may be among the k best, and a few more. The first of many tell about where the limit
// is; only those that reach it, twice as many as needed, are looked at more than once.
static int32_t take_candidates(const float *score, int64_t n, int64_t k, float low, double bound,
                               struct hn_select_scratch *s) {
    int64_t first = n / SAMPLED, position = 2 * k / SAMPLED + SHORT / 2;
    if (position * 2 > first)
        return take_reaching(score, n, (double)hn_select_limit(score, n, k, low), bound, s);
    float guess = hn_select_limit(score, first, position, -INFINITY);
    int32_t found = take_reaching(score, n, (double)guess, 0, s), kept = 0;
    double limit = (double)hn_select_limit(s->value, found, k, -INFINITY) - 2 * bound;
    if (limit < (double)guess) // fewer than k reach it, or others are too near to it
        return take_reaching(score, n, (double)hn_select_limit(score, n, k, low), bound, s);
    for (int32_t i = 0; i < found; i++) {
        s->position[kept] = s->position[i];
        s->value[kept] = s->value[i];
        kept += (double)s->value[i] >= limit;
    }
    return kept;
}

int64_t hn_select_floats(const float *score, const int32_t *id, int64_t n, int64_t k, float low,
                         double bound, const float *x, const struct hn_matrix *y, bool all_exact,
                         struct hn_select_scratch *s) {
    k = hn_min(k, n);
    if (k <= 0)
        return 0;
    int32_t found = take_candidates(score, n, k, low, bound, s);
    if (found <= RANKED)
        order_few(id, found, s);
    else
        order_many(id, found, s);
    if (all_exact) {
        score_exactly(s->scored, found, x, y);
        mend_order(s->scored, found);
    } else {
        settle(s, found, k, bound, x, y);
    }
    return k;
}
