// SPDX-License-Identifier: GPL-3.0-or-later
// The node tree of a YAML file, built from libyaml's events: every node knows its line and column,
// and a hostile file meets a bound (depth, nodes, children) before it costs anything. Anchors and
// tags are refused: no file of ours needs them, and aliases can blow a small file up.
#include "core/options/yaml.h"
#include "core/table.h"
#include "core/text.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

struct build {
    struct hn_context *ctx;
    yaml_parser_t parser;
    const char *text; // as parsed, for the position of a bad byte
    struct hn_yaml_origin origin;
    struct hn_yaml *root;
    struct hn_yaml *open[HN_YAML_DEPTH_MAX]; // from the root down
    int depth;
    int64_t nodes;
};

// Space for the message behind the position.
enum { POSITION_MAX = 256 };

// "job.yaml:12:5" or "--set batches=20". Of a long name the end says more.
static void print_position(const struct hn_yaml_origin *origin, int64_t line, int64_t column,
                           char position[POSITION_MAX]) {
    const char *name = origin->name;
    size_t length = strlen(name);
    if (!origin->lines) {
        snprintf(position, POSITION_MAX, "%s%.*s", origin->before, hn_yaml_clip(name), name);
        return;
    }
    if (length > 200)
        name += length - 200;
    snprintf(position, POSITION_MAX, "%s%s:%lld:%lld", origin->before, name, (long long)line,
             (long long)column);
}

enum hn_code hn_yaml_fail(struct hn_context *ctx, const struct hn_yaml *at, const char *fmt, ...) {
    char text[HN_MESSAGE_MAX];
    va_list args;
    va_start(args, fmt);
    hn_vput_message(text, sizeof text, fmt, args);
    va_end(args);
    hn_fail(ctx, HN_USAGE, "%s", text);
    return hn_yaml_fail_in(ctx, at);
}

enum hn_code hn_yaml_fail_in(struct hn_context *ctx, const struct hn_yaml *at) {
    char position[POSITION_MAX];
    print_position(&at->origin, at->line, at->column, position);
    return hn_fail_in(ctx, "%s", position);
}

int hn_yaml_clip(const char *text) {
    int n = 0;
    while (n < 60 && text[n])
        n++;
    while (text[n] && n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80)
        n--;
    return n;
}

const char *hn_yaml_kind_name(const struct hn_yaml *node) {
    static const char *const name[] = {"a text", "a list", "a mapping"};
    return hn_yaml_is_null(node) || (node->kind == HN_YAML_SCALAR && !node->text[0])
               ? "nothing"
               : name[node->kind];
}

bool hn_yaml_is_null(const struct hn_yaml *node) {
    static const char *const null[] = {"", "~", "null", "Null", "NULL", NULL};
    return node->plain && hn_is_among(node->text, null);
}

void hn_names_add(struct hn_names *names, const char *name) {
    if (names->n < (int64_t)(sizeof names->name / sizeof names->name[0]))
        names->name[names->n++] = name;
}

// The name that a text begins with, where what follows looks like options: "knn(n=3)"; or NULL.
static const char *name_with_options(const char *text, const struct hn_names *names) {
    for (int64_t i = 0; i < names->n; i++) {
        size_t length = strlen(names->name[i]);
        if (strncmp(text, names->name[i], length) == 0 && text[length] &&
            strchr("([{:=, ", text[length]))
            return names->name[i];
    }
    return NULL;
}

enum hn_code hn_yaml_fail_unknown(struct hn_context *ctx, const struct hn_yaml *at,
                                  const char *what, const struct hn_names *names) {
    int clip = hn_yaml_clip(at->text);
    const char *meant = name_with_options(at->text, names);
    if (meant)
        return hn_yaml_fail(
            ctx, at,
            "unknown %s '%.*s': with options it is {%s: {option: value}}, in quotes "
            "on a command line",
            what, clip, at->text, meant);
    if ((meant = hn_suggest(at->text, names->name, names->n)))
        return hn_yaml_fail(ctx, at, "unknown %s '%.*s' (did you mean '%s'?)", what, clip, at->text,
                            meant);
    char known[HN_MESSAGE_MAX] = "";
    for (int64_t i = 0; i < names->n; i++)
        hn_append(known, sizeof known, "%s%s", i ? ", " : "", names->name[i]);
    return hn_yaml_fail(ctx, at, "unknown %s '%.*s' (known: %s)", what, clip, at->text, known);
}

struct hn_yaml *hn_yaml_new(struct hn_context *ctx, enum hn_yaml_kind kind,
                            struct hn_yaml_origin origin, const char *text, int64_t length) {
    int64_t bytes;
    if (!hn_add(length, (int64_t)sizeof(struct hn_yaml) + 1, &bytes))
        bytes = -1;
    struct hn_yaml *node = hn_alloc(ctx, bytes, 1);
    if (!node)
        return NULL;
    *node = (struct hn_yaml){.kind = kind, .origin = origin, .line = 1, .column = 1};
    if (length > 0)
        memcpy(node->text, text, (size_t)length);
    node->text[length] = '\0';
    return node;
}

static void append(struct hn_yaml *parent, struct hn_yaml *child) {
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    parent->count++;
}

struct hn_yaml *hn_yaml_find(const struct hn_yaml *map, const char *key) {
    for (struct hn_yaml *k = map->first; k && k->next; k = k->next->next)
        if (!strcmp(k->text, key))
            return k;
    return NULL;
}

void hn_yaml_remove(struct hn_yaml *map, const char *key) {
    struct hn_yaml *before = NULL; // the value in front of the key
    struct hn_yaml *k = map->first;
    while (k && strcmp(k->text, key) != 0) {
        before = k->next;
        k = before->next;
    }
    if (!k)
        return;
    struct hn_yaml *value = k->next, *after = value->next;
    if (before)
        before->next = after;
    else
        map->first = after;
    if (map->last == value)
        map->last = before;
    map->count -= 2;
}

void hn_yaml_put(struct hn_yaml *map, struct hn_yaml *key, struct hn_yaml *value) {
    hn_yaml_remove(map, key->text);
    append(map, key);
    append(map, value);
}

static enum hn_code fail_at(struct build *b, yaml_mark_t mark, const char *text) {
    char position[POSITION_MAX];
    print_position(&b->origin, (int64_t)mark.line + 1, (int64_t)mark.column + 1, position);
    return hn_fail(b->ctx, HN_USAGE, "%s: %s", position, text);
}

// libyaml says at which byte reading failed; people count lines and characters.
static yaml_mark_t mark_of_byte(const char *text, size_t byte) {
    yaml_mark_t mark = {.index = byte};
    for (size_t i = 0; i < byte; i++) {
        if (text[i] == '\n') {
            mark.line++;
            mark.column = 0;
        } else if (((unsigned char)text[i] & 0xC0) != 0x80) {
            mark.column++;
        }
    }
    return mark;
}

static enum hn_code fail_syntax(struct build *b) {
    const yaml_parser_t *p = &b->parser;
    const char *problem = p->problem ? p->problem : "not YAML";
    char text[512];
    if (p->error == YAML_MEMORY_ERROR)
        return hn_fail(b->ctx, HN_MEMORY, "out of memory while reading %s", b->origin.name);
    if (p->error == YAML_READER_ERROR) {
        bool control = strstr(problem, "control character") != NULL;
        snprintf(text, sizeof text, control ? "%s" : "not UTF-8 text (%s)", problem);
        return fail_at(b, mark_of_byte(b->text, p->problem_offset), text);
    }
    if (p->context && b->origin.lines)
        snprintf(text, sizeof text, "%s, %s (line %zu)", problem, p->context,
                 p->context_mark.line + 1);
    else
        snprintf(text, sizeof text, "%s", problem);
    return fail_at(b, p->problem_mark, text);
}

// A key must be a text, and new.
static enum hn_code check_key(struct build *b, const struct hn_yaml *map,
                              const struct hn_yaml *key) {
    if (key->kind != HN_YAML_SCALAR)
        return hn_yaml_fail(b->ctx, key, "a key must be a text, not %s", hn_yaml_kind_name(key));
    const struct hn_yaml *other = hn_yaml_find(map, key->text);
    if (!other)
        return HN_OK;
    return hn_yaml_fail(b->ctx, key, "key '%.*s' is given twice (first at line %lld, column %lld)",
                        hn_yaml_clip(key->text), key->text, (long long)other->line,
                        (long long)other->column);
}

static enum hn_code attach(struct build *b, struct hn_yaml *node) {
    if (++b->nodes > HN_YAML_NODES_MAX)
        return hn_yaml_fail(b->ctx, node, "more than %d values in one file", HN_YAML_NODES_MAX);
    if (b->depth == 0) {
        if (b->root)
            return hn_yaml_fail(b->ctx, node, "a second document begins here: give one");
        b->root = node;
        return HN_OK;
    }
    struct hn_yaml *parent = b->open[b->depth - 1];
    if (parent->count >= HN_YAML_CHILDREN_MAX / (parent->kind == HN_YAML_LIST ? 2 : 1))
        return hn_yaml_fail(b->ctx, node, "more than %d entries in %s", HN_YAML_CHILDREN_MAX / 2,
                            hn_yaml_kind_name(parent));
    if (parent->kind == HN_YAML_MAP && parent->count % 2 == 0 && check_key(b, parent, node))
        return b->ctx->code;
    append(parent, node);
    return HN_OK;
}

// The node that an event begins, which has anchor and tag first whatever its kind.
static enum hn_code add_node(struct build *b, const yaml_event_t *e, enum hn_yaml_kind kind) {
    bool scalar = kind == HN_YAML_SCALAR;
    const char *text = scalar ? (const char *)e->data.scalar.value : NULL;
    size_t length = scalar ? e->data.scalar.length : 0;
    if (e->data.scalar.anchor)
        return fail_at(b, e->start_mark, "anchors are not supported: write the value out");
    if (e->data.scalar.tag)
        return fail_at(b, e->start_mark, "tags are not supported: leave the tag out");
    if (length && memchr(text, '\0', length))
        return fail_at(b, e->start_mark, "a text holds a NUL character");
    struct hn_yaml *node = hn_yaml_new(b->ctx, kind, b->origin, text, (int64_t)length);
    if (!node)
        return b->ctx->code;
    node->plain = scalar && e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    node->line = (int64_t)e->start_mark.line + 1;
    node->column = (int64_t)e->start_mark.column + 1;
    if (attach(b, node))
        return b->ctx->code;
    if (scalar)
        return HN_OK;
    if (b->depth == HN_YAML_DEPTH_MAX)
        return hn_yaml_fail(b->ctx, node, "nested more than %d deep", HN_YAML_DEPTH_MAX);
    b->open[b->depth++] = node;
    return HN_OK;
}

static enum hn_code add_event(struct build *b, const yaml_event_t *e) {
    switch (e->type) {
    case YAML_SCALAR_EVENT: return add_node(b, e, HN_YAML_SCALAR);
    case YAML_SEQUENCE_START_EVENT: return add_node(b, e, HN_YAML_LIST);
    case YAML_MAPPING_START_EVENT: return add_node(b, e, HN_YAML_MAP);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: b->depth--; return HN_OK;
    case YAML_ALIAS_EVENT:
        return fail_at(b, e->start_mark, "aliases are not supported: write the value out");
    default: return HN_OK;
    }
}

static enum hn_code build_tree(struct build *b) {
    bool ended = false;
    while (!ended) {
        yaml_event_t event;
        if (!yaml_parser_parse(&b->parser, &event))
            return fail_syntax(b);
        ended = event.type == YAML_STREAM_END_EVENT;
        enum hn_code code = add_event(b, &event);
        yaml_event_delete(&event);
        if (code)
            return code;
    }
    return HN_OK;
}

enum hn_code hn_yaml_parse(struct hn_context *ctx, const char *text, int64_t length,
                           struct hn_yaml_origin origin, struct hn_yaml **out) {
    static const char mark[] = "\xEF\xBB\xBF"; // a byte order mark is not content
    if (length >= 3 && !memcmp(text, mark, 3)) {
        text += 3;
        length -= 3;
    }
    struct build b = {.ctx = ctx, .text = text, .origin = origin};
    *out = NULL;
    if (!yaml_parser_initialize(&b.parser))
        return hn_fail(ctx, HN_MEMORY, "out of memory while reading %s", origin.name);
    yaml_parser_set_input_string(&b.parser, (const unsigned char *)text, (size_t)length);
    // Said, not guessed: UTF-16 is to be an error with its position.
    yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
    enum hn_code code = build_tree(&b);
    yaml_parser_delete(&b.parser);
    if (code == HN_OK)
        *out = b.root;
    return code;
}
