// SPDX-License-Identifier: GPL-3.0-or-later
// Estimates from cells that differ by their seed alone. All that page, terminal, LaTeX, figures and
// CSV say with a ± comes from here, so that the same cells give the same number everywhere.
#pragma once

#include "results/analysis/replicates.h"
#include "results/store.h"

struct hn_mean {
    double mean;   // NaN: no value
    double half;   // half of the 95 % interval, the number behind ±, at most the distance to the
                   // farther end of the column's range; NaN: no interval
    double lo, hi; // the interval, cut to the column's range; NaN: none
    int64_t n;     // cells with a value, or pairs
    enum hn_over over;
    int64_t among;  // intervals that hold together with 95 % (hn_mean_among()), 1 = this one alone
    double freedom; // of Student's distribution behind an interval over seeds: n - 1, or more where
                    // settings learn from one another (spread.h)
};
extern const struct hn_mean hn_no_mean; // NaN throughout, of no cell

// Cells are rows of /runs. True if one of them is finished and has a finite number in the column.
bool hn_any_cell_has(const struct hn_results *r, const char *column);
// The mean over those cells. Interval: Student's over three seeds or more; over fewer, from the
// intervals over batches that the cells have (columns <name>_lo and <name>_hi, or the mean cosines
// of batches), which are independent of each other.
struct hn_mean hn_replicates_mean(const struct hn_results *r, struct hn_replicates cells,
                                  const char *column);
// The mean of a minus b over the seeds of both, intervals as above. What rounding explains is 0.
struct hn_mean hn_replicates_difference(const struct hn_results *r, struct hn_replicates a,
                                        struct hn_replicates b, const char *column);

// The mean over finished cells of the squared half-interval over batches; NaN: one has none.
double hn_replicates_noise(const struct hn_results *r, struct hn_replicates cells,
                           const char *column);

// Moves i and k on from where they are to finished cells a.row[i] and b.row[k] of one seed; false:
// there are no more.
bool hn_next_pair(const struct hn_results *r, struct hn_replicates a, struct hn_replicates b,
                  int64_t *i, int64_t *k);

// The same of values, one a seed or data set; NaN ones do not count. gap: values are differences of
// multiples of it, which deviate by rounding at least; 0: they are not.
struct hn_mean hn_values_mean(const double *value, int64_t n, double gap);
// The p of Student's two-sided test that the mean is 0; NaN without an interval or a difference.
double hn_mean_p(struct hn_mean m);
// The variance over seeds behind a difference's interval; NaN without one.
double hn_mean_variance(struct hn_mean difference);
// With an interval over seeds from this variance of a value, of so many degrees of freedom.
struct hn_mean hn_mean_with(struct hn_mean m, double variance, double freedom);
// With the interval over seeds widened so that n of its kind hold together with 95 % (Bonferroni):
// for what is picked among n by these numbers. An interval over batches stays as it is.
struct hn_mean hn_mean_among(struct hn_mean m, int64_t n);
// The same for all pairs of n: for the difference of another to the one that is picked.
struct hn_mean hn_mean_among_pairs(struct hn_mean m, int64_t n);

struct json_t; // of jansson

// The cell of a table (results/records.h); sign: of a difference.
struct json_t *hn_mean_json(struct hn_mean m, bool sign);

#define HN_MARGIN 0.005         // of the false-negative ratio: half a point
#define HN_HARDNESS_MARGIN 0.02 // of a cosine: what is harder by less is as good as Uniform

enum hn_within { HN_UNDETERMINED, HN_WITHIN, HN_BEYOND };

// Judges a paired difference against a margin: within if its interval's upper end is at most the
// margin, beyond if its lower end lies above. Undetermined without an interval over seeds, as
// batches of one seed say nothing of other builds (means.h).
enum hn_within hn_judge(struct hn_mean difference, double margin);
// Number of seeds that tell with probability .9 if mean and deviation are the true ones; 0: more
// than 999, or unknown.
int64_t hn_judge_seeds(struct hn_mean difference, double margin);
// The sign of a difference that its interval over seeds tells, 0: none. Without one: 0 where others
// are judged by theirs, else that of the mean.
int hn_told_apart(struct hn_mean difference, bool judged);
