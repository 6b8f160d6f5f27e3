// The library's handle: a sampler, its items, and the way from the caller's arrays to both.
#include "core/sweep/blas.h"
#include "core/sweep/screen.h"
#include "core/version.h"
#include "library/hardneg.h"
#include "library/library_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK = 64, THREADS_MAX = 4096 }; // batches that are drawn at once

const char *hardneg_version(void) { return hn_version; }

const char *hardneg_message(const hardneg *h) {
    return h ? h->ctx.message
             : "there is no handle: hardneg_open() makes one, if there is memory for it";
}
const char *hardneg_note(const hardneg *h) { return h ? h->note : ""; }
const char *hardneg_sampler(const hardneg *h) { return h && h->name ? h->name : ""; }
void hardneg_stop(hardneg *h) {
    if (h)
        __atomic_store_n(&h->stop, 1, __ATOMIC_RELAXED);
}

enum hn_code hn_library_begin(hardneg *h) {
    if (!h)
        return HN_USAGE;
    h->ctx.message[0] = h->note[0] = '\0';
    __atomic_store_n(&h->stop, 0, __ATOMIC_RELAXED);
    return HN_OK;
}

// What the program calls "the input lacks it" is an argument that is missing here.
int hn_library_end(enum hn_code code) { return code == HN_NOT_APPLICABLE ? HN_USAGE : (int)code; }

static enum hn_code open_handle(hardneg *h, const char *spec, int64_t batch_size) {
    struct hn_context *ctx = &h->ctx;
    if (ctx->threads > THREADS_MAX)
        return hn_fail(ctx, HN_USAGE, "threads %d: at most %d, or 0 for all", ctx->threads,
                       THREADS_MAX);
    if (!spec)
        return hn_fail(ctx, HN_USAGE, "the sampler is NULL: give a name, e.g. \"knn\"");
    if (batch_size < 2 || batch_size > INT32_MAX)
        return hn_fail(ctx, HN_USAGE, "batch_size %lld: 2 or more items make a batch",
                       (long long)batch_size);
    struct hn_point *point;
    if (hn_screen_check(ctx) || hn_blas_load(ctx) ||
        hn_grid_read_one(ctx, &hn_sampler_registry, "", spec, &point))
        return ctx->code;
    h->type = point->type;
    h->params = point->params;
    h->batch_size = (int32_t)batch_size;
    h->name = hn_format(ctx, "%s {%s}", h->type->name, point->text);
    return h->name ? HN_OK : ctx->code;
}

int hardneg_open(const char *spec, int64_t batch_size, uint64_t seed, int threads, hardneg **out) {
    struct hn_context first;
    hn_context_init(&first, threads > 0 ? threads : 0);
    if (!out)
        return HARDNEG_USAGE;
    hardneg *h = *out = hn_zalloc(&first, 1, sizeof *h);
    if (!h)
        return HARDNEG_MEMORY;
    hn_context_init(&h->ctx, threads > 0 ? threads : 0);
    h->ctx.stop = &h->stop;
    h->ctx.notes = (struct hn_notes){hn_keep_note, h->note};
    h->seed = seed;
    // The handle owns all that is allocated for it.
    h->ctx.memory.owner = h;
    return hn_library_end(open_handle(h, spec, batch_size));
}

static void close_sampler(hardneg *h) {
    if (h->open)
        hn_sampler_close(&h->ctx, &h->sampler);
    h->open = h->built = h->begun = false;
}

void hardneg_free(hardneg *h) {
    if (!h)
        return;
    close_sampler(h);
    struct hn_context last;
    hn_context_init(&last, 1);
    hn_free(&last, h);
}

// Copies rows[n x d] to where those of the last build were, if they were as many, and makes them
// unit length.
static enum hn_code take_rows(hardneg *h, const float *rows, int64_t d, const char *what,
                              struct hn_library_rows *to, struct hn_matrix *out) {
    int64_t n = h->items.n, size = 0;
    if (rows && (d < 1 || !hn_mul(n, d, &size)))
        return hn_fail(&h->ctx, HN_DATA, "%s has %lld dimensions: 1 or more", what, (long long)d);
    *out = (struct hn_matrix){.data = NULL};
    if (to->size != size) {
        hn_free(&h->ctx, to->data);
        *to = (struct hn_library_rows){NULL, 0};
    }
    if (!rows)
        return HN_OK;
    if (!to->data && !(to->data = hn_alloc(&h->ctx, size, sizeof *to->data)))
        return h->ctx.code;
    to->size = size;
    memcpy(to->data, rows, (size_t)size * sizeof *rows);
    *out = (struct hn_matrix){to->data, n, d, d};
    return hn_unit_rows(&h->ctx, to->data, n, d, h->zero_rows, what);
}

static enum hn_code take_single(hardneg *h, const int32_t *labels) {
    for (int64_t i = 0; i < h->items.n; i++) {
        if (labels[i] < -1)
            return hn_fail(&h->ctx, HN_DATA, "label %d of item %lld: 0 and up, or -1 for unknown",
                           labels[i], (long long)i);
        h->labels[i] = labels[i];
    }
    return HN_OK;
}

// start[n + 1], which is called `what`, against the values that it leads to.
static enum hn_code check_offsets(hardneg *h, const char *what, const int64_t *start, int64_t n,
                                  const char *values, const int32_t *value) {
    if (start[0] != 0 || !value)
        return hn_fail(&h->ctx, HN_DATA, "%s[0] is not 0, or %s is NULL", what, values);
    for (int64_t i = 0; i < n; i++)
        if (start[i + 1] < start[i])
            return hn_fail(&h->ctx, HN_DATA, "%s[%lld]: offsets start at 0 and never fall", what,
                           (long long)i + 1);
    return HN_OK;
}

static enum hn_code take_several(hardneg *h, const struct hardneg_items *in) {
    if (check_offsets(h, "label_start", in->label_start, in->n, "label", in->label))
        return h->ctx.code;
    for (int64_t k = 0; k < in->label_start[in->n]; k++)
        if (in->label[k] < 0)
            return hn_fail(&h->ctx, HN_DATA,
                           "label[%lld] is %d: 0 and up; an item whose labels are unknown has none",
                           (long long)k, in->label[k]);
    h->items.label_sets = &h->label_sets;
    return hn_label_sets_make(&h->ctx, in->n, in->label_start, in->label, h->labels,
                              &h->label_sets);
}

static enum hn_code take_labels(hardneg *h, const struct hardneg_items *in) {
    hn_free(&h->ctx, h->labels);
    h->labels = NULL;
    hn_label_sets_free(&h->ctx, &h->label_sets);
    if (in->labels && in->label_start)
        return hn_fail(&h->ctx, HN_USAGE,
                       "labels and label_start: give one label an item or several, not both");
    if (!in->labels && !in->label_start)
        return HN_OK;
    if (!(h->labels = hn_alloc(&h->ctx, in->n, sizeof *h->labels)))
        return h->ctx.code;
    h->items.labels = h->labels;
    return in->labels ? take_single(h, in->labels) : take_several(h, in);
}

static enum hn_code take_groups(hardneg *h, const struct hardneg_items *in) {
    hn_free(&h->ctx, h->group);
    h->group = NULL;
    if (!in->group)
        return HN_OK;
    if (!(h->group = hn_alloc(&h->ctx, in->n, sizeof *h->group)))
        return h->ctx.code;
    for (int64_t i = 0; i < in->n; i++) {
        if (in->group[i] < 0)
            return hn_fail(&h->ctx, HN_DATA, "group %d of item %lld: 0 and up", in->group[i],
                           (long long)i);
        h->group[i] = in->group[i];
    }
    h->items.group = h->group;
    return HN_OK;
}

static enum hn_code check_edges(hardneg *h, const struct hardneg_items *in) {
    if (check_offsets(h, "edge_start", in->edge_start, in->n, "edge", in->edge))
        return h->ctx.code;
    for (int64_t e = 0; e < in->edge_start[in->n]; e++)
        if (in->edge[e] < 0 || in->edge[e] >= in->n)
            return hn_fail(&h->ctx, HN_DATA, "edge %lld leads to %d, which is none of %lld items",
                           (long long)e, in->edge[e], (long long)in->n);
    return HN_OK;
}

static enum hn_code take_graph(hardneg *h, const struct hardneg_items *in) {
    hn_graph_free(&h->ctx, &h->graph);
    h->graph = (struct hn_graph){.n = 0};
    if (!in->edge_start)
        return HN_OK;
    if (check_edges(h, in))
        return h->ctx.code;
    int64_t edges = in->edge_start[in->n];
    HN_SCOPE(&h->ctx);
    int32_t *from = hn_alloc(&h->ctx, edges, sizeof *from);
    for (int64_t i = 0; from && i < in->n; i++)
        for (int64_t e = in->edge_start[i]; e < in->edge_start[i + 1]; e++)
            from[e] = (int32_t)i;
    hn_own(&h->ctx, scope.outer);
    if (!from || hn_graph_symmetric(&h->ctx, in->n, edges, from, in->edge, &h->graph))
        return h->ctx.code;
    h->items.graph = &h->graph;
    return HN_OK;
}

// Rows without a feature stay zero.
static enum hn_code take_features(hardneg *h, const struct hardneg_items *in) {
    hn_free(&h->ctx, h->feature_rows);
    h->feature_rows = NULL;
    if (!in->features)
        return HN_OK;
    int64_t p = in->feature_dims, size;
    if (p < 1 || !hn_mul(in->n, p, &size))
        return hn_fail(&h->ctx, HN_DATA, "feature_dims %lld: 1 or more", (long long)p);
    if (!(h->feature_rows = hn_alloc(&h->ctx, size, sizeof *h->feature_rows)))
        return h->ctx.code;
    for (int64_t i = 0; i < in->n; i++) {
        const float *row = in->features + i * p;
        double length = sqrt(hn_dot_exact(row, row, p));
        if (!isfinite(length))
            return hn_fail(&h->ctx, HN_DATA, "features of item %lld are not finite", (long long)i);
        for (int64_t k = 0; k < p; k++)
            h->feature_rows[i * p + k] = length > 0 ? (float)((double)row[k] / length) : 0;
    }
    h->features = (struct hn_features){.n = in->n, .p = p, .dense = {h->feature_rows, in->n, p, p}};
    h->items.features = &h->features;
    return HN_OK;
}

static enum hn_code take_items(hardneg *h, const struct hardneg_items *in) {
    h->items = (struct hn_items){
        .n = in->n, .d = in->d, .index = in->index, .step = in->index, .progress = in->progress};
    int64_t size;
    if (in->n < 2 || in->n > INT32_MAX || in->d < 1 || !hn_mul(in->n, in->d, &size))
        return hn_fail(
            &h->ctx, HN_DATA,
            "%lld items of %lld dimensions: give 2 items or more, of 1 dimension or more",
            (long long)in->n, (long long)in->d);
    if (!in->x)
        return hn_fail(&h->ctx, HN_USAGE, "x is NULL: give the embeddings, [n x d]");
    if (in->zero_rows != 0 && in->zero_rows != 1)
        return hn_fail(&h->ctx, HN_USAGE, "zero_rows is %lld: 0 refuses them, 1 keeps them",
                       (long long)in->zero_rows);
    h->zero_rows = in->zero_rows ? HN_ZERO_ROWS_KEPT : HN_ZERO_ROWS_REFUSED;
    if (!(in->progress >= 0 && in->progress <= 1) || in->index < 0)
        return hn_fail(&h->ctx, HN_USAGE, "progress lies in [0, 1], and index is 0 or more");
    if (take_rows(h, in->x, in->d, "x", &h->x, &h->items.x) ||
        take_rows(h, in->view2, in->d, "view2", &h->view2, &h->items.x2) ||
        take_rows(h, in->teacher, in->teacher_dims, "teacher", &h->teacher, &h->items.teacher) ||
        take_labels(h, in) || take_groups(h, in) || take_graph(h, in) || take_features(h, in))
        return h->ctx.code;
    if (h->items.x2.data)
        h->items.x1 = h->items.x;
    return HN_OK;
}

static enum hn_code check_fit(hardneg *h) {
    const struct hn_sampler_plan plan = {.n = h->items.n,
                                         .batch_size = h->batch_size,
                                         .has_positive = hn_has_positive(&h->items),
                                         .has_labels = hn_has_labels(&h->items),
                                         .has_graph = h->items.graph,
                                         .has_features = h->items.features,
                                         .has_teacher = h->items.teacher.data,
                                         .has_groups = h->items.group};
    const char *missing = hn_sampler_missing(h->type, &plan);
    if (missing)
        return hn_fail(&h->ctx, HN_USAGE, "%s needs %s: add it to the items", h->type->name,
                       missing);
    if (h->batch_size > h->items.n)
        return hn_fail(&h->ctx, HN_USAGE, "batch_size %d exceeds the %lld items", h->batch_size,
                       (long long)h->items.n);
    return hn_sampler_check(&h->ctx, h->type, h->params, &plan);
}

static enum hn_code build(hardneg *h, const struct hardneg_items *in) {
    if (h->open && h->sampler.n != in->n)
        close_sampler(h);
    if (take_items(h, in) || check_fit(h))
        return h->ctx.code;
    if (!h->open &&
        hn_sampler_open(&h->ctx, h->type, h->params, in->n, h->batch_size, h->seed, &h->sampler)) {
        hn_sampler_close(&h->ctx, &h->sampler);
        return h->ctx.code;
    }
    h->open = true;
    if (hn_sampler_build(&h->ctx, &h->sampler, &h->items, h->items.index)) {
        enum hn_code code = h->ctx.code;
        close_sampler(h); // only that is allowed now
        return code;
    }
    h->built = true;
    return HN_OK;
}

int hardneg_build(hardneg *h, const struct hardneg_items *items) {
    struct hardneg_items in = {.size = 0};
    const size_t first = offsetof(struct hardneg_items, label_start); // of the first version
    if (hn_library_begin(h))
        return HARDNEG_USAGE;
    h->built = h->begun = false;
    if (!h->type)
        return hn_fail(&h->ctx, HN_USAGE, "the handle was not opened: see the first message");
    if (!items || items->size < first)
        return hn_fail(&h->ctx, HN_USAGE,
                       "items are NULL, or their size is not set: .size = sizeof(struct "
                       "hardneg_items)");
    if (items->size > sizeof in) // what stands there cannot be looked at: the size may be wrong
        return hn_fail(&h->ctx, HN_USAGE,
                       "items are %zu bytes, library %s knows %zu of them: use its hardneg.h, or a "
                       "later library",
                       items->size, hardneg_version(), sizeof in);
    memcpy(&in, items, items->size);
    return hn_library_end(build(h, &in));
}

int hardneg_epoch(hardneg *h, int64_t epoch, int64_t *batches) {
    if (hn_library_begin(h))
        return HARDNEG_USAGE;
    if (!h->built || !batches || epoch < 0)
        return hn_fail(&h->ctx, HN_USAGE, "%s",
                       !h->built ? "nothing is built: hardneg_build() comes first"
                                 : "an epoch is numbered from 0, and batches is not NULL");
    h->begun = !hn_sampler_epoch(&h->ctx, &h->sampler, &h->items, epoch, batches);
    return h->begun ? HARDNEG_OK : hn_library_end(h->ctx.code);
}

int64_t hardneg_room(const hardneg *h) {
    return h && h->built ? hn_sampler_room(h->type, h->params, h->items.n) : 0;
}

static enum hn_code check_range(hardneg *h, int64_t first, int64_t count, const int64_t *ids,
                                bool lists) {
    struct hn_context *ctx = &h->ctx;
    if (!h->begun)
        return hn_fail(ctx, HN_USAGE, "no epoch is begun: hardneg_epoch() comes first");
    if (!ids)
        return hn_fail(ctx, HN_USAGE, "ids is NULL: [count x batch_size] is wanted");
    if (first < 0 || count < 0 || count > h->sampler.batches - first)
        return hn_fail(ctx, HN_USAGE, "%lld batches from %lld on: the epoch has 0 to %lld",
                       (long long)count, (long long)first, (long long)h->sampler.batches - 1);
    if (lists != (hardneg_room(h) > 0))
        return hn_fail(ctx, HN_USAGE,
                       lists ? "%s gives batches: call hardneg_next()"
                             : "%s gives negatives per anchor: call "
                               "hardneg_negatives()",
                       h->type->name);
    return HN_OK;
}

// What a call of `next` fills: up to `count` batches.
static enum hn_code open_batches(hardneg *h, int64_t count, struct hn_batches *b) {
    int64_t places = count * h->batch_size, room = hardneg_room(h);
    *b = (struct hn_batches){.batch_size = h->batch_size, .room = room};
    b->size = hn_alloc(&h->ctx, count, sizeof *b->size);
    b->ids = hn_alloc(&h->ctx, places, sizeof *b->ids);
    b->negatives = hn_alloc(&h->ctx, room ? places : 0, sizeof *b->negatives);
    b->negative = hn_alloc(&h->ctx, places, (size_t)room * sizeof *b->negative);
    return b->size && b->ids && b->negatives && b->negative ? HN_OK : h->ctx.code;
}

// Negatives of place p of a call, and their cosines with the anchor.
static void put_negatives(const hardneg *h, const struct hn_batches *b, int64_t p, int32_t anchor,
                          int64_t *negative, float *score) {
    const struct hn_matrix *x = &h->items.x;
    int32_t n = anchor < 0 ? 0 : b->negatives[p];
    for (int64_t k = 0; k < b->room; k++) {
        int32_t id = k < n ? hn_batch_negatives(b, p)[k] : -1;
        negative[k] = id;
        if (score)
            score[k] =
                id < 0 ? NAN : (float)hn_dot_exact(hn_row(x, anchor), hn_row(x, id), x->cols);
    }
}

static enum hn_code draw(hardneg *h, struct hn_batches *b, int64_t first, int64_t count,
                         int64_t *ids, int64_t *negative, float *score) {
    for (int64_t done = 0; done < count; done += b->count) {
        b->first = first + done;
        b->count = (int32_t)hn_min(CHUNK, count - done);
        if (hn_check_stop(&h->ctx) || hn_sampler_next(&h->ctx, &h->sampler, b))
            return h->ctx.code;
        for (int64_t p = 0; p < b->count * (int64_t)b->batch_size; p++) {
            int64_t at = done * b->batch_size + p;
            bool there = p % b->batch_size < b->size[p / b->batch_size];
            ids[at] = there ? b->ids[p] : -1;
            if (negative)
                put_negatives(h, b, p, (int32_t)ids[at], negative + at * b->room,
                              score ? score + at * b->room : NULL);
        }
    }
    return HN_OK;
}

static int draw_all(hardneg *h, int64_t first, int64_t count, int64_t *ids, int64_t *negative,
                    float *score) {
    struct hn_batches b;
    HN_SCOPE(&h->ctx);
    return hn_library_end(open_batches(h, hn_min(CHUNK, count), &b)
                              ? h->ctx.code
                              : draw(h, &b, first, count, ids, negative, score));
}

int hardneg_next(hardneg *h, int64_t first, int64_t count, int64_t *ids) {
    if (hn_library_begin(h))
        return HARDNEG_USAGE;
    if (check_range(h, first, count, ids, false))
        return HARDNEG_USAGE;
    return draw_all(h, first, count, ids, NULL, NULL);
}

int hardneg_negatives(hardneg *h, int64_t first, int64_t count, int64_t *ids, int64_t *negative,
                      float *score) {
    if (hn_library_begin(h))
        return HARDNEG_USAGE;
    if (check_range(h, first, count, ids, true))
        return HARDNEG_USAGE;
    if (!negative)
        return hn_fail(&h->ctx, HN_USAGE,
                       "negative is NULL: [count x batch_size x room] is wanted");
    return draw_all(h, first, count, ids, negative, score);
}
