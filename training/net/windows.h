// SPDX-License-Identifier: GPL-3.0-or-later
// Products of windows of images, read where they are: windows share most of their numbers with
// their neighbours, and no copy is made of any.
//
// A window is `strips` strips of `length` numbers, `step` apart, all of them in the image; its
// factor has `rows` rows, of which those of a strip begin `pitch` behind those of the one before.
// Every product is one chain, in order, of multiplications and additions (fused where the processor
// has that), whatever the kernel.
#pragma once

#include "training/net/real.h"

struct hn_window {
    int64_t strips, step, length, pitch, rows;
};

struct hn_grid {
    int64_t images, height, width;
};

// Numbers that belong to the positions of a grid, borrowed, and how far apart neighbours are.
struct hn_positions {
    hn_real *data;
    int64_t image, row, column;
};

// Columns of a panel; numbers behind the last window, and behind the last y of
// hn_windows_correlate(), that are read without use.
enum { HN_WINDOW_PANEL = 32, HN_WINDOW_SLACK = 32 };

static inline int64_t hn_window_panels(int64_t n) {
    return (n + HN_WINDOW_PANEL - 1) / HN_WINDOW_PANEL;
}

// y(p)[j] = <window at x(p), column j of b[rows x n]>, j < n, at every position p. b in panels:
// panel[j / 32][row][j % 32], zeros beyond n; from the window's first row on.
void hn_windows_multiply(struct hn_grid grid, struct hn_window window, struct hn_positions x,
                         const hn_real *panels, int64_t n, struct hn_positions y);

// sum[rows x n], from the window's first row on, += the sum over all p, in order, of window(p)^T
// y(p).
void hn_windows_correlate(struct hn_grid grid, struct hn_window window, struct hn_positions x,
                          struct hn_positions y, int64_t n, hn_real *sum);

// One position, for the kernels.
struct hn_window_row {
    const hn_real *x;
    hn_real *y;
};
// Rows of a tile: positions of a product; numbers of a window in a correlation, and the fewest.
enum { HN_WINDOW_POSITIONS = 24, HN_WINDOW_NUMBERS = 12, HN_WINDOW_FEW = 4 };
struct hn_window_kernel {
    const char *name;
    // row[i].y[column + j] = <window from number `from` at row[i].x, column j of one panel>, or,
    // from > 0, += that; i < n. Up to a multiple of HN_WINDOW_POSITIONS, the last row follows
    // again.
    void (*multiply)(const struct hn_window_row *row, int64_t n, struct hn_window window,
                     int64_t from, const hn_real *panel, int64_t column);
    // to[i * stride + j] += sum over rows[n] of x[number + i] y[column + j], i < numbers, a
    // multiple of HN_WINDOW_FEW.
    void (*correlate)(const struct hn_window_row *row, int64_t n, int64_t number, int64_t numbers,
                      int64_t column, hn_real *to, int64_t stride);
};
// Kernels by number, from portable (0) up; NULL where the processor or the build has none (tests).
enum { HN_WINDOW_KERNELS = 3 };
const struct hn_window_kernel *hn_window_kernel(int number);
