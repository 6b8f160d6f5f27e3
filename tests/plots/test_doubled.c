// SPDX-License-Identifier: GPL-3.0-or-later
// No figure mixes settings or drops one in silence. Every figure is drawn from made-up results,
// from the same with another value of one option, batch size, loss ... and other measurements, and
// from both in one file. What it draws of both it has to have drawn of the one or the other, and it
// has to draw something of each, or to note what it leaves out.
#include "core/text.h"
#include "plots/page/page.h"
#include "plots/page/render.h"
#include "tests/figures_fixture.h"
#include "tests/test.h"

static struct hn_context ctx;

enum { VALUES_MAX = 1 << 16, LATER = 3 * FIGURES_CELLS };

// Something that is doubled.
struct axis {
    const char *name;
    const char *table;     // a study's; "runs" for cells; both: of all tables with the column
    const char *column;    // that is set, or the text of options it is in
    const char *from, *to; // of an option: what it replaces; a row without it is not doubled
    double number;         // of a column of numbers
};

static const struct axis axes[] = {
    {"batch size", "both", "batch_size", NULL, NULL, 48},
    {"temperature", "both", "temperature", NULL, NULL, 0.2},
    {"loss", "runs", "loss", "ntxent", "infonce", 0},
    {"weighting", "runs", "weighting", "none", "fnc", 0},
    {"options of hcl", "runs", "weighting_params", "form=equation", "form=figure13", 0},
    {"concentration", "runs", "beta", "1", NULL, 3},
    {"options of the task", "runs", "task_params", "dim=16", "dim=32", 0},
    {"positive", "runs", "positive", "in", "out", 0},
    {"interval of builds", "runs", "params", "t=100", "t=200", 0},
    {"candidates", "runs", "params", "M=500", "M=300", 0},
    {"neighbours", "runs", "params", "K=100", "K=50", 0},
    {"restart", "runs", "params", "alpha=0.2", "alpha=0.3", 0},
    {"draw of uniform", "runs", "params", "draw=shuffle", "draw=independent", 0},
    {"quantile of gcbs", "runs", "params", "quantile=0.999", "quantile=0.99", 0},
    {"negatives of ring", "runs", "params", "n=63", "n=31", 0},
    {"ends of ring", "runs", "params", "hi=50, lo=0", "hi=40, lo=10", 0},
    {"prop1 M", "prop1", "params", "M=500", "M=300", 0},
    {"prop1 K", "prop1", "params", "K=100", "K=50", 0},
    {"prop1 graphs", "prop1", "params", "graphs=5", "graphs=1", 0},
    {"prop2 M", "prop2", "params", "M=500", "M=300", 0},
    {"prop2 sweeps", "prop2", "params", "sweeps=8", "sweeps=2", 0},
    {"prop3 anchors", "prop3", "params", "anchors=1000", "anchors=all", 0},
    {"staleness M", "staleness", "params", "M=500", "M=300", 0},
    {"staleness K", "staleness", "params", "K=100", "K=50", 0},
    {"staleness alpha", "staleness", "params", "alpha=0.2", "alpha=0.5", 0},
    {"staleness batches", "staleness", "params", "batches=300", "batches=30", 0},
    {"purity K", "purity", "params", "K=100", "K=50", 0},
    {"purity M", "purity", "params", "M=500", "M=300", 0},
    {"heatmap quantile", "heatmap", "params", "quantile=0.99", "quantile=0.9", 0},
    {"assignments count", "random_assignments", "params", "count=100", "count=50", 0},
};
enum { AXES = sizeof axes / sizeof *axes };

static struct hn_table *table_of(struct hn_results *r, const char *name) {
    for (int64_t i = 0; i < r->n_tables; i++)
        if (strcmp(r->table[i].name, name) == 0)
            return &r->table[i];
    return strcmp(name, "runs") == 0 ? &r->runs : NULL;
}

static void need_column(struct hn_table *t, const char *name, enum hn_column_kind kind) {
    const struct hn_column column = {.name = name,
                                     .kind = kind,
                                     .units = kind == HN_COLUMN_TEXT ? "" : "1",
                                     .long_name = name,
                                     .direction = HN_NEITHER,
                                     .role = HN_ROLE_SETTING};
    if (hn_table_find(t, name) < 0)
        HN_CHECK(&ctx, hn_table_add_column(&ctx, t, &column));
}

static void set_text(struct hn_table *t, int64_t row, const char *column, const char *text) {
    HN_CHECK(&ctx, hn_table_set_text(&ctx, t, row, column, text));
}

// Replaces row numbers [n] of a table by themselves.
static void keep_rows(struct hn_table *t, const int64_t *row, int64_t n) {
    struct hn_table kept;
    HN_CHECK(&ctx, hn_table_init(&ctx, &kept, t->name));
    HN_CHECK(&ctx, hn_table_append_rows(&ctx, &kept, t, row, n));
    hn_table_free(&ctx, t);
    *t = kept;
}

// "b in place of a" in a text; NULL: it is not there. Owned: free().
static char *replaced(const char *text, const char *a, const char *b) {
    const char *at = strstr(text, a);
    char *out = NULL;
    if (at && asprintf(&out, "%.*s%s%s", (int)(at - text), text, b, at + strlen(a)) < 0)
        abort();
    return out;
}

// What a run's table has besides that of the fixture.
static void add_settings(struct hn_results *r) {
    static const char *const texts[] = {"loss", "task_params", "positive", "form"};
    for (int i = 0; i < 4; i++)
        need_column(&r->runs, texts[i], HN_COLUMN_TEXT);
    for (int64_t row = 0; row < r->runs.rows; row++) {
        bool trained = *hn_table_text(&r->runs, row, "task");
        bool hcl = strcmp(hn_table_text(&r->runs, row, "weighting"), "hcl") == 0;
        set_text(&r->runs, row, "loss", "ntxent");
        if (hcl) {
            const char *params = hn_table_text(&r->runs, row, "weighting_params");
            char *text = replaced(params, "tau_plus", "form=equation, tau_plus");
            set_text(&r->runs, row, "form", "equation");
            set_text(&r->runs, row, "weighting_params", text);
            free(text);
        }
        set_text(&r->runs, row, "task_params", trained ? "dim=16" : "");
        set_text(&r->runs, row, "positive", trained ? "in" : "");
    }
}

// Which results a figure is drawn from: steps, and samplers.
static const struct variant {
    const char *name;
    bool one_step, trainings, few;
} variants[] = {{"all", false, false, false},
                {"one step", true, false, false},
                {"few samplers", false, false, true},
                {"trainings", true, true, false},
                {"few trainings", true, true, true}};
enum { VARIANTS = sizeof variants / sizeof *variants };

static bool is_kept(const struct hn_table *runs, int64_t row, const struct variant *v) {
    bool later = hn_table_real(runs, row, "step") > 50;
    bool few = hn_is_among(hn_table_text(runs, row, "sampler"), HN_COLUMNS("uniform", "gcbs"));
    bool alone = v->trainings && hn_table_real(runs, row, "batch_size") > 100; // on a panel
    return (!v->one_step || later) && (!v->few || few) && !alone;
}

static struct hn_results results_of(const struct variant *v) {
    struct hn_results r = figures_results(&ctx);
    add_settings(&r);
    for (int64_t row = 0; row < r.runs.rows; row++) {
        if (!v->trainings)
            set_text(&r.runs, row, "task", "");
        for (int i = 0; i < 2 && !v->trainings; i++)
            set_text(&r.runs, row, i ? "task_params" : "positive", "");
        if (!is_kept(&r.runs, row, v))
            set_text(&r.runs, row, "status", "failed");
    }
    keep_rows(table_of(&r, "costs"), NULL, 0); // bs-table5 draws runs where there are none
    return r;
}

static bool is_exempt(const struct hn_column *column) {
    return column->role == HN_ROLE_SETTING ||
           hn_is_among(column->name,
                       HN_COLUMNS("alpha", "beta", "s", "M", "K", "item", "rank_lo", "rank_hi",
                                  "cell_row", "cell_col", "bin_lo", "bin_hi", "build_step",
                                  "temperature", "tau_plus", "learning_rate", "value", "front"));
}

// Every measurement a little smaller.
static void measure_again(struct hn_table *t) {
    for (int c = 0; c < t->n_columns; c++)
        for (int64_t row = 0; row < t->rows; row++)
            if (t->column[c].kind == HN_COLUMN_REAL && !is_exempt(&t->column[c]))
                t->cells[c].real[row] *=
                    strcmp(t->name, "cosines") == 0 ? 1 + 0.01 * (double)(row % 20) : 0.97;
}

static void measure_arrays_again(struct hn_results *r) {
    for (int64_t i = 0; i < r->batch_start[r->runs.rows]; i++) {
        r->batch_fn_ratio[i] *= 0.97;
        r->batch_cos_mean[i] *= 0.97;
    }
    for (int64_t i = 0; i < r->runs.rows * r->kinds; i++) { // one bin to the left
        uint64_t *bin = &r->histogram[i * r->bins], first = bin[0];
        memmove(bin, bin + 1, (size_t)(r->bins - 1) * sizeof *bin);
        bin[r->bins - 1] = first;
    }
}

// Gives a row the other value; false: the axis does not apply to it.
static bool change(struct hn_table *t, int64_t row, const struct axis *axis) {
    int column = hn_table_find(t, axis->column);
    if (column < 0)
        return false;
    if (t->column[column].kind == HN_COLUMN_TEXT) {
        char *text = replaced(hn_table_text(t, row, axis->column), axis->from, axis->to);
        if (text)
            set_text(t, row, axis->column, text);
        free(text);
        return text != NULL;
    }
    if (axis->from && !(fabs(hn_table_real(t, row, axis->column) - atof(axis->from)) < 1e-9))
        return false;
    if (t->column[column].kind == HN_COLUMN_INT)
        HN_CHECK(&ctx, hn_table_set_int(&ctx, t, row, axis->column, (int64_t)axis->number));
    else
        HN_CHECK(&ctx, hn_table_set_real(&ctx, t, row, axis->column, axis->number));
    return true;
}

static void keep_of_runs(struct hn_results *r, const char *name) {
    struct hn_table *t = table_of(r, name);
    int64_t *row = hn_alloc(&ctx, t->rows, sizeof *row), n = 0;
    for (int64_t i = 0; i < t->rows; i++)
        if (hn_row_is_ok(&r->runs, (int64_t)hn_table_real(t, i, "run")))
            row[n++] = i;
    keep_rows(t, row, n);
    hn_free(&ctx, row);
}

static void change_runs(struct hn_results *r, const struct axis *axis) {
    for (int64_t row = 0; row < r->runs.rows; row++)
        if (!change(&r->runs, row, axis))
            set_text(&r->runs, row, "status", "failed");
    for (int64_t row = 0; row < r->runs.rows; row++) // an option has a column, too
        if (strstr(hn_table_text(&r->runs, row, "weighting_params"), "form=figure13"))
            set_text(&r->runs, row, "form", "figure13");
    // The text of its options has the number as well.
    for (int64_t row = 0; row < r->runs.rows && strcmp(axis->column, "beta") == 0; row++) {
        char *text = replaced(hn_table_text(&r->runs, row, "weighting_params"), "beta=1", "beta=3");
        if (text)
            set_text(&r->runs, row, "weighting_params", text);
        free(text);
    }
    measure_again(&r->runs);
    measure_arrays_again(r);
    measure_again(table_of(r, "training"));
    measure_again(table_of(r, "cosines"));
}

// The columns of a study's table say its options, too.
static void change_columns(struct hn_table *t, const struct axis *axis) {
    const char *end = strchr(axis->to, '=');
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)(end - axis->to), axis->to);
    int column = hn_table_find(t, name);
    for (int64_t row = 0; column >= 0 && row < t->rows; row++)
        if (fabs(t->cells[column].real[row] - atof(strchr(axis->from, '=') + 1)) < 1e-9)
            t->cells[column].real[row] = atof(end + 1);
}

static void empty(struct hn_results *r, const char *name) { keep_rows(table_of(r, name), NULL, 0); }

// All of it with the other value; tables that the axis does not change are empty, so that nothing
// is there twice.
static struct hn_results other_of(const struct variant *v, const struct axis *axis) {
    struct hn_results r = results_of(v);
    bool runs = hn_is_among(axis->table, HN_COLUMNS("runs", "both"));
    if (runs)
        change_runs(&r, axis);
    else
        for (int64_t row = 0; row < r.runs.rows; row++)
            set_text(&r.runs, row, "status", "failed");
    keep_of_runs(&r, "training");
    keep_of_runs(&r, "cosines");
    empty(&r, "price");
    if (!(runs && strcmp(axis->column, "temperature") == 0))
        empty(&r, "snapshots");
    struct hn_table *cells = table_of(&r, "studies");
    for (int64_t row = 0; row < cells->rows; row++)
        if (strcmp(hn_table_text(cells, row, "study"), axis->table) == 0)
            change(cells, row, axis);
    for (int64_t i = 0; i < cells->rows; i++) {
        struct hn_table *t = table_of(&r, figures_studies[i].study);
        bool own = strcmp(t->name, axis->table) == 0;
        bool both = strcmp(axis->table, "both") == 0 && hn_table_find(t, axis->column) >= 0;
        if (i > 0 && strcmp(figures_studies[i].study, figures_studies[i - 1].study) == 0)
            continue;
        if (!own && !both)
            empty(&r, t->name);
        for (int64_t row = 0; both && row < t->rows; row++)
            change(t, row, axis);
        if (own)
            change_columns(t, axis);
        measure_again(t);
    }
    return r;
}

// The numbers that a figure draws.
struct drawn {
    double value[VALUES_MAX];
    int n;
    bool any;
    char form[3 * HN_TITLE_SIZE]; // rows or curves, of what
    char twice[HN_LABEL_SIZE];    // a name that two curves of a panel have; "" = none
    char note[HN_CAPTION_SIZE];
};

static void add_value(struct drawn *d, double value) {
    if (isfinite(value) && d->n < VALUES_MAX)
        d->value[d->n++] = value;
}

static void add_datum(struct drawn *d, const struct hn_panel *panel, const struct hn_series *s,
                      const struct hn_datum *at) {
    bool both = s->look == HN_LOOK_DISCS || s->look == HN_LOOK_STEMS || s->look == HN_LOOK_ARMS;
    if (s->look == HN_LOOK_HEAT)
        add_value(d, at->size);
    else if (both || panel->rows || s->look == HN_LOOK_UPRIGHT)
        add_value(d, at->x);
    if (s->look != HN_LOOK_HEAT && !panel->rows && s->look != HN_LOOK_UPRIGHT)
        add_value(d, at->y);
    add_value(d, at->lo);
    add_value(d, at->hi);
}

// The name under which a curve stands in the key, or at its end.
static const char *name_of(const struct hn_series *s) { return *s->label ? s->label : s->end; }

static void look_for_names(struct drawn *d, const struct hn_panel *panel) {
    for (int a = 0; a < panel->n_series; a++)
        for (int b = 0; b < a; b++) {
            const struct hn_series *x = panel->series[a], *y = panel->series[b];
            bool curves = x->n > 0 && y->n > 0 && x->look == y->look && *name_of(x);
            if (curves && strcmp(name_of(x), name_of(y)) == 0)
                snprintf(d->twice, sizeof d->twice, "%s", name_of(x));
        }
}

static void draw(const struct hn_figure *figure, const struct hn_results *r, struct drawn *d) {
    void *owner = hn_alloc(&ctx, 0, 1), *outer = hn_own(&ctx, owner);
    struct hn_page *page = hn_alloc(&ctx, 1, sizeof *page);
    d->n = 0;
    *d->form = *d->twice = '\0';
    hn_page_begin(&ctx, page);
    d->any = hn_page_fill(page, figure, r) == HN_OK;
    *d->note = '\0';
    if (d->any)
        snprintf(d->note, sizeof d->note, "%s", page->note);
    if (d->any)
        hn_put_text(d->form, sizeof d->form, "%s %s %s", page->panel[0].rows ? "rows" : "curves",
                    page->panel[0].x.title, page->panel[0].y.title);
    for (int p = 0; d->any && p < page->panels; p++)
        look_for_names(d, &page->panel[p]);
    for (int p = 0; d->any && p < page->panels; p++)
        for (int k = 0;
             k < page->panel[p].n_series && strncmp(page->panel[p].x.title, "minus ", 6) != 0;
             k++) { // paired with a first setting
            const struct hn_series *s = page->panel[p].series[k];
            for (int64_t i = 0; i < s->n && s->look != HN_LOOK_STAIRS; i++)
                add_datum(d, &page->panel[p], s, &s->datum[i]);
        }
    hn_own(&ctx, outer);
    hn_free(&ctx, owner);
}

static bool has(const struct drawn *d, double value) {
    for (int i = 0; i < d->n; i++)
        if (fabs(d->value[i] - value) <= 1e-9 * fmax(1, fabs(value)))
            return true;
    return false;
}

// The first value of one that neither of two others has, NaN if there is none.
static double beyond(const struct drawn *of, const struct drawn *a, const struct drawn *b) {
    for (int i = 0; i < of->n; i++)
        if (!has(a, of->value[i]) && !(b && has(b, of->value[i])))
            return of->value[i];
    return NAN;
}

// True if `of` has a value that is `own`, and not `other`'s.
static bool shows(const struct drawn *of, const struct drawn *own, const struct drawn *other) {
    for (int i = 0; i < own->n; i++)
        if (!has(other, own->value[i]) && has(of, own->value[i]))
            return true;
    return isnan(beyond(own, other, NULL)); // it has nothing of its own
}

static struct drawn one, two, all;
static int faults;

static void complain(const struct hn_figure *f, const struct axis *axis, const struct variant *v,
                     const char *what, double value) {
    fprintf(stderr, "    %s, %s, %s: %s %.9g%s%s\n", f->id, axis->name, v->name, what, value,
            *all.note ? ", note: " : "", all.note);
    faults++;
}

static void compare(const struct hn_figure *f, const struct axis *axis, const struct variant *v) {
    if (!one.any || !two.any)
        return;
    bool alike = strcmp(all.form, one.form) == 0 && strcmp(all.form, two.form) == 0;
    double mixed = alike ? beyond(&all, &one, &two) : NAN;
    if (!isnan(mixed))
        complain(f, axis, v, "drawn, and of neither setting:", mixed);
    if (*all.twice)
        complain(f, axis, v, "two curves have one name", NAN);
    if (*all.note)
        return;
    if (!shows(&all, &one, &two))
        complain(f, axis, v, "the first setting is left out in silence", NAN);
    if (!shows(&all, &two, &one))
        complain(f, axis, v, "the second setting is left out in silence", NAN);
}

static void double_axis(const struct axis *axis, const struct variant *v) {
    struct hn_results first = results_of(v), second = other_of(v, axis), both = results_of(v);
    HN_CHECK(&ctx, hn_results_append(&ctx, &both, &second));
    for (int i = 0; hn_figures[i]; i++) {
        draw(hn_figures[i], &first, &one);
        draw(hn_figures[i], &second, &two);
        draw(hn_figures[i], &both, &all);
        compare(hn_figures[i], axis, v);
    }
    hn_results_free(&ctx, &first);
    hn_results_free(&ctx, &second);
    hn_results_free(&ctx, &both);
}

static void every_figure(void) {
    hn_context_init(&ctx, 1);
    faults = 0;
    for (int a = 0; a < AXES; a++)
        for (int v = 0; v < VARIANTS; v++)
            double_axis(&axes[a], &variants[v]);
    CU_ASSERT_EQUAL(faults, 0);
    CU_ASSERT_EQUAL(atomic_load(&ctx.memory.live), 0);
}

// Where a loss changes no number that is drawn, its settings are one, whose name does not tell it.
static void same_batches_are_one(void) {
    static const struct axis loss = {"loss", "runs", "loss", "ntxent", "infonce", 0};
    hn_context_init(&ctx, 1);
    faults = 0;
    struct hn_results both = results_of(&variants[1]), again = results_of(&variants[1]);
    for (int64_t row = 0; row < again.runs.rows; row++)
        change(&again.runs, row, &loss);
    for (int64_t i = 0; i < again.n_tables; i++)
        empty(&again, again.table[i].name);
    HN_CHECK(&ctx, hn_results_append(&ctx, &both, &again));
    for (int i = 0; hn_figures[i]; i++) {
        draw(hn_figures[i], &again, &one);
        draw(hn_figures[i], &both, &all);
        if (one.any && all.n != one.n)
            complain(hn_figures[i], &loss, &variants[1], "drawn twice:", all.n);
    }
    CU_ASSERT_EQUAL(faults, 0);
    hn_results_free(&ctx, &both);
    hn_results_free(&ctx, &again);
}

// HC's masses of weightings that have no beta are no masses without a weighting: the figure leaves
// these out, says so, and draws what it drew without them.
static void weightings_without_beta(void) {
    hn_context_init(&ctx, 1);
    struct hn_results r = results_of(&variants[0]), more = results_of(&variants[0]);
    draw(hn_figure_find("hc-mass"), &r, &one);
    CU_ASSERT(one.any && !strstr(one.note, "without beta"));
    for (int64_t row = 0; row < more.runs.rows; row++)
        set_text(&more.runs, row, "weighting", row % 2 ? "fnc" : "gist");
    for (int64_t row = 0; row < more.runs.rows; row++) {
        HN_CHECK(&ctx, hn_table_set_real(&ctx, &more.runs, row, "beta", NAN));
        HN_CHECK(&ctx, hn_table_set_real(&ctx, &more.runs, row, "tau_plus", NAN));
    }
    measure_again(&more.runs);
    HN_CHECK(&ctx, hn_results_append(&ctx, &r, &more));
    draw(hn_figure_find("hc-mass"), &r, &all);
    CU_ASSERT(all.any && all.n == one.n && isnan(beyond(&all, &one, NULL)));
    CU_ASSERT_PTR_NOT_NULL(strstr(all.note, "Weightings without beta are left out: gist, fnc."));
    hn_results_free(&ctx, &r);
    hn_results_free(&ctx, &more);
}

static const struct hn_test tests[] = {{"every_figure", every_figure},
                                       {"same_batches_are_one", same_batches_are_one},
                                       {"weightings_without_beta", weightings_without_beta}};
HN_TEST_MAIN("doubled", tests)
