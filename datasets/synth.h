// SPDX-License-Identifier: GPL-3.0-or-later
// Synthetic series: clusters on the sphere with super-classes, so that hard negatives exist.
#pragma once

#include "core/options/option.h"

enum hn_synth_kind { HN_SYNTH_ITEMS, HN_SYNTH_RETRIEVAL };

struct hn_synth {
    int kind;                  // enum hn_synth_kind
    int64_t queries, relevant; // of retrieval: queries; relevant passages of each, on average
    int64_t n, dim, classes, super_classes, steps, step_gap, views, seed;
    double kappa_from,
        kappa_to;        // concentration of items about their class mean, first and last step
    double super_spread; // angle between a class mean and its super-class mean, radians
    double view_noise;   // length of a view's noise relative to the item
    int type;            // enum hn_float_type as a choice
    int64_t compress;    // deflate level, 0 = none
    char *output;
    bool force; // write over `output` where it exists
    // No options:
    const char *tool_version; // what the file names as its maker, NULL = unknown
    int64_t teacher_dim;      // dimensions of a teacher's random rows, 0 = no teacher
    bool groups;              // the classes are groups, too
};

extern const struct hn_option hn_synth_options[];

// Writes the series of items to options->output. The same options give the same values for any
// number of threads, and on every machine whose exp and log agree.
HN_MUST_USE enum hn_code hn_synth_write(struct hn_context *ctx, const struct hn_synth *options);

// Functions that synthetic queries (retrieval/synth.h) share with items.
//
// HN_USAGE: options that do not go together.
HN_MUST_USE enum hn_code hn_synth_check(struct hn_context *ctx, const struct hn_synth *o);
// out[dim] = noise z + along base[dim], z standard normal of the stream of that
// name.
void hn_synth_row(const struct hn_synth *o, const char *purpose, int64_t step, int64_t which,
                  int64_t i, const float *base, float along, float noise, float *out);
// mean[classes x dim]: unit rows.
HN_MUST_USE enum hn_code hn_synth_means(struct hn_context *ctx, const struct hn_synth *o,
                                        float *mean);
// Shift of normal values along a class mean at position `index` of the series.
float hn_synth_shift(const struct hn_synth *o, int64_t index);
