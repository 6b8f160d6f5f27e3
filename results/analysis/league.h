// SPDX-License-Identifier: GPL-3.0-or-later
// Samplers that are ranked with each other: those of a data set's last step with one batch size and
// kind of negatives. The answers that they give to budgets of false negatives.
//
// Intervals over seeds decide: a sampler is within a budget if the upper end of its excess is, and
// harder than another if the paired difference lies above 0. They hold for all samplers together
// (hn_mean_among()), of which one is picked. Fewer than three seeds name none: the batches of a
// seed share a build, and do not show how builds vary.
#pragma once

#include "results/analysis/overview.h"

enum { HN_BUDGETS = 3 };

// Loss, weighting and temperature change no batch.
struct hn_league {
    const struct hn_overview *o;
    int64_t first, uniform; // settings; uniform: -1 = none
    int64_t compared;       // settings among which one is picked
    const struct hn_hardness *hardness;
    double budget[HN_BUDGETS]; // of the excess over Uniform's ratio, increasing
    bool judged;               // enough seeds for intervals
};

// The league that begins with setting `first`. margin: of the ratio, what still counts as no more
// false negatives (results/analysis/means.h).
struct hn_league hn_league_make(const struct hn_overview *o, const struct hn_hardness *hardness,
                                double margin, int64_t first);
// True if a league begins with that setting.
bool hn_league_begins(const struct hn_overview *o, int64_t s);
// Returns the first setting of the league that a setting is of but for its step; -1 = none.
int64_t hn_league_first(const struct hn_overview *o, int64_t s);

// True if the setting is of the league, has hardness, and is no twin of one before it.
bool hn_league_has(const struct hn_league *p, int64_t s);
// Returns an earlier setting of its sampler with the same values in each seed, as of an option that
// does not touch it; -1: none.
int64_t hn_league_twin(const struct hn_league *p, int64_t s);
// Values, and differences to Uniform's with intervals that hold for all samplers together.
struct hn_mean hn_league_mean(const struct hn_league *p, int64_t s, const char *column);
struct hn_mean hn_league_excess(const struct hn_league *p, int64_t s, const char *column);
struct hn_mean hn_league_difference(const struct hn_league *p, int64_t s, int64_t to,
                                    const char *column);
enum hn_within hn_league_judge(const struct hn_league *p, int64_t s, double budget);
bool hn_league_is_harder(const struct hn_league *p, int64_t s);
// The hardest that is harder than Uniform and within the budget (NAN: of all), -1 = none.
int64_t hn_league_hardest(const struct hn_league *p, double budget);
// True if none within the budget is harder by HN_HARDNESS_MARGIN, so that Uniform will do.
bool hn_league_uniform_will_do(const struct hn_league *p, double budget);
// True if every sampler but Uniform has more false negatives than the budget allows.
bool hn_league_all_beyond(const struct hn_league *p, double budget);
// True if an excess of false negatives over Uniform's is known.
bool hn_league_has_excess(const struct hn_league *p);
// True if budgets are answered: seeds enough, Uniform beside, false negatives known.
bool hn_league_is_tabled(const struct hn_league *p);
// True if no cosine is high enough for one to be harder by the margin.
bool hn_league_is_cramped(const struct hn_league *p);
// True if setting s is within the budget (NAN: any) and `best` is not significantly harder.
bool hn_league_ties(const struct hn_league *p, int64_t s, int64_t best, double budget);

// The setting to take within a budget of false negatives, or why there is none to name.
struct hn_answer {
    int64_t setting; // -1 = none
    enum hn_answer_none { HN_NONE_OPEN, HN_NONE_NEEDED, HN_NONE_WITHIN } none;
};
// One that is shown to be harder by less than the margin is no reason to leave Uniform.
struct hn_answer hn_league_answer(const struct hn_league *p, double budget);
// Returns the next budget above `at` at which an answer may change, INFINITY after the last one.
double hn_league_next_budget(const struct hn_league *p, double at);
// True if the two budgets have one sentence: no sampler is named, nor judged otherwise at the next.
bool hn_league_is_repeated(const struct hn_league *p, double budget, double next);

// A setting of which the seeds do not show on which side of a limit it is.
struct hn_uncertain {
    int64_t setting, seeds; // seeds that would show it; 0 = too many, or unknown
    struct hn_mean difference;
};
enum { HN_UNCERTAIN_MAX = 3 };
// Settings that by their means belong in a budget's answer, and more seeds may put there. harder:
// those shown to be harder that are within the budget by their mean alone; else those within it or
// not shown to be beyond that are harder by their mean alone. Returns how many; the first are in
// `named`, those that few seeds would decide first.
int hn_league_uncertain(const struct hn_league *p, int64_t best, double budget, bool harder,
                        struct hn_uncertain named[HN_UNCERTAIN_MAX]);
