// SPDX-License-Identifier: GPL-3.0-or-later
// Words in braces, in texts of a job, that stand for what a cell has: "mine-{step}-{seed}.npy".
#pragma once

#include "harness/run/plan.h"

enum { HN_WORDS_MAX = 12 };

struct hn_words {
    const char *name[HN_WORDS_MAX]; // borrowed
    const char *text[HN_WORDS_MAX]; // borrowed
    int n;
};

// Adds step, seed, batch_size and dataset of a cell.
HN_MUST_USE enum hn_code hn_words_of_cell(struct hn_context *ctx, const struct hn_plan *plan,
                                          const struct hn_cell *cell, struct hn_words *words);
void hn_words_add(struct hn_words *words, const char *name, const char *text);
// The text with what its words stand for; the caller owns it. NULL: HN_USAGE for an unknown word,
// in `option`.
HN_MUST_USE char *hn_words_put(struct hn_context *ctx, const struct hn_words *words,
                               const char *option, const char *text);
