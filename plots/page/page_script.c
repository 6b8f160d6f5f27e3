// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the gnuplot commands that draw a page.
#include "plots/page/page_private.h"

#include <math.h>

enum { MAX_TICS = 9, DUMB_LINES = 20, DUMB_AROUND = 7 };

// A distance of tics, 1, 2 or 5 times a power of ten, so that at most `max` of them fit; a little
// less where only one tic would be in the range, which would tell no distances.
static double tics_of(struct hn_range r, int max) {
    double range = fabs(r.hi - r.lo), step = pow(10, floor(log10(range / max)));
    for (int i = 0; step * max < range && i < 3; i++)
        step *= i == 1 ? 2.5 : 2;
    double within = floor(fmax(r.lo, r.hi) / step) - ceil(fmin(r.lo, r.hi) / step) + 1;
    return within < 2 ? 0.8 * step : step;
}

// Tics of a logarithmic axis at 1, 2 and 5, and how many of them are at 1.
struct log_tics {
    double at[192]; // an axis ends at 1e-30 and 1e30
    int n, decades;
};

static struct log_tics find_log_tics(struct hn_range r) {
    static const int within[] = {1, 2, 5};
    struct log_tics t = {.n = 0};
    for (int decade = (int)floor(log10(r.lo)); decade <= (int)ceil(log10(r.hi)); decade++)
        for (int i = 0; i < 3; i++) {
            double at = within[i] * pow(10, decade);
            if (at < r.lo * 0.999 || at > r.hi * 1.001)
                continue;
            t.at[t.n++] = at;
            t.decades += i == 0;
        }
    return t;
}

// Even tics, as on a linear axis, for a range with fewer than two of these.
static void even_tics(FILE *gp, bool latex, const char *name, struct hn_range r, int max) {
    double step = tics_of(r, max);
    const char *joint = "";
    fprintf(gp, "set format %s '%s'\nset %stics (", name, latex ? "$%h$" : "%h", name);
    for (double k = ceil(r.lo / step); k * step <= r.hi; k++, joint = ", ")
        fprintf(gp, "%s%.9g", joint, k * step);
    fputs(")\n", gp);
}

// Every so many decades. Gnuplot 6 counts what steps of that size would be on a linear axis, and
// draws none of 100,000.
static void decades(FILE *gp, const char *name, struct hn_range r, int every) {
    double step = pow(10, every);
    const char *before = "";
    fprintf(gp, "%g\n", step);
    if (r.hi / step < 9e4)
        return;
    fprintf(gp, "if (GPVAL_VERSION >= 6) { set %stics (", name);
    for (int at = (int)ceil(log10(r.lo)); at <= (int)floor(log10(r.hi)); at++)
        if (at % every == 0) {
            fprintf(gp, "%s%g", before, pow(10, at));
            before = ", ";
        }
    fputs(") }\n", gp);
}

// At most `max` labels: 1, 2, 5, else decades. Exponents are set
// at seven eighths of the size.
static void log_tics(FILE *gp, bool latex, const char *name, struct hn_range r, int max) {
    int from = (int)floor(log10(r.lo)), to = (int)ceil(log10(r.hi));
    const struct log_tics t = find_log_tics(r);
    // Up to a decade and a half, where they fit or decades alone would be too few.
    bool fine = log10(r.hi / r.lo) <= 1.6 && (t.n <= max || t.decades < 2);
    bool plain = from >= -4 && to <= 4;
    if (t.n < 2) {
        even_tics(gp, latex, name, r, max);
        return;
    }
    const char *format = plain   ? (latex ? "$%g$" : "%g")
                         : latex ? (fine ? "$%.0t\\cdot10^{%T}$" : "$10^{%T}$")
                         : fine  ? "%.0t·10^{/*1.1 %T}"
                                 : "10^{/*1.1 %T}";
    fprintf(gp, "set format %s '%s'\nset %stics ", name, format, name);
    int every = (to - from + max - 1) / max;
    if (!fine)
        decades(gp, name, r, every);
    for (int i = 0; fine && i < t.n; i++)
        fprintf(gp, "%s%.6g", i ? ", " : "(", t.at[i]);
    fputs(fine ? ")\n" : "", gp);
}

// Along x, a label that would run into the one before it is left out; its tic stays.
static void own_tics(const struct hn_layout *g, FILE *gp, char name, const struct hn_axis *axis,
                     struct hn_range r, double inches) {
    double end = -INFINITY;
    fprintf(gp, "set %ctics (", name);
    for (int i = 0; i < axis->n_tics; i++) {
        double at = inches * hn_axis_share(axis, axis->tic[i].at, r);
        double half = 0.5 * HN_LETTER * (double)hn_letters(axis->tic[i].text);
        half = axis->slanted ? 0 : half;
        bool fits = inches > 0 && (name == 'y' || at - half > end + 0.04);
        fputs(i ? ", " : "", gp);
        char text[HN_LABEL_SIZE];
        const struct hn_texts rows = {axis->tic[0].text, sizeof axis->tic[0], axis->n_tics};
        hn_text_shorten(&rows, i, name == 'y' ? g->row_letters : HN_LABEL_SIZE, text, sizeof text);
        hn_page_text(g->page, gp, fits ? text : "");
        fprintf(gp, " %.9g", axis->tic[i].at);
        end = fits ? at + half : end;
    }
    fputs(axis->slanted ? ") rotate by -25\n" : ")\n", gp);
}

static void script_axis(const struct hn_layout *g, FILE *gp, int p, bool vertical) {
    const struct hn_box box = hn_layout_box(g, p);
    const struct hn_panel *panel = &g->page->panel[p];
    const struct hn_axis *axis = vertical ? &panel->y : &panel->x;
    const struct hn_range r = hn_page_range(g->page, panel, vertical);
    char name = vertical ? 'y' : 'x';
    // The scale comes after the range, since gnuplot warns if the range before has no logarithm.
    fprintf(gp, "unset logscale %c; set %crange [%.9g:%.9g]; %c_lo = %.9g; %c_hi = %.9g\n", name,
            name, r.lo, r.hi, name, r.lo, name, r.hi);
    if (axis->log)
        fprintf(gp, "set logscale %c\n", name);
    double inches = vertical ? box.height : box.width;
    int max = (int)fmax(2, fmin(vertical ? 3.4 * inches : 3.6 * inches, MAX_TICS));
    bool silent = vertical && panel->rows && g->page->share_y && hn_layout_column(g, p) > 0;
    if (axis->n_tics > 0)
        own_tics(g, gp, name, axis, r, silent ? 0 : inches);
    else if (axis->log)
        log_tics(gp, g->page->latex, vertical ? "y" : "x", r, max);
    else
        fprintf(gp, "set %ctics autofreq %g format '%s'\n", name, tics_of(r, max),
                g->page->latex ? "$%h$" : "%h");
}

// Form of a look in gnuplot; x_lo and x_hi are the ends of the horizontal axis.
static const struct form {
    const char *using, *with;
    const char *words, *key; // width and dash instead of the line's own; in the key, NULL = with
    bool own;                // `with` says colour and style
    bool joined;             // needs two points; one is a mark
} forms[] = {
    [HN_LOOK_LINE] = {"1:2", "linespoints", "", NULL, false, true},
    [HN_LOOK_PLAIN] = {"1:2", "lines", "", NULL, false, true},
    [HN_LOOK_THIN] = {"1:2", "lines", " lw 1.4 dt (3,3)", NULL, false, true},
    [HN_LOOK_AREA] = {"1:2", "lines", "", NULL, false, true},
    [HN_LOOK_MARKS] = {"1:2", "points", "", NULL, false, false},
    [HN_LOOK_DOTS] = {"1:2", "points", " pt 7 ps 0.24", NULL, false, false},
    [HN_LOOK_RULE] = {"(x_lo):2:(x_hi-x_lo):(0)", "vectors nohead", " lw 1 dt (6,3)", "lines",
                      false, false},
    [HN_LOOK_UPRIGHT] = {"1:(y_lo):(0):(y_hi-y_lo)", "vectors nohead", " lw 1 dt (6,3)", "lines",
                         false, false},
    [HN_LOOK_PAPER] = {"1:2", "points pt 2 ps 0.75 lw 1.4 lc rgb '#000000'", "", NULL, true, false},
    [HN_LOOK_DISCS] = {"1:2:(0.35+1.5*sqrt($5))", "points ps variable", "", "points", false, false},
    [HN_LOOK_RINGS] = {"1:2:(0.35+1.5*sqrt($5))", "points ps variable", " lw 1.6", "points", false,
                       false},
    [HN_LOOK_STAIRS] = {"1:2", "steps", " lw 1 dt solid", "lines", false, true},
    [HN_LOOK_STEMS] = {"1:3:(0):($4-$3)", "vectors nohead", " lw 0.6 dt solid", NULL, false, false},
    [HN_LOOK_ARMS] = {"3:2:($4-$3):(0)", "vectors nohead", " lw 0.6 dt solid", NULL, false, false},
    [HN_LOOK_HEAT] = {"1:2:($5>cb_lo?$5:cb_lo)", "image", "", NULL, true, false},
};

static void line_of(FILE *gp, const struct hn_series *s, const char *words) {
    int style = hn_line_style(s->line);
    fprintf(gp, " lt %d", style ? style : 1);
    hn_write_colour(gp, s->line);
    fputs(style == 0 && !*words ? " lw 1.6" : words, gp);
    if (hn_is_disc(s->look))
        fprintf(gp, " pt hn_%s(%d)", s->look == HN_LOOK_RINGS ? "open" : "filled",
                style ? style : 1);
}

static void write_style(FILE *gp, const struct hn_series *s, const char *with) {
    const struct form *form = &forms[s->look];
    fprintf(gp, "with %s", with);
    if (!form->own)
        line_of(gp, s, form->words);
}

static void begin_plot(FILE *gp, const char *tsv, const struct hn_series *s) {
    fprintf(gp, ", \\\n    '%s' index %d ", tsv, s->index);
}

// Plots bands and areas, which lie behind the curves.
static void plot_behind(FILE *gp, const char *tsv, const struct hn_panel *panel,
                        const struct hn_series *s) {
    bool line = s->look == HN_LOOK_LINE || s->look == HN_LOOK_PLAIN;
    bool area = s->look == HN_LOOK_AREA;
    bool interval = (line || s->look == HN_LOOK_MARKS) && hn_series_has_interval(s);
    if (!area && !interval)
        return;
    begin_plot(gp, tsv, s);
    if (area || hn_series_is_band(panel, s)) {
        fputs(area ? "using 1:2 with filledcurves y1=0" : "using 1:3:4 with filledcurves", gp);
        hn_write_colour(gp, s->line);
    } else {
        fputs(panel->rows ? "using 1:2:3:4 with xerrorbars" : "using 1:2:3:4 with yerrorbars", gp);
        line_of(gp, s, " dt solid pt 0");
    }
    hn_write_title(s->page, gp, hn_series_end(s));
}

static bool is_interval(const struct hn_series *s) {
    return s->look == HN_LOOK_STEMS || s->look == HN_LOOK_ARMS;
}

static void plot_front(FILE *gp, const char *tsv, const struct hn_series *s, const char *title) {
    const struct form *form = &forms[s->look];
    begin_plot(gp, tsv, s);
    fprintf(gp, "using %s ", form->using);
    write_style(gp, s, form->joined && s->n == 1 ? "points" : form->with);
    hn_write_title(s->page, gp, title);
}

// Half of the range: a text terminal has no colours, of a heat map the warmer half is marked.
static double warm(const struct hn_series *s) {
    double lo = INFINITY, hi = -INFINITY;
    for (int64_t i = 0; i < s->n; i++) {
        lo = fmin(lo, s->datum[i].size);
        hi = fmax(hi, s->datum[i].size);
    }
    return lo + 0.5 * (hi - lo);
}

// Series k of a panel on a text terminal, which has neither colours nor room for labels: a letter
// stands for each series of discs, which the key names.
static void plot_letter(FILE *gp, const char *tsv, const struct hn_panel *panel, int k) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    int before = 0;
    for (int i = 0; i < k; i++)
        before += hn_is_disc(panel->series[i]->look) && panel->series[i]->index >= 0;
    bool lettered = before < (int)sizeof letters - 1;
    begin_plot(gp, tsv, panel->series[k]);
    fprintf(gp, "using 1:2 with points pt \"%c\"", lettered ? letters[before] : '*');
    hn_write_title(panel->series[k]->page, gp, lettered ? hn_series_end(panel->series[k]) : "");
}

// The interval of a row, behind its mark.
static void plot_range(FILE *gp, const char *tsv, const struct hn_series *s) {
    begin_plot(gp, tsv, s);
    fputs("using 3:2:($4-$3):(0) with vectors nohead lt 1 notitle", gp);
}

static void plot_dumb(FILE *gp, const char *tsv, const struct hn_panel *panel, int k) {
    const struct hn_series *s = panel->series[k];
    if (panel->rows && s->look == HN_LOOK_MARKS && hn_series_has_interval(s))
        plot_range(gp, tsv, s);
    if (hn_is_disc(s->look)) {
        plot_letter(gp, tsv, panel, k);
    } else if (s->look == HN_LOOK_HEAT) {
        begin_plot(gp, tsv, s);
        fprintf(gp, "using 1:($5>=%.9g?$2:NaN) with dots notitle", warm(s));
    } else if (s->look != HN_LOOK_DOTS && !is_interval(s))
        plot_front(gp, tsv, s, s->label);
}

// In SVG titles name what is drawn. A plot of nothing comes first: gnuplot complains of no points.
static void plot_panel(const struct hn_layout *g, FILE *gp, const char *tsv, int p, bool dumb) {
    const struct hn_panel *panel = &g->page->panel[p];
    fputs("plot NaN notitle", gp);
    // Raw values, intervals, curves, and Uniform's curve over those of the others.
    for (int layer = dumb ? 2 : 0; layer < 4; layer++)
        for (int k = 0; k < panel->n_series; k++) {
            const struct hn_series *s = panel->series[k];
            bool uniform = hn_line_colour(s->line) == HN_LINE_UNIFORM;
            if (s->index < 0 || (layer > 1 && uniform != (layer == 3)))
                continue;
            if (dumb)
                plot_dumb(gp, tsv, panel, k);
            else if (layer == 1)
                plot_behind(gp, tsv, panel, s);
            else if ((layer == 0) == (s->look == HN_LOOK_DOTS || is_interval(s)))
                plot_front(gp, tsv, s, hn_series_end(s));
        }
}

static void script_frames(FILE *gp, const struct hn_panel *panel) {
    for (int i = 0; i < panel->n_frames; i++) {
        const double *f = panel->frame[i];
        fprintf(gp,
                "set object %d rectangle from first %.9g, first %.9g to first %.9g, first %.9g "
                "front fillstyle empty border lc rgb '%s\n",
                i + 1, f[0], f[1], f[2], f[3],
                panel->series[0]->look == HN_LOOK_HEAT ? "#20FFFFFF' lw 0.6" : "#777777' lw 0.8");
    }
}

static void write_text(const struct hn_layout *g, FILE *gp, const char *command, const char *text) {
    fprintf(gp, "set %s ", command);
    hn_page_text(g->page, gp, text);
    fputc('\n', gp);
}

static void script_titles(const struct hn_layout *g, FILE *gp, int p, struct hn_box box) {
    const struct hn_panel *panel = &g->page->panel[p];
    bool is_inset = g->inset && p > 0;
    fprintf(gp, "set label 2 at screen %.5f, graph 0.5 center rotate\n",
            (box.left - (is_inset ? 0.44 : g->left[hn_layout_column(g, p)] - 0.12)) / g->width);
    write_text(g, gp, "label 2", hn_layout_shows_y_title(g, p) ? panel->y.title : "");
    // A terminal's own position for an axis' label depends on its fonts: it may be off the page.
    double below = box.top + box.height + hn_layout_x_title_depth(panel);
    fprintf(gp, "set label 3 at graph 0.5, screen %.5f center\n", 1 - below / g->height);
    write_text(g, gp, "label 3", hn_layout_shows_x_title(g, p) ? panel->x.title : "");
    write_text(g, gp, "label 1 at graph 0, graph 1 left offset 0,0.6", g->title[p].lower);
    if (*g->title[p].upper)
        write_text(g, gp, "label 4 at graph 0, graph 1 left offset 0,1.6", g->title[p].upper);
}

// Heat maps of a page share their colours, whose scale stands beside the last one. A few cells far
// above the others would leave those dark: it is logarithmic, over three decades at most.
static void script_colours(const struct hn_layout *g, FILE *gp, int p) {
    struct hn_range r = {INFINITY, 0};
    const char *title = "";
    for (int k = 0; k < g->page->panels; k++)
        for (int s = 0; s < g->page->panel[k].n_series; s++) {
            const struct hn_series *series = g->page->panel[k].series[s];
            for (int64_t i = 0; i < series->n && series->look == HN_LOOK_HEAT; i++) {
                double value = series->datum[i].size;
                r.lo = value > 0 ? fmin(r.lo, value) : r.lo;
                r.hi = fmax(r.hi, value);
                title = series->label;
            }
        }
    if (!*title)
        return;
    r.hi = r.hi > 0 ? r.hi : 1;
    r.lo = fmin(fmax(r.lo, 1e-3 * r.hi), 0.5 * r.hi);
    fprintf(
        gp,
        "set style fill solid noborder; set logscale cb; set cbrange [%.9g:%.9g]; cb_lo = %.9g\n",
        r.lo, r.hi, r.lo);
    log_tics(gp, g->page->latex, "cb", r, 4);
    write_text(g, gp, "cblabel", title);
    fputs(p + 1 == g->page->panels ? "set colorbox\n" : "unset colorbox\n", gp);
}

static void place_panel(const struct hn_layout *g, FILE *gp, struct hn_box box) {
    fprintf(gp,
            "set lmargin at screen %.5f; set rmargin at screen %.5f\n"
            "set tmargin at screen %.5f; set bmargin at screen %.5f\n",
            box.left / g->width, (box.left + box.width) / g->width, 1 - box.top / g->height,
            1 - (box.top + box.height) / g->height);
}

static void script_panel(const struct hn_layout *g, FILE *gp, const char *tsv, int p) {
    struct hn_box box = hn_layout_box(g, p);
    if (g->page->panel[p].blank)
        return;
    fputs("unset label; unset object; unset arrow\n", gp);
    place_panel(g, gp, box);
    script_axis(g, gp, p, false);
    script_axis(g, gp, p, true);
    script_titles(g, gp, p, box);
    script_frames(gp, &g->page->panel[p]);
    script_colours(g, gp, p);
    if (g->inset && p == 0) // its tics and titles, too, stand on white
        fprintf(
            gp,
            "set object 99 rectangle from graph %.5f, graph %.5f to graph %.5f, graph %.5f back "
            "fillcolor rgb '#FFFFFF' fillstyle solid noborder\n",
            g->inset_left, g->inset_bottom, g->inset_left + HN_INSET_SHARE,
            g->inset_bottom + HN_INSET_SHARE);
    if (g->end_labels && p == 0)
        hn_page_write_ends(g, gp);
    plot_panel(g, gp, tsv, p, false);
    hn_page_write_marks(g, gp, p);
    fputc('\n', gp);
}

static void script_entry(const struct hn_layout *g, FILE *gp, int entry) {
    const struct hn_series *s = g->key.entry[entry];
    const struct form *form = &forms[s->look];
    fputs(", \\\n    keyentry ", gp);
    write_style(gp, s, form->key ? form->key : form->with);
    if (hn_is_disc(s->look))
        fprintf(gp, " ps %.3f", s->key_size > 0 ? hn_disc_size(s->key_size) : 0.9);
    hn_write_title(g->page, gp, g->key.text[entry]);
}

// The key of the page: every column of it is the key of a plot of nothing over all of the page, so
// that columns stand where the layout has them, whatever width a terminal takes letters to have.
// This comes last, since it takes frame and tics away.
static void script_key(const struct hn_layout *g, FILE *gp) {
    const struct hn_key *k = &g->key;
    if (k->entries == 0)
        return;
    fputs("unset border; unset tics; unset grid; unset label; unset object; unset arrow; unset "
          "logscale\n"
          "unset colorbox; unset xlabel; set xrange [0:1]; set yrange [0:1]\n",
          gp);
    place_panel(g, gp, (struct hn_box){0, 0, g->width, g->height});
    for (int c = 0; c < k->columns; c++) {
        fprintf(gp,
                "set key at screen %.5f, screen %.5f left top vertical Left reverse maxcols 1\n"
                "plot NaN notitle",
                hn_layout_key_left(g, c) / g->width, 1 - 0.02 / g->height);
        for (int i = c * k->rows; i < k->entries && i < (c + 1) * k->rows; i++)
            script_entry(g, gp, i);
        fputc('\n', gp);
    }
}

// The first of many panels, a screen; where the last stands beside the others, the one before it.
static int first_dumb(const struct hn_page *page, int *n) {
    *n = page->all_on_terminal ? page->panels : 1;
    return page->tall_last && !page->all_on_terminal ? (int)hn_max(page->panels - 2, 0) : 0;
}

static bool has_discs(const struct hn_panel *panel) {
    for (int k = 0; k < panel->n_series; k++)
        if (hn_is_disc(panel->series[k]->look) && panel->series[k]->index >= 0)
            return true;
    return false;
}

// Of a panel on a text terminal: a line a row, or a name of the key.
static int dumb_lines(const struct hn_panel *panel) {
    int names = panel->rows ? panel->y.n_tics : has_discs(panel) ? panel->n_series : 0;
    return (int)hn_max(DUMB_LINES, names + DUMB_AROUND);
}

static void script_dumb(const struct hn_layout *g, FILE *gp, const char *tsv) {
    int n, first = first_dumb(g->page, &n);
    fprintf(gp, "set multiplot layout %d,1\n", n);
    for (int p = first; p < first + n; p++) {
        const struct hn_panel *panel = &g->page->panel[p];
        if (panel->blank)
            continue;
        write_text(g, gp, "title", *panel->title ? panel->title : panel->y.title);
        write_text(g, gp, "xlabel", panel->x.title);
        write_text(g, gp, "ylabel", *panel->title ? panel->y.title : "");
        script_axis(g, gp, p, false);
        script_axis(g, gp, p, true);
        fputs(panel->rows ? "unset grid\n" : "set grid\n", gp); // ranges are lines of the same mark
        fputs(has_discs(panel) ? "set key outside right top Left reverse samplen 1\n"
                               : "set key inside top right noreverse\n",
              gp);
        plot_panel(g, gp, tsv, p, true);
        fputc('\n', gp);
    }
    fputs("unset multiplot\n", gp);
}

void hn_page_size(const struct hn_page *page, struct hn_figure_size *size) {
    struct hn_layout g;
    int shown, max = DUMB_LINES, first = first_dumb(page, &shown);
    hn_layout_make(page, &g);
    for (int p = first; p < first + shown; p++)
        max = (int)hn_max(max, dumb_lines(&page->panel[p]));
    *size = (struct hn_figure_size){g.width, g.height, shown * max + 2};
}

void hn_page_write_script(struct hn_page *page, const char *tsv, FILE *gp) {
    struct hn_layout g;
    hn_layout_make(page, &g);
    fputs("if (hn_dumb) {\n", gp);
    const int letters = g.row_letters;
    g.row_letters = (int)hn_min(letters, HN_ROW_LETTERS); // a terminal is as wide as it is
    script_dumb(&g, gp, tsv);
    g.row_letters = letters;
    fputs("} else {\nset multiplot\nunset key\n", gp);
    for (int p = 0; p < page->panels; p++)
        script_panel(&g, gp, tsv, p);
    script_key(&g, gp);
    fputs("unset multiplot\n}\n", gp);
}
