// SPDX-License-Identifier: GPL-3.0-or-later
// Finds names in registries, and reads lists of values and of names.
#include "harness/job/list.h"

#include <string.h>

bool hn_registry_names(const struct hn_registry_entry *entry, const struct hn_yaml *node) {
    return hn_yaml_is(node, entry->name) || (entry->former && hn_yaml_is(node, entry->former));
}

enum hn_code hn_registry_find(struct hn_context *ctx, const struct hn_registry *registry,
                              const struct hn_yaml *name, struct hn_registry_entry *entry,
                              int *number) {
    struct hn_names names = {.n = 0};
    bool plain = registry->entry(0, entry) && !entry->options;
    if (name->kind != HN_YAML_SCALAR)
        return hn_yaml_fail(ctx, name, "a %s is a name%s, not %s", registry->one,
                            plain ? "" : " or a mapping of one", hn_yaml_kind_name(name));
    const char *why = registry->refused ? registry->refused(name->text) : NULL;
    if (why)
        return hn_yaml_fail(ctx, name, "%s", why);
    for (*number = 0; registry->entry(*number, entry); ++*number) {
        if (hn_registry_names(entry, name))
            return HN_OK;
        if (!registry->alone || !entry->wants_options)
            hn_names_add(&names, entry->name);
    }
    return hn_yaml_fail_unknown(ctx, name, registry->one, &names);
}

struct hn_registry_entry hn_registry_entry_of(const struct hn_registry *registry,
                                              const void *type) {
    struct hn_registry_entry entry;
    for (int64_t i = 0; registry->entry(i, &entry); i++)
        if (entry.type == type)
            return entry;
    return (struct hn_registry_entry){.name = ""};
}

const struct hn_yaml *hn_yaml_value(const struct hn_yaml *map, const char *key) {
    const struct hn_yaml *found = map ? hn_yaml_find(map, key) : NULL;
    return found ? found->next : NULL;
}

bool hn_yaml_is(const struct hn_yaml *value, const char *word) {
    return value->kind == HN_YAML_SCALAR && !strcmp(value->text, word);
}

enum hn_code hn_yaml_items(struct hn_context *ctx, const char *key, const struct hn_yaml *value,
                           const struct hn_yaml **first, int64_t *n) {
    bool list = value->kind == HN_YAML_LIST;
    *first = list ? value->first : value;
    *n = list ? value->count : 1;
    if (*n == 0 || hn_yaml_is_null(value))
        return hn_yaml_fail(ctx, value, "'%s' is empty", key);
    return HN_OK;
}

// The kind of value that an option takes, for an error.
static const char *wanted(const struct hn_option *option) {
    if (option->metavar)
        return option->metavar;
    switch (option->kind) {
    case HN_OPTION_INT: return "a whole number";
    case HN_OPTION_REAL: return "a number";
    case HN_OPTION_BOOL: return "true or false";
    default: return "a text";
    }
}

// True for a whole number with a leading zero: 010 is 8 in YAML 1.1 and 10 in YAML 1.2.
static bool is_octal(const char *text) {
    text += *text == '+' || *text == '-';
    return text[0] == '0' && text[1] && text[strspn(text, "0123456789")] == '\0';
}

enum hn_code hn_yaml_check_texts(struct hn_context *ctx, const struct hn_option *option,
                                 const struct hn_yaml *value) {
    const struct hn_yaml *item;
    int64_t n;
    if (hn_yaml_items(ctx, option->name, value, &item, &n))
        return ctx->code;
    for (; n > 0; n--, item = item->next)
        if (item->kind != HN_YAML_SCALAR || hn_yaml_is_null(item))
            return hn_yaml_fail(
                ctx, item, "'%s' wants a list of texts, and this is %s%s", option->name,
                hn_yaml_kind_name(item),
                item->kind == HN_YAML_MAP ? ": a text that begins with { stands in quotes" : "");
    return HN_OK;
}

// In place of the texts that are there.
static enum hn_code set_texts(struct hn_context *ctx, const struct hn_option *option,
                              const struct hn_yaml *value, void *params) {
    const struct hn_yaml *item;
    int64_t n;
    if (hn_yaml_check_texts(ctx, option, value) ||
        hn_yaml_items(ctx, option->name, value, &item, &n))
        return ctx->code;
    hn_option_unset(option, params);
    for (; n > 0; n--, item = item->next)
        if (hn_option_set(ctx, option, params, item->text))
            return ctx->code;
    return HN_OK;
}

// True where quotes make another value of a text: of numbers, true and false. A word that stands
// for a number ("all") is a text: JSON, which is YAML, has it in quotes only.
static bool is_bare(const struct hn_option *option, const char *text) {
    if (option->kind == HN_OPTION_INT && option->choices && strcmp(text, *option->choices) == 0)
        return false;
    return option->kind == HN_OPTION_INT || option->kind == HN_OPTION_REAL ||
           option->kind == HN_OPTION_BOOL;
}

enum hn_code hn_yaml_set(struct hn_context *ctx, const struct hn_option *option,
                         const struct hn_yaml *value, void *params) {
    if (option->kind == HN_OPTION_LIST)
        return set_texts(ctx, option, value, params);
    if (value->kind != HN_YAML_SCALAR || hn_yaml_is_null(value))
        return hn_yaml_fail(ctx, value, "'%s' wants %s, not %s", option->name, wanted(option),
                            hn_yaml_kind_name(value));
    if (!value->plain && is_bare(option, value->text))
        return hn_yaml_fail(ctx, value, "'%s' wants %s, not a text in quotes", option->name,
                            wanted(option));
    if (value->plain && option->kind != HN_OPTION_TEXT && is_octal(value->text))
        return hn_yaml_fail(ctx, value,
                            "option '%s': %.*s is octal to some readers of YAML: leave "
                            "out the leading 0",
                            option->name, hn_yaml_clip(value->text), value->text);
    enum hn_code code = hn_option_set(ctx, option, params, value->text);
    return code == HN_USAGE ? hn_yaml_fail_in(ctx, value) : code;
}

size_t hn_list_step(const struct hn_option *option) {
    switch (option->kind) {
    case HN_OPTION_BOOL: return sizeof(bool);
    case HN_OPTION_CHOICE: return sizeof(int);
    case HN_OPTION_SCHEDULE: return sizeof(struct hn_schedule);
    default: return sizeof(int64_t);
    }
}

// Owned texts stand in fields of type char * and const char *: copied, never cast.
static char *text_at(const void *at) {
    char *text;
    memcpy(&text, at, sizeof text);
    return text;
}

static bool same_item(const struct hn_option *option, const void *a, const void *b) {
    return option->kind == HN_OPTION_TEXT ? !strcmp(text_at(a), text_at(b))
                                          : !memcmp(a, b, hn_list_step(option));
}

static enum hn_code read_item(struct hn_context *ctx, const struct hn_option *option,
                              const struct hn_registry *names, const struct hn_yaml *item,
                              void *out) {
    struct hn_registry_entry entry;
    struct hn_option alone = *option;
    alone.offset = 0;
    if (option->kind == HN_OPTION_TEXT && (hn_yaml_is_null(item) || hn_yaml_is(item, "")))
        return hn_yaml_fail(ctx, item, "'%s' wants %s, not nothing", option->name, wanted(option));
    return names ? hn_registry_find(ctx, names, item, &entry, out)
                 : hn_yaml_set(ctx, &alone, item, out);
}

enum hn_code hn_list_read(struct hn_context *ctx, const struct hn_option *option,
                          const struct hn_registry *names, const struct hn_yaml *value,
                          struct hn_list *out) {
    const struct hn_yaml *item;
    const size_t step = hn_list_step(option);
    int64_t n;
    *out = (struct hn_list){NULL, 0};
    if (hn_yaml_items(ctx, option->name, value, &item, &n))
        return ctx->code;
    out->item = hn_zalloc(ctx, n, step);
    if (!out->item)
        return ctx->code;
    for (; out->count < n; item = item->next) {
        char *at = out->item + (size_t)out->count * step;
        void *outer = hn_own(ctx, out->item);
        enum hn_code code = read_item(ctx, option, names, item, at);
        hn_own(ctx, outer);
        if (code)
            return code;
        out->count++;
        const char *quote = names || option->kind == HN_OPTION_TEXT ? "'" : "";
        for (const char *other = out->item; other < at; other += step)
            if (same_item(option, other, at))
                return hn_yaml_fail(ctx, item, "%s%.*s%s is given twice in '%s'", quote,
                                    hn_yaml_clip(item->text), item->text, quote, option->name);
    }
    return HN_OK;
}
