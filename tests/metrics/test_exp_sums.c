// SPDX-License-Identifier: GPL-3.0-or-later
// Sums of exponentials of a batch's products: against direct sums, and the same bits whatever else
// is asked for.
#include "core/random.h"
#include "metrics/exp_sums.h"
#include "metrics/pairs.h"
#include "tests/test.h"

#include <math.h>

enum { ITEMS = 41, PRODUCTS = HN_SUMS_OWN1 | HN_SUMS_OWN2 | HN_SUMS_OTHER };
static const double rates[] = {0, 0.3, 0.5, 1, 2, 5, 7, 10, 15, 20, 30, 40, 60, 333, 350};
enum { RATES = sizeof rates / sizeof *rates };

// Products and kinds of a batch, or of as many anchors with negatives of their own.
struct batch {
    float score[ITEMS * ITEMS], score_t[ITEMS * ITEMS], same[2][ITEMS * ITEMS];
    float guide[ITEMS * ITEMS];
    uint8_t kind[ITEMS * ITEMS];
    int64_t start[ITEMS + 1];
    struct hn_pairs pairs;
};

static void draw(struct batch *b, struct hn_stream *s, bool lists, bool directed) {
    for (int k = 0; k < ITEMS * ITEMS; k++) {
        float *value[] = {&b->score[k], &b->score_t[k], &b->same[0][k], &b->same[1][k],
                          &b->guide[k]};
        for (int v = 0; v < 5; v++)
            *value[v] = (float)(hn_stream_below(s, 1U << 20) * 0x1p-19 - 1);
        b->kind[k] = (uint8_t)(HN_PAIR_TRUE_NEGATIVE + (int)hn_stream_below(s, 3));
    }
    for (int a = 0; a < ITEMS && !directed; a++)
        for (int j = 0; j < a; j++)
            b->kind[a * ITEMS + j] = b->kind[j * ITEMS + a];
    for (int a = 0; a < ITEMS; a++)
        b->start[a + 1] = b->start[a] + (int64_t)hn_stream_below(s, ITEMS);
    b->pairs = (struct hn_pairs){.n = ITEMS,
                                 .directed = directed,
                                 .kind = b->kind,
                                 .unlabelled = true,
                                 .score = b->score,
                                 .score_t = b->score_t,
                                 .same1 = b->same[0],
                                 .same2 = b->same[1],
                                 .guide = b->guide,
                                 .start = lists ? b->start : NULL};
}

static struct batch *new_batch(struct hn_context *ctx, uint64_t number, bool lists, bool directed) {
    struct hn_stream s;
    hn_stream_open(&s, 5, "test.sums", 0, (int64_t)number, 0);
    struct batch *b = hn_zalloc(ctx, 1, sizeof *b);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b);
    draw(b, &s, lists, directed);
    b->pairs.sums = hn_exp_sums_open(ctx, ITEMS, ITEMS, 2 * RATES, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b->pairs.sums);
    return b;
}

// The entry of anchor a and its negative j, of this side.
static int64_t entry(const struct batch *b, int side, int64_t a, int64_t j) {
    if (b->pairs.start)
        return b->start[a] + j;
    // Of products within a view, only those with j > a are there.
    bool turned = side == HN_OTHER2 || (side != HN_OTHER1 && j < a);
    return turned ? j * ITEMS + a : a * ITEMS + j;
}

static bool is_dropped(const struct batch *b, const struct hn_exp_sums *sums, int side, int64_t a,
                       float score, int64_t k) {
    const struct hn_limits *limits = sums->limits;
    return limits && (double)(limits->key.guided ? b->guide[k] : score) >
                         limits->limit[side == HN_OWN1 || side == HN_OTHER1 ? 0 : 1][a];
}

static bool agrees(double got, long double wanted) {
    bool close = fabsl((long double)got - wanted) <= 2e-13L * wanted;
    if (!close)
        fprintf(stderr, "    %.17g, wanted %.17Lg\n", got, wanted);
    return close;
}

static void check_anchor(const struct batch *b, const struct hn_exp_sums *sums, int side, int a) {
    long double all = 0, same = 0, labelled = 0;
    int64_t n = b->pairs.start ? b->start[a + 1] - b->start[a] : ITEMS;
    for (int64_t j = 0; j < n; j++) {
        if (!b->pairs.start && j == a)
            continue;
        uint8_t kind = b->kind[b->pairs.start ? b->start[a] + j : a * ITEMS + j];
        const float *const of_side[] = {b->same[0], b->same[1], b->score,
                                        b->pairs.start ? b->score_t : b->score};
        int64_t k = entry(b, side, a, j);
        float score = of_side[side][k];
        if (is_dropped(b, sums, side, a, score, k))
            continue;
        long double power = expl((long double)sums->rate * ((long double)score - 1));
        all += power;
        same += kind == HN_PAIR_FALSE_NEGATIVE ? power : 0;
        labelled += kind != HN_PAIR_UNLABELLED ? power : 0;
    }
    CU_ASSERT(agrees(sums->side[side].all[a], all));
    CU_ASSERT(agrees(sums->side[side].same[a], same));
    CU_ASSERT(agrees(sums->side[side].labelled[a], labelled));
}

// About half of the negatives are dropped, all of some anchors.
static const struct hn_limits *some_limits(const struct batch *b, bool guided) {
    struct hn_limits *l =
        hn_limits_of(&b->pairs, (struct hn_limits_key){.mask = 1, .guided = guided});
    for (int view = 0; view < 2 && !l->known; view++)
        for (int a = 0; a < ITEMS; a++)
            l->limit[view][a] = a % 11 == 3 ? -INFINITY : 0.1 * ((a + 3 * view) % 10) - 0.5;
    l->known = true;
    return l;
}

static void direct_sums_agree(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    for (unsigned shape = 0; shape < 9; shape++) {
        struct batch *b = new_batch(&ctx, shape, shape % 3 == 1, shape % 3 == 2);
        const struct hn_limits *limits = shape < 3 ? NULL : some_limits(b, shape < 6);
        for (int k = 0; k < RATES; k++) {
            const struct hn_exp_sums *sums = hn_exp_sums(&b->pairs, rates[k], PRODUCTS, limits);
            CU_ASSERT_EQUAL(sums->rate, rates[k]);
            for (int side = 0; side < HN_NEGATIVES; side++)
                for (int a = 0; a < ITEMS; a++)
                    check_anchor(b, sums, side, a);
        }
    }
}

static void check_equal(const struct hn_exp_sums *x, const struct hn_exp_sums *y) {
    for (int side = 0; side < HN_NEGATIVES; side++) {
        size_t size = ITEMS * sizeof(double);
        CU_ASSERT(memcmp(x->side[side].all, y->side[side].all, size) == 0);
        CU_ASSERT(memcmp(x->side[side].same, y->side[side].same, size) == 0);
        CU_ASSERT(memcmp(x->side[side].labelled, y->side[side].labelled, size) == 0);
    }
}

// One space is asked for all rates, in an order of its own and for some products first, the other
// for one; both hold what an earlier batch left.
static void other_rates_change_no_bits(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    for (int k = 0; k < RATES; k++) {
        struct batch *many = new_batch(&ctx, 7, k % 2, false),
                     *one = new_batch(&ctx, 7, k % 2, false);
        for (uint64_t round = 0; round < 3; round++) {
            struct hn_stream s;
            hn_stream_open(&s, 6, "test.sums", 0, (int64_t)round, 0);
            struct hn_exp_sums_space *of_many = many->pairs.sums, *of_one = one->pairs.sums;
            draw(many, &s, k % 2, false);
            memcpy(one, many, offsetof(struct batch, pairs));
            many->pairs.sums = of_many;
            one->pairs.sums = of_one;
            hn_exp_sums_begin(of_many);
            hn_exp_sums_begin(of_one);
            for (int i = 0; i < RATES; i++)
                (void)hn_exp_sums(&many->pairs, rates[(i * 4 + k * 2) % RATES],
                                  i % 2 ? HN_SUMS_OTHER : PRODUCTS,
                                  i % 3 ? NULL : some_limits(many, true));
            for (int masked = 0; masked < 2; masked++)
                check_equal(hn_exp_sums(&many->pairs, rates[k], PRODUCTS,
                                        masked ? some_limits(many, true) : NULL),
                            hn_exp_sums(&one->pairs, rates[k], PRODUCTS,
                                        masked ? some_limits(one, true) : NULL));
        }
    }
}

static const struct hn_test tests[] = {
    {"direct_sums_agree", direct_sums_agree},
    {"other_rates_change_no_bits", other_rates_change_no_bits},
};

HN_TEST_MAIN("exp_sums", tests)
