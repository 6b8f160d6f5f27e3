// SPDX-License-Identifier: GPL-3.0-or-later
// Of every table of accuracies (NS tables 2 to 4, BS tables 3 to 12, GC tables 4 and 5, HC figures
// 2 and 4): what was trained, sorted, with the untrained encoder among them, and the differences to
// the first setting of the file, paired by seed. Our deviation from the tables: intervals.
#include "core/text.h"
#include "plots/page/curves.h"
#include "results/analysis/named.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 48 };

// A row: a setting at its last evaluation, or its encoder before training.
struct row {
    int64_t setting;
    bool untrained;
    struct hn_mean accuracy;
};

struct table {
    const struct hn_trained *trained;
    const char *dataset, *column;
    double scale;
    int64_t base;
    struct row row[MAX_ROWS];
    int rows;
    bool within, more; // within: some problem has several settings
};

static int by_accuracy(const void *a, const void *b) {
    const struct row *p = a, *q = b;
    if (p->accuracy.mean < q->accuracy.mean || p->accuracy.mean > q->accuracy.mean)
        return p->accuracy.mean > q->accuracy.mean ? -1 : 1;
    return p->setting < q->setting ? -1 : p->setting > q->setting;
}

static void add_row(struct table *t, int64_t setting, bool untrained) {
    struct hn_mean m = hn_trained_at(t->trained, setting, t->column, untrained ? 0 : HN_LAST_STEP);
    if (isnan(m.mean))
        return;
    if (t->rows < MAX_ROWS)
        t->row[t->rows++] = (struct row){setting, untrained, m};
    else
        t->more = true;
}

// Before training only the task and its options count.
static bool untrained_is_new(const struct table *t, int64_t setting) {
    const struct hn_overview *all = &t->trained->overview;
    for (int i = 0; i < t->rows; i++)
        if (t->row[i].untrained &&
            hn_rows_agree(&all->results->runs, all->first[t->row[i].setting], all->first[setting],
                          HN_COLUMNS("task", "task_params")))
            return false;
    return true;
}

// The settings of a data set; the first decides what is measured.
static void collect(const struct hn_page *page, struct table *t, int64_t first) {
    t->dataset = hn_trained_text(t->trained, first, "dataset");
    t->column = hn_trained_column(t->trained, first);
    t->scale = hn_trained_scale(t->column);
    t->base = first;
    for (int64_t k = first; k < t->trained->settings; k++) {
        if (t->trained->base[k] < 0 ||
            strcmp(hn_trained_text(t->trained, k, "dataset"), t->dataset) != 0)
            continue;
        t->within |= t->trained->base[k] != k;
        if (!hn_overview_is_named(&t->trained->overview, k, page->settings))
            continue;
        if (untrained_is_new(t, k))
            add_row(t, k, true);
        add_row(t, k, false);
    }
    qsort(t->row, (size_t)t->rows, sizeof t->row[0], by_accuracy);
}

static int line_of(const struct table *t, const struct row *row) {
    return row->untrained
               ? 0
               : hn_line_of_sampler(&t->trained->overview.results->runs,
                                    hn_trained_text(t->trained, row->setting, "sampler"));
}

static void name_rows(struct hn_page *page, struct hn_panel *panel, const struct table *t) {
    for (int i = 0; i < t->rows; i++)
        hn_axis_tic(page, &panel->y, i,
                    hn_trained_name(t->trained, t->row[i].setting, t->row[i].untrained).text);
}

// Seeds are small dots below their mean, equal ones below each other.
static void draw_accuracies(struct hn_page *page, const struct table *t) {
    struct hn_panel *panel = hn_page_panel(page, hn_dataset_title(t->dataset).text,
                                           hn_training_axis(t->column, NULL).text, "");
    panel->rows = true;
    panel->x.largest = t->scale > 1 ? 100 : 0;
    name_rows(page, panel, t);
    for (int i = 0; i < t->rows; i++) {
        const struct row *row = &t->row[i];
        const double *value;
        int line = line_of(t, row);
        struct hn_series *seeds = hn_panel_series_of(page, panel, HN_LOOK_DOTS, line);
        struct hn_series *mean = hn_panel_series_of(page, panel, HN_LOOK_MARKS, line);
        int64_t n = hn_trained_values(t->trained, row->setting, t->column,
                                      row->untrained ? 0 : HN_LAST_STEP, &value);
        for (int64_t k = 0; k < n; k++) {
            int before = 0; // equal ones
            for (int64_t j = 0; j < k; j++)
                before += !(value[j] < value[k] || value[j] > value[k]);
            hn_series_add(seeds, t->scale * value[k], i + 0.27 + before * 0.4 / (double)n);
        }
        hn_series_add_row(mean, t->scale * row->accuracy.mean, i, t->scale * row->accuracy.half);
    }
}

// Within a problem where there are several settings of one, else across them.
static int64_t base_of(const struct table *t, int64_t setting) {
    return t->within ? t->trained->base[setting] : t->base;
}

static struct hn_phrase difference_title(const struct table *t) {
    const struct hn_phrase name = t->within ? hn_trained_label(t->trained, t->base)
                                            : hn_trained_name(t->trained, t->base, false);
    struct hn_phrase title;
    bool one = true;
    for (int i = 0; i < t->rows && t->within; i++)
        one &= strcmp(name.text,
                      hn_trained_label(t->trained, base_of(t, t->row[i].setting)).text) == 0;
    hn_put_text(title.text, sizeof title.text, "minus %s%s",
                one ? name.text : "the first of its kind", t->scale > 1 ? " (points)" : "");
    return title;
}

// False if there are none: a place without a panel.
static bool draw_differences(struct hn_page *page, const struct table *t) {
    bool any = false;
    struct hn_panel *panel = hn_page_panel(page, "", difference_title(t).text, "");
    panel->rows = true;
    name_rows(page, panel, t);
    struct hn_series *zero = hn_panel_series(page, panel, "", HN_LOOK_THIN, 0);
    hn_series_add(zero, 0, -0.6);
    hn_series_add(zero, 0, t->rows - 0.4);
    for (int i = 0; i < t->rows; i++) {
        int64_t k = t->row[i].setting, base = base_of(t, k);
        if (t->row[i].untrained || k == base)
            continue;
        struct hn_series *s =
            hn_panel_series_of(page, panel, HN_LOOK_MARKS, line_of(t, &t->row[i]));
        struct hn_mean d = hn_trained_difference(t->trained, k, base, t->column);
        hn_series_add_row(s, t->scale * d.mean, i, t->scale * d.half);
        any |= !isnan(d.mean);
    }
    panel->blank = !any;
    panel->n_series = any ? panel->n_series : 0;
    return any;
}

static bool is_first(const struct hn_trained *t, int64_t k) {
    for (int64_t j = 0; j < k; j++)
        if (t->base[j] >= 0 &&
            strcmp(hn_trained_text(t, j, "dataset"), hn_trained_text(t, k, "dataset")) == 0)
            return false;
    return t->base[k] >= 0;
}

// True if there are differences.
static bool draw_table(struct hn_page *page, const struct hn_trained *trained, int64_t first) {
    struct table t = {.trained = trained};
    collect(page, &t, first);
    if (t.rows == 0)
        return false;
    draw_accuracies(page, &t);
    if (t.more)
        hn_page_note(page, "Only the first %d rows are drawn.", MAX_ROWS);
    return draw_differences(page, &t);
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    struct hn_trained t;
    if (hn_trained_open(page->ctx, r, &t))
        return page->ctx->code;
    bool differences = false;
    for (int64_t k = 0; k < t.settings; k++)
        if (is_first(&t, k))
            differences |= draw_table(page, &t, k);
    for (int p = 0; p < page->panels; p++) // where no panel keeps the column
        page->panel[p].blank &= differences;
    page->columns = differences ? 2 : 1;
    page->share_y = true;
    hn_page_named(page, &t);
    return hn_page_finish(page, "no training has an accuracy");
}

static const char *const columns[] = {"run", "step", "loss", "learning_rate", "cost_t", NULL};

const struct hn_figure hn_accuracy = {
    .id = "accuracy",
    .title = "accuracies of what was trained, and of the untrained encoder",
    .caption = "Last evaluation, best first: the mean over seeds (small dots), and the difference "
               "paired by seed. A setting not above the untrained encoder gained nothing from "
               "training.",
    .source = "none",
    .table = "training",
    .columns = columns,
    .page = draw};

// Accuracies over training, of all settings.
static const struct hn_training_curves steps = {
    .min = 1,
    .min_steps = 3,
    .untrained = true,
    .nothing = "trainings were evaluated before and after alone"};

const struct hn_figure hn_accuracy_steps = {
    .id = "accuracy-steps",
    .title = "accuracy over training",
    .caption = "Mean over seeds of the accuracy of evaluation-mode embeddings. The horizontal line "
               "is the untrained encoder.",
    .source = "none",
    .table = "training",
    .columns = columns,
    .training = &steps};
