// Places the panels of a page and writes the gnuplot commands that draw them.
#include "plots/page/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Inches. A letter of a label is about `letter` wide in every terminal.
static const double letter = 0.062, key_row = 0.16, key_sample = 0.55, title_room = 0.22,
                    tics_room = 0.22, axis_room = 0.2, row_letter_height = 0.17;

enum { KEY_MOST = 24, WIDEST = 3, MOST_TICS = 12 };

struct key {
    const struct hn_series *entry[KEY_MOST];
    int entries, columns, rows;
    double cell;
};

struct range {
    double lo, hi;
};

struct geometry {
    const struct hn_page *page;
    bool end_labels;
    int columns, rows;
    double width, height, first_top, panel_width, panel_height;
    double left[HN_PAGE_PANELS]; // room before each column
    double right;                // room behind each panel
    struct key key;
};

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

static const char *end_text(const struct hn_series *s) { return *s->end ? s->end : s->label; }

static bool in_key(const struct key *key, const struct hn_series *s) {
    for (int i = 0; i < key->entries; i++)
        if (strcmp(key->entry[i]->label, s->label) == 0 && key->entry[i]->line == s->line)
            return true;
    return false;
}

static void collect_key(struct geometry *g) {
    size_t longest = 1;
    struct key *key = &g->key;
    for (int p = 0; p < g->page->panels && !g->end_labels; p++)
        for (int s = 0; s < g->page->panel[p].n_series; s++) {
            const struct hn_series *series = g->page->panel[p].series[s];
            if (series->index < 0 || !*series->label || series->look == HN_LOOK_HEAT ||
                key->entries == KEY_MOST || in_key(key, series))
                continue;
            key->entry[key->entries++] = series;
            longest = hn_letters(series->label) > longest ? hn_letters(series->label) : longest;
        }
    if (key->entries == 0)
        return;
    key->cell = key_sample + letter * (double)longest;
    key->columns = (int)fmax(1, fmin(key->entries, (g->width - 0.1) / key->cell));
    key->rows = (key->entries + key->columns - 1) / key->columns;
    key->columns = (key->entries + key->rows - 1) / key->rows; // as even as can be
}

static double end_room(const struct hn_page *page) {
    size_t longest = 8;
    for (int s = 0; s < page->panel[0].n_series; s++) {
        size_t n = hn_letters(end_text(page->panel[0].series[s]));
        longest = n > longest ? n : longest;
    }
    return 0.15 + letter * (double)longest;
}

static bool has_heat(const struct hn_page *page) {
    for (int p = 0; p < page->panels; p++)
        for (int s = 0; s < page->panel[p].n_series; s++)
            if (page->panel[p].series[s]->look == HN_LOOK_HEAT)
                return true;
    return false;
}

// Room for the tics and the title of the vertical axis.
static double left_room(const struct geometry *g, int p) {
    const struct hn_panel *panel = &g->page->panel[p];
    size_t longest = 0;
    if (!panel->rows)
        return panel->y.n_tics || panel->y.log ? 0.68 : 0.64;
    if (p % g->columns > 0 && g->page->share_y)
        return 0.14;
    for (int i = 0; i < panel->y.n_tics; i++) {
        size_t n = hn_letters(panel->y.tic[i].text);
        longest = n > longest ? n : longest;
    }
    return 0.14 + letter * (double)longest;
}

static bool any_title(const struct hn_page *page) {
    for (int p = 0; p < page->panels; p++)
        if (*page->panel[p].title)
            return true;
    return false;
}

static bool shows_x_title(const struct geometry *g, int p) {
    int below = p + g->columns;
    const struct hn_page *page = g->page;
    return below >= page->panels || strcmp(page->panel[p].x.title, page->panel[below].x.title) != 0;
}

static double below_row(const struct geometry *g, int row) {
    for (int c = 0; c < g->columns; c++) {
        int p = row * g->columns + c;
        if (p < g->page->panels && shows_x_title(g, p))
            return tics_room + axis_room;
    }
    return tics_room + (any_title(g->page) ? 0.08 : 0); // of the row below
}

static double default_height(const struct geometry *g) {
    int most = 0;
    for (int p = 0; p < g->page->panels; p++)
        if (g->page->panel[p].rows)
            most = g->page->panel[p].y.n_tics > most ? g->page->panel[p].y.n_tics : most;
    if (most > 0)
        return row_letter_height * (most + 0.3);
    if (g->page->equal)
        return g->panel_width;
    return g->page->panels == 1 ? 2.4 : g->rows == 1 ? 1.9 : 1.5;
}

static double row_height(const struct geometry *g) {
    return g->panel_height + (any_title(g->page) ? title_room : 0.08);
}

static void arrange(const struct hn_page *page, struct geometry *g) {
    int n = page->panels;
    *g = (struct geometry){.page = page, .end_labels = wants_end_labels(page)};
    g->columns = page->columns ? page->columns : n == 4 ? 2 : n < WIDEST ? n : WIDEST;
    g->rows = (n + g->columns - 1) / g->columns;
    g->right = g->end_labels ? end_room(page) : has_heat(page) ? 0.1 : 0.16;
    bool wide = n > 1 || page->panel[0].rows;
    g->width = page->width > 0 ? page->width : wide ? 7.0 : g->end_labels ? 3.5 + g->right : 4.8;
    double rest = g->width - g->columns * g->right - (has_heat(page) ? 0.55 : 0);
    for (int p = 0; p < n; p++)
        g->left[p % g->columns] = fmax(g->left[p % g->columns], left_room(g, p));
    for (int c = 0; c < g->columns; c++)
        rest -= g->left[c];
    g->panel_width = fmax(0.6, rest / g->columns);
    g->panel_height = default_height(g);
    collect_key(g);
    g->first_top = g->key.rows > 0 ? 0.1 + key_row * g->key.rows : 0.04;
    g->height = g->first_top + g->rows * row_height(g) + 0.06;
    for (int row = 0; row < g->rows; row++)
        g->height += below_row(g, row);
}

static struct hn_box panel_box(const struct geometry *g, int p) {
    int row = p / g->columns, column = p % g->columns;
    struct hn_box box = {g->left[0], g->first_top, g->panel_width, g->panel_height};
    for (int c = 1; c <= column; c++)
        box.left += g->panel_width + g->right + g->left[c];
    for (int r = 0; r < row; r++)
        box.top += row_height(g) + below_row(g, r);
    box.top += row_height(g) - g->panel_height;
    return box;
}

// Tics of a logarithmic axis, at most `most` labels: 1, 2, 5 over up to a decade and a half, else
// decades.
static void log_tics(FILE *gp, char name, struct range r, int most) {
    static const int within[] = {1, 2, 5};
    int from = (int)floor(log10(r.lo)), to = (int)ceil(log10(r.hi));
    int every = (to - from + most - 1) / most;
    bool fine = log10(r.hi / r.lo) <= 1.6;
    const char *joint = "";
    fprintf(gp, "set %ctics (", name);
    for (int decade = from; decade <= to; decade += fine ? 1 : every)
        for (int i = 0; i < (fine ? 3 : 1); i++) {
            double at = within[i] * pow(10, decade);
            if (at < r.lo * 0.999 || at > r.hi * 1.001)
                continue;
            if (decade >= -3 && decade <= 3)
                fprintf(gp, "%s\"%g\" %.6g", joint, at, at);
            else if (within[i] == 1)
                fprintf(gp, "%s\"10^{%d}\" %.6g", joint, decade, at);
            else
                fprintf(gp, "%s\"%d·10^{%d}\" %.6g", joint, within[i], decade, at);
            joint = ", ";
        }
    fputs(")\n", gp);
}

// Height or distance of a value on the panel, from 0 to 1.
static double share_of(const struct hn_axis *axis, double value, struct range r) {
    return axis->log ? log(value / r.lo) / log(r.hi / r.lo) : (value - r.lo) / (r.hi - r.lo);
}

// Along x, a label that would run into the one before it is left out; its tic stays.
static void own_tics(FILE *gp, char name, const struct hn_axis *axis, struct range r,
                     double inches) {
    double end = -INFINITY;
    fprintf(gp, "set %ctics (", name);
    for (int i = 0; i < axis->n_tics; i++) {
        double at = inches * share_of(axis, axis->tic[i].at, r);
        double half = 0.5 * letter * (double)hn_letters(axis->tic[i].text);
        bool fits = inches > 0 && (name == 'y' || at - half > end + 0.04);
        fputs(i ? ", " : "", gp);
        hn_gp_string(gp, fits ? axis->tic[i].text : "");
        fprintf(gp, " %.9g", axis->tic[i].at);
        end = fits ? at + half : end;
    }
    fputs(")\n", gp);
}

static struct range script_axis(const struct geometry *g, FILE *gp, int p, bool vertical) {
    const struct hn_panel *panel = &g->page->panel[p];
    const struct hn_axis *axis = vertical ? &panel->y : &panel->x;
    struct range r;
    char name = vertical ? 'y' : 'x';
    hn_page_range(g->page, panel, vertical, &r.lo, &r.hi);
    fprintf(gp, axis->log ? "set logscale %c; " : "unset logscale %c; ", name);
    fprintf(gp, "set %crange [%.9g:%.9g]\n", name, r.lo, r.hi);
    double inches = vertical ? g->panel_height : g->panel_width;
    int most = (int)fmax(2, fmin(vertical ? 3.4 * inches : 3.6 * inches, MOST_TICS));
    bool silent = vertical && panel->rows && g->page->share_y && p % g->columns > 0;
    if (axis->n_tics > 0)
        own_tics(gp, name, axis, r, silent ? 0 : inches);
    else if (axis->log)
        log_tics(gp, name, r, most);
    else
        fprintf(gp, "set %ctics autofreq %g format '%%g'\n", name,
                hn_tic_step(fabs(r.hi - r.lo), most));
    return r;
}

// The linetype of a series; `changes` are words for width and dash that replace its own.
static void line_of(FILE *gp, const struct hn_series *s, const char *changes) {
    fprintf(gp, " lt %d%s", s->line > 0 ? s->line : 8,
            *changes       ? changes
            : s->line == 0 ? " lw 1.6 dt solid"
                           : "");
}

static void colour_of(FILE *gp, const struct hn_series *s) {
    fprintf(gp, " lc %d", s->line > 0 ? (s->line - 1) % HN_THEME_LINES + 1 : HN_THEME_LINES);
}

// Beyond the colours of the theme, discs are rings.
static int disc(const struct hn_series *s) { return s->line > HN_THEME_LINES ? 6 : 7; }

static bool has_interval(const struct hn_series *s) {
    for (int64_t i = 0; i < s->n; i++)
        if (!isnan(s->datum[i].lo) && !isnan(s->datum[i].hi))
            return true;
    return false;
}

static void begin_plot(FILE *gp, const char *tsv, const struct hn_series *s) {
    fprintf(gp, ", \\\n    '%s' index %d ", tsv, s->index);
}

// What lies behind the curves: bands, areas, raw values.
static void plot_behind(FILE *gp, const char *tsv, const struct hn_panel *panel,
                        const struct hn_series *s, bool dumb) {
    bool line = s->look == HN_LOOK_LINE || s->look == HN_LOOK_PLAIN;
    if (dumb)
        return;
    if (s->look == HN_LOOK_AREA) {
        begin_plot(gp, tsv, s);
        fputs("using 1:2 with filledcurves y1=0", gp);
        colour_of(gp, s);
        fputs(" notitle", gp);
    } else if (line && s->n > 1 && has_interval(s) && !panel->rows) {
        begin_plot(gp, tsv, s);
        fputs("using 1:3:4 with filledcurves", gp);
        colour_of(gp, s);
        fputs(" notitle", gp);
    } else if ((line || s->look == HN_LOOK_MARKS) && has_interval(s)) {
        begin_plot(gp, tsv, s);
        fputs(panel->rows ? "using 1:2:3:4 with xerrorbars" : "using 1:2:3:4 with yerrorbars", gp);
        line_of(gp, s, " dt solid pt 0 notitle");
    }
}

static void plot_bars(FILE *gp, const struct hn_series *s, double from) {
    fprintf(gp, "using (%.9g):2:(%.9g):1:($2-0.34):($2+0.34) with boxxyerror", from, from);
    colour_of(gp, s);
    fputs(" fs solid 0.75 noborder", gp);
}

static void plot_front(FILE *gp, const char *tsv, const struct hn_series *s, struct range x) {
    begin_plot(gp, tsv, s);
    switch (s->look) {
    case HN_LOOK_LINE:
        fputs(s->n > 1 ? "using 1:2 with linespoints" : "using 1:2 with points", gp);
        line_of(gp, s, "");
        break;
    case HN_LOOK_PLAIN:
    case HN_LOOK_AREA:
        fputs(s->n > 1 ? "using 1:2 with lines" : "using 1:2 with points", gp);
        line_of(gp, s, "");
        break;
    case HN_LOOK_THIN:
        fputs(s->n > 1 ? "using 1:2 with lines" : "using 1:2 with points", gp);
        line_of(gp, s, " lw 0.8 dt (1,2)");
        break;
    case HN_LOOK_STAIRS:
        fputs(s->n > 1 ? "using 1:2 with steps" : "using 1:2 with points", gp);
        line_of(gp, s, "");
        break;
    case HN_LOOK_MARKS:
        fputs("using 1:2 with points", gp);
        line_of(gp, s, "");
        break;
    case HN_LOOK_FAINT:
        fprintf(gp, "using 1:2 with points pt 7 ps 0.24 lc rgb hn_faint_%d",
                s->line > 0 ? s->line : 8);
        break;
    case HN_LOOK_BARS: plot_bars(gp, s, x.lo); break;
    case HN_LOOK_RULE:
        fprintf(gp, "using (%.9g):2:(%.9g):(0) with vectors nohead", x.lo, x.hi - x.lo);
        line_of(gp, s, " lw 1 dt (6,3)");
        break;
    case HN_LOOK_PAPER:
        fputs("using 1:2 with points pt 2 ps 0.75 lw 1.4 lc rgb '#000000'", gp);
        break;
    case HN_LOOK_DISCS:
        fprintf(gp, "using 1:2:(0.35+1.5*sqrt($5)) with points pt %d ps variable", disc(s));
        colour_of(gp, s);
        break;
    case HN_LOOK_HEAT: fputs("using 1:2:5 with image", gp); break;
    }
}

// A text terminal has no colours: of a heat map the warmest tenth is marked.
static double warm(const struct hn_series *s) {
    double lo = INFINITY, hi = -INFINITY;
    for (int64_t i = 0; i < s->n; i++) {
        lo = fmin(lo, s->datum[i].size);
        hi = fmax(hi, s->datum[i].size);
    }
    return lo + 0.5 * (hi - lo);
}

static void plot_dumb(FILE *gp, const char *tsv, const struct hn_series *s, struct range x) {
    if (s->look == HN_LOOK_FAINT)
        return;
    if (s->look == HN_LOOK_HEAT) {
        begin_plot(gp, tsv, s);
        fprintf(gp, "using 1:($5>=%.9g?$2:NaN) with dots notitle", warm(s));
        return;
    }
    if (s->look == HN_LOOK_BARS || s->look == HN_LOOK_DISCS) {
        begin_plot(gp, tsv, s);
        fputs("using 1:2 with points", gp);
        line_of(gp, s, "");
    } else
        plot_front(gp, tsv, s, x);
    fputs(*s->label ? " title " : " notitle", gp);
    if (*s->label)
        hn_gp_string(gp, s->label);
}

static void plot_panel(const struct geometry *g, FILE *gp, const char *tsv, int p, struct range x) {
    const struct hn_panel *panel = &g->page->panel[p];
    fputs("plot NaN notitle", gp);
    for (int faint = 1; faint >= 0; faint--)
        for (int s = 0; s < panel->n_series; s++) {
            const struct hn_series *series = panel->series[s];
            if (series->index < 0 || (series->look == HN_LOOK_FAINT) != faint)
                continue;
            plot_behind(gp, tsv, panel, series, false);
            if (faint) {
                plot_front(gp, tsv, series, x);
                fputs(" notitle", gp);
            }
        }
    for (int s = 0; s < panel->n_series; s++)
        if (panel->series[s]->index >= 0 && panel->series[s]->look != HN_LOOK_FAINT) {
            plot_front(gp, tsv, panel->series[s], x);
            fputs(" notitle", gp);
        }
    fputc('\n', gp);
}

// A label at the end of a curve.
struct end_label {
    double y;
    const struct hn_series *series;
};

static int by_height(const void *a, const void *b) {
    const struct end_label *p = a, *q = b;
    return p->y < q->y ? -1 : p->y > q->y ? 1 : p->series->index - q->series->index;
}

// Labels stacked on one another about a middle.
struct stack {
    double middle;
    int n;
};

static double inside(double middle, double half, double lo, double hi) {
    return fmax(fmin(middle, hi - half), lo + half);
}

// Moves labels, sorted by height, apart to at least `apart` and into [0, 1]: those that would
// overlap are stacked about the mean of their places, stacks that meet become one.
static void spread(struct end_label *label, int n, double apart) {
    struct stack stack[HN_PANEL_SERIES];
    int stacks = 0, placed = 0;
    for (int i = 0; i < n; i++) {
        stack[stacks++] = (struct stack){inside(label[i].y, 0, 0, 1), 1};
        for (; stacks > 1; stacks--) {
            struct stack *below = &stack[stacks - 2], *top = below + 1;
            int both = below->n + top->n;
            if (top->middle - below->middle >= 0.5 * apart * both)
                break;
            double middle = (below->n * below->middle + top->n * top->middle) / both;
            *below = (struct stack){inside(middle, 0.5 * apart * (both - 1), 0, 1), both};
        }
    }
    for (int k = 0; k < stacks; k++)
        for (int j = 0; j < stack[k].n; j++)
            label[placed++].y = stack[k].middle + apart * (j - 0.5 * (stack[k].n - 1));
}

static void end_labels(const struct geometry *g, FILE *gp, struct range y) {
    const struct hn_panel *panel = &g->page->panel[0];
    struct end_label label[HN_PANEL_SERIES];
    int n = 0;
    for (int s = 0; s < panel->n_series; s++) {
        const struct hn_series *series = panel->series[s];
        if (series->index < 0 || !*end_text(series))
            continue;
        double last = series->datum[series->n - 1].y;
        label[n++] = (struct end_label){share_of(&panel->y, last, y), series};
    }
    qsort(label, (size_t)n, sizeof *label, by_height);
    spread(label, n, 0.15 / g->panel_height);
    for (int i = 0; i < n; i++) {
        fprintf(gp, "set label %d ", 100 + i);
        hn_gp_string(gp, end_text(label[i].series));
        fprintf(gp, " at graph 1.02, graph %.5f left", label[i].y);
        if (label[i].series->line > 0)
            fprintf(gp, " textcolor lt %d", label[i].series->line);
        fputc('\n', gp);
    }
}

static void script_frames(FILE *gp, const struct hn_panel *panel) {
    for (int i = 0; i < panel->n_frames; i++) {
        const double *f = panel->frame[i];
        fprintf(gp,
                "set object %d rectangle from first %.9g, first %.9g to first %.9g, first %.9g "
                "front fillstyle empty border lc rgb '#60FFFFFF' lw 0.4\n",
                i + 1, f[0], f[1], f[2], f[3]);
    }
}

static void script_titles(const struct geometry *g, FILE *gp, int p, struct hn_box box) {
    const struct hn_panel *panel = &g->page->panel[p];
    double middle = box.left + 0.5 * box.width;
    bool first = p % g->columns == 0;
    bool same = !first && strcmp(panel->y.title, panel[-1].y.title) == 0;
    if (*panel->y.title && !panel->rows && !same)
        hn_axis_title(gp, 2, panel->y.title, box.left - g->left[p % g->columns] + 0.1,
                      box.top + 0.5 * box.height, true, g->width, g->height);
    if (*panel->x.title && shows_x_title(g, p))
        hn_axis_title(gp, 3, panel->x.title, middle, box.top + box.height + 0.35, false, g->width,
                      g->height);
    if (!*panel->title)
        return;
    fputs("set label 1 ", gp);
    hn_gp_string(gp, panel->title);
    fprintf(gp, " at screen %.5f, screen %.5f left\n", box.left / g->width,
            1 - (box.top - 0.11) / g->height);
}

// Heat maps of a page share their colours, whose scale stands beside the last one. A few cells far
// above the others would leave those dark: the scale ends at eight deviations above the mean.
static void script_colours(const struct geometry *g, FILE *gp, int p) {
    struct range r = {INFINITY, -INFINITY};
    double sum = 0, squares = 0, n = 0;
    const char *title = "";
    for (int k = 0; k < g->page->panels; k++)
        for (int s = 0; s < g->page->panel[k].n_series; s++) {
            const struct hn_series *series = g->page->panel[k].series[s];
            for (int64_t i = 0; i < series->n && series->look == HN_LOOK_HEAT; i++) {
                double value = series->datum[i].size;
                r.lo = fmin(r.lo, value);
                r.hi = fmax(r.hi, value);
                sum += value;
                squares += value * value;
                n++;
                title = series->label;
            }
        }
    if (n == 0)
        return;
    double sd = sqrt(fmax(0, squares / n - sum / n * sum / n));
    r.hi = fmin(r.hi, sum / n + 8 * sd);
    r.hi = r.hi > r.lo ? r.hi : r.lo + 1;
    fprintf(gp, "set style fill solid noborder; set cbrange [%.9g:%.9g]; set cbtics %g nomirror\n",
            r.lo, r.hi, hn_tic_step(r.hi - r.lo, 5));
    fputs("set cblabel ", gp);
    hn_gp_string(gp, title);
    fputs(p + 1 == g->page->panels ? "; set colorbox\n" : "; unset colorbox\n", gp);
}

static void script_panel(const struct geometry *g, FILE *gp, const char *tsv, int p) {
    struct hn_box box = panel_box(g, p);
    fputs("unset label; unset object; unset arrow\n", gp);
    hn_place_panel(gp, box, g->width, g->height);
    struct range x = script_axis(g, gp, p, false), y = script_axis(g, gp, p, true);
    script_titles(g, gp, p, box);
    hn_page_write_marks(gp, &g->page->panel[p], (const double[]){x.lo, x.hi},
                        (const double[]){y.lo, y.hi}, box.width, box.height);
    script_frames(gp, &g->page->panel[p]);
    script_colours(g, gp, p);
    if (g->end_labels)
        end_labels(g, gp, y);
    plot_panel(g, gp, tsv, p, x);
}

static void key_look(FILE *gp, const struct hn_series *s) {
    switch (s->look) {
    case HN_LOOK_BARS:
        fputs("boxes fs solid 0.75", gp);
        colour_of(gp, s);
        return;
    case HN_LOOK_AREA:
    case HN_LOOK_PLAIN:
    case HN_LOOK_STAIRS:
        fputs("lines", gp);
        line_of(gp, s, "");
        return;
    case HN_LOOK_RULE:
        fputs("lines", gp);
        line_of(gp, s, " lw 1 dt (6,3)");
        return;
    case HN_LOOK_THIN:
        fputs("lines", gp);
        line_of(gp, s, " lw 0.8 dt (1,2)");
        return;
    case HN_LOOK_PAPER: fputs("points pt 2 ps 0.75 lw 1.4 lc rgb '#000000'", gp); return;
    case HN_LOOK_DISCS:
        fprintf(gp, "points pt %d ps 0.9", disc(s));
        colour_of(gp, s);
        return;
    case HN_LOOK_MARKS:
        fputs("points", gp);
        line_of(gp, s, "");
        return;
    default: fputs("linespoints", gp); line_of(gp, s, "");
    }
}

// gnuplot folds a key as it sees fit, differently in every terminal. So every entry is a key of its
// own, of a plot of nothing. This comes last, since it takes frame and tics away.
static void script_key(const struct geometry *g, FILE *gp) {
    const struct key *k = &g->key;
    double left = fmax(0.05, 0.5 * (g->width - k->columns * k->cell));
    if (k->entries == 0)
        return;
    fputs("unset border; unset tics; unset grid; unset label; unset object; unset arrow; unset "
          "logscale\n"
          "unset colorbox; set xrange [0:1]; set yrange [0:1]\n",
          gp);
    hn_place_panel(gp, (struct hn_box){0, 0, g->width, g->height}, g->width, g->height);
    for (int i = 0; i < k->entries; i++) {
        int row = i / k->columns, column = i % k->columns;
        double x = left + column * k->cell, y = 0.12 + key_row * row;
        fprintf(gp, "set key at screen %.5f, screen %.5f left center Left reverse\nplot NaN with ",
                x / g->width, 1 - y / g->height);
        key_look(gp, k->entry[i]);
        fputs(" title ", gp);
        hn_gp_string(gp, k->entry[i]->label);
        fputc('\n', gp);
    }
}

enum { DUMB_PANELS = 3, DUMB_LINES = 20 };

static void script_dumb(const struct geometry *g, FILE *gp, const char *tsv) {
    int n = g->page->panels < DUMB_PANELS ? g->page->panels : DUMB_PANELS;
    fprintf(gp, "set multiplot layout %d,1\nset key top right\n", n);
    for (int p = 0; p < n; p++) {
        const struct hn_panel *panel = &g->page->panel[p];
        fputs("set title ", gp);
        hn_gp_string(gp, *panel->title ? panel->title : panel->y.title);
        fputs("\nset xlabel ", gp);
        hn_gp_string(gp, panel->x.title);
        fputs("\nset ylabel ", gp);
        hn_gp_string(gp, *panel->title ? panel->y.title : "");
        fputc('\n', gp);
        struct range x = script_axis(g, gp, p, false);
        (void)script_axis(g, gp, p, true);
        fputs("plot NaN notitle", gp);
        for (int s = 0; s < panel->n_series; s++)
            if (panel->series[s]->index >= 0)
                plot_dumb(gp, tsv, panel->series[s], x);
        fputc('\n', gp);
    }
    fputs("unset multiplot\n", gp);
}

void hn_page_size(const struct hn_page *page, struct hn_figure_size *size) {
    struct geometry g;
    arrange(page, &g);
    int shown = page->panels < DUMB_PANELS ? page->panels : DUMB_PANELS;
    *size = (struct hn_figure_size){g.width, g.height, shown * DUMB_LINES + 2};
}

void hn_page_write_script(struct hn_page *page, const char *tsv, FILE *gp) {
    struct geometry g;
    arrange(page, &g);
    fputs("if (hn_dumb) {\n", gp);
    script_dumb(&g, gp, tsv);
    fputs("} else {\nset multiplot\nunset key\n", gp);
    for (int p = 0; p < page->panels; p++)
        script_panel(&g, gp, tsv, p);
    script_key(&g, gp);
    fputs("unset multiplot\n}\n", gp);
}
