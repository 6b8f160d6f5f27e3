// A page between its parts: layout (page_layout.c), gnuplot commands (page_script.c), words
// (page_marks.c). Lengths in inches.
#ifndef HN_PLOTS_PAGE_PAGE_PRIVATE_H
#define HN_PLOTS_PAGE_PAGE_PRIVATE_H

#include "plots/page/page.h"

// About the width of a letter of a label, in every terminal.
#define HN_LETTER 0.062

// Of a panel, what an inset takes with its tics and titles.
#define HN_INSET_SHARE 0.5

enum { HN_KEY_MOST = 48 };

struct hn_key {
    const struct hn_series *entry[HN_KEY_MOST];
    int entries, columns, rows;
    double cell; // width of a column, inches
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
    bool end_labels;                 // at the ends of curves, instead of a key
    bool tall;                       // the last panel stands beside all rows of the others
    bool inset;                      // the last panel stands within the first one
    double inset_left, inset_bottom; // shares of that one where the inset begins
    bool raised;                     // the first one's vertical axis is made longer for it
    int row_letters;                 // labels of rows are cut there, so that panels keep their room
    int across, columns, rows;       // across: columns without that of a tall panel
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
// Where a column of the key begins.
double hn_layout_key_left(const struct hn_layout *layout, int column);
// Where the title of a panel is broken into two rows: the space between them, or 0, if it fits.
size_t hn_layout_break(const struct hn_layout *layout, const char *title);
// How far below a panel the middle of its horizontal axis' title is.
double hn_layout_x_title_depth(const struct hn_panel *panel);
bool hn_layout_shows_y_title(const struct hn_layout *layout, int panel);

// The inset: where it is to stand; the first panel's vertical range, if it is raised; its box in
// that of the first panel.
void hn_inset_place(struct hn_layout *layout);
void hn_inset_raise(const struct hn_axis *axis, struct hn_range *r);
struct hn_box hn_inset_box(const struct hn_layout *layout, struct hn_box outer);

bool hn_series_has_interval(const struct hn_series *s);
// Whether its intervals are drawn as a band, else as bars.
bool hn_series_is_band(const struct hn_panel *panel, const struct hn_series *s);
// The caption of a finished page; own: what holds for all results.
void hn_page_caption(const struct hn_page *page, const char *own, char text[HN_CAPTION_SIZE]);

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
void hn_page_write_marks(const struct hn_layout *layout, FILE *gp, int panel, struct hn_range x,
                         struct hn_range y);
// Labels at the ends of the first panel's curves; y is its vertical axis.
void hn_page_write_ends(const struct hn_layout *layout, FILE *gp, struct hn_range y);
// The colour of a line, as a gnuplot option.
void hn_write_colour(FILE *gp, int line);
void hn_write_text_colour(FILE *gp, int line);
// A text as a string of the script, for the page's terminal.
void hn_page_text(const struct hn_page *page, FILE *gp, const char *text);

// Runs gnuplot on <id>.gp in `folder`. HN_GNUPLOT with its complaint, which says that the script is
// in `dir`; HN_INTERRUPTED: gnuplot was killed, as a stop was asked for. Its warnings are notes.
HN_MUST_USE enum hn_code hn_gnuplot_run(struct hn_context *ctx, const char *folder, const char *id,
                                        const char *dir);

// What stands at the end of a curve.
const char *hn_series_end(const struct hn_series *s);
// Share of the axis at a value, from 0 to 1; 0 where it has none.
double hn_axis_share(const struct hn_axis *axis, double value, struct hn_range r);
size_t hn_letters(const char *text); // characters of UTF-8
double hn_disc_size(double size);    // in gnuplot's units

#endif
