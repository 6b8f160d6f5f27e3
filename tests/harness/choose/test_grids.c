// SPDX-License-Identifier: GPL-3.0-or-later
// The grids of samplers' entries: each is a list of that sampler's settings, at any size.
#include "harness/job/job.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

static void check_grid(struct hn_context *ctx, const struct hn_sampler_type *type,
                       const struct hn_sampler_plan *plan) {
    char own[2048] = "", text[2200];
    const struct hn_text_list none = {NULL, 0};
    struct hn_job job;
    HN_SCOPE(ctx);
    type->grid(plan, own, sizeof own);
    CU_ASSERT(strlen(own) + 1 < sizeof own);
    if (!*own)
        return;
    snprintf(text, sizeof text, "snapshots: s.h5\nbatch_size: 2\nsamplers: [%s]\n", own);
    HN_CHECK(ctx, hn_job_read(ctx, "a grid", text, &none, NULL, &job));
    CU_ASSERT(job.n_samplers > 0);
    for (int64_t i = 0; i < job.n_samplers; i++)
        CU_ASSERT_PTR_EQUAL(job.sampler[i].type, type);
}

static void test_every_grid(void) {
    static const int64_t n[] = {16, 100, 5000, 5001, 2000000};
    static const int32_t batch_size[] = {2, 16, 256};
    struct hn_context ctx;
    int grids = 0;
    hn_context_init(&ctx, 1);
    for (const struct hn_sampler_type *const *t = hn_samplers; *t; t++) {
        grids += (*t)->grid != NULL;
        for (int i = 0; (*t)->grid && i < 5 * 3 * 2; i++) {
            const struct hn_sampler_plan plan = {
                .n = n[i % 5], .batch_size = batch_size[i / 5 % 3], .has_teacher = i % 2};
            check_grid(&ctx, *t, &plan);
        }
    }
    CU_ASSERT(grids > 5);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Settings that differ with the data: where an entry forgets its sizes, these fail.
static void test_sizes(void) {
    struct hn_sampler_plan plan = {.n = 1000, .batch_size = 16};
    char text[2048] = "";
    hn_sampler_find("gcbs")->grid(&plan, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "{gcbs: {keep: 64}}");
    plan.n = 1028;
    *text = '\0';
    hn_sampler_find("gcbs")->grid(&plan, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "{gcbs: {keep: 64}}, {gcbs: {keep: 256}}");
    plan = (struct hn_sampler_plan){.n = 100, .batch_size = 16};
    *text = '\0';
    hn_sampler_find("tas-b")->grid(&plan, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "{tas-b: {cluster: 32}}");
    plan.n = 129;
    *text = '\0';
    hn_sampler_find("tas-b")->grid(&plan, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "{tas-b: {cluster: 32}}, {tas-b: {cluster: 128}}");
    plan.n = 1999; // .003 of them would be an item and five others
    *text = '\0';
    hn_sampler_find("mosaic")->grid(&plan, text, sizeof text);
    CU_ASSERT_PTR_NULL(strstr(text, "kappa"));
    plan.n = 2000;
    *text = '\0';
    hn_sampler_find("mosaic")->grid(&plan, text, sizeof text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "{mosaic: {kappa: 0.003, lambda: [0.5, 0.7, 0.9]}}, "));
}

static const struct hn_test tests[] = {
    {"every grid", test_every_grid},
    {"sizes", test_sizes},
};

HN_TEST_MAIN("grids", tests)
