// SPDX-License-Identifier: GPL-3.0-or-later
// Networks: sequences of layers, their parameters, and passes through them.
#include "training/net/net.h"

#include "core/random.h"
#include "training/net/batch_norm.h"
#include "training/net/layer.h"

#include <math.h>
#include <string.h>

#define LIST(name) &hn_layer_##name,
const struct hn_layer_type *const hn_layers[] = {HN_LAYERS(LIST) NULL};

void hn_net_begin(struct hn_net *net, int64_t in) { *net = (struct hn_net){.in = in, .out = in}; }

enum hn_code hn_net_add(struct hn_context *ctx, struct hn_net *net, struct hn_weights *weights,
                        const struct hn_layer_type *type, struct hn_layer_spec spec) {
    if (net->n == HN_NET_LAYERS)
        return hn_fail(ctx, HN_INTERNAL, "a network of more than %d layers", HN_NET_LAYERS);
    struct hn_layer *layer = &net->layer[net->n];
    *layer = (struct hn_layer){.type = type,
                               .spec = spec,
                               .number = net->n,
                               .in = net->out,
                               .out = net->out,
                               .param = weights->n,
                               .running = weights->n_running};
    const char *fault = type->size ? type->size(layer) : NULL;
    if (fault)
        return hn_fail(ctx, HN_INTERNAL, "layer %d (%s): %s", net->n, type->name, fault);
    weights->n += layer->n_params;
    weights->n_running += layer->n_running;
    net->out = layer->out;
    net->n++;
    return HN_OK;
}

enum hn_code hn_net_add_relu(struct hn_context *ctx, struct hn_net *net, struct hn_weights *w,
                             int64_t channels, bool batch_norm) {
    const struct hn_layer_spec spec = {.channels = channels, .relu = true};
    return hn_net_add(ctx, net, w, batch_norm ? &hn_layer_batch_norm : &hn_layer_relu, spec);
}

enum hn_code hn_net_add_head(struct hn_context *ctx, struct hn_net *net, struct hn_weights *w,
                             int64_t hidden, int64_t out, bool batch_norm) {
    const struct hn_layer_spec plain = {0};
    const struct hn_layer_spec first = {.out = hidden, .bias = !batch_norm, .fan_in = true};
    const struct hn_layer_spec second = {.out = out, .bias = true, .fan_in = true};
    if (hn_net_add(ctx, net, w, &hn_layer_linear, first) ||
        hn_net_add_relu(ctx, net, w, 0, batch_norm) ||
        hn_net_add(ctx, net, w, &hn_layer_linear, second))
        return ctx->code;
    return hn_net_add(ctx, net, w, &hn_layer_unit, plain);
}

enum hn_code hn_weights_open(struct hn_context *ctx, struct hn_weights *w) {
    bool good = HN_ZALLOC(ctx, w->value, w->n) &&
                HN_ZALLOC(ctx, w->grad, w->n - w->table * w->width) &&
                HN_ZALLOC(ctx, w->running, w->n_running) && HN_ALLOC(ctx, w->touched, w->table);
    return good ? HN_OK : HN_MEMORY;
}

void hn_weights_clear(struct hn_weights *w) {
    memset(w->grad, 0, (size_t)(w->n - w->table * w->width) * sizeof *w->grad);
    w->n_touched = 0;
}

static void draw_weights(const struct hn_layer *layer, uint64_t seed, hn_real *w) {
    struct hn_stream stream;
    hn_stream_open(&stream, seed, "training.init", 0, 0, layer->param);
    double in = (double)layer->fans_in, out = (double)layer->fans_out;
    double a = layer->spec.fan_in ? 1 / sqrt(in) : sqrt(6.0 / (in + out));
    for (int64_t i = 0; i < layer->n_random; i++)
        w[i] = (hn_real)(a * (2 * hn_stream_uniform(&stream) - 1));
}

void hn_net_init(const struct hn_net *net, struct hn_weights *w, uint64_t seed) {
    for (int i = 0; i < net->n; i++) {
        const struct hn_layer *layer = &net->layer[i];
        memset(w->value + layer->param, 0, (size_t)layer->n_params * sizeof *w->value);
        memset(w->running + layer->running, 0, (size_t)layer->n_running * sizeof *w->running);
        draw_weights(layer, seed, w->value + layer->param);
        if (layer->type->init)
            layer->type->init(layer, w->value + layer->param, w->running + layer->running);
    }
}

// Columns of the widest output of a layer: those of the gradients. The input's go to the caller.
static int64_t widest(const struct hn_net *net) {
    int64_t max = 0;
    for (int i = 0; i < net->n; i++)
        max = hn_max(max, net->layer[i].out);
    return max;
}

// True for a batch norm i of the channels that layer j, next to it, reads or writes, if j applies
// it.
static bool applied(const struct hn_net *net, int i, int j) {
    if (i < 0 || i >= net->n || j < 0 || j >= net->n || !net->layer[j].type->applies_norms)
        return false;
    const struct hn_layer_spec *s = &net->layer[j].spec;
    int64_t channels = i < j ? s->channels : s->out; // 0: none, as those that a pool gives
    return net->layer[i].type == &hn_layer_batch_norm && channels > 0 &&
           net->layer[i].spec.channels == channels;
}

static enum hn_code open_layers(struct hn_context *ctx, const struct hn_net *net, int64_t rows,
                                struct hn_tape *t) {
    int64_t work = 0;
    for (int i = 0; i < net->n; i++) {
        const struct hn_layer *layer = &net->layer[i];
        int64_t size, keep;
        if (!hn_mul(rows, layer->out, &size) || !hn_mul(rows, layer->keep_row, &keep) ||
            !hn_add(keep, layer->keep_fixed, &keep))
            return hn_fail(ctx, HN_MEMORY, "a pass of %lld rows is too large", (long long)rows);
        if ((!applied(net, i, i + 1) && !HN_ALLOC(ctx, t->y[i], size)) ||
            !HN_ALLOC(ctx, t->keep[i], keep))
            return ctx->code;
        work = hn_max(work, layer->work);
    }
    return HN_ALLOC(ctx, t->work, work) ? HN_OK : HN_MEMORY;
}

enum hn_code hn_tape_open(struct hn_context *ctx, const struct hn_net *net, int64_t rows,
                          bool backward, struct hn_tape *tape) {
    *tape = (struct hn_tape){.net = net, .capacity = rows};
    enum hn_code code = open_layers(ctx, net, rows, tape);
    for (int i = 0; i < 2 && backward && !code; i++)
        code = HN_ALLOC(ctx, tape->delta[i], rows * widest(net)) ? HN_OK : HN_MEMORY;
    return code;
}

static struct hn_layer_run run_of(int i, struct hn_weights *w, struct hn_tape *tape,
                                  const struct hn_pass *pass) {
    const struct hn_net *net = tape->net;
    const struct hn_layer *layer = &net->layer[i];
    const int64_t table = w->table * w->width;
    struct hn_layer_run run = {.layer = layer,
                               .pass = pass,
                               .param = w->value + layer->param,
                               .grad = layer->param < table ? NULL : w->grad + layer->param - table,
                               .running = w->running + layer->running,
                               .rows = tape->rows,
                               .x = i > 0 ? tape->y[i - 1] : tape->x,
                               .y = tape->y[i],
                               .keep = tape->keep[i],
                               .work = tape->work};
    if (applied(net, i - 1, i)) {
        run.x = i > 1 ? tape->y[i - 2] : tape->x;
        run.before = hn_norm_of(layer - 1, tape->keep[i - 1]);
    }
    if (applied(net, i + 1, i))
        run.after = hn_norm_of(layer + 1, tape->keep[i + 1]);
    return run;
}

hn_real *hn_net_forward(struct hn_weights *weights, struct hn_tape *tape,
                        const struct hn_pass *pass, const hn_real *x, int64_t rows) {
    const struct hn_net *net = tape->net;
    tape->x = x;
    tape->rows = rows;
    for (int i = 0; i < net->n; i++) {
        struct hn_layer_run run = run_of(i, weights, tape, pass);
        run.summed = applied(net, i, i - 1);
        run.layer->type->forward(&run);
    }
    return tape->y[net->n - 1];
}

void hn_net_backward(struct hn_weights *weights, struct hn_tape *tape, const struct hn_pass *pass,
                     hn_real *dy, hn_real *dx) {
    const struct hn_net *net = tape->net;
    for (int i = net->n - 1; i >= 0; i--) {
        struct hn_layer_run run = run_of(i, weights, tape, pass);
        if (i == 0 && weights->table > 0) {
            weights->input_t = pass->input_t;
            weights->dy = dy;
            return;
        }
        bool left = applied(net, i, i - 1);
        run.summed = applied(net, i, i + 1);
        hn_real *into = tape->delta[dy == tape->delta[0]];
        if (i == 0)
            into = dx;
        else if (left)
            into = NULL;
        else if (run.layer->type->in_place)
            into = dy;
        run.layer->type->backward(&run, dy, into);
        dy = left ? dy : into;
    }
}
