// SPDX-License-Identifier: GPL-3.0-or-later
// Studies against naive versions in double, brute force, and what must hold for any data. Those of
// graphs have suites of their own.
#include "tests/metrics/studies/study_series.h"

// The training loss of the partition order[n], cut into batches of b (GC definition 3.2).
static double naive_loss(const struct hn_items *s, const int32_t *order, int64_t b, double tau) {
    double loss = 0;
    for (int64_t position = 0; position < s->n; position++) {
        int64_t first = position - position % b, i = order[position];
        double sum = 0, positive = studied_dot(&s->x1, i, &s->x2, i);
        for (int64_t k = first; k < hn_min(first + b, s->n); k++)
            sum += exp(studied_dot(&s->x1, i, &s->x2, order[k]) / tau);
        loss += (log(sum) - positive / tau) / (double)s->n;
    }
    return loss;
}

static double naive_global(const struct hn_items *s, double tau) {
    double loss = 0;
    for (int64_t i = 0; i < s->n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < s->n; j++)
            sum += exp(studied_dot(&s->x1, i, &s->x2, j) / tau);
        loss += (log(sum) - studied_dot(&s->x1, i, &s->x2, i) / tau) / (double)s->n;
    }
    return loss;
}

// Items 61 in batches of 8 and 16: the last batch is short. The same permutations, summed naively.
static void test_assignments_naive(void) {
    enum { COUNT = 9, ITEMS = 61 };
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct studied_series s = make_series(&ctx, ITEMS, 12, 4, true, 1);
    struct hn_study_env env = studied_env(&s, 1);
    struct hn_table table;
    HN_CHECK(&ctx, studied_run(&ctx, "random_assignments", "count=9", &env, &table));
    CU_ASSERT_EQUAL_FATAL(table.rows, 4);
    for (int64_t row = 0; row < 4; row++) {
        double loss[COUNT], tau = studied_temperature[row / 2];
        int64_t b = studied_batch_size[row % 2];
        for (int a = 0; a < COUNT; a++) {
            int32_t order[ITEMS];
            struct hn_stream stream;
            hn_stream_open(&stream, 11, "random_assignments", 0, 0, a);
            for (int32_t i = 0; i < ITEMS; i++)
                order[i] = i;
            hn_stream_shuffle(&stream, order, ITEMS);
            loss[a] = naive_loss(&s.step[0], order, b, tau);
        }
        double min, max, global = naive_global(&s.step[0], tau);
        gsl_stats_minmax(&min, &max, loss, 1, COUNT);
        CU_ASSERT_EQUAL(hn_table_real(&table, row, "batch_size"), (double)b);
        CU_ASSERT_EQUAL(hn_table_real(&table, row, "temperature"), tau);
        CU_ASSERT_EQUAL(hn_table_real(&table, row, "count"), COUNT);
        STUDIED_CLOSE(hn_table_real(&table, row, "loss_mean"), gsl_stats_mean(loss, 1, COUNT));
        CU_ASSERT_DOUBLE_EQUAL(hn_table_real(&table, row, "loss_sd"), gsl_stats_sd(loss, 1, COUNT),
                               1e-6);
        STUDIED_CLOSE(hn_table_real(&table, row, "loss_min"), min);
        STUDIED_CLOSE(hn_table_real(&table, row, "loss_max"), max);
        STUDIED_CLOSE(hn_table_real(&table, row, "loss_global"), global);
    }
    hn_table_free(&ctx, &table);
    free_series(&ctx, &s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// The next permutation in lexicographic order; false after the last.
static bool permute(int32_t *order, int n) {
    int i = n - 2, j = n - 1;
    while (i >= 0 && order[i] > order[i + 1])
        i--;
    if (i < 0)
        return false;
    while (order[j] < order[i])
        j--;
    int32_t swap = order[i];
    order[i] = order[j];
    order[j] = swap;
    for (i++, j = n - 1; i < j; i++, j--) {
        swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    return true;
}

// Mean, deviation and extremes over all partitions of seven items into batches of 3, 3 and 1.
static void test_assignments_brute_force(void) {
    enum { ITEMS = 7, COUNT = 4000, ALL = 5040 };
    static const int64_t three[] = {3};
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct studied_series s = make_series(&ctx, ITEMS, 6, 2, true, 1);
    struct hn_study_env env = studied_env(&s, 1);
    env.batch_size = three;
    env.n_batch_sizes = env.n_temperatures = 1;
    struct hn_table table;
    HN_CHECK(&ctx, studied_run(&ctx, "random_assignments", "count=4000", &env, &table));
    double *loss = malloc(ALL * sizeof *loss), min, max;
    CU_ASSERT_PTR_NOT_NULL_FATAL(loss);
    int32_t order[ITEMS] = {0, 1, 2, 3, 4, 5, 6};
    int n = 0;
    do
        loss[n++] = naive_loss(&s.step[0], order, 3, 0.5);
    while (permute(order, ITEMS));
    CU_ASSERT_EQUAL_FATAL(n, ALL);
    double mean = gsl_stats_mean(loss, 1, ALL), sd = gsl_stats_sd(loss, 1, ALL);
    gsl_stats_minmax(&min, &max, loss, 1, ALL);
    double error = fabs(hn_table_real(&table, 0, "loss_mean") - mean);
    CU_ASSERT(error < 3 * sd / sqrt(COUNT));
    CU_ASSERT_DOUBLE_EQUAL(hn_table_real(&table, 0, "loss_sd"), sd, 0.05 * sd);
    // 70 partitions, 4,000 draws: all of them come up.
    STUDIED_CLOSE(hn_table_real(&table, 0, "loss_min"), min);
    STUDIED_CLOSE(hn_table_real(&table, 0, "loss_max"), max);
    free(loss);
    hn_table_free(&ctx, &table);
    free_series(&ctx, &s);
}

// One batch of everything is the global loss, whatever the order.
static void test_assignments_one_batch(void) {
    static const int64_t all[] = {40};
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct studied_series s = make_series(&ctx, 40, 8, 3, true, 1);
    struct hn_study_env env = studied_env(&s, 1);
    env.batch_size = all;
    env.n_batch_sizes = 1;
    struct hn_table table;
    HN_CHECK(&ctx, studied_run(&ctx, "random_assignments", "count=5", &env, &table));
    for (int64_t row = 0; row < table.rows; row++) {
        CU_ASSERT_DOUBLE_EQUAL(hn_table_real(&table, row, "gap_mean"), 0, 1e-6);
        CU_ASSERT(hn_table_real(&table, row, "loss_sd") < 1e-12);
    }
    CU_ASSERT_EQUAL(table.rows, 2);
    hn_table_free(&ctx, &table);
    free_series(&ctx, &s);
}

// E over q_beta of e^(s / tau) over its maximum, the sums in long double and unshifted.
static double naive_ratio(const struct hn_items *s, int64_t a, double beta, double tau) {
    long double mass = 0, tilted = 0, max = 0;
    for (int64_t j = 0; j < s->n; j++) {
        if (s->labels[j] < 0 || s->labels[j] == s->labels[a])
            continue;
        long double e = expl((long double)(studied_dot(&s->x, a, &s->x, j) / tau));
        long double weight = powl(e, (long double)beta);
        mass += weight;
        tilted += weight * e;
        max = e > max ? e : max;
    }
    return (double)(tilted / mass / max);
}

static void test_prop3(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct studied_series s = make_series(&ctx, 60, 10, 3, false, 1);
    ((int32_t *)s.step[0].labels)[7] = -1; // no anchor, and no one's negative
    struct hn_study_env env = studied_env(&s, 1);
    struct hn_table table;
    HN_CHECK(&ctx, studied_run(&ctx, "prop3", "anchors=all", &env, &table));
    CU_ASSERT_EQUAL_FATAL(table.rows, 20);
    double before = 0;
    for (int64_t row = 0; row < table.rows; row++) {
        double beta = hn_table_real(&table, row, "beta"), mean = 0, min = 1;
        double tau = hn_table_real(&table, row, "temperature");
        for (int64_t a = 0; a < 60; a++) {
            double ratio = a == 7 ? 1 : naive_ratio(&s.step[0], a, beta, tau);
            mean += a == 7 ? 0 : ratio / 59;
            min = fmin(min, ratio);
        }
        STUDIED_CLOSE(hn_table_real(&table, row, "ratio"), mean);
        STUDIED_CLOSE(hn_table_real(&table, row, "ratio_min"), min);
        CU_ASSERT_EQUAL(hn_table_real(&table, row, "anchors"), 59);
        CU_ASSERT(mean <= 1 + 1e-12);
        if (row % 10 == 0) {
            CU_ASSERT(isnan(hn_table_real(&table, row, "rising")));
        } else {
            CU_ASSERT_EQUAL(hn_table_real(&table, row, "rising"), 1);
            CU_ASSERT(hn_table_real(&table, row, "ratio") > before);
        }
        before = hn_table_real(&table, row, "ratio");
        double cosine = hn_table_real(&table, row, "cos_mean");
        CU_ASSERT(cosine <= hn_table_real(&table, row, "cos_max"));
        CU_ASSERT(hn_table_real(&table, row, "expectation") <= hn_table_real(&table, row, "worst"));
    }
    hn_table_free(&ctx, &table);
    free_series(&ctx, &s);
}

// A sample of the anchors estimates the mean over all of them; one class has no true negatives.
static void test_prop3_sample(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct studied_series s = make_series(&ctx, 400, 10, 3, false, 1);
    struct hn_study_env env = studied_env(&s, 1);
    env.n_temperatures = 1;
    struct hn_table all, some;
    HN_CHECK(&ctx, studied_run(&ctx, "prop3", "anchors=all", &env, &all));
    HN_CHECK(&ctx, studied_run(&ctx, "prop3", "anchors=100", &env, &some));
    for (int64_t row = 0; row < all.rows; row++) {
        double half =
            (hn_table_real(&some, row, "ratio_hi") - hn_table_real(&some, row, "ratio_lo"));
        double off = hn_table_real(&some, row, "ratio") - hn_table_real(&all, row, "ratio");
        CU_ASSERT_EQUAL(hn_table_real(&some, row, "anchors"), 100);
        CU_ASSERT(fabs(off) < half * 3 / 3.92); // three standard errors
    }
    hn_table_free(&ctx, &all);
    hn_table_free(&ctx, &some);
    for (int64_t i = 0; i < 400; i++)
        ((int32_t *)s.step[0].labels)[i] = 0;
    HN_CHECK_FAILS(&ctx, studied_run(&ctx, "prop3", "", &env, &all), HN_NOT_APPLICABLE,
                   "labels of two classes");
    hn_table_free(&ctx, &all);
    free_series(&ctx, &s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Counts of a histogram's kind, by definition.
static void naive_histogram(const struct hn_items *s, const char *kind, bool views, int64_t bins,
                            double *count) {
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < s->n; j++) {
            const char *own = s->labels[i] < 0 || s->labels[j] < 0 ? "unlabelled"
                              : s->labels[i] == s->labels[j]       ? "false_negative"
                                                                   : "true_negative";
            if (i == j)
                own = "positive";
            double c = views ? studied_dot(&s->x1, i, &s->x2, j) : studied_dot(&s->x, i, &s->x, j);
            if (strcmp(own, kind) == 0)
                count[hn_cosine_bin((float)c, bins)]++;
        }
}

static void test_histogram(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    for (int views = 0; views < 2; views++) {
        struct studied_series s = make_series(&ctx, 80, 10, 3, views > 0, 1);
        struct hn_study_env env = studied_env(&s, 1);
        struct hn_table table;
        ((int32_t *)s.step[0].labels)[7] = -1;
        HN_CHECK(&ctx, studied_run(&ctx, "global_histogram", "bins=10", &env, &table));
        CU_ASSERT_EQUAL_FATAL(table.rows, 10 * (3 + views)); // without views no positives
        double pairs = 0;
        for (int64_t row = 0; row < table.rows; row++) {
            double count[10] = {0};
            naive_histogram(&s.step[0], hn_table_text(&table, row, "kind"), views, 10, count);
            // A product at the edge of a bin may fall to either side.
            CU_ASSERT_DOUBLE_EQUAL(hn_table_real(&table, row, "count"), count[row % 10], 1);
            CU_ASSERT_DOUBLE_EQUAL(hn_table_real(&table, row, "bin_lo"),
                                   -1 + 0.2 * (double)(row % 10), 1e-12);
            pairs += hn_table_real(&table, row, "count");
        }
        CU_ASSERT_EQUAL(pairs, 80 * (79 + views));
        hn_table_free(&ctx, &table);
        free_series(&ctx, &s);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

enum { H_ITEMS = 62, H_SIZE = 5 };

// Order of the items in the heat map: the batches of a sampler, or the stream.
static void find_order(struct hn_context *ctx, const struct hn_items *s, const char *kind,
                       int32_t *order) {
    for (int32_t i = 0; i < H_ITEMS; i++)
        order[i] = i;
    struct hn_stream stream;
    hn_stream_open(&stream, 11, "heatmap.random", 0, 0, 0);
    if (strcmp(kind, "random") == 0)
        hn_stream_shuffle(&stream, order, H_ITEMS);
    if (strcmp(kind, "gcbs") != 0)
        return;
    const struct hn_sampler_type *type = hn_sampler_find("gcbs");
    struct hn_sampler sampler;
    int32_t size[8];
    struct hn_batches out = {.count = 8, .batch_size = 8, .size = size, .ids = order};
    int64_t batches;
    void *params = hn_zalloc(ctx, 1, type->params_size);
    HN_CHECK(ctx, hn_options_init(ctx, type->options, params));
    HN_CHECK(ctx, hn_options_set(ctx, type->options, params, "quantile", "0.9"));
    HN_CHECK(ctx, hn_sampler_open(ctx, type, params, H_ITEMS, 8, 11, &sampler));
    HN_CHECK(ctx, hn_sampler_build(ctx, &sampler, s, 0));
    HN_CHECK(ctx, hn_sampler_epoch(ctx, &sampler, s, 0, &batches));
    CU_ASSERT_EQUAL_FATAL(batches, 8);
    HN_CHECK(ctx, hn_sampler_next(ctx, &sampler, &out));
    hn_sampler_close(ctx, &sampler);
    hn_options_free(ctx, type->options, params);
    hn_free(ctx, params);
}

// A cell of the heat map, and the share of the large entries in the blocks, pair by pair.
static void naive_cell(const struct hn_items *s, const int32_t *order, int64_t row, int64_t col,
                       double threshold, double out[3]) {
    double entries = 0, sum = 0, top = 0, all = 0, inside = 0;
    for (int64_t a = 0; a < H_ITEMS; a++)
        for (int64_t b = 0; b < H_ITEMS; b++) {
            double c = studied_dot(&s->x1, order[a], &s->x2, order[b]);
            if (a == b)
                continue;
            all += c >= threshold;
            inside += c >= threshold && a / 8 == b / 8;
            if (a * H_SIZE / H_ITEMS != row || b * H_SIZE / H_ITEMS != col)
                continue;
            entries++;
            sum += c;
            top += c >= threshold;
        }
    out[0] = sum / entries;
    out[1] = top / entries;
    out[2] = inside / all;
}

static void test_heatmap(void) {
    static const char *const kinds[] = {"file", "random", "gcbs"};
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct studied_series s = make_series(&ctx, H_ITEMS, 10, 3, true, 1);
    struct hn_study_env env = studied_env(&s, 1);
    struct hn_table table;
    int32_t order[H_ITEMS + 8];
    double share[3], out[3];
    HN_CHECK(&ctx, studied_run(&ctx, "heatmap", "size=5 quantile=0.9", &env, &table));
    CU_ASSERT_EQUAL_FATAL(table.rows, 3 * H_SIZE * H_SIZE);
    for (int64_t r = 0; r < table.rows; r++) {
        int64_t o = r / (H_SIZE * H_SIZE), row = r / H_SIZE % H_SIZE, col = r % H_SIZE;
        CU_ASSERT_STRING_EQUAL(hn_table_text(&table, r, "order"), kinds[o]);
        CU_ASSERT_EQUAL(hn_table_real(&table, r, "cell_row"), (double)row);
        CU_ASSERT_EQUAL(hn_table_real(&table, r, "cell_col"), (double)col);
        find_order(&ctx, &s.step[0], kinds[o], order);
        naive_cell(&s.step[0], order, row, col, hn_table_real(&table, r, "threshold"), out);
        CU_ASSERT_DOUBLE_EQUAL(hn_table_real(&table, r, "mean"), out[0], 1e-7);
        STUDIED_CLOSE(hn_table_real(&table, r, "top_share"), out[1]);
        STUDIED_CLOSE(hn_table_real(&table, r, "blocks_share"), out[2]);
        share[o] = out[2];
    }
    // A tenth of all pairs, no more; and GCBS gathers them.
    int64_t reached = 0;
    for (int64_t i = 0; i < H_ITEMS; i++)
        for (int64_t j = 0; j < H_ITEMS; j++)
            reached += i != j && studied_dot(&s.step[0].x1, i, &s.step[0].x2, j) >=
                                     hn_table_real(&table, 0, "threshold");
    CU_ASSERT(reached <= 378 && reached >= 376);
    CU_ASSERT(share[2] > share[0] && share[2] > share[1]);
    hn_table_free(&ctx, &table);
    HN_CHECK_FAILS(&ctx, studied_run(&ctx, "heatmap", "size=63", &env, &table), HN_USAGE,
                   "size = 63 cells are more than the 62 items: lower it");
    free_series(&ctx, &s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"random assignments, naively", test_assignments_naive},
    {"random assignments, all partitions", test_assignments_brute_force},
    {"random assignments, one batch", test_assignments_one_batch},
    {"prop3, naively", test_prop3},
    {"prop3, a sample", test_prop3_sample},
    {"histograms", test_histogram},
    {"heat map", test_heatmap},
};
HN_TEST_MAIN("study", tests)
