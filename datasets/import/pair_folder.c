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
                               const struct hn_collection side[HN_SETS], struct hn_qrels *out) {
    char *path;
    bool there;
    int64_t skipped;
    if (find(ctx, folder, name, &path, &there))
        return ctx->code;
    return there ? hn_judgements_read(ctx, path, side, HN_UNKNOWN_WRONG, out, &skipped) : HN_OK;
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

static enum hn_code read_beir(struct hn_context *ctx, const char *folder, double held,
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
    }
    if (read_qrels(ctx, folder, "qrels/train.tsv", side, &train) ||
        read_qrels(ctx, folder, "qrels/test.tsv", side, &out->test) ||
        read_qrels(ctx, folder, "qrels/truth.tsv", side, &out->truth))
        return ctx->code;
    if (!train.start)
        return hn_fail(ctx, HN_DATA, "%s/qrels/train.tsv: cannot be read", folder);
    out->train = train;
    if (out->test.start)
        return HN_OK;
    return take_rows(ctx, &train, held, false, &out->train) ||
                   take_rows(ctx, &train, held, true, &out->test)
               ? ctx->code
               : HN_OK;
}

enum hn_code hn_pair_folder_read(struct hn_context *ctx, const char *folder, double held,
                                 struct hn_pair_folder *out) {
    char *corpus;
    bool beir;
    *out = (struct hn_pair_folder){.train = {.n = 0}};
    if (find(ctx, folder, "corpus.jsonl", &corpus, &beir) ||
        (beir ? read_beir(ctx, folder, held, out) : read_lines(ctx, folder, out)))
        return ctx->code;
    if (hn_qrels_summarize(&out->train).relevant == 0 ||
        hn_qrels_summarize(&out->test).relevant == 0)
        return hn_fail(ctx, HN_DATA, "%s: has no pair to %s", folder,
                       hn_qrels_summarize(&out->train).relevant == 0 ? "train on"
                                                                     : "evaluate with");
    return HN_OK;
}
