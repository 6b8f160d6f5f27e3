// SPDX-License-Identifier: GPL-3.0-or-later
// The scratch of walks, freed by itself.
#pragma once

#include "samplers/walk.h"

static inline void free_scratch(struct hn_context *ctx, struct hn_walk_scratch *s) {
    void *const array[] = {s->collected, s->queued, s->level, s->deeper, s->mass, s->key};
    for (int i = 0; i < 6; i++)
        hn_free(ctx, array[i]);
}
