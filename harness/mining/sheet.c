// SPDX-License-Identifier: GPL-3.0-or-later
// Writes sheets of pairs to be judged, safe for spreadsheets.
#include "harness/mining/sheet.h"
#include "core/files.h"
#include "core/text.h"
#include "datasets/import/format.h"
#include "harness/mining/corpus.h"
#include "results/records.h"

#include <math.h>
#include <string.h>

const char *const hn_sheet_column[HN_SHEET_COLUMNS] = {"row",         "query", "passage",
                                                       "probability", "judge", "relevant"};

// A cell: quoted where spreadsheets want it; control characters become blanks, and a mark stands in
// front of what a spreadsheet would take for a formula.
static void put_cell(FILE *out, const char *text) {
    bool quoted = strchr(text, '"') != NULL;
    if (quoted)
        (void)fputc('"', out);
    if (hn_is_formula(text))
        (void)fputc(HN_SHEET_MARK, out);
    for (; *text; text++) {
        if (*text == '"')
            (void)fputc('"', out);
        int control = hn_control_bytes(text);
        (void)fputc(control ? ' ' : *text, out);
        text += control == 2;
    }
    (void)fputs(quoted ? "\"\t" : "\t", out);
}

static enum hn_code check_id(struct hn_context *ctx, const char *path, const char *id) {
    const char *at = id;
    while (*at && !hn_control_bytes(at))
        at++;
    if (!*at)
        return HN_OK;
    return hn_fail(
        ctx, HN_DATA,
        "%s: the id %s has a tab, a line end or another control character, which a sheet "
        "cannot hold; give other ids",
        path, hn_quote(id).text);
}

// All that a language model has to see. text: of both.
static const char *prompt_of(struct hn_context *ctx, const char *const text[HN_SETS]) {
    return hn_format(
        ctx,
        "Does the passage answer the query? Reply with 1 if it does, with 0 if it does "
        "not, and with nothing else.\n\nQuery:\n%s\n\nPassage:\n%s\n",
        text[HN_QUERIES], text[HN_CORPUS]);
}

// The row, its pair and its probability in one text, for programs that keep nothing else.
static const char *whole_id(struct hn_context *ctx, const struct hn_sheet_row *row) {
    return isnan(row->probability)
               ? hn_format(ctx, "%lld-%d-%d", (long long)row->number, row->query, row->passage)
               : hn_format(ctx, "%lld-%d-%d-%.6g", (long long)row->number, row->query, row->passage,
                           row->probability);
}

static enum hn_code put_object(struct hn_context *ctx, const struct hn_sheet_row *row,
                               const char *const id[HN_SETS], const char *const text[HN_SETS],
                               FILE *out) {
    HN_SCOPE(ctx);
    const char *whole = whole_id(ctx, row), *prompt = text[HN_QUERIES] ? prompt_of(ctx, text) : "";
    if (!whole || !prompt)
        return ctx->code;
    json_t *object = json_pack("{s:s, s:I, s:o, s:o, s:n, s:n}", "id", whole,
                               hn_sheet_column[HN_SHEET_ROW], (json_int_t)row->number,
                               hn_sheet_column[HN_SHEET_QUERY], hn_json_text(id[HN_QUERIES]),
                               hn_sheet_column[HN_SHEET_PASSAGE], hn_json_text(id[HN_CORPUS]),
                               hn_sheet_column[HN_SHEET_JUDGE], hn_sheet_column[HN_SHEET_RELEVANT]);
    if (object && text[HN_QUERIES]) {
        (void)json_object_set_new(object, "query_text", hn_json_text(text[HN_QUERIES]));
        (void)json_object_set_new(object, "passage_text", hn_json_text(text[HN_CORPUS]));
        (void)json_object_set_new(object, "prompt", hn_json_text(prompt));
    }
    if (object && !isnan(row->probability))
        (void)json_object_set_new(object, hn_sheet_column[HN_SHEET_PROBABILITY],
                                  json_real(row->probability));
    bool good = object && (json_dumpf(object, out, JSON_COMPACT) == 0 || ferror(out));
    json_decref(object);
    (void)fputc('\n', out);
    return good ? HN_OK : hn_fail(ctx, HN_MEMORY, "no memory for a line of the sheet");
}

static void put_row(const struct hn_sheet_row *row, const char *const id[HN_SETS],
                    const char *const text[HN_SETS], FILE *out) {
    (void)fprintf(out, "%lld\t", (long long)row->number);
    for (int side = 0; side < HN_SETS; side++)
        put_cell(out, id[side]);
    if (!isnan(row->probability))
        (void)fprintf(out, "%.12g\t", row->probability);
    for (int side = 0; side < HN_SETS && text[side]; side++)
        put_cell(out, text[side]);
    (void)fputc('\n', out);
}

static void put_names(bool probability, bool texts, FILE *out) {
    for (int k = 0; k < HN_SHEET_RELEVANT; k++)
        if (k != HN_SHEET_JUDGE && (k != HN_SHEET_PROBABILITY || probability))
            (void)fprintf(out, "%s\t", hn_sheet_column[k]);
    (void)fprintf(out, "%s%s\n", texts ? "query_text\tpassage_text\t" : "",
                  hn_sheet_column[HN_SHEET_RELEVANT]);
}

static enum hn_code write_rows(struct hn_context *ctx, const struct hn_corpus *c,
                               const struct hn_sheet_row *row, int64_t n, bool objects, FILE *out) {
    struct hn_strings text[HN_SETS] = {{0}};
    for (int side = 0; side < HN_SETS; side++)
        if (hn_retrieval_texts(ctx, c->file, (enum hn_set)side, &text[side]))
            return ctx->code;
    bool texts = text[HN_QUERIES].n || text[HN_CORPUS].n;
    if (!objects)
        put_names(n > 0 && !isnan(row->probability), texts, out);
    for (int64_t i = 0; i < n; i++) {
        const int64_t at[HN_SETS] = {row[i].query, row[i].passage};
        const char *id[HN_SETS], *own[HN_SETS] = {NULL};
        for (int side = 0; side < HN_SETS; side++) {
            id[side] = hn_string(&c->data.id[side], at[side]);
            if (texts)
                own[side] = text[side].n ? hn_string(&text[side], at[side]) : "";
            if (check_id(ctx, c->info->file->path, id[side]))
                return ctx->code;
        }
        if (!objects)
            put_row(&row[i], id, own, out);
        else if (put_object(ctx, &row[i], id, own, out))
            return ctx->code;
    }
    return HN_OK;
}

enum hn_code hn_sheet_write(struct hn_context *ctx, const struct hn_corpus *c,
                            const struct hn_sheet_row *row, int64_t n, const char *path) {
    struct hn_new_file file;
    HN_SCOPE(ctx);
    if (hn_sheet_check_replaced(ctx, path, true) || hn_file_begin(ctx, path, &file))
        return ctx->code;
    return hn_file_end(ctx, &file,
                       write_rows(ctx, c, row, n, hn_ends_in(path, ".jsonl"), file.out));
}
