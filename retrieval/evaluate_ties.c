// SPDX-License-Identifier: GPL-3.0-or-later
// Values of one ranking, with passages of equal score in their expected, best or worst order.
#include "retrieval/evaluate.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>

const char *const hn_convention_name[] = {"expected", "trec", "st", NULL};
const char *const hn_retrieval_metric_name[] = {"recall", "hit", "mrr", "ndcg", "map"};

// Sums over the ranks so far.
struct sums {
    int64_t rank;
    double found;   // relevant passages
    double missing; // probability that there is none
    double reciprocal, gain, precision;
};

static double discount(int64_t rank) { return log2((double)rank + 1); }

// All orders of a tie are equally likely: a relevant passage is at each of its ranks with the same
// probability, and if it is, others of the tie are before it with the same probability each.
static void add_expected(struct sums *s, const struct hn_tie *t, int64_t k) {
    double n = (double)t->n, r = (double)t->relevant, gain = 0;
    int64_t ranks = hn_min(t->n, k - s->rank);
    for (int64_t g = 0; g < t->gains; g++)
        gain += t->gain[g];
    for (int64_t j = 0; j < ranks; j++) {
        double rank = (double)(s->rank + j + 1), left = n - (double)j;
        double before = t->n > 1 ? (double)j * (r - 1) / (n - 1) : 0;
        s->reciprocal += s->missing * r / left / rank;
        s->missing *= fmax(left - r, 0) / left;
        s->gain += gain / n / discount(s->rank + j + 1);
        s->precision += r / n * (s->found + 1 + before) / rank;
    }
    s->found += r * (double)ranks / n;
    s->rank += ranks;
}

// Passages with gains come first, the best of them before the others; or last.
static void add_extreme(struct sums *s, const struct hn_tie *t, int64_t k, bool best) {
    for (int64_t g = 0; g < t->gains; g++) {
        int64_t of = best ? g : t->gains - 1 - g;
        int64_t rank = s->rank + 1 + g + (best ? 0 : t->n - t->gains);
        if (rank > k)
            break;
        s->gain += t->gain[of] / discount(rank);
        if (of >= t->relevant)
            continue;
        s->reciprocal = s->found > 0 ? s->reciprocal : 1 / (double)rank;
        s->found++;
        s->missing = 0;
        s->precision += s->found / (double)rank;
    }
    s->rank = hn_min(k, s->rank + t->n);
}

static void put_values(const struct sums *s, const struct hn_ideal *w, int64_t k,
                       enum hn_convention convention, double *value) {
    double ideal = 0;
    int64_t all = convention == HN_CONVENTION_ST ? hn_min(k, w->relevant) : w->relevant;
    for (int64_t g = 0; g < hn_min(k, w->gains); g++)
        ideal += w->gain[g] / discount(g + 1);
    value[HN_RECALL] = w->relevant ? s->found / (double)w->relevant : 0;
    value[HN_HIT] = 1 - s->missing;
    value[HN_MRR] = s->reciprocal;
    value[HN_NDCG] = ideal > 0 ? s->gain / ideal : 0;
    value[HN_MAP] = all ? s->precision / (double)all : 0;
}

void hn_evaluate_ties(const struct hn_ideal *wanted, const struct hn_tie *tie, int64_t n, int64_t k,
                      enum hn_convention convention, enum hn_tie_order order, double *value) {
    struct sums s = {.missing = 1};
    for (int64_t i = 0; i < n && s.rank < k; i++)
        if (order == HN_TIES_EXPECTED)
            add_expected(&s, &tie[i], k);
        else
            add_extreme(&s, &tie[i], k, order == HN_TIES_BEST);
    put_values(&s, wanted, k, convention, value);
}

void hn_sort_down(double *x, int64_t n) {
    gsl_sort(x, 1, (size_t)n);
    for (int64_t i = 0; i < n / 2; i++) {
        double moved = x[i];
        x[i] = x[n - 1 - i];
        x[n - 1 - i] = moved;
    }
}

double hn_gain_of(int32_t grade, bool relevant, enum hn_convention convention) {
    return convention == HN_CONVENTION_ST ? relevant : fmax(grade, 0);
}

static int by_rank(const void *a, const void *b) {
    const struct hn_position *x = a, *y = b;
    if ((x->equal > 0) != (y->equal > 0))
        return x->equal > 0 ? -1 : 1;
    if (x->above != y->above)
        return x->above < y->above ? -1 : 1;
    return (x->grade < y->grade) - (x->grade > y->grade);
}

// The relevant passages, with their gains in gain[n].
static struct hn_ideal find_ideal(const struct hn_position *position, int64_t n,
                                  enum hn_convention convention, double *gain) {
    struct hn_ideal w = {.gain = gain};
    for (int64_t i = 0; i < n; i++) {
        double g = hn_gain_of(position[i].grade, position[i].relevant, convention);
        w.relevant += position[i].relevant;
        if (g > 0)
            gain[w.gains++] = g;
    }
    hn_sort_down(gain, w.gains);
    return w;
}

bool hn_evaluate_positions(struct hn_position *position, int64_t n, int64_t k,
                           enum hn_convention convention, double *gain, double *value) {
    const struct hn_ideal wanted = find_ideal(position, n, convention, gain);
    struct sums s = {.missing = 1};
    if (wanted.relevant == 0)
        return false;
    qsort(position, (size_t)n, sizeof *position, by_rank);
    for (int64_t from = 0, to; from < n && position[from].equal > 0 && position[from].above < k;
         from = to) {
        struct hn_tie tie = {.n = position[from].equal, .gain = gain + n};
        for (to = from;
             to < n && position[to].equal > 0 && position[to].above == position[from].above; to++) {
            double g = hn_gain_of(position[to].grade, position[to].relevant, convention);
            tie.relevant += position[to].relevant;
            if (g > 0)
                gain[n + tie.gains++] = g;
        }
        s.rank = position[from].above;
        add_expected(&s, &tie, k);
    }
    put_values(&s, &wanted, k, convention, value);
    return true;
}
