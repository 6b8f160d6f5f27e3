// SPDX-License-Identifier: GPL-3.0-or-later
// The task `pairs`: ranks of sparse rows against those of dense ones, and of rows that are all
// equal.
#include "core/random.h"
#include "retrieval/evaluate.h"
#include "tests/test.h"
#include "training/tasks/pairs_rank.h"

#include <math.h>
#include <string.h>

// Bags have the measures of the same rows in full: five texts are there twice, some documents are
// beyond the depth of a ranking, and judged ones that are not relevant are not of the queries.
static void test_bags(void) {
    enum {
        ASKED = 30,
        KEYS = 1400,
        OWN = KEYS - 2 * ASKED,
        ROWS = ASKED + KEYS,
        WORDS = 40,
        OF_ROW = 6
    };
    static float z[ROWS * WORDS];
    struct hn_judgement list[2][2 * ASKED];
    struct hn_context ctx;
    struct hn_sparse bags[2], transposed;
    struct hn_qrels test, truth;
    int32_t query[ASKED], own[KEYS];
    double dense[HN_PAIRS_COLUMNS], sparse[HN_PAIRS_COLUMNS];
    struct hn_qrels none = {0};
    struct hn_pairs_ranked r = {ASKED, KEYS, 0, query, own, &test, &truth, &none};
    hn_context_init(&ctx, 3);
    HN_SCOPE(&ctx);
    HN_CHECK(&ctx, hn_sparse_open(&ctx, ASKED, WORDS, ASKED * OF_ROW, &bags[0]));
    HN_CHECK(&ctx, hn_sparse_open(&ctx, KEYS, WORDS, KEYS * OF_ROW, &bags[1]));
    HN_CHECK(&ctx, hn_sparse_open(&ctx, WORDS, KEYS, KEYS * OF_ROW, &transposed));
    for (int i = 0; i < ROWS; i++) {
        struct hn_sparse *x = &bags[i >= ASKED];
        int row = i < ASKED ? i : i - ASKED, text = i >= ROWS - 5 ? i - 5 : i;
        if (i < ASKED && i % 5 == 0)
            text = ASKED + OWN + 2 * i; // of its document
        for (int k = 0; k < OF_ROW; k++) {
            int at = row * OF_ROW + k;
            x->index[at] = 7 * k + (text * (k + 3) + text / 7) % (k == 5 ? 5 : 7);
            x->value[at] = (float)sqrt((1 + k + text % 3) / (21. + 6 * (text % 3)));
            z[i * WORDS + x->index[at]] = x->value[at];
        }
        x->start[row + 1] = (int64_t)(row + 1) * OF_ROW;
    }
    hn_sparse_transpose(&bags[1], &transposed);
    for (int32_t i = 0; i < ASKED; i++) {
        query[i] = i;
        own[r.own++] = OWN + 2 * i;
        for (int way = 0; way < 2; way++) {
            list[way][2 * i] = (struct hn_judgement){i, OWN + 2 * i, 1};
            list[way][2 * i + 1] = (struct hn_judgement){i, OWN + (2 * i + 7) % (2 * ASKED), way};
        }
    }
    HN_CHECK(&ctx, hn_qrels_build(&ctx, list[0], 2 * ASKED, ASKED, &test));
    HN_CHECK(&ctx, hn_qrels_build(&ctx, list[1], 2 * ASKED, ASKED, &truth));
    HN_CHECK(&ctx, hn_pairs_measure(&ctx, &r, z, z + r.queries * WORDS, WORDS, dense));
    HN_CHECK(&ctx, hn_pairs_measure_bags(&ctx, &r, &bags[0], &transposed, sparse));
    for (int c = 0; c < HN_PAIRS_COLUMNS; c++)
        CU_ASSERT(sparse[c] > 0 && fabs(sparse[c] - dense[c]) < 1e-12);
}

// What the values of a collapsed encoder have to be: its documents are all alike, so that each
// rank has the same chance, wherever the labelled ones are in the file.
static void test_collapsed(void) {
    enum { ASKED = 4, KEYS = 1500, OWN = 3 };
    static float z[(ASKED + KEYS) * 2];
    struct hn_context ctx;
    struct hn_qrels test, none = {0};
    double first = 0, of_own = 0, value[HN_PAIRS_COLUMNS];
    hn_context_init(&ctx, 2);
    for (int i = 0; i < ASKED + KEYS; i++)
        z[2 * i] = 1;
    for (int rank = 1; rank <= 1000; rank++)
        first += 1. / rank / KEYS;
    for (int rank = 1; rank <= OWN; rank++)
        of_own += 1. / rank / OWN;
    for (int last = 0; last < 2; last++) {
        HN_SCOPE(&ctx);
        struct hn_judgement list[ASKED];
        int32_t query[ASKED], own[OWN];
        for (int k = 0; k < OWN; k++)
            own[k] = last ? KEYS - OWN + k : k;
        for (int i = 0; i < ASKED; i++) {
            query[i] = i;
            list[i] = (struct hn_judgement){i, own[i % OWN], 1};
        }
        const struct hn_pairs_ranked r = {ASKED, KEYS, OWN, query, own, &test, &none, &none};
        HN_CHECK(&ctx, hn_qrels_build(&ctx, list, ASKED, ASKED, &test));
        HN_CHECK(&ctx, hn_pairs_measure(&ctx, &r, z, z + r.queries * 2, 2, value));
        CU_ASSERT_DOUBLE_EQUAL(value[0], first, 1e-12);
        CU_ASSERT_DOUBLE_EQUAL(value[1], of_own, 1e-12);
        CU_ASSERT_DOUBLE_EQUAL(
            value[2],
            (1 + 1. / 2 + 1. / 3 + 1. / 4 + 1. / 5 + 1. / 6 + 1. / 7 + 1. / 8 + 1. / 9 + 1. / 10) /
                KEYS,
            1e-12);
        CU_ASSERT_DOUBLE_EQUAL(value[3], 100. / KEYS, 1e-12);
    }
}

enum { ASKS = 12, PASSAGES = 60, KINDS = 7, WIDE = 3 };

// Random rows of a few kinds, so that many score alike; some passages have the text of a query.
struct world {
    float z[(ASKS + PASSAGES) * WIDE];
    int64_t group[HN_SETS][PASSAGES];
    struct hn_judgement list[ASKS * 5], self[ASKS];
    int64_t judged, selves;
};

static int below(struct hn_stream *s, int n) { return (int)hn_stream_below(s, (uint32_t)n); }

static void make_world(struct hn_context *ctx, int number, struct world *w) {
    struct hn_stream s;
    hn_stream_open(&s, 1, "test.pairs.rank", 0, 0, number);
    memset(w, 0, sizeof *w);
    for (int i = 0; i < ASKS + PASSAGES; i++) {
        int kind = below(&s, KINDS) + 1;
        for (int k = 0; k < WIDE; k++)
            w->z[i * WIDE + k] = (float)(kind >> k & 1);
    }
    HN_CHECK(ctx, hn_normalize_rows(ctx, w->z, ASKS + PASSAGES, WIDE, "row"));
    for (int i = 0; i < PASSAGES; i++)
        w->group[HN_CORPUS][i] = i;
    for (int32_t q = 0; q < ASKS; q++) {
        bool asks_itself = below(&s, 2);
        int32_t own = below(&s, PASSAGES);
        w->group[HN_QUERIES][q] = asks_itself ? own : PASSAGES + q;
        if (asks_itself)
            w->self[w->selves++] = (struct hn_judgement){q, own, 1};
        w->list[w->judged++] = (struct hn_judgement){q, below(&s, PASSAGES), 2};
        for (int more = below(&s, 5); more > 0; more--)
            w->list[w->judged++] = (struct hn_judgement){q, below(&s, PASSAGES), below(&s, 3)};
    }
}

// The mean of `evaluate` over the queries that have a relevant passage.
static double evaluated(const struct hn_ranking_metrics *e, int c, enum hn_retrieval_metric m) {
    double sum = 0, n = 0;
    for (int q = 0; q < ASKS; q++) {
        double x = e->value[(c * HN_RETRIEVAL_METRICS + m) * ASKS + q];
        sum += isnan(x) ? 0 : x;
        n += !isnan(x);
    }
    return sum / n;
}

// MRR and recall are those of `evaluate --convention st`, for any grade from which a passage is
// relevant, with the query itself in the ranking and without.
static void check_world(struct hn_context *ctx, int number) {
    static const int64_t k[] = {1000, 10, 100};
    static struct world w;
    struct hn_qrels test, none = {0}, self = {0};
    struct hn_miner m;
    int32_t query[ASKS], own[PASSAGES];
    double value[HN_PAIRS_COLUMNS];
    HN_SCOPE(ctx);
    make_world(ctx, number, &w);
    HN_CHECK(ctx, hn_qrels_build(ctx, w.list, w.judged, ASKS, &test));
    if (number % 2)
        HN_CHECK(ctx, hn_qrels_build(ctx, w.self, w.selves, ASKS, &self));
    struct hn_pairs_ranked r = {ASKS, PASSAGES, 0, query, own, &test, &none, &self};
    for (int32_t i = 0; i < PASSAGES; i++)
        own[r.own++] = i;
    for (int32_t q = 0; q < ASKS; q++)
        query[q] = q;
    const struct hn_retrieval_data data = {
        .rows = {{w.z, ASKS, WIDE, WIDE}, {w.z + ASKS * WIDE, PASSAGES, WIDE, WIDE}},
        .group = {w.group[0], w.group[1]},
        .qrels = test};
    const struct hn_mine_options unset = {.n = INT64_MIN,
                                          .depth = INT64_MIN,
                                          .min_rank = INT64_MIN,
                                          .max_rank = INT64_MIN,
                                          .absolute_margin = NAN,
                                          .relative_margin = NAN,
                                          .max_score = NAN,
                                          .min_score = NAN,
                                          .guide = NAN,
                                          .self = number % 2 ? HN_SELF_TEXT : HN_SELF_NONE,
                                          .min_grade = 1 + number % 3 / 2};
    HN_CHECK(ctx, hn_miner_open(ctx, &data, &unset, "test", &m));
    struct hn_ranking_metrics e = {
        .miner = &m, .relevance = &m.known, .convention = HN_CONVENTION_ST, .k = k, .cutoffs = 3};
    HN_CHECK(ctx, hn_evaluation_run(ctx, &e));
    test.min_grade = (int32_t)unset.min_grade;
    HN_CHECK(ctx, hn_pairs_measure(ctx, &r, w.z, w.z + r.queries * WIDE, WIDE, value));
    CU_ASSERT_DOUBLE_EQUAL(value[0], evaluated(&e, 0, HN_MRR), 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(value[1], evaluated(&e, 0, HN_MRR), 1e-12); // all are own
    CU_ASSERT_DOUBLE_EQUAL(value[2], evaluated(&e, 1, HN_MRR), 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(value[3], evaluated(&e, 2, HN_RECALL), 1e-12);
}

static void test_as_evaluate(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    for (int number = 0; number < 60; number++)
        check_world(&ctx, number);
}

static const struct hn_test tests[] = {
    {"bags", test_bags},
    {"collapsed", test_collapsed},
    {"as_evaluate", test_as_evaluate},
};
HN_TEST_MAIN("pairs_rank", tests)
