// SPDX-License-Identifier: GPL-3.0-or-later
// Reads a mapping of YAML by a table of keys, with defaults and checks.
#include "harness/job/fields.h"

#include "harness/job/grid.h"
#include "harness/job/list.h"

#include <string.h>

static struct hn_list get_list(const struct hn_field *f, const char *base) {
    struct hn_list list;
    memcpy(&list.item, base + f->option.offset, sizeof list.item);
    memcpy(&list.count, base + f->count, sizeof list.count);
    return list;
}

static void put_list(const struct hn_field *f, char *base, const struct hn_list *list) {
    memcpy(base + f->option.offset, &list->item, sizeof list->item);
    memcpy(base + f->count, &list->count, sizeof list->count);
}

// A list that allows no words but one is given another: it is misspelt.
static enum hn_code check_word(struct hn_context *ctx, const struct hn_field *f,
                               const struct hn_yaml *value) {
    struct hn_names names = {.n = 0};
    hn_names_add(&names, f->none);
    return value->kind == HN_YAML_SCALAR && hn_suggest(value->text, names.name, names.n)
               ? hn_yaml_fail_unknown(ctx, value, "word", &names)
               : HN_OK;
}

static enum hn_code read_list(struct hn_context *ctx, const struct hn_field *f,
                              const struct hn_yaml *value, char *base) {
    struct hn_list list;
    if (f->none && hn_yaml_is(value, f->none))
        return HN_OK;
    if (f->none && check_word(ctx, f, value))
        return ctx->code;
    enum hn_code code = hn_list_read(ctx, &f->option, f->registry, value, &list);
    put_list(f, base, &list);
    return code;
}

static enum hn_code read_group(struct hn_context *ctx, const struct hn_field *f,
                               const struct hn_yaml *value, void *out) {
    if (value && value->kind != HN_YAML_MAP)
        return hn_yaml_fail(ctx, value, "'%s' wants a mapping, not %s", f->option.name,
                            hn_yaml_kind_name(value));
    return hn_fields_read(ctx, f->of, value, out);
}

static enum hn_code read_groups(struct hn_context *ctx, const struct hn_field *f,
                                const struct hn_yaml *value, char *base) {
    struct hn_list list = {NULL, 0};
    if (value->kind != HN_YAML_LIST)
        return hn_yaml_fail(ctx, value, "'%s' wants a list, not %s", f->option.name,
                            hn_yaml_kind_name(value));
    list.item = hn_zalloc(ctx, value->count, f->of->size);
    enum hn_code code = list.item ? HN_OK : ctx->code;
    for (const struct hn_yaml *item = value->first; !code && item; item = item->next)
        code = read_group(ctx, f, item, list.item + (size_t)list.count++ * f->of->size);
    put_list(f, base, &list);
    return code;
}

static enum hn_code read_field(struct hn_context *ctx, const struct hn_field *f,
                               const struct hn_yaml *value, char *base) {
    if (!value && f->kind != HN_FIELD_GROUP && f->kind != HN_FIELD_OWN)
        return HN_OK;
    switch (f->kind) {
    case HN_FIELD_VALUE: return hn_yaml_set(ctx, &f->option, value, base);
    case HN_FIELD_LIST: return read_list(ctx, f, value, base);
    case HN_FIELD_GROUP: return read_group(ctx, f, value, base + f->option.offset);
    case HN_FIELD_GROUPS: return read_groups(ctx, f, value, base);
    case HN_FIELD_GRID: {
        struct hn_list list;
        enum hn_code code = hn_grid_read(ctx, f->registry, value, false, &list);
        put_list(f, base, &list);
        return code;
    }
    case HN_FIELD_OWN: return f->read(ctx, value, base);
    }
    return hn_fail(ctx, HN_INTERNAL, "key '%s' is of no known kind", f->option.name);
}

static enum hn_code read_default(struct hn_context *ctx, const struct hn_field *f, char *base) {
    const char *text = f->option.initial;
    if (!text)
        return read_field(ctx, f, NULL, base);
    struct hn_yaml_origin origin = {"", "default", false};
    HN_SCOPE(ctx);
    struct hn_yaml *node = hn_yaml_new(ctx, HN_YAML_SCALAR, origin, text, (int64_t)strlen(text));
    if (!node)
        return ctx->code;
    node->plain = true;
    hn_own(ctx, scope.outer);
    return read_field(ctx, f, node, base);
}

static enum hn_code check_keys(struct hn_context *ctx, const struct hn_fields *table,
                               const struct hn_yaml *map) {
    struct hn_names names = {.n = 0};
    for (const struct hn_field *f = table->field; f->option.name; f++)
        hn_names_add(&names, f->option.name);
    for (const struct hn_yaml *key = map->first; key; key = key->next->next) {
        const struct hn_field *f = table->field;
        while (f->option.name && strcmp(f->option.name, key->text) != 0)
            f++;
        if (!f->option.name)
            return hn_yaml_fail_unknown(ctx, key, "key", &names);
    }
    for (const struct hn_field *f = table->field; f->option.name; f++)
        if (f->required && !hn_yaml_find(map, f->option.name))
            return hn_yaml_fail(ctx, map, "the required key '%s' is missing", f->option.name);
    return HN_OK;
}

// An empty list stands for what is counted later, such as all steps.
static enum hn_code check_size(struct hn_context *ctx, const struct hn_fields *table,
                               const struct hn_yaml *map, const char *base) {
    int64_t product = 1;
    for (const struct hn_field *f = table->field; f->option.name; f++) {
        if (f->kind != HN_FIELD_LIST && f->kind != HN_FIELD_GRID)
            continue;
        int64_t n = hn_max(get_list(f, base).count, 1);
        if (!hn_mul(product, n, &product) || product > table->max)
            return hn_yaml_fail(ctx, map, "the job has more than %lld %s: split it",
                                (long long)table->max, table->many);
    }
    return HN_OK;
}

enum hn_code hn_fields_read(struct hn_context *ctx, const struct hn_fields *table,
                            const struct hn_yaml *map, void *out) {
    for (const struct hn_field *f = table->field; f->option.name; f++)
        if (f->kind == HN_FIELD_VALUE)
            hn_option_unset(&f->option, out);
    if (map && check_keys(ctx, table, map))
        return ctx->code;
    for (const struct hn_field *f = table->field; f->option.name; f++) {
        const struct hn_yaml *value = hn_yaml_value(map, f->option.name);
        if (value ? read_field(ctx, f, value, out) : read_default(ctx, f, out))
            return ctx->code;
    }
    if (table->max && check_size(ctx, table, map, out))
        return ctx->code;
    return table->check ? table->check(ctx, map, out) : HN_OK;
}
