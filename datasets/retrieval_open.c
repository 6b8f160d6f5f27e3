// SPDX-License-Identifier: GPL-3.0-or-later
// Reading a snapshot of queries and a corpus: opening it checks everything but the values of rows
// and texts.
#include "core/digest.h"
#include "core/text.h"
#include "datasets/h5_data.h"
#include "datasets/retrieval_private.h"

#include <math.h>

const char *const hn_retrieval_rows_path[] = {"/queries", "/corpus"};
const char *const hn_retrieval_teacher_path[] = {"/query_teacher", "/corpus_teacher"};
const char *const hn_retrieval_group_path[] = {"/query_group", "/corpus_group"};
const char *const hn_retrieval_id_path[] = {"/query_id", "/corpus_id"};
const char *const hn_retrieval_text_path[] = {"/query_text", "/corpus_text"};
const char *const hn_retrieval_set_name[] = {"queries", "passages"};

enum hn_code hn_snapshot_kind_of(struct hn_context *ctx, const char *path,
                                 enum hn_snapshot_kind *out) {
    hid_t file;
    *out = HN_KIND_ITEMS;
    if (hn_h5_probe(ctx, path) || hn_h5_open(ctx, path, &file))
        return ctx->code;
    bool retrieval;
    enum hn_code code = hn_snapshot_is_retrieval(ctx, file, &retrieval);
    if (!code && retrieval)
        *out = HN_KIND_RETRIEVAL;
    hn_h5_close(file);
    return code;
}

static enum hn_code check_schema(struct hn_context *ctx, const struct hn_snapshot *s) {
    int64_t version;
    bool retrieval;
    if (hn_h5_get_int(ctx, s->file, "schema_version", -1, &version) ||
        hn_snapshot_is_retrieval(ctx, s->file, &retrieval))
        return ctx->code;
    if (!retrieval)
        return hn_fail(ctx, HN_DATA,
                       "%s: is not a snapshot of queries and a corpus (attribute kind = "
                       "\"" HN_SNAPSHOT_RETRIEVAL "\"); make one with hardneg import --queries "
                       "--corpus --qrels",
                       s->path);
    if (version != HN_RETRIEVAL_VERSION)
        return hn_fail(ctx, HN_DATA,
                       "%s: the attribute schema_version is %lld, this program reads version %d "
                       "of the kind " HN_SNAPSHOT_RETRIEVAL
                       "; make the snapshot again with hardneg "
                       "import",
                       s->path, (long long)version, HN_RETRIEVAL_VERSION);
    return HN_OK;
}

static enum hn_code open_side(struct hn_context *ctx, struct hn_retrieval *r, enum hn_set side) {
    struct hn_snapshot *s = &r->base;
    struct hn_data *data = &s->series[side];
    if (hn_data_open(ctx, s, hn_retrieval_rows_path[side], HN_DATA_FLOATS, data))
        return ctx->code;
    if (data->id < 0)
        return hn_fail(ctx, HN_DATA, "%s: there is no data set %s; add it", s->path,
                       hn_retrieval_rows_path[side]);
    if (data->rank < 2 || data->steps < 1 || data->rows < 1 || data->cols < 1)
        return hn_fail(
            ctx, HN_DATA, "%s: data set %s must be [steps, %s, dims] or [%s, dims], none of them 0",
            s->path, data->path, hn_retrieval_set_name[side], hn_retrieval_set_name[side]);
    r->info.n[side] = data->rows;
    s->info.steps = hn_max(s->info.steps, data->steps);
    return HN_OK;
}

static enum hn_code open_rows(struct hn_context *ctx, struct hn_retrieval *r) {
    static const char *const type_name[] = {"float16", "float32", "float64"};
    struct hn_snapshot *s = &r->base;
    const struct hn_data *q = &s->series[HN_QUERIES], *p = &s->series[HN_CORPUS];
    if (open_side(ctx, r, HN_QUERIES) || open_side(ctx, r, HN_CORPUS))
        return ctx->code;
    if (q->cols != p->cols)
        return hn_fail(ctx, HN_DATA,
                       "%s: queries have %lld dimensions, the corpus has %lld; they must agree",
                       s->path, (long long)q->cols, (long long)p->cols);
    if (q->steps != p->steps && q->steps != 1 && p->steps != 1)
        return hn_fail(ctx, HN_DATA,
                       "%s: queries have %lld steps, the corpus has %lld; they must agree, or one "
                       "of them be 1",
                       s->path, (long long)q->steps, (long long)p->steps);
    for (int side = 0; side < HN_SETS; side++)
        s->series[side].zero_rows = s->info.zero_rows;
    s->info.n = q->rows;
    s->info.d = q->cols;
    s->info.dtype = type_name[q->type];
    return HN_OK;
}

static enum hn_code open_teacher(struct hn_context *ctx, struct hn_retrieval *r) {
    struct hn_snapshot *s = &r->base;
    struct hn_data *t = s->teacher;
    for (int side = 0; side < HN_SETS; side++) {
        if (hn_data_open(ctx, s, hn_retrieval_teacher_path[side], HN_DATA_FLOATS, &t[side]))
            return ctx->code;
        t[side].zero_rows = s->info.zero_rows;
        if (t[side].id >= 0 && t[side].rows != r->info.n[side])
            return hn_data_fail_length(ctx, s, &t[side], r->info.n[side],
                                       hn_retrieval_set_name[side]);
    }
    if ((t[0].id < 0) != (t[1].id < 0))
        return hn_fail(ctx, HN_DATA, "%s: one of %s and %s is missing; store both", s->path,
                       hn_retrieval_teacher_path[0], hn_retrieval_teacher_path[1]);
    if (t[0].id < 0)
        return HN_OK;
    if (t[0].cols != t[1].cols || t[0].steps != 1 || t[1].steps != 1 || t[0].rank < 2 ||
        t[1].rank < 2)
        return hn_fail(ctx, HN_DATA,
                       "%s: %s and %s must be [queries, dims] and [passages, dims], with the same "
                       "dimensions",
                       s->path, hn_retrieval_teacher_path[0], hn_retrieval_teacher_path[1]);
    r->info.teacher_d = t[0].cols;
    return HN_OK;
}

// Judged pairs of the group `name`, in any order; out->start = NULL: there is no such group.
static enum hn_code read_qrels(struct hn_context *ctx, struct hn_retrieval *r,
                               const char *const path[3], struct hn_qrels *out) {
    struct hn_snapshot *s = &r->base;
    const struct hn_sparse_rows rows = {path[0], path[1], r->info.n[HN_CORPUS]};
    struct hn_graph g;
    int32_t *grade;
    if (hn_snapshot_read_rows(ctx, s, &rows, &g))
        return ctx->code;
    if (!g.start)
        return HN_OK;
    int64_t count = g.start[g.n];
    const struct hn_snapshot_column grades = {
        path[2], "judged pairs", count, {HN_GRADE_MIN, HN_GRADE_MAX, sizeof(int32_t)}};
    struct hn_judgement *list = hn_alloc(ctx, count, sizeof *list);
    if (!list || hn_snapshot_read_column(ctx, s, &grades, &grade))
        return ctx->code;
    for (int64_t q = 0; q < g.n; q++)
        for (int64_t e = g.start[q]; e < g.start[q + 1]; e++)
            list[e] = (struct hn_judgement){(int32_t)q, g.target[e], grade ? grade[e] : 1};
    enum hn_code code = hn_qrels_build(ctx, list, count, g.n, out);
    hn_free(ctx, list);
    hn_free(ctx, grade);
    hn_free(ctx, g.start);
    hn_free(ctx, g.target);
    return code;
}

// Scores of listed pairs, whose passages ascend.
static enum hn_code read_scores(struct hn_context *ctx, struct hn_retrieval *r) {
    struct hn_snapshot *s = &r->base;
    const struct hn_sparse_rows rows = {"/scores/indptr", "/scores/indices", r->info.n[HN_CORPUS]};
    struct hn_graph g;
    struct hn_data data;
    if (hn_snapshot_read_rows(ctx, s, &rows, &g))
        return ctx->code;
    if (!g.start)
        return HN_OK;
    for (int64_t q = 0; q < g.n; q++)
        for (int64_t e = g.start[q] + 1; e < g.start[q + 1]; e++)
            if (g.target[e] <= g.target[e - 1])
                return hn_fail(ctx, HN_DATA,
                               "%s: data set /scores/indices: the passages of query %lld do not "
                               "ascend; sort them, each once",
                               s->path, (long long)q);
    if (hn_data_open(ctx, s, "/scores/score", HN_DATA_FLOATS, &data))
        return ctx->code;
    enum hn_code code = HN_OK;
    float *score = NULL;
    if (data.id < 0 || data.rank != 1 || data.rows != g.start[g.n])
        code = hn_fail(ctx, HN_DATA,
                       "%s: data set /scores/score must have a value for each of the %lld "
                       "indices beside it",
                       s->path, (long long)g.start[g.n]);
    else if (!HN_ALLOC(ctx, score, data.rows) || hn_data_read_step(ctx, s, &data, 0, score))
        code = ctx->code;
    for (int64_t e = 0; !code && e < data.rows; e++)
        if (!isfinite(score[e]))
            code = hn_fail(ctx, HN_DATA, "%s: data set /scores/score, index %lld is not finite",
                           s->path, (long long)e);
    hn_data_close(&data);
    r->info.scores = (struct hn_pair_scores){g.start, g.target, score};
    return code;
}

static enum hn_code read_groups(struct hn_context *ctx, struct hn_retrieval *r, enum hn_set side) {
    const struct hn_snapshot_column column = {hn_retrieval_group_path[side],
                                              hn_retrieval_set_name[side],
                                              r->info.n[side],
                                              {0, INT64_MAX, sizeof(int64_t)}};
    return hn_snapshot_read_column(ctx, &r->base, &column, &r->info.group[side]);
}

static enum hn_code read_structure(struct hn_context *ctx, struct hn_snapshot *s) {
    static const char *const qrels[] = {"/qrels/indptr", "/qrels/indices", "/qrels/grade"};
    static const char *const truth[] = {"/truth/indptr", "/truth/indices", "/truth/grade"};
    struct hn_retrieval *r = (struct hn_retrieval *)s; // its first member
    r->info.file = &s->info;
    if (check_schema(ctx, s) || hn_snapshot_read_attributes(ctx, s) || open_rows(ctx, r) ||
        hn_snapshot_read_steps(ctx, s, false) || open_teacher(ctx, r) ||
        read_qrels(ctx, r, qrels, &r->info.qrels) || read_qrels(ctx, r, truth, &r->info.truth) ||
        read_scores(ctx, r) || read_groups(ctx, r, HN_QUERIES) || read_groups(ctx, r, HN_CORPUS))
        return ctx->code;
    s->info.layout = HN_SNAPSHOT_SCHEMA;
    for (int side = 0; side < HN_SETS; side++)
        r->info.has_text[side] = hn_h5_find(s->file, hn_retrieval_text_path[side]) == HN_H5_GOOD;
    return HN_OK;
}

enum hn_code hn_retrieval_open(struct hn_context *ctx, const char *path,
                               struct hn_retrieval **out) {
    static const struct hn_snapshot_form form = {sizeof(struct hn_retrieval), read_structure};
    return hn_snapshot_open_as(ctx, path, &form, (struct hn_snapshot **)out);
}

void hn_retrieval_close(struct hn_context *ctx, struct hn_retrieval *r) {
    hn_snapshot_close(ctx, (struct hn_snapshot *)r);
}

const struct hn_retrieval_info *hn_retrieval_info(const struct hn_retrieval *r) { return &r->info; }

enum hn_code hn_retrieval_rows(struct hn_context *ctx, struct hn_retrieval *r, enum hn_set side,
                               int64_t index, struct hn_matrix *out) {
    return hn_data_share_unit(ctx, &r->base, &r->base.series[side], index, out);
}

enum hn_code hn_retrieval_some_rows(struct hn_context *ctx, struct hn_retrieval *r,
                                    enum hn_set side, int64_t index, int64_t first, int64_t count,
                                    float *out) {
    const struct hn_data_rows rows = {index, first, count};
    return hn_data_read_unit(ctx, &r->base, &r->base.series[side], rows, out);
}

int64_t hn_retrieval_block(const struct hn_retrieval *r, enum hn_set side) {
    return r->base.series[side].block;
}

enum hn_code hn_retrieval_teacher(struct hn_context *ctx, struct hn_retrieval *r, enum hn_set side,
                                  struct hn_matrix *out) {
    return hn_data_share_unit(ctx, &r->base, &r->base.teacher[side], 0, out);
}

// An id names one row.
static enum hn_code check_ids(struct hn_context *ctx, const struct hn_retrieval *r,
                              enum hn_set side, const struct hn_strings *id) {
    struct hn_string_index index;
    HN_SCOPE(ctx);
    if (hn_string_index_open(ctx, id, &index))
        return ctx->code;
    for (int64_t i = 0; i < id->n; i++) {
        int64_t first = hn_string_find(&index, hn_string(id, i));
        if (first != i)
            return hn_fail(
                ctx, HN_DATA,
                "%s: data set %s, indices %lld and %lld: the id %s is there twice; import "
                "it with an id for each row",
                r->base.path, hn_retrieval_id_path[side], (long long)first, (long long)i,
                hn_quote(hn_string(id, i)).text);
        if (!*hn_string(id, i))
            return hn_fail(ctx, HN_DATA,
                           "%s: data set %s, index %lld: the id is empty; import it "
                           "with an id for each row",
                           r->base.path, hn_retrieval_id_path[side], (long long)i);
    }
    return HN_OK;
}

enum hn_code hn_retrieval_ids(struct hn_context *ctx, struct hn_retrieval *r, enum hn_set side,
                              struct hn_strings *out) {
    int64_t n = r->info.n[side];
    enum hn_code code = hn_snapshot_read_texts(ctx, &r->base, hn_retrieval_id_path[side], n, out);
    if (code == HN_OK)
        code = out->n == n ? check_ids(ctx, r, side, out) : hn_strings_count(ctx, out, n);
    return code;
}

enum hn_code hn_retrieval_texts(struct hn_context *ctx, struct hn_retrieval *r, enum hn_set side,
                                struct hn_strings *out) {
    return hn_snapshot_read_texts(ctx, &r->base, hn_retrieval_text_path[side], r->info.n[side],
                                  out);
}

static enum hn_code check_side(struct hn_context *ctx, struct hn_retrieval *r, enum hn_set side) {
    HN_SCOPE(ctx);
    struct hn_strings text;
    if (hn_data_check_values(ctx, &r->base, &r->base.series[side]) ||
        (r->info.teacher_d > 0 && hn_data_check_values(ctx, &r->base, &r->base.teacher[side])) ||
        hn_retrieval_ids(ctx, r, side, &text))
        return ctx->code;
    return hn_retrieval_texts(ctx, r, side, &text);
}

enum hn_code hn_retrieval_digest(struct hn_context *ctx, struct hn_retrieval *r, char *text) {
    return hn_snapshot_digest_checked(ctx, &r->base, text);
}

enum hn_code hn_retrieval_check_digest(struct hn_context *ctx, struct hn_retrieval *r) {
    return hn_snapshot_check_digest(ctx, &r->base);
}

enum hn_code hn_retrieval_validate(struct hn_context *ctx, struct hn_retrieval *r) {
    if (check_side(ctx, r, HN_QUERIES) || check_side(ctx, r, HN_CORPUS))
        return ctx->code;
    return hn_retrieval_check_digest(ctx, r);
}
