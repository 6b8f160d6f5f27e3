// SPDX-License-Identifier: GPL-3.0-or-later
// Queries that are evaluated though their text is trained on.
#include "training/tasks/pairs_overlap.h"

#include "core/text.h"

const char *const hn_pairs_overlaps[] = {"keep", "out-of-train", "out-of-test", NULL};

// first[queries]: the first query of each text.
static enum hn_code find_texts(struct hn_context *ctx, const struct hn_strings *text,
                               int64_t *first) {
    struct hn_string_index index;
    if (hn_string_index_open(ctx, text, &index))
        return ctx->code;
    for (int64_t q = 0; q < text->n; q++)
        first[q] = hn_string_find(&index, hn_string(text, q));
    return HN_OK;
}

// Leaves out the judgements of queries whose text is marked.
static enum hn_code leave_out(struct hn_context *ctx, const bool *marked, const int64_t *first,
                              struct hn_qrels *q) {
    int64_t n = 0;
    HN_SCOPE(ctx);
    struct hn_judgement *list = hn_alloc(ctx, q->start[q->n], sizeof *list);
    if (!list)
        return ctx->code;
    for (int64_t i = 0; i < q->n; i++)
        for (int64_t e = q->start[i]; e < q->start[i + 1] && !marked[first[i]]; e++)
            list[n++] = (struct hn_judgement){(int32_t)i, q->passage[e], q->grade[e]};
    hn_own(ctx, scope.outer);
    return hn_qrels_build(ctx, list, n, q->n, q);
}

static void tell(struct hn_context *ctx, const char *path, const struct hn_pairs_overlap *o,
                 enum hn_pairs_side out_of) {
    static const char *const done[] = {
        ("their values are not those of queries that were not trained on (overlap: out-of-train "
         "or out-of-test leaves them out)"),
        "they are left out of the training", "they are left out of the evaluation"};
    if (o->queries > 0)
        hn_note_once(ctx, "%s: %lld of %s have the text of one that is trained on: %s", path,
                     (long long)o->queries, hn_counted(o->evaluated, "evaluated query").text,
                     done[out_of]);
}

enum hn_code hn_pairs_overlap_find(struct hn_context *ctx, const char *path,
                                   enum hn_pairs_side out_of, struct hn_pair_folder *data,
                                   struct hn_pairs_overlap *out) {
    const struct hn_strings *text = &data->text[HN_QUERIES];
    *out = (struct hn_pairs_overlap){0};
    HN_SCOPE(ctx);
    int64_t *first = hn_alloc(ctx, text->n, sizeof *first);
    bool *trained = hn_zalloc(ctx, text->n, sizeof *trained);
    bool *shared = hn_zalloc(ctx, text->n, sizeof *shared);
    if (!first || !trained || !shared || find_texts(ctx, text, first))
        return ctx->code;
    for (int64_t q = 0; q < text->n; q++)
        trained[first[q]] |= hn_qrels_any_relevant(&data->train, q);
    for (int64_t q = 0; q < text->n; q++) {
        bool evaluated = hn_qrels_any_relevant(&data->test, q);
        out->evaluated += evaluated;
        out->queries += evaluated && trained[first[q]];
        shared[first[q]] |= evaluated && trained[first[q]];
    }
    tell(ctx, path, out, out_of);
    if (out_of == HN_PAIRS_KEEP || out->queries == 0)
        return HN_OK;
    hn_own(ctx, scope.outer);
    struct hn_qrels *from = out_of == HN_PAIRS_OUT_OF_TRAIN ? &data->train : &data->test;
    if (leave_out(ctx, shared, first, from))
        return ctx->code;
    if (hn_qrels_summarize(from).relevant == 0)
        return hn_fail(ctx, HN_DATA, "%s: overlap: %s leaves no pair", path,
                       hn_pairs_overlaps[out_of]);
    return HN_OK;
}
