// Writes results files: one group per table, one 1-D dataset per column, a dimension scale on every
// axis.
//
// The same content gives the same bytes: no times in object headers, attributes in order of their
// names, everything else in the order of the tables.
#include "datasets/h5.h"
#include "results/store_private.h"

#include <hdf5_hl.h>
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
    hid_t file, text; // text: variable-length UTF-8
    hid_t transfer;   // how texts are written
};

// A dataset to be written: data[dims], of `memory` type, stored as `type`.
struct array {
    const char *name;
    hid_t type, memory;
    int rank;
    hsize_t dims[3];
    const void *data;
};

static enum hn_code failed(const struct writer *w, const char *name) {
    return hn_fail(w->ctx, HN_IO, "%s: writing %s failed: is the disk full?", w->path, name);
}

static hid_t create_group(const struct writer *w, hid_t parent, const char *name) {
    hid_t list = H5Pcreate(H5P_GROUP_CREATE), group = H5I_INVALID_HID;
    if (list >= 0 &&
        H5Pset_link_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0 &&
        H5Pset_obj_track_times(list, false) >= 0)
        group = H5Gcreate2(parent, name, H5P_DEFAULT, list, H5P_DEFAULT);
    if (list >= 0)
        (void)H5Pclose(list);
    if (group < 0)
        (void)failed(w, name);
    return group;
}

static bool set_chunks(hid_t list, const struct array *a) {
    hsize_t chunk[3] = {a->dims[0], a->dims[1], a->dims[2]};
    hsize_t most = a->rank == 1 ? CHUNK_ROWS : CHUNK_HISTOGRAMS;
    if (chunk[0] > most)
        chunk[0] = most;
    return H5Pset_chunk(list, a->rank, chunk) >= 0 && H5Pset_shuffle(list) >= 0 &&
           H5Pset_deflate(list, DEFLATE_LEVEL) >= 0;
}

// Large arrays of numbers are compressed; text is not, its bytes stand elsewhere in the file.
static hid_t creation_list(const struct array *a) {
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    if (list < 0)
        return list;
    hsize_t bytes = H5Tget_size(a->type);
    for (int i = 0; i < a->rank; i++)
        bytes *= a->dims[i];
    bool text = H5Tget_class(a->type) == H5T_STRING;
    if (H5Pset_obj_track_times(list, false) < 0 ||
        (!text && bytes >= COMPRESS_FROM && !set_chunks(list, a))) {
        (void)H5Pclose(list);
        return H5I_INVALID_HID;
    }
    return list;
}

// Creates and fills a dataset; negative on failure, with the message recorded.
static hid_t write_array(const struct writer *w, hid_t parent, const struct array *a) {
    hid_t space = H5Screate_simple(a->rank, a->dims, NULL), list = creation_list(a);
    hid_t set = H5I_INVALID_HID;
    if (space >= 0 && list >= 0)
        set = H5Dcreate2(parent, a->name, a->type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    if (set >= 0 && H5Dwrite(set, a->memory, H5S_ALL, H5S_ALL, w->transfer, a->data) < 0) {
        (void)H5Dclose(set);
        set = H5I_INVALID_HID;
    }
    if (space >= 0)
        (void)H5Sclose(space);
    if (list >= 0)
        (void)H5Pclose(list);
    if (set < 0)
        (void)failed(w, a->name);
    return set;
}

static hid_t write_scale(const struct writer *w, hid_t parent, const struct array *a) {
    hid_t set = write_array(w, parent, a);
    if (set >= 0 && H5DSset_scale(set, a->name) < 0) {
        (void)H5Dclose(set);
        (void)failed(w, a->name);
        return H5I_INVALID_HID;
    }
    return set;
}

static enum hn_code describe(const struct writer *w, hid_t set, const struct hn_column *column) {
    static const char *const direction[] = {
        [HN_SMALLER] = "smaller", [HN_NEITHER] = "none", [HN_LARGER] = "larger"};
    if (hn_h5_set_text(w->ctx, set, "units", column->units) ||
        hn_h5_set_text(w->ctx, set, "long_name", column->long_name) ||
        hn_h5_set_text(w->ctx, set, "direction", direction[column->direction]) ||
        (column->role && hn_h5_set_text(w->ctx, set, "role", hn_role_name(column->role))))
        return hn_fail_in(w->ctx, "%s: %s", w->path, column->name);
    return HN_OK;
}

// Describes a dataset, puts scales on its axes and closes it.
static enum hn_code finish(const struct writer *w, hid_t set, const struct hn_column *column,
                           const hid_t *scale, unsigned axes) {
    if (set < 0)
        return w->ctx->code;
    enum hn_code code = describe(w, set, column);
    for (unsigned axis = 0; code == HN_OK && axis < axes; axis++)
        if (H5DSattach_scale(set, scale[axis], axis) < 0)
            code = failed(w, column->name);
    if (H5Dclose(set) < 0 && code == HN_OK)
        code = failed(w, column->name);
    return code;
}

static struct array reals(const char *name, int64_t n, const double *data) {
    return (struct array){name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 1, {(hsize_t)n, 1, 1}, data};
}

static struct array counts(const char *name, int64_t n, const int64_t *data) {
    return (struct array){name, H5T_STD_I64LE, H5T_NATIVE_INT64, 1, {(hsize_t)n, 1, 1}, data};
}

static struct array texts(const struct writer *w, const char *name, int64_t n,
                          const char *const *data) {
    return (struct array){name, w->text, w->text, 1, {(hsize_t)n, 1, 1}, data};
}

static enum hn_code write_column(const struct writer *w, hid_t group, const struct hn_table *t,
                                 int c, hid_t row) {
    const struct hn_column *column = &t->column[c];
    const union hn_cells *cells = &t->cells[c];
    if (strcmp(column->name, HN_STORE_ROW) == 0 || strchr(column->name, '/'))
        return hn_fail(w->ctx, HN_INTERNAL, "table %s: a column cannot be called %s", t->name,
                       column->name);
    struct array a;
    switch (column->kind) {
    case HN_COLUMN_TEXT:
        a = texts(w, column->name, t->rows, (const char *const *)cells->text);
        break;
    case HN_COLUMN_REAL: a = reals(column->name, t->rows, cells->real); break;
    default: a = counts(column->name, t->rows, cells->count); break;
    }
    return finish(w, write_array(w, group, &a), column, &row, 1);
}

// The scale of an axis: the numbers in data[n]. Returns it open.
static hid_t number_scale(const struct writer *w, hid_t group, const char *name,
                          const char *long_name, int64_t n, const int64_t *data) {
    struct array a = counts(name, n, data);
    struct hn_column column = {name, HN_COLUMN_INT, "1", long_name, HN_NEITHER};
    hid_t set = write_scale(w, group, &a);
    if (set >= 0 && describe(w, set, &column)) {
        (void)H5Dclose(set);
        set = H5I_INVALID_HID;
    }
    return set;
}

// Writes the table into a group of its name and returns its row scale, open.
static hid_t write_table(const struct writer *w, hid_t parent, const char *name,
                         const struct hn_table *t) {
    hid_t group = create_group(w, parent, name), row = H5I_INVALID_HID;
    int64_t *number = hn_alloc(w->ctx, t->rows, sizeof *number);
    if (group < 0 || !number)
        goto done;
    for (int64_t r = 0; r < t->rows; r++)
        number[r] = r;
    row = number_scale(w, group, HN_STORE_ROW, "row of this table", t->rows, number);
    for (int c = 0; row >= 0 && c < t->n_columns; c++)
        if (write_column(w, group, t, c, row)) {
            (void)H5Dclose(row);
            row = H5I_INVALID_HID;
        }
done:
    hn_free(w->ctx, number);
    if (group >= 0)
        (void)H5Gclose(group);
    return row;
}

static enum hn_code write_plain_table(const struct writer *w, hid_t parent, const char *name,
                                      const struct hn_table *t) {
    hid_t row = write_table(w, parent, name, t);
    if (row < 0)
        return w->ctx->code;
    return H5Dclose(row) >= 0 ? HN_OK : failed(w, name);
}

static enum hn_code write_tables(const struct writer *w, const struct hn_results *r) {
    hid_t folder = H5I_INVALID_HID;
    enum hn_code code = HN_OK;
    for (int64_t i = 0; code == HN_OK && i < r->n_tables; i++) {
        const struct hn_table *t = &r->table[i];
        bool at_root = hn_store_at_root(t->name);
        if (!at_root && folder < 0 && (folder = create_group(w, w->file, "tables")) < 0)
            code = w->ctx->code;
        else if (strchr(t->name, '/'))
            code = hn_fail(w->ctx, HN_INTERNAL, "a table cannot be called %s", t->name);
        else
            code = write_plain_table(w, at_root ? w->file : folder, t->name, t);
    }
    if (folder >= 0)
        (void)H5Gclose(folder);
    return code;
}

static enum hn_code write_edges(const struct writer *w, hid_t group, const struct hn_results *r) {
    double *edge = hn_alloc(w->ctx, r->bins + 1, sizeof *edge);
    if (!edge)
        return w->ctx->code;
    for (int64_t b = 0; b <= r->bins; b++)
        edge[b] = r->bin_lo + (r->bin_hi - r->bin_lo) * (double)b / (double)r->bins;
    struct array a = reals("bin_edge", r->bins + 1, edge);
    struct hn_column column = {"bin_edge", HN_COLUMN_REAL, "1", "edges of the bins of cosine",
                               HN_NEITHER};
    enum hn_code code = finish(w, write_scale(w, group, &a), &column, NULL, 0);
    hn_free(w->ctx, edge);
    return code;
}

static hid_t write_centres(const struct writer *w, hid_t group, const struct hn_results *r) {
    double *centre = hn_alloc(w->ctx, r->bins, sizeof *centre);
    if (!centre)
        return H5I_INVALID_HID;
    for (int64_t b = 0; b < r->bins; b++)
        centre[b] = r->bin_lo + (r->bin_hi - r->bin_lo) * ((double)b + 0.5) / (double)r->bins;
    struct array a = reals("bin", r->bins, centre);
    struct hn_column column = {"bin", HN_COLUMN_REAL, "1", "middle of the bin of cosine",
                               HN_NEITHER};
    hid_t set = write_scale(w, group, &a);
    if (set >= 0 && describe(w, set, &column)) {
        (void)H5Dclose(set);
        set = H5I_INVALID_HID;
    }
    hn_free(w->ctx, centre);
    return set;
}

static hid_t write_kinds(const struct writer *w, hid_t group) {
    struct array a = texts(w, "kind", HN_PAIR_KINDS, hn_store_kinds);
    struct hn_column column = {"kind", HN_COLUMN_TEXT, "", "relation of the two items of a pair",
                               HN_NEITHER};
    hid_t set = write_scale(w, group, &a);
    if (set >= 0 && describe(w, set, &column)) {
        (void)H5Dclose(set);
        set = H5I_INVALID_HID;
    }
    return set;
}

static enum hn_code write_histogram(const struct writer *w, const struct hn_results *r, hid_t row) {
    if (r->kinds == 0)
        return HN_OK;
    if (r->kinds != HN_PAIR_KINDS || r->bins < 1)
        return hn_fail(w->ctx, HN_INTERNAL, "a histogram of %" PRId64 " kinds of %" PRId64 " bins",
                       r->kinds, r->bins);
    hid_t group = create_group(w, w->file, "hist");
    if (group < 0)
        return w->ctx->code;
    hid_t scale[3] = {row, write_kinds(w, group), H5I_INVALID_HID};
    enum hn_code code = scale[1] < 0 ? w->ctx->code : write_edges(w, group, r);
    if (code == HN_OK && (scale[2] = write_centres(w, group, r)) < 0)
        code = w->ctx->code;
    if (code == HN_OK) {
        struct array a = {"counts",
                          H5T_STD_U64LE,
                          H5T_NATIVE_UINT64,
                          3,
                          {(hsize_t)r->runs.rows, HN_PAIR_KINDS, (hsize_t)r->bins},
                          r->histogram};
        struct hn_column column = {"counts", HN_COLUMN_INT, "pairs",
                                   "pairs of a cell's batches by cosine", HN_NEITHER};
        code = finish(w, write_array(w, group, &a), &column, scale, 3);
    }
    for (int axis = 1; axis < 3; axis++)
        if (scale[axis] >= 0)
            (void)H5Dclose(scale[axis]);
    (void)H5Gclose(group);
    return code;
}

// Number of each batch within its run.
static hid_t write_batch_numbers(const struct writer *w, hid_t group, const struct hn_results *r) {
    int64_t all = r->batch_start[r->runs.rows];
    int64_t *number = hn_alloc(w->ctx, all, sizeof *number);
    if (!number)
        return H5I_INVALID_HID;
    for (int64_t run = 0; run < r->runs.rows; run++)
        for (int64_t b = r->batch_start[run]; b < r->batch_start[run + 1]; b++)
            number[b] = b - r->batch_start[run];
    hid_t set = number_scale(w, group, "batch", "number of the batch within its run", all, number);
    hn_free(w->ctx, number);
    return set;
}

static enum hn_code write_batches(const struct writer *w, const struct hn_results *r) {
    static const struct hn_column fn = {"fn_ratio", HN_COLUMN_REAL, "1",
                                        "false-negative ratio of a batch", HN_SMALLER};
    static const struct hn_column cosine = {"cos_mean", HN_COLUMN_REAL, "1",
                                            "mean cosine of the pairs of a batch", HN_LARGER};
    if (!r->batch_start)
        return HN_OK;
    hid_t group = create_group(w, w->file, "batch");
    if (group < 0)
        return w->ctx->code;
    int64_t all = r->batch_start[r->runs.rows];
    struct array ratios = reals("fn_ratio", all, r->batch_fn_ratio);
    struct array means = reals("cos_mean", all, r->batch_cos_mean);
    hid_t splits = number_scale(w, group, "row_splits",
                                "batches of run r stand at [row_splits[r], row_splits[r + 1])",
                                r->runs.rows + 1, r->batch_start);
    hid_t number = splits < 0 ? splits : write_batch_numbers(w, group, r);
    enum hn_code code = number < 0 ? w->ctx->code : HN_OK;
    if (code == HN_OK)
        code = finish(w, write_array(w, group, &ratios), &fn, &number, 1);
    if (code == HN_OK)
        code = finish(w, write_array(w, group, &means), &cosine, &number, 1);
    if (splits >= 0)
        (void)H5Dclose(splits);
    if (number >= 0)
        (void)H5Dclose(number);
    (void)H5Gclose(group);
    return code;
}

// Place of each item within its batch.
static hid_t write_places(const struct writer *w, hid_t group, const struct hn_results *r) {
    int64_t batches = r->order_run[r->runs.rows];
    int64_t *place = hn_alloc(w->ctx, r->order_split[batches], sizeof *place);
    if (!place)
        return H5I_INVALID_HID;
    for (int64_t b = 0; b < batches; b++)
        for (int64_t i = r->order_split[b]; i < r->order_split[b + 1]; i++)
            place[i] = i - r->order_split[b];
    hid_t set = number_scale(w, group, "place", "place of the item within its batch",
                             r->order_split[batches], place);
    hn_free(w->ctx, place);
    return set;
}

static enum hn_code write_order(const struct writer *w, const struct hn_results *r) {
    static const struct hn_column column = {
        "index", HN_COLUMN_INT, "1", "items of the batches, places in the snapshot", HN_NEITHER};
    if (!r->order_run)
        return HN_OK;
    hid_t group = create_group(w, w->file, "order");
    if (group < 0)
        return w->ctx->code;
    int64_t batches = r->order_run[r->runs.rows];
    struct array ids = {
        "index",    H5T_STD_I32LE, H5T_NATIVE_INT32, 1, {(hsize_t)r->order_split[batches], 1, 1},
        r->order_id};
    hid_t runs = number_scale(w, group, "run_splits",
                              "batches of run r stand at [run_splits[r], run_splits[r + 1])",
                              r->runs.rows + 1, r->order_run);
    hid_t splits = runs < 0 ? runs
                            : number_scale(w, group, "splits",
                                           "items of batch b stand at [splits[b], splits[b + 1])",
                                           batches + 1, r->order_split);
    hid_t place = splits < 0 ? splits : write_places(w, group, r);
    enum hn_code code = place < 0 ? w->ctx->code : HN_OK;
    if (code == HN_OK)
        code = finish(w, write_array(w, group, &ids), &column, &place, 1);
    if (place >= 0)
        (void)H5Dclose(place);
    if (runs >= 0)
        (void)H5Dclose(runs);
    if (splits >= 0)
        (void)H5Dclose(splits);
    (void)H5Gclose(group);
    return code;
}

static bool ends_with(const char *text, const char *end) {
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

// Goes by the name, so that a version "2.7" stays text where its successor "2.7.1" is.
static bool names_number(const char *name) {
    static const char *const ends[] = {"_bytes", "_gflops", "_gbs", "_ns", "_s", "_dirty"};
    if (strncmp(name, "n_", 2) == 0 || strcmp(name, "threads") == 0)
        return true;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (ends_with(name, ends[i]))
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
static enum hn_code write_pairs(const struct writer *w, hid_t object,
                                const struct hn_text_pair *pair, int64_t n, bool env) {
    const struct hn_text_pair **order = hn_alloc(w->ctx, n, sizeof *order);
    if (!order)
        return w->ctx->code;
    for (int64_t i = 0; i < n; i++)
        order[i] = &pair[i];
    qsort(order, (size_t)n, sizeof *order, by_name);
    enum hn_code code = HN_OK;
    for (int64_t i = 0; code == HN_OK && i < n; i++)
        code = env ? write_env_value(w, object, order[i])
                   : hn_h5_set_text(w->ctx, object, order[i]->name, order[i]->value);
    hn_free(w->ctx, order);
    return code ? hn_fail_in(w->ctx, "%s", w->path) : HN_OK;
}

static enum hn_code write_root(const struct writer *w, const struct hn_results *r) {
    if (hn_h5_set_text(w->ctx, w->file, "schema", HN_STORE_SCHEMA) ||
        hn_h5_set_int(w->ctx, w->file, "schema_version", HN_STORE_VERSION))
        return hn_fail_in(w->ctx, "%s", w->path);
    if (write_pairs(w, w->file, r->attribute, r->n_attributes, false))
        return w->ctx->code;
    hid_t group = create_group(w, w->file, "env");
    if (group < 0)
        return w->ctx->code;
    enum hn_code code = write_pairs(w, group, r->env, r->n_env, true);
    (void)H5Gclose(group);
    return code;
}

static enum hn_code write_all(const struct writer *w, const struct hn_results *r) {
    if (write_root(w, r))
        return w->ctx->code;
    hid_t row = write_table(w, w->file, "runs", &r->runs);
    if (row < 0)
        return w->ctx->code;
    enum hn_code code = HN_OK;
    if (r->n_tables > 0)
        code = write_tables(w, r);
    if (code == HN_OK)
        code = write_histogram(w, r, row);
    if (code == HN_OK)
        code = write_batches(w, r);
    if (code == HN_OK)
        code = write_order(w, r);
    if (code == HN_OK && r->timing.n_columns > 0)
        code = write_plain_table(w, w->file, "timing", &r->timing);
    if (H5Dclose(row) < 0 && code == HN_OK)
        code = failed(w, "runs");
    return code;
}

static enum hn_code make_lists(struct writer *w) {
    w->text = H5Tcopy(H5T_C_S1);
    if (w->text < 0 || H5Tset_size(w->text, H5T_VARIABLE) < 0 ||
        H5Tset_cset(w->text, H5T_CSET_UTF8) < 0)
        return hn_fail(w->ctx, HN_INTERNAL, "HDF5 has no string type");
    w->transfer = hn_h5_transfer_list();
    if (w->transfer < 0)
        return hn_fail(w->ctx, HN_INTERNAL, "HDF5 cannot make a property list");
    return HN_OK;
}

enum hn_code hn_results_write(struct hn_context *ctx, const struct hn_results *r,
                              const char *path) {
    struct writer w = {ctx, path, H5I_INVALID_HID, H5I_INVALID_HID, H5I_INVALID_HID};
    char *temporary;
    if (hn_h5_create(ctx, path, &w.file, &temporary))
        return ctx->code;
    enum hn_code code = make_lists(&w);
    if (code == HN_OK)
        code = write_all(&w, r);
    if (w.text >= 0)
        (void)H5Tclose(w.text);
    if (w.transfer >= 0)
        (void)H5Pclose(w.transfer);
    if (code == HN_OK)
        return hn_h5_commit_sealed(ctx, w.file, temporary, path);
    hn_h5_discard(ctx, w.file, temporary);
    return code;
}
