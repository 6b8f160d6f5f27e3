// Pairs of texts, query and relevant passage, one a line.
#include "datasets/import/collection.h"

#include <jansson.h>
#include <string.h>

// The two keys under which objects have their texts.
static const char *const keys[][HN_SETS] = {
    {"docstring", "code"}, {"anchor", "positive"}, {"query", "positive"}};
enum { KEYS = sizeof keys / sizeof keys[0] };

// A pair in work: its texts, borrowed from `json` or the line.
struct pair {
    json_t *json;
    const char *text[HN_SETS];
};

static enum hn_code cut_json(struct hn_context *ctx, const struct hn_lines *l, const char *line,
                             struct pair *out) {
    json_error_t error;
    out->json = json_loads(line, 0, &error);
    if (!out->json)
        return hn_lines_fail(ctx, l, "is not JSON: %s", error.text);
    for (int side = 0; side < HN_SETS; side++)
        out->text[side] = json_string_value(json_array_get(out->json, (size_t)side));
    if (json_is_array(out->json) && json_array_size(out->json) == HN_SETS && out->text[0] &&
        out->text[1])
        return HN_OK;
    for (int k = 0; k < KEYS; k++) {
        for (int side = 0; side < HN_SETS; side++)
            out->text[side] = json_string_value(json_object_get(out->json, keys[k][side]));
        if (out->text[0] && out->text[1])
            return HN_OK;
    }
    return hn_lines_fail(
        ctx, l,
        "is not a pair: wanted are the texts \"docstring\" and \"code\", \"anchor\" "
        "or \"query\" and \"positive\", or a list of two texts");
}

static enum hn_code cut_line(struct hn_context *ctx, const struct hn_lines *l, char *line,
                             struct pair *out) {
    if (*line == '{' || *line == '[')
        return cut_json(ctx, l, line, out);
    char *tab = strchr(line, '\t');
    if (!tab || strchr(tab + 1, '\t'))
        return hn_lines_fail(ctx, l, "is not a pair: wanted are two texts with a tab between them");
    *tab = 0;
    out->text[0] = line;
    out->text[1] = tab + 1;
    return HN_OK;
}

// Texts of all pairs, by side.
struct work {
    struct hn_text_pairs *out;
    struct hn_strings all[HN_SETS]; // of all lines
};

// Equal texts of a side become one: number[line] is its index.
static enum hn_code number(struct hn_context *ctx, struct work *w, enum hn_set side,
                           int64_t **numbers) {
    const struct hn_strings *all = &w->all[side];
    struct hn_strings *text = &w->out->text[side];
    int64_t **first = &w->out->first[side], capacity = 0;
    struct hn_string_index index;
    *numbers = hn_alloc(ctx, all->n, sizeof **numbers);
    if (!*numbers || hn_string_index_open(ctx, all->n, all, &index))
        return ctx->code;
    for (int64_t i = 0; i < all->n; i++) {
        int64_t equal = hn_string_put(&index, i);
        (*numbers)[i] = equal < i ? (*numbers)[equal] : text->n;
        if (equal < i)
            continue;
        const char *s = hn_string(all, i);
        if (hn_grow(ctx, first, &capacity, text->n + 1, sizeof **first) ||
            hn_strings_add(ctx, text, s, (int64_t)strlen(s)))
            return ctx->code;
        (*first)[text->n - 1] = i;
    }
    hn_free(ctx, index.slot);
    return HN_OK;
}

static enum hn_code join(struct hn_context *ctx, struct work *w) {
    int64_t *query, *passage, n = w->out->lines;
    if (number(ctx, w, HN_QUERIES, &query) || number(ctx, w, HN_CORPUS, &passage))
        return ctx->code;
    struct hn_judgement *list = hn_alloc(ctx, n, sizeof *list);
    if (!list)
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        list[i] = (struct hn_judgement){(int32_t)query[i], (int32_t)passage[i], 1};
    enum hn_code code = hn_qrels_build(ctx, list, n, w->out->text[HN_QUERIES].n, &w->out->qrels);
    hn_free(ctx, list);
    hn_free(ctx, query);
    hn_free(ctx, passage);
    return code;
}

static enum hn_code read_lines(struct hn_context *ctx, struct hn_lines *l, struct work *w) {
    char *line;
    for (;;) {
        struct pair pair = {.json = NULL};
        if (hn_lines_next(ctx, l, &line))
            return ctx->code;
        if (!line)
            return HN_OK;
        if (w->out->lines == INT32_MAX)
            return hn_lines_fail(ctx, l, "is one pair too many: 2^31 - 1 are read");
        enum hn_code code = cut_line(ctx, l, line, &pair);
        for (int side = 0; side < HN_SETS && !code; side++)
            code = hn_strings_add(ctx, &w->all[side], pair.text[side],
                                  (int64_t)strlen(pair.text[side]));
        json_decref(pair.json);
        if (code)
            return code;
        w->out->lines++;
    }
}

enum hn_code hn_text_pairs_read(struct hn_context *ctx, const char *path,
                                struct hn_text_pairs *out) {
    struct hn_lines l;
    struct work w = {.out = out};
    *out = (struct hn_text_pairs){.lines = 0};
    enum hn_code code = hn_lines_open(ctx, path, &l);
    if (code == HN_OK)
        code = read_lines(ctx, &l, &w);
    hn_lines_close(&l);
    if (code == HN_OK && out->lines == 0)
        code = hn_fail(ctx, HN_DATA, "%s: holds no pair", path);
    if (code == HN_OK)
        code = join(ctx, &w);
    hn_strings_free(ctx, &w.all[0]);
    hn_strings_free(ctx, &w.all[1]);
    return code;
}
