// SPDX-License-Identifier: GPL-3.0-or-later
// The screen of sweeps: the bound against exact products, and lists that stay what they are without
// it, on data made to break either.
#include "core/random.h"
#include "core/sweep/sinks.h"
#include "tests/core/sweep/screen_panel.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 333, COLS = 301, D = 37, K = 10 };

// Data.

static void plain(float *row, int64_t i, struct hn_stream *s) {
    (void)i;
    for (int k = 0; k < D; k++)
        row[k] = (float)(hn_stream_uniform(s) + hn_stream_uniform(s) + hn_stream_uniform(s) - 1.5);
}
static void duplicate(float *row, int64_t i, struct hn_stream *s) {
    if (i % 40 != 0)
        memcpy(row, row - D, D * sizeof *row);
    else
        plain(row, i, s);
}
static void parallel(float *row, int64_t i, struct hn_stream *s) {
    plain(row, i, s);
    for (int k = 0; k < D; k++)
        row[k] = 1 + 1e-6F * row[k];
}
static void close_by(float *row, int64_t i, struct hn_stream *s) {
    plain(row, i, s);
    for (int k = 0; k < D; k++)
        row[k] = 1 + 0.05F * row[k];
}
static void equal(float *row, int64_t i, struct hn_stream *s) {
    (void)i, (void)s;
    for (int k = 0; k < D; k++)
        row[k] = (float)(k + 1);
}
static void antipodal(float *row, int64_t i, struct hn_stream *s) {
    plain(row, i, s);
    for (int k = 0; k < D && i % 2; k++)
        row[k] = -(row - D)[k];
}
static void outlier(float *row, int64_t i, struct hn_stream *s) {
    plain(row, i, s);
    row[i % 11 == 0 ? 3 : 20] *= i % 5 == 0 ? 40 : 1;
}
static void one_hot(float *row, int64_t i, struct hn_stream *s) {
    (void)s;
    memset(row, 0, D * sizeof *row);
    row[i % D] = i % 2 ? 1 : -1;
}
static void denormal(float *row, int64_t i, struct hn_stream *s) {
    plain(row, i, s);
    for (int k = 0; k < D; k += 2)
        row[k] *= 1e-39F;
}
static void uneven(float *row, int64_t i, struct hn_stream *s) {
    plain(row, i, s);
    for (int k = 0; k < D; k++)
        row[k] /= (float)(k + 1);
}
static void tight(float *row, int64_t i, struct hn_stream *s) {
    plain(row, i, s);
    for (int k = 0; k < D; k++)
        row[k] = 0.01F * row[k] + (float)(k % 2 == i % 2);
}
static void sorted(float *row, int64_t i, struct hn_stream *s) {
    plain(row, i, s);
    for (int k = 0; k < D; k++)
        row[k] += 3 * (float)(k % 7 == i * 7 / N);
}

static const struct data {
    const char *name;
    void (*row)(float *row, int64_t i, struct hn_stream *s);
    double slack; // that no two rows of a screen exceed; 0: no screen
} data[] = {{"plain", plain, 0.025},       {"duplicates", duplicate, 0.025},
            {"parallel", parallel, 0},     {"close by", close_by, 0.0002},
            {"equal", equal, 0},           {"antipodal", antipodal, 0.025},
            {"outlier", outlier, 0.025},   {"one-hot", one_hot, 0.025},
            {"denormal", denormal, 0.025}, {"uneven", uneven, 0.025},
            {"tight", tight, 0.025},       {"sorted", sorted, 0.025}};
enum { KINDS = sizeof data / sizeof data[0] };

static struct hn_matrix make(struct hn_context *ctx, const struct data *kind, int64_t rows,
                             uint64_t seed) {
    struct hn_stream s;
    hn_stream_open(&s, seed, "test.screen", 0, 0, 1);
    float *x = hn_alloc(ctx, rows * D, sizeof *x);
    for (int64_t i = 0; i < rows; i++)
        kind->row(x + i * D, i, &s);
    HN_CHECK(ctx, hn_normalize_rows(ctx, x, rows, D, "test"));
    return (struct hn_matrix){x, rows, D, D};
}

// The bound.

static int32_t rounded_product(const struct hn_screen *s, int64_t i, int64_t j) {
    int32_t sum = 0;
    int64_t panel = s->words * HN_WORDS_BYTES;
    int width = s->kernel->width;
    const int8_t *a = s->x->left + i / HN_PANEL * panel;
    const int8_t *b = s->y->columns + j / HN_PANEL * panel;
    for (int64_t k = 0; k < s->words * HN_WORD / width; k++)
        sum += number(a, width, k, i % HN_PANEL, s->kernel->tile) *
               number(b, width, k, j % HN_PANEL, 1);
    return sum;
}

// The slack of two rows, or infinity if their product is further from the rounded one than that.
static double pair_bound(const struct hn_screen *s, const struct hn_matrix *x,
                         const struct hn_matrix *y, int64_t i, int64_t j) {
    const struct hn_screen_term *a = &s->x->term[i], *b = &s->y->term[j];
    double exact =
        hn_dot_exact(hn_row(x, hn_screen_id(s->x, i)), hn_row(y, hn_screen_id(s->y, j)), x->cols);
    double middle = s->unit * ((double)rounded_product(s, i, j) + a->middle + b->middle);
    double slack = s->unit * ((double)a->slack + b->slack);
    return fabs(exact - middle) <= slack ? slack : INFINITY;
}

// The largest of them.
static double check_bound(const struct hn_screen *s, const struct hn_matrix *x,
                          const struct hn_matrix *y) {
    double max = 0;
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; j < y->rows; j++)
            max = fmax(max, pair_bound(s, x, y, i, j));
    return max;
}

// slack: what is to suffice for numbers of 8 bits.
static void check_screen(struct hn_context *ctx, const struct hn_matrix *x,
                         const struct hn_matrix *y, const struct hn_screen_kernel *kernel,
                         bool shuffled, double slack) {
    struct hn_screen s;
    bool good;
    const struct hn_screen_wish wish = {
        .kernel = kernel, .block = 64, .shuffled = shuffled, .anyway = true};
    HN_CHECK(ctx, hn_screen_open(ctx, x, y, &wish, &s, &good));
    if (kernel->width == 1)
        CU_ASSERT_EQUAL(good, slack > 0);
    if (good)
        CU_ASSERT(check_bound(&s, x, y) < slack);
    hn_screen_free(ctx, &s);
}

static void test_bound(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    for (int kind = 0; kind < KINDS; kind++) {
        hn_test_entry(data[kind].name);
        struct hn_matrix x = make(&ctx, &data[kind], N, 1), y = make(&ctx, &data[kind], COLS, 2);
        for (int which = 0; which < HN_SCREEN_KERNELS; which++)
            for (int two = 0; two < 2 && hn_screen_kernel(which); two++)
                check_screen(&ctx, &x, two ? &y : &x, hn_screen_kernel(which), !two,
                             data[kind].slack);
        hn_free(&ctx, (float *)x.data);
        hn_free(&ctx, (float *)y.data);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// A row so long that its terms do not fit 32 bits; of those that the scale is not taken from.
static void test_too_large(void) {
    enum { MANY = 5000, LEFT_OUT = 5 };
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_matrix x = make(&ctx, &data[0], MANY, 1);
    for (int large = 0; large < 2; large++) {
        struct hn_screen s;
        bool good;
        const struct hn_screen_wish wish = {
            .kernel = hn_screen_kernel(0), .block = 64, .anyway = true};
        HN_CHECK(&ctx, hn_screen_open(&ctx, &x, &x, &wish, &s, &good));
        CU_ASSERT_EQUAL(good, !large);
        hn_screen_free(&ctx, &s);
        for (int64_t k = 0; k < D; k++)
            ((float *)x.data)[LEFT_OUT * D + k] *= 1e3F;
    }
    hn_free(&ctx, (float *)x.data);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// What is found of a tile, in the order in which it is told.
enum { TILE = 64, FOUND = TILE * TILE };
struct pairs {
    int64_t n;
    int32_t row[FOUND], col[FOUND];
    float s[FOUND];
};

static void collect(void *self, const struct hn_found *found, int thread) {
    struct pairs *to = self;
    (void)thread;
    for (int32_t k = 0; k < found->n && to->n < FOUND; k++, to->n++) {
        to->row[to->n] = (int32_t)found->row0 + found->row[k];
        to->col[to->n] = (int32_t)found->col0 + found->col[k];
        to->s[to->n] = found->s[k];
    }
}

// Rows that are read where they are give what copies of them do.
static void test_in_place(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_matrix x = make(&ctx, &data[0], N, 1), y = make(&ctx, &data[0], COLS, 2);
    struct pairs *pairs = hn_zalloc(&ctx, 2, sizeof *pairs);
    float limit[TILE], row[2][COLS + HN_WORD];
    for (int i = 0; i < TILE; i++)
        limit[i] = .1F;
    for (int in_place = 0; in_place < 2; in_place++) {
        const struct hn_screen_wish wish = {.kernel = hn_screen_kernel(0),
                                            .block = TILE,
                                            .shuffled = true,
                                            .in_place = in_place,
                                            .anyway = true};
        const struct hn_screen_tile tile = {TILE, TILE, TILE, TILE, limit, NULL};
        struct hn_screen s;
        bool good;
        HN_CHECK(&ctx, hn_screen_open(&ctx, &x, &y, &wish, &s, &good));
        CU_ASSERT_FATAL(good);
        CU_ASSERT_EQUAL(s.y->copy == NULL, in_place);
        hn_screen_find(&s, &tile, collect, &pairs[in_place], 0);
        hn_screen_multiply_row(&s, 5, 0, COLS, row[in_place]);
        hn_screen_free(&ctx, &s);
    }
    CU_ASSERT(pairs[0].n > 100 && pairs[0].n < FOUND);
    CU_ASSERT(!memcmp(&pairs[0], &pairs[1], sizeof *pairs));
    CU_ASSERT(!memcmp(row[0], row[1], COLS * sizeof *row[0]));
    hn_free(&ctx, pairs);
    hn_free(&ctx, (float *)x.data);
    hn_free(&ctx, (float *)y.data);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Lists.

struct lists {
    struct hn_topk top;
    int64_t n_dot;
};

static void find_lists(struct hn_context *ctx, const struct hn_matrix *x, const struct hn_matrix *y,
                       int64_t k, const char *screen, struct lists *out) {
    *out = (struct lists){.top = {.k = k, .skip_self = x->data == y->data}};
    struct hn_sweep sweep = {.x = *x, .y = *y};
    hn_sweep_add(&sweep, &hn_topk_sink, &out->top, HN_SIDE_ROWS);
    ctx->screen = screen;
    HN_CHECK(ctx, hn_sweep_run(ctx, &sweep));
    out->n_dot = sweep.n_dot;
}

static bool same(const struct lists *a, const struct lists *b) {
    size_t n = (size_t)(a->top.rows * a->top.kept);
    return a->n_dot == b->n_dot && a->top.kept == b->top.kept &&
           !memcmp(a->top.id, b->top.id, n * sizeof *a->top.id) &&
           !memcmp(a->top.score, b->top.score, n * sizeof *a->top.score);
}

static void check_lists(const struct hn_matrix *x, const struct hn_matrix *y, int64_t k,
                        int kernels) {
    struct hn_context ctx;
    struct lists without, with;
    hn_context_init(&ctx, 2);
    find_lists(&ctx, x, y, k, "off", &without);
    for (int number = HN_SCREEN_KERNELS - 1; number >= 0 && kernels > 0; number--) {
        kernels -= hn_screen_kernel(number) != NULL;
        for (ctx.threads = 1; ctx.threads <= 4 && hn_screen_kernel(number); ctx.threads *= 2) {
            find_lists(&ctx, x, y, k, hn_screen_kernel(number)->name, &with);
            CU_ASSERT(same(&without, &with));
            hn_topk_free(&ctx, &with.top);
        }
    }
    hn_topk_free(&ctx, &without.top);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_lists(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    for (int kind = 0; kind < KINDS; kind++) {
        hn_test_entry(data[kind].name);
        struct hn_matrix x = make(&ctx, &data[kind], N, 1), y = make(&ctx, &data[kind], COLS, 2);
        check_lists(&x, &x, K, HN_SCREEN_KERNELS);
        check_lists(&x, &y, K, HN_SCREEN_KERNELS);
        hn_free(&ctx, (float *)x.data);
        hn_free(&ctx, (float *)y.data);
    }
}

static void test_long_lists(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_matrix x = make(&ctx, &data[0], 70, 1), y = make(&ctx, &data[0], 33, 2);
    for (int64_t k = 0; k <= 75; k += 15) {
        check_lists(&x, &x, k, HN_SCREEN_KERNELS);
        check_lists(&x, &y, k, HN_SCREEN_KERNELS);
        check_lists(&y, &x, k, HN_SCREEN_KERNELS);
    }
    check_lists(&x, &x, 69, HN_SCREEN_KERNELS);
    struct hn_matrix one = {x.data, 1, D, D};
    check_lists(&one, &one, 1, HN_SCREEN_KERNELS);
    check_lists(&one, &x, 3, HN_SCREEN_KERNELS);
    hn_free(&ctx, (float *)x.data);
    hn_free(&ctx, (float *)y.data);
}

// Rows that spread in few directions, which are what is rounded: bounds and lists.

enum { WIDE = 2100, DIRECTIONS = 6 }; // so many rows that directions are looked for

static void spread(float *row, int64_t d, struct hn_stream *s, float noise) {
    for (int k = 0; k < d; k++)
        row[k] = noise * ((float)hn_stream_uniform(s) - 0.5F);
    for (int l = 0; l < DIRECTIONS; l++) {
        float along = (float)hn_stream_uniform(s) - 0.4F;
        for (int k = 0; k < d; k++)
            row[k] += along * cosf((float)(l + 1) * (0.3F + (float)k));
    }
}
static void decaying(float *row, int64_t i, struct hn_stream *s) {
    (void)i;
    spread(row, D, s, 0.02F);
}
static void deficient(float *row, int64_t i, struct hn_stream *s) {
    (void)i;
    spread(row, D, s, 0);
}
static void outside(float *row, int64_t i, struct hn_stream *s) { // some not in those directions
    spread(row, D, s, i % 300 == 7 ? 20 : 0.02F);
}

static double every_bound(const struct hn_screen *s, const struct hn_matrix *x,
                          const struct hn_matrix *y) {
    double max = 0;
    for (int64_t i = 0; i < x->rows; i += 9)
        for (int64_t j = i % 3; j < y->rows; j += x->cols / D)
            max = fmax(max, pair_bound(s, x, y, i, j));
    return max;
}

static void check_directions(struct hn_context *ctx, const struct hn_matrix *x,
                             const struct hn_matrix *y, double slack) {
    for (int which = 0; which < HN_SCREEN_KERNELS; which++) {
        const struct hn_screen_wish wish = {.kernel = hn_screen_kernel(which),
                                            .block = 64,
                                            .shuffled = true,
                                            .share = 0.005,
                                            .anyway = true};
        struct hn_screen s;
        bool good;
        if (!wish.kernel)
            continue;
        HN_CHECK(ctx, hn_screen_open(ctx, x, y, &wish, &s, &good));
        CU_ASSERT(good);
        if (wish.kernel->tile * HN_WORD < x->cols) { // fewer directions would take no less time
            CU_ASSERT(s.words * HN_WORD / wish.kernel->width <= x->cols / 2); // so they were found
            CU_ASSERT(every_bound(&s, x, y) < slack);
        }
        hn_screen_free(ctx, &s);
    }
}

static void test_directions(void) {
    static const struct data kinds[] = {
        {"decaying", decaying, 0.05}, {"deficient", deficient, 0.05}, {"outside", outside, 1.2}};
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    for (int kind = 0; kind < 3; kind++) {
        hn_test_entry(kinds[kind].name);
        struct hn_matrix x = make(&ctx, &kinds[kind], WIDE, 1),
                         y = make(&ctx, &kinds[kind], WIDE - 9, 2);
        check_directions(&ctx, &x, &x, kinds[kind].slack);
        check_directions(&ctx, &x, &y, kinds[kind].slack);
        check_lists(&x, &x, K, HN_SCREEN_KERNELS);
        check_lists(&x, &y, K, HN_SCREEN_KERNELS);
        hn_free(&ctx, (float *)x.data);
        hn_free(&ctx, (float *)y.data);
    }
    for (int kind = 0; kind < KINDS; kind++) {
        hn_test_entry(data[kind].name);
        struct hn_matrix x = make(&ctx, &data[kind], WIDE, 1);
        check_lists(&x, &x, K, 1);
        hn_free(&ctx, (float *)x.data);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// As many dimensions as tiles of a kernel need before directions pay.
static void test_wide_directions(void) {
    enum { MANY = 4800, D_WIDE = 150 };
    struct hn_context ctx;
    struct hn_stream s;
    hn_context_init(&ctx, 2);
    hn_stream_open(&s, 1, "test.screen", 0, 0, 2);
    float *rows = hn_alloc(&ctx, (int64_t)MANY * D_WIDE, sizeof *rows);
    for (int64_t i = 0; i < MANY; i++)
        spread(rows + i * D_WIDE, D_WIDE, &s, 0.01F);
    HN_CHECK(&ctx, hn_normalize_rows(&ctx, rows, MANY, D_WIDE, "test"));
    const struct hn_matrix x = {rows, MANY, D_WIDE, D_WIDE},
                           y = {rows + D_WIDE, MANY - 1, D_WIDE, D_WIDE};
    check_directions(&ctx, &x, &x, 0.05);
    check_directions(&ctx, &x, &y, 0.05);
    check_lists(&x, &y, K, 1);
    hn_free(&ctx, rows);
}

// Many rows start from a sample, some of them from too much.
static void test_samples(void) {
    enum { MANY = 12000, LONG = 100 };
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    for (int kind = 0; kind < 2; kind++) {
        struct hn_matrix x = make(&ctx, &data[kind], MANY, 1),
                         y = make(&ctx, &data[kind], MANY / 2, 2);
        check_lists(&x, &x, LONG, 1);
        check_lists(&x, &y, LONG, 1);
        hn_free(&ctx, (float *)x.data);
        hn_free(&ctx, (float *)y.data);
    }
}

// A sample of products says that too many would be found.
static void test_pays(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    for (int kind = 0; kind < KINDS; kind++) {
        bool few = data[kind].row == plain || data[kind].row == outlier || data[kind].row == uneven;
        if (!few && data[kind].row != tight)
            continue;
        struct hn_matrix x = make(&ctx, &data[kind], N, 1);
        struct hn_screen s;
        bool good;
        struct hn_screen_wish wish = {
            .kernel = hn_screen_kernel(0), .block = 64, .shuffled = true, .share = 1e-3};
        HN_CHECK(&ctx, hn_screen_open(&ctx, &x, &x, &wish, &s, &good));
        CU_ASSERT_EQUAL(good, few);
        hn_screen_free(&ctx, &s);
        wish.share = 0.5;
        HN_CHECK(&ctx, hn_screen_open(&ctx, &x, &x, &wish, &s, &good));
        CU_ASSERT(!good);
        hn_free(&ctx, (float *)x.data);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Every allocation fails once: nothing is left behind.
static void test_allocations_may_fail(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_matrix x = make(&ctx, &data[0], 200, 1), y = make(&ctx, &data[0], 100, 2);
    int64_t live = ctx.memory.live, failed = 0;
    for (int two = 0; two < 2; two++, failed = 0) {
        for (enum hn_code code = HN_MEMORY; code == HN_MEMORY;) {
            struct hn_topk t = {.k = K};
            struct hn_sweep sweep = {.x = x, .y = two ? y : x};
            hn_sweep_add(&sweep, &hn_topk_sink, &t, HN_SIDE_ROWS);
            ctx.screen = "test-only";
            ctx.memory.calls = 0;
            ctx.memory.fail_at = ++failed;
            code = hn_sweep_run(&ctx, &sweep);
            CU_ASSERT(code == HN_MEMORY || code == HN_OK);
            ctx.memory.fail_at = 0;
            hn_topk_free(&ctx, &t);
            CU_ASSERT_EQUAL(ctx.memory.live, live);
        }
        CU_ASSERT(failed > 20);
    }
    hn_free(&ctx, (float *)x.data);
    hn_free(&ctx, (float *)y.data);
}

static const struct hn_test tests[] = {{"bound", test_bound},
                                       {"in_place", test_in_place},
                                       {"too large", test_too_large},
                                       {"lists", test_lists},
                                       {"long lists", test_long_lists},
                                       {"directions", test_directions},
                                       {"wide directions", test_wide_directions},
                                       {"samples", test_samples},
                                       {"pays", test_pays},
                                       {"allocations may fail", test_allocations_may_fail}};
HN_TEST_MAIN("screen", tests)
