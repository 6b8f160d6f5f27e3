// Reads the tables of results files: a group of columns each.
#include "results/store_private.h"

#include <string.h>

enum { MOST_LINKS = 4096 }; // columns of a table, tables of a file

// The column that texts go to.
struct text_column {
    const struct hn_store_reader *r;
    struct hn_table *t;
    const char *name;
};

static enum hn_code put_text(void *user, int64_t row, const char *text) {
    struct text_column *c = user;
    return *text ? hn_table_set_text(c->r->ctx, c->t, row, c->name, text) : HN_OK;
}

static enum hn_code read_cells(const struct hn_store_reader *r, const struct hn_h5_data *s,
                               struct hn_table *t, const char *name) {
    int c = hn_table_find(t, name);
    union hn_cells *cells = &t->cells[c];
    if (t->column[c].kind == HN_COLUMN_TEXT) {
        struct text_column to = {r, t, name};
        // A text of n bytes takes n + 1 here and at least 16 + n in the file.
        enum hn_code code = hn_h5_read_texts(r->ctx, s, t->rows, r->bytes, put_text, &to);
        return code == HN_DATA ? hn_store_bad(r, t->name, name, "cannot be read") : code;
    }
    bool real = t->column[c].kind == HN_COLUMN_REAL;
    hid_t memory = real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
    void *out = real ? (void *)cells->real : (void *)cells->count;
    if (H5Dread(s->id, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) < 0)
        return hn_store_bad(r, t->name, name, "cannot be read");
    return HN_OK;
}

static enum hn_code add_column(const struct hn_store_reader *r, const struct hn_h5_data *s,
                               struct hn_table *t, const char *name) {
    struct hn_column column = {.name = name, .direction = HN_NEITHER};
    if (s->class == H5T_STRING)
        column.kind = HN_COLUMN_TEXT;
    else if (s->class == H5T_FLOAT)
        column.kind = HN_COLUMN_REAL;
    else if (s->class == H5T_INTEGER)
        column.kind = HN_COLUMN_INT;
    else
        return hn_store_bad(r, t->name, name, "holds neither numbers nor text");
    char *units = hn_h5_get_text(r->ctx, s->id, "units", "");
    char *long_name = units ? hn_h5_get_text(r->ctx, s->id, "long_name", "") : NULL;
    char *direction = long_name ? hn_h5_get_text(r->ctx, s->id, "direction", "") : NULL;
    char *role = direction ? hn_h5_get_text(r->ctx, s->id, "role", "") : NULL;
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

// The first column says how many rows there are; hn_store_open_data() has held that against the
// file.
static enum hn_code add_rows(const struct hn_store_reader *r, struct hn_table *t, int64_t rows) {
    while (t->rows < rows)
        if (hn_table_add_row(r->ctx, t))
            return r->ctx->code;
    return HN_OK;
}

static enum hn_code read_column(const struct hn_store_reader *r, hid_t group, struct hn_table *t,
                                const char *name) {
    struct hn_h5_data s;
    if (hn_store_open_data(r, group, t->name, name, &s))
        return r->ctx->code;
    enum hn_code code = HN_OK;
    if (t->n_columns == 0 && t->rows == 0 && s.rank == 1)
        code = add_rows(r, t, (int64_t)s.dim[0]);
    if (code == HN_OK)
        code = hn_store_check_length(r, t->name, name, &s, t->rows);
    if (code == HN_OK && strcmp(name, HN_STORE_ROW) != 0)
        code = add_column(r, &s, t, name);
    if (code == HN_OK && strcmp(name, HN_STORE_ROW) != 0)
        code = read_cells(r, &s, t, name);
    hn_h5_data_close(&s);
    return code;
}

static enum hn_code link_count(const struct hn_store_reader *r, hid_t group, const char *name,
                               hsize_t *count, H5_index_t *order) {
    H5G_info_t about;
    unsigned flags = 0;
    hid_t list = H5Gget_create_plist(group);
    if (H5Pget_link_creation_order(list, &flags) < 0)
        flags = 0;
    hn_h5_close(list);
    *order = flags & H5P_CRT_ORDER_TRACKED ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
    if (H5Gget_info(group, &about) < 0)
        return hn_store_bad(r, name, "", "cannot be read");
    if (about.nlinks > MOST_LINKS)
        return hn_store_bad(r, name, "", "has more than 4096 members");
    *count = about.nlinks;
    return HN_OK;
}

static enum hn_code link_name(const struct hn_store_reader *r, hid_t group, const char *where,
                              H5_index_t order, hsize_t i, char name[HN_STORE_NAME_SIZE]) {
    ssize_t length = H5Lget_name_by_idx(group, ".", order, H5_ITER_INC, i, name, HN_STORE_NAME_SIZE,
                                        H5P_DEFAULT);
    return length > 0 && length < HN_STORE_NAME_SIZE
               ? HN_OK
               : hn_store_bad(r, where, "", "has a member without name");
}

enum hn_code hn_store_read_table(const struct hn_store_reader *r, hid_t parent, const char *name,
                                 bool required, struct hn_table *t) {
    hid_t group;
    hsize_t count = 0;
    H5_index_t order;
    H5O_info_t about;
    if (hn_h5_find(parent, name) == HN_H5_HARD &&
        H5Oget_info_by_name2(parent, name, &about, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 &&
        about.type == H5O_TYPE_DATASET)
        return hn_store_unpack(r, parent, name, t);
    if (hn_store_open_group(r, parent, name, required, &group))
        return r->ctx->code;
    if (group < 0)
        return HN_OK;
    enum hn_code code = hn_table_init(r->ctx, t, name);
    if (code == HN_OK)
        code = link_count(r, group, name, &count, &order);
    for (hsize_t i = 0; code == HN_OK && i < count; i++) {
        char column[HN_STORE_NAME_SIZE];
        code = link_name(r, group, name, order, i, column);
        if (code == HN_OK)
            code = read_column(r, group, t, column);
    }
    hn_h5_close(group);
    return code;
}

static enum hn_code read_named(const struct hn_store_reader *r, hid_t parent, const char *name,
                               struct hn_results *out) {
    struct hn_table *longer = hn_resize(r->ctx, out->table, out->n_tables + 1, sizeof *longer);
    if (!longer)
        return r->ctx->code;
    out->table = longer;
    // Counted before it is read, so that it is freed whatever happens.
    memset(&longer[out->n_tables], 0, sizeof *longer);
    return hn_store_read_table(r, parent, name, true, &longer[out->n_tables++]);
}

enum hn_code hn_store_read_tables(const struct hn_store_reader *r, struct hn_results *out) {
    hid_t folder;
    hsize_t count = 0;
    H5_index_t order;
    static const char *const at_root[] = {"snapshots", "training"};
    for (int i = 0; i < 2; i++)
        if (H5Lexists(r->file, at_root[i], H5P_DEFAULT) > 0 &&
            read_named(r, r->file, at_root[i], out))
            return r->ctx->code;
    if (hn_store_open_group(r, r->file, "tables", false, &folder))
        return r->ctx->code;
    if (folder < 0)
        return HN_OK;
    enum hn_code code = link_count(r, folder, "tables", &count, &order);
    for (hsize_t i = 0; code == HN_OK && i < count; i++) {
        char name[HN_STORE_NAME_SIZE];
        code = link_name(r, folder, "tables", order, i, name);
        if (code == HN_OK && hn_store_at_root(name))
            code = hn_store_bad(r, "tables", name, "belongs to the root of the file");
        if (code == HN_OK)
            code = read_named(r, folder, name, out);
    }
    hn_h5_close(folder);
    return code;
}
