// SPDX-License-Identifier: GPL-3.0-or-later
// Settings of trainings: their accuracies at steps, and the base that they are compared with.
#include "results/analysis/trained.h"
#include "core/files.h"
#include "core/options/option_text.h"
#include "core/text.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct hn_table *runs_of(const struct hn_trained *t) {
    return &t->overview.results->runs;
}

const char *hn_trained_text(const struct hn_trained *t, int64_t setting, const char *column) {
    return hn_table_text(runs_of(t), t->overview.first[setting], column);
}

// False: no training is finished.
static bool find_bases(struct hn_trained *t) {
    const struct hn_overview *o = &t->overview;
    bool any = false;
    for (int64_t s = 0; s < o->settings; s++) {
        int64_t k = 0;
        bool finished = o->seeds[s] > 0 && *hn_trained_text(t, s, "task");
        while (k < s && (t->base[k] < 0 || !hn_overview_same_problem(o, k, s)))
            k++;
        t->base[s] = finished ? k : -1;
        any |= finished;
    }
    return any;
}

enum hn_code hn_trained_open(struct hn_context *ctx, const struct hn_results *r,
                             struct hn_trained *out) {
    *out = (struct hn_trained){.table = hn_results_table(r, "training")};
    if (!out->table)
        return hn_fail(ctx, HN_NOT_APPLICABLE, "no training: results of `hardneg train` have one");
    out->first = hn_table_find(out->table, "learning_rate") + 1;
    if (hn_overview_make(ctx, r, &out->overview) ||
        !HN_ALLOC(ctx, out->base, out->overview.settings) ||
        !HN_ALLOC(ctx, out->scratch, r->runs.rows) || !HN_ALLOC(ctx, out->sorted, out->table->rows))
        return ctx->code;
    out->settings = out->overview.settings;
    if (out->first < 1 || hn_table_find(out->table, "cost_t") <= out->first)
        return hn_fail(ctx, HN_DATA,
                       "table training has no column between learning_rate and "
                       "cost_t: write it again with `hardneg train`");
    return find_bases(out) ? HN_OK : hn_fail(ctx, HN_NOT_APPLICABLE, "no training is finished");
}

// Measurements before the first step, in the order of a table's rows, with the prefix of columns:
// the features that an encoder stands on, these averaged over neighbours; sparse ones, their
// projection; graphs alone.
static const struct {
    const char *prefix, *name;
} baselines[] = {{"", "untrained encoder"},
                 {"features_", "frozen features alone"},
                 {"averaged_", "features averaged twice"},
                 {"tfidf_", "sparse features alone"},
                 {"svd_", "singular vectors of these features"},
                 {"wl_", "Weisfeiler-Lehman kernel"}};
enum { BASELINES = sizeof baselines / sizeof baselines[0] };

static int64_t step_of(int b) { return b == 0 ? HN_UNTRAINED : HN_FIRST_REFERENCE - (b - 1); }

// BASELINES for other steps.
static int baseline_of(int64_t step) {
    int b = 0;
    while (b < BASELINES && step_of(b) != step)
        b++;
    return b;
}

double hn_trained_value(const struct hn_trained *t, int64_t run, const char *column, int64_t step) {
    char name[64];
    double value = NAN, last = -1;
    int b = baseline_of(step);
    snprintf(name, sizeof name, "%s%s", b < BASELINES ? baselines[b].prefix : "", column);
    step = b < BASELINES ? HN_UNTRAINED : step;
    for (int64_t i = 0; i < t->table->rows; i++) {
        if (hn_table_real(t->table, i, "run") != (double)run)
            continue;
        double at = hn_table_real(t->table, i, "step"), here = hn_table_real(t->table, i, name);
        bool wanted = step == HN_LAST_STEP   ? at >= last
                      : step == HN_BEST_STEP ? at > 0 && !(here <= value)
                                             : at == (double)step;
        last = wanted ? at : last;
        value = wanted ? here : value;
    }
    return value;
}

int64_t hn_trained_values(const struct hn_trained *t, int64_t setting, const char *column,
                          int64_t step, const double **value) {
    struct hn_replicates cells = hn_overview_cells(&t->overview, setting);
    int64_t n = 0;
    for (int64_t i = 0; i < cells.n; i++) {
        t->scratch[n] = hn_trained_value(t, cells.row[i], column, step);
        n += !isnan(t->scratch[n]);
    }
    *value = t->scratch;
    return n;
}

struct hn_mean hn_trained_at(const struct hn_trained *t, int64_t setting, const char *column,
                             int64_t step) {
    const double *value;
    int64_t n = hn_trained_values(t, setting, column, step, &value);
    return hn_values_mean(value, n, 0);
}

// Columns of the loop, whatever is trained.
static bool is_common(const char *name) {
    return hn_is_among(name, HN_COLUMNS("run", "step", "epoch", "loss", "learning_rate", "cost_t",
                                        "cost_s", "cost_g", "cost_e", "builds"));
}

int hn_trained_next(const struct hn_trained *t, int64_t setting, int column) {
    for (int c = column + 1; c < t->table->n_columns; c++) {
        const char *name = t->table->column[c].name;
        if (!is_common(name) && hn_trained_at(t, setting, name, HN_LAST_STEP).n > 0)
            return c;
    }
    return -1;
}

const char *hn_trained_column(const struct hn_trained *t, int64_t setting) {
    int first = hn_trained_next(t, setting, -1);
    return t->table->column[first < 0 ? t->first : first].name;
}

static bool has_baseline(const struct hn_trained *t, int64_t setting, int b) {
    bool has = b == 0;
    for (int c = hn_trained_next(t, setting, -1); c >= 0; c = hn_trained_next(t, setting, c))
        has = hn_trained_at(t, setting, t->table->column[c].name, step_of(b)).n > 0 || has;
    return has;
}

// The smallest gap between values of a column: of accuracies one item of the test set, or less.
static double smallest_gap(const struct hn_trained *t, const char *column) {
    double min = INFINITY;
    size_t n = 0;
    for (int64_t i = 0; i < t->table->rows; i++) {
        t->sorted[n] = hn_table_real(t->table, i, column);
        n += !isnan(t->sorted[n]);
    }
    gsl_sort(t->sorted, 1, n);
    for (size_t i = 1; i < n; i++)
        if (t->sorted[i] - t->sorted[i - 1] > 1e-9) // not rounding of one value
            min = fmin(min, t->sorted[i] - t->sorted[i - 1]);
    return isfinite(min) ? min : 0;
}

// The mean of differences that are in `scratch`. Those of few items may be the same in all seeds by
// chance, which is no reason to take them to be without spread.
static struct hn_mean scratch_mean(const struct hn_trained *t, int64_t n, const char *column) {
    struct hn_mean m = hn_values_mean(t->scratch, n, 0);
    bool still = m.half <= 1e-12 && fabs(m.mean) > 0;
    return still ? hn_values_mean(t->scratch, n, smallest_gap(t, column)) : m;
}

struct hn_mean hn_trained_difference(const struct hn_trained *t, int64_t setting, int64_t base,
                                     const char *column) {
    struct hn_replicates own = hn_overview_cells(&t->overview, setting),
                         other = hn_overview_cells(&t->overview, base);
    int64_t n = 0;
    for (int64_t i = 0, k = 0; hn_next_pair(t->overview.results, own, other, &i, &k); i++, k++)
        t->scratch[n++] = hn_trained_value(t, own.row[i], column, HN_LAST_STEP) -
                          hn_trained_value(t, other.row[k], column, HN_LAST_STEP);
    return scratch_mean(t, n, column);
}

struct hn_mean hn_trained_gain(const struct hn_trained *t, int64_t setting, int64_t step,
                               const char *column) {
    struct hn_replicates cells = hn_overview_cells(&t->overview, setting);
    for (int64_t i = 0; i < cells.n; i++)
        t->scratch[i] = hn_trained_value(t, cells.row[i], column, HN_LAST_STEP) -
                        hn_trained_value(t, cells.row[i], column, step);
    return scratch_mean(t, cells.n, column);
}

bool hn_trained_is_features(const struct hn_trained_row *row) {
    int b = baseline_of(row->step);
    return b < BASELINES && hn_is_among(baselines[b].prefix, HN_COLUMNS("features_", "tfidf_"));
}

double hn_trained_scale(const char *column) {
    return hn_ends_in(column, "_acc") || hn_ends_in(column, "_spearman") ? 100 : 1;
}

int hn_trained_digits(const char *column) { return hn_trained_scale(column) > 1 ? 2 : 3; }

// The value of an axis that is an option of the setting's weighting.
static struct hn_phrase weighting_option(const struct hn_trained *t, int64_t setting,
                                         const struct hn_grid_axis *axis) {
    return hn_option_value(hn_trained_text(t, setting, "weighting_params"), axis->name);
}

struct hn_phrase hn_trained_label(const struct hn_trained *t, int64_t setting) {
    const struct hn_overview *o = &t->overview;
    const char *weighting = hn_trained_text(t, setting, "weighting"), *joint = " ";
    struct hn_phrase label = hn_overview_label(o, setting);
    if (strcmp(weighting, "none") == 0)
        return label;
    hn_append(label.text, sizeof label.text, " + %s", weighting);
    for (int a = 0; a < o->axes; a++) {
        const struct hn_phrase value = weighting_option(t, setting, &o->axis[a]);
        if (*value.text)
            hn_append(label.text, sizeof label.text, "%s%s=%s", joint, o->axis[a].name, value.text);
        joint = *value.text ? ", " : joint;
    }
    return label;
}

bool hn_trained_next_row(const struct hn_trained *t, struct hn_trained_row *row) {
    int b = row->setting < 0 ? 0 : baseline_of(row->step) + 1;
    while (b < BASELINES && !has_baseline(t, row->base, b))
        b++;
    if (b < BASELINES) {
        row->setting = row->base;
        row->step = step_of(b);
        snprintf(row->name, sizeof row->name, "%s", baselines[b].name);
        return true;
    }
    row->setting += row->step == HN_LAST_STEP;
    row->step = HN_LAST_STEP;
    while (row->setting < t->settings && t->base[row->setting] != row->base)
        row->setting++;
    if (row->setting == t->settings)
        return false;
    hn_put_text(row->name, sizeof row->name, "%s", hn_trained_label(t, row->setting).text);
    return true;
}

// Appends the axes that are options of the task, or all others that neither the label has nor the
// list `said`: ", dim=16, dropout=0.5".
static void add_axes(const struct hn_trained *t, int64_t setting, bool of_task,
                     const char *const *said, struct hn_phrase *to) {
    const struct hn_overview *o = &t->overview;
    for (int a = 0; a < o->axes; a++) {
        const struct hn_grid_axis *axis = &o->axis[a];
        if (of_task != (strcmp(axis->column, "task_params") == 0) ||
            strcmp(axis->column, "params") == 0 || strcmp(axis->name, "weighting") == 0 ||
            *weighting_option(t, setting, axis).text || hn_is_among(axis->name, said))
            continue;
        const struct hn_phrase own = hn_overview_value(o, setting, axis->name);
        if (*own.text && strcmp(axis->name, "batch_size") == 0)
            hn_append(to->text, sizeof to->text, ", B=%s", own.text);
        else if (*own.text)
            hn_append(to->text, sizeof to->text, of_task ? ", %s=%s" : ", %s %s", axis->name,
                      own.text);
    }
}

struct hn_phrase hn_trained_name(const struct hn_trained *t, int64_t setting, bool untrained) {
    struct hn_phrase options = {""}, name = {"untrained"};
    add_axes(t, setting, true, HN_COLUMNS(NULL), &options);
    if (!untrained)
        name = hn_trained_label(t, setting);
    hn_append(name.text, sizeof name.text, "%s",
              untrained && !*options.text ? " encoder" : options.text);
    if (!untrained)
        add_axes(t, setting, false, HN_COLUMNS("dataset"), &name);
    return name;
}

struct hn_phrase hn_trained_recipe(const struct hn_trained *t, int64_t setting) {
    struct hn_phrase name = hn_trained_label(t, setting);
    add_axes(t, setting, true, HN_COLUMNS(NULL), &name);
    add_axes(t, setting, false, HN_COLUMNS("dataset", "rate"), &name);
    return name;
}

struct hn_phrase hn_trained_title(const struct hn_trained *t, int64_t setting) {
    struct hn_phrase options = {""}, title;
    int64_t run = t->overview.first[setting];
    double batch = hn_table_real(runs_of(t), run, "batch_size");
    add_axes(t, setting, true, HN_COLUMNS(NULL), &options);
    hn_put_text(title.text, sizeof title.text, "%s%s, temperature %g, ",
                hn_trained_text(t, setting, "task"), options.text + (*options.text == ','),
                hn_table_real(runs_of(t), run, "temperature"));
    hn_append(title.text, sizeof title.text, batch > 0 ? "batches of %.0f" : "all items in a batch",
              batch);
    add_axes(t, setting, false, HN_COLUMNS("temperature", "batch_size"), &title);
    return title;
}
