// SPDX-License-Identifier: GPL-3.0-or-later
// Judgements, sets of labels, classes, tests by ranks, graphs and texts when memory runs out: every
// allocation of each fails once, and what they find when none does.
#include "core/classes.h"
#include "core/graph.h"
#include "core/label_sets.h"
#include "core/qrels.h"
#include "core/rank_tests.h"
#include "core/strings.h"
#include "tests/test.h"

#include <math.h>
#include <string.h>

static const struct hn_judgement judged[] = {{1, 7, 2}, {0, 3, 1}, {1, 7, 0}, {2, 5, 4}, {1, 4, 3}};
enum { JUDGED = sizeof judged / sizeof *judged, QUERIES = 3 };

static enum hn_code join_judgements(struct hn_context *ctx, void *data) {
    static const int32_t to[] = {0, 1, 2, 3, 3, 5, 6, 7}; // passage 4 is 3
    static const int32_t text[] = {0, 1, 0};              // queries 0 and 2 ask the same
    struct hn_qrels q, merged;
    (void)data;
    HN_SCOPE(ctx);
    if (hn_qrels_build(ctx, judged, JUDGED, QUERIES, &q) || hn_qrels_merge(ctx, &q, to, &merged) ||
        hn_qrels_share(ctx, text, 2, &merged))
        return ctx->code;
    CU_ASSERT_EQUAL(q.start[QUERIES], 4); // the later grade of (1, 7) counts
    CU_ASSERT_EQUAL(q.grade[hn_qrels_find(&q, 1, 7)], 0);
    CU_ASSERT_EQUAL(merged.start[QUERIES], 6);
    CU_ASSERT(hn_qrels_relevant(&merged, 0, 5) && hn_qrels_relevant(&merged, 2, 3));
    CU_ASSERT_EQUAL(hn_qrels_find(&merged, 1, 4), -1);
    return HN_OK;
}

static enum hn_code score_pairs(struct hn_context *ctx, void *data) {
    static const float score[] = {.5F, .25F, .75F, 1, 2};
    struct hn_pair_scores found;
    (void)data;
    HN_SCOPE(ctx);
    if (hn_pair_scores_build(ctx, judged, JUDGED, QUERIES, score, &found))
        return ctx->code;
    CU_ASSERT_EQUAL(found.start[QUERIES], 4);
    CU_ASSERT_EQUAL(found.score[0], .25F); // of (0, 3), whose grade is 1
    CU_ASSERT_EQUAL(found.score[3], 2);
    return HN_OK;
}

static enum hn_code number_sets(struct hn_context *ctx, void *data) {
    static const int64_t start[] = {0, 2, 3, 5};
    static const int32_t label[] = {4, 70, 4, 70, 4};
    struct hn_label_sets sets;
    struct hn_classes classes;
    int32_t set[3];
    (void)data;
    HN_SCOPE(ctx);
    if (hn_label_sets_make(ctx, 3, start, label, set, &sets) ||
        hn_classes_find(ctx, set, 3, &classes))
        return ctx->code;
    CU_ASSERT(set[0] == set[2] && set[0] != set[1]);
    CU_ASSERT(sets.n == 2 && sets.classes == 2 && classes.n == 2);
    CU_ASSERT(hn_same_label(&sets, set[0], set[1]));
    return HN_OK;
}

static enum hn_code test_by_ranks(struct hn_context *ctx, void *data) {
    static const double x[] = {1, 2, 3, 4}, y[] = {5, 6, 7, 8}, ranks[] = {1, 1, 2, 2, 3, 3};
    const struct hn_samples low = {x, 4}, high = {y, 4};
    double p[] = {.01, NAN, .04}, above, below, rho, apart;
    (void)data;
    if (hn_mann_whitney(ctx, low, high, &above) || hn_mann_whitney(ctx, high, low, &below) ||
        hn_spearman(ctx, x, y, 4, &rho) || hn_holm(ctx, p, 3) ||
        hn_ranks_apart(ctx, ranks, 3, 2, &apart))
        return ctx->code;
    CU_ASSERT_DOUBLE_EQUAL(above, 1. / 70, 1e-12); // of 8 over 4 orders
    CU_ASSERT_DOUBLE_EQUAL(below, 1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(rho, 1, 1e-12);
    CU_ASSERT(p[0] == .02 && isnan(p[1]) && p[2] == .04);
    CU_ASSERT(apart > 0 && apart <= 2);
    return HN_OK;
}

static enum hn_code order_graph(struct hn_context *ctx, void *data) {
    static const int32_t from[] = {0, 1, 2}, to[] = {1, 2, 3};
    struct hn_graph path, regular, around;
    int32_t order[4], *target;
    (void)data;
    HN_SCOPE(ctx);
    if (hn_graph_symmetric(ctx, 4, 3, from, to, &path) ||
        hn_graph_cuthill_mckee(ctx, &path, NULL, HN_ROOT_GEORGE_LIU, false, order) ||
        hn_graph_regular(ctx, 4, 2, true, &regular))
        return ctx->code;
    target = hn_zalloc(ctx, 4, sizeof *target);
    if (!target || hn_graph_around(ctx, 4, 1, false, &target, &around))
        return ctx->code;
    CU_ASSERT_EQUAL(hn_graph_edges(&path), 6);
    CU_ASSERT(order[0] + order[3] == 3 && order[1] + order[2] == 3); // from either end
    CU_ASSERT(hn_graph_edges(&regular) == 8 && regular.weight);
    CU_ASSERT(hn_graph_edges(&around) == 4 && !around.weight);
    return HN_OK;
}

static enum hn_code find_texts(struct hn_context *ctx, void *data) {
    struct hn_strings s = {.n = 0};
    struct hn_string_index index;
    (void)data;
    HN_SCOPE(ctx);
    if (hn_strings_count(ctx, &s, 20) || hn_string_index_open(ctx, &s, &index))
        return ctx->code;
    CU_ASSERT_EQUAL(hn_string_find(&index, "17"), 17);
    CU_ASSERT_EQUAL(hn_string_find(&index, "20"), -1);
    return HN_OK;
}

static void test_lacks(void) {
    static const struct {
        hn_test_action *action;
        int64_t min; // allocations
    } cases[] = {{join_judgements, 12}, {score_pairs, 5}, {number_sets, 7},
                 {test_by_ranks, 10},   {order_graph, 8}, {find_texts, 4}};
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t made = hn_test_lacks(&ctx, cases[i].action, NULL);
        if (made < cases[i].min)
            fprintf(stderr, "    case %d: %d allocations\n", (int)i, (int)made);
        CU_ASSERT(made >= cases[i].min);
    }
}

// What has no answer.
static void test_no_answer(void) {
    static const double x[] = {1, NAN}, one[] = {3}, same[] = {2, 2, 2};
    struct hn_context ctx;
    double p, rho, apart;
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx,
             hn_mann_whitney(&ctx, (struct hn_samples){x, 2}, (struct hn_samples){one, 1}, &p));
    CU_ASSERT(isnan(p));
    HN_CHECK(&ctx,
             hn_mann_whitney(&ctx, (struct hn_samples){one, 1}, (struct hn_samples){x, 0}, &p));
    CU_ASSERT(isnan(p));
    HN_CHECK(&ctx,
             hn_mann_whitney(&ctx, (struct hn_samples){same, 3}, (struct hn_samples){same, 3}, &p));
    CU_ASSERT_EQUAL(p, 1);
    HN_CHECK(&ctx, hn_spearman(&ctx, one, one, 1, &rho));
    CU_ASSERT(isnan(rho));
    HN_CHECK(&ctx, hn_ranks_apart(&ctx, one, 1, 1, &apart));
    CU_ASSERT(isinf(apart));
}

static const struct hn_test tests[] = {{"lacks", test_lacks}, {"no answer", test_no_answer}};

HN_TEST_MAIN("lacks", tests)
