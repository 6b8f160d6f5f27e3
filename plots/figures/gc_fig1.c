// GC figure 1: the similarity matrix as given, in random order and in GCBS's order. Our deviation:
// a cell is the share of the largest entries among the pairs of two stretches of the order, so that
// any number of items can be shown.
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

enum { SIDE_MAX = 400 }; // squares of a side of the map

// The map of one study cell: those of other seeds are other orders, which cannot be laid over it.
struct map {
    const struct hn_table *t;
    double study, cells, items; // cells: of a side
    int64_t across, side;       // a square is so many cells across, and the map so many squares
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
        draw_blocks(panel, hn_table_real(m->t, 0, "batch_size"), m->items);
    snprintf(panel->title, sizeof panel->title, "%s, %.1f %% in blocks", orders[which].title,
             100 * blocks);
}

static struct map map_of(const struct hn_table *t, double study) {
    struct map m = {.t = t, .study = study, .items = hn_table_real(t, 0, "items")};
    for (int64_t row = 0; row < t->rows; row++)
        m.cells = fmax(m.cells, 1 + fmax(hn_table_real(t, row, "cell_row"),
                                         hn_table_real(t, row, "cell_col")));
    m.across = (int64_t)ceil(fmax(1, m.cells / SIDE_MAX));
    m.side = (int64_t)ceil(m.cells / (double)m.across);
    return m;
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    const struct hn_table *t = hn_results_table(r, "heatmap");
    double last = -INFINITY, study = NAN; // of the first data set and its last step, the first seed
    for (int64_t row = 0; row < t->rows; row++)
        if (strcmp(hn_table_text(t, row, "dataset"), hn_table_text(t, 0, "dataset")) == 0 &&
            hn_table_real(t, row, "step") > last) {
            last = hn_table_real(t, row, "step");
            study = hn_table_real(t, row, "study_row");
        }
    const struct map m = map_of(t, study);
    for (int i = 0; i < 3; i++)
        draw_order(page, &m, i);
    if (m.across > 1)
        hn_page_say(page, "A square is the mean of %" PRId64 " x %" PRId64 " cells.", m.across,
                    m.across);
    hn_page_first_dataset(page, t);
    page->equal = true;
    return hn_page_finish(page, "the table of the heat map is empty");
}

const struct hn_figure hn_gc_fig1 = {
    .id = "gc-fig1",
    .title = "where the large similarities stand: as given, in random and in GCBS order",
    .caption =
        "The similarity matrix in cells, for one seed; bright cells hold many of the largest "
        "similarities (logarithmic scale). Outlines are batches in the given order; titles "
        "give the share of the largest similarities inside them, which GCBS is meant to "
        "raise.",
    .source = "Global Selection of Contrastive Batches (ICML 2023), figure 1",
    .table = "heatmap",
    .columns = HN_COLUMNS("study_row", "dataset", "step", "order", "cell_row", "cell_col",
                          "top_share", "blocks_share"),
    .page = draw};
