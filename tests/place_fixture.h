// SPDX-License-Identifier: GPL-3.0-or-later
// Shared by the suites of runs: a folder with a small series and a job, run into that folder.
#pragma once

#include "datasets/h5.h"
#include "datasets/synth.h"
#include "tests/fixture.h"
#include "tests/run_fixture.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

// A folder with a small series (s.h5) and a job on it.
struct place {
    char folder[256], job[300], snapshot[300], out[300];
};

static inline void write_text(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(text, f);
    CU_ASSERT_EQUAL_FATAL(fclose(f), 0);
}

static inline void make_series(struct hn_context *ctx, const char *path, const char *n) {
    struct hn_synth synth = {.tool_version = "hardneg test"};
    HN_CHECK(ctx, hn_options_init(ctx, hn_synth_options, &synth));
    HN_CHECK(ctx, hn_options_set(ctx, hn_synth_options, &synth, "n", n));
    HN_CHECK(ctx, hn_options_set(ctx, hn_synth_options, &synth, "dim", "16"));
    HN_CHECK(ctx, hn_options_set(ctx, hn_synth_options, &synth, "steps", "3"));
    HN_CHECK(ctx, hn_options_set(ctx, hn_synth_options, &synth, "step-gap", "60"));
    HN_CHECK(ctx, hn_options_set(ctx, hn_synth_options, &synth, "output", path));
    HN_CHECK(ctx, hn_synth_write(ctx, &synth));
    hn_options_free(ctx, hn_synth_options, &synth);
}

static inline struct place make_place(struct hn_context *ctx, const char *samplers,
                                      const char *more) {
    struct place p;
    hn_fixture_folder(p.folder, sizeof p.folder);
    snprintf(p.job, sizeof p.job, "%s/j.yaml", p.folder);
    snprintf(p.snapshot, sizeof p.snapshot, "%s/s.h5", p.folder);
    snprintf(p.out, sizeof p.out, "%s/out", p.folder);
    make_series(ctx, p.snapshot, "120");
    char text[2000];
    snprintf(text, sizeof text, "version: 1\nsnapshots: s.h5\nbatch_size: 16\nsamplers: %s\n%s",
             samplers, more);
    write_text(p.job, text);
    return p;
}

// Runs the job of a place, with overrides, into its output folder and collects the results.
static inline enum hn_code run_place_counted(struct hn_context *ctx, const struct place *p,
                                             const struct hn_text_list *set,
                                             const struct hn_instructions *counter,
                                             struct hn_run_summary *summary,
                                             struct hn_results *results) {
    return fixture_run_job(ctx, p->job, set, p->out, counter, summary, results);
}

static inline enum hn_code run_place_with(struct hn_context *ctx, const struct place *p,
                                          const struct hn_text_list *set,
                                          struct hn_run_summary *summary,
                                          struct hn_results *results) {
    return run_place_counted(ctx, p, set, NULL, summary, results);
}

static inline enum hn_code run_place(struct hn_context *ctx, const struct place *p,
                                     struct hn_run_summary *summary, struct hn_results *results) {
    return run_place_with(ctx, p, NULL, summary, results);
}

static inline bool same_bits(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

static inline bool is_timing(const char *column) {
    return strncmp(column, "cost_", 5) == 0 || strcmp(column, "peak_rss") == 0 ||
           strcmp(column, "share_of_limit") == 0;
}

static inline void check_same_table(const struct hn_table *a, const struct hn_table *b) {
    CU_ASSERT_EQUAL_FATAL(a->rows, b->rows);
    CU_ASSERT(a->rows > 0);
    for (int c = 0; c < a->n_columns; c++) {
        const char *name = a->column[c].name;
        for (int64_t r = 0; r < a->rows && !is_timing(name); r++) {
            bool same = strcmp(hn_table_text(a, r, name), hn_table_text(b, r, name)) == 0 &&
                        same_bits(hn_table_real(a, r, name), hn_table_real(b, r, name));
            if (!same)
                fprintf(stderr, "    column %s, row %d differs\n", name, (int)r);
            CU_ASSERT(same);
        }
    }
}

static inline void check_same_counts(const struct hn_results *a, const struct hn_results *b) {
    int64_t counts = a->runs.rows * a->kinds * a->bins, batches = a->batch_start[a->runs.rows];
    CU_ASSERT(counts > 0 && batches > 0);
    CU_ASSERT_EQUAL(memcmp(a->histogram, b->histogram, (size_t)counts * sizeof *a->histogram), 0);
    CU_ASSERT_EQUAL(memcmp(a->batch_fn_ratio, b->batch_fn_ratio, (size_t)batches * sizeof(double)),
                    0);
}
