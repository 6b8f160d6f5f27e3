// `hardneg train`: job files of trainings, their runs, and what is said of them at the end.
#ifndef HN_HARNESS_RUN_TRAIN_H
#define HN_HARNESS_RUN_TRAIN_H

#include "harness/job/job_private.h"
#include "results/store.h"
#include "training/loop.h"

struct hn_train_schedule {
    double rate, decay, beta1, beta2, epsilon;
    int64_t warmup;
    int schedule;
};
struct hn_train_series {
    int64_t every, dense_from, dense_to, dense_every;
};
struct hn_train_numbers {
    int64_t version, steps, epochs, uniform_epochs, rebuild, evaluate, checkpoint;
    int64_t batch_size, seed;
    double temperature;
    int positive, embeddings;
    bool expected_loss, cosines;
};

// A grid of trainings: tasks x losses x weightings x temperatures x batch sizes x samplers x seeds.
struct hn_train_job {
    char *path, *folder; // of the job file
    struct hn_grid_point *task, *sampler, *weighting;
    int64_t n_tasks, n_samplers, n_weightings;
    enum hn_objective *loss;
    int64_t n_losses;
    double *temperature;
    int64_t *batch_size, *seed; // batch size 0: all items
    int64_t n_temperatures, n_batch_sizes, n_seeds;
    struct hn_train_numbers number;
    struct hn_train_schedule adam;
    struct hn_train_series series;
    char (*data_sha256)[65]; // [n_tasks] of the data, "" unknown; NULL until hn_train_job_digest()
    char *resolved;          // the job with every default, for provenance
    char resolved_sha256[65];
};

// As hn_job_read(): HN_USAGE with file, line and column, or "--set key=value".
HN_MUST_USE enum hn_code hn_train_job_read(struct hn_context *ctx, const char *path,
                                           const struct hn_text_list *set,
                                           struct hn_train_job *out);
void hn_train_job_free(struct hn_context *ctx, struct hn_train_job *job); // zeroed is fine

// Reads the data of the tasks once: keys of runs hang on their contents, where these can be read.
HN_MUST_USE enum hn_code hn_train_job_digest(struct hn_context *ctx, const char *data,
                                             struct hn_train_job *job);

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
