// SPDX-License-Identifier: GPL-3.0-or-later
// Looks at what was mined as a whole: what listed scores lack, and why no negative is left.
#include "retrieval/listed.h"

#include "core/text.h"
#include "retrieval/mine.h"
#include "retrieval/miner.h"
#include "retrieval/take.h"

#include <math.h>

static bool has_margin(const struct hn_mine_options *o) {
    return !isnan(o->absolute_margin) || !isnan(o->relative_margin);
}

// The option that compares a candidate's listed score with its positive's; NULL: none does.
static const char *comparing(const struct hn_miner *m) {
    const struct hn_mine_options *o = &m->o;
    if (o->filter_by == HN_BY_LISTED && has_margin(o))
        return isnan(o->absolute_margin) ? "--relative-margin" : "--absolute-margin";
    return hn_miner_guide_is_listed(m) ? "--guide" : NULL;
}

// Candidates and positives without a listed score.
static void note_unscored(struct hn_context *ctx, const struct hn_miner *m,
                          const struct hn_mine_counts *c, const char *path) {
    const struct hn_listed_scores *l = &m->listed;
    long long missing = (long long)(l->positives - l->scored);
    if (c->unscored > 0 && missing == 0)
        hn_note(ctx, "%s: of %s looked at %lld have a listed score", path,
                hn_counted(c->looked, "candidate").text, (long long)(c->looked - c->unscored));
    if (missing > 0)
        hn_note(ctx,
                "%s: of %s looked at %lld have a listed score; of %s %lld have none, for %s all of "
                "theirs",
                path, hn_counted(c->looked, "candidate").text, (long long)(c->looked - c->unscored),
                hn_counted(l->positives, "known positive").text, missing,
                hn_counted(l->without, "query").text);
}

enum hn_code hn_mine_check(struct hn_context *ctx, const struct hn_miner *m,
                           const struct hn_mine_counts *c, const char *path) {
    enum hn_stage worst_stage = HN_STAGE_UNSCORED;
    if (m->listed.asked && c->unscored == c->looked)
        return hn_fail(
            ctx, HN_DATA,
            "%s: none of the %s looked at has a listed score: list scores of each query's best "
            "passages, or raise --depth (%lld) so that those with scores are among them",
            path, hn_counted(c->looked, "candidate").text, (long long)m->o.depth);
    if (comparing(m) && m->listed.positives > 0 && m->listed.scored == 0)
        return hn_fail(ctx, HN_DATA,
                       "%s: none of the %s has a listed score, with which %s compares: list scores "
                       "of known positives, too, or take --max-score",
                       path, hn_counted(m->listed.positives, "known positive").text, comparing(m));
    if (m->listed.asked)
        note_unscored(ctx, m, c, path);
    if (c->attrition.all[HN_STAGE_KEPT] > 0)
        return HN_OK;
    for (enum hn_stage s = worst_stage; s < HN_STAGE_BEYOND; s++)
        if (c->attrition.all[s] > c->attrition.all[worst_stage])
            worst_stage = s;
    hn_note(ctx, "%s: filters leave no negative: of %s looked at, %lld are lost to %s", path,
            hn_counted(c->looked, "candidate").text, (long long)c->attrition.all[worst_stage],
            hn_stage_name[worst_stage]);
    return HN_OK;
}
