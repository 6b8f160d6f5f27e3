#include "datasets/linqs_private.h"

#include <stdlib.h>
#include <string.h>

// features=P of a comment, if it is there.
static void read_comment(const struct hn_text *r, int64_t *p) {
    const char *found = strstr(r->word, "features=");
    long long value = found ? strtoll(found + strlen("features="), NULL, 10) : 0;
    if (value >= 1 && value <= HN_LINQS_FEATURES_MAX)
        *p = value;
}

static enum hn_code read_node(struct hn_context *ctx, struct hn_text *r, struct hn_linqs *out,
                              int64_t stated) {
    int64_t node, label, last = -1, at = out->start[out->n];
    int64_t max = stated ? stated - 1 : HN_LINQS_FEATURES_MAX - 1;
    if (hn_text_number(ctx, r, "node", 0, INT32_MAX - 1, &node))
        return ctx->code;
    if (node != out->n)
        return hn_fail(
            ctx, HN_DATA,
            "%s: line %lld: node %lld where node %lld should be; list them in order, from "
            "0",
            r->path, (long long)r->number, (long long)node, (long long)out->n);
    if (hn_text_number(ctx, r, "label", -1, INT32_MAX, &label))
        return ctx->code;
    out->labels[node] = (int32_t)label;
    while (*r->word) {
        int64_t feature;
        if (hn_text_number(ctx, r, "feature", 0, max, &feature))
            return ctx->code;
        if (feature <= last)
            return hn_text_fail(ctx, r, "the features do not ascend; list each once, in order");
        out->value[at] = 1;
        out->index[at++] = (int32_t)(last = feature);
    }
    out->p = hn_max(out->p, last + 1);
    out->start[++out->n] = at;
    return HN_OK;
}

static enum hn_code read_features(struct hn_context *ctx, const char *folder,
                                  struct hn_linqs *out) {
    struct hn_text r;
    int64_t stated = 0;
    HN_SCOPE(ctx);
    if (hn_text_open(ctx, folder, out->name, ".features", &r))
        return ctx->code;
    hn_own(ctx, scope.outer);
    if (hn_linqs_capacity(ctx, &r, out))
        return ctx->code;
    while (hn_text_line(&r))
        if (*r.word == '#')
            read_comment(&r, &stated);
        else if (read_node(ctx, &r, out, stated))
            return ctx->code;
    out->p = hn_max(out->p, stated);
    return hn_linqs_finish(ctx, &r, out);
}

static enum hn_code read_edges(struct hn_context *ctx, const char *folder, struct hn_linqs *out) {
    const struct hn_edge_rules rules = {.n = out->n, .comments = true};
    return hn_text_edges(ctx, folder, out->name, ".edges", &rules, &out->graph);
}

enum hn_code hn_linqs_read(struct hn_context *ctx, const char *folder, struct hn_linqs *out) {
    bool content;
    memset(out, 0, sizeof *out);
    if (hn_text_any(ctx, folder, ".content", &content))
        return ctx->code;
    if (content)
        return hn_text_find(ctx, folder, ".content", &out->name) ||
                       hn_linqs_read_content(ctx, folder, out)
                   ? ctx->code
                   : HN_OK;
    return hn_text_find(ctx, folder, ".features", &out->name) || read_features(ctx, folder, out) ||
                   read_edges(ctx, folder, out) || hn_linqs_read_split(ctx, folder, NULL, out)
               ? ctx->code
               : HN_OK;
}
