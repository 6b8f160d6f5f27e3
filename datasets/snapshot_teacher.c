// Further embeddings of the items of a snapshot, of another encoder: /teacher, [N, D] or [1, N, D]
// where it is fixed, [steps, N, D] where it goes along with the series.
#include "datasets/snapshot_private.h"

static enum hn_code check_teacher(struct hn_context *ctx, const struct hn_snapshot *s) {
    const struct hn_data *t = &s->teacher[0];
    if (t->rank < 2)
        return hn_fail(ctx, HN_DATA,
                       "%s: data set /teacher has the wrong rank: %d; it must be [items, dims] or "
                       "[steps, items, dims]",
                       s->path, t->rank);
    if (t->rows != s->info.n)
        return hn_data_fail_length(ctx, s, t, s->info.n, "items");
    if (t->cols < 1 || (t->steps != 1 && t->steps != s->info.steps))
        return hn_fail(ctx, HN_DATA,
                       "%s: data set /teacher is [%lld, %lld, %lld]; it must have one dimension or "
                       "more, and 1 step or the %lld of the series",
                       s->path, (long long)t->steps, (long long)t->rows, (long long)t->cols,
                       (long long)s->info.steps);
    return HN_OK;
}

enum hn_code hn_snapshot_open_teacher(struct hn_context *ctx, struct hn_snapshot *s) {
    if (hn_data_open(ctx, s, "/teacher", HN_DATA_FLOATS, &s->teacher[0]))
        return ctx->code;
    if (s->teacher[0].id < 0)
        return HN_OK;
    s->info.teacher_d = s->teacher[0].cols;
    return check_teacher(ctx, s);
}

static enum hn_code write_array(struct hn_context *ctx, struct hn_snapshot_writer *w,
                                const struct hn_h5_array *array) {
    hid_t data = hn_h5_write_array(w->file, array);
    bool good = data >= 0;
    good = hn_h5_close(data) && good;
    return good ? HN_OK : hn_snapshot_fail_write(ctx, w);
}

enum hn_code hn_snapshot_write_teacher(struct hn_context *ctx, struct hn_snapshot_writer *w,
                                       const struct hn_matrix *teacher) {
    int64_t at;
    if (H5Lexists(w->file, "/teacher", H5P_DEFAULT) > 0)
        return hn_fail(ctx, HN_USAGE, "%s: has a /teacher already; give another -o", w->path);
    for (int64_t i = 0; i < teacher->rows; i++) {
        const char *fault = hn_row_fault(hn_row(teacher, i), teacher->cols, &at);
        if (fault)
            return hn_fail(ctx, HN_DATA,
                           "row %lld of the teacher has no direction (%s); fix its embedding",
                           (long long)i, fault);
    }
    const struct hn_h5_array array = {"/teacher",
                                      H5T_IEEE_F32LE,
                                      H5T_NATIVE_FLOAT,
                                      .rank = 2,
                                      .dim = {(hsize_t)teacher->rows, (hsize_t)teacher->cols, 1},
                                      .data = teacher->data};
    return write_array(ctx, w, &array);
}

enum hn_code hn_snapshot_write_groups(struct hn_context *ctx, struct hn_snapshot_writer *w,
                                      const int32_t *group) {
    if (H5Lexists(w->file, "/group", H5P_DEFAULT) > 0)
        return hn_fail(ctx, HN_USAGE, "%s: has a /group already; give another -o", w->path);
    const struct hn_h5_array array = {
        "/group",     H5T_STD_I32LE, H5T_NATIVE_INT32, .rank = 1, .dim = {(hsize_t)w->n, 1, 1},
        .data = group};
    return write_array(ctx, w, &array);
}
