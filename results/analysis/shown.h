// SPDX-License-Identifier: GPL-3.0-or-later
// The columns of /runs that tables of settings show: page, terminal, LaTeX and the like all go by
// this one list. Those of metrics with a heading of their own (hn_column) need no entry.
#pragma once

#include <stdbool.h>

// A column that would say the same of all settings is left out.
enum hn_shown_unless { HN_SHOWN_ALWAYS, HN_UNLESS_ZERO, HN_UNLESS_ONE };

struct hn_shown {
    const char *column;
    const char *heading; // with its unit
    const char *meaning; // for those who point at the heading
    int digits;        // behind the point, of `scale` times the value; HN_SHOWN_IN_UNITS: as suits
    double scale;      // 100 for percent
    bool minus;        // the difference to Uniform's stands beside it
    bool alone;        // without intervals
    const char *needs; // only where that axis varies; NULL = always
    enum hn_shown_unless unless;
    const char *beside; // the measure of hardness with which a page shows it; NULL = with all
    // On a terminal: the heading, NULL = it is not there; and of those as suits, how.
    const char *brief;
    struct hn_shown_units {
        int digits;
        double scale;
        const char *unit;
    } units;
    // Which of its columns a terminal that is too narrow does without, those of low numbers first;
    // 0 = none. Those that say how sure a number is come after whole measures.
    struct hn_spared {
        int value, half, minus, minus_half;
    } spared;
    bool half;       // a terminal shows its interval
    bool only_brief; // a page leaves it out
};
// No column of /runs: hn_overview_cost().
#define HN_SHOWN_COST "cost_batch"
enum { HN_SHOWN_IN_UNITS = -1, HN_SHOWN_DIGITS = 3 };

extern const struct hn_shown hn_shown[]; // ends with a NULL column
// NULL for a column that no table names. Those of metrics with a heading of their own have
// HN_SHOWN_DIGITS digits.
const struct hn_shown *hn_shown_find(const char *column);
