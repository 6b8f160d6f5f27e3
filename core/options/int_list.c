// SPDX-License-Identifier: GPL-3.0-or-later
// Reads lists of whole numbers.
#include "core/options/int_list.h"

#include "core/text.h"

#include <stdlib.h>

enum hn_code hn_int_list(struct hn_context *ctx, const char *option, const char *text, int max,
                         int64_t *number, int *n) {
    for (const char *at = text;; at++) {
        char *end;
        long k = strtol(at, &end, 10);
        if (end == at || k < 1 || k > INT32_MAX || *n == max || (*end && *end != ','))
            return hn_fail(ctx, HN_USAGE,
                           "%s %s: wanted are 1 to %d whole numbers from 1, with commas "
                           "between them",
                           option, hn_quote(text).text, max);
        number[(*n)++] = k;
        if (!*end)
            return HN_OK;
        at = end;
    }
}
