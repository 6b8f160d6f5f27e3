// SPDX-License-Identifier: GPL-3.0-or-later
// Items of the task `text`: pairs of a query and its key, some with a hard negative.
#pragma once

#include "datasets/sts.h"
#include "training/tasks/text_task.h"

// Sets of struct hn_sts, in this order: sentences are numbered by it.
enum hn_text_set {
    HN_TEXT_SICK_TRAIN,
    HN_TEXT_SICK_TEST,
    HN_TEXT_STS12_TRAIN,
    HN_TEXT_STS12_TEST,
    HN_TEXT_STS13,
    HN_TEXT_STS14,
    HN_TEXT_STS16,
    HN_TEXT_SETS
};
extern const char *const hn_text_files[]; // their names, without ending; ends with NULL

// of[*n]: the sentences of sick-train and sts12-train, ascending, or all (transductive). Owned by
// the owner of the time; NULL: out of memory.
HN_MUST_USE int32_t *hn_text_training(struct hn_context *ctx, const struct hn_sts *sts,
                                      bool transductive, int64_t *n);
// Every sentence of of[n] is its own key (SimCSE 3).
HN_MUST_USE enum hn_code hn_text_items_single(struct hn_context *ctx, const int32_t *of, int64_t n,
                                              struct hn_text_items *out);
// Annotated pairs of the training files, both ways, in file order (SimCSE 4): those of sick-train
// with ENTAILMENT; unless sick_only those of sts12-train with a score of 4 or more, of two
// different sentences. hard: the first sentence, in file order, that CONTRADICTION pairs with the
// query, else with the key. HN_DATA if there are none.
HN_MUST_USE enum hn_code hn_text_items_pairs(struct hn_context *ctx, const struct hn_sts *sts,
                                             bool sick_only, bool hard, struct hn_text_items *out);

// group[sts->n]: sentences that pairs of the training files with a score of 4 or more connect have
// one number, from 0 in the order of their first sentence. Labels, so that false negatives are
// counted: few pairs are annotated, and there are more than these.
void hn_text_groups(const struct hn_sts *sts, int32_t *group);
