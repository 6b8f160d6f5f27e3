// SPDX-License-Identifier: GPL-3.0-or-later
// Writes mined negatives, a line a query, in the formats of other tools.
#include "harness/mining/output.h"

#include "core/real_text.h"
#include "core/text.h"
#include "datasets/import/format.h"
#include "datasets/import/npy_write.h"
#include "harness/mining/certificate.h"
#include "results/records.h"
#include "retrieval/miner.h"
#include "retrieval/take.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

const char *const hn_mine_formats[] = {
    "auto",         "jsonl",        "trec",   "triplet", "n-tuple",
    "labeled-pair", "labeled-list", "pylate", "npy",     NULL};

bool hn_mine_is_run(const char *path) {
    return hn_ends_in(path, ".trec") || hn_ends_in(path, ".run");
}

static enum hn_code find_format(struct hn_context *ctx, const char *path, const char *scores,
                                bool with_scores, enum hn_mine_format *format) {
    if (*format == HN_MINE_BY_NAME)
        *format = hn_ends_in(path, ".jsonl") ? HN_MINE_JSONL
                  : hn_ends_in(path, ".npy") ? HN_MINE_NPY
                  : hn_mine_is_run(path)     ? HN_MINE_TREC
                                             : HN_MINE_BY_NAME;
    if (*format == HN_MINE_BY_NAME)
        return hn_fail(ctx, HN_USAGE,
                       "%s: its name does not tell the format: end it in .jsonl, .trec or .npy, or "
                       "give --format",
                       path);
    if (with_scores && *format == HN_MINE_NPY)
        return hn_fail(ctx, HN_USAGE,
                       "--output-scores does not go with --format npy: name a file of scores with "
                       "--scores");
    if (scores && *format != HN_MINE_NPY)
        return hn_fail(ctx, HN_USAGE, "--scores goes with --format npy alone: leave it out");
    return HN_OK;
}

enum hn_code hn_mine_output_begin(struct hn_context *ctx, const char *path, const char *scores,
                                  bool with_scores, enum hn_mine_format format,
                                  struct hn_mine_output *out) {
    *out = (struct hn_mine_output){
        .format = format, .with_scores = with_scores, .objects = hn_ends_in(path, ".jsonl")};
    hn_digest_begin(&out->digest);
    if (find_format(ctx, path, scores, with_scores, &out->format) ||
        hn_file_begin(ctx, path, &out->file))
        return ctx->code;
    if (format == HN_MINE_WANTED && !out->objects)
        (void)fputs("query\tpassage\n", out->file.out);
    if (!scores || !hn_file_begin(ctx, scores, &out->scores))
        return HN_OK;
    hn_file_abort(ctx, &out->file);
    return ctx->code;
}

// A row in work.
struct line {
    struct hn_mine_output *out;
    int64_t query;
    const int32_t *positive; // merged passages
    int64_t positives, n;
    const int32_t *id; // [n]
    const double *score;
};

static const char *id_of(const struct line *l, enum hn_set side, int64_t i) {
    return hn_string(&l->out->miner->data.id[side], i);
}

// The text of an item, or its id where texts are not known.
static const char *text_of(const struct line *l, enum hn_set side, int64_t i) {
    return l->out->text[side].n ? hn_string(&l->out->text[side], i) : id_of(l, side, i);
}

static int32_t positive_of(const struct line *l, int64_t k) {
    const int32_t *passage = l->out->miner->passage;
    return passage ? passage[l->positive[k]] : l->positive[k];
}

// Writes a line; a failure to write is reported when the file is committed.
static enum hn_code put(struct hn_context *ctx, const struct line *l, json_t *object) {
    FILE *out = l->out->file.out;
    bool good = object && (json_dumpf(object, out, JSON_COMPACT) == 0 || ferror(out));
    json_decref(object);
    (void)fputc('\n', out);
    return good ? HN_OK
                : hn_fail(ctx, HN_MEMORY, "no memory for the line of query %s",
                          id_of(l, HN_QUERIES, l->query));
}

// A list that is whole, else NULL.
static json_t *whole(json_t *list, bool good) {
    if (!good) {
        json_decref(list);
        list = NULL;
    }
    return list;
}

// A list of n passages.
static json_t *names(const struct line *l, const int32_t *id, int64_t n,
                     const char *(*name)(const struct line *, enum hn_set, int64_t)) {
    json_t *list = json_array();
    bool good = list;
    for (int64_t k = 0; k < n && good; k++)
        good = !json_array_append_new(list, json_string(name(l, HN_CORPUS, id[k])));
    return whole(list, good);
}

// A score; null, and counted, where the pair has none.
static json_t *number(const struct line *l, double score) {
    l->out->unscored += isnan(score);
    return hn_json_real(score);
}

static json_t *numbers(const struct line *l, const double *value, int64_t n) {
    json_t *list = json_array();
    bool good = list;
    for (int64_t k = 0; k < n && good; k++)
        good = !json_array_append_new(list, number(l, value[k]));
    return whole(list, good);
}

// The score of positive p, by whom filters go.
static double score_of(const struct line *l, int64_t p) {
    const struct hn_miner *m = l->out->miner;
    return hn_miner_score(m, (enum hn_score_by)m->o.filter_by, l->query, l->positive[p]);
}

// The scores of positive p and of n negatives from `score` on.
static json_t *scores_of(const struct line *l, int64_t p, const double *score, int64_t n) {
    json_t *list = numbers(l, score, n);
    bool good = list && !json_array_insert_new(list, 0, number(l, score_of(l, p)));
    return whole(list, good);
}

// Sets a key of an object; NULL, with the object gone, if it cannot. Takes both.
static json_t *with(json_t *object, const char *key, json_t *value) {
    bool good = !json_object_set_new(object, key, value);
    return whole(object, good);
}

// The runs that list each negative; none of those drawn to fill.
static json_t *runs_of(const struct line *l) {
    const struct hn_sources *s = l->out->miner->sources;
    json_t *list = json_array();
    bool good = list;
    for (int64_t k = 0; k < l->n && good; k++) {
        int32_t passage = hn_miner_merged(l->out->miner, l->id[k]);
        int64_t e = hn_qrels_find(&s->pair, l->query, passage);
        json_t *own = json_array();
        for (int i = 0; i < s->n && own; i++)
            if (e >= 0 && s->pair.grade[e] >> i & 1)
                (void)json_array_append_new(own, hn_json_text(l->out->run[i]));
        good = !json_array_append_new(list, own);
    }
    return whole(list, good);
}

static enum hn_code put_jsonl(struct hn_context *ctx, const struct line *l) {
    HN_SCOPE(ctx);
    int32_t *positive = hn_alloc(ctx, l->positives, sizeof *positive);
    double *score = hn_alloc(ctx, l->positives, sizeof *score);
    if (!positive || !score)
        return ctx->code;
    for (int64_t k = 0; k < l->positives; k++) {
        positive[k] = positive_of(l, k);
        score[k] = score_of(l, k);
    }
    return put(ctx, l,
               json_pack("{s:s, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o*}", "query",
                         text_of(l, HN_QUERIES, l->query), "pos",
                         names(l, positive, l->positives, text_of), "neg",
                         names(l, l->id, l->n, text_of), "query_id", id_of(l, HN_QUERIES, l->query),
                         "pos_id", names(l, positive, l->positives, id_of), "neg_id",
                         names(l, l->id, l->n, id_of), "pos_scores",
                         numbers(l, score, l->positives), "neg_scores", numbers(l, l->score, l->n),
                         "neg_runs", l->out->miner->sources ? runs_of(l) : NULL));
}

static json_t *triplet(const struct line *l, int64_t p, int64_t k) {
    json_t *object = json_pack("{s:s, s:s, s:s}", "query", text_of(l, HN_QUERIES, l->query),
                               "positive", text_of(l, HN_CORPUS, positive_of(l, p)), "negative",
                               text_of(l, HN_CORPUS, l->id[k]));
    return l->out->with_scores ? with(object, "scores", scores_of(l, p, l->score + k, 1)) : object;
}

static enum hn_code put_triplets(struct hn_context *ctx, const struct line *l) {
    for (int64_t p = 0; p < l->positives; p++)
        for (int64_t k = 0; k < l->n; k++)
            if (put(ctx, l, triplet(l, p, k)))
                return ctx->code;
    return HN_OK;
}

static json_t *tuple(const struct line *l, int64_t p) {
    char key[40];
    json_t *object = json_pack("{s:s, s:s}", "query", text_of(l, HN_QUERIES, l->query), "positive",
                               text_of(l, HN_CORPUS, positive_of(l, p)));
    for (int64_t k = 0; k < l->n; k++) {
        (void)snprintf(key, sizeof key, "negative_%lld", (long long)k + 1);
        object = with(object, key, json_string(text_of(l, HN_CORPUS, l->id[k])));
    }
    return l->out->with_scores ? with(object, "scores", scores_of(l, p, l->score, l->n)) : object;
}

// As sentence-transformers does it: of queries with all negatives alone.
static enum hn_code put_tuples(struct hn_context *ctx, const struct line *l) {
    for (int64_t p = 0; p < l->positives; p++)
        if (put(ctx, l, tuple(l, p)))
            return ctx->code;
    return HN_OK;
}

static enum hn_code put_pair(struct hn_context *ctx, const struct line *l, int64_t passage,
                             int label, double score) {
    json_t *object = json_pack("{s:s, s:s}", "query", text_of(l, HN_QUERIES, l->query), "passage",
                               text_of(l, HN_CORPUS, passage));
    return put(ctx, l,
               l->out->with_scores ? with(object, "score", number(l, score))
                                   : with(object, "label", json_integer(label)));
}

static enum hn_code put_pairs(struct hn_context *ctx, const struct line *l) {
    for (int64_t p = 0; p < l->positives; p++)
        if (put_pair(ctx, l, positive_of(l, p), 1, score_of(l, p)))
            return ctx->code;
    for (int64_t k = 0; k < l->n; k++)
        if (put_pair(ctx, l, l->id[k], 0, l->score[k]))
            return ctx->code;
    return HN_OK;
}

// 1 for the positive, and n times 0.
static json_t *labels(int64_t n) {
    json_t *list = json_array();
    bool good = list;
    for (int64_t k = 0; k <= n && good; k++)
        good = !json_array_append_new(list, json_integer(k == 0));
    return whole(list, good);
}

static enum hn_code put_lists(struct hn_context *ctx, const struct line *l) {
    for (int64_t p = 0; p < l->positives; p++) {
        json_t *passages = names(l, l->id, l->n, text_of);
        bool good = passages &&
                    !json_array_insert_new(passages, 0,
                                           json_string(text_of(l, HN_CORPUS, positive_of(l, p))));
        json_t *object = json_pack("{s:s, s:o}", "query", text_of(l, HN_QUERIES, l->query),
                                   "passages", whole(passages, good));
        if (put(ctx, l,
                l->out->with_scores ? with(object, "scores", scores_of(l, p, l->score, l->n))
                                    : with(object, "labels", labels(l->n))))
            return ctx->code;
    }
    return HN_OK;
}

// Ids and scores alone: texts are in data sets of their own there.
static enum hn_code put_pylate(struct hn_context *ctx, const struct line *l) {
    for (int64_t p = 0; p < l->positives; p++) {
        json_t *ids = names(l, l->id, l->n, id_of);
        bool good = ids && !json_array_insert_new(
                               ids, 0, json_string(id_of(l, HN_CORPUS, positive_of(l, p))));
        if (put(ctx, l,
                json_pack("{s:s, s:o, s:o}", "query_id", id_of(l, HN_QUERIES, l->query),
                          "document_ids", whole(ids, good), "scores",
                          scores_of(l, p, l->score, l->n))))
            return ctx->code;
    }
    return HN_OK;
}

static enum hn_code put_run(struct hn_context *ctx, const struct line *l) {
    const char *query = id_of(l, HN_QUERIES, l->query), *blank = strchr(query, ' ') ? query : NULL;
    for (int64_t k = 0; k < l->n && !blank; k++) {
        const char *id = id_of(l, HN_CORPUS, l->id[k]);
        blank = strchr(id, ' ') ? id : NULL;
        l->out->unscored += isnan(l->score[k]);
        fprintf(l->out->file.out, "%s Q0 %s %lld %s hardneg\n", query, id, (long long)k + 1,
                hn_real_text(l->score[k]).text);
    }
    return blank ? hn_fail(ctx, HN_DATA,
                           "%s: the id \"%s\" holds a blank, which a run of TREC cannot: take "
                           "--format jsonl",
                           l->out->file.path, hn_quote(blank).text)
                 : HN_OK;
}

static void put_indices(const struct line *l) {
    int64_t n = l->out->miner->o.n, at = l->query * n;
    for (int64_t k = 0; k < n; k++) {
        l->out->ids[at + k] = k < l->n ? l->id[k] : -1;
        if (l->out->score)
            l->out->score[at + k] = k < l->n ? l->score[k] : NAN;
    }
}

// True if a query has lines in a format.
static bool has_line(const struct line *l) {
    switch (l->out->format) {
    case HN_MINE_NPY:
    case HN_MINE_TREC: return true;
    case HN_MINE_WANTED: return l->n > 0;
    case HN_MINE_PAIR: return l->positives + l->n > 0;
    case HN_MINE_N_TUPLE: return l->positives > 0 && l->n == l->out->miner->o.n;
    default: return l->positives > 0 && l->n > 0;
    }
}

// Pairs for another program: a table of ids, to which it adds a column, or objects with texts.
static enum hn_code put_wanted(struct hn_context *ctx, const struct line *l) {
    const char *query = id_of(l, HN_QUERIES, l->query);
    for (int64_t k = 0; k < l->n; k++) {
        const char *passage = id_of(l, HN_CORPUS, l->id[k]);
        if (!l->out->objects)
            (void)fprintf(l->out->file.out, "%s\t%s\n", query, passage);
        else if (put(ctx, l,
                     json_pack("{s:s, s:s, s:s, s:s}", "query_id", query, "passage_id", passage,
                               "query", text_of(l, HN_QUERIES, l->query), "passage",
                               text_of(l, HN_CORPUS, l->id[k]))))
            return ctx->code;
    }
    return HN_OK;
}

static enum hn_code put_line(struct hn_context *ctx, const struct line *l) {
    if (!has_line(l)) {
        l->out->left_out++;
        return HN_OK;
    }
    l->out->written += l->n;
    switch (l->out->format) {
    case HN_MINE_TREC: return put_run(ctx, l);
    case HN_MINE_TRIPLET: return put_triplets(ctx, l);
    case HN_MINE_N_TUPLE: return put_tuples(ctx, l);
    case HN_MINE_PAIR: return put_pairs(ctx, l);
    case HN_MINE_LIST: return put_lists(ctx, l);
    case HN_MINE_PYLATE: return put_pylate(ctx, l);
    case HN_MINE_NPY: put_indices(l); return HN_OK;
    case HN_MINE_WANTED: return put_wanted(ctx, l);
    default: return put_jsonl(ctx, l);
    }
}

static enum hn_code make_arrays(struct hn_context *ctx, struct hn_mine_output *out) {
    int64_t queries = out->miner->data.rows[HN_QUERIES].rows, n = out->miner->o.n;
    bool good = HN_ALLOC_ROWS(ctx, out->ids, queries, n) &&
                (!out->scores.out || HN_ALLOC_ROWS(ctx, out->score, queries, n));
    return good ? HN_OK : ctx->code;
}

enum hn_code hn_mine_output_add(struct hn_context *ctx, struct hn_mine_output *out, int64_t from,
                                const struct hn_mined *m) {
    const struct hn_qrels *q = &out->miner->data.qrels;
    if (out->format == HN_MINE_NPY && !out->ids && make_arrays(ctx, out))
        return ctx->code;
    HN_SCOPE(ctx);
    int32_t *positive = hn_alloc(ctx, hn_qrels_summarize(q).max, sizeof *positive);
    if (!positive)
        return ctx->code;
    for (int64_t i = 0; i < m->count; i++) {
        struct line l = {.out = out,
                         .query = from + i,
                         .positive = positive,
                         .n = m->n[i],
                         .id = m->id + i * m->width,
                         .score = m->score + i * m->width};
        for (int64_t e = q->start[from + i]; e < q->start[from + i + 1]; e++)
            if (hn_qrels_relevant_at(q, e))
                positive[l.positives++] = q->passage[e];
        if (l.positives > 0 && l.n > 0)
            hn_certificate_add(&out->digest, l.query, l.id, l.n);
        if (put_line(ctx, &l))
            return ctx->code;
    }
    return HN_OK;
}

void hn_mine_output_abort(struct hn_context *ctx, struct hn_mine_output *out) {
    hn_file_abort(ctx, &out->file);
    hn_file_abort(ctx, &out->scores);
}

enum hn_code hn_mine_output_end(struct hn_context *ctx, struct hn_mine_output *out,
                                enum hn_code code) {
    const struct hn_miner *m = out->miner; // NULL: nothing was mined
    const int64_t shape[] = {m ? m->data.rows[HN_QUERIES].rows : 0, m ? m->o.n : 0};
    if (code == HN_OK && out->scores.out)
        code = hn_npy_write_reals(ctx, &out->scores, 2, shape, out->score);
    else
        hn_file_abort(ctx, &out->scores);
    if (code == HN_OK && out->format == HN_MINE_NPY)
        return hn_npy_write(ctx, &out->file, 2, shape, out->ids);
    return hn_file_end(ctx, &out->file, code);
}
