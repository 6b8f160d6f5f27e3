// SPDX-License-Identifier: GPL-3.0-or-later
// Snapshots of queries and a corpus, made of files about them.
#include "core/files.h"
#include "core/text.h"
#include "datasets/import/collection.h"
#include "datasets/import/import_private.h"

#include <string.h>
#include <sys/stat.h>

// The data and files of an import, which owns them.
struct input {
    struct hn_retrieval_data data;
    struct hn_collection side[HN_SETS];
};

// Checks a file that is there.
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
    if (o->qrels || o->truth || o->pairs || o->scores || o->ids[0] || o->ids[1] ||
        o->side_teacher[0].count || o->side_teacher[1].count)
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
    if (!o->side[HN_QUERIES].count || !o->side[HN_CORPUS].count)
        return hn_fail(ctx, HN_USAGE, "--%s is missing: name the file of the rows",
                       o->side[HN_QUERIES].count ? "corpus" : "queries");
    if (o->zero_rows == HN_UNDIRECTED_SKIP)
        return hn_fail(
            ctx, HN_USAGE,
            "--zero-rows skip: ids, texts and relevance go by the rows of a corpus, which "
            "stay: give --zero-rows keep, whose cosines are 0");
    if (!o->output)
        return hn_fail(ctx, HN_USAGE, "--output is missing: name the snapshot to write");
    if (stat(o->output, &about) == 0)
        return check_append(ctx, o);
    if (!o->qrels == !o->pairs)
        return hn_fail(ctx, HN_USAGE,
                       "give either --qrels, a file of judged pairs of ids, or --pairs, a file of "
                       "pairs of texts");
    if (o->pairs && (o->ids[0] || o->ids[1]))
        return hn_fail(ctx, HN_USAGE,
                       "--pairs brings texts, and numbers as ids: leave out --query-ids and "
                       "--corpus-ids");
    if (!o->side_teacher[0].count != !o->side_teacher[1].count)
        return hn_fail(ctx, HN_USAGE, "--%s-teacher is missing: a teacher has rows of both sides",
                       o->side_teacher[0].count ? "corpus" : "query");
    return HN_OK;
}

static enum hn_code read_rows(struct hn_context *ctx, const struct hn_import *o, struct input *in) {
    bool named = false;
    for (int side = 0; side < HN_SETS; side++) {
        const struct hn_text_list *part = &o->side[side], *more = &o->side_teacher[side];
        struct hn_matrix *rows = &in->data.rows[side], *teacher = &in->data.teacher[side];
        if (side == HN_CORPUS && hn_import_corpus(ctx, o, rows, &in->data.source))
            return ctx->code;
        bool read = side == HN_CORPUS && in->data.source.read;
        if ((!read && hn_import_series(ctx, o, part, rows, NULL, &named)) ||
            hn_import_series(ctx, o, more, teacher, NULL, &named))
            return ctx->code;
        if (teacher->data && teacher->rows != rows->rows)
            return hn_fail(ctx, HN_DATA, "%s has %lld rows but %s has %lld; they must agree",
                           more->item[0], (long long)teacher->rows, part->item[0],
                           (long long)rows->rows);
    }
    if (o->tensor && !named)
        return hn_fail(ctx, HN_USAGE,
                       "--tensor %s: %s does not hold several arrays by name: leave it out",
                       hn_quote(o->tensor).text, o->side[HN_QUERIES].item[0]);
    for (int k = 0; k < 2; k++) {
        const struct hn_text_list *part = k ? o->side_teacher : o->side;
        const struct hn_matrix *m = k ? in->data.teacher : in->data.rows;
        if (m[0].cols != m[1].cols)
            return hn_fail(
                ctx, HN_DATA, "%s has rows of %lld values but %s has rows of %lld; they must agree",
                part[0].item[0], (long long)m[0].cols, part[1].item[0], (long long)m[1].cols);
    }
    return HN_OK;
}

static void keep_rows(struct hn_matrix *m, const int64_t *from, int64_t n) {
    float *x = (float *)m->data; // its own
    for (int64_t i = 0; x && i < n; i++)
        memmove(x + i * m->cols, x + from[i] * m->cols, (size_t)m->cols * sizeof *x);
    m->rows = n;
}

// Rows are one a line, or one a text: of a row for every line, that of a text's first line stays.
static enum hn_code take_pair_rows(struct hn_context *ctx, const struct hn_import *o,
                                   const struct hn_text_pairs *pairs, enum hn_set side,
                                   struct input *in) {
    int64_t n = in->data.rows[side].rows, texts = pairs->text[side].n;
    if (n != pairs->lines && n != texts)
        return hn_fail(ctx, HN_DATA,
                       "%s: has %lld rows; %s has %lld lines, with %lld different texts of that "
                       "side: wanted is a row for each of the ones or the others",
                       o->side[side].item[0], (long long)n, o->pairs, (long long)pairs->lines,
                       (long long)texts);
    if (n != texts) {
        keep_rows(&in->data.rows[side], pairs->first[side], texts);
        keep_rows(&in->data.teacher[side], pairs->first[side], texts);
    }
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
            hn_collection_read(ctx, NULL, in->data.rows[side].rows, side, &in->side[side]))
            return ctx->code;
        in->side[side].text = pairs.text[side];
    }
    in->data.qrels = pairs.qrels;
    return HN_OK;
}

static enum hn_code read_relevance(struct hn_context *ctx, const struct hn_import *o,
                                   struct input *in) {
    const char *path[] = {o->qrels, o->truth};
    struct hn_qrels *to[] = {&in->data.qrels, &in->data.truth};
    enum hn_unknown unknown = (enum hn_unknown)o->unknown;
    int64_t skipped;
    for (int i = 0; i < 2; i++) {
        if (!path[i])
            continue;
        if (hn_judgements_read(ctx, path[i], in->side, unknown, to[i], &skipped))
            return ctx->code;
        hn_note_skipped(ctx, path[i], skipped);
    }
    if (!o->scores)
        return HN_OK;
    if (hn_pair_scores_read(ctx, o->scores, in->side, unknown, &in->data.scores, &skipped))
        return ctx->code;
    hn_note_skipped(ctx, o->scores, skipped);
    return HN_OK;
}

static enum hn_code read_ids(struct hn_context *ctx, const struct hn_import *o, struct input *in) {
    enum hn_code code = HN_OK;
    for (int side = 0; side < HN_SETS && !code; side++)
        code =
            hn_collection_read(ctx, o->ids[side], in->data.rows[side].rows, side, &in->side[side]);
    return code;
}

// Ids of rows that were only numbered are not stored.
static enum hn_code read_all(struct hn_context *ctx, const struct hn_import *o, struct input *in) {
    struct hn_retrieval_data *data = &in->data;
    int64_t *group[HN_SETS] = {NULL};
    if (read_rows(ctx, o, in) || (o->pairs ? read_pairs : read_ids)(ctx, o, in) ||
        read_relevance(ctx, o, in))
        return ctx->code;
    for (int side = 0; side < HN_SETS; side++) {
        data->text[side] = in->side[side].text;
        if (in->side[side].from)
            data->id[side] = in->side[side].id;
    }
    enum hn_code code = hn_number_texts(ctx, data->text, group);
    for (int side = 0; side < HN_SETS; side++)
        data->group[side] = group[side];
    return code;
}

// True if all rows that are in memory are of unit length.
static bool all_unit(const struct hn_matrix rows[HN_SETS]) {
    return hn_import_is_unit(rows[0].data, rows[0].rows, rows[0].cols) &&
           (!rows[1].data || hn_import_is_unit(rows[1].data, rows[1].rows, rows[1].cols));
}

static enum hn_code write_file(struct hn_context *ctx, const struct hn_import *o,
                               const struct input *in, const char *version) {
    int64_t step = o->step == INT64_MIN ? 0 : o->step;
    const char *source = o->source ? o->source : o->side[HN_QUERIES].item[0];
    const struct hn_retrieval_spec spec = {
        .about = {o->title, source, o->license, o->encoder},
        .tool_version = version,
        .data = in->data,
        .steps = 1,
        .step = &step,
        .normalized = all_unit(in->data.rows),
        .zero_rows = o->zero_rows == HN_UNDIRECTED_KEEP ? HN_ZERO_ROWS_KEPT : HN_ZERO_ROWS_REFUSED,
        .type = (enum hn_float_type)o->type,
        .compress = (int)o->compress};
    return hn_retrieval_write(ctx, o->output, &spec);
}

static enum hn_code append_step(struct hn_context *ctx, const struct hn_import *o,
                                const struct input *in, const char *version) {
    struct hn_retrieval *r;
    const struct hn_matrix *rows = in->data.rows;
    if (hn_retrieval_open(ctx, o->output, &r))
        return ctx->code;
    const struct hn_retrieval_info *info = hn_retrieval_info(r);
    const struct hn_snapshot_info *file = info->file;
    enum hn_code code = hn_retrieval_check_digest(ctx, r);
    for (int side = 0; side < HN_SETS && !code; side++)
        if (rows[side].rows != info->n[side] || rows[side].cols != file->d)
            code = hn_fail(ctx, HN_DATA,
                           "%s is [%lld, %lld] but %s has %lld %s of %lld dims; they must agree",
                           o->side[side].item[0], (long long)rows[side].rows,
                           (long long)rows[side].cols, o->output, (long long)info->n[side],
                           side == HN_QUERIES ? "queries" : "passages", (long long)file->d);
    if (!code && o->zero_rows == HN_UNDIRECTED_KEEP && file->zero_rows != HN_ZERO_ROWS_KEPT)
        code = hn_fail(ctx, HN_USAGE, HN_IMPORT_NOT_KEPT, o->output);
    if (!code && o->step <= file->step[file->steps - 1])
        code = hn_fail(ctx, HN_USAGE, "--step %lld does not come after step %lld, the last of %s",
                       (long long)o->step, (long long)file->step[file->steps - 1], o->output);
    if (!code)
        code = hn_retrieval_append(ctx, r, o->step, &in->data, all_unit(rows), version);
    hn_retrieval_close(ctx, r);
    return code;
}

// The later of two imports into one file at once finds what the earlier one has written.
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
    struct input in = {0};
    struct stat about;
    HN_SCOPE(ctx);
    if (check_wanted(ctx, o))
        return ctx->code;
    if (stat(o->output, &about) == 0)
        return append(ctx, o, &in, tool_version);
    return read_all(ctx, o, &in) || write_file(ctx, o, &in, tool_version) ? ctx->code : HN_OK;
}
