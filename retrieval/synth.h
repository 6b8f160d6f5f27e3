// SPDX-License-Identifier: GPL-3.0-or-later
// Synthetic queries and a corpus, whose known and hidden positives are known.
#pragma once

#include "datasets/synth.h"

// Writes a snapshot of the kind `retrieval` to o->output: o->queries queries and o->n passages. The
// same options give the same values for any number of threads.
HN_MUST_USE enum hn_code hn_synth_retrieval(struct hn_context *ctx, const struct hn_synth *o);
