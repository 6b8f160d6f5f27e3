// SPDX-License-Identifier: GPL-3.0-or-later
// Lists of whole numbers as the value of an option.
#pragma once

#include "core/context.h"

// Whole numbers from 1 with commas between them: *n of them, added to number[max]. HN_USAGE: the
// text is another, or has more; `option` is what the message calls it.
HN_MUST_USE enum hn_code hn_int_list(struct hn_context *ctx, const char *option, const char *text,
                                     int max, int64_t *number, int *n);
