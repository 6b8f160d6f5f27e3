#include "retrieval/relevance.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

enum hn_code hn_relevance_build(struct hn_context *ctx, const struct hn_qrels *qrels,
                                const int64_t *group, struct hn_relevance *out) {
    *out = (struct hn_relevance){.group = group};
    if (!qrels->start)
        return HN_OK;
    out->start = hn_zalloc(ctx, qrels->n + 1, sizeof *out->start);
    out->key = hn_alloc(ctx, qrels->start[qrels->n], sizeof *out->key);
    if (!out->start || !out->key)
        return ctx->code;
    for (int64_t q = 0, n = 0; q < qrels->n; q++) {
        for (int64_t e = qrels->start[q]; e < qrels->start[q + 1]; e++)
            if (qrels->grade[e] > 0)
                out->key[n++] = group ? group[qrels->passage[e]] : qrels->passage[e];
        qsort(out->key + out->start[q], (size_t)(n - out->start[q]), sizeof *out->key, by_value);
        out->start[q + 1] = n;
    }
    return HN_OK;
}

bool hn_relevance_has(const struct hn_relevance *r, int64_t query, int32_t passage) {
    if (!r->start)
        return false;
    int64_t key = r->group ? r->group[passage] : passage;
    return bsearch(&key, r->key + r->start[query], (size_t)(r->start[query + 1] - r->start[query]),
                   sizeof key, by_value) != NULL;
}
