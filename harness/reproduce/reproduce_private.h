// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of a reproduction: trainings, costs, and jobs of entries.
#pragma once

#include "harness/reproduce/reproduce.h"

// hn_reproduce_missing() and hn_reproduce_run() for entries of trainings. A job's data are
// found below rep->data in any of the usual places, and linked below rep->folder/data by the names
// in the job. Jobs without their data are skipped, with a note; *why if no job is left, or a run
// failed.
HN_MUST_USE enum hn_code hn_reproduce_train_missing(struct hn_context *ctx,
                                                    const struct hn_reproduce *rep,
                                                    const struct hn_claim_entry *entry, char *why);
HN_MUST_USE enum hn_code hn_reproduce_train(struct hn_context *ctx, struct hn_reproduce *rep,
                                            const struct hn_claim_entry *entry,
                                            struct hn_results *out, char *why);

// Number of seeds: as asked for, or as the job says for the effort, or else `full`.
int64_t hn_reproduce_seeds(const struct hn_reproduce *rep, const struct hn_claim_job *job,
                           int64_t full);
// "seeds=[1, 2, 3]", an override of a job.
HN_MUST_USE char *hn_reproduce_seed_list(struct hn_context *ctx, int64_t first, int64_t n);
// Path of a job: a file, or one of the program's own, which is written below the folder, so that
// `hardneg run` takes it too. NULL with the message recorded.
HN_MUST_USE char *hn_reproduce_job(struct hn_context *ctx, const struct hn_reproduce *rep,
                                   const char *job);

// Times a sampler on random rows: one row of the table `costs` for each repetition, kept as shards
// of rep->folder (harness/reproduce/reproduce_costs.c).
HN_MUST_USE enum hn_code hn_reproduce_cost(struct hn_context *ctx, const struct hn_reproduce *rep,
                                           const struct hn_claim_cost *cost,
                                           struct hn_results *out);

// The jobs of an entry, for the trainings of one entry and of all entries.
//
// *why (size HN_MESSAGE_MAX, "" before): what the data lack for a job, if anything.
HN_MUST_USE enum hn_code hn_reproduce_job_missing(struct hn_context *ctx,
                                                  const struct hn_reproduce *rep,
                                                  const struct hn_claim_job *job, char *why);

// Links the job's data below rep->folder, and reads it with the seeds and sizes of the effort.
// *data: the folder of the links.
HN_MUST_USE enum hn_code hn_reproduce_job_open(struct hn_context *ctx,
                                               const struct hn_reproduce *rep,
                                               const struct hn_claim_job *job,
                                               struct hn_train_job *out, char **data);
