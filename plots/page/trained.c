#include "plots/page/trained.h"
#include "core/files.h"
#include "plots/page/figure.h"
#include "results/analysis/params.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *text(const struct hn_results *r, int64_t row, const char *column) {
    return hn_table_text(&r->runs, row, column);
}

static double number(const struct hn_results *r, int64_t row, const char *column) {
    return hn_table_real(&r->runs, row, column);
}

static bool is_ok(const struct hn_results *r, int64_t row) {
    return strcmp(text(r, row, "status"), "ok") == 0 && *text(r, row, "task");
}

// True if two runs train on the same problem, so that they are compared.
static bool same_problem(const struct hn_results *r, int64_t a, int64_t b) {
    return hn_rows_agree(
        &r->runs, a, b,
        HN_COLUMNS("dataset", "task", "task_params", "loss", "temperature", "batch_size"));
}

// With what: negatives drawn and weighted.
static bool same_method(const struct hn_results *r, int64_t a, int64_t b) {
    return hn_rows_agree(&r->runs, a, b,
                         HN_COLUMNS("sampler", "params", "weighting", "weighting_params"));
}

bool hn_trained_is_of(const struct hn_trained *t, int64_t row, int64_t setting) {
    int64_t first = t->setting[setting].run;
    return is_ok(t->results, row) && same_problem(t->results, row, first) &&
           same_method(t->results, row, first);
}

const char *hn_trained_text(const struct hn_trained *t, int64_t setting, const char *column) {
    return text(t->results, t->setting[setting].run, column);
}

static double number_of(const struct hn_trained *t, int64_t setting, const char *column) {
    return number(t->results, t->setting[setting].run, column);
}

static void find_settings(struct hn_trained *t) {
    const struct hn_results *r = t->results;
    for (int64_t i = 0; i < r->runs.rows; i++) {
        bool known = !is_ok(r, i);
        int64_t base = -1;
        for (int64_t k = 0; k < t->settings && !known; k++) {
            bool same = same_problem(r, i, t->setting[k].run);
            known = same && same_method(r, i, t->setting[k].run);
            if (same && base < 0)
                base = k;
        }
        if (!known)
            t->setting[t->settings++] = (struct hn_trained_setting){i, base};
    }
}

enum hn_code hn_trained_open(struct hn_context *ctx, const struct hn_results *r,
                             struct hn_trained *out) {
    *out = (struct hn_trained){.results = r, .table = hn_results_table(r, "training")};
    if (!out->table)
        return hn_fail(ctx, HN_NOT_APPLICABLE, "no training: results of `hardneg train` have one");
    out->first = hn_table_find(out->table, "learning_rate") + 1;
    if (!HN_ALLOC(ctx, out->setting, r->runs.rows) || !HN_ALLOC(ctx, out->scratch, r->runs.rows))
        return ctx->code;
    if (out->first < 1 || hn_table_find(out->table, "cost_t") <= out->first)
        return hn_fail(ctx, HN_DATA,
                       "table training has no column between learning_rate and "
                       "cost_t: write it again with `hardneg train`");
    find_settings(out);
    return out->settings > 0 ? HN_OK : hn_fail(ctx, HN_NOT_APPLICABLE, "no training is finished");
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

// A run's value at a step, NaN without.
static double value_of(const struct hn_trained *t, int64_t run, const char *column, int64_t step) {
    char name[64];
    double value = NAN, last = -1;
    int b = baseline_of(step);
    if (step == HN_OF_RUNS)
        return number(t->results, run, column);
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
    int64_t n = 0;
    for (int64_t i = 0; i < t->results->runs.rows; i++)
        if (hn_trained_is_of(t, i, setting))
            t->scratch[n++] = value_of(t, i, column, step);
    *value = t->scratch;
    return n;
}

struct hn_mean hn_trained_at(const struct hn_trained *t, int64_t setting, const char *column,
                             int64_t step) {
    const double *value;
    int64_t n = hn_trained_values(t, setting, column, step, &value);
    return hn_values_mean(value, n);
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

int64_t hn_trained_seeds(const struct hn_trained *t, int64_t setting) {
    int64_t n = 0;
    for (int64_t i = 0; i < t->results->runs.rows; i++)
        n += hn_trained_is_of(t, i, setting);
    return n;
}

// Run of the setting with the seed of another run, or -1.
static int64_t partner(const struct hn_trained *t, int64_t setting, int64_t run) {
    for (int64_t i = 0; i < t->results->runs.rows; i++)
        if (hn_trained_is_of(t, i, setting) &&
            number(t->results, i, "seed") == number(t->results, run, "seed"))
            return i;
    return -1;
}

struct hn_mean hn_trained_difference(const struct hn_trained *t, int64_t setting, int64_t base,
                                     const char *column) {
    int64_t n = 0;
    for (int64_t i = 0; i < t->results->runs.rows; i++) {
        int64_t other = hn_trained_is_of(t, i, setting) ? partner(t, base, i) : -1;
        if (other >= 0)
            t->scratch[n++] =
                value_of(t, i, column, HN_LAST_STEP) - value_of(t, other, column, HN_LAST_STEP);
    }
    return hn_values_mean(t->scratch, n);
}

struct hn_mean hn_trained_gain(const struct hn_trained *t, int64_t setting, int64_t step,
                               const char *column) {
    int64_t n = 0;
    for (int64_t i = 0; i < t->results->runs.rows; i++)
        if (hn_trained_is_of(t, i, setting))
            t->scratch[n++] = value_of(t, i, column, HN_LAST_STEP) - value_of(t, i, column, step);
    return hn_values_mean(t->scratch, n);
}

bool hn_trained_is_share(const char *column) {
    return hn_ends_in(column, "_acc") || hn_ends_in(column, "_spearman");
}

// The options of `params` that `other` does not have likewise.
static void add_differences(char *label, size_t size, const char *params, const char *other) {
    struct hn_option_part o;
    while (hn_option_next(&params, &o)) {
        const char *own = strchr(label, ' ');
        bool there = own && hn_option_has(own + 1, o);
        size_t used = strlen(label);
        if (!there && !hn_option_has(other, o) && used + o.length + 3 < size)
            snprintf(label + used, size - used, "%s%.*s", strchr(label, '=') ? ", " : " ",
                     (int)o.length, o.text);
    }
}

void hn_trained_label(const struct hn_trained *t, int64_t setting, char *label, size_t size) {
    static const char *const names[][2] = {{"sampler", "params"},
                                           {"weighting", "weighting_params"}};
    bool weighted = strcmp(hn_trained_text(t, setting, "weighting"), "none") != 0;
    label[0] = '\0';
    for (int kind = 0; kind < 1 + weighted; kind++) {
        const char *name = hn_trained_text(t, setting, names[kind][0]);
        const char *options = names[kind][1];
        char part[96];
        snprintf(part, sizeof part, "%.40s", name);
        for (int64_t k = 0; k < t->settings; k++)
            if (same_problem(t->results, t->setting[setting].run, t->setting[k].run) &&
                strcmp(name, hn_trained_text(t, k, names[kind][0])) == 0)
                add_differences(part, sizeof part, hn_trained_text(t, setting, options),
                                hn_trained_text(t, k, options));
        hn_append(label, size, "%s%s", kind ? " + " : "", part);
    }
}

bool hn_trained_is_beside(const struct hn_trained *t, int64_t setting, int64_t base) {
    return setting == base || t->setting[setting].base == base;
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
    while (row->setting < t->settings && !hn_trained_is_beside(t, row->setting, row->base))
        row->setting++;
    if (row->setting == t->settings)
        return false;
    hn_trained_label(t, row->setting, row->name, sizeof row->name);
    return true;
}

// The options of its task that others have otherwise: those with the same text in column `among`.
static void task_options(const struct hn_trained *t, int64_t setting, const char *among,
                         char *options, size_t size) {
    for (int64_t k = 0; k < t->settings; k++)
        if (strcmp(hn_trained_text(t, setting, among), hn_trained_text(t, k, among)) == 0)
            add_differences(options, size, hn_trained_text(t, setting, "task_params"),
                            hn_trained_text(t, k, "task_params"));
}

static bool differs(const struct hn_trained *t, int64_t setting, const char *column) {
    for (int64_t k = 0; k < t->settings; k++) {
        double away = number_of(t, setting, column) - number_of(t, k, column);
        bool same = strcmp(hn_trained_text(t, setting, column), hn_trained_text(t, k, column)) == 0;
        if ((!same || fabs(away) > 0) &&
            strcmp(hn_trained_text(t, setting, "dataset"), hn_trained_text(t, k, "dataset")) == 0)
            return true;
    }
    return false;
}

void hn_trained_name(const struct hn_trained *t, int64_t setting, bool untrained, char *name,
                     size_t size) {
    char options[64] = "", own[96] = "", others[64] = "";
    task_options(t, setting, "dataset", options, sizeof options);
    if (!untrained) {
        bool sampled = differs(t, setting, "sampler") || differs(t, setting, "weighting") ||
                       differs(t, setting, "params") || !*options;
        if (sampled)
            hn_trained_label(t, setting, own, sizeof own);
        if (differs(t, setting, "loss"))
            snprintf(others, sizeof others, ", %.40s", hn_trained_text(t, setting, "loss"));
        if (differs(t, setting, "temperature"))
            hn_append(others, sizeof others, ", temperature %g",
                      number_of(t, setting, "temperature"));
        if (differs(t, setting, "batch_size"))
            hn_append(others, sizeof others, ", B=%.0f", number_of(t, setting, "batch_size"));
    }
    if (untrained)
        snprintf(own, sizeof own, "%s", *options ? "untrained" : "untrained encoder");
    snprintf(name, size, "%s%s%s%s", own, *own && *options ? "," : "",
             *own ? options : options + (*options == ' '), others);
}

void hn_trained_title(const struct hn_trained *t, int64_t setting, char *title, size_t size) {
    char others[64] = "", options[96];
    task_options(t, setting, "task", others, sizeof others);
    double batch = number_of(t, setting, "batch_size");
    snprintf(options, sizeof options, batch > 0 ? "batches of %.0f" : "all items in a batch",
             batch);
    snprintf(title, size, "%s%s, temperature %g, %s", hn_trained_text(t, setting, "task"), others,
             number_of(t, setting, "temperature"), options);
}
