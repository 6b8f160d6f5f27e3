// SPDX-License-Identifier: GPL-3.0-or-later
// A page of panels with curves, marks, bars and heat maps: what most figures are made of. A figure
// says what is to be seen; the page writes the numbers, chooses ranges and tics, positions panels,
// labels and key, and writes the gnuplot commands.
//
// Building never fails in the middle: what does not fit goes to a spare panel or series that is not
// drawn, and a failed allocation is reported by hn_page_finish().
#pragma once

#include "plots/page/figure.h"
#include "plots/page/lines.h"

enum { HN_PAGE_PANELS = 36, HN_PANEL_SERIES = 192, HN_PANEL_MARKS = 64 };

enum hn_look {
    HN_LOOK_LINE,    // marks joined by lines, intervals as a band (a bar where there is one point)
    HN_LOOK_PLAIN,   // a line without marks, for many points
    HN_LOOK_THIN,    // a thin dotted line, beside another of its colour
    HN_LOOK_AREA,    // a line and the area below it
    HN_LOOK_MARKS,   // marks with bars for intervals
    HN_LOOK_DOTS,    // small dots: the raw values behind a mean
    HN_LOOK_RULE,    // one value of y, over the whole width
    HN_LOOK_UPRIGHT, // one value of x, over the whole height
    HN_LOOK_PAPER,   // published values: black crosses
    HN_LOOK_DISCS,   // discs of area `size`, in units of the largest
    HN_LOOK_RINGS,   // likewise, not filled
    HN_LOOK_STEMS,   // intervals of y, behind everything
    HN_LOOK_ARMS,    // intervals of x, behind everything
    HN_LOOK_STAIRS,  // a staircase through its points, from the left at the height of each
    HN_LOOK_HEAT     // `size` is the colour at (x, y), a grid
};

struct hn_datum {
    double x, y;
    double lo, hi; // interval of y, or of x in a panel of rows and of HN_LOOK_ARMS; NaN = none
    double size;   // of discs; colour of heat
};

struct hn_page;

struct hn_series {
    char label[HN_LABEL_SIZE]; // "" = not in the key
    char end[HN_LABEL_SIZE];   // at the end of its curve and in the .tsv, "" = the label
    const char *size;          // what `size` is, NULL = a size
    enum hn_look look;
    int line;        // plots/page/lines.h
    double key_size; // of discs: stands in the key alone, with this size; 0 = no
    int64_t n, capacity;
    struct hn_datum *datum; // [n]
    struct hn_page *page;
    int index; // of its block in the .tsv, -1 = empty
};

struct hn_tic {
    double at;
    char text[HN_LABEL_SIZE];
};

struct hn_axis {
    char title[HN_TITLE_SIZE]; // with the unit
    bool log, zero,
        tight;     // zero: the range begins at 0 unless all is far above; tight: without a margin
    double lo, hi; // NaN = from the data
    double min, largest; // what values can be: intervals end there; equal = anything
    bool slanted;        // tics of long texts
    struct hn_tic *tic;  // own tics; none = regular ones
    int n_tics;
    int64_t tic_capacity;
};

// A label beside a point; of: what it belongs to, as the page's highlighting knows it.
struct hn_word {
    double x, y;
    char text[HN_LABEL_SIZE], of[HN_LABEL_SIZE];
    char brief[HN_LABEL_SIZE]; // in its place where that has no room near the point; "" = nothing
    int line;
    struct hn_rectangle { // inches from the panel's lower left corner
        double left, bottom, right, top;
    } box;            // set by the layout: hn_page_place_marks()
    double leader[4]; // x0, y0, x1, y1: from the point to the label, in inches
    bool hidden;      // it has no position
    bool is_brief;    // that text is shown
    double fault;     // how far the label is from whole and beside its point; 0: not at all
};

struct hn_panel {
    char title[HN_TITLE_SIZE];
    struct hn_axis x, y;
    struct hn_series *series[HN_PANEL_SERIES];
    int n_series;
    struct hn_word mark[HN_PANEL_MARKS];
    int n_marks;
    double frame[HN_PANEL_MARKS][4]; // outlined rectangles x0, y0, x1, y1
    int n_frames;
    bool rows;   // y counts rows that its tics name, from the top
    bool curved; // settings of its rows have curves in other panels, whose lines they take
    bool blank;  // nothing is drawn, and its place in the columns stays free
    int group;   // page.group as it was added
};

struct hn_page {
    struct hn_context *ctx;
    const struct hn_figure *figure; // that is drawn; NULL = none yet
    enum hn_code code;
    struct hn_panel panel[HN_PAGE_PANELS], spare_panel;
    struct hn_series spare_series;
    int panels, columns;          // columns 0 = as suits
    int group;                    // of panels that are added: those of another group begin a row
    double width, panel_height;   // inches, 0 = as suits
    double fit_width, fit_height; // of the medium: its width, its maximum height; 0 = none
    int measure;                  // as in struct hn_picture
    const char *settings;         // likewise
    int64_t step;                 // likewise
    int64_t seeds;                // most of a setting that is drawn; 0 = not known
    int most_rows, most_panels;   // that the medium has room for, 0 = any: rows of settings; panels
    bool all_on_terminal;         // all panels, below each other, where text is drawn; else one
    bool latex;                   // its texts are set by LaTeX
    bool opaque; // labels hide the lines that they cross; in SVG a filter would repeat their texts
    bool share_x, share_y;
    bool no_end_labels;     // a key even where labels at the ends of curves would do
    bool equal;             // square panels
    bool inset;             // the last panel stands within the first, if it fits there
    bool tall_last;         // the last panel stands beside all rows of the others
    const char *inset_says; // of the caption: what the last panel shows, wherever it stands; NULL
    bool own_intervals;     // the figure itself says what its intervals are
    char said[HN_CAPTION_SIZE]; // of the caption: what was drawn of these results
    char note[HN_CAPTION_SIZE]; // what is left out: ends the caption, and is a note
};

void hn_page_begin(struct hn_context *ctx, struct hn_page *page);
// Builds and finishes the page of a figure, whose columns the results have: HN_NOT_APPLICABLE if
// they hold nothing to draw.
HN_MUST_USE enum hn_code hn_page_fill(struct hn_page *page, const struct hn_figure *figure,
                                      const struct hn_results *r);
// Add a sentence to the caption: how to read what was drawn of these results; what is left out.
#define hn_page_say(page, ...) hn_page_add((page)->said, __VA_ARGS__)
#define hn_page_note(page, ...) hn_page_add((page)->note, __VA_ARGS__)
void hn_page_add(char text[HN_CAPTION_SIZE], const char *fmt, ...) HN_PRINTF(2, 3);
// Adds data sets, temperatures and settings that the groups leave out, and counts their seeds.
void hn_page_left_out(struct hn_page *page, const struct hn_groups *g);
// Says so where a table has further data sets than the first, which alone is drawn.
void hn_page_first_dataset(struct hn_page *page, const struct hn_table *t);
// After building: HN_NOT_APPLICABLE with `reason` if there is nothing to draw.
HN_MUST_USE enum hn_code hn_page_finish(struct hn_page *page, const char *reason);

// A further panel; "" for no title. Titles of axes name the unit.
struct hn_panel *hn_page_panel(struct hn_page *page, const char *title, const char *x,
                               const char *y);
struct hn_series *hn_panel_series(struct hn_page *page, struct hn_panel *panel, const char *label,
                                  enum hn_look look, int line);
// The series without a label that has that look and line, made when it is first asked for.
struct hn_series *hn_panel_series_of(struct hn_page *page, struct hn_panel *panel,
                                     enum hn_look look, int line);
// NaN positions and those beyond 1e30 are left out, what is below 1e-30 is taken as 0.
void hn_series_add(struct hn_series *s, double x, double y);
void hn_series_add_interval(struct hn_series *s, double x, double y, double half);
// In a panel of rows: interval of x.
void hn_series_add_row(struct hn_series *s, double x, int row, double half);
// The ends of the interval, of y, or of x in a panel of rows.
void hn_series_add_span(struct hn_series *s, double x, double y, double lo, double hi);
void hn_series_add_sized(struct hn_series *s, double x, double y, double size);
void hn_axis_tic(struct hn_page *page, struct hn_axis *axis, double at, const char *text);
void hn_axis_tic_number(struct hn_page *page, struct hn_axis *axis, double at); // once per position
// brief: shorter, without the name `of`, which one label of it keeps at least; NULL = none.
void hn_panel_mark(struct hn_panel *panel, double x, double y, const char *text, const char *brief,
                   const char *of, int line);
void hn_panel_frame(struct hn_panel *panel, double x0, double y0, double x1, double y1);

struct hn_range {
    double lo, hi;
};
// Range of an axis over the data of a panel.
struct hn_range hn_page_range(const struct hn_page *page, const struct hn_panel *panel,
                              bool vertical);

// For scripts: text as a gnuplot string in double quotes, safe for any bytes (quotes, backslashes,
// backticks, dollar signs, newlines, marks of enhanced text); what is not UTF-8 becomes '?'.
void hn_gp_string(FILE *gp, const char *text);

// For comments and cells of a .tsv: on one line, without tabs.
void hn_tsv_text(FILE *tsv, const char *text);

// A further cell of a row: a tab and the number, "NaN" for what is not finite.
void hn_tsv_real(FILE *tsv, double value);
