// SPDX-License-Identifier: GPL-3.0-or-later
// The schema `hardneg-results` version 1, for its writer and its readers.
#pragma once

#include "datasets/h5.h"
#include "results/store.h"

// The remedy for a file that is refused.
#define HN_STORE_MEND "make it again with hardneg run or train"

#define HN_STORE_SCHEMA "hardneg-results"
enum { HN_STORE_VERSION = 1 };

// The dimension scale of a table's rows: no column may have this name.
#define HN_STORE_ROW "row"

// True if the splits rise from 0.
bool hn_store_rises(const int64_t *split, int64_t n);

// Tables that stand at the root; every other table of a file stands in /tables.
#define HN_STORE_AT_ROOT HN_COLUMNS("snapshots", "training")
// HN_DATA if the file at `path`, read without a fault, holds what no run writes (store_check.c).
HN_MUST_USE enum hn_code hn_results_check(struct hn_context *ctx, const char *path,
                                          const struct hn_results *r);
