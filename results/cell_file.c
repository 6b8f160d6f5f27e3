// Cell files: one walk writes and reads the results of an item.
#include "results/cell_file.h"
#include "core/files.h"
#include "core/pairs.h"
#include "results/store_private.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// One walk over the results writes their bytes and reads them, so that both are of one format:
// numbers as they are in memory, texts and lists behind their lengths. Bytes may be damaged or made
// to harm: a length is held against what is left before anything is allocated.
struct stream {
    struct hn_context *ctx;
    struct hn_bytes *out;  // NULL: bytes are read
    struct hn_cursor from; // then
    enum hn_code code;     // of the first failure: nothing is written or read after it
};

static void check(struct stream *s, bool good) {
    if (!s->code && !good)
        s->code = hn_fail(s->ctx, HN_DATA, "the bytes of a cell are damaged");
}

static void pass(struct stream *s, void *data, int64_t n) {
    if (s->out && !s->code)
        s->code = hn_bytes_append(s->ctx, s->out, data, n);
    else if (!s->code)
        check(s, hn_cursor_take(&s->from, data, n));
}

static void pass_count(struct stream *s, int64_t *n) {
    pass(s, n, sizeof *n);
    check(s, *n >= 0);
}

// The array itself, or a new one of n elements.
static void *pass_array(struct stream *s, void *array, int64_t n, size_t size) {
    int64_t bytes = 0;
    check(s, n >= 0 && hn_mul(n, (int64_t)size, &bytes) && (s->out || bytes <= s->from.left));
    if (!s->out && (s->code || !(array = hn_alloc(s->ctx, n, size)))) {
        s->code = s->code ? s->code : s->ctx->code;
        return NULL;
    }
    pass(s, array, bytes);
    return array;
}

// Splits of n ranges; how many elements these have.
static int64_t pass_splits(struct stream *s, int64_t **split, int64_t n) {
    int64_t length = 0;
    check(s, hn_add(n, 1, &length));
    *split = pass_array(s, *split, length, sizeof **split);
    check(s, s->code || hn_store_rises(*split, n));
    return s->code ? 0 : (*split)[n];
}

// The text itself, or where it stands in the bytes that are read.
static const char *pass_text(struct stream *s, const char *text) {
    int64_t size = s->out ? (int64_t)strlen(text) + 1 : 0;
    pass_count(s, &size);
    if (s->out) {
        pass(s, (char *)text, size);
        return text;
    }
    check(s, size > 0 && size <= s->from.left && s->from.at[size - 1] == '\0');
    if (s->code)
        return "";
    text = s->from.at;
    s->from.at += size;
    s->from.left -= size;
    return text;
}

typedef enum hn_code set_fn(struct hn_context *ctx, struct hn_results *r, const char *name,
                            const char *value);

static void pass_pairs(struct stream *s, struct hn_results *r, const struct hn_text_pair *pair,
                       int64_t n, set_fn *set) {
    pass_count(s, &n);
    for (int64_t i = 0; i < n && !s->code; i++) {
        const char *name = pass_text(s, s->out ? pair[i].name : NULL);
        const char *value = pass_text(s, s->out ? pair[i].value : NULL);
        if (!s->out && !s->code)
            s->code = set(s->ctx, r, name, value);
    }
}

static void pass_column(struct stream *s, struct hn_table *t, int c) {
    struct hn_column column = {0};
    if (s->out)
        column = t->column[c];
    int64_t about[] = {column.kind, column.direction, column.role};
    pass(s, about, sizeof about);
    column.name = pass_text(s, column.name);
    column.units = pass_text(s, column.units);
    column.long_name = pass_text(s, column.long_name);
    column.heading = pass_text(s, column.heading);
    check(s, about[0] >= HN_COLUMN_TEXT && about[0] <= HN_COLUMN_INT && about[1] >= HN_SMALLER &&
                 about[1] <= HN_LARGER && about[2] >= HN_ROLE_AUTO && about[2] < HN_ROLES &&
                 (s->out || hn_table_find(t, column.name) < 0));
    if (s->out || s->code)
        return;
    column.kind = (enum hn_column_kind)about[0];
    column.direction = (enum hn_direction)about[1];
    column.role = (enum hn_role)about[2];
    s->code = hn_table_add_column(s->ctx, t, &column);
}

static void pass_cells(struct stream *s, struct hn_table *t, int c) {
    if (t->column[c].kind != HN_COLUMN_TEXT) {
        pass(s, t->cells[c].any, t->rows * (int64_t)sizeof(int64_t)); // of either kind of number
        return;
    }
    for (int64_t row = 0; row < t->rows && !s->code; row++) {
        const char *text = pass_text(s, s->out ? t->cells[c].text[row] : NULL);
        if (!s->out && !s->code)
            s->code = hn_table_set_text(s->ctx, t, row, t->column[c].name, text);
    }
}

// A table without columns has no rows either, and may have no name.
static void pass_table(struct stream *s, struct hn_table *t) {
    int64_t columns = t->n_columns, rows = columns > 0 ? t->rows : 0, cells = 0;
    const char *name = pass_text(s, t->name ? t->name : "");
    pass_count(s, &columns);
    pass_count(s, &rows);
    if (!s->out && !s->code && *name)
        s->code = hn_table_init(s->ctx, t, name);
    check(s, t->name || columns == 0);
    for (int64_t c = 0; c < columns && !s->code; c++)
        pass_column(s, t, (int)c);
    // A number, and the length of a text, take eight bytes.
    check(s, hn_mul(rows, columns, &cells) && (s->out || cells <= s->from.left / 8) &&
                 (rows == 0 || columns > 0));
    if (!s->out && !s->code)
        s->code = hn_table_add_rows(s->ctx, t, rows);
    for (int64_t c = 0; c < columns && !s->code; c++)
        pass_cells(s, t, (int)c);
}

static void pass_tables(struct stream *s, struct hn_results *r) {
    int64_t n = r->n_tables;
    pass_count(s, &n);
    for (int64_t i = 0; i < n && !s->code; i++) {
        struct hn_table *t = s->out ? &r->table[i] : hn_results_add_table(s->ctx, r);
        if (t)
            pass_table(s, t);
        else
            s->code = s->ctx->code;
    }
}

static void pass_histogram(struct stream *s, struct hn_results *r) {
    int64_t n = 0;
    pass_count(s, &r->kinds);
    pass_count(s, &r->bins);
    if (s->code || r->kinds == 0)
        return;
    pass(s, &r->bin_lo, sizeof r->bin_lo);
    pass(s, &r->bin_hi, sizeof r->bin_hi);
    check(s, r->kinds == HN_PAIR_KINDS && r->bins > 0 && r->bin_lo < r->bin_hi &&
                 hn_mul(r->kinds, r->bins, &n) && hn_mul(n, r->runs.rows, &n));
    r->histogram = pass_array(s, r->histogram, n, sizeof *r->histogram);
}

static void pass_batches(struct stream *s, struct hn_results *r) {
    int64_t kept = r->batch_start != NULL;
    pass_count(s, &kept);
    if (s->code || !kept)
        return;
    int64_t n = pass_splits(s, &r->batch_start, r->runs.rows);
    r->batch_fn_ratio = pass_array(s, r->batch_fn_ratio, n, sizeof *r->batch_fn_ratio);
    r->batch_cos_mean = pass_array(s, r->batch_cos_mean, n, sizeof *r->batch_cos_mean);
}

static void pass_order(struct stream *s, struct hn_results *r) {
    int64_t kept = r->order_run != NULL;
    pass_count(s, &kept);
    if (s->code || !kept)
        return;
    int64_t batches = pass_splits(s, &r->order_run, r->runs.rows);
    int64_t ids = pass_splits(s, &r->order_split, batches);
    r->order_id = pass_array(s, r->order_id, ids, sizeof *r->order_id);
}

static void pass_head(struct stream *s, struct hn_cell_head *head) {
    head->run_key = pass_text(s, head->run_key);
    head->cell_key = pass_text(s, head->cell_key);
    head->status = pass_text(s, head->status);
    head->program = pass_text(s, head->program);
}

// The rows of /runs come before what is laid out by them.
static void pass_results(struct stream *s, struct hn_results *r) {
    pass_pairs(s, r, r->attribute, r->n_attributes, hn_results_set);
    pass_pairs(s, r, r->env, r->n_env, hn_results_set_env);
    pass_table(s, &r->runs);
    pass_table(s, &r->timing);
    pass_tables(s, r);
    pass_histogram(s, r);
    pass_batches(s, r);
    pass_order(s, r);
}

enum hn_code hn_cell_bytes_put(struct hn_context *ctx, struct hn_cell_head head,
                               const struct hn_results *results, struct hn_bytes *out) {
    struct stream s = {.ctx = ctx, .out = out};
    struct hn_results r = *results; // its arrays are not written to
    pass_head(&s, &head);
    pass_results(&s, &r);
    return s.code;
}

enum hn_code hn_cell_bytes_take(struct hn_context *ctx, struct hn_cursor bytes,
                                struct hn_cell_head *head, struct hn_results *results) {
    struct stream s = {.ctx = ctx, .from = bytes};
    pass_head(&s, head);
    if (!results)
        return s.code;
    memset(results, 0, sizeof *results);
    pass_results(&s, results);
    check(&s, s.from.left == 0);
    if (s.code)
        hn_results_free(ctx, results);
    return s.code;
}

#define SUFFIX ".cell"
static const char first_line[] = "hardneg cell 1\n";

const char *hn_cell_file_text(const struct hn_results *cell, const char *column) {
    if (cell->runs.rows > 0)
        return hn_table_text(&cell->runs, 0, column);
    bool other = cell->n_tables > 0 && cell->table[0].rows > 0;
    return other ? hn_table_text(&cell->table[0], 0, column) : "";
}

// Reads <folder>/cells/<name>, of which the head has texts.
static enum hn_code read_head(struct hn_context *ctx, const char *folder, const char *name,
                              struct hn_bytes *bytes, struct hn_cell_head *head) {
    *head = (struct hn_cell_head){0};
    char *path = hn_format(ctx, "%s/cells/%s", folder, name);
    if (!path || hn_bytes_read(ctx, path, first_line, bytes))
        return ctx->code;
    return hn_cell_bytes_take(ctx, (struct hn_cursor){bytes->data, bytes->n}, head, NULL)
               ? hn_fail_in(ctx, "%s", path)
               : HN_OK;
}

static char *name_of(struct hn_context *ctx, const char *run_key) {
    return hn_format(ctx, "%s" SUFFIX, run_key);
}

enum hn_code hn_cell_file_state(struct hn_context *ctx, const char *folder, const char *run_key,
                                struct hn_cell_status *out) {
    struct hn_bytes bytes;
    struct hn_cell_head head;
    *out = (struct hn_cell_status){0};
    HN_SCOPE(ctx);
    char *name = name_of(ctx, run_key);
    enum hn_code code = name ? read_head(ctx, folder, name, &bytes, &head) : HN_MEMORY;
    if (code)
        return code == HN_DATA ? HN_OK : code; // a damaged file is a missing one
    out->present = strcmp(head.run_key, run_key) == 0;
    out->failed = out->present && strcmp(head.status, "failed") == 0;
    out->foreign = out->present && strcmp(head.program, ctx->program) != 0;
    return HN_OK;
}

enum hn_code hn_cell_file_write(struct hn_context *ctx, const char *folder, const char *run_key,
                                const struct hn_results *results) {
    HN_SCOPE(ctx);
    struct hn_bytes bytes = {0};
    char *path = hn_format(ctx, "%s/cells/%s" SUFFIX, folder, run_key);
    const struct hn_cell_head head = {
        hn_cell_file_text(results, "run_key"), hn_cell_file_text(results, "cell_key"),
        hn_cell_file_text(results, "status"), hn_cell_file_text(results, "program")};
    enum hn_code code = path ? hn_cell_bytes_put(ctx, head, results, &bytes) : HN_MEMORY;
    if (!code)
        code = hn_bytes_write(ctx, path, first_line, 0, bytes.data, bytes.n);
    return code == HN_USAGE ? hn_fail_in(ctx, "storing a cell") : code;
}

enum hn_code hn_cell_file_read(struct hn_context *ctx, const char *folder, const char *run_key,
                               struct hn_results *out) {
    struct hn_bytes bytes;
    struct hn_cell_head head;
    memset(out, 0, sizeof *out);
    HN_SCOPE(ctx);
    char *name = name_of(ctx, run_key);
    if (!name || read_head(ctx, folder, name, &bytes, &head))
        return ctx->code;
    hn_own(ctx, scope.outer);
    return hn_cell_bytes_take(ctx, (struct hn_cursor){bytes.data, bytes.n}, &head, out)
               ? hn_fail_in(ctx, "%s/cells/%s", folder, name)
               : HN_OK;
}

enum hn_code hn_cell_files_prepare(struct hn_context *ctx, const char *folder) {
    HN_SCOPE(ctx);
    char *cells = hn_format(ctx, "%s/cells", folder);
    char *probe = cells ? hn_format(ctx, "%s/.writable", cells) : NULL;
    if (!probe || hn_folder_make(ctx, cells))
        return ctx->code;
    FILE *file = fopen(probe, "w");
    if (!file)
        return hn_fail(ctx, HN_USAGE, "%s: cannot be written (%s): give another -o", cells,
                       strerror(errno));
    (void)fclose(file);
    (void)remove(probe);
    hn_temporary_sweep(cells, ""); // of runs that were killed
    hn_temporary_sweep(folder, "");
    return HN_OK;
}

static char *plan_path(struct hn_context *ctx, const char *folder) {
    return hn_format(ctx, "%s/cells/plan", folder);
}

enum hn_code hn_cell_plan_write(struct hn_context *ctx, const char *folder,
                                const struct hn_results *plan) {
    HN_SCOPE(ctx);
    struct hn_bytes bytes = {0};
    char *path = plan_path(ctx, folder);
    return path && !hn_cell_bytes_put(ctx, (struct hn_cell_head){"", "", "", ""}, plan, &bytes)
               ? hn_bytes_write(ctx, path, first_line, 0, bytes.data, bytes.n)
               : ctx->code;
}

void hn_cell_plan_remove(struct hn_context *ctx, const char *folder) {
    HN_SCOPE(ctx);
    char *path = plan_path(ctx, folder);
    if (path)
        (void)remove(path);
}

bool hn_cell_plan_is_there(const char *folder) {
    char path[PATH_MAX]; // no file has a longer one
    int n = snprintf(path, sizeof path, "%s/cells/plan", folder);
    return n < PATH_MAX && access(path, F_OK) == 0;
}

// Appends a cell if it is finished.
static enum hn_code append_cell(struct hn_context *ctx, const char *folder, const char *run_key,
                                struct hn_results *out, int64_t *finished) {
    struct hn_cell_status is;
    struct hn_results cell;
    if (hn_cell_file_state(ctx, folder, run_key, &is))
        return ctx->code;
    if (!is.present)
        return HN_OK;
    enum hn_code code = hn_cell_file_read(ctx, folder, run_key, &cell);
    if (!code)
        code = hn_results_append(ctx, out, &cell);
    hn_results_free(ctx, &cell);
    ++*finished;
    return code;
}

enum hn_code hn_cell_plan_read(struct hn_context *ctx, const char *folder, struct hn_results *out) {
    struct hn_bytes bytes;
    struct hn_cell_head head;
    int64_t finished = 0;
    *out = (struct hn_results){0};
    char *path = plan_path(ctx, folder);
    if (!path || hn_bytes_read(ctx, path, first_line, &bytes))
        return ctx->code;
    if (hn_cell_bytes_take(ctx, (struct hn_cursor){bytes.data, bytes.n}, &head, out))
        return hn_fail_in(ctx, "%s", path);
    enum hn_code code = HN_OK;
    for (int64_t i = 0; !code; i++) {
        const struct hn_table *plan = hn_results_table(out, "plan"); // moves as tables are added
        if (!plan || i == plan->rows)
            break;
        code = append_cell(ctx, folder, hn_table_text(plan, i, "run_key"), out, &finished);
    }
    if (!code && finished == 0)
        code = hn_fail(ctx, HN_DATA, "%s: its run has not finished a cell yet", folder);
    if (code)
        hn_results_free(ctx, out);
    return code;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool hn_cell_file_list_has(const struct hn_cell_file_list *list, const char *cell_key) {
    return list->n > 0 &&
           bsearch(&cell_key, list->key, (size_t)list->n, sizeof *list->key, by_text) != NULL;
}

// An incomplete cell file is ignored.
static enum hn_code list_file(struct hn_context *ctx, const char *folder, const char *name,
                              struct hn_cell_file_list *list) {
    if (!hn_ends_in(name, SUFFIX))
        return HN_OK;
    struct hn_bytes bytes;
    struct hn_cell_head head;
    HN_SCOPE(ctx);
    enum hn_code code = read_head(ctx, folder, name, &bytes, &head);
    if (code)
        return code == HN_DATA ? HN_OK : code;
    hn_own(ctx, scope.outer);
    if (hn_grow(ctx, &list->key, &list->capacity, list->n + 1, sizeof *list->key) ||
        !(list->key[list->n] = hn_strdup(ctx, head.cell_key)))
        return ctx->code;
    list->n++;
    return HN_OK;
}

enum hn_code hn_cell_file_list_read(struct hn_context *ctx, const char *folder,
                                    struct hn_cell_file_list *out) {
    *out = (struct hn_cell_file_list){0};
    char *cells = hn_format(ctx, "%s/cells", folder);
    if (!cells)
        return ctx->code;
    DIR *opened = opendir(cells);
    enum hn_code code = HN_OK;
    // cppcheck-suppress readdirCalled ; no other thread reads this folder
    for (struct dirent *entry; code == HN_OK && opened && (entry = readdir(opened)) != NULL;)
        code = list_file(ctx, folder, entry->d_name, out);
    if (opened)
        closedir(opened);
    if (out->n > 0)
        qsort(out->key, (size_t)out->n, sizeof *out->key, by_text);
    return code;
}
