// Words beside places: each stands where it covers neither a disc nor another word, as near to its
// place as can be, with a thin line to it where that is not next to it or another disc is nearer.
// One after another; then each is placed again, the others given, until none moves. From several
// orders to begin with, the best of what comes out.
#include "core/random.h"
#include "plots/page/page_private.h"

#include <math.h>
#include <string.h>

// Inches: a word's height, the gap about a disc.
static const double height = 0.14, gap = 0.035;
// From this length on, a leader is drawn.
static const double visible = 0.14;

enum { DIRECTIONS = 16, DISTANCES = 9, PASSES = 10, ORDERS = 48, MOST_WORDS = HN_PANEL_MARKS };

struct frame {
    const struct hn_page *page;
    const struct hn_panel *panel;
    struct hn_range x, y;
    double width, panel_height; // inches
};

// Inches from the panel's lower left corner.
struct rectangle {
    double left, bottom, right, top;
};

// From a place to its word.
struct leader {
    double x0, y0, x1, y1;
};

struct layout {
    struct frame frame;
    struct rectangle disc[HN_PANEL_SERIES * 2], word[MOST_WORDS];
    struct leader leader[MOST_WORDS]; // of each word
    bool placed[MOST_WORDS];
    int discs;
};

static struct leader leader_to(double x, double y, const struct rectangle *r) {
    return (struct leader){x, y, fmin(fmax(x, r->left), r->right),
                           fmin(fmax(y, r->bottom), r->top)};
}

static bool inside(double x, double y, const struct rectangle *r) {
    return x > r->left && x < r->right && y > r->bottom && y < r->top;
}

// How much of a leader lies on a word or a disc, by eight of its points: 0, or from 0.4 on.
static double crossed(const struct leader *leader, const struct rectangle *word) {
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

// Whether the leader of one word runs between the other word and its place.
static bool between(const struct leader *leader, const struct leader *other,
                    const struct rectangle *word) {
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

static double overlap(const struct rectangle *a, const struct rectangle *b) {
    double w = fmin(a->right, b->right) - fmax(a->left, b->left);
    double h = fmin(a->top, b->top) - fmax(a->bottom, b->bottom);
    return w > 0 && h > 0 ? w * h : 0;
}

static void add_discs(struct layout *l) {
    const struct frame *f = &l->frame;
    const int most = (int)(sizeof l->disc / sizeof l->disc[0]);
    for (int s = 0; s < f->panel->n_series; s++) {
        const struct hn_series *series = f->panel->series[s];
        for (int64_t i = 0; series->look == HN_LOOK_DISCS && i < series->n; i++) {
            const struct hn_datum *d = &series->datum[i];
            double x = across(f, d->x), y = upward(f, d->y);
            double r = 0.035 * hn_disc_size(d->size) + 0.5 * gap;
            if (l->discs < most)
                l->disc[l->discs++] = (struct rectangle){x - r, y - r, x + r, y + r};
        }
    }
}

static double under_line(const struct rectangle *word, double x0, double y0, double x1, double y1) {
    const struct rectangle line = {fmin(x0, x1) - 0.01, fmin(y0, y1) - 0.01, fmax(x0, x1) + 0.01,
                                   fmax(y0, y1) + 0.01};
    return overlap(word, &line) / 0.02;
}

// Length of a staircase's lines and of intervals under a word.
static double under(const struct layout *l, const struct rectangle *word) {
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
            } else if (series->look == HN_LOOK_CROSSES) {
                if (!isnan(d->size))
                    sum += under_line(word, across(f, d->x - d->size), y, across(f, d->x + d->size),
                                      y);
                if (!isnan(d->lo) && !isnan(d->hi))
                    sum += under_line(word, x, upward(f, d->lo), x, upward(f, d->hi));
            }
        }
    }
    return sum;
}

static double length(const struct leader *leader) {
    return hypot(leader->x1 - leader->x0, leader->y1 - leader->y0);
}

// How many discs a word without a line to its own stands nearer to.
static int mistaken(const struct layout *l, const struct rectangle *word,
                    const struct leader *leader) {
    int n = 0;
    for (int i = 0; length(leader) < visible && i < l->discs; i++) {
        const struct rectangle *disc = &l->disc[i];
        struct leader other =
            leader_to(0.5 * (disc->left + disc->right), 0.5 * (disc->bottom + disc->top), word);
        n += length(&other) < length(leader) - 1e-6;
    }
    return n;
}

// How bad a place of word `self` is: what it covers, by area; how far it is from its place.
static double badness(const struct layout *l, int self, const struct rectangle *word,
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
    return (outside ? 1e3 : 0) + 1e3 * covered + 0.8 * under(l, word) + lines +
           0.4 * mistaken(l, word, leader) + distance;
}

// The word in a direction from (x, y): beside, above or below it by `distance` at its nearest.
static struct rectangle toward(double x, double y, double angle, double distance, double width) {
    double dx = cos(angle), dy = sin(angle);
    double left = x + distance * dx - (dx < -0.3 ? width : dx > 0.3 ? 0 : 0.5 * width);
    double bottom = y + distance * dy - 0.5 * height * (1 - dy);
    return (struct rectangle){left, bottom, left + width, bottom + height};
}

// The best place of a word; how bad it is.
static double place(struct layout *l, int self) {
    const struct hn_word *m = &l->frame.panel->mark[self];
    double x = across(&l->frame, m->x), y = upward(&l->frame, m->y), least = INFINITY;
    double width = HN_LETTER * (double)hn_letters(m->text) + 0.02;
    for (int k = 0; k < DISTANCES; k++)
        for (int i = 0; i < DIRECTIONS; i++) {
            double distance = 0.11 + 0.09 * k;
            struct rectangle r = toward(x, y, 2 * M_PI * i / DIRECTIONS, distance, width);
            double in = fmax(0.03 - r.left, fmin(0, l->frame.width - 0.01 - r.right));
            r.left += in;
            r.right += in;
            struct leader leader = leader_to(x, y, &r);
            double bad = badness(l, self, &r, &leader, distance);
            if (bad < least - 1e-9) {
                least = bad;
                l->word[self] = r;
                l->leader[self] = leader;
            }
        }
    l->placed[self] = true;
    return least;
}

// All words, in an order of that number; the sum of how bad they are.
static double place_all(struct layout *l, int number) {
    const int n = l->frame.panel->n_marks;
    int32_t order[MOST_WORDS];
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
    double least = INFINITY;
    for (int number = 0; number < ORDERS; number++) {
        double sum = place_all(&trial, number);
        if (sum < least - 1e-6) {
            least = sum;
            best = trial;
        }
    }
    return best;
}

static void write_word(const struct layout *l, FILE *gp, int i, const struct hn_word *m) {
    const struct frame *f = &l->frame;
    const struct rectangle *r = &l->word[i];
    const struct leader *line = &l->leader[i];
    double x = across(f, m->x), middle = 0.5 * (r->bottom + r->top);
    bool right = r->left > x, left = r->right < x; // the word keeps its near end
    double at = right ? r->left : left ? r->right : 0.5 * (r->left + r->right);
    fprintf(gp, "set label %d ", 200 + i);
    hn_page_text(f->page, gp, m->text);
    fprintf(gp, " at graph %.5f, graph %.5f %s front", at / f->width, middle / f->panel_height,
            right  ? "left"
            : left ? "right"
                   : "center");
    hn_write_text_colour(gp, m->line);
    fputc('\n', gp);
    if (length(line) < visible)
        return;
    fprintf(gp,
            "set arrow %d from first %.9g, first %.9g to graph %.5f, graph %.5f nohead back "
            "lw 0.5 dt solid lc rgb '#777777'\n",
            200 + i, m->x, m->y, line->x1 / f->width, line->y1 / f->panel_height);
}

// Words keep off the inset of the first panel.
static void add_inset(struct layout *l, const struct hn_layout *g) {
    struct rectangle *r = &l->disc[l->discs++];
    r->left = g->inset_left * l->frame.width;
    r->bottom = g->inset_bottom * l->frame.panel_height;
    r->right = r->left + HN_INSET_SHARE * l->frame.width;
    r->top = r->bottom + HN_INSET_SHARE * l->frame.panel_height;
}

void hn_page_write_marks(const struct hn_layout *g, FILE *gp, int p, struct hn_range x,
                         struct hn_range y) {
    const struct hn_box box = hn_layout_box(g, p);
    const struct hn_panel *panel = &g->page->panel[p];
    struct layout l = {.frame = {g->page, panel, x, y, box.width, box.height}};
    if (g->inset && p == 0)
        add_inset(&l, g);
    add_discs(&l);
    l = best_layout(&l);
    for (int i = 0; i < panel->n_marks; i++)
        write_word(&l, gp, i, &panel->mark[i]);
}
