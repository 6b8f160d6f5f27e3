// SPDX-License-Identifier: GPL-3.0-or-later
// Batches of tuples: no_duplicates against the plain loop of sentence-transformers, and what
// keep_apart leaves, on random relevance.
#include "samplers/no_duplicates.h"
#include "tests/sampled.h"

static struct hn_context ctx;

// n random tuples of few texts, each pair once or more often; known: what the tuples say.
static struct hn_tuples random_tuples(int64_t n, int64_t texts, struct hn_stream *stream) {
    int32_t *query = hn_alloc(&ctx, n, sizeof *query), *passage = hn_alloc(&ctx, n, sizeof *query);
    struct hn_judgement *list = hn_alloc(&ctx, n, sizeof *list);
    struct hn_tuples t = {.n = n, .texts = texts, .query = query, .passage = passage};
    for (int64_t i = 0; i < n; i++) {
        query[i] = (int32_t)hn_stream_below(stream, (uint32_t)texts);
        passage[i] = (int32_t)hn_stream_below(stream, (uint32_t)texts);
        list[i] = (struct hn_judgement){query[i], passage[i], 1};
    }
    HN_CHECK(&ctx, hn_qrels_build(&ctx, list, n, texts, &t.known));
    return t;
}

// Gives tuples up to two mined negatives each.
static void add_negatives(struct hn_tuples *t, struct hn_stream *stream) {
    int32_t *negative = hn_alloc(&ctx, 2 * t->n, sizeof *negative);
    for (int64_t k = 0; k < 2 * t->n; k++)
        negative[k] = (int32_t)hn_stream_below(stream, (uint32_t)t->texts + 1) - 1;
    t->negative = negative;
    t->negatives = 2;
}

// Whether a batch holds a text of tuple i; `put`: it does from now on.
static bool holds(const struct hn_tuples *t, int32_t i, bool *held, bool put) {
    bool found = held[t->query[i]] || held[t->passage[i]];
    for (int64_t k = i * t->negatives; k < (i + 1) * t->negatives; k++) {
        found |= t->negative[k] >= 0 && held[t->negative[k]];
        if (put && t->negative[k] >= 0)
            held[t->negative[k]] = true;
    }
    if (put)
        held[t->query[i]] = held[t->passage[i]] = true;
    return found;
}

// NoDuplicatesBatchSampler: the first in order that may join does, until the batch is full.
static int64_t plain_loop(const struct hn_tuples *t, int32_t batch_size, const int32_t *order,
                          int32_t *out, int64_t *start) {
    int64_t batches = 0, done = 0;
    bool *used = hn_zalloc(&ctx, t->n, sizeof *used);
    while (done < t->n) {
        start[batches++] = done;
        bool *held = hn_zalloc(&ctx, t->texts, sizeof *held);
        int32_t size = 0;
        for (int64_t k = 0; k < t->n && size < batch_size; k++) {
            int32_t i = order[k];
            if (used[k] || holds(t, i, held, false))
                continue;
            used[k] = true;
            (void)holds(t, i, held, true);
            out[done++] = i;
            size++;
        }
        hn_free(&ctx, held);
    }
    start[batches] = done;
    hn_free(&ctx, used);
    return batches;
}

static void test_no_duplicates(void) {
    struct hn_stream stream;
    hn_context_init(&ctx, 1);
    hn_stream_open(&stream, 1, "test", 0, 0, 0);
    for (int round = 0; round < 3000; round++) {
        HN_SCOPE(&ctx);
        int64_t n = 1 + hn_stream_below(&stream, 60), texts = 1 + hn_stream_below(&stream, 40);
        int64_t batches, expected;
        int32_t size = 2 + (int32_t)hn_stream_below(&stream, 12);
        struct hn_tuples t = random_tuples(n, texts, &stream);
        if (round % 2)
            add_negatives(&t, &stream);
        int32_t *order = hn_alloc(&ctx, n, sizeof *order),
                *plain = hn_alloc(&ctx, n, sizeof *plain);
        int64_t *start = hn_alloc(&ctx, n + 1, sizeof *start),
                *own = hn_alloc(&ctx, n + 1, sizeof *own);
        hn_permute((uint64_t)round, "test.order", 0, 0, 0, order, n);
        expected = plain_loop(&t, size, order, plain, own);
        HN_CHECK(&ctx, hn_no_duplicates(&ctx, &t, size, order, start, &batches));
        CU_ASSERT_EQUAL_FATAL(batches, expected);
        CU_ASSERT_EQUAL_FATAL(memcmp(start, own, (size_t)(batches + 1) * sizeof *start), 0);
        CU_ASSERT_EQUAL_FATAL(memcmp(order, plain, (size_t)n * sizeof *order), 0);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// One query for all tuples, or one passage: every batch has one tuple, and those that wait take no
// time.
static void test_hubs(void) {
    enum { N = 200000 };
    hn_context_init(&ctx, 1);
    for (int hub = 0; hub < 2; hub++) {
        HN_SCOPE(&ctx);
        int32_t *one = hn_zalloc(&ctx, N, sizeof *one), *all = hn_alloc(&ctx, N, sizeof *all);
        int32_t *order = hn_alloc(&ctx, N, sizeof *order);
        int64_t *start = hn_alloc(&ctx, N + 1, sizeof *start), batches;
        for (int32_t i = 0; i < N; i++)
            all[i] = order[i] = i + (i == 0);
        order[0] = 0;
        const struct hn_tuples t = {
            .n = N, .texts = N, .query = hub ? all : one, .passage = hub ? one : all};
        HN_CHECK(&ctx, hn_no_duplicates(&ctx, &t, 64, order, start, &batches));
        CU_ASSERT_EQUAL(batches, N);
    }
}

static int64_t count_clashes(const struct hn_tuples *t, const struct sampled *s, int64_t b) {
    int64_t clashing = 0;
    const int32_t *ids = sampled_batch(s, b);
    for (int32_t i = 0; i < s->size[b]; i++) {
        bool clash = false;
        for (int32_t j = 0; j < s->size[b]; j++)
            clash |= i != j &&
                     (hn_tuples_known(t, ids[i], ids[j]) || hn_tuples_known(t, ids[j], ids[i]));
        clashing += clash;
    }
    return clashing;
}

// Clashing tuples of epoch 0 under some settings; apart: whether the sampler has to count them.
static int64_t clashing(const char *name, const char *settings, struct hn_items *items,
                        bool apart) {
    struct sampled s;
    int64_t sum = 0, in_all = 0;
    HN_CHECK(&ctx, sampled_open(&ctx, hn_sampler_find(name), settings, items, 16, 7, &s));
    for (int64_t b = 0; b < s.batches; b++) {
        sum += count_clashes(items->tuples, &s, b);
        in_all += s.size[b];
    }
    CU_ASSERT_EQUAL(in_all, items->n);
    if (apart)
        CU_ASSERT_EQUAL(s.sampler.apart.left, sum);
    sampled_close(&ctx, &s);
    return sum;
}

static void test_keep_apart(void) {
    enum { N = 700 };
    static const struct {
        const char *name, *plain, *apart;
    } of[] = {{"uniform", "", "keep_apart=true"},
              {"gcbs", "keep=20", "keep=20 keep_apart=true"},
              {"mosaic", "", "keep_apart=true"},
              {"ngame", "cluster=4", "cluster=4 keep_apart=true"},
              {"cde", "", "keep_apart=true"},
              {"b3", "p=5 m=20 cluster=4", "p=5 m=20 cluster=4 keep_apart=true"}};
    struct hn_stream stream;
    hn_context_init(&ctx, 2);
    hn_stream_open(&stream, 2, "test", 0, 0, 0);
    struct hn_items items = hn_fixture_items(&ctx, N, 8, 3, true, 1);
    HN_SCOPE(&ctx);
    struct hn_tuples t = random_tuples(N, 300, &stream);
    items.tuples = &t;
    for (size_t k = 0; k < sizeof of / sizeof of[0]; k++) {
        int64_t before = clashing(of[k].name, of[k].plain, &items, false);
        int64_t after = clashing(of[k].name, of[k].apart, &items, true);
        CU_ASSERT(before > N / 10);
        CU_ASSERT_EQUAL(after, 0);
    }
    // One batch has nothing to exchange with: what clashes stays, and is counted.
    struct hn_items few = hn_fixture_items(&ctx, 16, 8, 3, true, 1);
    struct hn_tuples one_query = random_tuples(16, 1, &stream);
    few.tuples = &one_query;
    CU_ASSERT_EQUAL(clashing("uniform", "keep_apart=true", &few, true), 16);
    hn_fixture_items_free(&ctx, &few);
    hn_fixture_items_free(&ctx, &items);
}

static void keep_note(void *data, const char *text) { snprintf(data, 200, "%s", text); }

// What stays is told of the tuples of all epochs that it is counted over.
static void test_left_note(void) {
    char note[200] = "";
    const struct hn_sampler s = {.n = 700};
    hn_context_init(&ctx, 1);
    ctx.notes = (struct hn_notes){keep_note, note};
    hn_apart_note(&ctx, &s, 0, 3);
    CU_ASSERT_EQUAL(*note, 0);
    hn_apart_note(&ctx, &s, 5, 3);
    CU_ASSERT_PTR_NOT_NULL(strstr(note, " 5 of 2100 tuples "));
    CU_ASSERT_PTR_NOT_NULL(strstr(note, "over all epochs"));
    hn_apart_note(&ctx, &s, 6, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(note, " 6 of 700 tuples "));
    CU_ASSERT_PTR_NULL(strstr(note, "over all epochs"));
}

static const struct hn_test tests[] = {{"no_duplicates", test_no_duplicates},
                                       {"hubs", test_hubs},
                                       {"keep_apart", test_keep_apart},
                                       {"note of what is left", test_left_note}};

HN_TEST_MAIN("tuples", tests)
