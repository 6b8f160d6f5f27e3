// All figures: the one list that commands, `hardneg list` and tests read.
#include "plots/page/figure.h"

#include <string.h>

extern const struct hn_figure hn_bs_fig4, hn_bs_fig5, hn_bs_fig6, hn_bs_fig7, hn_bs_fig10, hn_bs_m,
    hn_bs_k, hn_bs_alpha, hn_bs_b, hn_bs_t, hn_bs_fig16, hn_bs_table5, hn_bs_prop1, hn_bs_prop2,
    hn_bs_limits, hn_gc_fig1, hn_gc_fig3, hn_gc_fig4, hn_gc_fig6, hn_gc_bounds, hn_gc_table11,
    hn_ns_ring, hn_hc_prop3, hn_hc_mass, hn_pareto, hn_bs_fig13, hn_hc_fig11, hn_train_loss,
    hn_gc_fig7, hn_hc_fig5;

const struct hn_figure *const hn_figures[] = {
    &hn_bs_fig4,    &hn_bs_fig5,   &hn_bs_fig6,    &hn_bs_fig7,  &hn_bs_fig10, &hn_bs_m,
    &hn_bs_k,       &hn_bs_alpha,  &hn_bs_b,       &hn_bs_t,     &hn_bs_fig16, &hn_bs_table5,
    &hn_bs_prop1,   &hn_bs_prop2,  &hn_bs_limits,  &hn_gc_fig1,  &hn_gc_fig3,  &hn_gc_fig4,
    &hn_gc_fig6,    &hn_gc_bounds, &hn_gc_table11, &hn_ns_ring,  &hn_hc_prop3, &hn_hc_mass,
    &hn_pareto,     &hn_accuracy,  &hn_bs_fig13,   &hn_hc_fig11, &hn_gc_fig7,  &hn_hc_fig5,
    &hn_train_loss, NULL};

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
