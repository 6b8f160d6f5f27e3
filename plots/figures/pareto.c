// All samplers and settings at once: hardness of true negatives against false negatives, cost as
// the size of a mark. Of no paper.
#include "plots/page/curves.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_NAMED = 24 }; // beyond them words cover what they name

// A setting at the last step.
struct point {
    double false_negatives, hardness, cost;
    int setting;
    bool front; // no other is harder with as few false negatives
};

static int by_place(const void *a, const void *b) {
    const struct point *p = a, *q = b;
    if (p->false_negatives < q->false_negatives || p->false_negatives > q->false_negatives)
        return p->false_negatives < q->false_negatives ? -1 : 1;
    return p->hardness > q->hardness ? -1 : p->hardness < q->hardness ? 1 : 0;
}

// Points by increasing false negatives; returns their number.
static int collect(const struct hn_groups *g, int dataset, struct point *point) {
    int n = 0;
    for (int s = 0; s < g->settings; s++) {
        int64_t step = hn_last_step(g, dataset, 0, s, "hard_true_mean");
        struct hn_where where = {dataset, 0, s, step};
        double build = hn_groups_mean(g, where, "cost_g_over_t").mean;
        double draw = hn_groups_mean(g, where, "cost_s").mean;
        struct point p = {100 * hn_groups_mean(g, where, "fn_ratio").mean,
                          hn_groups_mean(g, where, "hard_true_mean").mean,
                          (isnan(build) ? 0 : build) + (isnan(draw) ? 0 : draw), s, false};
        if (step >= 0 && !isnan(p.false_negatives) && !isnan(p.hardness))
            point[n++] = p;
    }
    qsort(point, (size_t)n, sizeof *point, by_place);
    double best = -INFINITY;
    for (int i = 0; i < n; i++) {
        point[i].front = point[i].hardness > best;
        best = fmax(best, point[i].hardness);
    }
    return n;
}

static const char *sampler_of(const void *groups, int64_t setting) {
    return ((const struct hn_groups *)groups)->setting[setting].sampler;
}

static int sampler_line(const struct hn_groups *g, int setting) {
    return hn_names_before(g, sampler_of, setting) % (2 * HN_THEME_LINES) + 1;
}

// Cost as a share of the dearest, by its logarithm over six decades.
static double size_of(double cost, double dearest) {
    return cost > 0 ? fmax(0, 1 + log10(cost / dearest) / 6) : 0;
}

static void draw_discs(struct hn_page *page, struct hn_panel *panel, const struct hn_groups *g,
                       const struct point *point, int n) {
    double dearest = 0;
    for (int i = 0; i < n; i++)
        dearest = fmax(dearest, point[i].cost);
    for (int s = 0; s < g->settings; s++) {
        struct hn_series *discs =
            hn_panel_series(page, panel, g->setting[s].sampler, HN_LOOK_DISCS, sampler_line(g, s));
        snprintf(discs->end, sizeof discs->end, "%s", g->setting[s].label);
        for (int i = 0; i < n; i++)
            if (point[i].setting == s)
                hn_series_add_sized(discs, point[i].false_negatives, point[i].hardness,
                                    size_of(point[i].cost, dearest));
    }
}

// The front's words first: those of the others give way.
static void draw_front(struct hn_page *page, struct hn_panel *panel, const struct hn_groups *g,
                       const struct point *point, int n) {
    struct hn_series *front = hn_panel_series(page, panel, "front", HN_LOOK_STAIRS, 8);
    for (int others = 0; others < 2; others++)
        for (int i = 0; i < n; i++) {
            const struct point *p = &point[i];
            if (p->front == (others == 1))
                continue;
            if (p->front)
                hn_series_add(front, p->false_negatives, p->hardness);
            if (p->front || n <= MOST_NAMED)
                hn_panel_mark(panel, p->false_negatives, p->hardness,
                              hn_setting_options(&g->setting[p->setting]),
                              sampler_line(g, p->setting));
        }
    if (n > MOST_NAMED)
        hn_page_note(page, "Of %d settings those on the front are named.", n);
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    struct point point[HN_MOST_SETTINGS];
    struct hn_groups g;
    char title[HN_TITLE_SIZE];
    struct hn_choice choice = {.wanted = "hard_true_mean", .most_settings = HN_MOST_SETTINGS - 2};
    if (hn_groups_make(page->ctx, r, choice, &g))
        return page->ctx->code;
    for (int d = 0; d < g.datasets; d++) {
        int n = collect(&g, d, point);
        hn_place_title(&g, d, -1, title, sizeof title);
        struct hn_panel *panel = hn_page_panel(page, title, "false-negative ratio (%)",
                                               "hardest true negative (mean cosine)");
        draw_front(page, panel, &g, point, n);
        draw_discs(page, panel, &g, point, n);
    }
    page->width = g.datasets == 1 ? 5.6 : 0;
    hn_page_left_out(page, &g);
    return hn_page_finish(page, "no run has labels");
}

const struct hn_figure hn_pareto = {
    .id = "pareto",
    .title = "hardness of true negatives against false negatives, every sampler and setting",
    .caption =
        "At the last step; up is harder, left has fewer false negatives, larger discs cost more "
        "per step (logarithmic). On the staircase are the settings that no other beats in "
        "both.",
    .source = "none",
    .columns = HN_COLUMNS("dataset", "step", "sampler", "params", "fn_ratio", "hard_true_mean",
                          "cost_s", "cost_g_over_t"),
    .page = draw};
