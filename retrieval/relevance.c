#include "retrieval/relevance.h"
#include "core/numbers.h"

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
        n = out->start[q] + hn_numbers_sort(out->key + out->start[q], n - out->start[q]);
        out->start[q + 1] = n;
    }
    return HN_OK;
}

bool hn_relevance_has(const struct hn_relevance *r, int64_t query, int32_t passage) {
    if (!r->start)
        return false;
    int64_t key = r->group ? r->group[passage] : passage;
    return hn_numbers_find(r->key + r->start[query], r->start[query + 1] - r->start[query], key) >=
           0;
}
