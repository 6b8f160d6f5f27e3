// SPDX-License-Identifier: GPL-3.0-or-later
// GC figure 1: the similarity matrix as given, in random order and in GCBS's order. Our deviation:
// a cell is the share of the largest entries among the pairs of two stretches of the order, so that
// any number of items can be shown.
#include "core/text.h"
#include "plots/page/curves.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const struct {
    const char *order, *title;
} orders[] = {{"file", "as given"}, {"random", "random order"}, {"gcbs", "GCBS order"}};

// The blocks that are batches.
static void draw_blocks(struct hn_panel *panel, double batch, double items) {
    if (!(batch > 0) || !(items / batch <= HN_PANEL_MARKS))
        return;
    for (int i = 0; i * batch < items; i++) {
        double from = i * batch, to = fmin((i + 1) * batch, items);
        hn_panel_frame(panel, from, from, to, to);
    }
}

enum { SIDE_MAX = 400, MAX_SETTINGS = 4 }; // squares of a side of the map; maps

// The map of one study cell: those of other seeds are other orders, which cannot be laid over it.
struct map {
    const struct hn_table *t;
    char label[HN_LABEL_SIZE];         // of its setting; "" = there is one
    double study, cells, items, batch; // cells: of a side
    int64_t across, side; // a square is so many cells across, and the map so many squares
};

static bool is_of(const struct map *m, int64_t row, int which) {
    return strcmp(hn_table_text(m->t, row, "order"), orders[which].order) == 0 &&
           hn_table_real(m->t, row, "study_row") == m->study &&
           hn_table_real(m->t, row, "cell_row") >= 0 && hn_table_real(m->t, row, "cell_col") >= 0;
}

// The squares at the means of their cells. Returns the share of large pairs in the blocks.
static double add_squares(struct hn_page *page, struct hn_series *s, const struct map *m, int which,
                          double width) {
    double *sum = hn_zalloc(page->ctx, m->side * m->side, sizeof *sum), blocks = NAN;
    double *count = hn_zalloc(page->ctx, m->side * m->side, sizeof *count);
    if (!sum || !count) {
        page->code = page->ctx->code;
        return NAN;
    }
    for (int64_t row = 0; row < m->t->rows; row++) {
        if (!is_of(m, row, which))
            continue;
        int64_t at = (int64_t)hn_table_real(m->t, row, "cell_row") / m->across * m->side +
                     (int64_t)hn_table_real(m->t, row, "cell_col") / m->across;
        sum[at] += 100 * hn_table_real(m->t, row, "top_share");
        count[at]++;
        blocks = hn_table_real(m->t, row, "blocks_share");
    }
    for (int64_t at = 0; at < m->side * m->side; at++) {
        int64_t x = at % m->side, y = at / m->side;
        if (count[at] > 0)
            hn_series_add_sized(s, width * ((double)x + 0.5), width * ((double)y + 0.5),
                                sum[at] / count[at]);
    }
    return blocks;
}

// Axes count items, or cells in results that do not say how many items there are.
static void draw_order(struct hn_page *page, const struct map *m, int which) {
    bool counted = m->items >= m->cells;
    double width = (counted ? m->items / m->cells : 1) * (double)m->across;
    const char *what = counted ? "item, in order" : "item, in order (cell)";
    struct hn_panel *panel = hn_page_panel(page, "", what, what);
    struct hn_series *s =
        hn_panel_series(page, panel, "pairs that are large (%)", HN_LOOK_HEAT, hn_line_number(0));
    double blocks = add_squares(page, s, m, which, width);
    panel->x.lo = 0, panel->x.hi = width * (double)m->side;
    panel->y.lo = panel->x.hi, panel->y.hi = 0; // the first row above
    if (counted)
        draw_blocks(panel, m->batch, m->items);
    hn_put_text(panel->title, sizeof panel->title, "%s%s%s, %.1f %% in blocks", m->label,
                *m->label ? ": " : "", orders[which].title, 100 * blocks);
}

// The map of the last step of a setting, and the first seed.
static struct map map_of(const struct hn_study_settings *s, int64_t setting) {
    struct map m = {.t = s->table, .study = NAN};
    double last = -INFINITY;
    hn_put_text(m.label, sizeof m.label, "%s",
                hn_study_label(s, setting, HN_COLUMNS("dataset")).text);
    for (int64_t row = 0; row < m.t->rows; row++)
        if (s->of[row] == setting && hn_table_real(m.t, row, "step") > last) {
            last = hn_table_real(m.t, row, "step");
            m.study = hn_table_real(m.t, row, "study_row");
            m.items = hn_table_real(m.t, row, "items");
            m.batch = hn_table_real(m.t, row, "batch_size");
        }
    for (int64_t row = 0; row < m.t->rows; row++)
        if (hn_table_real(m.t, row, "study_row") == m.study)
            m.cells = fmax(m.cells, 1 + fmax(hn_table_real(m.t, row, "cell_row"),
                                             hn_table_real(m.t, row, "cell_col")));
    m.across = (int64_t)ceil(fmax(1, m.cells / SIDE_MAX));
    m.side = (int64_t)ceil(m.cells / (double)m.across);
    return m;
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    const struct hn_table *t = hn_results_table(r, "heatmap");
    struct hn_study_settings s;
    int64_t setting[MAX_SETTINGS], across = 1;
    if (hn_study_settings_make(page->ctx, r, t, &s))
        return page->ctx->code;
    int shown = hn_page_studied(page, &s, MAX_SETTINGS, true, setting);
    for (int k = 0; k < shown; k++) {
        const struct map m = map_of(&s, setting[k]);
        for (int i = 0; i < 3; i++)
            draw_order(page, &m, i);
        across = m.across > across ? m.across : across;
    }
    if (across > 1)
        hn_page_say(page, "A square is the mean of %" PRId64 " x %" PRId64 " cells%s.", across,
                    across, shown > 1 ? " at most" : "");
    page->columns = shown > 1 ? 3 : 0;
    page->equal = true;
    return hn_page_finish(page, "the table of the heat map is empty");
}

const struct hn_figure hn_gc_fig1 = {
    .id = "gc-fig1",
    .title = "where the large similarities lie: as given, in random and in GCBS order",
    .caption =
        "The similarity matrix in cells, for one seed; bright cells hold many of the largest "
        "similarities (logarithmic scale). Outlines are batches in the given order; titles "
        "give the share of the largest similarities inside them, which GCBS is meant to "
        "raise. Dark: none of the largest similarities.",
    .source = "Global Selection of Contrastive Batches (ICML 2023), figure 1",
    .table = "heatmap",
    .columns = HN_COLUMNS("study_row", "dataset", "step", "order", "cell_row", "cell_col",
                          "top_share", "blocks_share"),
    .page = draw};
