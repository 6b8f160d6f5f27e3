// SPDX-License-Identifier: GPL-3.0-or-later
// From the rows of a results file to the samples of one side of a claim: which rows, their groups
// and their values. A table below /tables has keys into others (`run`, `snapshot`, `study_row`);
// columns that it lacks are looked up there.
#include "core/options/option_text.h"
#include "core/text.h"
#include "harness/claims/claims_private.h"
#include "results/analysis/means.h"
#include "results/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A column as seen from the rows of a table: its own (link < 0), or of the table that its column
// `link` is a key into. Where it is empty, or column < 0: the option of that name in the table's
// texts of options ("K=100, M=500").
struct view {
    const struct hn_table *table;
    int column, link;
    const char *option;
};

struct group_column {
    const char *name;
    struct view view;
    bool shared; // the other side's table has it too
};

// A filter with the value of the combination.
struct wanted {
    const char *column, *value;
    struct view view;
};

struct span {
    const char *dataset;
    double first, last;
};

struct gather {
    struct hn_context *ctx;
    const struct hn_collect *what;
    const struct hn_table *table;
    struct view value, with, beside, beside_with, along, step, dataset, seed, status, error, lo, hi;
    struct group_column group[2 + HN_CLAIM_APART]; // data set, step and `each`
    int groups;
    struct wanted wanted[HN_CLAIM_FILTERS];
    char bound[2][128]; // names of the columns of the interval's ends, which their views borrow
    int wants;
    struct span *span; // [spans] in the order in which the data sets appear
    int64_t spans, span_capacity;
    struct hn_claim_samples *out;
    int64_t failed, passed; // rows whose cell failed; rows that passed the filters
    const char *reason;     // of a failed row
};

static const struct view no_view = {NULL, -1, -1, NULL};

// The value of an option in row `row`; "" without.
static struct hn_phrase option_text(const struct hn_table *t, int64_t row, const char *name) {
    static const char *const columns[] = {"params", "weighting_params", "task_params"};
    struct hn_phrase value = {""};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0] && !*value.text; i++)
        value = hn_option_value(hn_table_text(t, row, columns[i]), name);
    return value;
}

static bool has_option(const struct hn_table *t, const char *name) {
    for (int64_t row = 0; row < t->rows; row++)
        if (*option_text(t, row, name).text)
            return true;
    return false;
}

static struct view look(const struct hn_results *r, const struct hn_table *t, const char *column) {
    bool linked = strncmp(column, "runs.", 5) == 0; // where the table has one of its own
    column += linked ? 5 : 0;
    int own = linked ? -1 : hn_table_find(t, column);
    if (own >= 0)
        return (struct view){t, own, -1, column};
    for (const struct hn_row_owner *o = hn_row_owners; o->column; o++) {
        int key = hn_table_find(t, o->column);
        const struct hn_table *other = hn_results_table(r, o->table);
        int there = key >= 0 && other ? hn_table_find(other, column) : -1;
        if (there >= 0)
            return (struct view){other, there, key, column};
        if (key >= 0 && other && has_option(other, column))
            return (struct view){other, -1, key, column};
    }
    return has_option(t, column) ? (struct view){t, -1, -1, column} : no_view;
}

static bool there(struct view v) { return v.table != NULL; }

// Row of v's table that row `row` of t stands for, or -1.
static int64_t row_of(const struct hn_table *t, struct view v, int64_t row) {
    if (v.link < 0)
        return row;
    int64_t other = t->cells[v.link].count[row];
    return other >= 0 && other < v.table->rows ? other : -1;
}

static double number_of(const char *text) {
    char *end;
    double value = strtod(text, &end);
    return end != text && !*end ? value : NAN;
}

static double real_at(const struct hn_table *t, struct view v, int64_t row) {
    int64_t at = there(v) ? row_of(t, v, row) : -1;
    if (at < 0)
        return NAN;
    bool text = v.column >= 0 && v.table->column[v.column].kind == HN_COLUMN_TEXT;
    double value = text ? number_of(v.table->cells[v.column].text[at])
                        : hn_table_number(v.table, v.column, at);
    return isnan(value) ? number_of(option_text(v.table, at, v.option).text) : value;
}

// The cell as text: numbers in their shortest form.
static struct hn_phrase text_at(const struct hn_table *t, struct view v, int64_t row) {
    int64_t at = there(v) ? row_of(t, v, row) : -1;
    struct hn_phrase text = {""};
    if (at < 0)
        return text;
    bool textual = v.column >= 0 && v.table->column[v.column].kind == HN_COLUMN_TEXT;
    double value = textual ? NAN : real_at(t, v, row);
    if (textual)
        hn_put_text(text.text, sizeof text.text, "%s", v.table->cells[v.column].text[at]);
    else if (!isnan(value))
        hn_put_text(text.text, sizeof text.text, "%s", hn_real_text(value).text);
    return *text.text ? text : option_text(v.table, at, v.option);
}

static const char *borrowed_text(const struct hn_table *t, struct view v, int64_t row) {
    int64_t at = there(v) ? row_of(t, v, row) : -1;
    return at >= 0 && v.column >= 0 && v.table->column[v.column].kind == HN_COLUMN_TEXT
               ? v.table->cells[v.column].text[at]
               : "";
}

static bool cell_is(const struct hn_table *t, struct view v, int64_t row, const char *wanted) {
    char *end;
    if (strcmp(text_at(t, v, row).text, wanted) == 0)
        return true;
    double a = real_at(t, v, row), b = strtod(wanted, &end);
    return end != wanted && !*end && fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

int64_t hn_side_members(const struct hn_claim_side *side) {
    int64_t members = 1;
    for (int64_t i = 0; i < side->filters; i++)
        members *= side->filter[i].values;
    return members;
}

// Value of filter `i` in a combination: the last filter varies fastest.
static const char *member_value(const struct hn_claim_side *side, int64_t member, int64_t i) {
    for (int64_t j = side->filters - 1; j > i; j--)
        member /= side->filter[j].values;
    return side->filter[i].value[member % side->filter[i].values];
}

struct hn_phrase hn_side_label(const struct hn_claim_side *side, int64_t member) {
    struct hn_phrase label = {""};
    for (int64_t i = 0; i < side->filters; i++)
        if (side->filter[i].values > 1)
            hn_append(label.text, sizeof label.text, "%s%s %s", *label.text ? ", " : "",
                      side->filter[i].column, member_value(side, member, i));
    return label;
}

static void lacks(struct gather *g, const char *column) {
    hn_put_text(g->out->why, sizeof g->out->why, "column '%s' is missing from table '%s'", column,
                g->table->name);
}

// A required column; false and the reason if there is none.
static bool need(struct gather *g, const char *column, struct view *out) {
    *out = look(g->what->results, g->table, column);
    if (!there(*out))
        lacks(g, column);
    return there(*out);
}

static bool find_expression(struct gather *g, const struct hn_claim_side *side, struct view *value,
                            struct view *with) {
    *with = no_view;
    return need(g, side->column, value) && (!side->with || need(g, side->with, with));
}

static bool add_group(struct gather *g, const char *column, bool required) {
    const struct hn_collect *w = g->what;
    struct group_column *c = &g->group[g->groups];
    const struct hn_table *other = w->other ? hn_results_table(w->results, w->other->table) : NULL;
    c->name = column;
    c->view = look(w->results, g->table, column);
    c->shared = !w->other || (other && there(look(w->results, other, column)));
    if (there(c->view))
        g->groups++;
    else if (required)
        lacks(g, column);
    return there(c->view) || !required;
}

// Steps by which every run has one row: they name no group.
static bool by_run(const struct hn_collect *w) {
    return w->steps == HN_STEPS_START || w->steps == HN_STEPS_END;
}

static bool find_groups(struct gather *g, bool required) {
    const struct hn_collect *w = g->what;
    bool good = add_group(g, "dataset", false);
    if ((!w->along || strcmp(w->along, "step") != 0) && !by_run(w))
        good = good && add_group(g, "step", false);
    for (int64_t i = 0; good && i < w->n_each; i++)
        good = strcmp(w->each[i], "step") == 0 || add_group(g, w->each[i], required);
    return good;
}

static bool find_filters(struct gather *g) {
    const struct hn_claim_side *side = g->what->side;
    for (int64_t i = 0; i < side->filters; i++) {
        struct wanted *w = &g->wanted[g->wants++];
        w->column = side->filter[i].column;
        w->value = member_value(side, g->what->member, i);
        if (!need(g, w->column, &w->view))
            return false;
    }
    return true;
}

static bool find_columns(struct gather *g) {
    const struct hn_collect *w = g->what;
    const struct hn_results *r = w->results;
    if (!find_expression(g, w->side, &g->value, &g->with) || !find_filters(g) ||
        !find_groups(g, w->other == NULL || w->along != NULL) ||
        (w->along && !need(g, w->along, &g->along)) ||
        (w->beside && !find_expression(g, w->beside, &g->beside, &g->beside_with)))
        return false;
    g->step = look(r, g->table, "step");
    g->dataset = look(r, g->table, "dataset");
    g->seed = look(r, g->table, "seed");
    g->status = look(r, g->table, "status");
    g->error = look(r, g->table, "error");
    if (!w->side->with) {
        snprintf(g->bound[0], sizeof g->bound[0], "%s_lo", w->side->column);
        g->lo = look(r, g->table, g->bound[0]);
        snprintf(g->bound[1], sizeof g->bound[1], "%s_hi", w->side->column);
        g->hi = look(r, g->table, g->bound[1]);
    }
    g->out->replicated = there(g->seed);
    return true;
}

// The place of a data set among the spans; their number if it has none.
static int64_t span_of(const struct gather *g, const char *dataset) {
    int64_t i = 0;
    while (i < g->spans && strcmp(g->span[i].dataset, dataset) != 0)
        i++;
    return i;
}

static enum hn_code find_spans(struct gather *g) {
    for (int64_t row = 0; row < g->table->rows; row++) {
        const char *dataset = borrowed_text(g->table, g->dataset, row);
        double step = real_at(g->table, g->step, row);
        if (isnan(step))
            continue;
        int64_t i = span_of(g, dataset);
        if (i == g->spans) {
            if (hn_grow(g->ctx, &g->span, &g->span_capacity, i + 1, sizeof *g->span))
                return g->ctx->code;
            g->span[g->spans++] = (struct span){dataset, step, step};
        }
        g->span[i].first = fmin(g->span[i].first, step);
        g->span[i].last = fmax(g->span[i].last, step);
    }
    return HN_OK;
}

// The rows of a run stand together, in order of their steps.
static bool row_ends(const struct gather *g, int64_t row) {
    int run = hn_table_find(g->table, "run");
    int64_t beside = g->what->steps == HN_STEPS_START ? row - 1 : row + 1;
    const int64_t *key = run >= 0 ? g->table->cells[run].count : NULL;
    return !key || beside < 0 || beside >= g->table->rows || key[beside] != key[row];
}

static bool step_wanted(const struct gather *g, int64_t row) {
    if (by_run(g->what))
        return row_ends(g, row);
    double step = real_at(g->table, g->step, row);
    if (g->what->steps == HN_STEPS_ALL || isnan(step))
        return true;
    if (g->what->steps == HN_STEPS_TRAINED)
        return step > 0;
    const struct span *of = &g->span[span_of(g, borrowed_text(g->table, g->dataset, row))];
    return step == (g->what->steps == HN_STEPS_FIRST ? of->first : of->last);
}

static bool passes(struct gather *g, int64_t row) {
    for (int i = 0; i < g->wants; i++)
        if (!cell_is(g->table, g->wanted[i].view, row, g->wanted[i].value))
            return false;
    if (!step_wanted(g, row))
        return false;
    if (!there(g->status) || strcmp(borrowed_text(g->table, g->status, row), "ok") == 0)
        return true;
    g->failed++;
    g->reason = borrowed_text(g->table, g->error, row);
    return false;
}

static double combine(const struct hn_claim_side *side, double a, double b) {
    double value = a;
    b *= side->times;
    switch (side->op) {
    case '+': value = a + b; break;
    case '-': value = a - b; break;
    case '*': value = a * b; break;
    case '/': value = a / b; break;
    default: break;
    }
    return side->factor * value;
}

static double expression(const struct gather *g, const struct hn_claim_side *side,
                         struct view value, struct view with, int64_t row) {
    return combine(side, real_at(g->table, value, row), real_at(g->table, with, row));
}

// "step 400, M 500": what names the row's group, the data set left out; and the same of what the
// other side has too, the data set included.
static void name_group(const struct gather *g, int64_t row, struct hn_sample *s) {
    for (int i = 0; i < g->groups; i++) {
        char text[96];
        hn_put_text(text, sizeof text, "%s", text_at(g->table, g->group[i].view, row).text);
        if (strcmp(g->group[i].name, "dataset") != 0)
            hn_append(s->group, sizeof s->group, "%s%s %s", *s->group ? ", " : "", g->group[i].name,
                      text);
        if (g->group[i].shared)
            hn_append(s->match, sizeof s->match, "%s|", text);
    }
}

// Fills dataset, seed, replicate and kind of a sample from a row of this snapshot file or data set.
// A replicate is an encoder if the file is one of a family, trained alike with other seeds (the
// table `datasets` says so), else a seed.
static void set_replicate(const struct hn_results *r, const char *dataset, double seed,
                          struct hn_sample *s) {
    const struct hn_table *files = hn_results_table(r, "datasets");
    int64_t file = hn_table_row_with(files, "dataset", dataset);
    const char *family = file < 0 ? "" : hn_table_text(files, file, "family");
    bool trained = file < 0 && hn_results_table(r, "training");
    s->replicate = s->seed = hn_whole(seed, 0);
    s->kind = trained ? HN_BY_TRAINING : HN_BY_SEED;
    if (*family) {
        s->kind = HN_BY_ENCODER;
        s->replicate = hn_whole(hn_table_real(files, file, "encoder"), 0);
    } else if (!*dataset) {
        s->kind = HN_BY_REPETITION;
    }
    snprintf(s->dataset, sizeof s->dataset, "%s", *family ? family : dataset);
}

static int by_number(double a, double b) { return (a > b) - (a < b); }

// Compares cells of the same encoder, group and `along`.
static int by_setting(const void *of, int64_t a, int64_t b) {
    const struct hn_sample *sample = of, *x = &sample[a], *y = &sample[b];
    int order = (x->replicate > y->replicate) - (x->replicate < y->replicate);
    order = order ? order : isnan(x->along) - isnan(y->along);
    order = order ? order : by_number(x->along, y->along);
    order = order ? order : strcmp(x->dataset, y->dataset);
    order = order ? order : strcmp(x->group, y->group);
    return order ? order : strcmp(x->match, y->match);
}

static int by_seed(const void *of, int64_t a, int64_t b) {
    const struct hn_sample *sample = of;
    return (sample[a].seed > sample[b].seed) - (sample[a].seed < sample[b].seed);
}

static bool share_a_seed(const struct hn_claim_samples *s, struct hn_replicates cells) {
    for (int64_t i = 1; i < cells.n; i++)
        if (s->sample[cells.row[i - 1]].seed == s->sample[cells.row[i]].seed)
            return true;
    return false;
}

// The first of the samples, with the mean of all. value: space for each.
static struct hn_sample average(const struct hn_claim_samples *s, struct hn_replicates cells,
                                double *value) {
    int64_t first = cells.row[0];
    for (int64_t i = 0; i < cells.n; i++) {
        first = hn_min(first, cells.row[i]);
        value[i] = s->sample[cells.row[i]].value;
    }
    struct hn_sample mean = s->sample[first];
    mean.value = hn_values_mean(value, cells.n, 0).mean;
    return mean;
}

// Each encoder's samples of one group and value of `along` become their mean over the sampler's
// seeds. Samples that share their seed too are settings that the claim does not tell apart: all
// stay, and the comparison says so.
static enum hn_code average_seeds(struct hn_context *ctx, struct hn_claim_samples *s) {
    const struct hn_grouping by = {s->sample, by_setting, by_seed};
    struct hn_replicate_sets sets;
    HN_SCOPE(ctx);
    double *value = hn_alloc(ctx, s->n, sizeof *value);
    if (!value || hn_replicates_find(ctx, s->n, by, &sets))
        return ctx->code;
    for (int64_t k = 0; k < sets.sets; k++)
        if (share_a_seed(s, hn_replicates_at(&sets, k)))
            return HN_OK;
    for (int64_t k = 0; k < sets.sets; k++) // sample k is of set k, or of one before
        s->sample[k] = average(s, hn_replicates_at(&sets, k), value);
    s->n = sets.sets;
    return HN_OK;
}

int64_t hn_samples_encoders(const struct hn_claim_samples *s) {
    int64_t n = 0;
    for (int64_t i = 0; i < s->n; i++) {
        int64_t k = 0;
        while (k < i && s->sample[k].replicate != s->sample[i].replicate)
            k++;
        n += k == i;
    }
    return s->sample[0].kind != HN_BY_SEED ? n : 1;
}

static enum hn_code add_sample(struct gather *g, int64_t row) {
    struct hn_claim_samples *out = g->out;
    const struct hn_collect *w = g->what;
    double value = expression(g, w->side, g->value, g->with, row);
    double along = real_at(g->table, g->along, row);
    double beside = w->beside ? expression(g, w->beside, g->beside, g->beside_with, row) : NAN;
    g->passed++;
    if (isnan(value) || (w->along && isnan(along)) || (w->beside && isnan(beside)))
        return HN_OK;
    if (hn_grow(g->ctx, &out->sample, &out->capacity, out->n + 1, sizeof *out->sample))
        return g->ctx->code;
    struct hn_sample *s = &out->sample[out->n++];
    double step = real_at(g->table, g->step, row);
    double factor = w->side->factor;
    *s = (struct hn_sample){.table = g->table,
                            .row = row,
                            .step = hn_whole(step, -1),
                            .along = along,
                            .value = value,
                            .beside = beside,
                            .lo = factor * real_at(g->table, g->lo, row),
                            .hi = factor * real_at(g->table, g->hi, row)};
    set_replicate(w->results, borrowed_text(g->table, g->dataset, row),
                  real_at(g->table, g->seed, row), s);
    out->replicated |= s->kind == HN_BY_ENCODER;
    name_group(g, row, s);
    return HN_OK;
}

// Why nothing was found: what the rows were to be.
static void say_why(struct gather *g) {
    char rows[200] = "";
    for (int i = 0; i < g->wants; i++)
        hn_append(rows, sizeof rows, "%s%s %s", i ? ", " : " with ", g->wanted[i].column,
                  g->wanted[i].value);
    if (g->failed > 0)
        hn_put_message(g->out->why, sizeof g->out->why, "the rows%s have no result: %s", rows,
                       g->reason);
    else if (g->passed > 0)
        hn_put_text(g->out->why, sizeof g->out->why,
                    "%s is NaN in the rows%s: column 'note' of the results says why",
                    g->what->side->column, rows);
    else
        hn_put_text(g->out->why, sizeof g->out->why, "table '%s' has no rows%s%s", g->table->name,
                    rows, g->what->steps == HN_STEPS_TRAINED ? " at a step above 0" : "");
}

enum hn_code hn_claim_collect(struct hn_context *ctx, const struct hn_collect *what,
                              struct hn_claim_samples *out) {
    *out = (struct hn_claim_samples){.sample = out->sample, .capacity = out->capacity};
    struct gather g = {.ctx = ctx, .what = what, .out = out};
    g.table = hn_results_table(what->results, what->side->table);
    g.lo = g.hi = g.along = g.beside = no_view;
    if (!g.table || g.table->n_columns == 0) {
        hn_put_text(out->why, sizeof out->why, "the results have no table '%s'", what->side->table);
        return HN_OK;
    }
    if (!find_columns(&g))
        return HN_OK;
    enum hn_code code = find_spans(&g);
    for (int64_t row = 0; row < g.table->rows && !code; row++)
        code = passes(&g, row) ? add_sample(&g, row) : HN_OK;
    hn_free(ctx, g.span);
    if (code)
        return code;
    out->failed = g.failed;
    if (!what->rows && average_seeds(ctx, out))
        return ctx->code;
    if (out->n == 0 || g.failed > 0)
        say_why(&g);
    return HN_OK;
}
