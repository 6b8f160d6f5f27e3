// SPDX-License-Identifier: GPL-3.0-or-later
// Evaluates the queries of a miner: their rankings down to the last cutoff, with all passages of
// the score that is there.
#include "retrieval/evaluate.h"
#include "core/numbers.h"
#include "retrieval/miner.h"
#include "retrieval/ranking.h"
#include "retrieval/relevance.h"
#include "retrieval/streamed.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

// Ranks behind the last cutoff, so that few texts that are there twice, and few passages of equal
// score, do not make a query be ranked anew.
enum { MARGIN = 16 };

// A passage in the ranking of a query. Equal scores come by `position`.
struct entry {
    double score;
    int32_t id, grade, position;
};

// Scratch of a thread, or of queries that are ranked by the whole corpus.
struct scratch {
    struct entry *entry;   // [depth], or [whole]
    int32_t *stamp;        // [passages] by texts: 1 + the last query that ranked it
    double *gain, *wanted; // [passages judged of a query, at most]
    struct hn_tie *tie;    // [deepest]
};

struct work {
    struct hn_ranking_metrics *e;
    const struct hn_matrix *q, *p;
    int64_t deepest, depth;
    int64_t whole;        // passages that are ranked where the best ones do not suffice
    int32_t *text;        // [passages] numbers of texts, from 0; NULL: ids alone count
    int32_t *id_position; // [passages] in descending order of ids; NULL: equal scores have no order
    int64_t from, rows;   // of a part:
    double *extreme;      // [2 x cutoffs x HN_RETRIEVAL_METRICS x rows]
    uint8_t *own_text;    // [rows]
};

static bool is_relevant(const struct work *w, int32_t grade) {
    return hn_grade_is_relevant(w->e->relevance->min_grade, grade);
}

// Adds a passage to the ranking, if it is neither the query itself nor the text of a better one.
static int64_t add_entry(const struct work *w, struct scratch *s, int64_t query, int32_t id,
                         double score, int64_t n) {
    const struct hn_miner *m = w->e->miner;
    int32_t grade = hn_relevance_grade(w->e->relevance, query, id);
    bool relevant = is_relevant(w, grade);
    int32_t passage = m->passage ? m->passage[id] : id;
    if (!relevant && n < w->deepest && hn_is_own_text(&m->self, query, passage))
        w->own_text[query - w->from] = 1;
    if (!relevant && hn_is_self(&m->self, query, passage))
        return n;
    if (w->text) {
        if (s->stamp[w->text[id]] == query + 1)
            return n;
        s->stamp[w->text[id]] = (int32_t)(query + 1);
    }
    s->entry[n] = (struct entry){score, id, grade, w->id_position ? w->id_position[id] : id};
    return n + 1;
}

// True if the ranking goes on with a score that is not the one at the last cutoff.
static bool is_complete(const struct work *w, const struct scratch *s, int64_t n, double next) {
    return n >= w->deepest && next < s->entry[w->deepest - 1].score;
}

static int by_score(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

// The ranking of a query down to the last cutoff, with all passages of the score there, in
// s->entry: their number. By its best passages id[kept], and their scores (NULL: by their rows); -1
// where these do not suffice.
static int64_t rank_best(const struct work *w, struct scratch *s, int64_t query, const int32_t *id,
                         const double *scores, int64_t kept) {
    int64_t n = 0;
    for (int64_t i = 0; i < kept; i++) {
        double score =
            scores ? scores[i] : hn_score(hn_row(w->q, query), hn_row(w->p, id[i]), w->p->cols);
        if (is_complete(w, s, n, score))
            return n;
        n = add_entry(w, s, query, id[i], score, n);
    }
    for (int64_t i = 0; w->text && i < kept; i++)
        s->stamp[w->text[id[i]]] = 0; // the query may be ranked anew
    return kept == w->p->rows ? n : -1;
}

// The same by the passages of s->entry[passages], which have scores and ids.
static int64_t rank_entries(const struct work *w, struct scratch *s, int64_t query,
                            int64_t passages) {
    int64_t n = 0;
    qsort(s->entry, (size_t)passages, sizeof *s->entry, by_score);
    for (int64_t i = 0; i < passages && !is_complete(w, s, n, s->entry[i].score); i++)
        n = add_entry(w, s, query, s->entry[i].id, s->entry[i].score, n); // n <= i
    return n;
}

// By all passages.
static int64_t rank_all(const struct work *w, struct scratch *s, int64_t query, int threads) {
    const float *q = hn_row(w->q, query);
    int64_t passages = w->p->rows;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < passages; i++)
        s->entry[i] =
            (struct entry){hn_score(q, hn_row(w->p, i), w->p->cols), (int32_t)i, 0, (int32_t)i};
    return rank_entries(w, s, query, passages);
}

static int64_t rank_run(const struct work *w, struct scratch *s, int64_t query) {
    const struct hn_pair_scores *run = w->e->run;
    int64_t from = run->start[query], n = run->start[query + 1] - from;
    for (int64_t i = 0; i < n; i++) {
        int32_t id = hn_miner_merged(w->e->miner, run->passage[from + i]);
        s->entry[i] = (struct entry){(double)run->score[from + i], id, 0, id};
    }
    return rank_entries(w, s, query, n);
}

// The passages from .. to of the ranking as one tie, whose gains go into gain[].
static struct hn_tie make_tie(const struct work *w, const struct scratch *s, int64_t from,
                              int64_t to, double *gain) {
    struct hn_tie t = {.n = to - from, .gain = gain};
    for (int64_t i = from; i < to; i++) {
        int32_t grade = s->entry[i].grade;
        bool relevant = is_relevant(w, grade);
        double g = hn_gain_of(grade, relevant, w->e->convention);
        t.relevant += relevant;
        if (g > 0)
            gain[t.gains++] = g;
    }
    hn_sort_down(gain, t.gains);
    return t;
}

// Cuts the ranking of n passages into ties down to the last cutoff: their number. Each passage is
// one of its own where `apart`.
static int64_t make_ties(const struct work *w, struct scratch *s, int64_t n, bool apart) {
    int64_t ties = 0, gains = 0;
    for (int64_t from = 0, to; from < hn_min(n, w->deepest); from = to) {
        for (to = from + 1; !apart && to < n && s->entry[to].score == s->entry[from].score;)
            to++;
        s->tie[ties] = make_tie(w, s, from, to, s->gain + gains);
        gains += s->tie[ties++].gains;
    }
    return ties;
}

static struct hn_ideal find_wanted(const struct work *w, int64_t query, double *gain) {
    const struct hn_relevance *r = w->e->relevance;
    struct hn_ideal wanted = {.gain = gain};
    for (int64_t k = r->start[query]; k < r->start[query + 1]; k++) {
        bool relevant = is_relevant(w, r->grade[k]);
        double g = hn_gain_of(r->grade[k], relevant, w->e->convention);
        wanted.relevant += relevant;
        if (g > 0)
            gain[wanted.gains++] = g;
    }
    hn_sort_down(gain, wanted.gains);
    return wanted;
}

// Values of a query whose ranking is s->entry[n], with its ties in each order.
static void evaluate_ranking(const struct work *w, struct scratch *s, int64_t query, int64_t n) {
    const struct hn_ranking_metrics *e = w->e;
    const struct hn_ideal wanted = find_wanted(w, query, s->wanted);
    int64_t values = e->cutoffs * HN_RETRIEVAL_METRICS, ties = make_ties(w, s, n, false);
    bool judged = e->relevance->start[query + 1] > e->relevance->start[query];
    double v[HN_RETRIEVAL_METRICS];
    if (!(wanted.relevant > 0 || (e->convention == HN_CONVENTION_TREC && judged)))
        return;
    for (int order = HN_TIES_WORST; order >= HN_TIES_EXPECTED; order--) {
        if (order == HN_TIES_EXPECTED && w->id_position) {
            qsort(s->entry, (size_t)n, sizeof *s->entry, by_score);
            ties = make_ties(w, s, n, true);
        }
        for (int c = 0; c < e->cutoffs; c++) {
            hn_evaluate_ties(&wanted, s->tie, ties, e->k[c], e->convention,
                             (enum hn_tie_order)order, v);
            for (int m = 0; m < HN_RETRIEVAL_METRICS; m++) {
                int64_t at = c * HN_RETRIEVAL_METRICS + m;
                if (order == HN_TIES_EXPECTED)
                    e->value[at * w->q->rows + query] = v[m];
                else
                    w->extreme[((order - 1) * values + at) * w->rows + query - w->from] = v[m];
            }
        }
    }
}

// Sums in the order of the queries, for any number of threads.
static void add_extremes(const struct work *w) {
    int64_t values = w->e->cutoffs * HN_RETRIEVAL_METRICS;
    for (int64_t at = 0; at < 2 * values; at++)
        for (int64_t i = 0; i < w->rows; i++)
            w->e->extreme[at] += w->extreme[at * w->rows + i];
    for (int64_t i = 0; i < w->rows; i++) {
        w->e->own_text += w->own_text[i];
        w->e->queries += !isnan(w->e->value[w->from + i]);
    }
}

// Scratch of the threads, and behind it that of the whole corpus.
static enum hn_code open_scratch(struct hn_context *ctx, const struct work *w,
                                 struct scratch **out) {
    const struct hn_relevance *r = w->e->relevance;
    struct scratch *s = *out = hn_zalloc(ctx, ctx->threads + 1, sizeof *s);
    int64_t judged = 0;
    for (int64_t q = 0; q < w->q->rows; q++)
        judged = hn_max(judged, r->start[q + 1] - r->start[q]);
    for (int t = 0; s && t <= ctx->threads; t++)
        if (!HN_ALLOC(ctx, s[t].entry, t < ctx->threads ? w->depth : w->whole) ||
            !HN_ZALLOC(ctx, s[t].stamp, w->text ? w->p->rows : 0) ||
            !HN_ALLOC(ctx, s[t].gain, judged) || !HN_ALLOC(ctx, s[t].wanted, judged) ||
            !HN_ALLOC(ctx, s[t].tie, w->deepest))
            return ctx->code;
    return s ? HN_OK : ctx->code;
}

// Values of the queries that their best passages suffice for; suffices[i]: whether they do.
static enum hn_code evaluate_best(struct hn_context *ctx, const struct work *w, struct scratch *s,
                                  uint8_t *suffices) {
    HN_SCOPE(ctx);
    struct hn_ranking r;
    const struct hn_matrix q = {hn_row(w->q, w->from), w->rows, w->q->cols, w->q->stride};
    if (hn_corpus_rank(ctx, &w->e->miner->data, &q, w->depth, &r))
        return ctx->code;
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 16)
    for (int64_t i = 0; i < w->rows; i++) {
        struct scratch *own = &s[omp_get_thread_num()];
        int64_t n = rank_best(w, own, w->from + i, r.id + i * r.kept,
                              r.score ? r.score + i * r.kept : NULL, r.kept);
        suffices[i] = n >= 0;
        if (suffices[i])
            evaluate_ranking(w, own, w->from + i, n);
    }
    return HN_OK;
}

// The same of id[n], queries from w->from on, by the best `depth` passages: those of one after the
// other.
static enum hn_code evaluate_deep(struct hn_context *ctx, const struct work *w, struct scratch *s,
                                  const int32_t *id, int64_t n, int64_t depth, uint8_t *suffices) {
    HN_SCOPE(ctx);
    struct hn_ranking r;
    const struct hn_matrix all = {hn_row(w->q, w->from), w->rows, w->q->cols, w->q->stride};
    float *row = hn_alloc(ctx, n * all.cols, sizeof *row);
    if (!row || !HN_ALLOC(ctx, s->entry, depth))
        return ctx->code;
    hn_gather_rows(&all, id, n, row);
    const struct hn_matrix q = {row, n, all.cols, all.cols};
    if (hn_corpus_rank(ctx, &w->e->miner->data, &q, depth, &r))
        return ctx->code;
    for (int64_t i = 0; i < n; i++) {
        int64_t found =
            rank_best(w, s, w->from + id[i], r.id + i * r.kept, r.score + i * r.kept, r.kept);
        suffices[id[i]] = found >= 0;
        if (found >= 0)
            evaluate_ranking(w, s, w->from + id[i], found);
    }
    return HN_OK;
}

// Evaluates, where a corpus is read in blocks, those whose best passages do not suffice, by more of
// them.
static enum hn_code evaluate_deeper(struct hn_context *ctx, const struct work *w, struct scratch *s,
                                    uint8_t *done) {
    enum { TIMES = 8 };
    HN_SCOPE(ctx);
    int32_t *id = hn_alloc(ctx, w->rows, sizeof *id);
    if (!id)
        return ctx->code;
    for (int64_t depth = w->depth, n = 1; n > 0;) {
        n = 0;
        depth = hn_min(depth * TIMES, w->p->rows);
        for (int64_t i = 0; i < w->rows; i++)
            if (!done[i])
                id[n++] = (int32_t)i;
        int64_t part = hn_corpus_part(ctx, &w->e->miner->data, n, depth);
        for (int64_t from = 0; from < n; from += part)
            if (hn_check_stop(ctx) ||
                evaluate_deep(ctx, w, s, id + from, hn_min(part, n - from), depth, done))
                return ctx->code;
    }
    return HN_OK;
}

static enum hn_code evaluate_part(struct hn_context *ctx, struct work *w, struct scratch *s) {
    HN_SCOPE(ctx);
    struct scratch *whole = &s[ctx->threads];
    uint8_t *done = hn_zalloc(ctx, w->rows, 1);
    if (!done || hn_check_stop(ctx) ||
        !HN_ZALLOC(ctx, w->extreme, 2 * w->e->cutoffs * HN_RETRIEVAL_METRICS * w->rows) ||
        !HN_ZALLOC(ctx, w->own_text, w->rows) || (!w->e->run && evaluate_best(ctx, w, s, done)))
        return ctx->code;
    bool blocks = !w->e->run && w->e->miner->data.source.read;
    if (blocks && evaluate_deeper(ctx, w, whole, done))
        return ctx->code;
    for (int64_t i = 0; i < w->rows && !hn_check_stop(ctx); i++) {
        int64_t query = w->from + i;
        if (!done[i])
            evaluate_ranking(w, whole, query,
                             w->e->run ? rank_run(w, whole, query)
                                       : rank_all(w, whole, query, ctx->threads));
    }
    add_extremes(w);
    return hn_check_stop(ctx);
}

// The position of each passage in the descending order of ids, as bytes.
static enum hn_code number_ids(struct hn_context *ctx, struct work *w) {
    const struct hn_miner *m = w->e->miner;
    const struct hn_strings *id = &m->data.id[HN_CORPUS];
    int64_t n = w->p->rows;
    if (!HN_ALLOC(ctx, w->id_position, n))
        return ctx->code;
    HN_SCOPE(ctx);
    struct hn_named *named = hn_alloc(ctx, n, sizeof *named);
    if (!named)
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        named[i] = (struct hn_named){hn_string(id, m->passage ? m->passage[i] : i), i};
    hn_named_sort(named, n);
    for (int64_t k = 0; k < n; k++)
        w->id_position[named[k].number] = (int32_t)(n - 1 - k);
    return HN_OK;
}

static enum hn_code open_work(struct hn_context *ctx, struct hn_ranking_metrics *e,
                              struct work *w) {
    const struct hn_miner *m = e->miner;
    int64_t texts, values = e->cutoffs * HN_RETRIEVAL_METRICS;
    *w = (struct work){.e = e, .q = &m->data.rows[HN_QUERIES], .p = &m->data.rows[HN_CORPUS]};
    for (int c = 0; c < e->cutoffs; c++)
        w->deepest = hn_max(w->deepest, e->k[c]);
    w->deepest = hn_min(w->deepest, w->p->rows);
    w->depth = hn_min(w->deepest + m->self.max + MARGIN, w->p->rows);
    w->whole = m->data.source.read && !e->run ? 0 : w->p->rows;
    if (!HN_ALLOC(ctx, e->value, values * w->q->rows) || !HN_ZALLOC(ctx, e->extreme, 2 * values))
        return ctx->code;
    for (int64_t i = 0; i < values * w->q->rows; i++)
        e->value[i] = NAN;
    if (m->known.group && (!HN_ALLOC(ctx, w->text, w->p->rows) ||
                           hn_numbers_rank(ctx, m->known.group, w->p->rows, w->text, &texts)))
        return ctx->code;
    return e->convention == HN_CONVENTION_TREC ? number_ids(ctx, w) : HN_OK;
}

enum hn_code hn_evaluation_run(struct hn_context *ctx, struct hn_ranking_metrics *e) {
    struct work w;
    struct scratch *s;
    if (open_work(ctx, e, &w) || open_scratch(ctx, &w, &s))
        return ctx->code;
    int64_t queries = w.q->rows, part = hn_corpus_part(ctx, &e->miner->data, queries, w.depth);
    for (; w.from < queries; w.from += part) {
        w.rows = hn_min(part, queries - w.from);
        if (evaluate_part(ctx, &w, s))
            return ctx->code;
    }
    for (int64_t at = 0; at < 2 * e->cutoffs * HN_RETRIEVAL_METRICS; at++)
        e->extreme[at] = e->queries ? e->extreme[at] / (double)e->queries : NAN;
    return HN_OK;
}
