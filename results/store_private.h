// Names of the schema `hardneg-results` version 1, for the writer and the reader.
#ifndef HN_RESULTS_STORE_PRIVATE_H
#define HN_RESULTS_STORE_PRIVATE_H

#include "metrics/metric.h"
#include "results/store.h"

#define HN_STORE_SCHEMA "hardneg-results"
enum { HN_STORE_VERSION = 1 };

// The dimension scale of a table's rows: no column may have this name.
#define HN_STORE_ROW "row"

// Kinds of pairs along the second axis of /hist/counts.
static const char *const hn_store_kinds[HN_PAIR_KINDS] = {[HN_PAIR_POSITIVE] = "positive",
                                                          [HN_PAIR_TRUE_NEGATIVE] = "true_negative",
                                                          [HN_PAIR_FALSE_NEGATIVE] =
                                                              "false_negative",
                                                          [HN_PAIR_UNLABELLED] = "unlabelled"};

// Appends saved batches, before the rows of /runs are (store_order.c).
enum hn_code hn_store_append_order(struct hn_context *ctx, struct hn_results *to,
                                   const struct hn_results *from);
// The role of a column in files that were written before columns had one (old_roles.c).
enum hn_role hn_store_old_role(const char *table, const struct hn_column *column);
// Whether the splits rise from 0.
bool hn_store_rises(const int64_t *split, int64_t n);

// Tables that stand at the root; every other table of a file stands in /tables.
static inline bool hn_store_at_root(const char *name) {
    return __builtin_strcmp(name, "snapshots") == 0 || __builtin_strcmp(name, "training") == 0;
}

#endif
