// SPDX-License-Identifier: GPL-3.0-or-later
// A snapshot of queries and a corpus as one of items: its known pairs, by query, then passage.
#include "core/numbers.h"
#include "core/parts.h"
#include "datasets/retrieval_private.h"

#include <stdio.h>

// text[side][rows]: equal texts have equal numbers; a row without a number is a text of its own.
// Returns the number of texts, -1 without memory.
static int64_t number_texts(struct hn_context *ctx, const struct hn_retrieval_info *info,
                            int32_t *const text[HN_SETS]) {
    int64_t alone = 0, rows = 0, texts = 0, all = info->n[HN_QUERIES] + info->n[HN_CORPUS];
    HN_SCOPE(ctx);
    int64_t *group = hn_alloc(ctx, all, sizeof *group);
    int32_t *rank = hn_alloc(ctx, all, sizeof *rank);
    if (!group || !rank)
        return -1;
    for (int side = 0; side < HN_SETS; side++)
        for (int64_t i = 0; i < info->n[side]; i++)
            if (info->group[side])
                group[rows++] = info->group[side][i];
            else
                text[side][i] = (int32_t)alone++;
    if (hn_numbers_rank(ctx, group, rows, rank, &texts))
        return -1;
    for (int side = 0; side < HN_SETS; side++)
        for (int64_t i = 0; info->group[side] && i < info->n[side]; i++)
            text[side][i] = (int32_t)alone + *rank++;
    return alone + texts;
}

static int64_t count_relevant(const struct hn_qrels *q) {
    return q->start ? hn_qrels_summarize(q).relevant : 0;
}

// The relevant pairs of `from` by their texts, but for those in `without` (NULL: all).
static enum hn_code by_texts(struct hn_context *ctx, const struct hn_qrels *from,
                             int32_t *const text[HN_SETS], const struct hn_qrels *without,
                             struct hn_qrels *out) {
    int64_t n = 0, texts = out->n;
    struct hn_judgement *list = hn_alloc(ctx, count_relevant(from), sizeof *list);
    if (!list)
        return ctx->code;
    for (int64_t q = 0; q < from->n; q++)
        for (int64_t e = from->start[q]; e < from->start[q + 1]; e++) {
            int32_t query = text[HN_QUERIES][q], passage = text[HN_CORPUS][from->passage[e]];
            if (hn_qrels_relevant_at(from, e) &&
                !(without && hn_qrels_relevant(without, query, passage)))
                list[n++] = (struct hn_judgement){query, passage, 1};
        }
    enum hn_code code = hn_qrels_build(ctx, list, n, texts, out);
    hn_free(ctx, list);
    return code;
}

static enum hn_code take_tuples(struct hn_context *ctx, const struct hn_qrels *qrels,
                                int32_t *const text[HN_SETS], struct hn_tuples *out) {
    int32_t *of[2 * HN_SETS];
    for (int k = 0; k < 2 * HN_SETS; k++)
        if (!HN_ALLOC(ctx, of[k], out->n))
            return ctx->code;
    for (int64_t q = 0, i = 0; q < qrels->n; q++)
        for (int64_t e = qrels->start[q]; e < qrels->start[q + 1]; e++) {
            if (!hn_qrels_relevant_at(qrels, e))
                continue;
            of[0][i] = (int32_t)q;
            of[1][i] = qrels->passage[e];
            of[2][i] = text[HN_QUERIES][q];
            of[3][i++] = text[HN_CORPUS][qrels->passage[e]];
        }
    out->row[HN_QUERIES] = of[0];
    out->row[HN_CORPUS] = of[1];
    out->query = of[2];
    out->passage = of[3];
    return HN_OK;
}

static enum hn_code build(struct hn_context *ctx, const struct hn_retrieval_info *info,
                          struct hn_tuples *out) {
    int32_t *text[HN_SETS];
    for (int side = 0; side < HN_SETS; side++)
        if (!HN_ALLOC(ctx, text[side], info->n[side]))
            return ctx->code;
    *out = (struct hn_tuples){.n = count_relevant(&info->qrels)};
    out->texts = out->known.n = out->hidden.n = number_texts(ctx, info, text);
    if (out->texts < 0 || take_tuples(ctx, &info->qrels, text, out) ||
        by_texts(ctx, &info->qrels, text, NULL, &out->known) ||
        (info->truth.start && by_texts(ctx, &info->truth, text, &out->known, &out->hidden)))
        return ctx->code;
    hn_free(ctx, text[HN_QUERIES]);
    hn_free(ctx, text[HN_CORPUS]);
    return HN_OK;
}

// Fills in the parts of a file of items.
static enum hn_code present(struct hn_context *ctx, struct hn_snapshot *s, int64_t n) {
    s->info.n = n;
    s->info.has_view2 = s->info.has_tuples = true;
    return hn_snapshot_unlabelled(ctx, s);
}

static enum hn_code open_tuples(struct hn_context *ctx, struct hn_retrieval *r) {
    struct hn_snapshot *s = &r->base;
    int64_t n = count_relevant(&r->info.qrels), texts;
    if (n < 1)
        return hn_fail(ctx, HN_DATA,
                       "%s: no pair of a query and a passage is known to be relevant, so there is "
                       "nothing to make batches of; import qrels with grades above 0",
                       s->path);
    if (n > INT32_MAX || !hn_add(r->info.n[HN_QUERIES], r->info.n[HN_CORPUS], &texts) ||
        texts > INT32_MAX)
        return hn_fail(ctx, HN_DATA,
                       "%s: %lld known pairs of %lld queries and %lld passages; 2^31 - 1 pairs and "
                       "as many texts are possible",
                       s->path, (long long)n, (long long)r->info.n[HN_QUERIES],
                       (long long)r->info.n[HN_CORPUS]);
    void *outer = hn_own(ctx, r);
    enum hn_code code = build(ctx, &r->info, &r->tuples) ? ctx->code : present(ctx, s, n);
    hn_own(ctx, outer);
    s->retrieval = r;
    return code;
}

enum hn_code hn_snapshot_open_any(struct hn_context *ctx, const char *path,
                                  struct hn_snapshot **out) {
    enum hn_snapshot_kind kind;
    struct hn_retrieval *r;
    *out = NULL;
    if (hn_snapshot_kind_of(ctx, path, &kind))
        return ctx->code;
    if (kind == HN_KIND_ITEMS)
        return hn_snapshot_open(ctx, path, out);
    if (hn_retrieval_open(ctx, path, &r))
        return ctx->code;
    if (open_tuples(ctx, r)) {
        hn_retrieval_close(ctx, r);
        return ctx->code;
    }
    *out = &r->base;
    return HN_OK;
}

struct rows_at {
    struct hn_retrieval *r;
    enum hn_set side;
    int64_t index;
};

static enum hn_code gather(struct hn_context *ctx, void *data, void *out) {
    const struct rows_at *at = data;
    const struct hn_tuples *tuples = &at->r->tuples;
    struct hn_matrix rows;
    HN_SCOPE(ctx);
    if (hn_retrieval_rows(ctx, at->r, at->side, at->index, &rows))
        return ctx->code;
    hn_gather_rows(&rows, tuples->row[at->side], tuples->n, out);
    return HN_OK;
}

enum hn_code hn_tuples_rows(struct hn_context *ctx, struct hn_retrieval *r, enum hn_set side,
                            int64_t index, struct hn_matrix *out) {
    struct rows_at at = {r, side, index};
    const struct hn_parts_fill fill = {&at, gather};
    int64_t n = r->tuples.n, d = r->base.info.d; // below 2^31 and 2^20: the product fits
    char name[64];
    (void)snprintf(name, sizeof name, "tuples of side %d, step number %lld", (int)side,
                   (long long)index);
    const float *x = hn_parts_share(ctx, name, n * d * (int64_t)sizeof *x, &fill);
    *out = (struct hn_matrix){x, n, d, d};
    return x ? HN_OK : ctx->code;
}
