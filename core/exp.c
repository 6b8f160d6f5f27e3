#include "core/exp.h"
#include "core/clones.h"
#include "core/lanes.h"

HN_CLONES
static void exp_each(const float *s, int64_t n, double high, double rate, double *restrict to) {
    for (int64_t j = 0; j < n; j++)
        to[j] = hn_exp(rate * ((double)s[j] - high));
}

void hn_exp_each(const float *s, int64_t n, double high, double rate, double *to) {
    exp_each(s, n, high, rate, to);
}

HN_CLONES
static double exp_sum(const float *s, int64_t n, double high, double rate) {
    double lane[HN_LANES] = {0};
    int64_t j = 0;
    for (; j + HN_LANES <= n; j += HN_LANES)
        for (int l = 0; l < HN_LANES; l++)
            lane[l] += hn_exp(rate * ((double)s[j + l] - high));
    for (int l = 0; j < n; j++, l++)
        lane[l] += hn_exp(rate * ((double)s[j] - high));
    return hn_add_lanes(lane);
}

double hn_exp_sum(const float *s, int64_t n, double high, double rate) {
    return exp_sum(s, n, high, rate);
}
