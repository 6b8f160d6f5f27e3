// SPDX-License-Identifier: GPL-3.0-or-later
// Sums of exponentials by anchor, kept for a batch, for all losses and weightings that ask.
#include "metrics/exp_sums.h"

#include "core/clones.h"
#include "core/exp.h"
#include "metrics/pairs.h"

#include <limits.h>
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
    int used, masked;
    struct sums *sums;        // [used], of as many as there is space for
    struct sums *first;       // of the list
    struct hn_limits *limits; // [masked], likewise
    int64_t items;
    double *power, *row_left, *column_left; // [negatives]
    struct masks row, turned;               // [negatives] of anchor a: pairs (a, b), and (b, a)
};

// Sums that share their exponentials.
struct family {
    struct sums *first; // of its base
    double base;
    const struct hn_limits *limits;
};

struct hn_exp_sums_space *hn_exp_sums_open(struct hn_context *ctx, int64_t items, int64_t negatives,
                                           int sums, int limits) {
    struct hn_exp_sums_space *s = hn_zalloc(ctx, 1, sizeof *s);
    double *value, *limit, *scratch;
    if (!s || !HN_ALLOC_ROWS(ctx, value, (int64_t)sums * items, 3 * HN_NEGATIVES) ||
        !HN_ALLOC_ROWS(ctx, limit, (int64_t)limits * items, 2) ||
        !HN_ALLOC_ROWS(ctx, scratch, negatives, 7) || !HN_ZALLOC(ctx, s->sums, sums) ||
        !HN_ZALLOC(ctx, s->limits, limits))
        return NULL;
    s->items = items;
    s->power = scratch;
    s->row_left = scratch + negatives;
    s->column_left = scratch + 2 * negatives;
    s->row = (struct masks){scratch + 3 * negatives, scratch + 4 * negatives};
    s->turned = (struct masks){scratch + 5 * negatives, scratch + 6 * negatives};
    for (int k = 0; k < sums * HN_NEGATIVES; k++, value += 3 * items)
        s->sums[k / HN_NEGATIVES].of.side[k % HN_NEGATIVES] =
            (struct hn_side_sums){value, value + items, value + 2 * items};
    for (int k = 0; k < limits; k++, limit += 2 * items)
        memcpy(s->limits[k].limit, (double *[2]){limit, limit + items}, sizeof s->limits[k].limit);
    return s;
}

void hn_exp_sums_begin(struct hn_exp_sums_space *space) {
    for (int k = 0; k < space->used; k++)
        space->sums[k].done = 0;
    for (int k = 0; k < space->masked; k++)
        space->limits[k].known = false;
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

// The powers that a limit leaves.
HN_CLONES
static void leave(const double *power, const float *shown, double limit, int64_t n,
                  double *restrict left) {
    for (int64_t j = 0; j < n; j++)
        left[j] = (double)shown[j] > limit ? 0 : power[j];
}

// The same of a limit for each.
HN_CLONES
static void leave_each(const double *power, const float *shown, const double *limit, int64_t n,
                       double *restrict left) {
    for (int64_t j = 0; j < n; j++)
        left[j] = (double)shown[j] > limit[j] ? 0 : power[j];
}

// Sums of powers, and of those of the anchor's label.
struct row_sums {
    double all, same;
};

HN_CLONES
static struct row_sums sum(const double *v, const double *same, int64_t n) {
    return (struct row_sums){hn_lane_sum(v, n), hn_lane_dot(v, same, n)};
}

// The same of a row, and powers are added to the columns.
HN_CLONES
static struct row_sums add_to_columns(const double *row, const double *column, int64_t n,
                                      const double *row_same, const double *column_same,
                                      double *restrict all, double *restrict same) {
    double lane[HN_LANES] = {0}, lane_same[HN_LANES] = {0};
    int64_t j = 0;
    for (; j + HN_LANES <= n; j += HN_LANES)
        for (int l = 0; l < HN_LANES; l++) {
            lane[l] += row[j + l];
            lane_same[l] += row[j + l] * row_same[j + l];
            all[j + l] += column[j + l];
            same[j + l] += column[j + l] * column_same[j + l];
        }
    for (int l = 0; j < n; j++, l++) {
        lane[l] += row[j];
        lane_same[l] += row[j] * row_same[j];
        all[j] += column[j];
        same[j] += column[j] * column_same[j];
    }
    return (struct row_sums){hn_add_lanes(lane), hn_add_lanes(lane_same)};
}

// Products of anchor a with n negatives from number `from` on, of which one may be the positive.
struct stretch {
    int32_t a;
    int64_t from, n, positive;  // -1: not among them
    int64_t at;                 // of the first in score and guide
    const float *score, *guide; // NULL where nothing asks for them
    int row, column;            // sides that they belong to; no columns: -1
};

// Powers of the row and of the columns: all, or what limits leave.
static void add_powers(const struct hn_pairs *p, const struct stretch *s, const double *of_row,
                       const double *of_column, struct hn_exp_sums *to) {
    const struct hn_exp_sums_space *w = p->sums;
    const double *same = w->row.same + s->from, *labelled = w->row.labelled + s->from;
    struct hn_side_sums *row = &to->side[s->row];
    struct row_sums sums;
    if (s->column < 0) {
        sums = sum(of_row, same, s->n);
    } else {
        const struct masks *turned = p->directed ? &w->turned : &w->row;
        struct hn_side_sums *column = &to->side[s->column];
        sums = add_to_columns(of_row, of_column, s->n, same, turned->same + s->from,
                              column->all + s->from, column->same + s->from);
        if (p->unlabelled)
            add_masked(of_column, turned->labelled + s->from, s->n, column->labelled + s->from);
    }
    row->all[s->a] += sums.all;
    row->same[s->a] += sums.same;
    if (p->unlabelled)
        row->labelled[s->a] += dot(of_row, labelled, s->n);
}

static void add_left(const struct hn_pairs *p, const struct stretch *s, struct hn_exp_sums *to) {
    const struct hn_exp_sums_space *w = p->sums;
    const struct hn_limits *limits = to->limits;
    const float *shown = (limits->key.guided ? s->guide : s->score) + s->at;
    leave(w->power, shown, limits->limit[s->row % 2][s->a], s->n, w->row_left);
    if (s->column >= 0)
        leave_each(w->power, shown, limits->limit[s->column % 2] + s->from, s->n, w->column_left);
    add_powers(p, s, w->row_left, w->column_left, to);
}

// The first of a family, from s on, for which a product is due.
static struct sums *due(const struct family *f, struct sums *s, unsigned product) {
    while (s && s->base == f->base &&
           (s->of.limits != f->limits || !(s->asked & ~s->done & product)))
        s = s->next;
    return s && s->base == f->base ? s : NULL;
}

static void add_stretch(const struct hn_pairs *p, struct stretch s, const struct family *f,
                        unsigned product) {
    double *power = p->sums->power;
    struct sums *to = due(f, f->first, product);
    if (!to)
        return;
    raise_to(s.score + s.at, s.n, f->base, power);
    if (s.positive >= 0)
        power[s.positive] = 0;
    for (int squared = 0; to; to = due(f, to->next, product)) {
        for (; squared < to->squarings; squared++)
            square(power, s.n);
        if (f->limits)
            add_left(p, &s, &to->of);
        else
            add_powers(p, &s, power, power, &to->of);
    }
}

static void add_row(const struct hn_pairs *p, int32_t a, const struct family *f) {
    const float *own[2] = {p->same1, p->same2};
    int64_t row = (int64_t)a * p->n, next = a + 1, n = p->n - next;
    for (int v = HN_OWN1; v <= HN_OWN2; v++)
        add_stretch(p, (struct stretch){a, next, n, -1, row + next, own[v], p->guide, v, v}, f,
                    HN_SUMS_OWN1 << v);
    add_stretch(p, (struct stretch){a, 0, p->n, a, row, p->score, p->guide, HN_OTHER1, HN_OTHER2},
                f, HN_SUMS_OTHER);
}

static void add_list(const struct hn_pairs *p, int32_t a, const struct family *f) {
    const float *score[HN_NEGATIVES] = {p->same1, p->same2, p->score, p->score_t};
    int64_t at = p->start[a], n = p->start[a + 1] - at;
    for (int side = 0; side < HN_NEGATIVES; side++)
        add_stretch(p, (struct stretch){a, 0, n, -1, at, score[side], p->guide, side, -1}, f,
                    side < 2 ? HN_SUMS_OWN1 << side : HN_SUMS_OTHER);
}

static void read_masks(const struct hn_pairs *p, int32_t a) {
    const struct hn_exp_sums_space *w = p->sums;
    int64_t at = p->start ? p->start[a] : (int64_t)a * p->n;
    read_kinds(p->kind + at, p->start ? p->start[a + 1] - at : p->n, w->row.same, w->row.labelled);
    for (int64_t b = 0; b < p->n && p->directed && !p->start; b++)
        read_kinds(p->kind + b * p->n + a, 1, w->turned.same + b, w->turned.labelled + b);
}

// Sums what is due of a family.
static void add_family(const struct hn_pairs *p, const struct family *f) {
    for (int side = 0; side < HN_NEGATIVES; side++) {
        unsigned product = side < 2 ? HN_SUMS_OWN1 << side : HN_SUMS_OTHER;
        for (struct sums *s = due(f, f->first, product); s; s = due(f, s->next, product))
            memset(s->of.side[side].all, 0, 3 * (size_t)p->sums->items * sizeof(double));
    }
    for (int32_t a = 0; a < p->n; a++) {
        read_masks(p, a);
        (p->start ? add_list : add_row)(p, a, f);
    }
    for (struct sums *s = due(f, f->first, UINT_MAX); s; s = due(f, s->next, UINT_MAX))
        s->done = s->asked;
}

static struct sums *find(struct hn_exp_sums_space *w, double rate, const struct hn_limits *limits) {
    for (int k = 0; k < w->used; k++)
        if (w->sums[k].of.rate == rate && w->sums[k].of.limits == limits)
            return &w->sums[k];
    struct sums *s = &w->sums[w->used++], **at = &w->first;
    int exponent;
    s->of.rate = rate;
    s->of.limits = limits;
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

const struct hn_exp_sums *hn_exp_sums(const struct hn_pairs *p, double rate, unsigned products,
                                      const struct hn_limits *limits) {
    struct sums *s = find(p->sums, rate, limits);
    struct family family = {p->sums->first, s->base, limits};
    s->asked |= products;
    while (family.first->base < s->base)
        family.first = family.first->next;
    if (products & ~s->done)
        add_family(p, &family);
    return &s->of;
}

struct hn_limits *hn_limits_of(const struct hn_pairs *p, struct hn_limits_key key) {
    struct hn_exp_sums_space *w = p->sums;
    for (int k = 0; k < w->masked; k++) {
        const struct hn_limits_key *other = &w->limits[k].key;
        if (other->mask == key.mask && other->by == key.by && other->guided == key.guided &&
            other->products == key.products)
            return &w->limits[k];
    }
    w->limits[w->masked].key = key;
    return &w->limits[w->masked++];
}
