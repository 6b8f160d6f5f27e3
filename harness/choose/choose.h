// SPDX-License-Identifier: GPL-3.0-or-later
// From a budget to a setting of a sampler: the cells of a grid, by successive halving.
#pragma once

#include "harness/choose/evidence.h"
#include "harness/choose/halving.h"
#include "harness/choose/measured.h"
#include "harness/run/plan.h"

#include <jansson.h>

// Arguments of `choose`.
struct hn_choose_spec {
    const char *path; // of the snapshot file
    char *samplers;   // job file whose `samplers` are the grid; NULL = the default grid
    int64_t batch_size;
    int64_t batches;     // of a seed, of samplers that are not partitions; of those an epoch
    int64_t seed, seeds; // the first one, and those of the last rung
    int64_t step;        // INT64_MIN: the last
    int64_t checks;      // further steps on which the choice is looked at
    enum hn_goal goal;
    double temperature;  // of HN_GOAL_LME
    double max_false;    // ratio of false negatives, NaN = any
    double max_excess;   // that ratio less Uniform's, NaN = any; one of both at most
    double max_cost;     // of a batch, as a share of a training step, NaN = any
    double step_seconds; // of a training step; NaN = unknown
    double prior;        // probability that two items share a class, in place of labels; NaN = none
    int64_t classes;     // of equal size, whose prior that is; INT64_MIN = it was given itself
    bool quiet;
};

// The choice on another step; intervals over batches, 95 %.
struct hn_choose_check {
    int64_t step;
    struct hn_interval false_negatives, over_reference;
    int64_t hardest;          // of those that were looked at and are within the budget there
    struct hn_interval ahead; // its hardness less that of the choice, for all these together
    char *error;              // the first setting that could not be measured there, and why; NULL
};
enum { HN_CHOOSE_CHECKS = 16, HN_CHOOSE_REFINED = 6 };

// Belongs to the owner of the time.
struct hn_chosen {
    struct hn_job job;
    struct hn_plan plan; // to be freed by the caller, after a failure too, as it has files open
    struct hn_halving halving;
    char **reason;   // [arms] why one could not be measured, or NULL
    double *seconds; // [arms] that its units took in all
    int64_t grid;    // settings of the grid; those behind were added at the edge of the budget
    bool labelled;   // false negatives are counted, else they are the bound by the prior
    int64_t step;
    struct hn_choose_check check[HN_CHOOSE_CHECKS];
    int64_t checks, check_units;
    double check_seconds;
};

// HN_USAGE: what is asked for does not fit the file, or the grid; HN_DATA: a bad file.
HN_MUST_USE enum hn_code hn_choose(struct hn_context *ctx, const struct hn_choose_spec *spec,
                                   struct hn_chosen *out);

// The document of --json; NULL with the message recorded. And table and sentences for people.
HN_MUST_USE json_t *hn_chosen_describe(struct hn_context *ctx, const struct hn_choose_spec *spec,
                                       const struct hn_chosen *c);
HN_MUST_USE enum hn_code hn_chosen_print(struct hn_context *ctx, const struct hn_choose_spec *spec,
                                         const struct hn_chosen *c, FILE *out);
