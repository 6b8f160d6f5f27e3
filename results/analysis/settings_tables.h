// SPDX-License-Identifier: GPL-3.0-or-later
// Settings as tables (results/records.h): a record of each, the columns of a page and of a
// terminal, and the table of a paper.
#pragma once

#include "results/analysis/overview.h"
#include "results/records.h"

// The record of a setting, which is the caller's: "setting" (its number), "sampler", "label", its
// axes by name, "seeds", "front" (a mark), and of each column that is shown its mean by the
// column's name, and the difference to Uniform's by that and " minus".
json_t *hn_setting_record(const struct hn_overview *o, int64_t setting);

// The column of a measure that tables name (hn_shown), without those to Uniform.
struct hn_record_column hn_setting_column(const struct hn_overview *o, const char *column);
enum { HN_SETTING_COLUMNS = 80 }; // of measures
// The columns that say something of these records, column[n] of HN_SETTING_COLUMNS, as a page shows
// them.
HN_MUST_USE enum hn_code hn_setting_columns(struct hn_context *ctx, const struct hn_overview *o,
                                            const json_t *records, struct hn_record_column *column,
                                            int *n);
// Those of a terminal. spared[n]: which it does without, low numbers first, 0 = never.
HN_MUST_USE enum hn_code
hn_setting_brief_columns(struct hn_context *ctx, const struct hn_overview *o, const json_t *records,
                         struct hn_record_column *column, int *spared, int *n);

// Prints settings at each file's last step, a league's hardest first, with letters of ties.
// HN_NOT_APPLICABLE without a cell.
HN_MUST_USE enum hn_code hn_settings_print(struct hn_context *ctx, const struct hn_results *r,
                                           const struct hn_record_format *format, FILE *out);
