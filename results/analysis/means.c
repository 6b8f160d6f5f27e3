// SPDX-License-Identifier: GPL-3.0-or-later
// Means and differences over seeds: sums over the cells themselves, so over any number of seeds.
#include "results/analysis/means.h"
#include "core/stats.h"
#include "results/records.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const struct hn_mean hn_no_mean = {NAN, NAN, NAN, NAN, 0, HN_OVER_NOTHING, 1, 0};

// Welford's running mean and sum of squares about it.
struct moments {
    int64_t n;
    double mean, squares;
};

static void add(struct moments *m, double value) {
    double off = value - m->mean;
    m->mean += off / (double)++m->n;
    m->squares += off * (value - m->mean);
}

// Half-width of an interval in standard errors: Student's quantile.
static double quantile(double freedom, int64_t among) {
    return gsl_cdf_tdist_Qinv(0.025 / (double)among, freedom);
}

// Half of Student's 95 % interval.
static double half_of(const struct moments *m) {
    if (m->n < 2)
        return NAN;
    double n = (double)m->n;
    return quantile(n - 1, 1) * sqrt(m->squares / (n - 1) / n);
}

// The columns behind an estimate, found once: -1 where there is none.
struct reader {
    const struct hn_results *r;
    const char *name;
    int value, lo, hi, seed, status;
};

static int find_end(const struct hn_table *runs, const char *column, const char *end) {
    char name[64];
    snprintf(name, sizeof name, "%s_%s", column, end);
    return hn_table_find(runs, name);
}

static int find_text(const struct hn_table *t, const char *column) {
    const int c = hn_table_find(t, column);
    return c >= 0 && t->column[c].kind == HN_COLUMN_TEXT ? c : -1;
}

static struct reader open_reader(const struct hn_results *r, const char *column) {
    return (struct reader){r,
                           column,
                           hn_table_find(&r->runs, column),
                           find_end(&r->runs, column, "lo"),
                           find_end(&r->runs, column, "hi"),
                           hn_table_find(&r->runs, "seed"),
                           find_text(&r->runs, "status")};
}

static double number(const struct reader *d, int column, int64_t row) {
    return hn_table_number(&d->r->runs, column, row);
}

static bool has(const struct reader *d, int64_t row) {
    const char *status = d->status < 0 ? "" : d->r->runs.cells[d->status].text[row];
    return (!*status || strcmp(status, "ok") == 0) && isfinite(number(d, d->value, row));
}

bool hn_any_cell_has(const struct hn_results *r, const char *column) {
    struct reader d = open_reader(r, column);
    bool any = false;
    for (int64_t row = 0; row < r->runs.rows && !any; row++)
        any = has(&d, row);
    return any;
}

// The range of a column's values, by its unit.
static void find_range(const struct reader *d, double range[2]) {
    hn_unit_range(d->value < 0 ? "" : d->r->runs.column[d->value].units, range);
}

// below, above: how far the ends of the interval lie from the mean.
static void set_interval(struct hn_mean *e, enum hn_over over, double below, double above) {
    if (!isfinite(below) || !isfinite(above))
        return;
    e->over = over;
    e->half = 0.5 * (below + above);
    e->lo = e->mean - below;
    e->hi = e->mean + above;
}

// Half of Student's interval of a cell's mean cosine over its batches; NaN without.
static double half_of_cosines(const struct hn_results *r, int64_t row) {
    struct moments m = {.n = 0};
    for (int64_t b = r->batch_start[row]; b < r->batch_start[row + 1]; b++)
        if (!isnan(r->batch_cos_mean[b]))
            add(&m, r->batch_cos_mean[b]);
    return half_of(&m);
}

// Distances from a cell's value to the ends of its interval over batches; NaN without. Batches that
// are all alike, as few pairs are, show nothing of how batches vary: they give none.
static void find_ends(const struct reader *d, int64_t row, double end[2]) {
    const struct hn_results *r = d->r;
    end[0] = number(d, d->value, row) - number(d, d->lo, row);
    end[1] = number(d, d->hi, row) - number(d, d->value, row);
    if (strcmp(d->name, "cos_mean") == 0 && r->batch_start && r->batch_cos_mean)
        end[0] = end[1] = half_of_cosines(r, row);
    if (!(end[0] + end[1] > 0))
        end[0] = end[1] = NAN;
}

// Ends of an interval over batches, pooled over cells: NaN once a cell has none.
struct ends {
    double below, above;
};

// reversed: the cell's value is subtracted.
static void pool(struct ends *e, const struct reader *d, int64_t row, bool reversed) {
    double end[2];
    find_ends(d, row, end);
    e->below = hypot(e->below, end[reversed]);
    e->above = hypot(e->above, end[!reversed]);
}

static struct hn_mean mean_of(const struct moments *m, struct ends batches) {
    struct hn_mean e = hn_no_mean;
    if (m->n == 0)
        return e;
    e.mean = m->mean;
    e.n = m->n;
    e.freedom = (double)(m->n - 1);
    if (hn_over_of(m->n) == HN_OVER_SEEDS)
        set_interval(&e, HN_OVER_SEEDS, half_of(m), half_of(m));
    else
        set_interval(&e, HN_OVER_BATCHES, batches.below / (double)m->n,
                     batches.above / (double)m->n);
    return e;
}

struct hn_mean hn_values_mean(const double *value, int64_t n, double gap) {
    struct moments m = {.n = 0};
    for (int64_t i = 0; i < n; i++)
        if (!isnan(value[i]))
            add(&m, value[i]);
    m.squares = fmax(m.squares, (double)(m.n - 1) * gap * gap / 6); // two roundings
    return mean_of(&m, (struct ends){NAN, NAN});
}

double hn_mean_p(struct hn_mean m) {
    if (m.over != HN_OVER_SEEDS || !(m.half > 0))
        return NAN;
    double errors = fabs(m.mean) / m.half * quantile(m.freedom, m.among);
    return 2 * gsl_cdf_tdist_Q(errors, m.freedom);
}

double hn_mean_variance(struct hn_mean difference) {
    if (difference.over != HN_OVER_SEEDS)
        return NAN;
    double errors = difference.half / quantile(difference.freedom, difference.among);
    return errors * errors * (double)difference.n;
}

struct hn_mean hn_mean_with(struct hn_mean m, double variance, double freedom) {
    double half = quantile(freedom, 1) * sqrt(variance / (double)m.n);
    set_interval(&m, HN_OVER_SEEDS, half, half);
    m.freedom = freedom;
    m.among = 1;
    return m;
}

struct hn_mean hn_mean_among(struct hn_mean m, int64_t n) {
    if (m.over != HN_OVER_SEEDS)
        return m;
    m.half *= quantile(m.freedom, n) / quantile(m.freedom, m.among);
    m.lo = m.mean - m.half;
    m.hi = m.mean + m.half;
    m.among = n;
    return m;
}

struct hn_mean hn_mean_among_pairs(struct hn_mean m, int64_t n) {
    return hn_mean_among(m, n > 2 ? n * (n - 1) / 2 : 1);
}

struct hn_mean hn_replicates_mean(const struct hn_results *r, struct hn_replicates cells,
                                  const char *column) {
    struct reader d = open_reader(r, column);
    struct moments m = {.n = 0};
    struct ends batches = {0, 0};
    double range[2];
    for (int64_t i = 0; i < cells.n; i++)
        if (has(&d, cells.row[i])) {
            add(&m, number(&d, d.value, cells.row[i]));
            if (hn_over_of(m.n) == HN_OVER_BATCHES)
                pool(&batches, &d, cells.row[i], false);
        }
    struct hn_mean e = mean_of(&m, batches);
    find_range(&d, range);
    if (e.over == HN_OVER_NOTHING)
        return e;
    e.half = fmin(e.half, fmax(e.mean - range[0], range[1] - e.mean));
    e.lo = fmax(e.lo, range[0]);
    e.hi = fmin(e.hi, range[1]);
    return e;
}

// Moves i on to the next cell with a value; false at the end.
static bool find_cell(const struct reader *d, struct hn_replicates cells, int64_t *i) {
    while (*i < cells.n && !has(d, cells.row[*i]))
        ++*i;
    return *i < cells.n;
}

// As hn_next_pair(), of cells with a value.
static bool find_pair(const struct reader *d, struct hn_replicates a, struct hn_replicates b,
                      int64_t *i, int64_t *k) {
    while (find_cell(d, a, i) && find_cell(d, b, k)) {
        double ahead = number(d, d->seed, a.row[*i]) - number(d, d->seed, b.row[*k]);
        if (fabs(ahead) < 0.5)
            return true;
        *i += !(ahead > 0);
        *k += !(ahead < 0);
    }
    return false;
}

bool hn_next_pair(const struct hn_results *r, struct hn_replicates a, struct hn_replicates b,
                  int64_t *i, int64_t *k) {
    struct reader d = open_reader(r, "seed");
    return find_pair(&d, a, b, i, k);
}

struct hn_mean hn_replicates_difference(const struct hn_results *r, struct hn_replicates a,
                                        struct hn_replicates b, const char *column) {
    struct reader d = open_reader(r, column);
    struct moments m = {.n = 0};
    struct ends batches = {0, 0};
    for (int64_t i = 0, k = 0; find_pair(&d, a, b, &i, &k); i++, k++) {
        int64_t one = a.row[i], other = b.row[k];
        add(&m, hn_beyond_rounding(number(&d, d.value, one), number(&d, d.value, other)));
        if (hn_over_of(m.n) == HN_OVER_BATCHES) {
            pool(&batches, &d, one, false);
            pool(&batches, &d, other, true);
        }
    }
    return mean_of(&m, batches);
}

double hn_replicates_noise(const struct hn_results *r, struct hn_replicates cells,
                           const char *column) {
    struct reader d = open_reader(r, column);
    double squares = 0;
    int64_t n = 0;
    for (int64_t i = 0; i < cells.n; i++) {
        double end[2];
        if (!has(&d, cells.row[i]))
            continue;
        find_ends(&d, cells.row[i], end);
        squares += 0.25 * (end[0] + end[1]) * (end[0] + end[1]);
        n++;
    }
    return n > 0 ? squares / (double)n : NAN;
}

enum { SEEDS_MAX = 999 };

enum hn_within hn_judge(struct hn_mean difference, double margin) {
    if (difference.over != HN_OVER_SEEDS)
        return HN_UNDETERMINED;
    return difference.hi <= margin  ? HN_WITHIN
           : difference.lo > margin ? HN_BEYOND
                                    : HN_UNDETERMINED;
}

int64_t hn_judge_seeds(struct hn_mean difference, double margin) {
    if (difference.over != HN_OVER_SEEDS)
        return 0;
    double errors = quantile(difference.freedom, difference.among);
    int64_t n = hn_samples_needed(fabs(difference.mean - margin),
                                  difference.half * sqrt((double)difference.n) / errors,
                                  0.025 / (double)difference.among, SEEDS_MAX);
    return n > 0 ? n : 0;
}

int hn_told_apart(struct hn_mean difference, bool judged) {
    if (difference.over != HN_OVER_SEEDS)
        return judged ? 0 : (difference.mean > 0) - (difference.mean < 0);
    return (difference.lo > 0) - (difference.hi < 0);
}

json_t *hn_mean_json(struct hn_mean m, bool sign) {
    return hn_json_number((struct hn_record_number){m.mean, m.half, m.lo, m.hi, sign, "", ""});
}
