// SPDX-License-Identifier: GPL-3.0-or-later
// Relevance of passages by keys, with equal texts as one; passages that are the query itself.
#include "retrieval/relevance.h"

#include "core/numbers.h"

#include <gsl/gsl_sort.h>
#include <string.h>

enum hn_code hn_relevance_build(struct hn_context *ctx, const struct hn_qrels *qrels,
                                const int64_t *group, struct hn_relevance *out) {
    *out = (struct hn_relevance){.group = group, .min_grade = qrels->min_grade};
    if (!qrels->start)
        return HN_OK;
    if (!HN_ZALLOC(ctx, out->start, qrels->n + 1) ||
        !HN_ALLOC(ctx, out->key, qrels->start[qrels->n]) ||
        !HN_ALLOC(ctx, out->grade, qrels->start[qrels->n]))
        return ctx->code;
    for (int64_t q = 0, n = 0; q < qrels->n; q++) {
        int64_t from = out->start[q];
        for (int64_t e = qrels->start[q]; e < qrels->start[q + 1]; e++)
            out->key[n++] = group ? group[qrels->passage[e]] : qrels->passage[e];
        n = from + hn_numbers_sort(out->key + from, n - from);
        for (int64_t k = from; k < n; k++)
            out->grade[k] = INT32_MIN;
        for (int64_t e = qrels->start[q]; e < qrels->start[q + 1]; e++) {
            int64_t key = group ? group[qrels->passage[e]] : qrels->passage[e];
            int32_t *grade = &out->grade[from + hn_numbers_find(out->key + from, n - from, key)];
            *grade = *grade > qrels->grade[e] ? *grade : qrels->grade[e];
        }
        out->start[q + 1] = n;
    }
    return HN_OK;
}

int32_t hn_relevance_grade(const struct hn_relevance *r, int64_t query, int32_t passage) {
    if (!r->start)
        return INT32_MIN;
    int64_t key = r->group ? r->group[passage] : passage, from = r->start[query];
    int64_t found = hn_numbers_find(r->key + from, r->start[query + 1] - from, key);
    return found < 0 ? INT32_MIN : r->grade[from + found];
}

static enum hn_code find_ids(struct hn_context *ctx, const struct hn_strings *q,
                             const struct hn_strings *p, int64_t *passage) {
    struct hn_string_index index;
    if (hn_string_index_open(ctx, p, &index))
        return ctx->code;
    for (int64_t i = 0; i < q->n; i++)
        passage[i] = hn_string_find(&index, hn_string(q, i));
    hn_free(ctx, index.named);
    return HN_OK;
}

// Passages of the most frequent text.
static enum hn_code count_largest(struct hn_context *ctx, const int64_t *text, int64_t n,
                                  int64_t *max) {
    HN_SCOPE(ctx);
    int64_t *sorted = hn_alloc(ctx, n, sizeof *sorted);
    if (!sorted)
        return ctx->code;
    memcpy(sorted, text, (size_t)n * sizeof *sorted);
    gsl_sort_long(sorted, 1, (size_t)n);
    for (int64_t i = 0, run = 0; i < n; i++) {
        run = i > 0 && sorted[i] == sorted[i - 1] ? run + 1 : 1;
        *max = hn_max(*max, run);
    }
    return HN_OK;
}

enum hn_code hn_selves_open(struct hn_context *ctx, const struct hn_retrieval_data *d,
                            enum hn_self by, struct hn_selves *out) {
    const int64_t *text = d->group[HN_CORPUS];
    const struct hn_strings *id = &d->id[HN_QUERIES];
    *out = (struct hn_selves){.text = {d->group[HN_QUERIES], text},
                              .by_text = by == HN_SELF_TEXT || by == HN_SELF_BOTH};
    if (out->by_text && text && count_largest(ctx, text, d->rows[HN_CORPUS].rows, &out->max))
        return ctx->code;
    if ((by != HN_SELF_ID && by != HN_SELF_BOTH) || id->n == 0)
        return HN_OK;
    out->max++;
    out->passage = hn_alloc(ctx, id->n, sizeof *out->passage);
    return out->passage ? find_ids(ctx, id, &d->id[HN_CORPUS], out->passage) : ctx->code;
}
