// SPDX-License-Identifier: GPL-3.0-or-later
// The cases that come with the specification of mining, to the id, and of metrics, to twelve
// digits.
#include "core/sweep/blas.h"
#include "retrieval/evaluate.h"
#include "retrieval/mine.h"
#include "retrieval/miner.h"
#include "retrieval/ranking.h"
#include "retrieval/take.h"
#include "tests/fixture.h"
#include "tests/retrieval/mining_fixture.h"

#include <jansson.h>

static struct hn_context ctx;

static float *read_rows(const json_t *list, int64_t *n) {
    *n = (int64_t)json_array_size(list);
    float *x = hn_alloc(&ctx, *n * DIM, sizeof *x);
    for (int64_t i = 0; x && i < *n * DIM; i++)
        x[i] = (float)json_integer_value(
                   json_array_get(json_array_get(list, (size_t)(i / DIM)), (size_t)(i % DIM))) /
               4;
    CU_ASSERT_PTR_NOT_NULL_FATAL(x);
    return x;
}

static double number(const json_t *options, const char *key) {
    const json_t *v = json_object_get(options, key);
    return v ? json_number_value(v) : NAN;
}

static int64_t integer(const json_t *options, const char *key) {
    const json_t *v = json_object_get(options, key);
    return v ? json_integer_value(v) : INT64_MIN;
}

static void check_rows(const json_t *want, const struct hn_mined *got, int64_t number_of_case) {
    for (int64_t q = 0; q < got->count; q++) {
        const json_t *row = json_array_get(want, (size_t)q);
        bool good = (int64_t)json_array_size(row) == got->n[q];
        for (int32_t k = 0; good && k < got->n[q]; k++)
            good =
                json_integer_value(json_array_get(row, (size_t)k)) == got->id[q * got->width + k];
        if (!good)
            fprintf(stderr, "    case %lld, query %lld\n", (long long)number_of_case, (long long)q);
        CU_ASSERT_FATAL(good);
    }
}

// Grades are for the metrics alone: for the miner every pair is a positive.
static void read_data(const json_t *c, bool grades, struct hn_retrieval_data *data) {
    int64_t n[HN_SETS];
    const float *q = read_rows(json_object_get(c, "queries"), &n[0]);
    const float *p = read_rows(json_object_get(c, "passages"), &n[1]);
    const json_t *pairs = json_object_get(c, "qrels");
    size_t count = json_array_size(pairs);
    struct hn_judgement *list = hn_alloc(&ctx, (int64_t)count, sizeof *list);
    for (size_t k = 0; k < count; k++)
        list[k] = (struct hn_judgement){
            (int32_t)json_integer_value(json_array_get(json_array_get(pairs, k), 0)),
            (int32_t)json_integer_value(json_array_get(json_array_get(pairs, k), 1)),
            grades ? (int32_t)json_integer_value(json_array_get(json_array_get(pairs, k), 2)) : 1};
    *data = (struct hn_retrieval_data){.rows = {rows_of(q, n[0]), rows_of(p, n[1])}};
    HN_CHECK(&ctx, hn_qrels_build(&ctx, list, (int64_t)count, n[0], &data->qrels));
}

// The cases that come with the specification: sentence-transformers, FlagEmbedding's candidates,
// the ranking.
static void check_published(const json_t *c, int64_t k) {
    struct hn_retrieval_data data;
    struct hn_miner m;
    struct hn_mined got;
    struct hn_mine_options o = no_options(HN_PRESET_SENTENCE_TRANSFORMERS);
    const json_t *given = json_object_get(c, "options"), *flag = json_object_get(c, "window");
    HN_SCOPE(&ctx);
    read_data(c, false, &data);
    o.n = integer(given, "num_negatives");
    o.min_rank = integer(given, "range_min") + 1;
    o.max_rank = integer(given, "range_max");
    o.absolute_margin = number(given, "absolute_margin");
    o.relative_margin = number(given, "relative_margin");
    o.max_score = number(given, "max_score");
    o.min_score = number(given, "min_score");
    mine_all(&ctx, &data, &o, &m, &got);
    check_rows(json_object_get(c, "sentence_transformers"), &got, k);
    o = no_options(HN_PRESET_FLAGEMBEDDING);
    o.min_rank = json_integer_value(json_array_get(flag, 0)) + 1;
    o.max_rank = json_integer_value(json_array_get(flag, 1));
    o.n = o.max_rank - o.min_rank + 1;
    o.fill = HN_FILL_KEEP;
    mine_all(&ctx, &data, &o, &m, &got);
    check_rows(json_object_get(c, "flagembedding_candidates"), &got, k);
    o = no_options(HN_PRESET_NONE);
    o.include_positives = true;
    o.n = data.rows[HN_CORPUS].rows;
    mine_all(&ctx, &data, &o, &m, &got);
    check_rows(json_object_get(c, "ranking"), &got, k);
}

// Values of a ranking id[n] in which no two scores are equal.
static bool evaluate(const struct hn_qrels *q, int64_t query, const int32_t *id, int64_t n,
                     int64_t k, enum hn_convention convention, double *value) {
    struct hn_position position[PASSAGES];
    double gain[2 * PASSAGES];
    int64_t from = q->start[query], judged = q->start[query + 1] - from;
    for (int64_t j = 0; j < judged; j++) {
        position[j] = (struct hn_position){.grade = q->grade[from + j],
                                           .relevant = hn_qrels_relevant_at(q, from + j)};
        for (int64_t i = 0; i < n; i++)
            if (id[i] == q->passage[from + j])
                position[j] = (struct hn_position){i, 1, position[j].grade, position[j].relevant};
    }
    return hn_evaluate_positions(position, judged, k, convention, gain, value);
}

static void check_metrics(const json_t *c, enum hn_convention convention) {
    static const int64_t cutoff[] = {1, 3, 10};
    static const char *const name[] = {"", "trec", "st"};
    const json_t *want = json_object_get(json_object_get(c, "metrics"), name[convention]);
    struct hn_retrieval_data data;
    struct hn_ranking r;
    double value[HN_RETRIEVAL_METRICS];
    HN_SCOPE(&ctx);
    read_data(c, true, &data);
    HN_CHECK(&ctx, hn_ranking_run(&ctx, &data.rows[0], &data.rows[1], 10, &r));
    for (int k = 0; k < 3; k++) {
        double sum[HN_RETRIEVAL_METRICS] = {0};
        int64_t queries = 0;
        for (int64_t q = 0; q < r.rows; q++) {
            if (!evaluate(&data.qrels, q, r.id + q * r.kept, r.kept, cutoff[k], convention, value))
                continue;
            queries++;
            for (int m = 0; m < HN_RETRIEVAL_METRICS; m++)
                sum[m] += value[m];
        }
        CU_ASSERT_EQUAL(queries, json_integer_value(json_object_get(want, "queries")));
        for (int m = 0; m < HN_RETRIEVAL_METRICS; m++) {
            char key[40];
            snprintf(key, sizeof key, "%s@%d", hn_retrieval_metric_name[m], (int)cutoff[k]);
            double mean = queries ? sum[m] / (double)queries : 0;
            CU_ASSERT_DOUBLE_EQUAL(mean, json_number_value(json_object_get(want, key)), 1e-12);
        }
    }
}

static void test_cases(void) {
    char path[512];
    json_error_t error;
    hn_context_init(&ctx, 2);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    if (!hn_fixture_shared("retrieval/cases.json", path, sizeof path)) {
        hn_test_skip("no ../shared/retrieval/cases.json");
        return;
    }
    json_t *all = json_load_file(path, 0, &error);
    const json_t *cases = json_object_get(all, "cases");
    CU_ASSERT_EQUAL_FATAL(json_array_size(cases), 120);
    for (size_t k = 0; k < 120; k++)
        check_published(json_array_get(cases, k), (int64_t)k);
    for (size_t k = 0; k < 240; k++)
        check_metrics(json_array_get(cases, k / 2), (enum hn_convention)(1 + k % 2));
    json_decref(all);
}

// Of the relevant 4 (grade 3), 1 (grade 1) and 9 (grade 2), 1 and 4 are at positions 2 and 3.
static void test_metrics(void) {
    struct hn_judgement list[] = {{0, 4, 3}, {0, 1, 1}, {0, 9, 2}, {0, 7, 0}, {1, 2, 0}};
    static const int32_t id[] = {7, 1, 4, 0};
    struct hn_qrels q;
    double v[HN_RETRIEVAL_METRICS];
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    HN_CHECK(&ctx, hn_qrels_build(&ctx, list, 5, 2, &q));
    CU_ASSERT_FALSE(evaluate(&q, 1, id, 4, 4, HN_CONVENTION_TREC, v));
    CU_ASSERT(evaluate(&q, 0, id, 4, 10, HN_CONVENTION_TREC, v));
    CU_ASSERT_DOUBLE_EQUAL(v[HN_RECALL], 2.0 / 3, 1e-15);
    CU_ASSERT_EQUAL(v[HN_HIT], 1);
    CU_ASSERT_EQUAL(v[HN_MRR], .5);
    CU_ASSERT_DOUBLE_EQUAL(v[HN_NDCG], (1 / log2(3) + 3.0 / 2) / (3 + 2 / log2(3) + 1.0 / 2),
                           1e-15);
    CU_ASSERT_DOUBLE_EQUAL(v[HN_MAP], (1.0 / 2 + 2.0 / 3) / 3, 1e-15);
    CU_ASSERT(evaluate(&q, 0, id, 4, 2, HN_CONVENTION_ST, v));
    CU_ASSERT_DOUBLE_EQUAL(v[HN_NDCG], (1 / log2(3)) / (1 + 1 / log2(3)), 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(v[HN_MAP], 1.0 / 2 / 2, 1e-15);
    CU_ASSERT(evaluate(&q, 0, id, 4, 1, HN_CONVENTION_ST, v));
    CU_ASSERT(v[HN_HIT] == 0 && v[HN_MRR] == 0 && v[HN_MAP] == 0);
}

static const struct hn_test tests[] = {
    {"cases", test_cases},
    {"metrics", test_metrics},
};
HN_TEST_MAIN("mining_cases", tests)
