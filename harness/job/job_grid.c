// The grid of samplers, or weightings, in a job file: an option with a list is an axis; nested
// loops over the axes in the order in which they are written give the points.
#include "harness/job/job_private.h"

#include <stdlib.h>
#include <string.h>

struct axis {
    const struct hn_option *option;
    const struct hn_yaml *value; // in the file: a scalar or a list
    const struct hn_yaml *first, *now;
    int64_t count, at; // values, and the number of `now`
};

// One entry of the list.
struct entry {
    struct hn_grid_type type;
    const struct hn_yaml *name;
    struct axis *axis; // [n_axes], owned
    int64_t n_axes;
    int64_t first, points; // its points in the grid
};

// The grid that is being read.
struct grid {
    const struct hn_grid_family *family;
    struct hn_grid_point *point; // [n]
    int64_t n;
};

static enum hn_code find_type(struct hn_context *ctx, const struct hn_grid_family *family,
                              const struct hn_yaml *name, struct hn_grid_type *type) {
    if (name->kind != HN_YAML_SCALAR)
        return hn_yaml_fail(ctx, name, "a %s is a name or a mapping of one, not %s", family->one,
                            hn_yaml_kind_name(name));
    const char *why = family->refused ? family->refused(name->text) : NULL;
    if (why)
        return hn_yaml_fail(ctx, name, "%s", why);
    struct hn_names names = {.n = 0};
    for (int64_t i = 0; family->type(i, type); i++) {
        if (!strcmp(type->name, name->text))
            return HN_OK;
        hn_names_add(&names, type->name);
    }
    return hn_yaml_fail_unknown(ctx, name, family->one, &names);
}

static enum hn_code fail_option(struct hn_context *ctx, const struct hn_grid_type *type,
                                const struct hn_yaml *key) {
    struct hn_names names = {.n = 0};
    for (const struct hn_option *o = type->options; o->name; o++)
        hn_names_add(&names, o->name);
    char what[64];
    snprintf(what, sizeof what, "option of %s", type->name);
    return names.n ? hn_yaml_fail_unknown(ctx, key, what, &names)
                   : hn_yaml_fail(ctx, key, "unknown option '%.*s': %s has none",
                                  hn_yaml_clip(key->text), key->text, type->name);
}

// "- knn:" has an empty value: no options, as for a bare name.
static bool is_null(const struct hn_yaml *node) {
    return node->kind == HN_YAML_SCALAR && node->plain &&
           (!node->text[0] || !strcmp(node->text, "~") || !strcmp(node->text, "null"));
}

static enum hn_code check_axis(struct hn_context *ctx, const struct entry *entry, void *params,
                               struct axis *axis) {
    if (hn_job_items(ctx, axis->option->name, axis->value, &axis->first, &axis->count))
        return ctx->code;
    axis->now = axis->first;
    for (int64_t i = 0; i < axis->count; i++, axis->now = axis->now->next)
        if (hn_job_set(ctx, entry->type.options, params, axis->option, axis->now))
            return ctx->code;
    axis->now = axis->first;
    return HN_OK;
}

static enum hn_code fail_points(struct hn_context *ctx, const struct hn_grid_family *family,
                                const struct hn_yaml *at) {
    return hn_yaml_fail(ctx, at, "the %s have more than %d points: split the job", family->many,
                        HN_JOB_POINTS_MAX);
}

// Reads the options into axes. Every value is tried on params of its own, so that errors come in
// the order of the file and before the grid is expanded.
static enum hn_code read_axes(struct hn_context *ctx, const struct hn_grid_family *family,
                              const struct hn_yaml *options, struct entry *entry) {
    const struct hn_grid_type *type = &entry->type;
    entry->points = 1;
    if (!options)
        return HN_OK;
    entry->axis = hn_zalloc(ctx, options->count / 2, sizeof *entry->axis);
    void *params = hn_zalloc(ctx, 1, type->params_size);
    enum hn_code code =
        entry->axis && params ? hn_options_init(ctx, type->options, params) : ctx->code;
    bool made = !code;
    for (const struct hn_yaml *key = options->first; !code && key; key = key->next->next) {
        struct axis *axis = &entry->axis[entry->n_axes++];
        axis->option = hn_options_find(type->options, key->text);
        axis->value = key->next;
        code = axis->option ? check_axis(ctx, entry, params, axis) : fail_option(ctx, type, key);
        // Both are bounded, so that the product cannot overflow.
        if (!code && (entry->points *= axis->count) > HN_JOB_POINTS_MAX)
            code = fail_points(ctx, family, key);
    }
    if (made)
        hn_options_free(ctx, type->options, params);
    hn_free(ctx, params);
    return code;
}

static enum hn_code read_entry(struct hn_context *ctx, const struct hn_grid_family *family,
                               const struct hn_yaml *node, struct entry *entry) {
    bool map = node->kind == HN_YAML_MAP;
    if (map && node->count != 2)
        return hn_yaml_fail(ctx, node->count ? node->first->next->next : node,
                            "a %s is a name or a mapping of one name to its options; this has "
                            "%lld keys (options are indented below the name)",
                            family->one, (long long)node->count / 2);
    entry->name = map ? node->first : node;
    const struct hn_yaml *options = map ? node->first->next : NULL;
    if (find_type(ctx, family, entry->name, &entry->type))
        return ctx->code;
    if (options && is_null(options))
        options = NULL;
    if (options && options->kind != HN_YAML_MAP)
        return hn_yaml_fail(ctx, options, "the options of %s are a mapping, not %s",
                            entry->type.name, hn_yaml_kind_name(options));
    return read_axes(ctx, family, options, entry);
}

// The next point of the grid: the last axis moves, the one before when that is through, and so on.
static void advance(struct entry *entry) {
    for (int64_t i = entry->n_axes - 1; i >= 0; i--) {
        struct axis *axis = &entry->axis[i];
        if (++axis->at < axis->count) {
            axis->now = axis->now->next;
            return;
        }
        axis->at = 0;
        axis->now = axis->first;
    }
}

static enum hn_code set_axes(struct hn_context *ctx, const struct entry *entry, void *params) {
    for (int64_t i = 0; i < entry->n_axes; i++)
        if (hn_job_set(ctx, entry->type.options, params, entry->axis[i].option, entry->axis[i].now))
            return ctx->code;
    return HN_OK;
}

static enum hn_code make_point(struct hn_context *ctx, const struct hn_grid_family *family,
                               const struct entry *entry, struct hn_grid_point *out) {
    const struct hn_grid_type *type = &entry->type;
    *out = (struct hn_grid_point){.params = hn_zalloc(ctx, 1, type->params_size)};
    if (!out->params || hn_options_init(ctx, type->options, out->params))
        goto failed;
    out->type = *type; // from here on the options own what they hold
    // Given options take precedence over those of a preset.
    if (set_axes(ctx, entry, out->params))
        goto failed;
    if (family->preset &&
        (family->preset(ctx, type->type, out->params) || set_axes(ctx, entry, out->params)))
        goto failed;
    out->text = hn_options_text(ctx, type->options, out->params);
    if (out->text)
        return HN_OK;
failed:
    hn_grid_point_free(ctx, out);
    return ctx->code;
}

static enum hn_code expand(struct hn_context *ctx, struct entry *entry, struct grid *grid) {
    entry->first = grid->n;
    for (int64_t i = 0; i < entry->points; i++, advance(entry)) {
        if (make_point(ctx, grid->family, entry, &grid->point[grid->n]))
            return ctx->code;
        grid->n++;
    }
    return HN_OK;
}

static int by_point(const void *a, const void *b) {
    const struct hn_grid_point *p = *(const struct hn_grid_point *const *)a;
    const struct hn_grid_point *q = *(const struct hn_grid_point *const *)b;
    int type = strcmp(p->type.name, q->type.name);
    int text = type ? type : strcmp(p->text, q->text);
    return text ? text : (p > q) - (p < q);
}

// The first point, in file order, that was there before; false if there is none.
static bool find_twin(const struct grid *grid, const struct hn_grid_point **sorted,
                      int64_t *earlier, int64_t *later) {
    *later = grid->n;
    for (int64_t i = 0; i < grid->n; i++)
        sorted[i] = &grid->point[i];
    qsort(sorted, (size_t)grid->n, sizeof *sorted, by_point);
    for (int64_t i = 1; i < grid->n; i++) {
        bool same = sorted[i]->type.type == sorted[i - 1]->type.type &&
                    !strcmp(sorted[i]->text, sorted[i - 1]->text);
        if (same && sorted[i] - grid->point < *later) {
            *later = sorted[i] - grid->point;
            *earlier = sorted[i - 1] - grid->point;
        }
    }
    return *later < grid->n;
}

static const struct entry *entry_of(const struct entry *entry, int64_t point) {
    while (point >= entry->first + entry->points)
        entry++;
    return entry;
}

// Two points of one entry are the same because a list holds the same value twice: the last axis on
// which they differ names it.
static enum hn_code fail_value(struct hn_context *ctx, const struct entry *entry, int64_t earlier,
                               int64_t later) {
    const struct axis *axis = &entry->axis[entry->n_axes];
    int64_t p = earlier - entry->first, q = later - entry->first, at;
    do {
        axis--;
        at = q % axis->count;
        bool differs = p % axis->count != at;
        p /= axis->count;
        q /= axis->count;
        if (differs)
            break;
    } while (axis > entry->axis);
    const struct hn_yaml *value = axis->first;
    for (; at > 0; at--)
        value = value->next;
    return hn_yaml_fail(ctx, value, "%.*s is given twice in '%s'", hn_yaml_clip(value->text),
                        value->text, axis->option->name);
}

static enum hn_code check_twins(struct hn_context *ctx, const struct grid *grid,
                                const struct entry *entries) {
    const struct hn_grid_point **sorted = hn_alloc(ctx, grid->n, sizeof *sorted);
    if (!sorted)
        return ctx->code;
    int64_t earlier = 0, later = 0;
    bool found = find_twin(grid, sorted, &earlier, &later);
    hn_free(ctx, sorted);
    if (!found)
        return HN_OK;
    const struct entry *a = entry_of(entries, earlier), *b = entry_of(entries, later);
    if (a == b)
        return fail_value(ctx, a, earlier, later);
    const struct hn_grid_point *point = &grid->point[later];
    return hn_yaml_fail(ctx, b->name, "%s {%s} is given twice (first at line %lld, column %lld)",
                        point->type.name, point->text, (long long)a->name->line,
                        (long long)a->name->column);
}

static enum hn_code read_entries(struct hn_context *ctx, const struct hn_yaml *node, int64_t n,
                                 struct entry *entries, struct grid *grid) {
    int64_t points = 0;
    for (int64_t i = 0; i < n; i++, node = node->next) {
        if (read_entry(ctx, grid->family, node, &entries[i]))
            return ctx->code;
        points += entries[i].points;
        if (points > HN_JOB_POINTS_MAX)
            return fail_points(ctx, grid->family, node);
    }
    grid->point = hn_zalloc(ctx, points, sizeof *grid->point);
    if (!grid->point)
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        if (expand(ctx, &entries[i], grid))
            return ctx->code;
    return check_twins(ctx, grid, entries);
}

enum hn_code hn_grid_read(struct hn_context *ctx, const struct hn_grid_family *family,
                          const struct hn_yaml *value, struct hn_grid_point **point,
                          int64_t *points) {
    struct grid grid = {.family = family};
    const struct hn_yaml *first;
    int64_t n;
    *point = NULL;
    *points = 0;
    if (hn_job_items(ctx, family->many, value, &first, &n))
        return ctx->code;
    struct entry *entries = hn_zalloc(ctx, n, sizeof *entries);
    if (!entries)
        return ctx->code;
    enum hn_code code = read_entries(ctx, first, n, entries, &grid);
    for (int64_t i = 0; i < n; i++)
        hn_free(ctx, entries[i].axis);
    hn_free(ctx, entries);
    if (code) {
        hn_grid_free(ctx, grid.point, grid.n);
        return code;
    }
    *point = grid.point;
    *points = grid.n;
    return HN_OK;
}

void hn_grid_point_free(struct hn_context *ctx, struct hn_grid_point *point) {
    if (point->type.options)
        hn_options_free(ctx, point->type.options, point->params);
    hn_free(ctx, point->params);
    hn_free(ctx, point->text);
    memset(point, 0, sizeof *point);
}

void hn_grid_free(struct hn_context *ctx, struct hn_grid_point *point, int64_t points) {
    for (int64_t i = 0; i < points; i++)
        hn_grid_point_free(ctx, &point[i]);
    hn_free(ctx, point);
}
