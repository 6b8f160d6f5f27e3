// SPDX-License-Identifier: GPL-3.0-or-later
// Data as a dialect of mining sees them, and the candidates of queries in them.
#include "retrieval/miner.h"

#include "core/numbers.h"
#include "retrieval/candidates.h"
#include "retrieval/mine.h"
#include "retrieval/ranking.h"
#include "retrieval/relevance.h"
#include "retrieval/streamed.h"

#include <math.h>
#include <string.h>

enum hn_code hn_miner_check_qrels(struct hn_context *ctx, const struct hn_qrels *qrels,
                                  const char *path) {
    if (qrels->start)
        return HN_OK;
    return hn_fail(ctx, HN_DATA, "%s: has no /qrels: nothing says which passages are positives",
                   path);
}

static enum hn_code check_data(struct hn_context *ctx, const struct hn_retrieval_data *d,
                               const struct hn_mine_options *o, const char *path) {
    bool teacher = o->filter_by == HN_BY_TEACHER || o->rank_by == HN_BY_TEACHER;
    bool listed = o->filter_by == HN_BY_LISTED || o->rank_by == HN_BY_LISTED;
    if (teacher && !d->teacher[0].data)
        return hn_fail(ctx, HN_DATA,
                       "%s: has no teacher, by whose scores to filter or rank: import "
                       "--query-teacher and --corpus-teacher",
                       path);
    if (listed && !d->scores.start)
        return hn_fail(ctx, HN_DATA,
                       "%s: has no scores of pairs to filter or rank by: import --scores", path);
    if (!isnan(o->guide) && !d->teacher[0].data && !d->scores.start)
        return hn_fail(ctx, HN_DATA,
                       "%s: has neither a teacher nor scores of pairs, which --guide compares: "
                       "import --query-teacher and --corpus-teacher, or --scores",
                       path);
    return hn_miner_check_qrels(ctx, &d->qrels, path);
}

// The first passage of each text: *kept of them in first[n], and to[n] from a passage to its text's
// index among them.
static enum hn_code find_first(struct hn_context *ctx, const int64_t *group, int64_t n,
                               int32_t *first, int32_t *to, int64_t *kept) {
    int64_t texts = 0;
    HN_SCOPE(ctx);
    int32_t *index = hn_alloc(ctx, n, sizeof *index); // of a text; -1: not met yet
    if (!index || hn_numbers_rank(ctx, group, n, to, &texts))
        return ctx->code;
    memset(index, -1, (size_t)texts * sizeof *index);
    *kept = 0;
    for (int64_t i = 0; i < n; i++) {
        int32_t *own = &index[to[i]];
        if (*own < 0) {
            *own = (int32_t)*kept;
            first[(*kept)++] = (int32_t)i;
        }
        to[i] = *own;
    }
    return HN_OK;
}

// Relevance of merged passages, shared by the queries of one text.
static enum hn_code merge_qrels(struct hn_context *ctx, const struct hn_retrieval_data *d,
                                const int32_t *to, struct hn_qrels *q) {
    int64_t texts = 0;
    if (!q->start)
        return HN_OK;
    if (hn_qrels_merge(ctx, q, to, q))
        return ctx->code;
    if (!d->group[HN_QUERIES])
        return HN_OK;
    int32_t *text = hn_alloc(ctx, q->n, sizeof *text);
    return !text || hn_numbers_rank(ctx, d->group[HN_QUERIES], q->n, text, &texts) ||
                   hn_qrels_share(ctx, text, texts, q)
               ? ctx->code
               : HN_OK;
}

static enum hn_code merge_scores(struct hn_context *ctx, const struct hn_retrieval_data *d,
                                 const int32_t *to, struct hn_pair_scores *s) {
    int64_t n = d->rows[HN_QUERIES].rows, count = s->start ? s->start[n] : 0;
    if (!s->start)
        return HN_OK;
    struct hn_judgement *list = hn_alloc(ctx, count, sizeof *list);
    if (!list)
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = s->start[i]; e < s->start[i + 1]; e++)
            list[e] = (struct hn_judgement){(int32_t)i, to[s->passage[e]], (int32_t)e};
    return hn_pair_scores_build(ctx, list, count, n, s->score, s);
}

static enum hn_code merge_rows(struct hn_context *ctx, const int32_t *first, int64_t kept,
                               struct hn_matrix *m) {
    if (!m->data)
        return HN_OK;
    float *x = hn_alloc(ctx, kept * m->cols, sizeof *x);
    if (!x)
        return ctx->code;
    hn_gather_rows(m, first, kept, x);
    *m = (struct hn_matrix){x, kept, m->cols, m->cols};
    return HN_OK;
}

// One passage for each text.
static enum hn_code merge(struct hn_context *ctx, struct hn_miner *m) {
    struct hn_retrieval_data *d = &m->data;
    int64_t n = d->rows[HN_CORPUS].rows, kept = 0;
    int32_t *first = hn_alloc(ctx, n, sizeof *first), *to = hn_alloc(ctx, n, sizeof *to);
    if (!first || !to || find_first(ctx, d->group[HN_CORPUS], n, first, to, &kept))
        return ctx->code;
    int64_t *group = hn_alloc(ctx, kept, sizeof *group);
    if (!group)
        return ctx->code;
    for (int64_t i = 0; i < kept; i++)
        group[i] = d->group[HN_CORPUS][first[i]];
    if (merge_qrels(ctx, d, to, &d->qrels) || merge_qrels(ctx, d, to, &d->truth) ||
        merge_scores(ctx, d, to, &d->scores))
        return ctx->code;
    if (kept < n && (merge_rows(ctx, first, kept, &d->rows[HN_CORPUS]) ||
                     merge_rows(ctx, first, kept, &d->teacher[HN_CORPUS])))
        return ctx->code;
    d->rows[HN_CORPUS].rows = kept;
    d->source.id = first;
    d->group[HN_CORPUS] = group;
    m->passage = first;
    m->merged = to;
    return HN_OK;
}

bool hn_miner_guide_is_listed(const struct hn_miner *m) {
    return !isnan(m->o.guide) && !m->data.teacher[0].data;
}

// Counts the listed scores of known positives.
static void count_listed(struct hn_miner *m) {
    const struct hn_qrels *q = &m->data.qrels;
    struct hn_listed_scores *l = &m->listed;
    *l = (struct hn_listed_scores){.asked = m->o.filter_by == HN_BY_LISTED ||
                                            m->o.rank_by == HN_BY_LISTED ||
                                            hn_miner_guide_is_listed(m)};
    for (int64_t i = 0; l->asked && i < q->n; i++) {
        int64_t positives = 0, scored = 0;
        for (int64_t e = q->start[i]; e < q->start[i + 1]; e++)
            if (hn_qrels_relevant_at(q, e)) {
                positives++;
                scored += !isnan(hn_miner_score(m, HN_BY_LISTED, i, q->passage[e]));
            }
        l->positives += positives;
        l->scored += scored;
        l->without += positives > 0 && scored == 0;
    }
}

// Scores of a corpus that is read in blocks: single ones are not found later.
static enum hn_code score_known(struct hn_context *ctx, struct hn_miner *m) {
    const struct hn_qrels *q = &m->data.qrels;
    int64_t pairs = q->start[q->n];
    if (!m->data.source.read)
        return HN_OK;
    if (!HN_ALLOC(ctx, m->known_score, pairs))
        return ctx->code;
    HN_SCOPE(ctx);
    struct hn_corpus_pair *pair = hn_alloc(ctx, pairs, sizeof *pair);
    if (!pair)
        return ctx->code;
    for (int64_t i = 0; i < q->n; i++)
        for (int64_t e = q->start[i]; e < q->start[i + 1]; e++)
            pair[e] = (struct hn_corpus_pair){(int32_t)i, q->passage[e], e};
    return hn_corpus_scores(ctx, &m->data, &m->data.rows[HN_QUERIES], pair, pairs, m->known_score);
}

enum hn_code hn_miner_open(struct hn_context *ctx, const struct hn_retrieval_data *data,
                           const struct hn_mine_options *o, const char *path,
                           struct hn_miner *out) {
    *out = (struct hn_miner){.o = *o, .data = *data};
    // Most is decided without the number of positives, which depends on how texts are merged.
    if (hn_mine_resolve(ctx, &out->o, 0) || check_data(ctx, data, &out->o, path))
        return ctx->code;
    bool texts = out->o.equal_texts != HN_EQUAL_APART;
    if (out->o.equal_texts == HN_EQUAL_MERGE && data->group[HN_CORPUS] && merge(ctx, out))
        return ctx->code;
    const int64_t *group = texts ? out->data.group[HN_CORPUS] : NULL;
    out->data.qrels.min_grade = out->data.truth.min_grade = (int32_t)o->min_grade;
    if (hn_relevance_build(ctx, &out->data.qrels, group, &out->known) ||
        hn_relevance_build(ctx, &out->data.truth, group, &out->truth) ||
        hn_selves_open(ctx, data, (enum hn_self)out->o.self, &out->self))
        return ctx->code;
    struct hn_qrels_summary s = hn_qrels_summarize(&out->data.qrels);
    out->o = *o;
    if (hn_mine_resolve(ctx, &out->o, s.max))
        return ctx->code;
    count_listed(out);
    return score_known(ctx, out);
}

double hn_miner_score(const struct hn_miner *m, enum hn_score_by by, int64_t query,
                      int32_t passage) {
    const struct hn_pair_scores *s = &m->data.scores;
    const struct hn_matrix *x = by == HN_BY_TEACHER ? m->data.teacher : m->data.rows;
    if (by == HN_BY_MODEL && m->known_score) {
        int64_t known = hn_qrels_find(&m->data.qrels, query, passage);
        return known < 0 ? NAN : m->known_score[known];
    }
    if (by != HN_BY_LISTED)
        return hn_score(hn_row(&x[HN_QUERIES], query), hn_row(&x[HN_CORPUS], passage), x->cols);
    const struct hn_qrels rows = {.start = s->start, .passage = s->passage};
    int64_t e = hn_qrels_find(&rows, query, passage);
    return e < 0 ? NAN : (double)s->score[e];
}

// That of a query's positives which margins are taken from; NaN without any that has a score.
static double positive_of(const struct hn_miner *m, enum hn_score_by by, int64_t query) {
    const struct hn_qrels *q = &m->data.qrels;
    double sum = 0, min = INFINITY, max = -INFINITY;
    int64_t n = 0;
    for (int64_t e = q->start[query]; e < q->start[query + 1]; e++) {
        if (!hn_qrels_relevant_at(q, e))
            continue;
        double s = hn_miner_score(m, by, query, q->passage[e]);
        if (isnan(s))
            continue;
        n++;
        sum += s;
        min = s < min ? s : min;
        max = s > max ? s : max;
    }
    return n == 0                             ? NAN
           : m->o.positive == HN_POSITIVE_MIN ? min
           : m->o.positive == HN_POSITIVE_MAX ? max
                                              : sum / (double)n;
}

static enum hn_score_by guide_by(const struct hn_miner *m) {
    return m->data.teacher[0].data ? HN_BY_TEACHER : HN_BY_LISTED;
}

// Puts n candidates of a row, from `at` on, in the order of another scorer: descending, then the
// lower index; those without a score last.
static void reorder(const struct hn_miner *m, const struct hn_pool *p, int64_t query, int64_t at,
                    int64_t n) {
    int32_t *id = p->id + at;
    double *key = p->key + at, *score = p->score + at;
    for (int64_t i = 0; i < n; i++) {
        double s = hn_miner_score(m, (enum hn_score_by)m->o.rank_by, query, id[i]);
        int32_t moved = id[i];
        double value = isnan(s) ? -INFINITY : s, with = p->scored ? score[i] : 0;
        int64_t k = i;
        for (; k > 0 && (key[k - 1] < value || (key[k - 1] == value && id[k - 1] > moved)); k--) {
            key[k] = key[k - 1];
            id[k] = id[k - 1];
            score[k] = score[k - 1];
        }
        key[k] = value;
        id[k] = moved;
        score[k] = with;
    }
}

int32_t hn_miner_merged(const struct hn_miner *m, int32_t passage) {
    return m->merged ? m->merged[passage] : passage;
}

int64_t hn_miner_key(const struct hn_miner *m, int32_t passage) {
    return m->known.group ? m->known.group[passage] : passage;
}

bool hn_miner_is_self(const struct hn_miner *m, int64_t query, int32_t passage) {
    return hn_is_self(&m->self, query, m->passage ? m->passage[passage] : passage);
}

double hn_candidate_score(const struct hn_candidates *c, int64_t i) {
    if (c->scorer && !(c->flags[i] & HN_IS_SCORED)) {
        c->score[i] = hn_miner_score(c->scorer, HN_BY_MODEL, c->query, c->id[i]);
        c->flags[i] |= HN_IS_SCORED;
    }
    return c->score[i];
}

static uint8_t flags_of(const struct hn_miner *m, int64_t query, const int32_t *id, int64_t i) {
    uint8_t flags = 0;
    int32_t grade = hn_relevance_grade(&m->known, query, id[i]);
    if (hn_grade_is_relevant(m->known.min_grade, grade))
        flags |= HN_IS_KNOWN;
    else if (hn_grade_is_between(m->known.min_grade, grade))
        flags |= HN_IS_BETWEEN;
    else if (grade != INT32_MIN)
        flags |= HN_IS_NEGATIVE;
    if (!(flags & (HN_IS_KNOWN | HN_IS_BETWEEN)) && hn_relevance_has(&m->truth, query, id[i]))
        flags |= HN_IS_HIDDEN;
    if (hn_miner_is_self(m, query, id[i]))
        flags |= HN_IS_SELF;
    if (m->listed.asked && isnan(hn_miner_score(m, HN_BY_LISTED, query, id[i])))
        flags |= HN_IS_UNSCORED;
    if (m->o.equal_texts == HN_EQUAL_FILTER && m->known.group)
        for (int64_t k = 0; k < i && !(flags & HN_IS_DUPLICATE); k++)
            if (hn_miner_key(m, id[k]) == hn_miner_key(m, id[i]))
                flags |= HN_IS_DUPLICATE;
    return flags;
}

// True if a positive of the query has no listed score.
static bool lacks_positive(const struct hn_miner *m, int64_t query) {
    const struct hn_qrels *q = &m->data.qrels;
    bool lacks = false;
    for (int64_t e = q->start[query]; !lacks && e < q->start[query + 1]; e++)
        lacks = hn_qrels_relevant_at(q, e) &&
                isnan(hn_miner_score(m, HN_BY_LISTED, query, q->passage[e]));
    return lacks;
}

static void fill_row(const struct hn_miner *m, const struct hn_pool *p, int64_t row) {
    int64_t query = p->from + row, at = row * p->width, n = p->n ? p->n[row] : p->width;
    int32_t *id = p->id + at;
    enum hn_score_by by = (enum hn_score_by)m->o.filter_by;
    if (m->o.rank_by != HN_BY_MODEL)
        reorder(m, p, query, at, n);
    for (int64_t i = 0; i < n; i++) {
        if (!p->scorer && !p->scored)
            p->score[at + i] = hn_miner_score(m, HN_BY_MODEL, query, id[i]);
        if (p->by != p->score)
            p->by[at + i] = hn_miner_score(m, by, query, id[i]);
        if (p->guide)
            p->guide[at + i] = hn_miner_score(m, guide_by(m), query, id[i]);
        p->flags[at + i] = flags_of(m, query, id, i);
    }
    p->positive[row] = positive_of(m, by, query);
    p->guide_positive[row] = p->guide ? positive_of(m, guide_by(m), query) : NAN;
    for (int64_t i = 0; p->source && i < n; i++)
        p->source[at + i] = m->sources->pair.grade[hn_qrels_find(&m->sources->pair, query, id[i])];
    if (p->lacks)
        p->lacks[row] = lacks_positive(m, query);
}

void hn_miner_look(const struct hn_context *ctx, const struct hn_miner *m, struct hn_pool *pool) {
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 16)
    for (int64_t i = 0; i < pool->count; i++)
        fill_row(m, pool, i);
}

enum hn_code hn_miner_pool(struct hn_context *ctx, const struct hn_miner *m, int64_t from,
                           int64_t count, bool scores, struct hn_pool *out) {
    const struct hn_matrix *all = &m->data.rows[HN_QUERIES];
    const struct hn_matrix q = {hn_row(all, from), count, all->cols, all->stride};
    struct hn_ranking r;
    *out = (struct hn_pool){.from = from,
                            .count = count,
                            .descending = m->o.filter_by == HN_BY_MODEL &&
                                          m->o.rank_by == HN_BY_MODEL &&
                                          !(m->sources && m->sources->fused),
                            .quota = hn_sources_quota(m->sources),
                            .wanting = m->wanting,
                            .by_listed = m->o.filter_by == HN_BY_LISTED,
                            .guide_listed = hn_miner_guide_is_listed(m)};
    if (m->sources
            ? hn_candidates_rank(ctx, m->sources, &m->data, from, count, m->o.depth, &r, &out->n)
            : hn_corpus_rank(ctx, &m->data, &q, m->o.depth, &r))
        return ctx->code;
    int64_t size = count * r.kept; // the sweep's lists have it
    out->width = r.kept;
    out->id = r.id;
    out->scored = r.score != NULL;
    out->scorer = scores || out->scored ? NULL : m;
    bool good = (out->score = r.score ? r.score : hn_alloc(ctx, size, sizeof(double))) &&
                (out->flags = hn_alloc(ctx, size, 1)) &&
                (out->positive = hn_alloc(ctx, count, sizeof(double))) &&
                (out->guide_positive = hn_alloc(ctx, count, sizeof(double)));
    out->by = out->score;
    if (good && m->o.filter_by != HN_BY_MODEL)
        good = (out->by = hn_alloc(ctx, size, sizeof(double)));
    if (good && !isnan(m->o.guide))
        good = (out->guide = hn_alloc(ctx, size, sizeof(double)));
    if (good && m->o.rank_by != HN_BY_MODEL)
        good = (out->key = hn_alloc(ctx, size, sizeof(double)));
    if (good && m->sources)
        good = (out->source = hn_alloc(ctx, size, sizeof *out->source));
    if (good && m->wanting)
        good = (out->lacks = hn_alloc(ctx, count, sizeof *out->lacks));
    if (!good)
        return ctx->code;
    hn_miner_look(ctx, m, out);
    return HN_OK;
}

struct hn_candidates hn_pool_row(const struct hn_pool *p, int64_t row) {
    int64_t at = row * p->width;
    bool lacks = p->lacks && p->lacks[row];
    return (struct hn_candidates){.query = p->from + row,
                                  .n = p->n ? p->n[row] : p->width,
                                  .descending = p->descending,
                                  .scorer = p->by == p->score ? p->scorer : NULL,
                                  .id = p->id + at,
                                  .score = p->by + at,
                                  .guide = p->guide ? p->guide + at : NULL,
                                  .flags = p->flags + at,
                                  .source = p->source ? p->source + at : NULL,
                                  .quota = p->quota,
                                  .positive = p->positive[row],
                                  .guide_positive = p->guide_positive[row],
                                  .wanting = p->wanting,
                                  .no_positive = lacks && p->by_listed,
                                  .no_guide = lacks && p->guide_listed};
}
