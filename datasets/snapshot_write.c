// SPDX-License-Identifier: GPL-3.0-or-later
// Writing a snapshot of items: what goes with the rows of its steps.
#include "core/label_sets.h"
#include "datasets/h5_write.h"
#include "datasets/snapshot_private.h"

#include <string.h>

static enum hn_code check_spec(struct hn_context *ctx, const char *path,
                               const struct hn_snapshot_spec *spec) {
    for (int64_t i = 0; i < spec->n; i++)
        if (spec->labels[i] < -1)
            return hn_fail(ctx, HN_DATA, "%s: the label of item %lld is %d; -1 means unlabelled",
                           path, (long long)i, (int)spec->labels[i]);
    if ((spec->graph && spec->graph->n != spec->n) ||
        (spec->features && spec->features->n != spec->n))
        return hn_fail(ctx, HN_INTERNAL, "%s: a graph or features of other items", path);
    return HN_OK;
}

static void write_series(struct hn_snapshot_writer *w, const struct hn_snapshot_spec *spec) {
    static const char *const path[HN_SNAPSHOT_SERIES] = {"/embeddings", "/view1", "/view2"};
    const bool wanted[] = {true, spec->view1, spec->view2};
    for (int which = 0; which < HN_SNAPSHOT_SERIES; which++) {
        w->series[which] = (struct hn_row_series){path[which], H5I_INVALID_HID, spec->n,
                                                  spec->d,     spec->type,      spec->zero_rows};
        if (wanted[which])
            hn_writer_series(w, &w->series[which]);
    }
}

// /sample and /dim count from 0 unless the items have numbers of their own.
static void write_scales(struct hn_snapshot_writer *w, const struct hn_snapshot_spec *spec) {
    int64_t max = hn_max(spec->n, spec->d);
    if (w->code)
        return;
    HN_SCOPE(w->ctx);
    int64_t *count = hn_alloc(w->ctx, max, sizeof *count);
    if (!count) {
        w->code = w->ctx->code;
        return;
    }
    for (int64_t i = 0; i < max; i++)
        count[i] = i;
    const struct hn_h5_array sample = hn_writer_array(w, "/sample", H5T_STD_I64LE, H5T_NATIVE_INT64,
                                                      spec->n, spec->sample ? spec->sample : count);
    struct hn_h5_array dim =
        hn_writer_array(w, "/dim", H5T_STD_I32LE, H5T_NATIVE_INT64, spec->d, count);
    dim.chunk[0] = 0;
    hid_t scale[] = {hn_h5_write_scale(w->file, &sample, "sample"),
                     hn_h5_write_scale(w->file, &dim, "dim")};
    bool good = scale[0] >= 0 && scale[1] >= 0;
    for (int which = 0; which < HN_SNAPSHOT_SERIES; which++)
        for (unsigned axis = 0; axis < 2 && good && w->series[which].id >= 0; axis++)
            good = H5DSattach_scale(w->series[which].id, scale[axis], axis + 1) >= 0;
    good &= hn_h5_close_all(scale, 2);
    hn_writer_check(w, good);
    if (!w->code)
        (void)hn_writer_attribute(w, hn_h5_set_text(w->ctx, w->step, "units", "optimizer_step"));
}

// Attaches the scale of samples, and names of labels, to a column.
static void describe(struct hn_snapshot_writer *w, const char *path, bool of_samples,
                     const struct hn_snapshot_spec *names) {
    if (w->code)
        return;
    hid_t data = H5Dopen2(w->file, path, H5P_DEFAULT),
          sample = H5Dopen2(w->file, "/sample", H5P_DEFAULT);
    bool good = data >= 0 && sample >= 0 && (!of_samples || H5DSattach_scale(data, sample, 0) >= 0);
    if (good && names && names->label_name && names->n_label_names > 0)
        good = hn_h5_write_texts(data, "label_names", names->label_name, names->n_label_names);
    good &= hn_h5_close(sample, data);
    hn_writer_check(w, good);
}

// Several labels an item: those of its set.
static void write_label_sets(struct hn_snapshot_writer *w, const struct hn_snapshot_spec *spec) {
    const struct hn_label_sets *sets = spec->label_sets;
    int64_t n = spec->n;
    HN_SCOPE(w->ctx);
    int64_t *start = hn_zalloc(w->ctx, n + 1, sizeof *start);
    for (int64_t i = 0; start && i < n; i++) {
        int32_t s = spec->labels[i];
        start[i + 1] = start[i] + (s < 0 ? 0 : sets->start[s + 1] - sets->start[s]);
    }
    int32_t *label = start ? hn_alloc(w->ctx, start[n], sizeof *label) : NULL;
    if (!label) {
        w->code = w->ctx->code;
        return;
    }
    for (int64_t i = 0; i < n; i++)
        if (start[i + 1] > start[i])
            memcpy(label + start[i], sets->label + sets->start[spec->labels[i]],
                   (size_t)(start[i + 1] - start[i]) * sizeof *label);
    hn_writer_sparse(w, "/labels_csr", n, start, label, NULL);
    describe(w, "/labels_csr/indices", false, spec);
}

static void write_labels(struct hn_snapshot_writer *w, const struct hn_snapshot_spec *spec) {
    if (w->code)
        return;
    if (spec->label_sets) {
        write_label_sets(w, spec);
    } else {
        hn_writer_column(w, "/labels", H5T_STD_I32LE, H5T_NATIVE_INT32, spec->n, spec->labels);
        describe(w, "/labels", true, spec);
    }
    if (!spec->split)
        return;
    hn_writer_column(w, "/split", H5T_STD_I8LE, H5T_NATIVE_INT8, spec->n, spec->split);
    describe(w, "/split", true, NULL);
}

// Features are stored as they are, of any length.
static void write_features(struct hn_snapshot_writer *w, const struct hn_features *f) {
    const struct hn_sparse_values values = {"data", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, f->value};
    if (f->dense.data)
        hn_writer_matrix(w, "/features", HN_FLOAT32, HN_ZERO_ROWS_KEPT, &f->dense);
    else
        hn_writer_sparse(w, "/features_csr", f->n, f->start, f->index, &values);
}

enum hn_code hn_snapshot_write_begin(struct hn_context *ctx, const char *path,
                                     const struct hn_snapshot_spec *spec,
                                     struct hn_snapshot_writer **out) {
    *out = NULL;
    if (check_spec(ctx, path, spec) || hn_writer_open(ctx, path, spec, HN_SNAPSHOT_VERSION, out))
        return ctx->code;
    struct hn_snapshot_writer *w = *out;
    const struct hn_graph *g = spec->graph;
    write_series(w, spec);
    write_scales(w, spec);
    write_labels(w, spec);
    if (g)
        hn_writer_sparse(w, "/graph", g->n, g->start, g->target, NULL);
    if (spec->features)
        write_features(w, spec->features);
    return hn_writer_begun(out);
}

static enum hn_code check_absent(struct hn_context *ctx, const struct hn_snapshot_writer *w,
                                 const char *path) {
    return H5Lexists(w->file, path, H5P_DEFAULT) > 0
               ? hn_fail(ctx, HN_USAGE, "%s: has a %s already; give another -o", w->path, path)
               : HN_OK;
}

enum hn_code hn_snapshot_write_teacher(struct hn_context *ctx, struct hn_snapshot_writer *w,
                                       const struct hn_matrix *teacher) {
    if (check_absent(ctx, w, "/teacher"))
        return ctx->code;
    hn_writer_matrix(w, "/teacher", HN_FLOAT32, w->series[0].zero_rows, teacher);
    return w->code;
}

enum hn_code hn_snapshot_write_groups(struct hn_context *ctx, struct hn_snapshot_writer *w,
                                      const int32_t *group) {
    if (check_absent(ctx, w, "/group"))
        return ctx->code;
    hn_writer_column(w, "/group", H5T_STD_I32LE, H5T_NATIVE_INT32, w->series[0].n, group);
    return w->code;
}
