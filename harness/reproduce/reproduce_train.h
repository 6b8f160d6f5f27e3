// The jobs of an entry, for the trainings of one entry and of all entries.
#ifndef HN_HARNESS_REPRODUCE_REPRODUCE_TRAIN_H
#define HN_HARNESS_REPRODUCE_REPRODUCE_TRAIN_H

#include "harness/reproduce/reproduce.h"
#include "harness/run/runner.h"
#include "harness/run/train.h"

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
// A runner over runs of trainings: those that failed are tried again, once.
struct hn_runner hn_reproduce_runner(const struct hn_reproduce *rep, const struct hn_item *item,
                                     int64_t n, struct hn_train_state *state);

// All runs that entries of trainings want, each once, whichever of them want it.
enum { HN_REPRODUCE_JOBS_MAX = 512 };
struct hn_wanted_runs {
    struct hn_item *item; // [runs]
    bool *alone;          // [runs] an entry judges its costs
    int64_t *first;       // [runs] number of the first entry that wants it,
    int64_t *last;        // [runs] and of the last
    int64_t runs;
    int64_t *of_entry; // [entries] runs of each
    char *data;        // folder of links to the data of all jobs; NULL: there are no jobs
    struct hn_train_job job[HN_REPRODUCE_JOBS_MAX];
    struct hn_train_plan plan[HN_REPRODUCE_JOBS_MAX];
    int64_t jobs;
};
// Into the zeroed *out. Jobs that cannot be read, or have no data, are left out: their entries
// speak of them when they are judged.
HN_MUST_USE enum hn_code hn_reproduce_list_runs(struct hn_context *ctx,
                                                const struct hn_reproduce *rep,
                                                const struct hn_claim_entry *const *entry,
                                                int64_t n, struct hn_wanted_runs *out);

#endif
