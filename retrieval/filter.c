// SPDX-License-Identifier: GPL-3.0-or-later
// The filters of mining, in their order, on the candidates of one query.
#include "core/random.h"
#include "retrieval/candidates.h"
#include "retrieval/mine.h"
#include "retrieval/miner.h"
#include "retrieval/relevance.h"

#include <math.h>
#include <string.h>

const char *const hn_stage_name[HN_STAGES] = {
    "no score",        "known",     "self",      "duplicate", "rank",     "absolute_margin",
    "relative_margin", "max_score", "min_score", "guide",     "beyond n", "kept"};

void hn_attrition_add(struct hn_attrition *to, const struct hn_attrition *from) {
    for (int s = 0; s < HN_STAGES; s++) {
        to->all[s] += from->all[s];
        to->known[s] += from->known[s];
        to->hidden[s] += from->hidden[s];
    }
}

// A row in work.
struct row {
    const struct hn_mine_options *o;
    const struct hn_candidates *c;
    uint8_t *left;
    struct hn_attrition *a;
};

static void count_in(struct hn_attrition *a, enum hn_stage stage, uint8_t flags) {
    a->all[stage]++;
    a->known[stage] += (flags & HN_IS_KNOWN) != 0;
    a->hidden[stage] += (flags & HN_IS_HIDDEN) != 0;
}

static void count(struct row *r, enum hn_stage stage, int64_t i) {
    uint8_t flags = r->c->flags[i];
    count_in(r->a, stage, flags);
    for (int s = 0; r->c->by_source && s < HN_SOURCES_MAX; s++)
        if (r->c->source[i] >> s & 1)
            count_in(&r->c->by_source[s], stage, flags);
}

// True if a source that lists a candidate has a place left, which it then takes: the first of them.
static bool uses_quota(const struct hn_candidates *c, int64_t i, int64_t *used) {
    for (int s = 0; c->quota && s < HN_SOURCES_MAX; s++)
        if (c->source[i] >> s & 1 && used[s] < c->quota[s]) {
            used[s]++;
            return true;
        }
    return !c->quota;
}

static void drop(struct row *r, enum hn_stage stage, int64_t i) {
    r->left[i] = 0;
    count(r, stage, i);
}

static void drop_marked(struct row *r, enum hn_stage stage, uint8_t flag) {
    for (int64_t i = 0; i < r->c->n; i++)
        if (r->left[i] && r->c->flags[i] & flag)
            drop(r, stage, i);
}

// True of a candidate that filters against false negatives leave alone.
static bool is_safe(const struct row *r, int64_t i) {
    return r->o->judged == HN_JUDGED_KEEP && r->c->flags[i] & HN_IS_NEGATIVE;
}

static void drop_ranks(struct row *r) {
    int64_t rank = 0;
    for (int64_t i = 0; i < r->c->n; i++) {
        rank += r->o->rank_of == HN_RANK_RAW || r->left[i];
        bool early = rank < r->o->min_rank && !is_safe(r, i);
        if (r->left[i] && (early || rank > r->o->max_rank))
            drop(r, HN_STAGE_RANK, i);
    }
}

// True if a stage cannot decide yet for want of a score, of the candidate or of a positive: any
// of them may be the one that counts. Without a positive there is nothing to wait for.
static bool waits(const struct row *r, enum hn_stage stage, double score) {
    const struct hn_candidates *c = r->c;
    bool guide = stage == HN_STAGE_GUIDE;
    bool compares = guide || stage == HN_STAGE_ABSOLUTE || stage == HN_STAGE_RELATIVE;
    bool without = compares && (guide ? c->no_guide : c->no_positive);
    if (compares && !without && isnan(guide ? c->guide_positive : c->positive))
        return false;
    return c->wanting && (isnan(score) || without);
}

// True if a score passes a stage; bounds themselves do. In float every step is rounded, as torch
// does it.
static bool passes(const struct row *r, enum hn_stage stage, int64_t i) {
    const struct hn_mine_options *o = r->o;
    double s = hn_candidate_score(r->c, i), p = r->c->positive;
    if (waits(r, stage, s))
        return true;
    if (o->preset == HN_PRESET_SENTENCE_TRANSFORMERS) {
        float a = (float)o->absolute_margin, m = (float)o->relative_margin, t = (float)s,
              b = (float)p;
        switch (stage) {
        case HN_STAGE_ABSOLUTE: return t + a <= b;
        case HN_STAGE_RELATIVE: return t <= b - fabsf(b) * m;
        case HN_STAGE_MAX: return t <= (float)o->max_score;
        default: return t >= (float)o->min_score;
        }
    }
    switch (stage) {
    case HN_STAGE_ABSOLUTE: return s + o->absolute_margin <= p;
    case HN_STAGE_RELATIVE: return s <= p - fabs(p) * o->relative_margin;
    case HN_STAGE_MAX: return s <= o->max_score;
    default: return s >= o->min_score;
    }
}

// In descending order all that pass are behind one that does, or before it: few scores are needed.
static void drop_descending(struct row *r, enum hn_stage stage) {
    int64_t from = 0, to = r->c->n;
    bool first = stage == HN_STAGE_MIN; // the first ones pass
    while (from < to) {
        int64_t middle = from + (to - from) / 2;
        if (passes(r, stage, middle) == first)
            from = middle + 1;
        else
            to = middle;
    }
    for (int64_t i = first ? from : 0; i < (first ? r->c->n : from); i++)
        if (r->left[i] && !(is_safe(r, i) && stage != HN_STAGE_MIN))
            drop(r, stage, i);
}

static void drop_scores(struct row *r, enum hn_stage stage, double bound) {
    if (isnan(bound))
        return;
    if (r->c->descending) {
        drop_descending(r, stage);
        return;
    }
    for (int64_t i = 0; i < r->c->n; i++)
        if (r->left[i] && !(is_safe(r, i) && stage != HN_STAGE_MIN) && !passes(r, stage, i))
            drop(r, stage, i);
}

static void drop_guided(struct row *r) {
    for (int64_t i = 0; i < r->c->n && !isnan(r->o->guide); i++)
        if (r->left[i] && !is_safe(r, i) && !waits(r, HN_STAGE_GUIDE, r->c->guide[i]) &&
            !(r->c->guide[i] <= r->c->guide_positive - r->o->guide))
            drop(r, HN_STAGE_GUIDE, i);
}

// Marks n of the survivors, which are in survivor[m], at random.
static void draw(const struct row *r, int32_t *survivor, int64_t m) {
    struct hn_stream stream;
    hn_stream_open(&stream, (uint64_t)r->o->seed, "mine.draw", 0, 0, r->c->query);
    for (int64_t k = 0; k < r->o->n; k++)
        r->left[hn_stream_take(&stream, survivor, k, m)] = 2;
}

int64_t hn_filter_row(const struct hn_mine_options *o, const struct hn_candidates *c, uint8_t *left,
                      int32_t *draw_scratch, int32_t *chosen, struct hn_attrition *attrition) {
    struct row r = {o, c, left, attrition};
    int64_t m = 0, kept = 0, used[HN_SOURCES_MAX] = {0};
    memset(left, 1, (size_t)c->n);
    if (o->rank_by == HN_BY_LISTED)
        drop_marked(&r, HN_STAGE_UNSCORED, HN_IS_UNSCORED);
    if (!o->include_positives)
        drop_marked(&r, HN_STAGE_KNOWN, HN_IS_KNOWN | HN_IS_BETWEEN);
    if (o->self != HN_SELF_NONE)
        drop_marked(&r, HN_STAGE_SELF, HN_IS_SELF);
    if (o->equal_texts == HN_EQUAL_FILTER)
        drop_marked(&r, HN_STAGE_DUPLICATE, HN_IS_DUPLICATE);
    if (o->rank_of != HN_RANK_SURVIVORS)
        drop_ranks(&r);
    drop_scores(&r, HN_STAGE_ABSOLUTE, o->absolute_margin);
    drop_scores(&r, HN_STAGE_RELATIVE, o->relative_margin);
    drop_scores(&r, HN_STAGE_MAX, o->max_score);
    drop_scores(&r, HN_STAGE_MIN, o->min_score);
    drop_guided(&r);
    if (o->rank_of == HN_RANK_SURVIVORS)
        drop_ranks(&r);
    for (int64_t i = 0; i < c->n; i++)
        if (left[i])
            draw_scratch[m++] = (int32_t)i;
    bool choose = o->take == HN_TAKE_DRAW && m > o->n;
    if (choose)
        draw(&r, draw_scratch, m);
    for (int64_t i = 0; i < c->n; i++) {
        if (!left[i])
            continue;
        bool taken = choose ? left[i] == 2 : kept < o->n && uses_quota(c, i, used);
        count(&r, taken ? HN_STAGE_KEPT : HN_STAGE_BEYOND, i);
        if (taken)
            chosen[kept++] = (int32_t)i;
    }
    return kept;
}
