// SPDX-License-Identifier: GPL-3.0-or-later
// A weighting by its name: the program reads them through the registry of jobs.
#pragma once

#include "metrics/weighting.h"

#include <string.h>

// NULL: there is none of that name.
static inline const struct hn_weighting_type *named_weighting(const char *name) {
    for (const struct hn_weighting_type *const *w = hn_weightings; *w; w++)
        if (strcmp((*w)->name, name) == 0)
            return *w;
    return NULL;
}
