// A panel within another: in a corner of it where nothing is drawn; else it stands beside.
#include "plots/page/page_private.h"

#include <math.h>

// Inches; below the last two an inset does not fit.
static const double share = HN_INSET_SHARE, space_left = 0.5, space_above = 0.2, space_below = 0.42,
                    min_width = 3, min_height = 1.9;

// A corner for the inset, and the panel's axes.
struct corner {
    const struct hn_panel *panel;
    struct hn_range x, y;
    double left, bottom; // shares
};

static bool is_crossed(const struct corner *c, double x0, double y0, double x1, double y1) {
    for (int k = 0; k <= 8; k++) {
        double at = hn_axis_share(&c->panel->x, x0 + k / 8.0 * (x1 - x0), c->x) - c->left,
               up = hn_axis_share(&c->panel->y, y0 + k / 8.0 * (y1 - y0), c->y) - c->bottom;
        if (at > -0.04 && at < share + 0.04 && up > -0.06 && up < share + 0.06)
            return true;
    }
    return false;
}

// Points, the lines that join them, intervals.
static bool is_covered(const struct corner *c, const struct hn_series *s) {
    bool stairs = s->look == HN_LOOK_STAIRS, arms = s->look == HN_LOOK_ARMS;
    bool joined = stairs || (s->look != HN_LOOK_DISCS && s->look != HN_LOOK_STEMS && !arms);
    for (int64_t i = 0; i < s->n; i++) {
        const struct hn_datum *d = &s->datum[i], *last = joined && i > 0 ? d - 1 : d;
        double middle = arms ? d->x : d->y, y = stairs ? last->y : d->y;
        double lo = isnan(d->lo) ? middle : d->lo, hi = isnan(d->hi) ? middle : d->hi;
        if (is_crossed(c, last->x, last->y, d->x, y) || is_crossed(c, d->x, y, d->x, d->y) ||
            (arms ? is_crossed(c, lo, d->y, hi, d->y) : is_crossed(c, d->x, lo, d->x, hi)))
            return true;
    }
    return false;
}

void hn_inset_layout(struct hn_layout *g) {
    const struct hn_panel *panel = &g->page->panel[0];
    struct corner c = {.panel = panel,
                       .x = hn_page_range(g->page, panel, false),
                       .y = hn_page_range(g->page, panel, true)};
    if (g->panel_width < min_width || g->panel_height < min_height) {
        g->inset = false;
        return;
    }
    for (int corner = 0; corner < 4; corner++) { // right before left, below before above
        bool covered = false;
        c.left = g->inset_left = corner % 2 ? 0 : 1 - share;
        c.bottom = g->inset_bottom = corner / 2 ? 1 - share : 0;
        for (int s = 0; s < c.panel->n_series; s++)
            covered |= is_covered(&c, c.panel->series[s]);
        if (!covered)
            return;
    }
    g->inset = false;
}

struct hn_box hn_inset_box(const struct hn_layout *g, struct hn_box outer) {
    double width = share * outer.width, height = share * outer.height;
    double top = outer.top + (1 - g->inset_bottom) * outer.height - height;
    return (struct hn_box){outer.left + g->inset_left * outer.width + space_left, top + space_above,
                           width - space_left - 0.06, height - space_above - space_below};
}
