// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers of a run beside its loss: values at step 0 that runs share, the loss expected of an
// epoch, histograms of cosines.
#include "tests/training_fixture.h"
#include "training/loop_private.h"

// Values at step 0 that another run left are taken, and are those that a run would have found.
static void test_untrained(void) {
    enum { COLUMNS_MAX = 32 };
    struct hn_untrained shared;
    struct trial *own = open_trial(1, "encoder=mean", "uniform", "");
    struct trial *t = open_trial(1, "encoder=mean", "uniform", "");
    double value[COLUMNS_MAX] = {0};
    int n = t->spec.task->n_columns;
    CU_ASSERT_FATAL(n > 0 && n <= COLUMNS_MAX);
    HN_CHECK(&t->ctx, hn_untrained_open(&t->ctx, 2, &shared));
    t->spec.untrained = &shared;
    t->spec.untrained_key = "mean, seed 3";
    HN_CHECK(&own->ctx, train(own));
    for (int again = 0; again < 2; again++) {
        CU_ASSERT_EQUAL(hn_untrained_find(&shared, "mean, seed 3", n, value), again);
        HN_CHECK(&t->ctx, train(t));
        check_same(&own->table, &t->table);
    }
    CU_ASSERT_EQUAL(value[0], hn_table_real(&own->table, 0, t->spec.task->columns[0].name));
    CU_ASSERT(!hn_untrained_find(&shared, "mean, seed 4", n, value));
    CU_ASSERT(!hn_untrained_find(&shared, "mean, seed 3", n + 1, value));
    CU_ASSERT(!hn_untrained_find(NULL, "mean, seed 3", n, value));
    value[0] = 42;
    t->spec.untrained_key = "left by another";
    hn_untrained_keep(&shared, "left by another", n, value);
    HN_CHECK(&t->ctx, train(t));
    CU_ASSERT_EQUAL(hn_table_real(&t->table, 0, t->spec.task->columns[0].name), 42);
    hn_untrained_keep(&shared, "one too many", n, value);
    CU_ASSERT(!hn_untrained_find(&shared, "one too many", n, value));
    hn_untrained_close(&shared);
    close_trial(own);
    close_trial(t);
}

static int evaluations;

static enum hn_code evaluate_data(struct hn_context *ctx, struct hn_task *task, double *value) {
    (void)ctx, (void)task;
    value[0] = 40 + ++evaluations;
    return HN_OK;
}

// What the data alone decide is evaluated once for all seeds.
static void test_of_data(void) {
    static const struct {
        const char *untrained, *data;
        double value;
    } runs[] = {{"a, 1", "a", 41}, {"a, 2", "a", 41}, {"b, 1", "b", 42}};
    struct hn_untrained shared;
    struct trial *t = open_trial(1, "encoder=mean", "uniform", "");
    struct hn_task_type type = *t->spec.task;
    type.of_data = 1;
    type.evaluate_data = evaluate_data;
    t->spec.task = &type;
    HN_CHECK(&t->ctx, hn_untrained_open(&t->ctx, 9, &shared));
    t->spec.untrained = &shared;
    for (int i = 0; i < 3; i++) {
        t->spec.untrained_key = runs[i].untrained;
        t->spec.data_key = runs[i].data;
        HN_CHECK(&t->ctx, train(t));
        const char *name = type.columns[type.n_columns - 1].name;
        CU_ASSERT_EQUAL(hn_table_real(&t->table, 0, name), runs[i].value);
        CU_ASSERT(hn_table_real(&t->table, 1, name) != runs[i].value);
    }
    hn_untrained_close(&shared);
    close_trial(t);
}

// Of a run that looks ahead at every epoch and keeps its cosines.
static struct trial *open_looking(const char *sampler, const char *options) {
    struct trial *t = open_trial(1, "encoder=mean", sampler, options);
    t->spec.expect = true;
    t->spec.rebuild = 3; // as many as an epoch has, for those who rebuild
    t->spec.evaluate = 3;
    return t;
}

// Looking ahead changes nothing; and where no weight ever changes, a batch has the loss that it
// had.
static void test_expected(void) {
    for (int i = 0; i < SAMPLERS; i++) {
        struct trial *still = open_looking(samplers[i].sampler, samplers[i].options);
        struct trial *t = open_looking(samplers[i].sampler, samplers[i].options);
        struct trial *blind = open_looking(samplers[i].sampler, samplers[i].options);
        blind->spec.expect = false;
        still->spec.adam.rate = 0;
        HN_CHECK(&still->ctx, train(still));
        HN_CHECK(&t->ctx, train(t));
        HN_CHECK(&blind->ctx, train(blind));
        for (int64_t r = 1; r < t->table.rows; r++) {
            double ahead = hn_table_real(&still->table, r, "loss_expected");
            CU_ASSERT_DOUBLE_EQUAL(ahead, hn_table_real(&still->table, r, "loss"), 1e-12);
            CU_ASSERT(isnan(hn_table_real(&blind->table, r, "loss_expected")));
            CU_ASSERT(hn_table_real(&t->table, r, "loss") ==
                      hn_table_real(&blind->table, r, "loss"));
            CU_ASSERT(hn_table_real(&t->table, r, "loss_expected") !=
                      hn_table_real(&t->table, r, "loss"));
            CU_ASSERT(hn_table_real(&t->table, r, "probe_acc") ==
                      hn_table_real(&blind->table, r, "probe_acc"));
        }
        close_trial(still);
        close_trial(t);
        close_trial(blind);
    }
}

// All pairs are counted once in each order, and the overlap of the counts is the column's.
static void check_cosines(const struct trial *t, const struct hn_table *cosines) {
    double sum[2] = {0}, mean[2] = {0}, shared = 0;
    int64_t half = cosines->rows / 2, last = t->table.rows - 1;
    CU_ASSERT_EQUAL_FATAL(cosines->rows, 400);
    for (int64_t r = 0; r < 2 * half; r++)
        sum[r / half] += hn_table_real(cosines, r, "count");
    for (int64_t r = 0; r < 2 * half; r++)
        mean[r / half] += hn_table_real(cosines, r, "count") / sum[r / half] *
                          (hn_table_real(cosines, r, "bin_lo") + .005);
    CU_ASSERT_EQUAL(sum[0] + sum[1], NODES * (NODES - 1));
    CU_ASSERT_EQUAL(sum[0], NODES * (NODES / CLASSES - 1));
    CU_ASSERT_STRING_EQUAL(hn_table_text(cosines, 0, "kind"), "same_label");
    for (int64_t r = 0; r < half; r++)
        shared += fmin(hn_table_real(cosines, r, "count") / sum[0],
                       hn_table_real(cosines, half + r, "count") / sum[1]);
    // A product on the edge of a bin may fall on either side: the column's is not exact.
    CU_ASSERT_DOUBLE_EQUAL(shared, hn_table_real(&t->table, last, "overlap_label"), 5e-3);
    CU_ASSERT_EQUAL(hn_table_real(cosines, 0, "step"), 12);
    // Middles of bins stand for their cosines.
    CU_ASSERT_DOUBLE_EQUAL(mean[0], hn_table_real(&t->table, last, "cosine_same"), .005);
    CU_ASSERT_DOUBLE_EQUAL(mean[1], hn_table_real(&t->table, last, "cosine_different"), .005);
    CU_ASSERT(mean[0] > mean[1] + .02);
}

static void test_cosines(void) {
    struct trial *t = open_looking("uniform", "");
    struct hn_table cosines = {0};
    HN_CHECK(&t->ctx, hn_cosines_table(&t->ctx, &cosines));
    t->spec.cosines = &cosines;
    HN_CHECK(&t->ctx, train(t));
    check_cosines(t, &cosines);
    hn_table_free(&t->ctx, &cosines);
    close_trial(t);
}

// Where there are no pairs of a kind they have no mean, whatever the sums are rounded to.
static void test_no_pairs(void) {
    int32_t each[] = {0, 1}, one[] = {5, 5}, none[] = {-1, -1};
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    for (int i = 1; i < 40; i++) { // lengths that rounding makes a little more or less than 1
        float a = (float)i,
              z[] = {a / 7, (float)(i % 5) / 3, .21F, .11F, (float)(i % 7) / 9, a / 13};
        struct hn_loop loop = {.task = {.n = 2, .n_all = 2, .d = 3, .label = each}, .z = z};
        HN_CHECK(&ctx, hn_loop_overlap(&ctx, &loop));
        CU_ASSERT(isnan(loop.same) && isfinite(loop.different));
        loop.task.label = one;
        HN_CHECK(&ctx, hn_loop_overlap(&ctx, &loop));
        CU_ASSERT(isfinite(loop.same) && isnan(loop.different));
        loop.task.label = none;
        HN_CHECK(&ctx, hn_loop_overlap(&ctx, &loop));
        CU_ASSERT(isnan(loop.same) && isnan(loop.different));
    }
}

static const struct hn_test tests[] = {
    {"untrained", test_untrained}, {"of data", test_of_data},   {"expected", test_expected},
    {"cosines", test_cosines},     {"no pairs", test_no_pairs},
};
HN_TEST_MAIN("loop_numbers", tests)
