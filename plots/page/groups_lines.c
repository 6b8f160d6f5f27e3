// Lines of the settings of groups.
#include "plots/page/groups.h"

#include <math.h>
#include <string.h>

// The number in which alone settings differ: the batch size, or an option.
static double varied(const struct hn_groups *g, int setting, const char *option) {
    return option ? hn_option_number(g->setting[setting].params, option)
                  : (double)g->setting[setting].batch_size;
}

// The first option that is not alike in a and b, "" if none.
static void differing(const char *a, const char *b, char name[HN_LABEL_SIZE]) {
    struct hn_option_part part;
    *name = '\0';
    while (!*name && hn_option_next(&a, &part))
        if (!hn_option_has(b, part)) {
            snprintf(name, HN_LABEL_SIZE, "%.*s", (int)part.length, part.text);
            name[strcspn(name, "=")] = '\0';
        }
}

// Numbers in their order, then schedules and words.
static void order_lines(struct hn_groups *g, const char *option) {
    for (int i = 0; i < g->settings; i++) {
        double own = varied(g, i, option);
        int before = 0;
        for (int k = 0; k < g->settings; k++) {
            double other = varied(g, k, option);
            bool equal = (isnan(own) && isnan(other)) || !(own < other || own > other);
            before += isnan(own) != isnan(other) ? isnan(own) : equal ? k < i : other < own;
        }
        g->setting[i].line = hn_line_ordered(before, g->settings);
    }
}

void hn_groups_lines(struct hn_groups *g) {
    char option[HN_LABEL_SIZE] = "", other[HN_LABEL_SIZE];
    bool one_sampler = g->settings > 1, sizes = false;
    for (int i = 1; i < g->settings; i++) {
        one_sampler &= strcmp(g->setting[i].sampler, g->setting[0].sampler) == 0;
        sizes |= g->setting[i].batch_size != g->setting[0].batch_size;
        differing(g->setting[i].params, g->setting[0].params, other);
        if (*other)
            snprintf(option, sizeof option, "%s", other);
    }
    if (one_sampler) {
        order_lines(g, sizes && !*option ? NULL : option);
        return;
    }
    for (int i = 0; i < g->settings; i++) {
        int before = 0;
        for (int k = 0; k < i; k++)
            before += strcmp(g->setting[k].sampler, g->setting[i].sampler) == 0;
        int line = hn_line_of_sampler(&g->results->runs, g->setting[i].sampler);
        g->setting[i].line = hn_line_shade(line, before);
    }
}
