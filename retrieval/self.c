#include "retrieval/self.h"

#include <gsl/gsl_sort.h>
#include <string.h>

static enum hn_code find_ids(struct hn_context *ctx, const struct hn_strings *q,
                             const struct hn_strings *p, int64_t *passage) {
    struct hn_string_index index;
    if (hn_string_index_open(ctx, p, &index))
        return ctx->code;
    for (int64_t i = 0; i < q->n; i++)
        passage[i] = hn_string_find(&index, hn_string(q, i));
    hn_free(ctx, index.slot);
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

enum hn_code hn_selves_open(struct hn_context *ctx, const int64_t *const text[HN_SETS],
                            const struct hn_strings *const id[HN_SETS], int64_t passages,
                            enum hn_self by, struct hn_selves *out) {
    bool by_id = (by == HN_SELF_ID || by == HN_SELF_BOTH) && id[HN_QUERIES];
    *out = (struct hn_selves){.text = {text[HN_QUERIES], text[HN_CORPUS]},
                              .by_text = by == HN_SELF_TEXT || by == HN_SELF_BOTH};
    if (out->by_text && text[HN_CORPUS] && count_largest(ctx, text[HN_CORPUS], passages, &out->max))
        return ctx->code;
    if (!by_id)
        return HN_OK;
    out->max++;
    out->passage = hn_alloc(ctx, id[HN_QUERIES]->n, sizeof *out->passage);
    return out->passage ? find_ids(ctx, id[HN_QUERIES], id[HN_CORPUS], out->passage) : ctx->code;
}
