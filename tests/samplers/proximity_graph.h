// SPDX-License-Identifier: GPL-3.0-or-later
// Proximity graphs of rows alone, for tests.
#pragma once

#include "samplers/proximity.h"

static inline enum hn_code proximity_graph(struct hn_context *ctx,
                                           enum hn_candidate_kind candidates,
                                           const struct hn_matrix *x,
                                           const struct hn_proximity *spec, struct hn_work *work,
                                           struct hn_graph *out) {
    struct hn_items items = {.n = x->rows, .d = x->cols, .x = *x};
    struct hn_proximity own = *spec;
    own.candidates = candidates;
    return hn_proximity_build(ctx, &items, &own, work, out);
}
