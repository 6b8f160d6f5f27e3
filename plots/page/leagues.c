// Which settings are ranked against each other.
#include "plots/page/curves.h"

#include <inttypes.h>
#include <math.h>

struct hn_league hn_league_of(const struct hn_groups *g, int setting) {
    struct hn_league league = {g->setting[setting].batch_size, false};
    for (int64_t row = 0; row < g->results->runs.rows && !league.per_anchor; row++)
        league.per_anchor = g->position[row].setting == setting &&
                            !isnan(hn_table_real(&g->results->runs, row, "negatives_mean"));
    return league;
}

bool hn_same_league(struct hn_league a, struct hn_league b) {
    return a.batch_size == b.batch_size && a.per_anchor == b.per_anchor;
}

bool hn_leads_league(const struct hn_groups *g, int setting) {
    const struct hn_league own = hn_league_of(g, setting);
    for (int i = 0; i < setting; i++)
        if (hn_same_league(hn_league_of(g, i), own))
            return false;
    return true;
}

void hn_league_title(const struct hn_groups *g, struct hn_league league, char *text, size_t size) {
    bool sizes = false;
    *text = '\0';
    for (int i = 0; i < g->settings; i++)
        sizes |= g->setting[i].batch_size != league.batch_size;
    if (sizes)
        snprintf(text, size, "B=%" PRId64, league.batch_size);
    if (league.per_anchor)
        hn_append(text, size, "%snegatives per anchor", *text ? ", " : "");
}

// The data set's last step at which a setting has a value in the column; -1: none.
static int64_t last_step_of(const struct hn_groups *g, int dataset, const char *column) {
    int64_t last = -1;
    for (int64_t i = 0; i < g->results->runs.rows; i++)
        if (g->position[i].dataset == dataset && g->position[i].step > last &&
            hn_cell_has(g->results, i, column))
            last = g->position[i].step;
    return last;
}

struct hn_where hn_last_position(const struct hn_groups *g, int dataset, int setting,
                                 const char *column) {
    struct hn_where where = {dataset, 0, setting, last_step_of(g, dataset, column)};
    for (; where.step >= 0 && where.temperature < g->temperatures; where.temperature++)
        if (!isnan(hn_groups_mean(g, where, column).mean))
            return where;
    where.step = -1;
    return where;
}
