// Reads results files. A file may be truncated, damaged or made to harm: what is read must be plain
// datasets of this very file (no external links or storage), of the rank and length the schema asks
// for, and nothing is allocated that the file could not hold. A seal that does not fit is damage.
#include "core/checksum.h"
#include "core/options/option.h"
#include "datasets/h5.h"
#include "results/store_private.h"

#include <hdf5_hl.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
    MOST_LINKS = 4096, // columns of a table, tables of a file
    MOST_ATTRIBUTES = 1024,
    MOST_BINS = 1 << 20,
    NAME_SIZE = 256,
    DEFLATE_RATIO = 1032 // the most that deflate can shrink anything by
};

struct reader {
    struct hn_context *ctx;
    const char *path;
    hid_t file;
    int64_t bytes; // of the file
};

#define MEND "make it again with hardneg run"

static enum hn_code bad(const struct reader *r, const char *group, const char *name,
                        const char *what) {
    return hn_fail(r->ctx, HN_DATA, "%s: %s%s%s %s: " MEND, r->path, group, *name ? "/" : "", name,
                   what);
}

// An object of this file itself: what lies behind a soft or external link could be any file.
static bool is_hard_link(hid_t parent, const char *name) {
    H5L_info_t about;
    return H5Lexists(parent, name, H5P_DEFAULT) > 0 &&
           H5Lget_info(parent, name, &about, H5P_DEFAULT) >= 0 && about.type == H5L_TYPE_HARD;
}

// *group is negative if there is none of that name and it is not required.
static enum hn_code open_group(const struct reader *r, hid_t parent, const char *name,
                               bool required, hid_t *group) {
    *group = H5I_INVALID_HID;
    if (H5Lexists(parent, name, H5P_DEFAULT) <= 0)
        return required ? bad(r, name, "", "is missing") : HN_OK;
    if (is_hard_link(parent, name))
        *group = H5Gopen2(parent, name, H5P_DEFAULT);
    return *group >= 0 ? HN_OK : bad(r, name, "", "is not a group of this file");
}

// Whether the dataset's values stand in this file.
static bool stored_here(hid_t set) {
    hid_t list = H5Dget_create_plist(set);
    bool here = list >= 0 && H5Pget_external_count(list) == 0 && H5Pget_layout(list) != H5D_VIRTUAL;
    if (list >= 0)
        (void)H5Pclose(list);
    return here;
}

// An open dataset. `size` is that of one element in the file.
struct source {
    hid_t set, type;
    H5T_class_t class;
    int64_t size;
    int rank;
    int64_t dims[3];
};

static void close_source(struct source *s) {
    if (s->type >= 0)
        (void)H5Tclose(s->type);
    if (s->set >= 0)
        (void)H5Dclose(s->set);
    s->set = s->type = H5I_INVALID_HID;
}

static bool get_shape(struct source *s) {
    hsize_t dims[3] = {0, 0, 0};
    hid_t space = H5Dget_space(s->set);
    s->rank = space >= 0 && H5Sget_simple_extent_type(space) == H5S_SIMPLE
                  ? H5Sget_simple_extent_ndims(space)
                  : 0;
    bool good = s->rank >= 1 && s->rank <= 3 && H5Sget_simple_extent_dims(space, dims, NULL) >= 0;
    if (space >= 0)
        (void)H5Sclose(space);
    for (int i = 0; good && i < s->rank; i++) {
        good = dims[i] <= INT64_MAX;
        s->dims[i] = (int64_t)dims[i];
    }
    return good;
}

// Whether so many elements can be there: as many bytes as storage (and the file) can unfold to.
static bool holds(const struct reader *r, const struct source *s) {
    int64_t bytes = s->size;
    for (int i = 0; i < s->rank; i++)
        if (!hn_mul(bytes, s->dims[i], &bytes))
            return false;
    hsize_t stored = H5Dget_storage_size(s->set);
    int64_t most = stored < (hsize_t)r->bytes ? (int64_t)stored : r->bytes;
    return bytes / DEFLATE_RATIO <= most && (bytes == 0 || most > 0);
}

// Opens dataset `name` of the group at `parent`; `group` names it in messages.
static enum hn_code open_source(const struct reader *r, hid_t parent, const char *group,
                                const char *name, struct source *s) {
    *s = (struct source){.set = H5I_INVALID_HID, .type = H5I_INVALID_HID};
    const char *what = NULL;
    if (H5Lexists(parent, name, H5P_DEFAULT) <= 0)
        return bad(r, group, name, "is missing");
    if (is_hard_link(parent, name))
        s->set = H5Dopen2(parent, name, H5P_DEFAULT);
    if (s->set < 0 || !stored_here(s->set))
        what = "is not a dataset of this file";
    else if ((s->type = H5Dget_type(s->set)) < 0 || !get_shape(s))
        what = "is no array";
    else {
        s->class = H5Tget_class(s->type);
        s->size = (int64_t)H5Tget_size(s->type);
        if (!holds(r, s))
            what = "claims more values than the file holds";
    }
    if (!what)
        return HN_OK;
    close_source(s);
    return bad(r, group, name, what);
}

static enum hn_code check_shape(const struct reader *r, const char *group, const char *name,
                                const struct source *s, int rank, const int64_t *dims) {
    bool good = s->rank == rank;
    for (int i = 0; good && i < rank; i++)
        good = s->dims[i] == dims[i];
    return good ? HN_OK : bad(r, group, name, "has the wrong length");
}

// Reads a numeric dataset of the given class and shape into `out`.
static enum hn_code read_numbers(const struct reader *r, hid_t parent, const char *group,
                                 const char *name, hid_t memory, const int64_t *dims, int rank,
                                 void *out) {
    struct source s;
    if (open_source(r, parent, group, name, &s))
        return r->ctx->code;
    enum hn_code code = check_shape(r, group, name, &s, rank, dims);
    if (code == HN_OK && s.class != H5Tget_class(memory))
        code = bad(r, group, name, "is of the wrong type");
    if (code == HN_OK && H5Dread(s.set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) < 0)
        code = bad(r, group, name, "cannot be read");
    close_source(&s);
    return code;
}

// What HDF5 allocates for the texts of a column: counted, bounded by the size of the file, and
// freed in one go, also when a read breaks off in the middle.
struct text_pool {
    struct hn_context *ctx;
    void **block;
    int64_t n, most, budget;
};

static void *pool_alloc(size_t size, void *data) {
    struct text_pool *pool = data;
    if (pool->n == pool->most || size > (uint64_t)pool->budget)
        return NULL;
    void *block = hn_alloc(pool->ctx, (int64_t)size, 1);
    if (block) {
        pool->block[pool->n++] = block;
        pool->budget -= (int64_t)size;
    }
    return block;
}

static void pool_keep(void *block, void *data) {
    (void)block;
    (void)data;
}

static void pool_free(struct text_pool *pool) {
    for (int64_t i = 0; i < pool->n; i++)
        hn_free(pool->ctx, pool->block[i]);
    hn_free(pool->ctx, pool->block);
}

static enum hn_code set_texts(const struct reader *r, struct hn_table *t, const char *name,
                              char *const *text) {
    for (int64_t row = 0; row < t->rows; row++)
        if (text[row] && hn_table_set_text(r->ctx, t, row, name, text[row]))
            return r->ctx->code;
    return HN_OK;
}

static enum hn_code read_variable_texts(const struct reader *r, const struct source *s,
                                        struct hn_table *t, const char *name) {
    // A text of n bytes takes n + 1 here and at least 16 + n in the file.
    struct text_pool pool = {.ctx = r->ctx, .most = t->rows, .budget = r->bytes};
    enum hn_code code;
    r->ctx->code = HN_OK;
    char **text = hn_zalloc(r->ctx, t->rows, sizeof *text);
    hid_t list = hn_h5_transfer_list();
    pool.block = hn_alloc(r->ctx, t->rows, sizeof *pool.block);
    if (!text || !pool.block)
        code = r->ctx->code;
    else if (list < 0 || H5Pset_vlen_mem_manager(list, pool_alloc, &pool, pool_keep, NULL) < 0)
        code = hn_fail(r->ctx, HN_INTERNAL, "HDF5 cannot make a property list");
    else if (H5Dread(s->set, s->type, H5S_ALL, H5S_ALL, list, text) < 0)
        code = r->ctx->code == HN_MEMORY ? HN_MEMORY : bad(r, t->name, name, "cannot be read");
    else
        code = set_texts(r, t, name, text);
    if (list >= 0)
        (void)H5Pclose(list);
    pool_free(&pool);
    hn_free(r->ctx, text);
    return code;
}

// Texts of a fixed length, as other programs write them.
static enum hn_code read_fixed_texts(const struct reader *r, const struct source *s,
                                     struct hn_table *t, const char *name) {
    int64_t bytes;
    if (!hn_mul(s->size, t->rows, &bytes))
        return bad(r, t->name, name, "is too large");
    char *all = hn_alloc(r->ctx, bytes, 1), *one = hn_alloc(r->ctx, s->size + 1, 1);
    enum hn_code code = all && one ? HN_OK : r->ctx->code;
    if (code == HN_OK && H5Dread(s->set, s->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all) < 0)
        code = bad(r, t->name, name, "cannot be read");
    bool padded = H5Tget_strpad(s->type) == H5T_STR_SPACEPAD;
    for (int64_t row = 0; code == HN_OK && row < t->rows; row++) {
        memcpy(one, all + row * s->size, (size_t)s->size);
        one[s->size] = '\0';
        size_t length = strlen(one);
        while (padded && length > 0 && one[length - 1] == ' ')
            one[--length] = '\0';
        code = hn_table_set_text(r->ctx, t, row, name, one);
    }
    hn_free(r->ctx, all);
    hn_free(r->ctx, one);
    return code;
}

static enum hn_code read_cells(const struct reader *r, const struct source *s, struct hn_table *t,
                               const char *name) {
    int c = hn_table_find(t, name);
    union hn_cells *cells = &t->cells[c];
    if (t->column[c].kind == HN_COLUMN_TEXT)
        return H5Tis_variable_str(s->type) > 0 ? read_variable_texts(r, s, t, name)
                                               : read_fixed_texts(r, s, t, name);
    bool real = t->column[c].kind == HN_COLUMN_REAL;
    hid_t memory = real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
    void *out = real ? (void *)cells->real : (void *)cells->count;
    if (H5Dread(s->set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) < 0)
        return bad(r, t->name, name, "cannot be read");
    return HN_OK;
}

static enum hn_code add_column(const struct reader *r, const struct source *s, struct hn_table *t,
                               const char *name) {
    struct hn_column column = {.name = name, .direction = HN_NEITHER};
    if (s->class == H5T_STRING)
        column.kind = HN_COLUMN_TEXT;
    else if (s->class == H5T_FLOAT)
        column.kind = HN_COLUMN_REAL;
    else if (s->class == H5T_INTEGER)
        column.kind = HN_COLUMN_INT;
    else
        return bad(r, t->name, name, "holds neither numbers nor text");
    char *units = hn_h5_get_text(r->ctx, s->set, "units", "");
    char *long_name = units ? hn_h5_get_text(r->ctx, s->set, "long_name", "") : NULL;
    char *direction = long_name ? hn_h5_get_text(r->ctx, s->set, "direction", "") : NULL;
    char *role = direction ? hn_h5_get_text(r->ctx, s->set, "role", "") : NULL;
    enum hn_code code = HN_OK;
    if (!role)
        code = r->ctx->code;
    else {
        column.units = units;
        column.long_name = long_name;
        column.role = *role ? hn_role_find(role) : hn_store_old_role(t->name, &column);
        if (strcmp(direction, "smaller") == 0)
            column.direction = HN_SMALLER;
        else if (strcmp(direction, "larger") == 0)
            column.direction = HN_LARGER;
        code = hn_table_add_column(r->ctx, t, &column);
    }
    hn_free(r->ctx, units);
    hn_free(r->ctx, long_name);
    hn_free(r->ctx, direction);
    hn_free(r->ctx, role);
    return code;
}

// The first column says how many rows there are; open_source() has held that against the file.
static enum hn_code add_rows(const struct reader *r, struct hn_table *t, int64_t rows) {
    while (t->rows < rows)
        if (hn_table_add_row(r->ctx, t))
            return r->ctx->code;
    return HN_OK;
}

static enum hn_code read_column(const struct reader *r, hid_t group, struct hn_table *t,
                                const char *name) {
    struct source s;
    if (open_source(r, group, t->name, name, &s))
        return r->ctx->code;
    enum hn_code code = HN_OK;
    if (t->n_columns == 0 && t->rows == 0 && s.rank == 1)
        code = add_rows(r, t, s.dims[0]);
    if (code == HN_OK)
        code = check_shape(r, t->name, name, &s, 1, &t->rows);
    if (code == HN_OK && strcmp(name, HN_STORE_ROW) != 0)
        code = add_column(r, &s, t, name);
    if (code == HN_OK && strcmp(name, HN_STORE_ROW) != 0)
        code = read_cells(r, &s, t, name);
    close_source(&s);
    return code;
}

static enum hn_code link_count(const struct reader *r, hid_t group, const char *name,
                               hsize_t *count, H5_index_t *order) {
    H5G_info_t about;
    unsigned flags = 0;
    hid_t list = H5Gget_create_plist(group);
    if (list < 0 || H5Pget_link_creation_order(list, &flags) < 0)
        flags = 0;
    if (list >= 0)
        (void)H5Pclose(list);
    *order = flags & H5P_CRT_ORDER_TRACKED ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
    if (H5Gget_info(group, &about) < 0)
        return bad(r, name, "", "cannot be read");
    if (about.nlinks > MOST_LINKS)
        return bad(r, name, "", "has more than 4096 members");
    *count = about.nlinks;
    return HN_OK;
}

static enum hn_code link_name(const struct reader *r, hid_t group, const char *where,
                              H5_index_t order, hsize_t i, char name[NAME_SIZE]) {
    ssize_t length =
        H5Lget_name_by_idx(group, ".", order, H5_ITER_INC, i, name, NAME_SIZE, H5P_DEFAULT);
    return length > 0 && length < NAME_SIZE ? HN_OK
                                            : bad(r, where, "", "has a member without name");
}

// Reads the table in group `name` into the zeroed *t; leaves it zeroed if there is none.
static enum hn_code read_table(const struct reader *r, hid_t parent, const char *name,
                               bool required, struct hn_table *t) {
    hid_t group;
    hsize_t count = 0;
    H5_index_t order;
    if (open_group(r, parent, name, required, &group))
        return r->ctx->code;
    if (group < 0)
        return HN_OK;
    enum hn_code code = hn_table_init(r->ctx, t, name);
    if (code == HN_OK)
        code = link_count(r, group, name, &count, &order);
    for (hsize_t i = 0; code == HN_OK && i < count; i++) {
        char column[NAME_SIZE];
        code = link_name(r, group, name, order, i, column);
        if (code == HN_OK)
            code = read_column(r, group, t, column);
    }
    (void)H5Gclose(group);
    return code;
}

static enum hn_code read_named(const struct reader *r, hid_t parent, const char *name,
                               struct hn_results *out) {
    struct hn_table *longer = hn_resize(r->ctx, out->table, out->n_tables + 1, sizeof *longer);
    if (!longer)
        return r->ctx->code;
    out->table = longer;
    // Counted before it is read, so that it is freed in any case.
    memset(&longer[out->n_tables], 0, sizeof *longer);
    return read_table(r, parent, name, true, &longer[out->n_tables++]);
}

static enum hn_code read_tables(const struct reader *r, struct hn_results *out) {
    hid_t folder;
    hsize_t count = 0;
    H5_index_t order;
    static const char *const at_root[] = {"snapshots", "training"};
    for (int i = 0; i < 2; i++)
        if (H5Lexists(r->file, at_root[i], H5P_DEFAULT) > 0 &&
            read_named(r, r->file, at_root[i], out))
            return r->ctx->code;
    if (open_group(r, r->file, "tables", false, &folder))
        return r->ctx->code;
    if (folder < 0)
        return HN_OK;
    enum hn_code code = link_count(r, folder, "tables", &count, &order);
    for (hsize_t i = 0; code == HN_OK && i < count; i++) {
        char name[NAME_SIZE];
        code = link_name(r, folder, "tables", order, i, name);
        if (code == HN_OK && hn_store_at_root(name))
            code = bad(r, "tables", name, "belongs to the root of the file");
        if (code == HN_OK)
            code = read_named(r, folder, name, out);
    }
    (void)H5Gclose(folder);
    return code;
}

// Edges must be those of equal bins: only the ends are kept.
static enum hn_code read_edges(const struct reader *r, hid_t group, struct hn_results *out) {
    int64_t n = out->bins + 1;
    double *edge = hn_alloc(r->ctx, n, sizeof *edge);
    if (!edge)
        return r->ctx->code;
    enum hn_code code = read_numbers(r, group, "hist", "bin_edge", H5T_NATIVE_DOUBLE, &n, 1, edge);
    if (code == HN_OK) {
        out->bin_lo = edge[0];
        out->bin_hi = edge[out->bins];
        double width = (out->bin_hi - out->bin_lo) / (double)out->bins;
        bool equal = width > 0 && isfinite(width);
        for (int64_t b = 0; equal && b < n; b++)
            equal = fabs(edge[b] - (out->bin_lo + width * (double)b)) < 1e-6 * width;
        if (!equal)
            code = bad(r, "hist", "bin_edge", "does not bound bins of equal width");
    }
    hn_free(r->ctx, edge);
    return code;
}

static enum hn_code read_counts(const struct reader *r, hid_t group, struct hn_results *out) {
    struct source s;
    if (open_source(r, group, "hist", "counts", &s))
        return r->ctx->code;
    enum hn_code code = HN_OK;
    if (s.rank != 3 || s.dims[0] != out->runs.rows || s.dims[1] != HN_PAIR_KINDS || s.dims[2] < 1 ||
        s.dims[2] > MOST_BINS)
        code = bad(r, "hist", "counts", "has the wrong shape");
    else if (s.class != H5T_INTEGER)
        code = bad(r, "hist", "counts", "is of the wrong type");
    else {
        out->kinds = HN_PAIR_KINDS;
        out->bins = s.dims[2];
        // holds() has seen that this product does not overflow.
        out->histogram =
            hn_alloc(r->ctx, s.dims[0] * s.dims[1] * s.dims[2], sizeof *out->histogram);
        if (!out->histogram)
            code = r->ctx->code;
        else if (H5Dread(s.set, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, out->histogram) <
                 0)
            code = bad(r, "hist", "counts", "cannot be read");
    }
    close_source(&s);
    return code;
}

static enum hn_code read_histogram(const struct reader *r, struct hn_results *out) {
    hid_t group;
    if (open_group(r, r->file, "hist", false, &group))
        return r->ctx->code;
    if (group < 0)
        return HN_OK;
    enum hn_code code = read_counts(r, group, out);
    if (code == HN_OK)
        code = read_edges(r, group, out);
    (void)H5Gclose(group);
    return code;
}

// Length of a dataset of one dimension that the file can hold.
static enum hn_code get_length(const struct reader *r, hid_t group, const char *where,
                               const char *name, int64_t *length) {
    struct source s;
    if (open_source(r, group, where, name, &s))
        return r->ctx->code;
    *length = s.dims[0];
    close_source(&s);
    return HN_OK;
}

static enum hn_code read_batch_values(const struct reader *r, hid_t group, struct hn_results *out) {
    int64_t n;
    if (get_length(r, group, "batch", "fn_ratio", &n))
        return r->ctx->code;
    if (n != out->batch_start[out->runs.rows])
        return bad(r, "batch", "fn_ratio", "has the wrong length");
    out->batch_fn_ratio = hn_alloc(r->ctx, n, sizeof *out->batch_fn_ratio);
    out->batch_cos_mean = hn_alloc(r->ctx, n, sizeof *out->batch_cos_mean);
    if (!out->batch_fn_ratio || !out->batch_cos_mean)
        return r->ctx->code;
    if (read_numbers(r, group, "batch", "fn_ratio", H5T_NATIVE_DOUBLE, &n, 1,
                     out->batch_fn_ratio) ||
        read_numbers(r, group, "batch", "cos_mean", H5T_NATIVE_DOUBLE, &n, 1, out->batch_cos_mean))
        return r->ctx->code;
    return HN_OK;
}

static enum hn_code read_batches(const struct reader *r, struct hn_results *out) {
    hid_t group;
    if (open_group(r, r->file, "batch", false, &group))
        return r->ctx->code;
    if (group < 0)
        return HN_OK;
    int64_t n = out->runs.rows + 1;
    enum hn_code code = HN_OK;
    out->batch_start = hn_zalloc(r->ctx, n, sizeof *out->batch_start);
    if (!out->batch_start)
        code = r->ctx->code;
    if (code == HN_OK)
        code = read_numbers(r, group, "batch", "row_splits", H5T_NATIVE_INT64, &n, 1,
                            out->batch_start);
    if (code == HN_OK && !hn_store_rises(out->batch_start, out->runs.rows))
        code = bad(r, "batch", "row_splits", "does not rise from 0");
    if (code == HN_OK)
        code = read_batch_values(r, group, out);
    (void)H5Gclose(group);
    return code;
}

// A dataset of n + 1 splits, which rise from 0: allocates and reads it.
static enum hn_code read_splits(const struct reader *r, hid_t group, const char *name, int64_t n,
                                int64_t **split) {
    int64_t length = n + 1;
    *split = hn_alloc(r->ctx, length, sizeof **split);
    if (!*split || read_numbers(r, group, "order", name, H5T_NATIVE_INT64, &length, 1, *split))
        return r->ctx->code;
    return hn_store_rises(*split, n) ? HN_OK : bad(r, "order", name, "does not rise from 0");
}

static enum hn_code read_saved(const struct reader *r, hid_t group, struct hn_results *out) {
    int64_t splits = 0, ids = 0;
    if (read_splits(r, group, "run_splits", out->runs.rows, &out->order_run) ||
        get_length(r, group, "order", "splits", &splits) ||
        get_length(r, group, "order", "index", &ids))
        return r->ctx->code;
    if (splits - 1 != out->order_run[out->runs.rows])
        return bad(r, "order", "splits", "has the wrong length");
    if (read_splits(r, group, "splits", splits - 1, &out->order_split))
        return r->ctx->code;
    if (ids != out->order_split[splits - 1])
        return bad(r, "order", "index", "has the wrong length");
    out->order_id = hn_alloc(r->ctx, ids, sizeof *out->order_id);
    return out->order_id
               ? read_numbers(r, group, "order", "index", H5T_NATIVE_INT32, &ids, 1, out->order_id)
               : r->ctx->code;
}

static enum hn_code read_order(const struct reader *r, struct hn_results *out) {
    hid_t group;
    if (open_group(r, r->file, "order", false, &group))
        return r->ctx->code;
    if (group < 0)
        return HN_OK;
    enum hn_code code = read_saved(r, group, out);
    (void)H5Gclose(group);
    return code;
}

// Text of an attribute: numbers in their shortest form. NULL: out of memory.
static char *attribute_text(const struct reader *r, hid_t object, const char *name) {
    char number[64];
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    hid_t type = attribute >= 0 ? H5Aget_type(attribute) : H5I_INVALID_HID;
    bool real = type >= 0 && H5Tget_class(type) == H5T_FLOAT;
    if (type >= 0)
        (void)H5Tclose(type);
    if (attribute >= 0)
        (void)H5Aclose(attribute);
    if (!real)
        return hn_h5_get_text(r->ctx, object, name, "");
    (void)hn_real_text(hn_h5_get_real(object, name, NAN), number, sizeof number);
    return hn_strdup(r->ctx, number);
}

typedef enum hn_code (*set_function)(struct hn_context *ctx, struct hn_results *out,
                                     const char *name, const char *value);

static bool is_schema(const char *name) {
    return strcmp(name, "schema") == 0 || strcmp(name, "schema_version") == 0;
}

static enum hn_code read_attributes(const struct reader *r, hid_t object, set_function set,
                                    struct hn_results *out) {
    H5O_info_t about;
    if (H5Oget_info2(object, &about, H5O_INFO_NUM_ATTRS) < 0 || about.num_attrs > MOST_ATTRIBUTES)
        return bad(r, "attributes", "", "cannot be read");
    for (hsize_t i = 0; i < about.num_attrs; i++) {
        char name[NAME_SIZE];
        ssize_t length = H5Aget_name_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, i, name,
                                            sizeof name, H5P_DEFAULT);
        if (length <= 0 || length >= NAME_SIZE)
            return bad(r, "attributes", "", "cannot be read");
        if (is_schema(name))
            continue;
        char *value = attribute_text(r, object, name);
        enum hn_code code = value ? set(r->ctx, out, name, value) : r->ctx->code;
        hn_free(r->ctx, value);
        if (code)
            return code;
    }
    return HN_OK;
}

static enum hn_code read_env(const struct reader *r, struct hn_results *out) {
    hid_t group;
    if (open_group(r, r->file, "env", false, &group))
        return r->ctx->code;
    if (group < 0)
        return HN_OK;
    enum hn_code code = read_attributes(r, group, hn_results_set_env, out);
    (void)H5Gclose(group);
    return code;
}

static enum hn_code check_schema(const struct reader *r) {
    char *schema = hn_h5_get_text(r->ctx, r->file, "schema", "");
    if (!schema)
        return r->ctx->code;
    int64_t version = hn_h5_get_int(r->file, "schema_version", 0);
    enum hn_code code = HN_OK;
    if (strcmp(schema, HN_STORE_SCHEMA) != 0)
        code = hn_fail(r->ctx, HN_DATA,
                       "%s: is no results file but %.40s: give a results.h5 that hardneg run "
                       "has written",
                       r->path, *schema ? schema : "another kind of HDF5 file");
    else if (version != HN_STORE_VERSION)
        code = hn_fail(r->ctx, HN_DATA,
                       "%s: has schema version %" PRId64 " and this program reads version %d: use "
                       "the hardneg that wrote it",
                       r->path, version, HN_STORE_VERSION);
    hn_free(r->ctx, schema);
    return code;
}

static enum hn_code open_results(struct hn_context *ctx, const char *path, struct reader *r) {
    hsize_t bytes = 0;
    *r = (struct reader){.ctx = ctx, .path = path, .file = H5I_INVALID_HID};
    if (hn_checksum_check(ctx, path) || hn_h5_open(ctx, path, &r->file))
        return ctx->code;
    enum hn_code code = H5Fget_filesize(r->file, &bytes) < 0 || bytes > INT64_MAX / DEFLATE_RATIO
                            ? hn_fail(ctx, HN_DATA, "%s: has no size: " MEND, path)
                            : check_schema(r);
    r->bytes = (int64_t)bytes;
    if (code == HN_OK)
        return HN_OK;
    (void)H5Fclose(r->file);
    return code;
}

enum hn_code hn_results_read_own(struct hn_context *ctx, const char *path, struct hn_results *out) {
    struct reader r;
    memset(out, 0, sizeof *out);
    if (open_results(ctx, path, &r))
        return ctx->code;
    enum hn_code code = HN_OK;
    // The rows of /runs are what the arrays are checked against.
    if (read_attributes(&r, r.file, hn_results_set, out) || read_env(&r, out) ||
        read_table(&r, r.file, "runs", true, &out->runs) ||
        read_table(&r, r.file, "timing", false, &out->timing) || read_tables(&r, out) ||
        read_histogram(&r, out) || read_batches(&r, out) || read_order(&r, out))
        code = ctx->code;
    (void)H5Fclose(r.file);
    if (code)
        hn_results_free(ctx, out);
    return code;
}

// What a process of its own does first: all that the reader does. Errors are left for the reader to
// find and explain.
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

bool hn_results_probe(struct hn_context *ctx, const char *path) {
    struct reader r;
    if (open_results(ctx, path, &r))
        return false;
    char *key = hn_h5_get_text(ctx, r.file, "run_key", "");
    bool good = key && *key;
    hn_free(ctx, key);
    (void)H5Fclose(r.file);
    return good;
}
