#include "core/clones.h"
#include "core/exp.h"
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
    double *value, *scratch;
    if (!s || !HN_ALLOC_ROWS(ctx, value, rates * items, 3 * HN_NEGATIVES) ||
        !HN_ALLOC_ROWS(ctx, scratch, negatives, 5) || !HN_ZALLOC(ctx, s->sums, rates))
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

// power[n], also added to the columns; `twin` is the positive, which adds none.
HN_CLONES
static void add_to_columns(const float *s, int64_t n, int64_t twin, double rate,
                           const double *restrict mask, double *restrict power,
                           double *restrict all, double *restrict same) {
    for (int64_t j = 0; j < n; j++) {
        double e = hn_exp_normal(rate * ((double)s[j] - 1));
        power[j] = j == twin ? 0 : e;
        all[j] += power[j];
        same[j] += power[j] * mask[j];
    }
}

// Exponentials of a stretch, of which one may be of the positive, to the row's sums and, of their
// own masks, to those of the columns.
static void add_stretch(const struct hn_pairs *p, struct stretch s, int64_t twin, double rate,
                        const struct hn_side_sums *row, const struct hn_side_sums *column) {
    const struct hn_exp_sums_space *w = p->sums;
    const struct masks *turned = p->directed ? &w->turned : &w->row;
    add_to_columns(s.score, s.n, twin, rate, turned->same + s.from, w->power, column->all + s.from,
                   column->same + s.from);
    row->all[s.a] += sum(w->power, s.n);
    row->same[s.a] += dot(w->power, w->row.same + s.from, s.n);
    if (!p->unlabelled)
        return;
    row->labelled[s.a] += dot(w->power, w->row.labelled + s.from, s.n);
    add_masked(w->power, turned->labelled + s.from, s.n, column->labelled + s.from);
}

static void add_row(const struct hn_pairs *p, int32_t a, struct hn_exp_sums *to,
                    unsigned products) {
    const float *own[2] = {p->same1, p->same2};
    int64_t row = (int64_t)a * p->n, next = a + 1;
    for (int v = 0; v < 2; v++)
        if (products & (HN_SUMS_OWN1 << v))
            add_stretch(p, (struct stretch){a, next, p->n - next, own[v] + row + next}, -1,
                        to->rate, &to->side[HN_OWN1 + v], &to->side[HN_OWN1 + v]);
    if (products & HN_SUMS_OTHER)
        add_stretch(p, (struct stretch){a, 0, p->n, p->score + row}, a, to->rate,
                    &to->side[HN_OTHER1], &to->side[HN_OTHER2]);
}

static void add_list(const struct hn_pairs *p, int32_t a, struct hn_exp_sums *to,
                     unsigned products) {
    const struct hn_exp_sums_space *w = p->sums;
    const float *score[HN_NEGATIVES] = {p->same1, p->same2, p->score, p->score_t};
    int64_t at = p->start[a], n = p->start[a + 1] - at;
    for (int side = 0; side < HN_NEGATIVES; side++) {
        if (!(products & (side < 2 ? (unsigned)HN_SUMS_OWN1 << side : HN_SUMS_OTHER)))
            continue;
        hn_exp_each(score[side] + at, n, 1, to->rate, w->power);
        to->side[side].all[a] += sum(w->power, n);
        to->side[side].same[a] += dot(w->power, w->row.same, n);
        if (p->unlabelled)
            to->side[side].labelled[a] += dot(w->power, w->row.labelled, n);
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
