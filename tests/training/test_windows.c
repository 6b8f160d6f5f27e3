// SPDX-License-Identifier: GPL-3.0-or-later
// Products of windows against plain sums in double precision, and the kernels against each other.
#include "core/random.h"
#include "tests/test.h"
#include "training/net/windows.h"

#include <math.h>

enum { ROOM = 1 << 15, PANELS = 3, ROWS = 19, STRIP = 7 };

static void fill(float *x, int64_t n, int64_t index) {
    struct hn_stream stream;
    hn_stream_open(&stream, 3, "test.windows", 0, 0, index);
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)(2 * hn_stream_uniform(&stream) - 1);
}

struct shape {
    struct hn_grid grid;
    struct hn_window window;
    int64_t channels, stride, n;
};

// More positions than a block, fewer than a tile; strips and columns of whole tiles, and not.
static const struct shape shapes[] = {
    {{3, 10, 10}, {3, 66, 9, 9, 27}, 3, 2, 32}, {{2, 2, 1}, {2, 12, 6, 8, 17}, 3, 1, 5},
    {{1, 3, 5}, {1, 40, 13, 0, 15}, 4, 2, 70},  {{5, 8, 8}, {2, 36, 24, 36, 72}, 2, 2, 33},
    {{1, 1, 1}, {4, 20, 12, 12, 48}, 5, 1, 64}, {{2, 3, 3}, {0, 30, 4, 4, 4}, 2, 1, 6},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

struct work {
    float x[ROOM], b[ROOM], panels[ROOM], y[ROOM], sum[ROOM];
};

// Where position p has its numbers.
static int64_t at(const struct shape *s, const struct hn_positions *c, int64_t p) {
    int64_t size = s->grid.height * s->grid.width;
    return p / size * c->image + p % size / s->grid.width * c->row + p % s->grid.width * c->column;
}

// The number of a window, from its position on, that row r of its factor meets; -1: none.
static int64_t number_of(const struct hn_window *w, int64_t r) {
    for (int64_t s = 0; s < w->strips; s++)
        if (r >= s * w->pitch && r < s * w->pitch + w->length)
            return s * w->step + r - s * w->pitch;
    return -1;
}

static void pack(const float *b, int64_t rows, int64_t n, float *panels) {
    for (int64_t i = 0; i < rows * hn_window_panels(n) * HN_WINDOW_PANEL; i++) {
        int64_t j = i / HN_WINDOW_PANEL / rows * HN_WINDOW_PANEL + i % HN_WINDOW_PANEL;
        panels[i] = j < n ? b[i / HN_WINDOW_PANEL % rows * n + j] : 0;
    }
}

static void check_multiply(const struct shape *s, struct work *w, struct hn_positions x,
                           struct hn_positions y) {
    int64_t positions = s->grid.images * s->grid.height * s->grid.width;
    pack(w->b, s->window.rows, s->n, w->panels);
    y.column++; // a gap that is to stay
    y.row = s->grid.width * y.column, y.image = s->grid.height * y.row;
    fill(w->y, ROOM, 4);
    float gap = w->y[s->n];
    hn_windows_multiply(s->grid, s->window, x, w->panels, s->n, y);
    CU_ASSERT(w->y[s->n] == gap);
    for (int64_t p = 0; p < positions; p++)
        for (int64_t j = 0; j < s->n; j++) {
            double sum = 0;
            for (int64_t r = 0; r < s->window.rows; r++)
                if (number_of(&s->window, r) >= 0)
                    sum += (double)x.data[at(s, &x, p) + number_of(&s->window, r)] *
                           (double)w->b[r * s->n + j];
            CU_ASSERT(fabs(sum - (double)y.data[at(s, &y, p) + j]) < 1e-5);
        }
}

static void check_correlate(const struct shape *s, struct work *w, struct hn_positions x,
                            struct hn_positions y) {
    int64_t positions = s->grid.images * s->grid.height * s->grid.width;
    fill(w->y, ROOM, 5);
    fill(w->sum, ROOM, 6);
    memcpy(w->panels, w->sum, sizeof w->sum);
    hn_windows_correlate(s->grid, s->window, x, y, s->n, w->sum);
    for (int64_t r = 0; r < s->window.rows; r++)
        for (int64_t j = 0; j < s->n; j++) {
            int64_t number = number_of(&s->window, r);
            double sum = (double)w->panels[r * s->n + j];
            for (int64_t p = 0; p < positions && number >= 0; p++)
                sum += (double)x.data[at(s, &x, p) + number] * (double)y.data[at(s, &y, p) + j];
            CU_ASSERT(fabs(sum - (double)w->sum[r * s->n + j]) < 5e-5);
        }
    CU_ASSERT(w->sum[s->window.rows * s->n] == w->panels[s->window.rows * s->n]);
}

static void test_products(void) {
    static struct work w;
    fill(w.x, ROOM, 1);
    fill(w.b, ROOM, 2);
    for (int i = 0; i < SHAPES; i++) {
        const struct shape *s = &shapes[i];
        int64_t row = s->stride * s->window.step, image = s->grid.height * row + 11;
        struct hn_positions x = {w.x, image, row, s->stride * s->channels}, y = {.data = w.y};
        y.column = s->n, y.row = s->grid.width * y.column, y.image = s->grid.height * y.row;
        check_multiply(s, &w, x, y);
        check_correlate(s, &w, x, y);
    }
}

// Kernels with fused multiply-add give the same bits, and the portable one as good as those.
static void test_kernels(void) {
    enum { M = HN_WINDOW_POSITIONS, N = 11 * HN_WINDOW_FEW, P = HN_WINDOW_PANEL };
    static float x[M * ROWS * STRIP + N], panel[3 * STRIP * P], y[HN_WINDOW_KERNELS][M][P],
        tile[HN_WINDOW_KERNELS][N][P];
    fill(x, sizeof x / sizeof *x, 7);
    fill(panel, sizeof panel / sizeof *panel, 8);
    for (int k = 0; k < HN_WINDOW_KERNELS && hn_window_kernel(k); k++) {
        const struct hn_window_kernel *kernel = hn_window_kernel(k);
        struct hn_window_row row[M], pair[ROWS];
        for (int i = 0; i < M; i++)
            row[i] = (struct hn_window_row){x + (ptrdiff_t)i * STRIP, y[k][i]};
        for (int i = 0; i < ROWS; i++)
            pair[i] = (struct hn_window_row){x + (ptrdiff_t)i * STRIP, panel + (ptrdiff_t)i * P};
        for (int s = 0; s < 3; s += 2)
            kernel->multiply(row, M,
                             (struct hn_window){2 - s / 2, 2 * STRIP, STRIP, STRIP, 3 * STRIP},
                             s * 2 * STRIP, panel + s * STRIP * P, 0);
        kernel->correlate(pair, ROWS, 2, N, 0, *tile[k], P);
        double off = 0;
        for (int i = 0; i < M * P; i++)
            off = fmax(off, fabs((double)(y[k][i / P][i % P] - y[0][i / P][i % P])));
        for (int i = 0; i < N * P; i++)
            off = fmax(off, fabs((double)(tile[k][i / P][i % P] - tile[0][i / P][i % P])));
        hn_test_entry(kernel->name);
        CU_ASSERT(off < 1e-5);
        CU_ASSERT(k < 2 || memcmp(y[k], y[1], sizeof y[k]) == 0);
        CU_ASSERT(k < 2 || memcmp(tile[k], tile[1], sizeof tile[k]) == 0);
    }
}

static const struct hn_test tests[] = {{"products", test_products}, {"kernels", test_kernels}};
HN_TEST_MAIN("windows", tests)
