// SPDX-License-Identifier: GPL-3.0-or-later
// Imports arrays of other programs: a snapshot, or one more step of it.
#include "datasets/import/import.h"
#include "core/files.h"
#include "core/label_sets.h"
#include "core/text.h"
#include "datasets/import/array.h"
#include "datasets/import/import_private.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

static const int64_t dense_max = (int64_t)1 << 30;

struct hn_wanted hn_import_wanted(const struct hn_import *o) {
    return (struct hn_wanted){.name = o->tensor,
                              .raw = o->raw,
                              .dim = o->dim,
                              .rows = o->rows,
                              .transpose = o->transpose,
                              .header = (enum hn_header)o->header,
                              .skip = o->skip};
}

enum hn_format_choice hn_import_format(const struct hn_import *o) {
    bool bare = o->raw && o->format == HN_FORMAT_auto;
    return bare ? HN_FORMAT_raw : (enum hn_format_choice)o->format;
}

void hn_import_note_wide(struct hn_context *ctx, const char *path, int64_t n, int64_t d) {
    if (n < d && n > 1)
        hn_note(ctx,
                "%s: %s of %s: if items are its columns, as MATLAB, R and Julia write them, give "
                "--transpose",
                path, hn_counted(n, "row").text, hn_counted(d, "value").text);
}

enum hn_code hn_import_fail_width(struct hn_context *ctx, const char *path, int64_t own,
                                  const char *first, int64_t d) {
    return hn_fail(ctx, HN_DATA,
                   "%s has rows of %lld values but %s has rows of %lld; they must agree", path,
                   (long long)own, first, (long long)d);
}

// Checks rows of one file.
static enum hn_code check_file(struct hn_context *ctx, const char *path, enum hn_undirected what,
                               const struct hn_array *a) {
    const struct hn_matrix rows = {a->real, a->shape[0], a->shape[1], a->shape[1]};
    struct hn_zero_count zero = {0};
    if (hn_import_check_rows(ctx, path, what, &rows, 0, &zero))
        return ctx->code;
    hn_note_zero_rows(ctx, path, zero.n, zero.first);
    return HN_OK;
}

// Space for all rows is made as they come.
enum hn_code hn_import_series(struct hn_context *ctx, const struct hn_import *o,
                              const struct hn_text_list *list, struct hn_matrix *out,
                              struct hn_import_parts *parts, bool *named) {
    const enum hn_undirected zero = (enum hn_undirected)o->zero_rows;
    struct hn_wanted want = hn_import_wanted(o);
    struct hn_text_list part;
    want.snapshots = list == &o->teacher;
    if (hn_import_files(ctx, list, &part))
        return ctx->code;
    if (o->rows > 0 && part.count > 1)
        return hn_fail(ctx, HN_USAGE, "--rows takes the first rows of one file, not of %lld parts",
                       (long long)part.count);
    float *rows = NULL;
    int64_t n = 0, d = 0, capacity = 0, *end = NULL;
    if (parts && !HN_ALLOC(ctx, end, part.count))
        return ctx->code;
    for (int64_t k = 0; k < part.count; k++) {
        struct hn_array a;
        if (hn_format_read(ctx, part.item[k], hn_import_format(o), &want, &a) ||
            (!parts && check_file(ctx, part.item[k], zero, &a)))
            return ctx->code;
        *named |= a.named;
        if (end)
            end[k] = n + a.shape[0];
        if (k == 0) {
            rows = a.real;
            d = a.shape[1];
            n = a.shape[0];
            capacity = n * d;
            continue;
        }
        if (a.shape[1] != d)
            return hn_import_fail_width(ctx, part.item[k], a.shape[1], part.item[0], d);
        if (hn_grow(ctx, &rows, &capacity, (n + a.shape[0]) * d, sizeof *rows))
            return ctx->code;
        memcpy(rows + n * d, a.real, (size_t)(a.shape[0] * d) * sizeof *rows);
        hn_free(ctx, a.real);
        n += a.shape[0];
    }
    *out = (struct hn_matrix){rows, n, d, d};
    if (!o->transpose && part.count > 0 && (list == &o->embeddings || list == &o->side[HN_CORPUS]))
        hn_import_note_wide(ctx, part.item[0], n, d);
    if (parts)
        *parts = (struct hn_import_parts){part.item, end, part.count};
    return HN_OK;
}

static enum hn_code read_view(struct hn_context *ctx, const struct hn_import *o,
                              const struct hn_text_list *part, struct hn_import_input *in,
                              int which) {
    struct hn_matrix m = {0};
    if (part->count == 0)
        return HN_OK;
    if (hn_import_series(ctx, o, part, &m, &in->parts[which], &in->rows_named))
        return ctx->code;
    in->rows[which] = (float *)m.data; // its own
    if (m.rows == in->n && m.cols == in->d)
        return HN_OK;
    return hn_fail(ctx, HN_DATA, "%s is [%lld, %lld] but %s is [%lld, %lld]; they must agree",
                   part->item[0], (long long)m.rows, (long long)m.cols, in->from, (long long)in->n,
                   (long long)in->d);
}

// Rows of another encoder, of any number of dimensions. Those of items that may be left out are
// checked when the others are written.
static enum hn_code read_teacher(struct hn_context *ctx, const struct hn_import *o,
                                 struct hn_import_input *in) {
    if (o->teacher.count == 0)
        return HN_OK;
    bool skip = o->zero_rows == HN_UNDIRECTED_SKIP;
    struct hn_import_parts parts;
    if (hn_import_series(ctx, o, &o->teacher, &in->teacher, skip ? &parts : NULL, &in->rows_named))
        return ctx->code;
    int64_t n = in->teacher.rows;
    if (in->n > 0 && n != in->n)
        return hn_fail(ctx, HN_DATA, "%s has %lld rows but %s has %lld; they must agree",
                       o->teacher.item[0], (long long)n, in->from, (long long)in->n);
    in->n = n;
    return HN_OK;
}

// The features of a folder of text files, as they are, take the place of embeddings.
static enum hn_code read_linqs(struct hn_context *ctx, const char *folder,
                               struct hn_import_input *in) {
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
    if (!HN_ZALLOC(ctx, in->rows[0], l->n * l->p))
        return ctx->code;
    for (int64_t i = 0; i < l->n; i++)
        for (int64_t k = l->start[i]; k < l->start[i + 1]; k++)
            in->rows[0][i * l->p + l->index[k]] = l->value[k];
    in->labels = l->labels;
    l->labels = NULL;
    return HN_OK;
}

static enum hn_code read_rows(struct hn_context *ctx, const struct hn_import *o,
                              struct hn_import_input *in) {
    int64_t more = o->embeddings.count - 1;
    in->from = o->linqs ? o->linqs
               : more == 0
                   ? o->embeddings.item[0]
                   : hn_format(ctx, "%s and %lld more", o->embeddings.item[0], (long long)more);
    if (!in->from)
        return ctx->code;
    if (o->linqs)
        return read_linqs(ctx, o->linqs, in) || hn_import_labels(ctx, o, in) ? ctx->code : HN_OK;
    struct hn_matrix m = {0};
    if (hn_import_series(ctx, o, &o->embeddings, &m, &in->parts[0], &in->rows_named))
        return ctx->code;
    in->rows[0] = (float *)m.data; // its own
    in->n = m.rows;
    in->d = m.cols;
    return read_view(ctx, o, &o->view1, in, 1) || read_view(ctx, o, &o->view2, in, 2) ||
                   hn_import_labels(ctx, o, in)
               ? ctx->code
               : HN_OK;
}

// A name that nothing goes by is a mistake: the array that was read may be another one.
static enum hn_code check_named(struct hn_context *ctx, const struct hn_import *o,
                                const struct hn_import_input *in) {
    if (o->tensor && !in->rows_named)
        return hn_fail(ctx, HN_USAGE,
                       "--tensor %s: %s does not hold several arrays by name: leave it out",
                       hn_quote(o->tensor).text, in->from);
    if (o->label_tensor && o->labels.count == 0)
        return hn_fail(ctx, HN_USAGE,
                       "--label-tensor %s names an array in the file of --labels, which is missing",
                       hn_quote(o->label_tensor).text);
    if (o->label_tensor && !in->labels_named)
        return hn_fail(ctx, HN_USAGE,
                       "--label-tensor %s: %s does not hold several arrays by name: leave it out",
                       hn_quote(o->label_tensor).text, o->labels.item[0]);
    return HN_OK;
}

static enum hn_code read_input(struct hn_context *ctx, const struct hn_import *o,
                               struct hn_import_input *in) {
    bool rows = o->embeddings.count > 0 || o->linqs;
    if (!rows)
        in->from = o->teacher.count > 0 ? o->teacher.item[0] : o->group.item[0];
    if ((rows && read_rows(ctx, o, in)) || read_teacher(ctx, o, in) || hn_import_groups(ctx, o, in))
        return ctx->code;
    return HN_OK;
}

enum hn_code hn_import_extras(struct hn_context *ctx, const char *teacher, const char *group,
                              const char *from, int64_t n, struct hn_import_extras *out) {
    char *item[] = {(char *)teacher, (char *)group}; // only read
    const struct hn_import o = {.teacher = {&item[0], teacher != NULL},
                                .group = {&item[1], group != NULL},
                                .rows = INT64_MIN,
                                .skip = INT64_MIN};
    struct hn_import_input in = {.from = from, .n = n};
    *out = (struct hn_import_extras){.group = NULL};
    if (read_teacher(ctx, &o, &in) || hn_import_groups(ctx, &o, &in))
        return ctx->code;
    if (teacher && hn_normalize_rows(ctx, (float *)in.teacher.data, n, in.teacher.cols, teacher))
        return ctx->code;
    *out = (struct hn_import_extras){in.teacher, in.group};
    return HN_OK;
}

bool hn_import_is_unit(const float *rows, int64_t n, int64_t d) {
    for (int64_t i = 0; i < n; i++)
        if (!(fabs(sqrt(hn_dot_exact(rows + i * d, rows + i * d, d)) - 1) < 1e-3))
            return false;
    return true;
}

static enum hn_code take_none(struct hn_context *ctx, const struct hn_import *o,
                              struct hn_import_input *in) {
    if (!HN_ALLOC(ctx, in->labels, in->n))
        return ctx->code;
    for (int64_t i = 0; i < in->n; i++)
        in->labels[i] = -1;
    hn_note(ctx, "%s: without --labels, all items are unlabelled", o->output);
    return HN_OK;
}

static enum hn_code begin_new(struct hn_context *ctx, const struct hn_import *o,
                              struct hn_import_input *in, const char *version,
                              struct hn_snapshot_writer **w) {
    if (hn_import_direct(ctx, in, (enum hn_undirected)o->zero_rows) ||
        (!in->labels && take_none(ctx, o, in)))
        return ctx->code;
    const struct hn_linqs *l = in->linqs.n ? &in->linqs : NULL;
    const char *encoder = l && !o->encoder ? "none: raw features" : o->encoder;
    const struct hn_snapshot_spec spec = {
        .about = {l && !o->title ? l->name : o->title, o->source ? o->source : in->from, o->license,
                  encoder},
        .tool_version = version,
        .n = in->n,
        .d = in->d,
        .sample = in->sample,
        .labels = in->labels,
        .label_sets = in->several_labels ? &in->label_sets : NULL,
        .label_name = in->name,
        .n_label_names = in->n_names,
        .split = l ? l->split : NULL,
        .graph = l ? &l->graph : NULL,
        .features = l ? &l->features : NULL,
        .view1 = in->rows[1] != NULL,
        .view2 = in->rows[2] != NULL,
        .normalized = hn_import_is_unit(in->rows[0], in->n, in->d),
        .zero_rows = in->zero_rows ? HN_ZERO_ROWS_KEPT : HN_ZERO_ROWS_REFUSED,
        .type = (enum hn_float_type)o->type,
        .compress = (int)o->compress};
    return hn_snapshot_write_begin(ctx, o->output, &spec, w);
}

// Texts are compared as such, for their numbers may differ.
static bool are_texts(const struct hn_import_input *in, const struct hn_snapshot_info *info,
                      int32_t label, int32_t there) {
    return in->label_texts && label >= 0 && there >= 0 && there < info->n_label_names;
}

static bool same_label(const struct hn_import_input *in, const struct hn_snapshot_info *info,
                       int32_t label, int32_t there) {
    if (are_texts(in, info, label, there))
        return strcmp(in->name[label], info->label_name[there]) == 0;
    return label == there;
}

// Labels of an item: *count of them, one or those of its set.
static const int32_t *labels_of(const struct hn_label_sets *sets, const int32_t *label,
                                int64_t *count) {
    *count = 1;
    if (!sets || *label < 0)
        return label;
    *count = sets->start[*label + 1] - sets->start[*label];
    return sets->label + sets->start[*label];
}

// True if row i has the labels that the file has.
static bool same_labels(const struct hn_import_input *in, const struct hn_snapshot_info *info,
                        int64_t i) {
    int64_t count, there;
    const int32_t *own =
        labels_of(in->several_labels ? &in->label_sets : NULL, &in->labels[i], &count);
    const int32_t *other = labels_of(info->label_sets, &info->labels[i], &there);
    bool same = count == there;
    for (int64_t k = 0; same && k < count; k++)
        same = same_label(in, info, own[k], other[k]);
    return same;
}

// The rows that the file holds, where it was made without those that had no direction.
static enum hn_code keep_same(struct hn_context *ctx, const struct hn_import *o,
                              struct hn_snapshot *s, struct hn_import_input *in) {
    int64_t n = hn_snapshot_info(s)->n;
    if (o->zero_rows != HN_UNDIRECTED_SKIP || in->n <= n)
        return HN_OK;
    int64_t *sample = hn_alloc(ctx, n, sizeof *sample);
    if (!sample || hn_snapshot_sample(ctx, s, sample))
        return ctx->code;
    for (int64_t k = 0; k < n; k++)
        if (sample[k] >= in->n || (k > 0 && sample[k] <= sample[k - 1]))
            return hn_fail(ctx, HN_DATA,
                           "%s: its item %lld has number %lld in /sample, which is not a row of %s "
                           "behind that of the item before",
                           o->output, (long long)k, (long long)sample[k], in->from);
    return hn_import_keep(ctx, in, sample, n);
}

static enum hn_code fail_label(struct hn_context *ctx, const struct hn_import *o,
                               const struct hn_import_input *in,
                               const struct hn_snapshot_info *info, int64_t row, int32_t there) {
    int32_t label = in->labels[row];
    long long number = hn_import_row(in, row);
    const char *from = o->labels.item[0]; // of a folder of --linqs no step is made
    if (in->several_labels || info->label_sets)
        return hn_fail(ctx, HN_DATA,
                       "%s: the labels of row %lld differ from those in %s; the items must be the "
                       "same, in the same order",
                       from, number, o->output);
    if (are_texts(in, info, label, there))
        return hn_fail(ctx, HN_DATA,
                       "%s: label '%s' of row %lld differs from '%s' in %s; the items must be "
                       "the same, in the same order",
                       from, hn_quote(in->name[label]).text, number,
                       hn_quote(info->label_name[there]).text, o->output);
    return hn_fail(ctx, HN_DATA,
                   "%s: label %d of row %lld differs from %d in %s; the items must be the same, in "
                   "the same order",
                   from, (int)label, number, (int)there, o->output);
}

// For rows of which a file was made without some.
static const char *remedy_of_left_out(const struct hn_import_input *in,
                                      const struct hn_snapshot_info *info) {
    return in->n > info->n ? "; if rows were left out of it, give --zero-rows skip again" : "";
}

static enum hn_code check_fit(struct hn_context *ctx, const struct hn_import *o,
                              const struct hn_import_input *in, const struct hn_snapshot *s) {
    const struct hn_snapshot_info *info = hn_snapshot_info(s);
    long long last = info->step[info->steps - 1];
    if (strcmp(info->layout, "hardneg-snapshot") != 0)
        return hn_fail(ctx, HN_USAGE, "%s: is in the layout %s and gets no steps; give another -o",
                       o->output, info->layout);
    if (in->n != info->n || in->d != info->d)
        return hn_fail(ctx, HN_DATA,
                       "%s is [%lld, %lld] but %s has %lld items of %lld dims; they must "
                       "agree%s",
                       in->from, (long long)in->n, (long long)in->d, o->output, (long long)info->n,
                       (long long)info->d, remedy_of_left_out(in, info));
    for (int64_t i = 0; in->labels && i < in->n; i++)
        if (!same_labels(in, info, i))
            return fail_label(ctx, o, in, info, i, info->labels[i]);
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
                                 struct hn_import_input *in, const char *version,
                                 struct hn_snapshot_writer **w) {
    struct hn_snapshot *s;
    if (hn_snapshot_open(ctx, o->output, &s))
        return ctx->code;
    in->zero_rows = in->zero_rows || hn_snapshot_info(s)->zero_rows == HN_ZERO_ROWS_KEPT;
    bool good = !hn_snapshot_check_digest(ctx, s) && !keep_same(ctx, o, s, in) &&
                !check_fit(ctx, o, in, s) &&
                !hn_import_check_kept(ctx, in, o->zero_rows == HN_UNDIRECTED_KEEP) &&
                !hn_snapshot_write_begin_from(ctx, o->output, s, version, w);
    hn_snapshot_close(ctx, s);
    return good ? HN_OK : ctx->code;
}

#define COUNTED_WITHOUT " (rows counted without those left out)"

static enum hn_code write_extras(struct hn_context *ctx, const struct hn_import *o,
                                 const struct hn_import_input *in, struct hn_snapshot_writer *w) {
    if (in->teacher.data && hn_snapshot_write_teacher(ctx, w, &in->teacher))
        return ctx->code == HN_DATA
                   ? hn_fail_in(ctx, "%s%s", o->teacher.item[0], in->sample ? COUNTED_WITHOUT : "")
                   : ctx->code;
    return in->group ? hn_snapshot_write_groups(ctx, w, in->group) : HN_OK;
}

// A file that is there, with a teacher or groups besides.
static enum hn_code add_extras(struct hn_context *ctx, const struct hn_import *o,
                               struct hn_import_input *in, const char *version) {
    struct hn_snapshot *s;
    struct hn_snapshot_writer *w = NULL;
    if (hn_snapshot_open(ctx, o->output, &s))
        return ctx->code;
    const struct hn_snapshot_info *info = hn_snapshot_info(s);
    enum hn_code code = keep_same(ctx, o, s, in);
    if (!code && strcmp(info->layout, "hardneg-snapshot") != 0)
        code = hn_fail(ctx, HN_USAGE, "%s: is in the layout %s; import it first", o->output,
                       info->layout);
    else if (!code && info->n != in->n)
        code = hn_fail(ctx, HN_DATA, "%s has %lld rows but %s has %lld items; they must agree%s",
                       in->from, (long long)in->n, o->output, (long long)info->n,
                       remedy_of_left_out(in, info));
    else if (!code && o->zero_rows == HN_UNDIRECTED_KEEP && info->zero_rows != HN_ZERO_ROWS_KEPT)
        code = hn_fail(ctx, HN_USAGE, HN_IMPORT_NOT_KEPT, o->output);
    in->d = info->d;
    code = code ? code : hn_snapshot_check_digest(ctx, s);
    if (!code && (hn_snapshot_write_begin_from(ctx, o->output, s, version, &w) ||
                  write_extras(ctx, o, in, w)))
        code = ctx->code;
    hn_snapshot_close(ctx, s);
    return w ? hn_snapshot_write_end(ctx, w, code) : code;
}

static enum hn_code write_it(struct hn_context *ctx, const struct hn_import *o,
                             struct hn_import_input *in, const char *version) {
    struct stat about;
    struct hn_snapshot_writer *w = NULL;
    bool there = stat(o->output, &about) == 0;
    if (!in->rows[0])
        return add_extras(ctx, o, in, version);
    enum hn_code code =
        there ? begin_append(ctx, o, in, version, &w) : begin_new(ctx, o, in, version, &w);
    if (code != HN_OK)
        return code;
    code = hn_snapshot_write_step(ctx, w, o->step == INT64_MIN ? 0 : o->step, in->rows[0],
                                  in->rows[1], in->rows[2]);
    if (code == HN_DATA)
        code = hn_fail_in(ctx, "%s%s", in->from, in->sample ? COUNTED_WITHOUT : "");
    else if (code == HN_OK)
        code = write_extras(ctx, o, in, w);
    return hn_snapshot_write_end(ctx, w, code);
}

// The later of two imports into one file at once finds what the earlier one has written.
static enum hn_code write_output(struct hn_context *ctx, const struct hn_import *o,
                                 struct hn_import_input *in, const char *version) {
    int folder;
    enum hn_code code = hn_folder_take(ctx, o->output, &folder);
    if (code == HN_OK)
        code = write_it(ctx, o, in, version);
    hn_folder_free(folder);
    return code;
}

enum hn_code hn_import(struct hn_context *ctx, const struct hn_import *o, const char *tool_version,
                       int64_t *n, int64_t *d) {
    struct hn_import_input in = {0};
    HN_SCOPE(ctx);
    bool good = !read_input(ctx, o, &in) && !check_named(ctx, o, &in) &&
                !write_output(ctx, o, &in, tool_version);
    *n = in.n;
    *d = in.d;
    return good ? HN_OK : ctx->code;
}
