// SPDX-License-Identifier: GPL-3.0-or-later
// The results of figures_fixture.h, and ways to change them: for tests of what pages say.
#pragma once

#include "tests/figures_fixture.h"
#include "tests/scratch.h"

static struct hn_results results;

static inline struct hn_table *table(const char *name) {
    struct hn_table *t = strcmp(name, "runs") == 0
                             ? &results.runs
                             : (struct hn_table *)hn_results_table(&results, name);
    CU_ASSERT_PTR_NOT_NULL_FATAL(t);
    return t;
}

static inline void set(const char *name, int64_t row, const char *column, double value) {
    struct hn_table *t = table(name);
    HN_CHECK(&ctx, t->column[hn_table_find(t, column)].kind == HN_COLUMN_INT
                       ? hn_table_set_int(&ctx, t, row, column, (int64_t)value)
                       : hn_table_set_real(&ctx, t, row, column, value));
}

static inline void all(const char *name, const char *column, double value) {
    for (int64_t row = 0; row < table(name)->rows; row++)
        set(name, row, column, value);
}

// value, value + 1, ...
static inline void count(const char *name, const char *column, double value) {
    for (int64_t row = 0; row < table(name)->rows; row++)
        set(name, row, column, value + (double)row);
}

static inline void text(const char *name, int64_t row, const char *column, const char *value) {
    HN_CHECK(&ctx, hn_table_set_text(&ctx, table(name), row, column, value));
}

// The second half of the rows.
static inline void half(const char *name, const char *column, const char *value) {
    for (int64_t row = table(name)->rows / 2; row < table(name)->rows; row++)
        text(name, row, column, value);
}

static inline void options(const char *sampler, const char *of, const char *params) {
    for (int64_t row = 0; row < results.runs.rows; row++)
        if (strcmp(hn_table_text(&results.runs, row, "sampler"), sampler) == 0 &&
            strstr(hn_table_text(&results.runs, row, "params"), of))
            text("runs", row, "params", params);
}
