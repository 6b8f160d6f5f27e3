// SPDX-License-Identifier: GPL-3.0-or-later
// The number type of training. The layers and losses compile a second time with double, for the
// tests that hold every gradient against central differences (Makefile: obj64).
#pragma once

#include "core/context.h"

#ifdef HN_REAL_DOUBLE
typedef double hn_real;
#else
typedef float hn_real;
#endif
