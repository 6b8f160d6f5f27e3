// SPDX-License-Identifier: GPL-3.0-or-later
// A page between its parts: layout, gnuplot commands, words. Lengths in inches.
#pragma once

#include "plots/page/page.h"

// About the width of a letter of a label, in every terminal.
#define HN_LETTER 0.062

// The share of a panel that an inset takes with its tics and titles.
#define HN_INSET_SHARE 0.5

enum { HN_KEY_MAX = 48, HN_ROW_LETTERS = 54 }; // of a row's label: a page of longer ones is wider

struct hn_key {
    const struct hn_series *entry[HN_KEY_MAX];
    char text[HN_KEY_MAX][HN_LABEL_SIZE]; // their labels, as far as they fit
    int entries, columns, rows;
    double cell; // width of a column, inches
};

// A panel's position on the page, from the left and from the top.
struct hn_box {
    double left, top, width, height;
};

struct hn_layout {
    const struct hn_page *page;
    bool end_labels;                 // at the ends of curves, instead of a key
    bool tall;                       // the last panel stands beside all rows of the others
    bool inset;                      // the last panel stands within the first one
    double inset_left, inset_bottom; // shares of that one where the inset begins
    int row_letters;           // labels of rows are cut there, so that panels keep their width
    int across, columns, rows; // across: columns without that of a tall panel
    double width, height, first_top, panel_width, panel_height;
    int row[HN_PAGE_PANELS], column[HN_PAGE_PANELS]; // of each panel
    double left[HN_PAGE_PANELS];                     // space before each column
    double right;                                    // space behind each panel
    struct hn_key key;
    struct hn_layout_title { // of each panel, in one row or two, as far as they fit
        char upper[HN_TITLE_SIZE], lower[HN_TITLE_SIZE];
    } title[HN_PAGE_PANELS];
};

void hn_layout_make(const struct hn_page *page, struct hn_layout *layout);
// The rows of settings (0: too few), or panels where these have no rows, that the height of the
// medium has space for.
void hn_layout_fit(const struct hn_page *page, int *rows, int *panels);
struct hn_box hn_layout_box(const struct hn_layout *layout, int panel);
int hn_layout_column(const struct hn_layout *layout, int panel);
// Titles that a neighbour has already are left out.
bool hn_layout_shows_x_title(const struct hn_layout *layout, int panel);
// Left edge of a column of the key.
double hn_layout_key_left(const struct hn_layout *layout, int column);
// Distance from a panel to the middle of its horizontal axis' title, below it.
double hn_layout_x_title_depth(const struct hn_panel *panel);
bool hn_layout_shows_y_title(const struct hn_layout *layout, int panel);

bool hn_series_has_interval(const struct hn_series *s);
// True if its intervals are drawn as a band, else as bars: bands of many curves cover each other.
bool hn_series_is_band(const struct hn_panel *panel, const struct hn_series *s);
// The caption of a finished page; own: what holds for all results.
void hn_page_caption(const struct hn_page *page, const char *own, char text[HN_CAPTION_SIZE]);

struct hn_figure_size {
    double width, height; // 7 is the width of a two-column page
    int lines;            // height in lines of text, for the terminal "dumb"
};

// The size of a page; its numbers as tab-separated blocks, two blank lines apart (for `index`); the
// commands that draw `tsv`, a file beside the script, after theme and terminal have been set. The
// gnuplot variable hn_dumb is 1 on a text terminal.
void hn_page_size(const struct hn_page *page, struct hn_figure_size *size);
void hn_page_write_data(struct hn_page *page, FILE *tsv);
void hn_page_write_script(struct hn_page *page, const char *tsv, FILE *gp);
// Finds positions for all labels in the layout so far; hides those that have none. HN_MEMORY.
HN_MUST_USE enum hn_code hn_page_place_marks(struct hn_page *page);
// The labels of a panel, as further plots of its plot command.
void hn_page_write_marks(const struct hn_layout *layout, FILE *gp, int panel);
// Labels at the ends of the first panel's curves.
void hn_page_write_ends(const struct hn_layout *layout, FILE *gp);

// The colour of a line, as a gnuplot option, and of letters.
void hn_write_colour(FILE *gp, int line);
void hn_write_text_colour(FILE *gp, int line);
// A text as a string of the script, for the page's terminal; and as the title of a plot.
void hn_page_text(const struct hn_page *page, FILE *gp, const char *text);
// The same within an expression of `using`.
void hn_page_text_within(const struct hn_page *page, FILE *gp, const char *text);
void hn_write_title(const struct hn_page *page, FILE *gp, const char *title);
size_t hn_letters(const char *text);    // characters of UTF-8
double hn_text_width(const char *text); // inches
// Texts side by side: text[0], and n - 1 more, each `stride` bytes behind the one before.
struct hn_texts {
    const char *text;
    size_t stride;
    int n;
};
// Text number i in at most so many letters. What all the long ones begin with alike is left out of
// a long one, up to the end of a word; then its beginning, since ends tell texts apart.
void hn_text_shorten(const struct hn_texts *texts, int i, int letters, char *out, size_t size);

// Runs gnuplot on <id>.gp in `folder`. HN_GNUPLOT with its complaint, which says that the script is
// in `dir`; HN_INTERRUPTED: gnuplot was killed, as a stop was asked for. Its warnings are notes.
HN_MUST_USE enum hn_code hn_gnuplot_run(struct hn_context *ctx, const char *folder, const char *id,
                                        const char *dir);

// Label at the end of a curve.
const char *hn_series_end(const struct hn_series *s);
// Share of the axis at a value, from 0 to 1; 0 where it has none.
double hn_axis_share(const struct hn_axis *axis, double value, struct hn_range r);
static inline bool hn_is_disc(enum hn_look look) {
    return look == HN_LOOK_DISCS || look == HN_LOOK_RINGS;
}
double hn_disc_size(double size); // in gnuplot's units
