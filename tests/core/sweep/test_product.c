// SPDX-License-Identifier: GPL-3.0-or-later
// The products of the sweep: every path against chains of fmaf(), bit for bit; packing.
#include "core/sweep/blas.h"
#include "core/sweep/packed.h"
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
    hn_product_square(product, a, b, x->cols, c, PITCH);
    hn_product_square(product, b, a, x->cols, mirrored, PITCH);
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

// Every row of panel a alone, against panel b.
static int64_t count_wrong_rows(const struct hn_product *product, const struct hn_matrix *x,
                                const float *a, const float *b, int64_t first) {
    int64_t wrong = 0;
    for (int64_t i = 0; i < HN_PANEL; i++) {
        float c[HN_PANEL + 1];
        memset(c, 0xff, sizeof c);
        hn_product_row(product, a + i, b, x->cols, c);
        for (int64_t j = 0; j < HN_PANEL; j++) {
            float want = chains(hn_row(x, i), hn_row(x, first + j), x->cols);
            wrong += memcmp(&c[j], &want, sizeof want) != 0;
        }
        wrong += !isnan(c[HN_PANEL]);
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
            CU_ASSERT_EQUAL(count_wrong_rows(product, &m, panels, panels + HN_PANEL * d, first), 0);
            hn_free(&ctx, x);
            hn_free(&ctx, panels);
        }
    }
    CU_ASSERT_EQUAL(paths > 0, hn_product_best() != NULL);
    if (paths == 0)
        hn_test_skip("no path of products runs on this processor: the library's is used");
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Tiles of every height on every path, of rows that are packed and rows where they lie.
static void test_tiles(void) {
    enum { DEPTH = 90, WIDE = 32, STRIDE = WIDE + 3 };
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    float *x = hn_fixture_rows(&ctx, ROWS, DEPTH + 3, 5),
          *y = hn_fixture_rows(&ctx, DEPTH, STRIDE, 6);
    int64_t wrong = 0;
    for (int kind = 0; kind < 4 * HN_PRODUCT_PATHS; kind++) {
        const struct hn_product *p = hn_product_path(kind / 4);
        const int64_t a_row = kind & 1 ? 1 : DEPTH + 3, a_step = kind & 1 ? DEPTH + 3 : 1;
        const int64_t depth = kind & 1 ? ROWS : DEPTH;
        for (int rows = 1; p && rows <= p->rows; rows++) {
            float c[HN_PANEL * STRIDE];
            for (int i = 0; i < HN_PANEL * STRIDE; i++)
                c[i] = 0.1F;
            p->tile[rows - 1](x, a_row, a_step, y, STRIDE, depth, c, STRIDE, kind & 2);
            for (int64_t i = 0; i < HN_PANEL; i++)
                for (int64_t j = 0; j < STRIDE; j++) {
                    float sum = 0.0F;
                    for (int64_t k = 0; k < depth; k++)
                        sum = fmaf(x[i * a_row + k * a_step], y[k * STRIDE + j], sum);
                    bool inside = i < rows && j < p->cols;
                    float want = !inside ? 0.1F : kind & 2 ? 0.1F + sum : sum;
                    wrong += c[i * STRIDE + j] != want;
                }
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
    hn_free(&ctx, x);
    hn_free(&ctx, y);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Gathered rows by rows of another matrix and by themselves, numbers that do and do not fill
// panels, in space that held more of them before.
static void test_gathered(void) {
    enum { D = 130, MOST = 70 };
    static const int64_t sizes[] = {MOST, 64, 32, 31, 33, 1};
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    CU_ASSERT_EQUAL_FATAL(hn_blas_open(&ctx), HN_OK);
    float *data = hn_fixture_rows(&ctx, ROWS, D + 3, 4), s[MOST * MOST + 1];
    struct hn_matrix m = view(data, D);
    struct hn_packed x, y;
    CU_ASSERT(!hn_packed_reserve(&ctx, MOST, D, &x) && !hn_packed_reserve(&ctx, MOST, D, &y));
    double bound = hn_product_best() ? 0 : hn_dot_bound(D) * D;
    for (size_t t = 0; t < sizeof sizes / sizeof *sizes; t++)
        for (int own = 0; own < 2; own++) {
            int32_t id[2][MOST];
            int64_t n = sizes[t], k = own ? n : (n + 41) % MOST + 1;
            for (int32_t i = 0; i < MOST; i++) {
                id[0][i] = (i * 29 + 5) % ROWS;
                id[1][i] = own ? id[0][i] : (i * 7 + 2) % ROWS;
            }
            hn_packed_gather(&m, id[0], n, &x);
            hn_packed_gather(&m, id[1], k, &y);
            s[n * k] = 7;
            if (own)
                hn_packed_multiply_own(&x, t % 2 == 0, s);
            else
                hn_packed_multiply_all(&x, &y, s);
            int64_t wrong = s[n * k] != 7;
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = own && t % 2 ? i : 0; j < k; j++) {
                    float want = chains(hn_row(&m, id[0][i]), hn_row(&m, id[1][j]), D);
                    wrong += !(fabs((double)s[i * k + j] - (double)want) <= bound);
                }
            CU_ASSERT_EQUAL(wrong, 0);
        }
    hn_packed_free(&ctx, &x);
    hn_packed_free(&ctx, &y);
    hn_free(&ctx, data);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// The largest error of the products of all pairs of rows, and what is allowed.
struct errors {
    double worst, bound;
};
static struct errors measure(const float *x, int64_t rows, int64_t d) {
    const struct hn_matrix m = {x, rows, d, d};
    struct errors e = {0, hn_product_bound(&m, &m, 2)};
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < rows; j++) {
            double exact = hn_dot_exact(x + i * d, x + j * d, d);
            e.worst = fmax(e.worst, fabs((double)chains(x + i * d, x + j * d, d) - exact));
        }
    CU_ASSERT(e.worst <= e.bound && (d == 1) == (e.worst == 0)); // +1 and -1 are exact
    return e;
}

// Unit rows in which dimension k weighs about decay^k, all of one sign or of both.
static void make_decaying(float *x, int64_t rows, int64_t d, double decay, bool one_sign) {
    for (int64_t i = 0; i < rows; i++) {
        double weight = 1, squares = 0;
        for (int64_t k = 0; k < d; k++, weight *= decay) {
            float *v = &x[i * d + k];
            *v = (float)(weight * (one_sign ? 1 + 0.1 * fabs((double)*v) : (double)*v));
            squares += (double)*v * (double)*v;
        }
        for (int64_t k = 0; k < d; k++)
            x[i * d + k] = (float)((double)x[i * d + k] / sqrt(squares));
    }
}

static void test_bound(void) {
    static const int64_t dims[] = {1, 2, 16, 127, 128, 129, 257, 770};
    static const double decay[] = {1, 0.999, 0.97, 0.5};
    enum { MANY = 60 };
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    double nearest = 0;
    for (size_t t = 0; t < sizeof dims / sizeof *dims; t++)
        for (int shape = 0; shape < 8; shape++) {
            float *x = hn_fixture_rows(&ctx, MANY, dims[t], 3);
            make_decaying(x, MANY, dims[t], decay[shape / 2], shape % 2);
            struct errors e = measure(x, MANY, dims[t]);
            nearest = fmax(nearest, e.worst / e.bound);
            CU_ASSERT(e.bound <= 1.01 * hn_dot_bound(dims[t]));
            hn_free(&ctx, x);
        }
    CU_ASSERT(nearest > 0.1); // so it is not just a large number
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Beside the bound that holds for unit rows and any order.
static void test_bound_is_tight(void) {
    enum { MANY = 60, D = 770 };
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    float *x = hn_fixture_rows(&ctx, MANY, D, 3);
    struct errors spread = measure(x, MANY, D);
    CU_ASSERT(!hn_product_best() || spread.bound < hn_dot_bound(D) / 9);
    hn_free(&ctx, x);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"pack", test_pack},         {"chains", test_chains}, {"tiles", test_tiles},
    {"gathered", test_gathered}, {"bound", test_bound},   {"bound is tight", test_bound_is_tight}};
HN_TEST_MAIN("product", tests)
