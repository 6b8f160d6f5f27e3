// SPDX-License-Identifier: GPL-3.0-or-later
// Synthetic queries and passages: what is known and what is hidden, and that both are near.
#include "core/sweep/simd.h"
#include "datasets/retrieval.h"
#include "retrieval/synth.h"
#include "tests/scratch.h"

#include <math.h>

enum { QUERIES = 60, PASSAGES = 500, RELEVANT = 3, CLASSES = 10, STEPS = 2 };

static double shift[STEPS]; // along the class mean, beside noise of 1 in each dimension

static struct hn_retrieval *write_corpus(void) {
    struct hn_synth o = {0};
    struct hn_retrieval *r = NULL;
    HN_CHECK(&ctx, hn_options_init(&ctx, hn_synth_options, &o));
    HN_CHECK(&ctx, hn_options_set(&ctx, hn_synth_options, &o, "output", in_folder("synth.h5")));
    o.kind = HN_SYNTH_RETRIEVAL;
    o.queries = QUERIES;
    o.relevant = RELEVANT;
    o.n = PASSAGES;
    o.classes = CLASSES;
    o.dim = 32;
    o.steps = STEPS;
    for (int64_t step = 0; step < STEPS; step++)
        shift[step] = hn_synth_shift(&o, step);
    HN_CHECK(&ctx, hn_synth_retrieval(&ctx, &o));
    HN_CHECK(&ctx, hn_retrieval_open(&ctx, o.output, &r));
    hn_options_free(&ctx, hn_synth_options, &o);
    return r;
}

// Each query has 1 to 2 R - 1 relevant passages, all numbers alike, and no passage two queries;
// one of them is known, all positions alike.
static void test_relevance(void) {
    begin();
    struct hn_retrieval *r = write_corpus();
    const struct hn_qrels *known = &hn_retrieval_info(r)->qrels,
                          *all = &hn_retrieval_info(r)->truth;
    int taken[PASSAGES] = {0}, sizes[2 * RELEVANT] = {0}, first = 0, last = 0;
    CU_ASSERT_EQUAL(hn_retrieval_info(r)->n[HN_QUERIES], QUERIES);
    CU_ASSERT_EQUAL(hn_retrieval_info(r)->n[HN_CORPUS], PASSAGES);
    for (int64_t q = 0; q < QUERIES; q++) {
        int64_t from = all->start[q], count = all->start[q + 1] - from;
        CU_ASSERT_FATAL(count >= 1 && count < 2 * RELEVANT);
        sizes[count]++;
        for (int64_t k = 0; k < count; k++)
            taken[all->passage[from + k]]++;
        CU_ASSERT_EQUAL_FATAL(known->start[q + 1] - known->start[q], 1);
        int32_t one = known->passage[known->start[q]];
        CU_ASSERT(hn_qrels_find(all, q, one) >= 0);
        first += count > 1 && one == all->passage[from];
        last += count > 1 && one == all->passage[from + count - 1];
    }
    for (int64_t i = 0; i < PASSAGES; i++)
        CU_ASSERT(taken[i] <= 1);
    for (int count = 1; count < 2 * RELEVANT; count++)
        CU_ASSERT(sizes[count] > 3);  // of 12 on average
    CU_ASSERT(first > 5 && last > 5); // of 15
    hn_retrieval_close(&ctx, r);
    end();
}

static bool is_relevant(const struct hn_qrels *all, int32_t passage) {
    bool is = false;
    for (int64_t q = 0; q < QUERIES; q++)
        is |= hn_qrels_find(all, q, passage) >= 0;
    return is;
}

// Relevant passages are about 1 / sqrt(1 + noise^2) = .894 near to their query, known or hidden,
// and others less: those about the same class mean as the shift along it makes them. A query and
// its passages move together from step to step.
static void test_rows(void) {
    begin();
    struct hn_retrieval *r = write_corpus();
    const struct hn_qrels *known = &hn_retrieval_info(r)->qrels,
                          *all = &hn_retrieval_info(r)->truth;
    for (int64_t step = 0; step < STEPS; step++) {
        struct hn_matrix x, y;
        double sum[4] = {0}, count[4] = {0}; // known, hidden, of the class, of others
        HN_SCOPE(&ctx);
        HN_CHECK(&ctx, hn_retrieval_rows(&ctx, r, HN_QUERIES, step, &x));
        HN_CHECK(&ctx, hn_retrieval_rows(&ctx, r, HN_CORPUS, step, &y));
        for (int64_t q = 0; q < QUERIES; q++)
            for (int32_t p = 0; p < PASSAGES; p++) {
                int kind = hn_qrels_find(known, q, p) >= 0 ? 0
                           : hn_qrels_find(all, q, p) >= 0 ? 1
                           : q % CLASSES == p % CLASSES    ? 2
                                                           : 3;
                if (kind == 2 && is_relevant(all, p))
                    continue; // it is about another query
                sum[kind] += hn_dot_exact(hn_row(&x, q), hn_row(&y, p), x.cols);
                count[kind]++;
            }
        CU_ASSERT_DOUBLE_EQUAL(sum[0] / count[0], 1 / sqrt(1.25), 0.03);
        CU_ASSERT_DOUBLE_EQUAL(sum[1] / count[1], 1 / sqrt(1.25), 0.03);
        double along = shift[step] * shift[step];
        CU_ASSERT_DOUBLE_EQUAL(sum[2] / count[2], along / (along + (double)x.cols), 0.03);
        CU_ASSERT(sum[3] / count[3] < 0.5);
    }
    hn_retrieval_close(&ctx, r);
    end();
}

static const struct hn_test tests[] = {{"relevance", test_relevance}, {"rows", test_rows}};
HN_TEST_MAIN("retrieval_synth", tests)
