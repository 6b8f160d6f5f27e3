// `hardneg train`: the runs of a training job, and the tables of accuracies at the end.
#ifndef HN_HARNESS_RUN_TRAIN_H
#define HN_HARNESS_RUN_TRAIN_H

#include "harness/job/train_job.h"
#include "results/store.h"
#include "training/loop.h"

// One run of the grid, by number: the last of the lists above varies fastest.
struct hn_train_run {
    const struct hn_train_job *job;
    const struct hn_grid_point *task, *sampler, *weighting;
    enum hn_objective loss;
    double temperature;
    int64_t batch_size, seed;
    const char *data_sha256; // "" unknown
    char cell_key[65], run_key[65];
    char untrained_key[65]; // what the accuracies of the untrained encoder hang on
};
int64_t hn_train_runs(const struct hn_train_job *job);
void hn_train_run_at(const struct hn_train_job *job, int64_t number, struct hn_train_run *out);
// "node {encoder=mean} uniform {draw=shuffle} B=all tau=0.5 seed 1"
void hn_train_label(const struct hn_train_run *run, char *text, size_t size);

struct hn_process;

// Trains and writes the run's results, a row of /runs and its rows of /training, as the cell of
// that key in options->folder (results/cell_file.h). data: --data or NULL. What went wrong with the
// run itself (data, divergence) is its status, not a failure.
struct hn_train_options {
    const char *folder; // of the output
    const char *data;
    const char *cache; // for what is made once from the data; NULL: folder
    bool quiet;
    double sgemm_gflops;            // of this machine at these threads, 0 = not measured
    struct hn_untrained *untrained; // shared by the runs; NULL: each evaluates its own
    // Of a run beside others: told how far it is, and HN_MEMORY is the call's failure, as the run
    // may have the memory when it is alone. NULL: alone.
    struct hn_process *worker;
    int64_t beside; // other runs that train at the same time, at most
};
HN_MUST_USE enum hn_code hn_train_run(struct hn_context *ctx, const struct hn_train_run *run,
                                      const struct hn_train_options *options);

// Prints tables of accuracies: a row per setting, mean and deviation over seeds at the end, the
// paired difference to the first sampler with its standard error, and the untrained encoder.
HN_MUST_USE enum hn_code hn_train_print(struct hn_context *ctx, const struct hn_results *results);

#endif
