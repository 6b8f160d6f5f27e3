// SPDX-License-Identifier: GPL-3.0-or-later
// Samplers that are ranked with each other on a page: those of a data set's last step with one
// batch size and kind of negatives. What the table of answers and the sentences below it say.
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

// The league that begins with setting `first`. margin: as in hn_html_answer().
struct hn_league hn_league_make(const struct hn_overview *o, const struct hn_hardness *hardness,
                                double margin, int64_t first);
// True if a league of the page begins with that setting.
bool hn_league_begins(const struct hn_overview *o, int64_t s);

// True if the setting is of the league, has hardness, and is no twin of one before it.
bool hn_league_has(const struct hn_league *p, int64_t s);
// A setting with the values of an earlier one of its sampler in each seed: an option that does not
// touch it.
bool hn_league_is_twin(const struct hn_league *p, int64_t s);
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
// True if budgets are answered: seeds enough, Uniform beside, false negatives known.
bool hn_league_is_tabled(const struct hn_league *p);
// True if no cosine is high enough for one to be harder by the margin.
bool hn_league_is_cramped(const struct hn_league *p);
