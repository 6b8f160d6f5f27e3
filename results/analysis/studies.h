// SPDX-License-Identifier: GPL-3.0-or-later
// The table of a study as settings: rows that differ by step, seed and what the study measures
// alone are of one setting, and only these may be averaged.
#pragma once

#include "results/analysis/params.h"
#include "results/store.h"

struct hn_phrase; // core/text.h

struct hn_study_settings {
    const struct hn_table *table;   // borrowed, as `studies`
    const struct hn_table *studies; // whose row says the options; NULL in tables made by hand
    int64_t *of;                    // [table.rows] the setting of each row
    int64_t *first;                 // [settings] its first row
    int64_t settings;
};

// Settings are told apart by data set, options of the study, batch size and temperature. Owned by
// the current owner.
HN_MUST_USE enum hn_code hn_study_settings_make(struct hn_context *ctx, const struct hn_results *r,
                                                const struct hn_table *table,
                                                struct hn_study_settings *out);
// "cifar10, M=500, B=32": what tells it from the others, "" where there are none, without the
// columns and options in `said` (NULL-terminated).
struct hn_phrase hn_study_label(const struct hn_study_settings *s, int64_t setting,
                                const char *const *said);
