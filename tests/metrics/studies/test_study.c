// Studies against naive versions in double, brute force, and what must hold for any data. Those of
// graphs have a suite of their own, test_study_graphs.c.
#include "core/random.h"
#include "core/stats.h"
#include "samplers/sampler.h"
#include "tests/studied.h"

#include <gsl/gsl_statistics_double.h>
#include <stdlib.h>

// The training loss of the partition order[n], cut into batches of b (GC definition 3.2).
static double naive_loss(const struct hn_items *s, const int32_t *order, int64_t b, double tau) {
    double loss = 0;
    for (int64_t place = 0; place < s->n; place++) {
        int64_t first = place - place % b, i = order[place];
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

static struct studied_series make_series(struct hn_context *ctx, int64_t n, int64_t d, int classes,
                                         bool views, int steps) {
    struct studied_series s = {0};
    for (int i = 0; i < steps; i++) {
        s.step[i] = hn_fixture_items(ctx, n, d, classes, views, 100 + (uint64_t)i);
        s.step[i].step = 10 * i;
    }
    return s;
}

static void free_series(struct hn_context *ctx, struct studied_series *s) {
    for (int i = 0; i < 4; i++)
        hn_fixture_items_free(ctx, &s->step[i]);
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
    long double mass = 0, tilted = 0, most = 0;
    for (int64_t j = 0; j < s->n; j++) {
        if (s->labels[j] < 0 || s->labels[j] == s->labels[a])
            continue;
        long double e = expl((long double)(studied_dot(&s->x, a, &s->x, j) / tau));
        long double weight = powl(e, (long double)beta);
        mass += weight;
        tilted += weight * e;
        most = e > most ? e : most;
    }
    return (double)(tilted / mass / most);
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
        double beta = hn_table_real(&table, row, "beta"), mean = 0, least = 1;
        double tau = hn_table_real(&table, row, "temperature");
        for (int64_t a = 0; a < 60; a++) {
            double ratio = a == 7 ? 1 : naive_ratio(&s.step[0], a, beta, tau);
            mean += a == 7 ? 0 : ratio / 59;
            least = fmin(least, ratio);
        }
        STUDIED_CLOSE(hn_table_real(&table, row, "ratio"), mean);
        STUDIED_CLOSE(hn_table_real(&table, row, "ratio_min"), least);
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

// Settings that suit few items, where the defaults of a study do not.
static const char *small_settings(const char *name) {
    static const struct {
        const char *name, *settings;
    } known[] = {
        {"random_assignments", "count=40"},  {"prop1", "M=20 K=4 graphs=2 points=4"},
        {"prop2", "M=20 K=4 sweeps=2"},      {"prop3", "anchors=20"},
        {"staleness", "M=20 K=4 batches=9"}, {"purity", "M=20 K=4 item=3"},
        {"heatmap", "size=5 quantile=0.9"},  {"global_histogram", "bins=20"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].settings;
    return "";
}

static bool same_cells(const struct hn_table *a, const struct hn_table *b) {
    if (a->rows != b->rows || a->n_columns != b->n_columns || a->rows == 0)
        return false;
    for (int c = 0; c < a->n_columns; c++)
        for (int64_t r = 0; r < a->rows; r++) {
            const union hn_cells *x = &a->cells[c], *y = &b->cells[c];
            if (a->column[c].kind == HN_COLUMN_TEXT ? strcmp(x->text[r], y->text[r]) != 0
                                                    : memcmp(&x->count[r], &y->count[r], 8) != 0)
                return false;
        }
    return true;
}

static void test_threads(void) {
    struct hn_context one, three;
    hn_context_init(&one, 1);
    hn_context_init(&three, 3);
    struct studied_series s = make_series(&one, 150, 12, 4, true, 2);
    struct hn_study_env env = studied_env(&s, 2);
    for (int i = 0; hn_studies[i]; i++) {
        hn_test_entry(hn_studies[i]->name);
        struct hn_table a, b;
        const char *settings = small_settings(hn_studies[i]->name);
        HN_CHECK(&one, studied_run(&one, hn_studies[i]->name, settings, &env, &a));
        HN_CHECK(&three, studied_run(&three, hn_studies[i]->name, settings, &env, &b));
        CU_ASSERT(same_cells(&a, &b));
        hn_table_free(&one, &a);
        hn_table_free(&three, &b);
    }
    free_series(&one, &s);
    CU_ASSERT_EQUAL(three.memory.live, 0);
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
    struct hn_batches out = {0, 8, 8, size, order, 0, NULL, NULL};
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
                   "size = 63 cells are more than the 62 items");
    free_series(&ctx, &s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static bool draws(const char *name) {
    static const char *const known[] = {"random_assignments", "prop1",  "prop2",  "prop3",
                                        "staleness",          "purity", "heatmap"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i], name) == 0)
            return true;
    return false;
}

// Another seed gives other numbers wherever something is drawn.
static void test_seed_matters(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct studied_series s = make_series(&ctx, 150, 12, 4, true, 2);
    struct hn_study_env env = studied_env(&s, 2);
    static const int64_t other[] = {13, 14};
    for (int i = 0; hn_studies[i]; i++) {
        hn_test_entry(hn_studies[i]->name);
        struct hn_table a, b;
        const char *settings = small_settings(hn_studies[i]->name);
        env.seed = studied_seed;
        HN_CHECK(&ctx, studied_run(&ctx, hn_studies[i]->name, settings, &env, &a));
        env.seed = other;
        HN_CHECK(&ctx, studied_run(&ctx, hn_studies[i]->name, settings, &env, &b));
        if (draws(hn_studies[i]->name))
            CU_ASSERT(!same_cells(&a, &b));
        if (hn_studies[i] == hn_study_find("global_histogram"))
            CU_ASSERT(same_cells(&a, &b));
        hn_table_free(&ctx, &a);
        hn_table_free(&ctx, &b);
    }
    free_series(&ctx, &s);
}

static void test_out_of_memory(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct studied_series s = make_series(&ctx, 40, 8, 3, true, 2);
    struct hn_study_env env = studied_env(&s, 2);
    env.n_temperatures = env.n_batch_sizes = env.n_seeds = 1;
    int64_t live = ctx.memory.live;
    for (int i = 0; hn_studies[i]; i++) {
        hn_test_entry(hn_studies[i]->name);
        const char *settings = small_settings(hn_studies[i]->name);
        enum hn_code code = HN_MEMORY;
        int64_t k = 0;
        for (; code != HN_OK && k < 3000; k++) {
            struct hn_table table;
            ctx.memory.calls = 0;
            ctx.memory.fail_at = k + 1;
            code = studied_run(&ctx, hn_studies[i]->name, settings, &env, &table);
            CU_ASSERT(code == HN_OK || code == HN_MEMORY);
            hn_table_free(&ctx, &table);
            CU_ASSERT_EQUAL(ctx.memory.live, live);
        }
        CU_ASSERT_EQUAL(code, HN_OK);
        CU_ASSERT(k > 3);
        ctx.memory.fail_at = 0;
    }
    free_series(&ctx, &s);
}

static void test_interrupted(void) {
    static const volatile sig_atomic_t stop = 1;
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct studied_series s = make_series(&ctx, 40, 8, 3, true, 2);
    struct hn_study_env env = studied_env(&s, 2);
    ctx.stop = &stop;
    for (int i = 0; hn_studies[i]; i++) {
        hn_test_entry(hn_studies[i]->name);
        struct hn_table table;
        const char *settings = small_settings(hn_studies[i]->name);
        CU_ASSERT_EQUAL(studied_run(&ctx, hn_studies[i]->name, settings, &env, &table),
                        HN_INTERRUPTED);
        hn_table_free(&ctx, &table);
    }
    free_series(&ctx, &s);
}

static const struct hn_test tests[] = {
    {"random assignments, naively", test_assignments_naive},
    {"random assignments, all partitions", test_assignments_brute_force},
    {"random assignments, one batch", test_assignments_one_batch},
    {"prop3, naively", test_prop3},
    {"prop3, a sample", test_prop3_sample},
    {"histograms", test_histogram},
    {"heat map", test_heatmap},
    {"every study, any number of threads", test_threads},
    {"every study, the seed matters", test_seed_matters},
    {"every study, out of memory", test_out_of_memory},
    {"every study, interrupted", test_interrupted},
};
HN_TEST_MAIN("study", tests)
