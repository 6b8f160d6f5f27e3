// SPDX-License-Identifier: GPL-3.0-or-later
// /runs as a table of settings, which page, terminal and sentences go by: cells that differ by
// their seed alone are one row, and every axis of the grid that varies is a column.
#pragma once

#include "core/front.h"
#include "results/analysis/means.h"
#include "results/analysis/params.h"
#include "results/analysis/spread.h"

#include <stdbool.h>
#include <stdint.h>

struct hn_phrase; // core/text.h

enum { HN_GRID_AXES = 24, HN_HEADED_MAX = 16, HN_LEARNED = 5 };

// Something in which settings differ, besides the sampler.
struct hn_grid_axis {
    char name[HN_LABEL_SIZE]; // as in the results: "dataset", "step", "alpha"
    const char *column;       // of /runs: of that name, or the text "K=100, M=500" with the option
};

struct hn_overview {
    const struct hn_results *results; // borrowed; they do not change afterwards
    struct hn_grid_axis axis[HN_GRID_AXES];
    int axes;
    // Columns of /runs with a heading and a value, of metrics that tables do not name.
    const struct hn_column *headed[HN_HEADED_MAX];
    int n_headed;
    int64_t *first, *base; // [settings] its first finished cell, else its first; the setting
                           // `uniform` that differs by the sampler alone, -1 = none
    // [settings] The first setting that it is ranked with: they differ at most by sampler and
    // options, and both have whole batches as negatives, or both negatives of each anchor.
    int64_t *league;
    int64_t *seeds;   // [settings] finished cells
    bool *per_anchor; // [settings] its sampler gives every anchor negatives of its own: `mined`
    enum hn_standing *standing; // [settings] hn_overview_front() by the first measure of hardness
    bool *last;                 // [settings] its step is the last one of its file
    // Learned from one another, in false negatives and measures of hardness, by settings of one
    // base and kind of negatives; and [settings] hn_replicates_noise() of false negatives, and of
    // mean cosines.
    struct hn_learned {
        struct hn_prior to_base, pairs;
    } * learned[HN_LEARNED]; // [settings]
    double *noise[2];
    struct hn_mean **mean; // [columns of /runs] hn_overview_mean() of those that tables show, by
                           // setting; NULL: it is not kept
    struct hn_replicate_sets cells;
    int64_t settings, columns; // settings: cells.sets
    struct hn_identity {       // a column by which cells are told apart
        int column;
        // The first is of where and how is measured; then the columns `weighting` and `sampler` and
        // their options; last no identity, but known of each cell: the steps that a training did.
        enum hn_identity_kind { HN_OF_PROBLEM, HN_OF_WEIGHTING, HN_OF_SAMPLER, HN_OUTCOME } kind;
        int64_t values; // different ones, "" and NaN aside
    } * identity;       // [columns]
    int32_t *same;      // [cells x columns] first cell with the same value
};

// HN_NOT_APPLICABLE if the file has no cell.
HN_MUST_USE enum hn_code hn_overview_make(struct hn_context *ctx, const struct hn_results *r,
                                          struct hn_overview *out);

// True if an axis of that name varies.
bool hn_overview_varies(const struct hn_overview *o, const char *axis);
// The value of an axis, "" where it does not apply; data sets without folders and ending.
struct hn_phrase hn_overview_value(const struct hn_overview *o, int64_t setting, const char *axis);
// "step 1000, loss ntxent": what all settings have alike to which it applies.
struct hn_phrase hn_overview_common(const struct hn_overview *o);
// "K=100, M=500": options that all settings of this one's sampler have alike.
struct hn_phrase hn_overview_shared(const struct hn_overview *o, int64_t setting);
// True for the first setting of its sampler.
bool hn_overview_leads(const struct hn_overview *o, int64_t setting);
const char *hn_overview_sampler(const struct hn_overview *o, int64_t setting);
// "batchsampler M=500, alpha=0.5": the sampler, and its options that vary.
struct hn_phrase hn_overview_label(const struct hn_overview *o, int64_t setting);
// True if they differ at most by sampler, weighting and the options of both.
bool hn_overview_same_problem(const struct hn_overview *o, int64_t a, int64_t b);
// The setting of the cell to which a row of a further table belongs, by its column `run`; -1: none.
int64_t hn_overview_setting(const struct hn_overview *o, const struct hn_table *t, int64_t row);
// All cells of a setting by seed, unfinished ones among them.
struct hn_replicates hn_overview_cells(const struct hn_overview *o, int64_t setting);

// A column's mean over finished cells; its difference to another setting's, paired by seed. That of
// false negatives and hardness among settings of one base has the interval of hn_mean_moderated().
struct hn_mean hn_overview_mean(const struct hn_overview *o, int64_t setting, const char *column);
struct hn_mean hn_overview_difference(const struct hn_overview *o, int64_t a, int64_t b,
                                      const char *column);
// To its base, hn_no_mean for Uniform itself and without one. More is learned for it.
struct hn_mean hn_overview_to_uniform(const struct hn_overview *o, int64_t setting,
                                      const char *column);
// The cost of a batch in seconds, means over cells: drawing it, and its share of building, which is
// for `every` batches: the sampler's t, else an epoch. NaN: not known, or not built.
struct hn_cost {
    double batch; // both
    double draw, build, every;
};
struct hn_cost hn_overview_cost(const struct hn_overview *o, int64_t setting);
// "draw 0.12 ms, build 23.5 ms every 100 batches"; "" where nothing is known.
struct hn_phrase hn_cost_parts(struct hn_cost cost);
// A measure of hardness.
struct hn_hardness {
    // A column of /runs; "mean cosine of true negatives"; of an axis; as it is called where
    // measures are chosen.
    const char *column, *name, *axis, *word;
};
// Measure i of those that the results hold, NULL behind the last. The first is the one that
// sentences, table, figure `pareto` and `choose` rank by; without labels, of all negatives.
const struct hn_hardness *hn_hardness_measure(const struct hn_results *r, int i);
// standing[settings] in false negatives and hardness among those of its league (hn_front()). One is
// beaten if another's means beat its own, differences paired by seed agree, and one of the two
// differences is told apart (hn_told_apart()), by intervals that hold for all others together.
HN_MUST_USE enum hn_code hn_overview_front(struct hn_context *ctx, const struct hn_overview *o,
                                           const char *hardness, enum hn_standing *standing);

struct hn_candidate {
    const char *sampler; // NULL: it is not to be shown; borrowed
    int rank;            // 0 to 2: the lower come first within a round
    int64_t round;       // filled: candidates of its sampler before it
    bool shown;          // filled
};
// Shows at most `max` of candidate[n], one of every sampler before a second of any. Their number.
int64_t hn_choose_shown(struct hn_candidate *candidate, int64_t n, int64_t max);
