// SPDX-License-Identifier: GPL-3.0-or-later
// The text of what was read: one YAML text for one meaning, with every default written out and one
// entry per point of a grid. It is stored with the results and its digest tells two jobs apart, so
// nothing in it depends on the folder, the threads or the version of a library. Written by hand for
// that reason: the line breaks and quotes of an emitter change with its version.
#include "harness/job/resolve.h"

#include "core/options/option_text.h"
#include "harness/job/fields.h"
#include "harness/job/list.h"

#include <string.h>
#include <strings.h>

static void put_bytes(struct hn_yaml_text *t, const char *bytes, int64_t n) {
    t->failed = t->failed || hn_bytes_append(t->ctx, &t->bytes, bytes, n);
}

void hn_yaml_text_put(struct hn_yaml_text *t, const char *text) {
    put_bytes(t, text, (int64_t)strlen(text));
}

char *hn_yaml_text_end(struct hn_yaml_text *t) {
    put_bytes(t, "", 1);
    if (!t->failed)
        return t->bytes.data;
    hn_free(t->ctx, t->bytes.data);
    return NULL;
}

// True if any reader of YAML takes the word, without quotes, for this very text: it is not a
// number, null or truth value.
static bool is_bare(const char *text) {
    static const char *const taken[] = {"null", "true", "false", "yes", "no", "on",
                                        "off",  "y",    "n",     "nan", "inf"};
    bool letter = (text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z');
    size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        if (!strcasecmp(text, taken[i]))
            return false;
    return letter && !text[word];
}

// Decodes one character of valid UTF-8; returns its bytes.
static int decode(const char *s, unsigned *point) {
    unsigned char c = (unsigned char)s[0];
    int bytes = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    *point = bytes == 1 ? c : c & (0x7FU >> bytes);
    for (int i = 1; i < bytes; i++)
        *point = *point << 6 | ((unsigned char)s[i] & 0x3FU);
    return bytes;
}

// May stand as it is between double quotes. The rest is escaped: controls, line breaks of YAML 1.1,
// byte order marks and what is not a character.
static bool is_printable(unsigned point) {
    if (point < 0x20 || point == '"' || point == '\\' || (point >= 0x7F && point < 0xA0))
        return false;
    return point != 0x2028 && point != 0x2029 && point != 0xFEFF && (point & 0xFFFE) != 0xFFFE;
}

static void put_quoted(struct hn_yaml_text *t, const char *text) {
    hn_yaml_text_put(t, "\"");
    for (int bytes; *text; text += bytes) {
        unsigned point;
        char escape[16];
        bytes = decode(text, &point);
        if (is_printable(point)) {
            put_bytes(t, text, bytes);
            continue;
        }
        if (point == '"' || point == '\\')
            snprintf(escape, sizeof escape, "\\%c", (char)point);
        else
            snprintf(escape, sizeof escape, "\\U%08X", point);
        hn_yaml_text_put(t, escape);
    }
    hn_yaml_text_put(t, "\"");
}

void hn_yaml_text_name(struct hn_yaml_text *t, const char *name) {
    if (is_bare(name))
        hn_yaml_text_put(t, name);
    else
        put_quoted(t, name);
}

// A number or a truth value stands as it is; a text where a reader takes it for that.
static void put_value(struct hn_yaml_text *t, enum hn_option_kind kind, const char *value) {
    bool schedule = kind == HN_OPTION_SCHEDULE, text = kind == HN_OPTION_TEXT;
    if (t->quoted ? text || schedule : schedule && strchr(value, '~'))
        put_quoted(t, value);
    else if (!t->quoted && (text || kind == HN_OPTION_CHOICE))
        hn_yaml_text_name(t, value);
    else
        hn_yaml_text_put(t, value);
}

static void put_texts(struct hn_yaml_text *t, const char *before, const struct hn_option *option,
                      const void *params) {
    struct hn_text_list list;
    memcpy(&list, (const char *)params + option->offset, sizeof list);
    hn_yaml_text_put(t, before);
    hn_yaml_text_name(t, option->name);
    for (int64_t i = 0; i < list.count; i++) {
        hn_yaml_text_put(t, i ? ", " : ": [");
        put_quoted(t, list.item[i]);
    }
    hn_yaml_text_put(t, "]");
}

// The value of an option, behind `before` and its name; false if it is unset.
static bool put_option(struct hn_yaml_text *t, const char *before, const struct hn_option *option,
                       const void *params) {
    int length = hn_option_text(option, params, NULL, 0);
    if (length <= 0)
        return false;
    if (option->kind == HN_OPTION_LIST) {
        put_texts(t, before, option, params);
        return true;
    }
    char *value = hn_alloc(t->ctx, length + 1, 1);
    t->failed = t->failed || !value;
    if (!value)
        return true;
    hn_option_text(option, params, value, (size_t)length + 1);
    if (t->brief && option->initial && strcmp(value, option->initial) == 0) {
        hn_free(t->ctx, value);
        return false;
    }
    hn_yaml_text_put(t, before);
    if (t->quoted)
        hn_yaml_text_put(t, option->name);
    else
        hn_yaml_text_name(t, option->name);
    hn_yaml_text_put(t, ": ");
    put_value(t, option->kind, value);
    hn_free(t->ctx, value);
    return true;
}

// "knn: {}", "batchsampler: {K: 100, M: 500}": all options that are set, in the order of the table.
static void put_point(struct hn_yaml_text *t, const struct hn_registry_entry *entry,
                      const void *params) {
    const char *comma = "";
    if (t->quoted)
        put_quoted(t, entry->name);
    else
        hn_yaml_text_name(t, entry->name);
    hn_yaml_text_put(t, ": {");
    for (const struct hn_option *o = entry->options; o->name; o++)
        comma = put_option(t, comma, o, params) ? ", " : comma;
    hn_yaml_text_put(t, "}");
}

void hn_yaml_text_point(struct hn_yaml_text *t, const struct hn_registry *registry,
                        const struct hn_point *point) {
    struct hn_registry_entry entry = hn_registry_entry_of(registry, point->type);
    hn_yaml_text_put(t, "{");
    put_point(t, &entry, point->params);
    hn_yaml_text_put(t, "}");
}

// An item of a list or a point of a grid.
static void put_item(struct hn_yaml_text *t, const struct hn_field *f, const char *at) {
    if (f->kind == HN_FIELD_GRID) {
        struct hn_point point;
        memcpy(&point, at, sizeof point);
        struct hn_registry_entry entry = hn_registry_entry_of(f->registry, point.type);
        if (f->layout == HN_BLOCK)
            put_point(t, &entry, point.params);
        else if (*point.text)
            hn_yaml_text_point(t, f->registry, &point);
        else
            hn_yaml_text_name(t, entry.name);
        return;
    }
    if (f->registry) {
        struct hn_registry_entry entry;
        int number;
        memcpy(&number, at, sizeof number);
        if (f->registry->entry(number, &entry))
            hn_yaml_text_name(t, entry.name);
        return;
    }
    char number[64];
    struct hn_option alone = f->option;
    alone.offset = 0;
    if (f->option.kind == HN_OPTION_TEXT) {
        char *text;
        memcpy(&text, at, sizeof text);
        put_quoted(t, text);
    } else {
        hn_option_text(&alone, at, number, sizeof number);
        hn_yaml_text_put(t, number);
    }
}

static void put_items(struct hn_yaml_text *t, const struct hn_field *f, const char *base) {
    const char *item;
    int64_t n;
    size_t step = f->kind == HN_FIELD_GRID ? sizeof(struct hn_point)
                  : f->registry            ? sizeof(int)
                                           : hn_list_step(&f->option);
    memcpy(&item, base + f->option.offset, sizeof item);
    memcpy(&n, base + f->count, sizeof n);
    bool block = f->layout == HN_BLOCK, brackets = !block && (f->layout == HN_FLOW || n > 1);
    hn_yaml_text_put(t, f->option.name);
    hn_yaml_text_put(t, block ? ":" : ": ");
    if (n == 0 && f->none) {
        hn_yaml_text_put(t, f->none);
        brackets = false;
    }
    hn_yaml_text_put(t, brackets ? "[" : "");
    for (int64_t i = 0; i < n; i++, item += step) {
        hn_yaml_text_put(t, block ? "\n  - " : i ? ", " : "");
        put_item(t, f, item);
    }
    hn_yaml_text_put(t, brackets ? "]" : "");
}

static void put_group(struct hn_yaml_text *t, const struct hn_field *f, const char *base) {
    const char *comma = "";
    hn_yaml_text_put(t, f->option.name);
    hn_yaml_text_put(t, ": {");
    for (const struct hn_field *inner = f->of->field; inner->option.name; inner++)
        if (inner->kind == HN_FIELD_LIST) {
            hn_yaml_text_put(t, comma);
            put_items(t, inner, base + f->option.offset);
            comma = ", ";
        } else if (put_option(t, comma, &inner->option, base + f->option.offset)) {
            comma = ", ";
        }
    hn_yaml_text_put(t, "}\n");
}

static void put_field(struct hn_yaml_text *t, const struct hn_field *f, const void *base) {
    if (f->write)
        f->write(t, base);
    else if (f->kind == HN_FIELD_LIST || f->kind == HN_FIELD_GRID) {
        put_items(t, f, base);
        hn_yaml_text_put(t, "\n");
    } else if (f->kind == HN_FIELD_GROUP)
        put_group(t, f, base);
    else if (f->kind == HN_FIELD_VALUE && put_option(t, "", &f->option, base))
        hn_yaml_text_put(t, "\n");
}

enum hn_code hn_fields_text(struct hn_context *ctx, const struct hn_fields *table, const void *in,
                            bool quoted, char **out) {
    struct hn_yaml_text t = {.ctx = ctx, .quoted = quoted};
    for (const struct hn_field *f = table->field; f->option.name; f++)
        put_field(&t, f, in);
    *out = hn_yaml_text_end(&t);
    return *out ? HN_OK : ctx->code;
}
