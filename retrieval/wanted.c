// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the pairs whose scores are still wanted.
#include "retrieval/wanted.h"

#include <math.h>
#include <string.h>

int64_t hn_wanted_width(const struct hn_miner *m) {
    int64_t positives = hn_qrels_summarize(&m->data.qrels).max;
    return hn_min(m->o.depth, m->data.rows[HN_CORPUS].rows) + positives;
}

// Scratch of a row.
struct scratch {
    uint8_t *left;
    int32_t *draw, *chosen;
};

static bool is_wanted(const struct hn_candidates *c, int64_t i) {
    return (c->flags[i] & HN_IS_UNSCORED) != 0;
}

// The first n candidates that could be mined, in s->left, or all of them where some are drawn; true
// if one of them lacks a score.
static bool find_first(const struct hn_mine_options *o, const struct hn_candidates *c,
                       struct scratch *s) {
    struct hn_attrition attrition = {0};
    int64_t kept = hn_filter_row(o, c, s->left, s->draw, s->chosen, &attrition);
    bool wanted = false;
    if (o->take == HN_TAKE_TOP) {
        memset(s->left, 0, (size_t)c->n);
        for (int64_t k = 0; k < kept; k++)
            s->left[s->chosen[k]] = 1;
    }
    for (int64_t i = 0; i < c->n && !wanted; i++)
        wanted = s->left[i] && is_wanted(c, i);
    return wanted;
}

// Widens options whose ranks count what all filters leave: whether a candidate before the window
// passes moves the window.
static void widen(struct hn_mine_options *o) {
    bool all = o->take == HN_TAKE_DRAW;
    o->n = all ? o->max_rank : hn_min(o->max_rank, o->min_rank - 1 + o->n);
    o->min_rank = 1;
    o->take = HN_TAKE_TOP;
}

// Marks in s->left the candidates that may be mined. As many candidates more as have failed are
// looked at ahead, so that a query takes few rounds, however many fail.
static void find_possible(const struct hn_miner *m, const struct hn_candidates *c,
                          struct scratch *s) {
    struct hn_mine_options o = m->o;
    int64_t scored = 0, passed = 0;
    uint8_t positive = o.include_positives ? 0 : HN_IS_KNOWN | HN_IS_BETWEEN;
    if (o.rank_by == HN_BY_LISTED) { // nobody knows the ranks yet
        for (int64_t i = 0; i < c->n; i++)
            s->left[i] = !(c->flags[i] & (positive | (o.self == HN_SELF_NONE ? 0 : HN_IS_SELF)));
        return;
    }
    if (o.rank_of == HN_RANK_SURVIVORS)
        widen(&o);
    if (!find_first(&o, c, s) || o.take == HN_TAKE_DRAW)
        return;
    for (int64_t i = 0; i < c->n; i++) {
        scored += !is_wanted(c, i) && !(c->flags[i] & HN_IS_KNOWN);
        passed += !is_wanted(c, i) && s->left[i];
    }
    o.n += scored - passed;
    (void)find_first(&o, c, s);
}

static void find_row(const struct hn_miner *m, const struct hn_pool *pool, int64_t row,
                     struct scratch *s, const struct hn_mined *out) {
    const struct hn_candidates c = hn_pool_row(pool, row);
    const struct hn_qrels *q = &m->data.qrels;
    int32_t *id = out->id + row * out->width;
    int64_t n = 0;
    bool any = false;
    find_possible(m, &c, s);
    for (int64_t i = 0; i < c.n; i++) {
        any = any || s->left[i];
        if (s->left[i] && is_wanted(&c, i))
            id[n++] = c.id[i];
    }
    int64_t own = n; // a positive may be among the candidates
    for (int64_t e = q->start[c.query]; any && e < q->start[c.query + 1]; e++) {
        bool there = !hn_qrels_relevant_at(q, e) ||
                     !isnan(hn_miner_score(m, HN_BY_LISTED, c.query, q->passage[e]));
        for (int64_t k = 0; k < own && !there; k++)
            there = id[k] == q->passage[e];
        if (!there)
            id[n++] = q->passage[e];
    }
    for (int64_t k = 0; k < n; k++) {
        id[k] = m->passage ? m->passage[id[k]] : id[k];
        out->score[row * out->width + k] = NAN;
    }
    out->n[row] = (int32_t)n;
}

enum hn_code hn_miner_wanted(struct hn_context *ctx, const struct hn_miner *m,
                             const struct hn_pool *pool, struct hn_mined *out) {
    *out = (struct hn_mined){.count = pool->count, .width = hn_wanted_width(m)};
    // Rows with fewer end in zeros.
    out->id = hn_zalloc(ctx, out->count, (size_t)out->width * sizeof *out->id);
    out->score = hn_zalloc(ctx, out->count, (size_t)out->width * sizeof *out->score);
    out->n = hn_alloc(ctx, out->count, sizeof *out->n);
    HN_SCOPE(ctx);
    struct scratch s = {hn_alloc(ctx, pool->width, 1), hn_alloc(ctx, pool->width, sizeof *s.draw),
                        hn_alloc(ctx, pool->width, sizeof *s.chosen)};
    if (!out->id || !out->score || !out->n || !s.left || !s.draw || !s.chosen)
        return ctx->code;
    for (int64_t i = 0; i < pool->count; i++) {
        find_row(m, pool, i, &s, out);
        out->counts.looked += pool->n ? pool->n[i] : pool->width;
    }
    return HN_OK;
}
