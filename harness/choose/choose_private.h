// SPDX-License-Identifier: GPL-3.0-or-later
// Of harness/choose/choose*.c alone.
#pragma once

#include "harness/choose/choose.h"

// "{mosaic: {lambda: 0.5}}", or "mosaic": without options at their defaults, as a job and `sample`
// take it. Owned by the caller.
HN_MUST_USE char *hn_chosen_line(struct hn_context *ctx, const struct hn_job_sampler *s);

// The job of the grid: its samplers, one batch size, the seeds, and the steps (the one that is
// asked for first), with the metric of this module alone. *reference: Uniform's index in the grid,
// added where it is missing. HN_USAGE as hn_choose().
HN_MUST_USE enum hn_code hn_choose_job(struct hn_context *ctx, const struct hn_choose_spec *spec,
                                       struct hn_job *out, int64_t *reference);

// Adds to the job up to HN_CHOOSE_REFINED settings between one within the budget of false negatives
// and a harder one of the same sampler over it that differs in one number: two at each such step.
HN_MUST_USE enum hn_code hn_choose_refine(struct hn_context *ctx, const struct hn_halving *h,
                                          struct hn_job *job);

// For those who tell a choice. Its settings in the order in which they are told, and what a job
// says of each; owned.
struct hn_choice_list {
    int64_t *order; // [arms]
    char **line;    // [arms] by setting: hn_chosen_line()
};
HN_MUST_USE enum hn_code hn_choice_list(struct hn_context *ctx, const struct hn_chosen *c,
                                        struct hn_choice_list *out);

// Ratio of false negatives, and hardness, with intervals of that level; NaN where it is unknown.
static const double hn_choice_alone = 0.95; // for one setting; hn_halving_together() for a pick
struct hn_interval hn_choice_false(const struct hn_evidence *e, double level);
struct hn_interval hn_choice_hard(const struct hn_evidence *e, double level);
// Why a setting failed; NULL: it did not.
const char *hn_choice_error(const struct hn_chosen *c, int64_t arm);
// Seconds, and what the whole grid would take at the seeds of the last rung.
struct hn_choice_work {
    double seconds, full_seconds;
    int64_t full_units;
};
struct hn_choice_work hn_choice_work(const struct hn_chosen *c);
