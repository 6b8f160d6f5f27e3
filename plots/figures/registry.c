// SPDX-License-Identifier: GPL-3.0-or-later
// The figures in the order of the report, for all that reads them. A new one is a file and a line.
#include "plots/page/figure.h"

#include <string.h>

#define FIGURES(X)                                                                                 \
    X(bs_fig4)                                                                                     \
    X(bs_fig5)                                                                                     \
    X(bs_fig6)                                                                                     \
    X(bs_fig7)                                                                                     \
    X(bs_fig10)                                                                                    \
    X(bs_m)                                                                                        \
    X(bs_k)                                                                                        \
    X(bs_alpha)                                                                                    \
    X(bs_b)                                                                                        \
    X(bs_t)                                                                                        \
    X(bs_fig16)                                                                                    \
    X(bs_table5)                                                                                   \
    X(bs_prop1)                                                                                    \
    X(bs_prop2)                                                                                    \
    X(bs_limits)                                                                                   \
    X(gc_fig1)                                                                                     \
    X(gc_fig3)                                                                                     \
    X(gc_fig4)                                                                                     \
    X(gc_fig6)                                                                                     \
    X(gc_bounds)                                                                                   \
    X(gc_table11)                                                                                  \
    X(ns_ring)                                                                                     \
    X(hc_prop3)                                                                                    \
    X(hc_mass)                                                                                     \
    X(pareto)                                                                                      \
    X(fronts)                                                                                      \
    X(price)                                                                                       \
    X(accuracy)                                                                                    \
    X(bs_fig13)                                                                                    \
    X(hc_fig11)                                                                                    \
    X(gc_fig7)                                                                                     \
    X(hc_fig5)                                                                                     \
    X(train_loss)

#define DECLARE(name) extern const struct hn_figure hn_##name;
#define LIST(name) &hn_##name,

FIGURES(DECLARE)

const struct hn_figure *const hn_figures[] = {FIGURES(LIST) NULL};

const char *hn_figure_id(int64_t i) { return hn_figures[i] ? hn_figures[i]->id : NULL; }

const struct hn_figure *hn_figure_find(const char *id) {
    for (const struct hn_figure *const *f = hn_figures; *f; f++)
        if (strcmp((*f)->id, id) == 0)
            return *f;
    return NULL;
}

bool hn_figure_of_training(int i, const char *id, char name[HN_FIGURE_NAME],
                           struct hn_figure *out) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    static const struct {
        const struct hn_figure *figure;
        const char *end;
    } general[] = {{&hn_accuracy, ""}, {&hn_accuracy_steps, "-steps"}};
    size_t length = strspn(id, plain);
    if (i < 0 || i > 1 || length == 0 || id[length] || length + 8 > HN_FIGURE_NAME)
        return false;
    snprintf(name, HN_FIGURE_NAME, "%s%s", id, general[i].end);
    *out = *general[i].figure;
    out->id = name;
    return true;
}
