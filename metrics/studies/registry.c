#include "metrics/studies/study.h"

#include <string.h>

// The list: job files, `hardneg list` and the tests read it. A new study is a line here.
#define STUDIES(ENTRY)                                                                             \
    ENTRY(random_assignments)                                                                      \
    ENTRY(prop1)                                                                                   \
    ENTRY(prop2)                                                                                   \
    ENTRY(prop3)                                                                                   \
    ENTRY(staleness)                                                                               \
    ENTRY(purity)                                                                                  \
    ENTRY(heatmap)                                                                                 \
    ENTRY(global_histogram)

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
