// SPDX-License-Identifier: GPL-3.0-or-later
// Interrupted runs go on to the same bits; damaged and foreign checkpoints are refused.
#include "datasets/snapshot.h"
#include "tests/training_fixture.h"

static void digest_series(struct trial *t, char text[65]) {
    char path[160];
    struct hn_snapshot *s;
    snprintf(path, sizeof path, "%s/series.h5", t->folder);
    HN_CHECK(&t->ctx, hn_snapshot_open(&t->ctx, path, &s));
    HN_CHECK(&t->ctx, hn_snapshot_validate(&t->ctx, s));
    HN_CHECK(&t->ctx, hn_snapshot_digest(&t->ctx, s, text));
    hn_snapshot_close(&t->ctx, s);
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
    // A run without a key has a checkpoint that no run with one takes.
    t->spec.key = NULL;
    t->stop_at = 7;
    HN_CHECK_FAILS(&t->ctx, train(t), HN_INTERRUPTED, "step 7");
    t->spec.key = "a run";
    HN_CHECK_FAILS(&t->ctx, train(t), HN_DATA, "belongs to another run");
    t->spec.key = NULL;
    t->stop_at = 0;
    HN_CHECK(&t->ctx, train(t));
    CU_ASSERT_EQUAL(t->times.steps, 12); // those before the interruption count
    // What is in its place is neither read nor written over.
    CU_ASSERT_EQUAL(mkdir(path, 0777), 0);
    HN_CHECK_FAILS(&t->ctx, train(t), HN_DATA, "checkpoint cannot be opened: ");
    CU_ASSERT_EQUAL(rmdir(path), 0);
    CU_ASSERT_EQUAL(symlink("/nowhere/at-all", path), 0);
    HN_CHECK(&t->ctx, train(t)); // a link to nothing is no checkpoint
    (void)unlink(path);
    close_trial(t);
}

// A snapshot of an interrupted run that was damaged before the run went on is not joined.
static void test_series_parts(void) {
    struct trial *t = open_trial(1, "encoder=mean", "uniform", "");
    char path[160];
    use_folder(t, "parts");
    t->spec.snapshot = 3;
    t->stop_at = 7;
    HN_CHECK_FAILS(&t->ctx, train(t), HN_INTERRUPTED, "step 7");
    snprintf(path, sizeof path, "%s/step-00000003.f32", t->folder);
    change_byte(path, 1000);
    t->stop_at = 0;
    HN_CHECK_FAILS(&t->ctx, train(t), HN_DATA, "step-00000003.f32 is missing or damaged: remove");
    close_trial(t);
}

static const struct hn_test tests[] = {
    {"parts of a series", test_series_parts},
    {"interruption", test_interruption},
    {"checkpoints", test_checkpoints},
};
HN_TEST_MAIN("checkpoints", tests)
