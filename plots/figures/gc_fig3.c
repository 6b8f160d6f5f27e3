// GC figure 3: the loss over all N items and the training loss over a batch, by sampler over
// training. The distance between the two is the gap that a better batch closes (GC definitions 3.1
// and 3.2).
//
// Our deviation: every sampler of the file, not Random and GCBS alone. The black reference is the
// global loss of the first setting that has one; a sampler that does not draw all items equally
// often has a global loss of its own, drawn as a thin line in its colour where it differs.
#include "plots/page/groups.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SHOWN = 6, WIDEST = 3 };

struct panel {
    int dataset, temperature;
    double lo, hi;            // of the losses drawn
    bool has[HN_THEME_LINES]; // training loss of a setting
    bool own[HN_THEME_LINES]; // settings with a global loss of their own
};

struct layout {
    struct hn_groups groups;
    struct panel panel[MOST_SHOWN];
    int panels, columns, rows;
    bool more_panels;
};

static struct hn_where where(const struct panel *p, int setting, int64_t step) {
    return (struct hn_where){p->dataset, p->temperature, setting, step};
}

static double mean(const struct layout *l, const struct panel *p, int setting, int64_t step,
                   const char *name) {
    return hn_groups_mean(&l->groups, where(p, setting, step), name).mean;
}

// The global loss at a step: of the first setting that has one.
static double reference(const struct layout *l, const struct panel *p, int64_t step) {
    double value = NAN;
    for (int s = 0; isnan(value) && s < l->groups.settings; s++)
        value = mean(l, p, s, step, "loss_global");
    return value;
}

static void grow(struct panel *p, double value) {
    if (!isfinite(value))
        return;
    p->lo = value < p->lo ? value : p->lo;
    p->hi = value > p->hi ? value : p->hi;
}

// Finds the range of a panel and which settings leave the reference by more than a hundredth of it.
static void measure(const struct layout *l, struct panel *p) {
    p->lo = INFINITY;
    p->hi = -INFINITY;
    for (int64_t step = 0; step < l->groups.steps; step++)
        for (int s = 0; s < l->groups.settings; s++) {
            grow(p, mean(l, p, s, step, "loss_global"));
            double train = mean(l, p, s, step, "loss_train");
            grow(p, train);
            p->has[s] |= !isnan(train);
        }
    for (int64_t step = 0; step < l->groups.steps; step++)
        for (int s = 0; s < l->groups.settings; s++) {
            double off = mean(l, p, s, step, "loss_global") - reference(l, p, step);
            p->own[s] |= fabs(off) > 0.01 * (p->hi - p->lo);
        }
}

static void add_panels(struct layout *l) {
    for (int d = 0; d < l->groups.datasets; d++)
        for (int t = 0; t < l->groups.temperatures; t++) {
            struct panel p = {.dataset = d, .temperature = t};
            bool any = false;
            for (int64_t step = 0; !any && step < l->groups.steps; step++)
                any = !isnan(reference(l, &p, step));
            if (any && l->panels == MOST_SHOWN)
                l->more_panels = true;
            else if (any)
                l->panel[l->panels++] = p;
        }
}

static void free_layout(struct hn_context *ctx, struct layout *l) {
    hn_groups_free(ctx, &l->groups);
}

static enum hn_code make_layout(struct hn_context *ctx, const struct hn_results *r,
                                struct layout *l) {
    *l = (struct layout){0};
    enum hn_code code = hn_groups_make(ctx, r, (struct hn_choice){.wanted = "gap"}, &l->groups);
    if (code == HN_NOT_APPLICABLE)
        return hn_fail(
            ctx, HN_NOT_APPLICABLE,
            "no run has a gap: the loss needs a positive, so give snapshots with a second "
            "view or /positive");
    if (code)
        return code;
    add_panels(l);
    if (l->panels == 0) {
        free_layout(ctx, l);
        return hn_fail(ctx, HN_NOT_APPLICABLE, "no run has a global loss");
    }
    for (int i = 0; i < l->panels; i++)
        measure(l, &l->panel[i]);
    l->columns = l->panels == 4 ? 2 : l->panels < WIDEST ? l->panels : WIDEST;
    l->rows = (l->panels + l->columns - 1) / l->columns;
    return HN_OK;
}

// Inches. A single panel has its curves labelled at their ends, several share a key above them.
static const double left_margin = 0.55, row_gap = 0.3, bottom = 0.48, top = 0.12;

static const char reference_name[] = "global loss";

// Longest label of a single panel, in inches.
static double label_width(const struct layout *l) {
    size_t longest = 12;
    for (int s = 0; s < l->groups.settings; s++) {
        size_t length = strlen(l->groups.setting[s].label) + 10;
        longest = length > longest ? length : longest;
    }
    return 0.15 + 0.06 * (double)longest;
}

static double page_width(const struct layout *l) {
    return l->panels == 1 ? left_margin + 2.9 + label_width(l) : 7.0;
}

static double row_height(const struct layout *l) { return l->panels == 1 ? 2.5 : 1.7; }

static double first_top(const struct layout *l) {
    return l->panels == 1 ? top
                          : hn_groups_key_height(&l->groups, page_width(l), reference_name) + 0.22;
}

static double page_height(const struct layout *l) {
    return first_top(l) + l->rows * row_height(l) + (l->rows - 1) * row_gap + bottom;
}

static void write_panel(const struct layout *l, const struct panel *p, FILE *tsv) {
    fputs("\n\n# Losses (nat), means over seeds: ", tsv);
    hn_tsv_text(tsv, l->groups.dataset[p->dataset]);
    fprintf(tsv, ", temperature %g\n# place\tstep\tglobal loss",
            l->groups.temperature[p->temperature]);
    for (int s = 0; s < l->groups.settings; s++) {
        static const char *const what[] = {"training loss", "gap", "own global loss"};
        for (int i = 0; i < 3; i++) {
            fputc('\t', tsv);
            hn_tsv_text(tsv, l->groups.setting[s].label);
            fprintf(tsv, " %s", what[i]);
        }
    }
    fputc('\n', tsv);
    for (int64_t step = 0; step < l->groups.steps; step++) {
        fprintf(tsv, "%" PRId64 "\t%" PRId64, step, l->groups.step[step]);
        hn_tsv_real(tsv, reference(l, p, step));
        for (int s = 0; s < l->groups.settings; s++) {
            hn_tsv_real(tsv, mean(l, p, s, step, "loss_train"));
            hn_tsv_real(tsv, mean(l, p, s, step, "gap"));
            hn_tsv_real(tsv, mean(l, p, s, step, "loss_global"));
        }
        fputc('\n', tsv);
    }
}

static enum hn_code data(struct hn_context *ctx, const struct hn_results *r, FILE *tsv,
                         struct hn_figure_size *size) {
    struct layout l;
    char note[256];
    if (make_layout(ctx, r, &l))
        return ctx->code;
    hn_groups_left_out(&l.groups, note, sizeof note);
    if (*note || l.more_panels) {
        const char *more = l.more_panels ? "Only the first 6 panels are drawn." : "";
        fprintf(tsv, "# %s%s\n", note, more);
        hn_note(ctx, "figure gc-fig3: %s%s", note, more);
    }
    for (int i = 0; i < l.panels; i++)
        write_panel(&l, &l.panel[i], tsv);
    *size = (struct hn_figure_size){page_width(&l), page_height(&l), 24};
    free_layout(ctx, &l);
    return HN_OK;
}

// A label at the end of a curve. setting: -1 = the global loss.
struct end_label {
    double y, gap;
    int setting;
};

static int by_height(const void *a, const void *b) {
    double x = ((const struct end_label *)a)->y, y = ((const struct end_label *)b)->y;
    return (x > y) - (x < y);
}

// Value and gap of a curve at the last step where it has one.
static struct end_label find_end(const struct layout *l, const struct panel *p, int setting) {
    struct end_label label = {NAN, NAN, setting};
    for (int64_t step = 0; step < l->groups.steps; step++) {
        double y = setting < 0 ? reference(l, p, step) : mean(l, p, setting, step, "loss_train");
        if (isnan(y))
            continue;
        label.y = y;
        label.gap = setting < 0 ? NAN : mean(l, p, setting, step, "gap");
    }
    return label;
}

// Labels stacked on one another about a middle.
struct stack {
    double middle;
    int n;
};

static double inside(double middle, double half, double lo, double hi) {
    return fmax(fmin(middle, hi - half), lo + half);
}

// Moves labels, sorted by height, apart to at least `apart` and into [lo, hi]: those that would
// overlap are stacked about the mean of their places, stacks that meet become one.
static void spread(struct end_label *label, int n, double apart, double lo, double hi) {
    struct stack stack[HN_THEME_LINES + 1];
    int stacks = 0, placed = 0;
    for (int i = 0; i < n; i++) {
        stack[stacks++] = (struct stack){inside(label[i].y, 0, lo, hi), 1};
        for (; stacks > 1; stacks--) {
            struct stack *below = &stack[stacks - 2], *top_one = below + 1;
            int both = below->n + top_one->n;
            if (top_one->middle - below->middle >= 0.5 * apart * both)
                break;
            double middle = (below->n * below->middle + top_one->n * top_one->middle) / both;
            *below = (struct stack){inside(middle, 0.5 * apart * (both - 1), lo, hi), both};
        }
    }
    for (int k = 0; k < stacks; k++)
        for (int j = 0; j < stack[k].n; j++)
            label[placed++].y = stack[k].middle + apart * (j - 0.5 * (stack[k].n - 1));
}

static void padded(const struct panel *p, double *lo, double *hi) {
    double pad = p->hi > p->lo ? 0.06 * (p->hi - p->lo) : fmax(0.1, 0.1 * fabs(p->hi));
    *lo = p->lo - pad;
    *hi = p->hi + pad;
}

static void script_labels(FILE *gp, const struct layout *l, const struct panel *p) {
    struct end_label label[HN_THEME_LINES + 1] = {0};
    double lo, hi;
    int n = 0;
    padded(p, &lo, &hi);
    for (int s = -1; s < l->groups.settings; s++) {
        label[n] = find_end(l, p, s);
        n += !isnan(label[n].y);
    }
    qsort(label, (size_t)n, sizeof *label, by_height);
    double apart = 0.14 * (hi - lo) / row_height(l);
    spread(label, n, apart, lo + 0.5 * apart, hi);
    for (int i = 0; i < n; i++) {
        int s = label[i].setting;
        char text[HN_LABEL_SIZE + 32];
        if (s < 0)
            snprintf(text, sizeof text, "%s", reference_name);
        else
            snprintf(text, sizeof text, "%s, gap %.2f", l->groups.setting[s].label, label[i].gap);
        fprintf(gp, "set label %d ", 10 + i);
        hn_gp_string(gp, text);
        fprintf(gp, " at graph 1.015, first %.6g left", label[i].y);
        if (s < 0)
            fputs(" textcolor rgb '#000000'\n", gp);
        else
            fprintf(gp, " textcolor lt %d\n", s + 1);
    }
}

static void curve_title(FILE *gp, const char *title, bool key) {
    if (!key) {
        fputs(" notitle", gp);
        return;
    }
    fputs(" title ", gp);
    hn_gp_string(gp, title);
}

static void plot_panel(FILE *gp, const struct layout *l, const char *tsv, int index, bool key) {
    const char *with = l->groups.steps > 1 ? "lines lt 8 lw 2 dt solid" : "points lt 8 lw 2 pt 1";
    fprintf(gp, "plot '%s' index %d using 1:3 with %s", tsv, index, with);
    curve_title(gp, reference_name, key);
    for (int s = 0; s < l->groups.settings; s++) {
        if (!l->panel[index].has[s])
            continue;
        fprintf(gp, ", \\\n    '' index %d using 1:%d with linespoints lt %d", index, 3 * s + 4,
                s + 1);
        curve_title(gp, l->groups.setting[s].label, key);
        if (l->panel[index].own[s])
            fprintf(gp, ", \\\n    '' index %d using 1:%d with lines lt %d lw 0.7 dt (1,2) notitle",
                    index, 3 * s + 6, s + 1);
    }
    fputc('\n', gp);
}

static struct hn_box panel_box(const struct layout *l, int i) {
    double w = page_width(l), gap = 0.4;
    double right = l->panels == 1 ? label_width(l) : 0.12;
    double width = (w - left_margin - right - (l->columns - 1) * gap) / l->columns;
    int row = i / l->columns, column = i % l->columns;
    return (struct hn_box){left_margin + column * (width + gap),
                           first_top(l) + row * (row_height(l) + row_gap), width, row_height(l)};
}

static void panel_title(FILE *gp, const struct layout *l, const struct panel *p) {
    char text[2 * HN_LABEL_SIZE];
    const char *dataset = l->groups.dataset[p->dataset];
    double temperature = l->groups.temperature[p->temperature];
    if (l->groups.datasets > 1 && l->groups.temperatures > 1)
        snprintf(text, sizeof text, "%.40s, temperature %g", dataset, temperature);
    else if (l->groups.datasets > 1)
        snprintf(text, sizeof text, "%.60s", dataset);
    else
        snprintf(text, sizeof text, "temperature %g", temperature);
    fputs("set label 1 ", gp);
    hn_gp_string(gp, text);
    fputs(" at graph 0, graph 1.08 left\n", gp);
}

static void script_panel(FILE *gp, const struct layout *l, const char *tsv, int i) {
    const struct panel *p = &l->panel[i];
    struct hn_box box = panel_box(l, i);
    double lo, hi, w = page_width(l), h = page_height(l);
    padded(p, &lo, &hi);
    hn_place_panel(gp, box, w, h);
    fputs("unset label\n", gp);
    hn_groups_tics(gp, &l->groups);
    fprintf(gp, "set yrange [%.6g:%.6g]; set ytics %g\n", lo, hi,
            hn_tic_step(hi - lo, l->panels > 1 ? 5 : 8));
    if (i % l->columns == 0)
        hn_axis_title(gp, 2, "loss (nat)", box.left - 0.42, box.top + 0.5 * box.height, true, w, h);
    if (i + l->columns >= l->panels)
        hn_axis_title(gp, 3, "training step", box.left + 0.5 * box.width,
                      box.top + box.height + 0.36, false, w, h);
    if (l->panels == 1)
        script_labels(gp, l, p);
    else
        panel_title(gp, l, p);
    plot_panel(gp, l, tsv, i, false);
}

static enum hn_code script(struct hn_context *ctx, const struct hn_results *r, const char *tsv,
                           FILE *gp) {
    struct layout l;
    if (make_layout(ctx, r, &l))
        return ctx->code;
    fputs(
        "if (hn_dumb) {\nset key bottom left\nset xlabel 'training step'\nset title 'loss (nat)'\n",
        gp);
    hn_groups_tics(gp, &l.groups);
    plot_panel(gp, &l, tsv, 0, true);
    fputs("} else {\nset multiplot\nunset key\n", gp);
    for (int i = 0; i < l.panels; i++)
        script_panel(gp, &l, tsv, i);
    if (l.panels > 1)
        hn_groups_key(gp, &l.groups, page_width(&l), page_height(&l), reference_name);
    fputs("unset multiplot\n}\n", gp);
    free_layout(ctx, &l);
    return HN_OK;
}

static const char *const columns[] = {"dataset",     "step",        "sampler",
                                      "params",      "temperature", "loss_train",
                                      "loss_global", "gap",         NULL};

const struct hn_figure hn_gc_fig3 = {
    .id = "gc-fig3",
    .title = "global and training loss by sampler over training",
    .caption =
        "Black: the loss over all items. Marked: the loss over the batches of a sampler; its "
        "distance from the black line is the gap, and smaller is better.",
    .source = "Global Selection of Contrastive Batches (ICML 2023), figure 3",
    .columns = columns,
    .needs_histogram = false,
    .data = data,
    .script = script};
