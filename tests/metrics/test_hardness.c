// SPDX-License-Identifier: GPL-3.0-or-later
// Hardness: percentiles against sorted cosines, few pairs, many pairs, true negatives.
#include "metrics/measure.h"
#include "tests/measured.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

static struct hn_context context(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    return ctx;
}

// Rows (cos, sin) of angles.
static struct hn_items plane_items(float *x, const double *angle, int64_t n,
                                   const int32_t *labels) {
    for (int64_t i = 0; i < n; i++) {
        x[2 * i] = (float)cos(angle[i]);
        x[2 * i + 1] = (float)sin(angle[i]);
    }
    return (struct hn_items){.n = n, .d = 2, .x = {x, n, 2, 2}, .labels = labels};
}

static void three_items_by_hand(void) {
    struct hn_context ctx = context();
    static const double angle[3] = {0, 0.3, 1.5};
    static const int32_t labels[3] = {0, 0, 1};
    float x[6];
    struct hn_items items = plane_items(x, angle, 3, labels);
    struct drawn d = drawn_partition(&ctx, 3, 3, 1, 1);
    struct measured m = measure_all(&ctx, &items, &d, 0.5);
    double a = cos(0.3), b = cos(1.2), c = cos(1.5); // descending
    CU_ASSERT_DOUBLE_EQUAL(column_of(&m, "cos_mean"), (a + b + c) / 3, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(column_of(&m, "cos_p50"), b, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(column_of(&m, "cos_p90"), b + 0.8 * (a - b), 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(column_of(&m, "cos_p99"), b + 0.98 * (a - b), 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(column_of(&m, "hardest_mean"), (a + a + b) / 3, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(column_of(&m, "hard_true_mean"), (c + b + b) / 3, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(column_of(&m, "true_mean"), (b + c) / 2, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(column_of(&m, "true_p99"), c + 0.99 * (b - c), 1e-6);
    double lme = 0.5 * log((exp(b / 0.5) + exp(c / 0.5)) / 2);
    CU_ASSERT_DOUBLE_EQUAL(column_of(&m, "true_lme"), lme, 1e-6);
    measured_free(&ctx, &m);
    drawn_free(&ctx, &d);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void anchors_without_true_negatives_are_left_out(void) {
    struct hn_context ctx = context();
    static const double angle[5] = {0, 0.3, 1.5, 2, 0.1};
    static const int32_t labels[5] = {0, 0, 1, 1, -1};
    float x[10];
    struct hn_items items = plane_items(x, angle, 5, labels);
    struct drawn d = drawn_empty(&ctx, 2, 3, 2);
    static const int32_t ids[6] = {0, 1, 4, /* one class and one unlabelled */ 1, 2, 4};
    memcpy(d.ids, ids, sizeof ids);
    struct measured m = measure_all(&ctx, &items, &d, 0.5);
    CU_ASSERT_DOUBLE_EQUAL(column_of(&m, "hard_true_mean"), cos(1.2), 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(column_of(&m, "true_mean"), cos(1.2), 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(column_of(&m, "true_p99"), cos(1.2), 1e-6);
    double hardest = cos(0.1) + cos(0.2) + cos(0.1) + cos(0.2) + cos(1.2) + cos(0.2);
    CU_ASSERT_DOUBLE_EQUAL(column_of(&m, "hardest_mean"), hardest / 6, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(m.arrays.batch_cos_mean[1], (cos(1.2) + cos(0.2) + cos(1.4)) / 3, 1e-6);
    measured_free(&ctx, &m);
    d.count = 1;
    m = measure_all(&ctx, &items, &d, 0.5);
    CU_ASSERT(isnan(column_of(&m, "hard_true_mean")));
    CU_ASSERT(isnan(column_of(&m, "true_mean")));
    CU_ASSERT(isnan(column_of(&m, "true_p99")));
    CU_ASSERT(isnan(column_of(&m, "true_lme")));
    CU_ASSERT(isfinite(column_of(&m, "hardest_mean")));
    measured_free(&ctx, &m);
    drawn_free(&ctx, &d);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Where e^{1 / tau} is beyond a double, the largest cosine is left.
static void a_low_temperature_leaves_the_largest(void) {
    struct hn_context ctx = context();
    static const double angle[3] = {0, 0.3, 1.5};
    static const int32_t labels[3] = {0, 1, 2};
    float x[6];
    struct hn_items items = plane_items(x, angle, 3, labels);
    struct drawn d = drawn_partition(&ctx, 3, 3, 1, 1);
    struct measured m = measure_all(&ctx, &items, &d, 1e-3);
    CU_ASSERT_DOUBLE_EQUAL(column_of(&m, "true_lme"), cos(0.3) - 1e-3 * log(3), 1e-6);
    measured_free(&ctx, &m);
    drawn_free(&ctx, &d);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// From a single pair on, within one bin of the percentiles of the sorted cosines; that of true
// negatives (here all pairs) to rounding.
static void percentiles_are_within_a_bin(void) {
    struct hn_context ctx = context();
    int32_t label[60];
    for (int32_t i = 0; i < 60; i++)
        label[i] = i;
    struct hn_items items = hn_fixture_items(&ctx, 60, 3, 4, false, 41);
    const int32_t *own = items.labels;
    items.labels = label;
    double cosine[60 * 60];
    for (int32_t b = 2; b <= 60; b += b < 9 ? 1 : 17) {
        struct drawn d = drawn_partition(&ctx, 60, b, 1, 7);
        d.count = 1;
        struct measured m = measure_all(&ctx, &items, &d, 0.5);
        size_t pairs = 0;
        for (int32_t i = 0; i < b; i++)
            for (int32_t j = 0; j < i; j++)
                cosine[pairs++] =
                    hn_dot_exact(hn_row(&items.x, d.ids[i]), hn_row(&items.x, d.ids[j]), 3);
        gsl_sort(cosine, 1, pairs);
        double off = 0x1p-20 + hn_dot_bound(3);
        static const struct {
            const char *column;
            double q;
        } wanted[3] = {{"cos_p50", 0.5}, {"cos_p90", 0.9}, {"cos_p99", 0.99}};
        for (int k = 0; k < 3; k++) {
            double q = gsl_stats_quantile_from_sorted_data(cosine, 1, pairs, wanted[k].q);
            CU_ASSERT_DOUBLE_EQUAL(column_of(&m, wanted[k].column), q, off);
        }
        double p99 = gsl_stats_quantile_from_sorted_data(cosine, 1, pairs, 0.99);
        CU_ASSERT_DOUBLE_EQUAL(column_of(&m, "true_p99"), p99, 0x1p-32 + hn_dot_bound(3));
        measured_free(&ctx, &m);
        drawn_free(&ctx, &d);
    }
    items.labels = own;
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Cosines of -1, 0 and (by rounding above) 1, and many that are equal.
static void true_p99_of_few_values(void) {
    struct hn_context ctx = context();
    enum { N = 50 };
    static const double turn[] = {M_PI, M_PI / 2, 0};
    int32_t label[N] = {0};
    double angle[N] = {0};
    float x[2 * N];
    for (int32_t i = 1; i < N; i++)
        label[i] = 1; // all true negatives are of item 0
    for (int k = 0; k < 3; k++) {
        angle[0] = turn[k];
        struct hn_items items = plane_items(x, angle, N, label);
        x[0] = k == 2 ? 1 + 0x1p-22F : x[0];
        struct drawn d = drawn_partition(&ctx, N, N, 1, 1);
        struct measured m = measure_all(&ctx, &items, &d, 0.5);
        CU_ASSERT_DOUBLE_EQUAL(column_of(&m, "true_p99"), cos(turn[k]), 0x1p-23);
        measured_free(&ctx, &m);
        drawn_free(&ctx, &d);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// More pairs than the small counters are let run to (2^26 per thread), most in a few bins: four
// directions, 60 % of the pairs at cosine 0.
static void many_pairs_are_counted(void) {
    struct hn_context ctx = context();
    ctx.threads = 1;
    enum { B = 2048, COUNT = 34 };
    static double angle[B];
    static float x[2 * B];
    for (int i = 0; i < B; i++)
        angle[i] = i % 5 < 3 ? 0 : i % 5 == 3 ? M_PI / 2 : M_PI / 3;
    struct hn_items items = plane_items(x, angle, B, NULL);
    struct drawn d = drawn_partition(&ctx, B, B, COUNT, 7);
    const struct hn_metric_type *hardness = hn_metric_find("hardness");
    struct hn_measure_spec spec = {
        .metrics = &hardness,
        .n_metrics = 1,
        .env = {
            .items = &items, .temperature = 0.5, .batch_size = B, .threads = 1, .batches = COUNT}};
    struct measured m = {0};
    HN_CHECK(&ctx, measure_into(&ctx, &spec, &d, &m));
    CU_ASSERT((int64_t)COUNT * B * (B - 1) / 2 > 1 << 26);
    // Shares of pairs: 0 with 0 .36 and the like .04 + .04 at 1, .24 at cos 90, .24 at cos 60, .08
    // at cos 30 degrees.
    double mean = 0.44 + 0.24 * 0.5 + 0.08 * sqrt(0.75);
    CU_ASSERT_DOUBLE_EQUAL(m.value[0], mean, 1e-3); // pairs within a direction are fewer by 1 / B
    CU_ASSERT_DOUBLE_EQUAL(m.value[1], sqrt(0.75), 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(m.value[2], 1, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(m.value[4], 1, 1e-6);
    CU_ASSERT(isnan(m.value[5]));
    measured_free(&ctx, &m);
    drawn_free(&ctx, &d);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"three_items_by_hand", three_items_by_hand},
    {"anchors_without_true_negatives_are_left_out", anchors_without_true_negatives_are_left_out},
    {"a_low_temperature_leaves_the_largest", a_low_temperature_leaves_the_largest},
    {"percentiles_are_within_a_bin", percentiles_are_within_a_bin},
    {"true_p99_of_few_values", true_p99_of_few_values},
    {"many_pairs_are_counted", many_pairs_are_counted},
};

HN_TEST_MAIN("hardness", tests)
