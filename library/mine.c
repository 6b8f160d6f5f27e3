// SPDX-License-Identifier: GPL-3.0-or-later
// Hard negatives of queries over a corpus, the same as those of `hardneg mine`.
#include "retrieval/mine.h"
#include "core/sweep/blas.h"
#include "core/text.h"
#include "library/library_private.h"
#include "retrieval/listed.h"
#include "retrieval/miner.h"
#include "retrieval/ranking.h"
#include "retrieval/take.h"
#include "retrieval/wanted.h"

#include <math.h>

struct work {
    struct hn_context *ctx;
    struct hardneg_corpus in;
    struct hn_retrieval_data data;
    struct hn_miner miner;
};

static enum hn_code take_pairs(struct work *w, const int64_t *pair, int64_t n, const char *what,
                               struct hn_qrels *to) {
    HN_SCOPE(w->ctx);
    struct hn_judgement *list = hn_alloc(w->ctx, n, sizeof *list);
    if (!list)
        return w->ctx->code;
    for (int64_t i = 0; i < n; i++) {
        int64_t q = pair[3 * i], p = pair[3 * i + 1], grade = pair[3 * i + 2];
        if (q < 0 || q >= w->in.queries || p < 0 || p >= w->in.passages || grade < HN_GRADE_MIN ||
            grade > HN_GRADE_MAX)
            return hn_fail(w->ctx, HN_DATA,
                           "%s: pair %lld is query %lld, passage %lld, grade %lld: there are %s "
                           "and %s, from 0, and grades are %d to %d",
                           what, (long long)i, (long long)q, (long long)p, (long long)grade,
                           hn_counted(w->in.queries, "query").text,
                           hn_counted(w->in.passages, "passage").text, HN_GRADE_MIN, HN_GRADE_MAX);
        list[i] = (struct hn_judgement){(int32_t)q, (int32_t)p, (int32_t)grade};
    }
    hn_own(w->ctx, scope.outer);
    return hn_qrels_build(w->ctx, list, n, w->in.queries, to);
}

static enum hn_code take_scores(struct work *w) {
    const struct hardneg_corpus *in = &w->in;
    HN_SCOPE(w->ctx);
    struct hn_judgement *list = hn_alloc(w->ctx, in->scored_pairs, sizeof *list);
    if (!list)
        return w->ctx->code;
    for (int64_t i = 0; i < in->scored_pairs; i++) {
        int64_t q = in->scored[2 * i], p = in->scored[2 * i + 1];
        if (q < 0 || q >= in->queries || p < 0 || p >= in->passages || !isfinite(in->score[i]))
            return hn_fail(w->ctx, HN_DATA,
                           "scores: pair %lld is query %lld, passage %lld, score %g: there are %s "
                           "and %s, from 0, and scores are finite",
                           (long long)i, (long long)q, (long long)p, (double)in->score[i],
                           hn_counted(in->queries, "query").text,
                           hn_counted(in->passages, "passage").text);
        list[i] = (struct hn_judgement){(int32_t)q, (int32_t)p, (int32_t)i};
    }
    hn_own(w->ctx, scope.outer);
    return hn_pair_scores_build(w->ctx, list, in->scored_pairs, in->queries, in->score,
                                &w->data.scores);
}

static enum hn_code check_corpus(struct work *w, const struct hardneg_corpus *from) {
    const struct hardneg_corpus *in = &w->in;
    if (hn_library_take_struct(w->ctx, "hardneg_corpus", from,
                               offsetof(struct hardneg_corpus, scored), &w->in, sizeof w->in))
        return w->ctx->code;
    if (in->queries < 1 || in->queries > INT32_MAX || in->passages < 1 ||
        in->passages > INT32_MAX || in->d < 1 || in->d > INT32_MAX || !in->query || !in->passage ||
        in->known_pairs < 0 || in->truth_pairs < 0 || (in->known_pairs && !in->known) ||
        (in->truth_pairs && !in->truth) || in->scored_pairs < 0 || in->scored_pairs > INT32_MAX ||
        (in->scored_pairs && (!in->scored || !in->score)))
        return hn_fail(
            w->ctx, HN_USAGE,
            "%s, %s, %s, or an array that is NULL: give one row or more of each, and at most %d",
            hn_counted(in->queries, "query").text, hn_counted(in->passages, "passage").text,
            hn_counted(in->d, "dimension").text, INT32_MAX);
    if (in->zero_rows != 0 && in->zero_rows != 1)
        return hn_fail(w->ctx, HN_USAGE, "zero_rows is %lld: 0 refuses them, 1 keeps them",
                       (long long)in->zero_rows);
    if (!in->query_group != !in->passage_group || !in->query_teacher != !in->passage_teacher ||
        (in->query_teacher && in->teacher_d < 1))
        return hn_fail(w->ctx, HN_USAGE,
                       "groups and teacher: give those of the queries and those of the passages");
    return HN_OK;
}

static enum hn_code check_groups(struct work *w, const int64_t *group, int64_t n) {
    for (int64_t i = 0; group && i < n; i++)
        if (group[i] < 0 || group[i] >= INT32_MAX)
            return hn_fail(w->ctx, HN_DATA, "groups: %lld is not from 0 to 2^31 - 2",
                           (long long)group[i]);
    return HN_OK;
}

static enum hn_code take_data(struct work *w) {
    const struct hardneg_corpus *in = &w->in;
    struct hn_retrieval_data *to = &w->data;
    const int64_t n[HN_SETS] = {in->queries, in->passages};
    const float *row[HN_SETS] = {in->query, in->passage};
    const float *teacher[HN_SETS] = {in->query_teacher, in->passage_teacher};
    const int64_t *group[HN_SETS] = {in->query_group, in->passage_group};
    static const char *const what[] = {"queries", "corpus"};
    static const char *const teacher_what[] = {"query teacher", "corpus teacher"};
    const enum hn_zero_rows zero = in->zero_rows ? HN_ZERO_ROWS_KEPT : HN_ZERO_ROWS_REFUSED;
    for (int side = 0; side < HN_SETS; side++) {
        to->group[side] = group[side];
        if (check_groups(w, group[side], n[side]) ||
            hn_library_take_rows(w->ctx, row[side], n[side], in->d, zero, what[side],
                                 &to->rows[side]) ||
            hn_library_take_rows(w->ctx, teacher[side], n[side], in->teacher_d, zero,
                                 teacher_what[side], &to->teacher[side]))
            return w->ctx->code;
    }
    if (take_pairs(w, in->known, in->known_pairs, "qrels", &to->qrels) ||
        (in->truth && take_pairs(w, in->truth, in->truth_pairs, "truth", &to->truth)) ||
        ((in->scored || in->scorer) && take_scores(w)))
        return w->ctx->code;
    return HN_OK;
}

static enum hn_code read_options(struct work *w, const char *const *option,
                                 struct hn_mine_options *to) {
    if (hn_options_init(w->ctx, hn_mine_table, to))
        return w->ctx->code;
    for (; option && option[0]; option += 2)
        if (!option[1])
            return hn_fail(w->ctx, HN_USAGE, "the option %s has no value", option[0]);
        else if (hn_options_set(w->ctx, hn_mine_table, to, option[0], option[1]))
            return w->ctx->code;
    return HN_OK;
}

// Answers of the scorer for some queries, merged passages as the miner sees them.
struct answers {
    struct hn_judgement *list; // [n] the grade is the place
    float *score;              // [n]
    int64_t n, capacity, score_capacity;
};

static enum hn_code add_answer(struct work *w, struct answers *a, int64_t query, int32_t merged,
                               float score) {
    if (hn_grow(w->ctx, &a->list, &a->capacity, a->n + 1, sizeof *a->list) ||
        hn_grow(w->ctx, &a->score, &a->score_capacity, a->n + 1, sizeof *a->score))
        return w->ctx->code;
    a->score[a->n] = score;
    a->list[a->n] = (struct hn_judgement){(int32_t)query, merged, (int32_t)a->n};
    a->n++;
    return HN_OK;
}

// Those that the caller gave.
static enum hn_code take_given(struct work *w, const struct hn_pair_scores *given, int64_t from,
                               int64_t count, struct answers *a) {
    for (int64_t q = from; q < from + count; q++)
        for (int64_t e = given->start[q]; e < given->start[q + 1]; e++)
            if (add_answer(w, a, q, given->passage[e], given->score[e]))
                return w->ctx->code;
    return HN_OK;
}

// Asks for the scores of pairs; *asked: of how many.
static enum hn_code ask(struct work *w, const struct hn_pool *pool, struct answers *a,
                        int64_t *asked) {
    struct hn_mined wanted;
    int64_t n = 0;
    HN_SCOPE(w->ctx);
    if (hn_miner_wanted(w->ctx, &w->miner, pool, &wanted))
        return w->ctx->code;
    for (int64_t i = 0; i < wanted.count; i++)
        n += wanted.n[i];
    *asked = n;
    int64_t *pair = hn_alloc(w->ctx, n, 2 * sizeof *pair), k = 0;
    float *score = hn_alloc(w->ctx, n, sizeof *score);
    if (!pair || !score)
        return w->ctx->code;
    for (int64_t i = 0; i < wanted.count; i++)
        for (int64_t j = 0; j < wanted.n[i]; j++, k++) {
            pair[2 * k] = pool->from + i;
            pair[2 * k + 1] = wanted.id[i * wanted.width + j];
        }
    if (n > 0 && w->in.scorer(w->in.scorer_data, pair, n, score))
        return hn_fail(w->ctx, HN_USAGE, "scores: the scorer has failed");
    hn_own(w->ctx, scope.outer);
    for (k = 0; k < n; k++) {
        if (!isfinite(score[k]))
            return hn_fail(w->ctx, HN_DATA,
                           "scores: that of query %lld, passage %lld is %g: scores are finite",
                           (long long)pair[2 * k], (long long)pair[2 * k + 1], (double)score[k]);
        if (add_answer(w, a, pair[2 * k], hn_miner_merged(&w->miner, (int32_t)pair[2 * k + 1]),
                       score[k]))
            return w->ctx->code;
    }
    return HN_OK;
}

// Asks until no score of these queries is wanted. The miner has their scores alone then.
static enum hn_code find_scores(struct work *w, const struct hn_pair_scores *given,
                                struct hn_pool *pool) {
    struct answers a = {0};
    int64_t asked = 1;
    w->miner.wanting = true;
    if (take_given(w, given, pool->from, pool->count, &a))
        return w->ctx->code;
    while (asked > 0) {
        if (hn_pair_scores_build(w->ctx, a.list, a.n, w->in.queries, a.score,
                                 &w->miner.data.scores))
            return w->ctx->code;
        hn_miner_look(w->ctx, &w->miner, pool);
        if (hn_check_stop(w->ctx) || ask(w, pool, &a, &asked))
            return w->ctx->code;
    }
    return HN_OK;
}

static void score_known(const struct work *w, int64_t from, int64_t count) {
    enum hn_score_by by = (enum hn_score_by)w->miner.o.filter_by;
    const int64_t *pair = w->in.known;
    for (int64_t i = 0; w->in.known_score && i < w->in.known_pairs; i++, pair += 3)
        if (pair[0] >= from && pair[0] < from + count)
            w->in.known_score[i] = hn_miner_score(&w->miner, by, pair[0],
                                                  hn_miner_merged(&w->miner, (int32_t)pair[1]));
}

static enum hn_code open_part(struct work *w, int64_t from, int64_t count, struct hn_pool *pool) {
    const struct hn_pair_scores given = w->miner.data.scores;
    w->miner.wanting = w->in.scorer != NULL;
    if (hn_miner_pool(w->ctx, &w->miner, from, count, false, pool) || !w->in.scorer)
        return w->ctx->code;
    enum hn_code code = find_scores(w, &given, pool);
    w->miner.wanting = pool->wanting = false;
    return code;
}

static enum hn_code mine_part(struct work *w, int64_t from, int64_t count, int64_t *negative,
                              double *score, struct hn_mined *sum, int64_t columns) {
    const struct hn_pair_scores given = w->miner.data.scores;
    struct hn_pool pool;
    HN_SCOPE(w->ctx);
    if (hn_check_stop(w->ctx) || open_part(w, from, count, &pool) ||
        hn_miner_take(w->ctx, &w->miner, &pool, sum))
        return w->ctx->code;
    score_known(w, from, count);
    w->miner.data.scores = given;
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < columns; k++) {
            bool there = k < sum->n[i];
            int64_t at = (from + i) * columns + k;
            negative[at] = there ? sum->id[i * sum->width + k] : -1;
            if (score)
                score[at] = there ? sum->score[i * sum->width + k] : NAN;
        }
    return HN_OK;
}

static void tell(const struct hn_mined *sum, struct hardneg_mining *out) {
    out->fewer = sum->counts.fewer;
    out->none = sum->counts.none;
    out->drawn = sum->counts.drawn;
    _Static_assert((int)HN_STAGES <= (int)HARDNEG_FILTERS, "each stage has its filter");
    for (int s = 0; s < HN_STAGES; s++)
        if (sum->counts.attrition.all[s] > 0 || s == HN_STAGE_KEPT) {
            out->filter[out->filters] = hn_stage_name[s];
            out->all[out->filters] = sum->counts.attrition.all[s];
            out->known[out->filters] = sum->counts.attrition.known[s];
            out->hidden[out->filters++] = sum->counts.attrition.hidden[s];
        }
}

static enum hn_code mine(struct work *w, const struct hardneg_corpus *corpus,
                         const char *const *option, int64_t *negative, double *score,
                         struct hardneg_mining *out) {
    struct hn_mine_options o;
    struct hn_mined sum = {.count = 0};
    if (!out || out->size != sizeof *out)
        return hn_fail(
            w->ctx, HN_USAGE,
            "out is NULL, or its size is not set: .size = sizeof(struct hardneg_mining)");
    if (check_corpus(w, corpus) || read_options(w, option, &o) || hn_blas_open(w->ctx) ||
        take_data(w) || hn_miner_open(w->ctx, &w->data, &o, "the corpus", &w->miner))
        return w->ctx->code;
    if (w->in.scorer && !w->miner.listed.asked)
        return hn_fail(w->ctx, HN_USAGE,
                       "scores: these options look at no scores of pairs: give filter-by scores, "
                       "rank-by scores, or guide without a teacher");
    int64_t n = w->miner.o.n, queries = w->in.queries;
    if (!negative) {
        out->width = n;
        return HN_OK;
    }
    if (out->width != n)
        return hn_fail(w->ctx, HN_USAGE, "width %lld: these options give %s of a query",
                       (long long)out->width, hn_counted(n, "negative").text);
    int64_t part = hn_ranking_rows(queries, &w->miner.data.rows[HN_CORPUS], w->miner.o.depth),
            count;
    for (int64_t from = 0; from < queries; from += count) {
        count = hn_min(part, queries - from);
        if (mine_part(w, from, count, negative, score, &sum, n))
            return w->ctx->code;
    }
    out->filters = 0;
    tell(&sum, out);
    if (w->in.scorer) // all that were asked for are there
        w->miner.listed = (struct hn_listed_scores){0};
    return hn_mine_check(w->ctx, &w->miner, &sum.counts, "the corpus");
}

int hardneg_mine(hardneg *h, const struct hardneg_corpus *corpus, const char *const *option,
                 int64_t *negative, double *score, struct hardneg_mining *out) {
    struct hn_library_build *b = NULL;
    if (!h)
        return hn_library_no_handle();
    enum hn_code code = hn_library_aside(h, &b);
    if (!code) {
        struct work w = {.ctx = &b->ctx};
        code = mine(&w, corpus, option, negative, score, out);
    }
    return hn_library_end_aside(h, b, code, false);
}
