// SPDX-License-Identifier: GPL-3.0-or-later
// NumPy .npy files (format versions 1.0 to 3.0), in C or Fortran order: f2, f4, f8, i1 to i8, u1 to
// u8, b1, texts (U, S) and V2, as which bfloat16 is saved, in either byte order.
#pragma once

#include "datasets/import/array.h"

// Reads the header: rank and shape of *a, and the type of the values, at which s stands afterwards.
// HN_DATA names file and what is wrong: magic, header, type.
HN_MUST_USE enum hn_code hn_npy_head(struct hn_context *ctx, struct hn_source *s,
                                     struct hn_array_type *type, struct hn_array *a);

// Reads the values behind it, as hn_array_read().
HN_MUST_USE enum hn_code hn_npy_values(struct hn_context *ctx, struct hn_source *s,
                                       const struct hn_wanted *want, struct hn_array_type type,
                                       struct hn_array *out);
