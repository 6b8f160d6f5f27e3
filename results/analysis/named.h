// SPDX-License-Identifier: GPL-3.0-or-later
// Settings that a user names as tables and figures do: "uniform, knn, batchsampler M=500, B=64".
#pragma once

#include "results/analysis/overview.h"

// True if a setting has a value in a column of /runs; of params: at least these options; of
// dataset: with or without folder and ending.
bool hn_overview_has(const struct hn_overview *o, int64_t setting, const char *column,
                     const char *value);

// True if a setting is among `names`, separated by commas (NULL: all are). A name is a sampler and
// options, "NAME=VALUE": of the sampler, its weighting, or columns of /runs, B for batch_size.
// Options behind a comma belong to the name before them. A name means all settings that have its
// options; without a sampler, of any.
bool hn_overview_is_named(const struct hn_overview *o, int64_t setting, const char *names);

// HN_USAGE for a name that no setting has, with those there are.
HN_MUST_USE enum hn_code hn_overview_check_names(struct hn_context *ctx, const struct hn_results *r,
                                                 const char *names);
