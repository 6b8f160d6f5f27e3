// SPDX-License-Identifier: GPL-3.0-or-later
// Settings of results, their replicates, means and differences to Uniform.
#include "results/analysis/overview.h"

#include "core/options/option_text.h"
#include "core/text.h"
#include "results/analysis/shown.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct hn_table *runs_of(const struct hn_overview *o) { return &o->results->runs; }

static const char *name_of(const struct hn_overview *o, int64_t i) {
    return runs_of(o)->column[o->identity[i].column].name;
}

// Texts of options, which are told one by one.
static bool is_options(const char *name) {
    return hn_is_among(name, HN_COLUMNS("params", "task_params", "weighting_params"));
}

static bool is_identity(const struct hn_column *column) {
    return hn_is_among(column->name, HN_COLUMNS("dataset", "dataset_sha256", "step", "sampler",
                                                "loss", "weighting")) ||
           is_options(column->name) ||
           (column->role == HN_ROLE_SETTING && strcmp(column->name, "seed") != 0);
}

static bool applies(const struct hn_table *t, int column, int64_t cell) {
    return t->column[column].kind == HN_COLUMN_TEXT ? *t->cells[column].text[cell] != '\0'
                                                    : !isnan(hn_table_number(t, column, cell));
}

// Numbers the values of an identity; `seen` has space for a cell each.
static void number_values(struct hn_overview *o, int64_t i, int64_t *seen) {
    const struct hn_table *t = runs_of(o);
    struct hn_identity *identity = &o->identity[i];
    int64_t n = 0;
    for (int64_t cell = 0; cell < t->rows; cell++) {
        int64_t k = 0;
        while (k < n && !hn_table_cells_equal(t, identity->column, seen[k], cell))
            k++;
        if (k == n) {
            seen[n++] = cell;
            identity->values += applies(t, identity->column, cell);
        }
        o->same[cell * o->columns + i] = (int32_t)seen[k];
    }
}

static int64_t identity_at(const struct hn_overview *o, const char *name) {
    for (int64_t i = 0; i < o->columns; i++)
        if (strcmp(name_of(o, i), name) == 0)
            return i;
    return -1;
}

// The first cell with the same value.
static int32_t value_at(const struct hn_overview *o, int64_t cell, int64_t i) {
    return i < 0 ? 0 : o->same[cell * o->columns + i];
}

// True for the column `owner`, the column of its options, and each of these.
static bool belongs_to(const struct hn_overview *o, int64_t i, const char *owner,
                       const char *options) {
    const char *name = name_of(o, i);
    int64_t params = identity_at(o, options);
    bool own = hn_is_among(name, HN_COLUMNS(owner, options));
    for (int64_t cell = 0; params >= 0 && cell < runs_of(o)->rows && !own; cell++)
        own = o->identity[i].values > 0 && value_at(o, cell, params) == cell &&
              *hn_option_value(hn_table_text(runs_of(o), cell, options), name).text;
    return own;
}

// True if two cells have the same in all columns up to that kind.
static bool agree(const struct hn_overview *o, int64_t a, int64_t b, enum hn_identity_kind last) {
    for (int64_t i = 0; i < o->columns; i++)
        if (o->identity[i].kind <= last && value_at(o, a, i) != value_at(o, b, i))
            return false;
    return true;
}

bool hn_overview_same_problem(const struct hn_overview *o, int64_t a, int64_t b) {
    return agree(o, o->first[a], o->first[b], HN_OF_PROBLEM);
}

struct by_identity {
    const struct hn_overview *o;
    int seed;
};

static int by_setting(const void *of, int64_t a, int64_t b) {
    const struct hn_overview *o = ((const struct by_identity *)of)->o;
    int order = 0;
    for (int64_t i = 0; i < o->columns && !order; i++)
        if (o->identity[i].kind <= HN_OF_SAMPLER)
            order = value_at(o, a, i) - value_at(o, b, i);
    return order;
}

static int by_seed(const void *of, int64_t a, int64_t b) {
    const struct by_identity *by = of;
    double x = hn_table_number(runs_of(by->o), by->seed, a),
           y = hn_table_number(runs_of(by->o), by->seed, b);
    return (x > y) - (x < y);
}

static enum hn_code find_settings(struct hn_context *ctx, struct hn_overview *o) {
    const struct hn_table *t = runs_of(o);
    const struct by_identity by = {o, hn_table_find(t, "seed")};
    if (hn_replicates_find(ctx, t->rows, (struct hn_grouping){&by, by_setting, by_seed}, &o->cells))
        return ctx->code;
    o->settings = o->cells.sets;
    for (int64_t s = 0; s < o->settings; s++)
        o->first[s] = -1;
    for (int64_t cell = 0; cell < t->rows; cell++) {
        int64_t s = o->cells.of[cell];
        bool ok = hn_row_is_ok(t, cell);
        if (o->first[s] < 0 || (ok && o->seeds[s] == 0))
            o->first[s] = cell;
        o->seeds[s] += ok;
    }
    return HN_OK;
}

// With which others each setting is compared.
static void find_leagues(struct hn_overview *o) {
    for (int64_t s = 0; s < o->settings; s++) {
        o->per_anchor[s] = hn_row_is_per_anchor(runs_of(o), o->first[s]);
        o->base[s] = o->league[s] = -1;
        for (int64_t k = 0; k <= s && o->league[s] < 0; k++)
            if (o->per_anchor[k] == o->per_anchor[s] &&
                agree(o, o->first[k], o->first[s], HN_OF_WEIGHTING))
                o->league[s] = k;
        for (int64_t k = 0; k < o->settings && o->base[s] < 0; k++)
            if (hn_is_uniform(hn_overview_sampler(o, k),
                              hn_table_text(runs_of(o), o->first[k], "params")) &&
                agree(o, o->first[s], o->first[k], HN_OF_WEIGHTING))
                o->base[s] = k;
    }
}

bool hn_overview_varies(const struct hn_overview *o, const char *axis) {
    for (int a = 0; a < o->axes; a++)
        if (strcmp(o->axis[a].name, axis) == 0)
            return true;
    return false;
}

static void add_axis(struct hn_overview *o, const char *name, size_t length, const char *column) {
    struct hn_grid_axis axis = {.column = column};
    snprintf(axis.name, sizeof axis.name, "%.*s", (int)length, name);
    if (o->axes < HN_GRID_AXES && !hn_overview_varies(o, axis.name))
        o->axis[o->axes++] = axis;
}

static void add_options_beyond(struct hn_overview *o, const char *params, const char *other,
                               const char *column) {
    struct hn_option_part part;
    while (hn_option_next(&params, &part)) {
        const char *end = memchr(part.text, '=', part.length);
        if (end && !hn_option_has(other, part))
            add_axis(o, part.text, (size_t)(end - part.text), column);
    }
}

// Options in which cells of one sampler, or of one task, differ.
static void add_options(struct hn_overview *o, const char *column, const char *of) {
    const struct hn_table *t = runs_of(o);
    int64_t i = identity_at(o, column), owner = identity_at(o, of);
    for (int64_t cell = 0; i >= 0 && cell < t->rows; cell++) {
        int64_t other = value_at(o, cell, owner);
        if (value_at(o, cell, i) != cell)
            continue;
        const char *params = hn_table_text(t, cell, column), *its = hn_table_text(t, other, column);
        add_options_beyond(o, params, its, column);
        add_options_beyond(o, its, params, column);
    }
}

// True if cells of one weighting, and one task, differ in a column: an option that some leave
// unset.
static bool varies_within(const struct hn_overview *o, int64_t i) {
    int64_t weighting = identity_at(o, "weighting"), task = identity_at(o, "task");
    for (int64_t cell = 0; weighting >= 0 && cell < runs_of(o)->rows; cell++) {
        int64_t other = value_at(o, cell, weighting);
        if (value_at(o, cell, i) != value_at(o, other, i) &&
            value_at(o, cell, task) == value_at(o, other, task))
            return true;
    }
    return false;
}

static void find_axes(struct hn_overview *o) {
    for (int64_t i = 0; i < o->columns; i++) {
        const char *name = name_of(o, i);
        if (strcmp(name, "sampler") == 0)
            add_options(o, "params", "sampler");
        else if (strcmp(name, "task_params") == 0)
            add_options(o, "task_params", "task");
        else if (o->identity[i].kind < HN_OF_SAMPLER &&
                 (o->identity[i].values > 1 ||
                  (o->identity[i].values == 1 && varies_within(o, i))) &&
                 !is_options(name) && strcmp(name, "dataset_sha256") != 0)
            add_axis(o, name, strlen(name), name);
    }
}

static void find_identities(struct hn_overview *o, int64_t *seen) {
    const struct hn_table *t = runs_of(o);
    bool trainings = hn_table_row_with(t, "task", "") < 0; // whose steps are those that were done
    for (int c = 0; c < t->n_columns; c++)
        if (is_identity(&t->column[c]))
            o->identity[o->columns++] = (struct hn_identity){.column = c};
    for (int64_t i = 0; i < o->columns; i++)
        number_values(o, i, seen);
    for (int64_t i = 0; i < o->columns; i++)
        o->identity[i].kind = trainings && strcmp(name_of(o, i), "step") == 0     ? HN_OUTCOME
                              : belongs_to(o, i, "sampler", "params")             ? HN_OF_SAMPLER
                              : belongs_to(o, i, "weighting", "weighting_params") ? HN_OF_WEIGHTING
                                                                                  : HN_OF_PROBLEM;
}

// Columns that settings learn from one another in, and the column whose intervals over batches
// stand for its own. Of hardness batches have the mean cosine alone.
static const char *const learned[HN_LEARNED][2] = {{"fn_ratio", "fn_ratio"},
                                                   {"cos_mean", "cos_mean"},
                                                   {"true_mean", "cos_mean"},
                                                   {"hard_true_mean", "cos_mean"},
                                                   {"true_p99", "cos_mean"}};

static int learned_at(const char *column) {
    int m = 0;
    while (m < HN_LEARNED && strcmp(learned[m][0], column) != 0)
        m++;
    return m;
}

// The settings that share a base and the kind of negatives learn from one another.
static bool learns_from(const struct hn_overview *o, int64_t a, int64_t b) {
    return o->base[a] >= 0 && o->base[a] == o->base[b] && o->per_anchor[a] == o->per_anchor[b];
}

static struct hn_mean difference_of(const struct hn_overview *o, int64_t a, int64_t b,
                                    const char *column) {
    return hn_replicates_difference(o->results, hn_overview_cells(o, a), hn_overview_cells(o, b),
                                    column);
}

static struct hn_spread spread_of(const struct hn_overview *o, int64_t a, int64_t b, int measure,
                                  struct hn_mean difference) {
    const double *noise = o->noise[measure > 0];
    return (struct hn_spread){difference.n, hn_mean_variance(difference), noise[a] + noise[b]};
}

// Learns from one group, which begins at a setting, in one measure.
static void learn_group(struct hn_overview *o, int measure, int64_t first,
                        struct hn_spread *group) {
    int64_t n = 0, base = o->base[first];
    for (int64_t k = first; k < o->settings; k++)
        if (learns_from(o, k, first) && k != base)
            group[n++] =
                spread_of(o, k, base, measure, difference_of(o, k, base, learned[measure][0]));
    struct hn_learned prior = {hn_prior_fit(group, n, HN_PRIOR_TO_BASE),
                               hn_prior_fit(group, n, HN_PRIOR_PAIRS)};
    for (int64_t k = first; k < o->settings; k++)
        if (learns_from(o, k, first))
            o->learned[measure][k] = prior;
}

static bool begins_group(const struct hn_overview *o, int64_t s) {
    bool first = o->base[s] >= 0;
    for (int64_t k = 0; k < s && first; k++)
        first = !learns_from(o, k, s);
    return first;
}

static enum hn_code learn_spreads(struct hn_context *ctx, struct hn_overview *o) {
    struct hn_spread *group = hn_alloc(ctx, o->settings, sizeof *group);
    if (!group || !HN_ALLOC(ctx, o->noise[0], o->settings) ||
        !HN_ALLOC(ctx, o->noise[1], o->settings))
        return ctx->code;
    for (int m = 0; m < HN_LEARNED; m++)
        if (!HN_ZALLOC(ctx, o->learned[m], o->settings))
            return ctx->code;
    for (int64_t s = 0; s < o->settings; s++)
        for (int m = 0; m < 2; m++)
            o->noise[m][s] =
                hn_replicates_noise(o->results, hn_overview_cells(o, s), learned[m][1]);
    for (int64_t s = 0; s < o->settings; s++)
        for (int m = 0; m < HN_LEARNED && begins_group(o, s); m++)
            learn_group(o, m, s, group);
    hn_free(ctx, group);
    return HN_OK;
}

static void find_last(struct hn_overview *o) {
    const struct hn_table *t = runs_of(o);
    int64_t dataset = identity_at(o, "dataset");
    for (int64_t s = 0; s < o->settings; s++) {
        double step = hn_table_real(t, o->first[s], "step");
        int32_t file = value_at(o, o->first[s], dataset);
        o->last[s] = true;
        for (int64_t cell = 0; cell < t->rows && o->last[s]; cell++)
            o->last[s] =
                value_at(o, cell, dataset) != file || !(hn_table_real(t, cell, "step") > step);
    }
}

static void find_headed(struct hn_overview *o) {
    const struct hn_table *runs = runs_of(o);
    for (int c = 0; c < runs->n_columns && o->n_headed < HN_HEADED_MAX; c++) {
        const struct hn_column *column = &runs->column[c];
        if (*column->heading && hn_any_cell_has(o->results, column->name))
            o->headed[o->n_headed++] = column;
    }
}

// Tables, sentences and pictures ask for the same means many times.
static enum hn_code keep_means(struct hn_context *ctx, struct hn_overview *o) {
    const struct hn_table *runs = runs_of(o);
    if (!HN_ZALLOC(ctx, o->mean, runs->n_columns))
        return ctx->code;
    for (int c = 0; c < runs->n_columns; c++) {
        const struct hn_column *column = &runs->column[c];
        if (!*column->heading && !hn_shown_find(column->name))
            continue;
        struct hn_mean *mean = hn_alloc(ctx, o->settings, sizeof *mean);
        if (!mean)
            return ctx->code;
        for (int64_t s = 0; s < o->settings; s++)
            mean[s] = hn_replicates_mean(o->results, hn_overview_cells(o, s), column->name);
        o->mean[c] = mean;
    }
    return HN_OK;
}

enum hn_code hn_overview_make(struct hn_context *ctx, const struct hn_results *r,
                              struct hn_overview *out) {
    int64_t cells = r->runs.rows;
    *out = (struct hn_overview){.results = r};
    if (cells == 0)
        return hn_fail(ctx, HN_NOT_APPLICABLE, "the file has no cell");
    if (!HN_ZALLOC(ctx, out->identity, r->runs.n_columns) ||
        !HN_ALLOC_ROWS(ctx, out->same, cells, r->runs.n_columns) ||
        !HN_ALLOC(ctx, out->first, cells) || !HN_ALLOC(ctx, out->base, cells) ||
        !HN_ALLOC(ctx, out->league, cells) || !HN_ZALLOC(ctx, out->seeds, cells) ||
        !HN_ALLOC(ctx, out->per_anchor, cells) || !HN_ZALLOC(ctx, out->standing, cells) ||
        !HN_ZALLOC(ctx, out->last, cells))
        return ctx->code;
    find_identities(out, out->base); // as scratch space, until settings are found
    if (find_settings(ctx, out))
        return ctx->code;
    find_leagues(out);
    if (keep_means(ctx, out) || learn_spreads(ctx, out))
        return ctx->code;
    find_axes(out);
    find_headed(out);
    find_last(out);
    return hn_overview_front(ctx, out, hn_hardness_measure(r, 0)->column, out->standing);
}

const char *hn_overview_sampler(const struct hn_overview *o, int64_t setting) {
    return hn_table_text(runs_of(o), o->first[setting], "sampler");
}

static bool part_varies(const struct hn_overview *o, struct hn_option_part part) {
    return hn_overview_varies(o, hn_option_name(part).text);
}

struct hn_phrase hn_overview_label(const struct hn_overview *o, int64_t setting) {
    struct hn_phrase label;
    const char *joint = " ", *rest = hn_table_text(runs_of(o), o->first[setting], "params");
    struct hn_option_part part;
    hn_put_text(label.text, sizeof label.text, "%s", hn_overview_sampler(o, setting));
    while (hn_option_next(&rest, &part))
        if (part_varies(o, part)) {
            hn_append(label.text, sizeof label.text, "%s%.*s", joint, (int)part.length, part.text);
            joint = ", ";
        }
    return label;
}

static struct hn_phrase value_of(const struct hn_table *t, int64_t cell, const char *column) {
    return strcmp(column, "dataset") == 0 ? hn_dataset_title(hn_table_text(t, cell, column))
                                          : hn_cell_text(t, cell, column);
}

struct hn_phrase hn_overview_value(const struct hn_overview *o, int64_t setting, const char *axis) {
    int64_t cell = o->first[setting];
    struct hn_phrase value = {""};
    for (int a = 0; a < o->axes; a++) {
        const char *column = o->axis[a].column;
        if (strcmp(o->axis[a].name, axis) != 0)
            continue;
        value = is_options(column) ? hn_option_value(hn_table_text(runs_of(o), cell, column), axis)
                                   : value_of(runs_of(o), cell, column);
    }
    return value;
}

// The weighting that a column is an option of, where it is one of a single weighting; else "".
static const char *weighting_of(const struct hn_table *t, int column) {
    const char *only = "";
    bool all = true;
    for (int64_t row = 0; row < t->rows; row++) {
        const char *weighting = hn_table_text(t, row, "weighting");
        if (!applies(t, column, row))
            all = false;
        else if (!*only)
            only = weighting;
        else if (strcmp(only, weighting) != 0)
            return "";
    }
    return all ? "" : only;
}

struct hn_phrase hn_overview_common(const struct hn_overview *o) {
    const struct hn_table *t = runs_of(o);
    struct hn_phrase all = {""};
    for (int64_t i = 0; i < o->columns; i++) {
        const char *name = name_of(o, i);
        int64_t cell = 0;
        if (o->identity[i].kind == HN_OF_SAMPLER || o->identity[i].values != 1 ||
            is_options(name) || strcmp(name, "dataset_sha256") == 0)
            continue;
        while (!applies(t, o->identity[i].column, cell))
            cell++;
        const char *owner = weighting_of(t, o->identity[i].column);
        hn_append(all.text, sizeof all.text, "%s%s%s%s %s", *all.text ? ", " : "", owner,
                  *owner ? " " : "", name, value_of(t, cell, name).text);
    }
    return all;
}

struct hn_phrase hn_overview_shared(const struct hn_overview *o, int64_t setting) {
    const char *rest = hn_table_text(runs_of(o), o->first[setting], "params");
    struct hn_option_part part;
    struct hn_phrase shared = {""};
    while (hn_option_next(&rest, &part))
        if (!part_varies(o, part))
            hn_append(shared.text, sizeof shared.text, "%s%.*s", *shared.text ? ", " : "",
                      (int)part.length, part.text);
    return shared;
}

bool hn_overview_leads(const struct hn_overview *o, int64_t setting) {
    return o->cells.of[value_at(o, o->first[setting], identity_at(o, "sampler"))] == setting;
}

int64_t hn_overview_setting(const struct hn_overview *o, const struct hn_table *t, int64_t row) {
    int64_t cell = hn_whole(hn_table_real(t, row, "run"), -1);
    return cell >= 0 && cell < runs_of(o)->rows ? o->cells.of[cell] : -1;
}

struct hn_replicates hn_overview_cells(const struct hn_overview *o, int64_t setting) {
    return hn_replicates_at(&o->cells, setting);
}

struct hn_mean hn_overview_mean(const struct hn_overview *o, int64_t setting, const char *column) {
    int c = o->mean ? hn_table_find(runs_of(o), column) : -1;
    return c >= 0 && o->mean[c]
               ? o->mean[c][setting]
               : hn_replicates_mean(o->results, hn_overview_cells(o, setting), column);
}

struct hn_mean hn_overview_difference(const struct hn_overview *o, int64_t a, int64_t b,
                                      const char *column) {
    int m = learned_at(column);
    struct hn_mean d = difference_of(o, a, b, column);
    return m < HN_LEARNED && learns_from(o, a, b)
               ? hn_mean_moderated(d, spread_of(o, a, b, m, d), o->learned[m][a].pairs)
               : d;
}

struct hn_mean hn_overview_to_uniform(const struct hn_overview *o, int64_t setting,
                                      const char *column) {
    int64_t base = o->base[setting];
    int m = learned_at(column);
    if (base < 0 || base == setting)
        return hn_no_mean;
    struct hn_mean d = difference_of(o, setting, base, column);
    return m < HN_LEARNED ? hn_mean_moderated(d, spread_of(o, setting, base, m, d),
                                              o->learned[m][setting].to_base)
                          : d;
}

struct hn_cost hn_overview_cost(const struct hn_overview *o, int64_t setting) {
    double draw = hn_overview_mean(o, setting, "cost_s").mean,
           build = hn_overview_mean(o, setting, "cost_g").mean,
           share = hn_overview_mean(o, setting, "cost_g_over_t").mean;
    return (struct hn_cost){draw + (isfinite(share) ? share : 0), draw, build,
                            share > 0 ? round(build / share) : NAN};
}

struct hn_phrase hn_cost_parts(struct hn_cost cost) {
    struct hn_phrase parts = {""};
    if (isfinite(cost.draw))
        hn_put_text(parts.text, sizeof parts.text, "draw %.3g ms", 1e3 * cost.draw);
    if (isfinite(cost.build) && isfinite(cost.every))
        hn_append(parts.text, sizeof parts.text, ", build %.3g ms every %.0f batches",
                  1e3 * cost.build, cost.every);
    return parts;
}

const struct hn_hardness *hn_hardness_measure(const struct hn_results *r, int i) {
    static const struct hn_hardness labelled[] =
        {{"true_mean", "mean cosine of true negatives", "true negatives (mean cosine)", "mean"},
         {"hard_true_mean", "cosine of the hardest true negative of each anchor",
          "hardest true negative (mean cosine)", "hardest"},
         {"true_p99", "99th percentile of the cosines of true negatives",
          "true negatives (99th percentile)", "p99"}},
                                    all = {"cos_mean", "mean cosine of negatives",
                                           "negatives (mean cosine)", "mean"};
    bool labels = false;
    for (size_t k = 0; k < sizeof labelled / sizeof *labelled; k++)
        if (hn_any_cell_has(r, labelled[k].column)) {
            labels = true;
            if (i-- == 0)
                return &labelled[k];
        }
    if (i > 0 || labels)
        return NULL;
    return hn_any_cell_has(r, "true_anchors") ? &labelled[0] : &all;
}
