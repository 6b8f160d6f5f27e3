// SPDX-License-Identifier: GPL-3.0-or-later
// Another program, run to its end under a guard: whatever it starts ends with it, and all of that
// with this process, even if it is killed.
#pragma once

#include "core/context.h"

struct hn_child {
    char *const *argv;  // ended by NULL; argv[0] is searched for as a shell does
    const char *folder; // in which it runs; "" = this one's
    int64_t seconds;    // that it may take
};

enum { HN_CHILD_FILE_BYTES = 1 << 30 }; // of a file that it writes, at most

// Seconds that it took: wall clock, and processors, with those of its children.
struct hn_child_cost {
    double wall, cpu;
};

// Runs it, without standard input and output. HN_DATA, with the last line that it wrote to standard
// error: it cannot be started, failed, or took too long. HN_INTERRUPTED.
HN_MUST_USE enum hn_code hn_child_run(struct hn_context *ctx, const struct hn_child *child,
                                      struct hn_child_cost *cost);
