// The tables that `run` and `train` print when they are done.
#ifndef HN_HARNESS_CLI_SUMMARY_H
#define HN_HARNESS_CLI_SUMMARY_H

#include "results/store.h"

// The main numbers of every cell on standard output, so that a run says something before any figure
// is opened. Long tables are cut, and say so.
void hn_print_summary(const struct hn_results *r);

// Prints tables of accuracies: a row per setting, mean and deviation over seeds at the end, the
// paired difference to the first sampler with its standard error, and the untrained encoder.
HN_MUST_USE enum hn_code hn_train_print(struct hn_context *ctx, const struct hn_results *results);

#endif
