// SPDX-License-Identifier: GPL-3.0-or-later
// The list of studies.
#include "metrics/studies/study.h"

#include <string.h>

// The list: job files, `hardneg list` and the tests read it. A new study is a line here.
#define STUDIES(X)                                                                                 \
    X(random_assignments)                                                                          \
    X(prop1)                                                                                       \
    X(prop2)                                                                                       \
    X(prop3)                                                                                       \
    X(lemmas)                                                                                      \
    X(staleness)                                                                                   \
    X(purity)                                                                                      \
    X(heatmap)                                                                                     \
    X(global_histogram)

#define DECLARE(name) extern const struct hn_study_type hn_study_##name;
#define REFER(name) &hn_study_##name,
STUDIES(DECLARE)
const struct hn_study_type *const hn_studies[] = {STUDIES(REFER) NULL};

const struct hn_study_type *hn_study_find(const char *name) {
    for (const struct hn_study_type *const *s = hn_studies; *s; s++)
        if (strcmp((*s)->name, name) == 0)
            return *s;
    return NULL;
}
