// SPDX-License-Identifier: GPL-3.0-or-later
// Cuts a long computation into parts, which this process or others compute.
#include "core/parts.h"

#include <math.h>

static int64_t count_blocks(const struct hn_cut *cut) {
    return (cut->rows + cut->block - 1) / cut->block;
}

int64_t hn_cut_parts(const struct hn_cut *cut) {
    const double min = 0x1p26, each = 0x1p31; // some hundredths of a second; one
    enum { FEW = 4 };
    double coarse = (double)cut->coarse;
    if (cut->multiplications < min)
        return 1;
    double parts = fmax(FEW, floor(cut->multiplications / (each * coarse)));
    double max = HN_PARTS_MAX / coarse;
    if (cut->dealt)
        max = fmax(max, (double)cut->rows / HN_PARTS_ROWS);
    return hn_min((int64_t)fmin(max, parts), count_blocks(cut));
}

int64_t hn_parts_count(const struct hn_context *ctx, const struct hn_cut *cut) {
    if (!ctx->parts)
        return 1;
    return ctx->parts->count > 0 ? hn_min(ctx->parts->count, count_blocks(cut)) : hn_cut_parts(cut);
}

static void add_rows(struct hn_digest *key, const struct hn_matrix *x) {
    enum { SAMPLE = 256 };
    hn_digest_add_int(key, x->rows);
    hn_digest_add_int(key, x->cols);
    int64_t sampled = hn_min(SAMPLE, x->rows);
    for (int64_t i = 0; i < sampled; i++)
        hn_digest_add(key, hn_row(x, i * x->rows / sampled), (size_t)x->cols * sizeof(float));
}

void hn_parts_key(struct hn_digest *key, const char *what, const struct hn_matrix *x,
                  const struct hn_matrix *y) {
    hn_digest_begin(key);
    hn_digest_add_text(key, what);
    add_rows(key, x);
    add_rows(key, y);
    hn_digest_add_int(key, x->data == y->data); // half of the products are computed
}

static enum hn_code compute_some(struct hn_context *ctx, const struct hn_parts_work *work) {
    const struct hn_parts *parts = ctx->parts;
    enum hn_code code = HN_OK;
    for (int64_t part; !code && (part = parts->next(parts->self)) != HN_PARTS_NONE;) {
        HN_SCOPE(ctx);
        struct hn_bytes found = {0};
        code = work->compute(ctx, work->data, part, &found);
        if (!code)
            code = parts->put(ctx, parts->self, part, &found);
    }
    return code;
}

static enum hn_code take_all(struct hn_context *ctx, const struct hn_parts_work *work) {
    enum hn_code code = HN_OK;
    for (int64_t part = 0; !code && part < work->parts; part++) {
        struct hn_bytes found = {0};
        void *outer = hn_own(ctx, NULL);
        code = ctx->parts->get(ctx, ctx->parts->self, part, &found);
        hn_own(ctx, outer);
        struct hn_cursor from = {found.data, found.n};
        if (!code)
            code = work->take(ctx, work->data, part, &from);
        if (!code && from.left != 0)
            code = hn_cursor_fail(ctx);
        hn_free(ctx, found.data);
    }
    return code;
}

enum hn_code hn_parts_run(struct hn_context *ctx, const struct hn_parts_work *work) {
    char key[HN_DIGEST_TEXT];
    hn_digest_add_int(work->key, work->parts);
    hn_digest_end(work->key, key);
    if (ctx->parts->begin(ctx, ctx->parts->self, key, work->parts))
        return ctx->code;
    enum hn_code code = compute_some(ctx, work);
    code = ctx->parts->end(ctx, ctx->parts->self, code);
    return code || !work->take ? code : take_all(ctx, work);
}

const void *hn_parts_own(struct hn_context *ctx, int64_t n, const struct hn_parts_fill *fill) {
    void *bytes = hn_alloc(ctx, n, 1);
    if (bytes && fill->write(ctx, fill->data, bytes)) {
        hn_free(ctx, bytes);
        bytes = NULL;
    }
    return bytes;
}

const void *hn_parts_share(struct hn_context *ctx, const char *name, int64_t n,
                           const struct hn_parts_fill *fill) {
    return ctx->parts && ctx->parts->share ? ctx->parts->share(ctx, ctx->parts->self, name, n, fill)
                                           : hn_parts_own(ctx, n, fill);
}
