// SPDX-License-Identifier: GPL-3.0-or-later
// What the tests of job files share: a scratch folder, reading a text as a job, and a job with
// every key.
#pragma once

#include "harness/job/job.h"
#include "plots/page/figure.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct bench {
    struct hn_context ctx;
    void *jobs; // owns the jobs that are read
    char folder[512], path[600];
};

static inline void set_up(struct bench *b) {
    hn_context_init(&b->ctx, 1);
    b->jobs = hn_alloc(&b->ctx, 0, 1);
    hn_fixture_folder(b->folder, sizeof b->folder);
    snprintf(b->path, sizeof b->path, "%s/job.yaml", b->folder);
}

// Whatever came of reading jobs, they own it.
static inline void drop_jobs(struct bench *b) {
    b->ctx.memory.fail_at = 0;
    hn_free(&b->ctx, b->jobs);
    CU_ASSERT_EQUAL(b->ctx.memory.live, 0);
    b->jobs = NULL;
}

static inline void tear_down(struct bench *b) {
    drop_jobs(b);
    hn_fixture_remove(b->folder);
}

static inline void write_bytes(const char *path, const void *bytes, size_t n) {
    unlink(path); // truncating it instead makes some file systems wait for the disk
    FILE *file = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL(fwrite(bytes, 1, n, file), n);
    CU_ASSERT_EQUAL(fclose(file), 0);
}

// Reads `text` as a job file, with overrides separated by '|' (NULL: none).
static inline enum hn_code read_text(struct bench *b, const char *text, const char *set,
                                     struct hn_job *job) {
    char copy[1024] = "", *item[16];
    struct hn_text_list list = {item, 0};
    write_bytes(b->path, text, strlen(text));
    if (set)
        snprintf(copy, sizeof copy, "%s", set);
    for (char *at = copy; set && at; list.count++) {
        item[list.count] = at;
        at = strchr(at, '|');
        if (at)
            *at++ = '\0';
    }
    void *outer = hn_own(&b->ctx, b->jobs);
    enum hn_code code = hn_job_read(&b->ctx, b->path, NULL, set ? &list : NULL, hn_figure_id, job);
    hn_own(&b->ctx, outer);
    return code;
}

static inline void check_message(struct bench *b, const char *wanted) {
    bool same = !strncmp(b->ctx.message, wanted, strlen(wanted));
    if (!same)
        fprintf(stderr, "    \"%s\"\n    does not begin with \"%s\"\n", b->ctx.message, wanted);
    CU_ASSERT(same);
}

// The text fails with a message that begins with "<path>:<wanted>".
static inline void fails(struct bench *b, const char *text, const char *wanted) {
    struct hn_job job;
    char full[HN_MESSAGE_MAX];
    CU_ASSERT_EQUAL(read_text(b, text, NULL, &job), HN_USAGE);
    snprintf(full, sizeof full, "%s:%s", b->path, wanted);
    check_message(b, full);
}

// The shortest job, three lines; `more` follows as line 4.
#define SHORT "snapshots: a.h5\nbatch_size: 64\nsamplers: [uniform]\n"

// A job up to its samplers, which follow as line 4.
#define BEFORE "snapshots: a.h5\nbatch_size: 64\nsamplers:\n"

static const char full_job[] =
    "version: 1\n"
    "snapshots: [cifar10.h5, /data/b.h5]\n"
    "steps: [0, 100]\n"
    "batch_size: [64, 128]\n"
    "epochs: 2\n"
    "seeds: [1, 2, 3]\n"
    "samplers:\n"
    "  - uniform: {draw: [shuffle, iid]}\n"
    "  - knn\n"
    "  - batchsampler: {M: [500, 1000], K: 100, alpha: [0.1, \"0.2~0.05\"]}\n"
    "  - gcbs:\n"
    "  - \"null\": {}\n"
    "loss: [ntxent, other-view]\n"
    "weightings: [none, {debiased: {tau_plus: 0.05}}, {hcl: {tau_plus: [0, 0.1], beta: [1, 2]}}]\n"
    "temperature: [0.5, 0.07]\n"
    "metrics: [fn_ratio]\n"
    "timing: {reps: 21, warmup: 2, interleave: true}\n"
    "limits: {memory: 4GiB}\n"
    "figures: [bs-fig4]\n";
