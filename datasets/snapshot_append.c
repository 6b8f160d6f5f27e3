// SPDX-License-Identifier: GPL-3.0-or-later
// A snapshot that goes on from another one: everything the other has, as stored; steps may follow.
#include "datasets/snapshot_private.h"

// Scales of the other file are not scales of this one.
enum hn_code hn_writer_copy_others(struct hn_context *ctx, struct hn_snapshot_writer *w,
                                   const struct hn_snapshot *s) {
    hid_t list = H5Pcreate(H5P_LINK_CREATE);
    enum hn_code code = HN_OK;
    if (list < 0 || H5Pset_create_intermediate_group(list, 1) < 0)
        code = hn_fail(ctx, HN_INTERNAL, "HDF5 cannot make a property list");
    for (int i = 0; i < HN_SNAPSHOT_PARTS && code == HN_OK; i++) {
        const char *path = hn_snapshot_part[i].path;
        struct hn_data data;
        if (!hn_snapshot_part[i].copied)
            continue;
        code = hn_data_open(ctx, s, path, hn_snapshot_part[i].kind, &data);
        if (code != HN_OK || data.id < 0)
            continue;
        hn_writer_check(w,
                        H5Ocopy(s->file, path, w->file, path, H5P_DEFAULT, list) >= 0 &&
                            (H5Aexists_by_name(w->file, path, "DIMENSION_LIST", H5P_DEFAULT) == 0 ||
                             H5Adelete_by_name(w->file, path, "DIMENSION_LIST", H5P_DEFAULT) >= 0));
        code = w->code;
        hn_data_close(&data);
    }
    hn_h5_close(list);
    return code;
}

// A series of one step has it again in each.
enum hn_code hn_writer_copy_steps(struct hn_context *ctx, struct hn_snapshot_writer *w,
                                  const struct hn_snapshot *s) {
    float *x[HN_SNAPSHOT_SERIES] = {NULL, NULL, NULL};
    HN_SCOPE(ctx);
    for (int which = 0; which < HN_SNAPSHOT_SERIES; which++)
        if (s->series[which].id >= 0 &&
            !(x[which] = hn_alloc(ctx, s->series[which].rows, (size_t)s->info.d * sizeof(float))))
            return ctx->code;
    for (int64_t i = 0; i < s->info.steps; i++) {
        for (int which = 0; which < HN_SNAPSHOT_SERIES; which++)
            if (x[which] && (i == 0 || s->series[which].steps > 1) &&
                hn_data_read_step(ctx, s, &s->series[which], i, x[which]))
                return ctx->code;
        if (hn_snapshot_write_step(ctx, w, s->info.step[i], x[0], x[1], x[2]))
            return ctx->code;
    }
    return HN_OK;
}

enum hn_code hn_snapshot_write_begin_from(struct hn_context *ctx, const char *path,
                                          struct hn_snapshot *s, const char *tool_version,
                                          struct hn_snapshot_writer **out) {
    const struct hn_snapshot_info *info = &s->info;
    *out = NULL;
    HN_SCOPE(ctx);
    int64_t *sample = hn_alloc(ctx, info->n, sizeof *sample);
    if (!sample || hn_snapshot_sample(ctx, s, sample))
        return ctx->code;
    hn_own(ctx, scope.outer);
    enum hn_float_type type = HN_FLOAT16; // the widest, so that nothing is rounded
    for (int which = 0; which < HN_SNAPSHOT_SERIES; which++)
        if (s->series[which].id >= 0 && s->series[which].type > type)
            type = s->series[which].type;
    const struct hn_snapshot_spec spec = {.about = info->about,
                                          .tool_version = tool_version,
                                          .n = info->n,
                                          .d = info->d,
                                          .sample = sample,
                                          .labels = info->labels,
                                          .label_sets = info->label_sets,
                                          .label_name = info->label_name,
                                          .n_label_names = info->n_label_names,
                                          .split = info->split,
                                          .view1 = info->has_view1,
                                          .view2 = info->has_view2,
                                          .normalized = info->normalized,
                                          .zero_rows = info->zero_rows,
                                          .type = type,
                                          .compress = s->series[0].deflate};
    struct hn_snapshot_writer *w;
    if (hn_snapshot_write_begin(ctx, path, &spec, &w))
        return ctx->code;
    w->code =
        hn_writer_copy_others(ctx, w, s) || hn_writer_copy_steps(ctx, w, s) ? ctx->code : HN_OK;
    *out = w;
    return hn_writer_begun(out);
}
