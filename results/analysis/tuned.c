// SPDX-License-Identifier: GPL-3.0-or-later
// Chooses settings of trainings by their validation part, and compares them by the test part.
#include "results/analysis/tuned.h"
#include "core/rank_tests.h"
#include "core/text.h"

#include <math.h>
#include <string.h>

static bool is_of_validation(const char *column) { return strncmp(column, "valid_", 6) == 0; }

// Options of tasks that say which negatives are trained on: recipes may differ in them.
static bool is_of_negatives(const char *name) {
    return hn_is_among(name, HN_COLUMNS("mined", "min_rank", "max_rank", "negatives", "among",
                                        "mine_after", "mine_every", "relative_margin", "mask"));
}

// The next option of "a=1, b=2" from *at on; false: there is none.
struct option {
    char name[64], value[192];
};
static bool next_option(const char **at, struct option *o) {
    const char *equals = strchr(*at, '=');
    if (!equals)
        return false;
    size_t length = strcspn(equals + 1, ",");
    hn_put_text(o->name, sizeof o->name, "%.*s", (int)(equals - *at), *at);
    hn_put_text(o->value, sizeof o->value, "%.*s", (int)length, equals + 1);
    *at = equals + 1 + length;
    *at += strspn(*at, ", ");
    return true;
}

// True if all options but those of negatives that a has are in b with the same value.
static bool has_options(const char *a, const char *b) {
    struct option one, other;
    while (next_option(&a, &one)) {
        const char *at = b;
        bool found = is_of_negatives(one.name);
        while (!found && next_option(&at, &other))
            found = strcmp(one.name, other.name) == 0 && strcmp(one.value, other.value) == 0;
        if (!found)
            return false;
    }
    return true;
}

static bool same_text(const struct hn_trained *t, int64_t a, int64_t b, const char *column) {
    return strcmp(hn_trained_text(t, a, column), hn_trained_text(t, b, column)) == 0;
}

static bool same_number(const struct hn_trained *t, int64_t a, int64_t b, const char *column) {
    double x = hn_overview_mean(&t->overview, a, column).mean;
    double y = hn_overview_mean(&t->overview, b, column).mean;
    return x == y || (isnan(x) && isnan(y));
}

// True if their outcomes are of the same data, evaluated alike.
static bool is_comparable(const struct hn_trained *t, int64_t a, int64_t b) {
    const char *x = hn_trained_text(t, a, "task_params"), *y = hn_trained_text(t, b, "task_params");
    return same_text(t, a, b, "dataset") && same_text(t, a, b, "task") &&
           same_number(t, a, b, "batch_size") && has_options(x, y) && has_options(y, x);
}

bool hn_trained_same_recipe(const struct hn_trained *t, int64_t a, int64_t b) {
    static const char *const texts[] = {"task_params", "sampler",   "params",          "loss",
                                        "positive",    "weighting", "weighting_params"};
    bool same = is_comparable(t, a, b);
    for (size_t i = 0; same && i < sizeof texts / sizeof *texts; i++)
        same = same_text(t, a, b, texts[i]);
    return same;
}

const char *hn_tuned_by(const struct hn_trained *t) {
    for (int c = t->first; c < t->table->n_columns; c++) {
        const char *name = t->table->column[c].name;
        for (int64_t s = 0; s < t->settings && is_of_validation(name); s++)
            if (t->base[s] >= 0 && hn_trained_at(t, s, name, HN_LAST_STEP).n > 0)
                return name;
    }
    return NULL;
}

static void find_outcomes(struct hn_tuned *out, int64_t setting) {
    const struct hn_trained *t = out->trained;
    for (int c = hn_trained_next(t, setting, -1); c >= 0; c = hn_trained_next(t, setting, c))
        if (!is_of_validation(t->table->column[c].name) && out->outcomes < HN_OUTCOMES_TUNED)
            out->outcome[out->outcomes++] = t->table->column[c].name;
}

// The chosen setting of the recipe that setting s is the first of; false: it is not the first.
static bool choose(const struct hn_tuned *of, int64_t s, struct hn_tuned_row *row) {
    const struct hn_trained *t = of->trained;
    double best = -INFINITY;
    *row = (struct hn_tuned_row){.setting = -1};
    for (int64_t k = 0; k < t->settings; k++) {
        double value = t->base[k] < 0 ? NAN : hn_trained_at(t, k, of->by, HN_LAST_STEP).mean;
        if (isnan(value) || !hn_trained_same_recipe(t, s, k))
            continue;
        if (k < s)
            return false;
        row->tried++;
        if (value > best)
            row->setting = k;
        best = fmax(best, value);
    }
    return row->setting >= 0;
}

struct hn_mean hn_tuned_difference(const struct hn_tuned *t, int64_t row, int outcome) {
    const struct hn_tuned_row *own = &t->row[row];
    return own->base == row ? hn_no_mean
                            : hn_trained_difference(t->trained, own->setting,
                                                    t->row[own->base].setting, t->outcome[outcome]);
}

bool hn_tuned_is_fair(const struct hn_tuned *t, int64_t base) {
    for (int64_t r = 0; r < t->rows; r++)
        if (t->row[r].base == base && t->row[r].tried != t->row[base].tried)
            return false;
    return true;
}

// Holm's correction over all outcomes of the recipes with this base.
static enum hn_code correct(struct hn_context *ctx, struct hn_tuned *t, int64_t base) {
    int64_t all = t->rows * t->outcomes;
    HN_SCOPE(ctx);
    double *p = hn_alloc(ctx, all, sizeof *p);
    if (!p)
        return ctx->code;
    for (int64_t i = 0; i < all; i++) {
        int64_t r = i / t->outcomes;
        p[i] = t->row[r].base == base ? hn_mean_p(hn_tuned_difference(t, r, (int)(i % t->outcomes)))
                                      : NAN;
    }
    if (hn_holm(ctx, p, all))
        return ctx->code;
    for (int64_t i = 0; i < all; i++)
        if (t->row[i / t->outcomes].base == base)
            t->row[i / t->outcomes].p[i % t->outcomes] = p[i];
    return HN_OK;
}

enum hn_code hn_tuned_make(struct hn_context *ctx, const struct hn_trained *t,
                           struct hn_tuned *out) {
    int64_t max = 0;
    *out = (struct hn_tuned){.trained = t, .by = hn_tuned_by(t)};
    if (!HN_ALLOC(ctx, out->row, t->settings))
        return ctx->code;
    for (int64_t s = 0; out->by && s < t->settings; s++) {
        struct hn_tuned_row *row = &out->row[out->rows];
        if (!choose(out, s, row))
            continue;
        while (row->base < out->rows &&
               !is_comparable(t, out->row[row->base].setting, row->setting))
            row->base++;
        max = hn_max(max, row->tried);
        out->rows++;
    }
    if (max < 2)
        return hn_fail(ctx, HN_NOT_APPLICABLE,
                       "nothing was chosen: no recipe has several learning rates or temperatures "
                       "and a validation part (valid)");
    find_outcomes(out, out->row[0].setting);
    enum hn_code code = HN_OK;
    for (int64_t r = 0; r < out->rows && !code; r++)
        if (out->row[r].base == r)
            code = correct(ctx, out, r);
    return code;
}
