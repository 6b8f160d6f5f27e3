// SPDX-License-Identifier: GPL-3.0-or-later
// Edges of mining, one at a time, on corpora small enough to see the answer.
#include "core/sweep/blas.h"
#include "retrieval/listed.h"
#include "retrieval/miner.h"
#include "retrieval/relevance.h"
#include "retrieval/take.h"
#include "retrieval/wanted.h"
#include "tests/retrieval/mining_fixture.h"

static struct hn_context ctx;

// One query (1, 0) and passages of scores 1, .5, 0, -.5, -1; the first is its positive.
static const float line_q[] = {1, 0};
static const float line_p[] = {1, 0, .5F, .8660254F, 0, 1, -.5F, .8660254F, -1, 0};

static void line(struct hn_retrieval_data *data, int32_t positive) {
    struct hn_judgement known[] = {{0, positive, 1}};
    *data = (struct hn_retrieval_data){.rows = {{line_q, 1, 2, 2}, {line_p, 5, 2, 2}}};
    HN_CHECK(&ctx, hn_qrels_build(&ctx, known, 1, 1, &data->qrels));
}

static void expect_ids(const struct hn_retrieval_data *data, const struct hn_mine_options *o, int n,
                       const int32_t *want) {
    struct hn_miner m;
    struct hn_mined got;
    HN_SCOPE(&ctx);
    mine_all(&ctx, data, o, &m, &got);
    CU_ASSERT_EQUAL(got.n[0], n);
    for (int k = 0; k < n && k < got.n[0]; k++)
        CU_ASSERT_EQUAL(got.id[k], want[k]);
}
#define EXPECT_IDS(data, o, ...)                                                                   \
    expect_ids(data, o, (int)(sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t)),                 \
               (const int32_t[]){__VA_ARGS__})

static struct hn_mine_options three(void) {
    struct hn_mine_options o = no_options(HN_PRESET_NONE);
    o.n = 3;
    return o;
}

static void test_bounds_stay(void) {
    struct hn_retrieval_data data;
    struct hn_mine_options o = three();
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    HN_SCOPE(&ctx);
    line(&data, 0);
    EXPECT_IDS(&data, &o, 1, 2, 3);
    o.absolute_margin = .5;
    EXPECT_IDS(&data, &o, 1, 2, 3);
    o.absolute_margin = .5000001;
    EXPECT_IDS(&data, &o, 2, 3, 4);
    o = three();
    o.relative_margin = 1;
    EXPECT_IDS(&data, &o, 2, 3, 4);
    o.min_score = -.5;
    EXPECT_IDS(&data, &o, 2, 3);
    o = three();
    o.max_score = 0;
    EXPECT_IDS(&data, &o, 2, 3, 4);
    // A positive below 0: the margin goes down from it, not towards 0.
    line(&data, 3);
    o = three();
    o.relative_margin = .1;
    EXPECT_IDS(&data, &o, 4);
}

// Of two positives, of scores 1 and 0, margins are taken from the lower one, the higher one or .5.
static void test_which_positive(void) {
    struct hn_judgement known[] = {{0, 0, 1}, {0, 2, 1}};
    struct hn_retrieval_data data = {.rows = {{line_q, 1, 2, 2}, {line_p, 5, 2, 2}}};
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    HN_SCOPE(&ctx);
    HN_CHECK(&ctx, hn_qrels_build(&ctx, known, 2, 1, &data.qrels));
    struct hn_mine_options o = three();
    o.absolute_margin = 0;
    EXPECT_IDS(&data, &o, 3, 4);
    o.positive = HN_POSITIVE_MAX;
    EXPECT_IDS(&data, &o, 1, 3, 4);
    o.positive = HN_POSITIVE_MEAN;
    EXPECT_IDS(&data, &o, 1, 3, 4);
    o.absolute_margin = .25;
    EXPECT_IDS(&data, &o, 3, 4);
    o.positive = HN_POSITIVE_MAX;
    EXPECT_IDS(&data, &o, 1, 3, 4);
    // A window that holds fewer ranks than are wanted.
    struct hn_miner m;
    o.min_rank = 4;
    o.max_rank = 3;
    HN_CHECK_FAILS(&ctx, hn_miner_open(&ctx, &data, &o, "test", &m), HN_USAGE,
                   "--min-rank 4 is above --max-rank 3, where the ranks end");
    o.max_rank = 5;
    HN_CHECK_FAILS(&ctx, hn_miner_open(&ctx, &data, &o, "test", &m), HN_USAGE,
                   "ranks 4 to 5 hold fewer than the 3 negatives wanted");
    o.max_rank = INT64_MIN;
    o.depth = 3;
    HN_CHECK_FAILS(&ctx, hn_miner_open(&ctx, &data, &o, "test", &m), HN_USAGE,
                   "--min-rank 4 is above --depth 3, where the ranks end");
}

static void test_without_positives(void) {
    struct hn_retrieval_data data;
    struct hn_mine_options o = three();
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    HN_SCOPE(&ctx);
    line(&data, 0);
    data.qrels.grade[0] = 0; // judged and not relevant: a candidate like others
    EXPECT_IDS(&data, &o, 0, 1, 2);
    o.relative_margin = 0;
    EXPECT_IDS(&data, &o, 0); // which no margin takes, as it is no false negative
    o.judged = HN_JUDGED_FILTER;
    expect_ids(&data, &o, 0, NULL);
}

// A passage that was judged not relevant passes what filters are for, and no other bound.
static void test_judged_negatives(void) {
    struct hn_retrieval_data data;
    struct hn_mine_options o = three();
    struct hn_judgement known[] = {{0, 3, 1}, {0, 1, 0}};
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    HN_SCOPE(&ctx);
    line(&data, 0);
    HN_CHECK(&ctx, hn_qrels_build(&ctx, known, 2, 1, &data.qrels));
    o.min_rank = 3;
    o.max_rank = 5;
    EXPECT_IDS(&data, &o, 1, 2, 4);
    o.judged = HN_JUDGED_FILTER;
    EXPECT_IDS(&data, &o, 2, 4);
    o = three();
    o.max_score = -.1;
    EXPECT_IDS(&data, &o, 1, 4);
    o.relative_margin = .1;
    EXPECT_IDS(&data, &o, 1, 4);
    o.min_score = .9;
    expect_ids(&data, &o, 0, NULL);
    o = three();
    o.preset = HN_PRESET_SENTENCE_TRANSFORMERS;
    o.max_score = -.1;
    EXPECT_IDS(&data, &o, 4);
}

static void test_other_scores(void) {
    static const float tq[] = {0, 1}, tp[] = {0, 1, 1, 0, 0, 1, -1, 0, 0, -1};
    int64_t start[] = {0, 3};
    int32_t passage[] = {0, 2, 3};
    float score[] = {5, 6, 4};
    struct hn_retrieval_data data;
    struct hn_mine_options o = three();
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    HN_SCOPE(&ctx);
    line(&data, 0);
    struct hn_miner m;
    o.guide = 1;
    HN_CHECK_FAILS(&ctx, hn_miner_open(&ctx, &data, &o, "f.h5", &m), HN_DATA, "--guide");
    data.scores = (struct hn_pair_scores){start, passage, score};
    EXPECT_IDS(&data, &o, 3); // 4 <= 5 - 1; what is not listed does not pass
    o = three();
    o.filter_by = HN_BY_LISTED;
    o.max_score = 6;
    EXPECT_IDS(&data, &o, 2, 3);
    o.rank_by = HN_BY_LISTED;
    EXPECT_IDS(&data, &o, 2, 3);
    // The teacher's scores of 1 to 4 are 0, 1, 0, -1.
    data.teacher[0] = (struct hn_matrix){tq, 1, 2, 2};
    data.teacher[1] = (struct hn_matrix){tp, 5, 2, 2};
    o = three();
    o.guide = 1;
    EXPECT_IDS(&data, &o, 1, 3, 4);
    o = three();
    o.filter_by = HN_BY_TEACHER;
    o.max_score = 0;
    EXPECT_IDS(&data, &o, 1, 3, 4);
    o.rank_by = HN_BY_TEACHER;
    o.max_score = NAN;
    EXPECT_IDS(&data, &o, 2, 1, 3);
    // sentence-transformers asks another scorer only where a margin or a ceiling is given.
    o = no_options(HN_PRESET_SENTENCE_TRANSFORMERS);
    o.filter_by = HN_BY_TEACHER;
    EXPECT_IDS(&data, &o, 1, 2, 3);
    o.max_score = 2;
    EXPECT_IDS(&data, &o, 2, 1, 3);
}

static void test_own_id(void) {
    struct hn_retrieval_data data;
    struct hn_mine_options o = three();
    struct hn_strings q = {0}, p = {0};
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    HN_SCOPE(&ctx);
    line(&data, 0);
    HN_CHECK(&ctx, hn_strings_add(&ctx, &q, "07"));
    for (int i = 0; i < 5; i++)
        HN_CHECK(&ctx, hn_strings_add(&ctx, &p, ((const char *[]){"a", "7", "07", "b", "c"})[i]));
    data.id[0] = q;
    data.id[1] = p;
    EXPECT_IDS(&data, &o, 1, 2, 3);
    o.self = HN_SELF_ID;
    EXPECT_IDS(&data, &o, 1, 3, 4);
}

static void test_presets(void) {
    struct hn_mine_options o = no_options(HN_PRESET_SENTENCE_TRANSFORMERS);
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_mine_resolve(&ctx, &o, 2));
    CU_ASSERT(o.n == 3 && o.min_rank == 1 && o.max_rank == 5 && o.depth == 7);
    o = no_options(HN_PRESET_SENTENCE_TRANSFORMERS);
    o.min_rank = 5;
    o.max_score = .9;
    HN_CHECK(&ctx, hn_mine_resolve(&ctx, &o, 2));
    CU_ASSERT(o.max_rank == 4 + 30 + 2 && o.depth == o.max_rank + 2);
    o = no_options(HN_PRESET_SENTENCE_TRANSFORMERS);
    o.min_score = .1; // does not widen the window
    HN_CHECK(&ctx, hn_mine_resolve(&ctx, &o, 1));
    CU_ASSERT_EQUAL(o.max_rank, 4);
    o = no_options(HN_PRESET_FLAGEMBEDDING);
    HN_CHECK(&ctx, hn_mine_resolve(&ctx, &o, 9));
    CU_ASSERT(o.n == 15 && o.min_rank == 11 && o.max_rank == 210 && o.depth == 210);
    o = no_options(HN_PRESET_TEVATRON);
    HN_CHECK(&ctx, hn_mine_resolve(&ctx, &o, 9));
    CU_ASSERT(o.n == 100 && o.depth == 100 && o.rank_of == HN_RANK_RAW);
    o = no_options(HN_PRESET_NONE);
    o.max_rank = 20; // leaves filters all candidates that they would see without it
    HN_CHECK(&ctx, hn_mine_resolve(&ctx, &o, 3));
    CU_ASSERT_EQUAL(o.depth, 200);
    o = no_options(HN_PRESET_NONE);
    o.max_rank = 300;
    HN_CHECK(&ctx, hn_mine_resolve(&ctx, &o, 3));
    CU_ASSERT_EQUAL(o.depth, 303);
    o = no_options(HN_PRESET_NONE);
    o.min_rank = 5;
    o.max_rank = 8;
    o.n = 5;
    HN_CHECK_FAILS(&ctx, hn_mine_resolve(&ctx, &o, 1), HN_USAGE, "ranks 5 to 8");
}

// Drawn ones are among those that top would leave, as many, other ones with another seed; what
// fills up is no positive, no text of one, and nowhere twice.
static void test_draws(void) {
    struct hn_stream s;
    int64_t differ = 0, filled = 0;
    hn_context_init(&ctx, 3);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    for (int64_t k = 0; k < 100; k++) {
        struct small data;
        struct hn_miner m;
        struct hn_mined all, some, other, full;
        struct hn_mine_options o = no_options(HN_PRESET_FLAGEMBEDDING);
        HN_SCOPE(&ctx);
        hn_stream_open(&s, 2, "test.draws", 0, 0, k);
        make_small(&ctx, &s, &data);
        o.min_rank = 1;
        o.fill = HN_FILL_KEEP;
        o.n = PASSAGES;
        o.take = HN_TAKE_TOP;
        mine_all(&ctx, &data.data, &o, &m, &all);
        o.n = 4;
        o.take = HN_TAKE_DRAW;
        mine_all(&ctx, &data.data, &o, &m, &some);
        o.seed = 2;
        mine_all(&ctx, &data.data, &o, &m, &other);
        o.fill = HN_FILL_DRAW;
        mine_all(&ctx, &data.data, &o, &m, &full);
        for (int64_t q = 0; q < data.n[HN_QUERIES]; q++) {
            CU_ASSERT_EQUAL(some.n[q], hn_min(4, all.n[q]));
            int32_t at = 0;
            for (int32_t i = 0; i < some.n[q]; i++) { // in the order of all, so by score
                while (at < all.n[q] && all.id[q * all.width + at] != some.id[q * some.width + i])
                    at++;
                CU_ASSERT(at < all.n[q]);
                differ += some.id[q * some.width + i] != other.id[q * other.width + i];
            }
            CU_ASSERT_EQUAL(memcmp(full.id + q * full.width, other.id + q * other.width,
                                   (size_t)other.n[q] * 4),
                            0);
            for (int32_t i = 0; i < full.n[q]; i++) {
                int32_t p = full.id[q * full.width + i];
                for (int32_t other_i = 0; other_i < i; other_i++)
                    CU_ASSERT_NOT_EQUAL(data.group[1][p],
                                        data.group[1][full.id[q * full.width + other_i]]);
                for (int64_t e = m.known.start[q]; e < m.known.start[q + 1]; e++)
                    CU_ASSERT(m.known.grade[e] <= 0 || data.group[1][p] != m.known.key[e]);
            }
            filled += full.n[q] - other.n[q];
        }
        CU_ASSERT_EQUAL(full.counts.drawn, filled);
        filled = 0;
    }
    CU_ASSERT(differ > 100);
}

// More passages that are the query itself, up to rounding, than are looked at: the lower indices.
static void test_equal_to_the_query(void) {
    enum { COPIES = 30, D = 7 };
    float q[D], p[COPIES * D];
    struct hn_retrieval_data data = {.rows = {{q, 1, D, D}, {p, COPIES, D, D}}};
    struct hn_judgement none[1];
    struct hn_mine_options o = three();
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    HN_SCOPE(&ctx);
    for (int k = 0; k < D; k++)
        q[k] = 1.0F + (float)k;
    HN_CHECK(&ctx, hn_normalize_rows(&ctx, q, 1, D, "q"));
    // A little too long, by different amounts.
    for (int i = 0; i < COPIES * D; i++)
        p[i] = q[i % D] * (1 + (float)(2 + i / D * 7 % COPIES) * 1.2e-7F);
    HN_CHECK(&ctx, hn_qrels_build(&ctx, none, 0, 1, &data.qrels));
    int above = 0;
    for (int i = 0; i < COPIES; i++)
        above += hn_dot_exact(q, p + i * D, D) > 1;
    CU_ASSERT_EQUAL_FATAL(above, COPIES); // else nothing is shown
    o.depth = 3;
    EXPECT_IDS(&data, &o, 0, 1, 2);
}

// How many passages can be one query's own: as many as share a text, and one of its id.
static void test_most_selves(void) {
    static const int64_t text[] = {5, 2, 5, 5, 2};
    static const struct {
        enum hn_self by;
        int64_t max;
    } cases[] = {{HN_SELF_TEXT, 3}, {HN_SELF_ID, 1}, {HN_SELF_BOTH, 4}};
    struct hn_retrieval_data data;
    struct hn_strings q = {0}, p = {0};
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    line(&data, 0);
    HN_CHECK(&ctx, hn_strings_add(&ctx, &q, "b"));
    for (int i = 0; i < 5; i++)
        HN_CHECK(&ctx, hn_strings_add(&ctx, &p, ((const char *[]){"a", "b", "c", "d", "e"})[i]));
    data.id[HN_QUERIES] = q;
    data.id[HN_CORPUS] = p;
    data.group[HN_QUERIES] = text;
    data.group[HN_CORPUS] = text;
    for (int i = 0; i < 3; i++) {
        struct hn_selves selves;
        HN_CHECK(&ctx, hn_selves_open(&ctx, &data, cases[i].by, &selves));
        CU_ASSERT_EQUAL(selves.max, cases[i].max);
    }
}

// A margin of 0 below the positive's listed score.
static struct hn_mine_options below_listed(void) {
    struct hn_mine_options o = three();
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    o.filter_by = HN_BY_LISTED;
    o.absolute_margin = 0;
    return o;
}

// A margin below a listed score needs one of a positive: of one at least.
static void test_listed_positives(void) {
    int64_t start[] = {0, 3};
    int32_t passage[][3] = {{1, 2, 3}, {0, 1, 2}};
    float score[] = {5, 4, 3};
    struct hn_retrieval_data data;
    struct hn_mine_options o = below_listed();
    for (int scored = 0; scored < 2; scored++) {
        struct hn_miner m;
        struct hn_mined mined;
        HN_SCOPE(&ctx);
        line(&data, 0);
        data.scores = (struct hn_pair_scores){start, passage[scored], score};
        mine_all(&ctx, &data, &o, &m, &mined);
        if (scored)
            HN_CHECK(&ctx, hn_mine_check(&ctx, &m, &mined.counts, "f.h5"));
        else
            HN_CHECK_FAILS(&ctx, hn_mine_check(&ctx, &m, &mined.counts, "f.h5"), HN_DATA,
                           "none of the 1 known positive has a listed score");
    }
}

// What would be mined and has no score is wanted, and the positive where it has none; what lacks a
// score passes, and so does all while the positive's is not there.
static void test_wanted(void) {
    int64_t start[] = {0, 3};
    int32_t passage[][3] = {{0, 2, 3}, {2, 3, 4}};
    float score[] = {5, 6, 4};
    static const int32_t wanted[][2] = {{1, 4}, {1, 0}};
    struct hn_retrieval_data data;
    struct hn_mine_options o = below_listed();
    for (int without = 0; without < 2; without++) {
        struct hn_miner m;
        struct hn_pool pool;
        struct hn_mined got;
        HN_SCOPE(&ctx);
        line(&data, 0);
        data.scores = (struct hn_pair_scores){start, passage[without], score};
        HN_CHECK(&ctx, hn_miner_open(&ctx, &data, &o, "test", &m));
        m.wanting = true;
        HN_CHECK(&ctx, hn_miner_pool(&ctx, &m, 0, 1, true, &pool));
        HN_CHECK(&ctx, hn_miner_wanted(&ctx, &m, &pool, &got));
        CU_ASSERT_PTR_NOT_NULL_FATAL(got.score);
        CU_ASSERT_EQUAL_FATAL(got.n[0], 2);
        for (int k = 0; k < 2; k++) {
            CU_ASSERT_EQUAL(got.id[k], wanted[without][k]);
            CU_ASSERT(isnan(got.score[k]));
        }
    }
}

// The sum of 1 / (60 + rank) over lists, by score and then by id; of copies the best rank counts.
static void test_fused(void) {
    struct hn_judgement first[] = {{0, 0, 0}, {0, 1, 1}, {0, 2, 2}},
                        second[] = {{0, 1, 0}, {0, 3, 1}};
    const float score[] = {.5F, .5F, .9F}, other[] = {3, 2};
    static const int32_t copies[] = {0, 1, 1, 3};
    struct hn_pair_scores list[2];
    struct hn_sources plain, merged;
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    HN_CHECK(&ctx, hn_pair_scores_build(&ctx, first, 3, 1, score, &list[0]));
    HN_CHECK(&ctx, hn_pair_scores_build(&ctx, second, 2, 1, other, &list[1]));
    HN_CHECK(&ctx, hn_candidates_unite(&ctx, list, 2, 1, NULL, true, &plain));
    HN_CHECK(&ctx, hn_candidates_unite(&ctx, list, 2, 1, copies, true, &merged));
    const double wanted[] = {1. / 62, 1. / 63 + 1. / 61, 1. / 61, 1. / 62};
    CU_ASSERT_EQUAL_FATAL(plain.pair.start[1], 4);
    for (int32_t p = 0; p < 4; p++) {
        CU_ASSERT_EQUAL(plain.pair.passage[p], p);
        CU_ASSERT_DOUBLE_EQUAL(plain.fused[p], wanted[p], 1e-15);
    }
    const double of_merged[] = {1. / 62, 2. / 61, 1. / 62};
    CU_ASSERT_EQUAL_FATAL(merged.pair.start[1], 3);
    for (int k = 0; k < 3; k++)
        CU_ASSERT_DOUBLE_EQUAL(merged.fused[k], of_merged[k], 1e-15);
}

// Copies of a passage with several grades: the best one counts, whether they are merged or one of
// them is left out, and in which order they are.
static void test_grades_of_copies(void) {
    static const float p[] = {1, 0, 1, 0, 0, 1, .5F, .8660254F, 0, -1};
    static const int64_t text[] = {0, 0, 1, 2, 3}, asks[] = {4};
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    for (int first = 0; first < 2; first++)
        for (int how = HN_EQUAL_FILTER; how <= HN_EQUAL_MERGE; how++) {
            struct hn_judgement known[] = {{0, 0, first}, {0, 1, 1 - first}};
            struct hn_retrieval_data data = {.rows = {{line_q, 1, 2, 2}, {p, 5, 2, 2}},
                                             .group = {asks, text}};
            struct hn_mine_options o = three();
            HN_SCOPE(&ctx);
            o.equal_texts = how;
            HN_CHECK(&ctx, hn_qrels_build(&ctx, known, 2, 1, &data.qrels));
            EXPECT_IDS(&data, &o, 3, 2, 4);
            data.group[HN_QUERIES] = NULL;
            EXPECT_IDS(&data, &o, 3, 2, 4);
        }
}

static const struct hn_test tests[] = {
    {"bounds_stay", test_bounds_stay},
    {"which positive", test_which_positive},
    {"without_positives", test_without_positives},
    {"judged_negatives", test_judged_negatives},
    {"other_scores", test_other_scores},
    {"own_id", test_own_id},
    {"presets", test_presets},
    {"draws", test_draws},
    {"equal_to_the_query", test_equal_to_the_query},
    {"most_selves", test_most_selves},
    {"fused", test_fused},
    {"listed_positives", test_listed_positives},
    {"wanted", test_wanted},
    {"grades_of_copies", test_grades_of_copies},
};
HN_TEST_MAIN("mining_edges", tests)
