// SPDX-License-Identifier: GPL-3.0-or-later
// The tasks of images on a few made-up pictures: the same bits for any number of threads and after
// an interruption, an encoder that learns to tell colours apart, and steps as NumPy takes them.
#include "datasets/snapshot.h"
#include "tests/numpy_oracle.h"
#include "tests/training_fixture.h"
#include "training/images/augment.h"

enum { TRAIN = PICTURES };

static struct trial *open_pictures(int threads, const char *name) {
    bool first = !*root, views = strcmp(name, "views-mlp") == 0;
    char options[160];
    prepare();
    if (first)
        put_pictures(root);
    snprintf(options, sizeof options, "data=%s n=96 out=8%s", root,
             views ? " dim=16 views=3 hidden=24" : "");
    struct trial *t = open_trial_of(threads, name, options, "knn", "");
    t->spec.setting =
        (struct hn_task_setting){.seed = 2,
                                 .cache = root,
                                 .batch_size = 32,
                                 .loss = {.objective = HN_OBJECTIVE_NTXENT, .temperature = 0.2}};
    t->spec.adam.rate = 0.003;
    t->spec.adam.steps = 9;
    t->spec.rebuild = 2;
    t->spec.evaluate = 0;
    t->spec.snapshot = 4;
    t->spec.key = name;
    return t;
}

static enum hn_code train_series(struct trial *t, const char *folder, char digest[65]) {
    struct hn_snapshot *s;
    char name[64], path[160];
    snprintf(name, sizeof name, "%s-%s", t->spec.task->name, folder);
    use_folder(t, name);
    if (train(t))
        return t->ctx.code;
    snprintf(path, sizeof path, "%s/series.h5", t->folder);
    HN_CHECK(&t->ctx, hn_snapshot_open(&t->ctx, path, &s));
    HN_CHECK(&t->ctx, hn_snapshot_validate(&t->ctx, s));
    CU_ASSERT_EQUAL(hn_snapshot_info(s)->steps, 4); // 0, 4, 8, 9
    CU_ASSERT(hn_snapshot_info(s)->has_view1 && hn_snapshot_info(s)->has_view2);
    HN_CHECK(&t->ctx, hn_snapshot_digest(&t->ctx, s, digest));
    hn_snapshot_close(&t->ctx, s);
    return HN_OK;
}

// With the loss moco as well, whose queue of 40 keys batches of 32 go around.
static struct trial *open_with(int threads, const char *name, enum hn_objective objective) {
    struct trial *t = open_pictures(threads, name);
    t->spec.setting.loss.objective = objective;
    HN_CHECK(&t->ctx, hn_options_set(&t->ctx, t->spec.task->options, t->task, "queue", "40"));
    HN_CHECK(&t->ctx, hn_options_set(&t->ctx, t->spec.task->options, t->task, "momentum", "0.7"));
    return t;
}

static void check_trials(struct trial *one, struct trial *many, struct trial *broken) {
    char first[65], other[65];
    HN_CHECK(&one->ctx, train_series(one, "one", first));
    HN_CHECK(&many->ctx, train_series(many, "many", other));
    CU_ASSERT_STRING_EQUAL(first, other);
    broken->stop_at = 5;
    HN_CHECK_FAILS(&broken->ctx, train_series(broken, "broken", other), HN_INTERRUPTED, "step 5");
    HN_CHECK(&broken->ctx, train_series(broken, "broken", other));
    CU_ASSERT_STRING_EQUAL(first, other);
    for (int c = 0; c < one->spec.task->n_columns; c++) {
        const char *column = one->spec.task->columns[c].name;
        bool frozen = strncmp(column, "features_", 9) == 0; // before the first step, and only then
        int64_t row = frozen ? 0 : 1;
        double value = hn_table_real(&one->table, row, column);
        CU_ASSERT_EQUAL(value, hn_table_real(&many->table, row, column));
        CU_ASSERT_EQUAL(value, hn_table_real(&broken->table, row, column));
        CU_ASSERT(!frozen || isnan(hn_table_real(&one->table, 1, column)));
        CU_ASSERT(value >= 0 && value <= 1);
    }
    CU_ASSERT(hn_table_real(&one->table, 1, "loss") < log(2 * 32 - 1) + 0.5);
    // Four colours: chance is a quarter.
    CU_ASSERT(hn_table_real(&one->table, 1, "probe_acc") > 0.5);
    close_trial(one);
    close_trial(many);
    close_trial(broken);
}

static void check_task(const char *name, enum hn_objective objective) {
    check_trials(open_with(1, name, objective), open_with(3, name, objective),
                 open_with(2, name, objective));
}

static void test_views(void) { check_task("views-mlp", HN_OBJECTIVE_NTXENT); }
static void test_moco(void) { check_task("views-mlp", HN_OBJECTIVE_QUEUE); }

// A step's loss depends on which pictures are positives, and on nothing else of the labels.
static void test_positives_by_label(void) {
    double loss[2];
    for (int k = 0; k < 2; k++) {
        struct trial *t = open_pictures(2, "views-mlp");
        char digest[65];
        HN_CHECK(&t->ctx, hn_options_set(&t->ctx, t->spec.task->options, t->task, "positives",
                                         k ? "label" : "view"));
        HN_CHECK(&t->ctx, train_series(t, k ? "by-label" : "by-view", digest));
        loss[k] = hn_table_real(&t->table, 1, "loss");
        CU_ASSERT(hn_table_real(&t->table, 1, "probe_acc") > 0.5);
        close_trial(t);
    }
    CU_ASSERT(loss[1] > loss[0] + 0.1); // noise differs between pictures of a colour
}
static void test_cnn(void) { check_task("cnn", HN_OBJECTIVE_NTXENT); }

static struct trial *open_plain(int threads) {
    struct trial *t = open_pictures(threads, "cnn");
    HN_CHECK(&t->ctx,
             hn_options_set(&t->ctx, t->spec.task->options, t->task, "batch_norm", "false"));
    return t;
}
static void test_cnn_plain(void) { check_trials(open_plain(1), open_plain(3), open_plain(2)); }

static void test_short_queue(void) {
    struct trial *t = open_with(1, "views-mlp", HN_OBJECTIVE_QUEUE);
    char digest[65];
    HN_CHECK(&t->ctx, hn_options_set(&t->ctx, t->spec.task->options, t->task, "queue", "31"));
    HN_CHECK_FAILS(&t->ctx, train_series(t, "short", digest), HN_USAGE,
                   "a queue of 31 keys is shorter than a batch of 32");
    close_trial(t);
}

static void test_too_few(void) {
    struct trial *t = open_pictures(1, "cnn");
    char digest[65];
    HN_CHECK(&t->ctx, hn_options_set(&t->ctx, t->spec.task->options, t->task, "n", "97"));
    HN_CHECK_FAILS(&t->ctx, train_series(t, "few", digest), HN_DATA,
                   "there are 96 training images");
    close_trial(t);
}

// What the oracle is told of a few steps of recipe B.
enum { STEPS = 6, BATCH = 24, VIEWS = 2 * BATCH, PIXELS = HN_IMAGE_BYTES };

// Both views of a batch, drawn from the streams that the task names.
static void draw_views(const struct hn_images *images, uint64_t seed, int64_t step, float *x) {
    for (int64_t i = 0; i < VIEWS; i++) {
        struct hn_stream s;
        int64_t item = (step * BATCH + i % BATCH) % TRAIN;
        hn_stream_open(&s, seed, "cnn.view", step, i, item);
        hn_augment_image(images->image + item * PIXELS, &s, x + i * PIXELS);
    }
}

// The record of an item: they come in an order drawn by data_seed.
static void sort_records(struct hn_context *ctx, struct hn_images *images) {
    int32_t order[TRAIN];
    uint8_t *sorted = hn_alloc(ctx, TRAIN, PIXELS);
    struct hn_stream s;
    for (int32_t i = 0; i < TRAIN; i++)
        order[i] = i;
    hn_stream_open(&s, 1, "cnn.order", 0, 0, 0);
    hn_stream_shuffle(&s, order, TRAIN);
    CU_ASSERT_PTR_NOT_NULL_FATAL(sorted);
    for (int i = 0; i < TRAIN; i++)
        memcpy(sorted + (size_t)i * PIXELS, images->image + (size_t)order[i] * PIXELS, PIXELS);
    memcpy(images->image, sorted, (size_t)TRAIN * PIXELS);
    hn_free(ctx, sorted);
}

static void write_steps(struct trial *t, struct hn_task *task, const struct hn_images *images,
                        const char *folder) {
    struct hn_context *ctx = &t->ctx;
    int64_t n = task->weights.n;
    float *moment = hn_zalloc(ctx, 2 * n, sizeof *moment);
    float *x = hn_alloc(ctx, STEPS * VIEWS, PIXELS * sizeof *x);
    double loss[STEPS];
    int32_t id[BATCH];
    CU_ASSERT_FATAL(moment && x);
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < BATCH; i++)
            id[i] = (step * BATCH + i) % TRAIN;
        draw_views(images, t->spec.setting.seed, step, x + (size_t)step * VIEWS * PIXELS);
        struct hn_task_batch batch = {
            .id = id, .n = BATCH, .step = step, .loss = t->spec.setting.loss};
        HN_CHECK(ctx, task->type->step(ctx, task, &batch, &loss[step], NULL));
        if (step == 0)
            write_file(folder, "gradient", task->weights.grad, (size_t)n * sizeof(float));
        hn_adam_step(&t->spec.adam, 1, step, n, task->weights.grad, task->weights.value, moment,
                     moment + n);
    }
    write_file(folder, "x", x, (size_t)STEPS * VIEWS * PIXELS * sizeof *x);
    write_file(folder, "loss", loss, sizeof loss);
    hn_free(ctx, moment);
    hn_free(ctx, x);
}

static void write_embeddings(struct hn_context *ctx, struct hn_task *task,
                             const struct hn_images *images, const char *folder) {
    float *z = hn_alloc(ctx, TRAIN * task->d, sizeof *z);
    float *plain = hn_alloc(ctx, TRAIN, PIXELS * sizeof *plain);
    CU_ASSERT_FATAL(z && plain);
    for (int i = 0; i < TRAIN; i++)
        hn_plain_image(images->image + (size_t)i * PIXELS, plain + (size_t)i * PIXELS);
    HN_CHECK(ctx, hn_task_embed(ctx, task, 0, STEPS, TRAIN, z));
    write_file(folder, "plain", plain, (size_t)TRAIN * PIXELS * sizeof *plain);
    write_file(folder, "z", z, (size_t)(TRAIN * task->d) * sizeof *z);
    hn_free(ctx, z);
    hn_free(ctx, plain);
}

static void check_steps(const char *numpy, struct trial *t, bool batch_norm) {
    struct hn_task task;
    struct hn_images images;
    char folder[256], command[700], out[1024], here[] = __FILE__;
    t->spec.adam = (struct hn_adam){.rate = 0.003,
                                    .beta1 = 0.9,
                                    .beta2 = 0.999,
                                    .epsilon = 1e-8,
                                    .decay = 0.01,
                                    .warmup = 2,
                                    .schedule = HN_RATE_COSINE,
                                    .steps = STEPS};
    t->spec.setting.batch_size = BATCH;
    const double settings[] = {0.2, 0.003, 2, 0.01, batch_norm};
    hn_fixture_folder(folder, sizeof folder);
    write_file(folder, "settings", settings, sizeof settings);
    HN_CHECK(&t->ctx, hn_images_read(&t->ctx, root, &images));
    sort_records(&t->ctx, &images);
    HN_CHECK(&t->ctx, hn_task_open(&t->ctx, t->spec.task, t->task, &t->spec.setting, &task));
    task.type->init(&task);
    write_file(folder, "value", task.weights.value, (size_t)task.weights.n * sizeof(float));
    write_steps(t, &task, &images, folder);
    write_embeddings(&t->ctx, &task, &images, folder);
    snprintf(command, sizeof command, "%s '%s/oracle_training.py' '%s' %d %d", numpy, dirname(here),
             folder, (int)task.d, STEPS);
    int status = hn_fixture_run(command, out, sizeof out);
    if (status || getenv("HN_SHOW"))
        fprintf(stderr, "%s", out);
    CU_ASSERT_EQUAL(status, 0);
    hn_images_free(&t->ctx, &images);
    hn_task_close(&t->ctx, &task);
    hn_fixture_remove(folder);
    close_trial(t);
}

// Losses, gradient, Adam with its schedule, batch norm's running values: recipe B, whole.
static void test_steps(void) {
    const char *numpy = python();
    if (!numpy)
        hn_test_skip("no Python with numpy");
    check_steps(numpy, open_pictures(2, "cnn"), true);
    check_steps(numpy, open_plain(2), false);
}

static const struct hn_test tests[] = {
    {"views", test_views},     {"positives_by_label", test_positives_by_label},
    {"cnn", test_cnn},         {"cnn without batch norm", test_cnn_plain},
    {"moco", test_moco},       {"short_queue", test_short_queue},
    {"too_few", test_too_few}, {"steps", test_steps},
};
HN_TEST_MAIN("image_tasks", tests)
