// Bands: rows [from, to) of X against all of Y, one band after the other. The sweep takes such rows
// for rows 0 .. to - from, so that its own column cannot be left out there: one more is kept
// instead, and the row itself, or else the last, is dropped. What is kept is decided by exact
// products and indices alone, so the tiles in which they are met do not matter.
#include "core/sweep/knn_lists.h"

// Four times as long as the parts that sweeps have, bands stay long enough for the screen, which
// each prepares anew.
enum { COARSE = 4 };

static int64_t band_from(const struct hn_knn_lists *near, int64_t band) {
    return near->x.rows * band / near->bands;
}

static bool one_view(const struct hn_knn_lists *near) {
    return near->x.data == near->y.data && near->x.rows == near->y.rows;
}

// Products of one sweep.
static int64_t whole_dots(const struct hn_knn_lists *near) {
    int64_t n = near->x.rows;
    return one_view(near) ? hn_sweep_symmetric_dots(n) : n * near->y.rows;
}

static enum hn_code begin(struct hn_context *ctx, struct hn_knn_lists *near) {
    int64_t size, n = near->x.rows;
    bool fits = n <= INT32_MAX && near->y.rows <= INT32_MAX;
    near->kept = hn_max(0, hn_min(near->k, near->y.rows - near->skip_self));
    near->bands = ctx->memory.mode && fits ? hn_max(1, hn_min(HN_KNN_BANDS, n)) : 1;
    near->shared = false;
    if (ctx->parts && fits && near->kept > 0) {
        const struct hn_cut cut = {.multiplications =
                                       (double)n * (double)near->y.rows * (double)near->x.cols,
                                   .coarse = COARSE,
                                   .dealt = true,
                                   .rows = n,
                                   .block = 1};
        int64_t parts = hn_parts_count(ctx, &cut);
        near->shared = parts > 1 && n >= HN_PARTS_MAX;
        near->bands = near->shared ? parts : near->bands;
    }
    near->band = 0;
    near->again = near->shared      ? -whole_dots(near)
                  : near->bands > 1 ? n * near->y.rows - whole_dots(near)
                                    : 0;
    hn_free(ctx, near->id);
    near->id = NULL;
    if (near->bands == 1)
        return HN_OK;
    if (!hn_mul(n, near->kept, &size))
        return hn_fail(ctx, HN_MEMORY, "the %lld nearest of %lld rows are too many",
                       (long long)near->kept, (long long)n);
    near->id = hn_alloc(ctx, size, sizeof *near->id);
    return near->id ? HN_OK : ctx->code;
}

// The lists of a band without the rows themselves.
static void take_band(struct hn_knn_lists *near) {
    const struct hn_topk *top = &near->top;
    int64_t from = band_from(near, near->band);
    for (int64_t i = 0; i < top->rows; i++) {
        const int32_t *list = top->id + i * top->kept;
        int32_t *id = near->id + (from + i) * near->kept;
        for (int64_t k = 0, n = 0; k < top->kept && n < near->kept; k++)
            if (!near->skip_self || list[k] != from + i)
                id[n++] = list[k];
    }
}

static void take_sweep(struct hn_context *ctx, struct hn_knn_lists *near) {
    if (near->bands > 1) {
        take_band(near);
    } else {
        near->id = near->top.id;
        near->top.id = NULL;
    }
    hn_topk_free(ctx, &near->top);
    near->band++;
}

// Asks for the sweep of the band in work.
static void plan_band(struct hn_knn_lists *near, struct hn_sweep *sweep) {
    int64_t from = band_from(near, near->band), to = band_from(near, near->band + 1);
    bool all = near->bands == 1;
    near->top = (struct hn_topk){.k = near->kept + (near->skip_self && !all),
                                 .skip_self = near->skip_self && all,
                                 .ids_only = true};
    sweep->x = (struct hn_matrix){hn_row(&near->x, from), to - from, near->x.cols, near->x.stride};
    sweep->y = near->y;
    hn_sweep_add(sweep, &hn_topk_sink, &near->top, HN_SIDE_ROWS);
}

// The lists of a band, and their size in bytes.
static int32_t *band_ids(const struct hn_knn_lists *near, int64_t band, int64_t *bytes) {
    int64_t from = band_from(near, band), to = band_from(near, band + 1);
    *bytes = (to - from) * near->kept * (int64_t)sizeof *near->id;
    return near->id + from * near->kept;
}

static enum hn_code compute_band(struct hn_context *ctx, void *data, int64_t part,
                                 struct hn_bytes *found) {
    struct hn_knn_lists *near = data;
    struct hn_sweep sweep = {0};
    int64_t bytes;
    near->band = part;
    plan_band(near, &sweep);
    if (hn_sweep_run(ctx, &sweep)) {
        hn_topk_free(ctx, &near->top);
        return ctx->code;
    }
    take_sweep(ctx, near);
    const int32_t *id = band_ids(near, part, &bytes);
    return hn_bytes_append(ctx, found, id, bytes);
}

static enum hn_code take_found(struct hn_context *ctx, void *data, int64_t part,
                               struct hn_cursor *found) {
    struct hn_knn_lists *near = data;
    int64_t bytes;
    int32_t *id = band_ids(near, part, &bytes);
    return hn_cursor_take(found, id, bytes) ? HN_OK : hn_cursor_fail(ctx);
}

static enum hn_code run_shared(struct hn_context *ctx, struct hn_knn_lists *near) {
    struct hn_digest key;
    hn_parts_key(&key, "nearest", &near->x, &near->y);
    hn_digest_add_int(&key, near->kept);
    hn_digest_add_int(&key, near->skip_self);
    const struct hn_parts_work work = {.key = &key,
                                       .parts = near->bands,
                                       .data = near,
                                       .compute = compute_band,
                                       .take = take_found};
    return hn_parts_run(ctx, &work);
}

enum hn_code hn_knn_lists_plan(struct hn_context *ctx, struct hn_knn_lists *near, int pass,
                               struct hn_sweep *sweep) {
    if (pass == 0 && begin(ctx, near))
        return ctx->code;
    if (near->shared)
        return run_shared(ctx, near);
    if (pass > 0)
        take_sweep(ctx, near);
    if (near->band < near->bands)
        plan_band(near, sweep);
    return HN_OK;
}

enum hn_code hn_knn_lists_run(struct hn_context *ctx, struct hn_knn_lists *near, int64_t *n_dot) {
    *n_dot = 0;
    for (int pass = 0;; pass++) {
        struct hn_sweep sweep = {0};
        enum hn_code code = hn_knn_lists_plan(ctx, near, pass, &sweep);
        if (code || sweep.n_sinks == 0) {
            *n_dot -= near->again;
            return code;
        }
        code = hn_sweep_run(ctx, &sweep);
        if (code)
            return code;
        *n_dot += sweep.n_dot;
    }
}

void hn_knn_lists_free(struct hn_context *ctx, struct hn_knn_lists *near) {
    hn_topk_free(ctx, &near->top);
    hn_free(ctx, near->id);
    near->id = NULL;
}
