// Ranges of batches, and the ids of saved ones: growing and appending.
#include "results/store_private.h"

#include <string.h>

enum hn_code hn_store_append_splits(struct hn_context *ctx, int64_t **to, int64_t *capacity,
                                    int64_t rows, const int64_t *from, int64_t n,
                                    int64_t range[2]) {
    int64_t blank = *to ? rows + 1 : 0, length;
    range[0] = *to ? (*to)[rows] : 0;
    if (!hn_add(rows, n, &length) || !hn_add(range[0], from ? from[n] - from[0] : 0, &range[1]))
        return hn_fail(ctx, HN_MEMORY, "merged batches are too many");
    if (hn_grow(ctx, to, capacity, length + 1, sizeof **to))
        return ctx->code;
    for (; blank <= rows; blank++)
        (*to)[blank] = 0;
    for (int64_t r = 1; r <= n; r++)
        (*to)[rows + r] = range[0] + (from ? from[r] - from[0] : 0);
    return HN_OK;
}

enum hn_code hn_results_add_batches(struct hn_context *ctx, struct hn_results *r, int64_t count,
                                    const int32_t *size, const int32_t *id, int64_t batch_size) {
    int64_t none[2];
    if (!r->order_run &&
        (hn_store_append_splits(ctx, &r->order_run, &r->order_run_capacity, 1, NULL, 0, none) ||
         hn_store_append_splits(ctx, &r->order_split, &r->order_split_capacity, 0, NULL, 0, none)))
        return ctx->code;
    int64_t batches = r->order_run[1], ids = r->order_split[batches], max;
    if (!hn_mul(count, batch_size, &max) || !hn_add(max, ids, &max))
        return hn_fail(ctx, HN_MEMORY, "the saved batches are too many");
    if (hn_grow(ctx, &r->order_split, &r->order_split_capacity, batches + count + 1,
                sizeof *r->order_split) ||
        hn_grow(ctx, &r->order_id, &r->order_id_capacity, max, sizeof *r->order_id))
        return ctx->code;
    for (int64_t b = 0; b < count; b++) {
        memcpy(r->order_id + ids, id + b * batch_size, (size_t)size[b] * sizeof *id);
        ids += size[b];
        r->order_split[batches + b + 1] = ids;
    }
    r->order_run[1] = batches + count;
    return HN_OK;
}

enum hn_code hn_store_append_order(struct hn_context *ctx, struct hn_results *to,
                                   const struct hn_results *from) {
    const int64_t *run = from->order_run, *split = run ? from->order_split + run[0] : NULL;
    int64_t batches[2] = {0}, ids[2] = {0};
    if (!run && !to->order_run)
        return HN_OK;
    if (hn_store_append_splits(ctx, &to->order_run, &to->order_run_capacity, to->runs.rows, run,
                               from->runs.rows, batches) ||
        hn_store_append_splits(ctx, &to->order_split, &to->order_split_capacity, batches[0], split,
                               batches[1] - batches[0], ids) ||
        hn_grow(ctx, &to->order_id, &to->order_id_capacity, ids[1], sizeof *to->order_id))
        return ctx->code;
    if (ids[1] > ids[0])
        memcpy(to->order_id + ids[0], from->order_id + split[0],
               (size_t)(ids[1] - ids[0]) * sizeof *to->order_id);
    return HN_OK;
}

bool hn_store_rises(const int64_t *split, int64_t n) {
    bool good = split[0] == 0;
    for (int64_t i = 0; good && i < n; i++)
        good = split[i] <= split[i + 1];
    return good;
}
