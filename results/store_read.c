// SPDX-License-Identifier: GPL-3.0-or-later
// Reads results files, which may be truncated, damaged or made to harm: what is read must be plain
// datasets of this very file (no external links or storage), of the rank and length of the schema;
// nothing is allocated that the file could not hold. A checksum that does not fit is damage.
#include "core/checksum.h"
#include "core/options/option.h"
#include "core/pairs.h"
#include "core/real_text.h"
#include "core/text.h"
#include "datasets/h5_data.h"
#include "results/programs.h"
#include "results/store_private.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MAX_ATTRIBUTES = 1024, MAX_BINS = 1 << 20 };

enum { NAME_SIZE = 256 };

enum { FIRST_WITH_CHECKSUM = 4 }; // results version since which every file has a checksum

// A results file that is read.
struct reader {
    struct hn_context *ctx;
    const char *path;
    hid_t file;
    int64_t bytes; // of the file
    bool has_checksum;
};

// HN_DATA: "<file>: <group>/<name> <what>: <remedy>"; name may be "".
static enum hn_code bad(const struct reader *r, const char *group, const char *name,
                        const char *what) {
    return hn_fail(r->ctx, HN_DATA, "%s: %s%s%s %s: " HN_STORE_MEND, r->path, group,
                   *name ? "/" : "", name, what);
}

// *group is negative if there is none of that name and it is not required.
static enum hn_code open_group(const struct reader *r, hid_t parent, const char *name,
                               bool required, hid_t *group) {
    *group = H5I_INVALID_HID;
    enum hn_h5_fault link = hn_h5_find(parent, name);
    if (link == HN_H5_ABSENT)
        return required ? bad(r, name, "", "is missing") : HN_OK;
    if (link == HN_H5_GOOD)
        *group = H5Gopen2(parent, name, H5P_DEFAULT);
    return *group >= 0 ? HN_OK : bad(r, name, "", "is not a group of this file");
}

// Opens dataset `name` of the group at `parent`; `group` names it in messages.
static enum hn_code open_data(const struct reader *r, hid_t parent, const char *group,
                              const char *name, struct hn_h5_data *s) {
    static const char *const what[HN_H5_FAULTS] = {[HN_H5_ABSENT] = "is missing",
                                                   [HN_H5_NO_TYPE] = "is not an array",
                                                   [HN_H5_FILTER] = "cannot be read"};
    enum hn_h5_fault fault = hn_h5_data_open(parent, name, s);
    if (fault != HN_H5_GOOD)
        return bad(r, group, name, what[fault] ? what[fault] : "is not a dataset of this file");
    bool array = s->rank >= 1 && s->rank <= HN_H5_RANK_MAX;
    if (array && hn_h5_data_holds(s, r->bytes, 0))
        return HN_OK;
    hn_h5_data_close(s);
    return bad(r, group, name,
               array ? "claims more values than the file holds" : "is not an array");
}

// Checks whether it is of one dimension and length n.
static enum hn_code check_length(const struct reader *r, const char *group, const char *name,
                                 const struct hn_h5_data *s, int64_t n) {
    return s->rank == 1 && s->dim[0] == (hsize_t)n ? HN_OK
                                                   : bad(r, group, name, "has the wrong length");
}

enum { MAX_LINKS = 4096 }; // columns of a table, tables of a file

static enum hn_code read_texts(const struct reader *r, const struct hn_h5_data *s,
                               struct hn_table *t, const char *name) {
    struct hn_strings text = {0};
    HN_SCOPE(r->ctx);
    // A text of n bytes, of variable length, takes n + 1 here and at least 16 + n in the file.
    enum hn_code code = hn_h5_read_texts(r->ctx, s, t->rows, r->bytes, &text);
    if (code == HN_DATA)
        return bad(r, t->name, name, "cannot be read");
    for (int64_t row = 0; !code && row < t->rows; row++)
        if (*hn_string(&text, row))
            code = hn_table_set_text(r->ctx, t, row, name, hn_string(&text, row));
    return code;
}

static enum hn_code read_cells(const struct reader *r, const struct hn_h5_data *s,
                               struct hn_table *t, const char *name) {
    int c = hn_table_find(t, name);
    union hn_column_cells *cells = &t->cells[c];
    if (t->column[c].kind == HN_COLUMN_TEXT)
        return read_texts(r, s, t, name);
    bool real = t->column[c].kind == HN_COLUMN_REAL;
    hid_t memory = real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
    void *out = real ? (void *)cells->real : (void *)cells->count;
    if (H5Dread(s->id, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) < 0)
        return bad(r, t->name, name, "cannot be read");
    return HN_OK;
}

// The role of a column in files that were written before columns had one, by its name and unit.
static enum hn_role old_role(const char *table, const struct hn_column *column) {
    static const char *const names[] = {
        "cell_key", "run_key",  "dataset",   "dataset_sha256", "step", "sampler",
        "params",   "loss",     "weighting", "error",          "note", "tool_version",
        "run",      "snapshot", "study_row", "study",          NULL};
    static const char *const times[] = {"cost_s", "cost_g", NULL};
    static const char *const derived[] = {"cost_g_over_t", "share_of_limit", NULL};
    static const char *const machine[] = {"peak_rss", "instructions",   "threads",
                                          "beside",   "share_s",        "share_g",
                                          "share_e",  "share_of_floor", NULL};
    static const char *const binned[] = {"cos_p50",       "cos_p90",      "cos_p99",
                                         "overlap_label", "overlap_view", NULL};
    static const char *const units[] = {"s", "ns", "GFLOP/s", NULL};
    static const char *const cells[] = {"runs", "snapshots", "studies", "timing", "training", NULL};
    static const char *const settings[] = {"temperature", "batch_size", "seed", NULL};
    if (hn_is_among(column->name, times))
        return HN_ROLE_TIME;
    if (hn_is_among(column->name, derived))
        return HN_ROLE_DERIVED;
    if (hn_is_among(column->name, machine) || hn_is_among(column->units, units))
        return HN_ROLE_MACHINE;
    if (hn_is_among(column->name, names))
        return HN_ROLE_IDENTITY;
    if (hn_is_among(table, cells) &&
        hn_is_among(column->name, settings)) // else values of a study's rows
        return HN_ROLE_SETTING;
    return hn_is_among(column->name, binned) ? HN_ROLE_BINNED : HN_ROLE_AUTO;
}

// Samplers of a table that was read, by the names that they have now.
static enum hn_code rename_samplers(struct hn_context *ctx, struct hn_table *t) {
    for (int64_t row = 0; row < t->rows; row++)
        if (strcmp(hn_table_text(t, row, "sampler"), "null") == 0 &&
            hn_table_set_text(ctx, t, row, "sampler", "file-order"))
            return ctx->code;
    return HN_OK;
}

// By the class of its values and its attributes ("" in files from before there were such).
static enum hn_code add_column(const struct reader *r, const struct hn_h5_data *s,
                               struct hn_table *t, const char *name) {
    if (s->class != H5T_STRING && s->class != H5T_FLOAT && s->class != H5T_INTEGER)
        return bad(r, t->name, name, "holds neither numbers nor text");
    HN_SCOPE(r->ctx);
    const char *direction = hn_h5_get_text(r->ctx, s->id, "direction", "");
    const char *role = hn_h5_get_text(r->ctx, s->id, "role", "");
    struct hn_column column = {.name = name,
                               .kind = s->class == H5T_STRING  ? HN_COLUMN_TEXT
                                       : s->class == H5T_FLOAT ? HN_COLUMN_REAL
                                                               : HN_COLUMN_INT,
                               .units = hn_h5_get_text(r->ctx, s->id, "units", ""),
                               .long_name = hn_h5_get_text(r->ctx, s->id, "long_name", ""),
                               .heading = hn_h5_get_text(r->ctx, s->id, "heading", "")};
    if (!direction || !role || !column.units || !column.long_name || !column.heading)
        return r->ctx->code;
    column.direction = hn_direction_find(direction);
    column.role = *role ? hn_role_find(role) : old_role(t->name, &column);
    if ((*direction && strcmp(direction, hn_direction_name(column.direction)) != 0) ||
        (*role && column.role == HN_ROLE_AUTO))
        return bad(r, t->name, name, "has an attribute direction or role that is none");
    return hn_table_add_column(r->ctx, t, &column);
}

// Makes the rows of a table, if the limit allows all of its columns.
static enum hn_code make_rows(const struct reader *r, hid_t group, int64_t rows,
                              struct hn_table *t) {
    H5G_info_t about;
    if (H5Gget_info(group, &about) < 0)
        return bad(r, t->name, "", "cannot be read");
    size_t row = (size_t)about.nlinks * sizeof(int64_t);
    return hn_check_memory(r->ctx, rows, row) ? r->ctx->code : hn_table_add_rows(r->ctx, t, rows);
}

// The first column says how many rows there are; open_data() has checked that.
static enum hn_code read_column(const struct reader *r, hid_t group, const char *name, void *into) {
    struct hn_table *t = into;
    struct hn_h5_data s;
    if (open_data(r, group, t->name, name, &s))
        return r->ctx->code;
    enum hn_code code = HN_OK;
    if (t->n_columns == 0 && t->rows == 0 && s.rank == 1)
        code = make_rows(r, group, (int64_t)s.dim[0], t);
    if (code == HN_OK)
        code = check_length(r, t->name, name, &s, t->rows);
    if (code == HN_OK && strcmp(name, HN_STORE_ROW) != 0)
        code = add_column(r, &s, t, name) ? r->ctx->code : read_cells(r, &s, t, name);
    hn_h5_data_close(&s);
    return code;
}

// Calls read() for every link of group `where`, in the order of creation where the file keeps it.
static enum hn_code each_link(const struct reader *r, hid_t group, const char *where,
                              enum hn_code (*read)(const struct reader *r, hid_t group,
                                                   const char *name, void *into),
                              void *into) {
    H5G_info_t about;
    unsigned flags = 0;
    hid_t list = H5Gget_create_plist(group);
    bool known = H5Pget_link_creation_order(list, &flags) >= 0;
    hn_h5_close(list);
    H5_index_t order = flags & H5P_CRT_ORDER_TRACKED ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
    if (!known || H5Gget_info(group, &about) < 0)
        return bad(r, where, "", "cannot be read");
    if (about.nlinks > MAX_LINKS)
        return bad(r, where, "", "has more than 4096 members");
    for (hsize_t i = 0; i < about.nlinks; i++) {
        char name[NAME_SIZE];
        ssize_t length =
            H5Lget_name_by_idx(group, ".", order, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT);
        if (length <= 0 || length >= NAME_SIZE)
            return bad(r, where, "", "has a member without name");
        if (read(r, group, name, into))
            return r->ctx->code;
    }
    return HN_OK;
}

// Reads the table of that name into the zeroed *t; leaves it zeroed if there is none.
static enum hn_code read_table(const struct reader *r, hid_t parent, const char *name,
                               bool required, struct hn_table *t) {
    hid_t group;
    if (open_group(r, parent, name, required, &group))
        return r->ctx->code;
    if (group < 0)
        return HN_OK;
    bool failed = hn_table_init(r->ctx, t, name) || each_link(r, group, name, read_column, t) ||
                  rename_samplers(r->ctx, t);
    hn_h5_close(group);
    return failed ? r->ctx->code : HN_OK;
}

static enum hn_code read_named(const struct reader *r, hid_t parent, const char *name,
                               struct hn_results *out) {
    // Counted before it is read, so that it is freed whatever happens.
    struct hn_table *t = hn_results_add_table(r->ctx, out);
    return t ? read_table(r, parent, name, true, t) : r->ctx->code;
}

static enum hn_code read_further(const struct reader *r, hid_t folder, const char *name,
                                 void *into) {
    if (hn_is_among(name, HN_STORE_AT_ROOT))
        return bad(r, "tables", name, "belongs to the root of the file");
    return read_named(r, folder, name, into);
}

// The further tables of a file.
static enum hn_code read_tables(const struct reader *r, struct hn_results *out) {
    hid_t folder;
    for (const char *const *name = HN_STORE_AT_ROOT; *name; name++) {
        const htri_t there = H5Lexists(r->file, *name, H5P_DEFAULT);
        if (there < 0)
            return bad(r, *name, "", "cannot be read");
        if (there > 0 && read_named(r, r->file, *name, out))
            return r->ctx->code;
    }
    if (open_group(r, r->file, "tables", false, &folder))
        return r->ctx->code;
    enum hn_code code = folder < 0 ? HN_OK : each_link(r, folder, "tables", read_further, out);
    hn_h5_close(folder);
    return code;
}

// The n numbers of a dataset, of type `memory`, owned by the caller; NULL: a failure.
static void *read_numbers(const struct reader *r, hid_t parent, const char *group, const char *name,
                          hid_t memory, int64_t n) {
    struct hn_h5_data s;
    void *out = NULL;
    if (open_data(r, parent, group, name, &s))
        return NULL;
    enum hn_code code = check_length(r, group, name, &s, n);
    if (code == HN_OK && s.class != H5Tget_class(memory))
        code = bad(r, group, name, "is of the wrong type");
    if (code == HN_OK)
        out = hn_alloc(r->ctx, n, H5Tget_size(memory));
    if (out && H5Dread(s.id, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) < 0) {
        bad(r, group, name, "cannot be read");
        hn_free(r->ctx, out);
        out = NULL;
    }
    hn_h5_data_close(&s);
    return out;
}

// Edges must be those of equal bins: only the ends are kept.
static enum hn_code read_edges(const struct reader *r, hid_t group, struct hn_results *out) {
    int64_t n = out->bins + 1;
    HN_SCOPE(r->ctx);
    double *edge = read_numbers(r, group, "hist", "bin_edge", H5T_NATIVE_DOUBLE, n);
    if (!edge)
        return r->ctx->code;
    out->bin_lo = edge[0];
    out->bin_hi = edge[out->bins];
    double width = (out->bin_hi - out->bin_lo) / (double)out->bins;
    bool equal = width > 0 && isfinite(width);
    for (int64_t b = 0; equal && b < n; b++)
        equal = fabs(edge[b] - (out->bin_lo + width * (double)b)) < 1e-6 * width;
    return equal ? HN_OK : bad(r, "hist", "bin_edge", "does not bound bins of equal width");
}

static enum hn_code read_counts(const struct reader *r, hid_t group, struct hn_results *out) {
    struct hn_h5_data s;
    if (open_data(r, group, "hist", "counts", &s))
        return r->ctx->code;
    enum hn_code code = HN_OK;
    if (s.rank != 3 || s.dim[0] != (hsize_t)out->runs.rows || s.dim[1] != HN_PAIR_KINDS ||
        s.dim[2] < 1 || s.dim[2] > MAX_BINS)
        code = bad(r, "hist", "counts", "has the wrong shape");
    else if (s.class != H5T_INTEGER)
        code = bad(r, "hist", "counts", "is of the wrong type");
    else {
        out->kinds = HN_PAIR_KINDS;
        out->bins = (int64_t)s.dim[2];
        // hn_h5_data_holds() has seen that this product does not overflow.
        out->histogram =
            hn_alloc(r->ctx, out->runs.rows * out->kinds * out->bins, sizeof *out->histogram);
        if (!out->histogram)
            code = r->ctx->code;
        else if (H5Dread(s.id, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, out->histogram) < 0)
            code = bad(r, "hist", "counts", "cannot be read");
    }
    hn_h5_data_close(&s);
    return code;
}

static enum hn_code read_histogram(const struct reader *r, hid_t group, struct hn_results *out) {
    return read_counts(r, group, out) ? r->ctx->code : read_edges(r, group, out);
}

// A dataset of n + 1 splits, which rise from 0.
static enum hn_code read_splits(const struct reader *r, hid_t group, const char *where,
                                const char *name, int64_t n, int64_t **split) {
    int64_t length;
    if (!hn_add(n, 1, &length))
        return bad(r, where, name, "has the wrong length");
    *split = read_numbers(r, group, where, name, H5T_NATIVE_INT64, length);
    if (!*split)
        return r->ctx->code;
    return hn_store_rises(*split, n) ? HN_OK : bad(r, where, name, "does not rise from 0");
}

static enum hn_code read_batches(const struct reader *r, hid_t group, struct hn_results *out) {
    if (read_splits(r, group, "batch", "row_splits", out->runs.rows, &out->batch_start))
        return r->ctx->code;
    int64_t n = out->batch_start[out->runs.rows];
    out->batch_fn_ratio = read_numbers(r, group, "batch", "fn_ratio", H5T_NATIVE_DOUBLE, n);
    if (out->batch_fn_ratio)
        out->batch_cos_mean = read_numbers(r, group, "batch", "cos_mean", H5T_NATIVE_DOUBLE, n);
    return out->batch_cos_mean ? HN_OK : r->ctx->code;
}

static enum hn_code read_order(const struct reader *r, hid_t group, struct hn_results *out) {
    if (read_splits(r, group, "order", "run_splits", out->runs.rows, &out->order_run))
        return r->ctx->code;
    int64_t batches = out->order_run[out->runs.rows];
    if (read_splits(r, group, "order", "splits", batches, &out->order_split))
        return r->ctx->code;
    int64_t ids = out->order_split[batches];
    out->order_id = read_numbers(r, group, "order", "index", H5T_NATIVE_INT32, ids);
    return out->order_id ? HN_OK : r->ctx->code;
}

// Text of an attribute: numbers in their shortest form. NULL: out of memory.
static char *attribute_text(const struct reader *r, hid_t object, const char *name) {
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    hid_t type = H5Aget_type(attribute);
    bool real = H5Tget_class(type) == H5T_FLOAT;
    hn_h5_close(type, attribute);
    if (!real)
        return hn_h5_get_text(r->ctx, object, name, "");
    double value;
    return hn_h5_get_real(r->ctx, object, name, NAN, &value)
               ? NULL
               : hn_strdup(r->ctx, hn_real_text(value).text);
}

typedef enum hn_code (*set_function)(struct hn_context *ctx, struct hn_results *out,
                                     const char *name, const char *value);

static enum hn_code read_attributes(const struct reader *r, hid_t object, set_function set,
                                    struct hn_results *out) {
    H5O_info_t about;
    if (H5Oget_info2(object, &about, H5O_INFO_NUM_ATTRS) < 0 || about.num_attrs > MAX_ATTRIBUTES)
        return bad(r, "attributes", "", "cannot be read");
    for (hsize_t i = 0; i < about.num_attrs; i++) {
        char name[NAME_SIZE];
        ssize_t length = H5Aget_name_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, i, name,
                                            sizeof name, H5P_DEFAULT);
        if (length <= 0 || length >= NAME_SIZE)
            return bad(r, "attributes", "", "cannot be read");
        if (strcmp(name, "schema") == 0 || strcmp(name, "schema_version") == 0)
            continue;
        HN_SCOPE(r->ctx);
        char *value = attribute_text(r, object, name);
        hn_own(r->ctx, scope.outer);
        if (!value || set(r->ctx, out, name, value))
            return r->ctx->code;
    }
    return HN_OK;
}

static enum hn_code read_env(const struct reader *r, hid_t group, struct hn_results *out) {
    return read_attributes(r, group, hn_results_set_env, out);
}

// The groups that a file may have besides its tables.
static enum hn_code read_groups(const struct reader *r, struct hn_results *out) {
    static const struct {
        const char *name;
        enum hn_code (*read)(const struct reader *r, hid_t group, struct hn_results *out);
    } part[] = {{"env", read_env},
                {"hist", read_histogram},
                {"batch", read_batches},
                {"order", read_order}};
    enum hn_code code = HN_OK;
    for (size_t i = 0; code == HN_OK && i < sizeof part / sizeof *part; i++) {
        hid_t group;
        code = open_group(r, r->file, part[i].name, false, &group);
        if (code == HN_OK && group >= 0)
            code = part[i].read(r, group, out);
        hn_h5_close(group);
    }
    return code;
}

static enum hn_code check_schema(const struct reader *r) {
    HN_SCOPE(r->ctx);
    char *schema = hn_h5_get_text(r->ctx, r->file, "schema", "");
    int64_t version;
    if (!schema || hn_h5_get_int(r->ctx, r->file, "schema_version", 0, &version))
        return r->ctx->code;
    if (strcmp(schema, HN_STORE_SCHEMA) != 0)
        return hn_fail(r->ctx, HN_DATA,
                       "%s: is not a results file but %s: give a results.h5 that hardneg run "
                       "has written",
                       r->path, hn_quote(*schema ? schema : "another kind of HDF5 file").text);
    if (version != HN_STORE_VERSION)
        return hn_fail(r->ctx, HN_DATA,
                       "%s: has schema version %" PRId64 " and this program reads version %d: use "
                       "the hardneg that wrote it",
                       r->path, version, HN_STORE_VERSION);
    return HN_OK;
}

static enum hn_code open_results(struct hn_context *ctx, const char *path, struct reader *r) {
    *r = (struct reader){.ctx = ctx, .path = path, .file = H5I_INVALID_HID};
    if (hn_checksum_check(ctx, path, &r->has_checksum) || hn_h5_open(ctx, path, &r->file))
        return ctx->code;
    r->bytes = hn_h5_file_bytes(r->file);
    enum hn_code code = r->bytes > 0
                            ? check_schema(r)
                            : hn_fail(ctx, HN_DATA, "%s: has no size: " HN_STORE_MEND, path);
    if (code == HN_OK)
        return HN_OK;
    hn_h5_close(r->file);
    return code;
}

enum hn_code hn_results_read_own(struct hn_context *ctx, const char *path, struct hn_results *out) {
    struct reader r;
    memset(out, 0, sizeof *out);
    if (open_results(ctx, path, &r))
        return ctx->code;
    // The rows of /runs are what the arrays are checked against.
    bool good = !read_attributes(&r, r.file, hn_results_set, out) &&
                !read_table(&r, r.file, "runs", true, &out->runs) &&
                !read_table(&r, r.file, "timing", false, &out->timing) && !read_tables(&r, out) &&
                !read_groups(&r, out);
    hn_h5_close(r.file);
    if (good && hn_results_version(out) > hn_results_code_version) {
        (void)hn_fail(ctx, HN_DATA,
                      "%s: is of results version %d, made by program %s, and this program knows "
                      "versions up to %d: use a program that is as new",
                      path, hn_results_version(out),
                      hn_quote(hn_results_get_env(out, "program")).text, hn_results_code_version);
        good = false;
    }
    if (good && hn_results_check(ctx, path, out) == HN_OK) {
        out->no_checksum = !r.has_checksum && hn_results_version(out) >= FIRST_WITH_CHECKSUM;
        if (out->no_checksum)
            hn_note_once(ctx,
                         "%s: has no checksum, so another program has written to it: its values "
                         "may not be those measured; if in doubt, " HN_STORE_MEND,
                         path);
        return HN_OK;
    }
    hn_results_free(ctx, out);
    return ctx->code;
}

bool hn_results_are_other(struct hn_context *ctx, const char *path) {
    hid_t file;
    HN_SCOPE(ctx);
    if (hn_h5_probe(ctx, path) || hn_h5_open(ctx, path, &file))
        return false;
    const char *schema = hn_h5_get_text(ctx, file, "schema", "");
    hn_h5_close(file);
    return schema && strcmp(schema, HN_STORE_SCHEMA) != 0;
}

// Reads the file in a child process first, as the reader does. The reader reports errors.
static void read_and_drop(const char *path, void *data) {
    struct hn_context *ctx = data;
    struct hn_results r;
    if (hn_results_read_own(ctx, path, &r) == HN_OK)
        hn_results_free(ctx, &r);
}

enum hn_code hn_results_read(struct hn_context *ctx, const char *path, struct hn_results *out) {
    memset(out, 0, sizeof *out);
    if (hn_h5_try(ctx, path, read_and_drop, ctx))
        return ctx->code;
    return hn_results_read_own(ctx, path, out);
}
