// HDF5 in the layout of ann-benchmarks: the data set `train`. Of a snapshot, where it may be one,
// the last step's embeddings, or its groups.
#include "datasets/import/format.h"
#include "datasets/snapshot.h"

#include <string.h>

static enum hn_code read_train(struct hn_context *ctx, struct hn_snapshot *s,
                               const struct hn_wanted *want, struct hn_array *out) {
    const struct hn_snapshot_info *info = hn_snapshot_info(s);
    if (!want->snapshots && strcmp(info->layout, "ann-benchmarks") != 0)
        return hn_fail(ctx, HN_DATA, "%s: is a snapshot already; use it as it is", info->path);
    if (info->has_test)
        hn_note(ctx, "%s: the rows of its data set test are left out: items are those of train",
                info->path);
    if (info->steps > 1)
        hn_note(ctx, "%s: has %lld steps, of which the last, %lld, is read", info->path,
                (long long)info->steps, (long long)info->step[info->steps - 1]);
    out->rank = 2;
    out->shape[0] = info->n;
    out->shape[1] = info->d;
    out->real = hn_alloc(ctx, info->n * info->d, sizeof *out->real);
    return out->real ? hn_snapshot_read_raw(ctx, s, 0, info->steps - 1, out->real) : ctx->code;
}

static enum hn_code read_groups(struct hn_context *ctx, const struct hn_snapshot *s,
                                struct hn_array *out) {
    const struct hn_snapshot_info *info = hn_snapshot_info(s);
    const int32_t *group = hn_snapshot_groups(s);
    if (!group)
        return hn_fail(ctx, HN_DATA, "%s: has no groups (data set /group)", info->path);
    out->rank = 1;
    out->shape[0] = info->n;
    out->integer = hn_alloc(ctx, info->n, sizeof *out->integer);
    for (int64_t i = 0; out->integer && i < info->n; i++)
        out->integer[i] = group[i];
    return out->integer ? HN_OK : ctx->code;
}

static enum hn_code read_array(struct hn_context *ctx, struct hn_source *source,
                               const struct hn_wanted *want, struct hn_array *out) {
    struct hn_snapshot *s;
    if (want->labels && !want->snapshots)
        return hn_fail(ctx, HN_DATA,
                       "%s: an HDF5 file has no labels that are read; give them in "
                       "another format",
                       source->path);
    if (hn_snapshot_open(ctx, source->path, &s))
        return ctx->code;
    enum hn_code code = want->labels ? read_groups(ctx, s, out) : read_train(ctx, s, want, out);
    hn_snapshot_close(ctx, s);
    return code;
}

static const char *const endings[] = {".hdf5", ".h5", NULL};

const struct hn_format hn_format_hdf5 = {
    .name = "hdf5",
    .summary = "the data set train, in the layout of ann-benchmarks",
    .endings = endings,
    .has_labels = true,
    .magic = "\x89HDF\r\n\x1a\n",
    .magic_bytes = 8,
    .by_name = true,
    .read = read_array,
};
