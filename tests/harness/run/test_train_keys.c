// SPDX-License-Identifier: GPL-3.0-or-later
// Keys of training runs: digests of spelt-out text, whatever the machine keeps in memory.
#include "core/digest.h"
#include "core/options/option_text.h"
#include "harness/host/host.h"
#include "harness/run/train.h"
#include "tests/job_fixture.h"

static const char text[] = "task: [{node: {data: cora, hidden: 8, out: 8}}]\n"
                           "samplers: [{random-negatives: {n: 20}}]\n"
                           "loss: infonce\nbatch_size: [64]\nseeds: [7]\nsteps: 10\n"
                           "adam: {rate: 0.01, warmup: 3}\nsnapshots: {every: 5}\n";

static void read_with(struct bench *b, char **set, int n, struct hn_train_job *job,
                      struct hn_train_run *run) {
    struct hn_text_list list = {set, n};
    write_bytes(b->path, text, strlen(text));
    hn_own(&b->ctx, b->jobs);
    HN_CHECK(&b->ctx, hn_train_job_read(&b->ctx, b->path, n > 0 ? &list : NULL, job));
    struct hn_train_plan plan;
    HN_CHECK(&b->ctx, hn_train_plan_make(&b->ctx, job, &plan));
    CU_ASSERT_EQUAL_FATAL(plan.n, 1);
    *run = plan.run[0];
    hn_own(&b->ctx, NULL);
}

static void read_run(struct bench *b, const char *set, struct hn_train_job *job,
                     struct hn_train_run *run) {
    char *item = (char *)set;
    read_with(b, &item, set != NULL, job, run);
}

static void add_texts(struct hn_digest *d, const char *const *part) {
    for (; *part; part++)
        hn_digest_add_text(d, *part);
}

static void test_spelt_out(void) {
    static const char *const numbers[] = {"random-negatives",
                                          "n=20",
                                          "none",
                                          "",
                                          "infonce",
                                          "0.01",
                                          "0",
                                          "0.9",
                                          "0.999",
                                          "1e-08",
                                          "0.5",
                                          "10",
                                          "10",
                                          "-9223372036854775808",
                                          "0",
                                          "0",
                                          "0",
                                          "0",
                                          "3",
                                          "0",
                                          "64",
                                          "7",
                                          NULL};
    struct bench b;
    struct hn_train_job job;
    struct hn_train_run run;
    struct hn_digest d, whole;
    char wanted[HN_DIGEST_TEXT], value[256], version[32];
    set_up(&b);
    read_run(&b, NULL, &job, &run);
    hn_digest_begin(&d);
    add_texts(&d, (const char *const[]){"hardneg training 3", "node", "cora", NULL});
    for (const struct hn_option *o = run.task->type->options; o->name; o++)
        if (strcmp(o->name, "data") != 0 &&
            hn_option_text(o, run.task->params, value, sizeof value) > 0)
            add_texts(&d, (const char *const[]){o->name, value, NULL});
    add_texts(&d, numbers);
    whole = d;
    hn_digest_end(&d, wanted);
    CU_ASSERT_STRING_EQUAL(run.cell_key, wanted);
    snprintf(version, sizeof version, "%d", (int)hn_results_code_version);
    add_texts(&whole, (const char *const[]){"6", version, "0", "5", "0", "0", "0", "rate", NULL});
    hn_digest_end(&whole, wanted);
    CU_ASSERT_STRING_EQUAL(run.run_key, wanted);
    tear_down(&b);
}

// What changes the numbers of a run changes its cell_key; what is kept of it, its run_key alone.
static void test_parameters(void) {
    static const struct {
        const char *set;
        bool cell, run;
    } list[] = {
        {"adam.rate=0.010000000000000002", true, true},
        {"adam.schedule=cosine", true, true},
        {"temperature=0.4", true, true},
        {"seeds=8", true, true},
        {"evaluate=2", false, true},
        {"snapshots.every=6", false, true},
        {"cosines=true", false, true},
        {"checkpoint=3", false, false},
        {"adam.rate=1e-2", false, false},
    };
    struct bench b;
    struct hn_train_job job, other;
    struct hn_train_run run, changed;
    set_up(&b);
    read_run(&b, NULL, &job, &run);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        read_run(&b, list[i].set, &other, &changed);
        CU_ASSERT_EQUAL(strcmp(run.cell_key, changed.cell_key) != 0, list[i].cell);
        CU_ASSERT_EQUAL(strcmp(run.run_key, changed.run_key) != 0, list[i].run);
    }
    tear_down(&b);
}

// The bias is of siglip alone; the paper's is that by default.
static void test_bias(void) {
    struct bench b;
    struct hn_train_job job, other;
    struct hn_train_run run, changed;
    char *none[] = {"loss=siglip"}, *same[] = {"loss=siglip", "bias=-10"},
         *further[] = {"loss=siglip", "bias=-5"}, *wrong[] = {"bias=-5"};
    set_up(&b);
    read_with(&b, none, 1, &job, &run);
    read_with(&b, same, 2, &other, &changed);
    CU_ASSERT_STRING_EQUAL(run.cell_key, changed.cell_key);
    read_with(&b, further, 2, &other, &changed);
    CU_ASSERT_STRING_NOT_EQUAL(run.cell_key, changed.cell_key);
    struct hn_text_list list = {wrong, 1};
    hn_own(&b.ctx, b.jobs);
    HN_CHECK_FAILS(&b.ctx, hn_train_job_read(&b.ctx, b.path, &list, &other), HN_USAGE,
                   "bias is of loss siglip");
    hn_own(&b.ctx, NULL);
    tear_down(&b);
}

static const struct hn_test tests[] = {
    {"spelt_out", test_spelt_out},
    {"parameters", test_parameters},
    {"bias", test_bias},
};

HN_TEST_MAIN("train_keys", tests)
