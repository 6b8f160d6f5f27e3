// SPDX-License-Identifier: GPL-3.0-or-later
// Adam as published (Kingma and Ba 2015, algorithm 1), epsilon outside the root and moments
// corrected, as PyTorch does; decay * value is added to the gradient first.
#include "training/net/optimiser.h"
#include "core/clones.h"

#include <math.h>
#include <string.h>

// Parameters updated at once: CHUNK of an array, PIECE of a row of a table. LINE: of the cache.
enum { CHUNK = 1 << 14, PIECE = 512, LINE = 64 / sizeof(hn_real) };

double hn_adam_rate(const struct hn_adam *adam, int64_t step) {
    if (step < adam->warmup)
        return adam->rate * (double)(step + 1) / (double)adam->warmup;
    double span = (double)hn_max(adam->steps - adam->warmup, 1);
    double done = fmin((double)(step - adam->warmup) / span, 1);
    switch (adam->schedule) {
    case HN_RATE_COSINE: return adam->rate * 0.5 * (1 + cos(M_PI * done));
    case HN_RATE_LINEAR: return adam->rate * (1 - done);
    case HN_RATE_CONSTANT: break;
    }
    return adam->rate;
}

struct rule {
    hn_real beta1, beta2, decay, size, root, epsilon;
};

HN_CLONES
static void update(struct rule r, int64_t n, const hn_real *restrict grad, hn_real *restrict value,
                   hn_real *restrict m, hn_real *restrict v) {
    for (int64_t i = 0; i < n; i++) {
        hn_real g = grad[i] + r.decay * value[i];
        m[i] = r.beta1 * m[i] + (1 - r.beta1) * g;
        v[i] = r.beta2 * v[i] + (1 - r.beta2) * g * g;
#ifdef HN_REAL_DOUBLE
        value[i] -= r.size * m[i] / (sqrt(v[i]) * r.root + r.epsilon);
#else
        value[i] -= r.size * m[i] / (__builtin_sqrtf(v[i]) * r.root + r.epsilon);
#endif
    }
}

static struct rule rule_of(const struct hn_adam *adam, int64_t step) {
    double t = (double)(step + 1);
    return (struct rule){.beta1 = (hn_real)adam->beta1,
                         .beta2 = (hn_real)adam->beta2,
                         .decay = (hn_real)adam->decay,
                         .size = (hn_real)(hn_adam_rate(adam, step) / (1 - pow(adam->beta1, t))),
                         .root = (hn_real)(1 / sqrt(1 - pow(adam->beta2, t))),
                         .epsilon = (hn_real)adam->epsilon};
}

void hn_adam_step(const struct hn_adam *adam, int threads, int64_t step, int64_t n, hn_real *grad,
                  hn_real *value, hn_real *m, hn_real *v) {
    const struct rule rule = rule_of(adam, step);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < n; i += CHUNK) {
        int64_t count = hn_min(CHUNK, n - i);
        update(rule, count, grad + i, value + i, m + i, v + i);
        memset(grad + i, 0, (size_t)count * sizeof *grad);
    }
}

// Rows of a table are far apart, and no processor foresees which is next.
static void fetch_row(const hn_real *x, int64_t n) {
    for (int64_t j = 0; j < n; j += LINE)
        __builtin_prefetch(x + j, 1);
}

// Updates a share of the touched rows.
static void update_rows(struct rule rule, const struct hn_weights *w, struct hn_share share,
                        hn_real *m, hn_real *v) {
    hn_real *const array[] = {w->value, m, v}, grad[PIECE];
    for (int64_t k = share.first; k < share.last; k++)
        for (int64_t j = share.from; j < share.to; j += PIECE) {
            int64_t n = hn_min(PIECE, share.to - j), at = w->touched[k] * w->width + j;
            for (int a = 0; a < 3 && k + 1 < share.last; a++)
                fetch_row(array[a] + w->touched[k + 1] * w->width + j, n);
            memset(grad, 0, (size_t)n * sizeof *grad);
            hn_sparse_add_row(w->input_t, k, w->dy + j, w->width, n, grad);
            update(rule, n, grad, w->value + at, m + at, v + at);
        }
}

void hn_adam_update(const struct hn_adam *adam, int threads, int64_t step, struct hn_weights *w,
                    hn_real *m, hn_real *v) {
    const int64_t table = w->table * w->width;
    const struct rule rule = rule_of(adam, step);
#pragma omp parallel for num_threads(threads) schedule(static) if (w->n_touched > 0)
    for (int t = 0; t < threads; t++)
        update_rows(rule, w, hn_share_of(t, threads, w->n_touched, w->width), m, v);
    w->n_touched = 0;
    hn_adam_step(adam, threads, step, w->n - table, w->grad, w->value + table, m + table,
                 v + table);
}
