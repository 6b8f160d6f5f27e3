// SPDX-License-Identifier: GPL-3.0-or-later
// Negatives of a pool of candidates, and what fills rows that have too few.
#include "retrieval/take.h"

#include "core/random.h"
#include "retrieval/mine.h"
#include "retrieval/miner.h"
#include "retrieval/relevance.h"
#include "retrieval/streamed.h"

enum { TRIES = 64 }; // draws for a negative before passages are taken in turn

// Scratch of a thread for a row.
struct scratch {
    uint8_t *left;
    int32_t *draw, *chosen;
    struct hn_mine_counts counts;
};

// True if a passage may fill a row whose n negatives, as indices of merged passages, are in id[].
static bool may_fill(const struct hn_miner *m, int64_t query, const int32_t *id, int64_t n,
                     int32_t passage) {
    bool good =
        hn_relevance_grade(&m->known, query, passage) <= 0 && !hn_miner_is_self(m, query, passage);
    for (int64_t k = 0; good && k < n; k++)
        good = hn_miner_key(m, id[k]) != hn_miner_key(m, passage);
    return good;
}

// Draws until there are m->o.n of them, or no passage is left: their number.
static int64_t fill(const struct hn_miner *m, int64_t query, int32_t *id, int64_t n) {
    int64_t passages = m->data.rows[HN_CORPUS].rows;
    struct hn_stream stream;
    hn_stream_open(&stream, (uint64_t)m->o.seed, "mine.fill", 0, 0, query);
    for (; n < m->o.n; n++) {
        int64_t p = 0, tried = 0;
        bool found = false;
        while (!found && tried++ < TRIES) {
            p = hn_stream_below(&stream, (uint32_t)passages);
            found = may_fill(m, query, id, n, (int32_t)p);
        }
        for (tried = 0; !found && tried < passages; tried++) {
            p = (p + 1) % passages;
            found = may_fill(m, query, id, n, (int32_t)p);
        }
        if (!found)
            break;
        id[n] = (int32_t)p;
    }
    return n;
}

// Sorts what was drawn by descending score.
static void sort_drawn(int32_t *id, double *score, int64_t n) {
    for (int64_t i = 1; i < n; i++) {
        double s = score[i];
        int32_t moved = id[i];
        int64_t k = i;
        for (; k > 0 && score[k - 1] < s; k--) {
            score[k] = score[k - 1];
            id[k] = id[k - 1];
        }
        score[k] = s;
        id[k] = moved;
    }
}

// Gives those that were drawn, of each row from chosen[row] on, their scores.
static enum hn_code score_drawn(struct hn_context *ctx, const struct hn_miner *m,
                                const struct hn_pool *pool, const int32_t *chosen,
                                const struct hn_mined *out) {
    enum hn_score_by by = (enum hn_score_by)m->o.filter_by;
    int64_t n = 0;
    HN_SCOPE(ctx);
    struct hn_corpus_pair *pair = hn_alloc(ctx, out->counts.drawn, sizeof *pair);
    if (!pair)
        return ctx->code;
    for (int64_t i = 0; i < out->count; i++)
        for (int64_t k = chosen[i]; k < out->n[i]; k++) {
            int64_t at = i * out->width + k;
            if (by == HN_BY_MODEL)
                pair[n++] = (struct hn_corpus_pair){(int32_t)(pool->from + i), out->id[at], at};
            else
                out->score[at] = hn_miner_score(m, by, pool->from + i, out->id[at]);
        }
    if (hn_corpus_scores(ctx, &m->data, &m->data.rows[HN_QUERIES], pair, n, out->score))
        return ctx->code;
    for (int64_t i = 0; i < out->count; i++) {
        int64_t at = i * out->width + chosen[i];
        sort_drawn(out->id + at, out->score + at, out->n[i] - chosen[i]);
    }
    return HN_OK;
}

static void count_sources(const struct hn_miner *m, int64_t query, const int32_t *id, int64_t n,
                          int64_t *source) {
    for (int64_t k = 0; m->sources && k < n; k++) {
        int64_t e = hn_qrels_find(&m->sources->pair, query, id[k]); // -1: drawn to fill
        for (int s = 0; e >= 0 && s < HN_SOURCES_MAX; s++)
            source[s] += m->sources->pair.grade[e] >> s & 1;
    }
}

// Returns how many were chosen of the candidates: those behind them were drawn.
static int64_t take_row(const struct hn_miner *m, const struct hn_pool *pool, int64_t row,
                        struct scratch *s, const struct hn_mined *out) {
    struct hn_candidates c = hn_pool_row(pool, row);
    c.by_source = c.source ? s->counts.by_source : NULL;
    int32_t *id = out->id + row * out->width;
    double *score = out->score + row * out->width;
    int64_t chosen = hn_filter_row(&m->o, &c, s->left, s->draw, s->chosen, &s->counts.attrition);
    int64_t n = chosen;
    for (int64_t k = 0; k < n; k++) {
        id[k] = c.id[s->chosen[k]];
        score[k] = hn_candidate_score(&c, s->chosen[k]);
    }
    for (int64_t i = 0; m->listed.asked && i < c.n; i++)
        s->counts.unscored += (c.flags[i] & HN_IS_UNSCORED) != 0;
    s->counts.looked += c.n;
    s->counts.fewer += n < m->o.n;
    s->counts.none += n == 0;
    if (n < m->o.n && m->o.fill == HN_FILL_DRAW) {
        n = fill(m, c.query, id, n);
        s->counts.drawn += n - chosen;
    }
    if (n < m->o.n && m->o.fill == HN_FILL_DROP)
        n = 0;
    count_sources(m, c.query, id, n, s->counts.source);
    out->n[row] = (int32_t)n;
    return chosen;
}

void hn_mine_counts_add(struct hn_mine_counts *sum, const struct hn_mine_counts *more) {
    hn_attrition_add(&sum->attrition, &more->attrition);
    sum->looked += more->looked;
    sum->unscored += more->unscored;
    sum->fewer += more->fewer;
    sum->none += more->none;
    sum->drawn += more->drawn;
    for (int s = 0; s < HN_SOURCES_MAX; s++) {
        sum->source[s] += more->source[s];
        hn_attrition_add(&sum->by_source[s], &more->by_source[s]);
    }
}

enum hn_code hn_miner_take(struct hn_context *ctx, const struct hn_miner *m,
                           const struct hn_pool *pool, struct hn_mined *out) {
    int64_t width = pool->width;
    out->count = pool->count;
    out->width = m->o.fill == HN_FILL_DRAW ? m->o.n : hn_min(m->o.n, width);
    // Rows with fewer end in zeros.
    out->id = hn_zalloc(ctx, out->count, (size_t)out->width * sizeof *out->id);
    out->score = hn_zalloc(ctx, out->count, (size_t)out->width * sizeof *out->score);
    out->n = hn_alloc(ctx, out->count, sizeof *out->n);
    HN_SCOPE(ctx);
    struct scratch *s = hn_zalloc(ctx, ctx->threads, sizeof *s);
    int32_t *chosen = hn_alloc(ctx, out->count, sizeof *chosen);
    bool good = out->id && out->score && out->n && s && chosen;
    for (int t = 0; good && t < ctx->threads; t++)
        good = (s[t].left = hn_alloc(ctx, width, 1)) &&
               (s[t].draw = hn_alloc(ctx, width, sizeof *s->draw)) &&
               (s[t].chosen = hn_alloc(ctx, width, sizeof *s->chosen));
    if (!good)
        return ctx->code;
#pragma omp parallel for num_threads(ctx->threads) schedule(static, 1)
    for (int t = 0; t < ctx->threads; t++)
        for (int64_t i = pool->count * t / ctx->threads; i < pool->count * (t + 1) / ctx->threads;
             i++)
            chosen[i] = (int32_t)take_row(m, pool, i, &s[t], out);
    for (int t = 0; t < ctx->threads; t++)
        hn_mine_counts_add(&out->counts, &s[t].counts);
    if (out->counts.drawn > 0 && score_drawn(ctx, m, pool, chosen, out))
        return ctx->code;
    for (int64_t i = 0; m->passage && i < out->count; i++)
        for (int64_t k = 0; k < out->n[i]; k++)
            out->id[i * out->width + k] = m->passage[out->id[i * out->width + k]];
    return HN_OK;
}
