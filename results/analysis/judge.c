#include "results/analysis/judge.h"

#include <math.h>

enum { SEEDS_MAX = 999 };

enum hn_within hn_judge(struct hn_mean difference, double margin) {
    if (difference.over != HN_OVER_SEEDS)
        return HN_UNDETERMINED;
    return difference.hi <= margin  ? HN_WITHIN
           : difference.lo > margin ? HN_BEYOND
                                    : HN_UNDETERMINED;
}

int64_t hn_judge_seeds(struct hn_mean difference, double margin) {
    if (difference.over != HN_OVER_SEEDS)
        return 0;
    int64_t among = difference.among;
    double deviation =
        difference.half * sqrt((double)difference.n) / hn_mean_quantile(difference.n, among);
    for (int64_t n = difference.n + 1; n <= SEEDS_MAX; n++)
        if (hn_mean_quantile(n, among) * deviation / sqrt((double)n) <
            fabs(difference.mean - margin))
            return n;
    return 0;
}

int hn_told_apart(struct hn_mean difference) {
    if (difference.over != HN_OVER_SEEDS)
        return (difference.mean > 0) - (difference.mean < 0);
    return (difference.lo > 0) - (difference.hi < 0);
}

bool hn_beats(double false_negatives, double hardness) {
    return false_negatives <= 0 && hardness >= 0 && (false_negatives < 0 || hardness > 0);
}
