// SPDX-License-Identifier: GPL-3.0-or-later
// Proximity graphs for the tests of BatchSampler.
#pragma once

#include "core/bitset.h"
#include "datasets/snapshot.h"
#include "tests/sampled.h"
#include "tests/samplers/proximity_graph.h"
#include "tests/samplers/walk_scratch.h"

#include <stdlib.h>

static const struct hn_sampler_type *batchsampler(void) { return hn_sampler_find("batchsampler"); }
