// SPDX-License-Identifier: GPL-3.0-or-later
// The runner: executes work items, one after the other, each on all threads, side by side in
// processes, or over the ranks of an MPI program; leaves a cell file for each that is finished; and
// collects these into one results file.
#pragma once

#include "harness/host/parts.h"
#include "harness/run/item.h"

#include <regex.h>

// STALE: items whose results are of another version of the code, other metrics or other timing, and
// no others.
enum hn_rerun { HN_RERUN_MISSING, HN_RERUN_FAILED, HN_RERUN_STALE, HN_RERUN_ALL };

struct hn_runner {
    const struct hn_item *item; // [n] in the order of the results; borrowed
    int64_t n;
    const int64_t *turn; // [n] the order in which they are run; NULL: as they stand
    void *state;         // of the kinds of items
    enum hn_rows rows;   // of /runs
    const char *unit;    // "cells", "runs"
    const char *folder;  // of the output
    enum hn_rerun rerun;
    const regex_t *filter; // only items whose label matches; NULL = all
    int64_t shard, shards; // part 1 .. shards of the plan; shards = 0: all of it
    int64_t end_index;     // items have indices below this: parts (--shard) are cut from them
    // Side by side in so many processes, if more than 1 (harness/host/processes.h); then before any
    // parallel region.
    int processes;
    struct hn_ranks *ranks; // over the ranks of an MPI program (harness/host/ranks.h); NULL: alone
    // Long computations of every item are shared with other processes (harness/host/parts.h), of
    // which ranks all run every item; NULL: not.
    struct hn_file_parts *parts;
    bool fresh; // results that another program made are made anew; in CI they are in any case
    bool quiet, verbose, explain;
};

struct hn_run_summary {
    int64_t wanted, present, ran, failed, not_applicable; // ran: and did not fail
    int64_t missing; // items of the plan that the results lack: not wanted, or never run, or
    int64_t waiting; // left, as parts of other processes are missing
};

// True if an item is wanted: it is in the part, and its label passes the filter. run: NULL = all
// are.
bool hn_run_wants(const struct hn_runner *run, const struct hn_item *item);
// Before a run, about the rows of <folder>/results.h5, which it will write anew, that are not of
// this run's items. A note tells how many have a cell, which stays. HN_USAGE if any has none,
// or is of an item that is not wanted now, so that it would be lost, unless `force`.
HN_MUST_USE enum hn_code hn_run_check_folder(struct hn_context *ctx, const struct hn_runner *run,
                                             bool force);
struct hn_run_record;
// Leaves in the folder what `report` reads of a run that has not ended (results/cell_file.h): rank
// 0, all ranks get its code. hn_run_store() removes it.
HN_MUST_USE enum hn_code hn_run_begin(struct hn_context *ctx, const struct hn_runner *run,
                                      const struct hn_run_record *record);
// Runs what is missing. An item that fails is recorded (status "failed") and the run goes on; bad
// data (HN_DATA), an unwritable folder, and an interrupt end it, with every finished item kept. Of
// several ranks each is given some of the items, all the same code, and rank 0 the summary of all.
HN_MUST_USE enum hn_code hn_run_items(struct hn_context *ctx, const struct hn_runner *run,
                                      struct hn_run_summary *summary);
// Reads the cells of all items, in their order, those that were not wanted included where they
// are there. Sets summary->failed, ->not_applicable and ->missing.
HN_MUST_USE enum hn_code hn_run_collect(struct hn_context *ctx, const struct hn_runner *run,
                                        struct hn_results *out, struct hn_run_summary *summary);

// Record of a run in its results file; all borrowed.
struct hn_run_record {
    const char *argv, *config, *config_sha256; // the command line; the resolved job and its digest
    const char *title, *job;                   // of the job, NULL = none; its file
    const struct hn_results *env;              // of this machine
    // [n_processes] of processes that timed the same cells: the times of those behind the first,
    // which is this one, are added.
    const struct hn_results *process;
    int64_t n_processes;
};
// Collects, describes and writes <folder>/results.h5, with a table of the plan where items are
// missing, which merging goes by; then packs the cells. *out: what was written, owned by the
// caller.
HN_MUST_USE enum hn_code hn_run_store(struct hn_context *ctx, const struct hn_runner *run,
                                      const struct hn_run_record *record, struct hn_results *out,
                                      struct hn_run_summary *summary);
// Compiles --filter, to be freed by regfree(). HN_USAGE names the fault.
HN_MUST_USE enum hn_code hn_run_parse_filter(struct hn_context *ctx, const char *text,
                                             regex_t *filter);

// Shares of processes in a run whose long computations were shared (harness/host/parts.h): parts
// computed, bytes of parts read and written, and seconds of waiting.
//
// Gathers them on rank 0: all ranks call this. begun_ns: hn_wall_ns() when the run began; rows:
// "ranks", or "i/n" of a process alone. Prints, unless `quiet`, a line per process, of the first
// few where they are many and not `all` are asked for, and one of all; and sets, unless env is
// NULL, the attributes parts (a line per process, values apart by commas, the first names them) and
// parts_balance of /env.
HN_MUST_USE enum hn_code hn_shares_tell(struct hn_context *ctx, const struct hn_file_parts *parts,
                                        const char *rows, int64_t begun_ns, bool quiet, bool all,
                                        struct hn_results *env);
