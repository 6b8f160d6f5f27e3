// `hardneg bench`: how fast the heavy parts are here, each beside what the machine could do at
// best, measured in the same run.
#include "core/random.h"
#include "core/stats.h"
#include "core/sweep/blas.h"
#include "core/sweep/sinks.h"
#include "harness/cli/bench_training.h"
#include "harness/cli/command.h"
#include "harness/host/host.h"
#include "harness/job/job.h"
#include "metrics/global.h"
#include "results/records.h"
#include "samplers/gcbs_pairs.h"
#include "samplers/sampler.h"

#include <gsl/gsl_randist.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

struct bench_params {
    int64_t n, dim, M, K, batch, keep, reps, warmup, threads;
};

static const struct hn_option bench_options[] = {
    {HN_INT_OPTION(struct bench_params, n, "n", "10000", 2, 100000000, "items"), .metavar = "N"},
    {HN_INT_OPTION(struct bench_params, dim, "dim", "128", 1, 65536, "dimensions"), .metavar = "D"},
    {HN_INT_OPTION(struct bench_params, M, "M", "1000", 1, 1000000,
                   "candidates of the proximity graph"),
     .metavar = "M"},
    {HN_INT_OPTION(struct bench_params, K, "K", "100", 1, 1000000, "neighbours kept"),
     .metavar = "K"},
    {HN_INT_OPTION(struct bench_params, batch, "batch", "256", 2, 1000000, "batch size of walks"),
     .metavar = "B"},
    {HN_INT_OPTION(struct bench_params, keep, "keep", "512", 1, 1000000,
                   "GCBS: mean entries kept per row"),
     .metavar = "k"},
    {HN_INT_OPTION(struct bench_params, reps, "reps", "5", 1, 10000, "repetitions"),
     .metavar = "R"},
    {HN_INT_OPTION(struct bench_params, warmup, "warmup", "1", 0, 1000,
                   "repetitions before that are not counted"),
     .metavar = "W"},
    {HN_INT_OPTION(struct bench_params, threads, "threads", NULL, 1, 4096,
                   "threads (default: all there are)"),
     .metavar = "T"},
    {0},
};

// Sizes of one row.
struct shape {
    int64_t n, dim, M, K, batch, keep;
};

// What the kernels work on.
struct bench {
    const struct bench_params *p;
    struct shape shape;
    struct hn_items items; // of that shape; views and labels where they are wanted
    double gflops, gbs;    // the ceilings, measured just before
    struct hn_bench_training *training;
};

enum { FULL, HALF };         // X Y^T or X X^T
enum { INDEPENDENT, DEALT }; // candidates of a proximity graph
enum { NO_ROWS, ROWS, VIEWS, TRAINING };

struct measured;
struct kernel {
    const char *group, *name;
    int needs;       // embeddings: of the above
    double argument; // of the above; alpha of a walk, temperature of a loss, a recipe of training
    enum hn_code (*run)(struct hn_context *ctx, struct bench *b, const struct kernel *k,
                        struct measured *out);
};

// Seconds of one repetition, and the seconds that the ceiling would take (NaN: no ceiling applies).
struct measured {
    double seconds, ideal;
};

// Rows in random directions: each from its own stream, so that any number of threads gives the
// same.
static void fill_rows(int threads, float *x, int64_t n, int64_t d, int64_t which) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        struct hn_stream stream;
        hn_stream_open(&stream, 1, "bench.rows", which, 0, i);
        gsl_rng rng = hn_stream_gsl(&stream);
        for (int64_t k = 0; k < d; k++)
            x[i * d + k] = (float)gsl_ran_gaussian_ziggurat(&rng, 1.0);
    }
}

static enum hn_code make_rows(struct hn_context *ctx, const struct shape *shape, int64_t which,
                              struct hn_matrix *out) {
    int64_t n = shape->n, d = shape->dim, size;
    float *x = hn_mul(n, d, &size) ? hn_alloc(ctx, size, sizeof *x) : NULL;
    if (!x)
        return hn_fail(ctx, HN_MEMORY, "no memory for %" PRId64 " x %" PRId64 " embeddings", n, d);
    *out = (struct hn_matrix){x, n, d, d};
    fill_rows(ctx->threads, x, n, d, which);
    return hn_normalize_rows(ctx, x, n, d, "bench");
}

static void free_items(struct hn_context *ctx, struct bench *b) {
    hn_free(ctx, (float *)b->items.x.data);
    hn_free(ctx, (float *)b->items.x1.data);
    hn_free(ctx, (float *)b->items.x2.data);
    hn_free(ctx, (int32_t *)b->items.labels);
    b->items = (struct hn_items){0};
}

// Makes b->items of b->shape, unless they are there. views: with two views besides x.
static enum hn_code make_items(struct hn_context *ctx, struct bench *b, bool views) {
    const struct shape *shape = &b->shape;
    struct hn_items *items = &b->items;
    if (items->n != shape->n || items->d != shape->dim)
        free_items(ctx, b);
    items->n = shape->n;
    items->d = shape->dim;
    if (!items->x.data && make_rows(ctx, shape, 0, &items->x))
        return ctx->code;
    if (!items->labels && !(items->labels = hn_zalloc(ctx, shape->n, sizeof(int32_t))))
        return ctx->code;
    if (views && !items->x1.data &&
        (make_rows(ctx, shape, 1, &items->x1) || make_rows(ctx, shape, 2, &items->x2)))
        return ctx->code;
    return HN_OK;
}

static double seconds_since(int64_t begun) { return (double)(hn_wall_ns() - begun) * 1e-9; }

static double flop_seconds(const struct bench *b, int64_t dots) {
    return 2.0 * (double)b->shape.dim * (double)dots / (b->gflops * 1e9);
}

// Given as the time of one N x N product at the rate of one product per thread.
static enum hn_code run_sgemm(struct hn_context *ctx, struct bench *b, const struct kernel *k,
                              struct measured *out) {
    (void)k;
    double gflops;
    if (hn_host_sgemm(ctx, b->shape.dim, 1, &gflops))
        return ctx->code;
    out->ideal = flop_seconds(b, b->shape.n * b->shape.n);
    out->seconds = out->ideal * b->gflops / gflops;
    return HN_OK;
}

static enum hn_code run_knn(struct hn_context *ctx, struct bench *b, const struct kernel *k,
                            struct measured *out) {
    (void)k;
    struct hn_topk topk = {.k = b->shape.K, .skip_self = true, .ids_only = true};
    struct hn_sweep sweep = {.x = b->items.x, .y = b->items.x};
    hn_sweep_add(&sweep, &hn_topk_sink, &topk, HN_SIDE_ROWS);
    int64_t begun = hn_wall_ns();
    enum hn_code code = hn_sweep_run(ctx, &sweep);
    out->seconds = seconds_since(begun);
    out->ideal = flop_seconds(b, sweep.n_dot);
    hn_topk_free(ctx, &topk);
    return code;
}

static enum hn_code run_loss(struct hn_context *ctx, struct bench *b, const struct kernel *k,
                             struct measured *out) {
    struct hn_global global;
    int64_t dots;
    int64_t begun = hn_wall_ns();
    if (hn_global_compute(ctx, &b->items, k->argument, &global, &dots))
        return ctx->code;
    out->seconds = seconds_since(begun);
    out->ideal = flop_seconds(b, dots);
    hn_global_free(ctx, &global);
    return HN_OK;
}

// Seconds per batch, of a whole epoch; the epoch before warms up.
static enum hn_code draw_epochs(struct hn_context *ctx, struct bench *b, struct hn_sampler *sampler,
                                double *seconds) {
    int64_t room = hn_batches_per_epoch(b->shape.n, sampler->batch_size), count;
    struct hn_batches batches = {.batch_size = sampler->batch_size};
    batches.ids = hn_alloc(ctx, room * batches.batch_size, sizeof *batches.ids);
    batches.size = batches.ids ? hn_alloc(ctx, room, sizeof *batches.size) : NULL;
    enum hn_code code = batches.size ? HN_OK : HN_MEMORY;
    for (int epoch = 0; epoch < 2 && code == HN_OK; epoch++) {
        code = hn_sampler_epoch(ctx, sampler, &b->items, epoch, &count);
        if (code != HN_OK)
            break;
        batches.count = (int32_t)hn_min(count, room);
        int64_t begun = hn_wall_ns();
        code = hn_sampler_next(ctx, sampler, &batches);
        *seconds = seconds_since(begun) / batches.count;
    }
    hn_free(ctx, batches.ids);
    hn_free(ctx, batches.size);
    return code;
}

// Builds a sampler, written as in a job file, and draws its batches if that is what is timed.
// dots: the inner products of the build.
static enum hn_code run_sampler(struct hn_context *ctx, struct bench *b, const char *text,
                                bool draws, double *seconds, int64_t *dots) {
    struct hn_job_sampler chosen = {0};
    struct hn_sampler sampler = {0};
    struct hn_sampler_plan plan = {.n = b->shape.n,
                                   .batch_size = (int32_t)b->shape.batch,
                                   .has_positive = true,
                                   .has_labels = true};
    int32_t batch_size = (int32_t)hn_min(b->shape.batch, b->shape.n);
    enum hn_code code = hn_job_parse_sampler(ctx, text, &chosen);
    if (code == HN_OK && chosen.type->check)
        code = chosen.type->check(ctx, chosen.params, &plan);
    if (code == HN_OK)
        code = hn_sampler_open(ctx, chosen.type, chosen.params, plan.n, batch_size, 1, &sampler);
    int64_t begun = hn_wall_ns();
    if (code == HN_OK)
        code = hn_sampler_build(ctx, &sampler, &b->items, 0);
    *seconds = seconds_since(begun);
    *dots = sampler.build.dot;
    if (code == HN_OK && draws)
        code = draw_epochs(ctx, b, &sampler, seconds);
    hn_sampler_close(ctx, &sampler);
    hn_job_sampler_free(ctx, &chosen);
    return code;
}

// Candidates dealt in tiles are matrix products; independent ones lie anywhere, and the ceiling is
// reading each of their rows from memory once.
static enum hn_code run_graph(struct hn_context *ctx, struct bench *b, const struct kernel *k,
                              struct measured *out) {
    char text[256];
    int64_t dots;
    bool dealt = k->argument == DEALT;
    snprintf(text, sizeof text, "{batchsampler: {M: %" PRId64 ", K: %" PRId64 ", candidates: %s}}",
             b->shape.M, b->shape.K, dealt ? "dealt" : "independent");
    if (run_sampler(ctx, b, text, false, &out->seconds, &dots))
        return ctx->code;
    out->ideal =
        dealt ? flop_seconds(b, dots) : (double)dots * (double)b->shape.dim * 4.0 / (b->gbs * 1e9);
    return HN_OK;
}

// Walks, on a graph that is made in the quicker way: no ceiling.
static enum hn_code run_walk(struct hn_context *ctx, struct bench *b, const struct kernel *k,
                             struct measured *out) {
    char text[256];
    int64_t dots;
    out->ideal = NAN;
    snprintf(text, sizeof text,
             "{batchsampler: {M: %" PRId64 ", K: %" PRId64 ", candidates: dealt, alpha: %g}}",
             b->shape.M, b->shape.K, k->argument);
    return run_sampler(ctx, b, text, true, &out->seconds, &dots);
}

static enum hn_code run_gcbs(struct hn_context *ctx, struct bench *b, const struct kernel *k,
                             struct measured *out) {
    (void)k;
    char text[64];
    int64_t dots;
    snprintf(text, sizeof text, "{gcbs: {keep: %" PRId64 "}}",
             hn_min(b->shape.keep, b->shape.n - 1));
    out->ideal = flop_seconds(b, b->shape.n * b->shape.n);
    return run_sampler(ctx, b, text, false, &out->seconds, &dots);
}

// Everything that sinks collect but histograms, or nothing.
static enum hn_code sweep_seconds(struct hn_context *ctx, const struct bench *b, bool half,
                                  bool sinks, double *seconds) {
    const double temperature = 0.5;
    // The upper 0.1 % of products of random rows, which are nearly normal with variance 1 / d.
    float threshold = (float)(3.09 / sqrt((double)b->shape.dim));
    struct hn_topk topk = {.k = b->shape.K, .skip_self = true, .ids_only = true};
    struct hn_lse lse = {.temperature = &temperature, .n = 1, .skip_self = true};
    struct hn_extrema extrema = {.skip_self = true};
    struct hn_close_pairs pairs = {
        .low = threshold, .high = threshold, .room = b->shape.n * b->shape.n / 400 + 64};
    struct hn_sweep sweep = {.x = b->items.x1, .y = half ? b->items.x1 : b->items.x2};
    if (sinks) {
        hn_sweep_add(&sweep, &hn_topk_sink, &topk, HN_SIDE_ROWS);
        hn_sweep_add(&sweep, &hn_lse_sink, &lse, HN_SIDE_ROWS);
        hn_sweep_add(&sweep, &hn_extrema_sink, &extrema, HN_SIDE_ROWS);
        hn_sweep_add(&sweep, &hn_close_pairs_sink, &pairs, HN_SIDE_ROWS);
    }
    int64_t begun = hn_wall_ns();
    enum hn_code code = hn_sweep_run(ctx, &sweep);
    *seconds = seconds_since(begun);
    hn_topk_free(ctx, &topk);
    hn_lse_free(ctx, &lse);
    hn_extrema_free(ctx, &extrema);
    hn_close_pairs_free(ctx, &pairs);
    return code;
}

// The sweep with no sink at all: what is left to win or lose over the library's product.
static enum hn_code run_product(struct hn_context *ctx, struct bench *b, const struct kernel *k,
                                struct measured *out) {
    int64_t n = b->shape.n;
    out->ideal = flop_seconds(b, k->argument == HALF ? n * (n + 1) / 2 : n * n);
    return sweep_seconds(ctx, b, k->argument == HALF, false, &out->seconds);
}

// All sinks together; the ceiling is the same sweep without any, run just before.
static enum hn_code run_sinks(struct hn_context *ctx, struct bench *b, const struct kernel *k,
                              struct measured *out) {
    bool half = k->argument == HALF;
    enum hn_code code = sweep_seconds(ctx, b, half, false, &out->ideal);
    return code ? code : sweep_seconds(ctx, b, half, true, &out->seconds);
}

// A step of training, or an epoch; the ceiling is that of its products.
static enum hn_code run_training(struct hn_context *ctx, struct bench *b, const struct kernel *k,
                                 struct measured *out) {
    struct hn_bench_step step;
    if (hn_bench_training(ctx, (enum hn_bench_recipe)k->argument, &b->training, &step))
        return ctx->code;
    b->shape = (struct shape){step.n, step.dim, 0, 0, step.batch_size, 0};
    out->seconds = step.seconds;
    out->ideal = step.flops / (b->gflops * 1e9);
    return HN_OK;
}

static const struct kernel kernels[] = {
    {"sgemm", "sgemm", NO_ROWS, 0, run_sgemm},
    {"product", "product", VIEWS, FULL, run_product},
    {"product", "product-half", VIEWS, HALF, run_product},
    {"knn", "knn", ROWS, 0, run_knn},
    {"proximity", "proximity-independent", ROWS, INDEPENDENT, run_graph},
    {"proximity", "proximity-dealt", ROWS, DEALT, run_graph},
    {"walk", "walk-0.1", ROWS, 0.1, run_walk},
    {"walk", "walk-0.7", ROWS, 0.7, run_walk},
    {"gcbs", "gcbs", VIEWS, 0, run_gcbs},
    {"loss", "loss", VIEWS, 0.5, run_loss},
    {"sinks", "sinks", VIEWS, FULL, run_sinks},
    {"sinks", "sinks-half", VIEWS, HALF, run_sinks},
    {"train", "train-views", TRAINING, HN_BENCH_VIEWS, run_training},
    {"train", "train-cnn", TRAINING, HN_BENCH_CNN, run_training},
    {"train", "train-node", TRAINING, HN_BENCH_NODE, run_training},
    {"train", "train-graph", TRAINING, HN_BENCH_GRAPH, run_training},
};
enum { KERNELS = sizeof kernels / sizeof kernels[0] };
enum { TRAINING_DIM = 512 }; // inner dimension of most products of training, for its ceiling

// What `table` runs: the rows of docs/notes/performance.md, sizes as given there.
static const struct goal {
    const char *name;
    struct shape shape;
} goals[] = {
    {"sgemm", {50000, 128, 0, 0, 0, 0}},
    {"sgemm", {25000, 768, 0, 0, 0, 0}},
    {"product", {50000, 128, 0, 0, 0, 0}},
    {"product-half", {50000, 128, 0, 0, 0, 0}},
    {"product", {25000, 768, 0, 0, 0, 0}},
    {"knn", {50000, 128, 0, 100, 0, 0}},
    {"proximity-independent", {50000, 128, 1000, 100, 256, 0}},
    {"proximity-dealt", {50000, 128, 1000, 100, 256, 0}},
    {"walk-0.1", {50000, 128, 1000, 100, 256, 0}},
    {"walk-0.7", {50000, 128, 1000, 100, 256, 0}},
    {"sinks", {50000, 128, 0, 100, 0, 0}},
    {"sinks-half", {50000, 128, 0, 100, 0, 0}},
    {"sinks", {25000, 768, 0, 100, 0, 0}},
    {"sinks-half", {25000, 768, 0, 100, 0, 0}},
    {"loss", {25000, 768, 0, 0, 256, 0}},
    {"gcbs", {25000, 768, 0, 0, 256, 512}},
    {"gcbs", {10000, 768, 0, 0, 256, 512}},
    {"gcbs", {50000, 768, 0, 0, 256, 512}},
    {"proximity-dealt", {1281167, 128, 1000, 500, 256, 0}},
};
enum { GOALS = sizeof goals / sizeof goals[0] };

// What `linear` runs: time per item is to stay what it is, however many there are.
static const struct goal series[] = {
    {"proximity-dealt", {50000, 128, 1000, 100, 256, 0}},
    {"proximity-dealt", {200000, 128, 1000, 100, 256, 0}},
    {"proximity-dealt", {1281167, 128, 1000, 100, 256, 0}},
};
enum { SERIES = sizeof series / sizeof series[0] };

static const struct hn_record_column bench_columns[] = {
    {"name", "kernel", .width = -22},
    {"n", "n", .width = 8},
    {"dim", "dim", .width = 5},
    {"ceiling.sgemm_gflops", "GFLOP/s", .width = 8},
    {"ceiling.read_gbs", "GB/s", .width = 6, .digits = 1},
    {"seconds.median", "median s", .width = 10, .digits = 6},
    {"seconds.min", "least s", .width = 10, .digits = 6},
    {"seconds.max", "most s", .width = 10, .digits = 6},
    {"share_of_limit", "of best", .width = 7, .digits = 1, .scale = 100, .unit = "%"},
    {"us_per_item", "us/item", .width = 8, .digits = 3},
    {.heading = NULL},
};

static json_t *row_json(struct hn_context *ctx, const struct kernel *k, const struct bench *b,
                        const double *all, const double *sorted, double median, double share) {
    json_t *list = json_array();
    for (int64_t r = 0; r < b->p->reps; r++)
        json_array_append_new(list, json_real(all[r]));
    return json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:i, s:{s:f, s:f, s:f, s:o}, s:{s:f, s:f}, s:o, s:f}",
        "name", k->name, "n", (json_int_t)b->shape.n, "dim", (json_int_t)b->shape.dim, "M",
        (json_int_t)b->shape.M, "K", (json_int_t)b->shape.K, "batch", (json_int_t)b->shape.batch,
        "keep", (json_int_t)b->shape.keep, "threads", ctx->threads, "seconds", "median", median,
        "min", sorted[0], "max", sorted[b->p->reps - 1], "all", list, "ceiling", "sgemm_gflops",
        b->gflops, "read_gbs", b->gbs, "share_of_limit", hn_json_real(share), "us_per_item",
        1e6 * median / (double)b->shape.n);
}

// Prints a row when it is measured, since the next may take minutes, or keeps it for the document.
static void put_row(json_t *row, json_t *rows) {
    if (rows) {
        json_array_append_new(rows, row);
        return;
    }
    hn_record_print(bench_columns, row, stdout);
    fflush(stdout);
    json_decref(row);
}

static enum hn_code run_kernel(struct hn_context *ctx, const struct kernel *k, struct bench *b,
                               json_t *rows) {
    int64_t reps = b->p->reps;
    if ((k->needs == ROWS || k->needs == VIEWS) && make_items(ctx, b, k->needs == VIEWS))
        return ctx->code;
    if (hn_host_sgemm(ctx, b->shape.dim, 3, &b->gflops) || hn_host_read(ctx, 3, &b->gbs))
        return ctx->code;
    double *all = hn_alloc(ctx, 3 * reps, sizeof *all);
    if (!all)
        return ctx->code;
    double *sorted = all + reps, *share = sorted + reps;
    struct measured m = {0};
    enum hn_code code = HN_OK;
    for (int64_t r = -b->p->warmup; r < reps && code == HN_OK; r++) {
        code = hn_check_stop(ctx);
        if (code == HN_OK)
            code = k->run(ctx, b, k, &m);
        if (r >= 0) {
            all[r] = m.seconds;
            share[r] = m.ideal / m.seconds;
        }
    }
    if (code == HN_OK) {
        memcpy(sorted, all, (size_t)reps * sizeof *all);
        double median = hn_median(sorted, reps);
        double reached = isnan(share[0]) ? NAN : hn_median(share, reps);
        put_row(row_json(ctx, k, b, all, sorted, median, reached), rows);
    }
    hn_free(ctx, all);
    return code;
}

// On one thread, whatever --threads says: goals for training are of one core.
static enum hn_code run_alone(struct hn_context *ctx, const struct kernel *k, struct bench *b,
                              json_t *rows) {
    struct shape shape = b->shape;
    int threads = ctx->threads;
    ctx->threads = 1;
    b->shape.dim = TRAINING_DIM;
    enum hn_code code = run_kernel(ctx, k, b, rows);
    ctx->threads = threads;
    b->shape = shape;
    return code;
}

static bool wanted(const struct kernel *k, int n_args, const char **args) {
    for (int i = 0; i < n_args; i++)
        if (strcmp(args[i], k->group) == 0 || strcmp(args[i], k->name) == 0 ||
            (strcmp(args[i], "all") == 0 && k->needs != TRAINING))
            return true;
    return n_args == 0 && k->needs != TRAINING;
}

static enum hn_code check_names(struct hn_context *ctx, int n_args, const char **args) {
    const char *names[2 * KERNELS + 3] = {"all", "table", "linear"};
    enum { NAMES = 2 * KERNELS + 3 };
    for (int i = 0; i < KERNELS; i++) {
        names[2 * i + 3] = kernels[i].group;
        names[2 * i + 4] = kernels[i].name;
    }
    for (int i = 0; i < n_args; i++) {
        if (hn_name_find(ctx, "kernel", args[i], names, NAMES, "") < 0)
            return ctx->code;
        if (n_args > 1 && (strcmp(args[i], "table") == 0 || strcmp(args[i], "linear") == 0))
            return hn_fail(ctx, HN_USAGE,
                           "'%s' has rows and sizes of its own: give it alone, without %s", args[i],
                           args[i > 0 ? 0 : 1]);
    }
    return HN_OK;
}

static void print_head(const struct hn_context *ctx) {
    printf("%s kernels, %s scans, %d threads; best = the time at the ceiling, measured just "
           "before\n",
           hn_blas_core(), hn_simd_best()->name, ctx->threads);
    hn_record_print(bench_columns, NULL, stdout);
}

static enum hn_code run_goals(struct hn_context *ctx, struct bench *b, const struct goal *goal,
                              int n, json_t *rows) {
    for (int g = 0; g < n; g++)
        for (int k = 0; k < KERNELS; k++) {
            b->shape = goal[g].shape;
            if (strcmp(kernels[k].name, goal[g].name) == 0 && run_kernel(ctx, &kernels[k], b, rows))
                return ctx->code;
        }
    return HN_OK;
}

static enum hn_code run_kernels(struct hn_context *ctx, struct bench *b, int n_args,
                                const char **args, json_t *rows) {
    if (!rows)
        print_head(ctx);
    if (n_args == 1 && strcmp(args[0], "table") == 0)
        return run_goals(ctx, b, goals, GOALS, rows);
    if (n_args == 1 && strcmp(args[0], "linear") == 0)
        return run_goals(ctx, b, series, SERIES, rows);
    const struct bench_params *p = b->p;
    b->shape = (struct shape){p->n, p->dim, p->M, p->K, p->batch, p->keep};
    for (int i = 0; i < KERNELS; i++) {
        bool training = kernels[i].needs == TRAINING;
        if (wanted(&kernels[i], n_args, args) && (training ? run_alone(ctx, &kernels[i], b, rows)
                                                           : run_kernel(ctx, &kernels[i], b, rows)))
            return ctx->code;
    }
    return HN_OK;
}

static enum hn_code run(struct hn_context *ctx, const struct hn_common *common, void *params,
                        int n_args, const char **args) {
    struct bench b = {.p = params};
    if (check_names(ctx, n_args, args))
        return ctx->code;
    if (b.p->threads != INT64_MIN)
        ctx->threads = (int)b.p->threads;
    json_t *rows = common->json ? json_array() : NULL;
    enum hn_code code = run_kernels(ctx, &b, n_args, args, rows);
    if (code == HN_OK && rows)
        code = hn_json_print(ctx, json_pack("{s:O}", "kernels", rows), stdout);
    json_decref(rows);
    free_items(ctx, &b);
    hn_bench_training_free(ctx, b.training);
    return code;
}

const struct hn_command hn_cmd_bench = {
    .name = "bench",
    .usage = "hardneg bench "
             "[sgemm|product|knn|proximity|walk|gcbs|loss|sinks|train|all|table|linear]... "
             "[options]",
    .summary = "how fast the heavy parts are here, as shares of what the machine can do",
    .details =
        "Times each kernel on random unit rows with warm-up and repetition. Beside it stands what "
        "the machine could do, measured just before: matrix products at this dimension, reading "
        "memory, and the share of it that was reached. `sinks` is everything a sweep collects "
        "besides histograms, as a share of the same sweep without (`sinks-half`: X X^T). A walk is "
        "given per batch and has no ceiling. `table` runs the rows of docs/notes/performance.md at "
        "their own sizes, up to 1,281,167 items: some minutes and 5 GiB. `linear` runs the "
        "proximity graph at three sizes: its time per item is to be the same. `train` (not part of "
        "`all`) is a step of training on one thread, on made-up data of the recipes' shapes "
        "(`train-node`: an epoch), beside what its matrix products would take.",
    .examples = "hardneg bench knn loss --n 20000 --dim 768 --json",
    .options = bench_options,
    .params_size = sizeof(struct bench_params),
    .json = true,
    .max_args = 8,
    .run = run,
};
