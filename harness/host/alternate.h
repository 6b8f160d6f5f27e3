// SPDX-License-Identifier: GPL-3.0-or-later
// Runs other programs on a job: two in turn for `ab` and for the noise that `doctor` measures; and
// further processes of this one (hn_this_program).
#pragma once

#include "results/store.h"

#define hn_this_program "/proc/self/exe" // also where its file has been replaced meanwhile

struct hn_alternate {
    struct hn_results *base, *now; // [n] results of each round
    int64_t n;
};

struct hn_alternate_spec {
    const char *old, *new;  // programs
    const char *job;        // job file
    const char *const *set; // [n_set] KEY=VALUE of --set, for both
    int64_t n_set, rounds, threads;
    bool quiet;
};

// Runs both programs on the job in turn (old new, new old, ...), each round in folders of its own
// below the temporary folder, which are removed. HN_USAGE: a program that cannot be started, or
// ends with an error (its last line of complaint is given).
HN_MUST_USE enum hn_code hn_alternate_run(struct hn_context *ctx,
                                          const struct hn_alternate_spec *spec,
                                          struct hn_alternate *out);

// Runs argv[0], a hardneg program, without a shell: its standard output is dropped, its messages go
// to file `errors`, which is removed; an interrupt of this program ends it, too. HN_OK also where
// it ends with HN_PARTIAL; HN_USAGE as above.
HN_MUST_USE enum hn_code hn_alternate_call(struct hn_context *ctx, char *const *argv,
                                           const char *errors);
// The same of `hardneg run` with -o folder, whose results it reads, be they partial.
HN_MUST_USE enum hn_code hn_alternate_program(struct hn_context *ctx, char *const *argv,
                                              const char *folder, struct hn_results *out);
