// SPDX-License-Identifier: GPL-3.0-or-later
// exp() of a parameter, which compilers turn into vectors.
#pragma once

#include "core/exp.h"
#include "training/net/real.h"

#ifdef HN_REAL_DOUBLE
static inline double hn_real_exp(double x) { return hn_exp(x); }
#else
static inline float hn_real_exp(float x) { return hn_expf(x); }
#endif
