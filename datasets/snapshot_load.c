// SPDX-License-Identifier: GPL-3.0-or-later
// One step of a series as unit rows.
#include "datasets/retrieval_private.h"

#include "core/digest.h"

#include <string.h>

enum hn_code hn_snapshot_sample(struct hn_context *ctx, const struct hn_snapshot *s, int64_t *out) {
    const struct hn_data_range any = {0, INT64_MAX, sizeof *out};
    struct hn_data data;
    for (int64_t i = 0; i < s->info.n; i++)
        out[i] = i;
    enum hn_code code = hn_data_open(ctx, s, "/sample", HN_DATA_INTEGERS, &data);
    if (!code && data.id >= 0)
        code = data.rows == s->info.n ? hn_data_read_checked(ctx, s, &data, any, out)
                                      : hn_data_fail_length(ctx, s, &data, s->info.n, "items");
    hn_data_close(&data);
    return code;
}

static enum hn_code load_rows(struct hn_context *ctx, struct hn_snapshot *s, int which,
                              int64_t index, struct hn_matrix *out) {
    return s->retrieval
               ? hn_tuples_rows(ctx, s->retrieval, which == 2 ? HN_CORPUS : HN_QUERIES, index, out)
               : hn_data_share_unit(ctx, s, &s->series[which], index, out);
}

// x2[i] = x[partner[i]]: the partner is the positive.
static enum hn_code gather_partners(struct hn_context *ctx, const struct hn_snapshot *s,
                                    struct hn_items *items) {
    int64_t n = items->n, d = items->d;
    float *x2 = hn_alloc(ctx, n * d, sizeof *x2);
    if (!x2)
        return ctx->code;
    hn_gather_rows(&items->x, s->partner, n, x2);
    items->x1 = items->x;
    items->x2 = (struct hn_matrix){x2, n, d, d};
    return HN_OK;
}

static enum hn_code load_views(struct hn_context *ctx, struct hn_snapshot *s, int64_t index,
                               struct hn_items *items) {
    if (!s->info.has_view2)
        return s->partner ? gather_partners(ctx, s, items) : HN_OK;
    enum hn_code code = load_rows(ctx, s, 2, index, &items->x2);
    if (code != HN_OK)
        return code;
    items->x1 = items->x;
    return s->info.has_view1 ? load_rows(ctx, s, 1, index, &items->x1) : HN_OK;
}

enum hn_code hn_snapshot_load(struct hn_context *ctx, struct hn_snapshot *s, int64_t index,
                              struct hn_items *out) {
    const struct hn_snapshot_info *info = &s->info;
    *out = (struct hn_items){.n = info->n,
                             .d = info->d,
                             .labels = info->labels,
                             .label_sets = info->label_sets,
                             .graph = info->has_graph ? &s->graph : NULL,
                             .features = info->has_features ? &s->features : NULL,
                             .group = info->group,
                             .tuples = s->retrieval ? &s->retrieval->tuples : NULL,
                             .index = index};
    enum hn_code code = load_rows(ctx, s, 0, index, &out->x);
    if (code == HN_OK)
        code = load_views(ctx, s, index, out);
    if (code == HN_OK && info->teacher_d > 0)
        code = hn_data_share_unit(ctx, s, &s->teacher[0], index, &out->teacher);
    if (code != HN_OK) {
        hn_items_free(ctx, out);
        return code;
    }
    out->step = info->step[index];
    if (info->steps > 1)
        out->progress = (double)out->step / (double)info->step[info->steps - 1];
    return HN_OK;
}

void hn_items_free(struct hn_context *ctx, struct hn_items *items) {
    hn_free(ctx, (void *)items->teacher.data);
    hn_free(ctx, (void *)items->x2.data);
    if (items->x1.data != items->x.data)
        hn_free(ctx, (void *)items->x1.data);
    hn_free(ctx, (void *)items->x.data);
    memset(items, 0, sizeof *items);
}

// Structure was checked when the file was opened, here come the values.
enum hn_code hn_data_check_values(struct hn_context *ctx, const struct hn_snapshot *s,
                                  const struct hn_data *data) {
    for (int64_t i = 0; i < data->steps; i++)
        if (hn_data_read_unit(ctx, s, data, (struct hn_data_rows){i, 0, data->rows}, NULL))
            return ctx->code;
    return HN_OK;
}

enum hn_code hn_snapshot_validate(struct hn_context *ctx, struct hn_snapshot *s) {
    for (int which = 0; which < HN_SNAPSHOT_SERIES; which++)
        if (s->series[which].id >= 0 && hn_data_check_values(ctx, s, &s->series[which]))
            return ctx->code;
    if (s->teacher[0].id >= 0 && hn_data_check_values(ctx, s, &s->teacher[0]))
        return ctx->code;
    return hn_snapshot_check_digest(ctx, s);
}
