// SPDX-License-Identifier: GPL-3.0-or-later
// Runs of `hardneg train` side by side, for terminal, report and curves: settings, their seeds,
// accuracies at a step, and differences paired by seed.
#pragma once

#include "results/analysis/overview.h"

struct hn_phrase; // core/text.h

struct hn_trained {
    struct hn_overview overview;
    const struct hn_table *table; // /training
    int first;                    // of the task's own columns in it
    int64_t settings;             // of the overview
    int64_t *base;                // [settings] the first of its problem, to compare with; -1: it
                                  // has no finished training
    double *scratch, *sorted;     // [runs]; [rows of table]
};

// A step of the loop, or: the untrained encoder; the last evaluation of each run; the largest value
// of each run's evaluations after training began, as a paper may have reported it; and what stands
// beside an encoder (trained.c), whose rows those of settings follow.
enum {
    HN_UNTRAINED,
    HN_LAST_STEP = -1,
    HN_BEST_STEP = -2,
    HN_FIRST_REFERENCE = -3,
    HN_LAST_REFERENCE = -7
};

// HN_NOT_APPLICABLE if the file has no finished training.
HN_MUST_USE enum hn_code hn_trained_open(struct hn_context *ctx, const struct hn_results *r,
                                         struct hn_trained *out);

// A column of /runs that all runs of the setting have alike.
const char *hn_trained_text(const struct hn_trained *t, int64_t setting, const char *column);
// A run's value at a step, NaN without.
double hn_trained_value(const struct hn_trained *t, int64_t run, const char *column, int64_t step);
// A column at a step, over seeds.
struct hn_mean hn_trained_at(const struct hn_trained *t, int64_t setting, const char *column,
                             int64_t step);
// The values behind it by seed; borrowed until the next call. How many.
int64_t hn_trained_values(const struct hn_trained *t, int64_t setting, const char *column,
                          int64_t step, const double **value);
// The next of the task's columns after `column` (-1: the first) in which the setting has a value at
// its last evaluation; -1: none. Results of several tasks have columns of all of them.
int hn_trained_next(const struct hn_trained *t, int64_t setting, int column);
// The first, by name; the table's first if none has a value.
const char *hn_trained_column(const struct hn_trained *t, int64_t setting);
// At the last evaluation, setting minus base over the seeds that both have.
struct hn_mean hn_trained_difference(const struct hn_trained *t, int64_t setting, int64_t base,
                                     const char *column);
// The last evaluation of each run minus its own value at a baseline's step.
struct hn_mean hn_trained_gain(const struct hn_trained *t, int64_t setting, int64_t step,
                               const char *column);
// The rows of a table of accuracies: the base before training, its baselines, settings beside it.
struct hn_trained_row {
    int64_t base, setting,
        step; // begin with setting -1; with step HN_LAST_REFERENCE: settings alone
    char name[96];
};
bool hn_trained_next_row(const struct hn_trained *t, struct hn_trained_row *row);
// True for the row of the features that the encoder stands on, alone.
bool hn_trained_is_features(const struct hn_trained_row *row);
// Scale of a column as it is shown: 100 for shares <name>_acc and correlations <name>_spearman,
// else 1.
double hn_trained_scale(const char *column);
// Digits behind the point at that scale.
int hn_trained_digits(const char *column);
// "batchsampler K=100, M=500 + hcl beta=1": sampler and weighting, and their options that vary.
struct hn_phrase hn_trained_label(const struct hn_trained *t, int64_t setting);
// The same with all else that varies. untrained: of its encoder before training.
struct hn_phrase hn_trained_name(const struct hn_trained *t, int64_t setting, bool untrained);
// The same without its learning rate.
struct hn_phrase hn_trained_recipe(const struct hn_trained *t, int64_t setting);
// Names its problem: "views-mlp, temperature 0.2, batches of 256", and what else varies.
struct hn_phrase hn_trained_title(const struct hn_trained *t, int64_t setting);
