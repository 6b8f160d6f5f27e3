// SPDX-License-Identifier: GPL-3.0-or-later
// The kernels of the screen against plain sums, and the choice among them.
#include "core/random.h"
#include "core/sweep/screen.h"
#include "tests/core/sweep/screen_panel.h"
#include "tests/test.h"

enum { WORDS_MAX = 208, PITCH = HN_PANEL + 3 };

struct panels {
    _Alignas(64) int8_t a[WORDS_MAX * HN_WORDS_BYTES], b[WORDS_MAX * HN_WORDS_BYTES];
    _Alignas(64) int32_t start[2][HN_PANEL], limit[2][HN_PANEL];
    int64_t words;
    int width, tile; // the latter of a
};

static int32_t product(const struct panels *p, int i, int j) {
    int32_t sum = 0;
    for (int64_t k = 0; k < p->words * HN_WORD / p->width; k++)
        sum += number(p->a, p->width, k, i, p->tile) * number(p->b, p->width, k, j, 1);
    return sum;
}

// The starts that a kernel needs for sums that are products and nothing else.
static void lower_starts(struct panels *p, const struct hn_screen_kernel *kernel) {
    for (int i = 0; i < HN_PANEL; i++) {
        int32_t sum = 0;
        for (int64_t k = 0; k < p->words * HN_WORD / p->width; k++)
            sum += number(p->a, p->width, k, i, p->tile);
        p->start[0][i] = (int32_t)((uint32_t)p->start[0][i] - (uint32_t)(kernel->raised * sum));
    }
}

static int64_t count_wrong(const struct hn_screen_kernel *kernel, const struct panels *given) {
    static struct panels p;
    p = *given;
    lower_starts(&p, kernel);
    struct hn_screen_edge rows = {p.start[0], p.limit[0]}, cols = {p.start[1], p.limit[1]};
    uint32_t hits[HN_PANEL];
    int32_t sum[HN_PANEL * PITCH];
    memset(sum, 0xff, sizeof sum);
    if (kernel->enter)
        kernel->enter();
    kernel->hits(p.a, p.b, p.words, rows, cols, hits);
    kernel->sums(p.a, p.b, p.words, rows, cols, sum, PITCH);
    if (kernel->leave)
        kernel->leave();
    int64_t wrong = 0;
    for (int i = 0; i < HN_PANEL; i++) {
        for (int j = 0; j < HN_PANEL; j++) {
            int32_t want = given->start[0][i] + given->start[1][j] + product(given, i, j);
            bool hit = want >= given->limit[0][i] || want >= given->limit[1][j];
            wrong += sum[i * PITCH + j] != want;
            wrong += (hits[i] >> j & 1) != hit;
        }
        for (int j = HN_PANEL; j < PITCH; j++)
            wrong += sum[i * PITCH + j] != -1;
    }
    return wrong;
}

// how: 0 any numbers, 1 the largest of either sign, 2 and 3 those of one sign.
static int32_t draw(struct hn_stream *s, int32_t max, int how) {
    int32_t any = (int32_t)hn_stream_below(s, 2 * (uint32_t)max + 1) - max;
    return how == 0 ? any : how == 1 ? (any < 0 ? -max : max) : how == 2 ? max : -max;
}

static void put(int8_t *panel, int width, int64_t at, int32_t value) {
    int16_t wide = (int16_t)value;
    if (width == 1)
        panel[at] = (int8_t)value;
    else
        memcpy(panel + at * width, &wide, sizeof wide);
}

static void fill(struct panels *p, const struct hn_screen_kernel *kernel, struct hn_stream *s,
                 int how) {
    p->width = kernel->width;
    p->tile = kernel->tile;
    for (int64_t k = 0; k < p->words * HN_WORDS_BYTES / p->width; k++) {
        put(p->a, p->width, k, draw(s, kernel->max, how));
        put(p->b, p->width, k, draw(s, kernel->max, how == 3 ? 2 : how));
    }
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < HN_PANEL; i++) {
            p->start[side][i] = (int32_t)hn_stream_below(s, 2000000) - 1000000;
            p->limit[side][i] = (int32_t)hn_stream_below(s, 4000000) - 1000000;
        }
    p->limit[0][3] = p->limit[1][5] = INT32_MIN;
    p->limit[0][4] = p->limit[1][6] = INT32_MAX;
}

static void test_kernels(void) {
    static struct panels p;
    struct hn_stream s;
    hn_stream_open(&s, 1, "test.screen", 0, 0, 0);
    CU_ASSERT_PTR_NOT_NULL(hn_screen_kernel(0));
    for (int which = 0; which < HN_SCREEN_KERNELS; which++) {
        const struct hn_screen_kernel *kernel = hn_screen_kernel(which);
        if (!kernel)
            continue;
        hn_test_entry(kernel->name);
        for (p.words = 0; p.words <= WORDS_MAX;
             p.words = (2 * p.words / kernel->tile + 1) * kernel->tile)
            for (int how = 0; how < 4; how++) {
                fill(&p, kernel, &s, how);
                CU_ASSERT_EQUAL(count_wrong(kernel, &p), 0);
            }
    }
}

// The choice.

static const struct hn_screen_kernel *chosen(struct hn_context *ctx, const struct hn_matrix *x,
                                             const struct hn_matrix *y, double share) {
    const struct hn_screen_kernel *kernel;
    HN_CHECK(ctx, hn_screen_choose(ctx, x, y, share, &kernel));
    return kernel;
}

static void test_choice(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    const struct hn_screen_kernel *best = hn_screen_kernel_best(), *any;
    struct hn_matrix large = {NULL, 5000, 32, 32}, few = {NULL, 999, 32, 32},
                     flat = {NULL, 5000, 31, 31}, deep = {NULL, 5000, 64, 64},
                     short_of = {NULL, 4999, 32, 32};
    CU_ASSERT_PTR_EQUAL(chosen(&ctx, &deep, &deep, 0.02), best);
    CU_ASSERT_PTR_NULL(chosen(&ctx, &deep, &deep, 0.021));
    // What is wanted alone would take longer than 32 dimensions of all products.
    CU_ASSERT_PTR_EQUAL(chosen(&ctx, &large, &large, 0.0095), best);
    CU_ASSERT_PTR_NULL(chosen(&ctx, &large, &large, 0.013));
    CU_ASSERT_PTR_NULL(chosen(&ctx, &few, &large, 0.01));
    CU_ASSERT_PTR_NULL(chosen(&ctx, &large, &few, 0.01));
    CU_ASSERT_PTR_NULL(chosen(&ctx, &flat, &flat, 0.01));
    CU_ASSERT_PTR_NULL(chosen(&ctx, &short_of, &short_of, 0.01));
    ctx.memory.mode = HN_MEMORY_LOW;
    CU_ASSERT_PTR_EQUAL(chosen(&ctx, &large, &large, 0.01), best);
    ctx.memory.mode = HN_MEMORY_LOWEST;
    CU_ASSERT_PTR_NULL(chosen(&ctx, &large, &large, 0.01));
    ctx.memory.mode = HN_MEMORY_ANY;
    ctx.screen = "off";
    CU_ASSERT_PTR_NULL(chosen(&ctx, &large, &large, 0.01));
    HN_CHECK(&ctx, hn_screen_check(&ctx));
    ctx.screen = "test-only"; // no user may ask for it
    CU_ASSERT_PTR_EQUAL(chosen(&ctx, &few, &few, 0.5), hn_screen_kernel(0));
    HN_CHECK_FAILS(&ctx, hn_screen_check(&ctx), HN_USAGE, "is 'test-only'");
    CU_ASSERT_PTR_NULL(strstr(ctx.message, "set it to off, test-only"));
    ctx.screen = "on";
    HN_CHECK_FAILS(&ctx, hn_screen_choose(&ctx, &large, &large, 0.01, &any), HN_USAGE, "is 'on'");
    CU_ASSERT_EQUAL(setenv("HN_SCREEN", "", 1), 0);
    hn_context_init(&ctx, 1);
    CU_ASSERT_PTR_NULL(ctx.screen);
    CU_ASSERT_EQUAL(setenv("HN_SCREEN", "off", 1), 0);
    hn_context_init(&ctx, 1);
    CU_ASSERT_STRING_EQUAL(ctx.screen, "off");
    CU_ASSERT_EQUAL(unsetenv("HN_SCREEN"), 0);
}

static const struct hn_test tests[] = {{"kernels", test_kernels}, {"choice", test_choice}};
HN_TEST_MAIN("screen_kernel", tests)
