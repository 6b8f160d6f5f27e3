// SPDX-License-Identifier: GPL-3.0-or-later
// The arithmetic of batch norm, for the layers beside it.
#pragma once

#include "training/net/layer.h"

// y[n] of x[n], and dx of x and dy, all from a first channel on; keep: of the batch norm `layer`.
struct hn_norm hn_norm_of(const struct hn_layer *layer, hn_real *keep);
void hn_norm_forward(const struct hn_norm *norm, const hn_real *x, int64_t n, hn_real *y);
void hn_norm_backward(const struct hn_norm *norm, const hn_real *x, const hn_real *dy, int64_t n,
                      hn_real *dx);

// The sums of part p: of all its x[n], about shift[norm->wide]; of dy, to which more may be added
// unless it is the `first` of them; y[n], unless NULL, becomes that of hn_norm_forward().
void hn_norm_sum(const struct hn_norm *norm, int64_t p, const hn_real *shift, const hn_real *x,
                 int64_t n);
void hn_norm_sum_back(const struct hn_norm *norm, int64_t p, bool first, const hn_real *x,
                      const hn_real *dy, int64_t n, hn_real *y);
