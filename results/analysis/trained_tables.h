// SPDX-License-Identifier: GPL-3.0-or-later
// Trainings as tables (results/records.h), for page, terminal, LaTeX and JSON. Tables are owned by
// the current owner, but for their rows, which are the caller's.
#pragma once

#include "results/analysis/tuned.h"
#include "results/records.h"

// The trainings that are compared with `base`: a row for each (hn_trained_next_row()), with the
// columns name, seeds, each of the task's, best, difference, p and ties.
HN_MUST_USE enum hn_code hn_trained_accuracies(struct hn_context *ctx, const struct hn_trained *t,
                                               int64_t base, struct hn_records *out);
// The costs of a step, means over steps and seeds; shares are of a step with all its costs.
HN_MUST_USE enum hn_code hn_trained_costs(struct hn_context *ctx, const struct hn_trained *t,
                                          int64_t base, struct hn_records *out);
// The recipes with that base: it as it is, the others as differences, marked where told apart.
HN_MUST_USE enum hn_code hn_tuned_outcomes(struct hn_context *ctx, const struct hn_tuned *t,
                                           int64_t base, struct hn_records *out);
// Prints the table of accuracies of each problem, as a paper has it. HN_NOT_APPLICABLE: there is no
// training.
HN_MUST_USE enum hn_code hn_trained_print(struct hn_context *ctx, const struct hn_results *r,
                                          const struct hn_record_format *format, FILE *out);
