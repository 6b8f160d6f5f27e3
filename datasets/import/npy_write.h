// SPDX-License-Identifier: GPL-3.0-or-later
// Writing NumPy .npy files.
#pragma once

#include "core/files.h"
#include "core/matrix.h"

// Writes an array of int64, value[product of shape[rank]] in C order, to a file that has begun, and
// commits it, or aborts it on failure (HN_IO). 1 <= rank <= HN_ARRAY_RANK_MAX.
HN_MUST_USE enum hn_code hn_npy_write(struct hn_context *ctx, struct hn_new_file *file, int rank,
                                      const int64_t *shape, const int64_t *value);
// The same of double.
HN_MUST_USE enum hn_code hn_npy_write_reals(struct hn_context *ctx, struct hn_new_file *file,
                                            int rank, const int64_t *shape, const double *value);
// Likewise the rows of a matrix, as float32.
HN_MUST_USE enum hn_code hn_npy_write_rows(struct hn_context *ctx, struct hn_new_file *file,
                                           const struct hn_matrix *rows);
