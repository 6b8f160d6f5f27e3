// SPDX-License-Identifier: GPL-3.0-or-later
// Shared by the suites of verdicts: results made up row by row, and claims written as in a file.
#pragma once

#include "core/random.h"
#include "core/stats.h"
#include "harness/claims/claims.h"
#include "tests/test.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct hn_context ctx;

static inline void must(enum hn_code code) {
    if (code != HN_OK) {
        fprintf(stderr, "    %s\n", ctx.message);
        abort();
    }
}

// --- Results made up row by row ---

static const struct hn_column run_columns[] = {
    {"dataset", HN_COLUMN_TEXT, "", "", HN_NEITHER}, {"step", HN_COLUMN_INT, "1", "", HN_NEITHER},
    {"sampler", HN_COLUMN_TEXT, "", "", HN_NEITHER}, {"M", HN_COLUMN_REAL, "1", "", HN_NEITHER},
    {"alpha", HN_COLUMN_TEXT, "", "", HN_NEITHER},   {"seed", HN_COLUMN_INT, "1", "", HN_NEITHER},
    {"status", HN_COLUMN_TEXT, "", "", HN_NEITHER},  {"error", HN_COLUMN_TEXT, "", "", HN_NEITHER},
    {"fn", HN_COLUMN_REAL, "1", "", HN_NEITHER},     {"fn_lo", HN_COLUMN_REAL, "1", "", HN_NEITHER},
    {"fn_hi", HN_COLUMN_REAL, "1", "", HN_NEITHER},  {"gap", HN_COLUMN_REAL, "1", "", HN_NEITHER},
};

static inline struct hn_results begin(void) {
    struct hn_results r = {.n_env = 0};
    must(hn_table_init(&ctx, &r.runs, "runs"));
    must(
        hn_table_add_columns(&ctx, &r.runs, run_columns, sizeof run_columns / sizeof *run_columns));
    return r;
}

struct row {
    int step;
    const char *sampler;
    double M;
    const char *alpha;
    int seed;
    double fn;
};

static inline int64_t put(struct hn_results *r, struct row row) {
    struct hn_table *t = &r->runs;
    int64_t at = t->rows;
    must(hn_table_add_row(&ctx, t));
    must(hn_table_set(&ctx, t, at,
                      (struct hn_value[]){HN_TEXT_VALUE("dataset", "d.h5"),
                                          HN_INT_VALUE("step", row.step),
                                          HN_TEXT_VALUE("sampler", row.sampler),
                                          HN_REAL_VALUE("M", row.M),
                                          HN_TEXT_VALUE("alpha", row.alpha ? row.alpha : ""),
                                          HN_INT_VALUE("seed", row.seed),
                                          HN_TEXT_VALUE("status", "ok"),
                                          HN_REAL_VALUE("fn", row.fn),
                                          {NULL}}));
    return at;
}

// One sampler: a value for each seed, from seed 1.
static inline void put_seeds(struct hn_results *r, int step, const char *sampler, const double *fn,
                             int n) {
    for (int i = 0; i < n; i++)
        put(r, (struct row){step, sampler, NAN, NULL, i + 1, fn[i]});
}

static inline struct hn_table *put_table(struct hn_results *r, const char *name,
                                         const struct hn_column *column, int n) {
    struct hn_table *t = hn_results_need_table(&ctx, r, name, column, n);
    if (!t)
        abort();
    return t;
}

// --- Judging a claim that is written as in a file ---

#define ENTRY "paper: T\nentries:\n  - id: a\n    title: t\n    source: s\n"
#define CLAIM ENTRY "    claims:\n      - {name: n, statement: s, "

struct judged {
    void *memory; // owns the rest
    struct hn_claim_book book;
    struct hn_claim_result result;
};

static inline struct judged judge(const struct hn_results *r, const char *claim) {
    struct judged j = {.memory = hn_alloc(&ctx, 0, 1)};
    char text[2048];
    void *outer = hn_own(&ctx, j.memory);
    snprintf(text, sizeof text, CLAIM "%s}\n", claim);
    HN_CHECK(&ctx, hn_claims_read(&ctx, "t.yaml", text, &j.book));
    HN_CHECK(&ctx, hn_claim_judge(&ctx, r, &j.book.entry[0].claim[0], &j.result));
    hn_own(&ctx, outer);
    return j;
}

static inline void drop(struct judged *j) { hn_free(&ctx, j->memory); }

static inline enum hn_verdict verdict_of(const struct hn_results *r, const char *claim, char *why) {
    struct judged j = judge(r, claim);
    enum hn_verdict verdict = j.result.verdict;
    if (why)
        snprintf(why, 512, "%s", j.result.reason);
    drop(&j);
    return verdict;
}

static inline void expect(const struct hn_results *r, const char *claim, enum hn_verdict wanted,
                          const char *part) {
    char why[512];
    enum hn_verdict got = verdict_of(r, claim, why);
    if (got != wanted || !strstr(why, part))
        fprintf(stderr, "    %s\n    gave %s: %s (wanted %s: %s)\n", claim, hn_verdicts[got], why,
                hn_verdicts[wanted], part);
    CU_ASSERT_EQUAL(got, wanted);
    CU_ASSERT_PTR_NOT_NULL(strstr(why, part));
}

#define KNN_ABOVE                                                                                  \
    "test: above, of: {column: fn, rows: {sampler: knn}}, than: {rows: {sampler: uniform}}"
#define KNN_BELOW                                                                                  \
    "test: below, of: {column: fn, rows: {sampler: knn}}, than: {rows: {sampler: uniform}}"
