// Results of a cell as bytes, for its file (results/cell_file.h).
#ifndef HN_RESULTS_CELL_BYTES_H
#define HN_RESULTS_CELL_BYTES_H

#include "core/bytes.h"
#include "results/store.h"

// Texts of a cell that are read without its results; borrowed, or of the bytes.
struct hn_cell_head {
    const char *run_key, *cell_key, *status, *program;
};
HN_MUST_USE enum hn_code hn_cell_bytes_put(struct hn_context *ctx, struct hn_cell_head head,
                                           const struct hn_results *results, struct hn_bytes *out);
// Takes the head, and what follows unless results is NULL. HN_DATA: these are no such bytes.
HN_MUST_USE enum hn_code hn_cell_bytes_take(struct hn_context *ctx, struct hn_cursor bytes,
                                            struct hn_cell_head *head, struct hn_results *results);

#endif
