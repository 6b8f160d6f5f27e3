// SPDX-License-Identifier: GPL-3.0-or-later
// What is measured of a batch against sums pair by pair, and the bound by a prior against any other
// function that rises with the cosine.
#include "core/random.h"
#include "harness/choose/evidence.h"
#include "harness/choose/measured.h"
#include "metrics/measure.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 60, D = 8, BATCH = 20, BATCHES = 3, CLASSES = 4 };
static const double TEMPERATURE = 0.2;

static enum hn_code take(struct hn_context *ctx, void *self, const double *record,
                         int64_t batches) {
    (void)ctx;
    CU_ASSERT_EQUAL_FATAL(batches, BATCHES);
    memcpy(self, record, BATCHES * HN_MEASURED_SIZE * sizeof *record);
    return HN_OK;
}

static void measure_records(struct hn_context *ctx, const struct hn_items *items, double *record) {
    const struct hn_metric_type *metric = &hn_measured_metric;
    const struct hn_metric_taker taker = {record, take};
    struct hn_measure_spec spec = {&metric,
                                   1,
                                   {.items = items,
                                    .taker = &taker,
                                    .temperature = TEMPERATURE,
                                    .batch_size = BATCH,
                                    .threads = 1,
                                    .batches = BATCHES}};
    struct hn_measure *m;
    struct hn_cell_arrays arrays;
    int32_t id[N], size[BATCHES] = {BATCH, BATCH, BATCH};
    char why[HN_MESSAGE_MAX];
    for (int i = 0; i < N; i++)
        id[i] = i * 7 % N;
    HN_CHECK(ctx, hn_measure_begin(ctx, &spec, &m));
    HN_CHECK(ctx, hn_measure_batches(ctx, m, 0, BATCHES, size, id));
    HN_CHECK(ctx, hn_measure_finish(ctx, m, 0, NULL, &arrays, why));
    hn_cell_arrays_free(ctx, &arrays);
    hn_measure_close(ctx, m);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double cosine(const struct hn_items *items, int i, int j) {
    double sum = 0;
    for (int k = 0; k < D; k++)
        sum += (double)hn_row(&items->x, i)[k] * (double)hn_row(&items->x, j)[k];
    return sum;
}

struct sums {
    double same, labelled, hard[HN_GOALS], counted[HN_GOALS];
};

// Pair by pair; all pairs count if no label is known.
static struct sums oracle(const struct hn_items *items, bool labelled, int batch) {
    struct sums s = {0};
    double value[BATCH * BATCH];
    int n = 0;
    for (int a = 0; a < BATCH; a++) {
        double high = -2;
        for (int b = 0; b < BATCH; b++) {
            int i = (batch * BATCH + a) * 7 % N, j = (batch * BATCH + b) * 7 % N;
            int32_t x = items->labels[i], y = items->labels[j];
            bool known = x >= 0 && y >= 0;
            if (a == b)
                continue;
            if (a < b && known) {
                s.labelled++;
                s.same += x == y;
            }
            if (labelled && !(known && x != y))
                continue;
            high = fmax(high, cosine(items, i, j));
            if (a < b)
                value[n++] = cosine(items, i, j);
        }
        if (high > -2) {
            s.hard[HN_GOAL_HARDEST] += high;
            s.counted[HN_GOAL_HARDEST]++;
        }
    }
    double power = 0;
    for (int i = 0; i < n; i++) {
        s.hard[HN_GOAL_MEAN] += value[i];
        power += exp(value[i] / TEMPERATURE);
    }
    s.counted[HN_GOAL_MEAN] = n;
    s.hard[HN_GOAL_LME] = TEMPERATURE * log(power / n);
    s.counted[HN_GOAL_LME] = 1;
    qsort(value, (size_t)n, sizeof *value, by_value);
    double place = 0.99 * (n - 1);
    int below = (int)place;
    s.hard[HN_GOAL_P99] = value[below] + (place - below) * (value[below + 1] - value[below]);
    s.counted[HN_GOAL_P99] = 1;
    return s;
}

static void compare(struct hn_context *ctx, const struct hn_items *items, bool labelled) {
    double record[BATCHES * HN_MEASURED_SIZE];
    measure_records(ctx, items, record);
    for (int b = 0; b < BATCHES; b++) {
        const double *r = record + b * HN_MEASURED_SIZE;
        struct sums s = oracle(items, labelled, b);
        for (int g = 0; g < HN_GOALS; g++) {
            struct hn_evidence_batch got = hn_measured_batch(r, (enum hn_goal)g, NULL);
            CU_ASSERT_EQUAL(got.same, s.same);
            CU_ASSERT_EQUAL(got.labelled, s.labelled);
            CU_ASSERT_EQUAL(got.counted, s.counted[g]);
            // Cosines are of single precision.
            CU_ASSERT_DOUBLE_EQUAL(got.hard, s.hard[g], 1e-6 * s.counted[g]);
        }
        double pairs = 0;
        for (int i = 0; i < HN_HISTOGRAM_BINS; i++)
            pairs += r[HN_MEASURED_COUNTS + i];
        CU_ASSERT_EQUAL(pairs, BATCH * (BATCH - 1) / 2);
    }
}

static void test_batches(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_items items = hn_fixture_items(&ctx, N, D, CLASSES, false, 3);
    int32_t label[N];
    memcpy(label, items.labels, sizeof label);
    const int32_t *own = items.labels;
    items.labels = label;
    compare(&ctx, &items, true);
    for (int i = 0; i < N; i += 3)
        label[i] = -1;
    compare(&ctx, &items, true);
    for (int i = 0; i < N; i++)
        label[i] = -1;
    compare(&ctx, &items, false);
    items.labels = own;
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Records with counts alone: shares of pairs by bin, as they rise with `power`.
static void fill(double *record, double power) {
    memset(record, 0, HN_MEASURED_SIZE * sizeof *record);
    for (int i = 50; i < 150; i++)
        record[HN_MEASURED_COUNTS + i] = floor(1000 * pow((i - 49) / 100.0, power));
}

static double mean_of(const double *record, const double *share) {
    double sum = 0, all = 0;
    for (int i = 0; i < HN_HISTOGRAM_BINS; i++) {
        sum += share[i] * record[HN_MEASURED_COUNTS + i];
        all += record[HN_MEASURED_COUNTS + i];
    }
    return sum / all;
}

// No random function that rises from 0 to 1 and has the prior as its mean over Uniform's pairs
// gives the sampler more false negatives.
static void beats_random_functions(const double *uniform, const double *sampler, double prior,
                                   double bound) {
    struct hn_stream stream;
    hn_stream_open(&stream, 1, "test.rising", 0, 0, 0);
    for (int trial = 0; trial < 2000; trial++) {
        double g[HN_HISTOGRAM_BINS], low = hn_stream_uniform(&stream) * prior;
        double bend = pow(10, 4 * hn_stream_uniform(&stream) - 1);
        for (int i = 0; i < HN_HISTOGRAM_BINS; i++)
            g[i] = pow((i + 1.0) / HN_HISTOGRAM_BINS, bend);
        // Mixed with a constant below the prior; scaled where that keeps it below 1.
        double scale = (prior - low) / mean_of(uniform, g);
        if (low + scale > 1)
            continue;
        for (int i = 0; i < HN_HISTOGRAM_BINS; i++)
            g[i] = low + scale * g[i];
        CU_ASSERT_DOUBLE_EQUAL(mean_of(uniform, g), prior, 1e-12);
        CU_ASSERT(mean_of(sampler, g) <= bound + 1e-12);
    }
}

static void test_bound(void) {
    static const double priors[] = {0.02, 0.1, 0.5, 1};
    double uniform[HN_MEASURED_SIZE], sampler[HN_MEASURED_SIZE], share[HN_HISTOGRAM_BINS];
    const struct hn_measured_pairs u = {uniform, 1}, s = {sampler, 1};
    fill(uniform, 0.5);
    for (double power = 0.1; power < 8; power *= 2)
        for (size_t p = 0; p < sizeof priors / sizeof *priors; p++) {
            fill(sampler, power);
            hn_measured_shares(&u, &s, priors[p], share);
            CU_ASSERT_DOUBLE_EQUAL(mean_of(uniform, share), priors[p], 1e-12);
            struct hn_evidence_batch b = hn_measured_batch(sampler, HN_GOAL_MEAN, share);
            CU_ASSERT_DOUBLE_EQUAL(b.same / b.labelled, mean_of(sampler, share), 1e-12);
            CU_ASSERT(mean_of(sampler, share) >= priors[p] - 1e-12);
            for (int i = 1; i < HN_HISTOGRAM_BINS; i++)
                CU_ASSERT(share[i] >= share[i - 1] && share[i] <= 1);
            beats_random_functions(uniform, sampler, priors[p], mean_of(sampler, share));
        }
    hn_measured_shares(&u, &u, 0.1, share);
    CU_ASSERT_DOUBLE_EQUAL(mean_of(uniform, share), 0.1, 1e-12);
}

static const struct hn_test tests[] = {
    {"batches", test_batches},
    {"bound", test_bound},
};
HN_TEST_MAIN("measured", tests)
