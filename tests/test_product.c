// The products of the sweep: every path against chains of fmaf(), bit for bit; packing.
#include "core/product.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <math.h>
#include <string.h>

enum { ROWS = 75, PITCH = HN_PANEL + 5 };

static float chains(const float *x, const float *y, int64_t d) {
    float sum = 0.0F;
    for (int64_t from = 0; from < d; from += HN_CHAIN) {
        float one = 0.0F;
        for (int64_t k = from; k < hn_min(from + HN_CHAIN, d); k++)
            one = fmaf(x[k], y[k], one);
        sum = from == 0 ? one : sum + one;
    }
    return sum;
}

// A view of d of each row's d + 3 floats.
static struct hn_matrix view(const float *data, int64_t d) {
    return (struct hn_matrix){data, ROWS, d, d + 3};
}

static void test_pack(void) {
    enum { D = 37, PANELS = 3 };
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    float *x = hn_fixture_rows(&ctx, ROWS, D + 3, 1), panels[PANELS * HN_PANEL * D];
    struct hn_matrix m = view(x, D);
    for (int64_t row0 = 0; row0 < 10; row0 += 3)
        for (int64_t rows = 1; rows <= ROWS - row0; rows += 13) {
            memset(panels, 0xff, sizeof panels);
            hn_panels_pack(&m, row0, rows, panels);
            bool good = true;
            for (int64_t i = 0; i < hn_panels(rows) * HN_PANEL; i++)
                for (int64_t k = 0; k < D; k++) {
                    float want = i < rows ? hn_row(&m, row0 + i)[k] : 0.0F;
                    good &= panels[(i / HN_PANEL * D + k) * HN_PANEL + i % HN_PANEL] == want;
                }
            CU_ASSERT(good);
        }
    CU_ASSERT_EQUAL(hn_panels(0), 0);
    CU_ASSERT_EQUAL(hn_panels(HN_PANEL), 1);
    CU_ASSERT_EQUAL(hn_panels(HN_PANEL + 1), 2);
    hn_free(&ctx, x);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Of two panels, entry by entry; what lies beyond 32 columns of c stays as it was.
static int64_t count_wrong(const struct hn_product *product, const struct hn_matrix *x,
                           const float *a, const float *b, int64_t first) {
    float c[HN_PANEL * PITCH], mirrored[HN_PANEL * PITCH];
    memset(c, 0xff, sizeof c);
    product->square(a, b, x->cols, c, PITCH);
    product->square(b, a, x->cols, mirrored, PITCH);
    int64_t wrong = 0;
    for (int64_t i = 0; i < HN_PANEL; i++)
        for (int64_t j = 0; j < PITCH; j++) {
            float got = c[i * PITCH + j];
            if (j >= HN_PANEL) {
                wrong += i + 1 < HN_PANEL && !isnan(got);
                continue;
            }
            float want = chains(hn_row(x, i), hn_row(x, first + j), x->cols);
            wrong += memcmp(&got, &want, sizeof got) != 0;
            wrong += memcmp(&got, &mirrored[j * PITCH + i], sizeof got) != 0;
        }
    return wrong;
}

static void test_chains(void) {
    static const int64_t dims[] = {1, 2, 3, 16, 37, 128, 129, 256, 770};
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    int paths = 0;
    for (int path = 0; path < HN_PRODUCT_PATHS; path++) {
        const struct hn_product *product = hn_product_path(path);
        paths += product != NULL;
        for (size_t t = 0; product && t < sizeof dims / sizeof *dims; t++) {
            int64_t d = dims[t], first = HN_PANEL + 7;
            float *x = hn_fixture_rows(&ctx, ROWS, d + 3, 2);
            float *panels = hn_alloc(&ctx, 2 * HN_PANEL * d, sizeof *panels);
            struct hn_matrix m = view(x, d);
            hn_panels_pack(&m, 0, HN_PANEL, panels);
            hn_panels_pack(&m, first, HN_PANEL, panels + HN_PANEL * d);
            CU_ASSERT_EQUAL(count_wrong(product, &m, panels, panels + HN_PANEL * d, first), 0);
            CU_ASSERT_EQUAL(count_wrong(product, &m, panels, panels, 0), 0);
            hn_free(&ctx, x);
            hn_free(&ctx, panels);
        }
    }
    CU_ASSERT_EQUAL(paths > 0, hn_product_best() != NULL);
    if (paths == 0)
        hn_test_skip("no path of products runs on this processor: the library's is used");
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Of unit rows, the worst of many; a bound for one long chain would be five times as wide.
static void test_bound(void) {
    enum { D = 770, MANY = 60 };
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    float *x = hn_fixture_rows(&ctx, MANY, D, 3);
    double worst = 0, bound = hn_product_bound(D);
    for (int64_t i = 0; i < MANY; i++)
        for (int64_t j = 0; j < MANY; j++) {
            double exact = hn_dot_exact(x + i * D, x + j * D, D);
            worst = fmax(worst, fabs((double)chains(x + i * D, x + j * D, D) - exact));
        }
    CU_ASSERT(worst <= bound && worst > 0);
    CU_ASSERT(bound <= hn_dot_bound(D) && hn_product_bound(HN_CHAIN) == hn_dot_bound(HN_CHAIN));
    CU_ASSERT(!hn_product_best() || bound < hn_dot_bound(D) / 5);
    hn_free(&ctx, x);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"pack", test_pack}, {"chains", test_chains}, {"bound", test_bound}};
HN_TEST_MAIN("product", tests)
