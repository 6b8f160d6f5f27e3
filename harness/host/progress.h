// SPDX-License-Identifier: GPL-3.0-or-later
// The progress line: rewritten in place on a terminal, a line a minute otherwise, none if quiet.
#pragma once

#include "core/context.h"

struct hn_progress {
    bool quiet, terminal, color;
    int64_t total, done, skipped, failed; // done: ended in this run, failed ones included; total 0:
                                          // not known yet, and not shown
    int64_t begun_ns, shown_ns;           // monotonic
    int width;                            // columns of the terminal
    const char *unit;                     // what is counted; NULL = "cells"
};

// skipped: cells that were there already and take no time; part of total.
void hn_progress_begin(struct hn_progress *p, int64_t total, int64_t skipped, bool quiet);
// A cell ended; `what` names the one that comes next (NULL: none).
void hn_progress_step(struct hn_progress *p, bool failed, const char *what);
// Shows what is being worked on without counting.
void hn_progress_show(struct hn_progress *p, const char *what);
// Clears the line, so that a message can be printed, or at the end.
void hn_progress_clear(struct hn_progress *p);

// "0:27", "12:05", "3:00:00".
struct hn_amount {
    char text[32];
};
struct hn_amount hn_clock_text(double seconds);
// The text at time now_ns, without colour: "12/80 cells, 1 failed, 2.5 cells/s, 0:27 left, <what>".
// what may be NULL. Returns its length; cut to size - 1 bytes.
int hn_progress_text(const struct hn_progress *p, const char *what, int64_t now_ns, char *buffer,
                     size_t size);
