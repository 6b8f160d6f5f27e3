// SPDX-License-Identifier: GPL-3.0-or-later
// Work items of all kinds: their rows, keys and failures, and the columns of results.
#include "harness/run/item.h"
#include "core/options/option_text.h"
#include "core/text.h"
#include "harness/host/host.h"

#include <math.h>
#include <string.h>

enum hn_code hn_item_add_row(struct hn_context *ctx, const struct hn_item *item,
                             const char *dataset, const char *sha256, int64_t step,
                             struct hn_table *t) {
    return HN_TABLE_PUT(ctx, t, HN_TEXT_VALUE("cell_key", item->cell_key),
                        HN_TEXT_VALUE("run_key", item->run_key), HN_TEXT_VALUE("dataset", dataset),
                        HN_TEXT_VALUE("dataset_sha256", sha256), HN_INT_VALUE("step", step),
                        HN_TEXT_VALUE("tool_version", hn_version), HN_TEXT_VALUE("status", "ok"));
}

enum hn_code hn_item_set_options(struct hn_context *ctx, const struct hn_option *options,
                                 const void *params, struct hn_table *runs) {
    char text[256];
    for (const struct hn_option *o = options; o->name; o++) {
        hn_option_text(o, params, text, sizeof text);
        const char *field = (const char *)params + o->offset;
        double number;
        if (o->kind == HN_OPTION_INT) { // unset, or a word: not a number
            bool digits = *text && (*text < 'A' || *text > 'z');
            number = digits ? (double)*(const int64_t *)field : NAN;
        } else if (o->kind == HN_OPTION_REAL) {
            number = *(const double *)field;
        } else {
            if (hn_table_set_text(ctx, runs, 0, o->name, text))
                return ctx->code;
            continue;
        }
        if (hn_table_set_real(ctx, runs, 0, o->name, number))
            return ctx->code;
    }
    return HN_OK;
}

enum hn_code hn_item_add_tables(struct hn_context *ctx, struct hn_results *out, int n) {
    out->table = hn_zalloc(ctx, n, sizeof *out->table);
    out->n_tables = out->table ? n : 0;
    return out->table ? HN_OK : ctx->code;
}

bool hn_item_fails_alone(enum hn_code code, const struct hn_item_env *env) {
    (void)env;
    return code != HN_INTERRUPTED && code != HN_WAITING;
}

struct hn_item_label hn_item_label(const struct hn_item *item) {
    struct hn_item_label label;
    item->kind->label(item, label.text, sizeof label.text);
    return label;
}

// The rows that name an item.
static struct hn_table *rows_of(struct hn_results *out) {
    return out->runs.rows > 0 ? &out->runs : out->table;
}

static enum hn_code begin(struct hn_context *ctx, const struct hn_item *item,
                          const struct hn_item_env *env, struct hn_results *out) {
    memset(out, 0, sizeof *out);
    hn_host_program(ctx);
    if (item->kind->begin(ctx, item, env, out))
        return ctx->code;
    struct hn_table *rows = rows_of(out);
    for (int64_t r = 0; r < rows->rows; r++)
        if (hn_table_set_text(ctx, rows, r, "program", ctx->program))
            return ctx->code;
    return hn_results_set(ctx, out, "run_key", item->run_key) ||
                   hn_results_set(ctx, out, "program", ctx->program)
               ? ctx->code
               : HN_OK;
}

// Makes the rows of a failed item, with the reason and nothing measured.
static enum hn_code mark(struct hn_context *ctx, const struct hn_item *item,
                         const struct hn_item_env *env, enum hn_code why, struct hn_results *out) {
    char reason[HN_MESSAGE_MAX];
    memcpy(reason, ctx->message, sizeof reason);
    hn_results_free(ctx, out);
    if (begin(ctx, item, env, out))
        return ctx->code;
    struct hn_table *rows = rows_of(out);
    for (int64_t r = 0; r < rows->rows; r++)
        if (HN_TABLE_SET(
                ctx, rows, r,
                HN_TEXT_VALUE("status", why == HN_NOT_APPLICABLE ? "not_applicable" : "failed"),
                HN_TEXT_VALUE("error", reason)))
            return ctx->code;
    return HN_OK;
}

enum hn_code hn_item_run(struct hn_context *ctx, const struct hn_item *item,
                         const struct hn_item_env *env, struct hn_results *out) {
    const struct hn_item_kind *kind = item->kind;
    if (begin(ctx, item, env, out) || (kind->load && kind->load(ctx, item, env)))
        return ctx->code;
    enum hn_code code = kind->run(ctx, item, env, out);
    return code && kind->own_failure(code, env) ? mark(ctx, item, env, code, out) : code;
}

// The columns of the tables of cells. Options, metrics and reports bring their own from the
// registries, so that a new one needs no line here. All names of /runs share one namespace.

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

// Of trainings, besides.
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

#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))

// A table in the making, and which of its columns are options. After a failure nothing is added.
struct columns {
    struct hn_context *ctx;
    struct hn_table *table;
    enum hn_code code;
    bool option[HN_COLUMNS_MAX];
};

// owner: who brings the columns, for messages.
static void add(struct columns *c, const char *owner, const struct hn_column *column, int n,
                bool option) {
    for (int i = 0; i < n && !c->code; i++) {
        int there = hn_table_find(c->table, column[i].name);
        if (there >= 0 && option && c->option[there] &&
            c->table->column[there].kind == column[i].kind)
            continue; // an option that several have (M of two samplers, say)
        if (there >= 0) {
            c->code =
                hn_fail(c->ctx, HN_INTERNAL,
                        "%s: the name '%s' is taken by another column of /%s (%s): options, "
                        "reports and metrics share one namespace; rename it",
                        owner, column[i].name, c->table->name, c->table->column[there].long_name);
        } else if (c->table->n_columns == HN_COLUMNS_MAX) {
            c->code =
                hn_fail(c->ctx, HN_INTERNAL, "%s: more than %d columns", owner, HN_COLUMNS_MAX);
        } else {
            c->option[c->table->n_columns] = option;
            c->code = hn_table_add_column(c->ctx, c->table, &column[i]);
        }
    }
}

static void add_options(struct columns *c, const char *owner, const struct hn_option *options) {
    for (const struct hn_option *o = options; o->name; o++) {
        bool number = o->kind == HN_OPTION_INT || o->kind == HN_OPTION_REAL;
        const struct hn_column column = {.name = o->name,
                                         .kind = number ? HN_COLUMN_REAL : HN_COLUMN_TEXT,
                                         .units = number ? "1" : "",
                                         .long_name = o->help,
                                         .direction = HN_NEITHER,
                                         .role = HN_ROLE_SETTING};
        add(c, owner, &column, 1, true);
    }
}

// Only its own cells have what a sampler reports.
static void add_reports(struct columns *c, const struct hn_sampler_type *sampler) {
    for (int i = 0; i < sampler->n_reports; i++) {
        char long_name[256];
        struct hn_column column = sampler->reports[i];
        hn_put_text(long_name, sizeof long_name, "%s%s NaN of other samplers than %s",
                    column.long_name, strstr(column.long_name, "; NaN") ? ", and" : ";",
                    sampler->name);
        column.long_name = long_name;
        add(c, sampler->name, &column, 1, false);
    }
}

static void add_runs(struct columns *c, const struct hn_registries *r) {
    add(c, "cells", base_columns, LENGTH(base_columns), false);
    for (int i = 0; r->sampler[i]; i++)
        add_options(c, r->sampler[i]->name, r->sampler[i]->options);
    add(c, "cells", loss_columns, LENGTH(loss_columns), false);
    for (int i = 0; r->weighting[i]; i++)
        add_options(c, r->weighting[i]->name, r->weighting[i]->options);
    add(c, "cells", setting_columns, LENGTH(setting_columns), false);
    for (int i = 0; r->metric[i]; i++)
        add(c, r->metric[i]->name, r->metric[i]->columns, r->metric[i]->n_columns, false);
    for (int i = 0; r->sampler[i]; i++)
        add_reports(c, r->sampler[i]);
    add(c, "cells", cost_columns, LENGTH(cost_columns), false);
}

static void add_snapshots(struct columns *c, const struct hn_registries *r) {
    add(c, "steps", snapshot_columns, LENGTH(snapshot_columns), false);
    for (int i = 0; r->snapshot_metric[i]; i++)
        add(c, r->snapshot_metric[i]->name, r->snapshot_metric[i]->columns,
            r->snapshot_metric[i]->n_columns, false);
}

static void add_set(struct columns *c, const struct hn_registries *r, enum hn_rows rows) {
    if (rows == HN_ROWS_RUNS || rows == HN_ROWS_TRAININGS)
        add_runs(c, r);
    if (rows == HN_ROWS_TRAININGS)
        add(c, "trainings", training_columns, LENGTH(training_columns), false);
    else if (rows == HN_ROWS_SNAPSHOTS)
        add_snapshots(c, r);
    else if (rows == HN_ROWS_STUDIES)
        add(c, "studies", study_columns, LENGTH(study_columns), false);
    else if (rows == HN_ROWS_TIMING)
        add(c, "timing", timing_columns, LENGTH(timing_columns), false);
}

static const struct hn_registries own_registries = {hn_samplers, hn_weightings, hn_metrics,
                                                    hn_snapshot_metrics};

static enum hn_code make_table(struct hn_context *ctx, const struct hn_registries *r,
                               enum hn_rows rows, struct hn_table *out) {
    static const char *const names[] = {"runs", "runs", "snapshots", "studies", "timing"};
    struct columns c = {.ctx = ctx, .table = out, .code = hn_table_init(ctx, out, names[rows])};
    add_set(&c, r, rows);
    if (c.code)
        hn_table_free(ctx, out);
    return c.code;
}

enum hn_code hn_rows_table(struct hn_context *ctx, enum hn_rows rows, struct hn_table *out) {
    return make_table(ctx, &own_registries, rows, out);
}

enum hn_code hn_columns_check(struct hn_context *ctx, const struct hn_registries *registries) {
    for (enum hn_rows rows = HN_ROWS_RUNS; rows <= HN_ROWS_TIMING; rows++) {
        struct hn_table table;
        if (make_table(ctx, registries ? registries : &own_registries, rows, &table))
            return ctx->code;
        hn_table_free(ctx, &table);
    }
    return HN_OK;
}
