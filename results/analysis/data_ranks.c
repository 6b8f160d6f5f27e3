// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks of settings over data sets.
#include "results/analysis/data_ranks.h"
#include "core/rank_tests.h"
#include "results/analysis/shown.h"

#include <math.h>
#include <string.h>

const struct hn_ranked hn_ranked[HN_RANKED] = {
    {"fn_ratio", "False negatives", "the fewest", false},
    {HN_RANKED_AT_BUDGET, "Hardness at +2 points",
     "the hardest of those that have at most 2 points more false negatives than Uniform, by means; "
     "all others share the last rank",
     true},
    {"hard_true_mean", "Hardest true neg.", "the largest", true},
    {"gap", "Gap", "the smallest", false},
    {"accuracy", "Accuracy", "the largest", true},
    {HN_SHOWN_COST, "ms a batch", "the smallest", false}};
static const double budget = 0.02; // excess of false negatives, as a page begins with

static const char *dataset_of(const struct hn_overview *o, int64_t setting) {
    return hn_table_text(&o->results->runs, o->first[setting], "dataset_sha256");
}

static void name_setting(struct hn_data_ranks *k, int64_t s) {
    const struct hn_phrase label = hn_overview_label(k->o, s);
    int64_t l = 0, d = 0;
    while (l < k->labels && strcmp(k->label[l].text, label.text) != 0)
        l++;
    while (d < k->datasets && strcmp(k->dataset[d], dataset_of(k->o, s)) != 0)
        d++;
    if (l == k->labels)
        k->label[k->labels++] = label;
    if (d == k->datasets)
        k->dataset[k->datasets++] = dataset_of(k->o, s);
    k->of[s] = l;
    k->at[s] = d;
}

static bool is_ranked(const struct hn_data_ranks *k, int64_t s, bool per_anchor) {
    return k->of[s] >= 0 && k->o->per_anchor[s] == per_anchor;
}

// True if every data set has the label among settings of that kind of negatives.
static bool is_everywhere(const struct hn_data_ranks *k, int64_t label, bool per_anchor) {
    int64_t n = 0;
    for (int64_t d = 0; d < k->datasets; d++)
        for (int64_t s = 0; s < k->o->settings; s++)
            if (is_ranked(k, s, per_anchor) && k->of[s] == label && k->at[s] == d) {
                n++;
                break;
            }
    return n == k->datasets;
}

// True if every league of that kind has the label, so that none is left out for the lack of it.
static bool is_in_all(const struct hn_data_ranks *k, int64_t label, bool per_anchor) {
    const int64_t *league = k->o->league;
    for (int64_t s = 0; s < k->o->settings; s++) {
        bool found = !is_ranked(k, s, per_anchor);
        for (int64_t e = 0; e < k->o->settings && !found; e++)
            found = k->of[e] == label && league[e] == league[s];
        if (!found)
            return false;
    }
    return true;
}

// Fills common[labels] and returns how many are: those of one kind of negatives, as others are not
// ranked with them, that all leagues have, or, where these are fewer than two, all data sets.
static int64_t find_common(struct hn_data_ranks *k, bool per_anchor, bool leagues) {
    int64_t n = 0;
    for (int64_t l = 0; l < k->labels; l++) {
        k->common[l] = is_everywhere(k, l, per_anchor) && (!leagues || is_in_all(k, l, per_anchor));
        n += k->common[l];
    }
    return n;
}

enum hn_code hn_data_ranks_make(struct hn_context *ctx, const struct hn_overview *o,
                                struct hn_data_ranks *k) {
    int64_t n = o->settings;
    *k = (struct hn_data_ranks){.o = o};
    if (!HN_ALLOC(ctx, k->label, n) || !HN_ALLOC(ctx, k->dataset, n) || !HN_ALLOC(ctx, k->of, n) ||
        !HN_ALLOC(ctx, k->at, n) || !HN_ALLOC(ctx, k->common, n))
        return ctx->code;
    for (int64_t s = 0; s < n; s++) {
        k->of[s] = k->at[s] = -1;
        if (k->o->seeds[s] > 0 && k->o->last[s])
            name_setting(k, s);
    }
    if (find_common(k, false, true) < 2 && find_common(k, false, false) < 2 &&
        find_common(k, true, true) < 2)
        (void)find_common(k, true, false);
    bool good =
        HN_ALLOC(ctx, k->sum, k->labels * k->datasets) && HN_ALLOC(ctx, k->leagues, k->datasets);
    return good ? HN_OK : ctx->code;
}

// Adds a league's ranks if all common settings have a value[labels] there; equal ones share theirs.
static void rank_league(struct hn_data_ranks *k, const struct hn_ranked *by, const double *value,
                        int64_t d) {
    for (int64_t l = 0; l < k->labels; l++)
        if (k->common[l] && isnan(value[l]))
            return;
    for (int64_t l = 0; l < k->labels; l++) {
        double rank = 0.5;
        for (int64_t other = 0; other < k->labels && k->common[l]; other++)
            if (k->common[other])
                rank += value[other] == value[l]                  ? 0.5
                        : (value[other] < value[l]) != by->larger ? 1
                                                                  : 0;
        k->sum[l * k->datasets + d] += rank;
    }
    k->leagues[d]++;
}

// The extremes of false negatives and of hardness say little: what a setting gives for as many
// false negatives as one allows is what it is chosen by. Beyond them it is no choice.
static double at_budget(const struct hn_overview *o, int64_t setting) {
    double excess =
        o->base[setting] == setting ? 0 : hn_overview_to_uniform(o, setting, "fn_ratio").mean;
    if (isnan(excess) || excess > budget)
        return isnan(excess) ? NAN : -INFINITY;
    return hn_overview_mean(o, setting, hn_hardness_measure(o->results, 0)->column).mean;
}

// Neither is a column of results; cost_batch: a batch with its share of the build.
static double value_of(const struct hn_overview *o, int64_t setting, const char *column) {
    if (strcmp(column, HN_RANKED_AT_BUDGET) == 0)
        return at_budget(o, setting);
    return strcmp(column, HN_SHOWN_COST) == 0 ? hn_overview_cost(o, setting).batch
                                              : hn_overview_mean(o, setting, column).mean;
}

enum hn_code hn_data_ranks_by(struct hn_context *ctx, struct hn_data_ranks *k,
                              const struct hn_ranked *by) {
    const struct hn_overview *o = k->o;
    HN_SCOPE(ctx);
    double *value = hn_alloc(ctx, k->labels, sizeof *value);
    if (!value)
        return ctx->code;
    memset(k->sum, 0, (size_t)(k->labels * k->datasets) * sizeof *k->sum);
    memset(k->leagues, 0, (size_t)k->datasets * sizeof *k->leagues);
    for (int64_t s = 0; s < o->settings; s++) {
        bool first = k->of[s] >= 0;
        for (int64_t e = 0; e < s && first; e++)
            first = k->of[e] < 0 || o->league[e] != o->league[s];
        for (int64_t l = 0; l < k->labels; l++)
            value[l] = NAN;
        for (int64_t e = s; e < o->settings && first; e++)
            if (k->of[e] >= 0 && o->league[e] == o->league[s])
                value[k->of[e]] = value_of(o, e, by->column);
        if (first)
            rank_league(k, by, value, k->at[s]);
    }
    return HN_OK;
}

double hn_data_ranks_mean(const struct hn_data_ranks *k, int64_t label) {
    double sum = 0, n = 0;
    for (int64_t d = 0; d < k->datasets; d++)
        if (k->leagues[d] > 0) {
            sum += k->sum[label * k->datasets + d] / k->leagues[d];
            n++;
        }
    return sum / n;
}

int64_t hn_data_ranks_over(const struct hn_data_ranks *k) {
    int64_t n = 0;
    for (int64_t d = 0; d < k->datasets; d++)
        n += k->leagues[d] > 0;
    return n;
}

enum hn_code hn_data_ranks_apart(struct hn_context *ctx, const struct hn_data_ranks *k,
                                 double *apart) {
    int64_t n = 0, blocks = hn_data_ranks_over(k);
    HN_SCOPE(ctx);
    double *rank = hn_alloc(ctx, k->labels * k->datasets, sizeof *rank);
    if (!rank)
        return ctx->code;
    for (int64_t l = 0; l < k->labels; l++)
        for (int64_t d = 0; d < k->datasets; d++)
            if (k->common[l] && k->leagues[d] > 0)
                rank[n++] = k->sum[l * k->datasets + d] / k->leagues[d];
    return hn_ranks_apart(ctx, rank, blocks ? n / blocks : 0, blocks, apart);
}
