// SPDX-License-Identifier: GPL-3.0-or-later
// Trials of statements, and the rows that tell of them.
#include "metrics/studies/lemmas_private.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

void hn_lemma_try(struct hn_lemmas *w, const char *statement, double left, double right) {
    int i = 0;
    while (i < w->rows && strcmp(w->row[i].statement, statement) != 0)
        i++;
    if (i == w->rows)
        w->row[w->rows++] = (struct hn_lemma){statement, 0, 0, left, right};
    struct hn_lemma *r = &w->row[i];
    if (left - right > r->left - r->right) {
        r->left = left;
        r->right = right;
    }
    r->trials++;
    r->held += left <= right + 1e-9 * fmax(1, fabs(right));
}

enum hn_code hn_lemma_rows(struct hn_context *ctx, struct hn_lemmas *w, struct hn_table *table) {
    for (const struct hn_lemma *r = w->row; r < w->row + w->rows; r++)
        if (HN_TABLE_PUT(ctx, table, HN_TEXT_VALUE("statement", r->statement),
                         HN_TEXT_VALUE("embeddings", w->embeddings), HN_INT_VALUE("n", w->n),
                         HN_INT_VALUE("k", w->k), HN_REAL_VALUE("temperature", w->temperature),
                         HN_REAL_VALUE("share", w->share), HN_INT_VALUE("trials", r->trials),
                         HN_INT_VALUE("held", r->held),
                         HN_REAL_VALUE("holds", (double)r->held / (double)r->trials),
                         HN_REAL_VALUE("left", r->left), HN_REAL_VALUE("right", r->right)))
            return ctx->code;
    w->rows = 0;
    return hn_check_stop(ctx);
}

double hn_lemma_dot(const double *a, const double *b, int d) {
    double sum = 0;
    for (int i = 0; i < d; i++)
        sum += a[i] * b[i];
    return sum;
}

void hn_lemma_disturb(struct hn_stream *stream, double noise, double *v, int d) {
    gsl_rng rng = hn_stream_gsl(stream);
    for (int i = 0; i < d; i++)
        v[i] += noise * gsl_ran_gaussian(&rng, 1);
    double length = sqrt(hn_lemma_dot(v, v, d));
    for (int i = 0; i < d; i++)
        v[i] /= length;
}

void hn_lemma_choose(struct hn_lemma_choice *c, double objective, double value) {
    if (objective < c->objective - 1e-12)
        *c = (struct hn_lemma_choice){objective, value, value};
    else if (objective <= c->objective + 1e-12) {
        c->low = fmin(c->low, value);
        c->high = fmax(c->high, value);
    }
}
