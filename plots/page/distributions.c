// How similar the pairs of a batch are, and how many of them are false negatives, over training (BS
// figures 4 to 6, 8, 9 and 11).
//
// Left, a panel per training step: densities of the cosine of all pairs of a batch (true and false
// negatives and unlabelled pairs together, positives apart). Right: the false-negative ratio over
// steps. Our deviation: a panel per step where the paper shows the last epoch alone; and the
// histograms of all seeds are added up.
#include "plots/page/distributions.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 6, MOST_STEPS_OF_MANY = 3, WIDEST = 3, MOST_ROWS = 256 };

// Panels: `rows` blocks (data sets), each with a grid of histograms at chosen steps and one panel
// of the ratio. A single data set may fold its histograms into two rows.
struct layout {
    struct hn_groups groups;
    int64_t shown[MOST_STEPS]; // indices of steps
    int n_shown, columns, rows;
    int64_t merge;  // bins drawn as one
    int64_t lo, hi; // merged bins drawn, [lo, hi)
    struct {
        double highest; // density
        bool has[HN_THEME_LINES];
    } panel[HN_MOST_PANELS][MOST_STEPS]; // by data set and step shown
    double common;  // scale of the panels; one that is higher has a scale of its own
    bool own_scale; // there is such a panel
    struct {
        double lowest, highest; // ends of intervals
        bool has[HN_THEME_LINES], has_band[HN_THEME_LINES];
    } ratio[HN_MOST_PANELS]; // by data set
    bool any_ratio;          // there are labels
};

// Densities of one histogram panel: [settings x bins], NaN where a setting has no pairs.
struct densities {
    double *value;
    int64_t bins;
};

// Steps spread evenly from the first to the last.
static void choose_steps(struct layout *l) {
    int most = l->groups.datasets > 1 ? MOST_STEPS_OF_MANY : MOST_STEPS;
    l->n_shown = (int)hn_min(l->groups.steps, most);
    for (int i = 0; i < l->n_shown; i++)
        l->shown[i] = l->n_shown > 1 ? i * (l->groups.steps - 1) / (l->n_shown - 1) : 0;
}

// Counts of pairs in a batch (all kinds but the first, the positives) in merged bins; returns their
// sum.
static double sum_counts(const struct layout *l, struct hn_where where, double *out, int64_t bins) {
    const struct hn_results *r = l->groups.results;
    double total = 0;
    memset(out, 0, (size_t)bins * sizeof *out);
    int64_t rows[MOST_ROWS];
    int n = hn_groups_rows(&l->groups, where, "step", rows, MOST_ROWS);
    for (int i = 0; i < n; i++) {
        int64_t row = rows[i];
        const uint64_t *count = r->histogram + row * r->kinds * r->bins;
        for (int64_t b = r->bins; b < r->kinds * r->bins; b++) {
            out[b % r->bins / l->merge] += (double)count[b];
            total += (double)count[b];
        }
    }
    return total;
}

static void fill_densities(const struct layout *l, int dataset, int64_t step, struct densities *d) {
    const struct hn_results *r = l->groups.results;
    double width = (r->bin_hi - r->bin_lo) / (double)r->bins * (double)l->merge;
    for (int s = 0; s < l->groups.settings; s++) {
        double *value = d->value + s * d->bins;
        double total = sum_counts(l, (struct hn_where){dataset, 0, s, step}, value, d->bins);
        for (int64_t b = 0; b < d->bins; b++)
            value[b] = total > 0 ? value[b] / (total * width) : NAN;
    }
}

static enum hn_code alloc_densities(struct hn_context *ctx, const struct layout *l,
                                    struct densities *d) {
    d->bins = (l->groups.results->bins + l->merge - 1) / l->merge;
    int64_t cells;
    if (!hn_mul(d->bins, l->groups.settings, &cells))
        return hn_fail(ctx, HN_DATA, "the histograms have too many bins");
    d->value = hn_alloc(ctx, cells, sizeof *d->value);
    return d->value ? HN_OK : ctx->code;
}

// Fewer, wider bins for files with few pairs: at least a hundred pairs a bin on average. Merging
// divides the bins evenly.
static void choose_merge(struct layout *l) {
    static const int64_t merges[] = {2, 4, 5, 8, 10};
    const struct hn_results *r = l->groups.results;
    double least = INFINITY;
    for (int64_t row = 0; row < r->runs.rows; row++) {
        double pairs = 0;
        for (int64_t b = r->bins; b < r->kinds * r->bins && l->groups.place[row].setting >= 0; b++)
            pairs += (double)r->histogram[row * r->kinds * r->bins + b];
        least = pairs > 0 && pairs < least ? pairs : least;
    }
    l->merge = 1;
    for (size_t i = 0; i < sizeof merges / sizeof merges[0]; i++)
        if (r->bins % merges[i] == 0 &&
            (l->merge == 1 || least * (double)l->merge < 100.0 * (double)r->bins))
            l->merge = merges[i];
}

static void grow_range(struct layout *l, int64_t from, int64_t to) {
    l->lo = from < l->lo ? from : l->lo;
    l->hi = to > l->hi ? to : l->hi;
}

// Finds the highest density of a panel, the settings it has, and the bins in which any curve
// reaches a hundredth of its own peak.
static void measure_panel(struct layout *l, const struct densities *d, int dataset, int i) {
    l->panel[dataset][i].highest = 0;
    for (int s = 0; s < l->groups.settings; s++) {
        const double *value = d->value + s * d->bins;
        double peak = 0;
        for (int64_t b = 0; b < d->bins; b++)
            peak = fmax(peak, isnan(value[b]) ? 0 : value[b]);
        for (int64_t b = 0; b < d->bins && peak > 0; b++)
            if (value[b] >= 0.01 * peak)
                grow_range(l, b, b + 1);
        l->panel[dataset][i].has[s] = peak > 0;
        l->panel[dataset][i].highest = fmax(l->panel[dataset][i].highest, peak);
    }
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// An untrained encoder packs everything into a narrow peak, on whose scale the other steps would be
// flat: panels more than twice as high as the median are left out of the common scale.
static void choose_scale(struct layout *l) {
    double all[HN_MOST_PANELS * MOST_STEPS] = {0};
    int n = 0;
    for (int data = 0; data < l->groups.datasets; data++)
        for (int i = 0; i < l->n_shown; i++)
            all[n++] = l->panel[data][i].highest;
    qsort(all, (size_t)n, sizeof *all, by_size);
    for (int i = 0; i < n; i++)
        if (all[i] <= 2 * all[(n - 1) / 2])
            l->common = all[i];
    l->own_scale = all[n - 1] > l->common;
}

static enum hn_code measure_panels(struct hn_context *ctx, struct layout *l) {
    struct densities d;
    if (alloc_densities(ctx, l, &d))
        return ctx->code;
    l->lo = d.bins;
    l->hi = 0;
    for (int data = 0; data < l->groups.datasets; data++)
        for (int i = 0; i < l->n_shown; i++) {
            fill_densities(l, data, l->shown[i], &d);
            measure_panel(l, &d, data, i);
        }
    hn_free(ctx, d.value);
    choose_scale(l);
    if (l->lo < l->hi)
        return HN_OK;
    return hn_fail(ctx, HN_NOT_APPLICABLE, "the histograms of the file are empty");
}

static void measure_ratio(struct layout *l, struct hn_where where) {
    struct hn_mean m = hn_groups_mean(&l->groups, where, "fn_ratio");
    double end = m.mean + (isnan(m.half) ? 0 : m.half);
    l->ratio[where.dataset].has[where.setting] |= m.rows > 0;
    l->ratio[where.dataset].has_band[where.setting] |= !isnan(m.half);
    l->ratio[where.dataset].highest = fmax(l->ratio[where.dataset].highest, isnan(end) ? 0 : end);
    if (m.rows > 0)
        l->ratio[where.dataset].lowest = fmin(l->ratio[where.dataset].lowest, 2 * m.mean - end);
    l->any_ratio |= m.rows > 0;
}

static void measure_ratios(struct layout *l) {
    for (int data = 0; data < l->groups.datasets; data++) {
        l->ratio[data].lowest = 1;
        for (int64_t step = 0; step < l->groups.steps; step++)
            for (int s = 0; s < l->groups.settings; s++)
                measure_ratio(l, (struct hn_where){data, 0, s, step});
        if (!(l->ratio[data].highest > 0))
            l->ratio[data].highest = 0.01;
    }
}

static void free_layout(struct hn_context *ctx, struct layout *l) {
    hn_groups_free(ctx, &l->groups);
}

static enum hn_code make_layout(struct hn_context *ctx, const struct hn_results *r,
                                const struct hn_distributions *what, struct layout *l) {
    *l = (struct layout){.merge = 1};
    if (hn_groups_make(ctx, r, what->choice, &l->groups))
        return ctx->code;
    if (what->varied && hn_groups_values(&l->groups, what->varied) < 2) {
        free_layout(ctx, l);
        return hn_fail(ctx, HN_NOT_APPLICABLE, "the runs have one value of %s alone", what->varied);
    }
    choose_steps(l);
    choose_merge(l);
    measure_ratios(l);
    l->columns = l->n_shown == 4 ? 2 : l->n_shown < WIDEST ? l->n_shown : WIDEST;
    l->rows =
        l->groups.datasets > 1 ? l->groups.datasets : (l->n_shown + l->columns - 1) / l->columns;
    enum hn_code code = measure_panels(ctx, l);
    if (code)
        free_layout(ctx, l);
    return code;
}

static void write_header(const struct layout *l, FILE *tsv, const char *first,
                         const char *const *suffix) {
    fprintf(tsv, "# %s", first);
    for (int s = 0; s < l->groups.settings; s++)
        for (const char *const *end = suffix; *end; end++) {
            fputc('\t', tsv);
            hn_tsv_text(tsv, l->groups.setting[s].label);
            fputs(*end, tsv);
        }
    fputc('\n', tsv);
}

static void write_ratio(const struct layout *l, int dataset, FILE *tsv) {
    static const char *const suffix[] = {"", " half-width", NULL};
    fputs("\n\n# False-negative ratio and half-width of its 95 % interval (pooled over seeds): ",
          tsv);
    hn_tsv_text(tsv, l->groups.dataset[dataset]);
    fputc('\n', tsv);
    write_header(l, tsv, "place\tstep", suffix);
    for (int64_t step = 0; step < l->groups.steps; step++) {
        fprintf(tsv, "%" PRId64 "\t%" PRId64, step, l->groups.step[step]);
        for (int s = 0; s < l->groups.settings; s++) {
            struct hn_mean m =
                hn_groups_mean(&l->groups, (struct hn_where){dataset, 0, s, step}, "fn_ratio");
            hn_tsv_real(tsv, m.mean);
            hn_tsv_real(tsv, m.half);
        }
        fputc('\n', tsv);
    }
}

static void write_density(const struct layout *l, int dataset, int64_t step, struct densities *d,
                          FILE *tsv) {
    static const char *const suffix[] = {"", NULL};
    const struct hn_results *r = l->groups.results;
    double width = (r->bin_hi - r->bin_lo) / (double)r->bins * (double)l->merge;
    fill_densities(l, dataset, step, d);
    fprintf(tsv, "\n\n# Density of the cosine of the pairs of a batch at step %" PRId64 ": ",
            l->groups.step[step]);
    hn_tsv_text(tsv, l->groups.dataset[dataset]);
    fputc('\n', tsv);
    write_header(l, tsv, "cosine", suffix);
    for (int64_t b = 0; b < d->bins; b++) {
        fprintf(tsv, "%.9g", r->bin_lo + width * ((double)b + 0.5));
        for (int s = 0; s < l->groups.settings; s++)
            hn_tsv_real(tsv, d->value[s * d->bins + b]);
        fputc('\n', tsv);
    }
}

// Inches. Blocks are stacked from the top; the key has a strip above them.
static const double page_width = 7.0, row_height = 1.3, row_gap = 0.12, bottom = 0.46,
                    block_gap = 0.42;
static const double left_margin = 0.5, right_margin = 0.1, title_below = 0.36;

static double block_height(const struct layout *l) {
    int rows = l->groups.datasets > 1 ? 1 : l->rows;
    double row = rows == 1 ? 1.75 : row_height;
    return rows * row + (rows - 1) * row_gap;
}

// The name of a data set stands above its block where there are several.
static double first_top(const struct layout *l) {
    return hn_groups_key_height(&l->groups, page_width, NULL) +
           (l->groups.datasets > 1 ? 0.22 : 0.06);
}

static double page_height(const struct layout *l) {
    int blocks = l->groups.datasets;
    return first_top(l) + blocks * block_height(l) + (blocks - 1) * block_gap + bottom;
}

const char *const hn_distributions_columns[] = {"dataset", "step",     "sampler",
                                                "params",  "fn_ratio", NULL};

enum hn_code hn_distributions_data(struct hn_context *ctx, const struct hn_results *r,
                                   const struct hn_distributions *what, FILE *tsv,
                                   struct hn_figure_size *size) {
    struct layout l;
    struct densities d;
    char note[256];
    if (make_layout(ctx, r, what, &l))
        return ctx->code;
    enum hn_code code = alloc_densities(ctx, &l, &d);
    if (code == HN_OK) {
        hn_groups_left_out(&l.groups, note, sizeof note);
        if (*note) {
            fprintf(tsv, "# %s\n", note);
            hn_note(ctx, "figure %s: %s", what->id, note);
        }
        for (int data_set = 0; data_set < l.groups.datasets; data_set++) {
            write_ratio(&l, data_set, tsv);
            for (int i = 0; i < l.n_shown; i++)
                write_density(&l, data_set, l.shown[i], &d, tsv);
        }
        *size = (struct hn_figure_size){page_width, page_height(&l), l.any_ratio ? 44 : 22};
        hn_free(ctx, d.value);
    }
    free_layout(ctx, &l);
    return code;
}

static double block_top(const struct layout *l, int dataset) {
    return first_top(l) + dataset * (block_height(l) + block_gap);
}

static void place(FILE *gp, const struct layout *l, struct hn_box box) {
    hn_place_panel(gp, box, page_width, page_height(l));
}

static double grid_width(const struct layout *l) {
    double all = page_width - left_margin - right_margin;
    return !l->any_ratio     ? all
           : l->columns == 1 ? 0.46 * all
           : l->columns == 2 ? 0.53 * all
                             : 0.6 * all;
}

static struct hn_box histogram_box(const struct layout *l, int dataset, int i) {
    int rows = l->groups.datasets > 1 ? 1 : l->rows;
    double gap = l->own_scale ? 0.3 : 0.1;
    double width = (grid_width(l) - (l->columns - 1) * gap) / l->columns;
    double height = (block_height(l) - (rows - 1) * row_gap) / rows;
    int row = i / l->columns, column = i % l->columns;
    return (struct hn_box){left_margin + column * (width + gap),
                           block_top(l, dataset) + row * (height + row_gap), width, height};
}

static void curve_title(FILE *gp, const struct layout *l, int s, bool key) {
    if (key) {
        fputs(" title ", gp);
        hn_gp_string(gp, l->groups.setting[s].label);
    } else
        fputs(" notitle", gp);
}

// Curves without a point make gnuplot complain, so only those are drawn that have one; a plot of
// nothing comes before them in case there is none.
static void plot_histogram(FILE *gp, const struct layout *l, const char *tsv, int dataset, int i,
                           bool key) {
    int index = dataset * (1 + l->n_shown) + 1 + i;
    fputs("plot NaN notitle", gp);
    for (int s = 0; s < l->groups.settings; s++)
        if (l->panel[dataset][i].has[s]) {
            fprintf(gp, ", \\\n    '%s' index %d using 1:%d with lines lt %d", tsv, index, s + 2,
                    s + 1);
            curve_title(gp, l, s, key);
        }
    fputc('\n', gp);
}

// Interval of a setting: a band, or an error bar where there is only one step.
static void plot_interval(FILE *gp, const struct layout *l, int s, const char *source) {
    int mean = 2 * s + 3;
    if (l->groups.steps > 1)
        fprintf(
            gp,
            ", \\\n    %s using 1:(100*($%d-$%d)):(100*($%d+$%d)) with filledcurves lc %d notitle",
            source, mean, mean + 1, mean, mean + 1, s + 1);
    else
        fprintf(
            gp,
            ", \\\n    %s using ($1+%.3f):(100*$%d):(100*$%d) with yerrorbars lt %d pt 0 notitle",
            source, 0.12 * (s - 0.5 * (l->groups.settings - 1)), mean, mean + 1, s + 1);
}

// With one step there is no line to draw, and marks stand side by side. A text terminal (with a
// key) has no room for intervals.
static void plot_ratio(FILE *gp, const struct layout *l, const char *tsv, int dataset, bool key) {
    char source[96];
    bool one = l->groups.steps == 1;
    snprintf(source, sizeof source, "'%s' index %d", tsv, dataset * (1 + l->n_shown));
    fputs("plot NaN notitle", gp);
    for (int s = 0; s < l->groups.settings; s++)
        if (l->ratio[dataset].has_band[s] && !key)
            plot_interval(gp, l, s, source);
    for (int s = 0; s < l->groups.settings; s++)
        if (l->ratio[dataset].has[s]) {
            double shift = one ? 0.12 * (s - 0.5 * (l->groups.settings - 1)) : 0;
            fprintf(gp, ", \\\n    %s using ($1+%.3f):(100*$%d) with linespoints lt %d", source,
                    shift, 2 * s + 3, s + 1);
            curve_title(gp, l, s, key);
        }
    fputc('\n', gp);
}

static void script_histogram(FILE *gp, const struct layout *l, int dataset, int i) {
    const struct hn_results *r = l->groups.results;
    double width = (r->bin_hi - r->bin_lo) / (double)r->bins * (double)l->merge;
    double most = fmax(l->panel[dataset][i].highest, l->common);
    bool below = l->groups.datasets == 1 && i + l->columns < l->n_shown; // another panel is below
    bool first = i % l->columns == 0;
    double lo = r->bin_lo + width * (double)l->lo, hi = r->bin_lo + width * (double)l->hi;
    place(gp, l, histogram_box(l, dataset, i));
    most = most > 0 ? most : 1; // no setting has pairs here
    fprintf(gp, "set xrange [%.6g:%.6g]; set yrange [0:%.6g]\n", lo, hi, 1.15 * most);
    fprintf(gp, "set xtics %g format '%s'; set ytics %g format '%s'\n",
            hn_tic_step(hi - lo, l->columns > 2 ? 4 : 5), below ? "" : "%g", hn_tic_step(most, 3),
            first || l->own_scale ? "%g" : "");
    fprintf(gp, "set label 1 \"step %" PRId64 "\" at graph 0.04, graph 0.92 left\n",
            l->groups.step[l->shown[i]]);
}

static void axis_title(FILE *gp, const struct layout *l, int tag, const char *text, double x,
                       double y) {
    hn_axis_title(gp, tag, text, x, y, tag == 2, page_width, page_height(l));
}

// Titles of a block's axes, in the middle of what they belong to; that of the cosine only at the
// bottom.
static void script_titles(FILE *gp, const struct layout *l, int dataset) {
    double top = block_top(l, dataset), low = top + block_height(l);
    axis_title(gp, l, 2, "density of pairs", left_margin - 0.36, 0.5 * (top + low));
    if (dataset == l->groups.datasets - 1)
        axis_title(gp, l, 3, "cosine similarity of the pairs of a batch",
                   left_margin + 0.5 * grid_width(l), low + title_below);
    if (l->groups.datasets > 1) {
        fputs("set label 4 ", gp);
        hn_gp_string(gp, l->groups.dataset[dataset]);
        fprintf(gp, " at screen %.5f, screen %.5f left\n", left_margin / page_width,
                1 - (top - 0.1) / page_height(l));
    }
}

static void script_ratio(FILE *gp, const struct layout *l, const char *tsv, int dataset) {
    double left = left_margin + grid_width(l) + 0.62;
    struct hn_box box = {left, block_top(l, dataset), page_width - right_margin - left,
                         block_height(l)};
    place(gp, l, box);
    double most = 100 * l->ratio[dataset].highest, least = 100 * l->ratio[dataset].lowest;
    double from = least < 0.5 * most ? 0 : least - 0.06 * (most - least); // else curves are flat
    fprintf(gp, "unset label\nset yrange [%.6g:%.6g]; set ytics %g format '%%g'\n", from,
            most + 0.06 * (most - from), hn_tic_step(most - from, 6));
    hn_groups_tics(gp, &l->groups);
    fputs("set format x '%g'\n", gp);
    axis_title(gp, l, 2, "false-negative ratio (%)", left - 0.4, box.top + 0.5 * box.height);
    if (dataset == l->groups.datasets - 1)
        axis_title(gp, l, 3, "training step", left + 0.5 * box.width,
                   box.top + box.height + title_below);
    plot_ratio(gp, l, tsv, dataset, false);
}

static void script_block(FILE *gp, const struct layout *l, const char *tsv, int dataset) {
    for (int i = 0; i < l->n_shown; i++) {
        fputs("unset label\n", gp);
        if (i == 0)
            script_titles(gp, l, dataset);
        script_histogram(gp, l, dataset, i);
        plot_histogram(gp, l, tsv, dataset, i, false);
    }
    if (l->any_ratio)
        script_ratio(gp, l, tsv, dataset);
}

// On a text terminal: the last step's histogram and the ratio of the first data set.
static void script_dumb(FILE *gp, const struct layout *l, const char *tsv) {
    const struct hn_results *r = l->groups.results;
    int last = l->n_shown - 1;
    fprintf(gp, "set multiplot layout %d,1\nset key top left\n", l->any_ratio ? 2 : 1);
    fprintf(gp, "set xrange [%.6g:%.6g]; set xlabel 'cosine, step %" PRId64 "'\n", r->bin_lo,
            r->bin_hi, l->groups.step[l->shown[last]]);
    fprintf(gp, "set yrange [0:%.6g]\n", fmax(l->panel[0][last].highest, 1));
    plot_histogram(gp, l, tsv, 0, last, true);
    if (l->any_ratio) {
        fputs("set xlabel 'training step'\nset title 'false-negative ratio (%)'\n", gp);
        fprintf(gp, "set yrange [0:%.6g]\n", 106 * l->ratio[0].highest);
        hn_groups_tics(gp, &l->groups);
        plot_ratio(gp, l, tsv, 0, true);
    }
    fputs("unset multiplot\n", gp);
}

enum hn_code hn_distributions_script(struct hn_context *ctx, const struct hn_results *r,
                                     const struct hn_distributions *what, const char *tsv,
                                     FILE *gp) {
    struct layout l;
    if (make_layout(ctx, r, what, &l))
        return ctx->code;
    fputs("if (hn_dumb) {\n", gp);
    script_dumb(gp, &l, tsv);
    fputs("} else {\nset multiplot\nunset key\n", gp);
    for (int dataset = 0; dataset < l.groups.datasets; dataset++)
        script_block(gp, &l, tsv, dataset);
    hn_groups_key(gp, &l.groups, page_width, page_height(&l), NULL);
    fputs("unset multiplot\n}\n", gp);
    free_layout(ctx, &l);
    return HN_OK;
}
