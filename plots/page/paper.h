// SPDX-License-Identifier: GPL-3.0-or-later
// Published numbers, claims and the jobs that test them, part of the program: it needs no file.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Text of plots/paper/<name> ("bs.yaml"), of harness/jobs/reproduce/ for "jobs/<name>", or NULL.
const char *hn_paper_text(const char *name);
// Name of file number i, in alphabetical order of the folders' names; NULL beyond the last.
const char *hn_paper_name(int64_t i);

// A number that a paper prints: a row of plots/paper/<id>.tsv. Texts are cut to fit.
struct hn_published {
    char series[64], x[64], unit[32], table[64];
    double value, deviation; // deviation: NaN where none is printed
};
// Goes through the rows: *rest is hn_published_text(id) at first. False at the end.
const char *hn_published_text(const char *id); // "" if the paper prints none
bool hn_published_next(const char **rest, struct hn_published *out);
// The first number with this series and x; false if there is none.
bool hn_paper_number(const char *id, const char *series, const char *x, struct hn_published *out);
