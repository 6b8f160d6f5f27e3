// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the documents of a folder of pairs that are a query itself, by text or by id.
#include "training/tasks/pairs_self.h"

#include <string.h>

// Documents of equal text as chains: the last of each text, and the one before each.
struct chains {
    int32_t *last, *before; // -1: none
};

static enum hn_code open_chains(struct hn_context *ctx, const int64_t *group, int64_t texts,
                                int64_t documents, struct chains *c) {
    if (!HN_ALLOC(ctx, c->last, texts) || !HN_ALLOC(ctx, c->before, documents))
        return ctx->code;
    memset(c->last, -1, (size_t)texts * sizeof *c->last);
    for (int32_t d = 0; d < documents; d++) {
        c->before[d] = c->last[group[d]];
        c->last[group[d]] = d;
    }
    return HN_OK;
}

enum hn_code hn_pairs_find_selves(struct hn_context *ctx, enum hn_self by,
                                  const struct hn_pair_folder *f, int64_t *const group[HN_SETS],
                                  struct hn_qrels *out) {
    int64_t queries = f->text[HN_QUERIES].n, documents = f->text[HN_CORPUS].n, n = 0, capacity = 0;
    const struct hn_retrieval_data data = {.id = {f->id[HN_QUERIES], f->id[HN_CORPUS]},
                                           .group = {group[HN_QUERIES], group[HN_CORPUS]},
                                           .rows = {{.rows = queries}, {.rows = documents}}};
    struct hn_selves selves;
    struct hn_judgement *list = NULL;
    struct chains c;
    HN_SCOPE(ctx);
    if (hn_selves_open(ctx, &data, by, &selves) ||
        open_chains(ctx, group[HN_CORPUS], queries + documents, documents, &c))
        return ctx->code;
    for (int32_t q = 0; q < queries; q++) {
        int32_t d = selves.by_text ? c.last[group[HN_QUERIES][q]] : -1;
        int64_t own = selves.passage ? selves.passage[q] : -1;
        for (; d >= 0 || own >= 0; n++) {
            if (hn_grow(ctx, &list, &capacity, n + 1, sizeof *list))
                return ctx->code;
            list[n] = (struct hn_judgement){q, d >= 0 ? d : (int32_t)own, 1};
            own = d >= 0 ? own : -1;
            d = d >= 0 ? c.before[d] : -1;
        }
    }
    hn_own(ctx, scope.outer);
    return hn_qrels_build(ctx, list, n, queries, out);
}
