#include "metrics/exp_sums.h"
#include "core/clones.h"
#include "core/exp.h"
#include "core/lanes.h"
#include "metrics/pairs.h"

#include <string.h>

struct masks {
    double *same, *labelled; // 1 or 0
};

struct hn_exp_sums_space {
    int used;
    struct hn_exp_sums *sums; // [used], of as many as there is space for
    int64_t items;
    double *power;            // [negatives]
    struct masks row, turned; // [negatives] of anchor a: pairs (a, b), and pairs (b, a)
};

struct hn_exp_sums_space *hn_exp_sums_open(struct hn_context *ctx, int64_t items, int64_t negatives,
                                           int rates) {
    struct hn_exp_sums_space *s = hn_zalloc(ctx, 1, sizeof *s);
    double *value = hn_alloc(ctx, rates * items, 3 * HN_NEGATIVES * sizeof *value);
    double *scratch = hn_alloc(ctx, negatives, 5 * sizeof *scratch);
    if (s)
        s->sums = hn_zalloc(ctx, rates, sizeof *s->sums);
    if (!s || !value || !scratch || !s->sums)
        return NULL;
    s->items = items;
    s->power = scratch;
    s->row = (struct masks){scratch + negatives, scratch + 2 * negatives};
    s->turned = (struct masks){scratch + 3 * negatives, scratch + 4 * negatives};
    for (int k = 0; k < rates * HN_NEGATIVES; k++, value += 3 * items)
        s->sums[k / HN_NEGATIVES].side[k % HN_NEGATIVES] =
            (struct hn_side_sums){value, value + items, value + 2 * items};
    return s;
}

void hn_exp_sums_begin(struct hn_exp_sums_space *space) { space->used = 0; }

HN_CLONES
static void read_kinds(const uint8_t *kind, int64_t n, double *restrict same,
                       double *restrict labelled) {
    for (int64_t j = 0; j < n; j++) {
        same[j] = kind[j] == HN_PAIR_FALSE_NEGATIVE;
        labelled[j] = kind[j] != HN_PAIR_UNLABELLED;
    }
}

HN_CLONES
static double sum(const double *v, int64_t n) { return hn_lane_sum(v, n); }

HN_CLONES
static double dot(const double *v, const double *w, int64_t n) { return hn_lane_dot(v, w, n); }

HN_CLONES
static void add(const double *v, int64_t n, double *restrict to) {
    for (int64_t j = 0; j < n; j++)
        to[j] += v[j];
}

HN_CLONES
static void add_masked(const double *v, const double *mask, int64_t n, double *restrict to) {
    for (int64_t j = 0; j < n; j++)
        to[j] += v[j] * mask[j];
}

// Products of anchor a with the negatives from number `from` on.
struct stretch {
    int32_t a;
    int64_t from, n;
    const float *score; // [n]
};

static void add_to_row(const struct hn_exp_sums_space *w, const struct hn_pairs *p,
                       struct stretch s, const struct hn_side_sums *to) {
    to->all[s.a] += sum(w->power, s.n);
    to->same[s.a] += dot(w->power, w->row.same + s.from, s.n);
    if (p->unlabelled)
        to->labelled[s.a] += dot(w->power, w->row.labelled + s.from, s.n);
}

static void add_to_columns(const struct hn_exp_sums_space *w, const struct hn_pairs *p,
                           struct stretch s, const struct hn_side_sums *to) {
    const struct masks *mask = p->directed ? &w->turned : &w->row;
    add(w->power, s.n, to->all + s.from);
    add_masked(w->power, mask->same + s.from, s.n, to->same + s.from);
    if (p->unlabelled)
        add_masked(w->power, mask->labelled + s.from, s.n, to->labelled + s.from);
}

static void add_row(const struct hn_pairs *p, int32_t a, struct hn_exp_sums *to,
                    unsigned products) {
    const struct hn_exp_sums_space *w = p->sums;
    const float *own[2] = {p->same1, p->same2};
    int64_t row = (int64_t)a * p->n, next = a + 1;
    for (int v = 0; v < 2; v++)
        if (products & (HN_SUMS_OWN1 << v)) {
            struct stretch s = {a, next, p->n - next, own[v] + row + next};
            hn_exp_each(s.score, s.n, 1, to->rate, w->power);
            add_to_row(w, p, s, &to->side[HN_OWN1 + v]);
            add_to_columns(w, p, s, &to->side[HN_OWN1 + v]);
        }
    if (products & HN_SUMS_OTHER) {
        struct stretch s = {a, 0, p->n, p->score + row};
        hn_exp_each(s.score, s.n, 1, to->rate, w->power);
        w->power[a] = 0; // the positive
        add_to_row(w, p, s, &to->side[HN_OTHER1]);
        add_to_columns(w, p, s, &to->side[HN_OTHER2]);
    }
}

static void add_list(const struct hn_pairs *p, int32_t a, struct hn_exp_sums *to,
                     unsigned products) {
    const float *score[HN_NEGATIVES] = {p->same1, p->same2, p->score, p->score_t};
    for (int side = 0; side < HN_NEGATIVES; side++) {
        struct stretch s = {a, 0, p->start[a + 1] - p->start[a], NULL};
        if (!(products & (side < 2 ? (unsigned)HN_SUMS_OWN1 << side : HN_SUMS_OTHER)))
            continue;
        s.score = score[side] + p->start[a];
        hn_exp_each(s.score, s.n, 1, to->rate, p->sums->power);
        add_to_row(p->sums, p, s, &to->side[side]);
    }
}

static void read_masks(const struct hn_pairs *p, int32_t a) {
    const struct hn_exp_sums_space *w = p->sums;
    int64_t at = p->start ? p->start[a] : (int64_t)a * p->n;
    read_kinds(p->kind + at, p->start ? p->start[a + 1] - at : p->n, w->row.same, w->row.labelled);
    for (int64_t b = 0; b < p->n && p->directed && !p->start; b++)
        read_kinds(p->kind + b * p->n + a, 1, w->turned.same + b, w->turned.labelled + b);
}

static void add_products(const struct hn_pairs *p, struct hn_exp_sums *to, unsigned products) {
    for (int side = 0; side < HN_NEGATIVES; side++)
        if (products & (side < 2 ? (unsigned)HN_SUMS_OWN1 << side : HN_SUMS_OTHER))
            memset(to->side[side].all, 0, 3 * (size_t)p->sums->items * sizeof(double));
    for (int32_t a = 0; a < p->n; a++) {
        read_masks(p, a);
        (p->start ? add_list : add_row)(p, a, to, products);
    }
    to->done |= products;
}

const struct hn_exp_sums *hn_exp_sums(const struct hn_pairs *p, double rate, unsigned products) {
    struct hn_exp_sums_space *w = p->sums;
    int k = 0;
    while (k < w->used && w->sums[k].rate != rate)
        k++;
    struct hn_exp_sums *s = &w->sums[k];
    if (k == w->used) {
        w->used++;
        s->rate = rate;
        s->done = 0;
    }
    if (products & ~s->done)
        add_products(p, s, products & ~s->done);
    return s;
}
