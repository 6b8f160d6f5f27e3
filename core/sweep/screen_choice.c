// SPDX-License-Identifier: GPL-3.0-or-later
// Decides whether a screen pays, by guesses at products.
#include "core/sweep/screen_private.h"
#include "core/text.h"

#include "core/sweep/select.h"
#include "core/sweep/simd.h"

#include <math.h>
#include <string.h>

enum {
    ROWS_MIN = 1000, // of either matrix; with fewer, rounding costs more than it saves
    COLS_MIN = 5000,
    DIMENSIONS_MIN = 32,
    SAMPLE_ROWS = 8, // panels
    SAMPLE_COLS = 32,
    // Dimensions of float products in the time that it takes to find a product and hand it on, and
    // to read its rows, each dimension: found by timing (core/PERFORMANCE.md).
    FIND = 2000,
    READ = 4,
    // The same to look through the bits of a panel, by the bytes of a number: by a profile, .13 s
    // where products of 128 bytes take .81.
    EDGE = 5
};
static const double max_share = 0.02;

static enum hn_code fail_name(struct hn_context *ctx) {
    char names[HN_MESSAGE_MAX] = "";
    for (int i = 1; i < HN_SCREEN_KERNELS; i++)
        if (hn_screen_kernel(i))
            hn_append(names, sizeof names, ", %s", hn_screen_kernel(i)->name);
    return hn_fail(
        ctx, HN_USAGE,
        "HN_SCREEN (or --screen) is '%s', which is not a kernel that this processor runs: "
        "unset it, or set it to off%s",
        ctx->screen, names);
}

// Returns the kernel of that name, of those from number `first` on; NULL: there is no such.
static const struct hn_screen_kernel *find_named(const char *name, int first) {
    for (int i = first; i < HN_SCREEN_KERNELS; i++)
        if (hn_screen_kernel(i) && strcmp(name, hn_screen_kernel(i)->name) == 0)
            return hn_screen_kernel(i);
    return NULL;
}

static bool is_off(const struct hn_context *ctx) {
    return ctx->screen && strcmp(ctx->screen, "off") == 0;
}

enum hn_code hn_screen_check(struct hn_context *ctx) {
    bool known = !ctx->screen || is_off(ctx) || find_named(ctx->screen, 1);
    return known ? HN_OK : fail_name(ctx);
}

enum hn_code hn_screen_choose(struct hn_context *ctx, const struct hn_matrix *x,
                              const struct hn_matrix *y, double share,
                              const struct hn_screen_kernel **kernel) {
    *kernel = NULL;
    if (is_off(ctx))
        return HN_OK;
    if (ctx->screen) {
        *kernel = find_named(ctx->screen, 0);
        return *kernel ? HN_OK : fail_name(ctx);
    }
    // Beside the rows in its order, which take what packed ones do, it needs those that are
    // rounded.
    // At least the share that is wanted is found: where that is too much, no sample is needed
    // (hn_screen_pays()).
    const struct hn_screen_kernel *best = hn_screen_kernel_best();
    if (ctx->memory.mode < HN_MEMORY_LOWEST && hn_min(x->rows, y->rows) >= ROWS_MIN &&
        hn_max(x->rows, y->rows) >= COLS_MIN && x->cols >= DIMENSIONS_MIN && share <= max_share &&
        best && hn_screen_time(best, x->cols, 1, share) < (double)x->cols)
        *kernel = best;
    return HN_OK;
}

double hn_screen_time(const struct hn_screen_kernel *kernel, int64_t d, int64_t n, double share) {
    int64_t numbers = hn_screen_words(kernel, n) * HN_WORD / kernel->width;
    return kernel->rate * (double)numbers + EDGE * kernel->width +
           share * (FIND + READ * (double)d);
}

void hn_screen_guess(const struct hn_screen *s, int64_t row0, int64_t col0, float *out,
                     int64_t stride) {
    _Alignas(64) int32_t row[HN_PANEL], col[HN_PANEL], sum[HN_PANEL * HN_PANEL];
    for (int64_t i = 0; i < HN_PANEL; i++) {
        const struct hn_screen_term *t = &s->x->term[row0 + i];
        row[i] = (int32_t)((uint32_t)t->middle - (uint32_t)t->raise);
        col[i] = s->y->term[col0 + i].middle;
    }
    if (s->kernel->enter)
        s->kernel->enter();
    s->kernel->sums(hn_screen_panel(s, s->x->left, row0), hn_screen_panel(s, s->y->columns, col0),
                    s->words, (struct hn_screen_edge){row, row}, (struct hn_screen_edge){col, col},
                    sum, HN_PANEL);
    if (s->kernel->leave)
        s->kernel->leave();
    for (int64_t i = 0; i < HN_PANEL; i++)
        for (int64_t j = 0; j < HN_PANEL; j++)
            out[i * stride + j] = (float)sum[i * HN_PANEL + j] * (float)s->unit;
}

// The slack is that of numbers whose errors all add up. At random they come to a root of their
// number less, of which this is three times.
double hn_screen_guess_error(const struct hn_screen *s, int64_t row) {
    int64_t numbers = s->words * HN_WORD / s->kernel->width;
    return 3 * s->unit * 2 * s->x->term[row].slack / sqrt((double)numbers);
}

static double mean_slack(const struct hn_screen *s) {
    double sum = 0;
    int64_t n = s->y->rows.rows;
    for (int64_t j = 0; j < n; j++)
        sum += s->y->term[j].slack;
    return s->unit * sum / (double)n;
}

// Of the products of a panel of rows with a sample of columns, those that would be found if a share
// of every row's is wanted. products: [HN_PANEL x SAMPLE_COLS panels], scratch.
static int64_t count_found(const struct hn_screen *s, int64_t row0, double share, double col_slack,
                           float *products) {
    enum { COLS = SAMPLE_COLS * HN_PANEL };
    int64_t panels = s->y->rows.rows / HN_PANEL, found = 0;
    for (int64_t q = 0; q < SAMPLE_COLS; q++)
        hn_screen_guess(s, row0, q * panels / SAMPLE_COLS * HN_PANEL, products + q * HN_PANEL,
                        COLS);
    for (int64_t i = 0; i < HN_PANEL; i++) {
        const float *row = products + i * COLS;
        double slack = s->unit * s->x->term[row0 + i].slack + col_slack;
        float limit = hn_select_limit(row, COLS, (int64_t)ceil(share * COLS), -INFINITY);
        found += hn_simd_best()->count(row, COLS, (float)((double)limit - slack));
    }
    return found;
}

enum hn_code hn_screen_pays(struct hn_context *ctx, const struct hn_screen *s, double share,
                            bool *pays) {
    int64_t panels = s->x->rows.rows / HN_PANEL, size = HN_PANEL * SAMPLE_COLS * HN_PANEL;
    int64_t found = 0;
    float *products = hn_alloc(ctx, size, sizeof *products);
    if (!products)
        return HN_MEMORY;
    int64_t d = s->x->rows.cols, numbers = s->words * HN_WORD / s->kernel->width;
    double slack = mean_slack(s);
    for (int64_t p = 0; p < SAMPLE_ROWS; p++)
        found += count_found(s, p * panels / SAMPLE_ROWS * HN_PANEL, share, slack, products);
    hn_free(ctx, products);
    double left = (double)found / (double)(SAMPLE_ROWS * size);
    *pays = hn_screen_time(s->kernel, d, numbers, left) < (double)d;
    return HN_OK;
}
