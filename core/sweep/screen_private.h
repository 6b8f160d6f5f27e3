// SPDX-License-Identifier: GPL-3.0-or-later
// Parts of the screen.
#pragma once

#include "core/sweep/screen.h"

// Margin for rounding in double precision of a term or a limit, which is far smaller.
#define HN_SCREEN_MARGIN 1e-9
// Standard deviations of a number that the kernel's largest one stands for.
#define HN_SCREEN_DEVIATIONS 4.0

// Directions that rows, less the mean, are projected to before they are rounded.
struct hn_screen_axes {
    int64_t n;     // 0: none, rows are turned instead
    float *axis;   // [n x d]
    double askew;  // Frobenius norm of their inner products less those of orthonormal ones
    double spread; // about the root mean square of a projection's numbers
};
// For rows of which a share of all products is wanted. Errors: HN_MEMORY, those of hn_eigen_top().
HN_MUST_USE enum hn_code hn_screen_find_axes(struct hn_context *ctx, const struct hn_matrix *x,
                                             const struct hn_matrix *y, const float *mean,
                                             double share, const struct hn_screen_kernel *kernel,
                                             struct hn_screen_axes *axes);

// An orthogonal matrix that spreads rows of d numbers evenly over their columns.
struct hn_screen_turn {
    int64_t d, block, passes;
    float *sign;  // [passes x block], times a size
    double error; // of the lengths of rows: what turning a row rounded to floats is off by
};
HN_MUST_USE enum hn_code hn_screen_turn_open(struct hn_context *ctx, int64_t d,
                                             struct hn_screen_turn *turn);
// row, scratch: [d]
void hn_screen_turn_row(const struct hn_screen_turn *turn, float *row, float *scratch);

// s->own[matrices], s->unit, s->words: rounds and packs. *good: as of hn_screen_open(). s->kernel
// is set. After an error, or where it is not good, s->own is to be freed.
HN_MUST_USE enum hn_code hn_screen_round(struct hn_context *ctx, struct hn_screen *s,
                                         const struct hn_matrix *const matrix[2], int matrices,
                                         const struct hn_screen_wish *wish, bool *good);
// The panel of rows or columns that has a position.
static inline const int8_t *hn_screen_panel(const struct hn_screen *s, const int8_t *panels,
                                            int64_t position) {
    return panels + position / HN_PANEL * s->words * HN_WORDS_BYTES;
}
// Time of a screened product of rows of d dimensions, of n numbers each and of which a share is
// found, in dimensions of products of floats.
double hn_screen_time(const struct hn_screen_kernel *kernel, int64_t d, int64_t n, double share);
// Checks whether few enough products are found, by a sample of rows and columns, if a share of them
// is wanted. Errors: HN_MEMORY.
HN_MUST_USE enum hn_code hn_screen_pays(struct hn_context *ctx, const struct hn_screen *s,
                                        double share, bool *pays);
