// SPDX-License-Identifier: GPL-3.0-or-later
// HDF5: data sets by name, and the layout of ann-benchmarks, of which `train` is read. Of a
// snapshot, where it may be one, the last step's embeddings, or its groups.
#include "core/files.h"
#include "core/text.h"
#include "datasets/h5.h"
#include "datasets/h5_data.h"
#include "datasets/import/array.h"
#include "datasets/import/columns.h"
#include "datasets/import/format.h"
#include "datasets/import/source.h"
#include "datasets/snapshot.h"

#include <string.h>
#include <sys/stat.h>

enum {
    SETS_MAX = 1 << 12,
    LOOKED_MAX = 1 << 15, // groups may hold one another, in circles
    NAME_BYTES = 256,
    LEVELS_MAX = 8,
    LINKS_MAX = 16,
    VALUES_AT_ONCE = 1 << 18,
    EXEMPT = 1 << 26
};

static void note_test(struct hn_context *ctx, const char *path) {
    hn_note(ctx, "%s: the rows of its data set test are left out: items are those of train", path);
}

static enum hn_code read_train(struct hn_context *ctx, struct hn_snapshot *s,
                               const struct hn_wanted *want, struct hn_array *out) {
    const struct hn_snapshot_info *info = hn_snapshot_info(s);
    if (!want->snapshots && strcmp(info->layout, "ann-benchmarks") != 0)
        return hn_fail(ctx, HN_DATA, "%s: is a snapshot already; use it as it is", info->path);
    if (info->has_test)
        note_test(ctx, info->path);
    if (info->steps > 1)
        hn_note(ctx, "%s: has %lld steps, of which the last, %lld, is read", info->path,
                (long long)info->steps, (long long)info->step[info->steps - 1]);
    if (want->rows > info->n)
        return hn_fail(ctx, HN_DATA, "%s: has %lld rows, fewer than the %lld of --rows", info->path,
                       (long long)info->n, (long long)want->rows);
    out->rank = 2;
    out->shape[0] = want->rows > 0 ? want->rows : info->n;
    out->shape[1] = info->d;
    return HN_ALLOC(ctx, out->real, info->n * info->d)
               ? hn_snapshot_read_raw(ctx, s, 0, info->steps - 1, out->real)
               : ctx->code;
}

static enum hn_code read_groups(struct hn_context *ctx, const struct hn_snapshot *s,
                                struct hn_array *out) {
    const struct hn_snapshot_info *info = hn_snapshot_info(s);
    if (!info->group)
        return hn_fail(ctx, HN_DATA, "%s: has no groups (data set /group)", info->path);
    out->rank = 1;
    out->shape[0] = info->n;
    if (!HN_ALLOC(ctx, out->integer, info->n))
        return ctx->code;
    for (int64_t i = 0; i < info->n; i++)
        out->integer[i] = info->group[i];
    return HN_OK;
}

static enum hn_code read_snapshot(struct hn_context *ctx, const char *path,
                                  const struct hn_wanted *want, struct hn_array *out) {
    struct hn_snapshot *s;
    if (hn_snapshot_open(ctx, path, &s))
        return ctx->code;
    enum hn_code code = hn_snapshot_check_digest(ctx, s);
    if (!code)
        code = want->labels ? read_groups(ctx, s, out) : read_train(ctx, s, want, out);
    hn_snapshot_close(ctx, s);
    return code;
}

// The truth values of h5py: an enumeration of FALSE and TRUE.
static bool is_truth(const struct hn_h5_data *data) {
    char *name = H5Tget_nmembers(data->type) == 2 ? H5Tget_member_name(data->type, 0) : NULL;
    bool truth = name && data->size == 1 && strcmp(name, "FALSE") == 0;
    (void)H5free_memory(name);
    return truth;
}

// As an array of NumPy would be described.
static struct hn_array_type type_of(const struct hn_h5_data *data) {
    struct hn_array_type type = {.width = data->size};
    switch (data->class) {
    case H5T_FLOAT: type.kind = 'f'; break;
    case H5T_INTEGER: type.kind = H5Tget_sign(data->type) == H5T_SGN_NONE ? 'u' : 'i'; break;
    case H5T_ENUM: type.kind = is_truth(data) ? 'b' : 'S'; break; // names of classes
    case H5T_STRING: type.kind = 'S'; break;
    default: break;
    }
    if (data->rank < 1 || data->size > 8 * (1 + 8191 * (type.kind == 'S')))
        type.kind = '\0';
    return type;
}

// A data set that is open, in the file that was named or in one that links lead to.
struct found {
    struct hn_source at; // path and bytes of its file
    hid_t file;
    bool other; // than the one that was named: closed with this
    struct hn_h5_data data;
};

static void close_found(struct found *f) {
    hn_h5_data_close(&f->data);
    hn_source_close(&f->at);
    if (f->other)
        hn_h5_close(f->file);
}

// Follows a link: *name in f->file, which may be another one now, is its target. `part` of the name
// is it, and `rest` follows.
static enum hn_code go_along(struct hn_context *ctx, struct found *f, const char *part,
                             const char *rest, const char **name) {
    enum { TARGET_MAX = 4096 };
    char target[TARGET_MAX];
    const char *path, *object;
    unsigned flags;
    H5L_info_t link;
    if (H5Lget_info(f->file, part, &link, H5P_DEFAULT) < 0 || link.u.val_size > sizeof target ||
        H5Lget_val(f->file, part, target, sizeof target, H5P_DEFAULT) < 0)
        return hn_fail(ctx, HN_DATA, "%s: the link %s cannot be read", f->at.path, part);
    target[sizeof target - 1] = '\0';
    if (link.type == H5L_TYPE_SOFT) {
        int above = target[0] == '/' ? 0 : (int)(hn_base_name(part) - part);
        *name = hn_format(ctx, "%.*s%s%s", above, part, target + (target[0] == '/'), rest);
        return *name ? HN_OK : ctx->code;
    }
    if (link.type != H5L_TYPE_EXTERNAL ||
        H5Lunpack_elink_val(target, link.u.val_size, &flags, &path, &object) < 0)
        return hn_fail(ctx, HN_DATA, "%s: the link %s is of a kind that is not known", f->at.path,
                       part);
    *name = hn_format(ctx, "%s%s", object + (object[0] == '/'), rest);
    char *beside = hn_path_beside(ctx, f->at.path, path);
    struct hn_source at = {.file = NULL};
    hid_t file;
    if (!*name || !beside || hn_source_open(ctx, beside, &at) || hn_h5_probe(ctx, beside) ||
        hn_h5_open(ctx, beside, &file)) {
        hn_source_close(&at);
        return hn_fail_in(ctx, "%s: the link %s", f->at.path, part);
    }
    hn_source_close(&f->at);
    if (f->other)
        hn_h5_close(f->file);
    f->file = file;
    f->other = true;
    f->at = at;
    return HN_OK;
}

// Opens a data set, wherever links lead. *fault: why it is not open; f is to be closed in any case.
static enum hn_code find_set(struct hn_context *ctx, const struct hn_source *s, hid_t file,
                             const char *name, struct found *f, enum hn_h5_fault *fault) {
    *f = (struct found){.at = {.path = s->path, .left = s->left}, .file = file};
    for (int links = 0; links <= LINKS_MAX; links++) {
        *fault = hn_h5_data_open_mapped(f->file, name, &f->data);
        if (*fault != HN_H5_LINKED)
            return HN_OK;
        char *part = hn_strdup(ctx, name), *end = part;
        while (end && *(end = strchrnul(end + 1, '/'))) {
            *end = '\0';
            if (hn_h5_find(f->file, part) == HN_H5_LINKED)
                break;
            *end = '/';
        }
        if (!end || go_along(ctx, f, part, name + strlen(part), &name))
            return ctx->code;
    }
    return hn_fail(ctx, HN_DATA, "%s: its links go in circles at %s", s->path, name);
}

// The data sets that could be read, by their paths, in the order of these.
struct sets {
    char name[SETS_MAX][NAME_BYTES];
    struct hn_entry entry[SETS_MAX];
    int64_t n, looked; // the latter of all links
    bool more;         // not all are listed: they are too many, too deep, or of too long a name
};

static void add_set(struct sets *sets, const struct hn_h5_data *data) {
    sets->entry[sets->n] = (struct hn_entry){sets->name[sets->n], data->rank, type_of(data).kind,
                                             data->rank == 2 ? (int64_t)data->dim[1] : 0};
    sets->n++;
}

static enum hn_code fail_set(struct hn_context *ctx, const struct hn_source *s, const char *name,
                             enum hn_h5_fault fault) {
    static const char *const why[HN_H5_FAULTS] = {
        [HN_H5_ABSENT] = "is not there",
        [HN_H5_NOT_DATA] = "is a group; name a data set in it",
        [HN_H5_IN_DATA] =
            "is behind a data set, which is no group: columns of tables are not read; "
            "write it with h5py, as a data set of its own",
        [HN_H5_ELSEWHERE] = "keeps its values in files of another format; read it with h5py, and "
                            "write it anew",
        [HN_H5_FILTER] = "is compressed by a filter that is not installed; write it with gzip"};
    return hn_fail(ctx, HN_DATA, "%s: %s %s", s->path, hn_quote(name).text,
                   why[fault]
                       ? why[fault]
                       : "cannot be read; the file is damaged or truncated: make or copy it again");
}

// A set that cannot be looked at may be the one wanted: to take another in its place would be a
// guess.
static bool is_damage(enum hn_h5_fault fault) {
    return fault == HN_H5_UNFOUND || fault == HN_H5_UNREADABLE || fault == HN_H5_NO_TYPE ||
           fault == HN_H5_NO_LAYOUT;
}

// A set whose values cannot be read here may be the one wanted, too. Its shape and class are known.
static bool is_listed(enum hn_h5_fault fault) {
    return fault == HN_H5_GOOD || fault == HN_H5_FILTER || fault == HN_H5_ELSEWHERE;
}

// The number of links in a group, none in a type; -1: it cannot be read.
static int64_t count_links(hid_t file, const char *group) {
    H5G_info_t about = {.nlinks = 0};
    hid_t id = H5Oopen(file, *group ? group : ".", H5P_DEFAULT);
    bool good = H5Iget_type(id) == H5I_DATATYPE || H5Gget_info(id, &about) >= 0;
    hn_h5_close(id);
    return good ? (int64_t)about.nlinks : -1;
}

// The path of link k of a group; false: it is too long.
static bool name_link(hid_t file, const char *group, int64_t k, char name[NAME_BYTES]) {
    char base[NAME_BYTES];
    ssize_t length = H5Lget_name_by_idx(file, *group ? group : ".", H5_INDEX_NAME, H5_ITER_INC,
                                        (hsize_t)k, base, NAME_BYTES, H5P_DEFAULT);
    return length >= 0 && length < NAME_BYTES &&
           snprintf(name, NAME_BYTES, "%s%s%s", group, *group ? "/" : "", base) < NAME_BYTES;
}

static enum hn_code list_sets(struct hn_context *ctx, const struct hn_source *s, hid_t file,
                              const char *group, int levels, bool links, struct sets *sets);

// Lists what a link leads to. links: it is a soft or an external one.
static enum hn_code list_link(struct hn_context *ctx, const struct hn_source *s, hid_t file,
                              char *name, int levels, bool links, struct sets *sets) {
    struct found f;
    enum hn_h5_fault fault;
    bool linked = hn_h5_find(file, name) == HN_H5_LINKED;
    if (linked && !links)
        return HN_OK;
    enum hn_code code = find_set(ctx, s, file, name, &f, &fault);
    if (!code && is_listed(fault) && linked == links)
        add_set(sets, &f.data);
    close_found(&f);
    if (code)
        return code == HN_DATA ? HN_OK : code;
    if (is_damage(fault))
        return fail_set(ctx, s, name, fault);
    if (fault != HN_H5_NOT_DATA || linked)
        return HN_OK;
    const char *inner = hn_strdup(ctx, name);
    return inner ? list_sets(ctx, s, file, inner, levels - 1, links, sets) : ctx->code;
}

// Lists a group and those below it; links: those behind soft and external links.
static enum hn_code list_sets(struct hn_context *ctx, const struct hn_source *s, hid_t file,
                              const char *group, int levels, bool links, struct sets *sets) {
    int64_t n = count_links(file, group);
    if (n < 0)
        return fail_set(ctx, s, *group ? group : "/", HN_H5_UNREADABLE);
    for (int64_t k = 0; k < n; k++) {
        if (sets->n == SETS_MAX || sets->looked++ == LOOKED_MAX || levels == 0) {
            sets->more = true;
            return HN_OK;
        }
        char *name = sets->name[sets->n];
        if (!name_link(file, group, k, name))
            sets->more = true;
        else if (list_link(ctx, s, file, name, levels, links, sets))
            return ctx->code;
    }
    return HN_OK;
}

// count[rank] values from start[rank] on, as those of a type in memory.
static bool read_values(const struct hn_h5_data *data, const hsize_t *start, const hsize_t *count,
                        hid_t type, void *to) {
    hid_t memory = H5Screate_simple(data->rank, count, NULL), space = H5Dget_space(data->id);
    bool good = memory >= 0 &&
                H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
                H5Dread(data->id, type, memory, space, H5P_DEFAULT, to) >= 0;
    hn_h5_close(memory, space);
    return good;
}

// Rows first .. first + n - 1.
static bool read_block(const struct hn_h5_data *data, int64_t first, int64_t n, hid_t type,
                       void *to) {
    const hsize_t start[HN_H5_RANK_MAX] = {(hsize_t)first};
    const hsize_t count[HN_H5_RANK_MAX] = {(hsize_t)n, data->dim[1], data->dim[2]};
    return read_values(data, start, count, type, to);
}

// The first n values of a list, which is a column, or a row, of two dimensions, or has one.
static bool read_list(const struct hn_h5_data *data, int64_t n, hid_t type, void *to) {
    const hsize_t start[HN_H5_RANK_MAX] = {0};
    bool row = data->rank == 2 && data->dim[0] == 1;
    const hsize_t count[HN_H5_RANK_MAX] = {row ? 1 : (hsize_t)n, row ? (hsize_t)n : 1, 1};
    return read_values(data, start, count, type, to);
}

static enum hn_code fail_values(struct hn_context *ctx, const struct hn_source *s) {
    return hn_fail(
        ctx, HN_DATA,
        "%s: values cannot be read; the file is damaged or truncated: make or copy it again",
        s->path);
}

static enum hn_code take_rows(struct hn_context *ctx, const struct hn_source *s,
                              const struct hn_h5_data *data, struct hn_array *out) {
    int64_t n = out->shape[0], d = out->shape[1], at_once = hn_max(1, VALUES_AT_ONCE / d);
    if (!HN_ALLOC(ctx, out->real, n * d))
        return hn_fail_in(ctx, "%s", s->path);
    HN_SCOPE(ctx);
    double *value = hn_alloc(ctx, hn_min(n, at_once) * d, sizeof *value);
    if (!value)
        return ctx->code;
    for (int64_t first = 0; first < n; first += at_once) {
        int64_t rows = hn_min(at_once, n - first);
        if (hn_check_stop(ctx))
            return ctx->code;
        if (!read_block(data, first, rows, H5T_NATIVE_DOUBLE, value))
            return fail_values(ctx, s);
        for (int64_t i = 0; i < rows; i++)
            out->scaled |= hn_row_of_doubles(value + i * d, d, out->real + (first + i) * d);
    }
    return HN_OK;
}

// Names of an enumeration's values.
static enum hn_code take_names(struct hn_context *ctx, const struct hn_source *s,
                               const struct hn_h5_data *data, int64_t n, struct hn_array *out) {
    char name[NAME_BYTES];
    HN_SCOPE(ctx);
    unsigned char *value = hn_alloc(ctx, n, (size_t)data->size);
    if (!value)
        return ctx->code;
    if (!read_list(data, n, data->type, value))
        return fail_values(ctx, s);
    hn_own(ctx, scope.outer);
    for (int64_t i = 0; i < n; i++) {
        if (H5Tenum_nameof(data->type, value + i * data->size, name, sizeof name) < 0)
            return hn_fail(ctx, HN_DATA, "%s: the label of row %lld is no value of its enumeration",
                           s->path, (long long)i);
        if (!(out->text[i] = hn_strdup(ctx, name)))
            return ctx->code;
    }
    return HN_OK;
}

static enum hn_code take_texts(struct hn_context *ctx, const struct hn_source *s,
                               const struct hn_h5_data *data, struct hn_array *out) {
    struct hn_strings text = {0};
    int64_t all = (int64_t)(data->dim[0] * data->dim[1]);
    if (!HN_ALLOC(ctx, out->text, all))
        return hn_fail_in(ctx, "%s", s->path);
    if (data->class == H5T_ENUM)
        return take_names(ctx, s, data, out->shape[0], out);
    if (hn_h5_try_texts(ctx, data, all, 8 * s->left) ||
        hn_h5_read_texts(ctx, data, all, 8 * s->left, &text))
        return hn_fail_in(ctx, "%s", s->path);
    for (int64_t i = 0; i < all; i++)
        out->text[i] = hn_string(&text, i);
    return HN_OK;
}

static enum hn_code take_labels(struct hn_context *ctx, const struct hn_source *s,
                                const struct hn_h5_data *data, char kind, struct hn_array *out) {
    int64_t n = out->shape[0];
    if (kind == 'S')
        return take_texts(ctx, s, data, out);
    if (!HN_ALLOC(ctx, out->integer, n))
        return ctx->code;
    HN_SCOPE(ctx);
    double *real = hn_alloc(ctx, kind == 'f' ? n : 0, sizeof *real);
    unsigned char *truth = hn_alloc(ctx, kind == 'b' ? n : 0, 1);
    if (!real || !truth)
        return ctx->code;
    hid_t type = kind == 'f'   ? H5T_NATIVE_DOUBLE
                 : kind == 'b' ? data->type
                 : kind == 'u' ? H5T_NATIVE_UINT64
                               : H5T_NATIVE_INT64;
    void *to = kind == 'f' ? (void *)real : kind == 'b' ? (void *)truth : out->integer;
    if (!read_list(data, n, type, to))
        return fail_values(ctx, s);
    for (int64_t i = 0; i < n; i++) {
        if (kind == 'f' && hn_label_of_double(ctx, s->path, i, real[i], out->integer + i))
            return ctx->code;
        if (kind == 'b')
            out->integer[i] = truth[i];
        out->above |= kind == 'u' && out->integer[i] < 0;
    }
    return HN_OK;
}

// A file in which values of a virtual data set lie, as it was before they were read.
struct piece {
    const char *path;
    struct hn_file_state was;
};

// Values of a virtual data set lie in others: their files, piece[*pieces], are there, and can hold
// as many.
static enum hn_code find_sources(struct hn_context *ctx, const struct hn_source *s,
                                 struct hn_h5_data *data, struct piece **piece, int64_t *pieces) {
    enum { SOURCES_MAX = 1 << 10 };
    char name[4096];
    hid_t list = H5Dget_create_plist(data->id);
    size_t n = 0;
    data->stored = H5Pget_virtual_count(list, &n) >= 0 ? 0 : -1;
    enum hn_code code =
        n <= SOURCES_MAX
            ? HN_OK
            : hn_fail(ctx, HN_DATA,
                      "%s: a data set of it lies in pieces of %zu others, more than %d: copy its "
                      "values into one data set",
                      s->path, n, SOURCES_MAX);
    if (!code && !HN_ALLOC(ctx, *piece, (int64_t)n))
        code = ctx->code;
    for (size_t i = 0; data->stored >= 0 && i < n && !code; i++) {
        struct stat about;
        ssize_t length = H5Pget_virtual_filename(list, i, name, sizeof name);
        const char *path = length > 0 && length < (ssize_t)sizeof name && strcmp(name, ".") != 0
                               ? hn_path_beside(ctx, s->path, name)
                               : s->path;
        if (!path || stat(path, &about) != 0)
            code = path ? hn_fail(ctx, HN_DATA,
                                  "%s: a data set of it lies in %s, which is not there: copy both",
                                  s->path, path)
                        : ctx->code;
        else if (path != s->path && hn_h5_probe(ctx, path))
            code = ctx->code;
        else
            (*piece)[(*pieces)++] = (struct piece){path, {true, about}};
        data->stored += code ? 0 : about.st_size;
    }
    hn_h5_close(list);
    data->filters = 1; // they may be compressed
    data->chunked = true;
    return code;
}

// Rows are told from others by their directions alone, whatever the file, or its data set, compares
// them by. what: whose attribute it is.
static void note_distance(struct hn_context *ctx, const char *path, hid_t object,
                          const char *what) {
    static const char *const names[] = {"distance", "metric", "metric_type", "similarity", "space"};
    HN_SCOPE(ctx);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = hn_h5_get_text(ctx, object, names[i], "");
        if (text && *text && strcasecmp(text, "angular") != 0 && strcasecmp(text, "cosine") != 0)
            hn_note(ctx, "%s: attribute %s of %s says %s; rows are compared by their cosines here",
                    path, names[i], what, hn_quote(text).text);
    }
}

static enum hn_code take_set(struct hn_context *ctx, const struct hn_source *s,
                             const struct hn_wanted *want, struct hn_h5_data *data,
                             struct hn_array *out) {
    struct piece *piece = NULL;
    int64_t pieces = 0;
    char kind = type_of(data).kind;
    const char *name = want->name ? want->name : "";
    if (want->weights && (data->rank != 1 || !kind || kind == 'S'))
        return HN_OK; // something else of that name
    if (!kind)
        return hn_fail(ctx, HN_DATA, "%s: data set %s %s", s->path, name, hn_h5_data_unfit(data));
    if (data->mapped && find_sources(ctx, s, data, &piece, &pieces))
        return ctx->code;
    if (data->stored == 0 && data->dim[0] > 0 && data->dim[data->rank - 1] > 0)
        return hn_fail(ctx, HN_DATA, "%s: data set %s was created, and never written", s->path,
                       name);
    if (!hn_h5_data_holds(data, data->mapped ? data->stored : s->left, EXEMPT))
        return hn_fail(ctx, HN_DATA, "%s: data set %s holds fewer values than it says", s->path,
                       name);
    out->rank = data->rank;
    for (int k = 0; k < data->rank; k++)
        out->shape[k] = (int64_t)data->dim[k];
    if (want->labels && data->rank == 2 && data->dim[0] == 1) { // a row, as MATLAB has a list
        out->rank = 1;
        out->shape[0] = out->shape[1];
    }
    if (hn_array_check(ctx, s, want, kind, out))
        return ctx->code;
    if (want->rows > out->shape[0])
        return hn_fail(ctx, HN_DATA, "%s: has %lld rows, fewer than the %lld of --rows", s->path,
                       (long long)out->shape[0], (long long)want->rows);
    if (want->rows > 0)
        out->shape[0] = want->rows;
    if (!want->labels && !want->weights)
        note_distance(ctx, s->path, data->id, hn_quote(name).text);
    enum hn_code code = want->labels || kind == 'b' ? take_labels(ctx, s, data, kind, out)
                                                    : take_rows(ctx, s, data, out);
    for (int64_t k = 0; k < pieces && (code == HN_OK || code == HN_DATA); k++)
        if (hn_file_check_same(ctx, piece[k].path, &piece[k].was))
            return ctx->code;
    return code;
}

static bool is_float(hid_t file, const char *name) {
    struct hn_h5_data data;
    bool found = hn_h5_data_open(file, name, &data) == HN_H5_GOOD && data.class == H5T_FLOAT;
    hn_h5_data_close(&data);
    return found;
}

// The name of the data set that is wanted; NULL: an error.
static const char *pick(struct hn_context *ctx, const struct hn_source *s, hid_t file,
                        const struct hn_wanted *want) {
    int64_t picked = 0;
    struct sets *sets = hn_zalloc(ctx, 1, sizeof *sets);
    if (!sets || list_sets(ctx, s, file, "", LEVELS_MAX, false, sets) ||
        (sets->n == 0 && list_sets(ctx, s, file, "", LEVELS_MAX, true, sets)) ||
        hn_entry_pick(ctx, s->path, want, sets->entry, sets->n, sets->more, &picked))
        return NULL;
    return sets->entry[picked].name;
}

// AnnData stores the layout of a sparse matrix, "csc_matrix", with the group of its parts.
static enum hn_code find_layout(struct hn_context *ctx, const struct found *f, const char **out) {
    static const char *const names[] = {"encoding-type", "h5sparse_format"};
    char path[4096];
    ssize_t length = H5Iget_name(f->data.id, path, sizeof path);
    if (length <= 0 || length >= (ssize_t)sizeof path)
        return HN_OK;
    *strrchr(path, '/') = '\0';
    hid_t group = H5Oopen(f->file, *path ? path : "/", H5P_DEFAULT);
    enum hn_code code = HN_OK;
    for (int i = 0; i < 2 && !code && group >= 0 && !(*out && **out); i++) {
        *out = hn_h5_get_text(ctx, group, names[i], "");
        code = *out ? HN_OK : ctx->code;
    }
    hn_h5_close(group);
    return code;
}

// *fault: why the set cannot be opened.
static enum hn_code read_named(struct hn_context *ctx, hid_t file, const struct hn_source *s,
                               const struct hn_wanted *want, enum hn_h5_fault *fault,
                               struct hn_array *out) {
    struct found f = {.data = {.id = H5I_INVALID_HID, .type = H5I_INVALID_HID}};
    enum hn_code code = find_set(ctx, s, file, want->name, &f, fault);
    if (!code && *fault == HN_H5_GOOD)
        code = want->sparse ? find_layout(ctx, &f, &out->layout) : HN_OK;
    if (!code && *fault == HN_H5_GOOD)
        code = hn_source_end(ctx, &f.at, take_set(ctx, &f.at, want, &f.data, out));
    close_found(&f);
    return code;
}

// out: codes, numbers from 0 and below 0 for none; they become the values, those of the set
// `values`, that they stand for.
static enum hn_code take_values(struct hn_context *ctx, const struct hn_source *s, const char *name,
                                const char *values, const struct hn_array *value,
                                struct hn_array *out) {
    int64_t n = out->shape[0];
    if (out->rank != 1 || value->rank != 1 || !out->integer || out->above)
        return hn_fail(ctx, HN_DATA, "%s: %s are no categories: codes and categories are lists",
                       s->path, hn_quote(name).text);
    if (value->text && !HN_ALLOC(ctx, out->text, n))
        return ctx->code;
    for (int64_t i = 0; i < n; i++) {
        int64_t *number = out->integer + i;
        if (*number >= value->shape[0])
            return hn_fail(ctx, HN_DATA, "%s: code %lld of row %lld is none of the %lld of %s",
                           s->path, (long long)*number, (long long)i, (long long)value->shape[0],
                           hn_quote(values).text);
        if (value->text)
            out->text[i] = *number < 0 ? "" : value->text[*number];
        else
            *number = *number < 0 ? -1 : value->integer[*number];
    }
    if (value->text)
        out->integer = NULL;
    return HN_OK;
}

// A list that stands beside the labels `want`. *fault: there is none.
static enum hn_code read_beside(struct hn_context *ctx, hid_t file, const struct hn_source *s,
                                const struct hn_wanted *want, const char *name, int64_t rows,
                                enum hn_h5_fault *fault, struct hn_array *out) {
    struct hn_wanted other = *want;
    other.name = name;
    other.rows = rows;
    *fault = HN_H5_ABSENT;
    return name ? read_named(ctx, file, s, &other, fault, out) : ctx->code;
}

// Categories of AnnData: a group of `codes` and the `categories` that they stand for. *fault: it
// has no such sets.
static enum hn_code read_categories(struct hn_context *ctx, hid_t file, const struct hn_source *s,
                                    const struct hn_wanted *want, enum hn_h5_fault *fault,
                                    struct hn_array *out) {
    struct hn_array value = {0};
    const char *codes = hn_format(ctx, "%s/codes", want->name);
    const char *values = hn_format(ctx, "%s/categories", want->name);
    if (read_beside(ctx, file, s, want, values, 0, fault, &value))
        return ctx->code;
    if (*fault == HN_H5_GOOD && read_beside(ctx, file, s, want, codes, want->rows, fault, out))
        return ctx->code;
    return *fault == HN_H5_GOOD ? take_values(ctx, s, want->name, values, &value, out) : HN_OK;
}

// Categories of AnnData before 0.8: the codes are the set itself, and what they stand for is
// beside it, in __categories.
static enum hn_code read_old_categories(struct hn_context *ctx, hid_t file,
                                        const struct hn_source *s, const struct hn_wanted *want,
                                        struct hn_array *out) {
    struct hn_array value = {0};
    enum hn_h5_fault fault;
    const char *base = hn_base_name(want->name);
    const char *values =
        hn_format(ctx, "%.*s__categories/%s", (int)(base - want->name), want->name, base);
    if (read_beside(ctx, file, s, want, values, 0, &fault, &value))
        return ctx->code;
    return fault == HN_H5_GOOD ? take_values(ctx, s, want->name, values, &value, out) : HN_OK;
}

// Unsigned integers as texts.
static enum hn_code write_numbers(struct hn_context *ctx, struct hn_array *a) {
    if (!HN_ALLOC(ctx, a->text, a->shape[0]))
        return ctx->code;
    for (int64_t i = 0; i < a->shape[0]; i++)
        if (!(a->text[i] = hn_format(ctx, "%llu", (unsigned long long)a->integer[i])))
            return ctx->code;
    a->integer = NULL;
    a->above = false;
    return HN_OK;
}

// Columns of AnnData in which values may be missing: a group of `values` and a `mask`, true where
// one is. *fault: it has no such sets.
static enum hn_code read_masked(struct hn_context *ctx, hid_t file, const struct hn_source *s,
                                const struct hn_wanted *want, enum hn_h5_fault *fault,
                                struct hn_array *out) {
    struct hn_array mask = {0};
    const char *masks = hn_format(ctx, "%s/mask", want->name);
    const char *values = hn_format(ctx, "%s/values", want->name);
    if (read_beside(ctx, file, s, want, masks, want->rows, fault, &mask))
        return ctx->code;
    if (*fault == HN_H5_GOOD && read_beside(ctx, file, s, want, values, want->rows, fault, out))
        return ctx->code;
    if (*fault != HN_H5_GOOD)
        return HN_OK;
    if (!mask.integer || mask.shape[0] != out->shape[0])
        return hn_fail(ctx, HN_DATA, "%s: %s is no mask of the %lld values beside it", s->path,
                       hn_quote(masks).text, (long long)out->shape[0]);
    if (out->above && write_numbers(ctx, out)) // all 64 bits are numbers, and none is -1
        return ctx->code;
    for (int64_t i = 0; i < out->shape[0]; i++)
        if (mask.integer[i] && out->text)
            out->text[i] = "";
        else if (mask.integer[i])
            out->integer[i] = -1;
    return HN_OK;
}

static enum hn_code read_set(struct hn_context *ctx, hid_t file, const struct hn_source *s,
                             const struct hn_wanted *want, struct hn_array *out) {
    enum hn_h5_fault fault = HN_H5_ABSENT, within = HN_H5_ABSENT;
    struct hn_wanted named = *want;
    if (named.name)
        named.name += strspn(named.name, "/");
    if (named.name && !*named.name)
        return fail_set(ctx, s, "/", HN_H5_NOT_DATA);
    if (!named.name && want->labels && hn_h5_find(file, "labels") != HN_H5_ABSENT)
        named.name = "labels";
    else if (!named.name && !want->labels && hn_h5_find(file, "train") != HN_H5_ABSENT)
        named.name = "train";
    if (named.name && read_named(ctx, file, s, &named, &fault, out))
        return ctx->code;
    if (fault == HN_H5_ABSENT && want->weights)
        return HN_OK;
    if (fault == HN_H5_ABSENT && (!(named.name = pick(ctx, s, file, &named)) ||
                                  read_named(ctx, file, s, &named, &fault, out)))
        return ctx->code;
    if (fault == HN_H5_NOT_DATA && want->labels) {
        if (read_categories(ctx, file, s, &named, &within, out) ||
            (within != HN_H5_GOOD && read_masked(ctx, file, s, &named, &within, out)))
            return ctx->code;
        if (within == HN_H5_GOOD)
            return HN_OK;
    }
    if (fault == HN_H5_GOOD && want->labels && out->integer &&
        read_old_categories(ctx, file, s, &named, out))
        return ctx->code;
    return fault == HN_H5_GOOD ? HN_OK : fail_set(ctx, s, named.name, fault);
}

// Finds out if the file is one of ours, or of ann-benchmarks, or has data sets of any name. Others
// write an attribute `schema`, too.
static enum hn_code find_schema(struct hn_context *ctx, hid_t file, bool *found) {
    HN_SCOPE(ctx);
    const char *schema = hn_h5_get_text(ctx, file, "schema", "");
    if (!schema)
        return ctx->code;
    *found = strncmp(schema, "hardneg-", 8) == 0 || (!*schema && is_float(file, "train"));
    return HN_OK;
}

static enum hn_code read_array(struct hn_context *ctx, struct hn_source *s,
                               const struct hn_wanted *want, struct hn_array *out) {
    hid_t file;
    bool snapshot = false;
    if (want->snapshots)
        return read_snapshot(ctx, s->path, want, out);
    if (hn_h5_probe(ctx, s->path) || hn_h5_open(ctx, s->path, &file))
        return ctx->code;
    enum hn_code code = HN_OK;
    if (!want->name && !want->labels)
        code = find_schema(ctx, file, &snapshot);
    if (!code && !want->labels && !want->weights)
        note_distance(ctx, s->path, file, "the file");
    if (!code && !snapshot)
        code = read_set(ctx, file, s, want, out);
    if (!snapshot && !code && !want->name && !want->labels &&
        hn_h5_find(file, "train") != HN_H5_ABSENT && hn_h5_find(file, "test") != HN_H5_ABSENT)
        note_test(ctx, s->path);
    hn_h5_close(file);
    return !code && snapshot ? read_snapshot(ctx, s->path, want, out) : code;
}

static const char *const endings[] = {".hdf5", ".h5", NULL};

const struct hn_format hn_format_hdf5 = {
    .name = "hdf5",
    .summary = "data sets by name; train, in the layout of ann-benchmarks",
    .endings = endings,
    .magic = "\x89HDF\r\n\x1a\n",
    .magic_bytes = 8,
    .by_name = true,
    .has_labels = true,
    .rows_named = true,
    .labels_named = true,
    .read = read_array,
};
