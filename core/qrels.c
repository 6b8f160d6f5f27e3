#include "core/qrels.h"
#include "core/numbers.h"

#include <string.h>

// Merge sort, which keeps the order of equal pairs: what qsort() need not.
static bool before(const struct hn_judgement *a, const struct hn_judgement *b) {
    return a->query != b->query ? a->query < b->query : a->passage < b->passage;
}

static void merge(const struct hn_judgement *from, int64_t lo, int64_t mid, int64_t hi,
                  struct hn_judgement *to) {
    for (int64_t a = lo, b = mid, k = lo; k < hi; k++)
        to[k] = a < mid && (b == hi || !before(&from[b], &from[a])) ? from[a++] : from[b++];
}

static void sort(struct hn_judgement *list, struct hn_judgement *other, int64_t n) {
    struct hn_judgement *from = list, *to = other;
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t lo = 0; lo < n; lo += 2 * width)
            merge(from, lo, hn_min(lo + width, n), hn_min(lo + 2 * width, n), to);
        struct hn_judgement *swap = from;
        from = to;
        to = swap;
    }
    if (from != list)
        memcpy(list, from, (size_t)n * sizeof *list);
}

enum hn_code hn_qrels_build(struct hn_context *ctx, struct hn_judgement *list, int64_t count,
                            int64_t n, struct hn_qrels *out) {
    int64_t kept = 0;
    *out = (struct hn_qrels){.n = n};
    struct hn_judgement *other = hn_alloc(ctx, count, sizeof *other);
    if (!other)
        return ctx->code;
    sort(list, other, count);
    hn_free(ctx, other);
    if (!HN_ZALLOC(ctx, out->start, n + 1) || !HN_ALLOC(ctx, out->passage, count) ||
        !HN_ALLOC(ctx, out->grade, count))
        return ctx->code;
    for (int64_t i = 0; i < count; i++) {
        if (i + 1 < count && !before(&list[i], &list[i + 1]))
            continue; // the same pair follows
        out->passage[kept] = list[i].passage;
        out->grade[kept++] = list[i].grade;
        out->start[list[i].query + 1] = kept;
    }
    for (int64_t q = 0; q < n; q++)
        out->start[q + 1] = hn_max(out->start[q + 1], out->start[q]);
    return HN_OK;
}

int64_t hn_qrels_find(const struct hn_qrels *q, int64_t query, int32_t passage) {
    return hn_indices_find(q->passage, q->start[query], q->start[query + 1], passage);
}

struct hn_qrels_summary hn_qrels_summarize(const struct hn_qrels *q) {
    struct hn_qrels_summary s = {.pairs = q->start[q->n]};
    for (int64_t i = 0; i < q->n; i++) {
        int64_t relevant = 0;
        for (int64_t e = q->start[i]; e < q->start[i + 1]; e++)
            relevant += q->grade[e] > 0;
        s.relevant += relevant;
        s.without += relevant == 0;
        s.max = hn_max(s.max, relevant);
    }
    return s;
}
