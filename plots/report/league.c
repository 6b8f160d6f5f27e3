// SPDX-License-Identifier: GPL-3.0-or-later
// The settings of a page that are compared with each other, and what holds among them.
#include "plots/report/league.h"

#include <math.h>
#include <string.h>

enum { SEEDS_MIN = 3 };

struct hn_mean hn_league_mean(const struct hn_league *p, int64_t s, const char *column) {
    return hn_overview_mean(p->o, s, column);
}

struct hn_mean hn_league_difference(const struct hn_league *p, int64_t s, int64_t to,
                                    const char *column) {
    return hn_mean_among_pairs(hn_overview_difference(p->o, s, to, column), p->compared);
}

struct hn_mean hn_league_excess(const struct hn_league *p, int64_t s, const char *column) {
    return hn_mean_among(hn_overview_to_uniform(p->o, s, column), p->compared);
}

static bool is_member(const struct hn_league *p, int64_t s) {
    return p->o->league[p->first] == p->o->league[s] &&
           isfinite(hn_league_mean(p, s, p->hardness->column).mean);
}

// Equal in every seed.
static bool is_equal(const struct hn_overview *o, int64_t a, int64_t b, const char *column) {
    struct hn_mean one = hn_overview_mean(o, a, column), other = hn_overview_mean(o, b, column);
    if (isnan(one.mean) && isnan(other.mean))
        return true;
    if (one.n != other.n || one.mean < other.mean || one.mean > other.mean)
        return false;
    struct hn_mean d = hn_overview_difference(o, a, b, column);
    return d.n == one.n && !(fabs(d.mean) > 0) && (d.over != HN_OVER_SEEDS || !(d.half > 0));
}

bool hn_league_is_twin(const struct hn_league *p, int64_t s) {
    const char *sampler = hn_overview_sampler(p->o, s);
    for (int64_t k = p->first; k < s; k++)
        if (strcmp(hn_overview_sampler(p->o, k), sampler) == 0 && is_member(p, k) &&
            is_equal(p->o, s, k, p->hardness->column) && is_equal(p->o, s, k, "fn_ratio"))
            return true;
    return false;
}

bool hn_league_has(const struct hn_league *p, int64_t s) {
    return is_member(p, s) && !hn_league_is_twin(p, s);
}

enum hn_within hn_league_judge(const struct hn_league *p, int64_t s, double budget) {
    return hn_judge(hn_league_excess(p, s, "fn_ratio"), budget);
}

bool hn_league_is_harder(const struct hn_league *p, int64_t s) {
    return hn_told_apart(hn_league_excess(p, s, p->hardness->column), true) > 0;
}

int64_t hn_league_hardest(const struct hn_league *p, double budget) {
    int64_t best = -1;
    for (int64_t s = 0; s < p->o->settings; s++)
        if (is_member(p, s) &&
            (isnan(budget) ||
             (hn_league_is_harder(p, s) && hn_league_judge(p, s, budget) == HN_WITHIN)) &&
            (best < 0 || hn_league_mean(p, s, p->hardness->column).mean >
                             hn_league_mean(p, best, p->hardness->column).mean))
            best = s;
    return best;
}

// alike: or is harder by less than the margin.
static bool all_beyond(const struct hn_league *p, double budget, bool alike) {
    for (int64_t s = 0; s < p->o->settings; s++)
        if (is_member(p, s) && s != p->uniform && hn_league_judge(p, s, budget) != HN_BEYOND &&
            !(alike && hn_judge(hn_league_excess(p, s, p->hardness->column), HN_HARDNESS_MARGIN) ==
                           HN_WITHIN))
            return false;
    return true;
}

bool hn_league_all_beyond(const struct hn_league *p, double budget) {
    return all_beyond(p, budget, false);
}

bool hn_league_uniform_will_do(const struct hn_league *p, double budget) {
    return !hn_league_is_cramped(p) && all_beyond(p, budget, true);
}

bool hn_league_is_cramped(const struct hn_league *p) {
    return hn_league_mean(p, p->uniform, p->hardness->column).mean > 1 - HN_HARDNESS_MARGIN;
}

bool hn_league_begins(const struct hn_overview *o, int64_t s) {
    for (int64_t k = 0; k < s; k++)
        if (o->last[k] &&
            hn_rows_agree(&o->results->runs, o->first[k], o->first[s],
                          HN_COLUMNS("dataset", "batch_size")) &&
            o->per_anchor[k] == o->per_anchor[s])
            return false;
    return o->last[s];
}

struct hn_league hn_league_make(const struct hn_overview *o, const struct hn_hardness *hardness,
                                double margin, int64_t first) {
    struct hn_league p = {o, first, o->base[first], 0, hardness};
    for (int b = 0; b < HN_BUDGETS; b++)
        p.budget[b] = fmax(margin, (double[HN_BUDGETS]){0, 0.02, 0.1}[b]);
    p.judged = p.uniform >= 0 && o->seeds[p.uniform] >= SEEDS_MIN;
    for (int64_t k = 0; k < o->settings; k++) {
        p.compared += k != p.uniform && hn_league_has(&p, k);
        p.judged |= p.uniform < 0 && is_member(&p, k) && o->seeds[k] >= SEEDS_MIN;
    }
    return p;
}
