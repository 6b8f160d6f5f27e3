// SPDX-License-Identifier: GPL-3.0-or-later
// Ids and texts of queries or passages.
#include "datasets/import/collection.h"
#include "core/files.h"
#include "core/text.h"
#include "datasets/import/lines.h"

#include <string.h>

static enum hn_code add_id(struct hn_context *ctx, const struct hn_lines *l, const char *id,
                           struct hn_collection *out) {
    if (!*id)
        return hn_line_fail(
            ctx, &l->at, "the id is empty; give every row one, and end the file behind the last");
    if (strpbrk(id, "\t\n\r"))
        return hn_line_fail(ctx, &l->at, "the id %s holds a tab or the end of a line",
                            hn_quote(id).text);
    return hn_strings_add(ctx, &out->id, id);
}

static enum hn_code take_object(struct hn_context *ctx, struct hn_lines *l, const json_t *object,
                                struct hn_collection *out) {
    const json_t *id = json_object_get(object, "_id"), *title = json_object_get(object, "title");
    const json_t *body = json_object_get(object, "text");
    char number[32];
    if (title && !json_is_string(title) && !json_is_null(title))
        return hn_line_fail(ctx, &l->at, "\"title\" is not a text");
    if (body && !json_is_string(body) && !json_is_null(body))
        return hn_line_fail(ctx, &l->at, "\"text\" is not a text");
    if ((!json_is_integer(id) && !json_is_string(id)) || !body)
        return hn_line_fail(ctx, &l->at, "lacks \"%s\", a text as in the files of BEIR",
                            body ? "_id" : "text");
    if (json_is_integer(id))
        (void)snprintf(number, sizeof number, "%lld", (long long)json_integer_value(id));
    if (add_id(ctx, l, json_is_integer(id) ? number : json_string_value(id), out))
        return ctx->code;
    const char *before = json_string_value(title), *text = hn_lines_text(l, body);
    if (!before || !*before)
        return hn_strings_add(ctx, &out->text, text);
    HN_SCOPE(ctx);
    char *whole = hn_format(ctx, "%s %s", before, text);
    hn_own(ctx, scope.outer);
    return whole ? hn_strings_add(ctx, &out->text, whole) : ctx->code;
}

static enum hn_code take_json(struct hn_context *ctx, struct hn_lines *l, const char *line,
                              struct hn_collection *out) {
    json_t *object;
    if (!line[strspn(line, " \t")])
        return hn_line_fail(ctx, &l->at, "is empty; delete it");
    if (hn_lines_json(ctx, l, line, &object))
        return ctx->code;
    enum hn_code code =
        json_is_object(object)
            ? take_object(ctx, l, object, out)
            : hn_line_fail(ctx, &l->at, "is not an object of JSON: it is another value");
    json_decref(object);
    return code;
}

static enum hn_code read_lines(struct hn_context *ctx, const char *path,
                               struct hn_collection *out) {
    struct hn_lines l;
    char *line;
    enum hn_code code = hn_lines_open(ctx, path, &l);
    while (!code && !(code = hn_lines_next(ctx, &l, &line)) && line)
        code =
            hn_ends_in(path, ".jsonl") ? take_json(ctx, &l, line, out) : add_id(ctx, &l, line, out);
    if (!code)
        hn_lines_note(ctx, &l);
    return hn_lines_end(ctx, &l, code);
}

// Empty texts are equal ones like others, which may not be meant.
static void note_empty(struct hn_context *ctx, const struct hn_collection *c, const char *what) {
    int64_t empty = 0;
    for (int64_t i = 0; i < c->text.n; i++)
        empty += !*hn_string(&c->text, i);
    if (empty > 1)
        hn_note(ctx, "%s: %lld %s have an empty text, and count as equal", c->from,
                (long long)empty, what);
}

enum hn_code hn_collection_read(struct hn_context *ctx, const char *path, int64_t n,
                                enum hn_set side, struct hn_collection *out) {
    static const char *const what[] = {"queries", "passages"};
    *out = (struct hn_collection){.from = path, .n = n};
    if (path ? read_lines(ctx, path, out) : hn_strings_count(ctx, &out->id, n))
        return ctx->code;
    if (n == HN_ANY_ROWS)
        out->n = n = out->id.n;
    if (out->id.n != n)
        return hn_fail(ctx, HN_DATA, "%s: has %lld ids for the rows of %lld %s; they must agree%s",
                       path, (long long)out->id.n, (long long)n, what[side],
                       out->id.n == n + 1 && !hn_ends_in(path, ".jsonl")
                           ? "; if the first line is a name, delete it"
                           : "");
    if (hn_string_index_open(ctx, &out->id, &out->index))
        return ctx->code;
    for (int64_t i = 0; i < n; i++) {
        int64_t first = hn_string_find(&out->index, hn_string(&out->id, i));
        if (first != i)
            return hn_fail(ctx, HN_DATA, "%s: lines %lld and %lld have the same id, %s", path,
                           (long long)first + 1, (long long)i + 1,
                           hn_quote(hn_string(&out->id, i)).text);
    }
    note_empty(ctx, out, what[side]);
    return HN_OK;
}

enum hn_code hn_number_texts(struct hn_context *ctx, const struct hn_strings *text,
                             int64_t *group[HN_SETS]) {
    const struct hn_strings *query = &text[HN_QUERIES], *passage = &text[HN_CORPUS];
    struct hn_string_index queries, passages;
    if (hn_string_index_open(ctx, passage, &passages) || hn_string_index_open(ctx, query, &queries))
        return ctx->code;
    for (int side = 0; side < HN_SETS; side++)
        if (text[side].n && !HN_ALLOC(ctx, group[side], text[side].n))
            return ctx->code;
    for (int64_t i = 0; i < passage->n; i++)
        group[HN_CORPUS][i] = hn_string_find(&passages, hn_string(passage, i));
    for (int64_t i = 0; i < query->n; i++) {
        int64_t same = hn_string_find(&passages, hn_string(query, i));
        group[HN_QUERIES][i] =
            same >= 0 ? same : passage->n + hn_string_find(&queries, hn_string(query, i));
    }
    return HN_OK;
}
