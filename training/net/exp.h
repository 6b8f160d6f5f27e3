// exp() of a parameter: of floats one that compilers turn into vectors (core/exp.h), of doubles the
// library's.
#ifndef HN_TRAINING_NET_EXP_H
#define HN_TRAINING_NET_EXP_H

#include "training/net/real.h"

#ifdef HN_REAL_DOUBLE
#include <math.h>
static inline double hn_exp(double x) { return exp(x); }
#else
#include "core/exp.h"
static inline float hn_exp(float x) { return hn_expf(x); }
#endif

#endif
