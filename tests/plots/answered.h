// SPDX-License-Identifier: GPL-3.0-or-later
// Results made row by row, and the sentences that a page opens with on them.
#pragma once

#include "plots/report/report_private.h"
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct hn_context ctx;
static void *owner;
static struct hn_results results;
static double margin = HN_MARGIN;
static const char *dataset = "dir/f.h5";

static const struct hn_column columns[] = {
    {"dataset", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_IDENTITY},
    {"step", HN_COLUMN_INT, "1", "", HN_NEITHER, HN_ROLE_IDENTITY},
    {"sampler", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_IDENTITY},
    {"params", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_SETTING},
    {"weighting", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_SETTING},
    {"tau_plus", HN_COLUMN_REAL, "1", "", HN_NEITHER, HN_ROLE_SETTING},
    {"batch_size", HN_COLUMN_INT, "items", "", HN_NEITHER, HN_ROLE_SETTING},
    {"seed", HN_COLUMN_INT, "1", "", HN_NEITHER, HN_ROLE_SETTING},
    {"status", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_COUNTER},
    {"fn_ratio", HN_COLUMN_REAL, "1", "", HN_SMALLER, HN_ROLE_QUALITY},
    {"fn_ratio_lo", HN_COLUMN_REAL, "1", "", HN_NEITHER, HN_ROLE_QUALITY},
    {"fn_ratio_hi", HN_COLUMN_REAL, "1", "", HN_NEITHER, HN_ROLE_QUALITY},
    {"cos_mean", HN_COLUMN_REAL, "1", "", HN_LARGER, HN_ROLE_QUALITY},
    {"true_mean", HN_COLUMN_REAL, "1", "", HN_LARGER, HN_ROLE_QUALITY},
    {"hard_true_mean", HN_COLUMN_REAL, "1", "", HN_LARGER, HN_ROLE_QUALITY},
    {"true_anchors", HN_COLUMN_REAL, "1", "", HN_NEITHER, HN_ROLE_QUALITY},
    {"fn_loss_mass", HN_COLUMN_REAL, "1", "", HN_SMALLER, HN_ROLE_QUALITY},
    {"clamp_rate", HN_COLUMN_REAL, "1", "", HN_SMALLER, HN_ROLE_QUALITY},
    {"cost_s", HN_COLUMN_REAL, "s", "", HN_SMALLER, HN_ROLE_TIME}};

struct cell {
    const char *sampler;
    int seed, batch_size;
    double fn, mean, hard, cost;
    const char *weighting;
    double tau_plus, loss, clamp, anchors;
    double wide; // half of the interval of fn over batches, 0 = none
    const char *params;
};

static struct cell at(const char *sampler, int seed, double fn, double hard) {
    return (struct cell){sampler, seed, 8, fn, NAN, hard, NAN, "none", NAN, NAN, NAN, 1, 0, ""};
}

static void put(const struct cell *c) {
    const struct hn_value row[] = {
        HN_TEXT_VALUE("dataset", dataset),
        HN_TEXT_VALUE("sampler", c->sampler),
        HN_TEXT_VALUE("params", c->params),
        HN_TEXT_VALUE("weighting", c->weighting),
        HN_REAL_VALUE("tau_plus", c->tau_plus),
        HN_INT_VALUE("batch_size", c->batch_size),
        HN_INT_VALUE("seed", c->seed),
        HN_TEXT_VALUE("status", "ok"),
        HN_REAL_VALUE("fn_ratio", c->fn),
        HN_REAL_VALUE("fn_ratio_lo", c->wide > 0 ? c->fn - 1.5 * c->wide : NAN),
        HN_REAL_VALUE("fn_ratio_hi", c->wide > 0 ? c->fn + 0.5 * c->wide : NAN),
        HN_REAL_VALUE("cos_mean", 0.3),
        HN_REAL_VALUE("true_mean", c->mean),
        HN_REAL_VALUE("hard_true_mean", c->hard),
        HN_REAL_VALUE("true_anchors", c->anchors),
        HN_REAL_VALUE("fn_loss_mass", c->loss),
        HN_REAL_VALUE("clamp_rate", c->clamp),
        HN_REAL_VALUE("cost_s", c->cost),
        {.column = NULL}};
    HN_CHECK(&ctx, hn_table_put(&ctx, &results.runs, row));
}

static void begin(void) {
    hn_context_init(&ctx, 1);
    owner = hn_alloc(&ctx, 0, 1);
    results = (struct hn_results){0};
    HN_CHECK(&ctx, hn_table_init(&ctx, &results.runs, "runs"));
    HN_CHECK(&ctx, hn_table_add_columns(&ctx, &results.runs, columns,
                                        (int)(sizeof columns / sizeof columns[0])));
}

// The opening on the rows so far, to be freed; ends what begin() began.
static char *opening(void) {
    struct hn_overview o;
    char *text = NULL;
    size_t size;
    hn_own(&ctx, owner);
    HN_CHECK(&ctx, hn_overview_make(&ctx, &results, &o));
    FILE *html = open_memstream(&text, &size);
    hn_html_answer(html, &o, margin, "");
    fclose(html);
    hn_own(&ctx, NULL);
    hn_free(&ctx, owner);
    hn_results_free(&ctx, &results);
    CU_ASSERT_EQUAL(atomic_load(&ctx.memory.live), 0);
    return text;
}

// Its sentences, without the table above them.
static char *sentences(void) {
    char *text = opening(), *table = strstr(text, "<div class=first>"),
         *words = table ? strstr(table, "<details class=why") : NULL;
    if (words)
        memmove(table, words, strlen(words) + 1);
    return text;
}

// On three seeds that agree.
static inline char *sentences_on(const struct cell *c, int n) {
    begin();
    for (int i = 0; i < 3 * n; i++) {
        struct cell one = c[i / 3];
        one.seed = i % 3;
        put(&one);
    }
    return sentences();
}

// Checks what was said, and what was not; frees it.
static inline void says(char *text, const char *yes, const char *no) {
    CU_ASSERT(strstr(text, yes) && !(no && strstr(text, no)));
    if (!strstr(text, yes) || (no && strstr(text, no)))
        fprintf(stderr, "\nwanted: %s\nnot: %s\ngot: %s\n", yes, no ? no : "", text);
    free(text);
}

// Three seeds, each with an excess over Uniform of both measures.
static inline void put_sampler(const char *sampler, const double fn[3], const double hard[3]) {
    for (int seed = 0; seed < 3; seed++) {
        struct cell c = at(sampler, seed, 0.096 + fn[seed], 0.5 + hard[seed]);
        c.cost = 2e-3;
        put(&c);
    }
}
