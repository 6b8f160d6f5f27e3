// SPDX-License-Identifier: GPL-3.0-or-later
// NS 3.2: false negatives and similarity of the ring sampler against the ring's percentile.
#include "core/options/option_text.h"
#include "core/text.h"
#include "plots/page/curves.h"

#include <stdlib.h>
#include <string.h>

static bool keep(const struct hn_table *runs, int64_t row) {
    return strcmp(hn_table_text(runs, row, "sampler"), "ring") == 0;
}

static const char *const spaces[] = {"features", "embeddings"};

// A ring of percentiles; settings that differ in its ends alone are on one curve.
struct ring {
    int setting, space; // space: of `spaces`, 2 = another
    double middle;
    char rest[HN_LABEL_SIZE]; // what else it differs in from others: ", n=63, B=64"
};

struct rings {
    const struct hn_groups *g;
    struct ring *at; // [n] by curve, and by middle in it
    int n;
};

static void fill(const struct hn_groups *g, int setting, struct ring *ring) {
    const struct hn_setting *s = &g->setting[setting];
    const struct hn_phrase space = hn_option_value(s->params, "space");
    const char *rest = hn_setting_options(s);
    struct hn_option_part part;
    *ring = (struct ring){
        .setting = setting,
        .middle = 0.5 * (hn_option_number(s->params, "lo") + hn_option_number(s->params, "hi"))};
    while (ring->space < 2 && strcmp(space.text, spaces[ring->space]) != 0)
        ring->space++;
    while (hn_option_next(&rest, &part))
        if (!hn_is_among(hn_option_name(part).text, HN_COLUMNS("lo", "hi", "space", s->sampler)))
            hn_append(ring->rest, sizeof ring->rest, ", %.*s", (int)part.length, part.text);
}

static int by_curve(const void *a, const void *b) {
    const struct ring *p = a, *q = b;
    int rest = strcmp(p->rest, q->rest);
    return p->space != q->space ? p->space - q->space
           : rest               ? rest
                                : (p->middle > q->middle) - (p->middle < q->middle);
}

static bool same_curve(const struct ring *a, const struct ring *b) {
    return a->space == b->space && strcmp(a->rest, b->rest) == 0;
}

// "features", and what tells the curve from others of its space.
static void name_curve(const struct rings *r, int i, char label[HN_LABEL_SIZE]) {
    bool several = false;
    for (int k = 0; k < r->n; k++)
        several |= r->at[k].space == r->at[i].space && !same_curve(&r->at[k], &r->at[i]);
    hn_put_text(label, HN_LABEL_SIZE, "%s%s",
                hn_option_value(r->g->setting[r->at[i].setting].params, "space").text,
                several ? r->at[i].rest : "");
}

static void draw_measure(struct hn_page *page, const struct rings *r,
                         const struct hn_curve_value *m) {
    struct hn_panel *panel =
        hn_page_panel(page, "", "ring: percentile of similarity to the anchor", m->title);
    struct hn_series *s = NULL;
    int number = 0;
    hn_axis_of_measure(&panel->y, m);
    panel->x.lo = 0, panel->x.hi = 100;
    for (int i = 0; i < r->n; i++) {
        const struct ring *ring = &r->at[i];
        const struct hn_where where = {0, 0, ring->setting, hn_last_step(r->g, 0, m->column)};
        struct hn_mean mean = hn_groups_mean(r->g, where, m->column);
        if (i == 0 || !same_curve(ring, ring - 1)) {
            char label[HN_LABEL_SIZE];
            name_curve(r, i, label);
            number = i > 0 && ring->space == ring[-1].space ? number + 1 : 0;
            int line = hn_line_number(ring->space);
            s = hn_panel_series(page, panel, label, HN_LOOK_LINE,
                                number > 0 ? hn_line_of_setting(line, number) : line);
        }
        hn_series_add_interval(s, ring->middle, m->scale * mean.mean, m->scale * mean.half);
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
    if (hn_page_groups(page, r, choice, &g))
        return page->ctx->code;
    struct rings rings = {.g = &g, .at = hn_alloc(page->ctx, g.settings, sizeof *rings.at)};
    if (!rings.at)
        return page->ctx->code;
    for (int i = 0; i < g.settings; i++)
        fill(&g, i, &rings.at[rings.n++]);
    qsort(rings.at, (size_t)rings.n, sizeof *rings.at, by_curve);
    for (int i = 0; i < 2 && g.settings > 1; i++)
        draw_measure(page, &rings, &measure[i]);
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
