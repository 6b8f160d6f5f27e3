// SPDX-License-Identifier: GPL-3.0-or-later
// Options of samplers as results hold them: canonical text "K=100, M=500". And short names.
#pragma once

#include "core/options/option.h"
#include "core/table.h"

struct hn_phrase; // core/text.h

// A label holds a sampler with all its options, as figures tell settings apart by it; a title the
// name of any file.
enum { HN_LABEL_SIZE = 256, HN_TITLE_SIZE = 320 };

// The number of an option, NaN if it is not there or not a number ("0.2~0.05").
double hn_option_number(const char *params, const char *option);
// True if a row of /runs is of a finished cell.
bool hn_row_is_ok(const struct hn_table *runs, int64_t row);
// True if the sampler of a row of /runs gives every anchor negatives of its own.
bool hn_row_is_per_anchor(const struct hn_table *runs, int64_t row);
// True if a row of /runs has the option with this value.
bool hn_row_has(const struct hn_table *runs, int64_t row, const char *option, const char *value);
// True if two rows of any table have the same texts and numbers in these columns (NULL-terminated).
bool hn_rows_agree(const struct hn_table *t, int64_t a, int64_t b, const char *const *column);

// The text of a cell, or its number in nine digits.
struct hn_phrase hn_cell_text(const struct hn_table *t, int64_t row, const char *column);
// The name of a data set without folders and ending.
struct hn_phrase hn_dataset_title(const char *dataset);

// True for the sampler uniform, whatever its options.
bool hn_is_named_uniform(const char *sampler);
// True if another program chose the batches of a sampler of that name: its work was not counted.
bool hn_is_given(const char *sampler);
// True for the baseline: the sampler uniform, without an option that keeps tuples of a batch apart.
bool hn_is_uniform(const char *sampler, const char *params);
