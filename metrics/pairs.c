// SPDX-License-Identifier: GPL-3.0-or-later
// The negatives of an anchor in either shape of a batch.
#include "metrics/pairs.h"
#include "core/clones.h"

#include <math.h>
#include <string.h>

// `count` negatives from entry `at` of the products on.
static struct hn_run run_of(const struct hn_pairs *p, int64_t at, const int32_t *id,
                            int64_t count) {
    return (struct hn_run){.count = (int32_t)count,
                           .id = id,
                           .kind = p->kind ? p->kind + at : NULL,
                           .cosine = p->cosine ? p->cosine + at : NULL,
                           .score = p->score ? p->score + at : NULL,
                           .score_t = p->score_t ? p->score_t + at : NULL,
                           .same1 = p->same1 ? p->same1 + at : NULL,
                           .same2 = p->same2 ? p->same2 + at : NULL,
                           .guide = p->guide ? p->guide + at : NULL};
}

int64_t hn_pairs_runs(const struct hn_pairs *p, int32_t a, bool once, struct hn_run run[2]) {
    if (p->start) {
        int64_t at = p->start[a];
        run[0] = run_of(p, at, p->negative + at, 0);
        run[1] = run_of(p, at, p->negative + at, p->start[a + 1] - at);
    } else {
        int64_t row = (int64_t)a * p->n, next = a + 1;
        run[0] = run_of(p, row, p->id, once && !p->directed ? 0 : a);
        run[1] = run_of(p, row + next, p->id + next, p->n - next);
    }
    return (int64_t)run[0].count + run[1].count;
}

// Cosines are taken as whole numbers of 32 bits, of which an order statistic is found 12 bits at a
// time, by counting: numbers from low to low + last, in bins of 2^shift.
enum { DIGIT = 12, BINS = 1 << DIGIT };
struct range {
    uint32_t low, last;
    int shift;
};

// bin[n] of a block, BINS for what does not count.
HN_CLONES
static void find_bins(const float *cosine, const uint8_t *kind, int32_t n, bool true_alone,
                      struct range in, uint32_t *bin) {
    for (int32_t b = 0; b < n; b++) {
        double position = ((double)cosine[b] + 1) * 0x1p31;
        position = position > 0 ? position : 0;
        uint32_t above = (uint32_t)(position < 0x1p32 - 1 ? position : 0x1p32 - 1) - in.low;
        bool counts = above <= in.last && (!true_alone || kind[b] == HN_PAIR_TRUE_NEGATIVE);
        bin[b] = counts ? above >> in.shift : BINS;
    }
}

// False: no cosine of a block is in a range; true may be wrong by a rounding.
HN_CLONES
static bool any_close(const float *cosine, int32_t n, struct range in) {
    const float margin = 0x1p-22F, from = (float)in.low * 0x1p-31F - 1 - margin;
    const float to = from + (float)in.last * 0x1p-31F + 3 * margin;
    const float low = in.low > 0 ? from : -INFINITY, high = to < 1 ? to : INFINITY;
    int32_t any = 0;
    for (int32_t b = 0; b < n; b++)
        any |= (cosine[b] >= low) & (cosine[b] <= high);
    return any;
}

static void count_codes(const struct hn_pairs *p, bool true_alone, struct range in,
                        uint32_t count[BINS + 1]) {
    uint32_t bin[HN_RUN_BLOCK];
    memset(count, 0, BINS * sizeof *count);
    for (int32_t a = 0; a < p->n; a++) {
        struct hn_run run[2];
        (void)hn_pairs_runs(p, a, true, run);
        for (int r = 0; r < 2; r++)
            for (int32_t from = 0; from < run[r].count; from += HN_RUN_BLOCK) {
                int32_t n = hn_block(run[r].count, from);
                if (!any_close(run[r].cosine + from, n, in))
                    continue;
                find_bins(run[r].cosine + from, run[r].kind + from, n, true_alone, in, bin);
                for (int32_t b = 0; b < n; b++)
                    count[bin[b]]++;
            }
    }
}

// The bin that holds order statistic `rank` of a range (from 0), which becomes its rank in the bin.
static struct range narrow(struct range in, const uint32_t *count, uint64_t *rank) {
    uint32_t bin = 0;
    while (count[bin] <= *rank)
        *rank -= count[bin++];
    return (struct range){in.low + (bin << in.shift), (1U << in.shift) - 1,
                          in.shift > DIGIT ? in.shift - DIGIT : 0};
}

// Two order statistics at once, which are mostly of one range.
double hn_pairs_percentile(const struct hn_pairs *p, bool true_alone, uint64_t n, double q) {
    uint32_t count[BINS + 1];
    double position = q * (double)(n - 1);
    uint64_t first = (uint64_t)position, rank[2] = {first, first + 1 < n ? first + 1 : first};
    struct range in[2] = {{0, UINT32_MAX, 32 - DIGIT}, {0, UINT32_MAX, 32 - DIGIT}};
    while (in[0].last > 0) {
        uint32_t low = in[0].low;
        count_codes(p, true_alone, in[0], count);
        in[0] = narrow(in[0], count, &rank[0]);
        if (in[1].low != low)
            count_codes(p, true_alone, in[1], count);
        in[1] = narrow(in[1], count, &rank[1]);
    }
    double low = (double)in[0].low, high = (double)in[1].low;
    return -1 + (low + 0.5 + (position - (double)first) * (high - low)) * 0x1p-31;
}
