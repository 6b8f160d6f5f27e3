// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg bench`: how fast the heavy parts are here, each beside what the machine could do at
// best, measured in the same run.
#include "core/files.h"
#include "core/stats.h"
#include "core/sweep/blas.h"
#include "core/sweep/screen.h"
#include "core/sweep/simd.h"
#include "core/text.h"
#include "datasets/snapshot.h"
#include "harness/bench/bench.h"
#include "harness/cli/command.h"
#include "harness/host/host.h"
#include "harness/host/ranks.h"
#include "harness/run/runner.h"
#include "results/records.h"

#include <math.h>
#include <string.h>

struct bench_params {
    int64_t n, dim, M, K, batch, keep, queries, reps, warmup, threads;
    char *screen, *data, *output;
    bool mpi;
};

#define OPTION(kind, ...) HN_##kind##_OPTION(struct bench_params, __VA_ARGS__)
static const struct hn_option bench_options[] = {
    {OPTION(COUNT, n, "n", "10000", 2, 100000000, "items")},
    {OPTION(INT, dim, "dim", "128", 1, 65536, "dimensions"), .metavar = "D"},
    {OPTION(INT, M, "M", "1000", 1, 1000000, "candidates of the proximity graph"), .metavar = "M"},
    {OPTION(INT, K, "K", "100", 1, 1000000, "neighbours kept"), .metavar = "K"},
    {OPTION(INT, batch, "batch-size", "256", 2, 1000000, "batch size of walks"), .metavar = "B"},
    {OPTION(INT, keep, "keep", "512", 1, 1000000, "GCBS: mean entries kept per row"),
     .metavar = "k"},
    {OPTION(INT, queries, "queries", "1000", 1, 100000000, "queries of `mine`, over N passages"),
     .metavar = "Q"},
    {OPTION(INT, reps, "reps", "5", 1, 10000, "repetitions"), .metavar = "R"},
    {OPTION(INT, warmup, "warmup", "1", 0, 1000, "repetitions before that are not counted"),
     .metavar = "W"},
    {OPTION(THREADS, "")},
    {OPTION(TEXT, screen, "screen",
            "kernel of the screen of sweeps, or off (default: the best, where it pays)"),
     .metavar = "NAME"},
    {OPTION(FILE, data, "data",
            "a snapshot: its last step instead of random rows; --n and --dim are its own")},
    {OPTION(BOOL, mpi, "mpi", NULL,
            "share every sweep out to the ranks of `mpirun -n P hardneg bench --mpi`, as run "
            "--rows ranks does")},
    {OPTION(OUTPUT, "DIR",
            "with --mpi: a folder that all machines see, for what ranks hand each other (default: "
            "the current one)")},
    {0},
};

enum { TRAINING_DIM = 512 }; // inner dimension of most products of training, for its ceiling

// Kernels of `table`, the rows of docs/notes/performance.md with the sizes given there, and of
// `linear`, whose time per item is to be the same for any number of items.
static const struct goal {
    const char *group, *name;
    struct hn_bench_shape shape;
} goals[] = {
    {"table", "sgemm", {50000, 128, 0, 0, 0, 0, 0}},
    {"table", "sgemm", {25000, 768, 0, 0, 0, 0, 0}},
    {"table", "product", {50000, 128, 0, 0, 0, 0, 0}},
    {"table", "product-half", {50000, 128, 0, 0, 0, 0, 0}},
    {"table", "product", {25000, 768, 0, 0, 0, 0, 0}},
    {"table", "knn", {50000, 128, 0, 100, 0, 0, 0}},
    {"table", "proximity-independent", {50000, 128, 1000, 100, 256, 0, 0}},
    {"table", "proximity-dealt", {50000, 128, 1000, 100, 256, 0, 0}},
    {"table", "walk-0.1", {50000, 128, 1000, 100, 256, 0, 0}},
    {"table", "walk-0.7", {50000, 128, 1000, 100, 256, 0, 0}},
    {"table", "sinks", {50000, 128, 0, 100, 0, 0, 0}},
    {"table", "sinks-half", {50000, 128, 0, 100, 0, 0, 0}},
    {"table", "sinks", {25000, 768, 0, 100, 0, 0, 0}},
    {"table", "sinks-half", {25000, 768, 0, 100, 0, 0, 0}},
    {"table", "loss", {25000, 768, 0, 0, 256, 0, 0}},
    {"table", "gcbs", {25000, 768, 0, 0, 256, 512, 0}},
    {"table", "gcbs", {10000, 768, 0, 0, 256, 512, 0}},
    {"table", "gcbs", {50000, 768, 0, 0, 256, 512, 0}},
    {"table", "mine", {100000, 768, 0, 200, 0, 0, 20000}},
    {"table", "mine-ranking", {100000, 768, 0, 200, 0, 0, 20000}},
    {"table", "proximity-dealt", {1281167, 128, 1000, 500, 256, 0, 0}},
    {"linear", "proximity-dealt", {50000, 128, 1000, 100, 256, 0, 0}},
    {"linear", "proximity-dealt", {200000, 128, 1000, 100, 256, 0, 0}},
    {"linear", "proximity-dealt", {1281167, 128, 1000, 100, 256, 0, 0}},
};
enum { GOALS = sizeof goals / sizeof goals[0] };

static const struct hn_record_column bench_columns[] = {
    {"name", "kernel", .width = -22},
    {"n", "n", .width = 8},
    {"dim", "dim", .width = 5},
    {"ceiling.sgemm_gflops", "GFLOP/s", .width = 8},
    {"ceiling.read_gbs", "GB/s", .width = 6, .digits = 1},
    {"seconds.median", "median s", .width = 10, .digits = 6},
    {"seconds.min", "least s", .width = 10, .digits = 6},
    {"seconds.max", "max s", .width = 10, .digits = 6},
    {"share_of_limit", "of best", .width = 7, .digits = 1, .scale = 100, .unit = "%"},
    {"us_per_item", "us/item", .width = 8, .digits = 3},
    {.heading = NULL},
};

enum { FOLDER = 4096 }; // bytes of the name of one

struct work {
    const struct hn_call *call;
    const struct bench_params *p;
    struct hn_bench bench;
    const struct hn_bench_kernel *kernels;
    json_t *rows;                 // of the document; NULL: rows are printed when they are measured
    struct hn_snapshot *snapshot; // of --data; NULL: none
    struct hn_ranks *ranks;       // NULL: alone
    struct hn_file_parts parts;   // of ranks
    int64_t repetitions;          // so far
};

static json_t *list_of(const double *values, int64_t n) {
    json_t *list = json_array();
    for (int64_t i = 0; i < n; i++)
        json_array_append_new(list, json_real(values[i]));
    return list;
}

// Times of the repetitions, [reps] each.
struct taken {
    double *all, *sorted; // seconds; the second is sorted by row_json()
    double *share;        // of the limit, NaN where there is none; sorted likewise
    double *processor;    // seconds of all threads, with whatever a repetition needs besides
    double *gflops;       // the ceiling beside it; sorted likewise
};

static json_t *row_json(struct hn_context *ctx, const struct hn_bench_kernel *k,
                        const struct work *w, const struct taken *taken) {
    const struct hn_bench_shape *shape = &w->bench.shape;
    int64_t reps = w->p->reps;
    double median = hn_median(taken->sorted, reps);
    double share = isnan(taken->share[0]) ? NAN : hn_median(taken->share, reps);
    return json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:i, s:{s:f, s:f, s:f, s:o}, s:o, s:{s:f, s:f}, "
        "s:o, s:f}",
        "name", k->name, "n", (json_int_t)shape->n, "dim", (json_int_t)shape->dim, "M",
        (json_int_t)shape->M, "K", (json_int_t)shape->K, "batch", (json_int_t)shape->batch, "keep",
        (json_int_t)shape->keep, "queries", (json_int_t)shape->queries, "threads", ctx->threads,
        "seconds", "median", median, "min", taken->sorted[0], "max", taken->sorted[reps - 1], "all",
        list_of(taken->all, reps), "processor_seconds", list_of(taken->processor, reps), "ceiling",
        "sgemm_gflops", hn_median(taken->gflops, reps), "read_gbs", w->bench.gbs, "share_of_limit",
        hn_json_real(share), "us_per_item", 1e6 * median / (double)shape->n);
}

static void put_row(struct work *w, json_t *row) {
    if (hn_ranks_number(w->ranks) > 0) {
        json_decref(row);
        return;
    }
    if (w->rows) {
        json_array_append_new(w->rows, row);
        return;
    }
    hn_record_print(bench_columns, row, stdout);
    fflush(stdout); // the next row may take minutes
    json_decref(row);
}

// A repetition by all ranks at once. Each computes everything anew, so that parts are of one
// repetition and removed after it, when no rank is at work on any. The ceiling of products of `dim`
// is measured anew, as clocks and neighbours change it; *begun: processor time after that.
static enum hn_code repeat(struct hn_context *ctx, const struct hn_bench_kernel *k, struct work *w,
                           int64_t dim, struct hn_bench_time *time, int64_t *begun) {
    char scope[HN_DIGEST_TEXT];
    (void)snprintf(scope, sizeof scope, "repetition %lld", (long long)++w->repetitions);
    if (w->ranks)
        hn_file_parts_begin(&w->parts, scope);
    enum hn_code code = hn_check_stop(ctx);
    if (!code)
        code = hn_host_sgemm(ctx, dim, 1, &w->bench.gflops);
    *begun = hn_cpu_ns(ctx->threads);
    if (hn_ranks_agree(ctx, w->ranks, code ? code : k->run(ctx, &w->bench, k, time)))
        return ctx->code;
    if (w->ranks && hn_ranks_number(w->ranks) == 0)
        hn_file_parts_remove(ctx, &w->parts);
    return hn_ranks_agree(ctx, w->ranks, HN_OK);
}

static enum hn_code run_kernel(struct hn_context *ctx, const struct hn_bench_kernel *k,
                               struct work *w) {
    struct hn_bench *b = &w->bench;
    struct hn_bench_time time = {0};
    int64_t reps = w->p->reps, dim = b->shape.dim; // that of its products: a task sets its own
    if (hn_bench_items(ctx, b, k->needs) || hn_host_read(ctx, 3, &b->gbs))
        return ctx->code;
    double *all = hn_alloc(ctx, 5 * reps, sizeof *all);
    if (!all)
        return ctx->code;
    const struct taken taken = {all, all + reps, all + 2 * reps, all + 3 * reps, all + 4 * reps};
    enum hn_code code = HN_OK;
    for (int64_t r = -w->p->warmup; r < reps && code == HN_OK; r++) {
        int64_t begun;
        code = repeat(ctx, k, w, dim, &time, &begun);
        if (r >= 0) {
            taken.gflops[r] = b->gflops;
            taken.all[r] = taken.sorted[r] = time.seconds;
            taken.share[r] = time.ideal / time.seconds;
            taken.processor[r] = (double)(hn_cpu_ns(ctx->threads) - begun) * 1e-9;
        }
    }
    if (code == HN_OK)
        put_row(w, row_json(ctx, k, w, &taken));
    return code;
}

// On one thread unless --threads says more, as goals for training are of one core.
static enum hn_code run_training(struct hn_context *ctx, const struct hn_bench_kernel *k,
                                 struct work *w) {
    struct hn_bench_shape shape = w->bench.shape;
    int threads = ctx->threads;
    ctx->threads = (int)hn_given(w->p->threads, 1);
    w->bench.shape.dim = TRAINING_DIM;
    enum hn_code code = run_kernel(ctx, k, w);
    ctx->threads = threads;
    w->bench.shape = shape;
    return code;
}

static bool wanted(const struct work *w, const struct hn_bench_kernel *k) {
    bool usual = k->needs != HN_BENCH_TRAINING;
    for (int i = 0; i < w->call->n_args; i++) {
        const char *name = w->call->args[i];
        if (strcmp(name, k->group) == 0 || strcmp(name, k->name) == 0 ||
            (usual && strcmp(name, "all") == 0))
            return true;
    }
    return usual && w->call->n_args == 0;
}

static bool has_sizes(const char *name) {
    return strcmp(name, "table") == 0 || strcmp(name, "linear") == 0;
}

static enum hn_code check_names(struct hn_context *ctx, const struct work *w) {
    const char **args = w->call->args;
    int64_t n = 0, all = 0;
    while (w->kernels[n].name)
        n++;
    HN_SCOPE(ctx);
    const char **names = hn_alloc(ctx, 3 + 2 * n, sizeof *names);
    if (!names)
        return ctx->code;
    names[all++] = "all";
    names[all++] = "table";
    names[all++] = "linear";
    char known[HN_MESSAGE_MAX] = "; there are all, table, linear";
    for (const struct hn_bench_kernel *k = w->kernels; k->name; k++) {
        names[all++] = k->group;
        names[all++] = k->name;
        hn_append(known, sizeof known, ", %s", k->name);
    }
    for (int i = 0; i < w->call->n_args; i++) {
        if (hn_name_find(ctx, "kernel", args[i], names, all, known) < 0)
            return ctx->code;
        if (w->call->n_args > 1 && has_sizes(args[i]))
            return hn_fail(ctx, HN_USAGE,
                           "'%s' has rows and sizes of its own: give it alone, without %s", args[i],
                           args[i > 0 ? 0 : 1]);
    }
    return HN_OK;
}

// The last step of --data, for kernels that it suffices for.
static enum hn_code read_data(struct hn_context *ctx, struct work *w) {
    struct hn_items *items = &w->bench.items;
    if (!w->p->data)
        return HN_OK;
    if (w->call->n_args > 0 && has_sizes(w->call->args[0]))
        return hn_fail(ctx, HN_USAGE, "'%s' has rows of its own: leave --data out",
                       w->call->args[0]);
    if (hn_snapshot_open(ctx, w->p->data, &w->snapshot) ||
        hn_snapshot_load(ctx, w->snapshot, hn_snapshot_info(w->snapshot)->steps - 1, items))
        return ctx->code;
    for (const struct hn_bench_kernel *k = w->kernels; k->name; k++)
        if (wanted(w, k) && k->needs == HN_BENCH_VIEWS_TOO && !hn_has_positive(items))
            return hn_fail(
                ctx, HN_DATA,
                "%s: has no views, which %s needs: name other kernels, or leave --data out",
                w->p->data, k->name);
    return HN_OK;
}

static enum hn_code run_kernels(struct hn_context *ctx, struct work *w) {
    const struct bench_params *p = w->p;
    for (int g = 0; g < GOALS && w->call->n_args == 1; g++)
        for (const struct hn_bench_kernel *k = w->kernels; k->name; k++) {
            w->bench.shape = goals[g].shape;
            if (strcmp(goals[g].group, w->call->args[0]) == 0 &&
                strcmp(goals[g].name, k->name) == 0 && run_kernel(ctx, k, w))
                return ctx->code;
        }
    int64_t n = w->snapshot ? w->bench.items.n : p->n,
            dim = w->snapshot ? w->bench.items.d : p->dim;
    w->bench.shape = (struct hn_bench_shape){n, dim, p->M, p->K, p->batch, p->keep, p->queries};
    for (const struct hn_bench_kernel *k = w->kernels; k->name; k++)
        if (wanted(w, k) && (k->needs == HN_BENCH_TRAINING ? run_training : run_kernel)(ctx, k, w))
            return ctx->code;
    return HN_OK;
}

// The folder of parts, by rank 0 for all.
static enum hn_code open_parts(struct hn_context *ctx, struct work *w, char folder[FOLDER]) {
    HN_SCOPE(ctx);
    enum hn_code code = HN_OK;
    if (hn_ranks_number(w->ranks) == 0) {
        const char *path = hn_format(ctx, "%s/bench", w->p->output ? w->p->output : ".");
        const char *made = path ? hn_temporary_folder(ctx, path) : NULL;
        code = made ? HN_OK : ctx->code;
        if (made && snprintf(folder, FOLDER, "%s", made) >= FOLDER)
            code = hn_fail(ctx, HN_USAGE, "%s: the name of this folder is too long", made);
    }
    if (hn_ranks_agree(ctx, w->ranks, code))
        return ctx->code;
    hn_ranks_share(w->ranks, folder, FOLDER);
    if (hn_file_parts_open(ctx, NULL, w->ranks, &w->parts))
        return ctx->code;
    w->parts.folder = folder;
    ctx->parts = &w->parts.parts;
    return HN_OK;
}

static enum hn_code bench(struct hn_context *ctx, struct work *w) {
    bool speaks = hn_ranks_number(w->ranks) == 0;
    w->rows = w->call->json ? json_array() : NULL;
    ctx->screen = w->p->screen ? w->p->screen : ctx->screen;
    bool failed = hn_screen_check(ctx) || hn_bench_list(ctx, &w->kernels) || check_names(ctx, w) ||
                  read_data(ctx, w) || hn_blas_open(ctx);
    if (!failed && !w->rows && speaks) {
        printf("%s kernels, %s scans, %d threads; best = the time at the ceiling, measured just "
               "before\n",
               hn_blas_core(), hn_simd_best()->name, ctx->threads);
        hn_record_print(bench_columns, NULL, stdout);
    }
    failed = failed || run_kernels(ctx, w);
    if (!failed && w->rows && speaks)
        failed = hn_json_print(ctx, json_pack("{s:O}", "kernels", w->rows), stdout);
    json_decref(w->rows);
    hn_bench_training_free(ctx, w->bench.training);
    hn_snapshot_close(ctx, w->snapshot);
    return failed ? ctx->code : HN_OK;
}

static enum hn_code bench_together(struct hn_context *ctx, struct work *w) {
    char folder[FOLDER] = "";
    int64_t begun = hn_wall_ns();
    enum hn_code code = open_parts(ctx, w, folder);
    code = hn_ranks_agree(ctx, w->ranks, code ? code : bench(ctx, w));
    if (!code)
        code =
            hn_shares_tell(ctx, &w->parts, "ranks", begun, w->call->quiet, w->call->verbose, NULL);
    ctx->parts = NULL;
    hn_file_parts_close(ctx, &w->parts);
    if (*folder && hn_ranks_number(w->ranks) == 0)
        hn_scratch_remove(ctx, hn_strdup(ctx, folder));
    return code;
}

static enum hn_code run(struct hn_context *ctx, const struct hn_call *call) {
    struct work w = {.call = call, .p = call->params};
    if (!w.p->mpi && w.p->output)
        return hn_fail(ctx, HN_USAGE, "--output: only with --mpi, whose ranks it is for");
    if (w.p->mpi && hn_ranks_open(ctx, &w.ranks))
        return ctx->code;
    if (!w.p->mpi)
        hn_ranks_none(ctx);
    ctx->threads = (int)hn_given(w.p->threads, hn_ranks_threads(w.ranks, ctx->threads));
    return hn_ranks_close(ctx, w.ranks, (w.ranks ? bench_together : bench)(ctx, &w));
}

const struct hn_command hn_cmd_bench = {
    .name = "bench",
    .group = HN_GROUP_PROGRAM,
    .usage = "hardneg bench "
             "[sgemm|product|knn|proximity|walk|gcbs|loss|mining|sinks|train|all|table|linear]... "
             "[options]",
    .summary = "time the heavy parts, as shares of what the machine can do",
    .details =
        "Times each kernel on random unit rows with warm-up and repetition. Beside it are the "
        "limits of the machine, measured just before (matrix products at this dimension, reading "
        "memory), and the share of them that was reached. `sinks` is a sweep with all sinks but "
        "histograms, as a share of the same sweep without any (`sinks-half`: X X^T). A walk is "
        "given per batch and has no ceiling. `table` runs the rows of docs/notes/performance.md at "
        "their own sizes, up to 1,281,167 items: some minutes and 5 GiB. `linear` runs the "
        "proximity graph at three sizes: its time per item is to be the same. `train` (not part of "
        "`all`) is a step of training, on one thread unless --threads says more, on made-up data "
        "of the recipes' shapes (`train-node`: an epoch), beside what its matrix products would "
        "take (`train-text`, `train-pairs`: what reading and writing the rows of its table would).",
    .examples = "hardneg bench knn loss --n 20000 --dim 768 --json\n"
                "mpirun -n 4 hardneg bench knn gcbs --n 200000 --mpi -o /shared/folder",
    .options = bench_options,
    .params_size = sizeof(struct bench_params),
    .json = true,
    .max_args = 8,
    .takes_names = true,
    .run = run,
};
