// SPDX-License-Identifier: GPL-3.0-or-later
// The list of samplers: command line, job files, `hardneg list`, result columns and tests read it.
// A new sampler is one file and one line here.
#include "samplers/sampler.h"

#include <string.h>

#define SAMPLERS(X)                                                                                \
    X(uniform)                                                                                     \
    X(knn)                                                                                         \
    X(batchsampler)                                                                                \
    X(gcbs)                                                                                        \
    X(mosaic)                                                                                      \
    X(ngame)                                                                                       \
    X(osgd)                                                                                        \
    X(jest)                                                                                        \
    X(spectral)                                                                                    \
    X(grit)                                                                                        \
    X(tas_b)                                                                                       \
    X(cde)                                                                                         \
    X(b3)                                                                                          \
    X(hard_negative)                                                                               \
    X(stratified)                                                                                  \
    X(random_negatives)                                                                            \
    X(hops)                                                                                        \
    X(ring)                                                                                        \
    X(mined)                                                                                       \
    X(file_order)

#define DECLARE(name) extern const struct hn_sampler_type hn_##name##_sampler;
#define LIST(name) &hn_##name##_sampler,

SAMPLERS(DECLARE)

const struct hn_sampler_type *const hn_samplers[] = {SAMPLERS(LIST) NULL};

const struct hn_sampler_type *hn_sampler_find(const char *name) {
    for (const struct hn_sampler_type *const *type = hn_samplers; *type; type++)
        if (strcmp((*type)->name, name) == 0 || strcmp(hn_sampler_key(*type), name) == 0)
            return *type;
    return NULL;
}

const char *hn_sampler_key(const struct hn_sampler_type *type) {
    return type->former ? type->former : type->name;
}

bool hn_sampler_is_default(const char *sampler, const char *option, const char *value,
                           size_t length) {
    const struct hn_sampler_type *type = hn_sampler_find(sampler);
    const struct hn_option *o = type ? hn_options_find(type->options, option) : NULL;
    const char *initial = !o                                        ? NULL
                          : o->initial || o->kind != HN_OPTION_BOOL ? o->initial
                                                                    : "false";
    return initial && strlen(initial) == length && strncmp(initial, value, length) == 0;
}
