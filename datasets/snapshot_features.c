// SPDX-License-Identifier: GPL-3.0-or-later
// Raw features of a snapshot: dense rows or compressed ones, made unit length. A row of zeros has
// no direction and stays as it is: features are compared, not trained on.
#include "datasets/snapshot_private.h"

#include <math.h>

enum { COLUMNS_MAX = 1 << 24 };

// value[n] becomes a unit row. False if a value is not finite.
static bool normalize(float *value, int64_t n) {
    double length = sqrt(hn_dot_exact(value, value, n));
    if (!isfinite(length))
        return false;
    for (int64_t k = 0; k < n && length > 0; k++)
        value[k] = (float)((double)value[k] / length);
    return true;
}

static enum hn_code fail_row(struct hn_context *ctx, const struct hn_snapshot *s, const char *path,
                             int64_t row) {
    return hn_fail(ctx, HN_DATA, "%s: data set %s, row %lld is not finite; mend the features",
                   s->path, path, (long long)row);
}

static enum hn_code read_values(struct hn_context *ctx, const struct hn_snapshot *s,
                                const struct hn_data *data, float **out) {
    int64_t values;
    if (!hn_mul(data->rows, data->cols, &values))
        return hn_fail(ctx, HN_DATA, "%s: data set %s is too large", s->path, data->path);
    return HN_ALLOC(ctx, *out, values) ? hn_data_read_step(ctx, s, data, 0, *out) : ctx->code;
}

static enum hn_code read_dense(struct hn_context *ctx, struct hn_snapshot *s) {
    struct hn_data data;
    enum hn_code code = hn_data_open(ctx, s, "/features", HN_DATA_FLOATS, &data);
    if (code != HN_OK || data.id < 0)
        return code;
    int64_t n = s->info.n, p = data.cols;
    if (data.rank != 2)
        code =
            hn_fail(ctx, HN_DATA,
                    "%s: data set /features has the wrong rank: %d; it must be [items, features]",
                    s->path, data.rank);
    else if (data.rows != n)
        code = hn_data_fail_length(ctx, s, &data, n, "items");
    else
        code = read_values(ctx, s, &data, &s->feature_value);
    hn_data_close(&data);
    for (int64_t i = 0; i < n && code == HN_OK; i++)
        if (!normalize(s->feature_value + i * p, p))
            code = fail_row(ctx, s, "/features", i);
    s->features = (struct hn_features){.n = n, .p = p, .dense = {s->feature_value, n, p, p}};
    s->info.has_features = code == HN_OK;
    return code;
}

// The values of compressed rows, all 1 where the file has none.
static enum hn_code read_sparse_values(struct hn_context *ctx, struct hn_snapshot *s,
                                       int64_t entries) {
    struct hn_data data;
    enum hn_code code = hn_data_open(ctx, s, "/features_csr/data", HN_DATA_FLOATS, &data);
    if (code != HN_OK)
        return code;
    if (data.id < 0) {
        s->feature_value = hn_alloc(ctx, entries, sizeof *s->feature_value);
        for (int64_t k = 0; s->feature_value && k < entries; k++)
            s->feature_value[k] = 1;
        return s->feature_value ? HN_OK : ctx->code;
    }
    if (data.rows != entries || data.rank != 1)
        code = hn_data_fail_length(ctx, s, &data, entries, "indices");
    else
        code = read_values(ctx, s, &data, &s->feature_value);
    hn_data_close(&data);
    return code;
}

static enum hn_code check_sparse(struct hn_context *ctx, struct hn_snapshot *s, int64_t *columns) {
    const struct hn_graph *rows = &s->feature_rows;
    for (int64_t i = 0; i < rows->n; i++) {
        int64_t from = rows->start[i], to = rows->start[i + 1];
        for (int64_t k = from; k < to; k++) {
            if (k > from && rows->target[k] <= rows->target[k - 1])
                return hn_fail(
                    ctx, HN_DATA,
                    "%s: data set /features_csr/indices, row %lld does not ascend; store "
                    "each feature once, in order",
                    s->path, (long long)i);
            *columns = hn_max(*columns, (int64_t)rows->target[k] + 1);
        }
        if (!normalize(s->feature_value + from, to - from))
            return fail_row(ctx, s, "/features_csr/data", i);
    }
    return HN_OK;
}

static enum hn_code read_sparse(struct hn_context *ctx, struct hn_snapshot *s) {
    const struct hn_sparse_rows rows = {"/features_csr/indptr", "/features_csr/indices",
                                        COLUMNS_MAX};
    struct hn_graph *g = &s->feature_rows;
    int64_t columns = 1;
    enum hn_code code = hn_snapshot_read_rows(ctx, s, &rows, g);
    if (code != HN_OK || !g->start)
        return code;
    if (s->info.has_features)
        return hn_fail(ctx, HN_DATA, "%s: there are /features and /features_csr; store one of them",
                       s->path);
    code = read_sparse_values(ctx, s, g->start[g->n]);
    if (code == HN_OK)
        code = check_sparse(ctx, s, &columns);
    s->features = (struct hn_features){
        .n = g->n, .p = columns, .start = g->start, .index = g->target, .value = s->feature_value};
    s->info.has_features = code == HN_OK;
    return code;
}

enum hn_code hn_snapshot_read_features(struct hn_context *ctx, struct hn_snapshot *s) {
    enum hn_code code = read_dense(ctx, s);
    return code == HN_OK ? read_sparse(ctx, s) : code;
}
