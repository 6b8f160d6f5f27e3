// SPDX-License-Identifier: GPL-3.0-or-later
// Outcomes of trainings elsewhere (accuracies, losses), from a table of the user, beside the
// settings that they were trained with.
#pragma once

#include "results/analysis/overview.h"

enum { HN_OUTCOMES_MAX = 8, HN_OUTCOME_BYTES_MAX = 1 << 24 };
// Attributes of results whose job names such a table: its file, and its text. Results that lack
// cells have the text unread, for those of the whole job.
#define HN_OUTCOME_FILE "outcome_file"
#define HN_OUTCOME_TEXT "outcome"

// A row.
struct hn_outcome_training {
    int64_t setting; // of the overview, or what `find` below found
    double seed;     // NaN: none is given
    int64_t line;
    double value[HN_OUTCOMES_MAX]; // NaN: empty
};

struct hn_outcome {
    const char *path;                  // for messages, borrowed
    const char *name[HN_OUTCOMES_MAX]; // of measures, borrowed from the text
    int measures;
    int64_t rows;
    struct hn_outcome_training *training; // [rows] by setting, seed (none last), line
};
// The rows of a setting, which stand side by side: how many, from *first on.
int64_t hn_outcome_rows(const struct hn_outcome *u, int64_t setting, int64_t *first);

// Reads `text` (changed), a table with commas, whose first line names the columns: sampler, params,
// dataset, step, batch_size, seed, temperature, weighting, and axes of the results that vary (loss,
// an option) say which setting a row is of, the others are measures. params may name some of a
// setting's options; without `step` a row is of the last step. HN_DATA with line and column: a row
// of no setting or of several, twice the same seed, text where numbers are wanted.
HN_MUST_USE enum hn_code hn_outcome_read(struct hn_context *ctx, const char *path, char *text,
                                         const struct hn_overview *o, struct hn_outcome *out);
// Tables whose rows are of something else: which columns, besides `seed`, say of what, and what
// that is, a number for each that differs. Rows whose columns say the same are found once.
struct hn_outcome_row {
    const char *path;
    int64_t line;
    int keys;
    const char *const *name; // [keys] columns, without `seed`
    char *const *field;      // [keys]
};
struct hn_outcome_match {
    const char *columns, *of_one; // for messages, such as "sampler, params, seed", "setting"
    bool (*is_key)(const void *of, const char *name);
    enum hn_code (*find)(struct hn_context *ctx, const void *of, const struct hn_outcome_row *row,
                         int64_t *found);
    const void *of;
};
HN_MUST_USE enum hn_code hn_outcome_read_as(struct hn_context *ctx, const char *path, char *text,
                                            const struct hn_outcome_match *match,
                                            struct hn_outcome *out);
// Sets both attributes. whole: once each row of the table is known to be of one setting, else
// HN_DATA as above; false: the results lack cells.
HN_MUST_USE enum hn_code hn_outcome_keep(struct hn_context *ctx, const char *path, const char *text,
                                         bool whole, struct hn_results *results);
// A setting's mean over its rows, and its difference to another's over the seeds of both.
HN_MUST_USE enum hn_code hn_outcome_mean(struct hn_context *ctx, const struct hn_outcome *u,
                                         int64_t setting, int measure, struct hn_mean *mean);
HN_MUST_USE enum hn_code hn_outcome_difference(struct hn_context *ctx, const struct hn_outcome *u,
                                               int64_t setting, int64_t base, int measure,
                                               struct hn_mean *mean);
// Rank correlation of x[n] and y[n] over settings, with its 95 % interval (Bonett and Wright,
// "Sample size requirements for estimating Pearson, Kendall and Spearman correlations",
// Psychometrika 2000): NaN for fewer than HN_RANKS_MIN, and where ranks agree throughout.
enum { HN_RANKS_MIN = 5 };
struct hn_rank_correlation {
    double rho, lo, hi;
    int64_t n;
};
HN_MUST_USE enum hn_code hn_rank_correlation(struct hn_context *ctx, const double *x,
                                             const double *y, int64_t n,
                                             struct hn_rank_correlation *out);
