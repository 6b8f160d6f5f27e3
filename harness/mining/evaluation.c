// SPDX-License-Identifier: GPL-3.0-or-later
// Evaluates a file or a run, and another one over the same queries.
#include "harness/mining/evaluation.h"
#include "core/text.h"
#include "harness/mining/output.h"

#include <math.h>
#include <string.h>

static enum hn_code pick_relevance(struct hn_context *ctx, enum hn_measured_by by, const char *path,
                                   struct hn_evaluated *v) {
    bool truth =
        by == HN_MEASURE_TRUTH || (by == HN_MEASURE_AUTO && v->corpus.data.truth.start != NULL);
    v->e.relevance = truth ? &v->miner.truth : &v->miner.known;
    v->by = truth ? "/truth" : "/qrels";
    return v->e.relevance->start
               ? HN_OK
               : hn_fail(ctx, HN_DATA, "%s: has no %s to measure by", path, v->by);
}

static enum hn_code evaluate(struct hn_context *ctx, const struct hn_evaluation_rules *rules,
                             struct hn_evaluated *v) {
    v->e.miner = &v->miner;
    v->e.run = v->run.start ? &v->run : NULL;
    v->e.convention = rules->convention;
    v->e.k = rules->k;
    v->e.cutoffs = rules->cutoffs;
    int64_t begun = hn_wall_ns();
    if (hn_evaluation_run(ctx, &v->e))
        return ctx->code;
    v->seconds = 1e-9 * (double)(hn_wall_ns() - begun);
    for (int64_t q = 0; v->e.run && q < v->corpus.info->n[HN_QUERIES]; q++)
        v->unranked += v->run.start[q] == v->run.start[q + 1] && !isnan(v->e.value[q]);
    if (v->unranked > 0)
        hn_note(ctx, "%s: lacks %s: their values are 0", v->name,
                hn_counted(v->unranked, "query").text);
    return HN_OK;
}

enum hn_code hn_evaluated_open(struct hn_context *ctx, const char *path, const char *run,
                               const struct hn_evaluation_rules *rules, struct hn_evaluated *out) {
    *out = (struct hn_evaluated){.name = run ? run : path};
    return hn_corpus_open(ctx, path, rules->step, NULL, &out->corpus) ||
                   hn_miner_open(ctx, &out->corpus.data, &rules->o, path, &out->miner) ||
                   pick_relevance(ctx, rules->by, path, out) ||
                   (run && hn_corpus_read_run(ctx, &out->corpus, run, rules->unknown, &out->run)) ||
                   evaluate(ctx, rules, out)
               ? ctx->code
               : HN_OK;
}

enum hn_code hn_evaluated_cut(struct hn_context *ctx, const struct hn_evaluated *v,
                              const struct hn_evaluation_rules *rules, int64_t dim,
                              struct hn_evaluated *out) {
    *out = (struct hn_evaluated){.name = v->name, .corpus = v->corpus};
    HN_SCOPE(ctx);
    if (hn_corpus_cut(ctx, dim, &out->corpus) ||
        hn_miner_open(ctx, &out->corpus.data, &rules->o, v->name, &out->miner) ||
        pick_relevance(ctx, rules->by, v->name, out))
        return ctx->code;
    hn_own(ctx, scope.outer);
    return evaluate(ctx, rules, out);
}

void hn_evaluated_close(struct hn_context *ctx, struct hn_evaluated *v) {
    hn_corpus_close(ctx, &v->corpus);
}

// index[of its ids]: those of `in`, -1 where there is none.
static enum hn_code match(struct hn_context *ctx, const struct hn_strings *of,
                          const struct hn_strings *in, int64_t **index) {
    struct hn_string_index x;
    if (hn_string_index_open(ctx, in, &x) || !HN_ALLOC(ctx, *index, of->n))
        return ctx->code;
    for (int64_t i = 0; i < of->n; i++)
        (*index)[i] = hn_string_find(&x, hn_string(of, i));
    return HN_OK;
}

static enum hn_code check_all(struct hn_context *ctx, const struct hn_strings *id,
                              const int64_t *index, const char *here, const char *there) {
    for (int64_t i = 0; i < id->n; i++)
        if (index[i] < 0)
            return hn_fail(ctx, HN_DATA,
                           "the query %s of %s is not in %s: queries are paired by id, and both "
                           "files need the same",
                           hn_quote(hn_string(id, i)).text, here, there);
    return HN_OK;
}

static const struct hn_qrels *judged_of(const struct hn_evaluated *v) {
    return v->e.relevance == &v->miner.truth ? &v->corpus.data.truth : &v->corpus.data.qrels;
}

// True if all that is judged for a query of b is so for one of a. passage[of b]: those of a.
static bool is_judged_alike(const struct hn_qrels *a, int64_t query_a, const struct hn_qrels *b,
                            int64_t query_b, const int64_t *passage) {
    if (a->start[query_a + 1] - a->start[query_a] != b->start[query_b + 1] - b->start[query_b])
        return false;
    for (int64_t e = b->start[query_b]; e < b->start[query_b + 1]; e++) {
        int64_t p = passage[b->passage[e]];
        int64_t at = p < 0 ? -1 : hn_qrels_find(a, query_a, (int32_t)p);
        if (at < 0 || a->grade[at] != b->grade[e])
            return false;
    }
    return true;
}

// Notes other passages and other relevance. query[of a]: those of b.
static enum hn_code note_other(struct hn_context *ctx, const struct hn_evaluated *a,
                               const struct hn_evaluated *b, const int64_t *query) {
    const struct hn_strings *of_a = &a->corpus.data.id[HN_CORPUS],
                            *of_b = &b->corpus.data.id[HN_CORPUS];
    int64_t *passage, others = 0, first = 0, missing = of_a->n;
    if (match(ctx, of_b, of_a, &passage))
        return ctx->code;
    for (int64_t p = 0; p < of_b->n; p++)
        missing -= passage[p] >= 0;
    if (missing > 0 || of_a->n != of_b->n)
        hn_note(ctx, "%s and %s rank other passages: %lld of %lld ids of the first are in both",
                a->name, b->name, (long long)(of_a->n - missing), (long long)of_a->n);
    for (int64_t q = a->corpus.info->n[HN_QUERIES] - 1; q >= 0; q--)
        if (!is_judged_alike(judged_of(a), q, judged_of(b), query[q], passage)) {
            others++;
            first = q;
        }
    if (others > 0)
        hn_note(ctx, "%s and %s have other relevance for %s, the first of them %s", a->name,
                b->name, hn_counted(others, "query").text,
                hn_quote(hn_string(&a->corpus.data.id[HN_QUERIES], first)).text);
    return HN_OK;
}

// Values of b in the order of a's queries.
static enum hn_code pair_queries(struct hn_context *ctx, const struct hn_evaluated *a,
                                 const struct hn_evaluated *b, double *value) {
    const struct hn_strings *of_a = &a->corpus.data.id[HN_QUERIES],
                            *of_b = &b->corpus.data.id[HN_QUERIES];
    int64_t *to_b, *to_a, n = of_a->n, values = (int64_t)a->e.cutoffs * HN_RETRIEVAL_METRICS;
    if (match(ctx, of_a, of_b, &to_b) || match(ctx, of_b, of_a, &to_a) ||
        check_all(ctx, of_a, to_b, a->name, b->name) ||
        check_all(ctx, of_b, to_a, b->name, a->name))
        return ctx->code;
    if (strcmp(a->by, b->by) != 0)
        return hn_fail(ctx, HN_DATA, "%s is measured by %s, %s by %s: give --by qrels", a->name,
                       a->by, b->name, b->by);
    for (int64_t at = 0; at < values; at++)
        for (int64_t q = 0; q < n; q++)
            value[at * n + q] = b->e.value[at * n + to_b[q]];
    return note_other(ctx, a, b, to_b);
}

enum hn_code hn_evaluated_beside(struct hn_context *ctx, const struct hn_evaluated *v,
                                 const char *path, const struct hn_evaluation_rules *rules,
                                 double **value) {
    int64_t n = v->corpus.info->n[HN_QUERIES];
    if (!HN_ALLOC(ctx, *value, rules->cutoffs * HN_RETRIEVAL_METRICS * n))
        return ctx->code;
    HN_SCOPE(ctx);
    if (!hn_mine_is_run(path)) {
        struct hn_evaluated other;
        enum hn_code code = hn_evaluated_open(ctx, path, NULL, rules, &other);
        code = code ? code : pair_queries(ctx, v, &other, *value);
        hn_evaluated_close(ctx, &other);
        return code;
    }
    struct hn_evaluated other = {.name = path, .corpus = v->corpus, .miner = v->miner, .by = v->by};
    other.e.relevance = v->e.relevance == &v->miner.truth ? &other.miner.truth : &other.miner.known;
    if (hn_corpus_read_run(ctx, &v->corpus, path, rules->unknown, &other.run) ||
        evaluate(ctx, rules, &other))
        return ctx->code;
    memcpy(*value, other.e.value,
           (size_t)(rules->cutoffs * HN_RETRIEVAL_METRICS * n) * sizeof **value);
    return HN_OK;
}
