// Sentence embeddings (BS table 2, GC table 2) by hashed bags: a table of embeddings of words and
// of parts of words, summed over a sentence (text_net.h, training/text/features.h).
//
//   single: every training sentence is its own positive, seen through dropout (unsupervised SimCSE)
//   pairs: entailed or high-scored pairs, with contradictions as hard negatives (supervised)
//
// A view leaves out every word with probability word_drop (all stay if all would go), then every
// number of h with probability `drop`. Evaluated is Spearman's correlation of cosines with the
// scores of STS12 to 16 and of SICK, over all pairs of a set together; before the first step that
// of the features' own cosines as well, and of their projection to singular vectors.
//
// Our deviation: the papers fine-tune BERT; here nothing was trained before.
#include "core/random.h"
#include "training/tasks/task.h"
#include "training/tasks/text_items.h"
#include "training/tasks/text_net.h"
#include "training/text/scores.h"
#include "training/text/svd.h"

#include <math.h>
#include <string.h>

enum { SINGLE, PAIRS };
// Columns of a kind of embeddings: the mean of the five test sets, and these.
enum { MEAN, OF_TESTS, TESTS = 5, OF_TRAINING = OF_TESTS + TESTS, TRAININGS = 2 };
enum { TFIDF = OF_TRAINING + TRAININGS, SVD = TFIDF + OF_TRAINING, COLUMNS = SVD + OF_TRAINING };
static const enum hn_text_set tests[TESTS] = {HN_TEXT_STS12_TEST, HN_TEXT_STS13, HN_TEXT_STS14,
                                              HN_TEXT_STS16, HN_TEXT_SICK_TEST};

struct params {
    char *data;
    int items;
    bool idf, transductive, sick_only, hard, mask;
    int64_t out, svd;
    double word_drop, drop;
};

struct state {
    struct hn_sts sts;
    struct hn_text_features features;
    struct hn_text_items items;
    int32_t *label;    // [task->n_all] groups of sentences
    int32_t *training; // [trainings] sentences that idf and singular vectors are fitted to
    int64_t trainings;
    struct hn_text_net net;
    bool *left_out; // [features.max_words]
    int32_t *hard;  // [batch] different hard negatives of a batch
    int64_t n_hard;
    int32_t *own, *position; // of the lists: [batch], [batch x 2 batch]
    int64_t *start;          // [batch + 1]
};

static enum hn_code make_items(struct hn_context *ctx, struct hn_task *task) {
    const struct params *p = task->params;
    struct state *s = task->state;
    s->training = hn_text_training(ctx, &s->sts, p->transductive, &s->trainings);
    if (!s->training)
        return ctx->code;
    if (p->items == SINGLE)
        return hn_text_items_single(ctx, s->training, s->trainings, &s->items);
    return hn_text_items_pairs(ctx, &s->sts, p->sick_only, p->hard, &s->items)
               ? hn_fail_in(ctx, "%s", task->path)
               : HN_OK;
}

// Row i of all: the query of an item in view 0 or 1, its key in view 2; behind the items sentences.
static int32_t sentence_of(const struct hn_task *task, int view, int64_t i) {
    const struct state *s = task->state;
    if (i >= task->n)
        return (int32_t)(i - task->n);
    return view == 2 ? s->items.key[i] : s->items.query[i];
}

static enum hn_code make_labels(struct hn_context *ctx, struct hn_task *task) {
    struct state *s = task->state;
    s->label = hn_alloc(ctx, task->n_all, sizeof *s->label);
    if (!s->label || hn_text_groups(ctx, &s->sts, s->label + task->n))
        return ctx->code;
    for (int64_t i = 0; i < task->n; i++)
        s->label[i] = s->label[task->n + sentence_of(task, 0, i)];
    task->label = s->label;
    return HN_OK;
}

static enum hn_code open_batches(struct hn_context *ctx, const struct hn_task *task) {
    struct state *s = task->state;
    int64_t b = task->batch_size, pairs;
    if (!hn_mul(2 * b, b, &pairs))
        return hn_fail(ctx, HN_MEMORY, "a batch of %lld items is too large", (long long)b);
    s->left_out = hn_alloc(ctx, s->features.max_words, sizeof *s->left_out);
    s->hard = hn_alloc(ctx, b, sizeof *s->hard);
    s->own = hn_alloc(ctx, b, sizeof *s->own);
    s->start = hn_alloc(ctx, b + 1, sizeof *s->start);
    s->position = hn_alloc(ctx, pairs, sizeof *s->position);
    return s->left_out && s->hard && s->own && s->start && s->position ? HN_OK : ctx->code;
}

static bool needs_lists(const struct params *p) {
    return p->mask || (p->items == PAIRS && p->hard);
}

static enum hn_code open_text(struct hn_context *ctx, struct hn_task *task) {
    const struct params *p = task->params;
    struct state *s = task->state;
    enum hn_objective objective = task->setting.loss.objective;
    if (needs_lists(p) && objective != HN_OBJECTIVE_OTHER_VIEW)
        return hn_fail(ctx, HN_USAGE,
                       "task text: hard negatives and `mask` take loss other-view, not %s: set "
                       "hard and mask to false for it",
                       hn_objectives[objective].name);
    if (needs_lists(p) && task->setting.loss.weighting.guided)
        return hn_fail(ctx, HN_USAGE,
                       "task text: guide: teacher compares items of the batch, and with hard "
                       "negatives or `mask` keys are sentences: set hard and mask to false for it");
    if (hn_sts_read(ctx, task->path, hn_text_files, &s->sts) || make_items(ctx, task) ||
        hn_text_features_make(ctx, s->sts.sentence, s->sts.n, p->idf ? s->training : NULL,
                              s->trainings, &s->features) ||
        hn_task_set_items(ctx, task, s->items.n, s->items.n + s->sts.n, p->out))
        return ctx->code;
    if (p->svd > s->trainings)
        return hn_fail(ctx, HN_DATA, "%s has %lld training sentences: lower svd (%lld)", task->path,
                       (long long)s->trainings, (long long)p->svd);
    return make_labels(ctx, task) || open_batches(ctx, task) ||
                   hn_text_net_open(ctx, &s->features, &task->weights, p->out, p->drop, objective,
                                    task->batch_size, &s->net)
               ? ctx->code
               : HN_OK;
}

static void init(struct hn_task *task) {
    const struct state *s = task->state;
    hn_text_net_init(&s->net, &task->weights, task->setting.seed);
}

// Adds a view of a sentence, drawn from the stream.
static void add_view(const struct hn_task *task, int32_t sentence, struct hn_stream *stream) {
    const struct params *p = task->params;
    struct state *s = task->state;
    int32_t words = s->features.words[sentence], left = words;
    for (int32_t w = 0; w < words; w++) {
        s->left_out[w] = hn_stream_uniform(stream) < p->word_drop;
        left -= s->left_out[w];
    }
    hn_text_add_row(&s->features, sentence, left > 0 ? s->left_out : NULL, &s->net.x);
}

static void add_views(const struct hn_task *task, int64_t step, int view, const int32_t *of,
                      const int32_t *id, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        struct hn_stream stream;
        hn_stream_open(&stream, task->setting.seed, "text.view", step, view, i);
        add_view(task, of[id ? id[i] : i], &stream);
    }
}

// The different hard negatives of a batch, in the order of their first item.
static void find_hard(const struct hn_task_batch *batch, struct state *s) {
    s->n_hard = 0;
    for (int64_t i = 0; i < batch->n; i++) {
        int32_t hard = s->items.hard[batch->id[i]];
        bool there = hard < 0;
        for (int64_t k = 0; k < s->n_hard && !there; k++)
            there = s->hard[k] == hard;
        if (!there)
            s->hard[s->n_hard++] = hard;
    }
}

// The negatives of every query: all other keys and the hard negatives; with `mask` without those
// that are the query's or its key's own sentence.
static struct hn_loss_lists make_lists(const struct hn_task_batch *batch, bool mask,
                                       struct state *s) {
    const struct hn_text_items *items = &s->items;
    int64_t keys = batch->n + s->n_hard, at = 0;
    for (int64_t i = 0; i < batch->n; i++) {
        int32_t query = items->query[batch->id[i]], key = items->key[batch->id[i]];
        s->own[i] = (int32_t)i;
        s->start[i] = at;
        for (int64_t j = 0; j < keys; j++) {
            int32_t other = j < batch->n ? items->key[batch->id[j]] : s->hard[j - batch->n];
            if (j != i && !(mask && (other == query || other == key)))
                s->position[at++] = (int32_t)j;
        }
    }
    s->start[batch->n] = at;
    return (struct hn_loss_lists){keys, s->own, s->start, s->position};
}

static enum hn_code step(struct hn_context *ctx, struct hn_task *task,
                         const struct hn_task_batch *batch, double *loss, float *z1) {
    const struct params *p = task->params;
    struct state *s = task->state;
    const struct hn_pass pass = {.workers = hn_task_workers(ctx, task),
                                 .training = true,
                                 .seed = task->setting.seed,
                                 .step = batch->step};
    const hn_real *z;
    struct hn_loss_lists lists;
    hn_text_net_clear(&s->net);
    add_views(task, batch->step, 1, s->items.query, batch->id, batch->n);
    add_views(task, batch->step, 2, s->items.key, batch->id, batch->n);
    if (needs_lists(p)) {
        find_hard(batch, s);
        add_views(task, batch->step, 3, s->hard, NULL, s->n_hard);
        lists = make_lists(batch, p->mask, s);
    }
    *loss = hn_text_net_step(&s->net, &task->weights, &pass, &batch->loss,
                             needs_lists(p) ? &lists : NULL, batch->n, &z);
    if (z1)
        memcpy(z1, z, (size_t)(batch->n * task->d) * sizeof *z1);
    return HN_OK;
}

// Views leave out words, but no numbers of h: evaluation mode.
static enum hn_code embed(struct hn_context *ctx, struct hn_task *task, int view, int64_t at,
                          int64_t count, float *z) {
    struct state *s = task->state;
    const struct hn_pass pass = {.workers = hn_task_workers(ctx, task)};
    for (int64_t first = 0; first < count; first += HN_TEXT_ROWS) {
        int64_t rows = hn_min(HN_TEXT_ROWS, count - first);
        hn_text_net_clear(&s->net);
        for (int64_t i = first; i < first + rows; i++) {
            struct hn_stream stream;
            int32_t sentence = sentence_of(task, view, i);
            hn_stream_open(&stream, task->setting.seed, "text.embed", at, view, i);
            if (view > 0)
                add_view(task, sentence, &stream);
            else
                hn_text_add_row(&s->features, sentence, NULL, &s->net.x);
        }
        memcpy(z + first * task->d, hn_text_net_embed(&s->net, &task->weights, &pass),
               (size_t)(rows * task->d) * sizeof *z);
    }
    return hn_check_stop(ctx);
}

// value[MEAN] and what follows it.
static void put_scores(const double *rho, bool training, double *value) {
    value[MEAN] = 0;
    for (int k = 0; k < TESTS; k++) {
        value[OF_TESTS + k] = rho[tests[k]];
        value[MEAN] += rho[tests[k]] / TESTS;
    }
    if (training) {
        value[OF_TRAINING] = rho[HN_TEXT_STS12_TRAIN];
        value[OF_TRAINING + 1] = rho[HN_TEXT_SICK_TRAIN];
    }
}

// Bags of sentences of[n], or of all n, as a matrix.
static enum hn_code make_bags(struct hn_context *ctx, const struct hn_text_features *f,
                              const int32_t *of, int64_t n, struct hn_sparse *x) {
    int64_t entries = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t s = of ? of[i] : i;
        entries += f->start[s + 1] - f->start[s];
    }
    if (hn_sparse_open(ctx, n, HN_TEXT_BUCKETS, entries, x))
        return ctx->code;
    x->rows = 0;
    for (int64_t i = 0; i < n; i++)
        hn_text_add_row(f, of ? of[i] : i, NULL, x);
    return HN_OK;
}

// Correlations of the features' projection to `svd` singular vectors of the training sentences.
static enum hn_code score_svd(struct hn_context *ctx, struct state *s, int64_t svd,
                              const struct hn_sparse *bags, double *rho) {
    struct hn_sparse x;
    HN_SCOPE(ctx);
    hn_real *v = hn_alloc(ctx, HN_TEXT_BUCKETS * svd, sizeof *v);
    hn_real *h = hn_alloc(ctx, s->sts.n * svd, sizeof *h);
    float *z = hn_alloc(ctx, s->sts.n * svd, sizeof *z);
    if (!v || !h || !z || make_bags(ctx, &s->features, s->training, s->trainings, &x) ||
        hn_svd_right(ctx, &x, svd, v))
        return ctx->code;
    hn_sparse_times(ctx->threads, bags, v, svd, svd, false, h, svd);
    for (int64_t i = 0; i < s->sts.n * svd; i++)
        z[i] = (float)h[i];
    return hn_normalize_rows(ctx, z, s->sts.n, svd, "projection of a sentence,")
               ? ctx->code
               : hn_text_scores(ctx, &s->sts, HN_TEXT_SETS, z, svd, rho);
}

static enum hn_code evaluate_features(struct hn_context *ctx, struct hn_task *task, double *value) {
    const struct params *p = task->params;
    struct state *s = task->state;
    struct hn_sparse bags;
    double rho[HN_TEXT_SETS];
    HN_SCOPE(ctx);
    if (make_bags(ctx, &s->features, NULL, s->sts.n, &bags) ||
        hn_text_scores_sparse(ctx, &s->sts, HN_TEXT_SETS, &bags, rho))
        return ctx->code;
    put_scores(rho, false, value + TFIDF);
    if (p->svd == 0)
        return HN_OK;
    if (score_svd(ctx, s, p->svd, &bags, rho))
        return ctx->code;
    put_scores(rho, false, value + SVD);
    return HN_OK;
}

static enum hn_code evaluate(struct hn_context *ctx, struct hn_task *task, int64_t at,
                             const float *z, double *value) {
    struct state *s = task->state;
    double rho[HN_TEXT_SETS];
    if (hn_text_scores(ctx, &s->sts, HN_TEXT_SETS, z + task->n * task->d, task->d, rho))
        return ctx->code;
    put_scores(rho, true, value);
    return at == 0 ? evaluate_features(ctx, task, value) : HN_OK;
}

static const char *const kinds[] = {"single", "pairs", NULL};
static const struct hn_option options[] = {
    {HN_TEXT_OPTION(struct params, data, "data", "folder of the files of STS and SICK")},
    {HN_CHOICE_OPTION(struct params, items, "items", "single", kinds,
                      "single: sentences as their own positives; pairs: annotated ones")},
    {HN_BOOL_OPTION(struct params, idf, "idf", "false", "weigh features by inverse frequency")},
    {HN_BOOL_OPTION(struct params, transductive, "transductive", "false",
                    "sentences of the test files, without scores, count as training sentences")},
    {HN_BOOL_OPTION(struct params, sick_only, "sick_only", "false",
                    "items pairs: those of SICK alone")},
    {HN_BOOL_OPTION(struct params, hard, "hard", "true",
                    "items pairs: contradictions are hard negatives of the whole batch")},
    {HN_BOOL_OPTION(struct params, mask, "mask", "false",
                    "the sentence of a query or of its key is no negative of it")},
    {HN_INT_OPTION(struct params, out, "out", "256", 2, 4096, "columns of the embedding")},
    {HN_REAL_OPTION(struct params, word_drop, "word_drop", "0.2", 0, 0.99,
                    "share of words that a view leaves out")},
    {HN_REAL_OPTION(struct params, drop, "drop", "0.1", 0, 0.99,
                    "share of numbers of h that training leaves out")},
    {HN_INT_OPTION(struct params, svd, "svd", "0", 0, 4096,
                   "singular vectors of the projection evaluated beside; 0: none")},
    {.name = NULL}};

#define SPEARMAN(name, of)                                                                         \
    { name, HN_COLUMN_REAL, "1", "Spearman's correlation of cosines and scores, " of, HN_LARGER }
#define OF_KIND(prefix, of)                                                                        \
    SPEARMAN(prefix "mean_spearman", "mean of five test sets" of),                                 \
        SPEARMAN(prefix "sts12_spearman", "STS12 test" of),                                        \
        SPEARMAN(prefix "sts13_spearman", "STS13" of),                                             \
        SPEARMAN(prefix "sts14_spearman", "STS14" of),                                             \
        SPEARMAN(prefix "sts16_spearman", "STS16" of),                                             \
        SPEARMAN(prefix "sick_spearman", "SICK test" of)
static const struct hn_column columns[COLUMNS] = {
    OF_KIND("", ""), SPEARMAN("sts12_train_spearman", "STS12 training"),
    SPEARMAN("sick_train_spearman", "SICK training"), OF_KIND("tfidf_", ", of the features alone"),
    OF_KIND("svd_", ", of the features' projection to singular vectors")};

static const char *const files[] = {
    "sick-train.tsv", "sick-test.tsv",  "sts12-train.tsv", "sts12-test.tsv",
    "sts13-test.tsv", "sts14-test.tsv", "sts16-test.tsv",  NULL};
static const struct hn_task_data data = {
    .folder = "sts",
    .folders = "sts",
    .files = files,
    .required = HN_TEXT_SETS,
    .items = "items",
    .origin = "sick-train.tsv and the six others that docs/guide/training-data.md describes, made "
              "from https://github.com/brmson/dataset-sts",
};

const struct hn_task_type hn_text_task = {
    .name = "text",
    .summary = "sentences: a table of embeddings of hashed words and parts of words",
    .source = "BS 5.2 and GC 7 on STS and SICK, made small",
    .note = "the papers fine-tune BERT; here nothing was trained before",
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .data = &data,
    .columns = columns,
    .n_columns = COLUMNS,
    .objectives = HN_OBJECTIVES_PAIRS,
    .open = open_text,
    .init = init,
    .step = step,
    .embed = embed,
    .evaluate = evaluate,
};
