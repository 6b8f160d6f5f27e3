// Shared by harness/choose/choose*.c.
#ifndef HN_HARNESS_CHOOSE_CHOOSE_PRIVATE_H
#define HN_HARNESS_CHOOSE_CHOOSE_PRIVATE_H

#include "harness/choose/choose.h"

// The job of the grid: its samplers, one batch size, the seeds, and the steps (the one that is
// asked for first), with the metric of this module alone. *reference: Uniform's place in the grid,
// added where it is missing. HN_USAGE as hn_choose().
HN_MUST_USE enum hn_code hn_choose_job(struct hn_context *ctx, const struct hn_choose_spec *spec,
                                       struct hn_job *out, int64_t *reference);

// Adds to the job up to HN_CHOOSE_REFINED settings between one within the budget of false negatives
// and a harder one of the same sampler over it that differs in one number: two at each such step.
HN_MUST_USE enum hn_code hn_choose_refine(struct hn_context *ctx, const struct hn_halving *h,
                                          struct hn_job *job);

#endif
