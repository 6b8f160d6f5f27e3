// SPDX-License-Identifier: GPL-3.0-or-later
// The screen: products of rows rounded to a few bits, and a bound on how far they are off, tell
// which products can reach a limit; only these are computed as floats. For sinks that want nothing
// else, so that they see the same as without it, and decide the same.
//
// The bound (core/PERFORMANCE.md has it in full). With m a vector near the mean of all rows, x = m
// + u A^T q + e, where A turns rows so that their numbers are about as large, or projects them to
// the few directions that they spread in; q are whole numbers of 8 bits (10 with AVX2), u one scale
// for all, and e what is left:
//
//   <x, y> = u^2 <q_x, q_y> + a_x + a_y + rest,  a_x = <x - m, m> + |m|^2 / 2,
//   |rest| <= r_x + r_y,                         r_x = |A e_x| Q + |e_x|^2 / 2,
//
// with Q the largest |u q| of all rows. Everything in it is measured, so it holds whatever the
// rows, clipped ones included.
#pragma once

#include "core/sweep/packed.h"
#include "core/sweep/screen_kernel.h"

// In units of u^2, rounded so that the bound still holds.
struct hn_screen_term {
    int32_t middle; // a
    int32_t slack;  // r
    int32_t raise;  // what the kernel's sums of this row are too large by
};

// The rows of a matrix, in an order of the screen's own: row id[p] of the matrix is at position p.
struct hn_screen_rows {
    struct hn_matrix rows;  // `copy`, by position; or borrowed, in its own order
    int32_t *id;            // [rows]; NULL: in their own order
    float *copy;            // [rows x d]; NULL: rows are read where they are
    int8_t *columns, *left; // [panels x words x HN_WORDS_BYTES] as the kernel wants columns and
                            // rows; the same, or NULL where they are not needed, or another copy
    struct hn_screen_term *term; // [panels x HN_PANEL]
};

struct hn_screen {
    const struct hn_screen_kernel *kernel;
    double unit;                  // u^2
    double bound;                 // of the products of floats that are found
    int64_t words;                // of a rounded row
    int64_t block, part;          // rows and columns of a tile; columns of it at a time
    struct hn_screen_rows own[2]; // X X^T: one
    const struct hn_screen_rows *x, *y;
    struct hn_screen_scratch *scratch; // [threads], private
};

// Checks whether ctx->screen may be what it is: NULL, "off", or a kernel of this processor. Errors:
// HN_USAGE, with their names. Programs ask when they start, not when the first large sweep does.
HN_MUST_USE enum hn_code hn_screen_check(struct hn_context *ctx);
// The kernel for a screen, or NULL where nothing is gained: few rows or dimensions, a processor
// without such a kernel, a share of the products that is too large, HN_MEMORY_LOWEST. ctx->screen
// may say otherwise. Errors: HN_USAGE, if that names no kernel.
HN_MUST_USE enum hn_code hn_screen_choose(struct hn_context *ctx, const struct hn_matrix *x,
                                          const struct hn_matrix *y, double share,
                                          const struct hn_screen_kernel **kernel);
struct hn_screen_wish {
    const struct hn_screen_kernel *kernel;
    int64_t block; // rows of a tile, a multiple of HN_PANEL
    bool shuffled; // rows in a random order, the same one for as many rows
    bool in_place; // these are not copied in that order
    double share;  // of the products that will be wanted; 0: not known
    bool anyway;   // even if it does not pay
};
// Rounds and packs the rows; y->data = x->data: X X^T. *good: sums fit 32 bits, the scale is not at
// its least (nearly equal rows), and a sample of products says that few enough are found (unless
// wish->anyway); if not, or after an error (HN_MEMORY, those of hn_eigen_top()), nothing has to be
// freed.
HN_MUST_USE enum hn_code hn_screen_open(struct hn_context *ctx, const struct hn_matrix *x,
                                        const struct hn_matrix *y,
                                        const struct hn_screen_wish *wish, struct hn_screen *screen,
                                        bool *good);
void hn_screen_free(struct hn_context *ctx, struct hn_screen *screen);

static inline int64_t hn_screen_id(const struct hn_screen_rows *rows, int64_t position) {
    return rows->id ? rows->id[position] : position;
}

static inline const float *hn_screen_row(const struct hn_screen_rows *rows, int64_t position) {
    return hn_row(&rows->rows, rows->copy ? position : hn_screen_id(rows, position));
}

// Products of the rows at positions row0 + row[k] of x with those at positions col0 + col[k] of y,
// k < n: by rows, and of each by columns, both ascending.
struct hn_found {
    int64_t row0, col0;
    const int32_t *row, *col; // [n]
    const float *s;           // [n] within screen->bound of hn_dot_exact()
    int32_t n;
    bool mirrored; // X X^T: those columns as rows have not met these rows, either
};

// A tile of at most `block` rows and columns at positions that begin panels.
struct hn_screen_tile {
    int64_t row0, col0, rows, cols;
    const float *row_limit, *col_limit; // [rows], [cols]; NULL: only rows have one
};
// Calls `take` with all products that reach the limit of their row or column, and some more: those
// of a row with some of the columns in one call, but those with other columns in others. Limits are
// read before.
void hn_screen_find(const struct hn_screen *screen, const struct hn_screen_tile *tile,
                    void (*take)(void *self, const struct hn_found *found, int thread), void *self,
                    int thread);

// out[j]: the float product of one row, at a position of x, with the row at position col0 + j of y,
// j < cols; space for HN_WORD more.
void hn_screen_multiply_row(const struct hn_screen *screen, int64_t row, int64_t col0, int64_t cols,
                            float *out);
// out[i * stride + j]: nearly the products of the 32 rows from position row0 of x on with those
// from position col0 of y on, both multiples of HN_PANEL.
void hn_screen_guess(const struct hn_screen *screen, int64_t row0, int64_t col0, float *out,
                     int64_t stride);
// Error of those of a row, which few exceed.
double hn_screen_guess_error(const struct hn_screen *screen, int64_t row);
