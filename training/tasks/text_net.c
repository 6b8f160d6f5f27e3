#include "training/tasks/text_net.h"
#include "core/random.h"

#include <gsl/gsl_randist.h>
#include <math.h>

static enum hn_code build(struct hn_context *ctx, struct hn_text_net *net, struct hn_weights *w,
                          const struct hn_text_net_spec *spec) {
    struct hn_net *e = &net->encoder;
    w->width = spec->hidden ? spec->hidden : spec->out;
    hn_net_begin(e, spec->tables * HN_TEXT_BUCKETS);
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
    int64_t rows = hn_max(3 * spec->batch, HN_TEXT_ROWS), entries, numbers;
    *net = (struct hn_text_net){.features = features};
    if (!hn_mul(rows, features->max, &entries) || !hn_mul(rows, spec->out, &numbers))
        return hn_fail(ctx, HN_MEMORY, "a batch of %lld items is too large",
                       (long long)spec->batch);
    if (build(ctx, net, weights, spec) ||
        hn_sparse_open(ctx, rows, net->encoder.in, entries, &net->x) ||
        hn_sparse_open(ctx, net->encoder.in, rows, entries, &net->x_t) ||
        hn_tape_open(ctx, &net->encoder, rows, true, &net->tape) ||
        hn_loss_open(ctx, spec->objective, spec->batch, 2 * spec->batch, spec->out, &net->loss))
        return ctx->code;
    return HN_ALLOC(ctx, net->dz, numbers) ? HN_OK : ctx->code;
}

void hn_text_net_init(const struct hn_text_net *net, struct hn_weights *weights, uint64_t seed) {
    int64_t d = weights->width, rows = weights->n / d;
    double deviation = sqrt(1 / (double)d);
    for (int64_t row = 0; row < rows; row++) {
        struct hn_stream stream;
        bool projects = row >= net->encoder.in;
        hn_stream_open(&stream, seed, "text.init", 0, projects,
                       projects ? row - net->encoder.in : row % HN_TEXT_BUCKETS);
        gsl_rng r = hn_stream_gsl(&stream);
        for (int64_t j = row * d; j < (row + 1) * d; j++)
            weights->value[j] = (hn_real)gsl_ran_gaussian_ziggurat(&r, deviation);
    }
}

void hn_text_net_clear(struct hn_text_net *net) {
    net->x.rows = 0;
    net->x.start[0] = 0;
}

const hn_real *hn_text_net_embed(struct hn_text_net *net, struct hn_weights *weights,
                                 const struct hn_pass *pass) {
    struct hn_pass own = *pass;
    own.input = &net->x;
    return hn_net_forward(&net->encoder, weights, &net->tape, &own, NULL, net->x.rows);
}

double hn_text_net_step(struct hn_text_net *net, struct hn_weights *weights,
                        const struct hn_pass *pass, const struct hn_loss_spec *spec,
                        const struct hn_loss_lists *lists, int64_t n, const hn_real **z) {
    struct hn_pass own = *pass;
    int64_t d = net->encoder.out, keys = n * d;
    *z = hn_text_net_embed(net, weights, pass);
    double loss = hn_loss_pairs(pass->workers, spec, lists, n, d, *z, *z + keys, net->dz,
                                net->dz + keys, &net->loss);
    net->x_t.cols = net->x.rows;
    hn_sparse_transpose(&net->x, &net->x_t);
    own.input = &net->x;
    own.input_t = &net->x_t;
    hn_net_backward(&net->encoder, weights, &net->tape, &own, net->dz, NULL);
    for (int32_t row = 0; row < weights->n / weights->width; row++)
        if (row >= net->x_t.rows || net->x_t.start[row + 1] > net->x_t.start[row])
            weights->touched[weights->n_touched++] = row;
    return loss;
}
