// Reads folders of queries and documents, in the layouts of CodeSearchNet and BEIR.
#include "core/numbers.h"
#include "core/random.h"
#include "datasets/import/collection.h"

#include <unistd.h>

enum { FILES = 4, TRAIN = 0, TEST = 1 };

static enum hn_code find(struct hn_context *ctx, const char *folder, const char *name, char **path,
                         bool *there) {
    *path = hn_format(ctx, "%s/%s", folder, name);
    *there = *path && access(*path, R_OK) == 0;
    return *path ? HN_OK : ctx->code;
}

// Relevance of the lines from .. to of those that have a query.
static enum hn_code judge_lines(struct hn_context *ctx, const struct hn_text_pairs *pairs,
                                int64_t from, int64_t to, struct hn_qrels *out) {
    int64_t n = 0;
    struct hn_judgement *list = hn_alloc(ctx, to - from, sizeof *list);
    if (!list)
        return ctx->code;
    for (int64_t i = from; i < to; i++)
        if (pairs->number[HN_QUERIES][i] >= 0)
            list[n++] =
                (struct hn_judgement){pairs->number[HN_QUERIES][i], pairs->number[HN_CORPUS][i], 1};
    return hn_qrels_build(ctx, list, n, pairs->text[HN_QUERIES].n, out);
}

static enum hn_code read_lines(struct hn_context *ctx, const char *folder,
                               struct hn_pair_folder *out) {
    static const char *const names[FILES] = {"train.jsonl", "test.jsonl", "valid.jsonl",
                                             "codebase.jsonl"};
    const char *path[FILES + 1] = {NULL};
    int64_t end[FILES];
    struct hn_text_pairs pairs;
    for (int i = 0, n = 0; i < FILES; i++) {
        char *one;
        bool there;
        if (find(ctx, folder, names[i], &one, &there))
            return ctx->code;
        if (there || i <= TEST) // those that are missing are told of by the reader
            path[n++] = one;
    }
    if (hn_text_pairs_read(ctx, path, HN_PAIR_SEARCH, end, &pairs) ||
        judge_lines(ctx, &pairs, 0, end[TRAIN], &out->train) ||
        judge_lines(ctx, &pairs, end[TRAIN], end[TEST], &out->test))
        return ctx->code;
    for (int side = 0; side < HN_SETS; side++)
        out->text[side] = pairs.text[side];
    return HN_OK;
}

static enum hn_code read_qrels(struct hn_context *ctx, const char *folder, const char *name,
                               const struct hn_collection side[HN_SETS], enum hn_unknown unknown,
                               struct hn_qrels *out) {
    char *path;
    bool there;
    int64_t skipped;
    if (find(ctx, folder, name, &path, &there))
        return ctx->code;
    if (!there)
        return HN_OK;
    if (hn_judgements_read(ctx, path, side, unknown, out, &skipped))
        return ctx->code;
    hn_note_skipped(ctx, path, skipped);
    return HN_OK;
}

static bool is_held(int64_t query, double share) {
    struct hn_stream stream;
    hn_stream_open(&stream, 1, "pairs.held", 0, 0, query);
    return hn_stream_uniform(&stream) < share;
}

// Those of the queries that are held, or (held = false) that are not.
static enum hn_code take_rows(struct hn_context *ctx, const struct hn_qrels *from, double share,
                              bool held, struct hn_qrels *out) {
    int64_t n = 0;
    struct hn_judgement *list = hn_alloc(ctx, from->start[from->n], sizeof *list);
    if (!list)
        return ctx->code;
    for (int64_t q = 0; q < from->n; q++)
        for (int64_t e = from->start[q]; e < from->start[q + 1] && is_held(q, share) == held; e++)
            list[n++] = (struct hn_judgement){(int32_t)q, from->passage[e], from->grade[e]};
    return hn_qrels_build(ctx, list, n, from->n, out);
}

static enum hn_code read_beir(struct hn_context *ctx, const char *folder,
                              const struct hn_pair_folder_rules *rules,
                              struct hn_pair_folder *out) {
    static const char *const names[HN_SETS] = {"queries.jsonl", "corpus.jsonl"};
    struct hn_collection side[HN_SETS];
    struct hn_qrels train = {.n = 0};
    for (int s = 0; s < HN_SETS; s++) {
        char *path;
        bool there;
        if (find(ctx, folder, names[s], &path, &there) ||
            hn_collection_read(ctx, path, HN_ANY_ROWS, (enum hn_set)s, &side[s]))
            return ctx->code;
        out->text[s] = side[s].text;
        out->id[s] = side[s].id;
    }
    if (read_qrels(ctx, folder, "qrels/train.tsv", side, rules->unknown, &train) ||
        read_qrels(ctx, folder, "qrels/test.tsv", side, rules->unknown, &out->test) ||
        read_qrels(ctx, folder, "qrels/truth.tsv", side, rules->unknown, &out->truth))
        return ctx->code;
    if (!train.start)
        return hn_fail(ctx, HN_DATA, "%s/qrels/train.tsv: cannot be read", folder);
    out->train = train;
    if (out->test.start)
        return HN_OK;
    return take_rows(ctx, &train, rules->held, false, &out->train) ||
                   take_rows(ctx, &train, rules->held, true, &out->test)
               ? ctx->code
               : HN_OK;
}

// The first document of each text in place of all: to[] from a document to its number among these.
static enum hn_code keep_first(struct hn_context *ctx, const int64_t *group,
                               struct hn_pair_folder *f, int32_t *to) {
    struct hn_strings text = {0}, id = {0};
    for (int64_t i = 0; i < f->text[HN_CORPUS].n; i++) {
        bool first = group[i] == i;
        to[i] = first ? (int32_t)text.n : to[group[i]];
        if (first && (hn_strings_add(ctx, &text, hn_string(&f->text[HN_CORPUS], i)) ||
                      hn_strings_add(ctx, &id, hn_string(&f->id[HN_CORPUS], i))))
            return ctx->code;
    }
    f->text[HN_CORPUS] = text;
    f->id[HN_CORPUS] = id;
    return HN_OK;
}

static enum hn_code merge_texts(struct hn_context *ctx, bool shared, struct hn_pair_folder *f) {
    struct hn_qrels *all[] = {&f->train, &f->test, &f->truth};
    int64_t *group[HN_SETS], texts = 0;
    int32_t *to = hn_alloc(ctx, f->text[HN_CORPUS].n, sizeof *to);
    int32_t *query = hn_alloc(ctx, f->text[HN_QUERIES].n, sizeof *query);
    if (!to || !query || hn_number_texts(ctx, f->text, group) ||
        keep_first(ctx, group[HN_CORPUS], f, to) ||
        hn_numbers_rank(ctx, group[HN_QUERIES], f->text[HN_QUERIES].n, query, &texts))
        return ctx->code;
    for (int k = 0; k < 3; k++)
        if (all[k]->start && (hn_qrels_merge(ctx, all[k], to, all[k]) ||
                              (shared && hn_qrels_share(ctx, query, texts, all[k]))))
            return ctx->code;
    return HN_OK;
}

static enum hn_code read_folder(struct hn_context *ctx, const char *folder,
                                const struct hn_pair_folder_rules *rules,
                                struct hn_pair_folder *out) {
    char *corpus;
    bool beir;
    if (find(ctx, folder, "corpus.jsonl", &corpus, &beir))
        return ctx->code;
    if (beir)
        return read_beir(ctx, folder, rules, out) ||
                       (!rules->apart && merge_texts(ctx, rules->shared, out))
                   ? ctx->code
                   : HN_OK;
    return rules->apart
               ? hn_fail(ctx, HN_USAGE,
                         "%s: equal texts cannot be kept apart: its files have no ids", folder)
               : read_lines(ctx, folder, out);
}

enum hn_code hn_pair_folder_read(struct hn_context *ctx, const char *folder,
                                 const struct hn_pair_folder_rules *rules,
                                 struct hn_pair_folder *out) {
    *out = (struct hn_pair_folder){.train = {.n = 0}};
    if (read_folder(ctx, folder, rules, out))
        return ctx->code;
    out->train.min_grade = out->test.min_grade = out->truth.min_grade = rules->min_grade;
    if (hn_qrels_summarize(&out->train).relevant == 0 ||
        hn_qrels_summarize(&out->test).relevant == 0)
        return hn_fail(ctx, HN_DATA, "%s: has no pair to %s", folder,
                       hn_qrels_summarize(&out->train).relevant == 0 ? "train on"
                                                                     : "evaluate with");
    return HN_OK;
}
