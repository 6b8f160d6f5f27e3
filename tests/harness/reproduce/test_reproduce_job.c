// SPDX-License-Identifier: GPL-3.0-or-later
// The job of a training that an entry wants: its overrides.
#include "harness/reproduce/reproduce.h"
#include "harness/reproduce/reproduce_private.h"
#include "tests/job_fixture.h"

enum { OVERRIDES = 40 };

static const char text[] = "task: {node: {data: cora}}\n"
                           "samplers: uniform\n"
                           "batch_size: 4\n"
                           "steps: 1\n";

static int64_t steps_of(struct bench *b, const struct hn_reproduce *rep,
                        const struct hn_claim_job *job) {
    struct hn_train_job out;
    char *data;
    HN_SCOPE(&b->ctx);
    HN_CHECK(&b->ctx, hn_reproduce_job_open(&b->ctx, rep, job, &out, &data));
    int64_t steps = out.run.adam.steps;
    CU_ASSERT_EQUAL(out.n_seeds, 2);
    return steps;
}

// However many overrides an entry has, the last one counts, and the effort's come behind.
static void test_many_overrides(void) {
    struct bench b;
    const char *set[OVERRIDES], *quick[] = {"steps=8"};
    set_up(&b);
    write_bytes(b.path, text, strlen(text));
    for (int i = 0; i < OVERRIDES; i++)
        set[i] = i + 1 < OVERRIDES ? "steps=5" : "steps=7";
    const struct hn_claim_job job = {
        .job = b.path, .set = set, .n_set = OVERRIDES, .quick = quick, .n_quick = 1};
    struct hn_reproduce rep = {.folder = b.folder, .seeds = 2};
    CU_ASSERT_EQUAL(steps_of(&b, &rep, &job), 7);
    rep.effort = HN_EFFORT_QUICK;
    CU_ASSERT_EQUAL(steps_of(&b, &rep, &job), 8);
    tear_down(&b);
}

static const struct hn_test tests[] = {{"many overrides", test_many_overrides}};

HN_TEST_MAIN("reproduce_job", tests)
