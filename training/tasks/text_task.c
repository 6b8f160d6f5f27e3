// SPDX-License-Identifier: GPL-3.0-or-later
// Shared by text tasks: the network over bags of words, items, groups of equal texts.
#include "training/tasks/text_task.h"
#include "core/random.h"
#include "training/net/net.h"
#include "training/text/features.h"
#include "training/text/svd.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

static enum hn_code build(struct hn_context *ctx, struct hn_text_net *net, struct hn_weights *w,
                          const struct hn_text_net_spec *spec) {
    struct hn_net *e = &net->encoder;
    w->table = spec->tables * HN_TEXT_BUCKETS;
    w->width = spec->hidden ? spec->hidden : spec->out;
    hn_net_begin(e, w->table);
    if (hn_net_add(ctx, e, w, &hn_layer_sparse_linear, (struct hn_layer_spec){.out = w->width}) ||
        (spec->hidden &&
         hn_net_add(ctx, e, w, &hn_layer_linear, (struct hn_layer_spec){.out = spec->out})) ||
        (spec->drop > 0 &&
         hn_net_add(ctx, e, w, &hn_layer_dropout, (struct hn_layer_spec){.rate = spec->drop})))
        return ctx->code;
    return hn_net_add(ctx, e, w, &hn_layer_unit, (struct hn_layer_spec){0});
}

enum hn_code hn_text_net_open(struct hn_context *ctx, const struct hn_text_features *features,
                              struct hn_weights *weights, const struct hn_text_net_spec *spec,
                              struct hn_text_net *net) {
    int64_t keys = (1 + spec->hard) * spec->batch;
    int64_t rows = hn_max(spec->batch + keys, HN_TEXT_ROWS), entries, numbers;
    *net = (struct hn_text_net){.dz = NULL};
    if (!hn_mul(rows, features->max, &entries) || !hn_mul(rows, spec->out, &numbers))
        return hn_fail(ctx, HN_MEMORY, "a batch of %lld items is too large",
                       (long long)spec->batch);
    if (build(ctx, net, weights, spec) ||
        hn_sparse_open(ctx, rows, net->encoder.in, entries, &net->x) ||
        hn_sparse_open(ctx, net->encoder.in, rows, entries, &net->x_t) ||
        hn_tape_open(ctx, &net->encoder, rows, true, &net->tape) ||
        hn_loss_open(ctx, spec->objective, spec->batch, keys + (spec->all ? spec->batch : 0),
                     spec->out, &net->loss))
        return ctx->code;
    bool good = HN_ALLOC(ctx, net->dz, numbers) && HN_ALLOC(ctx, net->number, entries) &&
                HN_ZALLOC(ctx, net->number_of, net->encoder.in);
    return good ? HN_OK : ctx->code;
}

void hn_text_net_clear(struct hn_text_net *net) {
    net->x.rows = 0;
    net->x.start[0] = 0;
}

const hn_real *hn_text_net_embed(struct hn_text_net *net, struct hn_weights *weights,
                                 const struct hn_pass *pass) {
    struct hn_pass own = *pass;
    own.input = &net->x;
    return hn_net_forward(weights, &net->tape, &own, NULL, net->x.rows);
}

// The columns of x become touched rows, in the order of their first entries, and those of x_t.
static void transpose(struct hn_text_net *net, struct hn_weights *w) {
    struct hn_sparse numbered = net->x;
    numbered.index = net->number;
    for (int64_t k = 0; k < net->x.start[net->x.rows]; k++) {
        int32_t column = net->x.index[k], *number = &net->number_of[column];
        if (*number >= w->n_touched || w->touched[*number] != column) {
            *number = (int32_t)w->n_touched;
            w->touched[w->n_touched++] = column;
        }
        net->number[k] = *number;
    }
    numbered.cols = net->x_t.rows = w->n_touched;
    net->x_t.cols = net->x.rows;
    hn_sparse_transpose(&numbered, &net->x_t);
}

double hn_text_net_step(struct hn_text_net *net, struct hn_weights *weights,
                        const struct hn_pass *pass, const struct hn_loss_spec *spec,
                        const struct hn_loss_lists *lists, int64_t n, const hn_real **z) {
    struct hn_pass own = *pass;
    int64_t d = net->encoder.out, keys = n * d;
    *z = hn_text_net_embed(net, weights, pass);
    double loss = hn_loss_pairs(pass->workers, spec, lists, n, d, *z, *z + keys, net->dz,
                                net->dz + keys, &net->loss);
    transpose(net, weights);
    own.input = &net->x;
    own.input_t = &net->x_t;
    hn_net_backward(weights, &net->tape, &own, net->dz, NULL);
    return loss;
}

enum hn_code hn_text_items_open(struct hn_context *ctx, int64_t capacity, int64_t width,
                                struct hn_text_items *out) {
    *out = (struct hn_text_items){.width = width};
    bool good = HN_ALLOC(ctx, out->query, capacity) && HN_ALLOC(ctx, out->key, capacity) &&
                HN_ALLOC(ctx, out->hard, capacity * width);
    return good ? HN_OK : ctx->code;
}

void hn_text_items_add(struct hn_text_items *items, int32_t query, int32_t key, int32_t hard) {
    items->query[items->n] = query;
    items->key[items->n] = key;
    for (int64_t k = 0; k < items->width; k++)
        items->hard[items->n * items->width + k] = k == 0 ? hard : -1;
    items->n++;
}

// The first text of a group, to which all on the way then point.
static int32_t first_of(int32_t *group, int32_t t) {
    while (group[t] != t)
        t = group[t] = group[group[t]];
    return t;
}

void hn_text_join(int32_t *group, int32_t a, int32_t b) {
    a = first_of(group, a);
    b = first_of(group, b);
    group[a > b ? a : b] = a > b ? b : a;
}

void hn_text_number_groups(int32_t *group, int64_t n) {
    int32_t groups = 0;
    for (int32_t t = 0; t < n; t++)
        group[t] = first_of(group, t); // one before it, or itself
    for (int32_t t = 0; t < n; t++)
        group[t] = group[t] == t ? groups++ : group[group[t]];
}

static enum hn_code check_lists(struct hn_context *ctx, const struct hn_task *task) {
    const char *option = ((const struct hn_text_task *)task->state)->hard_option;
    const struct hn_loss_spec *loss = &task->setting.loss;
    if (loss->objective != HN_OBJECTIVE_OTHER_VIEW && loss->objective != HN_OBJECTIVE_BOTH_WAYS &&
        loss->objective != HN_OBJECTIVE_SIGLIP)
        return hn_fail(ctx, HN_USAGE,
                       "task %s: hard negatives and `mask` take loss other-view, both-ways or "
                       "siglip, not %s: set %s and mask to false for it",
                       task->type->name, hn_objectives[loss->objective].name, option);
    if (loss->weighting.guided)
        return hn_fail(ctx, HN_USAGE,
                       "task %s: guide: teacher compares items of the batch, and with hard "
                       "negatives or `mask` keys are texts: set %s and mask to false for it",
                       task->type->name, option);
    return HN_OK;
}

enum hn_code hn_text_task_open(struct hn_context *ctx, struct hn_task *task) {
    struct hn_text_task *t = task->state;
    if (t->lists && check_lists(ctx, task))
        return ctx->code;
    int64_t b = task->batch_size, width = t->items.width, pairs;
    if (!hn_mul((1 + width + t->same_side[0]) * b, b, &pairs))
        return hn_fail(ctx, HN_MEMORY, "a batch of %lld items is too large", (long long)b);
    task->block = HN_TEXT_ROWS;
    bool good = HN_ALLOC(ctx, t->left_out, t->features.max_words) &&
                HN_ALLOC(ctx, t->hard, b * width) && HN_ZALLOC(ctx, t->in_batch, t->features.n);
    for (int way = 0; way < 2 && good; way++)
        good = HN_ALLOC(ctx, t->own[way], b) && HN_ALLOC(ctx, t->start[way], b + 1) &&
               HN_ALLOC(ctx, t->position[way], way == 0 ? pairs : (1 + t->same_side[1]) * b * b);
    const struct hn_text_params *p = task->params;
    const struct hn_text_net_spec spec = {.tables = t->apart < t->features.n ? 2 : 1,
                                          .hidden = p->hidden,
                                          .out = p->out,
                                          .drop = p->drop,
                                          .objective = task->setting.loss.objective,
                                          .batch = b,
                                          .hard = t->lists ? width : 1,
                                          .all = t->same_side[0] || t->same_side[1]};
    return good && !hn_text_net_open(ctx, &t->features, &task->weights, &spec, &t->net) ? HN_OK
                                                                                        : ctx->code;
}

// E is drawn from N(0, 1 / columns), each row from a stream of its own, every table alike; P
// likewise.
void hn_text_init(struct hn_task *task) {
    const struct hn_text_task *t = task->state;
    struct hn_weights *w = &task->weights;
    int64_t d = w->width, tables = t->net.encoder.in;
    double deviation = sqrt(1 / (double)d);
    for (int64_t row = 0; row < w->n / d; row++) {
        struct hn_stream stream;
        bool projects = row >= tables;
        hn_stream_open(&stream, task->setting.seed, "text.init", 0, projects,
                       projects ? row - tables : row % HN_TEXT_BUCKETS);
        gsl_rng r = hn_stream_gsl(&stream);
        for (int64_t j = row * d; j < (row + 1) * d; j++)
            w->value[j] = (hn_real)gsl_ran_gaussian_ziggurat(&r, deviation);
    }
}

static void add_whole(struct hn_text_task *t, int32_t text, const bool *left_out) {
    hn_text_add_row(&t->features, text, left_out, text >= t->apart ? HN_TEXT_BUCKETS : 0,
                    &t->net.x);
}

// Adds a view of a text, drawn from the stream.
static void add_view(const struct hn_task *task, int32_t text, struct hn_stream *stream) {
    const struct hn_text_params *p = task->params;
    struct hn_text_task *t = task->state;
    int32_t words = t->features.words[text], left = words;
    for (int32_t w = 0; w < words; w++) {
        t->left_out[w] = hn_stream_uniform(stream) < p->word_drop;
        left -= t->left_out[w];
    }
    add_whole(t, text, left > 0 ? t->left_out : NULL);
}

static void add_views(const struct hn_task *task, int64_t step, int view, const int32_t *of,
                      const int32_t *id, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        struct hn_stream stream;
        hn_stream_open(&stream, task->setting.seed, "text.view", step, view, i);
        add_view(task, of[id ? id[i] : i], &stream);
    }
}

// The different hard negatives of a batch, in the order of their first item.
static void find_hard(const struct hn_task_batch *batch, struct hn_text_task *t) {
    int64_t width = t->items.width;
    t->n_hard = 0;
    for (int64_t i = 0; i < batch->n * width; i++) {
        int32_t hard = t->items.hard[batch->id[i / width] * width + i % width];
        if (hard >= 0 && !t->in_batch[hard]) {
            t->in_batch[hard] = true;
            t->hard[t->n_hard++] = hard;
        }
    }
    for (int64_t k = 0; k < t->n_hard; k++)
        t->in_batch[t->hard[k]] = false;
}

// Adds to item i's list the other queries (way 0) or keys (way 1) of the batch that are its
// negatives. first: of them among the keys. Returns the list's end.
static int64_t add_same_side(const struct hn_task *task, const struct hn_task_batch *batch, int way,
                             int64_t i, int64_t first, int64_t at) {
    struct hn_text_task *t = task->state;
    for (int64_t j = 0; j < batch->n; j++)
        if (!t->connected(task, way, batch->id[i], batch->id[j]))
            t->position[way][at++] = (int32_t)(first + j);
    return at;
}

// The negatives of every query (way 0), all other keys and the hard negatives, or of every key
// (way 1), all other queries; without those that are related. By same_side also others of its own.
static struct hn_loss_lists make_lists(const struct hn_task *task,
                                       const struct hn_task_batch *batch, int way) {
    struct hn_text_task *t = task->state;
    const int32_t *id = batch->id;
    bool all = t->same_side[0] || t->same_side[1];
    int64_t keys = batch->n + (way == 0 ? t->n_hard : 0), at = 0;
    int64_t first = all && way == 0 ? batch->n : 0; // of the other side among the keys
    for (int64_t i = 0; i < batch->n; i++) {
        t->own[way][i] = (int32_t)(first + i);
        t->start[way][i] = at;
        for (int64_t j = 0; j < keys; j++) {
            int64_t query = way == 0 ? i : j, key = way == 0 ? j : i;
            int32_t text = key < batch->n ? t->items.key[id[key]] : t->hard[key - batch->n];
            if (j != i && !(t->related && t->related(task, id[query], text)))
                t->position[way][at++] = (int32_t)(first + j);
        }
        if (t->same_side[way])
            at = add_same_side(task, batch, way, i, batch->n - first, at);
    }
    t->start[way][batch->n] = at;
    return (struct hn_loss_lists){.keys = all ? 2 * batch->n + t->n_hard : keys,
                                  .all = all,
                                  .own = t->own[way],
                                  .start = t->start[way],
                                  .position = t->position[way]};
}

enum hn_code hn_text_step(struct hn_context *ctx, struct hn_task *task,
                          const struct hn_task_batch *batch, double *loss, float *z1) {
    struct hn_text_task *t = task->state;
    const struct hn_pass pass = hn_task_pass(ctx, task, batch->step);
    const hn_real *z;
    struct hn_loss_lists lists[2];
    hn_text_net_clear(&t->net);
    add_views(task, batch->step, 1, t->items.query, batch->id, batch->n);
    add_views(task, batch->step, 2, t->items.key, batch->id, batch->n);
    if (t->lists) {
        find_hard(batch, t);
        add_views(task, batch->step, 3, t->hard, NULL, t->n_hard);
        for (int way = 0; way < 2; way++)
            lists[way] = make_lists(task, batch, way);
    }
    *loss = hn_text_net_step(&t->net, &task->weights, &pass, &batch->loss, t->lists ? lists : NULL,
                             batch->n, &z);
    if (z1)
        memcpy(z1, z, (size_t)(batch->n * task->d) * sizeof *z1);
    return HN_OK;
}

// Row i of a view.
static int32_t text_of(const struct hn_task *task, int view, int64_t i) {
    const struct hn_text_task *t = task->state;
    if (view == HN_TEXT_TEXTS)
        return t->texts[i];
    if (i >= task->n)
        return t->behind ? t->behind[i - task->n] : (int32_t)(i - task->n);
    return view == 2 ? t->items.key[i] : t->items.query[i];
}

// Views leave out words, but no numbers of h: evaluation mode.
enum hn_code hn_text_embed(struct hn_context *ctx, struct hn_task *task, int view, int64_t at,
                           int64_t first, int64_t rows, float *z) {
    struct hn_text_task *t = task->state;
    const struct hn_pass pass = {.workers = hn_task_workers(ctx, task)};
    hn_text_net_clear(&t->net);
    for (int64_t i = first; i < first + rows; i++) {
        int32_t text = text_of(task, view, i);
        struct hn_stream stream;
        if (view <= 0) {
            add_whole(t, text, NULL);
            continue;
        }
        hn_stream_open(&stream, task->setting.seed, "text.embed", at, view, i);
        add_view(task, text, &stream);
    }
    memcpy(z, hn_text_net_embed(&t->net, &task->weights, &pass),
           (size_t)(rows * task->d) * sizeof *z);
    return HN_OK;
}

enum hn_code hn_text_bags(struct hn_context *ctx, const struct hn_text_features *f,
                          const int32_t *of, int64_t n, struct hn_sparse *x) {
    int64_t entries = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t s = of ? of[i] : i;
        entries += f->start[s + 1] - f->start[s];
    }
    if (hn_sparse_open(ctx, n, HN_TEXT_BUCKETS, entries, x))
        return ctx->code;
    x->rows = 0;
    for (int64_t i = 0; i < n; i++)
        hn_text_add_row(f, of ? of[i] : i, NULL, 0, x);
    return HN_OK;
}

enum hn_code hn_text_svd(struct hn_context *ctx, const struct hn_text_features *f,
                         const int32_t *fit, int64_t n, int64_t svd, const struct hn_sparse *bags,
                         float *z) {
    struct hn_sparse x;
    HN_SCOPE(ctx);
    hn_real *v = hn_alloc(ctx, HN_TEXT_BUCKETS * svd, sizeof *v);
    hn_real *h = hn_alloc(ctx, bags->rows * svd, sizeof *h);
    if (!v || !h || hn_text_bags(ctx, f, fit, n, &x) || hn_svd_right(ctx, &x, svd, v))
        return ctx->code;
    hn_sparse_times(ctx->threads, bags, v, svd, svd, false, h, svd);
    for (int64_t i = 0; i < bags->rows * svd; i++)
        z[i] = (float)h[i];
    return hn_unit_rows(ctx, z, bags->rows, svd, HN_ZERO_ROWS_KEPT, "projection of a text,");
}
