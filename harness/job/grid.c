// SPDX-License-Identifier: GPL-3.0-or-later
// Expands lists of options into the points of a grid, in the order of the file.
#include "harness/job/grid.h"

#include "core/options/option_text.h"
#include "harness/job/list.h"

#include <stdlib.h>
#include <string.h>

struct axis {
    const struct hn_option *option;
    const struct hn_yaml *first, *now; // values, and the one of the point that is made
    int64_t count;
};

struct item {
    struct hn_registry_entry entry;
    const struct hn_yaml *name;
    struct axis *axis; // [axes], owned
    int64_t axes, points;
};

struct grid {
    const struct hn_registry *registry;
    struct hn_point *point;      // [n]
    const struct hn_yaml **name; // [n] where each point comes from, owned
    int64_t n;
};

static enum hn_code fail_option(struct hn_context *ctx, const struct hn_registry_entry *entry,
                                const struct hn_yaml *key) {
    struct hn_names names = {.n = 0};
    for (const struct hn_option *o = entry->options; o->name; o++)
        hn_names_add(&names, o->name);
    char what[64];
    snprintf(what, sizeof what, "option of %s", entry->name);
    return names.n ? hn_yaml_fail_unknown(ctx, key, what, &names)
                   : hn_yaml_fail(ctx, key, "unknown option '%.*s': %s has none",
                                  hn_yaml_clip(key->text), key->text, entry->name);
}

static enum hn_code fail_points(struct hn_context *ctx, const struct hn_registry *registry,
                                const struct hn_yaml *at) {
    return hn_yaml_fail(ctx, at, "the %s have more than %lld points: split the job", registry->many,
                        (long long)registry->max);
}

// Every value is read before the grid is expanded, so that errors come in the order of the file.
static enum hn_code read_axis(struct hn_context *ctx, const struct hn_registry *registry,
                              const struct hn_yaml *key, struct item *item) {
    struct axis *axis = &item->axis[item->axes];
    struct hn_list values;
    axis->option = hn_options_find(item->entry.options, key->text);
    if (!axis->option)
        return fail_option(ctx, &item->entry, key);
    if (axis->option->kind == HN_OPTION_LIST) { // one value
        axis->first = key->next;
        axis->count = 1;
        item->axes++;
        return hn_yaml_check_texts(ctx, axis->option, key->next);
    }
    enum hn_code code = hn_list_read(ctx, axis->option, NULL, key->next, &values);
    hn_free(ctx, values.item);
    if (code || hn_yaml_items(ctx, axis->option->name, key->next, &axis->first, &axis->count))
        return ctx->code;
    item->axes++;
    item->points *= axis->count; // both are bounded, so that the product cannot overflow
    return item->points > registry->max ? fail_points(ctx, registry, key) : HN_OK;
}

static enum hn_code read_item(struct hn_context *ctx, const struct hn_registry *registry,
                              const struct hn_yaml *node, struct item *item) {
    bool map = node->kind == HN_YAML_MAP;
    int number;
    if (map && node->count != 2)
        return hn_yaml_fail(ctx, node->count ? node->first->next->next : node,
                            "a %s is a name or a mapping of one name to its options; this has "
                            "%lld keys (options are indented below the name)",
                            registry->one, (long long)node->count / 2);
    item->name = map ? node->first : node;
    item->points = 1;
    const struct hn_yaml *options = map ? node->first->next : NULL;
    if (hn_registry_find(ctx, registry, item->name, &item->entry, &number))
        return ctx->code;
    if (!options || hn_yaml_is_null(options)) // "- knn:" is the bare name
        return HN_OK;
    if (options->kind != HN_YAML_MAP)
        return hn_yaml_fail(ctx, options, "the options of %s are a mapping, not %s",
                            item->entry.name, hn_yaml_kind_name(options));
    if (!HN_ZALLOC(ctx, item->axis, options->count / 2))
        return ctx->code;
    for (const struct hn_yaml *key = options->first; key; key = key->next->next)
        if (read_axis(ctx, registry, key, item))
            return ctx->code;
    return HN_OK;
}

static enum hn_code set_axes(struct hn_context *ctx, const struct item *item, void *params) {
    for (int64_t i = 0; i < item->axes; i++)
        if (hn_yaml_set(ctx, item->axis[i].option, item->axis[i].now, params))
            return ctx->code;
    return HN_OK;
}

// Options that are given take precedence over those that a preset sets.
static enum hn_code fill_point(struct hn_context *ctx, const struct hn_registry *registry,
                               const struct item *item, struct hn_point *out) {
    if (set_axes(ctx, item, out->params))
        return ctx->code;
    if (registry->preset &&
        (registry->preset(ctx, item->entry.type, out->params) || set_axes(ctx, item, out->params)))
        return ctx->code;
    out->text = hn_options_text(ctx, item->entry.options, out->params);
    return out->text ? HN_OK : ctx->code;
}

static enum hn_code add_point(struct hn_context *ctx, struct grid *grid, const struct item *item) {
    struct hn_point *point = &grid->point[grid->n];
    *point = (struct hn_point){.type = item->entry.type,
                               .params = hn_zalloc(ctx, 1, item->entry.params_size)};
    grid->name[grid->n++] = item->name;
    if (!point->params || hn_options_init(ctx, item->entry.options, point->params))
        return ctx->code;
    return fill_point(ctx, grid->registry, item, point);
}

// The points of an item: loops over its axes from `i` on.
static enum hn_code expand(struct hn_context *ctx, struct grid *grid, struct item *item,
                           int64_t i) {
    if (i == item->axes)
        return add_point(ctx, grid, item);
    struct axis *axis = &item->axis[i];
    axis->now = axis->first;
    for (int64_t k = 0; k < axis->count; k++, axis->now = axis->now->next)
        if (expand(ctx, grid, item, i + 1))
            return ctx->code;
    return HN_OK;
}

static enum hn_code add_item(struct hn_context *ctx, struct grid *grid,
                             const struct hn_yaml *node) {
    struct item item = {.axis = NULL};
    enum hn_code code = read_item(ctx, grid->registry, node, &item);
    int64_t n = grid->n + item.points;
    if (!code && n > grid->registry->max)
        code = fail_points(ctx, grid->registry, node);
    if (!code) {
        struct hn_point *point = hn_resize(ctx, grid->point, n, sizeof *point);
        grid->point = point ? point : grid->point;
        const struct hn_yaml **name = point ? hn_resize(ctx, grid->name, n, sizeof *name) : NULL;
        grid->name = name ? name : grid->name;
        void *outer = hn_own(ctx, grid->point);
        code = name ? expand(ctx, grid, &item, 0) : ctx->code;
        hn_own(ctx, outer);
    }
    hn_free(ctx, item.axis);
    return code;
}

static int by_point(const void *a, const void *b) {
    const struct hn_point *p = *(const struct hn_point *const *)a;
    const struct hn_point *q = *(const struct hn_point *const *)b;
    if (p->type != q->type)
        return p->type < q->type ? -1 : 1;
    int text = strcmp(p->text, q->text);
    return text ? text : (p > q) - (p < q);
}

// Finds the first point, in the order of the file, that was there before.
static enum hn_code check_twins(struct hn_context *ctx, const struct grid *grid) {
    int64_t earlier = 0, later = grid->n;
    HN_SCOPE(ctx);
    const struct hn_point **sorted = hn_alloc(ctx, grid->n, sizeof *sorted);
    if (!sorted)
        return ctx->code;
    for (int64_t i = 0; i < grid->n; i++)
        sorted[i] = &grid->point[i];
    qsort(sorted, (size_t)grid->n, sizeof *sorted, by_point);
    for (int64_t i = 1; i < grid->n; i++) {
        const struct hn_point *p = sorted[i - 1], *q = sorted[i];
        if (p->type == q->type && !strcmp(p->text, q->text) && q - grid->point < later) {
            earlier = p - grid->point;
            later = q - grid->point;
        }
    }
    if (later == grid->n)
        return HN_OK;
    const struct hn_yaml *first = grid->name[earlier];
    return hn_yaml_fail(ctx, grid->name[later],
                        "%s {%s} is given twice (first at line %lld, column %lld)",
                        hn_registry_entry_of(grid->registry, grid->point[later].type).name,
                        grid->point[later].text, (long long)first->line, (long long)first->column);
}

static bool is_named(const struct hn_yaml *node, int64_t n, const struct hn_registry_entry *entry) {
    for (; n > 0; n--, node = node->next)
        if (hn_registry_names(entry, node->kind == HN_YAML_MAP && node->count ? node->first : node))
            return true;
    return false;
}

// For the item `rest`: every entry that none of the items first[n] names, as if each stood there.
static enum hn_code add_rest(struct hn_context *ctx, struct grid *grid, const struct hn_yaml *first,
                             int64_t n, const struct hn_yaml *rest) {
    struct hn_registry_entry entry;
    for (int64_t i = 0; grid->registry->entry(i, &entry); i++) {
        if (entry.wants_options || is_named(first, n, &entry))
            continue;
        size_t size = strlen(entry.name) + 1;
        struct hn_yaml *name = hn_alloc(ctx, 1, sizeof *name + size);
        if (!name)
            return ctx->code;
        *name = *rest;
        memcpy(name->text, entry.name, size);
        if (add_item(ctx, grid, name))
            return ctx->code;
    }
    return HN_OK;
}

static bool names_entry(const struct hn_registry *registry, const struct hn_yaml *node) {
    struct hn_registry_entry entry;
    for (int64_t i = 0; registry->entry(i, &entry); i++)
        if (is_named(node, 1, &entry))
            return true;
    return false;
}

enum hn_code hn_grid_read(struct hn_context *ctx, const struct hn_registry *registry,
                          const struct hn_yaml *value, bool others, struct hn_list *out) {
    struct grid grid = {.registry = registry};
    const struct hn_yaml *first, *node;
    int64_t n;
    *out = (struct hn_list){NULL, 0};
    enum hn_code code = hn_yaml_items(ctx, registry->many, value, &first, &n);
    node = first;
    for (int64_t i = 0; !code && i < n; i++, node = node->next)
        if (!others && hn_yaml_is(node, "rest"))
            code = add_rest(ctx, &grid, first, n, node);
        else if (!others || names_entry(registry, node))
            code = add_item(ctx, &grid, node);
    if (!code)
        code = check_twins(ctx, &grid);
    hn_free(ctx, grid.name);
    *out = (struct hn_list){(char *)grid.point, grid.n};
    return code;
}

enum hn_code hn_grid_read_one(struct hn_context *ctx, const struct hn_registry *registry,
                              const char *before, const char *text, struct hn_point **out) {
    struct hn_yaml_origin origin = {before, text, false};
    struct hn_list list = {NULL, 0};
    struct hn_registry alone = *registry;
    struct hn_yaml *root;
    HN_SCOPE(ctx);
    alone.alone = true;
    enum hn_code code = hn_yaml_parse(ctx, text, (int64_t)strlen(text), origin, &root);
    hn_own(ctx, scope.outer);
    if (!code && !root)
        code = hn_fail(ctx, HN_USAGE, "%s: a name is missing", registry->one);
    if (!code)
        root->plain = false; // a word of the command line: the sampler null, not YAML's
    if (!code)
        code = hn_grid_read(ctx, &alone, root, false, &list);
    if (!code && list.count != 1)
        code = hn_yaml_fail(ctx, root, "one %s is wanted, these are %lld", registry->one,
                            (long long)list.count);
    if (code) {
        hn_free(ctx, list.item);
        list.item = NULL;
    }
    *out = (struct hn_point *)list.item;
    return code;
}
