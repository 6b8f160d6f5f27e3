// SPDX-License-Identifier: GPL-3.0-or-later
// Settings that are compared with each other, and what holds among them.
#include "results/analysis/league.h"

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

// Equal in every seed, cell by cell: an interval of differences that are all 0 may be wide, as it
// learns from other settings.
static bool is_equal(const struct hn_overview *o, int64_t a, int64_t b, const char *column) {
    struct hn_replicates one = hn_overview_cells(o, a), other = hn_overview_cells(o, b);
    bool equal = one.n == other.n;
    for (int64_t i = 0; i < one.n && equal; i++) {
        const struct hn_table *runs = &o->results->runs;
        double x = hn_table_real(runs, one.row[i], column),
               y = hn_table_real(runs, other.row[i], column);
        int64_t seeds[] = {hn_whole(hn_table_real(runs, one.row[i], "seed"), -1),
                           hn_whole(hn_table_real(runs, other.row[i], "seed"), -1)};
        equal = seeds[0] == seeds[1] && (isnan(x) ? isnan(y) : !(x < y) && !(x > y) && !isnan(y));
    }
    return equal;
}

int64_t hn_league_twin(const struct hn_league *p, int64_t s) {
    const char *sampler = hn_overview_sampler(p->o, s);
    for (int64_t k = p->first; k < s && is_member(p, s); k++)
        if (strcmp(hn_overview_sampler(p->o, k), sampler) == 0 && is_member(p, k) &&
            is_equal(p->o, s, k, p->hardness->column) && is_equal(p->o, s, k, "fn_ratio"))
            return k;
    return -1;
}

bool hn_league_has(const struct hn_league *p, int64_t s) {
    return is_member(p, s) && hn_league_twin(p, s) < 0;
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

// True if they are compared at the last step, where weightings are alike.
static bool is_beside(const struct hn_overview *o, int64_t a, int64_t b) {
    return o->per_anchor[a] == o->per_anchor[b] &&
           hn_rows_agree(&o->results->runs, o->first[a], o->first[b],
                         HN_COLUMNS("dataset", "batch_size"));
}

// The first of those beside it, of the last step; -1 = none.
static int64_t first_beside(const struct hn_overview *o, int64_t s) {
    for (int64_t k = 0; k < o->settings; k++)
        if (o->last[k] && is_beside(o, k, s))
            return k;
    return -1;
}

bool hn_league_begins(const struct hn_overview *o, int64_t s) {
    return o->last[s] && first_beside(o, s) == s;
}

int64_t hn_league_first(const struct hn_overview *o, int64_t s) {
    int64_t first = first_beside(o, s);
    bool alike = first >= 0 &&
                 hn_rows_agree(&o->results->runs, o->first[first], o->first[s],
                               HN_COLUMNS("loss", "weighting", "weighting_params", "temperature"));
    return alike ? first : -1;
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

bool hn_league_has_excess(const struct hn_league *p) {
    bool any = false;
    for (int64_t s = 0; s < p->o->settings && !any; s++)
        any = hn_league_has(p, s) && isfinite(hn_league_excess(p, s, "fn_ratio").mean);
    return any;
}

bool hn_league_is_tabled(const struct hn_league *p) {
    return p->judged && hn_league_has_excess(p) &&
           isfinite(hn_league_mean(p, p->uniform, p->hardness->column).mean);
}

bool hn_league_ties(const struct hn_league *p, int64_t s, int64_t best, double budget) {
    return s != best && s != p->uniform && hn_league_has(p, s) &&
           (isnan(budget) || hn_league_judge(p, s, budget) == HN_WITHIN) &&
           hn_told_apart(hn_league_difference(p, s, best, p->hardness->column), true) == 0;
}

struct hn_answer hn_league_answer(const struct hn_league *p, double budget) {
    bool needless = hn_league_uniform_will_do(p, budget);
    int64_t best = needless ? -1 : hn_league_hardest(p, budget);
    if (best >= 0 &&
        hn_judge(hn_league_excess(p, best, p->hardness->column), HN_HARDNESS_MARGIN) == HN_WITHIN)
        best = -1;
    return (struct hn_answer){best, hn_league_all_beyond(p, budget) ? HN_NONE_WITHIN
                                    : needless                      ? HN_NONE_NEEDED
                                                                    : HN_NONE_OPEN};
}

// It is an end of an interval.
double hn_league_next_budget(const struct hn_league *p, double at) {
    double next = INFINITY;
    for (int64_t s = 0; s < p->o->settings; s++) {
        if (!hn_league_has(p, s))
            continue;
        struct hn_mean d = hn_league_excess(p, s, "fn_ratio");
        next = d.hi > at && d.hi < next ? d.hi : next;
        next = d.lo > at && d.lo < next ? d.lo : next;
    }
    return next;
}

bool hn_league_is_repeated(const struct hn_league *p, double budget, double next) {
    bool same = hn_league_hardest(p, budget) < 0;
    for (int64_t s = 0; s < p->o->settings && same; s++) {
        enum hn_within is = hn_league_judge(p, s, budget);
        bool open = is == HN_UNDETERMINED && hn_league_is_harder(p, s) &&
                    hn_league_excess(p, s, "fn_ratio").mean <= next;
        same = !hn_league_has(p, s) || (is == hn_league_judge(p, s, next) && !open);
    }
    return same;
}

// Inserts one in order among the n so far, of which the first HN_UNCERTAIN_MAX are kept.
static void insert(struct hn_uncertain named[HN_UNCERTAIN_MAX], int n, struct hn_uncertain of) {
    int at = n < HN_UNCERTAIN_MAX ? n : HN_UNCERTAIN_MAX;
    for (; at > 0 && of.seeds > 0 && (named[at - 1].seeds == 0 || named[at - 1].seeds > of.seeds);
         at--)
        if (at < HN_UNCERTAIN_MAX)
            named[at] = named[at - 1];
    if (at < HN_UNCERTAIN_MAX)
        named[at] = of;
}

int hn_league_uncertain(const struct hn_league *p, int64_t best, double budget, bool harder,
                        struct hn_uncertain named[HN_UNCERTAIN_MAX]) {
    const char *column = p->hardness->column;
    double hardest = best < 0 ? -INFINITY : hn_league_mean(p, best, column).mean;
    int n = 0;
    for (int64_t s = 0; s < p->o->settings; s++) {
        if (!hn_league_has(p, s) || hn_league_is_harder(p, s) != harder)
            continue;
        struct hn_mean fn = hn_league_excess(p, s, "fn_ratio"),
                       hard = hn_league_excess(p, s, column), d = harder ? fn : hard;
        bool plausible = fn.mean <= budget && hard.mean > 0,
             open = harder ? hn_judge(fn, budget) == HN_UNDETERMINED &&
                                 hn_league_mean(p, s, column).mean > hardest
                           : hn_judge(hard, HN_HARDNESS_MARGIN) != HN_WITHIN;
        if (plausible && open)
            insert(named, n++, (struct hn_uncertain){s, hn_judge_seeds(d, harder ? budget : 0), d});
    }
    return n;
}
