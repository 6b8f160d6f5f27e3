// SPDX-License-Identifier: GPL-3.0-or-later
// YAML files, and overrides of what they say from the command line: --set key=value, with dotted
// keys for what is nested.
#include "core/options/yaml_file.h"

#include "core/files.h"
#include "core/options/yaml.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// Reads the whole file, at most a block more than allowed, into *text, which it makes as large as
// that takes.
static enum hn_code read_file(struct hn_context *ctx, const char *what, const char *path,
                              char **text, int64_t *length) {
    enum { BLOCK = 1 << 13 };
    const char *why;
    int64_t capacity = 0, got = 0, block = BLOCK;
    FILE *file = hn_file_open(path, NULL, &why);
    *text = NULL;
    if (!file)
        return hn_fail(ctx, HN_USAGE, "%s: the %s cannot be opened: %s", path, what, why);
    errno = 0;
    while (block == BLOCK && got <= HN_YAML_FILE_MAX) {
        if (hn_grow(ctx, text, &capacity, got + BLOCK, 1)) {
            fclose(file);
            return ctx->code;
        }
        block = (int64_t)fread(*text + got, 1, BLOCK, file);
        got += block;
    }
    int failed = ferror(file) ? errno : 0;
    fclose(file);
    if (failed)
        return hn_fail(ctx, HN_USAGE, "%s: the %s cannot be read: %s", path, what,
                       strerror(failed));
    const char *other = got > 0 ? hn_file_other(*text, (size_t)got) : NULL;
    if (other)
        return hn_fail(ctx, HN_USAGE, "%s: %s", path, other);
    if (got > HN_YAML_FILE_MAX)
        return hn_fail(ctx, HN_USAGE, "%s: larger than %d MiB, so no %s", path,
                       HN_YAML_FILE_MAX >> 20, what);
    *length = got;
    return HN_OK;
}

// The mapping under a part of a dotted key: made if it is not there. NULL, with the message
// recorded, if something else is there.
static struct hn_yaml *enter(struct hn_context *ctx, struct hn_yaml *map, const char *part,
                             int64_t length, const struct hn_yaml *value) {
    struct hn_yaml *key = hn_yaml_new(ctx, HN_YAML_SCALAR, value->origin, part, length);
    if (!key)
        return NULL;
    struct hn_yaml *old = hn_yaml_find(map, key->text);
    struct hn_yaml *inner = old ? old->next : hn_yaml_new(ctx, HN_YAML_MAP, value->origin, NULL, 0);
    if (inner && !old) {
        hn_yaml_put(map, key, inner);
        return inner;
    }
    if (!inner || inner->kind == HN_YAML_MAP)
        return inner;
    hn_yaml_fail(ctx, value, "'%.*s' holds %s, not a mapping: set it as a whole",
                 hn_yaml_clip(old->text), old->text, hn_yaml_kind_name(inner));
    return NULL;
}

// Puts `value` under the dotted key text[0 .. length).
static enum hn_code put_value(struct hn_context *ctx, struct hn_yaml *root, const char *text,
                              int64_t length, struct hn_yaml *value) {
    struct hn_yaml *map = root;
    const char *part = text, *end = text + length, *dot;
    int depth = 0;
    for (; (dot = memchr(part, '.', (size_t)(end - part))); part = dot + 1) {
        if (depth++ == HN_YAML_DEPTH_MAX)
            return hn_yaml_fail(ctx, value, "a key of more than %d parts", HN_YAML_DEPTH_MAX);
        map = enter(ctx, map, part, dot - part, value);
        if (!map)
            return ctx->code;
    }
    struct hn_yaml *key = hn_yaml_new(ctx, HN_YAML_SCALAR, value->origin, part, end - part);
    if (!key)
        return ctx->code;
    hn_yaml_put(map, key, value);
    return HN_OK;
}

static enum hn_code override(struct hn_context *ctx, const char *text, struct hn_yaml *root) {
    struct hn_yaml_origin origin = {"--set ", text, false};
    const char *equals = strchr(text, '=');
    int clip = hn_yaml_clip(text);
    struct hn_yaml *value;
    if (!equals || equals == text)
        return hn_fail(ctx, HN_USAGE, "--set %.*s: give it as key=value", clip, text);
    if (hn_yaml_parse(ctx, equals + 1, (int64_t)strlen(equals + 1), origin, &value))
        return ctx->code;
    if (!value)
        return hn_fail(ctx, HN_USAGE, "--set %.*s: the value is missing", clip, text);
    return put_value(ctx, root, text, equals - text, value);
}

enum hn_code hn_yaml_read_text(struct hn_context *ctx, const char *what, const char *name,
                               const char *text, int64_t length, struct hn_yaml **root) {
    struct hn_yaml_origin origin = {"", name, true};
    if (hn_yaml_parse(ctx, text, length, origin, root))
        return ctx->code;
    if (!*root)
        return hn_fail(ctx, HN_USAGE, "%s:1:1: the %s is empty", name, what);
    if ((*root)->kind != HN_YAML_MAP)
        return hn_yaml_fail(ctx, *root, "a %s is a mapping of keys, not %s", what,
                            hn_yaml_kind_name(*root));
    return HN_OK;
}

enum hn_code hn_yaml_override(struct hn_context *ctx, const struct hn_text_list *set,
                              struct hn_yaml *root) {
    for (int64_t i = 0; set && i < set->count; i++)
        if (override(ctx, set->item[i], root))
            return ctx->code;
    return HN_OK;
}

enum hn_code hn_yaml_read(struct hn_context *ctx, const char *what, const char *path,
                          const struct hn_text_list *set, struct hn_yaml **root) {
    char *text;
    int64_t length = 0;
    *root = NULL;
    HN_SCOPE(ctx);
    enum hn_code code = read_file(ctx, what, path, &text, &length);
    hn_own(ctx, scope.outer);
    if (code || hn_yaml_read_text(ctx, what, path, text, length, root))
        return hn_failure(ctx);
    return hn_yaml_override(ctx, set, *root);
}
