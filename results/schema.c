// SPDX-License-Identifier: GPL-3.0-or-later
// Columns of results.h5.
#include "results/schema.h"

#define NAME(name, kind, units, long_name)                                                         \
    { name, HN_COLUMN_##kind, units, long_name, HN_NEITHER, HN_ROLE_IDENTITY }
#define SETTING(name, kind, units, long_name)                                                      \
    { name, HN_COLUMN_##kind, units, long_name, HN_NEITHER, HN_ROLE_SETTING }
#define COUNT(name, units, long_name, direction)                                                   \
    { name, HN_COLUMN_INT, units, long_name, direction, HN_ROLE_COUNTER }
#define MACHINE(name, kind, units, long_name, direction)                                           \
    { name, HN_COLUMN_##kind, units, long_name, direction, HN_ROLE_MACHINE }
#define REAL(name, units, long_name, direction, role)                                              \
    { name, HN_COLUMN_REAL, units, long_name, direction, HN_ROLE_##role }

// Columns that rows of every kind begin with: their keys, which say what they are hashes of, and
// data.
#define KEYS(cell_key, run_key)                                                                    \
    NAME("cell_key", TEXT, "", cell_key), NAME("run_key", TEXT, "", run_key),                      \
        NAME("dataset", TEXT, "", "snapshot file"),                                                \
        NAME("dataset_sha256", TEXT, "", "content of the snapshot file"),                          \
        NAME("step", INT, "optimizer_step", "training step of the embeddings")
// And the outcome.
#define OUTCOME(status, error, note)                                                               \
    NAME("tool_version", TEXT, "", "version of the program"),                                      \
        NAME("program", TEXT, "",                                                                  \
             "program that made the row: its commit, and a digest if that is not all"),            \
        {"status", HN_COLUMN_TEXT, "", status, HN_NEITHER, HN_ROLE_COUNTER},                       \
        NAME("error", TEXT, "", error), NAME("note", TEXT, "", note)

static const struct hn_column base_columns[] = {
    KEYS("hash of data, parameters and seed",
         "hash of cell_key, what is measured and the version of the code"),
    NAME("sampler", TEXT, "", "sampler"),
    SETTING("params", TEXT, "", "all options of the sampler, canonical text"),
};

static const struct hn_column loss_columns[] = {
    SETTING("loss", TEXT, "", "denominator of the loss"),
    SETTING("weighting", TEXT, "", "weighting of the negatives"),
};

static const struct hn_column setting_columns[] = {
    SETTING("temperature", REAL, "1", "temperature of the loss"),
    SETTING("batch_size", INT, "items", "batch size"),
    COUNT("batches", "batches", "batches measured", HN_NEITHER),
    SETTING("seed", INT, "1", "seed"),
    OUTCOME("ok, failed or not_applicable", "why the cell failed or does not apply",
            "what was taken otherwise, and why columns are NaN"),
};

static const struct hn_column cost_columns[] = {
    REAL("graph_age", "optimizer_step",
         "age of the embeddings that the sampler was built on; NaN of samplers without a build",
         HN_SMALLER, QUALITY),
    REAL("graph_overlap", "share",
         "share of a fresh graph's edges that the sampler's graph holds; NaN of samplers without a "
         "graph",
         HN_LARGER, QUALITY),
    REAL("negatives_mean", "1", "negatives per anchor, mean; NaN for batches", HN_NEITHER, QUALITY),
    REAL("anchors_without", "anchors", "anchors drawn that have no negative; NaN for batches",
         HN_SMALLER, QUALITY),
    REAL("apart_moved", "tuples",
         "tuples that keep_apart moved to other batches, in the epochs begun; NaN without",
         HN_NEITHER, QUALITY),
    REAL("apart_left", "tuples",
         "tuples left in a batch with one whose passage is known to be relevant to their query, or "
         "theirs to its; NaN without keep_apart",
         HN_SMALLER, QUALITY),
    COUNT("stalls", "walks", "walks that had to go on from a random item", HN_SMALLER),
    REAL("cost_s", "s",
         "Cost_S: drawing one batch, median; on one thread by the processor's time, else by the "
         "clock",
         HN_SMALLER, TIME),
    REAL("cost_g", "s",
         "Cost_G: building the sampler on new embeddings, median; on one thread by the processor's "
         "time, else by the clock; NaN of samplers without a build",
         HN_SMALLER, TIME),
    REAL("cost_g_over_t", "s",
         "Cost_G / t: building, per training step; without t, over the batches of an epoch; NaN of "
         "samplers without a build",
         HN_SMALLER, DERIVED),
    COUNT("n_dot", "1", "inner products, build and batches", HN_SMALLER),
    COUNT("n_dot_build", "1", "inner products of the build alone", HN_SMALLER),
    COUNT("n_draw", "1", "random numbers drawn", HN_SMALLER),
    COUNT("n_step", "1", "walk steps", HN_SMALLER),
    COUNT("n_edge", "1", "graph edges written or followed", HN_SMALLER),
    COUNT("bytes_touched", "B", "bytes of embeddings and graphs touched, by count", HN_SMALLER),
    MACHINE("peak_rss", INT, "B", "largest resident memory of the process so far", HN_SMALLER),
    REAL("share_of_limit", "1",
         "inner products of the build against the machine's sgemm rate; NaN of builds without a "
         "sweep, and where the rate was not measured",
         HN_LARGER, DERIVED),
};

static const struct hn_column training_columns[] = {
    SETTING("task", TEXT, "", "what was trained"),
    SETTING("task_params", TEXT, "", "all options of the task, canonical text"),
    SETTING("weighting_params", TEXT, "", "all options of the weighting, canonical text"),
    SETTING("positive", TEXT, "", "whether the positive is inside the denominator"),
    SETTING("rate", REAL, "1", "learning rate: the largest of its schedule"),
    SETTING("rebuild", INT, "optimizer_step", "t as the job gives it, 0 = the sampler's"),
    SETTING("epochs", INT, "1", "length of the training as the job gives it; 0: in steps"),
    MACHINE("threads", INT, "1", "threads that the run had", HN_NEITHER),
    MACHINE("beside", INT, "1", "other runs that trained at the same time, at most", HN_NEITHER),
    MACHINE("cost_t", REAL, "s", "Cost_T: forward, backward and update, mean over steps",
            HN_SMALLER),
    MACHINE("cost_e", REAL, "s", "embedding all items for a build, mean over builds", HN_SMALLER),
    MACHINE("share_s", REAL, "1", "Cost_S as a share of a step with all its costs", HN_SMALLER),
    MACHINE("share_g", REAL, "1", "Cost_G / t as a share of a step with all its costs", HN_SMALLER),
    MACHINE("share_e", REAL, "1", "embedding for builds as a share of a step with all its costs",
            HN_SMALLER),
    MACHINE("cost_step", REAL, "s",
            "a step with all its costs: Cost_T, Cost_S, and building and embedding over t",
            HN_SMALLER),
    REAL("flops_per_step", "1", "floating-point operations of a step's matrix products", HN_SMALLER,
         QUALITY),
    MACHINE("sgemm_gflops", REAL, "GFLOP/s", "sgemm rate of the threads, measured at the start",
            HN_LARGER),
    MACHINE("share_of_floor", REAL, "1",
            "flops_per_step at the sgemm rate, as a share of Cost_T; NaN where not measured, "
            "and of tasks whose weights are a table of rows",
            HN_LARGER),
};

static const struct hn_column snapshot_columns[] = {
    KEYS("hash of data, temperatures and seed",
         "hash of cell_key, what is measured and the version of the code"),
    SETTING("temperature", REAL, "1", "temperature of the loss"),
    SETTING("seed", INT, "1", "seed of what is drawn (a split)"),
    OUTCOME("ok or failed", "why it failed", "why columns are NaN"),
    COUNT("n_dot", "1", "inner products of the shared sweeps", HN_SMALLER),
    COUNT("sweeps", "1", "sweeps shared by all metrics", HN_SMALLER),
};

static const struct hn_column study_columns[] = {
    KEYS("hash of data, parameters and seeds", "hash of cell_key and the version of the code"),
    NAME("study", TEXT, "", "study, and name of its table"),
    SETTING("params", TEXT, "", "all options of the study, canonical text"),
    SETTING("seed", INT, "1", "the first seed"),
    OUTCOME("ok, failed or not_applicable", "why it failed or does not apply",
            "what was taken otherwise"),
};

static const struct hn_column timing_columns[] = {
    NAME("run", INT, "1", "row of /runs"),
    NAME("phase", TEXT, "", "build, epoch or next"),
    COUNT("rep", "1", "repetition within the phase", HN_NEITHER),
    COUNT("order", "1", "order of execution", HN_NEITHER),
    COUNT("warmup", "1", "1 = not counted", HN_NEITHER),
    COUNT("batches", "batches", "batches drawn in this sample, 0 for a build", HN_NEITHER),
    MACHINE("wall_ns", INT, "ns", "wall-clock time", HN_SMALLER),
    MACHINE("cpu_ns", INT, "ns", "processor time of all threads", HN_SMALLER),
    COUNT("shared", "1",
          "1 = the sample of another cell of the step, whose build or batches this cell shares",
          HN_NEITHER),
    COUNT("process", "1", "0 = the process that measured, else a further one that timed the cell",
          HN_NEITHER),
    REAL("instructions", "1", "instructions of all threads; NaN where the host does not count them",
         HN_SMALLER, MACHINE),
};

#define SCHEMA(columns)                                                                            \
    { columns, (int)(sizeof columns / sizeof *columns) }
const struct hn_schema hn_schema_cells = SCHEMA(base_columns);
const struct hn_schema hn_schema_losses = SCHEMA(loss_columns);
const struct hn_schema hn_schema_settings = SCHEMA(setting_columns);
const struct hn_schema hn_schema_costs = SCHEMA(cost_columns);
const struct hn_schema hn_schema_trainings = SCHEMA(training_columns);
const struct hn_schema hn_schema_snapshots = SCHEMA(snapshot_columns);
const struct hn_schema hn_schema_studies = SCHEMA(study_columns);
const struct hn_schema hn_schema_timing = SCHEMA(timing_columns);
