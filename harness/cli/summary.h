// The table that `run` prints when it is done.
#ifndef HN_HARNESS_CLI_SUMMARY_H
#define HN_HARNESS_CLI_SUMMARY_H

#include "results/store.h"

// The main numbers of every cell on standard output, so that a run says something before any figure
// is opened. Long tables are cut, and say so.
void hn_print_summary(const struct hn_results *r);

#endif
