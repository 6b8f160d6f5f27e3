// SPDX-License-Identifier: GPL-3.0-or-later
// Queries and documents (GC table 1, code search) by hashed bags: two of text_task.h, of the words
// and parts of words of a query and of a document, whose identifiers are split.
//
// Items are pairs of a query and a document that is relevant to it, both ways InfoNCE their loss
// (both-ways). Evaluated are queries that were not trained on, by the place of their first relevant
// document, among all documents and among those of these queries alone (N x N, CodeSearchNet); as
// labelled, and by complete relevance where it is known. Before the first step the same of the
// features' own cosines, and of their projection to singular vectors.
//
// With `mined` each item brings negatives, which serve the whole batch (with one, GC's Hard
// Negative (1)): of its query, by the retrieval module, on the embeddings of every so many steps;
// from a rank on, drawn from a window of ranks, or, as a control, at random. What is chosen by
// accuracies is chosen on queries of their own (`valid`). By `same_side` the others of a text's own
// side are its negatives, too, as in GTE (Li et al. 2023), which has all of them in one sum; here
// each way has its own.
//
// Our deviation: the paper fine-tunes UniXcoder; here nothing was trained before. Equal texts of
// CodeSearchNet's files are one.
#include "core/random.h"
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
#include <string.h>

enum { MINE_DEPTH = 100 }; // ranks behind the first that are looked at
enum { TRIES = 1000 };     // to draw a document that is not relevant
enum {
    OF_DATA = 2 * HN_PAIRS_COLUMNS + 1,
    COLUMNS = HN_PAIRS_COLUMNS + HN_PAIRS_LABELLED + OF_DATA
};
enum mined { NOT_MINED, MINED, AT_RANDOM };
enum same_side { OF_QUERIES = 1, OF_DOCUMENTS = 2 }; // bits

struct params {
    struct hn_text_params text; // first
    bool shared, parts, neighbours, joint, mask;
    int mined, among, split;  // enum mined; of all documents (0) or of those trained on; by query
                              // (0) or by group
    int same_side;            // enum same_side
    int tf;                   // enum hn_text_tf
    int overlap;              // enum hn_pairs_side
    int unknown;              // enum hn_unknown
    struct hn_mine_options o; // of which the options of relevance can be given
    int64_t words, min_rank, mine_every;
    int64_t max_rank, negatives, mine_after, data_seed; // INT64_MIN: not given
    double held, relative_margin, valid;
};

static int64_t or_else(int64_t given, int64_t other) { return given == INT64_MIN ? other : given; }

struct state {
    struct hn_text_task text; // first
    struct hn_pair_folder data;
    int64_t queries, documents;
    int64_t *group[HN_SETS]; // numbers of texts
    struct hn_qrels self;    // documents that are the query itself, where they are not ranked
    const char **line;       // [queries + documents] texts, as `features` numbers them
    int32_t *behind;         // texts: queries of test pairs, those to choose by, documents
    int64_t n_behind;
    struct hn_pairs_ranked ranked, choosing;
    struct hn_pairs_overlap overlap;
    struct hn_tuples tuples;
    int32_t *label; // [task->n_all]
};

static enum hn_code make_items(struct hn_context *ctx, struct state *s, int64_t negatives) {
    const struct hn_qrels *train = &s->data.train;
    if (hn_text_items_open(ctx, train->start[train->n], negatives, &s->text.items))
        return ctx->code;
    for (int64_t q = 0; q < train->n; q++)
        for (int64_t e = train->start[q]; e < train->start[q + 1]; e++)
            if (hn_qrels_relevant_at(train, e))
                hn_text_items_add(&s->text.items, (int32_t)q,
                                  (int32_t)(s->queries + train->passage[e]), -1);
    return HN_OK;
}

// Queries with a relevant document, which are listed behind the items, and these documents.
static enum hn_code list_ranked(struct hn_context *ctx, struct state *s,
                                const struct hn_qrels *relevant, const struct hn_qrels *truth,
                                struct hn_pairs_ranked *out) {
    int64_t queries = 0, own = 0;
    int32_t *document = hn_alloc(ctx, s->documents, sizeof *document);
    HN_SCOPE(ctx);
    bool *is_own = hn_zalloc(ctx, s->documents, sizeof *is_own);
    if (!document || !is_own)
        return ctx->code;
    for (int64_t q = 0; relevant->start && q < s->queries; q++) {
        if (hn_qrels_any_relevant(relevant, q))
            s->behind[s->n_behind + queries++] = (int32_t)q;
        for (int64_t e = relevant->start[q]; e < relevant->start[q + 1]; e++)
            is_own[relevant->passage[e]] |= hn_qrels_relevant_at(relevant, e);
    }
    for (int32_t d = 0; d < s->documents; d++)
        if (is_own[d])
            document[own++] = d;
    *out = (struct hn_pairs_ranked){.queries = queries,
                                    .documents = s->documents,
                                    .own = own,
                                    .query = s->behind + s->n_behind,
                                    .own_document = document,
                                    .test = relevant,
                                    .truth = truth,
                                    .self = &s->self};
    s->n_behind += queries;
    return HN_OK;
}

// Texts that are embedded behind the items.
static enum hn_code list_behind(struct hn_context *ctx, struct state *s) {
    static const struct hn_qrels unknown = {.n = 0};
    if (!HN_ALLOC(ctx, s->behind, 2 * s->queries + s->documents) ||
        list_ranked(ctx, s, &s->data.test, &s->data.truth, &s->ranked) ||
        list_ranked(ctx, s, &s->data.valid, &unknown, &s->choosing))
        return ctx->code;
    for (int32_t d = 0; d < s->documents; d++)
        s->behind[s->n_behind++] = (int32_t)s->queries + d;
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

// Of equal texts, or the document of one is relevant to the query of the other.
static bool is_connected(const struct hn_task *task, int way, int64_t a, int64_t b) {
    const struct state *s = task->state;
    const int32_t *text = way == 0 ? s->text.items.query : s->text.items.key;
    const int64_t *group = s->group[way == 0 ? HN_QUERIES : HN_CORPUS];
    int64_t first = way == 0 ? 0 : s->queries;
    return group[text[a] - first] == group[text[b] - first] ||
           is_relevant(task, a, s->text.items.key[b]) || is_relevant(task, b, s->text.items.key[a]);
}

static enum hn_code read_data(struct hn_context *ctx, struct hn_task *task) {
    const struct params *p = task->params;
    struct state *s = task->state;
    const struct hn_pair_folder_rules rules = {.held = p->held,
                                               .valid = p->valid > 0 ? p->valid : 0,
                                               .seed = (uint64_t)or_else(p->data_seed, 1),
                                               .by_group = p->split == 1,
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

// Queries of the items, each once, and the documents that their negatives are mined from.
struct mining {
    int64_t queries, documents;
    int32_t *text; // [queries + documents]
    int32_t *row;  // [items] of their query
    struct hn_qrels known;
    int64_t *group[HN_SETS];       // [queries], [documents]
    struct hn_strings id[HN_SETS]; // likewise; n = 0: there are none
};

// position[documents of the task]: of each among those that are mined from, -1: it is not.
static enum hn_code list_mined(struct hn_context *ctx, const struct state *s, bool all,
                               struct mining *m, int32_t *position) {
    const struct hn_qrels *train = &s->data.train;
    const struct hn_strings *id = &s->data.id[HN_CORPUS];
    for (int32_t d = 0; d < s->documents; d++)
        position[d] = all ? 0 : -1;
    for (int64_t e = 0; e < train->start[train->n]; e++)
        if (hn_qrels_relevant_at(train, e))
            position[train->passage[e]] = 0;
    for (int64_t d = 0; d < s->documents; d++) {
        if (position[d] < 0)
            continue;
        if (id->n && hn_strings_add(ctx, &m->id[HN_CORPUS], hn_string(id, d)))
            return ctx->code;
        position[d] = (int32_t)m->documents;
        m->group[HN_CORPUS][m->documents] = s->group[HN_CORPUS][d];
        m->text[m->queries + m->documents++] = (int32_t)(s->queries + d);
    }
    return HN_OK;
}

static enum hn_code list_asking(struct hn_context *ctx, const struct state *s, struct mining *m) {
    const struct hn_text_items *items = &s->text.items;
    const struct hn_strings *id = &s->data.id[HN_QUERIES];
    for (int64_t i = 0; i < items->n; i++) {
        int32_t query = items->query[i];
        if (i == 0 || query != items->query[i - 1]) {
            if (id->n && hn_strings_add(ctx, &m->id[HN_QUERIES], hn_string(id, query)))
                return ctx->code;
            m->group[HN_QUERIES][m->queries] = s->group[HN_QUERIES][query];
            m->text[m->queries++] = query;
        }
        m->row[i] = (int32_t)m->queries - 1;
    }
    return HN_OK;
}

static enum hn_code list_mining(struct hn_context *ctx, const struct state *s, bool all,
                                struct mining *m) {
    const struct hn_qrels *train = &s->data.train;
    int64_t n = 0, items = s->text.items.n;
    struct hn_judgement *list;
    int32_t *position;
    *m = (struct mining){0};
    if (!HN_ALLOC(ctx, m->text, items + s->documents) || !HN_ALLOC(ctx, m->row, items) ||
        !HN_ALLOC(ctx, m->group[HN_QUERIES], items) ||
        !HN_ALLOC(ctx, m->group[HN_CORPUS], s->documents) ||
        !HN_ALLOC(ctx, position, s->documents) || !HN_ALLOC(ctx, list, train->start[train->n]) ||
        list_asking(ctx, s, m) || list_mined(ctx, s, all, m, position))
        return ctx->code;
    for (int64_t q = 0; q < m->queries; q++)
        for (int64_t e = train->start[m->text[q]]; e < train->start[m->text[q] + 1]; e++)
            if (position[train->passage[e]] >= 0)
                list[n++] =
                    (struct hn_judgement){(int32_t)q, position[train->passage[e]], train->grade[e]};
    if (hn_qrels_build(ctx, list, n, m->queries, &m->known))
        return ctx->code;
    m->known.min_grade = train->min_grade;
    return HN_OK;
}

static enum hn_code open_miner(struct hn_context *ctx, const struct hn_task *task, int64_t step,
                               const struct mining *m, const float *z, struct hn_miner *out) {
    const struct params *p = task->params;
    const struct state *s = task->state;
    int64_t d = task->d;
    struct hn_stream stream;
    hn_stream_open(&stream, task->setting.seed, "pairs.mined", step, 0, 0);
    const struct hn_retrieval_data data = {
        .rows = {{z, m->queries, d, d}, {z + m->queries * d, m->documents, d, d}},
        .group = {m->group[HN_QUERIES], m->group[HN_CORPUS]},
        .id = {m->id[HN_QUERIES], m->id[HN_CORPUS]},
        .qrels = m->known};
    // Documents of one text are one already, unless they are to stay apart.
    bool apart = p->o.equal_texts == HN_EQUAL_APART, window = p->max_rank != INT64_MIN;
    const struct hn_mine_options options = {.n = s->text.items.width,
                                            .equal_texts = apart ? HN_EQUAL_APART : HN_EQUAL_FILTER,
                                            .self = p->o.self,
                                            .min_grade = p->o.min_grade,
                                            .depth =
                                                window ? p->max_rank : p->min_rank + MINE_DEPTH,
                                            .min_rank = p->min_rank,
                                            .max_rank = p->max_rank,
                                            .take = window ? HN_TAKE_DRAW : HN_TAKE_TOP,
                                            .seed = hn_stream_below(&stream, INT32_MAX),
                                            .absolute_margin = NAN,
                                            .relative_margin = p->relative_margin,
                                            .max_score = NAN,
                                            .min_score = NAN,
                                            .guide = NAN};
    return hn_miner_open(ctx, &data, &options, task->path, out);
}

// negative[queries x width] of queries from .. from + count: documents that are mined from, -1.
static enum hn_code mine_part(struct hn_context *ctx, const struct hn_miner *miner, int64_t from,
                              int64_t count, int64_t width, int32_t *negative) {
    struct hn_pool pool;
    struct hn_mined found = {0};
    HN_SCOPE(ctx);
    if (hn_check_stop(ctx) || hn_miner_pool(ctx, miner, from, count, false, &pool) ||
        hn_miner_take(ctx, miner, &pool, &found))
        return ctx->code;
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < width; k++)
            negative[(from + i) * width + k] = k < found.n[i] ? found.id[i * found.width + k] : -1;
    return HN_OK;
}

static enum hn_code mine_by_rank(struct hn_context *ctx, struct hn_task *task, int64_t step,
                                 const struct mining *m, int32_t *negative) {
    struct state *s = task->state;
    struct hn_miner miner;
    int64_t texts = m->queries + m->documents;
    float *z = hn_alloc(ctx, texts, (size_t)task->d * sizeof *z);
    s->text.texts = m->text;
    if (!z || hn_task_embed(ctx, task, HN_TEXT_TEXTS, 0, texts, z) ||
        hn_normalize_rows(ctx, z, texts, task->d, "embedding") ||
        open_miner(ctx, task, step, m, z, &miner))
        return ctx->code;
    int64_t part = hn_ranking_rows(m->queries, &miner.data.rows[HN_CORPUS], miner.o.depth);
    for (int64_t from = 0; from < m->queries; from += part)
        if (mine_part(ctx, &miner, from, hn_min(part, m->queries - from), s->text.items.width,
                      negative))
            return ctx->code;
    return HN_OK;
}

static bool is_among(const int32_t *list, int64_t n, int32_t id) {
    bool found = false;
    for (int64_t k = 0; k < n && !found; k++)
        found = list[k] == id;
    return found;
}

// Documents that are not known to be relevant, each as likely, different ones.
static void draw_any(const struct hn_task *task, int64_t step, const struct mining *m,
                     int32_t *negative) {
    int64_t width = ((const struct state *)task->state)->text.items.width;
    for (int64_t q = 0; q < m->queries; q++) {
        int32_t *of = negative + q * width;
        int64_t n = 0;
        struct hn_stream stream;
        hn_stream_open(&stream, task->setting.seed, "pairs.random", step, 0, q);
        for (int tries = 0; n < width && tries < TRIES; tries++) {
            int32_t d = (int32_t)hn_stream_below(&stream, (uint32_t)m->documents);
            if (!hn_qrels_relevant(&m->known, q, d) && !is_among(of, n, d))
                of[n++] = d;
        }
        while (n < width)
            of[n++] = -1;
    }
}

// The negatives of all items, by the current weights.
static enum hn_code mine(struct hn_context *ctx, struct hn_task *task, int64_t step) {
    const struct params *p = task->params;
    struct state *s = task->state;
    int64_t width = s->text.items.width;
    struct mining m;
    HN_SCOPE(ctx);
    if (list_mining(ctx, s, p->among == 0, &m))
        return ctx->code;
    int32_t *negative = hn_alloc(ctx, m.queries * width, sizeof *negative);
    if (!negative)
        return ctx->code;
    if (p->mined == AT_RANDOM && p->among == 0)
        hn_note_once(ctx,
                     "mined: random draws from all documents; those that are evaluated are never a "
                     "positive, and training pushes them away: `among: train` draws from the "
                     "training's alone");
    if (p->mined == AT_RANDOM)
        draw_any(task, step, &m, negative);
    else if (mine_by_rank(ctx, task, step, &m, negative))
        return ctx->code;
    for (int64_t i = 0; i < task->n * width; i++) {
        int32_t found = negative[m.row[i / width] * width + i % width];
        s->text.items.hard[i] = found < 0 ? -1 : m.text[m.queries + found];
    }
    return HN_OK;
}

static enum hn_code step(struct hn_context *ctx, struct hn_task *task,
                         const struct hn_task_batch *batch, double *loss, float *z1) {
    const struct params *p = task->params;
    int64_t epoch = task->n / task->batch_size, every = p->mine_every ? p->mine_every : epoch;
    int64_t since = batch->step - or_else(p->mine_after, 0) * epoch;
    if (p->mined && since >= 0 && since % every == 0 && mine(ctx, task, batch->step))
        return ctx->code;
    return hn_text_step(ctx, task, batch, loss, z1);
}

static enum hn_code check_window(struct hn_context *ctx, const struct params *p) {
    return p->mined == MINED && p->max_rank != INT64_MIN && p->max_rank <= p->min_rank
               ? hn_fail(ctx, HN_USAGE, "task pairs: max_rank %lld is not above min_rank %lld",
                         (long long)p->max_rank, (long long)p->min_rank)
               : HN_OK;
}

static enum hn_code check_side(struct hn_context *ctx, const struct hn_task *task) {
    const struct params *p = task->params;
    const struct hn_loss_spec *loss = &task->setting.loss;
    bool one_way =
        loss->objective == HN_OBJECTIVE_OTHER_VIEW || loss->objective == HN_OBJECTIVE_SIGLIP;
    if (p->same_side == 0)
        return HN_OK;
    if (one_way && p->same_side & OF_DOCUMENTS)
        return hn_fail(ctx, HN_USAGE,
                       "task pairs: documents have no negatives in loss %s: take both-ways, or "
                       "same_side: queries",
                       hn_objectives[loss->objective].name);
    if (!one_way && loss->objective != HN_OBJECTIVE_BOTH_WAYS)
        return hn_fail(ctx, HN_USAGE,
                       "task pairs: same_side takes loss both-ways, other-view or siglip, not %s",
                       hn_objectives[loss->objective].name);
    if (loss->weighting.guided || loss->weighting.clip > 0)
        return hn_fail(
            ctx, HN_USAGE,
            "task pairs: same_side takes no weighting with clip or guide: teacher, which "
            "look at pairs of a query and a document");
    return HN_OK;
}

static enum hn_code open_pairs(struct hn_context *ctx, struct hn_task *task) {
    const struct params *p = task->params;
    struct state *s = task->state;
    if (check_window(ctx, p) || check_side(ctx, task) || read_data(ctx, task) ||
        make_items(ctx, s, p->mined ? or_else(p->negatives, 1) : 1) || list_behind(ctx, s) ||
        make_features(ctx, task) ||
        hn_task_set_items(ctx, task, s->text.items.n, s->text.items.n + s->n_behind, p->text.out))
        return ctx->code;
    s->text.behind = s->behind;
    s->text.apart = p->shared ? s->text.features.n : s->queries;
    s->text.hard_option = "mined";
    s->text.lists = p->mask || p->mined || p->same_side;
    s->text.related = p->mask ? is_relevant : NULL;
    s->text.same_side[0] = p->same_side & OF_QUERIES;
    s->text.same_side[1] = p->same_side & OF_DOCUMENTS;
    s->text.connected = is_connected;
    task->kept = s->text.items.hard;
    task->kept_bytes =
        p->mined ? task->n * s->text.items.width * (int64_t)sizeof *s->text.items.hard : 0;
    return make_labels(ctx, task) || make_tuples(ctx, task) || hn_text_task_open(ctx, task)
               ? ctx->code
               : HN_OK;
}

static enum hn_code evaluate_features(struct hn_context *ctx, struct hn_task *task, double *value) {
    const struct params *p = task->params;
    struct state *s = task->state;
    const struct hn_text_features *f = &s->text.features;
    int64_t svd = p->text.svd, first = s->n_behind - s->documents, n;
    struct hn_sparse bags, q, documents, transposed;
    int32_t *fit;
    HN_SCOPE(ctx);
    if (hn_text_bags(ctx, f, s->behind, s->ranked.queries, &q) ||
        hn_text_bags(ctx, f, s->behind + first, s->documents, &documents) ||
        hn_sparse_open(ctx, HN_TEXT_BUCKETS, s->documents, documents.capacity, &transposed))
        return ctx->code;
    hn_sparse_transpose(&documents, &transposed);
    value[OF_DATA - 1] = (double)s->overlap.queries;
    if (hn_pairs_measure_bags(ctx, &s->ranked, &q, &transposed, value))
        return ctx->code;
    if (svd == 0)
        return HN_OK;
    float *z = hn_alloc(ctx, s->n_behind, (size_t)svd * sizeof *z);
    return !z || list_training(ctx, s, &fit, &n) ||
                   hn_text_bags(ctx, f, s->behind, s->n_behind, &bags) ||
                   hn_text_svd(ctx, f, fit, n, svd, &bags, z) ||
                   hn_pairs_measure(ctx, &s->ranked, z, z + first * svd, svd,
                                    value + HN_PAIRS_COLUMNS)
               ? ctx->code
               : HN_OK;
}

static enum hn_code evaluate(struct hn_context *ctx, struct hn_task *task, int64_t at,
                             const float *z, double *value) {
    const struct state *s = task->state;
    const float *q = z + task->n * task->d, *p = z + (task->n_all - s->documents) * task->d;
    double choosing[HN_PAIRS_COLUMNS];
    (void)at;
    if (hn_pairs_measure(ctx, &s->ranked, q, p, task->d, value))
        return ctx->code;
    if (s->choosing.queries == 0)
        return HN_OK;
    if (hn_pairs_measure(ctx, &s->choosing, q + s->ranked.queries * task->d, p, task->d, choosing))
        return ctx->code;
    memcpy(value + HN_PAIRS_COLUMNS, choosing, HN_PAIRS_LABELLED * sizeof *choosing);
    return HN_OK;
}

#define OWN(macro, field, ...)                                                                     \
    { macro(struct params, field, #field, __VA_ARGS__) }
#define TEXT(macro, field, ...)                                                                    \
    { macro(struct hn_text_params, field, #field, __VA_ARGS__) }
static const char *const tfs[] = {"log", "plain", "binary", NULL};
static const char *const mineds[] = {"false", "true", "random", NULL};
static const char *const same_sides[] = {"none", "queries", "documents", "both", NULL};
static const char *const amongs[] = {"all", "train", NULL};
static const char *const splits[] = {"query", "group", NULL};
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
    OWN(HN_CHOICE_OPTION, same_side, NULL, same_sides,
        "negatives of a query are the batch's other queries, too, of a document its other "
        "documents, "
        "but for equal texts and those of which one's partner is relevant to the other; default: "
        "none"),
    OWN(HN_CHOICE_OPTION, mined, "false", mineds,
        "each item brings the best of its query's negatives (true), or documents drawn at random "
        "(random), for the whole batch"),
    OWN(HN_INT_OPTION, min_rank, "1", 1, 100000, "mined: first rank among what is not relevant"),
    OWN(HN_INT_OPTION, max_rank, NULL, 2, 100000,
        "mined: last rank of a window that negatives are drawn from; without it the best are "
        "taken"),
    OWN(HN_INT_OPTION, negatives, NULL, 1, 16, "mined: of each query (default: 1)"),
    OWN(HN_CHOICE_OPTION, among, NULL, amongs,
        "mined: from all documents, as by default, or from those of the training's pairs alone"),
    OWN(HN_INT_OPTION, mine_after, NULL, 0, 1e6, "mined: epochs before the first (default: 0)"),
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
    OWN(HN_REAL_OPTION, valid, NULL, 0, 0.9,
        "share of the training's queries that is kept for choosing settings (columns valid_)"),
    OWN(HN_INT_OPTION, data_seed, NULL, 0, INT32_MAX,
        "seed of the draws of `held` and `valid` (default: 1)"),
    OWN(HN_CHOICE_OPTION, split, NULL, splits,
        "`held` and `valid` draw queries, as by default, or groups of them: lines of groups.txt"),
    TEXT(HN_INT_OPTION, svd, "0", 0, 4096,
         "singular vectors of the projection evaluated beside; 0: none"),
    {.name = NULL}};

#define SHARE(name, of)                                                                            \
    { name, HN_COLUMN_REAL, "share", of, HN_LARGER }
#define LABELLED(prefix, of)                                                                       \
    SHARE(prefix "mrr", "MRR@1000 of labelled documents among all" of),                            \
        SHARE(prefix "mrr_test", "MRR@1000 among the documents of the test pairs" of),             \
        SHARE(prefix "mrr_10", "MRR@10 among all" of),                                             \
        SHARE(prefix "recall_100", "recall@100 among all" of)
#define MEASURES(prefix, of)                                                                       \
    LABELLED(prefix, of),                                                                          \
        SHARE(prefix "true_mrr", "MRR@1000 by complete relevance, among all" of),                  \
        SHARE(prefix "true_mrr_10", "MRR@10 by complete relevance" of),                            \
        SHARE(prefix "true_recall_100", "recall@100 by complete relevance" of)
static const struct hn_column columns[COLUMNS] = {
    MEASURES("", ""),
    LABELLED("valid_", ", of queries kept for choosing"),
    MEASURES("tfidf_", ", of the features alone"),
    MEASURES("svd_", ", of the features' projection to singular vectors"),
    {"overlap", HN_COLUMN_REAL, "queries", "evaluated queries whose text is trained on",
     HN_SMALLER}};

static const char *const beir_files[] = {"queries.jsonl",
                                         "corpus.jsonl",
                                         "qrels/train.tsv",
                                         "qrels/test.tsv",
                                         "qrels/truth.tsv",
                                         "groups.txt",
                                         NULL};
static const struct hn_task_data beir = {
    .folder = "beir/fiqa",
    .folders = {"beir/*"},
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
    .folders = {"codesearchnet/*"},
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
