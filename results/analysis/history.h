// SPDX-License-Identifier: GPL-3.0-or-later
// A metric over past results: `compare --history DIR`.
#pragma once

#include "results/store.h"

// Reads the results files in `folder` and in the folders in it (*.h5; other files of that name are
// left out with a note) into one: /runs with created, commit, sampler and value, the metric's mean
// over the cells that all files have, by sampler and then by time; root attributes metric, units
// and cells. by_name: cells are those of hn_row_setting() and seed, at the last steps, so that
// files of one checkpoint after another have cells in common. Owned by the caller, zeroed on
// failure. HN_DATA: fewer than two files with cells in common; HN_USAGE: no such column.
HN_MUST_USE enum hn_code hn_history_collect(struct hn_context *ctx, const char *folder,
                                            const char *metric, bool by_name,
                                            struct hn_results *out);
