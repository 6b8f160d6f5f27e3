// SPDX-License-Identifier: GPL-3.0-or-later
// The finished cells of a run, in <folder>/cells: a file each, <run_key>.cell, which has a line,
// the results and a checksum; and `packed` (results/cell_pack.h), which holds those of runs that
// ended. While a run goes on there is `plan`, too, in the form of a cell: what the run is, its
// table `plan` of all cells, and no rows. It goes when results.h5 is written.
#pragma once

#include "results/store.h"

// The cells of a folder. {.folder = ...}, borrowed, is one that was not looked at yet.
struct hn_cell_store {
    const char *folder;
    // Private: what was read last.
    struct hn_cell_pack *pack;
    struct hn_results cell;
};
void hn_cell_store_close(struct hn_context *ctx, struct hn_cell_store *cells);

// Makes the run's folders, tries to write there (HN_USAGE), removes what killed runs left behind.
HN_MUST_USE enum hn_code hn_cell_store_prepare(struct hn_context *ctx, const char *folder);
struct hn_cell_status {
    bool present; // there is a whole cell of that key
    bool failed;  // it did
    bool foreign; // another program made it than ctx->program
    double time;  // when its own file was made, in seconds since 1970; 0: it is packed
};
HN_MUST_USE enum hn_code hn_cell_store_state(struct hn_context *ctx, struct hn_cell_store *cells,
                                             const char *run_key, struct hn_cell_status *out);
HN_MUST_USE enum hn_code hn_cell_store_write(struct hn_context *ctx, const char *folder,
                                             const char *run_key, const struct hn_results *results);
// *out: borrowed until the next cell is read. HN_DATA: there is none, or it is damaged.
HN_MUST_USE enum hn_code hn_cell_store_read(struct hn_context *ctx, struct hn_cell_store *cells,
                                            const char *run_key, const struct hn_results **out);
// Appends a cell to results.
HN_MUST_USE enum hn_code hn_cell_store_append(struct hn_context *ctx, struct hn_cell_store *cells,
                                              const char *run_key, struct hn_results *to);
// Packs the cells that have files of their own, if these are as many as makes it worth while. They
// go when the pack is written. It is for the end of a run, when nothing else is left to do: if it
// cannot be done the files stay.
void hn_cell_store_pack(struct hn_context *ctx, struct hn_cell_store *cells);
// Column `status` or `error` of a cell: of its run, or of what needed no sampler.
const char *hn_cell_store_text(const struct hn_results *cell, const char *column);

// Writes the plan of a run that begins; removes it at its end.
HN_MUST_USE enum hn_code hn_cell_plan_write(struct hn_context *ctx, const char *folder,
                                            const struct hn_results *plan);
void hn_cell_plan_remove(struct hn_context *ctx, const char *folder);
// True if a run into the folder goes on, or was interrupted.
bool hn_cell_plan_is_there(const char *folder);
// The plan alone, without a row of /runs; time: when it was made, as above. HN_DATA: it is damaged,
// or has gone.
HN_MUST_USE enum hn_code hn_cell_plan_open(struct hn_context *ctx, const char *folder,
                                           struct hn_results *out, double *time);
// Results of that run: its plan, and the cells that are finished, in their order. HN_DATA: the plan
// is damaged, or no cell is finished.
HN_MUST_USE enum hn_code hn_cell_plan_read(struct hn_context *ctx, const char *folder,
                                           struct hn_results *out);

// The cell_keys of all whole cells of the folder, of any version, sorted.
struct hn_cell_list {
    char **key;
    int64_t n, capacity;
};
HN_MUST_USE enum hn_code hn_cell_store_list(struct hn_context *ctx, struct hn_cell_store *cells,
                                            struct hn_cell_list *out);
bool hn_cell_list_has(const struct hn_cell_list *list, const char *cell_key);
