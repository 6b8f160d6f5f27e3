// SPDX-License-Identifier: GPL-3.0-or-later
// Joining the results of a job that was run in parts.
#pragma once

#include "results/store.h"

// Appends to the table `plan` of results that lack cells, which has run_key and label of every cell
// of the job in the order of a whole run: what a merge goes by, and says is missing.
HN_MUST_USE enum hn_code hn_merge_plan_row(struct hn_context *ctx, struct hn_results *results,
                                           const char *run_key, const char *label);

// The cells that results hold, of `of` of their job: of as many where they have no table `plan`.
struct hn_merge_share {
    int64_t cells, of;
};
struct hn_merge_share hn_merge_share_of(const struct hn_results *r);

struct hn_merge_summary {
    int64_t cells, repeated, missing, failed,
        not_applicable; // of the plan; repeated: in several parts
};

// Merges part[n], read from name[n], into the zeroed *out, in the order of the plan: the tables are
// those of one run. Cells that several parts hold must agree, times apart; the first that did not
// fail is taken. What is missing is left out and noted, *out then has a table `plan` again. Sets
// the attributes but argv. HN_DATA: parts of different jobs, or that disagree.
// mixed: parts of several programs are joined; else they are HN_DATA.
HN_MUST_USE enum hn_code hn_merge(struct hn_context *ctx, const struct hn_results *part,
                                  const char *const *name, int64_t n, bool mixed,
                                  struct hn_results *out, struct hn_merge_summary *summary);
