// SPDX-License-Identifier: GPL-3.0-or-later
// Output of `run` and `train`: totals of a dry run, and tables when they are done.
#pragma once

#include "datasets/retrieval.h"
#include "harness/reproduce/reproduce.h"
#include "harness/run/estimate.h"
#include "harness/run/runner.h"
#include "results/records.h"
#include "results/store.h"

// Lines of `reproduce --dry-run`, and their sum.
HN_MUST_USE enum hn_code hn_print_foreseen(struct hn_context *ctx, const struct hn_foreseen *row,
                                           int64_t n, int workers, bool json);

// An entry of the claim files, and the one that shows the same where it only refers to that.
struct hn_listed {
    const struct hn_claim_entry *entry, *meant;
};
// Prints `reproduce --list`, by paper. ready: only entries that can be run with the data.
HN_MUST_USE enum hn_code hn_print_listed(struct hn_context *ctx, struct hn_reproduce *rep,
                                         const struct hn_listed *listed, int64_t n, bool ready,
                                         bool json);

// Classes with the items that have none, "class sizes    smallest 4, median 30, largest 812 (cat)",
// the share of pairs of one class, and equal rows, a line each; of all but the first nothing where
// there is nothing to say.
void hn_print_composition(const struct hn_snapshot_info *info, const struct hn_composition *c,
                          FILE *out);
// The same for queries and a corpus, on one line: sizes, judged pairs, queries without a relevant
// passage.
void hn_print_retrieval(const struct hn_retrieval_info *info, FILE *out);

// The main numbers of every setting at one step, or at the last one of each file, on standard
// output: means over seeds, so that a run says something before any figure is opened. A long table
// has settings of every sampler; those left out are counted by sampler and step. HN_USAGE: a step
// that the results lack.
#define HN_SUMMARY_LAST_STEP INT64_MIN
HN_MUST_USE enum hn_code hn_print_summary(struct hn_context *ctx, const struct hn_results *r,
                                          int64_t step);

// Prints tables of accuracies: a row per setting, mean and deviation over seeds at the end, the
// paired difference to the first sampler with its standard error, and the untrained encoder.
HN_MUST_USE enum hn_code hn_train_print(struct hn_context *ctx, const struct hn_results *results);

#define HN_JSON_OF_RESULTS                                                                         \
    "--json is of results, which --dry-run does not make: leave one of them out"
// Makes a record a setting: hn_settings_json(), hn_train_json().
typedef enum hn_code hn_results_json(struct hn_context *ctx, const struct hn_results *r,
                                     json_t **rows);
// Prints the document of --json of `run` and `train`: the results file in `folder`, how many items
// are of which kind, called as `ran` for those that ran now, and a record a setting, by list().
HN_MUST_USE enum hn_code hn_run_print_json(struct hn_context *ctx, const char *folder,
                                           const struct hn_run_summary *summary, const char *ran,
                                           const struct hn_results *r, hn_results_json *list);
// A record a setting of trainings: means and half-intervals over seeds at the end, and the
// difference to the first. *rows is the caller's, NULL on failure.
HN_MUST_USE enum hn_code hn_train_json(struct hn_context *ctx, const struct hn_results *results,
                                       json_t **rows);

// HN_PARTIAL if some of the items that the results have failed, or if none is applicable; they are
// called `one` each.
HN_MUST_USE enum hn_code hn_run_judge(struct hn_context *ctx, int64_t items, int64_t failed,
                                      int64_t not_applicable, const char *one);
