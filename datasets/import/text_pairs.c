// SPDX-License-Identifier: GPL-3.0-or-later
// Pairs of texts, query and relevant passage, one a line.
#include "datasets/import/collection.h"
#include "datasets/import/lines.h"

#include <string.h>

// The two keys under which objects have their texts, and those of lists of words.
static const char *const keys[][HN_SETS] = {
    {"docstring", "code"}, {"anchor", "positive"}, {"query", "positive"}};
static const char *const token_keys[HN_SETS] = {"docstring_tokens", "code_tokens"};
enum { KEYS = sizeof keys / sizeof keys[0] };

// A pair in work: its texts, borrowed from `json`, the line, or `joined`.
struct pair {
    json_t *json;
    char *joined[HN_SETS];
    const char *text[HN_SETS];
};

// The words of a list, with blanks between them; NULL: it is not a list of texts.
static enum hn_code join_words(struct hn_context *ctx, const json_t *list, char **joined) {
    size_t bytes = 1, i, at = 0;
    const json_t *word;
    if (!json_is_array(list))
        return HN_OK;
    json_array_foreach(list, i, word) {
        if (!json_is_string(word))
            return HN_OK;
        bytes += json_string_length(word) + 1;
    }
    if (!(*joined = hn_alloc(ctx, (int64_t)bytes, 1)))
        return ctx->code;
    json_array_foreach(list, i, word) {
        memcpy(*joined + at, json_string_value(word), json_string_length(word));
        at += json_string_length(word);
        (*joined)[at++] = ' ';
    }
    (*joined)[at] = 0;
    return HN_OK;
}

// A line of CodeSearchNet, which may have no docstring.
static enum hn_code cut_search(struct hn_context *ctx, struct pair *out) {
    for (int side = 0; side < HN_SETS; side++) {
        if (join_words(ctx, json_object_get(out->json, token_keys[side]), &out->joined[side]))
            return ctx->code;
        const json_t *plain = json_object_get(out->json, keys[0][side]);
        out->text[side] = out->joined[side] ? out->joined[side] : json_string_value(plain);
        if (!out->text[side] && side == HN_QUERIES && (!plain || json_is_null(plain)))
            out->text[side] = "";
    }
    return HN_OK;
}

static enum hn_code cut_json(struct hn_context *ctx, struct hn_lines *l, enum hn_pair_rules rules,
                             const char *line, struct pair *out) {
    if (hn_lines_json(ctx, l, line, &out->json))
        return ctx->code;
    bool two = json_array_size(out->json) == HN_SETS; // a third text, say, is not to be lost
    for (int side = 0; side < HN_SETS && two; side++)
        out->text[side] = hn_lines_text(l, json_array_get(out->json, (size_t)side));
    if (out->text[0] && out->text[1])
        return HN_OK;
    if (rules == HN_PAIR_SEARCH && cut_search(ctx, out))
        return ctx->code;
    for (int k = 0; k < KEYS && !(out->text[0] && out->text[1]); k++)
        for (int side = 0; side < HN_SETS; side++)
            out->text[side] = hn_lines_text(l, json_object_get(out->json, keys[k][side]));
    if (out->text[0] && out->text[1])
        return HN_OK;
    return hn_line_fail(
        ctx, &l->at,
        "is not a pair: wanted are the texts \"docstring\" and \"code\", \"anchor\" "
        "or \"query\" and \"positive\", or a list of two texts");
}

static enum hn_code cut_line(struct hn_context *ctx, struct hn_lines *l, enum hn_pair_rules rules,
                             char *line, struct pair *out) {
    if (*line == '{' || *line == '[')
        return cut_json(ctx, l, rules, line, out);
    char *tab = strchr(line, '\t');
    if (!tab || strchr(tab + 1, '\t'))
        return hn_line_fail(ctx, &l->at,
                            "is not a pair: wanted are two texts with a tab between them");
    *tab = 0;
    out->text[0] = line;
    out->text[1] = tab + 1;
    return HN_OK;
}

// Texts of all pairs, by side.
struct work {
    enum hn_pair_rules rules;
    struct hn_text_pairs *out;
    struct hn_strings all[HN_SETS]; // of all lines
};

static bool is_blank(const char *text) { return !text[strspn(text, " \t\r\n\f\v")]; }

// Equal texts of a side become one: number[line] is its index.
static enum hn_code number(struct hn_context *ctx, struct work *w, enum hn_set side) {
    const struct hn_strings *all = &w->all[side];
    struct hn_strings *text = &w->out->text[side];
    int64_t **first = &w->out->first[side], capacity = 0;
    int32_t *numbers = w->out->number[side] = hn_alloc(ctx, all->n, sizeof *numbers);
    struct hn_string_index index;
    if (!numbers || hn_string_index_open(ctx, all, &index))
        return ctx->code;
    for (int64_t i = 0; i < all->n; i++) {
        const char *s = hn_string(all, i);
        numbers[i] = -1;
        if (w->rules == HN_PAIR_SEARCH && side == HN_QUERIES && is_blank(s))
            continue;
        int64_t equal = hn_string_find(&index, s);
        numbers[i] = equal < i ? numbers[equal] : (int32_t)text->n;
        if (equal < i)
            continue;
        if (hn_grow(ctx, first, &capacity, text->n + 1, sizeof **first) ||
            hn_strings_add(ctx, text, s))
            return ctx->code;
        (*first)[text->n - 1] = i;
    }
    hn_free(ctx, index.named);
    return HN_OK;
}

static enum hn_code join(struct hn_context *ctx, struct work *w) {
    const struct hn_text_pairs *out = w->out;
    int64_t n = 0;
    if (number(ctx, w, HN_QUERIES) || number(ctx, w, HN_CORPUS))
        return ctx->code;
    struct hn_judgement *list = hn_alloc(ctx, out->lines, sizeof *list);
    if (!list)
        return ctx->code;
    for (int64_t i = 0; i < out->lines; i++)
        if (out->number[HN_QUERIES][i] >= 0)
            list[n++] =
                (struct hn_judgement){out->number[HN_QUERIES][i], out->number[HN_CORPUS][i], 1};
    enum hn_code code = hn_qrels_build(ctx, list, n, out->text[HN_QUERIES].n, &w->out->qrels);
    hn_free(ctx, list);
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
            return hn_line_fail(ctx, &l->at, "is one pair too many: 2^31 - 1 are read");
        enum hn_code code = cut_line(ctx, l, w->rules, line, &pair);
        for (int side = 0; side < HN_SETS && !code; side++)
            code = hn_strings_add(ctx, &w->all[side], pair.text[side]);
        json_decref(pair.json);
        hn_free(ctx, pair.joined[0]);
        hn_free(ctx, pair.joined[1]);
        if (code)
            return code;
        w->out->lines++;
    }
}

static enum hn_code read_file(struct hn_context *ctx, const char *path, struct work *w) {
    struct hn_lines l;
    int64_t before = w->out->lines;
    enum hn_code code = hn_lines_open(ctx, path, &l);
    if (code == HN_OK)
        code = read_lines(ctx, &l, w);
    if (code == HN_OK)
        hn_lines_note(ctx, &l);
    code = hn_lines_end(ctx, &l, code);
    return code || w->out->lines > before ? code : hn_fail(ctx, HN_DATA, "%s: holds no pair", path);
}

enum hn_code hn_text_pairs_read(struct hn_context *ctx, const char *const *path,
                                enum hn_pair_rules rules, int64_t *end, struct hn_text_pairs *out) {
    struct work w = {.rules = rules, .out = out};
    enum hn_code code = HN_OK;
    *out = (struct hn_text_pairs){.lines = 0};
    for (int k = 0; path[k] && !code; k++) {
        code = read_file(ctx, path[k], &w);
        end[k] = out->lines;
    }
    if (code == HN_OK)
        code = join(ctx, &w);
    hn_strings_free(ctx, &w.all[0]);
    hn_strings_free(ctx, &w.all[1]);
    return code;
}
