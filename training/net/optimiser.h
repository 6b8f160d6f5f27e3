// SPDX-License-Identifier: GPL-3.0-or-later
// Adam (Kingma and Ba 2015) with weight decay in the gradient (L2), and the learning-rate schedule.
// Of a table (hn_weights.table) a step updates the rows alone that it touched, with their moments
// ("lazy" Adam); the corrections are those of the step's number.
#pragma once

#include "training/net/layer.h"

enum hn_rate_schedule { HN_RATE_CONSTANT, HN_RATE_COSINE, HN_RATE_LINEAR };

struct hn_adam {
    double rate, beta1, beta2, epsilon, decay; // rate: the largest of the schedule
    int64_t warmup;                            // steps in which the rate rises linearly
    enum hn_rate_schedule schedule;            // how it falls then, to 0 at the last step
    int64_t steps;                             // of the whole training
};

// Learning rate of step number `step`, from 0.
double hn_adam_rate(const struct hn_adam *adam, int64_t step);
// One update of value[n] with first and second moments m, v [n] (zero before step 0). Gradients are
// 0 afterwards, while they are in the cache.
void hn_adam_step(const struct hn_adam *adam, int threads, int64_t step, int64_t n, hn_real *grad,
                  hn_real *value, hn_real *m, hn_real *v);
// One update of all parameters of w, by their gradients; m, v [w->n]. Gradients are 0 afterwards,
// and no row is touched.
void hn_adam_update(const struct hn_adam *adam, int threads, int64_t step, struct hn_weights *w,
                    hn_real *m, hn_real *v);
