// SPDX-License-Identifier: GPL-3.0-or-later
// Turning rows: it is orthogonal, within its bound, and leaves columns about even. Limits that rows
// start from.
#include "core/random.h"
#include "core/sweep/screen.h"
#include "core/sweep/screen_private.h"
#include "core/sweep/simd.h"
#include "core/sweep/topk_start.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { D_MAX = 800, ROWS = 400 };

// Sizes for which what becomes of a unit vector is exact: the block is a power of four.
static const int64_t exact_sizes[] = {1, 4, 5, 7, 64, 65, 100, 127, 300};

// turned[d x d]: row k is what column k becomes.
static void turn_units(const struct hn_screen_turn *turn, int64_t d, float *turned) {
    float scratch[D_MAX];
    memset(turned, 0, (size_t)(d * d) * sizeof *turned);
    for (int64_t k = 0; k < d; k++) {
        turned[k * d + k] = 1;
        hn_screen_turn_row(turn, turned + k * d, scratch);
    }
}

static double inner(const float *a, const float *b, int64_t n) {
    double sum = 0;
    for (int64_t k = 0; k < n; k++)
        sum += (double)a[k] * (double)b[k];
    return sum;
}

static void fill_hostile(float *row, int64_t d, int kind, struct hn_stream *s) {
    for (int64_t k = 0; k < d; k++)
        row[k] = (float)(hn_stream_uniform(s) - 0.5);
    for (int64_t k = 0; k < d; k++)
        switch (kind) {
        case 0: break;
        case 1: row[k] *= k % 2 ? 1e30F : 1e-30F; break;
        case 2: row[k] *= k == d / 3 ? 1e7F : 1; break;
        case 3: row[k] *= powf(2, (float)(k % 40)); break;
        case 4: row[k] = 1 + FLT_EPSILON * (float)k; break;
        default: row[k] *= k == 0 ? 1 : 1e-39F; // denormal
        }
}

// The distance of a turned row from what its columns come to in double, less the bound of it.
static double beyond_bound(const struct hn_screen_turn *turn, int64_t d, const float *turned,
                           const float *row) {
    float out[D_MAX], scratch[D_MAX];
    double square = 0, bound = turn->error * sqrt(inner(row, row, d));
    memcpy(out, row, (size_t)d * sizeof *out);
    hn_screen_turn_row(turn, out, scratch);
    for (int64_t i = 0; i < d; i++) {
        double exact = 0;
        for (int64_t k = 0; k < d; k++)
            exact += (double)row[k] * (double)turned[k * d + i];
        square += ((double)out[i] - exact) * ((double)out[i] - exact);
    }
    return sqrt(square) - bound;
}

static void test_orthogonal(void) {
    struct hn_context ctx;
    struct hn_stream s;
    hn_context_init(&ctx, 1);
    hn_stream_open(&s, 1, "test.turn", 0, 0, 0);
    float *turned = hn_alloc(&ctx, D_MAX * D_MAX, sizeof *turned), row[D_MAX];
    for (size_t n = 0; n < sizeof exact_sizes / sizeof *exact_sizes; n++) {
        struct hn_screen_turn turn;
        int64_t d = exact_sizes[n];
        HN_CHECK(&ctx, hn_screen_turn_open(&ctx, d, &turn));
        turn_units(&turn, d, turned);
        for (int64_t i = 0; i < d; i++)
            for (int64_t j = 0; j <= i; j++)
                CU_ASSERT_EQUAL(inner(turned + i * d, turned + j * d, d), i == j);
        for (int kind = 0; kind < 6; kind++) {
            fill_hostile(row, d, kind, &s);
            CU_ASSERT(beyond_bound(&turn, d, turned, row) <= 0);
        }
        hn_free(&ctx, turn.sign);
    }
    hn_free(&ctx, turned);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Columns of rows spread by so much.
static double falling(int64_t k) { return 1 / sqrt((double)(k + 1)); }
static double first_half(int64_t k) { return k < D_MAX / 2 ? 1 : 0.01; }
static double one_hot(int64_t k) { return k == 3 ? 100 : 1; }
static double odd(int64_t k) { return k % 2 ? 1 : 0.01; }

// What rounding the turned rows to numbers of 8 bits leaves, as a share of their length.
static double left_over(int64_t d, double (*deviation)(int64_t k), struct hn_context *ctx) {
    struct hn_screen_turn turn;
    struct hn_stream s;
    double whole = 0, left = 0;
    float *row = hn_alloc(ctx, ROWS * d, sizeof *row), scratch[D_MAX];
    hn_stream_open(&s, 2, "test.turn", 0, 0, 0);
    HN_CHECK(ctx, hn_screen_turn_open(ctx, d, &turn));
    for (int64_t i = 0; i < ROWS * d; i++)
        row[i] = (float)(deviation(i % d) * (hn_stream_uniform(&s) + hn_stream_uniform(&s) - 1));
    for (int64_t i = 0; i < ROWS; i++) {
        whole += inner(row + i * d, row + i * d, d);
        hn_screen_turn_row(&turn, row + i * d, scratch);
    }
    double scale = HN_SCREEN_DEVIATIONS / 127 * sqrt(whole / (double)(ROWS * d));
    for (int64_t i = 0; i < ROWS * d; i++) {
        double number = fmax(-127, fmin(127, nearbyint((double)row[i] / scale)));
        left += pow((double)row[i] - scale * number, 2);
    }
    hn_free(ctx, turn.sign);
    hn_free(ctx, row);
    return sqrt(left / whole);
}

// Of even columns .0091 is left; of one alone, most is the same number in all rows, up to its size.
static void test_even(void) {
    static const struct {
        double (*deviation)(int64_t k);
        double left;
    } kinds[] = {{falling, 0.014}, {first_half, 0.011}, {odd, 0.011}, {one_hot, 0.1}};
    static const int64_t sizes[] = {128, 500, 768, D_MAX};
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++)
        for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
            CU_ASSERT(left_over(sizes[n], kinds[kind].deviation, &ctx) < kinds[kind].left);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Rows of tight clusters start from what their best surely reach, too, although their products
// differ by less than rounded ones are off.
static void test_start(void) {
    enum { MANY = 3000, D = 37, BEST = 60 };
    const struct hn_topk_sample sample = {.columns = 960, .position = 40};
    const struct hn_screen_wish wish = {
        .kernel = hn_screen_kernel(0), .block = 64, .shuffled = true, .anyway = true};
    struct hn_context ctx;
    struct hn_stream stream;
    struct hn_screen s;
    bool good;
    hn_context_init(&ctx, 2);
    hn_stream_open(&stream, 3, "test.turn", 0, 0, 0);
    float *threshold = hn_alloc(&ctx, MANY, sizeof *threshold), out[MANY + HN_WORD];
    float *row = hn_alloc(&ctx, MANY * D, sizeof *row);
    for (int64_t i = 0; i < MANY * D; i++)
        row[i] = 0.01F * (float)hn_stream_uniform(&stream) + (float)(i % D % 2 == i / D % 2);
    HN_CHECK(&ctx, hn_normalize_rows(&ctx, row, MANY, D, "test"));
    const struct hn_matrix x = {row, MANY, D, D};
    HN_CHECK(&ctx, hn_screen_open(&ctx, &x, &x, &wish, &s, &good));
    CU_ASSERT_FATAL(good);
    HN_CHECK(&ctx, hn_topk_guess_screened(&ctx, &s, sample, threshold));
    for (int64_t i = 0; i < MANY; i += 10) {
        hn_screen_multiply_row(&s, i, 0, MANY, out);
        CU_ASSERT(hn_simd_best()->count(out, MANY, threshold[i]) >= BEST);
    }
    hn_screen_free(&ctx, &s);
    hn_free(&ctx, row);
    hn_free(&ctx, threshold);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"orthogonal", test_orthogonal}, {"even", test_even}, {"start", test_start}};
HN_TEST_MAIN("screen_turn", tests)
