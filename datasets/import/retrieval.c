// Snapshots of queries and a corpus, made of files about them.
#include "core/files.h"
#include "datasets/import/collection.h"
#include "datasets/import/import_private.h"

#include <string.h>
#include <sys/stat.h>

// Arrays that were read, owned by the import.
struct input {
    int64_t n[HN_SETS], d;
    float *rows[HN_SETS];
    struct hn_matrix teacher[HN_SETS];
    struct hn_collection side[HN_SETS];
    int64_t *group[HN_SETS];
    struct hn_qrels qrels, truth;
    struct hn_pair_scores scores;
};

// Of a file that is there.
static enum hn_code check_append(struct hn_context *ctx, const struct hn_import *o) {
    enum hn_snapshot_kind kind;
    if (hn_snapshot_kind_of(ctx, o->output, &kind))
        return ctx->code;
    if (kind != HN_KIND_RETRIEVAL || o->step == INT64_MIN)
        return hn_fail(ctx, HN_USAGE,
                       kind == HN_KIND_RETRIEVAL
                           ? "%s: exists; give --step of the new rows, or another -o"
                           : "%s: exists, and is a snapshot of items; give another -o",
                       o->output);
    if (o->qrels || o->truth || o->pairs || o->scores || o->query_ids || o->corpus_ids ||
        o->query_teacher.count || o->corpus_teacher.count)
        return hn_fail(
            ctx, HN_USAGE,
            "%s: exists, and a further step brings rows alone: leave out ids, relevance, "
            "scores and teachers",
            o->output);
    if (o->title || o->source || o->license || o->encoder)
        hn_note(ctx, "%s: exists; its title, source, license and encoder stay", o->output);
    return HN_OK;
}

static enum hn_code check_wanted(struct hn_context *ctx, const struct hn_import *o) {
    struct stat about;
    if (!o->queries.count || !o->corpus.count)
        return hn_fail(ctx, HN_USAGE, "--%s is missing: name the file of the rows",
                       o->queries.count ? "corpus" : "queries");
    if (!o->output)
        return hn_fail(ctx, HN_USAGE, "--output is missing: name the snapshot to write");
    if (stat(o->output, &about) == 0)
        return check_append(ctx, o);
    if (!o->qrels == !o->pairs)
        return hn_fail(ctx, HN_USAGE,
                       "give either --qrels, a file of judged pairs of ids, or --pairs, a file of "
                       "pairs of texts");
    if (o->pairs && (o->query_ids || o->corpus_ids))
        return hn_fail(ctx, HN_USAGE,
                       "--pairs brings texts, and numbers as ids: leave out --query-ids and "
                       "--corpus-ids");
    if (!o->query_teacher.count != !o->corpus_teacher.count)
        return hn_fail(ctx, HN_USAGE, "--%s-teacher is missing: a teacher has rows of both sides",
                       o->query_teacher.count ? "corpus" : "query");
    return HN_OK;
}

static enum hn_code read_rows(struct hn_context *ctx, const struct hn_import *o, struct input *in) {
    const struct hn_text_list *part[] = {&o->queries, &o->corpus};
    const struct hn_text_list *teacher[] = {&o->query_teacher, &o->corpus_teacher};
    int64_t d[HN_SETS], teacher_d[HN_SETS];
    bool named = false;
    for (int side = 0; side < HN_SETS; side++) {
        int64_t n = 0;
        float *rows = NULL;
        if (hn_import_series(ctx, o, part[side], &in->rows[side], &in->n[side], &d[side], &named) ||
            (teacher[side]->count &&
             hn_import_series(ctx, o, teacher[side], &rows, &n, &teacher_d[side], &named)))
            return ctx->code;
        if (rows && n != in->n[side])
            return hn_fail(ctx, HN_DATA, "%s has %lld rows but %s has %lld; they must agree",
                           teacher[side]->item[0], (long long)n, part[side]->item[0],
                           (long long)in->n[side]);
        if (rows)
            in->teacher[side] = (struct hn_matrix){rows, n, teacher_d[side], teacher_d[side]};
    }
    if (o->tensor && !named)
        return hn_fail(ctx, HN_USAGE,
                       "--tensor %.60s: %s does not hold several arrays by name: leave it out",
                       o->tensor, o->queries.item[0]);
    in->d = d[0];
    if (d[0] != d[1] || in->teacher[0].cols != in->teacher[1].cols)
        return hn_fail(ctx, HN_DATA,
                       "%s has rows of %lld values but %s has rows of %lld; they must agree",
                       d[0] != d[1] ? o->queries.item[0] : o->query_teacher.item[0],
                       (long long)(d[0] != d[1] ? d[0] : in->teacher[0].cols),
                       d[0] != d[1] ? o->corpus.item[0] : o->corpus_teacher.item[0],
                       (long long)(d[0] != d[1] ? d[1] : in->teacher[1].cols));
    return HN_OK;
}

// Rows are one a line, or one a text: of a row for every line, that of a text's first line stays.
static enum hn_code take_pair_rows(struct hn_context *ctx, const struct hn_import *o,
                                   const struct hn_text_pairs *pairs, enum hn_set side,
                                   struct input *in) {
    const struct hn_text_list *part[] = {&o->queries, &o->corpus};
    int64_t texts = pairs->text[side].n, d = in->d, td = in->teacher[side].cols;
    if (in->n[side] != pairs->lines && in->n[side] != texts)
        return hn_fail(ctx, HN_DATA,
                       "%s: has %lld rows; %s has %lld lines, with %lld different texts of that "
                       "side: wanted is a row for each of the ones or the others",
                       part[side]->item[0], (long long)in->n[side], o->pairs,
                       (long long)pairs->lines, (long long)texts);
    float *teacher = (float *)in->teacher[side].data; // its own
    for (int64_t i = 0; i < texts && in->n[side] != texts; i++) {
        int64_t from = pairs->first[side][i];
        memmove(in->rows[side] + i * d, in->rows[side] + from * d, (size_t)d * sizeof(float));
        if (teacher)
            memmove(teacher + i * td, teacher + from * td, (size_t)td * sizeof(float));
    }
    in->n[side] = texts;
    if (teacher)
        in->teacher[side].rows = texts;
    return HN_OK;
}

static enum hn_code read_pairs(struct hn_context *ctx, const struct hn_import *o,
                               struct input *in) {
    const char *const path[] = {o->pairs, NULL};
    struct hn_text_pairs pairs;
    int64_t end;
    if (hn_text_pairs_read(ctx, path, HN_PAIR_COMPLETE, &end, &pairs))
        return ctx->code;
    for (int side = 0; side < HN_SETS; side++) {
        if (take_pair_rows(ctx, o, &pairs, side, in) ||
            hn_collection_read(ctx, NULL, in->n[side], side, &in->side[side]))
            return ctx->code;
        in->side[side].text = pairs.text[side];
    }
    in->qrels = pairs.qrels;
    return HN_OK;
}

static void note_skipped(struct hn_context *ctx, const char *path, int64_t skipped) {
    if (skipped > 0)
        hn_note(ctx, "%s: %s left out, with an id that no row has", path,
                hn_counted(skipped, "line").text);
}

static enum hn_code read_relevance(struct hn_context *ctx, const struct hn_import *o,
                                   struct input *in) {
    const char *path[] = {o->qrels, o->truth};
    struct hn_qrels *to[] = {&in->qrels, &in->truth};
    enum hn_unknown unknown = (enum hn_unknown)o->unknown;
    int64_t skipped;
    for (int i = 0; i < 2; i++) {
        if (!path[i])
            continue;
        if (hn_judgements_read(ctx, path[i], in->side, unknown, to[i], &skipped))
            return ctx->code;
        note_skipped(ctx, path[i], skipped);
    }
    if (!o->scores)
        return HN_OK;
    if (hn_pair_scores_read(ctx, o->scores, in->side, unknown, &in->scores, &skipped))
        return ctx->code;
    note_skipped(ctx, o->scores, skipped);
    return HN_OK;
}

static enum hn_code read_all(struct hn_context *ctx, const struct hn_import *o, struct input *in) {
    if (read_rows(ctx, o, in))
        return ctx->code;
    if (o->pairs)
        return read_pairs(ctx, o, in) || read_relevance(ctx, o, in) ? ctx->code : HN_OK;
    return hn_collection_read(ctx, o->query_ids, in->n[HN_QUERIES], HN_QUERIES,
                              &in->side[HN_QUERIES]) ||
                   hn_collection_read(ctx, o->corpus_ids, in->n[HN_CORPUS], HN_CORPUS,
                                      &in->side[HN_CORPUS]) ||
                   read_relevance(ctx, o, in)
               ? ctx->code
               : HN_OK;
}

static bool all_unit(const struct input *in) {
    for (int side = 0; side < HN_SETS; side++)
        if (!hn_import_is_unit(in->rows[side], in->n[side], in->d))
            return false;
    return true;
}

// Ids of rows that were only numbered are not stored.
static const struct hn_strings *ids_of(const struct hn_collection *c) {
    return c->from ? &c->id : NULL;
}

static const struct hn_strings *texts_of(const struct hn_collection *c) {
    return c->text.n ? &c->text : NULL;
}

static enum hn_code write_file(struct hn_context *ctx, const struct hn_import *o,
                               const struct input *in, const char *version) {
    int64_t step = o->step == INT64_MIN ? 0 : o->step;
    const struct hn_collection *q = &in->side[HN_QUERIES], *p = &in->side[HN_CORPUS];
    const char *source = o->source ? o->source : o->queries.item[0];
    const struct hn_retrieval_spec spec = {.about = {o->title, source, o->license, o->encoder},
                                           .tool_version = version,
                                           .n = {in->n[0], in->n[1]},
                                           .d = in->d,
                                           .steps = 1,
                                           .step = &step,
                                           .rows = {in->rows[0], in->rows[1]},
                                           .qrels = &in->qrels,
                                           .truth = o->truth ? &in->truth : NULL,
                                           .group = {in->group[0], in->group[1]},
                                           .id = {ids_of(q), ids_of(p)},
                                           .text = {texts_of(q), texts_of(p)},
                                           .teacher = {in->teacher[0], in->teacher[1]},
                                           .scores = o->scores ? &in->scores : NULL,
                                           .normalized = all_unit(in),
                                           .type = (enum hn_float_type)o->type,
                                           .compress = (int)o->compress};
    return hn_retrieval_write(ctx, o->output, &spec);
}

static enum hn_code append_step(struct hn_context *ctx, const struct hn_import *o,
                                const struct input *in, const char *version) {
    struct hn_retrieval *r;
    const float *const rows[] = {in->rows[HN_QUERIES], in->rows[HN_CORPUS]};
    const struct hn_text_list *part[] = {&o->queries, &o->corpus};
    if (hn_retrieval_open(ctx, o->output, &r))
        return ctx->code;
    const struct hn_retrieval_info *info = hn_retrieval_info(r);
    const struct hn_snapshot_info *file = info->file;
    enum hn_code code = HN_OK;
    for (int side = 0; side < HN_SETS && !code; side++)
        if (in->n[side] != info->n[side] || in->d != file->d)
            code = hn_fail(ctx, HN_DATA,
                           "%s is [%lld, %lld] but %s has %lld %s of %lld dims; they must agree",
                           part[side]->item[0], (long long)in->n[side], (long long)in->d, o->output,
                           (long long)info->n[side], side == HN_QUERIES ? "queries" : "passages",
                           (long long)file->d);
    if (!code && o->step <= file->step[file->steps - 1])
        code = hn_fail(ctx, HN_USAGE, "--step %lld does not come after step %lld, the last of %s",
                       (long long)o->step, (long long)file->step[file->steps - 1], o->output);
    if (!code)
        code = hn_retrieval_append(ctx, r, o->step, rows, all_unit(in), version);
    hn_retrieval_close(ctx, r);
    return code;
}

// Of two imports into one file at once the later one finds what the earlier one has written.
static enum hn_code append(struct hn_context *ctx, const struct hn_import *o, struct input *in,
                           const char *version) {
    int folder;
    enum hn_code code = read_rows(ctx, o, in);
    if (!code)
        code = hn_folder_take(ctx, o->output, &folder);
    if (code)
        return code;
    code = append_step(ctx, o, in, version);
    hn_folder_free(folder);
    return code;
}

enum hn_code hn_import_retrieval(struct hn_context *ctx, const struct hn_import *o,
                                 const char *tool_version) {
    struct input in = {.d = 0};
    struct stat about;
    HN_SCOPE(ctx);
    const struct hn_strings *const texts[] = {&in.side[HN_QUERIES].text, &in.side[HN_CORPUS].text};
    if (check_wanted(ctx, o))
        return ctx->code;
    if (stat(o->output, &about) == 0)
        return append(ctx, o, &in, tool_version);
    return read_all(ctx, o, &in) || hn_number_texts(ctx, texts, in.group) ||
                   write_file(ctx, o, &in, tool_version)
               ? ctx->code
               : HN_OK;
}
