// SPDX-License-Identifier: GPL-3.0-or-later
// Every sampler without memory, misused and interrupted; and samplers side by side.
#include "samplers/given.h"
#include "tests/samplers/every_sampler.h"

// Epoch 1, and where it fails epoch 0 again, which is what it was.
static enum hn_code draw_another(struct hn_context *ctx, struct sampled *s,
                                 const struct hn_items *items) {
    size_t bytes = (size_t)((s->batches - 1) * s->sampler.batch_size) * sizeof *s->ids; // full ones
    int32_t *first = malloc(bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(first);
    memcpy(first, s->ids, bytes);
    enum hn_code code = sampled_epoch(ctx, s, items, 1);
    if (code) {
        ctx->memory.fail_at = 0;
        HN_CHECK(ctx, sampled_epoch(ctx, s, items, 0));
        CU_ASSERT_EQUAL(memcmp(first, s->ids, bytes), 0);
    }
    free(first);
    return code;
}

// Every allocation fails once: a clean error, nothing lost, until all succeed.
static void check_allocations(const struct hn_sampler_type *type, const char *settings,
                              const struct hn_items *items) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    enum hn_code code;
    int64_t failures = 0;
    hn_test_entry(type->name);
    do {
        struct sampled s;
        ctx.memory.calls = 0;
        ctx.memory.fail_at = failures + 1;
        ctx.message[0] = '\0';
        code = sampled_open(&ctx, type, settings, items, 7, 9, &s);
        if (!code) {
            code = draw_another(&ctx, &s, items);
            sampled_close(&ctx, &s);
        }
        CU_ASSERT_FATAL(code == HN_OK || code == HN_MEMORY);
        CU_ASSERT(code == HN_OK || ctx.message[0] != '\0');
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
        failures++;
    } while (code);
    CU_ASSERT(failures > 2);
}

static void test_failing_allocations(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    static struct sampler_case cases[CASES_MAX];
    int n = all_cases(true, false, cases);
    struct hn_items items = anchored_items(&ctx, N, D, 4, true, 6);
    for (int i = 0; i < n; i++)
        check_allocations(cases[i].type, cases[i].settings, &items);
    const struct hn_sampler_type *walks = hn_sampler_find("batchsampler");
    check_allocations(walks, "M=20 K=5 law=weight alpha=1", &items);
    check_allocations(walks, "M=1000 K=100", &items);
    check_allocations(hn_sampler_find("gcbs"), "quantile=0.9 quantile_method=reference", &items);
    check_allocations(hn_sampler_find("ring"), "space=embeddings n=3", &items);
    check_allocations(hn_sampler_find("stratified"), "clusters=60", &items);
    anchored_items_free(&ctx, &items);
}

static void test_misuse(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    const struct hn_sampler_type *types[TYPES_MAX];
    int n = all_types(types);
    struct hn_items items = anchored_items(&ctx, N, D, 4, false, 6);
    struct hn_items fewer = anchored_items(&ctx, N - 1, D, 4, false, 6);
    for (int i = 0; i < n; i++) {
        hn_test_entry(types[i]->name);
        struct sampled s;
        struct hn_sampler raw;
        int64_t batches;
        HN_CHECK(&ctx, sampled_open(&ctx, types[i], settings_for(types[i]), &items, 7, 9, &s));
        HN_CHECK_FAILS(&ctx, sampled_some(&ctx, &s, s.batches, 1), HN_INTERNAL, types[i]->name);
        HN_CHECK_FAILS(&ctx, sampled_some(&ctx, &s, -1, 1), HN_INTERNAL, "asked for");
        HN_CHECK_FAILS(&ctx, hn_sampler_build(&ctx, &s.sampler, &fewer, 0), HN_INTERNAL,
                       "built on");
        HN_CHECK_FAILS(&ctx, hn_sampler_open(&ctx, types[i], s.params, N, N + 1, 1, &raw), HN_DATA,
                       "batch size");
        hn_sampler_close(&ctx, &raw);
        HN_CHECK_FAILS(&ctx, hn_sampler_open(&ctx, types[i], s.params, N, 1, 1, &raw), HN_USAGE,
                       "batch size");
        HN_CHECK(&ctx, hn_sampler_open(&ctx, types[i], s.params, N, 7, 1, &raw));
        HN_CHECK_FAILS(&ctx, hn_sampler_epoch(&ctx, &raw, &items, 0, &batches), HN_INTERNAL,
                       "before");
        hn_sampler_close(&ctx, &raw);
        hn_sampler_close(&ctx, &raw);
        HN_CHECK_FAILS(&ctx, hn_sampler_epoch(&ctx, &s.sampler, &fewer, 0, &batches), HN_INTERNAL,
                       "an epoch before the sampler is built on these items");
        sampled_close(&ctx, &s);
    }
    anchored_items_free(&ctx, &items);
    anchored_items_free(&ctx, &fewer);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// What a sampler says that it needs, of items that have all, and of those that lack it.
static void test_needs(void) {
    static const struct {
        unsigned flag;
        const char *missing;
    } cases[] = {{HN_SAMPLER_NEEDS_LABELS, "labels"},
                 {HN_SAMPLER_NEEDS_VIEW2, "a second view"},
                 {HN_SAMPLER_NEEDS_GRAPH, "a graph"},
                 {HN_SAMPLER_NEEDS_TEACHER, "a teacher"},
                 {HN_SAMPLER_NEEDS_GROUPS, "groups"}};
    static const struct hn_sampler_plan all = {.n = N,
                                               .batch_size = 4,
                                               .has_labels = true,
                                               .has_positive = true,
                                               .has_graph = true,
                                               .has_teacher = true,
                                               .has_groups = true};
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    for (int i = 0; i < 5; i++) {
        struct hn_sampler_type type = *hn_sampler_find("file-order");
        struct hn_sampler_plan none = {.n = N, .batch_size = 4};
        type.flags |= cases[i].flag;
        CU_ASSERT_PTR_NULL(hn_sampler_missing(&type, &all));
        HN_CHECK_FAILS(&ctx, hn_sampler_check(&ctx, &type, NULL, &none), HN_NOT_APPLICABLE,
                       cases[i].missing);
        CU_ASSERT_PTR_NOT_NULL(strstr(ctx.message, "file-order needs "));
    }
}

// Settings and items that do not go together, each with its sentence or, code HN_OK, its note.
enum {
    NO_VIEWS = 1,
    NO_LABELS = 2,
    NO_GRAPH = 4,
    NO_FEATURES = 8,
    NO_TEACHER = 16,
    NO_GROUPS = 32,
    NOT_GIVEN = 64
};

static const struct {
    const char *sampler, *settings;
    int lacks;
    enum hn_code code;
    const char *part;
} plans[] = {
    {"knn", "", NO_VIEWS | NO_LABELS | NO_GRAPH | NO_TEACHER | NO_GROUPS, HN_OK, ""},
    {"hops", "", NO_GRAPH, HN_NOT_APPLICABLE, "hops needs a graph, which these items do not have"},
    {"hard-negative", "", NO_VIEWS, HN_OK, "1 + l = 2 does not divide the batch size 7"},
    {"jest", "", NO_TEACHER, HN_NOT_APPLICABLE, "jest with score: learnable needs a teacher"},
    {"jest", "score=easy", NO_TEACHER, HN_NOT_APPLICABLE, "jest with score: easy needs a teacher"},
    {"jest", "score=hard chunks=2", NO_TEACHER, HN_OK, ""},
    {"jest", "score=hard ratio=0.99 chunks=2", 0, HN_OK, "jest chooses from all 61 items"},
    {"grit", "", NO_GROUPS, HN_NOT_APPLICABLE, "grit needs groups"},
    {"tas-b", "within=group", NO_GROUPS, HN_NOT_APPLICABLE, "group"},
    {"tas-b", "within=group cluster=9", 0, HN_OK, ""},
    {"cde", "space=teacher", NO_TEACHER, HN_NOT_APPLICABLE, "teacher"},
    {"knn", "keep_apart=true", 0, HN_USAGE, "keep_apart"},
    {"uniform", "keep_apart=true", 0, HN_NOT_APPLICABLE, "keep_apart"},
    {"uniform", "no_duplicates=true", 0, HN_NOT_APPLICABLE, "no_duplicates"},
    {"ring", "", NO_FEATURES, HN_NOT_APPLICABLE, "ring needs raw features"},
    {"ring", "lo=50 hi=50", 0, HN_USAGE, "lo = 50 is not below hi = 50"},
    {"ring", "lo=10 hi=10.5", 0, HN_OK, "no item lies between lo = 10 and hi = 10.5 percent of 60"},
    {"mined", "min_score=0.5 max_score=0.4", 0, HN_USAGE,
     "min_score = 0.5 is above max_score = 0.4"},
    {"mined", "min_rank=5 max_rank=4", 0, HN_USAGE, "max_rank = 4 is below min_rank = 5"},
    {"mined", "min_rank=5 max_rank=5 n=1", 0, HN_OK, "R = 100 taken as 60"},
    {"mined", "min_rank=5 R=4", 0, HN_USAGE, "min_rank = 5 is beyond the R = 4 items"},
    {"mined", "take=ambiguous", 0, HN_USAGE, "take: ambiguous wants sharpness"},
    {"mined", "sharpness=3", 0, HN_USAGE, "sharpness and shift are for take: ambiguous alone"},
    {"mined", "shift=0.1", 0, HN_USAGE, "sharpness and shift are for take: ambiguous alone"},
    {"mined", "exclude=labels", NO_LABELS, HN_NOT_APPLICABLE,
     "mined that excludes labels needs labels"},
    {"mined", "exclude=both", NO_LABELS, HN_NOT_APPLICABLE, "needs labels"},
    {"mined", "exclude=copies R=60", NO_LABELS, HN_OK, ""},
    {"batchsampler", "M=4 K=9", 0, HN_USAGE, "K"},
    {"given", "file=b.npy name=a", NOT_GIVEN, HN_USAGE,
     "given stands for batches that another program chose"},
    {"given-negatives", "file=b.npy name=a", NOT_GIVEN, HN_USAGE,
     "given-negatives stands for batches"},
    {"command", "name=a", NOT_GIVEN, HN_USAGE, "command stands for batches"},
    {"command-negatives", "name=a", NOT_GIVEN, HN_USAGE, "command-negatives stands for"},
    {"given", "name=a", 0, HN_USAGE, "given wants `file`"},
    {"given", "file=b.npy", 0, HN_USAGE, "given wants `name`"},
    {"given", "file=b.npy name=", 0, HN_USAGE, "given wants `name`"},
    {"given", "file=b.npy name=a/b", 0, HN_USAGE, "name: 'a/b' may hold letters, digits"},
    {"given", "file=b.npy name=A-b_1.2+x", 0, HN_OK, ""},
    {"given", "file=b.npy name=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 0, HN_OK, ""},
    {"given", "file=b.npy name=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 0, HN_USAGE,
     "has more than 40 characters"},
    {"given", "file=b.npy name=knn", 0, HN_USAGE, "'knn' is a sampler of hardneg"},
    {"given", "file=b.npy name=command", 0, HN_USAGE, "'command' is a sampler of hardneg"},
    {"command", "name=a", 0, HN_USAGE, "command wants `run`"},
    {"command", "name=a run=x", 0, HN_USAGE, "run: no argument has {out}"},
    {"command", "name=a run={out}", 0, HN_OK, ""},
    {"command", "name=a run={out} needs=labels", NO_LABELS, HN_NOT_APPLICABLE,
     "it needs labels, which these items do not have"},
    {"command", "name=a run={out} needs=view1", NO_VIEWS, HN_NOT_APPLICABLE,
     "it needs a second view"},
    {"command", "name=a run={out} needs=view2", NO_VIEWS, HN_NOT_APPLICABLE,
     "it needs a second view"},
    {"command", "name=a run={out} needs=view2 needs=labels", 0, HN_OK, ""},
    {"command", "name=a run={out} needs=colour", 0, HN_USAGE,
     "needs: 'colour' is none of labels, view1 and view2"},
};

static void test_plans(void) {
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        struct hn_context ctx;
        char note[HN_MESSAGE_MAX] = "";
        int lacks = plans[i].lacks;
        const struct hn_sampler_plan plan = {.n = N,
                                             .batch_size = 7,
                                             .has_positive = !(lacks & NO_VIEWS),
                                             .has_labels = !(lacks & NO_LABELS),
                                             .has_graph = !(lacks & NO_GRAPH),
                                             .has_features = !(lacks & NO_FEATURES),
                                             .has_teacher = !(lacks & NO_TEACHER),
                                             .has_groups = !(lacks & NO_GROUPS),
                                             .hands_over = !(lacks & NOT_GIVEN)};
        hn_context_init(&ctx, 1);
        ctx.notes = (struct hn_notes){hn_keep_note, note, NULL};
        HN_SCOPE(&ctx);
        const struct hn_sampler_type *type = hn_sampler_find(plans[i].sampler);
        type = type ? type : hn_given_find(plans[i].sampler);
        CU_ASSERT_PTR_NOT_NULL_FATAL(type);
        void *params = hn_zalloc(&ctx, 1, type->params_size);
        CU_ASSERT_PTR_NOT_NULL_FATAL(params);
        enum hn_code code = sampled_params(&ctx, type, plans[i].settings, params);
        code = code ? code : hn_sampler_check(&ctx, type, params, &plan);
        const char *said = code ? ctx.message : note;
        bool good =
            code == plans[i].code && strstr(said, plans[i].part) && (*plans[i].part || !*said);
        if (!good)
            fprintf(stderr, "    %s %s: code %d, \"%s\"\n", plans[i].sampler, plans[i].settings,
                    (int)code, said);
        CU_ASSERT_TRUE(good);
    }
}

// Batches that there is no room for, or that are none; and those that nobody handed over.
static void test_no_room(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_items items = anchored_items(&ctx, N, D, 4, false, 6);
    struct sampled s;
    HN_CHECK(&ctx, sampled_open(&ctx, hn_sampler_find("mined"), "n=3", &items, 7, 9, &s));
    const struct hn_batches good = {.first = 0,
                                    .count = 1,
                                    .batch_size = 7,
                                    .size = s.size,
                                    .ids = s.ids,
                                    .capacity = 3,
                                    .negatives = s.negatives,
                                    .negative = s.negative};
    struct hn_batches bad[8] = {good, good, good, good, good, good, good, good};
    bad[0].count = -1;
    bad[1].first = INT64_MAX;
    bad[2].batch_size = 8;
    bad[3].first = -1;
    bad[4].count = (int32_t)s.batches + 1;
    bad[5].capacity = 2;
    bad[6].negatives = NULL;
    bad[7].negative = NULL;
    for (int i = 0; i < 8; i++)
        HN_CHECK_FAILS(&ctx, hn_sampler_next(&ctx, &s.sampler, &bad[i]), HN_INTERNAL,
                       i < 5 ? "asked for, the epoch has"
                             : "mined: no room for 3 negatives per anchor");
    bad[0] = good;
    HN_CHECK(&ctx, hn_sampler_next(&ctx, &s.sampler, &bad[0]));
    sampled_close(&ctx, &s);
    HN_CHECK_FAILS(
        &ctx, sampled_open(&ctx, hn_given_find("given"), "file=b.npy name=a", &items, 7, 9, &s),
        HN_INTERNAL, "given: no batches were handed over");
    sampled_close(&ctx, &s);
    HN_CHECK_FAILS(&ctx,
                   sampled_open(&ctx, hn_given_find("given-negatives"), "file=b.npy name=a n=3",
                                &items, 7, 9, &s),
                   HN_INTERNAL, "no negatives were handed over");
    sampled_close(&ctx, &s);
    anchored_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// An interrupt ends a life cycle cleanly wherever it is looked for.
static void test_interrupt(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    static struct sampler_case cases[CASES_MAX];
    int n = all_cases(true, false, cases), interrupted = 0;
    struct hn_items items = anchored_items(&ctx, N, D, 4, false, 6);
    volatile sig_atomic_t stop = 1;
    ctx.stop = &stop;
    for (int i = 0; i < n; i++) {
        hn_test_entry(cases[i].type->name);
        struct sampled s;
        enum hn_code code = sampled_open(&ctx, cases[i].type, cases[i].settings, &items, 7, 9, &s);
        CU_ASSERT(code == HN_OK || code == HN_INTERRUPTED);
        interrupted += code == HN_INTERRUPTED;
        sampled_close(&ctx, &s);
    }
    CU_ASSERT(interrupted >= 3);
    anchored_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// All samplers start batch b from the same item.
static void test_common_starts(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_items items = anchored_items(&ctx, N, D, 4, false, 6);
    struct sampled knn, walk;
    HN_CHECK(&ctx, sampled_open(&ctx, hn_sampler_find("knn"), "", &items, 7, 9, &knn));
    HN_CHECK(&ctx,
             sampled_open(&ctx, hn_sampler_find("batchsampler"), "M=9 K=3", &items, 7, 9, &walk));
    for (int64_t b = 0; b < knn.batches; b++)
        CU_ASSERT_EQUAL(sampled_batch(&knn, b)[0], sampled_batch(&walk, b)[0]);
    sampled_close(&ctx, &knn);
    sampled_close(&ctx, &walk);
    anchored_items_free(&ctx, &items);
}

// Percent of same-label pairs in `epochs` epochs of batches of 256.
static double same_label_percent(struct hn_context *ctx, const char *name, const char *settings,
                                 const struct hn_items *items, int64_t epochs) {
    struct sampled s;
    int64_t same = 0, pairs = 0;
    HN_CHECK(ctx, sampled_open(ctx, hn_sampler_find(name), settings, items, 256, 1, &s));
    for (int64_t epoch = 0; epoch < epochs; epoch++) {
        HN_CHECK(ctx, sampled_epoch(ctx, &s, items, epoch));
        for (int64_t b = 0; b < s.batches; b++)
            for (int32_t i = 0; i < s.size[b]; i++)
                for (int32_t j = 0; j < i; j++) {
                    same += items->labels[sampled_batch(&s, b)[i]] ==
                            items->labels[sampled_batch(&s, b)[j]];
                    pairs++;
                }
    }
    sampled_close(ctx, &s);
    return 100 * (double)same / (double)pairs;
}

// On trained embeddings of ten classes: uniform batches hold 10 % pairs of one label, nearest
// neighbours far more, walks lie between.
static void test_real_embeddings(void) {
    char path[4096];
    if (!hn_fixture_shared("datasets/snapshots/cifar10-simclr-10k.h5", path, sizeof path))
        hn_test_skip("the shared embeddings are not there");
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_snapshot *snapshot;
    struct hn_items items;
    HN_CHECK(&ctx, hn_snapshot_open(&ctx, path, &snapshot));
    HN_CHECK(&ctx, hn_snapshot_load(&ctx, snapshot, hn_snapshot_info(snapshot)->steps - 1, &items));
    double uniform = same_label_percent(&ctx, "uniform", "", &items, 5);
    double knn = same_label_percent(&ctx, "knn", "", &items, 3);
    double near = same_label_percent(&ctx, "batchsampler", "M=1000 alpha=0.2", &items, 5);
    double gcbs = same_label_percent(&ctx, "gcbs", "", &items, 1);
    CU_ASSERT(fabs(uniform - 10) < 0.3);
    CU_ASSERT(near > uniform + 0.5);
    CU_ASSERT(knn > near + 5);
    CU_ASSERT(gcbs > uniform + 0.5);
    fprintf(stderr, "    same-label pairs: uniform %.2f, walk %.2f, gcbs %.2f, knn %.2f %%\n",
            uniform, near, gcbs, knn);
    hn_items_free(&ctx, &items);
    hn_snapshot_close(&ctx, snapshot);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"every_failing_allocations", test_failing_allocations},
    {"every_misuse", test_misuse},
    {"needs", test_needs},
    {"plans", test_plans},
    {"no_room", test_no_room},
    {"every_interrupt", test_interrupt},
    {"common_starts", test_common_starts},
    {"real_embeddings", test_real_embeddings},
};
HN_TEST_MAIN("sampler_misuse", tests)
