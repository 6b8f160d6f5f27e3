// SPDX-License-Identifier: GPL-3.0-or-later
// What planning says of settings: a refusal, a note, or nothing.
#include "core/text.h"
#include "tests/sampled.h"

// Items with labels.
#define MINED                                                                                      \
    { 1000000, 256, .has_labels = true }

static const struct {
    const char *name, *settings;
    struct hn_sampler_plan plan; // items, size of a batch, what else there is
    enum hn_code code;
    const char *says; // in the message, or, of HN_OK, in a note; "" = no note
} cases[] = {
    {"b3", "", {150, 64}, HN_OK, "m = 100 taken as 79"},
    {"b3", "", {71, 64}, HN_USAGE, "p = 70 leaves no ranks"},
    {"b3", "", {72, 64}, HN_OK, "m = 100 taken as 1"},
    {"b3", "space=teacher", {72, 64}, HN_NOT_APPLICABLE, "b3 with space: teacher needs a teacher"},
    {"batchsampler", "M=100 K=200", {500, 10}, HN_USAGE, "K = 200 exceeds M = 100"},
    {"batchsampler", "M=499", {500, 10}, HN_OK, ""},
    {"batchsampler", "M=1000 K=100", {500, 10}, HN_OK, "M = 1000 taken as 499"},
    {"batchsampler", "M=1000 K=600", {500, 10}, HN_OK, "K = 600 taken as 499"},
    {"batchsampler", "M=1000 K=100 candidates=dealt", {500, 10}, HN_OK, "M = 1000 taken as 499"},
    {"batchsampler", "M=400 K=100 candidates=dealt tile=40", {500, 10}, HN_OK, ""},
    {"batchsampler",
     "M=400 K=100 candidates=dealt tile=41",
     {500, 10},
     HN_OK,
     "tile = 41 is above"},
    {"batchsampler", "M=400 K=100 tile=41", {500, 10}, HN_OK, ""},
    {"batchsampler",
     "M=100 K=200 candidates=dealt",
     {500, 10},
     HN_USAGE,
     "K = 200 exceeds M = 100"},
    {"batchsampler",
     "M=100 K=200 candidates=reference",
     {500, 10},
     HN_USAGE,
     "K = 200 exceeds M = 100"},
    {"batchsampler", "M=1000 K=600 candidates=reference", {500, 10}, HN_OK, ""},
    {"batchsampler", "M=100 K=200 graph=knn", {500, 10}, HN_OK, ""},
    {"batchsampler", "M=1000 K=600 graph=knn", {500, 10}, HN_OK, "K = 600 taken as 499"},
    {"cde", "space=teacher", {150, 8}, HN_NOT_APPLICABLE, "needs a teacher"},
    {"cde", "space=teacher", {150, 8, .has_teacher = true}, HN_OK, ""},
    {"tas-b", "space=teacher", {150, 8}, HN_NOT_APPLICABLE, "needs a teacher"},
    {"tas-b", "space=teacher", {150, 8, .has_teacher = true}, HN_OK, "cluster = 200 taken as 150"},
    {"tas-b", "within=group", {150, 8}, HN_NOT_APPLICABLE, "needs groups"},
    {"tas-b", "topics=9", {150, 8}, HN_USAGE, "topics = 9 exceeds the batch size"},
    {"gcbs", "keep=512", {300, 10}, HN_USAGE, "keep = 512 exceeds the 300"},
    {"gcbs", "keep=300", {300, 10}, HN_OK, ""},
    {"gcbs", "", {300, 10}, HN_OK, ""},
    {"gcbs", "quantile=1.5", {300, 10}, HN_USAGE, "quantile"},
    {"grit", "", {230, 8}, HN_NOT_APPLICABLE, "grit needs groups"},
    {"hard-negative", "l=3", {100, 8}, HN_OK, ""},
    {"hard-negative", "l=2", {100, 8}, HN_OK, "does not divide"},
    {"hard-negative", "l=8", {100, 8}, HN_USAGE, "l = 8"},
    {"hard-negative", "l=0", {100, 8}, HN_USAGE, "out of range"},
    {"jest", "chunks=12", {100, 12}, HN_NOT_APPLICABLE, "needs a teacher"},
    {"jest", "chunks=12 score=hard", {100, 12}, HN_OK, ""},
    {"jest", "chunks=13", {100, 12, .has_teacher = true}, HN_OK, "chunks = 13 taken as 12"},
    {"mined", "min_rank=200", MINED, HN_USAGE, "R = 100"},
    {"mined", "min_rank=5 max_rank=4", MINED, HN_USAGE, "below min_rank"},
    {"mined", "min_score=0.5 max_score=0.4", MINED, HN_USAGE, "above max_score"},
    {"mined", "absolute_margin=0", MINED, HN_NOT_APPLICABLE, "second view"},
    {"mined", "take=ambiguous", MINED, HN_USAGE, "sharpness"},
    {"mined", "take=ambiguous sharpness=5", MINED, HN_NOT_APPLICABLE, "second view"},
    {"mined", "shift=0.1", MINED, HN_USAGE, "take: ambiguous"},
    {"mined", "", MINED, HN_OK, ""},
    {"mosaic", "pool=16", {100, 8}, HN_OK, ""},
    {"mosaic", "pool=15", {100, 8}, HN_USAGE, "raise it to 16"},
    {"mosaic", "pool=15", {100, 60}, HN_OK, ""},
    {"ngame", "cluster=4", {100, 12}, HN_OK, ""},
    {"ngame", "cluster=5", {100, 12}, HN_OK, "cut over two batches"},
    {"ngame", "cluster=13", {100, 12}, HN_OK, "cluster = 13 taken as 12"},
    {"osgd", "drawn=9 kept=9", {100, 12}, HN_OK, ""},
    {"osgd", "drawn=9 kept=10", {100, 12}, HN_USAGE, "kept = 10 exceeds"},
    {"random-negatives", "n=all", {1000000, 256}, HN_USAGE, "fewer negatives"},
    {"random-negatives", "n=100", {1000000, 256}, HN_OK, ""},
    {"ring", "lo=50 hi=50", {1000000, 256}, HN_USAGE, "lo < hi"},
    {"ring", "", {1000000, 256}, HN_NOT_APPLICABLE, "raw features"},
    {"ring", "space=embeddings lo=0 hi=100", {1000000, 256}, HN_USAGE, "pairs"},
    {"ring", "space=embeddings n=50", {1000000, 256}, HN_OK, ""},
    {"spectral", "clusters=8 kept=8", {10000, 256}, HN_OK, ""},
    {"spectral",
     "clusters=8 kept=8",
     {1000000, 256},
     HN_OK,
     "eigenvectors of 488 groups of 2048 items"},
    {"stratified", "", {100, 8}, HN_OK, ""},
    {"stratified", "clusters=101", {100, 8}, HN_OK, "clusters = 101 taken as 100"},
    {"stratified", "clusters=0", {100, 8}, HN_USAGE, "clusters"},
    {"uniform",
     "no_duplicates=true",
     {100, 10, .has_labels = true},
     HN_NOT_APPLICABLE,
     "pairs of queries and passages"},
    {"uniform", "no_duplicates=true", {100, 10, .has_tuples = true}, HN_OK, ""},
    {"uniform",
     "keep_apart=true",
     {100, 10, .has_labels = true},
     HN_NOT_APPLICABLE,
     "uniform with keep_apart"},
    {"uniform", "draw=iid keep_apart=true", {100, 10, .has_tuples = true}, HN_USAGE, "draw: iid"},
};

static void keep_notes(void *data, const char *text) {
    hn_append(data, HN_MESSAGE_MAX, "%s\n", text);
}

static void test_planning(void) {
    struct hn_context ctx;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct hn_sampler_type *type = hn_sampler_find(cases[i].name);
        char note[HN_MESSAGE_MAX] = "";
        hn_context_init(&ctx, 1);
        ctx.notes = (struct hn_notes){keep_notes, note};
        CU_ASSERT_PTR_NOT_NULL_FATAL(type);
        hn_test_entry(cases[i].name);
        void *params = hn_zalloc(&ctx, 1, type->params_size);
        CU_ASSERT_PTR_NOT_NULL_FATAL(params);
        enum hn_code code = sampled_params(&ctx, type, cases[i].settings, params);
        if (!code)
            code = hn_sampler_check(&ctx, type, params, &cases[i].plan);
        CU_ASSERT_EQUAL(code, cases[i].code);
        CU_ASSERT_PTR_NOT_NULL(strstr(code ? ctx.message : note, cases[i].says));
        CU_ASSERT(*cases[i].says || !*note);
        hn_options_free(&ctx, type->options, params);
        hn_free(&ctx, params);
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
    }
}

static const struct hn_test tests[] = {{"settings", test_planning}};
HN_TEST_MAIN("planning", tests)
