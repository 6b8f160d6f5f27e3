// A file per finished cell, <folder>/cells/<run_key>.cell: a line, the results and a checksum.
// While a run goes on there is <folder>/cells/plan, too, in the same form: what the run is, its
// table `plan` of all cells, and no rows. It goes when results.h5 is written.
#pragma once

#include "core/bytes.h"
#include "results/store.h"

// Makes the run's folders, tries to write there (HN_USAGE), removes what killed runs left behind.
HN_MUST_USE enum hn_code hn_cell_files_prepare(struct hn_context *ctx, const char *folder);
struct hn_cell_status {
    bool present; // there is a whole file of that key
    bool failed;  // its cell did
    bool foreign; // another program made it than ctx->program
};
HN_MUST_USE enum hn_code hn_cell_file_state(struct hn_context *ctx, const char *folder,
                                            const char *run_key, struct hn_cell_status *out);
HN_MUST_USE enum hn_code hn_cell_file_write(struct hn_context *ctx, const char *folder,
                                            const char *run_key, const struct hn_results *results);
HN_MUST_USE enum hn_code hn_cell_file_read(struct hn_context *ctx, const char *folder,
                                           const char *run_key, struct hn_results *out);
// Column `status` or `error` of a cell: of its run, or of what needed no sampler.
const char *hn_cell_file_text(const struct hn_results *cell, const char *column);

// Writes the plan of a run that begins; removes it at its end.
HN_MUST_USE enum hn_code hn_cell_plan_write(struct hn_context *ctx, const char *folder,
                                            const struct hn_results *plan);
void hn_cell_plan_remove(struct hn_context *ctx, const char *folder);
// True if a run into the folder goes on, or was interrupted.
bool hn_cell_plan_is_there(const char *folder);
// Results of that run: its plan, and the cells that are finished, in their order. HN_DATA: the plan
// is damaged, or no cell is finished.
HN_MUST_USE enum hn_code hn_cell_plan_read(struct hn_context *ctx, const char *folder,
                                           struct hn_results *out);

// The cell_keys of all complete cell files in the folder, of any version, sorted.
struct hn_cell_file_list {
    char **key;
    int64_t n, capacity;
};
HN_MUST_USE enum hn_code hn_cell_file_list_read(struct hn_context *ctx, const char *folder,
                                                struct hn_cell_file_list *out);
bool hn_cell_file_list_has(const struct hn_cell_file_list *list, const char *cell_key);

// Texts of a cell that are read without its results; borrowed, or of the bytes.
struct hn_cell_head {
    const char *run_key, *cell_key, *status, *program;
};
HN_MUST_USE enum hn_code hn_cell_bytes_put(struct hn_context *ctx, struct hn_cell_head head,
                                           const struct hn_results *results, struct hn_bytes *out);
// Takes the head, and what follows unless results is NULL. HN_DATA: these are no such bytes.
HN_MUST_USE enum hn_code hn_cell_bytes_take(struct hn_context *ctx, struct hn_cursor bytes,
                                            struct hn_cell_head *head, struct hn_results *results);
