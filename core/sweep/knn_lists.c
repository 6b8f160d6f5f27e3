// SPDX-License-Identifier: GPL-3.0-or-later
// Bands: rows [from, to) of X against all of Y, one band after the other. The sweep takes such rows
// for rows 0 .. to - from, so that its own column cannot be left out there: one more is kept
// instead, and the row itself, or else the last, is dropped. What is kept is decided by exact
// products and indices alone, so the tiles in which they are met do not matter.
#include "core/sweep/knn_lists.h"

#include "core/sweep/sinks.h"

// Four times as long as the parts that sweeps have, bands stay long enough for the screen, which
// each prepares anew.
enum { COARSE = 4 };

static int64_t band_from(const struct hn_knn_lists *knn, int64_t band) {
    return knn->x.rows * band / knn->bands;
}

static bool one_view(const struct hn_knn_lists *knn) {
    return knn->x.data == knn->y.data && knn->x.rows == knn->y.rows;
}

// Products of one sweep.
static int64_t whole_dots(const struct hn_knn_lists *knn) {
    int64_t n = knn->x.rows;
    return one_view(knn) ? hn_sweep_symmetric_dots(n) : n * knn->y.rows;
}

static enum hn_code begin(struct hn_context *ctx, struct hn_knn_lists *knn) {
    int64_t size, n = knn->x.rows;
    bool fits = n <= INT32_MAX && knn->y.rows <= INT32_MAX;
    knn->kept = hn_max(0, hn_min(knn->k, knn->y.rows - knn->skip_self));
    knn->bands = ctx->memory.mode && fits ? hn_max(1, hn_min(HN_KNN_BANDS, n)) : 1;
    knn->shared = false;
    if (ctx->parts && fits && knn->kept > 0) {
        const struct hn_cut cut = {.multiplications =
                                       (double)n * (double)knn->y.rows * (double)knn->x.cols,
                                   .coarse = COARSE,
                                   .dealt = true,
                                   .rows = n,
                                   .block = 1};
        int64_t parts = hn_parts_count(ctx, &cut);
        knn->shared = parts > 1 && n >= HN_PARTS_MAX;
        knn->bands = knn->shared ? parts : knn->bands;
    }
    knn->band = 0;
    knn->again = knn->shared      ? -whole_dots(knn)
                 : knn->bands > 1 ? n * knn->y.rows - whole_dots(knn)
                                  : 0;
    hn_free(ctx, knn->id);
    knn->id = NULL;
    if (knn->bands == 1)
        return HN_OK;
    if (!hn_mul(n, knn->kept, &size))
        return hn_fail(ctx, HN_MEMORY, "the %lld nearest of %lld rows are too many",
                       (long long)knn->kept, (long long)n);
    return HN_ALLOC(ctx, knn->id, size) ? HN_OK : ctx->code;
}

// The lists of a band without the rows themselves.
static void take_band(struct hn_knn_lists *knn) {
    const struct hn_topk *top = &knn->top;
    int64_t from = band_from(knn, knn->band);
    for (int64_t i = 0; i < top->rows; i++) {
        const int32_t *list = top->id + i * top->kept;
        int32_t *id = knn->id + (from + i) * knn->kept;
        for (int64_t k = 0, n = 0; k < top->kept && n < knn->kept; k++)
            if (!knn->skip_self || list[k] != from + i)
                id[n++] = list[k];
    }
}

static void take_sweep(struct hn_context *ctx, struct hn_knn_lists *knn) {
    if (knn->bands > 1) {
        take_band(knn);
    } else {
        knn->id = knn->top.id;
        knn->top.id = NULL;
    }
    hn_topk_free(ctx, &knn->top);
    knn->band++;
}

// Asks for the sweep of the band in work.
static void plan_band(struct hn_knn_lists *knn, struct hn_sweep *sweep) {
    int64_t from = band_from(knn, knn->band), to = band_from(knn, knn->band + 1);
    bool all = knn->bands == 1;
    knn->top = (struct hn_topk){.k = knn->kept + (knn->skip_self && !all),
                                .skip_self = knn->skip_self && all,
                                .ids_only = true};
    sweep->x = (struct hn_matrix){hn_row(&knn->x, from), to - from, knn->x.cols, knn->x.stride};
    sweep->y = knn->y;
    hn_sweep_add(sweep, &hn_topk_sink, &knn->top, HN_SIDE_ROWS);
}

// The lists of a band, and their size in bytes.
static int32_t *band_ids(const struct hn_knn_lists *knn, int64_t band, int64_t *bytes) {
    int64_t from = band_from(knn, band), to = band_from(knn, band + 1);
    *bytes = (to - from) * knn->kept * (int64_t)sizeof *knn->id;
    return knn->id + from * knn->kept;
}

static enum hn_code compute_band(struct hn_context *ctx, void *data, int64_t part,
                                 struct hn_bytes *found) {
    struct hn_knn_lists *knn = data;
    struct hn_sweep sweep = {0};
    int64_t bytes;
    knn->band = part;
    plan_band(knn, &sweep);
    if (hn_sweep_run(ctx, &sweep)) {
        hn_topk_free(ctx, &knn->top);
        return ctx->code;
    }
    take_sweep(ctx, knn);
    const int32_t *id = band_ids(knn, part, &bytes);
    return hn_bytes_append(ctx, found, id, bytes);
}

static enum hn_code take_found(struct hn_context *ctx, void *data, int64_t part,
                               struct hn_cursor *found) {
    struct hn_knn_lists *knn = data;
    int64_t bytes;
    int32_t *id = band_ids(knn, part, &bytes);
    return hn_cursor_take(found, id, bytes) ? HN_OK : hn_cursor_fail(ctx);
}

static enum hn_code run_shared(struct hn_context *ctx, struct hn_knn_lists *knn) {
    struct hn_digest key;
    hn_parts_key(&key, "nearest", &knn->x, &knn->y);
    hn_digest_add_int(&key, knn->kept);
    hn_digest_add_int(&key, knn->skip_self);
    const struct hn_parts_work work = {
        .key = &key, .parts = knn->bands, .data = knn, .compute = compute_band, .take = take_found};
    return hn_parts_run(ctx, &work);
}

enum hn_code hn_knn_lists_plan(struct hn_context *ctx, struct hn_knn_lists *knn, int pass,
                               struct hn_sweep *sweep) {
    if (pass == 0 && begin(ctx, knn))
        return ctx->code;
    if (knn->shared)
        return run_shared(ctx, knn);
    if (pass > 0)
        take_sweep(ctx, knn);
    if (knn->band < knn->bands)
        plan_band(knn, sweep);
    return HN_OK;
}

enum hn_code hn_knn_lists_run(struct hn_context *ctx, struct hn_knn_lists *knn, int64_t *n_dot) {
    *n_dot = 0;
    for (int pass = 0;; pass++) {
        struct hn_sweep sweep = {0};
        enum hn_code code = hn_knn_lists_plan(ctx, knn, pass, &sweep);
        if (code || sweep.n_sinks == 0) {
            *n_dot -= knn->again;
            return code;
        }
        code = hn_sweep_run(ctx, &sweep);
        if (code)
            return code;
        *n_dot += sweep.n_dot;
    }
}

void hn_knn_lists_free(struct hn_context *ctx, struct hn_knn_lists *knn) {
    hn_topk_free(ctx, &knn->top);
    hn_free(ctx, knn->id);
    knn->id = NULL;
}
