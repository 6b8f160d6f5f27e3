// SPDX-License-Identifier: GPL-3.0-or-later
// Which settings are shown where there are too many.
#include "results/analysis/overview.h"

#include <string.h>

enum { RANKS = 3 };

static int64_t round_of(const struct hn_candidate *candidate, int64_t i) {
    for (int64_t k = i - 1; k >= 0; k--)
        if (candidate[k].sampler && strcmp(candidate[k].sampler, candidate[i].sampler) == 0)
            return candidate[k].round + 1;
    return 0;
}

int64_t hn_choose_shown(struct hn_candidate *candidate, int64_t n, int64_t max) {
    int64_t rounds = 0, shown = 0;
    for (int64_t i = 0; i < n; i++)
        if (candidate[i].sampler) {
            candidate[i].round = round_of(candidate, i);
            rounds = candidate[i].round < rounds ? rounds : candidate[i].round + 1;
        }
    for (int64_t at = 0; at < rounds * RANKS && shown < max; at++)
        for (int64_t i = 0; i < n && shown < max; i++) {
            struct hn_candidate *c = &candidate[i];
            c->shown |= c->sampler && c->round == at / RANKS && c->rank == at % RANKS;
            shown += c->sampler && c->round == at / RANKS && c->rank == at % RANKS;
        }
    return shown;
}
