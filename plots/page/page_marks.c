// SPDX-License-Identifier: GPL-3.0-or-later
// Labels at the ends of curves, and beside points: these one after another, and again with the
// others given: each takes the position that covers least, and of those the nearest, with a thin
// line to its point where it is not next to it. Positions are tried near the point, then over the
// whole panel, so that only a label without any free one is left out.
#include "core/text.h"
#include "plots/page/page_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Inches: a label's height; its first distance from its point, and from one to the next; length
// from which a leader is drawn; what is clear of it about its point; step of its boxes; within
// which a label tells whose it is.
static const double height = 0.14, nearest = 0.11, farther = 0.09, visible = 0.14, clear = 0.1,
                    box_step = 0.04, close_by = 0.9, beside = 0.4, gap = 0.08;

// Cost of a square inch that a label covers; an inch of distance costs 1.
static const double line_cost = 100, close_cost = 60, leader_cost = 500, solid_cost = 1000;

enum { DIRECTIONS = 16, PASSES = 3, ROUNDS = 8 };

struct frame {
    const struct hn_page *page;
    const struct hn_panel *panel;
    struct hn_range x, y;
    double width, panel_height; // inches
};

struct obstacle {
    struct hn_rectangle box;
    double cost;
    const void *of; // the label that it is, with its leader; NULL = what is drawn anyway
};

struct placement {
    struct hn_page *page;
    struct frame frame;
    struct obstacle *obstacle;
    int64_t obstacles, capacity;
};

static double across(const struct frame *f, double x) {
    return f->width * hn_axis_share(&f->panel->x, x, f->x);
}

static double upward(const struct frame *f, double y) {
    return f->panel_height * hn_axis_share(&f->panel->y, y, f->y);
}

static double overlap(const struct hn_rectangle *a, const struct hn_rectangle *b) {
    double w = fmin(a->right, b->right) - fmax(a->left, b->left);
    double h = fmin(a->top, b->top) - fmax(a->bottom, b->bottom);
    return w > 0 && h > 0 ? w * h : 0;
}

// Cost of the obstacles of `min` or more that a box covers, its own point's surroundings aside; of
// `enough` or more, no matter how much.
static double covered(const struct placement *p, const struct hn_rectangle *box, double min,
                      const double own[2], double enough) {
    double cost = 0;
    for (int64_t i = 0; i < p->obstacles && cost < enough; i++) {
        const struct obstacle *o = &p->obstacle[i];
        if (o->cost < min || o->box.left >= box->right || o->box.right <= box->left ||
            o->box.bottom >= box->top || o->box.top <= box->bottom)
            continue; // most, and fast: there are thousands for each of many boxes
        bool around = o->cost <= close_cost &&
                      fabs(o->box.left + o->box.right - 2 * own[0]) < 1e-6 &&
                      fabs(o->box.bottom + o->box.top - 2 * own[1]) < 1e-6;
        if (!around)
            cost += o->cost * overlap(box, &o->box);
    }
    return cost;
}

// The box about a line (or a point), with a margin.
static struct hn_rectangle about(double x0, double y0, double x1, double y1, double margin) {
    return (struct hn_rectangle){fmin(x0, x1) - margin, fmin(y0, y1) - margin,
                                 fmax(x0, x1) + margin, fmax(y0, y1) + margin};
}

static void add(struct placement *p, struct hn_rectangle box, double cost, const void *of) {
    struct hn_page *page = p->page;
    if (hn_grow(page->ctx, &p->obstacle, &p->capacity, p->obstacles + 1, sizeof *p->obstacle))
        page->code = page->ctx->code;
    else
        p->obstacle[p->obstacles++] = (struct obstacle){box, cost, of};
}

static void add_line(struct placement *p, double x0, double y0, double x1, double y1) {
    add(p, about(x0, y0, x1, y1, 0.01), line_cost, NULL);
}

// A label close to another point than its own would be taken for that one's.
static void add_point(struct placement *p, double x, double y, double radius) {
    add(p, about(x, y, x, y, radius), solid_cost, NULL);
    add(p, about(x, y, x, y, radius + 0.08), close_cost, NULL);
}

static void add_datum(struct placement *p, const struct hn_series *s, int64_t i) {
    const struct frame *f = &p->frame;
    const struct hn_datum *d = &s->datum[i];
    double x = across(f, d->x), y = upward(f, d->y);
    if (hn_is_disc(s->look))
        add_point(p, x, y, 0.035 * hn_disc_size(d->size) + 0.0175);
    else if (s->look == HN_LOOK_MARKS)
        add_point(p, x, y, 0.04);
    else if (s->look == HN_LOOK_STAIRS && i > 0) {
        double x0 = across(f, d[-1].x), y0 = upward(f, d[-1].y);
        add_line(p, x0, y0, x, y0);
        add_line(p, x, y0, x, y);
    } else if (s->look == HN_LOOK_ARMS)
        add_line(p, across(f, d->lo), y, across(f, d->hi), y);
    else if (s->look == HN_LOOK_UPRIGHT)
        add_line(p, x, 0, x, f->panel_height);
    else if (s->look == HN_LOOK_STEMS)
        add_line(p, x, upward(f, d->lo), x, upward(f, d->hi));
}

// The text of a label, cut to the width of the panel.
static void label_text(const struct frame *f, const struct hn_word *m, char text[HN_LABEL_SIZE]) {
    const char *own = m->is_brief ? m->brief : m->text;
    double letter = hn_text_width(own) / (double)hn_letters(own);
    hn_text_shorten(&(struct hn_texts){own, 0, 1}, 0, (int)((f->width - 0.06) / letter), text,
                    HN_LABEL_SIZE);
}

static double length(const double leader[4]) {
    return hypot(leader[2] - leader[0], leader[3] - leader[1]);
}

// Small boxes along a leader, from beyond its own point on; their number, 0 where none is drawn.
static int leader_boxes(const double leader[4]) {
    return length(leader) < visible ? 0 : (int)ceil((length(leader) - clear) / box_step);
}

// The weight of what box i of a leader crosses: near its own point it leaves a crowd of marks, near
// its end the label would seem to be of what it crosses.
static double weight_of(const double leader[4], int i) {
    double share = (i + 1.0) / leader_boxes(leader);
    return share * share;
}

static struct hn_rectangle leader_box(const double leader[4], int i) {
    double share = fmin(1, (clear + (i + 0.5) * box_step) / length(leader));
    double x = leader[0] + share * (leader[2] - leader[0]),
           y = leader[1] + share * (leader[3] - leader[1]);
    return about(x, y, x, y, 0.015);
}

// The box beside, above or below (x, y) by `distance`, in a direction, moved into the panel.
static struct hn_rectangle toward(const struct frame *f, double x, double y, double angle,
                                  double distance, double width) {
    double dx = cos(angle), dy = sin(angle);
    double left = x + distance * dx - (dx < -0.3 ? width : dx > 0.3 ? 0 : 0.5 * width);
    double bottom = y + distance * dy - 0.5 * height * (1 - dy);
    left = fmax(0.03, fmin(left, f->width - 0.01 - width));
    bottom = fmax(0.03, fmin(bottom, f->panel_height - 0.01 - height));
    return (struct hn_rectangle){left, bottom, left + width, bottom + height};
}

// over_mark: what a leader costs that crosses another mark or label.
static double cost_of(const struct placement *p, const struct hn_word *m, double over_mark,
                      double enough) {
    double cost = covered(p, &m->box, 0, m->leader, enough);
    for (int i = 0; i < leader_boxes(m->leader) && cost < enough; i++) {
        const struct hn_rectangle box = leader_box(m->leader, i);
        cost += 0.6 * covered(p, &box, 0, m->leader, INFINITY);
        if (over_mark > 0)
            cost += over_mark * weight_of(m->leader, i) *
                    covered(p, &box, solid_cost, m->leader, INFINITY);
    }
    return cost;
}

static void remove_label(struct placement *p, const struct hn_word *m) {
    int64_t kept = 0;
    for (int64_t i = 0; i < p->obstacles; i++)
        if (p->obstacle[i].of != m)
            p->obstacle[kept++] = p->obstacle[i];
    p->obstacles = kept;
}

// Finds the best position within `reach`; hidden: it covers a mark or a label.
static void find_position(const struct placement *p, struct hn_word *m, double width, double reach,
                          double over_mark) {
    const struct frame *f = &p->frame;
    double x = across(f, m->x), y = upward(f, m->y), min = INFINITY;
    struct hn_word best = *m, trial = *m;
    double distance = nearest;
    while (distance < fmin(min, reach)) {
        for (int i = 0; i < DIRECTIONS; i++) {
            const struct hn_rectangle r =
                toward(f, x, y, 2 * M_PI * i / DIRECTIONS, distance, width);
            trial.box = r;
            trial.leader[0] = x;
            trial.leader[1] = y;
            trial.leader[2] = fmin(fmax(x, r.left), r.right);
            trial.leader[3] = fmin(fmax(y, r.bottom), r.top);
            double cost = distance + cost_of(p, &trial, over_mark, min - distance);
            if (cost < min - 1e-9) {
                min = cost;
                best = trial;
            }
        }
        distance += farther;
    }
    *m = best;
    m->hidden = covered(p, &m->box, solid_cost, m->leader, INFINITY) > 1e-3 * solid_cost;
}

// A penalty, 0 for a label that is whole and beside its point: worst without a position, then a
// leader over another mark or label, then one far off, then a brief text.
static double fault_of(const struct placement *p, const struct hn_word *m) {
    double over = 0;
    if (m->hidden)
        return 100;
    for (int i = 0; i < leader_boxes(m->leader); i++) {
        const struct hn_rectangle box = leader_box(m->leader, i);
        if (covered(p, &box, solid_cost, m->leader, INFINITY) > 0)
            over = weight_of(m->leader, i);
    }
    return 30 * over + (length(m->leader) > close_by ? 3 : 0) + length(m->leader) +
           (m->is_brief ? 0.5 : 0);
}

// Beside its point, where the label tells whose it is, and if nothing is free there near it: each
// time the brief text where the whole one has no room. Else anywhere, the brief text first.
static void place_label(struct placement *p, struct hn_word *m) {
    const struct frame *f = &p->frame;
    const double reach[] = {beside, close_by, hypot(f->width, f->panel_height)};
    char text[HN_LABEL_SIZE];
    remove_label(p, m);
    m->hidden = true;
    for (int i = 0; m->hidden && i < (int)(sizeof reach / sizeof *reach); i++)
        for (int k = 0; m->hidden && k <= (*m->brief != '\0'); k++) {
            m->is_brief = *m->brief && (k == 1) == (reach[i] <= close_by);
            label_text(f, m, text);
            find_position(p, m, hn_text_width(text) + 0.02, reach[i], reach[i] <= close_by ? 3 : 0);
        }
    m->fault = fault_of(p, m);
    if (m->hidden)
        return;
    const struct hn_rectangle *r = &m->box;
    add(p, *r, 2 * solid_cost, m);
    add(p, (struct hn_rectangle){r->left - gap, r->bottom, r->right + gap, r->top}, close_cost, m);
    for (int i = 0; i < leader_boxes(m->leader); i++)
        add(p, leader_box(m->leader, i), leader_cost, m);
}

static double value_at(const struct hn_axis *axis, double share, struct hn_range r) {
    return axis->log ? r.lo * pow(r.hi / r.lo, share) : r.lo + share * (r.hi - r.lo);
}

// As plots, so that the parts of the picture have the title of what they belong to.
static void begin_plot(FILE *gp) { fputs(", \\\n    '+' every ::0::0 using ", gp); }

static void write_leader(const struct frame *f, FILE *gp, const struct hn_word *m) {
    const double *l = m->leader, off = 0.07 / length(l);
    double x0 = value_at(&f->panel->x, (l[0] + off * (l[2] - l[0])) / f->width, f->x);
    double y0 = value_at(&f->panel->y, (l[1] + off * (l[3] - l[1])) / f->panel_height, f->y);
    begin_plot(gp);
    fprintf(gp, "(%.9g):(%.9g):(%.9g):(%.9g) with vectors nohead lw 0.5 dt solid lc rgb '#777777'",
            x0, y0, value_at(&f->panel->x, l[2] / f->width, f->x) - x0,
            value_at(&f->panel->y, l[3] / f->panel_height, f->y) - y0);
    hn_write_title(f->page, gp, m->of);
}

static void write_word(const struct frame *f, FILE *gp, const struct hn_word *m) {
    const struct hn_rectangle *r = &m->box;
    double x = across(f, m->x), middle = 0.5 * (r->bottom + r->top);
    bool right = r->left > x, left = r->right < x; // the word keeps its near end
    double at = right ? r->left : left ? r->right : 0.5 * (r->left + r->right);
    char text[HN_LABEL_SIZE];
    label_text(f, m, text);
    begin_plot(gp);
    fprintf(gp, "(%.9g):(%.9g):(", value_at(&f->panel->x, at / f->width, f->x),
            value_at(&f->panel->y, middle / f->panel_height, f->y));
    hn_page_text_within(f->page, gp, text);
    fprintf(gp, ") with labels %s%s",
            right  ? "left"
            : left ? "right"
                   : "center",
            f->page->opaque ? " boxed" : "");
    hn_write_text_colour(gp, m->line);
    hn_write_title(f->page, gp, m->of);
}

static struct frame frame_of(const struct hn_layout *g, int p) {
    const struct hn_panel *panel = &g->page->panel[p];
    const struct hn_box box = hn_layout_box(g, p);
    return (struct frame){.page = g->page,
                          .panel = panel,
                          .x = hn_page_range(g->page, panel, false),
                          .y = hn_page_range(g->page, panel, true),
                          .width = box.width,
                          .panel_height = box.height};
}

// Those of `first` choose first, in their order or back, and all of them again with the others
// given.
static void place_round(struct placement *p, struct hn_panel *panel, const bool *first, bool back) {
    const int n = panel->n_marks;
    for (int i = 0; i < n; i++)
        remove_label(p, &panel->mark[i]);
    for (int late = 0; late < 2; late++)
        for (int k = 0; k < n; k++) {
            int i = back ? n - 1 - k : k;
            if (first[i] != (late == 1))
                place_label(p, &panel->mark[i]);
        }
    for (int pass = 1; pass < PASSES; pass++)
        for (int i = 0; i < n; i++)
            place_label(p, &panel->mark[i]);
}

// Labels without a good position are the first to choose when all choose again; of these rounds the
// best one stays.
static void place_labels(struct placement *p, struct hn_panel *panel) {
    struct hn_word best[HN_PANEL_MARKS];
    bool first[HN_PANEL_MARKS] = {false}, any = true;
    double min = INFINITY;
    for (int round = 0; round < ROUNDS && any; round++) {
        double faults = 0;
        place_round(p, panel, first, round % 2 == 1);
        any = false;
        for (int i = 0; i < panel->n_marks; i++) {
            faults += panel->mark[i].fault;
            any |= panel->mark[i].fault > 1;
            first[i] |= panel->mark[i].fault > 1;
        }
        if (faults < min)
            memcpy(best, panel->mark, sizeof best);
        min = fmin(min, faults);
    }
    memcpy(panel->mark, best, sizeof best);
}

// True if a label that is shown names what it is of.
static bool is_named(const struct hn_panel *panel, const char *of) {
    for (int i = 0; i < panel->n_marks; i++)
        if (!panel->mark[i].hidden && !panel->mark[i].is_brief &&
            strcmp(panel->mark[i].of, of) == 0)
            return true;
    return false;
}

// The first brief label of what no label names is to have its whole text. False: there is none.
static bool name_another(struct hn_panel *panel) {
    for (int i = 0; i < panel->n_marks; i++) {
        struct hn_word *m = &panel->mark[i];
        if (!m->hidden && m->is_brief && !is_named(panel, m->of)) {
            *m->brief = '\0';
            return true;
        }
    }
    return false;
}

// Labels keep off the inset of the first panel. The first ones come first: those of the front.
static void place_panel(const struct hn_layout *g, struct hn_page *page, int number) {
    struct hn_panel *panel = &page->panel[number];
    struct placement p = {.page = page, .frame = frame_of(g, number)};
    const struct frame *f = &p.frame;
    HN_SCOPE(page->ctx);
    if (g->inset && number == 0) {
        double left = g->inset_left * f->width, bottom = g->inset_bottom * f->panel_height;
        add(&p,
            about(left, bottom, left + HN_INSET_SHARE * f->width,
                  bottom + HN_INSET_SHARE * f->panel_height, 0),
            solid_cost, NULL);
    }
    for (int s = 0; s < panel->n_series; s++)
        for (int64_t i = 0; i < panel->series[s]->n; i++)
            add_datum(&p, panel->series[s], i);
    do
        place_labels(&p, panel);
    while (name_another(panel));
}

// Names the labels without a position, or says how many they are.
static void note_hidden(struct hn_page *page) {
    enum { NAMED_MAX = 6 };
    char names[HN_CAPTION_SIZE] = "";
    int hidden = 0;
    for (int p = 0; p < page->panels; p++)
        for (int i = 0; i < page->panel[p].n_marks; i++) {
            const struct hn_word *m = &page->panel[p].mark[i];
            if (m->hidden && hidden++ < NAMED_MAX)
                hn_append(names, sizeof names, "%s%s", *names ? "; " : "", m->text);
        }
    if (hidden > NAMED_MAX)
        hn_page_note(page, "Without a label, for lack of room: %d marks.", hidden);
    else if (hidden > 0)
        hn_page_note(page, "Without a label, for lack of room: %s.", names);
}

enum hn_code hn_page_place_marks(struct hn_page *page) {
    struct hn_layout g;
    hn_layout_make(page, &g);
    for (int p = 0; p < page->panels; p++)
        if (page->panel[p].n_marks > 0)
            place_panel(&g, page, p);
    note_hidden(page);
    return page->code;
}

void hn_page_write_marks(const struct hn_layout *g, FILE *gp, int p) {
    const struct frame f = frame_of(g, p);
    for (int i = 0; i < f.panel->n_marks; i++) {
        const struct hn_word *m = &f.panel->mark[i];
        if (m->hidden)
            continue;
        if (length(m->leader) >= visible)
            write_leader(&f, gp, m);
        write_word(&f, gp, m);
    }
}

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
static void write_end_leader(const struct hn_layout *g, FILE *gp, int i,
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
            write_end_leader(g, gp, i, &label[i]);
    }
}
