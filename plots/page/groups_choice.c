// Which settings a figure draws where it cannot draw all: one of every sampler before a
// second of any, Uniform first.
#include "plots/page/groups.h"

#include <string.h>

// Places of rows follow; those of settings that are not kept are -1.
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

// Settings of its sampler before it.
static int round_of(const struct hn_groups *g, int setting) {
    int before = 0;
    for (int i = 0; i < setting; i++)
        before += strcmp(g->setting[i].sampler, g->setting[setting].sampler) == 0;
    return before;
}

static int rank_of(const struct hn_groups *g, int setting, const char *first) {
    const char *sampler = g->setting[setting].sampler;
    return strcmp(sampler, "uniform") == 0 ? 0 : first && strcmp(sampler, first) == 0 ? 1 : 2;
}

enum hn_code hn_groups_choose(struct hn_context *ctx, struct hn_groups *g, int max,
                              const char *first) {
    g->settings_in_all = g->settings;
    if (g->settings <= max)
        return HN_OK;
    HN_SCOPE(ctx);
    int *number = hn_alloc(ctx, g->settings, sizeof *number), left = max;
    if (!number)
        return ctx->code;
    for (int i = 0; i < g->settings; i++)
        number[i] = -1;
    for (int round = 0; left > 0; round++)
        for (int rank = 0; rank < 3; rank++)
            for (int i = 0; i < g->settings && left > 0; i++)
                if (rank_of(g, i, first) == rank && round_of(g, i) == round) {
                    number[i] = 0;
                    left--;
                }
    for (int i = 0, n = 0; i < g->settings; i++)
        if (number[i] == 0)
            number[i] = n++;
    renumber(g, number);
    return HN_OK;
}
