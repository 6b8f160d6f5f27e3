// GC figure 1: the similarity matrix as given, in random order and in GCBS's order. Our deviation:
// a cell is the share of the largest entries among the pairs of two stretches of the order, so that
// any number of items can be shown.
#include "plots/page/curves.h"

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

// The map of one study cell: those of other seeds are other orders, which cannot be laid over it.
// Axes count items, or cells in results that do not say how many there are.
static void draw_order(struct hn_page *page, const struct hn_results *r, int which, double study) {
    const struct hn_table *t = hn_results_table(r, "heatmap");
    char title[HN_TITLE_SIZE];
    double size = 0, blocks = NAN, items = hn_table_real(t, 0, "items");
    for (int64_t row = 0; row < t->rows; row++)
        size = fmax(size, hn_table_real(t, row, "cell_col") + 1);
    bool counted = items >= size;
    double cell = counted ? items / size : 1;
    const char *what = counted ? "item, in order" : "item, in order (cell)";
    struct hn_panel *panel = hn_page_panel(page, "", what, what);
    struct hn_series *s =
        hn_panel_series(page, panel, "pairs that are large (%)", HN_LOOK_HEAT, hn_line_number(0));
    for (int64_t row = 0; row < t->rows; row++) {
        if (strcmp(hn_table_text(t, row, "order"), orders[which].order) != 0 ||
            hn_table_real(t, row, "study_row") != study)
            continue;
        hn_series_add_sized(s, cell * (hn_table_real(t, row, "cell_col") + 0.5),
                            cell * (hn_table_real(t, row, "cell_row") + 0.5),
                            100 * hn_table_real(t, row, "top_share"));
        blocks = hn_table_real(t, row, "blocks_share");
    }
    panel->x.lo = 0, panel->x.hi = cell * size;
    panel->y.lo = cell * size, panel->y.hi = 0; // the first row above
    if (counted)
        draw_blocks(panel, hn_table_real(t, 0, "batch_size"), items);
    snprintf(title, sizeof title, "%s, %.1f %% in blocks", orders[which].title, 100 * blocks);
    snprintf(panel->title, sizeof panel->title, "%s", title);
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
    for (int i = 0; i < 3; i++)
        draw_order(page, r, i, study);
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
