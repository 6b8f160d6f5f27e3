#include "core/exp.h"
#include "core/clones.h"

HN_CLONES
static void exp_each(const float *s, int64_t n, double high, double rate, double *restrict to) {
    for (int64_t j = 0; j < n; j++)
        to[j] = hn_exp(rate * ((double)s[j] - high));
}

void hn_exp_each(const float *s, int64_t n, double high, double rate, double *to) {
    exp_each(s, n, high, rate, to);
}
