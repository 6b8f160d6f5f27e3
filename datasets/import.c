#include "datasets/import.h"
#include "datasets/linqs.h"
#include "datasets/npy.h"
#include "datasets/snapshot.h"
#include "datasets/text.h"
#include "datasets/vecs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const int64_t dense_max = (int64_t)1 << 30;
enum { NAMES_BYTES_MAX = 1 << 24, SIGNATURE = 8 };

// What was read: x[n x d], view1 and view2 or NULL, labels[n] or NULL, names of labels.
struct input {
    int64_t n, d;
    float *x, *view1, *view2;
    int32_t *labels;
    char *names_text; // lines, ended by 0 each
    const char **name;
    int64_t n_names;
    struct hn_linqs linqs; // n = 0: none
};

// Rows of floats. All that is read belongs to the import.
static enum hn_code read_rows(struct hn_context *ctx, const char *path, float **x, int64_t *n,
                              int64_t *d) {
    struct hn_npy a;
    if (hn_vecs_named(path))
        return hn_vecs_read(ctx, path, x, n, d);
    if (hn_npy_read(ctx, path, &a))
        return ctx->code;
    if (!a.real)
        return hn_fail(ctx, HN_DATA, "%s: holds integers; embeddings are floats", path);
    if (a.rank != 2)
        return hn_fail(ctx, HN_DATA, "%s: has %d dimensions; embeddings have two, [items, dims]",
                       path, a.rank);
    *x = a.real;
    *n = a.shape[0];
    *d = a.shape[1];
    return HN_OK;
}

static bool is_hdf5(const char *path) {
    char word[SIGNATURE] = "";
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return false;
    FILE *file = fopen(path, "rb");
    size_t n = file ? fread(word, 1, SIGNATURE, file) : 0;
    if (file)
        (void)fclose(file);
    return n == SIGNATURE && memcmp(word, "\x89HDF\r\n\x1a\n", SIGNATURE) == 0;
}

// Rows, and labels if it has any, of a file in the layout of ann-benchmarks.
static enum hn_code read_bare(struct hn_context *ctx, const char *path, struct input *in) {
    struct hn_snapshot *s;
    enum hn_code code = hn_snapshot_open(ctx, path, &s);
    if (code != HN_OK)
        return code;
    const struct hn_snapshot_info *info = hn_snapshot_info(s);
    in->n = info->n;
    in->d = info->d;
    if (strcmp(info->layout, "ann-benchmarks") != 0)
        code = hn_fail(ctx, HN_DATA, "%s: is a snapshot already; use it as it is", path);
    else if (!(in->x = hn_alloc(ctx, in->n * in->d, sizeof *in->x)) ||
             !(in->labels = hn_alloc(ctx, in->n, sizeof *in->labels)))
        code = ctx->code;
    else
        code = hn_snapshot_read_raw(ctx, s, 0, 0, in->x);
    if (code == HN_OK)
        memcpy(in->labels, hn_snapshot_labels(s), (size_t)in->n * sizeof *in->labels);
    hn_snapshot_close(ctx, s);
    return code;
}

static enum hn_code read_view(struct hn_context *ctx, const char *path, const struct hn_import *o,
                              const struct input *in, float **view) {
    int64_t n, d;
    if (!path)
        return HN_OK;
    enum hn_code code = read_rows(ctx, path, view, &n, &d);
    if (code == HN_OK && (n != in->n || d != in->d))
        code = hn_fail(ctx, HN_DATA, "%s is [%lld, %lld] but %s is [%lld, %lld]; they must agree",
                       path, (long long)n, (long long)d, o->embeddings, (long long)in->n,
                       (long long)in->d);
    return code;
}

static enum hn_code take_labels(struct hn_context *ctx, const struct hn_import *o,
                                const struct hn_npy *a, struct input *in) {
    if (!a->integer || a->rank != 1)
        return hn_fail(ctx, HN_DATA,
                       "%s: labels are a list of integers, this is %s of %d dimension%s", o->labels,
                       a->integer ? "an array of integers" : "an array of floats", a->rank,
                       a->rank == 1 ? "" : "s");
    if (a->shape[0] != in->n)
        return hn_fail(ctx, HN_DATA, "%s has %lld labels but %s has %lld rows; they must agree",
                       o->labels, (long long)a->shape[0], o->embeddings, (long long)in->n);
    if (!in->labels && !(in->labels = hn_alloc(ctx, in->n, sizeof *in->labels)))
        return ctx->code;
    for (int64_t i = 0; i < in->n; i++) {
        if (a->integer[i] < -1 || a->integer[i] > INT32_MAX)
            return hn_fail(
                ctx, HN_DATA,
                "%s: label %lld of row %lld is out of range; labels are -1 (unlabelled) to "
                "2^31 - 1",
                o->labels, (long long)a->integer[i], (long long)i);
        in->labels[i] = (int32_t)a->integer[i];
    }
    return HN_OK;
}

// A file that has no place for labels makes a snapshot without; one that exists keeps its own.
static enum hn_code take_none(struct hn_context *ctx, const struct hn_import *o, struct input *in) {
    struct stat about;
    if (!hn_vecs_named(o->embeddings) || stat(o->output, &about) == 0)
        return HN_OK;
    in->labels = hn_alloc(ctx, in->n, sizeof *in->labels);
    for (int64_t i = 0; in->labels && i < in->n; i++)
        in->labels[i] = -1;
    if (in->labels)
        hn_note(ctx, "%s: without --labels, all items are unlabelled", o->output);
    return in->labels ? HN_OK : ctx->code;
}

static enum hn_code read_labels(struct hn_context *ctx, const struct hn_import *o,
                                struct input *in) {
    struct hn_npy a;
    if (!o->labels)
        return take_none(ctx, o, in);
    return hn_npy_read(ctx, o->labels, &a) || take_labels(ctx, o, &a, in) ? ctx->code : HN_OK;
}

static enum hn_code read_names(struct hn_context *ctx, const struct hn_import *o,
                               struct input *in) {
    int64_t lines = 1, bytes;
    if (!o->label_names)
        return HN_OK;
    in->names_text =
        hn_input_text(ctx, o->label_names, NAMES_BYTES_MAX, "a text file of at most 16777216 bytes",
                      "check the path", &bytes);
    if (!in->names_text)
        return ctx->code;
    for (const char *c = in->names_text; *c; c++)
        lines += *c == '\n';
    in->name = hn_alloc(ctx, lines, sizeof *in->name);
    if (!in->name)
        return ctx->code;
    char *rest = in->names_text, *line;
    while ((line = strsep(&rest, "\n"))) {
        line[strcspn(line, "\r")] = 0;
        if (rest || line[0]) // the last line may lack its end
            in->name[in->n_names++] = line;
    }
    for (int64_t i = 0; i < in->n; i++)
        if (in->labels && in->labels[i] >= in->n_names)
            return hn_fail(
                ctx, HN_DATA, "%s has %lld names but row %lld has label %d; name every class",
                o->label_names, (long long)in->n_names, (long long)i, (int)in->labels[i]);
    return HN_OK;
}

// The features of a folder of text files, as they are, take the place of embeddings.
static enum hn_code read_linqs(struct hn_context *ctx, const char *folder, struct input *in) {
    struct hn_linqs *l = &in->linqs;
    if (hn_linqs_read(ctx, folder, l))
        return ctx->code;
    if (l->n > dense_max / l->p)
        return hn_fail(ctx, HN_DATA,
                       "%s: %lld nodes of %lld features are more than the %lld values that fit as "
                       "embeddings",
                       folder, (long long)l->n, (long long)l->p, (long long)dense_max);
    in->n = l->n;
    in->d = l->p;
    in->x = hn_zalloc(ctx, l->n * l->p, sizeof *in->x);
    if (!in->x)
        return ctx->code;
    for (int64_t i = 0; i < l->n; i++)
        for (int64_t k = l->start[i]; k < l->start[i + 1]; k++)
            in->x[i * l->p + l->index[k]] = l->value[k];
    in->labels = l->labels;
    l->labels = NULL;
    return HN_OK;
}

static enum hn_code read_input(struct hn_context *ctx, const struct hn_import *o,
                               struct input *in) {
    if (o->linqs)
        return read_linqs(ctx, o->linqs, in) || read_names(ctx, o, in) ? ctx->code : HN_OK;
    if (is_hdf5(o->embeddings) ? read_bare(ctx, o->embeddings, in)
                               : read_rows(ctx, o->embeddings, &in->x, &in->n, &in->d))
        return ctx->code;
    if (read_view(ctx, o->view1, o, in, &in->view1) ||
        read_view(ctx, o->view2, o, in, &in->view2) || read_labels(ctx, o, in) ||
        read_names(ctx, o, in))
        return ctx->code;
    return HN_OK;
}

// Are all rows of unit length, up to the rounding of float16?
static bool is_normalized(const struct input *in) {
    for (int64_t i = 0; i < in->n; i++) {
        const float *row = in->x + i * in->d;
        if (!(fabs(sqrt(hn_dot_exact(row, row, in->d)) - 1) < 1e-3))
            return false;
    }
    return true;
}

static enum hn_code begin_new(struct hn_context *ctx, const struct hn_import *o,
                              const struct input *in, const char *version,
                              struct hn_snapshot_writer **w) {
    if (!in->labels)
        return hn_fail(
            ctx, HN_USAGE,
            "--labels is missing: a new snapshot needs labels (-1 for unlabelled items)");
    const struct hn_linqs *l = in->linqs.n ? &in->linqs : NULL;
    const char *from = l ? o->linqs : o->embeddings;
    const char *encoder = l && !o->encoder ? "none: raw features" : o->encoder;
    const struct hn_snapshot_spec spec = {.title = l && !o->title ? l->name : o->title,
                                          .source = o->source ? o->source : from,
                                          .license = o->license,
                                          .encoder = encoder,
                                          .tool_version = version,
                                          .n = in->n,
                                          .d = in->d,
                                          .labels = in->labels,
                                          .label_name = in->name,
                                          .n_label_names = in->n_names,
                                          .split = l ? l->split : NULL,
                                          .graph = l ? &l->graph : NULL,
                                          .features = l ? &l->features : NULL,
                                          .view1 = in->view1 != NULL,
                                          .view2 = in->view2 != NULL,
                                          .normalized = is_normalized(in),
                                          .type = (enum hn_float_type)o->type,
                                          .compress = (int)o->compress};
    return hn_snapshot_write_begin(ctx, o->output, &spec, w);
}

static enum hn_code check_fit(struct hn_context *ctx, const struct hn_import *o,
                              const struct input *in, const struct hn_snapshot *s) {
    const struct hn_snapshot_info *info = hn_snapshot_info(s);
    const int32_t *labels = hn_snapshot_labels(s);
    long long last = info->step[info->steps - 1];
    if (strcmp(info->layout, "hardneg-snapshot") != 0)
        return hn_fail(ctx, HN_USAGE, "%s: is in the layout %s and gets no steps; give another -o",
                       o->output, info->layout);
    if (in->n != info->n || in->d != info->d)
        return hn_fail(ctx, HN_DATA,
                       "%s is [%lld, %lld] but %s has %lld items of %lld dims; they must "
                       "agree",
                       o->embeddings, (long long)in->n, (long long)in->d, o->output,
                       (long long)info->n, (long long)info->d);
    for (int64_t i = 0; in->labels && o->labels && i < in->n; i++)
        if (in->labels[i] != labels[i])
            return hn_fail(ctx, HN_DATA,
                           "%s: label %d of row %lld differs from %d in %s; the items must "
                           "be the same, in the same order",
                           o->labels, (int)in->labels[i], (long long)i, (int)labels[i], o->output);
    if (o->step == INT64_MIN)
        return hn_fail(ctx, HN_USAGE,
                       "%s: exists, up to step %lld; give --step of the new rows, or "
                       "another -o",
                       o->output, last);
    if (o->step <= last)
        return hn_fail(ctx, HN_USAGE, "--step %lld does not come after step %lld, the last of %s",
                       (long long)o->step, last, o->output);
    if (o->title || o->source || o->license || o->encoder || o->label_names)
        hn_note(ctx, "%s: exists; its title, source, license, encoder and label names stay",
                o->output);
    return HN_OK;
}

static enum hn_code begin_append(struct hn_context *ctx, const struct hn_import *o,
                                 const struct input *in, const char *version,
                                 struct hn_snapshot_writer **w) {
    struct hn_snapshot *s;
    if (hn_snapshot_open(ctx, o->output, &s))
        return ctx->code;
    bool good =
        !check_fit(ctx, o, in, s) && !hn_snapshot_write_begin_from(ctx, o->output, s, version, w);
    hn_snapshot_close(ctx, s);
    return good ? HN_OK : ctx->code;
}

static enum hn_code write_output(struct hn_context *ctx, const struct hn_import *o,
                                 const struct input *in, const char *version) {
    struct stat about;
    struct hn_snapshot_writer *w = NULL;
    bool there = stat(o->output, &about) == 0;
    enum hn_code code =
        there ? begin_append(ctx, o, in, version, &w) : begin_new(ctx, o, in, version, &w);
    if (code != HN_OK)
        return code;
    code = hn_snapshot_write_step(ctx, w, o->step == INT64_MIN ? 0 : o->step, in->x, in->view1,
                                  in->view2);
    if (code == HN_OK)
        return hn_snapshot_write_end(ctx, w);
    hn_snapshot_write_abort(ctx, w);
    return code == HN_DATA ? hn_fail_in(ctx, "%s", o->linqs ? o->linqs : o->embeddings) : code;
}

enum hn_code hn_import(struct hn_context *ctx, const struct hn_import *o, const char *tool_version,
                       int64_t *n, int64_t *d) {
    struct input in = {0};
    void *all = hn_alloc(ctx, 0, 1); // owns what is read
    if (!all)
        return ctx->code;
    void *outer = hn_own(ctx, all);
    bool good = !read_input(ctx, o, &in) && !write_output(ctx, o, &in, tool_version);
    *n = in.n;
    *d = in.d;
    hn_own(ctx, outer);
    hn_free(ctx, all);
    return good ? HN_OK : ctx->code;
}
