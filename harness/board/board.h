// SPDX-License-Identifier: GPL-3.0-or-later
// The board's own files: a suite of labelled encoders with its frozen reference, entries, and the
// measuring of an entry on a suite. What is said of the results is in results/analysis/board.h.
#pragma once

#include "core/digest.h"
#include "harness/job/grid.h"
#include "harness/job/job.h"

enum { HN_BOARD_SETTINGS = 5 }; // of an entry at most

struct hn_suite_encoder {
    char *file, *sha256; // beside the suite's file; of its contents, as `hardneg info` prints it
};
struct hn_suite_kind {
    char *name;
    bool kept;    // aside, in no score over kinds
    int64_t step; // of its encoders
    struct hn_suite_encoder *encoder;
    int64_t encoders;
};
struct hn_suite {
    char *path, *name;
    char sha256[HN_DIGEST_TEXT]; // of the bytes of the file
    int64_t batch_size, batches;
    int64_t *seed, n_seeds;
    double temperature;
    struct hn_job_sampler *reference;
    int64_t n_reference;
    struct hn_suite_kind *kind;
    int64_t kinds;
};

struct hn_suite_entry {
    char *path, *name, *authors, *chosen_on;
    struct hn_job_sampler *setting;
    int64_t settings;
};

// Read a file (YAML). HN_USAGE with file, line and column.
HN_MUST_USE enum hn_code hn_suite_read(struct hn_context *ctx, const char *path,
                                       struct hn_suite *out);
HN_MUST_USE enum hn_code hn_entry_read(struct hn_context *ctx, const char *path,
                                       struct hn_suite_entry *out);
// The entry that the reference of a suite is.
struct hn_suite_entry hn_suite_reference(const struct hn_suite *suite);

// Measures an entry on all encoders of a suite, and writes it to `output`. folder: for its cells,
// kept, so that a run that was interrupted goes on. HN_DATA: an encoder is missing, or is another
// one than the suite lists; HN_PARTIAL: cells failed, and nothing is written.
HN_MUST_USE enum hn_code hn_entry_measure(struct hn_context *ctx, const struct hn_suite *suite,
                                          const struct hn_suite_entry *entry, const char *folder,
                                          bool quiet, const char *output);
