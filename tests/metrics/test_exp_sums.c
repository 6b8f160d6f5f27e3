// Sums of exponentials of a batch's products: against direct sums, and the same bits whatever else
// is asked for.
#include "core/random.h"
#include "metrics/pairs.h"
#include "tests/test.h"

#include <math.h>

enum { ITEMS = 41, PRODUCTS = HN_SUMS_OWN1 | HN_SUMS_OWN2 | HN_SUMS_OTHER };
static const double rates[] = {0.3, 0.5, 1, 2, 5, 7, 10, 15, 20, 30, 40, 60, 333, 350};
enum { RATES = sizeof rates / sizeof *rates };

// Products and kinds of a batch, or of as many anchors with negatives of their own.
struct batch {
    float score[ITEMS * ITEMS], score_t[ITEMS * ITEMS], same[2][ITEMS * ITEMS];
    uint8_t kind[ITEMS * ITEMS];
    int64_t start[ITEMS + 1];
    struct hn_pairs pairs;
};

static void draw(struct batch *b, struct hn_stream *s, bool lists, bool directed) {
    for (int k = 0; k < ITEMS * ITEMS; k++) {
        float *value[] = {&b->score[k], &b->score_t[k], &b->same[0][k], &b->same[1][k]};
        for (int v = 0; v < 4; v++)
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
                                 .start = lists ? b->start : NULL};
}

static struct batch *new_batch(struct hn_context *ctx, uint64_t number, bool lists, bool directed) {
    struct hn_stream s;
    hn_stream_open(&s, 5, "test.sums", 0, (int64_t)number, 0);
    struct batch *b = hn_zalloc(ctx, 1, sizeof *b);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b);
    draw(b, &s, lists, directed);
    b->pairs.sums = hn_exp_sums_open(ctx, ITEMS, ITEMS, RATES);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b->pairs.sums);
    return b;
}

// Entry k is a product of anchor a, of this side.
static float product(const struct batch *b, int side, int64_t a, int64_t j) {
    int64_t k = b->pairs.start ? b->start[a] + j : a * ITEMS + j;
    if (side == HN_OWN1 || side == HN_OWN2) // of a batch, only those with j > a are there
        return b->same[side][b->pairs.start || j > a ? k : j * ITEMS + a];
    if (b->pairs.start)
        return side == HN_OTHER1 ? b->score[k] : b->score_t[k];
    return b->score[side == HN_OTHER1 ? k : j * ITEMS + a];
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
        long double power =
            expl((long double)sums->rate * ((long double)product(b, side, a, j) - 1));
        all += power;
        same += kind == HN_PAIR_FALSE_NEGATIVE ? power : 0;
        labelled += kind != HN_PAIR_UNLABELLED ? power : 0;
    }
    CU_ASSERT(agrees(sums->side[side].all[a], all));
    CU_ASSERT(agrees(sums->side[side].same[a], same));
    CU_ASSERT(agrees(sums->side[side].labelled[a], labelled));
}

static void direct_sums_agree(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    for (unsigned shape = 0; shape < 3; shape++) {
        struct batch *b = new_batch(&ctx, shape, shape == 1, shape == 2);
        for (int k = 0; k < RATES; k++) {
            const struct hn_exp_sums *sums = hn_exp_sums(&b->pairs, rates[k], PRODUCTS);
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
                (void)hn_exp_sums(&many->pairs, rates[(i * 5 + k * 2) % RATES],
                                  i % 2 ? HN_SUMS_OTHER : PRODUCTS);
            check_equal(hn_exp_sums(&many->pairs, rates[k], PRODUCTS),
                        hn_exp_sums(&one->pairs, rates[k], PRODUCTS));
        }
    }
}

static const struct hn_test tests[] = {
    {"direct_sums_agree", direct_sums_agree},
    {"other_rates_change_no_bits", other_rates_change_no_bits},
};

HN_TEST_MAIN("exp_sums", tests)
