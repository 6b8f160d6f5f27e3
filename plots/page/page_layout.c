// Places the panels of a page and its key.
#include "plots/page/page_private.h"

#include <math.h>
#include <string.h>

// Inches.
static const double key_row = 0.145, key_sample = 0.62, title_room = 0.22, tics_room = 0.22,
                    axis_room = 0.2, row_letter_height = 0.17, slant_room = 0.4;

enum { WIDEST = 3 };

static bool is_curve(enum hn_look look) {
    return look == HN_LOOK_LINE || look == HN_LOOK_PLAIN || look == HN_LOOK_THIN ||
           look == HN_LOOK_STAIRS || look == HN_LOOK_RULE;
}

// One panel whose labelled series are few curves needs no key.
static bool wants_end_labels(const struct hn_page *page) {
    const struct hn_panel *panel = &page->panel[0];
    int labelled = 0;
    if (page->panels != 1 || page->no_end_labels || panel->rows)
        return false;
    for (int s = 0; s < panel->n_series; s++) {
        const struct hn_series *series = panel->series[s];
        if (series->index < 0 || (!*series->label && !*series->end))
            continue;
        if (!is_curve(series->look))
            return false;
        labelled++;
    }
    return labelled > 0 && labelled <= HN_THEME_LINES + 2;
}

const char *hn_series_end(const struct hn_series *s) { return *s->end ? s->end : s->label; }

// Of several series with one label and line the one with marks stands in the key.
static bool in_key(struct hn_key *key, const struct hn_series *s) {
    for (int i = 0; i < key->entries; i++)
        if (strcmp(key->entry[i]->label, s->label) == 0 && key->entry[i]->line == s->line) {
            key->entry[i] = s->look == HN_LOOK_LINE ? s : key->entry[i];
            return true;
        }
    return false;
}

static void collect_key(struct hn_layout *g) {
    size_t longest = 1;
    struct hn_key *key = &g->key;
    for (int p = 0; p < g->page->panels && !g->end_labels; p++)
        for (int s = 0; s < g->page->panel[p].n_series; s++) {
            const struct hn_series *series = g->page->panel[p].series[s];
            if (series->index < 0 || !*series->label || series->look == HN_LOOK_HEAT ||
                key->entries == HN_KEY_MOST || in_key(key, series))
                continue;
            key->entry[key->entries++] = series;
            longest = hn_letters(series->label) > longest ? hn_letters(series->label) : longest;
        }
    if (key->entries == 0)
        return;
    double cell = key_sample + HN_LETTER * (double)longest;
    key->columns = (int)fmax(1, fmin(key->entries, (g->width - 0.1) / cell));
    key->rows = (key->entries + key->columns - 1) / key->columns;
    key->columns = (key->entries + key->rows - 1) / key->rows; // as even as can be
}

static double end_room(const struct hn_page *page) {
    size_t longest = 8;
    for (int s = 0; s < page->panel[0].n_series; s++) {
        size_t n = hn_letters(hn_series_end(page->panel[0].series[s]));
        longest = n > longest ? n : longest;
    }
    return 0.15 + HN_LETTER * (double)longest;
}

static bool has_heat(const struct hn_page *page) {
    for (int p = 0; p < page->panels; p++)
        for (int s = 0; s < page->panel[p].n_series; s++)
            if (page->panel[p].series[s]->look == HN_LOOK_HEAT)
                return true;
    return false;
}

static const double tall_width = 1.4; // of a tall panel, in those of the others

static bool is_tall(const struct hn_layout *g, int p) {
    return g->page->tall_last && p == g->page->panels - 1;
}

int hn_layout_column(const struct hn_layout *g, int p) {
    return is_tall(g, p) ? g->columns - 1 : p % g->across;
}

bool hn_layout_shows_y_title(const struct hn_layout *g, int p) {
    const struct hn_panel *panel = &g->page->panel[p];
    bool same = hn_layout_column(g, p) > 0 && strcmp(panel->y.title, panel[-1].y.title) == 0;
    return !panel->rows && !same;
}

// Room for the tics and the title of the vertical axis.
static double left_room(const struct hn_layout *g, int p) {
    const struct hn_panel *panel = &g->page->panel[p];
    size_t longest = 0;
    if (!panel->rows)
        return hn_layout_shows_y_title(g, p) ? 0.66 : 0.42;
    if (hn_layout_column(g, p) > 0 && g->page->share_y)
        return 0.14;
    for (int i = 0; i < panel->y.n_tics; i++) {
        size_t n = hn_letters(panel->y.tic[i].text);
        longest = n > longest ? n : longest;
    }
    return 0.14 + 1.08 * HN_LETTER * (double)(longest < HN_ROW_LETTERS ? longest : HN_ROW_LETTERS);
}

static bool any_title(const struct hn_page *page) {
    for (int p = 0; p < page->panels; p++)
        if (*page->panel[p].title)
            return true;
    return false;
}

bool hn_layout_shows_x_title(const struct hn_layout *g, int p) {
    int below = p + g->across;
    const struct hn_page *page = g->page;
    return below >= page->panels || strcmp(page->panel[p].x.title, page->panel[below].x.title) != 0;
}

static double below_row(const struct hn_layout *g, int row) {
    for (int p = row * g->across; p < (row + 1) * g->across; p++) {
        if (p < g->page->panels && hn_layout_shows_x_title(g, p))
            return tics_room + axis_room + (g->page->panel[p].x.slanted ? slant_room : 0);
    }
    return tics_room + (any_title(g->page) ? 0.08 : 0); // of the row below
}

static double default_height(const struct hn_layout *g) {
    int most = 0;
    for (int p = 0; p < g->page->panels; p++)
        if (g->page->panel[p].rows)
            most = g->page->panel[p].y.n_tics > most ? g->page->panel[p].y.n_tics : most;
    if (most > 0)
        return row_letter_height * (most + 0.3);
    if (g->page->equal)
        return g->panel_width;
    return g->page->panels == 1 ? 2.4 : g->rows == 1 ? 1.9 : g->page->tall_last ? 1.2 : 1.5;
}

static double row_height(const struct hn_layout *g) {
    return g->panel_height + (any_title(g->page) ? title_room : 0.08);
}

void hn_layout_make(const struct hn_page *page, struct hn_layout *g) {
    int n = page->panels - page->tall_last;
    *g = (struct hn_layout){.page = page, .end_labels = wants_end_labels(page)};
    g->across = page->columns ? page->columns : n == 4 ? 2 : n < WIDEST ? n : WIDEST;
    g->columns = g->across + page->tall_last;
    g->rows = (n + g->across - 1) / g->across;
    g->right = g->end_labels              ? end_room(page)
               : page->panel[0].x.slanted ? 0.9
               : has_heat(page)           ? 0.1
                                          : 0.16;
    bool wide = n > 1 || page->panel[0].rows;
    g->width = page->width > 0 ? page->width : wide ? 7.0 : g->end_labels ? 3.5 + g->right : 4.8;
    double rest = g->width - g->columns * g->right - (has_heat(page) ? 0.55 : 0);
    for (int p = 0; p < page->panels; p++)
        g->left[hn_layout_column(g, p)] = fmax(g->left[hn_layout_column(g, p)], left_room(g, p));
    for (int c = 0; c < g->columns; c++)
        rest -= g->left[c];
    g->panel_width = fmax(0.6, rest / (g->across + (page->tall_last ? tall_width : 0)));
    g->panel_height = default_height(g);
    collect_key(g);
    g->first_top = g->key.rows > 0 ? 0.1 + key_row * g->key.rows : 0.04;
    g->height = g->first_top + g->rows * row_height(g) + 0.06;
    for (int row = 0; row < g->rows; row++)
        g->height += below_row(g, row);
}

struct hn_box hn_layout_box(const struct hn_layout *g, int p) {
    struct hn_box box = {g->left[0], g->first_top, g->panel_width, g->panel_height};
    if (is_tall(g, p)) {
        box.width *= tall_width;
        for (int r = 1; r < g->rows; r++)
            box.height += row_height(g) + below_row(g, r - 1);
    }
    for (int c = 1; c <= hn_layout_column(g, p); c++)
        box.left += g->panel_width + g->right + g->left[c];
    for (int r = 0; r < p / g->across && !is_tall(g, p); r++)
        box.top += row_height(g) + below_row(g, r);
    box.top += row_height(g) - g->panel_height;
    return box;
}

double hn_axis_share(const struct hn_axis *axis, double value, struct hn_range r) {
    return axis->log ? log(value / r.lo) / log(r.hi / r.lo) : (value - r.lo) / (r.hi - r.lo);
}
