// SPDX-License-Identifier: GPL-3.0-or-later
// Samplers whose batches, or negatives, another program chooses. They are in a list of their own:
// hn_samplers are those that choose by themselves.
#pragma once

#include "samplers/sampler.h"

struct hn_given_params {
    char *file, *name;              // name: what results call the sampler, in place of the type's
    struct hn_text_list run, needs; // of a command: its arguments, and what it is to be given
    char *version;                  // of a command, NULL: the contents of the files that it names
    int64_t timeout;                // s
    int64_t n;                      // most negatives of an anchor; 0: batches
    int64_t per_epoch;              // INT64_MIN: as the file has it
    bool repeats;                   // within a batch
    double cost_s, cost_g;          // s, NaN: not known
};

extern const struct hn_sampler_type *const hn_given_samplers[]; // NULL-terminated
const struct hn_sampler_type *hn_given_find(const char *name);  // NULL if unknown
// The options of a sampler whose batches are given, NULL of others.
static inline const struct hn_given_params *hn_given_params_of(const struct hn_sampler_type *type,
                                                               const void *params) {
    return type->flags & HN_SAMPLER_GIVEN ? params : NULL;
}
// The name of a sampler with these options in results.
static inline const char *hn_sampler_title(const struct hn_sampler_type *type, const void *params) {
    const struct hn_given_params *given = hn_given_params_of(type, params);
    return given && given->name ? given->name : type->name;
}
