// SPDX-License-Identifier: GPL-3.0-or-later
// Writes results files: one group per table, one 1-D dataset per column, a dimension scale on every
// axis.
//
// The same content gives the same bytes: no times in object headers, attributes in order of their
// names, everything else in the order of the tables.
#include "core/files.h"
#include "core/pairs.h"
#include "datasets/h5_write.h"
#include "results/store_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    COMPRESS_FROM = 16384, // bytes: below, chunks cost more than they save
    CHUNK_ROWS = 65536,
    CHUNK_HISTOGRAMS = 32,
    DEFLATE_LEVEL = 4
};

struct writer {
    struct hn_context *ctx;
    const char *path;
    enum hn_code code; // of the first failure: nothing is written after it
    hid_t file;
    hid_t text;     // variable-length UTF-8
    hid_t transfer; // how texts are written
};

// Records the failure unless there was one before; a negative identifier.
static hid_t failed(struct writer *w, const char *name) {
    if (!w->code)
        w->code = hn_fail(w->ctx, HN_IO, "%s: writing %s failed: is the disk full?", w->path, name);
    return H5I_INVALID_HID;
}

// Array of n elements; NULL after a failure, which this may be.
static void *capacity(struct writer *w, int64_t n, size_t size) {
    void *array = w->code ? NULL : hn_alloc(w->ctx, n, size);
    if (!array && !w->code)
        w->code = w->ctx->code;
    return array;
}

static hid_t create_group(struct writer *w, hid_t parent, const char *name) {
    hid_t group = w->code ? H5I_INVALID_HID : hn_h5_write_group(parent, name);
    return group >= 0 ? group : failed(w, name);
}

static void describe(struct writer *w, hid_t set, const struct hn_column *column) {
    if (hn_h5_set_text(w->ctx, set, "units", column->units) ||
        hn_h5_set_text(w->ctx, set, "long_name", column->long_name) ||
        hn_h5_set_text(w->ctx, set, "direction", hn_direction_name(column->direction)) ||
        (column->role && hn_h5_set_text(w->ctx, set, "role", hn_role_name(column->role))) ||
        (column->heading && *column->heading &&
         hn_h5_set_text(w->ctx, set, "heading", column->heading)))
        w->code = hn_fail_in(w->ctx, "%s: %s", w->path, column->name);
}

// Creates, fills and describes a dataset, with a scale on each axis, and closes it; without axes
// it is a scale itself, and stays open. Large arrays are compressed, but for texts of variable
// length, whose bytes stand elsewhere in the file. Negative after a failure.
static hid_t write_array(struct writer *w, hid_t parent, const struct hn_column *column,
                         struct hn_h5_array a, const hid_t *axis) {
    if (w->code)
        return H5I_INVALID_HID;
    hsize_t bytes = H5Tget_size(a.type), max = a.rank == 1 ? CHUNK_ROWS : CHUNK_HISTOGRAMS;
    for (int i = 0; i < a.rank; i++)
        bytes *= a.dim[i];
    a.name = column->name;
    a.transfer = w->transfer;
    if (H5Tis_variable_str(a.type) <= 0 && bytes >= COMPRESS_FROM) {
        memcpy(a.chunk, a.dim, sizeof a.chunk);
        a.chunk[0] = a.chunk[0] > max ? max : a.chunk[0];
        a.deflate = DEFLATE_LEVEL;
    }
    hid_t set = axis ? hn_h5_write_array(parent, &a) : hn_h5_write_scale(parent, &a, a.name);
    if (set < 0)
        return failed(w, a.name);
    describe(w, set, column);
    for (unsigned i = 0; !w->code && axis && i < (unsigned)a.rank; i++)
        if (H5DSattach_scale(set, axis[i], i) < 0)
            failed(w, a.name);
    if (axis && !hn_h5_close(set))
        failed(w, a.name);
    return set;
}

// Bytes of the longest of text[n], if as texts of one length they take less than of variable
// length, where each has a reference of 16 bytes and a block of its own; 0: they do not.
static int64_t common_length(const char *const *text, int64_t n) {
    enum { REFERENCE = 16, BLOCK = 16 };
    int64_t longest = 1, all = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t length = (int64_t)strlen(text[i]);
        longest = hn_max(longest, length);
        all += REFERENCE + BLOCK + length;
    }
    return n * REFERENCE >= COMPRESS_FROM && n * longest <= all ? longest : 0;
}

// Columns of many rows repeat few texts: with one length they can be compressed.
static void write_fixed_texts(struct writer *w, hid_t group, const struct hn_column *column,
                              int64_t n, const char *const *text, int64_t length, hid_t axis) {
    HN_SCOPE(w->ctx);
    char *all = capacity(w, n * length, 1);
    hid_t type = H5Tcopy(H5T_C_S1);
    if (H5Tset_size(type, (size_t)length) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0 ||
        H5Tset_strpad(type, H5T_STR_NULLPAD) < 0)
        failed(w, column->name);
    for (int64_t i = 0; all && i < n; i++)
        memcpy(memset(all + i * length, 0, (size_t)length), text[i], strlen(text[i]));
    struct hn_h5_array a = {
        .type = type, .memory = type, .rank = 1, .dim = {(hsize_t)n, 1, 1}, .data = all};
    write_array(w, group, column, a, &axis);
    hn_h5_close(type);
}

// data[n] along the axis of a scale, or (NULL) as a scale.
static hid_t write_values(struct writer *w, hid_t group, const struct hn_column *column, int64_t n,
                          const void *data, const hid_t *axis) {
    const hid_t type[][2] = {[HN_COLUMN_TEXT] = {w->text, w->text},
                             [HN_COLUMN_REAL] = {H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE},
                             [HN_COLUMN_INT] = {H5T_STD_I64LE, H5T_NATIVE_INT64}};
    const hid_t *t = type[column->kind];
    return write_array(
        w, group, column,
        (struct hn_h5_array){
            .type = t[0], .memory = t[1], .rank = 1, .dim = {(hsize_t)n, 1, 1}, .data = data},
        axis);
}

static hid_t write_splits(struct writer *w, hid_t group, const char *name, const char *long_name,
                          int64_t n, const int64_t *data) {
    const struct hn_column column = {name, HN_COLUMN_INT, "1", long_name, HN_NEITHER};
    return write_values(w, group, &column, n, data, NULL);
}

// A scale that counts from 0 within each range [start[i], start[i + 1]), i < n.
static hid_t write_numbers(struct writer *w, hid_t group, const char *name, const char *long_name,
                           int64_t n, const int64_t *start) {
    HN_SCOPE(w->ctx);
    int64_t *number = capacity(w, start[n], sizeof *number);
    if (!number)
        return H5I_INVALID_HID;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = start[i]; k < start[i + 1]; k++)
            number[k] = k - start[i];
    return write_splits(w, group, name, long_name, start[n], number);
}

static void write_column(struct writer *w, hid_t group, const struct hn_table *t, int c,
                         hid_t row) {
    const struct hn_column *column = &t->column[c];
    if (!w->code && (strcmp(column->name, HN_STORE_ROW) == 0 || strchr(column->name, '/')))
        w->code = hn_fail(w->ctx, HN_INTERNAL, "table %s: a column cannot be called %s", t->name,
                          column->name);
    const char *const *text =
        column->kind == HN_COLUMN_TEXT ? (const char *const *)t->cells[c].text : NULL;
    int64_t length = text ? common_length(text, t->rows) : 0;
    if (length > 0)
        write_fixed_texts(w, group, column, t->rows, text, length, row);
    else
        write_values(w, group, column, t->rows, t->cells[c].text, &row);
}

// Writes the table into a group of its name and returns its row scale, open.
static hid_t write_table(struct writer *w, hid_t parent, const char *name,
                         const struct hn_table *t) {
    const int64_t rows[] = {0, t->rows};
    hid_t group = create_group(w, parent, name);
    hid_t row = write_numbers(w, group, HN_STORE_ROW, "row of this table", 1, rows);
    for (int c = 0; c < t->n_columns; c++)
        write_column(w, group, t, c, row);
    hn_h5_close(group);
    return row;
}

static void write_plain_table(struct writer *w, hid_t parent, const char *name,
                              const struct hn_table *t) {
    if (!w->code && !hn_h5_close(write_table(w, parent, name, t)))
        failed(w, name);
}

static void write_tables(struct writer *w, const struct hn_results *r) {
    hid_t folder = H5I_INVALID_HID;
    for (int64_t i = 0; !w->code && i < r->n_tables; i++) {
        const struct hn_table *t = &r->table[i];
        bool at_root = hn_is_among(t->name, HN_STORE_AT_ROOT);
        if (!at_root && folder < 0)
            folder = create_group(w, w->file, "tables");
        if (!w->code && strchr(t->name, '/'))
            w->code = hn_fail(w->ctx, HN_INTERNAL, "a table cannot be called %s", t->name);
        write_plain_table(w, at_root ? w->file : folder, t->name, t);
    }
    hn_h5_close(folder);
}

// A scale of n points, the first at bin `first` of the histogram (0.5: the middle of bin 0).
static hid_t write_points(struct writer *w, hid_t group, const struct hn_results *r,
                          const struct hn_column *column, int64_t n, double first) {
    HN_SCOPE(w->ctx);
    double *point = capacity(w, n, sizeof *point);
    if (!point)
        return H5I_INVALID_HID;
    for (int64_t b = 0; b < n; b++)
        point[b] = r->bin_lo + (r->bin_hi - r->bin_lo) * ((double)b + first) / (double)r->bins;
    return write_values(w, group, column, n, point, NULL);
}

static const char *const kind_name[HN_PAIR_KINDS] = {[HN_PAIR_POSITIVE] = "positive",
                                                     [HN_PAIR_TRUE_NEGATIVE] = "true_negative",
                                                     [HN_PAIR_FALSE_NEGATIVE] = "false_negative",
                                                     [HN_PAIR_UNLABELLED] = "unlabelled"};

static const struct hn_column histogram_column[] = {
    {"kind", HN_COLUMN_TEXT, "", "relation of the two items of a pair", HN_NEITHER},
    {"bin_edge", HN_COLUMN_REAL, "1", "edges of the bins of cosine", HN_NEITHER},
    {"bin", HN_COLUMN_REAL, "1", "middle of the bin of cosine", HN_NEITHER},
    {"counts", HN_COLUMN_INT, "pairs", "pairs of a cell's batches by cosine", HN_NEITHER}};

static void write_histogram(struct writer *w, const struct hn_results *r, hid_t row) {
    if (r->kinds == 0 || w->code)
        return;
    if (r->kinds != HN_PAIR_KINDS || r->bins < 1) {
        w->code =
            hn_fail(w->ctx, HN_INTERNAL, "a histogram of %" PRId64 " kinds of %" PRId64 " bins",
                    r->kinds, r->bins);
        return;
    }
    const struct hn_column *column = histogram_column;
    hid_t group = create_group(w, w->file, "hist");
    hid_t kind = write_values(w, group, &column[0], HN_PAIR_KINDS, kind_name, NULL);
    hid_t edge = write_points(w, group, r, &column[1], r->bins + 1, 0);
    hid_t bin = write_points(w, group, r, &column[2], r->bins, 0.5);
    const hid_t scale[3] = {row, kind, bin};
    write_array(
        w, group, &column[3],
        (struct hn_h5_array){.type = H5T_STD_U64LE,
                             .memory = H5T_NATIVE_UINT64,
                             .rank = 3,
                             .dim = {(hsize_t)r->runs.rows, HN_PAIR_KINDS, (hsize_t)r->bins},
                             .data = r->histogram},
        scale);
    if (!hn_h5_close(kind, edge, bin, group))
        failed(w, "hist");
}

static void write_batches(struct writer *w, const struct hn_results *r) {
    static const struct hn_column fn = {"fn_ratio", HN_COLUMN_REAL, "1",
                                        "false-negative ratio of a batch", HN_SMALLER};
    static const struct hn_column cosine = {"cos_mean", HN_COLUMN_REAL, "1",
                                            "mean cosine of the pairs of a batch", HN_LARGER};
    if (!r->batch_start)
        return;
    int64_t rows = r->runs.rows, all = r->batch_start[rows];
    hid_t group = create_group(w, w->file, "batch");
    hid_t splits = write_splits(w, group, "row_splits",
                                "batches of run r stand at [row_splits[r], row_splits[r + 1])",
                                rows + 1, r->batch_start);
    hid_t number = write_numbers(w, group, "batch", "number of the batch within its run", rows,
                                 r->batch_start);
    write_values(w, group, &fn, all, r->batch_fn_ratio, &number);
    write_values(w, group, &cosine, all, r->batch_cos_mean, &number);
    if (!hn_h5_close(splits, number, group))
        failed(w, "batch");
}

static void write_order(struct writer *w, const struct hn_results *r) {
    static const struct hn_column column = {
        "index", HN_COLUMN_INT, "1", "items of the batches, places in the snapshot", HN_NEITHER};
    if (!r->order_run)
        return;
    int64_t rows = r->runs.rows, batches = r->order_run[rows];
    hid_t group = create_group(w, w->file, "order");
    hid_t runs = write_splits(w, group, "run_splits",
                              "batches of run r stand at [run_splits[r], run_splits[r + 1])",
                              rows + 1, r->order_run);
    hid_t splits =
        write_splits(w, group, "splits", "items of batch b stand at [splits[b], splits[b + 1])",
                     batches + 1, r->order_split);
    hid_t position = write_numbers(w, group, "place", "place of the item within its batch", batches,
                                   r->order_split);
    write_array(w, group, &column,
                (struct hn_h5_array){.type = H5T_STD_I32LE,
                                     .memory = H5T_NATIVE_INT32,
                                     .rank = 1,
                                     .dim = {(hsize_t)r->order_split[batches], 1, 1},
                                     .data = r->order_id},
                &position);
    if (!hn_h5_close(runs, splits, position, group))
        failed(w, "order");
}

// Goes by the name, so that a version "2.7" stays text where its successor "2.7.1" is.
static bool names_number(const char *name) {
    static const char *const ends[] = {"_bytes", "_gflops", "_gbs", "_ns", "_s", "_dirty"};
    if (strncmp(name, "n_", 2) == 0 || strcmp(name, "threads") == 0)
        return true;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (hn_ends_in(name, ends[i]))
            return true;
    return false;
}

static enum hn_code write_env_value(const struct writer *w, hid_t group,
                                    const struct hn_text_pair *pair) {
    const char *text = pair->value;
    char *end = NULL;
    if (names_number(pair->name) && text[0] != 0) {
        long long whole = strtoll(text, &end, 10);
        if (*end == 0)
            return hn_h5_set_int(w->ctx, group, pair->name, whole);
        double real = strtod(text, &end);
        if (*end == 0)
            return hn_h5_set_real(w->ctx, group, pair->name, real);
    }
    return hn_h5_set_text(w->ctx, group, pair->name, text);
}

static int by_name(const void *a, const void *b) {
    return strcmp((*(const struct hn_text_pair *const *)a)->name,
                  (*(const struct hn_text_pair *const *)b)->name);
}

// Writes attributes in order of their names.
static void write_pairs(struct writer *w, hid_t object, const struct hn_text_pair *pair, int64_t n,
                        bool env) {
    HN_SCOPE(w->ctx);
    const struct hn_text_pair **order = capacity(w, n, sizeof *order);
    if (!order)
        return;
    for (int64_t i = 0; i < n; i++)
        order[i] = &pair[i];
    qsort(order, (size_t)n, sizeof *order, by_name);
    for (int64_t i = 0; !w->code && i < n; i++)
        if (env ? write_env_value(w, object, order[i])
                : hn_h5_set_text(w->ctx, object, order[i]->name, order[i]->value))
            w->code = hn_fail_in(w->ctx, "%s", w->path);
}

static void write_all(struct writer *w, const struct hn_results *r) {
    if (hn_h5_set_text(w->ctx, w->file, "schema", HN_STORE_SCHEMA) ||
        hn_h5_set_int(w->ctx, w->file, "schema_version", HN_STORE_VERSION))
        w->code = hn_fail_in(w->ctx, "%s", w->path);
    write_pairs(w, w->file, r->attribute, r->n_attributes, false);
    hid_t group = create_group(w, w->file, "env");
    write_pairs(w, group, r->env, r->n_env, true);
    hn_h5_close(group);
    hid_t row = write_table(w, w->file, "runs", &r->runs);
    write_tables(w, r);
    write_histogram(w, r, row);
    write_batches(w, r);
    write_order(w, r);
    if (r->timing.n_columns > 0)
        write_plain_table(w, w->file, "timing", &r->timing);
    if (!hn_h5_close(row))
        failed(w, "runs");
}

enum hn_code hn_results_write(struct hn_context *ctx, const struct hn_results *r,
                              const char *path) {
    struct writer w = {.ctx = ctx, .path = path};
    char *temporary;
    hn_temporary_sweep_for(path); // of processes that were killed
    if (hn_h5_create(ctx, path, &w.file, &temporary))
        return ctx->code;
    w.text = hn_h5_text_type();
    w.transfer = hn_h5_transfer_list();
    if (w.text < 0 || w.transfer < 0)
        w.code = hn_fail(ctx, HN_INTERNAL, "HDF5 %s",
                         w.text < 0 ? "has no string type" : "cannot make a property list");
    else
        write_all(&w, r);
    hn_h5_close(w.text, w.transfer);
    if (!w.code)
        return hn_h5_commit(ctx, w.file, temporary, path, true);
    hn_h5_discard(ctx, w.file, temporary);
    return w.code;
}
