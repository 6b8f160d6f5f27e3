// Which settings a figure draws where it cannot draw all: Uniform first.
#include "plots/page/groups.h"
#include "results/analysis/shown.h"

#include <string.h>

// Positions of rows follow; those of settings that are not kept are -1.
static void renumber(struct hn_groups *g, const int *number) {
    int n = 0;
    for (int i = 0; i < g->settings; i++)
        if (number[i] >= 0)
            g->setting[n++] = g->setting[i];
    for (int64_t row = 0; row < g->results->runs.rows; row++)
        if (g->position[row].setting >= 0)
            g->position[row].setting = number[g->position[row].setting];
    g->settings = n;
}

static int rank_of(const struct hn_setting *s, const char *first) {
    return strcmp(s->sampler, "uniform") == 0 ? 0 : first && strcmp(s->sampler, first) == 0 ? 1 : 2;
}

enum hn_code hn_groups_choose(struct hn_context *ctx, struct hn_groups *g, int max,
                              const char *first) {
    g->settings_in_all = g->settings;
    if (g->settings <= max)
        return HN_OK;
    HN_SCOPE(ctx);
    struct hn_candidate *candidate = hn_zalloc(ctx, g->settings, sizeof *candidate);
    int *number = hn_alloc(ctx, g->settings, sizeof *number);
    if (!candidate || !number)
        return ctx->code;
    for (int i = 0; i < g->settings; i++)
        candidate[i] = (struct hn_candidate){.sampler = g->setting[i].sampler,
                                             .rank = rank_of(&g->setting[i], first)};
    (void)hn_choose_shown(candidate, g->settings, max);
    for (int i = 0, n = 0; i < g->settings; i++)
        number[i] = candidate[i].shown ? n++ : -1;
    renumber(g, number);
    return HN_OK;
}
