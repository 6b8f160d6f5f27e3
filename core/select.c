// Exact selection: approximate scores decide what they can, exact ones the rest.
//
// If |f_i - e_i| <= b for float score f and exact score e, then f_i - f_j > 2b implies e_i > e_j.
// So, with F the k-th largest f, everything above F + 2b is among the k best by e, nothing below F
// - 2b is, and only the band between has to be scored exactly. Afterwards the k best are sorted by
// what is known of each, and only runs of neighbours within 2b of each other are scored and sorted
// again.
#include "core/select.h"
#include "core/clones.h"

#include <math.h>

enum {
    SHORT = 12,      // insertion sort below this
    BISECTIONS = 24, // as many as a float has bits
    LANES = 16
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

static void sift(struct hn_scored *c, int64_t i, int64_t n) {
    for (int64_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && before(&c[child], &c[child + 1]))
            child++;
        if (!before(&c[i], &c[child]))
            return;
        swap(&c[i], &c[child]);
    }
}

// The way out when pivots keep falling badly.
static void heap_sort(struct hn_scored *c, int64_t n) {
    for (int64_t i = n / 2 - 1; i >= 0; i--)
        sift(c, i, n);
    for (int64_t i = n - 1; i > 0; i--) {
        swap(&c[0], &c[i]);
        sift(c, 0, i);
    }
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

static void score_exactly(struct hn_scored *c, int64_t n, const float *x,
                          const struct hn_matrix *y) {
    for (int64_t i = 0; i < n; i++) {
        if (c[i].exact)
            continue;
        c[i].score = hn_dot_exact(x, hn_row(y, c[i].id), y->cols);
        c[i].exact = true;
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

HN_CLONES
static int32_t count_from(const float *value, int64_t n, float limit) {
    int32_t lane[LANES] = {0}, count = 0;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++)
            lane[l] += value[i + l] >= limit;
    for (; i < n; i++)
        count += value[i] >= limit;
    for (int l = 0; l < LANES; l++)
        count += lane[l];
    return count;
}

// Bisection: counting is so fast that a selection does not pay.
float hn_select_limit(const float *value, int64_t n, int64_t k, float low) {
    float high = 1.01F; // unit rows; were it too low, the result would still be valid
    low = fmaxf(low, -1.01F);
    if (count_from(value, n, low) < k)
        return -INFINITY;
    for (int step = 0; step < BISECTIONS; step++) {
        float mid = 0.5F * (low + high);
        int32_t count = count_from(value, n, mid);
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
