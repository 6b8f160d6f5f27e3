// SPDX-License-Identifier: GPL-3.0-or-later
// Calls of the library whose allocations fail one at a time, and calls that are asked to stop, once
// at each place that looks: they say so, and leave a handle that then does the same as one that
// nothing has happened to.
#include "library/hardneg.h"
#include "tests/stop_places.h"
#include "tests/test.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 24, D = 4, B = 6, T = 3, COLUMNS = 256, SLOTS = 1 << 14, WIDE = 1 << 10, CALLS = 1500 };

// hn_alloc() calls this once for each allocation; the one numbered `fails` does (0 = none).
static int64_t calls, fails;
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return ++calls == fails ? NULL : __real_aligned_alloc(alignment, size);
}

static float rows[N * D], views[N * D], teacher[N * T], features[N * 4];
static int32_t labels[N], groups[N], edge[2 * N], query_text[N], passage_text[N];
static int64_t edge_start[N + 1];

static void fill(void) {
    for (int i = 0; i < N * D; i++) {
        rows[i] = (float)(i * i * 31 % 97) - 48.5F;
        views[i] = rows[i] + (float)(i * 7 % 5);
    }
    for (int i = 0; i < N * T; i++)
        teacher[i] = (float)(i * 13 % 29) - 14.5F;
    for (int i = 0; i < N; i++) {
        features[4 * i + i % 4] = 1;
        labels[i] = i % 4;
        groups[i] = i % 3;
        edge_start[i + 1] = edge_start[i] + 2;
        edge[2 * i] = (i + 1) % N;
        edge[2 * i + 1] = (5 * i + 2) % N;
        query_text[i] = i % 7 == 6 ? i - 1 : i; // some come twice
        passage_text[i] = N + i;
    }
}

enum kind { PLAIN, TUPLES, SETS };
struct sampled {
    const char *spec;
    enum kind kind;
    const char *weighting; // of measures of what it draws; NULL: not measured
};

static struct hardneg_items items_of(enum kind kind) {
    static const int32_t relevant[] = {0, N + 3, 5, N + 1};
    struct hardneg_items items = {
        .size = sizeof items, .n = N, .d = D, .x = rows, .view2 = views, .progress = 0.5};
    if (kind == TUPLES) {
        items.query_text = query_text, items.passage_text = passage_text;
        items.relevant = relevant, items.relevant_pairs = 2;
        return items;
    }
    if (kind == SETS)
        items.label_start = edge_start, items.label = edge;
    else
        items.labels = labels;
    items.group = groups;
    items.teacher = teacher, items.teacher_dims = T;
    items.edge_start = edge_start, items.edge = edge;
    items.features = features, items.feature_dims = 4;
    return items;
}

// What a sampler gives, epoch by epoch.
struct drawn {
    char digest[HARDNEG_DIGEST];
    int64_t ids[SLOTS], negative[SLOTS], sizes[2 * N], batches, dropped;
    double value[COLUMNS];
};

static int draw_epoch(hardneg *h, int64_t epoch, struct drawn *to) {
    int64_t width = hardneg_capacity(h), at = 0;
    int code = hardneg_epoch(h, epoch, &to->batches);
    code = code ? code : hardneg_sizes(h, epoch + 1, 2 * N, to->sizes, &at);
    if (code)
        return code;
    CU_ASSERT_FATAL(to->batches * B * (width ? width : 1) <= SLOTS);
    return width ? hardneg_negatives(h, 0, to->batches, to->ids, to->negative, NULL)
                 : hardneg_next(h, 0, to->batches, to->ids);
}

static int use(hardneg *h, const struct sampled *what, struct drawn *to) {
    const struct hardneg_items items = items_of(what->kind);
    struct hardneg_measure how = {
        .size = sizeof how, .loss = "infonce", .weighting = what->weighting};
    struct hardneg_attrition filter = {.size = sizeof filter};
    memset(to, 0, sizeof *to);
    int code = hardneg_build(h, &items);
    code = code ? code : hardneg_digest(h, to->digest);
    for (int64_t epoch = 0; epoch < 2 && !code; epoch++)
        code = draw_epoch(h, epoch, to);
    if (code || !what->weighting)
        return code; // whose message is that of the last call
    how.capacity = hardneg_capacity(h);
    how.negative = how.capacity ? to->negative : NULL;
    code = hardneg_measure_batches(h, to->ids, to->batches, B, &how, to->value);
    // It has no code: 0 stands for the end.
    for (int i = 0; !code && fails == 0 && hardneg_attrition(h, i, &filter); i++)
        to->dropped += filter.other_label + filter.same_label;
    return code;
}

static hardneg *used;
static void ask(void) { hardneg_stop(used); }

// That a call which was asked to stop at a place says so.
static void expect_stop(const hardneg *h, int code, int at) {
    if (code != HARDNEG_INTERRUPTED)
        fprintf(stderr, "    place %d: code %d, \"%s\"\n", at, code, hardneg_message(h));
    CU_ASSERT_EQUAL(code, HARDNEG_INTERRUPTED);
    CU_ASSERT_PTR_NOT_NULL(strstr(hardneg_message(h), "interrupted"));
}

// That a call which lacked memory says so.
static void expect_lack(const hardneg *h, int code) {
    if (code != HARDNEG_MEMORY || !strstr(hardneg_message(h), "memory"))
        fprintf(stderr, "    allocation %lld: code %d, \"%s\"\n", (long long)fails, code,
                hardneg_message(h));
    CU_ASSERT_EQUAL(code, HARDNEG_MEMORY);
    CU_ASSERT_PTR_NOT_NULL(strstr(hardneg_message(h), "memory"));
}

// Opens a handle and uses it; allocation k fails. True if all went well without it.
static bool lacks_one(const struct sampled *what, int64_t k, const struct drawn *right) {
    static struct drawn now;
    hardneg *h;
    calls = 0, fails = k;
    int code = hardneg_open(what->spec, B, 5, 1, &h);
    bool opened = !code;
    code = code ? code : use(h, what, &now);
    bool whole = calls < k;
    if (code)
        expect_lack(h, code);
    fails = 0;
    if (opened) {
        CU_ASSERT_EQUAL(use(h, what, &now), HARDNEG_OK);
        CU_ASSERT_EQUAL(memcmp(&now, right, sizeof now), 0);
    }
    hardneg_free(h);
    return whole;
}

static void stop_one(const struct sampled *what, int at, const struct drawn *right) {
    static struct drawn now;
    CU_ASSERT_EQUAL_FATAL(hardneg_open(what->spec, B, 5, 1, &used), HARDNEG_OK);
    stop_at = at;
    int code = use(used, what, &now);
    stop_at = -1;
    expect_stop(used, code, at);
    CU_ASSERT_EQUAL(use(used, what, &now), HARDNEG_OK);
    CU_ASSERT_EQUAL(memcmp(&now, right, sizeof now), 0);
    hardneg_free(used);
}

static void test_samplers(void) {
    static const struct sampled cases[] = {
        {"uniform", PLAIN, "{gist: {guide: teacher}}"},
        {"{uniform: {no_duplicates: true}}", TUPLES},
        {"{uniform: {keep_apart: true}}", TUPLES},
        {"{uniform: {draw: iid}}", PLAIN},
        {"knn", PLAIN},
        {"{batchsampler: {M: 9, K: 4, alpha: 0.2~0.05}}", PLAIN},
        {"{batchsampler: {M: 23, K: 4, start: unseen}}", PLAIN},
        {"{gcbs: {quantile: 0.7}}", PLAIN},
        {"{mosaic: {pool: 12, kappa: 0.3, group: 2}}", PLAIN},
        {"{ngame: {cluster: 3}}", PLAIN},
        {"{osgd: {drawn: 12, kept: 4}}", PLAIN},
        {"jest", PLAIN},
        {"{spectral: {clusters: 3, kept: 4, starts: 2}}", PLAIN},
        {"grit", PLAIN},
        {"{tas-b: {cluster: 6, within: group}}", PLAIN},
        {"{cde: {pack: tsp, space: teacher}}", PLAIN},
        {"{cde: {keep_apart: true}}", TUPLES},
        {"{b3: {p: 3, m: 6, cluster: 3}}", PLAIN},
        {"hard-negative", PLAIN},
        {"stratified", PLAIN},
        {"{random-negatives: {n: 3}}", SETS},
        {"hops", PLAIN},
        {"{ring: {space: embeddings}}", PLAIN},
        {"ring", PLAIN},
        {"{mined: {n: 3, R: 12, max_score: 0.9}}", PLAIN, "{hcl: {beta: 2}}"}};
    static struct drawn right;
    fill();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hardneg *h;
        int stopped = places;
        hn_test_entry(cases[i].spec);
        int code = hardneg_open(cases[i].spec, B, 5, 1, &h);
        noting = true;
        code = code ? code : use(h, &cases[i], &right);
        noting = false;
        if (code)
            fprintf(stderr, "    %s: %s\n", cases[i].spec, hardneg_message(h));
        CU_ASSERT_EQUAL_FATAL(code, HARDNEG_OK);
        hardneg_free(h);
        for (; stopped < places; stopped++)
            stop_one(&cases[i], stopped, &right);
        int64_t k = 1;
        while (k < CALLS && !lacks_one(&cases[i], k, &right))
            k++;
        CU_ASSERT_TRUE(k > 10 && k < CALLS);
    }
    CU_ASSERT_TRUE(places > 5 && places < PLACES_MAX);
}

// Queries over passages, of which some come twice, with all that options look at.
enum { QUERIES = 6, PASSAGES = 18, KNOWN = 8, SCORED = QUERIES * PASSAGES };

struct mined {
    int64_t negative[WIDE], filters[2 * HARDNEG_FILTERS], fewer, none, drawn;
    double score[WIDE], known[KNOWN];
};

static int score_pairs(void *data, const int64_t *pair, int64_t n, float *score) {
    (void)data;
    for (int64_t i = 0; i < n; i++)
        score[i] = (float)((3 * pair[2 * i] + 7 * pair[2 * i + 1]) % 11) / 11;
    return 0;
}

static int mine(hardneg *h, const char *const *option, bool asks, struct mined *to) {
    static const int64_t known[] = {0, 1,  1, 0, 9, 2, 1, 4, 1, 2, 7, 1,
                                    3, 11, 1, 4, 4, 1, 5, 2, 1, 5, 3, 0};
    static int64_t text[PASSAGES], scored[2 * SCORED];
    static float score[SCORED];
    double known_score[KNOWN];
    for (int64_t i = 0; i < PASSAGES; i++)
        text[i] = i % 14;
    for (int64_t i = 0; i < SCORED; i++) {
        scored[2 * i] = i / PASSAGES;
        scored[2 * i + 1] = i % PASSAGES;
    }
    (void)score_pairs(NULL, scored, SCORED, score);
    struct hardneg_corpus corpus = {.size = sizeof corpus,
                                    .queries = QUERIES,
                                    .passages = PASSAGES,
                                    .d = D,
                                    .query = views,
                                    .passage = rows,
                                    .known = known,
                                    .known_pairs = KNOWN,
                                    .truth = known,
                                    .truth_pairs = KNOWN - 1,
                                    .query_group = text,
                                    .passage_group = text,
                                    .query_teacher = teacher,
                                    .passage_teacher = teacher,
                                    .teacher_d = T,
                                    .known_score = known_score};
    struct hardneg_mining out = {.size = sizeof out};
    if (asks)
        corpus.scorer = score_pairs;
    else
        corpus.scored = scored, corpus.score = score, corpus.scored_pairs = SCORED;
    memset(to, 0, sizeof *to);
    int code = hardneg_mine(h, &corpus, option, NULL, NULL, &out);
    CU_ASSERT_FATAL(out.width * QUERIES <= WIDE);
    code = code ? code : hardneg_mine(h, &corpus, option, to->negative, to->score, &out);
    if (code)
        return code;
    memcpy(to->known, known_score, sizeof to->known);
    memcpy(to->filters, out.all, sizeof out.all);
    memcpy(to->filters + HARDNEG_FILTERS, out.hidden, sizeof out.hidden);
    to->fewer = out.fewer, to->none = out.none, to->drawn = out.drawn;
    return HARDNEG_OK;
}

#define OPTIONS(...) ((const char *const[]){__VA_ARGS__, NULL})

struct mining {
    const char *const *option;
    bool asks; // a scorer, in place of listed scores
};

// Mines with a handle of its own: allocation k fails (0 = none), or it is asked to stop at a place
// (-1 = at none). True if there is no allocation k.
static bool mine_one(const struct mining *what, int64_t k, int at, const struct mined *right) {
    static struct mined now;
    CU_ASSERT_EQUAL_FATAL(hardneg_open("uniform", B, 5, 1, &used), HARDNEG_OK);
    calls = 0, fails = k, stop_at = at;
    int code = mine(used, what->option, what->asks, &now);
    bool whole = calls < k;
    if (at >= 0)
        expect_stop(used, code, at);
    else if (!whole)
        expect_lack(used, code);
    fails = 0, stop_at = -1;
    CU_ASSERT_EQUAL(mine(used, what->option, what->asks, &now), HARDNEG_OK);
    CU_ASSERT_EQUAL(memcmp(&now, right, sizeof now), 0);
    hardneg_free(used);
    return whole;
}

static void test_mining(void) {
    const struct mining cases[] = {
        {OPTIONS("preset", "sentence-transformers", "filter-by", "scores", "absolute-margin",
                 "0.1"),
         true},
        {OPTIONS("preset", "flagembedding", "negatives", "2", "min-rank", "2", "max-rank", "9"),
         false},
        {OPTIONS("negatives", "2", "equal-texts", "merge", "rank-by", "scores", "filter-by",
                 "scores", "relative-margin", "0.1"),
         false},
        {OPTIONS("negatives", "2", "guide", "0", "filter-by", "teacher", "max-score", "0.9", "self",
                 "both"),
         false},
        {OPTIONS("negatives", "3", "equal-texts", "filter", "take", "draw", "fill", "draw"), false},
        {OPTIONS("negatives", "3", "filter-by", "scores", "fill", "drop", "max-rank", "4",
                 "include-positives", "true"),
         true}};
    static struct mined right;
    fill();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int stopped = places;
        hn_test_entry(cases[i].option[1]);
        CU_ASSERT_EQUAL_FATAL(hardneg_open("uniform", B, 5, 1, &used), HARDNEG_OK);
        noting = true;
        CU_ASSERT_EQUAL_FATAL(mine(used, cases[i].option, cases[i].asks, &right), HARDNEG_OK);
        noting = false;
        hardneg_free(used);
        for (; stopped < places; stopped++)
            (void)mine_one(&cases[i], 0, stopped, &right);
        int64_t k = 1;
        while (k < CALLS && !mine_one(&cases[i], k, -1, &right))
            k++;
        CU_ASSERT_TRUE(k > 20 && k < CALLS);
    }
}

static const struct hn_test tests[] = {
    {"samplers", test_samplers},
    {"mining", test_mining},
};

HN_TEST_MAIN("call_memory", tests)
