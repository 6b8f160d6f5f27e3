#include "core/files.h"
#include "datasets/cells.h"
#include "datasets/import/format.h"
#include "harness/mining/price_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { QUERY, PASSAGE, PROBABILITY, RELEVANT, COLUMNS };
static const char *const name[COLUMNS] = {"query", "passage", "probability", "relevant"};

// A cell: quoted where spreadsheets want it; tabs and line ends become blanks.
static void put_cell(FILE *out, const char *text) {
    bool quoted = strchr(text, '"') != NULL;
    if (quoted)
        (void)fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            (void)fputc('"', out);
        (void)fputc(strchr("\t\r\n", *text) ? ' ' : *text, out);
    }
    (void)fputs(quoted ? "\"\t" : "\t", out);
}

static enum hn_code check_id(struct hn_context *ctx, const char *path, const char *id) {
    if (!strpbrk(id, "\t\r\n"))
        return HN_OK;
    return hn_fail(ctx, HN_DATA,
                   "%s: the id %s has a tab or a line end, which a sheet cannot hold; give "
                   "other ids",
                   path, hn_quote(id).text);
}

static enum hn_code write_rows(struct hn_context *ctx, const struct hn_corpus *c,
                               const struct hn_population *population,
                               const struct hn_pair_at *pair, int64_t n, FILE *out) {
    struct hn_strings text[HN_SETS] = {{0}};
    for (int side = 0; side < HN_SETS; side++)
        if (hn_retrieval_texts(ctx, c->file, (enum hn_set)side, &text[side]))
            return ctx->code;
    bool texts = text[HN_QUERIES].n || text[HN_CORPUS].n;
    (void)fprintf(out, "%s\t%s\t%s\t%s%s\n", name[QUERY], name[PASSAGE], name[PROBABILITY],
                  texts ? "query_text\tpassage_text\t" : "", name[RELEVANT]);
    for (int64_t i = 0; i < n; i++) {
        int64_t k = pair[i].query * population->pool->width + pair[i].position;
        const int64_t at[HN_SETS] = {pair[i].query, population->pool->id[k]};
        for (int side = 0; side < HN_SETS; side++) {
            const char *id = hn_string(&c->data.id[side], at[side]);
            if (check_id(ctx, c->info->file->path, id))
                return ctx->code;
            put_cell(out, id);
        }
        (void)fprintf(out, "%.12g\t", hn_population_probability(population, population->rank[k]));
        for (int side = 0; side < HN_SETS && texts; side++)
            put_cell(out, text[side].n ? hn_string(&text[side], at[side]) : "");
        (void)fputc('\n', out);
    }
    return HN_OK;
}

enum hn_code hn_pairs_write(struct hn_context *ctx, const struct hn_corpus *c,
                            const struct hn_population *population, const struct hn_pair_at *pair,
                            int64_t n, const char *path) {
    struct hn_new_file file;
    HN_SCOPE(ctx);
    if (hn_file_begin(ctx, path, &file))
        return ctx->code;
    return hn_file_end(ctx, &file, write_rows(ctx, c, population, pair, n, file.out));
}

// A row of a sheet.
struct row {
    struct hn_pair_at at;
    double sum, judges;
    int64_t sheet, line;
};
// Sheets in work.
struct reader {
    const struct hn_corpus *corpus;
    const struct hn_population *population;
    struct hn_string_index index[HN_SETS];
    struct hn_cells cells;
    int64_t column[COLUMNS], columns; // index of each; how many there are
    bool *judge;                      // [columns]
    struct row *row;
    int64_t rows, capacity;
};

static enum hn_code read_names(struct hn_context *ctx, struct reader *r) {
    bool more;
    if (hn_cells_next(ctx, &r->cells, &more))
        return ctx->code;
    r->columns = more ? r->cells.n : 0;
    r->judge = hn_zalloc(ctx, r->columns, sizeof(bool));
    if (!r->judge)
        return ctx->code;
    for (int k = 0; k < COLUMNS; k++)
        r->column[k] = -1;
    for (int64_t i = r->columns; i-- > 0;) {
        for (int k = 0; k < RELEVANT; k++)
            if (strcmp(r->cells.cell[i], name[k]) == 0)
                r->column[k] = i;
        r->judge[i] = strncmp(r->cells.cell[i], name[RELEVANT], strlen(name[RELEVANT])) == 0;
        if (r->judge[i])
            r->column[RELEVANT] = i;
    }
    for (int k = 0; k < COLUMNS; k++)
        if (r->column[k] < 0)
            return hn_fail(ctx, HN_DATA,
                           "%s: line 1: has no column %s; the names of the columns, between tabs, "
                           "must be as `hardneg price --sheet` wrote them",
                           r->cells.at.path, name[k]);
    return HN_OK;
}

static enum hn_code find_pair(struct hn_context *ctx, struct reader *r, struct row *to) {
    static const char *const what[] = {"query", "passage"};
    const struct hn_pool *pool = r->population->pool;
    int64_t at[HN_SETS], k;
    for (int side = 0; side < HN_SETS; side++) {
        const char *id = r->cells.cell[r->column[side]];
        at[side] = hn_string_find(&r->index[side], id);
        if (at[side] < 0)
            return hn_line_fail(ctx, &r->cells.at,
                                "the id %s of a %s is not in %s; spreadsheets change ids such "
                                "as 007: have them read ids as text",
                                hn_quote(id).text, what[side], r->corpus->info->file->path);
    }
    for (k = 0; k < pool->width && pool->id[at[HN_QUERIES] * pool->width + k] != at[HN_CORPUS];)
        k++;
    int32_t rank = k < pool->width ? r->population->rank[at[HN_QUERIES] * pool->width + k] : 0;
    char *end, *drawn_text = r->cells.cell[r->column[PROBABILITY]],
               *comma = strchr(drawn_text, ',');
    const struct hn_quoted quoted = hn_quote(drawn_text);
    if (comma) // of a spreadsheet in such a language
        *comma = '.';
    double drawn = strtod(drawn_text, &end);
    double here = rank > 0 ? hn_population_probability(r->population, rank) : 0;
    // Spreadsheets keep six digits, or nine behind the point, of what is some 1e-4 at most.
    if (*end || !(fabs(drawn - here) <= 1e-5 * here) || here == 0)
        return hn_line_fail(ctx, &r->cells.at,
                            "the pair was not drawn with probability %s from %s with these "
                            "options: give the --depth and --step of the sheet, and the file that "
                            "it was drawn from",
                            quoted.text, r->corpus->info->file->path);
    to->at = (struct hn_pair_at){(int32_t)at[HN_QUERIES], (int32_t)k};
    return HN_OK;
}

static enum hn_code read_judges(struct hn_context *ctx, struct reader *r, struct row *to) {
    for (int64_t i = 0; i < r->columns; i++) {
        if (!r->judge[i])
            continue;
        char *cell = r->cells.cell[i] + strspn(r->cells.cell[i], " ");
        cell[strcspn(cell, " ")] = 0;
        if (!*cell)
            return hn_line_fail(ctx, &r->cells.at,
                                "column %lld, relevant, is empty: write 0 or 1, or delete all "
                                "lines from the first that is not judged (their order is random)",
                                (long long)i + 1);
        if (strcmp(cell, "0") != 0 && strcmp(cell, "1") != 0)
            return hn_line_fail(ctx, &r->cells.at,
                                "column %lld, relevant, is %s: write 1 if the passage answers "
                                "the query, else 0",
                                (long long)i + 1, hn_quote(cell).text);
        to->sum += *cell == '1';
        to->judges++;
    }
    return HN_OK;
}

static enum hn_code read_sheet(struct hn_context *ctx, struct reader *r, const char *path,
                               int64_t sheet) {
    struct hn_source source;
    char *text;
    bool more = true;
    if (hn_source_open(ctx, path, &source))
        return ctx->code;
    enum hn_code code = hn_source_text(ctx, &source, &text);
    hn_source_close(&source);
    if (code)
        return code;
    hn_cells_begin(&r->cells, path, text);
    r->cells.separator = '\t';
    r->cells.quotes = true;
    if (read_names(ctx, r))
        return ctx->code;
    while (!(code = hn_cells_next(ctx, &r->cells, &more)) && more) {
        struct row row = {.sheet = sheet, .line = r->cells.at.number};
        if (r->cells.n == 1 && !*r->cells.cell[0])
            continue;
        if (r->cells.n != r->columns)
            return hn_line_fail(ctx, &r->cells.at, "has %lld columns, and the first line %lld",
                                (long long)r->cells.n, (long long)r->columns);
        if (find_pair(ctx, r, &row) || read_judges(ctx, r, &row) ||
            hn_grow(ctx, &r->row, &r->capacity, r->rows + 1, sizeof row))
            return ctx->code;
        r->row[r->rows++] = row;
    }
    return code;
}

static int compare(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->at.query != y->at.query)
        return x->at.query < y->at.query ? -1 : 1;
    if (x->at.position != y->at.position)
        return x->at.position < y->at.position ? -1 : 1;
    if (x->sheet != y->sheet)
        return x->sheet < y->sheet ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

// Rows of one pair become one verdict.
static enum hn_code merge(struct hn_context *ctx, const struct hn_text_list *path,
                          const struct reader *r, struct hn_sheets *out) {
    struct row all = {.sheet = -1};
    for (int64_t i = 0; i < r->rows; i++) {
        const struct row *row = &r->row[i];
        bool same =
            i > 0 && row->at.query == row[-1].at.query && row->at.position == row[-1].at.position;
        if (same && row->sheet == row[-1].sheet)
            return hn_fail(ctx, HN_DATA, "%s: line %lld: the pair of line %lld again; delete one",
                           path->item[row->sheet], (long long)row->line, (long long)row[-1].line);
        if (!same) {
            all = (struct row){.sum = 0};
            out->verdict[out->n++] = (struct hn_judged_pair){.at = row->at};
        }
        struct hn_judged_pair *v = &out->verdict[out->n - 1];
        all.sum += row->sum;
        all.judges += row->judges;
        v->relevant = all.sum / all.judges;
        v->rows++;
    }
    out->rows = r->rows;
    return HN_OK;
}

enum hn_code hn_sheets_read(struct hn_context *ctx, const struct hn_corpus *c,
                            const struct hn_population *population, const struct hn_text_list *path,
                            struct hn_sheets *out) {
    struct reader r = {.corpus = c, .population = population};
    *out = (struct hn_sheets){.n = 0};
    HN_SCOPE(ctx);
    for (int side = 0; side < HN_SETS; side++)
        if (hn_string_index_open(ctx, &c->data.id[side], &r.index[side]))
            return ctx->code;
    for (int64_t s = 0; s < path->count; s++)
        if (read_sheet(ctx, &r, path->item[s], s))
            return ctx->code;
    if (r.rows > 0)
        qsort(r.row, (size_t)r.rows, sizeof *r.row, compare);
    hn_own(ctx, scope.outer);
    out->verdict = hn_alloc(ctx, r.rows, sizeof *out->verdict);
    return out->verdict ? merge(ctx, path, &r, out) : ctx->code;
}
