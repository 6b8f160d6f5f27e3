// NS 3.2: false negatives and similarity of the ring sampler against the ring's percentile.
#include "plots/page/curves.h"

#include <math.h>
#include <string.h>

static bool keep(const struct hn_table *runs, int64_t row) {
    return strcmp(hn_table_text(runs, row, "sampler"), "ring") == 0;
}

static void draw_measure(struct hn_page *page, const struct hn_groups *g,
                         const struct hn_curve_value *m) {
    static const char *const spaces[] = {"features", "embeddings"};
    struct hn_panel *panel =
        hn_page_panel(page, "", "ring: percentile of similarity to the anchor", m->title);
    hn_axis_of_measure(&panel->y, m);
    panel->x.lo = 0, panel->x.hi = 100;
    for (int i = 0; i < 2; i++) {
        struct hn_series *s =
            hn_panel_series(page, panel, spaces[i], HN_LOOK_LINE, hn_line_number(i));
        for (double last = -1;;) { // by the middle of the ring
            int next = -1;
            double middle = INFINITY;
            for (int k = 0; k < g->settings; k++) {
                const char *params = g->setting[k].params;
                double at = 0.5 * (hn_option_number(params, "lo") + hn_option_number(params, "hi"));
                if (strcmp(hn_option_value(params, "space").text, spaces[i]) == 0 && at > last &&
                    at < middle) {
                    next = k;
                    middle = at;
                }
            }
            if (next < 0)
                break;
            last = middle;
            const struct hn_where where = {0, 0, next, hn_last_step(g, 0, m->column)};
            struct hn_mean mean = hn_groups_mean(g, where, m->column);
            hn_series_add_interval(s, middle, m->scale * mean.mean, m->scale * mean.half);
        }
    }
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    const struct hn_curve_value measure[] = {
        hn_curve_fn, {"cos_mean", "mean cosine to the anchor", 1, false, -1, 1}};
    struct hn_groups g;
    struct hn_choice choice = {.wanted = "fn_ratio",
                               .keep = keep,
                               .one_panel = true,
                               .max_settings = HN_ALL_SETTINGS,
                               .nothing = "no finished run of ring"};
    if (hn_groups_make(page->ctx, r, choice, &g))
        return page->ctx->code;
    if (g.settings > 1)
        for (int i = 0; i < 2; i++)
            draw_measure(page, &g, &measure[i]);
    hn_page_left_out(page, &g);
    return hn_page_finish(page, "the runs have one ring alone");
}

const struct hn_figure hn_ns_ring = {
    .id = "ns-ring",
    .title = "false negatives and similarity by the ring that negatives come from",
    .caption = "Each mark is at the middle of its ring of percentiles; 100 is the item closest to "
               "the anchor. Rings are by the cosine of raw features or of embeddings.",
    .source = "Hafidi et al., negative sampling strategies, section 3.2",
    .columns = HN_COLUMNS("dataset", "step", "sampler", "params", "fn_ratio", "cos_mean"),
    .page = draw};
