// SPDX-License-Identifier: GPL-3.0-or-later
// A picture of points with labels and intervals.
#pragma once

#include "core/context.h"
#include <stdio.h>

struct hn_html_points {
    const char *name, *axis;    // of y and x
    const double *x, *y, *half; // [n] half: of the interval of y, 0 = none
    const char *const *label;   // [n]
    int64_t n;
    double scale; // by which the axis shows x
};
HN_MUST_USE enum hn_code hn_html_points(FILE *html, struct hn_context *ctx,
                                        const struct hn_html_points *q);
