// Values of a snapshot of queries and a corpus: rows, ids, texts.
#include "core/digest.h"
#include "core/parts.h"
#include "datasets/retrieval_private.h"

#include <string.h>

struct rows_at {
    const struct hn_snapshot *s;
    const struct hn_data *data;
    int64_t index;
};

static enum hn_code write_unit(struct hn_context *ctx, void *data, void *out) {
    const struct rows_at *at = data;
    int64_t index = at->index;
    HN_SCOPE(ctx);
    char *position =
        hn_format(ctx, "%s: data set %s, step %lld (place %lld in the series),", at->s->path,
                  at->data->path, (long long)at->s->step[index], (long long)index + 1);
    if (!position || hn_check_stop(ctx) ||
        hn_data_read_step(ctx, at->s, at->data, at->data->steps > 1 ? index : 0, out))
        return ctx->code;
    return hn_normalize_rows(ctx, out, at->data->rows, at->data->cols, position);
}

// Once for all processes of a machine that share a computation.
static enum hn_code read_unit(struct hn_context *ctx, const struct hn_snapshot *s,
                              const struct hn_data *data, int64_t index, struct hn_matrix *out) {
    struct rows_at at = {s, data, index};
    const struct hn_parts_fill fill = {&at, write_unit};
    int64_t n = data->rows, d = data->cols; // below 2^31 and 2^20: the product fits
    char name[128];
    (void)snprintf(name, sizeof name, "%s, place %lld", data->path, (long long)index);
    const float *x = hn_parts_share(ctx, name, n * d * (int64_t)sizeof *x, &fill);
    if (!x)
        return ctx->code;
    *out = (struct hn_matrix){x, n, d, d};
    return HN_OK;
}

enum hn_code hn_retrieval_rows(struct hn_context *ctx, struct hn_retrieval *r, enum hn_set side,
                               int64_t index, struct hn_matrix *out) {
    if (index < 0 || index >= r->base.info.steps)
        return hn_fail(ctx, HN_INTERNAL, "%s: there is no place %lld in a series of %lld",
                       r->base.path, (long long)index, (long long)r->base.info.steps);
    return read_unit(ctx, &r->base, &r->base.series[side], index, out);
}

enum hn_code hn_retrieval_teacher(struct hn_context *ctx, struct hn_retrieval *r, enum hn_set side,
                                  struct hn_matrix *out) {
    return read_unit(ctx, &r->base, &r->teacher[side], 0, out);
}

struct taken {
    struct hn_context *ctx;
    struct hn_strings *out;
};

static enum hn_code put(void *user, int64_t i, const char *text) {
    struct taken *to = user;
    if (!hn_snapshot_is_utf8(text))
        return hn_fail(to->ctx, HN_DATA, "the text of row %lld is not UTF-8; import it so",
                       (long long)i);
    return hn_strings_add(to->ctx, to->out, text, (int64_t)strlen(text));
}

enum hn_code hn_snapshot_read_texts(struct hn_context *ctx, const struct hn_snapshot *s,
                                    const char *path, int64_t n, struct hn_strings *out) {
    struct hn_h5_data data;
    struct taken to = {ctx, out};
    *out = (struct hn_strings){.n = 0};
    enum hn_h5_fault fault = hn_h5_data_open(s->file, path, &data);
    if (fault == HN_H5_ABSENT)
        return HN_OK;
    int64_t bytes = hn_h5_file_bytes(s->file);
    bool good = fault == HN_H5_GOOD && data.class == H5T_STRING && data.rank == 1 &&
                hn_h5_data_holds(&data, bytes, 0);
    int64_t there = good ? (int64_t)data.dim[0] : 0;
    enum hn_code code =
        !good ? hn_fail(ctx, HN_DATA, "it is not a list of texts, or damaged")
        : n >= 0 && there != n
            ? hn_fail(ctx, HN_DATA, "it has %lld texts, not %lld", (long long)there, (long long)n)
            : hn_h5_read_texts(ctx, &data, there, bytes + there, put, &to);
    if (fault == HN_H5_GOOD)
        hn_h5_data_close(&data);
    return code ? hn_fail_in(ctx, "%s: data set %s", s->path, path) : HN_OK;
}

enum hn_code hn_retrieval_ids(struct hn_context *ctx, struct hn_retrieval *r, enum hn_set side,
                              struct hn_strings *out) {
    int64_t n = r->info.n[side];
    char text[32];
    enum hn_code code = hn_snapshot_read_texts(ctx, &r->base, hn_retrieval_id_path[side], n, out);
    if (code != HN_OK || out->n == n)
        return code;
    for (int64_t i = 0; i < n; i++)
        if (hn_strings_add(ctx, out, text, snprintf(text, sizeof text, "%lld", (long long)i)))
            return ctx->code;
    return HN_OK;
}

enum hn_code hn_retrieval_texts(struct hn_context *ctx, struct hn_retrieval *r, enum hn_set side,
                                struct hn_strings *out) {
    return hn_snapshot_read_texts(ctx, &r->base, hn_retrieval_text_path[side], r->info.n[side],
                                  out);
}

static enum hn_code check_ids(struct hn_context *ctx, struct hn_retrieval *r, enum hn_set side) {
    struct hn_strings id;
    struct hn_string_index index;
    HN_SCOPE(ctx);
    if (hn_retrieval_ids(ctx, r, side, &id) || hn_string_index_open(ctx, id.n, &id, &index))
        return ctx->code;
    for (int64_t i = 0; i < id.n; i++) {
        int64_t first = hn_string_put(&index, i);
        if (first != i)
            return hn_fail(ctx, HN_DATA,
                           "%s: data set %s, places %lld and %lld: the id %.64s is there twice",
                           r->base.path, hn_retrieval_id_path[side], (long long)first, (long long)i,
                           hn_string(&id, i));
    }
    struct hn_strings text;
    return hn_retrieval_texts(ctx, r, side, &text);
}

static enum hn_code check_side(struct hn_context *ctx, struct hn_retrieval *r, enum hn_set side) {
    for (int64_t i = 0; i < r->base.series[side].steps; i++) {
        HN_SCOPE(ctx);
        struct hn_matrix x;
        if (hn_retrieval_rows(ctx, r, side, i, &x))
            return ctx->code;
    }
    HN_SCOPE(ctx);
    struct hn_matrix x;
    if (r->info.teacher_d > 0 && hn_retrieval_teacher(ctx, r, side, &x))
        return ctx->code;
    return check_ids(ctx, r, side);
}

enum hn_code hn_retrieval_digest(struct hn_context *ctx, struct hn_retrieval *r, char *text) {
    return hn_snapshot_digest_checked(ctx, &r->base, text);
}

enum hn_code hn_retrieval_validate(struct hn_context *ctx, struct hn_retrieval *r) {
    char text[HN_DIGEST_TEXT];
    if (check_side(ctx, r, HN_QUERIES) || check_side(ctx, r, HN_CORPUS))
        return ctx->code;
    return r->base.info.stored_sha256[0] ? hn_snapshot_digest_checked(ctx, &r->base, text) : HN_OK;
}
