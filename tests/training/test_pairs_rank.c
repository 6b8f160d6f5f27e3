// The task `pairs`: ranks of sparse rows against those of dense ones, and of rows that are all
// equal.
#include "tests/test.h"
#include "training/tasks/pairs_rank.h"

#include <math.h>

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
    struct hn_pairs_ranked r = {ASKED, KEYS, 0, query, own, &test, &truth};
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
    HN_CHECK(&ctx, hn_pairs_measure(&ctx, &r, z, WORDS, dense));
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
        const struct hn_pairs_ranked r = {ASKED, KEYS, OWN, query, own, &test, &none};
        HN_CHECK(&ctx, hn_qrels_build(&ctx, list, ASKED, ASKED, &test));
        HN_CHECK(&ctx, hn_pairs_measure(&ctx, &r, z, 2, value));
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

static const struct hn_test tests[] = {
    {"bags", test_bags},
    {"collapsed", test_collapsed},
};
HN_TEST_MAIN("pairs_rank", tests)
