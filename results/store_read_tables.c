// Reads the tables of results files: a group of columns each.
#include "results/store_private.h"

#include <string.h>

enum hn_code hn_store_bad(const struct hn_store_reader *r, const char *group, const char *name,
                          const char *what) {
    return hn_fail(r->ctx, HN_DATA, "%s: %s%s%s %s: " HN_STORE_MEND, r->path, group,
                   *name ? "/" : "", name, what);
}

enum hn_code hn_store_open_group(const struct hn_store_reader *r, hid_t parent, const char *name,
                                 bool required, hid_t *group) {
    *group = H5I_INVALID_HID;
    enum hn_h5_link link = hn_h5_find(parent, name);
    if (link == HN_H5_NONE)
        return required ? hn_store_bad(r, name, "", "is missing") : HN_OK;
    if (link == HN_H5_HARD)
        *group = H5Gopen2(parent, name, H5P_DEFAULT);
    return *group >= 0 ? HN_OK : hn_store_bad(r, name, "", "is not a group of this file");
}

enum hn_code hn_store_open_data(const struct hn_store_reader *r, hid_t parent, const char *group,
                                const char *name, struct hn_h5_data *s) {
    static const char *const what[HN_H5_FAULTS] = {[HN_H5_ABSENT] = "is missing",
                                                   [HN_H5_NO_TYPE] = "is not an array",
                                                   [HN_H5_FILTER] = "cannot be read"};
    enum hn_h5_fault fault = hn_h5_data_open(parent, name, s);
    if (fault != HN_H5_GOOD)
        return hn_store_bad(r, group, name,
                            what[fault] ? what[fault] : "is not a dataset of this file");
    bool array = s->rank >= 1 && s->rank <= HN_H5_RANK_MAX;
    if (array && hn_h5_data_holds(s, r->bytes, 0))
        return HN_OK;
    hn_h5_data_close(s);
    return hn_store_bad(r, group, name,
                        array ? "claims more values than the file holds" : "is not an array");
}

enum hn_code hn_store_check_length(const struct hn_store_reader *r, const char *group,
                                   const char *name, const struct hn_h5_data *s, int64_t n) {
    return s->rank == 1 && s->dim[0] == (hsize_t)n
               ? HN_OK
               : hn_store_bad(r, group, name, "has the wrong length");
}

enum { MAX_LINKS = 4096 }; // columns of a table, tables of a file

static enum hn_code read_texts(const struct hn_store_reader *r, const struct hn_h5_data *s,
                               struct hn_table *t, const char *name) {
    struct hn_strings text = {0};
    HN_SCOPE(r->ctx);
    // A text of n bytes takes n + 1 here and at least 16 + n in the file.
    enum hn_code code = hn_h5_read_texts(r->ctx, s, t->rows, r->bytes, &text);
    if (code == HN_DATA)
        return hn_store_bad(r, t->name, name, "cannot be read");
    for (int64_t row = 0; !code && row < t->rows; row++)
        if (*hn_string(&text, row))
            code = hn_table_set_text(r->ctx, t, row, name, hn_string(&text, row));
    return code;
}

static enum hn_code read_cells(const struct hn_store_reader *r, const struct hn_h5_data *s,
                               struct hn_table *t, const char *name) {
    int c = hn_table_find(t, name);
    union hn_cells *cells = &t->cells[c];
    if (t->column[c].kind == HN_COLUMN_TEXT)
        return read_texts(r, s, t, name);
    bool real = t->column[c].kind == HN_COLUMN_REAL;
    hid_t memory = real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
    void *out = real ? (void *)cells->real : (void *)cells->count;
    if (H5Dread(s->id, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) < 0)
        return hn_store_bad(r, t->name, name, "cannot be read");
    return HN_OK;
}

static bool among(const char *name, const char *const *list) {
    for (; *list; list++)
        if (strcmp(name, *list) == 0)
            return true;
    return false;
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
    if (among(column->name, times))
        return HN_ROLE_TIME;
    if (among(column->name, derived))
        return HN_ROLE_DERIVED;
    if (among(column->name, machine) || among(column->units, units))
        return HN_ROLE_MACHINE;
    if (among(column->name, names))
        return HN_ROLE_IDENTITY;
    if (among(table, cells) && among(column->name, settings)) // else values of a study's rows
        return HN_ROLE_SETTING;
    return among(column->name, binned) ? HN_ROLE_BINNED : HN_ROLE_AUTO;
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
static enum hn_code add_column(const struct hn_store_reader *r, const struct hn_h5_data *s,
                               struct hn_table *t, const char *name) {
    if (s->class != H5T_STRING && s->class != H5T_FLOAT && s->class != H5T_INTEGER)
        return hn_store_bad(r, t->name, name, "holds neither numbers nor text");
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
    return hn_table_add_column(r->ctx, t, &column);
}

// The first column says how many rows there are; hn_store_open_data() has checked that.
static enum hn_code read_column(const struct hn_store_reader *r, hid_t group, const char *name,
                                void *into) {
    struct hn_table *t = into;
    struct hn_h5_data s;
    if (hn_store_open_data(r, group, t->name, name, &s))
        return r->ctx->code;
    enum hn_code code = HN_OK;
    if (t->n_columns == 0 && t->rows == 0 && s.rank == 1)
        code = hn_table_add_rows(r->ctx, t, (int64_t)s.dim[0]);
    if (code == HN_OK)
        code = hn_store_check_length(r, t->name, name, &s, t->rows);
    if (code == HN_OK && strcmp(name, HN_STORE_ROW) != 0)
        code = add_column(r, &s, t, name) ? r->ctx->code : read_cells(r, &s, t, name);
    hn_h5_data_close(&s);
    return code;
}

// Calls read() for every link of group `where`, in the order of creation where the file keeps it.
static enum hn_code each_link(const struct hn_store_reader *r, hid_t group, const char *where,
                              enum hn_code (*read)(const struct hn_store_reader *r, hid_t group,
                                                   const char *name, void *into),
                              void *into) {
    H5G_info_t about;
    unsigned flags = 0;
    hid_t list = H5Gget_create_plist(group);
    if (H5Pget_link_creation_order(list, &flags) < 0)
        flags = 0;
    hn_h5_close(list);
    H5_index_t order = flags & H5P_CRT_ORDER_TRACKED ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
    if (H5Gget_info(group, &about) < 0)
        return hn_store_bad(r, where, "", "cannot be read");
    if (about.nlinks > MAX_LINKS)
        return hn_store_bad(r, where, "", "has more than 4096 members");
    for (hsize_t i = 0; i < about.nlinks; i++) {
        char name[HN_STORE_NAME_SIZE];
        ssize_t length =
            H5Lget_name_by_idx(group, ".", order, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT);
        if (length <= 0 || length >= HN_STORE_NAME_SIZE)
            return hn_store_bad(r, where, "", "has a member without name");
        if (read(r, group, name, into))
            return r->ctx->code;
    }
    return HN_OK;
}

enum hn_code hn_store_read_table(const struct hn_store_reader *r, hid_t parent, const char *name,
                                 bool required, struct hn_table *t) {
    hid_t group;
    if (hn_store_open_group(r, parent, name, required, &group))
        return r->ctx->code;
    if (group < 0)
        return HN_OK;
    bool failed = hn_table_init(r->ctx, t, name) || each_link(r, group, name, read_column, t) ||
                  rename_samplers(r->ctx, t);
    hn_h5_close(group);
    return failed ? r->ctx->code : HN_OK;
}

static enum hn_code read_named(const struct hn_store_reader *r, hid_t parent, const char *name,
                               struct hn_results *out) {
    // Counted before it is read, so that it is freed whatever happens.
    struct hn_table *t = hn_results_add_table(r->ctx, out);
    return t ? hn_store_read_table(r, parent, name, true, t) : r->ctx->code;
}

static enum hn_code read_further(const struct hn_store_reader *r, hid_t folder, const char *name,
                                 void *into) {
    return hn_store_at_root(name)
               ? hn_store_bad(r, "tables", name, "belongs to the root of the file")
               : read_named(r, folder, name, into);
}

enum hn_code hn_store_read_tables(const struct hn_store_reader *r, struct hn_results *out) {
    hid_t folder;
    static const char *const at_root[] = {"snapshots", "training"};
    for (int i = 0; i < 2; i++)
        if (H5Lexists(r->file, at_root[i], H5P_DEFAULT) > 0 &&
            read_named(r, r->file, at_root[i], out))
            return r->ctx->code;
    if (hn_store_open_group(r, r->file, "tables", false, &folder))
        return r->ctx->code;
    enum hn_code code = folder < 0 ? HN_OK : each_link(r, folder, "tables", read_further, out);
    hn_h5_close(folder);
    return code;
}
