// SPDX-License-Identifier: GPL-3.0-or-later
// Job files from strangers: bounds on what they may ask for, any change of any byte, failing
// allocations.
#include "tests/job_fixture.h"

#include <stdlib.h>

// Text of a hostile file: head, n times `unit`, tail. Owned: free().
static char *repeated(const char *head, const char *unit, size_t n, const char *tail) {
    size_t width = strlen(unit), capacity = strlen(head) + n * width + strlen(tail) + 1;
    char *text = malloc(capacity);
    if (!text)
        abort();
    char *at = stpcpy(text, head);
    for (size_t i = 0; i < n; i++)
        at = stpcpy(at, unit);
    strcpy(at, tail);
    return text;
}

static void fails_repeated(struct bench *b, char *text, const char *wanted) {
    fails(b, text, wanted);
    free(text);
}

static void test_hostile(void) {
    struct bench b;
    set_up(&b);
    fails_repeated(&b, repeated(SHORT "seeds: ", "[", 100000, ""),
                   "4:39: nested more than 32 deep");
    fails_repeated(&b, repeated(SHORT "seeds: ", "{a: ", 1000, ""), "4:132: nested more than 32");
    fails_repeated(&b, repeated(SHORT "seeds: [", "1,", 100000, "]"),
                   "4:8201: more than 4096 entries");
    fails_repeated(
        &b,
        repeated(SHORT "x: [", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],", 4000, "]"),
        "4:199984: more than 100000 values");
    fails_repeated(&b, repeated("", "x", (1 << 20) + 1, ""), " larger than 1 MiB");
    // Escapes in texts reach no terminal; a long name is clipped.
    fails(&b, SHORT "\"\\e[31m\\nred\": 1\n", "4:1: unknown key '?[31m?red'");
    fails_repeated(&b, repeated(SHORT "\"", "\xC3\xA9", 400, "\": 1\n"),
                   "4:1: unknown key '\xC3\xA9");
    CU_ASSERT_PTR_NOT_NULL(strstr(b.ctx.message, "\xC3\xA9' (known: "));
    tear_down(&b);
}

static void test_many_keys(void) {
    struct bench b;
    static char text[1 << 17];
    set_up(&b);
    char *at = text;
    for (int i = 0; i < 5000; i++)
        at += sprintf(at, "k%d: 1\n", i);
    fails(&b, text, "4097:1: more than 4096 entries in a mapping");
    tear_down(&b);
}

// A list of n different values for a sampler option, "[1,2,...,n]".
static void append_list(char *text, const char *name, int n) {
    char *at = text + strlen(text);
    at += sprintf(at, "%s: [", name);
    for (int i = 1; i <= n; i++)
        at += sprintf(at, "%d,", i);
    strcpy(at, "], ");
}

static void test_grid_bounds(void) {
    struct bench b;
    static char text[1 << 17];
    set_up(&b);
    // Four lists of 4,000: their product does not fit 32 bits, let alone the bound.
    strcpy(text, BEFORE "  - batchsampler: {");
    append_list(text, "M", 4000);
    append_list(text, "K", 4000);
    append_list(text, "t", 4000);
    append_list(text, "cap", 4000);
    strcat(text, "}\n");
    fails(&b, text, "4:18920: the samplers have more than 100000 points");
    // Three entries of 45,000 points.
    strcpy(text, BEFORE);
    for (int i = 0; i < 3; i++) {
        strcat(text, "  - batchsampler: {");
        append_list(text, "M", 300);
        append_list(text, "K", 150);
        strcat(text, "}\n");
    }
    fails(&b, text, "6:5: the samplers have more than 100000 points");
    // 2,000 seeds times 2,000 steps.
    strcpy(text, "{snapshots: a, samplers: knn, ");
    append_list(text, "seeds", 2000);
    append_list(text, "steps", 2000);
    strcat(text, "batch_size: 4}");
    fails(&b, text, "1:1: the job has more than 1000000 cells");
    tear_down(&b);
}

// Whatever a byte is changed to, and wherever the file ends: a job or a message with the file's
// name, and nothing left behind.
static void check_any(struct bench *b, const char *text, size_t n, int64_t *accepted) {
    struct hn_job job;
    int64_t before = b->ctx.memory.live;
    void *memory = hn_alloc(&b->ctx, 0, 1), *outer = hn_own(&b->ctx, memory);
    write_bytes(b->path, text, n);
    enum hn_code code = hn_job_read(&b->ctx, b->path, NULL, NULL, hn_figure_id, &job);
    hn_own(&b->ctx, outer);
    hn_free(&b->ctx, memory);
    if (code == HN_OK) {
        ++*accepted;
    } else {
        CU_ASSERT_EQUAL(code, HN_USAGE);
        CU_ASSERT_EQUAL(strncmp(b->ctx.message, b->path, strlen(b->path)), 0);
    }
    CU_ASSERT_EQUAL(b->ctx.memory.live, before);
}

static void test_mutations(void) {
    static const char change[] = "\0\n\t :-[{}]\"&\x80\xFF";
    struct bench b;
    char text[sizeof full_job];
    int64_t accepted = 0;
    set_up(&b);
    size_t n = strlen(full_job);
    for (size_t i = 0; i <= n; i++)
        check_any(&b, full_job, i, &accepted);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < sizeof change; j++) {
            memcpy(text, full_job, sizeof text);
            text[i] = change[j];
            check_any(&b, text, n, &accepted);
        }
    CU_ASSERT(accepted > 0); // some changes change nothing that matters
    tear_down(&b);
}

static void test_failing_allocations(void) {
    struct bench b;
    struct hn_job job;
    struct hn_job_sampler *s;
    enum hn_code code = HN_MEMORY;
    set_up(&b);
    for (int64_t k = 1; code == HN_MEMORY; k++) {
        drop_jobs(&b);
        b.jobs = hn_alloc(&b.ctx, 0, 1);
        b.ctx.memory.calls = 0;
        b.ctx.memory.fail_at = k;
        code = read_text(&b, full_job, "batches=20|limits.memory=1MiB|timing.reps=2", &job);
    }
    HN_CHECK(&b.ctx, code);
    CU_ASSERT_EQUAL(job.batches, 20);
    drop_jobs(&b);
    code = HN_MEMORY;
    for (int64_t k = 1; code == HN_MEMORY; k++) {
        b.ctx.memory.calls = 0;
        b.ctx.memory.fail_at = k;
        code = hn_job_parse_sampler(&b.ctx, "{batchsampler: {M: 500}}", &s);
        if (code == HN_MEMORY)
            CU_ASSERT_EQUAL(b.ctx.memory.live, 0);
    }
    b.ctx.memory.fail_at = 0;
    HN_CHECK(&b.ctx, code);
    hn_free(&b.ctx, s);
    tear_down(&b);
}

static const struct hn_test tests[] = {
    {"hostile", test_hostile},
    {"many_keys", test_many_keys},
    {"grid_bounds", test_grid_bounds},
    {"mutations", test_mutations},
    {"failing_allocations", test_failing_allocations},
};

HN_TEST_MAIN("job_hostile", tests)
