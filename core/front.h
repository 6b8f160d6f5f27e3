// SPDX-License-Identifier: GPL-3.0-or-later
// The front of points that should be low in one measure and high in another: settings by their
// false negatives and their hardness. Table, terminal, figures and `price` all ask here.
#pragma once

#include "core/context.h"

struct hn_front_point {
    double low, high; // the measures by which less, and more, is better; both finite, or no rank
    int64_t league;   // points of different leagues are not compared
};

// By means one point beats another if it is better in one measure and no worse in the other, where
// values that rounding may have made different are equal.
enum hn_standing {
    HN_NOT_RANKED,      // a measure is missing
    HN_BEATEN,          // some point beats it by means, and that is no chance
    HN_BEATEN_BY_MEANS, // some point beats it by means, and each time that may be chance
    HN_ON_FRONT         // no point beats it by means
};

// "*" on the front, "o" where that is undecided, "" else.
const char *hn_front_mark(enum hn_standing standing);

// True if it is no chance that point `better` beats point `worse` by means.
typedef bool hn_front_told(const void *of, int64_t better, int64_t worse);

// standing[n] of point[n]. told: NULL = means are exact, so that none is HN_BEATEN_BY_MEANS.
void hn_front(const struct hn_front_point *point, int64_t n, hn_front_told *told, const void *of,
              enum hn_standing *standing);

// The line through a front: its points with the lowest first, and straight lines in between, which
// mixing batches of two settings nearly attains.
enum hn_front_quantity { HN_FRONT_HIGH, HN_FRONT_LOW, HN_FRONT_COST, HN_FRONT_QUANTITIES };
struct hn_front_stop {
    double value[HN_FRONT_QUANTITIES]; // any cost, which does not decide
};
// Puts those of stop[n] that are on their front first, the least high of them first, and returns
// their number: equal points stay, those without a measure do not.
int64_t hn_front_line(struct hn_front_stop *stop, int64_t n);
// The value of quantity `wanted` of a line of n stops where quantity `at` has this value; NaN
// beyond its ends.
double hn_front_at(const struct hn_front_stop *stop, int64_t n, enum hn_front_quantity at,
                   double value, enum hn_front_quantity wanted);
