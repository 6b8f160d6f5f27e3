// SPDX-License-Identifier: GPL-3.0-or-later
// Accuracies of untrained encoders. Runs that differ in sampler, weighting or batch size begin with
// the same weights: one evaluation at step 0 does for all of them. The list is in memory shared
// with processes forked after it was opened; each of them may keep and find at any time.
#pragma once

#include "core/context.h"

enum { HN_UNTRAINED_KEY = 64, HN_UNTRAINED_VALUES = 32 };

// Zeroed is a list without capacity: nothing is kept, nothing found.
struct hn_untrained {
    struct hn_untrained_one *one; // [capacity], private
    int64_t capacity;
};

// A list of up to `capacity` keys. Errors: HN_MEMORY.
HN_MUST_USE enum hn_code hn_untrained_open(struct hn_context *ctx, int64_t capacity,
                                           struct hn_untrained *out);
// value[n], n <= HN_UNTRAINED_VALUES, as kept with this key of at most HN_UNTRAINED_KEY characters.
// A missing list (NULL) is empty.
bool hn_untrained_find(const struct hn_untrained *u, const char *key, int n, double *value);
// Keeps a copy, unless the list is full, missing, or `n` more than it can hold.
void hn_untrained_keep(struct hn_untrained *u, const char *key, int n, const double *value);
void hn_untrained_close(struct hn_untrained *u);
