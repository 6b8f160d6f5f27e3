// A metric over past results: `compare --history DIR`.
#ifndef HN_RESULTS_HISTORY_H
#define HN_RESULTS_HISTORY_H

#include "results/store.h"

// Reads the results files in `folder` and in the folders in it (*.h5, those that are none are left
// out with a note), in the order of their times, and draws the metric's mean over the cells that
// all of them have, a line per sampler, into `output`/history-of.svg with script and data beside
// it. *drawn: its path, owned by the caller. HN_DATA: fewer than two files with cells in common;
// HN_USAGE: no such column.
HN_MUST_USE enum hn_code hn_history_draw(struct hn_context *ctx, const char *folder,
                                         const char *metric, const char *output, char **drawn);

#endif
