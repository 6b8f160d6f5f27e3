// The loop and the node task on a small graph: the same bits for any number of threads and after
// any interruption; what is said of runs that go wrong; every failed allocation.
#include "core/random.h"
#include "datasets/snapshot.h"
#include "tests/test.h"
#include "training/loop.h"
#include "training/net/exp.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NODES = 60, FEATURES = 30, CLASSES = 3, PARAMS = 256 };

static char root[64]; // of this process, made by the first test that needs it

static void remove_folder(const char *path) {
    DIR *folder = opendir(path);
    char inner[512];
    for (struct dirent *e; folder && (e = readdir(folder));) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(inner, sizeof inner, "%.200s/%.200s", path, e->d_name);
        if (unlink(inner))
            remove_folder(inner);
    }
    if (folder)
        closedir(folder);
    rmdir(path);
}

static void clean_up(void) { remove_folder(root); }

static FILE *open_part(const char *end) {
    char path[128];
    snprintf(path, sizeof path, "%s/small/small.%s", root, end);
    FILE *file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    return file;
}

// Documents of three classes: features mostly of their class's third, links mostly within it.
static void write_data(void) {
    struct hn_stream s;
    hn_stream_open(&s, 1, "test.training", 0, 0, 0);
    FILE *f = open_part("features");
    fprintf(f, "# features=%d\n", FEATURES);
    for (int i = 0; i < NODES; i++) {
        fprintf(f, "%d %d", i, i % CLASSES);
        for (int j = 0; j < FEATURES; j++)
            if (hn_stream_uniform(&s) < (j % CLASSES == i % CLASSES ? 0.5 : 0.1) ||
                j == i % FEATURES)
                fprintf(f, " %d", j);
        fprintf(f, "\n");
    }
    fclose(f);
    f = open_part("edges");
    for (int i = 0; i < NODES; i++)
        for (int j = i + 1; j < NODES; j++)
            if (hn_stream_uniform(&s) < (i % CLASSES == j % CLASSES ? 0.2 : 0.02))
                fprintf(f, "%d %d\n", i, j);
    fclose(f);
    f = open_part("split");
    for (int i = 0; i < NODES; i++)
        fprintf(f, "%d %s\n", i, i < 20 ? "train" : i < 30 ? "val" : "test");
    fclose(f);
}

static void prepare(void) {
    if (*root)
        return;
    const char *tmp = getenv("TMPDIR");
    char small[96];
    snprintf(root, sizeof root, "%.40s/hardneg-tr-XXXXXX", tmp && strlen(tmp) < 41 ? tmp : "/tmp");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(root));
    atexit(clean_up);
    snprintf(small, sizeof small, "%s/small", root);
    mkdir(small, 0777);
    write_data();
}

// A run of the node task; params of task and sampler are set by "name=value" lists.
struct trial {
    struct hn_context ctx;
    struct hn_run_spec spec;
    _Alignas(64) char task[PARAMS], sampler[PARAMS], weighting[PARAMS];
    const struct hn_option *options[2];
    char folder[128];
    struct hn_table table;
    struct hn_run_times times;
    volatile sig_atomic_t stop;
    int64_t stop_at;
};

static void set(struct trial *t, const struct hn_option *table, void *params, const char *text) {
    char list[256], *rest = NULL;
    snprintf(list, sizeof list, "%s", text);
    for (char *pair = strtok_r(list, " ", &rest); pair; pair = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(pair, '=');
        *equals = '\0';
        HN_CHECK(&t->ctx, hn_options_set(&t->ctx, table, params, pair, equals + 1));
    }
}

static struct trial *open_trial(int threads, const char *task, const char *sampler,
                                const char *options) {
    struct trial *t = calloc(1, sizeof *t);
    prepare();
    hn_context_init(&t->ctx, threads);
    const struct hn_task_type *type = hn_task_find("node");
    const struct hn_sampler_type *s = hn_sampler_find(sampler);
    const struct hn_weighting_type *w = hn_weighting_find("none");
    CU_ASSERT_FATAL(type && s && w && type->params_size <= PARAMS && s->params_size <= PARAMS);
    t->options[0] = type->options;
    t->options[1] = s->options;
    HN_CHECK(&t->ctx, hn_options_init(&t->ctx, type->options, t->task));
    HN_CHECK(&t->ctx, hn_options_init(&t->ctx, s->options, t->sampler));
    set(t, type->options, t->task, "data=small hidden=16 out=8");
    set(t, type->options, t->task, task);
    set(t, s->options, t->sampler, options);
    t->spec = (struct hn_run_spec){
        .task = type,
        .task_params = t->task,
        .sampler = s,
        .sampler_params = t->sampler,
        .weighting = w,
        .weighting_params = t->weighting,
        .setting = {.data = root,
                    .seed = 3,
                    .batch_size = 20,
                    .loss = {.objective = HN_OBJECTIVE_OTHER_VIEW, .temperature = 0.5}},
        .adam = {.rate = 0.01, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .steps = 12},
        .uniform_epochs = 1,
        .rebuild = 4,
        .evaluate = 5,
        .key = "a run"};
    return t;
}

static void close_trial(struct trial *t) {
    hn_table_free(&t->ctx, &t->table);
    hn_options_free(&t->ctx, t->options[0], t->task);
    hn_options_free(&t->ctx, t->options[1], t->sampler);
    CU_ASSERT_EQUAL(t->ctx.memory.live, 0);
    free(t);
}

static void watch(void *data, int64_t done, int64_t steps, double loss, double accuracy) {
    struct trial *t = data;
    CU_ASSERT(done <= steps && isfinite(loss) && accuracy >= 0);
    t->stop = t->stop || done == t->stop_at;
}

static enum hn_code train(struct trial *t) {
    const struct hn_run_watch watcher = {watch, t};
    t->ctx.stop = &t->stop;
    t->stop = 0;
    hn_table_free(&t->ctx, &t->table);
    HN_CHECK(&t->ctx, hn_training_table(&t->ctx, t->spec.task, &t->table));
    return hn_train(&t->ctx, &t->spec, &watcher, &t->table, &t->times);
}

static void use_folder(struct trial *t, const char *name) {
    snprintf(t->folder, sizeof t->folder, "%s/%s", root, name);
    mkdir(t->folder, 0777);
    t->spec.folder = t->folder;
}

// Everything but times is the same, to the last bit.
static void check_same(const struct hn_table *a, const struct hn_table *b) {
    CU_ASSERT_EQUAL_FATAL(a->rows, b->rows);
    CU_ASSERT(a->rows > 1);
    for (int c = 0; c < a->n_columns; c++) {
        if (strncmp(a->column[c].name, "cost_", 5) == 0)
            continue;
        for (int64_t r = 0; r < a->rows; r++) {
            double x = hn_table_real(a, r, a->column[c].name);
            double y = hn_table_real(b, r, a->column[c].name);
            CU_ASSERT((isnan(x) && isnan(y)) || x == y);
        }
    }
}

static void digest_series(struct trial *t, char text[65]) {
    char path[160];
    struct hn_snapshot *s;
    snprintf(path, sizeof path, "%s/series.h5", t->folder);
    HN_CHECK(&t->ctx, hn_snapshot_open(&t->ctx, path, &s));
    HN_CHECK(&t->ctx, hn_snapshot_validate(&t->ctx, s));
    HN_CHECK(&t->ctx, hn_snapshot_digest(&t->ctx, s, text));
    hn_snapshot_close(&t->ctx, s);
}

static const struct {
    const char *sampler, *options;
} samplers[] = {{"uniform", "draw=shuffle"}, {"knn", ""},
                {"gcbs", "quantile=0.9"},    {"batchsampler", "M=20 K=5"},
                {"ring", "lo=50 hi=90"},     {"hops", "l=2"},
                {"random-negatives", "n=7"}, {"ring", "space=embeddings n=4"},
                {"hard-negative", "l=1"},    {"stratified", ""}};
enum { SAMPLERS = sizeof samplers / sizeof samplers[0] };

// Two views of 60 items go through a layer of 16 x 8 (forward, weights, inputs; the sparse layer
// does not count), and a batch of 20 has 20 x 20 scores, whose slopes go back to both views.
static void test_flops(void) {
    struct trial *t = open_trial(2, "encoder=mlp", "uniform", "");
    HN_CHECK(&t->ctx, train(t));
    CU_ASSERT_EQUAL(t->times.flops, 2.0 * (2 * 3 * NODES * 16 * 8 + 3 * 20 * 20 * 8));
    close_trial(t);
}

// The digest is that of the files' contents, whatever the folder is called.
static void test_data_digest(void) {
    struct trial *t = open_trial(1, "", "uniform", "");
    struct hn_task_setting setting = {.data = root};
    char own[65], moved[65], other[65];
    char from[128], to[128];
    HN_CHECK(&t->ctx, hn_task_digest(&t->ctx, t->spec.task, t->task, &setting, own));
    CU_ASSERT_EQUAL(strlen(own), 64);
    snprintf(from, sizeof from, "%s/small", root);
    snprintf(to, sizeof to, "%s/moved", root);
    rename(from, to);
    set(t, t->options[0], t->task, "data=moved");
    HN_CHECK(&t->ctx, hn_task_digest(&t->ctx, t->spec.task, t->task, &setting, moved));
    CU_ASSERT_STRING_EQUAL(own, moved);
    rename(to, from);
    HN_CHECK(&t->ctx, hn_task_digest(&t->ctx, t->spec.task, t->task, &setting, other));
    CU_ASSERT_STRING_EQUAL(other, ""); // not there: the task itself says so
    FILE *file = open_part("extra.edges");
    set(t, t->options[0], t->task, "data=small");
    HN_CHECK(&t->ctx, hn_task_digest(&t->ctx, t->spec.task, t->task, &setting, other));
    CU_ASSERT_STRING_NOT_EQUAL(own, other);
    fclose(file);
    snprintf(to, sizeof to, "%s/small/small.extra.edges", root);
    unlink(to);
    close_trial(t);
}

static void test_threads(void) {
    for (int i = 0; i < SAMPLERS; i++) {
        struct trial *one = open_trial(1, "encoder=mean", samplers[i].sampler, samplers[i].options);
        struct trial *many =
            open_trial(3, "encoder=mean", samplers[i].sampler, samplers[i].options);
        HN_CHECK(&one->ctx, train(one));
        HN_CHECK(&many->ctx, train(many));
        check_same(&one->table, &many->table);
        close_trial(one);
        close_trial(many);
    }
}

// Broken off at every step, also within an epoch and between rebuilds, and gone on with.
static void test_interruption(void) {
    for (int i = 0; i < SAMPLERS; i++) {
        struct trial *whole =
            open_trial(2, "encoder=gcn", samplers[i].sampler, samplers[i].options);
        char wanted[65], found[65];
        whole->spec.expect = i % 2 == 0;
        whole->spec.snapshot = 6;
        whole->spec.dense_from = 3;
        whole->spec.dense_to = 7;
        whole->spec.dense_every = 2;
        use_folder(whole, "whole");
        HN_CHECK(&whole->ctx, train(whole));
        digest_series(whole, wanted);
        struct trial *t = open_trial(1, "encoder=gcn", samplers[i].sampler, samplers[i].options);
        t->spec = whole->spec;
        t->spec.task_params = t->task;
        t->spec.sampler_params = t->sampler;
        t->spec.weighting_params = t->weighting;
        t->spec.embeddings = whole->spec.embeddings;
        use_folder(t, "broken");
        for (t->stop_at = 1; t->stop_at < 12; t->stop_at += 2)
            HN_CHECK_FAILS(&t->ctx, train(t), HN_INTERRUPTED, "interrupted at step");
        HN_CHECK(&t->ctx, train(t));
        check_same(&whole->table, &t->table);
        digest_series(t, found);
        CU_ASSERT_STRING_EQUAL(wanted, found);
        close_trial(t);
        close_trial(whole);
    }
}

// Values at step 0 that another run left are taken, and are those that a run would have found.
static void test_untrained(void) {
    enum { COLUMNS_MOST = 32 };
    struct hn_untrained shared;
    struct trial *own = open_trial(1, "encoder=mean", "uniform", "");
    struct trial *t = open_trial(1, "encoder=mean", "uniform", "");
    double value[COLUMNS_MOST] = {0};
    int n = t->spec.task->n_columns;
    CU_ASSERT_FATAL(n > 0 && n <= COLUMNS_MOST);
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

static void test_stored_embeddings(void) {
    struct trial *whole = open_trial(2, "encoder=mean", "knn", "");
    struct trial *t = open_trial(1, "encoder=mean", "knn", "");
    struct trial *fresh = open_trial(1, "encoder=mean", "knn", "");
    whole->spec.embeddings = t->spec.embeddings = HN_EMBEDDINGS_STORED;
    HN_CHECK(&whole->ctx, train(whole));
    use_folder(t, "stored");
    t->stop_at = 6;
    HN_CHECK_FAILS(&t->ctx, train(t), HN_INTERRUPTED, "interrupted at step 6");
    HN_CHECK(&t->ctx, train(t));
    check_same(&whole->table, &t->table);
    HN_CHECK(&fresh->ctx, train(fresh));
    int64_t last = fresh->table.rows - 1;
    CU_ASSERT(hn_table_real(&fresh->table, last, "loss") != hn_table_real(&t->table, last, "loss"));
    close_trial(t);
    close_trial(whole);
    close_trial(fresh);
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
    double sum[2] = {0}, shared = 0;
    int64_t half = cosines->rows / 2, last = t->table.rows - 1;
    CU_ASSERT_EQUAL_FATAL(cosines->rows, 400);
    for (int64_t r = 0; r < 2 * half; r++)
        sum[r / half] += hn_table_real(cosines, r, "count");
    CU_ASSERT_EQUAL(sum[0] + sum[1], NODES * (NODES - 1));
    CU_ASSERT_EQUAL(sum[0], NODES * (NODES / CLASSES - 1));
    CU_ASSERT_STRING_EQUAL(hn_table_text(cosines, 0, "kind"), "same_label");
    for (int64_t r = 0; r < half; r++)
        shared += fmin(hn_table_real(cosines, r, "count") / sum[0],
                       hn_table_real(cosines, half + r, "count") / sum[1]);
    // A product on the edge of a bin may fall on either side: the column's is not exact.
    CU_ASSERT_DOUBLE_EQUAL(shared, hn_table_real(&t->table, last, "overlap_label"), 5e-3);
    CU_ASSERT_EQUAL(hn_table_real(cosines, 0, "step"), 12);
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

// Training does what it is for: the loss falls and the probe finds the classes.
static void test_learns(void) {
    static const char *const encoders[] = {"encoder=mean", "encoder=gcn", "encoder=mlp"};
    for (int i = 0; i < 3; i++) {
        struct trial *t = open_trial(2, encoders[i], "uniform", "");
        t->spec.adam.steps = 60;
        HN_CHECK(&t->ctx, train(t));
        int64_t last = t->table.rows - 1;
        CU_ASSERT(hn_table_real(&t->table, last, "loss") < hn_table_real(&t->table, 1, "loss"));
        CU_ASSERT(hn_table_real(&t->table, last, "probe_acc") > 0.8); // chance is a third
        CU_ASSERT_EQUAL(t->times.steps, 60);
        close_trial(t);
    }
}

// Two encoders that agree need no negatives: plain ones collapse (NS 4.3.4).
static void test_collapse(void) {
    struct trial *t = open_trial(2, "stop_gradient=false batch_norm=false", "uniform", "");
    t->spec.setting.loss.objective = HN_OBJECTIVE_SIAMESE;
    t->spec.adam.steps = 300;
    HN_CHECK(&t->ctx, train(t));
    int64_t last = t->table.rows - 1;
    CU_ASSERT(hn_table_real(&t->table, last, "loss") < -0.95);
    CU_ASSERT(hn_table_real(&t->table, last, "deviation") <
              0.5 * hn_table_real(&t->table, 0, "deviation"));
    close_trial(t);
}

static void test_supervised(void) {
    struct trial *t = open_trial(2, "encoder=gcn out=2", "uniform", "");
    t->spec.setting.loss.objective = HN_OBJECTIVE_SUPERVISED;
    t->spec.adam.steps = 100;
    HN_CHECK(&t->ctx, train(t));
    int64_t last = t->table.rows - 1;
    CU_ASSERT(hn_table_real(&t->table, last, "loss") < 0.5 * log(3));
    close_trial(t);
}

static void test_divergence(void) {
    struct trial *t = open_trial(1, "encoder=mean", "uniform", "");
    t->spec.adam.rate = 1e38;
    HN_CHECK_FAILS(&t->ctx, train(t), HN_DATA, "lower adam.rate");
    CU_ASSERT_PTR_NOT_NULL(strstr(t->ctx.message, "step "));
    close_trial(t);
}

static void test_what_does_not_fit(void) {
    struct trial *t = open_trial(1, "encoder=mean", "random-negatives", "n=3");
    t->spec.setting.loss.objective = HN_OBJECTIVE_INFONCE;
    HN_CHECK_FAILS(&t->ctx, train(t), HN_USAGE, "other-view");
    t->spec.setting.loss.objective = HN_OBJECTIVE_OTHER_VIEW;
    t->spec.setting.batch_size = NODES + 1;
    HN_CHECK_FAILS(&t->ctx, train(t), HN_DATA, "lower batch_size");
    t->spec.setting.batch_size = 20;
    t->spec.setting.data = "/nowhere";
    HN_CHECK_FAILS(&t->ctx, train(t), HN_DATA, "/nowhere/small");
    close_trial(t);
}

static void change_byte(const char *path, long at) {
    FILE *f = fopen(path, "r+b");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fseek(f, at, SEEK_SET);
    int c = fgetc(f);
    fseek(f, at, SEEK_SET);
    fputc(c ^ 64, f);
    fclose(f);
}

static void test_checkpoints(void) {
    struct trial *t = open_trial(1, "encoder=mean", "uniform", "");
    char path[160];
    use_folder(t, "hostile");
    t->stop_at = 7;
    HN_CHECK_FAILS(&t->ctx, train(t), HN_INTERRUPTED, "step 7");
    snprintf(path, sizeof path, "%s/checkpoint", t->folder);
    struct stat s;
    CU_ASSERT_EQUAL_FATAL(stat(path, &s), 0);
    for (long at = 200; at < s.st_size; at += s.st_size / 37) {
        change_byte(path, at);
        HN_CHECK_FAILS(&t->ctx, train(t), HN_DATA, "damaged");
        change_byte(path, at);
    }
    t->spec.key = "another run";
    HN_CHECK_FAILS(&t->ctx, train(t), HN_DATA, "belongs to another run");
    t->spec.key = "a run";
    CU_ASSERT_EQUAL(truncate(path, s.st_size / 2), 0);
    HN_CHECK_FAILS(&t->ctx, train(t), HN_DATA, "damaged");
    CU_ASSERT_EQUAL(truncate(path, 10), 0);
    HN_CHECK_FAILS(&t->ctx, train(t), HN_DATA, "damaged");
    unlink(path);
    t->stop_at = 0;
    HN_CHECK(&t->ctx, train(t));
    CU_ASSERT_NOT_EQUAL(access(path, F_OK), 0); // done with
    close_trial(t);
}

static void test_memory(void) {
    struct trial *t = open_trial(1, "encoder=mean", "ring", "lo=50 hi=90");
    t->spec.adam.steps = 4;
    t->spec.snapshot = 2;
    t->spec.expect = true;
    use_folder(t, "memory");
    HN_CHECK(&t->ctx, train(t));
    for (int64_t k = 1;; k++) {
        struct hn_table table = {0}, cosines = {0};
        int64_t live = t->ctx.memory.live;
        HN_CHECK(&t->ctx, hn_training_table(&t->ctx, t->spec.task, &table));
        HN_CHECK(&t->ctx, hn_cosines_table(&t->ctx, &cosines));
        t->spec.cosines = &cosines;
        t->ctx.memory.fail_at = t->ctx.memory.calls + k;
        enum hn_code code = hn_train(&t->ctx, &t->spec, NULL, &table, NULL);
        t->ctx.memory.fail_at = 0;
        CU_ASSERT(code == HN_OK || code == HN_MEMORY);
        hn_table_free(&t->ctx, &table);
        hn_table_free(&t->ctx, &cosines);
        CU_ASSERT_EQUAL(t->ctx.memory.live, live);
        if (code != HN_MEMORY)
            break;
        CU_ASSERT_FATAL(k < 5000);
    }
    close_trial(t);
}

static void test_exp(void) {
    double worst = 0;
    for (int i = -8700; i <= 8800; i++) {
        float x = (float)i * 0.01F + 0.0033F;
        worst = fmax(worst, fabs((double)hn_exp(x) / exp((double)x) - 1));
    }
    CU_ASSERT(worst < 0x1p-22);
    CU_ASSERT_EQUAL(hn_exp(0), 1);
    CU_ASSERT(hn_exp(-1e30F) < 1e-37F);
}

static const struct hn_test tests[] = {
    {"exp", test_exp},
    {"flops", test_flops},
    {"data digest", test_data_digest},
    {"threads", test_threads},
    {"interruption", test_interruption},
    {"untrained", test_untrained},
    {"stored_embeddings", test_stored_embeddings},
    {"expected", test_expected},
    {"cosines", test_cosines},
    {"learns", test_learns},
    {"collapse", test_collapse},
    {"supervised", test_supervised},
    {"divergence", test_divergence},
    {"what_does_not_fit", test_what_does_not_fit},
    {"checkpoints", test_checkpoints},
    {"memory", test_memory},
};
HN_TEST_MAIN("training", tests)
