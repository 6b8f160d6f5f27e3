// Tables of cell files: one dataset of records each, a member for every column, and what the
// columns are in /columns/<table>, a line of four words each, compressed. A dataset for every
// column costs 800 bytes, whatever it holds, and a cell file holds a row or a few.
#include "results/store_private.h"

#include <string.h>

enum { MAX_COLUMNS = 4096 };

// Bytes of the cells of a column: texts have the length of the longest.
static size_t cell_size(const struct hn_table *t, int c) {
    size_t size = 1;
    if (t->column[c].kind != HN_COLUMN_TEXT)
        return sizeof(int64_t);
    for (int64_t row = 0; row < t->rows; row++)
        size = hn_max((int64_t)strlen(t->cells[c].text[row]), (int64_t)size);
    return size;
}

static hid_t text_member(size_t size) {
    hid_t type = H5Tcopy(H5T_C_S1);
    return hn_h5_keep(type, H5Tset_size(type, size) >= 0 &&
                                H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0 &&
                                H5Tset_cset(type, H5T_CSET_UTF8) >= 0);
}

// The type of the records in memory, or of the same layout in the file: bytes[c] for column c. Both
// are the same on a machine that is little-endian, so that HDF5 converts nothing.
static hid_t record_type(const struct hn_table *t, const size_t *bytes, bool in_file) {
    size_t size = 0, at = 0;
    for (int c = 0; c < t->n_columns; c++)
        size += bytes[c];
    hid_t type = H5Tcreate(H5T_COMPOUND, size);
    bool good = type >= 0;
    for (int c = 0; c < t->n_columns && good; at += bytes[c++]) {
        enum hn_column_kind kind = t->column[c].kind;
        hid_t member = kind == HN_COLUMN_TEXT   ? text_member(bytes[c])
                       : kind == HN_COLUMN_REAL ? (in_file ? H5T_IEEE_F64LE : H5T_NATIVE_DOUBLE)
                                                : (in_file ? H5T_STD_I64LE : H5T_NATIVE_INT64);
        good = member >= 0 && H5Tinsert(type, t->column[c].name, at, member) >= 0;
        if (kind == HN_COLUMN_TEXT)
            hn_h5_close(member);
    }
    return hn_h5_keep(type, good);
}

static void fill_records(const struct hn_table *t, const size_t *bytes, size_t size, char *record) {
    for (int c = 0; c < t->n_columns; record += bytes[c++])
        for (int64_t row = 0; row < t->rows; row++) {
            char *cell = record + (size_t)row * size;
            if (t->column[c].kind == HN_COLUMN_TEXT)
                memcpy(cell, t->cells[c].text[row], strlen(t->cells[c].text[row]));
            else // of either kind of number
                memcpy(cell, &t->cells[c].count[row], sizeof(int64_t));
        }
}

// "units\tlong name\tdirection\trole\theading\n" of every column.
static char *describe(struct hn_context *ctx, const struct hn_table *t) {
    char *all = hn_strdup(ctx, "");
    for (int c = 0; c < t->n_columns && all; c++) {
        const struct hn_column *column = &t->column[c];
        char *longer = hn_format(ctx, "%s%s\t%s\t%s\t%s\t%s\n", all, column->units,
                                 column->long_name, hn_direction_name(column->direction),
                                 column->role ? hn_role_name(column->role) : "",
                                 column->heading ? column->heading : "");
        hn_free(ctx, all); // a scope would hold all of them
        all = longer;
    }
    return all;
}

static enum hn_code write_about(struct hn_context *ctx, hid_t parent, const char *name,
                                const char *about) {
    hsize_t n = strlen(about);
    char *path = hn_format(ctx, "/columns/%s", name);
    if (!path)
        return ctx->code;
    const struct hn_h5_array a = {.name = path,
                                  .type = H5T_STD_U8LE,
                                  .memory = H5T_NATIVE_UINT8,
                                  .rank = 1,
                                  .dim = {n, 1, 1},
                                  .data = about,
                                  .chunk = {n, 1, 1},
                                  .deflate = 6};
    hid_t set = hn_h5_write_array(parent, &a);
    if (set < 0)
        return hn_fail(ctx, HN_IO, "writing %s failed: is the disk full?", name);
    hn_h5_close(set);
    return HN_OK;
}

enum hn_code hn_store_pack(struct hn_context *ctx, hid_t parent, const char *name,
                           const struct hn_table *t) {
    HN_SCOPE(ctx);
    size_t *bytes = hn_alloc(ctx, hn_max(t->n_columns, 1), sizeof *bytes);
    for (int c = 0; bytes && c < t->n_columns; c++)
        bytes[c] = cell_size(t, c);
    hid_t set = H5I_INVALID_HID;
    hid_t stored = bytes && t->n_columns > 0 ? record_type(t, bytes, true) : H5I_INVALID_HID;
    hid_t memory = stored >= 0 ? record_type(t, bytes, false) : stored;
    size_t size = memory >= 0 ? H5Tget_size(memory) : 0;
    char *record = hn_zalloc(ctx, hn_max(t->rows, 1), size + 1);
    char *about = bytes && record ? describe(ctx, t) : NULL;
    enum hn_code code = about ? HN_OK : ctx->code;
    if (code == HN_OK && size > 0) {
        fill_records(t, bytes, size, record);
        const struct hn_h5_array a = {.name = name,
                                      .type = stored,
                                      .memory = memory,
                                      .rank = 1,
                                      .dim = {(hsize_t)t->rows, 1, 1},
                                      .data = record};
        set = hn_h5_write_array(parent, &a);
    }
    if (code == HN_OK && set < 0)
        code = hn_fail(ctx, HN_IO, "writing %s failed: is the disk full?", name);
    if (code == HN_OK)
        code = write_about(ctx, parent, name, about);
    hn_h5_close(set, memory, stored);
    return code;
}

// Adds member m of the records as a column, described by the next line of *about; *bytes is the
// length of its cells.
static enum hn_code add_member(const struct hn_store_reader *r, hid_t type, unsigned m,
                               char **about, struct hn_table *t, size_t *bytes) {
    char *line = strsep(about, "\n"), *word[HN_STORE_ABOUT];
    for (int i = 0; i < HN_STORE_ABOUT; i++)
        word[i] = line ? strsep(&line, "\t") : NULL;
    char *name = H5Tget_member_name(type, m);
    H5T_class_t class = H5Tget_member_class(type, m);
    hid_t member = H5Tget_member_type(type, m);
    bool text = class == H5T_STRING && member >= 0 && H5Tis_variable_str(member) == 0;
    bool column = text || class == H5T_FLOAT || class == H5T_INTEGER;
    *bytes = text ? H5Tget_size(member) : sizeof(int64_t);
    enum hn_code code = name && word[3] && column
                            ? hn_store_add_column(r, t, name, class, word)
                            : hn_store_bad(r, t->name, "", "has members that are not columns");
    hn_h5_close(member);
    if (name)
        (void)H5free_memory(name);
    return code;
}

// Puts the cells of column c, the first of them at `record`, into the table.
static enum hn_code take_column(const struct hn_store_reader *r, const char *record, size_t size,
                                int c, size_t bytes, struct hn_table *t) {
    char *text = hn_zalloc(r->ctx, (int64_t)bytes + 1, 1); // records have texts without an end
    if (!text)
        return r->ctx->code;
    for (int64_t row = 0; row < t->rows; row++, record += size)
        if (t->column[c].kind != HN_COLUMN_TEXT)
            memcpy(&t->cells[c].count[row], record, sizeof(int64_t));
        else if (hn_table_set_text(r->ctx, t, row, t->column[c].name, memcpy(text, record, bytes)))
            return r->ctx->code;
    return HN_OK;
}

// Reads all records at once: HDF5 keeps a conversion for every pair of types that differ.
static enum hn_code take_records(const struct hn_store_reader *r, const struct hn_h5_data *s,
                                 const size_t *bytes, struct hn_table *t) {
    int64_t all;
    hid_t type = record_type(t, bytes, false);
    size_t size = type >= 0 ? H5Tget_size(type) : 0, at = 0;
    char *record = hn_mul((int64_t)size, t->rows, &all) ? hn_alloc(r->ctx, all, 1) : NULL;
    enum hn_code code = record ? HN_OK : HN_MEMORY;
    if (code == HN_OK &&
        (type < 0 || H5Dread(s->id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, record) < 0))
        code = hn_store_bad(r, t->name, "", "cannot be read");
    for (int c = 0; c < t->n_columns && code == HN_OK; at += bytes[c++])
        code = take_column(r, record + at, size, c, bytes[c], t);
    hn_h5_close(type);
    return code;
}

static enum hn_code read_about(const struct hn_store_reader *r, const char *name, char **about) {
    struct hn_h5_data s;
    char *path = hn_format(r->ctx, "/columns/%s", name);
    if (!path)
        return r->ctx->code;
    enum hn_code code = hn_store_open_data(r, r->file, "", path, &s);
    if (code)
        return code;
    if (s.rank != 1 || s.class != H5T_INTEGER)
        code = hn_store_bad(r, "columns", name, "is of the wrong type");
    else if (!(*about = hn_zalloc(r->ctx, (int64_t)s.dim[0] + 1, 1)))
        code = r->ctx->code;
    else if (H5Dread(s.id, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, *about) < 0)
        code = hn_store_bad(r, "columns", name, "cannot be read");
    hn_h5_data_close(&s);
    return code;
}

static enum hn_code read_records(const struct hn_store_reader *r, const struct hn_h5_data *s,
                                 struct hn_table *t) {
    int members = s->class == H5T_COMPOUND ? H5Tget_nmembers(s->type) : 0;
    if (members < 1 || members > MAX_COLUMNS || s->rank != 1)
        return hn_store_bad(r, t->name, "", "is not a group of this file");
    HN_SCOPE(r->ctx); // what the table holds belongs to its name
    char *about = NULL;
    size_t *bytes = hn_alloc(r->ctx, members, sizeof *bytes);
    if (!bytes || read_about(r, t->name, &about))
        return r->ctx->code;
    for (int m = 0; m < members; m++)
        if (add_member(r, s->type, (unsigned)m, &about, t, &bytes[m]))
            return r->ctx->code;
    return hn_table_add_rows(r->ctx, t, (int64_t)s->dim[0]) || take_records(r, s, bytes, t)
               ? r->ctx->code
               : HN_OK;
}

enum hn_code hn_store_unpack(const struct hn_store_reader *r, hid_t parent, const char *name,
                             struct hn_table *t) {
    struct hn_h5_data s;
    if (hn_store_open_data(r, parent, "", name, &s))
        return r->ctx->code;
    bool failed = hn_table_init(r->ctx, t, name) || read_records(r, &s, t);
    hn_h5_data_close(&s);
    return failed ? r->ctx->code : HN_OK;
}
