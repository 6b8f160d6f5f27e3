#include "core/clones.h"
#include "core/exp.h"
#include "metrics/pairs.h"

#include <math.h>
#include <string.h>

struct masks {
    double *same, *labelled; // 1 or 0
};

// Sums at one rate, which is base * 2^squarings.
struct sums {
    struct hn_exp_sums of;
    double base;
    int squarings;
    unsigned asked, done; // products: in any batch so far, and summed in this one
    struct sums *next;    // by base, then by squarings
};

struct hn_exp_sums_space {
    int used;
    struct sums *sums;  // [used], of as many as there is space for
    struct sums *first; // of the list
    int64_t items;
    double *power;            // [negatives]
    struct masks row, turned; // [negatives] of anchor a: pairs (a, b), and pairs (b, a)
};

struct hn_exp_sums_space *hn_exp_sums_open(struct hn_context *ctx, int64_t items, int64_t negatives,
                                           int rates) {
    struct hn_exp_sums_space *s = hn_zalloc(ctx, 1, sizeof *s);
    double *value, *scratch;
    if (!s || !HN_ALLOC_ROWS(ctx, value, rates * items, 3 * HN_NEGATIVES) ||
        !HN_ALLOC_ROWS(ctx, scratch, negatives, 5) || !HN_ZALLOC(ctx, s->sums, rates))
        return NULL;
    s->items = items;
    s->power = scratch;
    s->row = (struct masks){scratch + negatives, scratch + 2 * negatives};
    s->turned = (struct masks){scratch + 3 * negatives, scratch + 4 * negatives};
    for (int k = 0; k < rates * HN_NEGATIVES; k++, value += 3 * items)
        s->sums[k / HN_NEGATIVES].of.side[k % HN_NEGATIVES] =
            (struct hn_side_sums){value, value + items, value + 2 * items};
    return s;
}

void hn_exp_sums_begin(struct hn_exp_sums_space *space) {
    for (int k = 0; k < space->used; k++)
        space->sums[k].done = 0;
}

HN_CLONES
static void read_kinds(const uint8_t *kind, int64_t n, double *restrict same,
                       double *restrict labelled) {
    for (int64_t j = 0; j < n; j++) {
        same[j] = kind[j] == HN_PAIR_FALSE_NEGATIVE;
        labelled[j] = kind[j] != HN_PAIR_UNLABELLED;
    }
}

HN_CLONES
static double dot(const double *v, const double *w, int64_t n) { return hn_lane_dot(v, w, n); }

HN_CLONES
static void add_masked(const double *v, const double *mask, int64_t n, double *restrict to) {
    for (int64_t j = 0; j < n; j++)
        to[j] += v[j] * mask[j];
}

HN_CLONES
static void raise_to(const float *s, int64_t n, double rate, double *restrict power) {
    for (int64_t j = 0; j < n; j++)
        power[j] = hn_exp_normal(rate * ((double)s[j] - 1));
}

HN_CLONES
static void square(double *power, int64_t n) {
    for (int64_t j = 0; j < n; j++)
        power[j] *= power[j];
}

// Sums of powers, and of those of the anchor's label.
struct row_sums {
    double all, same;
};

HN_CLONES
static struct row_sums sum(const double *v, const double *same, int64_t n) {
    return (struct row_sums){hn_lane_sum(v, n), hn_lane_dot(v, same, n)};
}

// The same, and v is added to the columns.
HN_CLONES
static struct row_sums add_to_columns(const double *v, int64_t n, const double *row_same,
                                      const double *column_same, double *restrict all,
                                      double *restrict same) {
    double lane[HN_LANES] = {0}, lane_same[HN_LANES] = {0};
    int64_t j = 0;
    for (; j + HN_LANES <= n; j += HN_LANES)
        for (int l = 0; l < HN_LANES; l++) {
            double power = v[j + l];
            lane[l] += power;
            lane_same[l] += power * row_same[j + l];
            all[j + l] += power;
            same[j + l] += power * column_same[j + l];
        }
    for (int l = 0; j < n; j++, l++) {
        lane[l] += v[j];
        lane_same[l] += v[j] * row_same[j];
        all[j] += v[j];
        same[j] += v[j] * column_same[j];
    }
    return (struct row_sums){hn_add_lanes(lane), hn_add_lanes(lane_same)};
}

// Products of anchor a with n negatives from number `from` on, of which one may be the positive.
struct stretch {
    int32_t a;
    int64_t from, n, positive; // -1: not among them
    const float *score;        // [n]
    int row, column;           // sides that they belong to; no columns: -1
};

static void add_powers(const struct hn_pairs *p, const struct stretch *s, struct hn_exp_sums *to) {
    const struct hn_exp_sums_space *w = p->sums;
    const double *row_same = w->row.same + s->from;
    struct hn_side_sums *row = &to->side[s->row], *column = &to->side[s->column];
    const struct masks *turned = p->directed ? &w->turned : &w->row;
    struct row_sums sums;
    if (s->column < 0)
        sums = sum(w->power, row_same, s->n);
    else
        sums = add_to_columns(w->power, s->n, row_same, turned->same + s->from,
                              column->all + s->from, column->same + s->from);
    row->all[s->a] += sums.all;
    row->same[s->a] += sums.same;
    if (!p->unlabelled)
        return;
    row->labelled[s->a] += dot(w->power, w->row.labelled + s->from, s->n);
    if (s->column >= 0)
        add_masked(w->power, turned->labelled + s->from, s->n, column->labelled + s->from);
}

static bool is_due(const struct sums *s, unsigned product) { return s->asked & ~s->done & product; }

// At every rate of a base for which it is due.
static void add_stretch(const struct hn_pairs *p, struct stretch s, struct sums *of_base,
                        unsigned product) {
    double *power = p->sums->power, base = of_base->base;
    bool raised = false;
    int squared = 0;
    for (struct sums *to = of_base; to && to->base == base; to = to->next) {
        if (!is_due(to, product))
            continue;
        if (!raised) {
            raise_to(s.score, s.n, base, power);
            if (s.positive >= 0)
                power[s.positive] = 0;
            raised = true;
        }
        for (; squared < to->squarings; squared++)
            square(power, s.n);
        add_powers(p, &s, &to->of);
    }
}

static void add_row(const struct hn_pairs *p, int32_t a, struct sums *of_base) {
    const float *own[2] = {p->same1, p->same2};
    int64_t row = (int64_t)a * p->n, next = a + 1;
    for (int v = 0; v < 2; v++)
        add_stretch(p,
                    (struct stretch){a, next, p->n - next, -1, own[v] + row + next, HN_OWN1 + v,
                                     HN_OWN1 + v},
                    of_base, HN_SUMS_OWN1 << v);
    add_stretch(p, (struct stretch){a, 0, p->n, a, p->score + row, HN_OTHER1, HN_OTHER2}, of_base,
                HN_SUMS_OTHER);
}

static void add_list(const struct hn_pairs *p, int32_t a, struct sums *of_base) {
    const float *score[HN_NEGATIVES] = {p->same1, p->same2, p->score, p->score_t};
    int64_t at = p->start[a], n = p->start[a + 1] - at;
    for (int side = 0; side < HN_NEGATIVES; side++)
        add_stretch(p, (struct stretch){a, 0, n, -1, score[side] + at, side, -1}, of_base,
                    side < 2 ? HN_SUMS_OWN1 << side : HN_SUMS_OTHER);
}

static void read_masks(const struct hn_pairs *p, int32_t a) {
    const struct hn_exp_sums_space *w = p->sums;
    int64_t at = p->start ? p->start[a] : (int64_t)a * p->n;
    read_kinds(p->kind + at, p->start ? p->start[a + 1] - at : p->n, w->row.same, w->row.labelled);
    for (int64_t b = 0; b < p->n && p->directed && !p->start; b++)
        read_kinds(p->kind + b * p->n + a, 1, w->turned.same + b, w->turned.labelled + b);
}

// Sums what is due of a base, whose rates share their exponentials.
static void add_base(const struct hn_pairs *p, struct sums *of_base) {
    double base = of_base->base;
    for (struct sums *s = of_base; s && s->base == base; s = s->next)
        for (int side = 0; side < HN_NEGATIVES; side++)
            if (is_due(s, side < 2 ? HN_SUMS_OWN1 << side : HN_SUMS_OTHER))
                memset(s->of.side[side].all, 0, 3 * (size_t)p->sums->items * sizeof(double));
    for (int32_t a = 0; a < p->n; a++) {
        read_masks(p, a);
        (p->start ? add_list : add_row)(p, a, of_base);
    }
    for (struct sums *s = of_base; s && s->base == base; s = s->next)
        s->done = s->asked;
}

static struct sums *find(struct hn_exp_sums_space *w, double rate) {
    for (int k = 0; k < w->used; k++)
        if (w->sums[k].of.rate == rate)
            return &w->sums[k];
    struct sums *s = &w->sums[w->used++], **at = &w->first;
    int exponent;
    s->of.rate = rate;
    s->base = 2 * frexp(rate, &exponent); // from 1 to below 2
    s->squarings = exponent - 1;
    if (s->squarings < 0) {
        s->base = rate;
        s->squarings = 0;
    }
    while (*at &&
           ((*at)->base < s->base || ((*at)->base == s->base && (*at)->squarings < s->squarings)))
        at = &(*at)->next;
    s->next = *at;
    *at = s;
    return s;
}

const struct hn_exp_sums *hn_exp_sums(const struct hn_pairs *p, double rate, unsigned products) {
    struct sums *s = find(p->sums, rate), *of_base = p->sums->first;
    s->asked |= products;
    while (of_base->base < s->base)
        of_base = of_base->next;
    if (products & ~s->done)
        add_base(p, of_base);
    return &s->of;
}
