// SPDX-License-Identifier: GPL-3.0-or-later
// Replicates: cells that differ by their seed alone. Which these are, and when an interval is over
// them, is decided here for settings, trainings, histories, `choose` and claims.
#pragma once

#include "core/context.h"

// Replicates of an interval. Seeds are independent: each draws its batches, and builds its sampler,
// anew. Batches of one seed share a build, so their interval says nothing of other builds: it is
// given only where fewer than three seeds leave no other, and batches differ.
enum hn_over { HN_OVER_NOTHING, HN_OVER_BATCHES, HN_OVER_SEEDS };

// Returns over what the interval of a value of so many seeds is. Student's quantile of two is 12.7.
enum hn_over hn_over_of(int64_t seeds);

// Cells of one setting in the order of their seeds: row[n], borrowed.
struct hn_replicates {
    const int64_t *row;
    int64_t n;
};

// Order of n cells, called by their numbers: below, at or above 0.
struct hn_grouping {
    const void *of;                                       // borrowed, handed to both
    int (*setting)(const void *of, int64_t a, int64_t b); // 0: they are of one setting
    int (*seed)(const void *of, int64_t a, int64_t b);    // of two cells of one setting
};

// Cells by setting. Settings are numbered in the order of their first cells.
struct hn_replicate_sets {
    int64_t *of;          // [n] the setting of each cell
    int64_t *row, *start; // [n], [sets + 1]: cells row[start[s] .. start[s + 1]) are those of set
                          // s, by seed, and those of one seed by number
    int64_t sets;
};
HN_MUST_USE enum hn_code hn_replicates_find(struct hn_context *ctx, int64_t n,
                                            struct hn_grouping by, struct hn_replicate_sets *out);
// Returns the cells of set `set`.
struct hn_replicates hn_replicates_at(const struct hn_replicate_sets *sets, int64_t set);
