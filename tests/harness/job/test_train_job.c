// SPDX-License-Identifier: GPL-3.0-or-later
// Training jobs: what a list may hold, the resolved text, failing allocations.
#include "harness/job/train_job.h"
#include "tests/job_fixture.h"

static const char train_job[] = "task: [{node: {data: cora}}]\n"
                                "samplers: [uniform, {batchsampler: {M: [50, 60], K: 10}}]\n"
                                "weightings: [none, {hcl: {beta: [1, 2]}}]\n"
                                "loss: [ntxent, infonce]\n"
                                "temperature: [0.5, 0.1]\n"
                                "batch_size: [all, 64]\n"
                                "seeds: [1, 2]\n"
                                "steps: 10\n"
                                "drop_last: false\n"
                                "adam: {rate: 0.01, schedule: cosine}\n"
                                "snapshots: {every: 5}\n";

static enum hn_code read_train(struct bench *b, const char *text, const char *set,
                               struct hn_train_job *job) {
    char *item = (char *)set;
    struct hn_text_list list = {&item, 1};
    write_bytes(b->path, text, strlen(text));
    void *outer = hn_own(&b->ctx, b->jobs);
    enum hn_code code = hn_train_job_read(&b->ctx, b->path, set ? &list : NULL, job);
    hn_own(&b->ctx, outer);
    return code;
}

static void test_resolved(void) {
    struct bench b;
    struct hn_train_job job, again;
    set_up(&b);
    HN_CHECK(&b.ctx, read_train(&b, train_job, NULL, &job));
    CU_ASSERT_EQUAL(job.n_samplers, 3);
    CU_ASSERT_EQUAL(job.n_weightings, 3);
    CU_ASSERT_EQUAL(job.n_losses, 2);
    CU_ASSERT_EQUAL(job.loss[1], HN_OBJECTIVE_INFONCE);
    CU_ASSERT_EQUAL(job.batch_size[0], 0);
    CU_ASSERT_EQUAL(job.batch_size[1], 64);
    CU_ASSERT_PTR_NOT_NULL(strstr(job.resolved, "weightings:\n  - \"none\": {}\n  - \"hcl\": {"));
    CU_ASSERT_PTR_NOT_NULL(strstr(job.resolved, "loss: [ntxent, infonce]\n"
                                                "temperature: [0.5, 0.1]\n"
                                                "batch_size: [all, 64]\n"
                                                "seeds: [1, 2]\n"
                                                "version: 1\n"
                                                "steps: 10\n"
                                                "drop_last: false\n"
                                                "uniform_epochs: 0\n"));
    CU_ASSERT_EQUAL(job.adam.n_rates, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(job.resolved, "adam: {rate: "));
    HN_CHECK(&b.ctx, read_train(&b, job.resolved, NULL, &again));
    CU_ASSERT_STRING_EQUAL(job.resolved, again.resolved);
    CU_ASSERT_STRING_EQUAL(job.resolved_sha256, again.resolved_sha256);
    tear_down(&b);
}

// Learning rates are part of the grid, the rest of the optimiser is not.
static void test_rates(void) {
    struct bench b;
    struct hn_train_job job, again;
    set_up(&b);
    HN_CHECK(&b.ctx, read_train(&b, train_job, "adam={rate: [0.001, 0.02], warmup: 3}", &job));
    CU_ASSERT_EQUAL_FATAL(job.adam.n_rates, 2);
    CU_ASSERT_DOUBLE_EQUAL(job.adam.rate[1], 0.02, 0);
    CU_ASSERT_EQUAL(job.adam.of_all.warmup, 3);
    CU_ASSERT_PTR_NOT_NULL(strstr(job.resolved, "adam: {rate: [0.001, 0.02], weight_decay: "));
    HN_CHECK(&b.ctx, read_train(&b, job.resolved, NULL, &again));
    CU_ASSERT_STRING_EQUAL(job.resolved, again.resolved);
    CU_ASSERT_EQUAL(read_train(&b, train_job, "adam={rate: [0.001, 0]}", &job), HN_USAGE);
    CU_ASSERT_EQUAL(read_train(&b, train_job, "adam={rate: [0.001, 0.001]}", &job), HN_USAGE);
    tear_down(&b);
}

// Files are named relative to the job's, and are not in the text where none is given.
static void test_files(void) {
    struct bench b;
    struct hn_train_job job;
    char wanted[300];
    set_up(&b);
    HN_CHECK(&b.ctx, read_train(&b, train_job, NULL, &job));
    CU_ASSERT_PTR_NULL(job.run.teacher);
    CU_ASSERT_PTR_NULL(strstr(job.resolved, "teacher"));
    HN_CHECK(&b.ctx, read_train(&b, train_job, "teacher=sub/t.npy", &job));
    snprintf(wanted, sizeof wanted, "%s/sub/t.npy", job.folder);
    CU_ASSERT_STRING_EQUAL(job.run.teacher, wanted);
    CU_ASSERT_PTR_NOT_NULL(strstr(job.resolved, "teacher: \"sub/t.npy\"\n"));
    HN_CHECK(&b.ctx, read_train(&b, train_job, "groups=/g.npy", &job));
    CU_ASSERT_STRING_EQUAL(job.run.group, "/g.npy");
    tear_down(&b);
}

// One rule for both kinds of job: what is given twice in a list is refused, where it stands.
static void test_twice(void) {
    static const struct {
        const char *set, *wanted; // wanted: of both
    } list[] = {
        {"loss=[infonce, infonce]", "'infonce' is given twice in 'loss'"},
        {"seeds=[3, 4, 3.0]", "3.0 is given twice in 'seeds'"},
        {"temperature=[0.5, 5e-1]", "5e-1 is given twice in 'temperature'"},
        {"batch_size=[64, 6.4e1]", "6.4e1 is given twice in 'batch_size'"},
        {"samplers=[knn, knn]", "knn {} is given twice"},
        {"samplers=[{batchsampler: {M: [5, 5]}}]", "5 is given twice in 'M'"},
        {"weightings=[none, none]", "none {} is given twice"},
    };
    struct bench b;
    char wanted[256];
    set_up(&b);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        struct hn_job job;
        struct hn_train_job training;
        snprintf(wanted, sizeof wanted, "--set %s: %s", list[i].set, list[i].wanted);
        CU_ASSERT_EQUAL(read_train(&b, train_job, list[i].set, &training), HN_USAGE);
        check_message(&b, wanted);
        CU_ASSERT_EQUAL(read_text(&b, full_job, list[i].set, &job), HN_USAGE);
        check_message(&b, wanted);
    }
    struct hn_train_job job;
    CU_ASSERT_EQUAL(read_train(&b, train_job, "task=[{node: {data: a}}, {node: {data: a}}]", &job),
                    HN_USAGE);
    check_message(&b, "--set task=[{node: {data: a}}, {node: {data: a}}]: node {");
    CU_ASSERT_EQUAL(read_train(&b,
                               "loss: [infonce,\n  ntxent, infonce]\nsteps: 1\ntask: node\n"
                               "samplers: knn\nbatch_size: 4\n",
                               NULL, &job),
                    HN_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(b.ctx.message, ":2:11: 'infonce' is given twice in 'loss'"));
    tear_down(&b);
}

static void test_refused(void) {
    struct bench b;
    struct hn_train_job job;
    set_up(&b);
    CU_ASSERT_EQUAL(read_train(&b, train_job, "sampler=[knn]", &job), HN_USAGE);
    check_message(&b, "--set sampler=[knn]: unknown key 'sampler' (did you mean 'samplers'?)");
    CU_ASSERT_EQUAL(read_train(&b, train_job, "epochs=2", &job), HN_USAGE);
    check_message(&b, "--set epochs=2: give either 'steps' or 'epochs'");
    CU_ASSERT_EQUAL(read_train(&b, train_job, "loss=dcl", &job), HN_USAGE);
    check_message(&b, "--set loss=dcl: 'dcl' means debiased to some");
    CU_ASSERT_EQUAL(read_train(&b, "task: node\nsamplers: knn\nsteps: 1\n", NULL, &job), HN_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(b.ctx.message, ":1:1: the required key 'batch_size' is missing"));
    tear_down(&b);
}

// A failed allocation fails the reading: no option is ever left out of the text and its digest.
static void test_failing_allocations(void) {
    struct bench b;
    struct hn_train_job whole, job;
    enum hn_code code = HN_MEMORY;
    set_up(&b);
    int64_t failed = 0;
    for (int64_t k = 1; code == HN_MEMORY; k++) {
        drop_jobs(&b);
        b.jobs = hn_alloc(&b.ctx, 0, 1);
        b.ctx.memory.calls = 0;
        b.ctx.memory.fail_at = k;
        code = read_train(&b, train_job, NULL, &job);
        failed += code == HN_MEMORY;
    }
    b.ctx.memory.fail_at = 0;
    HN_CHECK(&b.ctx, code);
    CU_ASSERT(failed > 50);
    HN_CHECK(&b.ctx, read_train(&b, train_job, NULL, &whole));
    CU_ASSERT_STRING_EQUAL(job.resolved, whole.resolved);
    CU_ASSERT_STRING_EQUAL(job.resolved_sha256, whole.resolved_sha256);
    tear_down(&b);
}

static const struct hn_test tests[] = {
    {"resolved", test_resolved}, {"rates", test_rates},
    {"files", test_files},       {"twice", test_twice},
    {"refused", test_refused},   {"failing_allocations", test_failing_allocations},
};

HN_TEST_MAIN("train_job", tests)
