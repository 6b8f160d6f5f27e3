// SPDX-License-Identifier: GPL-3.0-or-later
// Prices of settings against mining with each of them, and against numbers worked out by hand.
#include "core/sweep/blas.h"
#include "retrieval/estimate.h"
#include "retrieval/miner.h"
#include "retrieval/price.h"
#include "retrieval/recommend.h"
#include "retrieval/take.h"
#include "tests/retrieval/mining_fixture.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>

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

static int spread; // prices with a variance

// Of the share of false ones among the negatives, by queries.
static double variance_of(const struct hn_relevance *truth, const struct hn_mined *got) {
    double negatives = 0, wrong = 0, squares = 0, rows = (double)got->count;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t q = 0; q < got->count; q++) {
            double here = 0;
            for (int32_t k = 0; k < got->n[q]; k++)
                here += hn_relevance_has(truth, q, got->id[q * got->width + k]);
            if (pass == 0) {
                negatives += got->n[q];
                wrong += here;
            } else {
                double off = here / negatives - wrong / negatives * got->n[q] / negatives;
                squares += off * off;
            }
        }
    return squares * rows / (rows - 1);
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
    if (kept > 0 && got.count > 1)
        CU_ASSERT_DOUBLE_EQUAL(p->evidence.variance, variance_of(&m.truth, &got), 1e-12);
    spread += kept > 0 && p->evidence.variance > 0;
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

// Settings of a family go from the loosest to the strictest, each once; windows are of `ranks`
// ranks that can be the first of as many as are wanted.
static void check_settings(const struct hn_price_setting *s, int n, int64_t ranks) {
    int count[HN_PRICE_FAMILIES] = {0}, first = 0;
    for (int i = 0; i < n; i++) {
        count[s[i].family]++;
        first += s[i].family == HN_PRICE_RANK && s[i].value <= (double)ranks;
        if (i > 0 && s[i].family == s[i - 1].family)
            CU_ASSERT(s[i].family == HN_PRICE_CEILING ? s[i].value < s[i - 1].value
                                                      : s[i].value > s[i - 1].value);
    }
    CU_ASSERT_EQUAL(count[HN_PRICE_RANK], first);
    CU_ASSERT_EQUAL(count[HN_PRICE_RELATIVE], 8);
    CU_ASSERT_EQUAL(count[HN_PRICE_ABSOLUTE], 6);
    CU_ASSERT_EQUAL(count[HN_PRICE_GUIDE], 5);
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
        check_settings(setting, n, pool.width - o.n + 1);
        HN_CHECK(&ctx, hn_price_run(&ctx, &m, &pool, NULL, setting, n, price));
        for (int i = 0; i < n; i++) {
            families |= 1 << price[i].setting.family;
            check_price(&data.data, &o, &price[i]);
        }
        CU_ASSERT(families & 1 << HN_PRICE_RELATIVE && families & 1 << HN_PRICE_GUIDE);
        check_front(price, n);
    }
    CU_ASSERT(spread > 0);
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
    // None of two is false: those of one query say as much as one.
    CU_ASSERT_DOUBLE_EQUAL(price[1].false_share.hi, .975, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(price[1].hardness.mean, 0, 1e-6);
    CU_ASSERT(price[0].front && price[1].front && !price[2].front);
    CU_ASSERT(price[0].fewer == 0 && price[0].none == 0);
    // The same of what is mined: passages 1 and 2.
    struct hn_mined mined = {.count = 0};
    struct hn_price found;
    HN_CHECK(&ctx, hn_miner_take(&ctx, &m, &pool, &mined));
    HN_CHECK(&ctx, hn_price_mined(&ctx, &m, &pool, &mined, &found));
    CU_ASSERT_EQUAL(found.negatives, 2);
    CU_ASSERT_DOUBLE_EQUAL(found.false_share.mean, .5, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(found.evidence.share, .5, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(found.hardness.mean, price[0].hardness.mean, 1e-6);
}

// The score of the candidate at a rank; the deviation of hardness is one for all queries, and does
// not matter to their differences.
static double score_at(const struct hn_pool *pool, int64_t query, double rank) {
    const struct hn_candidates c = hn_pool_row(pool, query);
    int64_t k = 0;
    for (;; k++) {
        rank -= !(c.flags[k] & (HN_IS_KNOWN | HN_IS_SELF | HN_IS_DUPLICATE));
        if (rank < 1)
            return c.score[k];
    }
}

// Windows of one negative against Student's test of the pairs.
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
        struct hn_price price[N];
        struct hn_mine_options o = no_options(HN_PRESET_NONE);
        double difference[N][QUERIES];
        bool tie[N];
        HN_SCOPE(&ctx);
        hn_stream_open(&s, 4, "test.price", 0, 0, k);
        make_small(&ctx, &s, &data);
        int64_t queries = data.n[HN_QUERIES];
        o.n = 1;
        o.judged = HN_JUDGED_FILTER; // windows are of ranks alone
        HN_CHECK(&ctx, hn_miner_open(&ctx, &data.data, &o, "test", &m));
        HN_CHECK(&ctx, hn_miner_pool(&ctx, &m, 0, queries, true, &pool));
        HN_CHECK(&ctx, hn_price_run(&ctx, &m, &pool, NULL, setting, N, price));
        if (price[N - 1].fewer > 0)
            continue;
        memset(tie, 1, sizeof tie);
        HN_CHECK(&ctx, hn_price_ties(&ctx, &m, &pool, price, N, 0, tie));
        for (int64_t i = 0; i < queries; i++)
            for (int n = 0; n < N; n++)
                difference[n][i] = score_at(&pool, i, 1) - score_at(&pool, i, setting[n].value);
        CU_ASSERT(!tie[0] && tie[1]);
        for (int n = 2; n < N; n++) {
            CU_ASSERT_EQUAL(tie[n],
                            !(hn_mean_interval(difference[n], 1, queries, 1 - .05 / 6).lo > 0));
            ties += tie[n];
            tested++;
        }
    }
    CU_ASSERT(ties > 3 && tested - ties > 3);
}

// Where memory ends, ties say so, and leave nothing.
static void test_ties_memory(void) {
    const struct hn_price_setting setting[] = {{HN_PRICE_RANK, 1}, {HN_PRICE_RANK, 2}};
    struct small data;
    struct hn_stream s;
    struct hn_miner m;
    struct hn_pool pool;
    struct hn_price price[2];
    struct hn_mine_options o = no_options(HN_PRESET_NONE);
    enum hn_code code = HN_MEMORY;
    int64_t failures = 0;
    bool tie[2] = {true, true};
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    HN_SCOPE(&ctx);
    hn_stream_open(&s, 4, "test.price", 1, 0, 0);
    make_small(&ctx, &s, &data);
    o.n = 1;
    HN_CHECK(&ctx, hn_miner_open(&ctx, &data.data, &o, "test", &m));
    HN_CHECK(&ctx, hn_miner_pool(&ctx, &m, 0, data.n[HN_QUERIES], true, &pool));
    HN_CHECK(&ctx, hn_price_run(&ctx, &m, &pool, NULL, setting, 2, price));
    int64_t live = ctx.memory.live;
    for (int64_t k = 1; code == HN_MEMORY; k++, failures++) {
        ctx.memory.calls = 0;
        ctx.memory.fail_at = k;
        code = hn_price_ties(&ctx, &m, &pool, price, 2, 0, tie);
        CU_ASSERT_FATAL(code == HN_OK || code == HN_MEMORY);
        CU_ASSERT_EQUAL(ctx.memory.live, live);
    }
    CU_ASSERT(failures > 3);
    ctx.memory.fail_at = 0;
}

// As many judged pairs as 1 / each: x of n false is shown to be within a limit at a level exactly
// if a Poisson count of n times the limit would be x or less with no more than that probability.
static void test_risk(void) {
    for (int x = 0; x < 6; x++)
        for (double limit = .01; limit < .3; limit *= 1.7) {
            const double n = 80;
            const struct hn_share_evidence e = {x / n, x / (n * n), 1 / n};
            CU_ASSERT_DOUBLE_EQUAL(hn_evidence_risk(&e, limit),
                                   gsl_cdf_poisson_P((unsigned)x, n * limit), 1e-9);
        }
    const struct hn_share_evidence none = {NAN, NAN, NAN};
    CU_ASSERT_EQUAL(hn_evidence_risk(&none, 1), 1);
    const struct hn_share_evidence certain = {.share = .02}, vague = {.share = .02, INFINITY};
    CU_ASSERT_EQUAL(hn_evidence_risk(&certain, .02), 0);
    CU_ASSERT_EQUAL(hn_evidence_risk(&certain, .019), 1);
    CU_ASSERT_EQUAL(hn_evidence_risk(&vague, 1), 1);
}

// A setting of n judged pairs of which x are false.
static struct hn_price judged_price(double hardness, double n, double x) {
    return (struct hn_price){.hardness = {hardness, hardness, hardness},
                             .evidence = {x / n, x / (n * n), 1 / n}};
}

// A passage that 200 others copy: their deviation around the queries near them is as good as
// nothing, and hardness is still that of the other queries' scale.
static void test_copies(void) {
    enum { NQ = 20, NP = 600, SAME = 200, D = 16 };
    static float q[NQ * D], p[NP * D];
    struct hn_judgement known[NQ];
    struct hn_stream s;
    double hardness[2];
    hn_context_init(&ctx, 2);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    hn_stream_open(&s, 6, "test.copies", 0, 0, 0);
    const gsl_rng rng = hn_stream_gsl(&s);
    for (int k = 0; k < NQ * D; k++)
        q[k] = (float)gsl_ran_ugaussian(&rng);
    for (int k = 0; k < NP * D; k++)
        p[k] = (float)gsl_ran_ugaussian(&rng);
    for (int copies = 0; copies < 2; copies++) {
        static int64_t text[NP];
        struct hn_retrieval_data data = {.rows = {{q, NQ, D, D}, {p, NP, D, D}}};
        const struct hn_price_setting setting = {HN_PRICE_RANK, 1};
        struct hn_mine_options o = no_options(HN_PRESET_NONE);
        struct hn_price price;
        struct hn_miner m;
        struct hn_pool pool;
        HN_SCOPE(&ctx);
        // Copies of the first query, with a deviation of some 1e-8.
        for (int i = 0; i < SAME && copies; i++)
            for (int k = 0; k < D; k++)
                p[(NP - 1 - i) * D + k] = q[k];
        HN_CHECK(&ctx, hn_normalize_rows(&ctx, q, NQ, D, "row"));
        HN_CHECK(&ctx, hn_normalize_rows(&ctx, p, NP, D, "row"));
        for (int32_t i = 0; i < NQ; i++)
            known[i] = (struct hn_judgement){i, i, 1};
        HN_CHECK(&ctx, hn_qrels_build(&ctx, known, NQ, NQ, &data.qrels));
        HN_CHECK(&ctx, hn_miner_open(&ctx, &data, &o, "test", &m));
        HN_CHECK(&ctx, hn_miner_pool(&ctx, &m, 0, NQ, true, &pool));
        HN_CHECK(&ctx, hn_price_run(&ctx, &m, &pool, NULL, &setting, 1, &price));
        hardness[copies] = price.hardness.mean;
        if (!copies)
            continue;
        // Where texts are known, copies are no candidates, and no far ones either.
        for (int64_t i = 0; i < NP; i++)
            text[i] = hn_min(i, NP - SAME);
        data.group[HN_CORPUS] = text;
        HN_CHECK(&ctx, hn_miner_open(&ctx, &data, &o, "test", &m));
        HN_CHECK(&ctx, hn_miner_pool(&ctx, &m, 0, NQ, true, &pool));
        HN_CHECK(&ctx, hn_price_run(&ctx, &m, &pool, NULL, &setting, 1, &price));
        CU_ASSERT(price.hardness.mean > .3 * hardness[0] && price.hardness.mean < 3 * hardness[0]);
    }
    CU_ASSERT(hardness[0] > 1 && hardness[0] < 20);
    CU_ASSERT(hardness[1] > .3 * hardness[0] && hardness[1] < 3 * hardness[0]);
}

static void test_recommend(void) {
    bool shown[3];
    // Levels: the softest has 4/7 of 5 % = 2.9 %, the next 2/7, the last 1/7 = .71 %, and what
    // those before hand on.
    struct hn_price p[3] = {judged_price(3, 200, 0), judged_price(1, 200, 2),
                            judged_price(2, 200, 20)};
    CU_ASSERT_EQUAL(hn_price_recommend(p, 3, .05, .1, shown), 0);
    CU_ASSERT(shown[0] && shown[1] && !shown[2]);
    p[0] = judged_price(3, 200, 3); // shown at 1.0 %: with what the softest hands on, were it next
    CU_ASSERT_EQUAL(hn_price_recommend(p, 3, .05, .1, shown), 1);
    p[2] = judged_price(2, 200, 2);
    CU_ASSERT_EQUAL(hn_price_recommend(p, 3, .05, .1, shown), 0);
    p[0].none = .2; // too many queries are empty
    CU_ASSERT_EQUAL(hn_price_recommend(p, 3, .05, .1, shown), 2);
    CU_ASSERT_EQUAL(hn_price_recommend(p, 3, .05, .2, shown), 0);
    CU_ASSERT_EQUAL(hn_price_recommend(p, 3, .001, 1, shown), -1);
    p[1].evidence = p[2].evidence = (struct hn_share_evidence){NAN, NAN, NAN}; // nothing is known
    CU_ASSERT_EQUAL(hn_price_recommend(p, 3, .05, .1, shown), -1);
}

// --- How often what is said of settings is false: queries drawn from a known truth ---

enum { WIDTH = 60, WANTED = 5, MANY = 20000 };

// Candidates of a query: their scores, and whether they are hidden positives.
typedef void draw_query(gsl_rng *rng, double score[WIDTH], uint8_t flags[WIDTH]);

static const struct hn_price_setting kinds[] = {
    {HN_PRICE_RANK, 1},       {HN_PRICE_RANK, 6},      {HN_PRICE_RANK, 11},
    {HN_PRICE_RANK, 21},      {HN_PRICE_RANK, 31},     {HN_PRICE_RANK, 41},
    {HN_PRICE_RANK, 51},      {HN_PRICE_RELATIVE, 0},  {HN_PRICE_RELATIVE, .02},
    {HN_PRICE_RELATIVE, .05}, {HN_PRICE_ABSOLUTE, .1}, {HN_PRICE_CEILING, .8}};
enum { KINDS = sizeof kinds / sizeof *kinds, WINDOWS = 7 };

// Prices of the first n kinds over so many queries. tie: NULL, or those of the hardest.
static void price_drawn(gsl_rng *rng, draw_query *draw, int64_t queries, int n,
                        struct hn_price *price, bool *tie) {
    int64_t known = 0;
    const struct hn_miner m = {.o = no_options(HN_PRESET_NONE), .truth.start = &known};
    struct hn_miner miner = m;
    HN_SCOPE(&ctx);
    struct hn_pool pool = {.count = queries,
                           .width = WIDTH,
                           .id = hn_zalloc(&ctx, queries * WIDTH, sizeof *pool.id),
                           .score = hn_alloc(&ctx, queries * WIDTH, sizeof *pool.score),
                           .positive = hn_alloc(&ctx, queries, sizeof *pool.positive),
                           .guide_positive = hn_zalloc(&ctx, queries, sizeof *pool.positive),
                           .flags = hn_zalloc(&ctx, queries * WIDTH, 1)};
    pool.by = pool.score;
    for (int64_t q = 0; q < queries; q++) {
        pool.positive[q] = .85 + gsl_ran_gaussian(rng, .05);
        draw(rng, pool.score + q * WIDTH, pool.flags + q * WIDTH);
    }
    miner.o.depth = WIDTH;
    miner.o.n = WANTED;
    HN_CHECK(&ctx, hn_mine_resolve(&ctx, &miner.o, 1));
    HN_CHECK(&ctx, hn_price_run(&ctx, &miner, &pool, NULL, kinds, n, price));
    if (tie)
        HN_CHECK(&ctx, hn_price_ties(&ctx, &miner, &pool, price, n,
                                     hn_price_recommend(price, n, 1, 1, tie), tie));
}

// As in retrieval: relevance falls with the rank, and some queries have far more of it.
static void draw_falling(gsl_rng *rng, double *score, uint8_t *flags) {
    double shift = gsl_ran_gaussian(rng, .03), relevant = gsl_ran_gamma(rng, .3, .5);
    for (int k = 0; k < WIDTH; k++) {
        score[k] = .9 - .06 * log(k + 1) + shift + gsl_ran_gaussian(rng, .02);
        flags[k] = gsl_rng_uniform(rng) < relevant * pow(k + 1, -.8) ? HN_IS_HIDDEN : 0;
    }
}

static double bad; // the share of queries of which every candidate is a hidden positive

static void draw_all_or_none(gsl_rng *rng, double *score, uint8_t *flags) {
    draw_falling(rng, score, flags);
    memset(flags, gsl_rng_uniform(rng) < bad ? HN_IS_HIDDEN : 0, WIDTH);
}

static void draw_alike(gsl_rng *rng, double *score, uint8_t *flags) {
    for (int k = 0; k < WIDTH; k++) {
        score[k] = gsl_rng_uniform(rng);
        flags[k] = 0;
    }
}

static void say_rate(const char *what, int wrong, int said, int all) {
    if (getenv("HN_SHOW"))
        fprintf(stderr, "%s: %d of %d said, %d false\n", what, said, all, wrong);
}

static int draws(int usual) { return getenv("HN_DRAWS") ? atoi(getenv("HN_DRAWS")) : usual; }

// "The hardest within": with limits just below the share of each window, of one result in twenty at
// most it is beyond. Measured on 3,000 results of 150 queries: 0 to 4.1 %.
static void test_recommended_by_luck(void) {
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    static struct hn_price truth[KINDS], price[KINDS];
    int wrong[WINDOWS] = {0}, said[WINDOWS] = {0}, all = draws(150);
    hn_context_init(&ctx, 1);
    price_drawn(rng, draw_falling, MANY, KINDS, truth, NULL);
    for (int i = 0; i < all; i++) {
        price_drawn(rng, draw_falling, 150, KINDS, price, NULL);
        for (int w = 0; w < WINDOWS; w++) {
            double limit = .97 * truth[w].false_share.mean;
            bool shown[KINDS];
            int best = hn_price_recommend(price, KINDS, limit, .1, shown);
            said[w] += best >= 0;
            wrong[w] += best >= 0 && truth[best].false_share.mean > limit;
        }
    }
    for (int w = 0; w < WINDOWS; w++) {
        say_rate("within", wrong[w], said[w], all);
        CU_ASSERT(wrong[w] <= .05 * all + 3 * sqrt(.05 * .95 * all));
    }
    CU_ASSERT(said[0] > all / 2);
    gsl_rng_free(rng);
}

// No false negative was seen: the upper end lies below the truth in 2.5 % at most, though the false
// ones of a query come together. Measured on 3,000 results: 0, 0 and 1.9 %; if each negative
// counted as if it had a query of its own 36, 14 and 1.9 %.
static void test_none_by_luck(void) {
    static const double share[] = {.01, .02, .038};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    int all = draws(600);
    hn_context_init(&ctx, 1);
    for (size_t k = 0; k < sizeof share / sizeof *share; k++) {
        int wrong = 0, none = 0;
        bad = share[k];
        for (int i = 0; i < all; i++) {
            struct hn_price price;
            price_drawn(rng, draw_all_or_none, 100, 1, &price, NULL);
            none += price.false_share.mean == 0;
            wrong += price.false_share.hi < bad;
        }
        say_rate("no false negative", wrong, none, all);
        CU_ASSERT(none > 0 && wrong <= .025 * all + 3 * sqrt(.025 * .975 * all));
    }
    gsl_rng_free(rng);
}

// Windows that are alike in hardness: one result in twenty at most leaves one out of those that the
// hardest is not significantly harder than. Measured on 3,000 results: 4.0 %; with each difference
// for itself 44 %.
static void test_ties_by_luck(void) {
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    int wrong = 0, all = draws(400);
    hn_context_init(&ctx, 1);
    for (int i = 0; i < all; i++) {
        struct hn_price price[WINDOWS];
        bool tie[WINDOWS];
        int ties = 0;
        price_drawn(rng, draw_alike, 60, WINDOWS, price, tie);
        for (int w = 0; w < WINDOWS; w++)
            ties += tie[w];
        wrong += ties < WINDOWS - 1;
    }
    say_rate("harder", wrong, wrong, all);
    CU_ASSERT(wrong <= .05 * all);
    gsl_rng_free(rng);
}

// Pairs wanted before any is judged: n of them, of which one stands for 1 / (n drawn) negatives,
// count as the model's share says, or as many more as one in five times.
static void test_pairs_wanted(void) {
    const double share = .01, drawn = .2, limit = .05;
    struct hn_price p = {.false_share = {share, NAN, NAN}, .drawn = drawn};
    double wanted[2] = {INFINITY, INFINITY};
    for (int likely = 0; likely < 2; likely++)
        for (double n = 1; n <= 10000 && isinf(wanted[likely]); n *= 1.05) {
            double each = 1 / (n * drawn), z = likely ? gsl_cdf_ugaussian_Pinv(.8) : 0;
            double count = n * drawn * share + z * sqrt(n * drawn * share); // a Poisson count
            const struct hn_share_evidence e = {count * each, count * each * each, each};
            wanted[likely] = hn_evidence_risk(&e, limit) <= .05 ? n : INFINITY;
        }
    struct hn_pairs_wanted found = hn_price_pairs_wanted(&p, 1, 0, 10000, limit, 1);
    CU_ASSERT(wanted[0] > 100 && wanted[1] > 1.2 * wanted[0] && isfinite(wanted[1]));
    CU_ASSERT_DOUBLE_EQUAL(found.hoped, wanted[0], 1e-9 * wanted[0]);
    CU_ASSERT_DOUBLE_EQUAL(found.likely, wanted[1], 1e-9 * wanted[1]);
    CU_ASSERT(isinf(hn_price_pairs_wanted(&p, 1, 0, wanted[0] - 1, limit, 1).hoped));
}

static const struct hn_test tests[] = {
    {"against_mining", test_against_mining},
    {"by_hand", test_by_hand},
    {"ties", test_ties},
    {"ties_memory", test_ties_memory},
    {"copies", test_copies},
    {"risk", test_risk},
    {"recommend", test_recommend},
    {"pairs_wanted", test_pairs_wanted},
    {"recommended_by_luck", test_recommended_by_luck},
    {"none_by_luck", test_none_by_luck},
    {"ties_by_luck", test_ties_by_luck},
};
HN_TEST_MAIN("price", tests)
