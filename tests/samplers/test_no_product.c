// SPDX-License-Identifier: GPL-3.0-or-later
// A processor without a product of our own, whose rows the library multiplies: the products are
// within the bound, and every sampler draws the same.
#include "core/sweep/packed.h"
#include "tests/samplers/every_sampler.h"

static bool without;
const struct hn_product *__real_hn_product_best(void);
const struct hn_product *__wrap_hn_product_best(void);
const struct hn_product *__wrap_hn_product_best(void) {
    return without ? NULL : __real_hn_product_best();
}

// s[rows x cols], of rows that are `stride` apart, against products in double precision. Columns
// that are not computed are left out: below the diagonal where `upper`.
static void check_products(const struct hn_matrix *x, const struct hn_matrix *y, const float *s,
                           int64_t stride, bool upper) {
    double worst = 0;
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = upper ? i : 0; j < y->rows; j++)
            worst = fmax(worst, fabs((double)s[i * stride + j] -
                                     hn_dot_exact(hn_row(x, i), hn_row(y, j), x->cols)));
    CU_ASSERT_TRUE(worst <= hn_dot_bound(x->cols));
}

static struct hn_matrix unit_rows(struct hn_context *ctx, int64_t n, int64_t d, uint64_t seed) {
    return (struct hn_matrix){hn_fixture_rows(ctx, n, d, seed), n, d, d};
}

static void check_shape(struct hn_context *ctx, int64_t n, int64_t m, int64_t d) {
    enum { SPACE = 128 };
    static float s[SPACE * SPACE];
    const struct hn_matrix a = unit_rows(ctx, n, d, 1), b = unit_rows(ctx, m, d, 2);
    struct hn_packed x, y, gathered;
    HN_CHECK(ctx, hn_packed_open(ctx, &a, n, &x));
    HN_CHECK(ctx, hn_packed_open(ctx, &b, m, &y));
    CU_ASSERT_EQUAL(x.product == NULL, without || !__real_hn_product_best());
    hn_packed_multiply(&x, 0, n, &y, 0, m, s, SPACE);
    check_products(&a, &b, s, SPACE, false);
    hn_packed_multiply_all(&x, &y, s);
    check_products(&a, &b, s, m, false);
    hn_packed_multiply_own(&x, false, s);
    check_products(&a, &a, s, n, true);
    hn_packed_multiply_own(&x, true, s);
    check_products(&a, &a, s, n, false);
    hn_packed_multiply_row(&x, n - 1, &y, 0, m, s);
    const struct hn_matrix last = {hn_row(&a, n - 1), 1, d, d};
    check_products(&last, &b, s, m, false);
    HN_CHECK(ctx, hn_packed_reserve(ctx, 2, d, &gathered));
    hn_packed_gather(&a, (const int32_t[]){(int32_t)n - 1, 0}, 2, &gathered);
    hn_packed_multiply(&gathered, 0, 2, &y, 0, m, s, SPACE);
    check_products(&last, &b, s, SPACE, false);
    hn_packed_free(ctx, &gathered);
    hn_packed_free(ctx, &x);
    hn_packed_free(ctx, &y);
    hn_free(ctx, (void *)a.data);
    hn_free(ctx, (void *)b.data);
}

static void test_products(void) {
    static const int64_t shapes[][3] = {
        {1, 1, 1}, {2, 17, 5}, {16, 16, 3}, {33, 7, 64}, {61, 40, 19}};
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    for (size_t i = 0; i < 2 * sizeof shapes / sizeof *shapes; i++) {
        without = i % 2;
        check_shape(&ctx, shapes[i / 2][0], shapes[i / 2][1], shapes[i / 2][2]);
    }
    without = false;
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_samplers(void) {
    static struct sampler_case cases[CASES_MAX];
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_items items = anchored_items(&ctx, N, D, 4, true, 6);
    int n = all_cases(true, true, cases);
    for (int i = 0; i < n; i++) {
        struct sampled s[2];
        hn_test_entry(cases[i].type->name);
        for (int k = 0; k < 2; k++) {
            without = k == 1;
            HN_CHECK(&ctx,
                     sampled_open(&ctx, cases[i].type, cases[i].settings, &items, 7, 9, &s[k]));
        }
        without = false;
        CU_ASSERT_EQUAL_FATAL(s[0].batches, s[1].batches);
        size_t slots = (size_t)s[0].batches * (size_t)s[0].sampler.batch_size;
        for (int64_t b = 0; b < s[0].batches; b++) {
            CU_ASSERT_EQUAL_FATAL(s[0].size[b], s[1].size[b]);
            CU_ASSERT_EQUAL(memcmp(sampled_batch(&s[0], b), sampled_batch(&s[1], b),
                                   (size_t)s[0].size[b] * sizeof *s[0].ids),
                            0);
        }
        for (size_t p = 0; s[0].capacity && p < slots; p++) {
            if ((int32_t)(p % (size_t)s[0].sampler.batch_size) >=
                s[0].size[p / (size_t)s[0].sampler.batch_size])
                continue; // behind a short batch
            CU_ASSERT_EQUAL_FATAL(s[0].negatives[p], s[1].negatives[p]);
            CU_ASSERT_EQUAL(memcmp(s[0].negative + p * (size_t)s[0].capacity,
                                   s[1].negative + p * (size_t)s[0].capacity,
                                   (size_t)s[0].negatives[p] * sizeof *s[0].negative),
                            0);
        }
        sampled_close(&ctx, &s[0]);
        sampled_close(&ctx, &s[1]);
    }
    anchored_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"products", test_products},
    {"every sampler", test_samplers},
};
HN_TEST_MAIN("no_product", tests)
