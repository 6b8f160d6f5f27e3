// Words beside places: each stands where it covers neither a disc nor another word, as near to its
// place as can be, with a thin line to it where that is not next to it or another disc is nearer.
// One after another; then each is placed again, the others given, until none moves. From several
// orders to begin with, the best of what comes out.
#include "core/random.h"
#include "plots/page/page_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Inches: a word's height, the gap about a disc.
static const double height = 0.14, gap = 0.035;
// From this length on, a leader is drawn.
static const double visible = 0.14;

enum { DIRECTIONS = 16, DISTANCES = 9, PASSES = 10, ORDERS = 48, MAX_WORDS = HN_PANEL_MARKS };

struct frame {
    const struct hn_page *page;
    const struct hn_panel *panel;
    struct hn_range x, y;
    double width, panel_height; // inches
};

// From a place to its word.
struct leader {
    double x0, y0, x1, y1;
};

struct layout {
    struct frame frame;
    struct hn_rectangle disc[HN_PANEL_SERIES * 2], word[MAX_WORDS];
    struct leader leader[MAX_WORDS]; // of each word
    bool placed[MAX_WORDS];
    int discs;
};

static struct leader leader_to(double x, double y, const struct hn_rectangle *r) {
    return (struct leader){x, y, fmin(fmax(x, r->left), r->right),
                           fmin(fmax(y, r->bottom), r->top)};
}

static bool inside(double x, double y, const struct hn_rectangle *r) {
    return x > r->left && x < r->right && y > r->bottom && y < r->top;
}

// Share of a leader that lies on a word or a disc, by eight of its points: 0, or from 0.4 on.
static double crossed(const struct leader *leader, const struct hn_rectangle *word) {
    int n = 0;
    for (int i = 1; i <= 8; i++) {
        double x = leader->x0 + (leader->x1 - leader->x0) * i / 9,
               y = leader->y0 + (leader->y1 - leader->y0) * i / 9;
        n += inside(x, y, word);
    }
    return n > 0 ? 0.4 + n / 8.0 : 0;
}

// Twice the area of the triangle (x0, y0), (x1, y1), (x, y), positive where it turns left.
static double turn(const struct leader *l, double x, double y) {
    return (l->x1 - l->x0) * (y - l->y0) - (l->y1 - l->y0) * (x - l->x0);
}

static bool cross(const struct leader *a, const struct leader *b) {
    return turn(a, b->x0, b->y0) * turn(a, b->x1, b->y1) < 0 &&
           turn(b, a->x0, a->y0) * turn(b, a->x1, a->y1) < 0;
}

// True if the leader of one word runs between the other word and its mark.
static bool between(const struct leader *leader, const struct leader *other,
                    const struct hn_rectangle *word) {
    const struct leader whole = {other->x0, other->y0, 0.5 * (word->left + word->right),
                                 0.5 * (word->bottom + word->top)};
    return cross(leader, &whole);
}

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

static void add_discs(struct layout *l) {
    const struct frame *f = &l->frame;
    const int max = (int)(sizeof l->disc / sizeof l->disc[0]);
    for (int s = 0; s < f->panel->n_series; s++) {
        const struct hn_series *series = f->panel->series[s];
        for (int64_t i = 0; series->look == HN_LOOK_DISCS && i < series->n; i++) {
            const struct hn_datum *d = &series->datum[i];
            double x = across(f, d->x), y = upward(f, d->y);
            double r = 0.035 * hn_disc_size(d->size) + 0.5 * gap;
            if (l->discs < max)
                l->disc[l->discs++] = (struct hn_rectangle){x - r, y - r, x + r, y + r};
        }
    }
}

static double under_line(const struct hn_rectangle *word, double x0, double y0, double x1,
                         double y1) {
    const struct hn_rectangle line = {fmin(x0, x1) - 0.01, fmin(y0, y1) - 0.01, fmax(x0, x1) + 0.01,
                                      fmax(y0, y1) + 0.01};
    return overlap(word, &line) / 0.02;
}

// Length of a staircase's lines, of intervals and of upright lines under a word.
static double under(const struct layout *l, const struct hn_rectangle *word) {
    const struct frame *f = &l->frame;
    double sum = 0;
    for (int s = 0; s < f->panel->n_series; s++) {
        const struct hn_series *series = f->panel->series[s];
        for (int64_t i = 0; i < series->n; i++) {
            const struct hn_datum *d = &series->datum[i];
            double x = across(f, d->x), y = upward(f, d->y);
            if (series->look == HN_LOOK_STAIRS && i > 0) {
                double x0 = across(f, d[-1].x), y0 = upward(f, d[-1].y);
                sum += under_line(word, x0, y0, x, y0) + under_line(word, x, y0, x, y);
            } else if (series->look == HN_LOOK_ARMS)
                sum += under_line(word, across(f, d->lo), y, across(f, d->hi), y);
            else if (series->look == HN_LOOK_UPRIGHT)
                sum += under_line(word, x, 0, x, f->panel_height);
            else if (series->look == HN_LOOK_STEMS)
                sum += under_line(word, x, upward(f, d->lo), x, upward(f, d->hi));
        }
    }
    return sum;
}

static double length(const struct leader *leader) {
    return hypot(leader->x1 - leader->x0, leader->y1 - leader->y0);
}

// Counts the discs that are closer to a word without a leader than its own.
static int mistaken(const struct layout *l, const struct hn_rectangle *word,
                    const struct leader *leader) {
    int n = 0;
    for (int i = 0; length(leader) < visible && i < l->discs; i++) {
        const struct hn_rectangle *disc = &l->disc[i];
        struct leader other =
            leader_to(0.5 * (disc->left + disc->right), 0.5 * (disc->bottom + disc->top), word);
        n += length(&other) < length(leader) - 1e-6;
    }
    return n;
}

// Penalty of a position of word `self`: the area that it covers, and its distance from its mark.
static double badness(const struct layout *l, int self, const struct hn_rectangle *word,
                      const struct leader *leader, double distance) {
    const struct frame *f = &l->frame;
    double covered = 0, lines = 0;
    bool outside = word->left < 0.02 || word->bottom < 0.02 || word->right > f->width ||
                   word->top > f->panel_height;
    for (int i = 0; i < l->discs; i++) {
        covered += overlap(word, &l->disc[i]);
        lines += inside(leader->x0, leader->y0, &l->disc[i]) ? 0 : crossed(leader, &l->disc[i]);
    }
    for (int i = 0; i < f->panel->n_marks; i++) {
        if (i == self || !l->placed[i])
            continue;
        covered += 2 * overlap(word, &l->word[i]);
        lines += crossed(leader, &l->word[i]) + crossed(&l->leader[i], word) +
                 between(leader, &l->leader[i], &l->word[i]) + between(&l->leader[i], leader, word);
    }
    return (outside ? 1e3 : 0) + 1e3 * covered + 2.5 * under(l, word) + lines +
           0.4 * mistaken(l, word, leader) + distance;
}

// The word in a direction from (x, y): beside, above or below it by `distance` at its nearest.
static struct hn_rectangle toward(double x, double y, double angle, double distance, double width) {
    double dx = cos(angle), dy = sin(angle);
    double left = x + distance * dx - (dx < -0.3 ? width : dx > 0.3 ? 0 : 0.5 * width);
    double bottom = y + distance * dy - 0.5 * height * (1 - dy);
    return (struct hn_rectangle){left, bottom, left + width, bottom + height};
}

// The best place of a word; how bad it is.
static double place(struct layout *l, int self) {
    const struct hn_word *m = &l->frame.panel->mark[self];
    double x = across(&l->frame, m->x), y = upward(&l->frame, m->y), min = INFINITY;
    double width = hn_text_width(m->text) + 0.02;
    for (int k = 0; k < DISTANCES; k++)
        for (int i = 0; i < DIRECTIONS; i++) {
            double distance = 0.11 + 0.09 * k;
            struct hn_rectangle r = toward(x, y, 2 * M_PI * i / DIRECTIONS, distance, width);
            double in = fmax(0.03 - r.left, fmin(0, l->frame.width - 0.01 - r.right));
            double up = fmax(0.03 - r.bottom, fmin(0, l->frame.panel_height - 0.01 - r.top));
            r = (struct hn_rectangle){r.left + in, r.bottom + up, r.right + in, r.top + up};
            struct leader leader = leader_to(x, y, &r);
            double bad = badness(l, self, &r, &leader, distance);
            if (bad < min - 1e-9) {
                min = bad;
                l->word[self] = r;
                l->leader[self] = leader;
            }
        }
    l->placed[self] = true;
    return min;
}

// All words, in an order of that number; the sum of how bad they are.
static double place_all(struct layout *l, int number) {
    const int n = l->frame.panel->n_marks;
    int32_t order[MAX_WORDS];
    struct hn_stream stream;
    for (int i = 0; i < n; i++)
        order[i] = i;
    hn_stream_open(&stream, 1, "marks.order", number, 0, 0);
    hn_stream_shuffle(&stream, order, n);
    double sum = INFINITY, before;
    memset(l->placed, 0, sizeof l->placed);
    for (int pass = 0; pass < PASSES; pass++) {
        before = sum;
        sum = 0;
        for (int i = 0; i < n; i++)
            sum += place(l, order[i]);
        if (fabs(sum - before) < 1e-9)
            break;
    }
    return sum;
}

static struct layout best_layout(const struct layout *empty) {
    struct layout best = *empty, trial = *empty;
    double min = INFINITY;
    for (int number = 0; number < ORDERS; number++) {
        double sum = place_all(&trial, number);
        if (sum < min - 1e-6) {
            min = sum;
            best = trial;
        }
    }
    return best;
}

static double value_at(const struct hn_axis *axis, double share, struct hn_range r) {
    return axis->log ? r.lo * pow(r.hi / r.lo, share) : r.lo + share * (r.hi - r.lo);
}

static void begin_plot(FILE *gp) { fputs(", \\\n    '+' every ::0::0 using ", gp); }

// As plots, so that the parts of the picture have the title of what they belong to.
static void end_plot(const struct hn_page *page, FILE *gp, const struct hn_word *m) {
    fputs(*m->of ? " title " : " notitle", gp);
    if (*m->of)
        hn_page_text(page, gp, m->of);
}

static void write_leader(const struct frame *f, FILE *gp, const struct hn_word *m) {
    const double *l = m->leader, length = hypot(l[2] - l[0], l[3] - l[1]), off = 0.07 / length;
    double x0 = value_at(&f->panel->x, (l[0] + off * (l[2] - l[0])) / f->width, f->x);
    double y0 = value_at(&f->panel->y, (l[1] + off * (l[3] - l[1])) / f->panel_height, f->y);
    begin_plot(gp);
    fprintf(gp, "(%.9g):(%.9g):(%.9g):(%.9g) with vectors nohead lw 0.5 dt solid lc rgb '#777777'",
            x0, y0, value_at(&f->panel->x, l[2] / f->width, f->x) - x0,
            value_at(&f->panel->y, l[3] / f->panel_height, f->y) - y0);
    end_plot(f->page, gp, m);
}

// A text in an expression of `using`, where gnuplot takes a level of backslashes away before it
// looks at enhanced text: each is written twice.
static void write_in_expression(const struct frame *f, FILE *gp, const char *text) {
    static const char backslash[] = "\\134";
    char *written = NULL;
    size_t size;
    FILE *memory = open_memstream(&written, &size);
    if (!memory)
        return;
    hn_page_text(f->page, memory, text);
    if (fclose(memory) == 0)
        for (const char *s = written; *s; s++) {
            if (strncmp(s, backslash, strlen(backslash)) == 0)
                fputs(backslash, gp);
            fputc(*s, gp);
        }
    free(written);
}

static void write_word(const struct frame *f, FILE *gp, const struct hn_word *m) {
    const struct hn_rectangle *r = &m->box;
    double x = across(f, m->x), middle = 0.5 * (r->bottom + r->top);
    bool right = r->left > x, left = r->right < x; // the word keeps its near end
    double at = right ? r->left : left ? r->right : 0.5 * (r->left + r->right);
    begin_plot(gp);
    fprintf(gp, "(%.9g):(%.9g):(", value_at(&f->panel->x, at / f->width, f->x),
            value_at(&f->panel->y, middle / f->panel_height, f->y));
    write_in_expression(f, gp, m->text);
    fprintf(gp, ") with labels %s", right ? "left" : left ? "right" : "center");
    hn_write_text_colour(gp, m->line);
    end_plot(f->page, gp, m);
}

// Words keep off the inset of the first panel.
static void add_inset(struct layout *l, const struct hn_layout *g) {
    struct hn_rectangle *r = &l->disc[l->discs++];
    r->left = g->inset_left * l->frame.width;
    r->bottom = g->inset_bottom * l->frame.panel_height;
    r->right = r->left + HN_INSET_SHARE * l->frame.width;
    r->top = r->bottom + HN_INSET_SHARE * l->frame.panel_height;
}

// True if a word, as placed, covers another that is shown, or a disc.
static bool covers(const struct layout *l, int self) {
    double covered = 0;
    for (int i = 0; i < l->discs; i++)
        covered += overlap(&l->word[self], &l->disc[i]);
    for (int i = 0; i < self; i++)
        covered += l->frame.panel->mark[i].hidden ? 0 : overlap(&l->word[self], &l->word[i]);
    return covered > 1e-3;
}

static struct frame frame_of(const struct hn_layout *g, int p) {
    const struct hn_panel *panel = &g->page->panel[p];
    const struct hn_box box = hn_layout_box(g, p);
    struct frame f = {
        .page = g->page, .panel = panel, .width = box.width, .panel_height = box.height};
    hn_page_range(g->page, panel, false, &f.x.lo, &f.x.hi);
    hn_page_range(g->page, panel, true, &f.y.lo, &f.y.hi);
    return f;
}

// Those that come first are kept: words of the front.
static void place_panel(const struct hn_layout *g, struct hn_panel *panel, int p) {
    struct layout l = {.frame = frame_of(g, p)};
    for (int i = 0; i < panel->n_marks; i++) {
        char text[HN_LABEL_SIZE], *whole = panel->mark[i].text;
        double letter = hn_text_width(whole) / (double)hn_letters(whole);
        int letters = (int)((l.frame.width - 0.06) / letter);
        hn_text_shorten(&(struct hn_texts){whole, 0, 1}, 0, letters, text, sizeof text);
        memcpy(whole, text, sizeof text);
    }
    if (g->inset && p == 0)
        add_inset(&l, g);
    add_discs(&l);
    l = best_layout(&l);
    for (int i = 0; i < panel->n_marks; i++) {
        struct hn_word *m = &panel->mark[i];
        m->box = l.word[i];
        m->hidden = covers(&l, i);
        const double line[] = {l.leader[i].x0, l.leader[i].y0, l.leader[i].x1, l.leader[i].y1};
        memcpy(m->leader, line, sizeof m->leader);
    }
}

void hn_page_place_marks(struct hn_page *page) {
    struct hn_layout g;
    int hidden = 0;
    hn_layout_make(page, &g);
    for (int p = 0; p < page->panels; p++) {
        if (page->panel[p].n_marks > 0)
            place_panel(&g, &page->panel[p], p);
        for (int i = 0; i < page->panel[p].n_marks; i++)
            hidden += page->panel[p].mark[i].hidden;
    }
    if (hidden > 0)
        hn_page_note(page, "%d labels are left out for lack of room.", hidden);
}

void hn_page_write_marks(const struct hn_layout *g, FILE *gp, int p, struct hn_range x,
                         struct hn_range y) {
    struct frame f = frame_of(g, p);
    f.x = x;
    f.y = y;
    for (int i = 0; i < f.panel->n_marks; i++) {
        const struct hn_word *m = &f.panel->mark[i];
        if (m->hidden)
            continue;
        if (hypot(m->leader[2] - m->leader[0], m->leader[3] - m->leader[1]) >= visible)
            write_leader(&f, gp, m);
        write_word(&f, gp, m);
    }
}
