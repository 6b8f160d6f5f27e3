// SPDX-License-Identifier: GPL-3.0-or-later
// The front: each point against all others, since equality up to rounding gives no order to sort
// by.
#include "core/front.h"
#include "core/stats.h"

#include <math.h>
#include <stdlib.h>

const char *hn_front_mark(enum hn_standing standing) {
    return standing == HN_ON_FRONT ? "*" : standing == HN_BEATEN_BY_MEANS ? "o" : "";
}

static bool is_ranked(const struct hn_front_point *p) {
    return isfinite(p->low) && isfinite(p->high);
}

static bool beats(const struct hn_front_point *a, const struct hn_front_point *b) {
    double low = hn_beyond_rounding(a->low, b->low), high = hn_beyond_rounding(a->high, b->high);
    return low <= 0 && high >= 0 && (low < 0 || high > 0);
}

void hn_front(const struct hn_front_point *point, int64_t n, hn_front_told *told, const void *of,
              enum hn_standing *standing) {
    for (int64_t i = 0; i < n; i++) {
        standing[i] = is_ranked(&point[i]) ? HN_ON_FRONT : HN_NOT_RANKED;
        for (int64_t k = 0; k < n && standing[i] > HN_BEATEN; k++)
            if (point[k].league == point[i].league && is_ranked(&point[k]) &&
                beats(&point[k], &point[i]))
                standing[i] = !told || told(of, k, i) ? HN_BEATEN : HN_BEATEN_BY_MEANS;
    }
}

static struct hn_front_point point_of(const struct hn_front_stop *s) {
    return (struct hn_front_point){s->value[HN_FRONT_LOW], s->value[HN_FRONT_HIGH], 0};
}

static int by_high(const void *a, const void *b) {
    const struct hn_front_stop *x = a, *y = b;
    double p = x->value[HN_FRONT_HIGH], q = y->value[HN_FRONT_HIGH];
    return (p > q) - (p < q);
}

static bool is_on_front(const struct hn_front_stop *stop, int64_t n, int64_t i) {
    struct hn_front_point own = point_of(&stop[i]);
    bool on = is_ranked(&own);
    for (int64_t k = 0; k < n && on; k++) {
        struct hn_front_point other = point_of(&stop[k]);
        on = !is_ranked(&other) || !beats(&other, &own);
    }
    return on;
}

int64_t hn_front_line(struct hn_front_stop *stop, int64_t n) {
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++)
        if (is_on_front(stop, n, i)) {
            struct hn_front_stop own = stop[i];
            stop[i] = stop[kept];
            stop[kept++] = own;
        }
    qsort(stop, (size_t)kept, sizeof *stop, by_high);
    return kept;
}

double hn_front_at(const struct hn_front_stop *stop, int64_t n, enum hn_front_quantity at,
                   double value, enum hn_front_quantity wanted) {
    for (int64_t i = 0; i + 1 < n; i++) {
        const double *low = stop[i].value, *high = stop[i + 1].value;
        if (value < low[at] || value > high[at] || !(high[at] > low[at]))
            continue;
        double share = (value - low[at]) / (high[at] - low[at]);
        return low[wanted] + share * (high[wanted] - low[wanted]);
    }
    return NAN;
}
