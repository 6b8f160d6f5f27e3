// SPDX-License-Identifier: GPL-3.0-or-later
// Metrics of batches on data with known answers: false-negative ratio, coverage, bins of cosines.
#include "metrics/measure.h"
#include "tests/metrics/compared.h"

// Rows on a grid of directions: many products lie on or beside the edges of bins.
static void bins_are_exact_at_their_edges(void) {
    struct hn_context ctx = context();
    enum { N = 60, D = 40 };
    struct hn_items items = hn_fixture_items(&ctx, N, D, 3, true, 14);
    float *x = (float *)items.x.data;
    for (int32_t i = 0; i < N * D; i++)
        x[i] = i / D == i % D % 7 || (i % D) % 5 == (i / D) % 5 ? 1.0F : 0.0F;
    HN_CHECK(&ctx, hn_normalize_rows(&ctx, x, N, D, "grid"));
    struct drawn d = drawn_partition(&ctx, N, 30, 1, 5);
    compare_with_oracle(&ctx, &items, &d, 0.5);
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Rows of 25 entries +-0.2: every product lies beside an edge, many on its other side in float.
static void bins_do_not_depend_on_float_products(void) {
    struct hn_context ctx = context();
    enum { N = 200, D = 64 };
    struct hn_items items = hn_fixture_items(&ctx, N, D, 3, false, 23);
    for (int64_t i = 0; i < N; i++) {
        float *row = (float *)items.x.data + i * D;
        for (int64_t k = 0; k < D; k++)
            row[k] = (k * 5 + i * 11) % D < 25 ? copysignf(0.2F, row[k]) : 0;
    }
    struct drawn d = drawn_partition(&ctx, N, N, 1, 5);
    struct measured m = measure_all(&ctx, &items, &d, 0.5);
    uint64_t count[HN_PAIR_KINDS * HN_HISTOGRAM_BINS] = {0};
    int64_t moved = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < i; j++) {
            const float *x = hn_row(&items.x, i), *y = hn_row(&items.x, j);
            int64_t bin = hn_cosine_bin((float)hn_dot_exact(x, y, D), HN_HISTOGRAM_BINS);
            moved += bin != hn_cosine_bin(hn_dot(x, y, D), HN_HISTOGRAM_BINS);
            bool same = items.labels[i] == items.labels[j];
            count[(same ? HN_PAIR_FALSE_NEGATIVE : HN_PAIR_TRUE_NEGATIVE) * HN_HISTOGRAM_BINS +
                  bin]++;
        }
    CU_ASSERT(moved > 0);
    CU_ASSERT_EQUAL(memcmp(m.arrays.histogram, count, sizeof count), 0);
    measured_free(&ctx, &m);
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Uniform batches: sum_c n_c (n_c - 1) / (N (N - 1)), within three standard errors.
static void uniform_batches_meet_expectation(void) {
    struct hn_context ctx = context();
    enum { N = 600, CLASSES = 5 };
    struct hn_items items = hn_fixture_items(&ctx, N, 4, CLASSES, false, 16);
    for (int32_t i = 0; i < N / 3; i++)
        ((int32_t *)items.labels)[i] = 0; // classes of unequal size
    double same = 0, count[CLASSES] = {0};
    for (int32_t i = 0; i < N; i++)
        count[items.labels[i]]++;
    for (int c = 0; c < CLASSES; c++)
        same += count[c] * (count[c] - 1);
    double wanted = same / (N * (N - 1.0));
    struct drawn d = drawn_partition(&ctx, N, 20, 10, 17);
    struct measured m = measure_all(&ctx, &items, &d, 0.5);
    double ratio = column_of(&m, "fn_ratio");
    double error = gsl_stats_sd(m.arrays.batch_fn_ratio, 1, (size_t)d.count) / sqrt(d.count);
    CU_ASSERT(fabs(ratio - wanted) < 3 * error);
    CU_ASSERT(error < 0.01);
    // The batches are of one size, so that the ratio is the mean of theirs, with its interval
    // (tests/core/test_stats.c has its numbers); 300 of them: Student's t is 1.968, skewness aside.
    double ones[400];
    CU_ASSERT_FATAL(d.count <= 400);
    for (int32_t b = 0; b < d.count; b++)
        ones[b] = 1;
    struct hn_interval wished = hn_ratio_interval(m.arrays.batch_fn_ratio, ones, 1, d.count, 0.95);
    double lo = column_of(&m, "fn_ratio_lo"), hi = column_of(&m, "fn_ratio_hi");
    CU_ASSERT_DOUBLE_EQUAL(lo, wished.lo, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(hi, wished.hi, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL((hi - lo) / 2, 1.968 * error, 0.02 * error);
    measured_free(&ctx, &m);
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// The start item's batch is pure, the others are not: fn_start is 1, fn_ratio is not.
static void start_and_ratio_differ(void) {
    struct hn_context ctx = context();
    struct hn_items items = hn_fixture_items(&ctx, 12, 4, 4, false, 18); // label i % 4
    struct drawn d = drawn_empty(&ctx, 2, 5, 2);
    static const int32_t ids[10] = {0, 4, 8, 1, 5, /* start item unlabelled: */ 3, 2, 6, 10, 7};
    memcpy(d.ids, ids, sizeof ids);
    ((int32_t *)items.labels)[3] = -1;
    struct measured m = measure_all(&ctx, &items, &d, 0.5);
    expect(&m, "fn_start", 0.5, 1e-15);
    expect(&m, "fn_ratio", (6.0 + 2.0 + 6.0) / (20.0 + 12.0), 1e-15);
    CU_ASSERT_EQUAL(m.arrays.batch_fn_ratio[0], 8.0 / 20);
    CU_ASSERT_EQUAL(m.arrays.batch_fn_ratio[1], 6.0 / 12);
    measured_free(&ctx, &m);
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// A batch that is one item over and over has no pair; the cell's other batch has.
static void a_batch_of_one_item(void) {
    struct hn_context ctx = context();
    struct hn_items items = hn_fixture_items(&ctx, 12, 4, 4, true, 19);
    struct drawn d = drawn_empty(&ctx, 2, 4, 2);
    static const int32_t ids[8] = {5, 5, 5, 5, 0, 1, 4, 1};
    memcpy(d.ids, ids, sizeof ids);
    struct measured m = measure_all(&ctx, &items, &d, 0.5);
    CU_ASSERT(isnan(m.arrays.batch_fn_ratio[0]) && isnan(m.arrays.batch_cos_mean[0]));
    CU_ASSERT_EQUAL(m.arrays.batch_fn_ratio[1], 2.0 / 6);
    expect(&m, "fn_ratio", 2.0 / 6, 1e-15);
    expect(&m, "fn_start", 0.5, 1e-15);
    expect(&m, "duplicates", 4, 0);
    uint64_t positives = 0, pairs = 0;
    for (int64_t k = 0; k < HN_HISTOGRAM_BINS; k++) {
        positives += m.arrays.histogram[HN_PAIR_POSITIVE * HN_HISTOGRAM_BINS + k];
        pairs += m.arrays.histogram[HN_PAIR_TRUE_NEGATIVE * HN_HISTOGRAM_BINS + k] +
                 m.arrays.histogram[HN_PAIR_FALSE_NEGATIVE * HN_HISTOGRAM_BINS + k];
    }
    CU_ASSERT_EQUAL(positives, 4);
    CU_ASSERT_EQUAL(pairs, 3);
    measured_free(&ctx, &m);
    d.count = 1; // and a cell of that batch alone
    m = measure_all(&ctx, &items, &d, 0.5);
    CU_ASSERT(isnan(column_of(&m, "fn_ratio")) && isnan(column_of(&m, "fn_start")));
    CU_ASSERT(isnan(column_of(&m, "cos_p50")) && isnan(column_of(&m, "hardest_mean")));
    CU_ASSERT(isnan(column_of(&m, "pairs_distinct")));
    expect(&m, "loss_train", 0, 1e-12); // the positive is the only key
    expect(&m, "pos_prob", 1, 1e-12);
    measured_free(&ctx, &m);
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void coverage_counts(void) {
    struct hn_context ctx = context();
    struct hn_items items = hn_fixture_items(&ctx, 8, 4, 4, false, 20);
    struct drawn d = drawn_empty(&ctx, 4, 4, 2);
    static const int32_t ids[16] = {0, 1, 2, 3, 3, 2, 1, 0, 4, 5, 4, 99, 1, 4, 0, 5};
    memcpy(d.ids, ids, sizeof ids);
    d.size[2] = 3;
    struct measured m = measure_all(&ctx, &items, &d, 0.5);
    expect(&m, "coverage", 0.5, 0);
    expect(&m, "duplicates", 1, 0);
    expect(&m, "duplicate_batches", 1, 0);
    expect(&m, "short_batches", 1, 0);
    expect(&m, "pairs_distinct", (6 + 1 + 4) / 19.0, 1e-15);
    double visits[8] = {3, 3, 2, 2, 3, 2, 0, 0};
    double deviation = sqrt(gsl_stats_tss(visits, 1, 8) / 8);
    expect(&m, "visits_cv", deviation / (15.0 / 8), 1e-15);
    measured_free(&ctx, &m);
    d.count = 1; // half of an epoch says nothing about an epoch
    m = measure_all(&ctx, &items, &d, 0.5);
    CU_ASSERT(isnan(column_of(&m, "coverage")));
    measured_free(&ctx, &m);
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    items = hn_fixture_items(&ctx, 2, 4, 1, false, 20); // one pair in all
    d = drawn_partition(&ctx, 2, 2, 1, 5);
    m = measure_all(&ctx, &items, &d, 0.5);
    expect(&m, "pairs_distinct", 1, 0);
    measured_free(&ctx, &m);
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// A sampler whose epoch has more batches than ceil(n / batch_size).
static void long_epochs_are_awaited(void) {
    struct hn_context ctx = context();
    struct hn_items items = hn_fixture_items(&ctx, 8, 4, 4, false, 21);
    struct drawn d = drawn_partition(&ctx, 8, 4, 2, 5);
    d.per_epoch = 4;
    const struct hn_metric_type *const list[] = {hn_metric_find("coverage")};
    for (int64_t epoch = 4; epoch <= 5; epoch++) {
        struct hn_measure_spec spec = {.metrics = list,
                                       .n_metrics = 1,
                                       .env = {.items = &items,
                                               .temperature = 0.5,
                                               .batch_size = 4,
                                               .threads = 1,
                                               .batches = 4,
                                               .epoch_batches = epoch}};
        struct measured m = {0};
        HN_CHECK(&ctx, measure_into(&ctx, &spec, &d, &m));
        CU_ASSERT_EQUAL(isnan(m.value[0]), epoch == 5);
        CU_ASSERT_PTR_NULL(m.arrays.histogram);
        measured_free(&ctx, &m);
    }
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"bins_are_exact_at_their_edges", bins_are_exact_at_their_edges},
    {"bins_do_not_depend_on_float_products", bins_do_not_depend_on_float_products},
    {"uniform_batches_meet_expectation", uniform_batches_meet_expectation},
    {"start_and_ratio_differ", start_and_ratio_differ},
    {"a_batch_of_one_item", a_batch_of_one_item},
    {"coverage_counts", coverage_counts},
    {"long_epochs_are_awaited", long_epochs_are_awaited},
};

HN_TEST_MAIN("batch_metrics", tests)
