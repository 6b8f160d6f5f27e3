// Values of one ranking, with passages of equal score in their expected, best or worst order.
#include "retrieval/evaluate.h"

#include <gsl/gsl_sort.h>
#include <math.h>

const char *const hn_convention_name[] = {"expected", "trec", "st", NULL};
const char *const hn_retrieval_metric_name[] = {"recall", "hit", "mrr", "ndcg", "map"};

// Of the ranks so far.
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

double hn_gain_of(int32_t grade, bool relevant, enum hn_convention convention) {
    return convention == HN_CONVENTION_ST ? relevant : fmax(grade, 0);
}

bool hn_evaluate_row(const struct hn_qrels *q, int64_t query, const int32_t *id, int64_t n,
                     int64_t k, enum hn_convention convention, double *gain, double *value) {
    struct hn_ideal w = {.gain = gain};
    struct sums s = {.missing = 1};
    for (int64_t e = q->start[query]; e < q->start[query + 1]; e++) {
        bool relevant = hn_qrels_relevant_at(q, e);
        double g = hn_gain_of(q->grade[e], relevant, convention);
        w.relevant += relevant;
        if (g > 0)
            gain[w.gains++] = -g;
    }
    if (w.relevant == 0)
        return false;
    gsl_sort(gain, 1, (size_t)w.gains);
    for (int64_t g = 0; g < w.gains; g++)
        gain[g] = -gain[g];
    for (int64_t i = 0; i < hn_min(n, k); i++) {
        int64_t e = hn_qrels_find(q, query, id[i]);
        bool relevant = e >= 0 && hn_qrels_relevant_at(q, e);
        double g = e < 0 ? 0 : hn_gain_of(q->grade[e], relevant, convention);
        const struct hn_tie one = {1, relevant, g > 0, &g};
        add_expected(&s, &one, k);
    }
    put_values(&s, &w, k, convention, value);
    return true;
}
