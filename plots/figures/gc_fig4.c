// GC figure 4: training losses against many random assignments; 20 deviations are its yardstick.
#include "plots/page/curves.h"

#include <math.h>
#include <string.h>

enum { YARDSTICK = 20 };

// The row of random assignments that belongs to a position; -1 if none.
static int64_t find_row(const struct hn_groups *g, const struct hn_table *t, int dataset,
                        int temperature, int64_t step) {
    for (int64_t row = 0; row < t->rows; row++)
        if (strcmp(hn_table_text(t, row, "dataset"), g->dataset[dataset]) == 0 &&
            fabs(hn_table_real(t, row, "step") - (double)g->step[step]) < 0.5 &&
            fabs(hn_table_real(t, row, "temperature") - g->temperature[temperature]) < 1e-9)
            return row;
    return -1;
}

static bool has_rows(const struct hn_groups *g, const struct hn_table *t, int d, int temperature) {
    for (int64_t step = 0; step < g->steps; step++)
        if (find_row(g, t, d, temperature, step) >= 0)
            return true;
    return false;
}

static void draw_random(struct hn_page *page, struct hn_panel *panel, const struct hn_groups *g,
                        const struct hn_table *t, int dataset, int temperature) {
    struct hn_series *s = hn_reference_curve(page, panel, "random, 20 deviations");
    struct hn_where where = {dataset, temperature, 0, 0};
    for (int i = 0; i < (panel->rows ? g->settings : 1); i++)
        for (where.setting = i, where.step = 0; where.step < g->steps; where.step++) {
            int64_t row = find_row(g, t, dataset, temperature, where.step);
            if (row >= 0)
                hn_curve_add(s, panel, where, hn_table_real(t, row, "loss_mean"),
                             YARDSTICK * hn_table_real(t, row, "loss_sd"));
        }
}

static void draw_settings(struct hn_page *page, struct hn_panel *loss, struct hn_panel *away,
                          const struct hn_groups *g, const struct hn_table *t, int d, int tau) {
    struct hn_where where = {d, tau, 0, 0};
    for (where.setting = 0; where.setting < g->settings; where.setting++) {
        struct hn_series *own = hn_setting_curve(page, loss, g, where.setting);
        struct hn_series *deviations = hn_setting_curve(page, away, g, where.setting);
        for (where.step = 0; where.step < g->steps; where.step++) {
            int64_t row = find_row(g, t, d, tau, where.step);
            double mean = hn_groups_mean(g, where, "loss_train").mean;
            if (row < 0)
                continue;
            hn_curve_add(own, loss, where, mean, NAN);
            hn_curve_add(deviations, away, where,
                         (mean - hn_table_real(t, row, "loss_mean")) /
                             hn_table_real(t, row, "loss_sd"),
                         NAN);
        }
    }
}

static void draw_panels(struct hn_page *page, const struct hn_groups *g, const struct hn_table *t,
                        int d, int temperature) {
    const struct hn_phrase title = hn_groups_title(g, d, temperature);
    struct hn_panel *loss = hn_panel_of_settings(page, g, title.text, "training loss (nats)");
    struct hn_panel *away = hn_panel_of_settings(page, g, title.text, "deviations above random");
    draw_random(page, loss, g, t, d, temperature);
    draw_settings(page, loss, away, g, t, d, temperature);
    struct hn_series *rule = hn_panel_series(page, away, "paper: at least 20",
                                             away->rows ? HN_LOOK_UPRIGHT : HN_LOOK_RULE, 0);
    if (away->rows)
        hn_series_add(rule, YARDSTICK, 0);
    else
        hn_series_add(rule, 0, YARDSTICK);
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    struct hn_groups g;
    const struct hn_table *t = hn_results_table(r, "random_assignments");
    if (hn_groups_make(page->ctx, r,
                       (struct hn_choice){
                           .wanted = "loss_train", .most_rows = page->most_rows, .sampler = "gcbs"},
                       &g))
        return page->ctx->code;
    for (int d = 0; d < g.datasets; d++)
        for (int temperature = 0; temperature < g.temperatures; temperature++)
            if (has_rows(&g, t, d, temperature))
                draw_panels(page, &g, t, d, temperature);
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
