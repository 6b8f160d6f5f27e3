// SPDX-License-Identifier: GPL-3.0-or-later
// All samplers and settings: hardness against false negatives, cost as size of a mark. Of no paper.
#include "core/text.h"
#include "plots/page/curves.h"
#include "results/analysis/overview.h"
#include "results/analysis/params.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Beyond them words cover what they name: in the panel, and in its inset.
enum { MAX_NAMED = 24, MAX_ENLARGED = 8, MAX_SERIES = HN_PANEL_SERIES / 2 };

// A setting at the last step.
struct point {
    struct hn_mean false_negatives, hardness;
    double cost;
    int setting;
    enum hn_standing standing;
    bool line; // on the front, and first of those with its values
    bool away; // outside of the crowded corner
    bool twin; // has the values of one before it
};

struct seen {    // in all panels
    int points;  // in the fullest
    int without; // settings that have false negatives at the last step, and no hardness
    bool twins, undecided;
};

static int by_position(const void *a, const void *b) {
    const struct point *p = a, *q = b;
    double x = p->false_negatives.mean - q->false_negatives.mean,
           y = q->hardness.mean - p->hardness.mean;
    return x < 0 || x > 0 ? (x < 0 ? -1 : 1) : (y > 0) - (y < 0);
}

// The largest cost of all panels, so that sizes mean the same in each.
static double dearest_of(const struct hn_groups *g, const char *hardness) {
    double dearest = 0;
    for (int d = 0; d < g->datasets; d++)
        for (int s = 0; s < g->settings; s++) {
            struct hn_where where = hn_last_position(g, d, s, hardness);
            if (where.step >= 0)
                dearest = fmax(dearest, hn_groups_cost(g, where));
        }
    return dearest;
}

// Points by increasing false negatives; returns their number. The standing of each is that of the
// table of settings.
static int collect(const struct hn_groups *g, int dataset, int league, const char *hardness,
                   const enum hn_standing *standing, struct point *point) {
    const struct hn_overview *o = &g->overview;
    int n = 0;
    for (int s = 0; s < g->settings; s++) {
        struct hn_where where = hn_last_position(g, dataset, s, hardness);
        if (where.step < 0 || g->setting[s].league != league)
            continue;
        int64_t of = hn_groups_at(g, where, hardness);
        struct point p = {.false_negatives = hn_overview_mean(o, of, "fn_ratio"),
                          .hardness = hn_overview_mean(o, of, hardness),
                          .cost = hn_groups_cost(g, where),
                          .standing = standing[of],
                          .setting = s};
        p.false_negatives.mean *= 100;
        p.false_negatives.half *= 100;
        if (!isnan(p.false_negatives.mean) && !isnan(p.hardness.mean))
            point[n++] = p;
    }
    qsort(point, (size_t)n, sizeof *point, by_position);
    for (int i = 0; i < n; i++) {
        point[i].twin = i > 0 && by_position(&point[i - 1], &point[i]) == 0;
        point[i].line = point[i].standing == HN_ON_FRONT && !point[i].twin;
    }
    return n;
}

// Cost as a share of the maximum, by its logarithm over six decades.
static double size_of(double cost, double dearest) {
    return cost > 0 ? fmax(0, 1 + log10(cost / dearest) / 6) : 0;
}

// Points of one panel: all, or those of the crowded corner.
struct view {
    struct hn_page *page;
    const struct hn_groups *g;
    char size[HN_LABEL_SIZE]; // "B=64": the panel's batch size, as it ends labels; "" = none
    const struct point *point;
    int n;
    double dearest;
    bool corner;
};

static bool is_seen(const struct view *v, int i) { return !v->corner || !v->point[i].away; }

static const struct hn_hardness *measure_of(const struct hn_page *page,
                                            const struct hn_results *r) {
    return hn_hardness_measure(r, page->measure > 0 ? page->measure - 1 : 0);
}

static void draw_intervals(const struct view *v, struct hn_panel *panel) {
    struct hn_series *stems = hn_panel_series(v->page, panel, "", HN_LOOK_STEMS, 0),
                     *arms = hn_panel_series(v->page, panel, "", HN_LOOK_ARMS, 0);
    panel->x.largest = 100;
    panel->y.min = -1, panel->y.largest = 1;
    for (int i = 0; i < v->n; i++) {
        const struct hn_mean x = v->point[i].false_negatives, y = v->point[i].hardness;
        if (is_seen(v, i) && !isnan(y.half))
            hn_series_add_span(stems, x.mean, y.mean, y.mean - y.half, y.mean + y.half);
        if (is_seen(v, i) && !isnan(x.half))
            hn_series_add_span(arms, x.mean, y.mean, x.mean - x.half, x.mean + x.half);
    }
}

// A series for each mark, so that pointing at it shows its name; of very many one for each sampler.
static struct hn_series *series_of(const struct view *v, struct hn_panel *panel, int of,
                                   bool ring) {
    const struct hn_setting *setting = &v->g->setting[of];
    enum hn_look look = ring ? HN_LOOK_RINGS : HN_LOOK_DISCS;
    int line = hn_sampler_line(v->g, of);
    bool many = v->n > MAX_SERIES;
    for (int k = 0; many && k < panel->n_series; k++)
        if (panel->series[k]->look == look && panel->series[k]->line == line)
            return panel->series[k];
    struct hn_series *s =
        hn_panel_series(v->page, panel, v->n > MAX_NAMED ? setting->sampler : "", look, line);
    hn_put_text(s->end, sizeof s->end, "%s%s", many ? setting->sampler : setting->label,
                ring ? ", may be on the front" : "");
    return s;
}

// The key names samplers if the marks do not name all settings: filled marks, so these come first.
static void draw_discs(const struct view *v, struct hn_panel *panel) {
    for (int rings = 0; rings < 2; rings++)
        for (int i = 0; i < v->n; i++) {
            const struct point *p = &v->point[i];
            if ((p->standing == HN_BEATEN_BY_MEANS) != rings || !is_seen(v, i))
                continue;
            hn_series_add_sized(series_of(v, panel, p->setting, rings), p->false_negatives.mean,
                                p->hardness.mean, size_of(p->cost, v->dearest));
        }
}

static bool is_named(const struct view *v, int i, bool has_corner) {
    const struct point *p = &v->point[i];
    return is_seen(v, i) && !p->twin && (p->line || v->n <= MAX_NAMED) &&
           (v->corner || !has_corner || p->away);
}

// A label without the batch size, which is in the title; "" = it was all.
static void put_name(const struct view *v, const char *label, char name[HN_LABEL_SIZE]) {
    snprintf(name, HN_LABEL_SIZE, "%s", label);
    char *size = *v->size ? strstr(name, v->size) : NULL;
    if (size && strcmp(size, v->size) == 0)
        size[size > name ? -1 : 0] = '\0';
    size_t n = strlen(name);
    if (n > 0 && name[n - 1] == ',')
        name[n - 1] = '\0';
}

static void name_point(const struct view *v, struct hn_panel *panel, const struct point *p) {
    const struct hn_setting *setting = &v->g->setting[p->setting];
    char name[HN_LABEL_SIZE], brief[HN_LABEL_SIZE];
    put_name(v, setting->label, name);
    put_name(v, hn_setting_options(setting), brief);
    hn_panel_mark(panel, p->false_negatives.mean, p->hardness.mean, *name ? name : setting->sampler,
                  strcmp(brief, name) == 0 ? NULL : brief, setting->sampler,
                  hn_sampler_line(v->g, p->setting));
}

// The front's words first: others give way. In the corner all are named, beside it the rest.
static void draw_front(const struct view *v, struct hn_panel *panel, bool has_corner) {
    struct hn_series *front =
        hn_panel_series(v->page, panel, v->corner ? "" : "front", HN_LOOK_STAIRS, 0);
    for (int others = 0; others < 2; others++)
        for (int i = 0; i < v->n; i++) {
            const struct point *p = &v->point[i];
            if (p->line == (others == 1) || !is_seen(v, i))
                continue;
            if (p->line)
                hn_series_add(front, p->false_negatives.mean, p->hardness.mean);
            if (is_named(v, i, has_corner))
                name_point(v, panel, p);
        }
}

// Draws Uniform as a vertical line.
static void draw_uniform(const struct view *v, struct hn_panel *panel) {
    for (int i = 0; i < v->n; i++) {
        const struct hn_setting *setting = &v->g->setting[v->point[i].setting];
        if (!hn_is_uniform(setting->sampler, setting->params) || !is_seen(v, i))
            continue;
        struct hn_series *s = hn_panel_series(v->page, panel, "", HN_LOOK_UPRIGHT,
                                              hn_sampler_line(v->g, v->point[i].setting));
        snprintf(s->end, sizeof s->end, "uniform");
        hn_series_add(s, v->point[i].false_negatives.mean, v->point[i].hardness.mean);
        return;
    }
}

// Key of the discs' areas: costs of a step.
static void draw_key(struct hn_page *page, struct hn_panel *panel, double dearest) {
    for (int i = 4; i >= 0 && dearest > 0; i -= 2) {
        double cost = pow(10, floor(log10(dearest)) - i);
        char label[HN_LABEL_SIZE];
        snprintf(label, sizeof label, "%.3g ms a batch", 1e3 * cost);
        struct hn_series *s = hn_panel_series(page, panel, label, HN_LOOK_DISCS, 0);
        s->key_size = fmax(size_of(cost, dearest), 1e-3);
    }
}

static void explain_rings(struct hn_page *page) {
    struct hn_series *s =
        hn_panel_series(page, &page->panel[0], "may be on the front", HN_LOOK_RINGS, 0);
    s->key_size = 0.1;
    hn_page_say(page, "Open marks are off the line by means, but not significantly: they may be on "
                      "the front.");
}

struct box {
    double x0, y0, x1, y1;
};

static struct box box_of(const struct point *point, int n, int without) {
    struct box b = {INFINITY, INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < n; i++) {
        if (point[i].away || i == without)
            continue;
        b.x0 = fmin(b.x0, point[i].false_negatives.mean);
        b.x1 = fmax(b.x1, point[i].false_negatives.mean);
        b.y0 = fmin(b.y0, point[i].hardness.mean);
        b.y1 = fmax(b.y1, point[i].hardness.mean);
    }
    return b;
}

// Finds a corner: half of the points, if they lie in less than a fifth of the area. The farthest
// point is taken away until half are left.
static bool find_corner(struct point *point, int n, struct box *corner) {
    const struct box all = box_of(point, n, -1);
    double width = all.x1 - all.x0, height = all.y1 - all.y0;
    if ((n + 1) / 2 > MAX_ENLARGED)
        return false;
    for (int left = n; left > (n + 1) / 2; left--) {
        int best = 0;
        double min = INFINITY;
        for (int i = 0; i < n; i++) {
            const struct box b = box_of(point, n, i);
            double size = (b.x1 - b.x0) / width + (b.y1 - b.y0) / height;
            if (!point[i].away && size < min) {
                min = size;
                best = i;
            }
        }
        point[best].away = true;
    }
    *corner = box_of(point, n, -1);
    double w = 0.25 * (corner->x1 - corner->x0), h = 0.25 * (corner->y1 - corner->y0);
    *corner = (struct box){corner->x0 - w, corner->y0 - h, corner->x1 + w, corner->y1 + h};
    bool crowded = n >= 6 && w > 0 && h > 0 && 36 * w * h < 0.2 * width * height;
    int inside = 0;
    for (int i = 0; i < n; i++) { // what else lies in it is in it
        double x = point[i].false_negatives.mean, y = point[i].hardness.mean;
        point[i].away = !(x >= corner->x0 && x <= corner->x1 && y >= corner->y0 && y <= corner->y1);
        inside += !point[i].away;
    }
    return crowded && inside <= MAX_ENLARGED;
}

static void draw_corner(struct view *v, struct hn_panel *all, struct box b) {
    v->corner = true;
    hn_panel_frame(all, b.x0, b.y0, b.x1, b.y1);
    struct hn_panel *panel = hn_page_panel(v->page, "enlarged", "", "");
    panel->x.lo = b.x0, panel->x.hi = b.x1;
    panel->y.lo = b.y0, panel->y.hi = b.y1;
    draw_intervals(v, panel);
    draw_front(v, panel, true);
    draw_discs(v, panel);
    draw_uniform(v, panel);
}

static void draw_league(struct hn_page *page, const struct hn_groups *g, int dataset, int league,
                        const enum hn_standing *standing, bool only, struct seen *seen) {
    struct point *point = hn_alloc(page->ctx, g->settings, sizeof *point);
    struct box corner = {0};
    if (!point) {
        page->code = page->ctx->code;
        return;
    }
    const struct hn_hardness *hardness = measure_of(page, g->results);
    struct view v = {
        .page = page, .g = g, .point = point, .dearest = dearest_of(g, hardness->column)};
    for (int s = 0; s < g->settings; s++)
        seen->without += g->setting[s].league == league &&
                         hn_last_position(g, dataset, s, "fn_ratio").step >= 0 &&
                         hn_last_position(g, dataset, s, hardness->column).step < 0;
    v.n = collect(g, dataset, league, hardness->column, standing, point);
    if (v.n == 0)
        return;
    struct hn_phrase title = hn_groups_title(g, dataset, -1);
    const struct hn_phrase of_league = hn_league_title(g, league);
    if (strncmp(of_league.text, "B=", 2) == 0)
        snprintf(v.size, sizeof v.size, "%.*s", (int)strcspn(of_league.text, ","), of_league.text);
    if (*of_league.text)
        hn_append(title.text, sizeof title.text, "%s%s", *title.text ? ", " : "", of_league.text);
    struct hn_panel *panel =
        hn_page_panel(page, title.text, "false-negative ratio (%)", hardness->axis);
    bool crowded = only && find_corner(point, v.n, &corner);
    draw_intervals(&v, panel);
    draw_front(&v, panel, crowded);
    draw_discs(&v, panel);
    draw_uniform(&v, panel);
    if (page->panels == 1)
        draw_key(page, panel, v.dearest);
    if (crowded)
        draw_corner(&v, panel, corner);
    page->inset |= crowded;
    page->inset_says = crowded ? "the outlined corner, enlarged." : page->inset_says;
    seen->points = (int)fmax(seen->points, v.n);
    for (int i = 0; i < v.n; i++) {
        seen->twins |= point[i].twin;
        seen->undecided |= point[i].standing == HN_BEATEN_BY_MEANS;
    }
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    struct hn_groups g;
    struct hn_choice choice = {
        .wanted = "fn_ratio", .max_settings = HN_ALL_SETTINGS, .named = page->settings};
    if (hn_groups_make(page->ctx, r, choice, &g))
        return page->ctx->code;
    enum hn_standing *standing = hn_alloc(page->ctx, g.overview.settings, sizeof *standing);
    if (!standing ||
        hn_overview_front(page->ctx, &g.overview, measure_of(page, r)->column, standing))
        return page->ctx->code;
    struct seen seen = {.points = 0};
    bool losses = false; // that settings are told apart by
    int leagues = 0;
    for (int s = 0; s < g.settings; s++) {
        leagues += g.setting[s].league == s;
        losses |= *g.setting[s].others;
    }
    bool only = leagues * g.datasets == 1;
    for (int d = 0; d < g.datasets; d++)
        for (int s = 0; s < g.settings; s++)
            if (g.setting[s].league == s)
                draw_league(page, &g, d, s, standing, only, &seen);
    page->width = only ? 6.4 : 0;
    page->columns = only || (g.settings > MAX_NAMED && page->panels < 4) ? 1 : 2; // wide or high
    page->panel_height = 2.6;
    if (seen.points > MAX_NAMED)
        hn_page_say(page, "In panels of more than %d settings only those on the line are named.",
                    MAX_NAMED);
    if (seen.undecided)
        explain_rings(page);
    if (seen.twins)
        hn_page_say(page,
                    "Settings with the same values share a mark, with the name of the first.");
    if (seen.without > 0)
        hn_page_say(page, "Left out: %d without a true negative, and so without hardness.",
                    seen.without);
    if (hn_overview_varies(&g.overview, "temperature") && !losses)
        hn_page_say(page, "Temperatures do not change batches: each setting is drawn once.");
    if (leagues > 1)
        hn_page_say(page, "One front for each batch size and kind of negatives.");
    hn_page_left_out(page, &g);
    if (seen.points == 1)
        return hn_fail(page->ctx, HN_NOT_APPLICABLE, "one setting makes no front");
    bool labels = strcmp(hn_hardness_measure(r, 0)->column, "cos_mean") != 0;
    return hn_page_finish(page, seen.without > 0 && labels ? "no batch had a true negative"
                                                           : "no run has both hardness and labels");
}

const struct hn_figure hn_pareto = {
    .id = "pareto",
    .title = "hardness of true negatives against false negatives, every sampler and setting",
    .caption =
        "The last step: higher is harder, further left has fewer false negatives, and larger "
        "marks cost more a batch, build included (logarithmic). The line joins the settings that "
        "are "
        "Pareto-optimal by means; the vertical line is Uniform's false-negative ratio.",
    .source = "none",
    .columns = HN_COLUMNS("dataset", "step", "sampler", "params", "fn_ratio", "hard_true_mean",
                          "cost_s", "cost_g_over_t"),
    .page = draw};
