#include "retrieval/evaluate.h"

#include <gsl/gsl_sort.h>
#include <math.h>

const char *const hn_retrieval_metric_name[] = {"recall", "hit", "mrr", "ndcg", "map"};

static double gain_of(int32_t grade, enum hn_convention convention) {
    return grade <= 0 ? 0 : convention == HN_CONVENTION_ST ? 1 : (double)grade;
}

// The gains of the best k ranks that there could be, each by 1 / log2(rank + 1).
static double ideal_of(const struct hn_qrels *q, int64_t query, int64_t k,
                       enum hn_convention convention, double *gain, int64_t *relevant) {
    double sum = 0;
    int64_t judged = q->start[query + 1] - q->start[query];
    *relevant = 0;
    for (int64_t e = 0; e < judged; e++) {
        gain[e] = gain_of(q->grade[q->start[query] + e], convention);
        *relevant += gain[e] > 0;
    }
    gsl_sort(gain, 1, (size_t)judged);
    for (int64_t i = 0; i < hn_min(k, judged); i++)
        sum += gain[judged - 1 - i] / log2((double)i + 2);
    return sum;
}

bool hn_evaluate_row(const struct hn_qrels *q, int64_t query, const int32_t *id, int64_t n,
                     int64_t k, enum hn_convention convention, double *gain, double *value) {
    int64_t relevant, found = 0, first = 0;
    double ideal = ideal_of(q, query, k, convention, gain, &relevant), sum = 0, precision = 0;
    if (relevant == 0)
        return false;
    for (int64_t i = 0; i < hn_min(n, k); i++) {
        int64_t e = hn_qrels_find(q, query, id[i]);
        if (e < 0 || q->grade[e] <= 0)
            continue;
        found++;
        first = first ? first : i + 1;
        sum += gain_of(q->grade[e], convention) / log2((double)i + 2);
        precision += (double)found / (double)(i + 1);
    }
    int64_t all = convention == HN_CONVENTION_ST ? hn_min(k, relevant) : relevant;
    value[HN_RECALL] = (double)found / (double)relevant;
    value[HN_HIT] = found > 0;
    value[HN_MRR] = first ? 1.0 / (double)first : 0;
    value[HN_NDCG] = sum / ideal;
    value[HN_MAP] = precision / (double)all;
    return true;
}
