// SPDX-License-Identifier: GPL-3.0-or-later
// Declarations that the two files of the study `lemmas` share.
#pragma once

#include "core/random.h"
#include "metrics/studies/study.h"

enum { HN_LEMMAS_TOGETHER = 9 }; // statements tried on the same cases, at most

// Statements on trial, and the columns of their rows.
struct hn_lemmas {
    int64_t trials; // of what is drawn
    const struct hn_study_env *env;
    const char *embeddings;
    int64_t n, k;
    double temperature, share;
    int rows;
    struct hn_lemma {
        const char *statement;
        int64_t trials, held;
        double left, right;
    } row[HN_LEMMAS_TOGETHER];
};

// One more trial of a statement, left <= right but for rounding.
void hn_lemma_try(struct hn_lemmas *w, const char *statement, double left, double right);
// Writes a row for each statement that was tried, and forgets them. Looks at the stop flag.
HN_MUST_USE enum hn_code hn_lemma_rows(struct hn_context *ctx, struct hn_lemmas *w,
                                       struct hn_table *table);

// The cases with the lowest objective so far: the lowest and highest value among them.
struct hn_lemma_choice {
    double objective, low, high; // begins with INFINITY
};
void hn_lemma_choose(struct hn_lemma_choice *c, double objective, double value);

double hn_lemma_dot(const double *a, const double *b, int d); // a[d], b[d]
// v[d] plus Gaussian noise, of unit length.
void hn_lemma_disturb(struct hn_stream *stream, double noise, double *v, int d);

// Rows of HC's statements, on free points and on the circle.
HN_MUST_USE enum hn_code hn_lemmas_clouds(struct hn_context *ctx, struct hn_lemmas *w,
                                          struct hn_table *table);
HN_MUST_USE enum hn_code hn_lemmas_circle(struct hn_context *ctx, struct hn_lemmas *w,
                                          struct hn_table *table);
