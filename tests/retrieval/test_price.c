// Prices of settings against mining with each of them, and against numbers worked out by hand.
#include "core/sweep/blas.h"
#include "retrieval/estimate.h"
#include "tests/retrieval/mining_fixture.h"

static struct hn_context ctx;

static struct hn_mine_options options_of(const struct hn_mine_options *base,
                                         const struct hn_price_setting *s) {
    struct hn_mine_options o = *base;
    if (s->family == HN_PRICE_RANK)
        o.min_rank = (int64_t)s->value;
    if (s->family == HN_PRICE_RELATIVE)
        o.relative_margin = s->value;
    if (s->family == HN_PRICE_ABSOLUTE)
        o.absolute_margin = s->value;
    if (s->family == HN_PRICE_CEILING)
        o.max_score = s->value;
    o.guide = s->family == HN_PRICE_GUIDE ? s->value : NAN;
    return o;
}

// The same negatives, false ones and empty queries as `mine` gives with the option.
static void check_price(const struct hn_retrieval_data *data, const struct hn_mine_options *base,
                        const struct hn_price *p) {
    const struct hn_mine_options o = options_of(base, &p->setting);
    struct hn_miner m;
    struct hn_mined got;
    double queries = (double)data->rows[HN_QUERIES].rows;
    HN_SCOPE(&ctx);
    mine_all(&ctx, data, &o, &m, &got);
    int64_t kept = got.counts.attrition.all[HN_STAGE_KEPT],
            hidden = got.counts.attrition.hidden[HN_STAGE_KEPT];
    CU_ASSERT_EQUAL(p->negatives, kept);
    CU_ASSERT_FALSE(p->false_share.lo < 0 || p->false_share.hi > 1);
    if (kept > 0)
        CU_ASSERT_DOUBLE_EQUAL(p->false_share.mean, (double)hidden / (double)kept, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(p->fewer, (double)got.counts.fewer / queries, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(p->none, (double)got.counts.none / queries, 1e-12);
}

static void check_front(const struct hn_price *p, int n) {
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n && p[i].negatives > 0 && p[k].negatives > 0; k++)
            if (p[k].hardness.mean > p[i].hardness.mean &&
                p[k].false_share.mean < p[i].false_share.mean)
                CU_ASSERT_FALSE(p[i].front);
}

static void test_against_mining(void) {
    struct hn_stream s;
    hn_context_init(&ctx, 2);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    for (int64_t k = 0; k < 10; k++) {
        struct small data;
        struct hn_miner m;
        struct hn_pool pool;
        struct hn_price_setting setting[HN_PRICES_MAX];
        struct hn_price price[HN_PRICES_MAX];
        struct hn_mine_options o = no_options(HN_PRESET_NONE);
        double best[QUERIES];
        int families = 0;
        HN_SCOPE(&ctx);
        hn_stream_open(&s, 3, "test.price", 0, 0, k);
        make_small(&ctx, &s, &data);
        o.n = 3;
        o.guide = 0;
        HN_CHECK(&ctx, hn_miner_open(&ctx, &data.data, &o, "test", &m));
        HN_CHECK(&ctx, hn_miner_pool(&ctx, &m, 0, data.n[HN_QUERIES], true, &pool));
        int n = hn_price_settings(&m, &pool, best, setting);
        HN_CHECK(&ctx, hn_price_run(&ctx, &m, &pool, NULL, setting, n, price));
        for (int i = 0; i < n; i++) {
            families |= 1 << price[i].setting.family;
            check_price(&data.data, &o, &price[i]);
        }
        CU_ASSERT(families & 1 << HN_PRICE_RELATIVE && families & 1 << HN_PRICE_GUIDE);
        check_front(price, n);
    }
}

// Scores 1 (known), .5, 0, -.5, -1; far are those behind the first quarter: .5 to -1, of mean -.25
// and deviation sqrt(.3125). The passage of .5 is a hidden positive.
static void test_by_hand(void) {
    static const float q[] = {1, 0};
    static const float p[] = {1, 0, .5F, .8660254F, 0, 1, -.5F, .8660254F, -1, 0};
    struct hn_judgement known[] = {{0, 0, 1}}, all[] = {{0, 0, 1}, {0, 1, 1}};
    struct hn_retrieval_data data = {.rows = {{q, 1, 2, 2}, {p, 5, 2, 2}}};
    struct hn_mine_options o = no_options(HN_PRESET_NONE);
    const struct hn_price_setting setting[] = {
        {HN_PRICE_RANK, 1}, {HN_PRICE_RANK, 2}, {HN_PRICE_CEILING, -.4}};
    struct hn_price price[3];
    struct hn_miner m;
    struct hn_pool pool;
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    HN_SCOPE(&ctx);
    o.n = 2;
    HN_CHECK(&ctx, hn_qrels_build(&ctx, known, 1, 1, &data.qrels));
    HN_CHECK(&ctx, hn_qrels_build(&ctx, all, 2, 1, &data.truth));
    HN_CHECK(&ctx, hn_miner_open(&ctx, &data, &o, "test", &m));
    HN_CHECK(&ctx, hn_miner_pool(&ctx, &m, 0, 1, true, &pool));
    HN_CHECK(&ctx, hn_price_run(&ctx, &m, &pool, NULL, setting, 3, price));
    CU_ASSERT_DOUBLE_EQUAL(price[0].false_share.mean, .5, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(price[0].hardness.mean, .5 / sqrt(.3125), 1e-6);
    CU_ASSERT_EQUAL(price[1].false_share.mean, 0);
    // None of two is false: that does not make it sure that none is.
    CU_ASSERT_DOUBLE_EQUAL(price[1].false_share.hi, 1 - sqrt(.025), 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(price[1].hardness.mean, 0, 1e-6);
    CU_ASSERT(price[0].front && price[1].front && !price[2].front);
    CU_ASSERT(price[0].fewer == 0 && price[0].none == 0);
}

// Windows of full rows against Student's test of the pairs, each query priced alone.
static void test_ties(void) {
    const struct hn_price_setting setting[] = {
        {HN_PRICE_RANK, 1}, {HN_PRICE_RANK, 1}, {HN_PRICE_RANK, 2}, {HN_PRICE_RANK, 4}};
    enum { N = 4 };
    int tested = 0, ties = 0;
    hn_context_init(&ctx, 2);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    for (int64_t k = 0; k < 40; k++) {
        struct small data;
        struct hn_stream s;
        struct hn_miner m;
        struct hn_pool pool;
        struct hn_price price[N], one[N];
        struct hn_mine_options o = no_options(HN_PRESET_NONE);
        double difference[N][QUERIES];
        bool tie[N];
        HN_SCOPE(&ctx);
        hn_stream_open(&s, 4, "test.price", 0, 0, k);
        make_small(&ctx, &s, &data);
        int64_t queries = data.n[HN_QUERIES];
        o.n = 1;
        HN_CHECK(&ctx, hn_miner_open(&ctx, &data.data, &o, "test", &m));
        HN_CHECK(&ctx, hn_miner_pool(&ctx, &m, 0, queries, true, &pool));
        HN_CHECK(&ctx, hn_price_run(&ctx, &m, &pool, NULL, setting, N, price));
        if (price[N - 1].fewer > 0)
            continue;
        HN_CHECK(&ctx, hn_price_ties(&ctx, &m, &pool, price, N, 0, 1, 0, tie));
        for (int64_t i = 0; i < queries; i++) {
            HN_CHECK(&ctx, hn_miner_pool(&ctx, &m, i, 1, true, &pool));
            HN_CHECK(&ctx, hn_price_run(&ctx, &m, &pool, NULL, setting, N, one));
            for (int n = 0; n < N; n++)
                difference[n][i] = one[0].hardness.mean - one[n].hardness.mean;
        }
        CU_ASSERT(!tie[0] && tie[1]);
        for (int n = 2; n < N; n++) {
            CU_ASSERT_EQUAL(tie[n], !(hn_mean_interval(difference[n], 1, queries, .95).lo > 0));
            ties += tie[n];
            tested++;
        }
    }
    CU_ASSERT(ties > 3 && tested - ties > 3);
}

static void test_recommend(void) {
    struct hn_price p[3] = {
        {.false_share = {.02, .01, .03}, .hardness = {3, 3, 3}},
        {.false_share = {.01, .005, .015}, .hardness = {2, 2, 2}},
        {.false_share = {.01, .005, .015}, .hardness = {2.5, 2, 3}, .none = .4}};
    CU_ASSERT_EQUAL(hn_price_recommend(p, 3, .03, .1), 0);
    CU_ASSERT_EQUAL(hn_price_recommend(p, 3, .029, .1), 1); // the upper end decides
    CU_ASSERT_EQUAL(hn_price_recommend(p, 3, .029, .4), 2);
    CU_ASSERT_EQUAL(hn_price_recommend(p, 3, .001, 1), -1);
    p[1].false_share.hi = NAN; // not known: never within a limit
    CU_ASSERT_EQUAL(hn_price_recommend(p, 2, .02, 1), -1);
}

static const struct hn_test tests[] = {
    {"against_mining", test_against_mining},
    {"by_hand", test_by_hand},
    {"ties", test_ties},
    {"recommend", test_recommend},
};
HN_TEST_MAIN("price", tests)
