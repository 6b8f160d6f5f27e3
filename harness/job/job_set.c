// Overrides of a job file from the command line: --set key=value, with dotted keys for what is
// nested.
#include "harness/job/job_private.h"

#include <string.h>

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
        hn_yaml_put(ctx, map, key, inner);
        return inner;
    }
    hn_free(ctx, key);
    if (!inner || inner->kind == HN_YAML_MAP)
        return inner;
    hn_yaml_fail(ctx, value, "'%.*s' holds %s, not a mapping: set it as a whole",
                 hn_yaml_clip(old->text), old->text, hn_yaml_kind_name(inner));
    return NULL;
}

// `batches` and `epochs` say the same thing: the override of one removes what the file says of the
// other, but not another override.
static void remove_counterpart(struct hn_context *ctx, struct hn_yaml *root, const char *key) {
    const char *other = !strcmp(key, "batches")  ? "epochs"
                        : !strcmp(key, "epochs") ? "batches"
                                                 : NULL;
    const struct hn_yaml *found = other ? hn_yaml_find(root, other) : NULL;
    if (found && found->origin.lines)
        hn_yaml_remove(ctx, root, other);
}

// Puts `value` (moved if HN_OK) under the dotted key text[0 .. length).
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
    hn_yaml_put(ctx, map, key, value);
    if (map == root)
        remove_counterpart(ctx, root, key->text);
    return HN_OK;
}

enum hn_code hn_job_override(struct hn_context *ctx, const char *text, struct hn_yaml *root) {
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
    enum hn_code code = put_value(ctx, root, text, equals - text, value);
    if (code)
        hn_yaml_free(ctx, value);
    return code;
}
