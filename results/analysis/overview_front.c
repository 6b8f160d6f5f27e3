// SPDX-License-Identifier: GPL-3.0-or-later
// The front among the settings of an overview: significance by differences paired by seed.
#include "results/analysis/overview.h"

#include <math.h>

struct ranking {
    const struct hn_overview *o;
    const char *hardness;
    const struct hn_front_point *point;
    const int64_t *measured; // [settings] those of the league that begins with it that are ranked
};

// Any of its league may beat a setting, so intervals hold for all of them together.
static bool is_told(const void *of, int64_t better, int64_t worse) {
    const struct ranking *r = of;
    int64_t others = r->measured[r->point[worse].league] - 1;
    bool judged = hn_overview_mean(r->o, worse, r->hardness).over == HN_OVER_SEEDS;
    struct hn_mean fn = hn_overview_difference(r->o, better, worse, "fn_ratio"),
                   hard = hn_overview_difference(r->o, better, worse, r->hardness);
    return fn.mean <= 0 && hard.mean >= 0 &&
           (hn_told_apart(hn_mean_among(fn, others), judged) < 0 ||
            hn_told_apart(hn_mean_among(hard, others), judged) > 0);
}

enum hn_code hn_overview_front(struct hn_context *ctx, const struct hn_overview *o,
                               const char *hardness, enum hn_standing *standing) {
    HN_SCOPE(ctx);
    struct hn_front_point *point = hn_alloc(ctx, o->settings, sizeof *point);
    int64_t *measured = hn_zalloc(ctx, o->settings, sizeof *measured);
    if (!point || !measured)
        return ctx->code;
    for (int64_t s = 0; s < o->settings; s++) {
        point[s] = (struct hn_front_point){hn_overview_mean(o, s, "fn_ratio").mean,
                                           hn_overview_mean(o, s, hardness).mean, o->league[s]};
        measured[o->league[s]] += isfinite(point[s].low) && isfinite(point[s].high);
    }
    hn_front(point, o->settings, is_told, &(struct ranking){o, hardness, point, measured},
             standing);
    return HN_OK;
}
