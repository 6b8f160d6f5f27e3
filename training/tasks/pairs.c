// Queries and documents (GC table 1, code search) by hashed bags: two of text_task.h, of the words
// and parts of words of a query and of a document, whose identifiers are split.
//
// Items are pairs of a query and a document that is relevant to it, both ways InfoNCE their loss
// (both-ways). Evaluated are queries that were not trained on, by the place of their first relevant
// document, among all documents and among those of these queries alone (N x N, CodeSearchNet); as
// labelled, and by complete relevance where it is known. Before the first step the same of the
// features' own cosines, and of their projection to singular vectors.
//
// With `mined` each item brings a negative, which serves the whole batch (GC's Hard Negative (1)):
// of its query, by the retrieval module, on the embeddings of every so many steps.
//
// Our deviation: the paper fine-tunes UniXcoder; here nothing was trained before. Equal texts of
// CodeSearchNet's files are one.
#include "datasets/import/collection.h"
#include "retrieval/mine.h"
#include "retrieval/miner.h"
#include "retrieval/ranking.h"
#include "retrieval/take.h"
#include "training/tasks/pairs_overlap.h"
#include "training/tasks/pairs_rank.h"
#include "training/tasks/pairs_self.h"
#include "training/tasks/text_task.h"
#include "training/text/features.h"

#include <math.h>

enum { MINE_DEPTH = 100 }; // ranks behind the first that are looked at
enum { OF_DATA = 2 * HN_PAIRS_COLUMNS + 1, COLUMNS = HN_PAIRS_COLUMNS + OF_DATA };

struct params {
    struct hn_text_params text; // first
    bool shared, parts, neighbours, joint, mask, mined;
    int tf;                   // enum hn_text_tf
    int overlap;              // enum hn_pairs_side
    int unknown;              // enum hn_unknown
    struct hn_mine_options o; // of which the options of relevance can be given
    int64_t words, min_rank, mine_every;
    double held, relative_margin;
};

struct state {
    struct hn_text_task text; // first
    struct hn_pair_folder data;
    int64_t queries, documents;
    int64_t *group[HN_SETS]; // numbers of texts
    struct hn_qrels self;    // documents that are the query itself, where they are not ranked
    const char **line;       // [queries + documents] texts, as `features` numbers them
    int32_t *behind;         // texts: queries of test pairs, then documents
    int32_t *own;            // documents of test pairs
    struct hn_pairs_ranked ranked;
    struct hn_pairs_overlap overlap;
    struct hn_tuples tuples;
    int32_t *label; // [task->n_all]
};

static enum hn_code make_items(struct hn_context *ctx, struct state *s) {
    const struct hn_qrels *train = &s->data.train;
    if (hn_text_items_open(ctx, train->start[train->n], &s->text.items))
        return ctx->code;
    for (int64_t q = 0; q < train->n; q++)
        for (int64_t e = train->start[q]; e < train->start[q + 1]; e++)
            if (hn_qrels_relevant_at(train, e))
                hn_text_items_add(&s->text.items, (int32_t)q,
                                  (int32_t)(s->queries + train->passage[e]), -1);
    return HN_OK;
}

// Texts that are embedded behind the items.
static enum hn_code list_behind(struct hn_context *ctx, struct state *s) {
    const struct hn_qrels *test = &s->data.test;
    int64_t held = 0, own = 0;
    s->behind = hn_alloc(ctx, s->queries + s->documents, sizeof *s->behind);
    s->own = hn_alloc(ctx, s->documents, sizeof *s->own);
    HN_SCOPE(ctx);
    bool *is_own = hn_zalloc(ctx, s->documents, sizeof *is_own);
    if (!s->behind || !s->own || !is_own)
        return ctx->code;
    for (int64_t q = 0; q < s->queries; q++) {
        if (hn_qrels_any_relevant(test, q))
            s->behind[held++] = (int32_t)q;
        for (int64_t e = test->start[q]; e < test->start[q + 1]; e++)
            is_own[test->passage[e]] |= hn_qrels_relevant_at(test, e);
    }
    for (int32_t d = 0; d < s->documents; d++) {
        s->behind[held + d] = (int32_t)s->queries + d;
        if (is_own[d])
            s->own[own++] = d;
    }
    s->ranked = (struct hn_pairs_ranked){.queries = held,
                                         .documents = s->documents,
                                         .own = own,
                                         .query = s->behind,
                                         .own_document = s->own,
                                         .test = test,
                                         .truth = &s->data.truth,
                                         .self = &s->self};
    return HN_OK;
}

// Items that relevance known to the training connects have one label.
static enum hn_code make_labels(struct hn_context *ctx, struct hn_task *task) {
    struct state *s = task->state;
    int64_t texts = s->queries + s->documents;
    s->label = hn_alloc(ctx, task->n_all, sizeof *s->label);
    HN_SCOPE(ctx);
    int32_t *parent = hn_alloc(ctx, texts, sizeof *parent);
    if (!s->label || !parent)
        return ctx->code;
    for (int32_t t = 0; t < texts; t++)
        parent[t] = t;
    for (int64_t i = 0; i < task->n; i++)
        hn_text_join(parent, s->text.items.query[i], s->text.items.key[i]);
    hn_text_number_groups(parent, texts);
    for (int64_t i = 0; i < task->n_all; i++)
        s->label[i] = parent[i < task->n ? s->text.items.query[i] : s->behind[i - task->n]];
    task->label = s->label;
    return HN_OK;
}

// The items as tuples, by texts, of what the training knows to be relevant.
static enum hn_code make_tuples(struct hn_context *ctx, struct hn_task *task) {
    struct state *s = task->state;
    const struct hn_text_items *items = &s->text.items;
    int64_t n = items->n;
    int32_t *query = hn_alloc(ctx, n, sizeof *query), *passage = hn_alloc(ctx, n, sizeof *passage);
    HN_SCOPE(ctx);
    struct hn_judgement *list = hn_alloc(ctx, n, sizeof *list);
    if (!query || !passage || !list)
        return ctx->code;
    for (int64_t i = 0; i < n; i++) {
        query[i] = (int32_t)s->group[HN_QUERIES][items->query[i]];
        passage[i] = (int32_t)s->group[HN_CORPUS][items->key[i] - s->queries];
        list[i] = (struct hn_judgement){query[i], passage[i], 1};
    }
    s->tuples = (struct hn_tuples){
        .n = n, .texts = s->queries + s->documents, .query = query, .passage = passage};
    task->tuples = &s->tuples;
    hn_own(ctx, scope.outer);
    return hn_qrels_build(ctx, list, n, s->tuples.texts, &s->tuples.known);
}

// The training's texts, to which idf and singular vectors are fitted: its queries, all documents.
static enum hn_code list_training(struct hn_context *ctx, const struct state *s, int32_t **of,
                                  int64_t *n) {
    *of = hn_alloc(ctx, s->queries + s->documents, sizeof **of);
    *n = 0;
    for (int32_t t = 0; *of && t < s->queries + s->documents; t++)
        if (t >= s->queries || hn_qrels_any_relevant(&s->data.train, t))
            (*of)[(*n)++] = t;
    return *of ? HN_OK : ctx->code;
}

static enum hn_code make_features(struct hn_context *ctx, struct hn_task *task) {
    const struct params *p = task->params;
    struct state *s = task->state;
    const struct hn_text_rules rules = {.humps = true,
                                        .parts = p->parts,
                                        .pairs = p->neighbours,
                                        .words = (int32_t)p->words,
                                        .tf = p->tf,
                                        .joint = p->joint};
    int32_t *fit;
    int64_t n;
    HN_SCOPE(ctx);
    if (list_training(ctx, s, &fit, &n))
        return ctx->code;
    if (p->text.svd > n)
        return hn_fail(ctx, HN_DATA, "%s has %lld texts to fit to: lower svd (%lld)", task->path,
                       (long long)n, (long long)p->text.svd);
    hn_own(ctx, scope.outer);
    return hn_text_features_make(ctx, s->line, s->queries + s->documents, &rules,
                                 p->text.idf ? fit : NULL, n, &s->text.features);
}

static bool is_relevant(const struct hn_task *task, int64_t i, int32_t key) {
    const struct state *s = task->state;
    return hn_qrels_relevant(&s->data.train, s->text.items.query[i], (int32_t)(key - s->queries));
}

static enum hn_code read_data(struct hn_context *ctx, struct hn_task *task) {
    const struct params *p = task->params;
    struct state *s = task->state;
    const struct hn_pair_folder_rules rules = {.held = p->held,
                                               .unknown = (enum hn_unknown)p->unknown,
                                               .min_grade = (int32_t)p->o.min_grade,
                                               .apart = p->o.equal_texts == HN_EQUAL_APART,
                                               .shared = p->o.equal_texts == HN_EQUAL_MERGE};
    if (hn_pair_folder_read(ctx, task->path, &rules, &s->data) ||
        hn_pairs_overlap_find(ctx, task->path, (enum hn_pairs_side)p->overlap, &s->data,
                              &s->overlap))
        return ctx->code;
    const struct hn_strings *text = s->data.text;
    s->queries = text[HN_QUERIES].n;
    s->documents = text[HN_CORPUS].n;
    if (s->queries + s->documents > INT32_MAX)
        return hn_fail(ctx, HN_DATA, "%s: more than %d texts: leave out some pairs", task->path,
                       INT32_MAX);
    if (!HN_ALLOC(ctx, s->line, s->queries + s->documents))
        return ctx->code;
    for (int64_t t = 0; t < s->queries + s->documents; t++)
        s->line[t] = t < s->queries ? hn_string(&text[HN_QUERIES], t)
                                    : hn_string(&text[HN_CORPUS], t - s->queries);
    enum hn_self by = (enum hn_self)p->o.self;
    if (hn_number_texts(ctx, text, s->group))
        return ctx->code;
    return by == HN_SELF_DEFAULT || by == HN_SELF_NONE
               ? HN_OK
               : hn_pairs_find_selves(ctx, by, &s->data, s->group, &s->self);
}

// Queries of the items, each once, whose negatives are mined from all documents.
struct mining {
    int64_t queries;
    int32_t *text; // [queries + documents]
    int32_t *row;  // [items] of their query
    struct hn_qrels known;
    int64_t *group;       // [queries]
    struct hn_strings id; // likewise; n = 0: there are none
};

static enum hn_code list_mining(struct hn_context *ctx, const struct state *s, struct mining *m) {
    const struct hn_text_items *items = &s->text.items;
    const struct hn_qrels *train = &s->data.train;
    const struct hn_strings *id = &s->data.id[HN_QUERIES];
    struct hn_judgement *list;
    int64_t n = 0;
    *m = (struct mining){0};
    if (!HN_ALLOC(ctx, m->text, items->n + s->documents) || !HN_ALLOC(ctx, m->row, items->n) ||
        !HN_ALLOC(ctx, m->group, items->n) || !HN_ALLOC(ctx, list, train->start[train->n]))
        return ctx->code;
    for (int64_t i = 0; i < items->n; i++) {
        int32_t query = items->query[i];
        if (i == 0 || query != items->query[i - 1]) {
            for (int64_t e = train->start[query]; e < train->start[query + 1]; e++)
                list[n++] =
                    (struct hn_judgement){(int32_t)m->queries, train->passage[e], train->grade[e]};
            if (id->n && hn_strings_add(ctx, &m->id, hn_string(id, query)))
                return ctx->code;
            m->group[m->queries] = s->group[HN_QUERIES][query];
            m->text[m->queries++] = query;
        }
        m->row[i] = (int32_t)m->queries - 1;
    }
    for (int64_t d = 0; d < s->documents; d++)
        m->text[m->queries + d] = (int32_t)(s->queries + d);
    return hn_qrels_build(ctx, list, n, m->queries, &m->known);
}

static enum hn_code open_miner(struct hn_context *ctx, const struct hn_task *task,
                               const struct mining *m, const float *z, struct hn_miner *out) {
    const struct params *p = task->params;
    const struct state *s = task->state;
    int64_t d = task->d;
    const struct hn_retrieval_data data = {
        .rows = {{z, m->queries, d, d}, {z + m->queries * d, s->documents, d, d}},
        .group = {m->group, s->group[HN_CORPUS]},
        .id = {m->id, s->data.id[HN_CORPUS]},
        .qrels = m->known};
    // Documents of one text are one already, unless they are to stay apart.
    bool apart = p->o.equal_texts == HN_EQUAL_APART;
    const struct hn_mine_options options = {.n = 1,
                                            .equal_texts = apart ? HN_EQUAL_APART : HN_EQUAL_FILTER,
                                            .self = p->o.self,
                                            .min_grade = p->o.min_grade,
                                            .depth = p->min_rank + MINE_DEPTH,
                                            .min_rank = p->min_rank,
                                            .max_rank = INT64_MIN,
                                            .absolute_margin = NAN,
                                            .relative_margin = p->relative_margin,
                                            .max_score = NAN,
                                            .min_score = NAN,
                                            .guide = NAN};
    return hn_miner_open(ctx, &data, &options, task->path, out);
}

static enum hn_code mine_part(struct hn_context *ctx, const struct hn_miner *miner, int64_t from,
                              int64_t count, int32_t *negative) {
    struct hn_pool pool;
    struct hn_mined found = {0};
    HN_SCOPE(ctx);
    if (hn_check_stop(ctx) || hn_miner_pool(ctx, miner, from, count, false, &pool) ||
        hn_miner_take(ctx, miner, &pool, &found))
        return ctx->code;
    for (int64_t i = 0; i < count; i++)
        negative[from + i] = found.n[i] > 0 ? found.id[i * found.width] : -1;
    return HN_OK;
}

// The negatives of all items, by the weights of now.
static enum hn_code mine(struct hn_context *ctx, struct hn_task *task) {
    struct state *s = task->state;
    struct mining m;
    struct hn_miner miner;
    HN_SCOPE(ctx);
    if (list_mining(ctx, s, &m))
        return ctx->code;
    int64_t texts = m.queries + s->documents;
    float *z = hn_alloc(ctx, texts, (size_t)task->d * sizeof *z);
    int32_t *negative = hn_alloc(ctx, m.queries, sizeof *negative);
    s->text.texts = m.text;
    if (!z || !negative || hn_task_embed(ctx, task, HN_TEXT_TEXTS, 0, texts, z) ||
        hn_normalize_rows(ctx, z, texts, task->d, "embedding") ||
        open_miner(ctx, task, &m, z, &miner))
        return ctx->code;
    int64_t part = hn_ranking_rows(m.queries, &miner.data.rows[HN_CORPUS], miner.o.depth);
    for (int64_t from = 0; from < m.queries; from += part)
        if (mine_part(ctx, &miner, from, hn_min(part, m.queries - from), negative))
            return ctx->code;
    for (int64_t i = 0; i < task->n; i++) {
        int32_t found = negative[m.row[i]];
        s->text.items.hard[i] = found < 0 ? -1 : (int32_t)(s->queries + found);
    }
    return HN_OK;
}

static enum hn_code step(struct hn_context *ctx, struct hn_task *task,
                         const struct hn_task_batch *batch, double *loss, float *z1) {
    const struct params *p = task->params;
    int64_t every = p->mine_every ? p->mine_every : task->n / task->batch_size;
    if (p->mined && batch->step % every == 0 && mine(ctx, task))
        return ctx->code;
    return hn_text_step(ctx, task, batch, loss, z1);
}

static enum hn_code open_pairs(struct hn_context *ctx, struct hn_task *task) {
    const struct params *p = task->params;
    struct state *s = task->state;
    if (read_data(ctx, task) || make_items(ctx, s) || list_behind(ctx, s) ||
        make_features(ctx, task) ||
        hn_task_set_items(ctx, task, s->text.items.n,
                          s->text.items.n + s->ranked.queries + s->documents, p->text.out))
        return ctx->code;
    s->text.behind = s->behind;
    s->text.apart = p->shared ? s->text.features.n : s->queries;
    s->text.hard_option = "mined";
    s->text.lists = p->mask || p->mined;
    s->text.related = p->mask ? is_relevant : NULL;
    task->kept = s->text.items.hard;
    task->kept_bytes = p->mined ? task->n * (int64_t)sizeof *s->text.items.hard : 0;
    return make_labels(ctx, task) || make_tuples(ctx, task) || hn_text_task_open(ctx, task)
               ? ctx->code
               : HN_OK;
}

static enum hn_code evaluate_features(struct hn_context *ctx, struct hn_task *task, double *value) {
    const struct params *p = task->params;
    struct state *s = task->state;
    const struct hn_text_features *f = &s->text.features;
    int64_t rows = s->ranked.queries + s->documents, svd = p->text.svd, n;
    struct hn_sparse bags, q, documents, transposed;
    int32_t *fit;
    HN_SCOPE(ctx);
    if (hn_text_bags(ctx, f, s->behind, s->ranked.queries, &q) ||
        hn_text_bags(ctx, f, s->behind + s->ranked.queries, s->documents, &documents) ||
        hn_sparse_open(ctx, HN_TEXT_BUCKETS, s->documents, documents.capacity, &transposed))
        return ctx->code;
    hn_sparse_transpose(&documents, &transposed);
    value[OF_DATA - 1] = (double)s->overlap.queries;
    if (hn_pairs_measure_bags(ctx, &s->ranked, &q, &transposed, value))
        return ctx->code;
    if (svd == 0)
        return HN_OK;
    float *z = hn_alloc(ctx, rows, (size_t)svd * sizeof *z);
    return !z || list_training(ctx, s, &fit, &n) || hn_text_bags(ctx, f, s->behind, rows, &bags) ||
                   hn_text_svd(ctx, f, fit, n, svd, &bags, z) ||
                   hn_pairs_measure(ctx, &s->ranked, z, svd, value + HN_PAIRS_COLUMNS)
               ? ctx->code
               : HN_OK;
}

static enum hn_code evaluate(struct hn_context *ctx, struct hn_task *task, int64_t at,
                             const float *z, double *value) {
    const struct state *s = task->state;
    (void)at;
    return hn_pairs_measure(ctx, &s->ranked, z + task->n * task->d, task->d, value);
}

#define OWN(macro, field, ...)                                                                     \
    { macro(struct params, field, #field, __VA_ARGS__) }
#define TEXT(macro, field, ...)                                                                    \
    { macro(struct hn_text_params, field, #field, __VA_ARGS__) }
static const char *const tfs[] = {"log", "plain", "binary", NULL};
static const struct hn_option options[] = {
    TEXT(HN_TEXT_OPTION, data, "folder of the pairs"),
    TEXT(HN_INT_OPTION, out, "128", 2, 4096, "columns of the embedding"),
    TEXT(HN_INT_OPTION, hidden, "0", 0, 4096,
         "columns of the tables, in front of a projection; 0: out, without one"),
    OWN(HN_BOOL_OPTION, shared, "false", "queries and documents have one table"),
    TEXT(HN_BOOL_OPTION, idf, "true", "weigh features by inverse frequency"),
    OWN(HN_CHOICE_OPTION, tf, NULL, tfs,
        "weigh features by 1 + ln of their number in a text, as by default, by it, or by 1"),
    OWN(HN_BOOL_OPTION, joint, NULL,
        "scale the features of a text to one length, not first words and the rest apart"),
    OWN(HN_BOOL_OPTION, parts, "true", "parts of words are features, 3 to 5 bytes"),
    OWN(HN_BOOL_OPTION, neighbours, "true", "two neighbouring words are a feature"),
    OWN(HN_INT_OPTION, words, "128", 1, 100000, "words of a text that count, its first"),
    OWN(HN_BOOL_OPTION, mask, "false", "a document that is relevant to a query is no negative"),
    OWN(HN_BOOL_OPTION, mined, "false",
        "each item brings the best of its query's negatives, for the whole batch"),
    OWN(HN_INT_OPTION, min_rank, "1", 1, 100000, "mined: first rank among what is not relevant"),
    OWN(HN_REAL_OPTION, relative_margin, NULL, -INFINITY, INFINITY,
        "mined: keep scores of at most the positive's less this share of its size"),
    OWN(HN_INT_OPTION, mine_every, "0", 0, 1e9, "mined: steps between minings; 0: an epoch's"),
    TEXT(HN_REAL_OPTION, word_drop, "0", 0, 0.99, "share of words that a view leaves out"),
    TEXT(HN_REAL_OPTION, drop, "0", 0, 0.99, "share of numbers of h that training leaves out"),
    OWN(HN_CHOICE_OPTION, overlap, NULL, hn_pairs_overlaps,
        "evaluated queries whose text is trained on: kept, as by default, or left out of a side"),
    HN_RELEVANCE_OPTIONS_NAMED(struct params, o., "equal_texts", "min_grade",
                               "none; of mined negatives: text"),
    OWN(HN_CHOICE_OPTION, unknown, NULL, hn_unknown_name,
        "lines of qrels with an unknown id: refuse the file, as by default, or skip them"),
    OWN(HN_REAL_OPTION, held, "0.5", 0.001, 0.999,
        "without qrels/test.tsv: share of the queries that are evaluated"),
    TEXT(HN_INT_OPTION, svd, "0", 0, 4096,
         "singular vectors of the projection evaluated beside; 0: none"),
    {.name = NULL}};

#define SHARE(name, of)                                                                            \
    { name, HN_COLUMN_REAL, "share", of, HN_LARGER }
#define MEASURES(prefix, of)                                                                       \
    SHARE(prefix "mrr", "MRR@1000 of labelled documents among all" of),                            \
        SHARE(prefix "mrr_test", "MRR@1000 among the documents of the test pairs" of),             \
        SHARE(prefix "mrr_10", "MRR@10 among all" of),                                             \
        SHARE(prefix "recall_100", "recall@100 among all" of),                                     \
        SHARE(prefix "true_mrr", "MRR@1000 by complete relevance, among all" of),                  \
        SHARE(prefix "true_mrr_10", "MRR@10 by complete relevance" of),                            \
        SHARE(prefix "true_recall_100", "recall@100 by complete relevance" of)
static const struct hn_column columns[COLUMNS] = {
    MEASURES("", ""),
    MEASURES("tfidf_", ", of the features alone"),
    MEASURES("svd_", ", of the features' projection to singular vectors"),
    {"overlap", HN_COLUMN_REAL, "queries", "evaluated queries whose text is trained on",
     HN_SMALLER}};

static const char *const beir_files[] = {"queries.jsonl",  "corpus.jsonl",    "qrels/train.tsv",
                                         "qrels/test.tsv", "qrels/truth.tsv", NULL};
static const struct hn_task_data beir = {
    .folder = "beir/fiqa",
    .folders = "beir/*",
    .files = beir_files,
    .required = 3,
    .below = "qrels",
    .items = "pairs",
    .origin = "queries.jsonl, corpus.jsonl and qrels/train.tsv of a set of "
              "https://github.com/beir-cellar/beir",
};
static const char *const files[] = {"train.jsonl", "test.jsonl", "valid.jsonl", "codebase.jsonl",
                                    NULL};
static const struct hn_task_data data = {
    .folder = "codesearchnet/ruby",
    .folders = "codesearchnet/*",
    .files = files,
    .required = 2,
    .items = "pairs",
    .origin = "train.jsonl and test.jsonl of a language of CodeSearchNet, as "
              "https://github.com/microsoft/CodeBERT (GraphCodeBERT/codesearch) makes them, or "
              "zcat from its *.jsonl.gz",
    .other = &beir,
};

const struct hn_task_type hn_pairs_task = {
    .name = "pairs",
    .summary = "queries and documents, code search: two bags of hashed words and parts of words",
    .source = "GC 6.1 on code search, made small",
    .note = "the paper fine-tunes UniXcoder; here nothing was trained before",
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .data = &data,
    .columns = columns,
    .n_columns = COLUMNS,
    .of_data = OF_DATA,
    .objectives = HN_OBJECTIVES_PAIRS,
    .open = open_pairs,
    .init = hn_text_init,
    .step = step,
    .embed = hn_text_embed,
    .evaluate = evaluate,
    .evaluate_data = evaluate_features,
};
