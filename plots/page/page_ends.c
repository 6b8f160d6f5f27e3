// Labels at the ends of curves, with a line to the curve where they had to move away.
#include "plots/page/page_private.h"

#include <math.h>
#include <stdlib.h>

// A label at the end of a curve.
struct end_label {
    double y, end; // of the label and of the curve, as shares of the panel
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
// overlap are stacked about the mean of their positions, stacks that meet become one.
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

// Space between a panel and its labels, in inches: leaders run there.
static const double leader_space = 0.14;

// A thin line from the end of a curve to a label that had to move away from it.
static void write_leader(const struct hn_layout *g, FILE *gp, int i,
                         const struct end_label *label) {
    const struct hn_datum *end = &label->series->datum[label->series->n - 1];
    double at = 1 + leader_space / g->panel_width;
    fprintf(
        gp,
        "set arrow %d from first %.9g, first %.9g to graph %.5f, graph %.5f nohead back lw 0.5 dt "
        "solid",
        100 + i, end->x, end->y, at - 0.02 / g->panel_width, label->y);
    hn_write_colour(gp, label->series->line);
    fputc('\n', gp);
}

void hn_page_write_ends(const struct hn_layout *g, FILE *gp) {
    const struct hn_panel *panel = &g->page->panel[0];
    const struct hn_range y = hn_page_range(g->page, panel, true);
    struct end_label label[HN_PANEL_SERIES];
    int n = 0;
    for (int s = 0; s < panel->n_series; s++) {
        const struct hn_series *series = panel->series[s];
        if (series->index < 0 || !*hn_series_end(series))
            continue;
        double last = series->datum[series->n - 1].y;
        double share = hn_axis_share(&panel->y, last, y);
        label[n++] = (struct end_label){share, share, series};
    }
    qsort(label, (size_t)n, sizeof *label, by_height);
    spread(label, n, 0.15 / g->panel_height);
    for (int i = 0; i < n; i++) {
        fprintf(gp, "set label %d ", 100 + i);
        hn_page_text(g->page, gp, hn_series_end(label[i].series));
        fprintf(gp, " at graph %.5f, graph %.5f left", 1 + leader_space / g->panel_width,
                label[i].y);
        hn_write_text_colour(gp, label[i].series->line);
        fputc('\n', gp);
        if (fabs(label[i].y - label[i].end) * g->panel_height > 0.04 &&
            label[i].series->look != HN_LOOK_RULE)
            write_leader(g, gp, i, &label[i]);
    }
}
