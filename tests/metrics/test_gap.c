// SPDX-License-Identifier: GPL-3.0-or-later
// The loss gap and its bounds: closed forms, limits, and inequalities for every single anchor.
#include "core/sweep/sinks.h"
#include "metrics/exp_sums.h"
#include "metrics/measure.h"
#include "metrics/pairs.h"
#include "tests/measured.h"

#include <stdio.h>

static const double temperatures[] = {0.003, 0.01, 0.05, 0.1, 0.5, 1};
enum { TEMPERATURES = sizeof temperatures / sizeof *temperatures };

static struct hn_context context(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    return ctx;
}

static void near(double got, double wanted, double tolerance) {
    if (!(fabs(got - wanted) <= tolerance))
        fprintf(stderr, "    %.15g, wanted %.15g\n", got, wanted);
    CU_ASSERT(fabs(got - wanted) <= tolerance);
}

// Items with the rows of x1 and x2 given; x is x1. Borrowed, unlabelled.
static struct hn_items view_items(int64_t n, int64_t d, const float *x1, const float *x2) {
    struct hn_matrix a = {x1, n, d, d}, b = {x2, n, d, d};
    return (struct hn_items){.n = n, .d = d, .x = a, .x1 = a, .x2 = b};
}

// A metric that hands each anchor of a batch to `gap` by itself, and keeps the worst of each.
enum { MIN_GAP, MIN_GAP_COLS, MIN_36, MIN_37, MIN_LOSS, MAX_PROB, ANCHORS, WORST };

static int place_in_gap(const char *name) {
    return column_place(name) - column_place("loss_global");
}

static void anchor_alone(void *state, const struct hn_metric_env *env, const struct hn_pairs *p,
                         int32_t a, int thread, double *value) {
    const struct hn_metric_type *gap = hn_metric_find("gap");
    int32_t times[64] = {0};
    double record[16] = {0};
    CU_ASSERT_FATAL(p->n <= 64 && gap->record_size <= 16);
    times[a] = 1;
    struct hn_pairs alone = *p;
    alone.times = times;
    gap->batch(state, env, &alone, thread, record);
    CU_ASSERT_EQUAL(gap->finish(NULL, state, env, record, 1, value, NULL), HN_OK);
}

static void worst_batch(void *state, const struct hn_metric_env *env, const struct hn_pairs *p,
                        int thread, double *record) {
    for (int32_t a = 0; a < p->n; a++) {
        double value[MEASURED_MAX];
        anchor_alone(state, env, p, a, thread, value);
        double gap = value[place_in_gap("gap")], now[WORST];
        now[MIN_GAP] = gap;
        now[MIN_GAP_COLS] = value[place_in_gap("gap_cols")];
        now[MIN_36] = value[place_in_gap("bound_36")] - gap;
        now[MIN_37] = value[place_in_gap("bound_37")] - gap;
        now[MIN_LOSS] = value[place_in_gap("loss_train")];
        now[MAX_PROB] = -value[place_in_gap("pos_prob")];
        for (int k = 0; k < ANCHORS; k++)
            record[k] = a == 0 || isnan(now[k]) ? now[k] : fmin(record[k], now[k]);
        record[ANCHORS]++;
    }
}

static enum hn_code worst_finish(struct hn_context *ctx, void *state,
                                 const struct hn_metric_env *env, const double *record,
                                 int64_t batches, double *value, struct hn_cell_arrays *arrays) {
    (void)ctx, (void)state, (void)env, (void)arrays;
    for (int64_t b = 0; b < batches; b++)
        for (int k = 0; k < WORST; k++) {
            double v = record[b * WORST + k];
            value[k] = b == 0 || isnan(v) ? v : k == ANCHORS ? value[k] + v : fmin(value[k], v);
        }
    return HN_OK;
}

static void check_every_anchor(struct hn_context *ctx, const struct hn_items *items,
                               const struct drawn *d, double tau) {
    static const struct hn_column columns[WORST];
    struct hn_metric_type type = *hn_metric_find("gap");
    type.columns = columns;
    type.n_columns = WORST;
    type.record_size = WORST;
    type.batch = worst_batch;
    type.finish = worst_finish;
    const struct hn_metric_type *const list[] = {&type};
    struct hn_global global;
    int64_t n_dot;
    HN_CHECK(ctx, hn_global_compute(ctx, items, &tau, 1, &global, &n_dot));
    struct hn_measure_spec spec = {.metrics = list,
                                   .n_metrics = 1,
                                   .env = {.items = items,
                                           .global = &global,
                                           .temperature = tau,
                                           .batch_size = d->batch_size,
                                           .threads = 1,
                                           .batches = d->count}};
    struct measured m = {0};
    HN_CHECK(ctx, measure_into(ctx, &spec, d, &m));
    // Rounding of double arithmetic on numbers up to 2 / tau; nothing for float products.
    double rounding = 8 * (2 / tau + log((double)items->n)) * 0x1p-52;
    CU_ASSERT(m.value[ANCHORS] >= d->count);
    CU_ASSERT(m.value[MIN_GAP] >= 0);
    CU_ASSERT(m.value[MIN_GAP_COLS] >= 0);
    CU_ASSERT(m.value[MIN_36] >= -rounding);
    CU_ASSERT(m.value[MIN_37] >= -rounding);
    CU_ASSERT(m.value[MIN_LOSS] >= -rounding);
    CU_ASSERT(-m.value[MAX_PROB] <= 1 + rounding);
    for (int k = 0; k < WORST; k++)
        CU_ASSERT(isfinite(m.value[k]));
    measured_free(ctx, &m);
    hn_global_free(ctx, &global);
}

static void bounds_hold_for_every_anchor(void) {
    struct hn_context ctx = context();
    for (int kind = 0; kind < 3; kind++) {
        struct hn_items items = hn_fixture_items(&ctx, 130, kind == 1 ? 3 : 48, 4, true, 31);
        struct drawn d = kind == 2 ? drawn_iid(&ctx, 130, 10, 20, 7)
                                   : drawn_partition(&ctx, 130, kind == 1 ? 64 : 16, 1, 7);
        for (int t = 0; t < TEMPERATURES; t++)
            check_every_anchor(&ctx, &items, &d, temperatures[t]);
        drawn_free(&ctx, &d);
        hn_fixture_items_free(&ctx, &items);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Three items, batches of two, in two dimensions: every combination of six directions.
static void bounds_hold_for_tiny_cases(void) {
    struct hn_context ctx = context();
    static const float direction[6][2] = {{1, 0},       {-1, 0},       {0, 1},
                                          {0.6F, 0.8F}, {0.6F, -0.8F}, {0.70710678F, 0.70710678F}};
    struct drawn d = drawn_empty(&ctx, 4, 2, 2);
    static const int32_t ids[8] = {0, 1, 2, 0, 1, 1, 2, 1};
    memcpy(d.ids, ids, sizeof ids);
    for (int code = 0; code < 6 * 6 * 6 * 6; code += 7) {
        float x1[6], x2[6];
        for (int i = 0, rest = code; i < 3; i++, rest /= 6) {
            memcpy(x1 + 2 * i, direction[rest % 6], sizeof direction[0]);
            memcpy(x2 + 2 * i, direction[(rest / 3 + i) % 6], sizeof direction[0]);
        }
        struct hn_items items = view_items(3, 2, x1, x2);
        check_every_anchor(&ctx, &items, &d, temperatures[code % TEMPERATURES]);
    }
    drawn_free(&ctx, &d);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// All rows the same, along a direction whose products round: every sum is its number of terms.
static void identical_items(void) {
    struct hn_context ctx = context();
    enum { N = 37, D = 29, B = 8 };
    static float x[N * D];
    float *one = hn_fixture_rows(&ctx, 1, D, 32);
    for (int i = 0; i < N; i++)
        memcpy(x + i * D, one, D * sizeof *one);
    struct hn_items items = view_items(N, D, x, x);
    struct drawn d = drawn_iid(&ctx, N, B, 10, 7);
    for (int32_t b = 0; b < d.count; b++)
        for (int32_t k = 0; k < B; k++)
            d.ids[b * B + k] = (b * 3 + k) % N;
    for (int t = 0; t < TEMPERATURES; t++) {
        double tau = temperatures[t], off = HN_LSE_ERROR + 2 * hn_dot_bound(D) / tau;
        check_every_anchor(&ctx, &items, &d, tau);
        struct measured m = measure_all(&ctx, &items, &d, tau);
        near(column_of(&m, "gap"), log((double)N / B), off);
        near(column_of(&m, "gap_cols"), log((double)N / B), off);
        near(column_of(&m, "bound_36"), log((double)N / B), off);
        near(column_of(&m, "bound_37"), log(N), off);
        near(column_of(&m, "loss_train"), log(B), off);
        near(column_of(&m, "loss_global"), log(N), off);
        near(column_of(&m, "pos_prob"), 1.0 / B, off);
        near(column_of(&m, "pos_prob_global"), 1.0 / N, off);
        measured_free(&ctx, &m);
    }
    drawn_free(&ctx, &d);
    hn_free(&ctx, one);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Orthonormal items, the second view `sign` times the first: s_ij is `sign` on the diagonal, else
// 0.
static void check_orthonormal(struct hn_context *ctx, double tau, double sign) {
    enum { N = 20, B = 5 };
    static float x1[N * N], x2[N * N];
    for (int i = 0; i < N * N; i++) {
        x1[i] = i / N == i % N;
        x2[i] = (float)sign * x1[i];
    }
    struct hn_items items = view_items(N, N, x1, x2);
    struct drawn d = drawn_partition(ctx, N, B, 1, 7);
    struct measured m = measure_all(ctx, &items, &d, tau);
    double high = fmax(sign, 0) / tau, pos = exp(sign / tau - high), neg = exp(-high);
    double train = high - sign / tau + log(pos + (B - 1) * neg);
    double global = high - sign / tau + log(pos + (N - 1) * neg), off = HN_LSE_ERROR + 1e-13 / tau;
    near(column_of(&m, "loss_train"), train, off);
    near(column_of(&m, "loss_global"), global, off);
    near(column_of(&m, "gap"), global - train, off);
    near(column_of(&m, "gap_cols"), global - train, off);
    near(column_of(&m, "pos_prob"), exp(-train), off);
    near(column_of(&m, "pos_prob_global"), exp(-global), off);
    near(column_of(&m, "bound_36"), 1 / tau + log((double)N / B), off);
    near(column_of(&m, "bound_37"), log(N), off);
    measured_free(ctx, &m);
    drawn_free(ctx, &d);
}

static void orthonormal_items(void) {
    struct hn_context ctx = context();
    for (int t = 0; t < TEMPERATURES; t++) {
        check_orthonormal(&ctx, temperatures[t], 1);
        check_orthonormal(&ctx, temperatures[t], -1);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void the_whole_set_has_no_gap(void) {
    struct hn_context ctx = context();
    struct hn_items items = hn_fixture_items(&ctx, 90, 40, 4, true, 33);
    struct drawn d = drawn_partition(&ctx, 90, 90, 2, 7);
    for (int t = 0; t < TEMPERATURES; t++) {
        double tau = temperatures[t], off = HN_LSE_ERROR + 2 * hn_dot_bound(40) / tau;
        struct measured m = measure_all(&ctx, &items, &d, tau);
        near(column_of(&m, "gap"), 0, off);
        near(column_of(&m, "gap_cols"), 0, off);
        near(column_of(&m, "bound_37"), log(90), off);
        near(column_of(&m, "loss_train"), column_of(&m, "loss_global"), off);
        near(column_of(&m, "pos_prob"), column_of(&m, "pos_prob_global"), off);
        measured_free(&ctx, &m);
    }
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// GC: for a partition the mean gap is the difference of the losses; short batches included.
static void a_partition_splits_the_loss(void) {
    struct hn_context ctx = context();
    struct hn_items items = hn_fixture_items(&ctx, 100, 24, 4, true, 34);
    struct drawn d = drawn_partition(&ctx, 100, 16, 3, 7);
    for (int t = 0; t < TEMPERATURES; t++) {
        // At the low ones a gap can be less than the rounding of float products, and is cut at 0.
        double tau = temperatures[t];
        double off = tau < 0.1 ? 2 * hn_dot_bound(24) / tau : 1e-12;
        struct measured m = measure_all(&ctx, &items, &d, tau);
        near(column_of(&m, "gap"), column_of(&m, "loss_global") - column_of(&m, "loss_train"), off);
        CU_ASSERT(column_of(&m, "gap") > 0.01);
        measured_free(&ctx, &m);
    }
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void exchanging_views_exchanges_gaps(void) {
    struct hn_context ctx = context();
    struct hn_items items = hn_fixture_items(&ctx, 100, 24, 4, true, 35), other = items;
    other.x1 = items.x2;
    other.x2 = items.x1;
    struct drawn d = drawn_partition(&ctx, 100, 16, 1, 7);
    struct measured m = measure_all(&ctx, &items, &d, 0.1);
    struct measured o = measure_all(&ctx, &other, &d, 0.1);
    near(column_of(&m, "gap"), column_of(&o, "gap_cols"), 1e-6);
    near(column_of(&m, "gap_cols"), column_of(&o, "gap"), 1e-6);
    CU_ASSERT(fabs(column_of(&m, "gap") - column_of(&o, "gap")) > 1e-4); // they do differ
    measured_free(&ctx, &m);
    measured_free(&ctx, &o);
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// An item drawn twice is an anchor twice, and a key once.
static void repeats_weigh_as_anchors(void) {
    struct hn_context ctx = context();
    struct hn_items items = hn_fixture_items(&ctx, 10, 6, 2, true, 36);
    struct drawn d = drawn_empty(&ctx, 1, 3, 1);
    double gap[3];
    static const int32_t ids[3][3] = {{4, 7, 0}, {4, 7, 4}, {4, 7, 7}};
    static const int32_t size[3] = {2, 3, 3};
    for (int k = 0; k < 3; k++) {
        memcpy(d.ids, ids[k], sizeof ids[k]);
        d.size[0] = size[k];
        struct measured m = measure_all(&ctx, &items, &d, 0.2);
        gap[k] = column_of(&m, "gap");
        measured_free(&ctx, &m);
    }
    // (a + b) / 2, (2 a + b) / 3, (a + 2 b) / 3
    near((gap[1] + gap[2]) / 2, gap[0], 1e-12);
    CU_ASSERT(fabs(gap[1] - gap[0]) > 1e-6);
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// The batch's products may lie above or below those of the sweep by what rounding allows.
static void last_bits_do_not_break_bounds(void) {
    struct hn_context ctx = context();
    enum { N = 4 };
    static const float x[2 * N] = {1, 0, 1, 0, 1, 0, 1, 0};
    static const int32_t id[N] = {0, 1, 2, 3}, none[N] = {-1, -1, -1, -1};
    struct hn_items items = view_items(N, 2, x, x);
    struct hn_global global;
    int64_t n_dot;
    double tau = 0.01, value[MEASURED_MAX];
    HN_CHECK(&ctx, hn_global_compute(&ctx, &items, &tau, 1, &global, &n_dot));
    struct hn_metric_env env = {.items = &items,
                                .global = &global,
                                .temperature = tau,
                                .batch_size = N,
                                .threads = 1,
                                .batches = 1};
    HN_SCOPE(&ctx);
    struct hn_exp_sums_space *sums = hn_exp_sums_open(&ctx, N, N, 1, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(sums);
    static const uint8_t kind[N * N];
    for (int sign = -1; sign <= 1; sign += 2) {
        float score[N * N];
        for (int k = 0; k < N * N; k++)
            score[k] = k / N == k % N ? 1 : 1 + (float)sign * 0x1p-22F;
        struct hn_pairs p = {.drawn = N,
                             .batch_size = N,
                             .n = N,
                             .id = id,
                             .label = none,
                             .kind = kind,
                             .score = score,
                             .sums = sums};
        hn_exp_sums_begin(sums);
        for (int32_t a = 0; a < N; a++) {
            anchor_alone(NULL, &env, &p, a, 0, value);
            double g = value[place_in_gap("gap")];
            CU_ASSERT(g >= 0 && g < 1e-4);
            CU_ASSERT(value[place_in_gap("bound_36")] >= g);
            CU_ASSERT(value[place_in_gap("bound_37")] >= g);
        }
    }
    hn_global_free(&ctx, &global);
}

static void global_agrees_with_definition(void) {
    struct hn_context ctx = context();
    enum { N = 60 };
    struct hn_items items = hn_fixture_items(&ctx, N, 16, 4, true, 37);
    struct hn_global g;
    int64_t n_dot;
    double tau = 0.07, off = hn_dot_bound(16);
    HN_CHECK(&ctx, hn_global_compute(&ctx, &items, &tau, 1, &g, &n_dot));
    CU_ASSERT_EQUAL(g.n, N);
    for (int64_t i = 0; i < N; i++) {
        double row = 0, col = 0, max = -2;
        for (int64_t j = 0; j < N; j++) {
            double s = hn_dot_exact(hn_row(&items.x1, i), hn_row(&items.x2, j), 16);
            max = fmax(max, s);
            row += exp((s - 1) / tau);
            col += exp((hn_dot_exact(hn_row(&items.x1, j), hn_row(&items.x2, i), 16) - 1) / tau);
        }
        near(g.lse_row[i], log(row) + 1 / tau, HN_LSE_ERROR + off / tau);
        near(g.lse_col[i], log(col) + 1 / tau, HN_LSE_ERROR + off / tau);
        near((double)g.max_row[i], max, off);
        CU_ASSERT_EQUAL(g.positive[i],
                        (float)hn_dot_exact(hn_row(&items.x1, i), hn_row(&items.x2, i), 16));
    }
    hn_global_free(&ctx, &g);
    CU_ASSERT(!g.lse_row && !g.positive);
    hn_global_free(&ctx, &g);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void impossible_settings_are_refused(void) {
    struct hn_context ctx = context();
    struct hn_items items = hn_fixture_items(&ctx, 10, 6, 2, true, 38);
    struct hn_global g;
    int64_t n_dot;
    static const double bad[] = {0, -0.5, 0.002, INFINITY, NAN};
    for (int k = 0; k < 5; k++) {
        HN_CHECK_FAILS(&ctx, hn_global_compute(&ctx, &items, &bad[k], 1, &g, &n_dot), HN_USAGE,
                       "temperature");
        CU_ASSERT(!g.lse_row && !g.lse_col && !g.max_row && !g.positive);
    }
    const float *x2 = items.x2.data;
    items.x2.data = NULL;
    HN_CHECK_FAILS(&ctx, hn_global_compute(&ctx, &items, &(double){0.5}, 1, &g, &n_dot),
                   HN_INTERNAL, "positive");
    items.x2.data = x2;
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"bounds_hold_for_every_anchor", bounds_hold_for_every_anchor},
    {"bounds_hold_for_tiny_cases", bounds_hold_for_tiny_cases},
    {"identical_items", identical_items},
    {"orthonormal_items", orthonormal_items},
    {"the_whole_set_has_no_gap", the_whole_set_has_no_gap},
    {"a_partition_splits_the_loss", a_partition_splits_the_loss},
    {"exchanging_views_exchanges_gaps", exchanging_views_exchanges_gaps},
    {"repeats_weigh_as_anchors", repeats_weigh_as_anchors},
    {"last_bits_do_not_break_bounds", last_bits_do_not_break_bounds},
    {"global_agrees_with_definition", global_agrees_with_definition},
    {"impossible_settings_are_refused", impossible_settings_are_refused},
};

HN_TEST_MAIN("gap", tests)
