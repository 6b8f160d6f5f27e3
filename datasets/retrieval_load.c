// Values of a snapshot of queries and a corpus: rows, ids, texts.
#include "core/digest.h"
#include "datasets/retrieval_private.h"

#include <stdio.h>

enum hn_code hn_retrieval_rows(struct hn_context *ctx, struct hn_retrieval *r, enum hn_set side,
                               int64_t index, struct hn_matrix *out) {
    return hn_data_share_unit(ctx, &r->base, &r->base.series[side], index, out);
}

enum hn_code hn_retrieval_teacher(struct hn_context *ctx, struct hn_retrieval *r, enum hn_set side,
                                  struct hn_matrix *out) {
    return hn_data_share_unit(ctx, &r->base, &r->base.teacher[side], 0, out);
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
