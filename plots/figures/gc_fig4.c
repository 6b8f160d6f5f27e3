// SPDX-License-Identifier: GPL-3.0-or-later
// GC figure 4: training losses against many random assignments; 20 deviations are its yardstick.
#include "core/text.h"
#include "plots/page/curves.h"

#include <math.h>
#include <string.h>

enum { YARDSTICK = 20 };

// Random assignments, whose study may have been run with several options.
struct random {
    const struct hn_groups *g;
    const struct hn_table *t;
    struct hn_study_settings studies;
    struct hn_phrase *options; // [studies.settings] "count=100", "" where there is one
    const char *shown;         // of these: what a panel shows
};

// The row of random assignments that belongs to a setting at a position; -1 if none.
static int64_t find_row(const struct random *r, struct hn_where where) {
    const struct hn_groups *g = r->g;
    double batch_size = (double)g->setting[where.setting].batch_size;
    for (int64_t row = 0; row < r->t->rows; row++)
        if (strcmp(hn_table_text(r->t, row, "dataset"), g->dataset[where.dataset]) == 0 &&
            strcmp(r->options[r->studies.of[row]].text, r->shown) == 0 &&
            fabs(hn_table_real(r->t, row, "step") - (double)g->step[where.step]) < 0.5 &&
            !(fabs(hn_table_real(r->t, row, "batch_size") - batch_size) > 0.5) &&
            fabs(hn_table_real(r->t, row, "temperature") - g->temperature[where.temperature]) <
                1e-9)
            return row;
    return -1;
}

static bool has_rows(const struct random *r, struct hn_where where) {
    bool any = false;
    for (where.setting = 0; where.setting < r->g->settings && !any; where.setting++)
        for (where.step = 0; where.step < r->g->steps && !any; where.step++)
            any = find_row(r, where) >= 0;
    return any;
}

// Draws one for each batch size where these are curves, one for all where they are rows.
static void draw_random(struct hn_page *page, struct hn_panel *panel, const struct random *r,
                        struct hn_where where) {
    const struct hn_groups *g = r->g;
    struct hn_series *s = hn_reference_curve(page, panel, "random, 20 deviations");
    for (where.setting = 0; where.setting < g->settings; where.setting++) {
        int first = 0;
        while (g->setting[first].batch_size != g->setting[where.setting].batch_size)
            first++;
        if (!panel->rows && first < where.setting)
            continue;
        if (!panel->rows && where.setting > 0)
            s = hn_reference_curve(page, panel, "");
        for (where.step = 0; where.step < g->steps; where.step++) {
            int64_t row = find_row(r, where);
            if (row >= 0)
                hn_curve_add(s, panel, where, hn_table_real(r->t, row, "loss_mean"),
                             YARDSTICK * hn_table_real(r->t, row, "loss_sd"));
        }
    }
}

static void draw_settings(struct hn_page *page, struct hn_panel *loss, struct hn_panel *away,
                          const struct random *r, struct hn_where where) {
    const struct hn_groups *g = r->g;
    for (where.setting = 0; where.setting < g->settings; where.setting++) {
        struct hn_series *own = hn_setting_curve(page, loss, g, where.setting);
        struct hn_series *deviations = hn_setting_curve(page, away, g, where.setting);
        for (where.step = 0; where.step < g->steps; where.step++) {
            int64_t row = find_row(r, where);
            double mean = hn_groups_mean(g, where, "loss_train").mean;
            if (row < 0)
                continue;
            hn_curve_add(own, loss, where, mean, NAN);
            hn_curve_add(deviations, away, where,
                         (mean - hn_table_real(r->t, row, "loss_mean")) /
                             hn_table_real(r->t, row, "loss_sd"),
                         NAN);
        }
    }
}

static void draw_panels(struct hn_page *page, const struct random *r, struct hn_where where) {
    struct hn_phrase title = hn_groups_title(r->g, where.dataset, where.temperature);
    hn_append(title.text, sizeof title.text, "%s%s", *title.text && *r->shown ? ", " : "",
              r->shown);
    struct hn_panel *loss =
        hn_panel_of_settings(page, r->g, where.dataset, title.text, "training loss (nats)");
    struct hn_panel *away =
        hn_panel_of_settings(page, r->g, where.dataset, title.text, "deviations above random");
    draw_random(page, loss, r, where);
    draw_settings(page, loss, away, r, where);
    struct hn_series *rule = hn_panel_series(page, away, "paper: at least 20",
                                             away->rows ? HN_LOOK_UPRIGHT : HN_LOOK_RULE, 0);
    if (away->rows)
        hn_series_add(rule, YARDSTICK, 0);
    else
        hn_series_add(rule, 0, YARDSTICK);
}

// Panels by data set, temperature and the options of the study.
static void draw_all(struct hn_page *page, struct random *r) {
    for (int d = 0; d < r->g->datasets; d++)
        for (int t = 0; t < r->g->temperatures; t++)
            for (int64_t k = 0; k < r->studies.settings; k++) {
                const struct hn_where where = {d, t, 0, 0};
                bool again = false;
                for (int64_t i = 0; i < k && !again; i++)
                    again = strcmp(r->options[i].text, r->options[k].text) == 0;
                r->shown = r->options[k].text;
                if (!again && has_rows(r, where))
                    draw_panels(page, r, where);
            }
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    struct hn_groups g;
    struct random random = {.g = &g, .t = hn_results_table(r, "random_assignments")};
    const struct hn_choice choice = {.wanted = "loss_train",
                                     .by_temperature = true,
                                     .most_rows = page->most_rows,
                                     .sampler = "gcbs"};
    if (hn_page_groups(page, r, choice, &g) ||
        hn_study_settings_make(page->ctx, r, random.t, &random.studies) ||
        !HN_ALLOC(page->ctx, random.options, random.studies.settings))
        return page->ctx->code;
    for (int64_t k = 0; k < random.studies.settings; k++)
        random.options[k] =
            hn_study_label(&random.studies, k, HN_COLUMNS("dataset", "batch_size", "temperature"));
    draw_all(page, &random);
    page->columns = 2;
    page->share_y = g.steps == 1;
    page->own_intervals = true;
    hn_page_left_out(page, &g);
    return hn_page_finish(page, "no run has random assignments beside it");
}

const struct hn_figure hn_gc_fig4 = {
    .id = "gc-fig4",
    .title = "training losses against those of many random assignments",
    .caption =
        "Left: training loss; the unmarked line is the mean over random assignments of items "
        "to batches, its band 20 standard deviations. Right: standard deviations by which a "
        "sampler's loss exceeds that mean; the paper finds more than 20 for GCBS.",
    .source = "Global Selection of Contrastive Batches (ICML 2023), figure 4",
    .table = "random_assignments",
    .columns = HN_COLUMNS("dataset", "step", "temperature", "loss_mean", "loss_sd"),
    .page = draw};
