// SPDX-License-Identifier: GPL-3.0-or-later
// The momentum copy of an encoder and its queue of keys (MoCo).
#include "training/net/momentum.h"
#include "core/random.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

enum hn_code hn_momentum_open(struct hn_context *ctx, struct hn_weights *weights, double rate,
                              int64_t rows, int64_t d, struct hn_momentum *out) {
    int64_t queue, all;
    *out = (struct hn_momentum){.rate = rate,
                                .rows = rows,
                                .d = d,
                                .n = weights->n,
                                .first = weights->n_running,
                                .n_running = weights->n_running};
    if (!hn_mul(rows, d, &queue) || !hn_add(queue, weights->n + 2 * weights->n_running + 1, &all))
        return hn_fail(ctx, HN_MEMORY, "a queue of %lld keys is too large", (long long)rows);
    out->queue = out->first + out->n + out->n_running;
    out->next = out->queue + queue;
    weights->n_running = all;
    return HN_OK;
}

void hn_momentum_init(const struct hn_momentum *m, struct hn_weights *w, uint64_t seed) {
    struct hn_stream stream;
    hn_real *copy = w->running + m->first, *queue = w->running + m->queue;
    memcpy(copy, w->value, (size_t)m->n * sizeof *copy);
    memcpy(copy + m->n, w->running, (size_t)m->n_running * sizeof *copy);
    hn_stream_open(&stream, seed, "momentum.queue", 0, 0, 0);
    gsl_rng r = hn_stream_gsl(&stream);
    for (int64_t i = 0; i < m->rows; i++) {
        hn_real *row = queue + i * m->d;
        double square = 0;
        for (int64_t k = 0; k < m->d; k++) {
            row[k] = (hn_real)gsl_ran_ugaussian(&r);
            square += (double)row[k] * (double)row[k];
        }
        for (int64_t k = 0; k < m->d; k++)
            row[k] = (hn_real)((double)row[k] / sqrt(square));
    }
    w->running[m->next] = 0;
}

struct hn_weights hn_momentum_weights(const struct hn_momentum *m, const struct hn_weights *w) {
    hn_real *copy = w->running + m->first;
    return (struct hn_weights){.n = m->n,
                               .n_running = m->n_running,
                               .value = copy,
                               .grad = w->grad, // of no use to a forward pass
                               .running = copy + m->n};
}

void hn_momentum_follow(const struct hn_momentum *m, struct hn_weights *w) {
    hn_real *copy = w->running + m->first, kept = (hn_real)m->rate;
    for (int64_t i = 0; i < m->n; i++)
        copy[i] = kept * copy[i] + (1 - kept) * w->value[i];
}

const hn_real *hn_momentum_queue(const struct hn_momentum *m, const struct hn_weights *w) {
    return w->running + m->queue;
}

void hn_momentum_push(const struct hn_momentum *m, struct hn_weights *w, const hn_real *key,
                      int64_t n) {
    int64_t next = (int64_t)w->running[m->next];
    for (int64_t i = 0; i < n; i++, next = (next + 1) % m->rows)
        memcpy(w->running + m->queue + next * m->d, key + i * m->d, (size_t)m->d * sizeof *key);
    w->running[m->next] = (hn_real)next;
}
