// One step of a series as unit rows.
#include "datasets/retrieval_private.h"

#include "core/digest.h"
#include "core/parts.h"

#include <stdio.h>
#include <string.h>

static enum hn_code check_index(struct hn_context *ctx, const struct hn_snapshot *s, int which,
                                int64_t index) {
    if (which < 0 || which >= HN_SNAPSHOT_SERIES || s->series[which].id < 0)
        return hn_fail(ctx, HN_INTERNAL, "%s: there is no series %d", s->path, which);
    if (index < 0 || index >= s->info.steps)
        return hn_fail(ctx, HN_INTERNAL, "%s: there is no place %lld in a series of %lld", s->path,
                       (long long)index, (long long)s->info.steps);
    return HN_OK;
}

enum hn_code hn_snapshot_read_raw(struct hn_context *ctx, struct hn_snapshot *s, int which,
                                  int64_t index, float *x) {
    enum hn_code code = check_index(ctx, s, which, index);
    return code == HN_OK ? hn_data_read_step(ctx, s, &s->series[which], index, x) : code;
}

enum hn_code hn_snapshot_read_unit(struct hn_context *ctx, struct hn_snapshot *s, int which,
                                   int64_t index, float *x) {
    if (s->retrieval)
        return hn_tuples_rows(ctx, s->retrieval, which == 2 ? HN_CORPUS : HN_QUERIES, index, x);
    if (hn_check_stop(ctx) || hn_snapshot_read_raw(ctx, s, which, index, x))
        return ctx->code;
    HN_SCOPE(ctx);
    char *position =
        hn_format(ctx, "%s: data set %s, step %lld (place %lld in the series),", s->path,
                  s->series[which].path, (long long)s->step[index], (long long)index + 1);
    return position ? hn_unit_rows(ctx, x, s->info.n, s->info.d, s->info.zero_rows, position)
                    : ctx->code;
}

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

struct position {
    struct hn_snapshot *s;
    int which;
    int64_t index;
};

static enum hn_code write_rows(struct hn_context *ctx, void *data, void *out) {
    const struct position *at = data;
    return hn_snapshot_read_unit(ctx, at->s, at->which, at->index, out);
}

static enum hn_code load_rows(struct hn_context *ctx, struct hn_snapshot *s, int which,
                              int64_t index, struct hn_matrix *out) {
    struct position at = {s, which, index};
    const struct hn_parts_fill fill = {&at, write_rows};
    int64_t n = s->info.n, d = s->info.d; // below 2^31 and 2^20: the product fits
    char name[64];
    (void)snprintf(name, sizeof name, "series %d, place %lld", which, (long long)index);
    const float *x = hn_parts_share(ctx, name, n * d * (int64_t)sizeof *x, &fill);
    if (!x)
        return ctx->code;
    *out = (struct hn_matrix){x, n, d, d};
    return HN_OK;
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
    memset(out, 0, sizeof *out);
    enum hn_code code = check_index(ctx, s, 0, index);
    if (code != HN_OK)
        return code;
    const struct hn_snapshot_info *info = &s->info;
    *out = (struct hn_items){.n = info->n,
                             .d = info->d,
                             .labels = s->labels,
                             .label_sets = hn_snapshot_label_sets(s),
                             .graph = info->has_graph ? &s->graph : NULL,
                             .features = info->has_features ? &s->features : NULL,
                             .group = s->group,
                             .tuples = s->retrieval ? &s->retrieval->tuples : NULL,
                             .step = s->step[index],
                             .index = index};
    if (info->steps > 1)
        out->progress = (double)s->step[index] / (double)s->step[info->steps - 1];
    code = load_rows(ctx, s, 0, index, &out->x);
    if (code == HN_OK)
        code = load_views(ctx, s, index, out);
    if (code == HN_OK && info->teacher_d > 0)
        code = hn_snapshot_read_teacher(ctx, s, index, &out->teacher);
    if (code != HN_OK)
        hn_items_free(ctx, out);
    return code;
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
enum hn_code hn_snapshot_validate(struct hn_context *ctx, struct hn_snapshot *s) {
    char text[HN_DIGEST_TEXT];
    HN_SCOPE(ctx);
    float *x = hn_alloc(ctx, s->info.n * s->info.d, sizeof *x);
    if (!x)
        return ctx->code;
    for (int which = 0; which < HN_SNAPSHOT_SERIES; which++)
        for (int64_t i = 0; i < s->info.steps && s->series[which].id >= 0; i++)
            if (hn_snapshot_read_unit(ctx, s, which, i, x))
                return ctx->code;
    for (int64_t i = 0; i < s->teacher.steps && s->teacher.id >= 0; i++) {
        struct hn_matrix teacher;
        if (hn_snapshot_read_teacher(ctx, s, i, &teacher))
            return ctx->code;
        hn_free(ctx, (void *)teacher.data);
    }
    return s->info.stored_sha256[0] ? hn_snapshot_digest_checked(ctx, s, text) : HN_OK;
}
