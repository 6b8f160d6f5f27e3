// SPDX-License-Identifier: GPL-3.0-or-later
// The items of a build: copies of the caller's arrays, checked.
#include "core/label_sets.h"
#include "core/text.h"
#include "library/library_private.h"

#include <string.h>

static enum hn_code copy_unit_rows(struct hn_context *ctx, const float *rows, int64_t n, int64_t d,
                                   enum hn_zero_rows zero, const char *what,
                                   struct hn_matrix *out) {
    int64_t size = 0;
    if (!rows)
        return HN_OK;
    if (d < 1)
        return hn_fail(ctx, HN_DATA, "%s has %lld dimensions: 1 or more", what, (long long)d);
    if (!hn_mul(n, d, &size))
        return hn_fail(ctx, HN_DATA, "%s: %lld x %lld are too many", what, (long long)n,
                       (long long)d);
    float *copy = hn_alloc(ctx, size, sizeof *copy);
    if (!copy)
        return ctx->code;
    memcpy(copy, rows, (size_t)size * sizeof *rows);
    *out = (struct hn_matrix){copy, n, d, d};
    return hn_unit_rows(ctx, copy, n, d, zero, what);
}

static bool is_zero(const float *row, int64_t d) {
    int64_t k = 0;
    while (k < d && row[k] == 0)
        k++;
    return k == d;
}

static void count_zero_rows(struct hn_context *ctx, const struct hn_matrix *rows,
                            const char *what) {
    int64_t zero = 0, first = 0;
    for (int64_t i = rows->rows; i-- > 0;)
        if (is_zero(rows->data + i * rows->stride, rows->cols)) {
            zero++;
            first = i;
        }
    hn_note_zero_rows(ctx, what, zero, first);
}

enum hn_code hn_library_take_rows(struct hn_context *ctx, const float *rows, int64_t n, int64_t d,
                                  enum hn_zero_rows zero, const char *what, struct hn_matrix *out) {
    enum hn_code code = copy_unit_rows(ctx, rows, n, d, zero, what, out);
    if (!code && rows && zero == HN_ZERO_ROWS_KEPT)
        count_zero_rows(ctx, out, what);
    return code;
}

// The first of value[n] that is not in low .. high; n if all are.
static int64_t first_outside(const int32_t *value, int64_t n, int64_t low, int64_t high) {
    int64_t i = 0;
    while (i < n && value[i] >= low && value[i] <= high)
        i++;
    return i;
}

// A copy of a number for each item; value: NULL = none.
static enum hn_code take_ids(struct hn_library_build *b, const int32_t *value,
                             const int32_t **out) {
    if (!value)
        return HN_OK;
    int32_t *copy = hn_alloc(&b->ctx, b->items.n, sizeof *copy);
    if (copy)
        memcpy(copy, value, (size_t)b->items.n * sizeof *copy);
    *out = copy;
    return copy ? HN_OK : b->ctx.code;
}

// start[n + 1], which is called `what`, against the values that it leads to.
static enum hn_code check_offsets(struct hn_library_build *b, const char *what,
                                  const int64_t *start, int64_t n, const char *values,
                                  const int32_t *value) {
    if (start[0] != 0 || !value)
        return hn_fail(&b->ctx, HN_DATA, "%s[0] is not 0, or %s is NULL", what, values);
    for (int64_t i = 0; i < n; i++)
        if (start[i + 1] < start[i])
            return hn_fail(&b->ctx, HN_DATA, "%s[%lld]: offsets start at 0 and never fall", what,
                           (long long)i + 1);
    return HN_OK;
}

static enum hn_code take_several(struct hn_library_build *b, const struct hardneg_items *in,
                                 int32_t *to) {
    if (check_offsets(b, "label_start", in->label_start, in->n, "label", in->label))
        return b->ctx.code;
    int64_t labels = in->label_start[in->n], bad = first_outside(in->label, labels, 0, INT32_MAX);
    if (bad < labels)
        return hn_fail(&b->ctx, HN_DATA,
                       "label[%lld] is %d: 0 and up; an item whose labels are unknown has none",
                       (long long)bad, in->label[bad]);
    b->items.label_sets = &b->label_sets;
    return hn_label_sets_make(&b->ctx, in->n, in->label_start, in->label, to, &b->label_sets);
}

static enum hn_code take_labels(struct hn_library_build *b, const struct hardneg_items *in) {
    if (in->labels && in->label_start)
        return hn_fail(&b->ctx, HN_USAGE,
                       "labels and label_start: give one label an item or several, not both");
    if (in->label_start) {
        int32_t *to = hn_alloc(&b->ctx, in->n, sizeof *to);
        b->items.labels = to;
        return to ? take_several(b, in, to) : b->ctx.code;
    }
    int64_t bad = in->labels ? first_outside(in->labels, in->n, -1, INT32_MAX) : in->n;
    if (bad < in->n)
        return hn_fail(&b->ctx, HN_DATA, "label %d of item %lld: 0 and up, or -1 for unknown",
                       in->labels[bad], (long long)bad);
    return take_ids(b, in->labels, &b->items.labels);
}

static enum hn_code take_groups(struct hn_library_build *b, const struct hardneg_items *in) {
    int64_t bad = in->group ? first_outside(in->group, in->n, 0, INT32_MAX) : in->n;
    if (bad < in->n)
        return hn_fail(&b->ctx, HN_DATA, "group %d of item %lld: 0 and up", in->group[bad],
                       (long long)bad);
    return take_ids(b, in->group, &b->items.group);
}

static enum hn_code check_edges(struct hn_library_build *b, const struct hardneg_items *in) {
    if (check_offsets(b, "edge_start", in->edge_start, in->n, "edge", in->edge))
        return b->ctx.code;
    int64_t edges = in->edge_start[in->n], bad = first_outside(in->edge, edges, 0, in->n - 1);
    return bad == edges
               ? HN_OK
               : hn_fail(&b->ctx, HN_DATA, "edge %lld leads to %d, which is none of %lld items",
                         (long long)bad, in->edge[bad], (long long)in->n);
}

static enum hn_code take_graph(struct hn_library_build *b, const struct hardneg_items *in) {
    if (!in->edge_start)
        return HN_OK;
    if (check_edges(b, in))
        return b->ctx.code;
    int64_t edges = in->edge_start[in->n];
    HN_SCOPE(&b->ctx);
    int32_t *from = hn_alloc(&b->ctx, edges, sizeof *from);
    for (int64_t i = 0; from && i < in->n; i++)
        for (int64_t e = in->edge_start[i]; e < in->edge_start[i + 1]; e++)
            from[e] = (int32_t)i;
    hn_own(&b->ctx, scope.outer);
    if (!from || hn_graph_symmetric(&b->ctx, in->n, edges, from, in->edge, &b->graph))
        return b->ctx.code;
    b->items.graph = &b->graph;
    return HN_OK;
}

// Rows without a feature stay zero.
static enum hn_code take_features(struct hn_library_build *b, const struct hardneg_items *in) {
    struct hn_features *f = &b->features;
    *f = (struct hn_features){.n = in->n, .p = in->feature_dims};
    if (copy_unit_rows(&b->ctx, in->features, in->n, f->p, HN_ZERO_ROWS_KEPT, "features",
                       &f->dense))
        return b->ctx.code;
    b->items.features = in->features ? f : NULL;
    return HN_OK;
}

// `count` numbers of texts, -1 among them where that is `min`.
static enum hn_code take_texts(struct hn_library_build *b, const char *what, const int32_t *text,
                               int64_t count, int32_t min, const int32_t **out) {
    int64_t last = b->tuples.texts - 1, bad = first_outside(text, count, min, last);
    if (bad < count)
        return hn_fail(&b->ctx, HN_DATA, "%s[%lld] is %d: texts have numbers from 0 to %lld", what,
                       (long long)bad, text[bad], (long long)last);
    int32_t *copy = hn_alloc(&b->ctx, count, sizeof *copy);
    if (copy)
        memcpy(copy, text, (size_t)count * sizeof *copy);
    *out = copy;
    return copy ? HN_OK : b->ctx.code;
}

// Known relevance: the tuples, and pairs besides.
static enum hn_code take_relevant(struct hn_library_build *b, const struct hardneg_items *in) {
    struct hn_tuples *t = &b->tuples;
    int64_t n = in->n, count;
    if (in->relevant_pairs < 0 || (in->relevant_pairs > 0 && !in->relevant) ||
        !hn_add(n, in->relevant_pairs, &count))
        return hn_fail(&b->ctx, HN_DATA, "relevant_pairs is %lld, or relevant is NULL",
                       (long long)in->relevant_pairs);
    struct hn_judgement *list = hn_alloc(&b->ctx, count, sizeof *list);
    if (!list)
        return b->ctx.code;
    for (int64_t i = 0; i < n; i++)
        list[i] = (struct hn_judgement){t->query[i], t->passage[i], 1};
    for (int64_t i = n; i < count; i++) {
        const int32_t *pair = in->relevant + 2 * (i - n);
        if (pair[0] < 0 || pair[0] >= t->texts || pair[1] < 0 || pair[1] >= t->texts)
            return hn_fail(&b->ctx, HN_DATA,
                           "relevant[%lld] is the pair %d, %d: texts have numbers from 0 to %lld",
                           (long long)(i - n), pair[0], pair[1], (long long)t->texts - 1);
        list[i] = (struct hn_judgement){pair[0], pair[1], 1};
    }
    enum hn_code code = hn_qrels_build(&b->ctx, list, count, t->texts, &t->known);
    hn_free(&b->ctx, list);
    return code;
}

static enum hn_code take_tuples(struct hn_library_build *b, const struct hardneg_items *in) {
    struct hn_tuples *t = &b->tuples;
    if (!in->query_text && !in->passage_text && !in->relevant_pairs)
        return HN_OK;
    if (!in->query_text || !in->passage_text || !in->view2 || b->items.labels ||
        b->items.teacher.data)
        return hn_fail(&b->ctx, HN_USAGE,
                       "tuples have query_text, passage_text and view2, the passages' rows, and "
                       "neither labels nor a teacher");
    int64_t others = in->negative_texts;
    if (others < 0 || (others > 0 && !in->negative_text))
        return hn_fail(&b->ctx, HN_DATA, "negative_texts is %lld, or negative_text is NULL",
                       (long long)others);
    if (others > INT32_MAX / in->n - 2)
        return hn_fail(&b->ctx, HN_DATA, "%lld tuples of %lld texts: at most %d texts",
                       (long long)in->n, (long long)others + 2, INT32_MAX);
    *t = (struct hn_tuples){.n = in->n, .texts = (2 + others) * in->n, .negatives = others};
    if (take_texts(b, "query_text", in->query_text, in->n, 0, &t->query) ||
        take_texts(b, "passage_text", in->passage_text, in->n, 0, &t->passage) ||
        (others > 0 &&
         take_texts(b, "negative_text", in->negative_text, others * in->n, -1, &t->negative)) ||
        take_relevant(b, in))
        return b->ctx.code;
    b->items.tuples = t;
    return HN_OK;
}

enum hn_code hn_library_take_items(struct hn_library_build *b, const struct hardneg_items *in) {
    b->items = (struct hn_items){
        .n = in->n, .d = in->d, .index = in->index, .step = in->index, .progress = in->progress};
    int64_t size;
    if (in->n < 2 || in->d < 1)
        return hn_fail(&b->ctx, HN_DATA, "%s of %s: give 2 items or more, of 1 dimension or more",
                       hn_counted(in->n, "item").text, hn_counted(in->d, "dimension").text);
    if (in->n > INT32_MAX || !hn_mul(in->n, in->d, &size))
        return hn_fail(&b->ctx, HN_DATA,
                       "%s of %s are too many: at most %d items, of numbers that memory holds",
                       hn_counted(in->n, "item").text, hn_counted(in->d, "dimension").text,
                       INT32_MAX);
    if (!in->x)
        return hn_fail(&b->ctx, HN_USAGE, "x is NULL: give the embeddings, [n x d]");
    if (in->zero_rows != 0 && in->zero_rows != 1)
        return hn_fail(&b->ctx, HN_USAGE, "zero_rows is %lld: 0 refuses them, 1 keeps them",
                       (long long)in->zero_rows);
    b->zero_rows = in->zero_rows ? HN_ZERO_ROWS_KEPT : HN_ZERO_ROWS_REFUSED;
    if (!(in->progress >= 0 && in->progress <= 1) || in->index < 0 || in->epoch < 0)
        return hn_fail(&b->ctx, HN_USAGE, "progress lies in [0, 1], index and epoch are 0 or more");
    if (hn_library_take_rows(&b->ctx, in->x, in->n, in->d, b->zero_rows, "x", &b->items.x) ||
        hn_library_take_rows(&b->ctx, in->view2, in->n, in->d, b->zero_rows, "view2",
                             &b->items.x2) ||
        hn_library_take_rows(&b->ctx, in->teacher, in->n, in->teacher_dims, b->zero_rows, "teacher",
                             &b->items.teacher) ||
        take_labels(b, in) || take_groups(b, in) || take_graph(b, in) || take_features(b, in) ||
        take_tuples(b, in))
        return b->ctx.code;
    if (b->items.x2.data)
        b->items.x1 = b->items.x;
    return HN_OK;
}
