// SPDX-License-Identifier: GPL-3.0-or-later
// Drawing pairs, the model of them, and estimates from judged ones, against slow and obvious
// computations and by simulation from known relevance.
#include "core/sweep/blas.h"
#include "retrieval/estimate.h"
#include "retrieval/miner.h"
#include "retrieval/pair_model.h"
#include "retrieval/population.h"
#include "retrieval/price.h"
#include "retrieval/recommend.h"
#include "tests/retrieval/mining_fixture.h"

#include <gsl/gsl_randist.h>

static struct hn_context ctx;
enum { NQ = 120, NP = 200, D = 8, DEPTH = 40 };

// Queries and passages at random; the label of a query is one of its first five passages.
struct world {
    float row[HN_SETS][NP * D];
    struct hn_retrieval_data data;
    struct hn_miner miner;
    struct hn_pool pool;
    struct hn_population population;
    bool relevant[NQ * DEPTH];
};

// decided: every third candidate of a query was judged before, and is not relevant.
static void make_world_of(struct world *w, bool decided) {
    struct hn_judgement known[NQ * DEPTH];
    struct hn_mine_options o = no_options(HN_PRESET_NONE);
    struct hn_stream s;
    hn_stream_open(&s, 5, "test.world", 0, 0, 0);
    const gsl_rng rng = hn_stream_gsl(&s);
    memset(w, 0, sizeof *w);
    for (int side = 0; side < HN_SETS; side++) {
        int64_t n = side == HN_QUERIES ? NQ : NP;
        for (int64_t k = 0; k < n * D; k++)
            w->row[side][k] = (float)gsl_ran_ugaussian(&rng);
        HN_CHECK(&ctx, hn_normalize_rows(&ctx, w->row[side], n, D, "row"));
        w->data.rows[side] = (struct hn_matrix){w->row[side], n, D, D};
    }
    o.n = 5;
    o.depth = DEPTH;
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    for (int32_t q = 0; q < NQ; q++)
        known[q] = (struct hn_judgement){q, 0, 1};
    HN_CHECK(&ctx, hn_qrels_build(&ctx, known, NQ, NQ, &w->data.qrels));
    HN_CHECK(&ctx, hn_miner_open(&ctx, &w->data, &o, "test", &w->miner));
    HN_CHECK(&ctx, hn_miner_pool(&ctx, &w->miner, 0, NQ, true, &w->pool));
    int64_t n = 0;
    for (int32_t q = 0; q < NQ; q++) {
        int label = below(&s, 5);
        known[n++] = (struct hn_judgement){q, w->pool.id[q * DEPTH + label], 1};
        for (int k = 0; decided && k < DEPTH; k += 3)
            if (k != label)
                known[n++] = (struct hn_judgement){q, w->pool.id[q * DEPTH + k], 0};
    }
    HN_CHECK(&ctx, hn_qrels_build(&ctx, known, n, NQ, &w->data.qrels));
    HN_CHECK(&ctx, hn_miner_open(&ctx, &w->data, &o, "test", &w->miner));
    HN_CHECK(&ctx, hn_miner_pool(&ctx, &w->miner, 0, NQ, true, &w->pool));
    HN_CHECK(&ctx, hn_population_build(&ctx, &w->pool, &w->population));
}

static void make_world(struct world *w) { make_world_of(w, false); }

// Relevant with probability `top` / place^fall.
static void set_relevant(struct world *w, double top, double fall) {
    struct hn_stream s;
    hn_stream_open(&s, 9, "test.relevant", 0, 0, 0);
    for (int64_t k = 0; k < NQ * DEPTH; k++) {
        double p = w->population.rank[k] ? top * pow(w->population.rank[k], -fall) : 0;
        w->relevant[k] = hn_stream_uniform(&s) < p;
    }
}

static int64_t cell(struct hn_pair_at at) { return at.query * DEPTH + at.position; }

static int by_cell(const void *a, const void *b) {
    int64_t x = cell(((const struct hn_judged_pair *)a)->at),
            y = cell(((const struct hn_judged_pair *)b)->at);
    return (x > y) - (x < y);
}

static void judge(const struct world *w, int64_t n, uint64_t seed, struct hn_judged_pair *v) {
    struct hn_pair_at pair[NQ * DEPTH];
    HN_CHECK(&ctx, hn_population_draw(&ctx, &w->population, n, seed, pair));
    for (int64_t i = 0; i < n; i++)
        v[i] = (struct hn_judged_pair){pair[i], w->relevant[cell(pair[i])], 1};
    qsort(v, (size_t)n, sizeof *v, by_cell);
}

// The pairs at the places from .. to.
static bool in_window(const struct world *w, int64_t k, int from, int to) {
    return w->population.rank[k] >= from && w->population.rank[k] <= to;
}

static struct hn_mined_pairs window(const struct world *w, const struct hn_share_estimate *e,
                                    int from, int to, bool *inside) {
    struct hn_mined_pairs m = {.inside = inside};
    for (int64_t k = 0; k < NQ * DEPTH; k++)
        if (in_window(w, k, from, to)) {
            m.negatives++;
            m.open++;
            m.predicted += e->predicted[k];
            m.probability += hn_population_probability(&w->population, w->population.rank[k]);
        }
    for (int64_t i = 0; i < e->verdicts; i++)
        inside[i] = in_window(w, cell(e->verdict[i].at), from, to);
    return m;
}

static double true_share(const struct world *w, int from, int to) {
    double n = 0, relevant = 0;
    for (int64_t k = 0; k < NQ * DEPTH; k++)
        if (in_window(w, k, from, to)) {
            n++;
            relevant += w->relevant[k];
        }
    return relevant / n;
}

// Of 600 sheets each pair is in n times its probability, so it
// is among the first third of their rows.
static void test_draw(void) {
    enum { SHEETS = 600, N = 60 };
    static struct world w;
    static int64_t hit[NQ * DEPTH], first[NQ * DEPTH];
    double sum = 0;
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    make_world(&w);
    for (uint64_t s = 0; s < SHEETS; s++) {
        struct hn_pair_at pair[N];
        bool seen[NQ * DEPTH] = {false};
        HN_CHECK(&ctx, hn_population_draw(&ctx, &w.population, N, s, pair));
        for (int i = 0; i < N; i++) {
            CU_ASSERT_FALSE(seen[cell(pair[i])]);
            seen[cell(pair[i])] = true;
            hit[cell(pair[i])]++;
            first[cell(pair[i])] += i < N / 3;
        }
    }
    int64_t off = 0, place_hit[DEPTH + 1] = {0}, place_first[DEPTH + 1] = {0};
    double p_at[DEPTH + 1] = {0};
    for (int64_t k = 0; k < NQ * DEPTH; k++) {
        int32_t place = w.population.rank[k];
        double p = place ? hn_population_probability(&w.population, place) : 0;
        sum += p;
        off += fabs((double)hit[k] - SHEETS * N * p) > 4 * sqrt(SHEETS * N * p) + 1e-9;
        place_hit[place] += hit[k];
        place_first[place] += first[k];
        p_at[place] += p;
    }
    CU_ASSERT_DOUBLE_EQUAL(sum, 1, 1e-12);
    CU_ASSERT(off <= 3); // of 4,680
    CU_ASSERT_EQUAL(place_hit[0], 0);
    for (int k = 1; k <= DEPTH; k++) {
        CU_ASSERT(fabs((double)place_hit[k] - SHEETS * N * p_at[k]) < SHEETS); // within one a sheet
        double expect = SHEETS * N / 3. * p_at[k];
        CU_ASSERT(fabs((double)place_first[k] - expect) <= 4.5 * sqrt(expect));
    }
    struct hn_pair_at *all = hn_alloc(&ctx, 5000, sizeof *all);
    CU_ASSERT_EQUAL(
        hn_population_draw(&ctx, &w.population, (int64_t)w.population.total + 1, 1, all), HN_USAGE);
    ctx.code = HN_OK;
    HN_CHECK(&ctx, hn_population_draw(&ctx, &w.population, (int64_t)w.population.total, 1, all));
}

// Isotonic regression by its definition: the largest, over ends, of the least mean, over begins.
static void test_place_shares(void) {
    struct hn_stream s;
    hn_context_init(&ctx, 1);
    hn_stream_open(&s, 2, "test.shares", 0, 0, 0);
    for (int round = 0; round < 200; round++) {
        enum { N = 9 };
        int64_t place[40], labels = 1 + below(&s, 40);
        double raw[N] = {0}, share[N];
        for (int64_t i = 0; i < labels; i++) {
            place[i] = 1 + below(&s, N + 3);
            if (place[i] <= N)
                raw[place[i] - 1] += 1 / (double)labels;
        }
        hn_rank_shares(place, labels, share, N);
        for (int k = 0; k < N; k++) {
            double best = -1;
            for (int to = k; to < N; to++) {
                double min = INFINITY;
                for (int from = 0; from <= k; from++) {
                    double sum = 0;
                    for (int i = from; i <= to; i++)
                        sum += raw[i];
                    min = fmin(min, sum / (to - from + 1));
                }
                best = fmax(best, min);
            }
            CU_ASSERT_DOUBLE_EQUAL(share[k], best, 1e-12);
        }
    }
}

// log posterior, written out.
static double log_posterior(const struct world *w, const struct hn_pair_model *m,
                            const struct hn_judged_pair *v, int64_t n, const double *c) {
    double sum = -.5 * (1e-4 * c[0] * c[0] + 4 * (c[1] - 1) * (c[1] - 1) + c[2] * c[2]);
    for (int64_t i = 0; i < n; i++) {
        int64_t k = cell(v[i].at);
        double gap = (w->pool.score[k] - w->pool.positive[v[i].at.query]) / m->deviation;
        double eta = c[0] + c[1] * m->log_share[w->population.rank[k] - 1] +
                     c[2] * (gap > 4    ? 4
                             : gap < -4 ? -4
                                        : gap);
        double p = 1 / (1 + exp(-eta));
        sum += v[i].relevant * log(p) + (1 - v[i].relevant) * log(1 - p);
    }
    return sum;
}

static void test_fit(void) {
    static struct world w;
    struct hn_pair_model m;
    struct hn_judged_pair v[200];
    uint8_t fold[200] = {0};
    double c[HN_PAIR_TERMS];
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    make_world(&w);
    set_relevant(&w, .6, .8);
    judge(&w, 200, 1, v);
    HN_CHECK(&ctx, hn_pair_model_open(&ctx, &w.miner, &w.population, &m));
    CU_ASSERT_EQUAL(m.positives, 1);
    hn_pair_model_fit(&m, v, 200, fold, 1, c);
    double best = log_posterior(&w, &m, v, 200, c);
    for (int a = 0; a < HN_PAIR_TERMS; a++)
        for (int side = -1; side <= 1; side += 2) {
            double other[HN_PAIR_TERMS] = {c[0], c[1], c[2]};
            other[a] += side * 1e-3;
            CU_ASSERT(log_posterior(&w, &m, v, 200, other) < best);
        }
    // Places alone: each query has one known positive, so that shares are probabilities.
    double *to = hn_zalloc(&ctx, NQ * DEPTH, sizeof *to), sum = 0;
    hn_pair_model_ranks(&m, to);
    for (int64_t k = 0; k < DEPTH; k++)
        sum += m.share[k];
    CU_ASSERT(sum <= 1 + 1e-12 && sum > .9);
    for (int64_t k = 0; k < NQ * DEPTH; k++) {
        int32_t place = w.population.rank[k];
        CU_ASSERT_EQUAL(to[k], place ? m.share[place - 1] : 0);
    }
}

// Two judges of one sheet who agree are as one; where they do not, the mean of the two.
static void test_judges(void) {
    static struct world w;
    struct hn_judged_pair one[100], two[100];
    struct hn_share_estimate a, b;
    bool inside[100];
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    make_world(&w);
    set_relevant(&w, .6, .8);
    judge(&w, 100, 1, one);
    for (int i = 0; i < 100; i++)
        two[i] = (struct hn_judged_pair){one[i].at, one[i].relevant, 2};
    HN_CHECK(&ctx, hn_estimate_open(&ctx, &w.miner, &w.population, one, 100, 1, &a));
    ctx.threads = 4;
    HN_CHECK(&ctx, hn_estimate_open(&ctx, &w.miner, &w.population, two, 100, 1, &b));
    const struct hn_mined_pairs m = window(&w, &a, 1, 5, inside);
    struct hn_interval x = hn_estimate_share(&a, &m, .95), y = hn_estimate_share(&b, &m, .95);
    CU_ASSERT(x.lo < x.mean && x.mean < x.hi && x.lo > 0);
    CU_ASSERT_DOUBLE_EQUAL(x.mean, y.mean, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(x.lo, y.lo, 1e-12);
    // The mean by hand, with the predictions of the folds put back into the errors.
    double sum = m.predicted;
    for (int i = 0; i < 100; i++)
        sum += inside[i] ? a.error[i] : 0;
    CU_ASSERT_DOUBLE_EQUAL(x.mean, sum / m.negatives, 1e-12);
    CU_ASSERT_EQUAL(hn_estimate_open(&ctx, &w.miner, &w.population, one, 9, 1, &a), HN_DATA);
}

enum { JUDGED = 100 };

// The price of the best five of each query by the sheet of a seed.
static struct hn_price price_of_sheet(const struct world *w, uint64_t seed) {
    static const struct hn_price_setting best = {HN_PRICE_RANK, 1};
    struct hn_judged_pair v[JUDGED];
    struct hn_share_estimate e;
    struct hn_price price;
    HN_SCOPE(&ctx);
    judge(w, JUDGED, 100 + seed, v);
    HN_CHECK(&ctx, hn_estimate_open(&ctx, &w->miner, &w->population, v, JUDGED, seed, &e));
    HN_CHECK(&ctx, hn_price_run(&ctx, &w->miner, &w->pool, &e, &best, 1, &price));
    return price;
}

// Pairs that were judged before are not drawn, and are no false negatives: over 200 sheets the mean
// is the truth, and 95 % intervals hold it. A setting of such pairs alone costs nothing.
static void test_verdicts(void) {
    enum { SHEETS = 200 };
    static struct world w;
    double sum = 0, square = 0, held = 0, negatives = 0, relevant = 0;
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    make_world_of(&w, true);
    set_relevant(&w, .35, .5);
    int64_t decided = 0;
    for (int64_t k = 0; k < NQ * DEPTH; k++) {
        decided += (w.pool.flags[k] & HN_IS_NEGATIVE) != 0;
        CU_ASSERT(!(w.pool.flags[k] & HN_IS_NEGATIVE) || w.population.rank[k] == 0);
    }
    CU_ASSERT(w.population.decided == decided && decided > NQ * (DEPTH / 3 - 1));
    CU_ASSERT_EQUAL(w.population.pairs + decided + NQ, NQ * DEPTH);
    for (int64_t q = 0; q < NQ; q++)
        for (int64_t k = q * DEPTH, taken = 0; taken < w.miner.o.n; k++) {
            bool known = w.pool.flags[k] & HN_IS_KNOWN;
            taken += !known;
            negatives += !known;
            relevant += !known && w.relevant[k];
        }
    double truth = relevant / negatives;
    for (uint64_t s = 0; s < SHEETS; s++) {
        const struct hn_interval x = price_of_sheet(&w, s).false_share;
        sum += x.mean;
        square += x.mean * x.mean;
        held += x.lo <= truth && truth <= x.hi;
    }
    double mean = sum / SHEETS, se = sqrt((square / SHEETS - mean * mean) / SHEETS);
    CU_ASSERT(truth > .05 && fabs(mean - truth) < 3.5 * se);
    CU_ASSERT(held / SHEETS >= .90);
    const bool inside[JUDGED] = {false};
    const struct hn_mined_pairs all = {.negatives = 10, .inside = inside};
    struct hn_share_estimate e;
    struct hn_judged_pair v[JUDGED];
    judge(&w, JUDGED, 1, v);
    HN_CHECK(&ctx, hn_estimate_open(&ctx, &w.miner, &w.population, v, JUDGED, 1, &e));
    const struct hn_share_evidence known = hn_estimate_evidence(&e, &all);
    CU_ASSERT_EQUAL(hn_estimate_share(&e, &all, .95).hi, 0);
    CU_ASSERT_EQUAL(hn_evidence_risk(&known, .01), 0);
}

// The 80 % interval of the places from .. to by the sheet of a seed.
static struct hn_interval sheet_interval(const struct world *w, uint64_t seed, int from, int to) {
    struct hn_judged_pair v[JUDGED];
    struct hn_share_estimate e;
    bool inside[JUDGED];
    HN_SCOPE(&ctx);
    judge(w, JUDGED, 100 + seed, v);
    HN_CHECK(&ctx, hn_estimate_open(&ctx, &w->miner, &w->population, v, JUDGED, seed, &e));
    const struct hn_mined_pairs m = window(w, &e, from, to, inside);
    return hn_estimate_share(&e, &m, .8);
}

// Over 150 sheets: the mean is the truth to 3.5 standard errors, whether relevance is as the model
// has it, does not fall at all, or is rare; and 80 % intervals hold it in 70 to 92 %.
static void test_coverage(void) {
    enum { SHEETS = 150 };
    static const struct {
        double top, fall;
        int from, to;
    } c[] = {{.5, 1, 1, 5}, {.5, 1, 6, 20}, {.35, 0, 1, 10}, {.35, 0, 11, 40}, {.06, .5, 1, 10}};
    static struct world w;
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    make_world(&w);
    for (size_t k = 0; k < sizeof c / sizeof *c; k++) {
        double sum = 0, square = 0, held = 0;
        set_relevant(&w, c[k].top, c[k].fall);
        double truth = true_share(&w, c[k].from, c[k].to);
        for (uint64_t s = 0; s < SHEETS; s++) {
            struct hn_interval x = sheet_interval(&w, s, c[k].from, c[k].to);
            sum += x.mean;
            square += x.mean * x.mean;
            held += x.lo <= truth && truth <= x.hi;
        }
        double mean = sum / SHEETS, se = sqrt((square / SHEETS - mean * mean) / SHEETS);
        CU_ASSERT(fabs(mean - truth) < 3.5 * se);
        CU_ASSERT(held / SHEETS >= .70 && held / SHEETS <= .92);
    }
}

// A model's verdicts on the pairs of a sheet, of which people judged the first `people` rows: it is
// wrong as often as `wrong` says of pairs that are [not, are] relevant, and more often at the first
// ranks, where it is hard to tell.
static void judge_with_model(const struct world *w, int64_t n, int64_t people, uint64_t seed,
                             const double wrong[2], struct hn_judged_pair *v) {
    struct hn_pair_at pair[400];
    struct hn_stream s;
    HN_CHECK(&ctx, hn_population_draw(&ctx, &w->population, n, seed, pair));
    for (int64_t i = 0; i < n; i++) {
        bool relevant = w->relevant[cell(pair[i])];
        double hard = w->population.rank[cell(pair[i])] <= 5 ? 1.5 : 1;
        hn_stream_open(&s, 3, "test.model", 0, 0, cell(pair[i])); // the same in every sheet
        bool errs = hn_stream_uniform(&s) < hard * wrong[relevant];
        v[i] = (struct hn_judged_pair){.at = pair[i],
                                       .relevant = i < people && relevant,
                                       .rows = i < people,
                                       .model = relevant != errs,
                                       .model_rows = 1};
    }
    qsort(v, (size_t)n, sizeof *v, by_cell);
}

// The interval of the first five ranks by a sheet of n pairs that a model judged, and people the
// first `people` rows; *alone: the estimate by these people alone.
static struct hn_interval model_interval(const struct world *w, int64_t n, int64_t people,
                                         uint64_t seed, const double wrong[2], double *alone) {
    struct hn_judged_pair v[400];
    struct hn_share_estimate e;
    bool inside[400];
    int64_t own = 0;
    HN_SCOPE(&ctx);
    judge_with_model(w, n, people, 100 + seed, wrong, v);
    HN_CHECK(&ctx, hn_estimate_open(&ctx, &w->miner, &w->population, v, n, seed, &e));
    const struct hn_mined_pairs all = window(w, &e, 1, 5, inside);
    const struct hn_interval out = hn_estimate_share(&e, &all, .8);
    for (int i = 0; i < n; i++)
        if (v[i].rows > 0)
            v[own++] = (struct hn_judged_pair){v[i].at, v[i].relevant, 1};
    HN_CHECK(&ctx, hn_estimate_open(&ctx, &w->miner, &w->population, v, own, seed, &e));
    const struct hn_mined_pairs few = window(w, &e, 1, 5, inside);
    *alone = hn_estimate_share(&e, &few, .8).mean;
    return out;
}

// A model judged 300 pairs, and people 100 of these: the mean is the truth whatever the model is,
// 80 % intervals hold it in 68 to 92 % of 100 sheets, and a good model makes the estimate better
// than that of the same people alone, a useless one little worse. Measured on 150 sheets with 400
// pairs, root mean square error over that of people alone: .56, .89 and 1.09.
static void test_model(void) {
    enum { SHEETS = 100, ALL = 300, PEOPLE = 100 };
    static const double wrong[][2] = {{.01, .05}, {.03, .3}, {.5, .5}}, at_most[] = {.8, 1, 1.2};
    static struct world w;
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    make_world(&w);
    set_relevant(&w, .5, 1);
    double truth = true_share(&w, 1, 5);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        double sum = 0, square = 0, held = 0, people = 0, with = 0, alone;
        for (uint64_t seed = 0; seed < SHEETS; seed++) {
            struct hn_interval x = model_interval(&w, ALL, PEOPLE, seed, wrong[k], &alone);
            sum += x.mean;
            square += x.mean * x.mean;
            held += x.lo <= truth && truth <= x.hi;
            with += pow(x.mean - truth, 2);
            people += pow(alone - truth, 2);
        }
        double mean = sum / SHEETS, se = sqrt((square / SHEETS - mean * mean) / SHEETS);
        if (getenv("HN_SHOW"))
            fprintf(stderr,
                    "model %.2f %.2f: mean %.4f of %.4f (%.4f), holds %.1f %%, error %.2f\n",
                    wrong[k][0], wrong[k][1], mean, truth, se, 100 * held / SHEETS,
                    sqrt(with / people));
        CU_ASSERT(fabs(mean - truth) < 3.5 * se);
        CU_ASSERT(held / SHEETS >= .68 && held / SHEETS <= .92);
        CU_ASSERT(sqrt(with / people) < at_most[k]);
    }
    struct hn_judged_pair v[ALL];
    struct hn_share_estimate e;
    judge_with_model(&w, ALL, 9, 1, wrong[0], v);
    CU_ASSERT_EQUAL(hn_estimate_open(&ctx, &w.miner, &w.population, v, ALL, 1, &e), HN_DATA);
    CU_ASSERT(strstr(ctx.message, "nobody knows how often a model is wrong") != NULL);
}

// So many of the queries have a relevant passage at a rank, for every rank alike.
static void set_shares(struct world *w, int64_t queries) {
    int32_t order[NQ];
    memset(w->relevant, 0, sizeof w->relevant);
    for (int64_t rank = 1; rank < DEPTH; rank++) {
        hn_permute(9, "test.shares", 0, 0, rank, order, NQ);
        for (int64_t i = 0; i < queries; i++)
            for (int64_t k = order[i] * DEPTH; k < (order[i] + 1) * DEPTH; k++)
                if (w->population.rank[k] == rank)
                    w->relevant[k] = true;
    }
}

enum { WINDOWS = 7 };
// Prices of windows without a pair in common, by the sheet of a seed.
static void price_windows(const struct world *w, int64_t n, uint64_t seed, struct hn_price *price) {
    struct hn_price_setting setting[WINDOWS];
    struct hn_judged_pair v[NQ * DEPTH];
    struct hn_share_estimate e;
    HN_SCOPE(&ctx);
    for (int k = 0; k < WINDOWS; k++)
        setting[k] = (struct hn_price_setting){HN_PRICE_RANK, 1 + 5 * k};
    judge(w, n, 100 + seed, v);
    HN_CHECK(&ctx, hn_estimate_open(&ctx, &w->miner, &w->population, v, n, 1, &e));
    HN_CHECK(&ctx, hn_price_run(&ctx, &w->miner, &w->pool, &e, setting, WINDOWS, price));
}

// A setting is recommended, though the shares of all windows lie just above the limit, by one sheet
// in twenty at most. On 2,000 sheets: 3.0 % and .5 %; one whose own interval ended within the limit
// was there in 4.2 and 11.6 %.
static void test_recommended(void) {
    enum { SHEETS = 250 };
    static const int64_t queries[] = {6, 24};
    static struct world w;
    struct hn_price price[WINDOWS];
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    make_world(&w);
    for (size_t k = 0; k < sizeof queries / sizeof *queries; k++) {
        int said = 0;
        set_shares(&w, queries[k]);
        for (uint64_t sheet = 0; sheet < SHEETS; sheet++) {
            bool shown[WINDOWS];
            price_windows(&w, 300, sheet, price);
            said +=
                hn_price_recommend(price, WINDOWS, .99 * true_share(&w, 1, DEPTH), 1, shown) >= 0;
        }
        CU_ASSERT(said <= .05 * SHEETS + 3 * sqrt(.05 * .95 * SHEETS));
    }
}

// Of sheets of 60 pairs by which nothing is shown, as many pairs as are wanted show something in
// some four of five: 72 to 84 %, 100 where nothing is false. By the setting that seemed to need the
// fewest it was 20 to 61 %. Where so much cannot be foreseen, what is hoped for shows something in
// 69 of 97. One draw holds the shorter ones. A limit below all shares is out of reach.
static void test_pairs_wanted(void) {
    enum { SHEETS = 150, FEW = 60 };
    static const struct {
        int64_t queries;
        double limit; // times the share of the first window
    } tried[] = {{0, 0}, {2, 6}, {6, 3}, {12, 2}, {24, 1.7}};
    static struct world w;
    struct hn_price price[WINDOWS];
    bool shown[WINDOWS];
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    make_world(&w);
    double pairs = (double)w.population.pairs;
    int unsure = 0, half = 0;
    for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
        int asked[2] = {0}, kept[2] = {0}; // by `likely`; by `least`, where that is out of reach
        set_shares(&w, tried[k].queries);
        double limit = tried[k].queries ? tried[k].limit * true_share(&w, 1, 5) : .1;
        for (uint64_t sheet = 0; sheet < SHEETS; sheet++) {
            price_windows(&w, FEW, sheet, price);
            if (hn_price_recommend(price, WINDOWS, limit, 1, shown) >= 0)
                continue;
            struct hn_pairs_wanted p = hn_price_pairs_wanted(price, WINDOWS, FEW, pairs, limit, 1);
            CU_ASSERT(p.hoped <= p.likely);
            bool least = isinf(p.likely);
            double n = least ? p.hoped : p.likely;
            if (n > w.population.total) // more than a sheet holds
                continue;
            asked[least]++;
            price_windows(&w, (int64_t)ceil(n), sheet, price);
            kept[least] += hn_price_recommend(price, WINDOWS, limit, 1, shown) >= 0;
        }
        if (getenv("HN_SHOW"))
            fprintf(stderr, "%lld queries, limit %.3f: likely %d of %d, at least %d of %d\n",
                    (long long)tried[k].queries, limit, kept[0], asked[0], kept[1], asked[1]);
        CU_ASSERT(asked[0] > 30 && kept[0] >= .8 * asked[0] - 3 * sqrt(.8 * .2 * asked[0]));
        unsure += asked[1];
        half += kept[1];
    }
    CU_ASSERT(unsure > 30 && half >= .5 * unsure);
    CU_ASSERT(isinf(hn_price_pairs_wanted(price, WINDOWS, FEW, pairs, 1e-9, 1).hoped));
}

static const struct hn_test tests[] = {
    {"draw", test_draw},
    {"place_shares", test_place_shares},
    {"fit", test_fit},
    {"judges", test_judges},
    {"verdicts", test_verdicts},
    {"coverage", test_coverage},
    {"model", test_model},
    {"recommended", test_recommended},
    {"pairs_wanted", test_pairs_wanted},
};
HN_TEST_MAIN("judged_pairs", tests)
