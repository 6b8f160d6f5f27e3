// SPDX-License-Identifier: GPL-3.0-or-later
// Sentence embeddings (BS table 2, GC table 2) by hashed bags: a table of embeddings of words and
// of parts of words, summed over a sentence (text_task.h, training/text/text.h).
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
#include "training/tasks/text_items.h"
#include "training/text/features.h"
#include "training/text/scores.h"

enum { SINGLE, PAIRS };
// Columns of a kind of embeddings: the mean of the five test sets, and these.
enum { MEAN, OF_TESTS, TESTS = 5, OF_TRAINING = OF_TESTS + TESTS, TRAININGS = 2 };
enum { OF_DATA = 2 * OF_TRAINING, COLUMNS = OF_TRAINING + TRAININGS + OF_DATA };
static const enum hn_text_set tests[TESTS] = {HN_TEXT_STS12_TEST, HN_TEXT_STS13, HN_TEXT_STS14,
                                              HN_TEXT_STS16, HN_TEXT_SICK_TEST};

struct params {
    struct hn_text_params text; // first
    int items;
    bool transductive, sick_only, hard, mask;
};

struct state {
    struct hn_text_task text; // first
    struct hn_sts sts;
    int32_t *label;    // [task->n_all] groups of sentences
    int32_t *training; // [trainings] sentences that idf and singular vectors are fitted to
    int64_t trainings;
};

static enum hn_code make_items(struct hn_context *ctx, struct hn_task *task) {
    const struct params *p = task->params;
    struct state *s = task->state;
    s->training = hn_text_training(ctx, &s->sts, p->transductive, &s->trainings);
    if (!s->training)
        return ctx->code;
    if (p->items == SINGLE)
        return hn_text_items_single(ctx, s->training, s->trainings, &s->text.items);
    return hn_text_items_pairs(ctx, &s->sts, p->sick_only, p->hard, &s->text.items)
               ? hn_fail_in(ctx, "%s", task->path)
               : HN_OK;
}

static enum hn_code make_labels(struct hn_context *ctx, struct hn_task *task) {
    struct state *s = task->state;
    if (!HN_ALLOC(ctx, s->label, task->n_all))
        return ctx->code;
    hn_text_groups(&s->sts, s->label + task->n);
    for (int64_t i = 0; i < task->n; i++)
        s->label[i] = s->label[task->n + s->text.items.query[i]];
    task->label = s->label;
    return HN_OK;
}

static bool needs_lists(const struct params *p) {
    return p->mask || (p->items == PAIRS && p->hard);
}

// The sentence of a query, or of its key, in another item.
static bool is_own(const struct hn_task *task, int64_t i, int32_t key) {
    const struct hn_text_items *items = &((const struct state *)task->state)->text.items;
    return key == items->query[i] || key == items->key[i];
}

static enum hn_code open_text(struct hn_context *ctx, struct hn_task *task) {
    const struct params *p = task->params;
    struct state *s = task->state;
    static const struct hn_text_rules rules = {.parts = true};
    if (hn_sts_read(ctx, task->path, hn_text_files, &s->sts) || make_items(ctx, task) ||
        hn_text_features_make(ctx, s->sts.sentence, s->sts.n, &rules,
                              p->text.idf ? s->training : NULL, s->trainings, &s->text.features) ||
        hn_task_set_items(ctx, task, s->text.items.n, s->text.items.n + s->sts.n, p->text.out))
        return ctx->code;
    if (p->text.svd > s->trainings)
        return hn_fail(ctx, HN_DATA, "%s has %lld training sentences: lower svd (%lld)", task->path,
                       (long long)s->trainings, (long long)p->text.svd);
    s->text.apart = s->sts.n;
    s->text.hard_option = "hard";
    s->text.lists = needs_lists(p);
    s->text.related = p->mask ? is_own : NULL;
    return make_labels(ctx, task) || hn_text_task_open(ctx, task) ? ctx->code : HN_OK;
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

static enum hn_code evaluate_features(struct hn_context *ctx, struct hn_task *task, double *value) {
    const struct params *p = task->params;
    struct state *s = task->state;
    int64_t svd = p->text.svd;
    struct hn_sparse bags;
    double rho[HN_TEXT_SETS];
    HN_SCOPE(ctx);
    if (hn_text_bags(ctx, &s->text.features, NULL, s->sts.n, &bags) ||
        hn_text_scores_sparse(ctx, &s->sts, HN_TEXT_SETS, &bags, rho))
        return ctx->code;
    put_scores(rho, false, value);
    if (svd == 0)
        return HN_OK;
    float *z = hn_alloc(ctx, s->sts.n * svd, sizeof *z);
    if (!z || hn_text_svd(ctx, &s->text.features, s->training, s->trainings, svd, &bags, z) ||
        hn_text_scores(ctx, &s->sts, HN_TEXT_SETS, z, svd, rho))
        return ctx->code;
    put_scores(rho, false, value + OF_TRAINING);
    return HN_OK;
}

static enum hn_code evaluate(struct hn_context *ctx, struct hn_task *task, int64_t at,
                             const float *z, double *value) {
    (void)at;
    struct state *s = task->state;
    double rho[HN_TEXT_SETS];
    if (hn_text_scores(ctx, &s->sts, HN_TEXT_SETS, z + task->n * task->d, task->d, rho))
        return ctx->code;
    put_scores(rho, true, value);
    return HN_OK;
}

static const char *const kinds[] = {"single", "pairs", NULL};
static const struct hn_option options[] = {
    {HN_TEXT_OPTION(struct hn_text_params, data, "data", "folder of the files of STS and SICK")},
    {HN_CHOICE_OPTION(struct params, items, "items", "single", kinds,
                      "single: sentences as their own positives; pairs: annotated ones")},
    {HN_BOOL_OPTION(struct hn_text_params, idf, "idf", "false",
                    "weigh features by inverse frequency")},
    {HN_BOOL_OPTION(struct params, transductive, "transductive", "false",
                    "sentences of the test files, without scores, count as training sentences")},
    {HN_BOOL_OPTION(struct params, sick_only, "sick_only", "false",
                    "items pairs: those of SICK alone")},
    {HN_BOOL_OPTION(struct params, hard, "hard", "true",
                    "items pairs: contradictions are hard negatives of the whole batch")},
    {HN_BOOL_OPTION(struct params, mask, "mask", "false",
                    "the sentence of a query or of its key is no negative of it")},
    {HN_INT_OPTION(struct hn_text_params, out, "out", "256", 2, 4096, "columns of the embedding")},
    {HN_REAL_OPTION(struct hn_text_params, word_drop, "word_drop", "0.2", 0, 0.99,
                    "share of words that a view leaves out")},
    {HN_REAL_OPTION(struct hn_text_params, drop, "drop", "0.1", 0, 0.99,
                    "share of numbers of h that training leaves out")},
    {HN_INT_OPTION(struct hn_text_params, svd, "svd", "0", 0, 4096,
                   "singular vectors of the projection evaluated beside; 0: none")},
    {.name = NULL}};

#define SPEARMAN(name, of)                                                                         \
    {                                                                                              \
        name, HN_COLUMN_REAL, "correlation", "Spearman's correlation of cosines and scores, " of,  \
            HN_LARGER                                                                              \
    }
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
    .folders = {"sts"},
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
    .of_data = OF_DATA,
    .objectives = HN_OBJECTIVES_PAIRS,
    .open = open_text,
    .init = hn_text_init,
    .step = hn_text_step,
    .embed = hn_text_embed,
    .evaluate = evaluate,
    .evaluate_data = evaluate_features,
};
