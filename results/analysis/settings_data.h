// SPDX-License-Identifier: GPL-3.0-or-later
// Settings as data (docs/reference/commands.md): where each was measured, means over its seeds with
// their 95 % intervals, and differences to Uniform, paired by seed.
#pragma once

#include "results/analysis/overview.h"

#include <jansson.h>

// A record a setting. HN_NOT_APPLICABLE: there is no cell. *rows is the caller's, NULL on failure.
HN_MUST_USE enum hn_code hn_settings_json(struct hn_context *ctx, const struct hn_results *r,
                                          json_t **rows);
// The same for tables of data, with a column of each option at the end.
HN_MUST_USE enum hn_code hn_settings_data(struct hn_context *ctx, const struct hn_results *r,
                                          json_t **rows);
// True if a key of these rows is for people: what tells settings apart, and the measures that
// tables of settings show (hn_shown) with their intervals and, where tables have it, their
// difference to Uniform.
bool hn_settings_is_shown(const struct hn_table *runs, const char *key);
