// SPDX-License-Identifier: GPL-3.0-or-later
// The task `text` on the real sentences against numbers that a prototype in NumPy printed (its loss
// and updates were checked with PyTorch): nothing here is random.
#include "tests/fixture.h"
#include "tests/test.h"
#include "training/net/net.h"
#include "training/net/optimiser.h"
#include "training/tasks/task.h"
#include "training/tasks/text_items.h"
#include "training/text/features.h"
#include "training/text/scores.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { D = 256, BATCH = 64, STEPS = 3, SUITE = 5 };
static const enum hn_text_set suite[SUITE] = {HN_TEXT_STS12_TEST, HN_TEXT_STS13, HN_TEXT_STS14,
                                              HN_TEXT_STS16, HN_TEXT_SICK_TEST};

// Where epsilon stands: beside the corrected root, as here, or before the correction, as in
// PyTorch's SparseAdam. The loss of each step, and the largest difference of the tables after the
// last one.
enum { OURS, TORCH, PLACES };
struct steps {
    double loss[PLACES][STEPS], apart;
};

static void update(int position, int64_t step, struct hn_weights *w, hn_real *m, hn_real *v) {
    struct hn_adam adam = {.rate = 0.001, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8};
    if (position == TORCH)
        adam.epsilon /= sqrt(1 - pow(adam.beta2, (double)(step + 1)));
    hn_adam_update(&adam, 2, step, w, m, v);
}

static double largest_difference(const hn_real *a, const hn_real *b, int64_t n) {
    double max = 0;
    for (int64_t i = 0; i < n; i++)
        max = fmax(max, fabs((double)a[i] - (double)b[i]));
    return max;
}

static const char *find_data(void) {
    static char path[512];
    if (!hn_fixture_shared("datasets/sts", path, sizeof path))
        hn_test_skip("the shared data sets are not there");
    return path;
}

// E by splitmix64 of the position of each number: uniform, of variance 1 / D.
static void put_table(struct hn_weights *w) {
    for (int64_t i = 0; i < w->n; i++) {
        uint64_t x = (uint64_t)i + 0x9E3779B97F4A7C15U;
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9U;
        x = (x ^ x >> 27) * 0x94D049BB133111EBU;
        x ^= x >> 31;
        w->value[i] = (hn_real)((2 * (double)(x >> 40) / 0x1p24 - 1) * sqrt(3.0 / D));
    }
}

static void check_table(const struct hn_weights *w) {
    double sum = 0, square = 0, n = (double)w->n;
    CU_ASSERT_DOUBLE_EQUAL(w->value[0], 0.08298922, 1e-8);
    CU_ASSERT_DOUBLE_EQUAL(w->value[2], 0.01974314, 1e-8);
    CU_ASSERT_DOUBLE_EQUAL(w->value[7 * D], -0.0073746066, 1e-9);
    for (int64_t i = 0; i < w->n; i++) {
        sum += (double)w->value[i];
        square += (double)w->value[i] * (double)w->value[i];
    }
    CU_ASSERT_DOUBLE_EQUAL(sqrt(square / n - sum / n * sum / n) * sqrt(D), 1.0001050233840942,
                           1e-6);
}

struct wanted {
    double sick_train, sts12_train, tests[SUITE], mean;
};

static void check_scores(const double *rho, const struct wanted *wanted) {
    double mean = 0;
    CU_ASSERT_DOUBLE_EQUAL(100 * rho[HN_TEXT_SICK_TRAIN], wanted->sick_train, .05);
    CU_ASSERT_DOUBLE_EQUAL(100 * rho[HN_TEXT_STS12_TRAIN], wanted->sts12_train, .05);
    for (int k = 0; k < SUITE; k++) {
        CU_ASSERT_DOUBLE_EQUAL(100 * rho[suite[k]], wanted->tests[k], .05);
        mean += 100 * rho[suite[k]] / SUITE;
    }
    CU_ASSERT_DOUBLE_EQUAL(mean, wanted->mean, .05);
}

// Everything of one recipe, without the task's own random views.
struct bench {
    struct hn_context ctx;
    struct hn_scope scope;
    struct hn_sts sts;
    struct hn_text_features features;
    struct hn_text_items items;
    int32_t *training;
    int64_t trainings;
    struct hn_text_net net;
    struct hn_weights weights;
    hn_real *m, *v, *kept;
    float *z;
};

static const struct hn_text_net_spec net_spec = {
    .tables = 1, .out = D, .objective = HN_OBJECTIVE_OTHER_VIEW, .batch = BATCH};

static void open_bench(struct bench *b, bool idf) {
    static const struct hn_text_rules rules = {.parts = true};
    struct hn_context *ctx = &b->ctx;
    *b = (struct bench){.trainings = 0};
    hn_context_init(ctx, 2);
    hn_scope_begin(ctx, &b->scope);
    HN_CHECK(ctx, hn_sts_read(ctx, find_data(), hn_text_files, &b->sts));
    b->training = hn_text_training(ctx, &b->sts, false, &b->trainings);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b->training);
    HN_CHECK(ctx, hn_text_features_make(ctx, b->sts.sentence, b->sts.n, &rules,
                                        idf ? b->training : NULL, b->trainings, &b->features));
}

static void embed_all(struct bench *b, struct wanted wanted) {
    const struct hn_pass pass = {.workers.threads = 2};
    double rho[HN_TEXT_SETS];
    for (int64_t first = 0; first < b->sts.n; first += HN_TEXT_ROWS) {
        int64_t rows = hn_min(HN_TEXT_ROWS, b->sts.n - first);
        hn_text_net_clear(&b->net);
        for (int64_t s = first; s < first + rows; s++)
            hn_text_add_row(&b->features, s, NULL, 0, &b->net.x);
        memcpy(b->z + first * D, hn_text_net_embed(&b->net, &b->weights, &pass),
               (size_t)(rows * D) * sizeof *b->z);
    }
    HN_CHECK(&b->ctx, hn_text_scores(&b->ctx, &b->sts, HN_TEXT_SETS, b->z, D, rho));
    check_scores(rho, &wanted);
}

// A view without every fifth word, from the position `first` on.
static void add_view(struct bench *b, int32_t sentence, int first) {
    static bool left_out[HN_STS_SENTENCE_MAX];
    int32_t words = b->features.words[sentence], left = 0;
    for (int32_t p = 0; p < words; p++) {
        left_out[p] = p % 5 == first;
        left += !left_out[p];
    }
    hn_text_add_row(&b->features, sentence, left > 0 ? left_out : NULL, 0, &b->net.x);
}

// Three steps from the table of put_table().
static void train_single(struct bench *b, int position, const double *loss) {
    const struct hn_loss_spec spec = {.objective = HN_OBJECTIVE_OTHER_VIEW, .temperature = 0.1};
    const struct hn_pass pass = {.workers.threads = 2, .training = true};
    size_t bytes = (size_t)b->weights.n * sizeof *b->m;
    memset(b->m, 0, bytes);
    memset(b->v, 0, bytes);
    put_table(&b->weights);
    for (int64_t step = 0; step < STEPS; step++) {
        const hn_real *z;
        hn_weights_clear(&b->weights);
        hn_text_net_clear(&b->net);
        for (int view = 0; view < 2; view++)
            for (int64_t i = step * BATCH; i < (step + 1) * BATCH; i++)
                add_view(b, b->items.query[i], 2 * view);
        double value = hn_text_net_step(&b->net, &b->weights, &pass, &spec, NULL, BATCH, &z);
        CU_ASSERT_DOUBLE_EQUAL(value, loss[step], 1e-5);
        update(position, step, &b->weights, b->m, b->v);
    }
}

static void test_single(void) {
    static const struct steps wanted = {
        {{0.653856, 0.687493, 0.698196}, {0.653856, 0.687491, 0.698220}}, 1.13e-3};
    struct bench b;
    open_bench(&b, false);
    struct hn_context *ctx = &b.ctx;
    HN_CHECK(ctx, hn_text_items_single(ctx, b.training, b.trainings, &b.items));
    CU_ASSERT_EQUAL(b.items.n, 7122);
    HN_CHECK(ctx, hn_text_net_open(ctx, &b.features, &b.weights, &net_spec, &b.net));
    HN_CHECK(ctx, hn_weights_open(ctx, &b.weights));
    b.m = hn_alloc(ctx, b.weights.n, sizeof *b.m);
    b.v = hn_alloc(ctx, b.weights.n, sizeof *b.v);
    b.kept = hn_alloc(ctx, b.weights.n, sizeof *b.kept);
    b.z = hn_alloc(ctx, b.sts.n * D, sizeof *b.z);
    CU_ASSERT_FATAL(b.m && b.v && b.kept && b.z);
    put_table(&b.weights);
    check_table(&b.weights);
    embed_all(&b, (struct wanted){58.34, 41.43, {49.15, 55.44, 60.56, 65.42, 58.25}, 57.77});
    train_single(&b, TORCH, wanted.loss[TORCH]);
    memcpy(b.kept, b.weights.value, (size_t)b.weights.n * sizeof *b.kept);
    train_single(&b, OURS, wanted.loss[OURS]);
    CU_ASSERT_DOUBLE_EQUAL(largest_difference(b.kept, b.weights.value, b.weights.n), wanted.apart,
                           5e-6);
    embed_all(&b, (struct wanted){58.68, 39.99, {49.04, 56.13, 61.21, 65.67, 58.57}, 58.12});
    hn_scope_end(&b.scope);
    CU_ASSERT_EQUAL(ctx->memory.live, 0);
}

// The task itself, with views that leave nothing out.
static void check_task(struct hn_context *ctx, struct hn_task *task, float *z,
                       struct wanted wanted) {
    static double value[32];
    static const char *const names[] = {"sick_train_spearman", "sts12_train_spearman"};
    double rho[HN_TEXT_SETS] = {0};
    HN_CHECK(ctx, hn_task_embed(ctx, task, 0, 1, task->n_all, z));
    HN_CHECK(ctx, task->type->evaluate(ctx, task, 1, z, value));
    for (int k = 0; k < SUITE; k++)
        rho[suite[k]] = value[1 + k]; // they follow the mean
    for (int c = 0; c < task->type->n_columns; c++)
        for (int k = 0; k < 2; k++)
            if (strcmp(task->type->columns[c].name, names[k]) == 0)
                rho[k == 0 ? HN_TEXT_SICK_TRAIN : HN_TEXT_STS12_TRAIN] = value[c];
    check_scores(rho, &wanted);
    CU_ASSERT_DOUBLE_EQUAL(100 * value[0], wanted.mean, .05);
}

static void set_options(struct hn_context *ctx, const struct hn_task_type *type, void *params) {
    static const char *const set[][2] = {
        {"items", "pairs"}, {"idf", "true"}, {"word_drop", "0"}, {"drop", "0"}};
    HN_CHECK(ctx, hn_options_init(ctx, type->options, params));
    HN_CHECK(ctx, hn_options_set(ctx, type->options, params, "data", find_data()));
    for (int i = 0; i < 4; i++)
        HN_CHECK(ctx, hn_options_set(ctx, type->options, params, set[i][0], set[i][1]));
}

static void train_pairs(struct hn_context *ctx, struct hn_task *task, int position, hn_real *m,
                        hn_real *v, const double *loss) {
    struct hn_weights *w = &task->weights;
    memset(m, 0, (size_t)w->n * sizeof *m);
    memset(v, 0, (size_t)w->n * sizeof *v);
    put_table(w);
    for (int32_t step = 0; step < STEPS; step++) {
        int32_t id[BATCH];
        double value;
        for (int32_t i = 0; i < BATCH; i++)
            id[i] = step * BATCH + i;
        const struct hn_task_batch batch = {
            .id = id, .n = BATCH, .step = step, .loss = task->setting.loss};
        hn_weights_clear(w);
        HN_CHECK(ctx, task->type->step(ctx, task, &batch, &value, NULL));
        CU_ASSERT_DOUBLE_EQUAL(value, loss[step], 1e-5);
        update(position, step, w, m, v);
    }
}

static void test_pairs(void) {
    static const struct steps wanted = {
        {{6.677734, 4.991590, 6.736320}, {6.677734, 4.991610, 6.736383}}, 8.97e-4};
    const struct hn_task_type *type = hn_task_find("text");
    const struct hn_task_setting setting = {
        .batch_size = BATCH, .loss = {.objective = HN_OBJECTIVE_OTHER_VIEW, .temperature = 0.05}};
    struct hn_context ctx;
    struct hn_task task;
    hn_context_init(&ctx, 2);
    HN_SCOPE(&ctx);
    void *params = hn_zalloc(&ctx, 1, type->params_size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(params);
    set_options(&ctx, type, params);
    HN_CHECK(&ctx, hn_task_open(&ctx, type, params, &setting, &task));
    CU_ASSERT_EQUAL(task.n, 4192);
    const struct hn_weights *w = &task.weights;
    hn_real *m = hn_alloc(&ctx, w->n, sizeof *m), *v = hn_alloc(&ctx, w->n, sizeof *v);
    hn_real *kept = hn_alloc(&ctx, w->n, sizeof *kept);
    float *z = hn_alloc(&ctx, task.n_all * D, sizeof *z);
    CU_ASSERT_FATAL(m && v && kept && z);
    put_table(&task.weights);
    check_task(&ctx, &task, z,
               (struct wanted){58.14, 33.65, {46.26, 65.56, 66.50, 71.18, 57.96}, 61.49});
    train_pairs(&ctx, &task, TORCH, m, v, wanted.loss[TORCH]);
    memcpy(kept, w->value, (size_t)w->n * sizeof *kept);
    train_pairs(&ctx, &task, OURS, m, v, wanted.loss[OURS]);
    CU_ASSERT_DOUBLE_EQUAL(largest_difference(kept, w->value, w->n), wanted.apart, 5e-6);
    check_task(&ctx, &task, z,
               (struct wanted){58.79, 34.11, {46.40, 65.33, 66.38, 71.16, 58.40}, 61.53});
    hn_task_close(&ctx, &task);
    hn_options_free(&ctx, type->options, params);
}

static double weight_of(const struct hn_text_features *f, int64_t sentence, int32_t bucket) {
    for (int64_t k = f->start[sentence]; k < f->start[sentence + 1]; k++)
        if (f->bucket[k] == bucket)
            return (double)f->weight[k];
    return NAN;
}

static double sum_weights(const struct hn_text_features *f, int64_t sentence) {
    double sum = 0;
    for (int64_t k = f->start[sentence]; k < f->start[sentence + 1]; k++)
        sum += (double)f->weight[k];
    return sum;
}

static void check_first(const struct hn_text_features *f, int32_t sentence, int64_t occurrences,
                        const int32_t *bucket, const double *weight, double sum) {
    CU_ASSERT_EQUAL(f->start[sentence + 1] - f->start[sentence], occurrences);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_DOUBLE_EQUAL(weight_of(f, sentence, bucket[i]), weight[i], 1e-7);
    CU_ASSERT_DOUBLE_EQUAL(sum_weights(f, sentence), sum, 1e-4);
}

// Items, and the features of the first of them.
static void test_items(void) {
    static const char text[] = "A group of kids is playing in a yard and an old man is standing in "
                               "the background";
    struct bench b;
    int64_t hard = 0, all;
    open_bench(&b, false);
    CU_ASSERT_EQUAL(b.trainings, 7122);
    CU_ASSERT_STRING_EQUAL(b.sts.sentence[b.training[0]], text);
    check_first(&b.features, b.training[0], 158, (int32_t[]){12030, 41372, 2218},
                (double[]){0.1318905, 0.04812335, 0.15579332}, 10.322610855102539);
    hn_scope_end(&b.scope);
    open_bench(&b, true);
    HN_CHECK(&b.ctx, hn_text_items_pairs(&b.ctx, &b.sts, true, true, &b.items));
    CU_ASSERT_EQUAL(b.items.n, 2598);
    HN_CHECK(&b.ctx, hn_text_items_pairs(&b.ctx, &b.sts, false, true, &b.items));
    CU_ASSERT_EQUAL(b.items.n, 4192);
    for (int64_t i = 0; i < b.items.n; i++)
        hard += b.items.hard[i] >= 0;
    CU_ASSERT_EQUAL(hard, 1012);
    CU_ASSERT_STRING_EQUAL(b.sts.sentence[b.items.query[0]],
                           "The young boys are playing outdoors and the man is smiling nearby");
    CU_ASSERT_STRING_EQUAL(b.sts.sentence[b.items.key[0]],
                           "The kids are playing outdoors near a man with a smile");
    CU_ASSERT_EQUAL(b.items.hard[0], -1);
    check_first(&b.features, b.items.query[0], 138, (int32_t[]){19591, 90694, 47884},
                (double[]){0.06009919, 0.01722745, 0.01800699}, 9.161184310913086);
    CU_ASSERT_PTR_NOT_NULL(hn_text_training(&b.ctx, &b.sts, true, &all));
    CU_ASSERT_EQUAL(all, 22489);
    hn_scope_end(&b.scope);
}

static const struct hn_test tests[] = {
    {"items", test_items},
    {"single", test_single},
    {"pairs", test_pairs},
};
HN_TEST_MAIN("text_exact", tests)
