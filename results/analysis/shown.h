// SPDX-License-Identifier: GPL-3.0-or-later
// Headings, digits and scales of columns of /runs, for page, LaTeX and terminal.
#pragma once

struct hn_shown {
    const char *column;
    const char *heading; // with its unit
    const char *meaning; // for those who point at the heading
    int digits;   // behind the point, of `scale` times the value; HN_SHOWN_IN_UNITS: as suits
    double scale; // 100 for percent
};
// No column of /runs: hn_overview_cost().
#define HN_SHOWN_COST "cost_batch"
enum { HN_SHOWN_IN_UNITS = -1, HN_SHOWN_DIGITS = 3 };

// NULL for a column that no table names. Those of metrics with a heading of their own have
// HN_SHOWN_DIGITS digits.
const struct hn_shown *hn_shown_find(const char *column);
// Digits of the value itself, where percents are shown as shares.
int hn_shown_digits_unscaled(const struct hn_shown *shown);
