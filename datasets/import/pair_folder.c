// SPDX-License-Identifier: GPL-3.0-or-later
// Reads folders of queries and documents, in the layouts of CodeSearchNet and BEIR.
#include "core/numbers.h"
#include "core/random.h"
#include "datasets/import/collection.h"
#include "datasets/import/lines.h"

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

// A draw of queries.
struct draw {
    const char *purpose;
    uint64_t seed;
    double share;
    const int64_t *group; // [queries] those of one are drawn together; NULL: each alone
};

static bool is_drawn(const struct draw *d, int64_t query) {
    struct hn_stream stream;
    hn_stream_open(&stream, d->seed, d->purpose, 0, 0, d->group ? d->group[query] : query);
    return hn_stream_uniform(&stream) < d->share;
}

// Those of the queries that are drawn, or (drawn = false) that are not.
static enum hn_code take_rows(struct hn_context *ctx, const struct hn_qrels *from,
                              const struct draw *d, bool drawn, struct hn_qrels *out) {
    int64_t n = 0;
    struct hn_judgement *list = hn_alloc(ctx, from->start[from->n], sizeof *list);
    if (!list)
        return ctx->code;
    for (int64_t q = 0; q < from->n; q++)
        for (int64_t e = from->start[q]; e < from->start[q + 1] && is_drawn(d, q) == drawn; e++)
            list[n++] = (struct hn_judgement){(int32_t)q, from->passage[e], from->grade[e]};
    return hn_qrels_build(ctx, list, n, from->n, out);
}

// group[n]: a number of the text of each line of groups.txt.
static enum hn_code read_groups(struct hn_context *ctx, const char *folder, int64_t n,
                                int64_t **group) {
    struct hn_lines lines;
    char *path = hn_format(ctx, "%s/groups.txt", folder), *line = NULL;
    int64_t count = 0;
    if (!path || !HN_ALLOC(ctx, *group, n) || hn_lines_open(ctx, path, &lines))
        return ctx->code;
    enum hn_code code;
    while (!(code = hn_lines_next(ctx, &lines, &line)) && line) {
        uint64_t number = 14695981039346656037U; // FNV-1a
        for (const char *c = line; *c; c++)
            number = (number ^ (unsigned char)*c) * 1099511628211U;
        if (count < n)
            (*group)[count] = (int64_t)(number >> 1);
        count++;
    }
    code = hn_lines_end(ctx, &lines, code);
    return code         ? code
           : count == n ? HN_OK
                        : hn_fail(ctx, HN_DATA, "%s: %lld lines for %lld queries", path,
                                  (long long)count, (long long)n);
}

// Splits the training's queries: those that are evaluated, unless these are known, and those that
// are kept for choosing.
static enum hn_code split(struct hn_context *ctx, const char *folder,
                          const struct hn_pair_folder_rules *rules, struct hn_pair_folder *f) {
    int64_t *group = NULL;
    struct draw held = {"pairs.held", rules->seed, rules->held, NULL},
                valid = {"pairs.valid", rules->seed, rules->valid, NULL};
    if (rules->by_group && read_groups(ctx, folder, f->text[HN_QUERIES].n, &group))
        return ctx->code;
    held.group = valid.group = group;
    struct hn_qrels all = f->train;
    if (!f->test.start && (take_rows(ctx, &all, &held, false, &f->train) ||
                           take_rows(ctx, &all, &held, true, &f->test)))
        return ctx->code;
    all = f->train;
    return rules->valid > 0 && (take_rows(ctx, &all, &valid, false, &f->train) ||
                                take_rows(ctx, &all, &valid, true, &f->valid))
               ? ctx->code
               : HN_OK;
}

static enum hn_code read_beir(struct hn_context *ctx, const char *folder,
                              const struct hn_pair_folder_rules *rules,
                              struct hn_pair_folder *out) {
    static const char *const names[HN_SETS] = {"queries.jsonl", "corpus.jsonl"};
    struct hn_collection side[HN_SETS];
    for (int s = 0; s < HN_SETS; s++) {
        char *path;
        bool there;
        if (find(ctx, folder, names[s], &path, &there) ||
            hn_collection_read(ctx, path, HN_ANY_ROWS, (enum hn_set)s, &side[s]))
            return ctx->code;
        out->text[s] = side[s].text;
        out->id[s] = side[s].id;
    }
    if (read_qrels(ctx, folder, "qrels/train.tsv", side, rules->unknown, &out->train) ||
        read_qrels(ctx, folder, "qrels/test.tsv", side, rules->unknown, &out->test) ||
        read_qrels(ctx, folder, "qrels/truth.tsv", side, rules->unknown, &out->truth))
        return ctx->code;
    return out->train.start ? split(ctx, folder, rules, out)
                            : hn_fail(ctx, HN_DATA, "%s/qrels/train.tsv: cannot be read", folder);
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
    struct hn_qrels *all[] = {&f->train, &f->test, &f->valid, &f->truth};
    int64_t *group[HN_SETS], texts = 0;
    int32_t *to = hn_alloc(ctx, f->text[HN_CORPUS].n, sizeof *to);
    int32_t *query = hn_alloc(ctx, f->text[HN_QUERIES].n, sizeof *query);
    if (!to || !query || hn_number_texts(ctx, f->text, group) ||
        keep_first(ctx, group[HN_CORPUS], f, to) ||
        hn_numbers_rank(ctx, group[HN_QUERIES], f->text[HN_QUERIES].n, query, &texts))
        return ctx->code;
    for (int k = 0; k < 4; k++)
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
    if (rules->apart)
        return hn_fail(ctx, HN_USAGE, "%s: equal texts cannot be kept apart: its files have no ids",
                       folder);
    if (rules->by_group)
        return hn_fail(ctx, HN_USAGE,
                       "%s: groups.txt has a line for each line of queries.jsonl, which it lacks",
                       folder);
    return read_lines(ctx, folder, out) || split(ctx, folder, rules, out) ? ctx->code : HN_OK;
}

enum hn_code hn_pair_folder_read(struct hn_context *ctx, const char *folder,
                                 const struct hn_pair_folder_rules *rules,
                                 struct hn_pair_folder *out) {
    *out = (struct hn_pair_folder){.train = {.n = 0}};
    if (read_folder(ctx, folder, rules, out))
        return ctx->code;
    out->train.min_grade = out->test.min_grade = rules->min_grade;
    out->valid.min_grade = out->truth.min_grade = rules->min_grade;
    const char *lacks = hn_qrels_summarize(&out->train).relevant == 0  ? "train on"
                        : hn_qrels_summarize(&out->test).relevant == 0 ? "evaluate with"
                        : out->valid.start && hn_qrels_summarize(&out->valid).relevant == 0
                            ? "choose by"
                            : NULL;
    return lacks ? hn_fail(ctx, HN_DATA, "%s: has no pair to %s", folder, lacks) : HN_OK;
}
