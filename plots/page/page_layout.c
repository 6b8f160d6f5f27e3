// SPDX-License-Identifier: GPL-3.0-or-later
// Positions of the panels of a page and its key.
#include "plots/page/page_private.h"

#include <math.h>
#include <string.h>

// Inches. Letters of a medium are smaller than those of the screen.
static const double key_row = 0.18, key_row_of_medium = 0.14, key_sample = 0.62, title_space = 0.22,
                    title_row = 0.14, title_letter = 0.055, tics_space = 0.22, axis_space = 0.2,
                    row_letter_height = 0.17, slant_space = 0.4, widest_end = 4.3;

enum { WIDEST = 3, ROW_LETTERS_MAX = 120 };

static bool is_curve(enum hn_look look) {
    return look == HN_LOOK_LINE || look == HN_LOOK_PLAIN || look == HN_LOOK_THIN ||
           look == HN_LOOK_STAIRS || look == HN_LOOK_RULE;
}

static double end_space(const struct hn_page *page) {
    size_t longest = 8;
    for (int s = 0; s < page->panel[0].n_series; s++) {
        size_t n = hn_letters(hn_series_end(page->panel[0].series[s]));
        longest = n > longest ? n : longest;
    }
    return 0.28 + HN_LETTER * (double)longest;
}

// One panel whose labelled series are few curves with short labels needs no key.
static bool wants_end_labels(const struct hn_page *page) {
    const struct hn_panel *panel = &page->panel[0];
    int labelled = 0;
    if (page->panels - page->inset != 1 || page->no_end_labels || panel->rows)
        return false;
    for (int s = 0; s < panel->n_series; s++) {
        const struct hn_series *series = panel->series[s];
        if (series->index < 0 || (!*series->label && !*series->end))
            continue;
        if (!is_curve(series->look))
            return false;
        labelled++;
    }
    return labelled > 0 && labelled <= HN_MAX_CURVES + 2 && end_space(page) < widest_end;
}

// True if the key has one of that label and line; of several the one with marks stands there.
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
            bool shown = series->index >= 0 || series->key_size > 0;
            if (!shown || !*series->label || series->look == HN_LOOK_HEAT ||
                key->entries == HN_KEY_MAX || in_key(key, series))
                continue;
            key->entry[key->entries++] = series;
        }
    if (key->entries == 0)
        return;
    // gnuplot takes a letter to be .0875 inches wide, and warns of titles that do not fit.
    int max = (int)(g->width / 0.0875 - 1.6);
    char label[HN_KEY_MAX][HN_LABEL_SIZE];
    const struct hn_texts labels = {label[0], sizeof label[0], key->entries};
    for (int i = 0; i < key->entries; i++)
        snprintf(label[i], sizeof label[i], "%s", key->entry[i]->label);
    for (int i = 0; i < key->entries; i++) {
        hn_text_shorten(&labels, i, max, key->text[i], sizeof key->text[i]);
        longest = hn_letters(key->text[i]) > longest ? hn_letters(key->text[i]) : longest;
    }
    double cell = key_sample + HN_LETTER * (double)longest;
    key->columns = (int)fmax(1, fmin(key->entries, (g->width - 0.1) / cell));
    key->rows = (key->entries + key->columns - 1) / key->columns;
    key->columns = (key->entries + key->rows - 1) / key->rows; // as even as can be
    key->cell = cell;
}

double hn_layout_key_left(const struct hn_layout *g, int column) {
    return fmax(0.02, 0.5 * (g->width - g->key.columns * g->key.cell)) + column * g->key.cell;
}

static bool has_heat(const struct hn_page *page) {
    for (int p = 0; p < page->panels; p++)
        for (int s = 0; s < page->panel[p].n_series; s++)
            if (page->panel[p].series[s]->look == HN_LOOK_HEAT)
                return true;
    return false;
}

// Inches; below the last two an inset does not fit.
static const double inset_share = HN_INSET_SHARE, space_left = 0.5, space_above = 0.2,
                    space_below = 0.42, inset_width = 3, inset_height = 1.9;

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
        if (at > -0.04 && at < inset_share + 0.04 && up > -0.06 && up < inset_share + 0.06)
            return true;
    }
    return false;
}

// Points, the lines that join them, intervals.
static bool is_covered(const struct corner *c, const struct hn_series *s) {
    bool stairs = s->look == HN_LOOK_STAIRS, arms = s->look == HN_LOOK_ARMS;
    bool joined = stairs || (!hn_is_disc(s->look) && s->look != HN_LOOK_STEMS && !arms);
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

// Finds a corner of the first panel where nothing is drawn; inset = false: the panel stands beside.
static void place_inset(struct hn_layout *g) {
    const struct hn_panel *panel = &g->page->panel[0];
    struct corner c = {.panel = panel,
                       .x = hn_page_range(g->page, panel, false),
                       .y = hn_page_range(g->page, panel, true)};
    if (g->panel_width < inset_width || g->panel_height < inset_height) {
        g->inset = false;
        return;
    }
    for (int corner = 0; corner < 4; corner++) { // right before left, below before above
        bool covered = false;
        c.left = g->inset_left = corner % 2 ? 0 : 1 - inset_share;
        c.bottom = g->inset_bottom = corner / 2 ? 1 - inset_share : 0;
        for (int s = 0; s < c.panel->n_series; s++)
            covered |= is_covered(&c, c.panel->series[s]);
        if (!covered)
            return;
    }
    g->inset = false;
}

static struct hn_box inset_box(const struct hn_layout *g, struct hn_box outer) {
    double width = inset_share * outer.width, height = inset_share * outer.height;
    double top = outer.top + (1 - g->inset_bottom) * outer.height - height;
    return (struct hn_box){outer.left + g->inset_left * outer.width + space_left, top + space_above,
                           width - space_left - 0.06, height - space_above - space_below};
}

static const double tall_width = 1.4; // of a tall panel, in those of the others
static const double narrowest = 1.1;  // panel, inches
static const double row_wanted = 1.8; // height of panel, tics and titles
static const double least_row = 0.13, // height of a row of letters
    least_width = 0.7;                // of panels that share their rows

static bool is_tall(const struct hn_layout *g, int p) {
    return g->tall && p == g->page->panels - 1;
}

int hn_layout_column(const struct hn_layout *g, int p) { return g->column[p]; }

// Panels fill rows from the left, those of another group begin a row: what is compared within a
// group stays together.
static void place_panels(struct hn_layout *g) {
    const struct hn_page *page = g->page;
    int row = 0, column = 0, n = page->panels - g->tall - g->inset;
    for (int p = 0; p < n; p++) {
        bool breaks = p > 0 && page->panel[p].group != page->panel[p - 1].group;
        if (column == g->across || (column > 0 && breaks)) {
            row++;
            column = 0;
        }
        g->row[p] = row;
        g->column[p] = column++;
    }
    g->rows = row + 1;
    if (g->tall) {
        g->row[n] = 0;
        g->column[n] = g->columns - 1;
    }
}

// The panel in the same column of the next row, or -1.
static int panel_below(const struct hn_layout *g, int p) {
    for (int k = p + 1; k < g->page->panels - g->tall - g->inset; k++)
        if (g->row[k] == g->row[p] + 1 && g->column[k] == g->column[p])
            return k;
    return -1;
}

// Titles longer than their panels would meet: of equal ones in a column the middle one is shown.
static bool is_middle_shown(const struct hn_layout *g, int p) {
    const struct hn_panel *panel = g->page->panel;
    double length = HN_LETTER * (double)hn_letters(panel[p].y.title);
    if (is_tall(g, p) || length <= g->panel_height + title_space)
        return true;
    int before = 0, all = 0;
    for (int k = 0; k < g->page->panels - g->tall - g->inset; k++) {
        if (g->column[k] != g->column[p])
            continue;
        if (strcmp(panel[k].y.title, panel[p].y.title) != 0)
            return true;
        before += k < p;
        all++;
    }
    return before == (all - 1) / 2;
}

bool hn_layout_shows_y_title(const struct hn_layout *g, int p) {
    const struct hn_panel *panel = &g->page->panel[p];
    bool same = hn_layout_column(g, p) > 0 && strcmp(panel->y.title, panel[-1].y.title) == 0;
    return !panel->rows && !same && is_middle_shown(g, p);
}

// Letters of the longest label of a row.
static int row_letters(const struct hn_panel *panel) {
    size_t longest = 0;
    for (int i = 0; i < panel->y.n_tics; i++) {
        size_t n = hn_letters(panel->y.tic[i].text);
        longest = n > longest ? n : longest;
    }
    return (int)longest;
}

// Space for the tics and the title of the vertical axis.
static double left_space(const struct hn_layout *g, int p) {
    const struct hn_panel *panel = &g->page->panel[p];
    if (!panel->rows)
        return hn_layout_shows_y_title(g, p) ? 0.66 : 0.42;
    if (hn_layout_column(g, p) > 0 && g->page->share_y)
        return 0.14;
    return 0.14 + 1.08 * HN_LETTER * (double)hn_min(row_letters(panel), g->row_letters);
}

// Finds the break of a title of more than `letters`: behind a comma, or else a space; 0 = none.
static size_t break_of(const char *title, int letters) {
    size_t comma = 0, space = 0;
    for (size_t at = 1; title[at] && at <= (size_t)letters; at++)
        if (title[at] == ' ') {
            space = at;
            comma = title[at - 1] == ',' ? at : comma;
        }
    return comma ? comma : space;
}

// Titles too long for two rows lose a common beginning; those too long for one are broken and cut.
static void set_titles(struct hn_layout *g) {
    int panels = g->page->panels, letters = (int)((g->panel_width + g->right) / title_letter) - 1;
    const struct hn_texts titles = {g->page->panel[0].title, sizeof g->page->panel[0], panels};
    for (int p = 0; p < panels; p++) {
        struct hn_layout_title *t = &g->title[p];
        char rows[2][HN_TITLE_SIZE] = {"", ""}, title[HN_TITLE_SIZE];
        hn_text_shorten(&titles, p, 2 * letters, title, sizeof title);
        size_t at = hn_letters(title) > (size_t)letters ? break_of(title, letters) : 0;
        snprintf(rows[0], sizeof rows[0], "%.*s", (int)at, title);
        snprintf(rows[1], sizeof rows[1], "%s", title + at + (at > 0));
        const struct hn_texts own[] = {{rows[0], 0, 1}, {rows[1], 0, 1}};
        hn_text_shorten(&own[0], 0, letters, t->upper, sizeof t->upper);
        hn_text_shorten(&own[1], 0, letters, t->lower, sizeof t->lower);
    }
}

static int title_rows(const struct hn_layout *g) {
    int rows = 0;
    for (int p = 0; p < g->page->panels - g->inset; p++) {
        int own = *g->title[p].upper ? 2 : *g->title[p].lower ? 1 : 0;
        rows = own > rows ? own : rows;
    }
    return rows;
}

bool hn_layout_shows_x_title(const struct hn_layout *g, int p) {
    int below = panel_below(g, p);
    const struct hn_page *page = g->page;
    return g->inset || below < 0 || page->panel[below].blank ||
           strcmp(page->panel[p].x.title, page->panel[below].x.title) != 0;
}

double hn_layout_x_title_depth(const struct hn_panel *panel) {
    return tics_space + 0.7 * axis_space + (panel->x.slanted ? slant_space : 0);
}

static double below_row(const struct hn_layout *g, int row) {
    for (int p = 0; p < g->page->panels; p++) {
        if (g->row[p] == row && hn_layout_shows_x_title(g, p))
            return tics_space + axis_space + (g->page->panel[p].x.slanted ? slant_space : 0);
    }
    return tics_space + (title_rows(g) > 0 ? 0.08 : 0); // of the row below
}

static int max_rows(const struct hn_page *page) {
    int max = 0;
    for (int p = 0; p < page->panels; p++)
        if (page->panel[p].rows)
            max = page->panel[p].y.n_tics > max ? page->panel[p].y.n_tics : max;
    return max;
}

// True if some panels have rows and others curves, as data sets of one step beside series.
static bool is_mixed(const struct hn_page *page) {
    bool rows = false, curves = false;
    for (int p = 0; p < page->panels; p++) {
        rows |= page->panel[p].rows;
        curves |= !page->panel[p].rows && !page->panel[p].blank;
    }
    return rows && curves;
}

// Of rows that do not stand in the first column, whose names would take the panels' width.
static double later_names(const struct hn_page *page) {
    int letters = 0;
    for (int p = 1; p < page->panels && !page->panel[0].rows; p++)
        if (page->panel[p].rows)
            letters = (int)fmax(letters, row_letters(&page->panel[p]));
    return HN_LETTER * letters;
}

// Width for the widest label beside its point; height at which labels take 0.3 of the panel.
static double label_width(const struct hn_page *page) {
    double max = 0;
    for (int p = 0; p < page->panels; p++)
        for (int i = 0; i < page->panel[p].n_marks; i++)
            max = fmax(max, 1.3 * hn_text_width(page->panel[p].mark[i].text));
    return max;
}

static double label_height(const struct hn_layout *g) {
    double max = 0;
    for (int p = 0; p < g->page->panels - g->inset; p++) {
        const struct hn_panel *panel = &g->page->panel[p];
        double area = 0;
        for (int i = 0; i < panel->n_marks; i++)
            area += 0.14 * (hn_text_width(panel->mark[i].text) + 0.1);
        max = fmax(max, area / (0.3 * g->panel_width));
    }
    return max;
}

static double default_height(const struct hn_layout *g) {
    int max = max_rows(g->page);
    double of_rows = max > 0 ? row_letter_height * (max + 0.3) : 0;
    if (max > 0 && !is_mixed(g->page))
        return of_rows;
    if (g->page->equal)
        return g->panel_width;
    double height = g->inset                    ? 3.2
                    : g->page->panel_height > 0 ? g->page->panel_height
                    : g->page->panels == 1      ? 2.4
                    : g->rows == 1              ? 1.9
                    : g->tall                   ? 1.2
                                                : 1.5;
    if (g->page->fit_width > 0)
        height = fmin(height, fmax(1, 0.8 * g->panel_width));
    return fmax(fmax(height, label_height(g)), of_rows);
}

static double above_panel(const struct hn_layout *g) {
    int rows = title_rows(g);
    return rows > 0 ? title_space + title_row * (rows - 1) : 0.08;
}

static double row_height(const struct hn_layout *g) { return g->panel_height + above_panel(g); }

// The space of the key, which takes that of titles where the panels of the first row have none.
static double key_space(const struct hn_layout *g) {
    bool titled = false;
    for (int p = 0; p < g->page->panels - g->inset; p++)
        titled |= g->row[p] == 0 && (*g->title[p].upper || *g->title[p].lower);
    double space = (g->page->fit_width > 0 ? key_row_of_medium : key_row) * g->key.rows;
    return g->key.rows == 0 ? 0.04 : 0.1 + space - (titled ? 0 : above_panel(g) - 0.08);
}

// Columns of `across` panels, and the width that this leaves each of them.
static void set_columns(struct hn_layout *g, int across, bool tall) {
    const struct hn_page *page = g->page;
    g->tall = tall;
    g->across = across;
    g->columns = across + g->tall;
    place_panels(g);
    double rest = g->width - g->columns * g->right - (has_heat(page) ? 0.55 : 0);
    memset(g->left, 0, sizeof g->left);
    for (int p = 0; p < page->panels - g->inset; p++)
        g->left[hn_layout_column(g, p)] = fmax(g->left[hn_layout_column(g, p)], left_space(g, p));
    for (int c = 0; c < g->columns; c++)
        rest -= g->left[c];
    g->panel_width = fmax(0.6, rest / (across + (g->tall ? tall_width : 0)));
}

static void set_height(struct hn_layout *g) {
    g->height = g->first_top + g->rows * row_height(g) + 0.06;
    for (int row = 0; row < g->rows; row++)
        g->height += below_row(g, row);
}

// Lays out for a medium: fewer panels side by side where they would be too narrow, unless rows are
// to stay beside each other, and flatter ones where they would be too high.
static void make(const struct hn_page *page, struct hn_layout *g, bool inset, bool beside) {
    int n = page->panels - page->tall_last - inset;
    *g = (struct hn_layout){.page = page, .inset = inset};
    g->end_labels = inset == page->inset && wants_end_labels(page);
    int letters = page->panel[0].rows ? row_letters(&page->panel[0]) : 0;
    letters = (int)fmax(HN_ROW_LETTERS, fmin(letters, ROW_LETTERS_MAX)); // a wide page, to tell all
    double natural = page->width > 0 ? page->width
                     : n > 1 || page->panel[0].rows
                         ? 7.0 + HN_LETTER * (letters - HN_ROW_LETTERS) + later_names(page)
                     : inset         ? 4.4 + (g->end_labels ? end_space(page) : 0.2)
                     : g->end_labels ? 3.5 + end_space(page)
                                     : 4.8;
    g->width = page->fit_width > 0 ? page->fit_width : natural;
    g->end_labels = g->end_labels && (page->fit_width <= 0 || end_space(page) < 0.4 * g->width);
    g->right = g->end_labels              ? end_space(page)
               : page->panel[0].x.slanted ? 0.9
               : has_heat(page)           ? 0.1
                                          : 0.16;
    double names =
        beside ? (g->width - n * (0.14 + least_width + g->right)) / 1.08 : g->width - 1.1;
    g->row_letters =
        page->fit_width > 0 ? (int)fmax(8, fmin(HN_ROW_LETTERS, names / HN_LETTER)) : letters;
    int across = page->columns ? (int)hn_min(page->columns, n)
                 : n == 4      ? 2
                 : n < WIDEST  ? n
                               : WIDEST;
    bool tall = page->tall_last;
    set_columns(g, across, tall);
    // Labels want wide panels where that leaves room for rows.
    double min_width =
        n * row_wanted <= page->fit_height ? fmax(narrowest, label_width(page)) : narrowest;
    while (page->fit_width > 0 && !beside && g->panel_width < min_width && (tall || across > 1)) {
        across -= !tall; // first the last one stands behind the others
        tall = false;
        set_columns(g, across, tall);
    }
    set_titles(g);
    g->panel_height = default_height(g);
    collect_key(g);
    g->first_top = key_space(g);
    set_height(g);
    if (page->fit_height > 0 && g->height > page->fit_height) {
        double min = max_rows(page) > 0 ? least_row * max_rows(page) : 0.7;
        g->panel_height = fmax(min, g->panel_height - (g->height - page->fit_height) / g->rows);
        set_height(g);
    }
}

// Rows that are too high one below the other stand side by side, if that leaves their panels width.
void hn_layout_make(const struct hn_page *page, struct hn_layout *g) {
    make(page, g, page->inset, false);
    if (max_rows(page) > 0 && page->share_y && page->fit_height > 0 &&
        g->height > page->fit_height) {
        make(page, g, page->inset, true);
        if (g->panel_width < least_width)
            make(page, g, page->inset, false);
    }
    if (g->inset)
        place_inset(g);
    if (page->inset && !g->inset) // it does not fit
        make(page, g, false, false);
}

void hn_layout_fit(const struct hn_page *page, int *rows, int *panels) {
    enum { FEWEST = 4 };
    struct hn_layout g;
    hn_layout_make(page, &g);
    double high = fmax(0, g.height - page->fit_height);
    int lost = (int)ceil(high * g.rows / (g.height - g.first_top));
    *rows = max_rows(page) - (int)ceil(high / (g.rows * least_row));
    *rows = *rows < FEWEST ? 0 : *rows;
    *panels = 0;
    for (int p = 0; p < page->panels && max_rows(page) == 0; p++)
        *panels += g.row[p] < hn_max(1, g.rows - lost);
}

struct hn_box hn_layout_box(const struct hn_layout *g, int p) {
    struct hn_box box = {g->left[0], g->first_top, g->panel_width, g->panel_height};
    if (g->inset && p == g->page->panels - 1)
        return inset_box(g, hn_layout_box(g, 0));
    if (is_tall(g, p)) {
        box.width *= tall_width;
        for (int r = 1; r < g->rows; r++)
            box.height += row_height(g) + below_row(g, r - 1);
    }
    for (int c = 1; c <= hn_layout_column(g, p); c++)
        box.left += g->panel_width + g->right + g->left[c];
    for (int r = 0; r < g->row[p] && !is_tall(g, p); r++)
        box.top += row_height(g) + below_row(g, r);
    box.top += row_height(g) - g->panel_height;
    return box;
}
