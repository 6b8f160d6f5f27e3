// A page between its parts: layout (page_layout.c), gnuplot commands (page_script.c), words
// (page_marks.c). Lengths in inches.
#ifndef HN_PLOTS_PAGE_PAGE_PRIVATE_H
#define HN_PLOTS_PAGE_PAGE_PRIVATE_H

#include "plots/page/page.h"

// About the width of a letter of a label, in every terminal.
#define HN_LETTER 0.062
enum { HN_ROW_LETTERS = 54 }; // labels of rows are cut there, so that panels keep their room

enum { HN_KEY_MOST = 24 };

struct hn_key {
    const struct hn_series *entry[HN_KEY_MOST];
    int entries, columns, rows;
};

struct hn_range {
    double lo, hi;
};

// A panel's place on the page, from the left and from the top.
struct hn_box {
    double left, top, width, height;
};

struct hn_layout {
    const struct hn_page *page;
    bool end_labels;           // at the ends of curves, instead of a key
    int across, columns, rows; // across: columns without that of a tall panel
    double width, height, first_top, panel_width, panel_height;
    double left[HN_PAGE_PANELS]; // room before each column
    double right;                // room behind each panel
    struct hn_key key;
};

void hn_layout_make(const struct hn_page *page, struct hn_layout *layout);
struct hn_box hn_layout_box(const struct hn_layout *layout, int panel);
int hn_layout_column(const struct hn_layout *layout, int panel);
// Titles that a neighbour has already are left out.
bool hn_layout_shows_x_title(const struct hn_layout *layout, int panel);
bool hn_layout_shows_y_title(const struct hn_layout *layout, int panel);

struct hn_figure_size {
    double width, height; // 7 is the width of a two-column page
    int lines;            // height in lines of text, for the terminal "dumb"
};

// The size of a page, its numbers as tab-separated blocks with a header of '#' lines (two blank
// lines between blocks, as gnuplot's `index` wants), and the gnuplot commands that draw `tsv`, a
// file beside the script, after theme and terminal have been set; the gnuplot variable hn_dumb is
// 1 on a text terminal.
void hn_page_size(const struct hn_page *page, struct hn_figure_size *size);
void hn_page_write_data(struct hn_page *page, FILE *tsv);
void hn_page_write_script(struct hn_page *page, const char *tsv, FILE *gp);
// Words beside places, on a panel whose axes have these ranges.
void hn_page_write_marks(FILE *gp, const struct hn_panel *panel, struct hn_range x,
                         struct hn_range y, const struct hn_box *box);

// What stands at the end of a curve.
const char *hn_series_end(const struct hn_series *s);
// Share of the axis at a value, from 0 to 1.
double hn_axis_share(const struct hn_axis *axis, double value, struct hn_range r);
size_t hn_letters(const char *text); // characters of UTF-8
double hn_disc_size(double size);    // in gnuplot's units

#endif
