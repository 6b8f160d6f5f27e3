// SPDX-License-Identifier: GPL-3.0-or-later
// For tests of the training loop: a small graph of documents, and runs of the node task on it.
#pragma once

#include "datasets/snapshot.h"
#include "tests/fixture.h"
#include "tests/named_weighting.h"
#include "tests/task_data.h"
#include "training/loop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NODES = DOCUMENTS, PARAMS = 512 };

static char root[64]; // of this process, made by the first test that needs it

static inline void clean_up(void) { hn_fixture_remove(root); }

static inline FILE *open_part(const char *end) {
    char name[64];
    snprintf(name, sizeof name, "small/small.%s", end);
    return open_data(root, name);
}

static inline void prepare(void) {
    if (*root)
        return;
    const char *tmp = getenv("TMPDIR");
    char small[96];
    snprintf(root, sizeof root, "%.40s/hardneg-tr-XXXXXX", tmp && strlen(tmp) < 41 ? tmp : "/tmp");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(root));
    atexit(clean_up);
    snprintf(small, sizeof small, "%s/small", root);
    mkdir(small, 0777);
    put_documents(small);
}

// A run of a task; params of task and sampler are set by "name=value" lists.
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

static inline void set(struct trial *t, const struct hn_option *table, void *params,
                       const char *text) {
    char list[256], *rest = NULL;
    snprintf(list, sizeof list, "%s", text);
    for (char *pair = strtok_r(list, " ", &rest); pair; pair = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(pair, '=');
        *equals = '\0';
        HN_CHECK(&t->ctx, hn_options_set(&t->ctx, table, params, pair, equals + 1));
    }
}

static inline struct trial *open_trial_of(int threads, const char *name, const char *task,
                                          const char *sampler, const char *options) {
    struct trial *t = calloc(1, sizeof *t);
    prepare();
    hn_context_init(&t->ctx, threads);
    const struct hn_task_type *type = hn_task_find(name);
    const struct hn_sampler_type *s = hn_sampler_find(sampler);
    const struct hn_weighting_type *w = named_weighting("none");
    CU_ASSERT_FATAL(type && s && w && type->params_size <= PARAMS && s->params_size <= PARAMS);
    t->options[0] = type->options;
    t->options[1] = s->options;
    HN_CHECK(&t->ctx, hn_options_init(&t->ctx, type->options, t->task));
    HN_CHECK(&t->ctx, hn_options_init(&t->ctx, s->options, t->sampler));
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

static inline struct trial *open_trial(int threads, const char *task, const char *sampler,
                                       const char *options) {
    char all[256];
    snprintf(all, sizeof all, "data=small hidden=16 out=8 %s", task);
    return open_trial_of(threads, "node", all, sampler, options);
}

static inline void close_trial(struct trial *t) {
    hn_table_free(&t->ctx, &t->table);
    hn_options_free(&t->ctx, t->options[0], t->task);
    hn_options_free(&t->ctx, t->options[1], t->sampler);
    CU_ASSERT_EQUAL(t->ctx.memory.live, 0);
    free(t);
}

static inline void watch(void *data, int64_t done, int64_t steps, double loss, double accuracy) {
    struct trial *t = data;
    CU_ASSERT(done <= steps && isfinite(loss) && accuracy >= 0);
    t->stop = t->stop || done == t->stop_at;
}

static inline enum hn_code train(struct trial *t) {
    const struct hn_run_watch watcher = {.step = watch, .data = t};
    t->ctx.stop = &t->stop;
    t->stop = 0;
    hn_table_free(&t->ctx, &t->table);
    HN_CHECK(&t->ctx, hn_training_table(&t->ctx, t->spec.task, &t->table));
    return hn_train(&t->ctx, &t->spec, &watcher, &t->table, &t->times);
}

static inline void use_folder(struct trial *t, const char *name) {
    snprintf(t->folder, sizeof t->folder, "%s/%s", root, name);
    mkdir(t->folder, 0777);
    t->spec.folder = t->folder;
}

// The digest of the series that a training left, which is valid.
static inline void series_digest(struct trial *t, char digest[65]) {
    struct hn_snapshot *s;
    char path[160];
    snprintf(path, sizeof path, "%s/series.h5", t->folder);
    HN_CHECK(&t->ctx, hn_snapshot_open(&t->ctx, path, &s));
    HN_CHECK(&t->ctx, hn_snapshot_validate(&t->ctx, s));
    HN_CHECK(&t->ctx, hn_snapshot_digest(&t->ctx, s, digest));
    hn_snapshot_close(&t->ctx, s);
}

// Everything but times is the same, to the last bit.
static inline void check_same(const struct hn_table *a, const struct hn_table *b) {
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

static const struct {
    const char *sampler, *options;
} samplers[] = {{"uniform", "draw=shuffle"}, {"knn", ""},
                {"gcbs", "quantile=0.9"},    {"batchsampler", "M=20 K=5"},
                {"ring", "lo=50 hi=90"},     {"hops", "l=2"},
                {"random-negatives", "n=7"}, {"ring", "space=embeddings n=4"},
                {"hard-negative", "l=1"},    {"stratified", ""}};
enum { SAMPLERS = sizeof samplers / sizeof samplers[0] };
