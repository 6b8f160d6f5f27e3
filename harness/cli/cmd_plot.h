// SPDX-License-Identifier: GPL-3.0-or-later
// Figures by their identifiers, drawn for commands.
#pragma once

#include "harness/cli/command.h"
#include "plots/page/render.h"

#define HN_SETTINGS_HELP "settings that figures draw, e.g. 'uniform, knn, batchsampler M=500'"

#define HN_STEP_HELP                                                                               \
    "the step whose densities of cosines bs-fig4 and its kin draw: a number or last (default: "    \
    "several)"

// hn_picture.step of a number or `last`; NULL = none is given. HN_USAGE: no cell is of it.
HN_MUST_USE enum hn_code hn_figures_step(struct hn_context *ctx, const struct hn_results *r,
                                         const char *text, int64_t *step);

// A folder for output: as it is given, or of that name beside the results file; owned by the
// caller.
HN_MUST_USE char *hn_folder_beside(struct hn_context *ctx, const char *file, const char *given,
                                   const char *name);

// Figures by their identifiers, or (n = 0) all that the results allow.
struct hn_figures_wanted {
    char *const *id; // [n]
    int64_t n;
    const char *folder; // for them, which is there
    struct hn_picture as;
    bool brief;  // those that the results do not allow in one note, else each with the reason
    FILE *paths; // gets the paths of the pictures; NULL = none
};

// *drawn: how many were. HN_DATA: one that was named cannot be.
HN_MUST_USE enum hn_code hn_figures_draw(struct hn_context *ctx, const struct hn_results *r,
                                         const struct hn_figures_wanted *want, int *drawn);

// Checks that the metrics of a job give what its named figures need; HN_USAGE names what to add.
struct hn_job;
HN_MUST_USE enum hn_code hn_figures_check_job(struct hn_context *ctx, const struct hn_job *job);
