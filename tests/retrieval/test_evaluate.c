// SPDX-License-Identifier: GPL-3.0-or-later
// Values with equal scores, against every order of them, one by one.
#include "core/sweep/blas.h"
#include "retrieval/evaluate.h"
#include "retrieval/miner.h"
#include "tests/retrieval/mining_fixture.h"

static struct hn_context ctx;

enum { MOST = 6, CASES = 60 };

// One query's ranking problem: few passages, of which some score alike.
struct problem {
    int n, grade[MOST], text[MOST], min_grade;
    double score[MOST];
};

static bool relevant(const struct problem *p, int i) { return p->grade[i] >= p->min_grade; }

// By the definitions, of passages in one order.
static void value_of_order(const struct problem *p, const int *order, int n, int k,
                           enum hn_convention convention, double *v) {
    double gains[MOST], ideal = 0, gain = 0, precision = 0;
    int all = 0, found = 0, m = 0;
    memset(v, 0, HN_RETRIEVAL_METRICS * sizeof *v);
    for (int i = 0; i < n; i++) {
        int g = order[i];
        all += relevant(p, g);
        gains[m++] = convention == HN_CONVENTION_ST ? relevant(p, g) : fmax(p->grade[g], 0);
    }
    for (int i = 0; i < m; i++) // the best order
        for (int j = i + 1; j < m; j++)
            if (gains[j] > gains[i]) {
                double moved = gains[i];
                gains[i] = gains[j];
                gains[j] = moved;
            }
    for (int i = 0; i < n && i < k; i++) {
        int g = order[i];
        ideal += gains[i] / log2(i + 2);
        gain +=
            (convention == HN_CONVENTION_ST ? relevant(p, g) : fmax(p->grade[g], 0)) / log2(i + 2);
        if (!relevant(p, g))
            continue;
        found++;
        v[HN_MRR] = v[HN_MRR] > 0 ? v[HN_MRR] : 1. / (i + 1);
        precision += (double)found / (i + 1);
    }
    v[HN_RECALL] = (double)found / all;
    v[HN_HIT] = found > 0;
    v[HN_NDCG] = gain / ideal;
    v[HN_MAP] = precision / (convention == HN_CONVENTION_ST && k < all ? k : all);
}

// Sums over all orders of the passages that their scores allow.
struct orders {
    const struct problem *p;
    int order[MOST], k, orders;
    enum hn_convention convention;
    double mean[HN_RETRIEVAL_METRICS], best[HN_RETRIEVAL_METRICS], worst[HN_RETRIEVAL_METRICS];
};

static void add_order(struct orders *o) {
    double v[HN_RETRIEVAL_METRICS];
    value_of_order(o->p, o->order, o->p->n, o->k, o->convention, v);
    for (int m = 0; m < HN_RETRIEVAL_METRICS; m++) {
        o->mean[m] += v[m];
        o->best[m] = o->orders ? fmax(o->best[m], v[m]) : v[m];
        o->worst[m] = o->orders ? fmin(o->worst[m], v[m]) : v[m];
    }
    o->orders++;
}

static void permute(struct orders *o, int placed) {
    if (placed >= MOST || placed == o->p->n) {
        add_order(o);
        return;
    }
    for (int i = 0; i < o->p->n; i++) {
        bool next = true;
        for (int k = 0; k < placed; k++)
            next = next && o->order[k] != i;
        for (int j = 0; j < o->p->n && next; j++) { // all of a higher score come before
            bool before = false;
            for (int k = 0; k < placed; k++)
                before = before || o->order[k] == j;
            next = before || o->p->score[j] <= o->p->score[i];
        }
        if (!next)
            continue;
        o->order[placed] = i;
        permute(o, placed + 1);
    }
}

static struct orders all_orders(const struct problem *p, int k, enum hn_convention convention) {
    struct orders o = {.p = p, .k = k, .convention = convention};
    permute(&o, 0);
    for (int m = 0; m < HN_RETRIEVAL_METRICS; m++)
        o.mean[m] /= o.orders;
    return o;
}

// Each text once: passages of equal text are one.
static void merge_texts(struct problem *p) {
    int n = 0;
    for (int i = 0; i < p->n; i++) {
        bool first = true;
        for (int k = 0; k < n; k++)
            first = first && p->text[k] != p->text[i];
        if (!first)
            continue;
        p->text[n] = p->text[i];
        p->grade[n] = p->grade[i];
        p->score[n++] = p->score[i];
    }
    p->n = n;
}

// Rows whose products with the query are the scores, exactly; the rest of each is its own.
static void make_rows(const struct problem *p, float *x) {
    memset(x, 0, MOST * DIM * sizeof *x);
    for (int i = 0; i < p->n; i++) {
        x[i * DIM] = (float)p->score[i];
        x[i * DIM + 1 + i] = (float)sqrt(1 - p->score[i] * p->score[i]);
    }
}

static void check_problem(struct hn_stream *s, int number) {
    static const double score[] = {0, .5, .75};
    static const int64_t k[] = {1, 3, 5};
    enum hn_convention convention = below(s, 2) ? HN_CONVENTION_EXPECTED : HN_CONVENTION_ST;
    struct problem p = {.n = 1 + below(s, MOST), .min_grade = 1 + below(s, 2)};
    bool by_text = below(s, 2);
    struct hn_judgement list[MOST];
    float q[DIM] = {1}, x[MOST * DIM];
    int64_t group[HN_SETS][MOST] = {{-1}};
    bool any = false;
    for (int i = 0; i < p.n; i++) {
        p.score[i] = score[below(s, 3)];
        p.text[i] = by_text ? below(s, MOST) : i;
        for (int k2 = 0; k2 < i; k2++) // copies are judged and score alike
            if (p.text[k2] == p.text[i])
                p.score[i] = p.score[k2];
        p.grade[i] = below(s, 4) - 1;
        for (int k2 = 0; k2 < i; k2++)
            if (p.text[k2] == p.text[i])
                p.grade[i] = p.grade[k2];
        group[HN_CORPUS][i] = p.text[i];
        list[i] = (struct hn_judgement){0, i, p.grade[i]};
        any = any || relevant(&p, i);
    }
    make_rows(&p, x);
    HN_SCOPE(&ctx);
    struct hn_retrieval_data data = {.rows = {{q, 1, DIM, DIM}, {x, p.n, DIM, DIM}},
                                     .group = {group[0], group[1]}};
    struct hn_mine_options o = no_options(HN_PRESET_NONE);
    struct hn_miner m;
    o.equal_texts = by_text ? HN_EQUAL_FILTER : HN_EQUAL_APART;
    o.min_grade = p.min_grade;
    HN_CHECK(&ctx, hn_qrels_build(&ctx, list, p.n, 1, &data.qrels));
    HN_CHECK(&ctx, hn_miner_open(&ctx, &data, &o, "test", &m));
    struct hn_ranking_metrics e = {
        .miner = &m, .relevance = &m.known, .convention = convention, .k = k, .cutoffs = 3};
    HN_CHECK(&ctx, hn_evaluation_run(&ctx, &e));
    CU_ASSERT_EQUAL(e.queries, any);
    merge_texts(&p);
    for (int c = 0; c < 3 && any; c++) {
        const struct orders want = all_orders(&p, (int)k[c], convention);
        for (int v = 0; v < HN_RETRIEVAL_METRICS; v++) {
            int at = c * HN_RETRIEVAL_METRICS + v;
            bool good = fabs(e.value[at] - want.mean[v]) < 1e-12 &&
                        fabs(e.extreme[at] - want.best[v]) < 1e-12 &&
                        fabs(e.extreme[3 * HN_RETRIEVAL_METRICS + at] - want.worst[v]) < 1e-12;
            if (!good)
                fprintf(stderr, "    case %d, %s at %d: %g [%g, %g], wanted %g [%g, %g]\n", number,
                        hn_retrieval_metric_name[v], (int)k[c], e.value[at],
                        e.extreme[3 * HN_RETRIEVAL_METRICS + at], e.extreme[at], want.mean[v],
                        want.worst[v], want.best[v]);
            CU_ASSERT(good);
        }
    }
}

static void test_orders(void) {
    struct hn_stream s;
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    for (int k = 0; k < CASES; k++) {
        hn_stream_open(&s, 1, "test.evaluate", 0, 0, k);
        check_problem(&s, k);
    }
}

// An encoder whose rows are all equal finds what chance finds, wherever the relevant passages are.
static void test_collapsed(void) {
    enum { Q = 4, P = 500 };
    static float q[Q * DIM], x[P * DIM];
    static const int64_t k[] = {100};
    double recall[2];
    hn_context_init(&ctx, 2);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    for (int i = 0; i < P; i++)
        x[i * DIM] = q[i % Q * DIM] = 1;
    for (int last = 0; last < 2; last++) {
        HN_SCOPE(&ctx);
        struct hn_judgement list[Q];
        for (int i = 0; i < Q; i++)
            list[i] = (struct hn_judgement){i, last ? P - 1 - i : i, 1};
        struct hn_retrieval_data data = {.rows = {{q, Q, DIM, DIM}, {x, P, DIM, DIM}}};
        struct hn_mine_options o = no_options(HN_PRESET_NONE);
        struct hn_miner m;
        HN_CHECK(&ctx, hn_qrels_build(&ctx, list, Q, Q, &data.qrels));
        HN_CHECK(&ctx, hn_miner_open(&ctx, &data, &o, "test", &m));
        struct hn_ranking_metrics e = {.miner = &m, .relevance = &m.known, .k = k, .cutoffs = 1};
        HN_CHECK(&ctx, hn_evaluation_run(&ctx, &e));
        recall[last] = e.value[HN_RECALL * Q];
        CU_ASSERT_EQUAL(e.extreme[HN_RECALL], 1);
        CU_ASSERT_EQUAL(e.extreme[HN_RETRIEVAL_METRICS + HN_RECALL], 0);
    }
    CU_ASSERT_DOUBLE_EQUAL(recall[0], 100. / P, 1e-12);
    CU_ASSERT_EQUAL(recall[0], recall[1]);
}

// trec_eval: equal scores by descending id as text, and judged queries without a relevant passage
// count as 0.
static void test_trec(void) {
    static const char *const id[] = {"9", "10", "2", "100"}; // descending: 9, 2, 100, 10
    static const int64_t k[] = {10};
    float q[2 * DIM] = {1}, x[4 * DIM] = {0};
    struct hn_judgement list[] = {{0, 1, 1}, {0, 2, 1}, {1, 0, 0}};
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    q[DIM] = 1;
    for (int i = 0; i < 4; i++)
        x[i * DIM] = 1;
    HN_SCOPE(&ctx);
    struct hn_retrieval_data data = {.rows = {{q, 2, DIM, DIM}, {x, 4, DIM, DIM}}};
    struct hn_mine_options o = no_options(HN_PRESET_NONE);
    struct hn_miner m;
    for (int i = 0; i < 4; i++)
        HN_CHECK(&ctx, hn_strings_add(&ctx, &data.id[HN_CORPUS], id[i]));
    HN_CHECK(&ctx, hn_qrels_build(&ctx, list, 3, 2, &data.qrels));
    HN_CHECK(&ctx, hn_miner_open(&ctx, &data, &o, "test", &m));
    struct hn_ranking_metrics e = {
        .miner = &m, .relevance = &m.known, .convention = HN_CONVENTION_TREC, .k = k, .cutoffs = 1};
    HN_CHECK(&ctx, hn_evaluation_run(&ctx, &e));
    CU_ASSERT_EQUAL(e.queries, 2);
    CU_ASSERT_EQUAL(e.value[HN_MRR * 2], .5);                    // "2" is second
    CU_ASSERT_EQUAL(e.value[HN_MAP * 2], (1. / 2 + 2. / 4) / 2); // "10" is fourth
    CU_ASSERT_EQUAL(e.value[HN_MRR * 2 + 1], 0);
    CU_ASSERT_EQUAL(e.value[HN_NDCG * 2 + 1], 0);
}

static const struct hn_test tests[] = {
    {"orders", test_orders},
    {"collapsed", test_collapsed},
    {"trec", test_trec},
};
HN_TEST_MAIN("evaluate", tests)
