// SPDX-License-Identifier: GPL-3.0-or-later
// Independent items of work, done side by side by processes forked from this one: trainings of
// small encoders leave most of a machine idle, whatever threads each of them gets. Processes, not
// threads: each has a context, a memory account and libraries of its own.
#pragma once

#include "core/context.h"

enum { HN_PROCESSES_MAX = 256 };

struct hn_process; // what a worker tells of itself

struct hn_processes {
    int64_t items;
    int processes; // from hn_processes_fit()
    bool quiet;
    const char *unit; // "runs"
    // Called in a worker, in the order of the items, with its share of the threads and of the
    // memory limit. HN_MEMORY leaves the item to the caller, for which the memory may suffice; any
    // other failure ends all workers.
    enum hn_code (*work)(struct hn_context *ctx, void *data, int64_t item, struct hn_process *self);
    // Called in this process: the item's name, for the progress line, and that it is done (may be
    // NULL).
    void (*name)(const void *data, int64_t item, char *text, size_t size);
    void (*done)(void *data, int64_t item);
    void *data;
};

// Number of processes: `wanted`, or (0) one for each thread as long as each has 2 GiB of the memory
// that the machine has left, and of the limit; never more than there are items.
int hn_processes_fit(const struct hn_context *ctx, int64_t items, int wanted);

// Does the items; those of a worker that was killed, or ran out of memory, stay undone, with a
// note, and the caller does them alone. To be called before this process has opened a parallel
// region: a forked process cannot use the threads of another. HN_INTERRUPTED after a stop: every
// worker was told, and has ended. Other failures are the first worker's.
HN_MUST_USE enum hn_code hn_processes_run(struct hn_context *ctx, const struct hn_processes *w);

// In a worker: how far its item is.
void hn_process_tell(struct hn_process *self, int64_t done, int64_t of);
// Progress of an evaluation that it waits for; of = 0: it is over.
void hn_process_tell_evaluation(struct hn_process *self, int64_t done, int64_t of);
