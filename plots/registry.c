// All figures: the one list that commands, `hardneg list` and tests read.
#include "plots/figure.h"

#include <string.h>

extern const struct hn_figure hn_bs_fig4, hn_gc_fig3;

const struct hn_figure *const hn_figures[] = {&hn_bs_fig4, &hn_gc_fig3, NULL};

const struct hn_figure *hn_figure_find(const char *id) {
    for (const struct hn_figure *const *f = hn_figures; *f; f++)
        if (strcmp((*f)->id, id) == 0)
            return *f;
    return NULL;
}
