// The ids of saved batches: growing and appending.
#include "results/store_private.h"

#include <string.h>

// Starts empty lists for `rows` rows that have no batches.
static enum hn_code begin_order(struct hn_context *ctx, struct hn_results *r, int64_t rows) {
    if (hn_grow(ctx, &r->order_run, &r->order_run_capacity, rows + 1, sizeof *r->order_run) ||
        hn_grow(ctx, &r->order_split, &r->order_split_capacity, 1, sizeof *r->order_split) ||
        hn_grow(ctx, &r->order_id, &r->order_id_capacity, 1, sizeof *r->order_id))
        return ctx->code;
    for (int64_t i = 0; i <= rows; i++)
        r->order_run[i] = 0;
    r->order_split[0] = 0;
    return HN_OK;
}

enum hn_code hn_results_add_batches(struct hn_context *ctx, struct hn_results *r, int64_t count,
                                    const int32_t *size, const int32_t *id, int64_t batch_size) {
    if (!r->order_run && begin_order(ctx, r, 1))
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

// Rows without saved batches (a file that keeps none) get an empty range.
enum hn_code hn_store_append_order(struct hn_context *ctx, struct hn_results *to,
                                   const struct hn_results *from) {
    if (!from->order_run && !to->order_run)
        return HN_OK;
    int64_t old_rows = to->runs.rows, rows = from->runs.rows;
    if (!to->order_run && begin_order(ctx, to, old_rows))
        return ctx->code;
    int64_t batches = to->order_run[old_rows], ids = to->order_split[batches];
    const int64_t *run = from->order_run, *split = run ? from->order_split + run[0] : NULL;
    int64_t more = run ? run[rows] - run[0] : 0, added = run ? split[more] - split[0] : 0, all;
    if (!hn_add(ids, added, &all) ||
        hn_grow(ctx, &to->order_run, &to->order_run_capacity, old_rows + rows + 1,
                sizeof *to->order_run) ||
        hn_grow(ctx, &to->order_split, &to->order_split_capacity, batches + more + 1,
                sizeof *to->order_split) ||
        hn_grow(ctx, &to->order_id, &to->order_id_capacity, all, sizeof *to->order_id))
        return ctx->code ? ctx->code : hn_fail(ctx, HN_MEMORY, "merged batches are too many");
    for (int64_t r = 1; r <= rows; r++)
        to->order_run[old_rows + r] = batches + (run ? run[r] - run[0] : 0);
    for (int64_t b = 1; b <= more; b++)
        to->order_split[batches + b] = ids + split[b] - split[0];
    if (added > 0)
        memcpy(to->order_id + ids, from->order_id + split[0], (size_t)added * sizeof *to->order_id);
    return HN_OK;
}

bool hn_store_rises(const int64_t *split, int64_t n) {
    bool good = split[0] == 0;
    for (int64_t i = 0; good && i < n; i++)
        good = split[i] <= split[i + 1];
    return good;
}
