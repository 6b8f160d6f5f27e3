// SPDX-License-Identifier: GPL-3.0-or-later
// Trainings tuned alike: of every recipe the learning rate and temperature that a validation part
// chooses, compared on the test part in all outcomes at once.
#pragma once

#include "results/analysis/trained.h"

enum { HN_OUTCOMES_TUNED = 16 };

// A recipe: settings that differ in learning rate and temperature alone.
struct hn_tuned_row {
    int64_t setting; // the one with the largest mean of `by` at the last evaluation
    int64_t tried;   // settings of the recipe
    int64_t base;    // row of the first recipe with the same data, batch size and evaluation; of
                     // itself where it is that
    double p[HN_OUTCOMES_TUNED]; // of an outcome's difference to the base, after Holm over all
                                 // outcomes of all recipes with this base; NaN: none
};

struct hn_tuned {
    const struct hn_trained *trained; // borrowed
    const char *by;                   // column of the validation part that chooses
    const char *outcome[HN_OUTCOMES_TUNED];
    int outcomes;
    struct hn_tuned_row *row; // [rows]
    int64_t rows;
};

// True if two settings are of one recipe.
bool hn_trained_same_recipe(const struct hn_trained *t, int64_t a, int64_t b);

// Returns the column of the validation part that settings are chosen by, the first that has a
// value; NULL: none has.
const char *hn_tuned_by(const struct hn_trained *t);

// HN_NOT_APPLICABLE: no recipe has several settings with values of a validation part (columns
// valid_...).
HN_MUST_USE enum hn_code hn_tuned_make(struct hn_context *ctx, const struct hn_trained *t,
                                       struct hn_tuned *out);
// The difference in an outcome at the last evaluation, paired by seed; hn_no_mean for a base.
struct hn_mean hn_tuned_difference(const struct hn_tuned *t, int64_t row, int outcome);
// True if all recipes with this base tried as many settings: none had more chances.
bool hn_tuned_is_fair(const struct hn_tuned *t, int64_t base);
