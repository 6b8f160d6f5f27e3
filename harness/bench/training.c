// SPDX-License-Identifier: GPL-3.0-or-later
// Steps of training for `hardneg bench`: the tasks themselves, on files of made-up data that have
// the shapes of the recipes: CIFAR-10's images (noise, 600 of them: more than a batch), Cora's
// nodes, features and links, 1,000 graphs of the mean size of IMDB-BINARY's, 7,000 sentences whose
// words are about as frequent as those of STS and SICK, 6,000 functions and their docstrings.
#include "core/files.h"
#include "core/random.h"
#include "harness/bench/bench.h"
#include "harness/job/fields.h"
#include "harness/job/grid.h"
#include "harness/job/list.h"
#include "training/net/optimiser.h"
#include "training/tasks/task.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { IMAGE_FILES = 5, IMAGES = 120, TEST_IMAGES = 20, IMAGE_BYTES = 3072 };
enum { NODES = 2708, FEATURES = 1433, WORDS = 18, LINKS = 5278, NODE_CLASSES = 7 };
enum { GRAPHS = 1000, GRAPH_NODES = 20, GRAPH_LINKS = 97 };
enum { PAIRS = 3500, TEST_PAIRS = 50, SENTENCE_WORDS = 11, VOCABULARY = 17000, LETTERS = 5 };
enum { FUNCTIONS = 6000, TEST_FUNCTIONS = 50, DOCSTRING_WORDS = 9, CODE_WORDS = 120 };

struct hn_bench_training {
    enum hn_bench_recipe recipe;
    bool open; // the task
    char *folder;
    struct hn_task task;
    struct hn_adam adam;
    hn_real *m, *v;
    int32_t *id;
    int64_t step;
    int64_t touched; // rows of a table that the last step updated
};

static void write_images(FILE *file, int64_t number) {
    int64_t images = number < IMAGE_FILES ? IMAGES : TEST_IMAGES; // the last file has test images
    struct hn_stream s;
    uint8_t record[1 + IMAGE_BYTES];
    hn_stream_open(&s, 1, "bench.images", number, 0, 0);
    for (int64_t i = 0; i < images; i++) {
        record[0] = (uint8_t)(i % 10);
        for (int k = 1; k <= IMAGE_BYTES; k++)
            record[k] = (uint8_t)hn_stream_below(&s, 256);
        fwrite(record, 1, sizeof record, file);
    }
}

static int by_number(const void *a, const void *b) {
    return *(const int32_t *)a - *(const int32_t *)b;
}

static void write_features(FILE *file, int64_t number) {
    struct hn_stream s;
    hn_stream_open(&s, 1, "bench.features", number, 0, 0);
    fprintf(file, "# features=%d\n", FEATURES);
    for (int i = 0; i < NODES; i++) {
        int32_t word[WORDS];
        for (int k = 0; k < WORDS; k++)
            word[k] = (int32_t)hn_stream_below(&s, FEATURES);
        qsort(word, WORDS, sizeof *word, by_number);
        fprintf(file, "%d %d", i, i % NODE_CLASSES);
        for (int k = 0; k < WORDS; k++)
            if (k == 0 || word[k] != word[k - 1])
                fprintf(file, " %d", word[k]);
        fprintf(file, "\n");
    }
}

static void write_edges(FILE *file, int64_t number) {
    struct hn_stream s;
    hn_stream_open(&s, 1, "bench.edges", number, 0, 0);
    for (int i = 0; i < LINKS; i++) {
        uint32_t a = hn_stream_below(&s, NODES);
        fprintf(file, "%" PRIu32 " %" PRIu32 "\n", a,
                (a + 1 + hn_stream_below(&s, NODES - 1)) % NODES);
    }
}

static void write_adjacent(FILE *file, int64_t number) {
    struct hn_stream s;
    hn_stream_open(&s, 1, "bench.graphs", number, 0, 0);
    for (uint32_t g = 0; g < GRAPHS; g++)
        for (int i = 0; i < GRAPH_LINKS; i++) {
            uint32_t a = hn_stream_below(&s, GRAPH_NODES);
            uint32_t b = (a + 1 + hn_stream_below(&s, GRAPH_NODES - 1)) % GRAPH_NODES;
            a += g * GRAPH_NODES + 1;
            b += g * GRAPH_NODES + 1;
            fprintf(file, "%" PRIu32 ", %" PRIu32 "\n%" PRIu32 ", %" PRIu32 "\n", a, b, b, a);
        }
}

static void write_indicator(FILE *file, int64_t number) {
    (void)number;
    for (int i = 0; i < GRAPHS * GRAPH_NODES; i++)
        fprintf(file, "%d\n", i / GRAPH_NODES + 1);
}

static void write_graph_labels(FILE *file, int64_t number) {
    (void)number;
    for (int g = 0; g < GRAPHS; g++)
        fprintf(file, "%d\n", g % 2);
}

// The word of rank r comes with a probability of about 1 / r (Zipf's law).
static void write_word(FILE *file, struct hn_stream *s) {
    uint32_t rank = (uint32_t)pow(VOCABULARY, hn_stream_uniform(s)), bits = rank * 2654435761U;
    for (int k = 0; k < LETTERS; k++, bits /= 26)
        fputc('a' + (int)(bits % 26), file);
}

static void write_pairs(FILE *file, int64_t number) {
    int64_t pairs = number == 0 ? PAIRS : TEST_PAIRS;
    struct hn_stream s;
    hn_stream_open(&s, 1, "bench.sentences", number, 0, 0);
    fprintf(file, "set\tsubset\tscore\tsentence1\tsentence2\n");
    for (int64_t i = 0; i < pairs; i++) {
        fprintf(file, "made-up\tall\t%" PRId64, i % 6);
        for (int word = 0; word < 2 * SENTENCE_WORDS; word++) {
            fputc(word % SENTENCE_WORDS == 0 ? '\t' : ' ', file);
            write_word(file, &s);
        }
        fputc('\n', file);
    }
}

static void write_functions(FILE *file, int64_t number) {
    struct hn_stream s;
    hn_stream_open(&s, 1, "bench.functions", number, 0, 0);
    for (int64_t i = 0; i < (number == 0 ? FUNCTIONS : TEST_FUNCTIONS); i++) {
        fprintf(file, "{\"docstring\": \"");
        for (int word = 0; word < DOCSTRING_WORDS + CODE_WORDS; word++) {
            if (word == DOCSTRING_WORDS)
                fprintf(file, "\", \"code\": \"");
            write_word(file, &s);
            fputc(' ', file);
        }
        fprintf(file, "\"}\n");
    }
}

struct data_file {
    const char *name;
    void (*write)(FILE *file, int64_t number);
};
static const struct data_file images[] = {{"data_batch_1.bin", write_images},
                                          {"data_batch_2.bin", write_images},
                                          {"data_batch_3.bin", write_images},
                                          {"data_batch_4.bin", write_images},
                                          {"data_batch_5.bin", write_images},
                                          {"test_batch.bin", write_images},
                                          {NULL, NULL}};
static const struct data_file documents[] = {
    {"made-up.features", write_features}, {"made-up.edges", write_edges}, {NULL, NULL}};
static const struct data_file graphs[] = {{"made-up_A.txt", write_adjacent},
                                          {"made-up_graph_indicator.txt", write_indicator},
                                          {"made-up_graph_labels.txt", write_graph_labels},
                                          {NULL, NULL}};
static const struct data_file sentences[] = {
    {"sick-train.tsv", write_pairs},  {"sick-test.tsv", write_pairs},
    {"sts12-train.tsv", write_pairs}, {"sts12-test.tsv", write_pairs},
    {"sts13-test.tsv", write_pairs},  {"sts14-test.tsv", write_pairs},
    {"sts16-test.tsv", write_pairs},  {NULL, NULL}};
static const struct data_file functions[] = {
    {"train.jsonl", write_functions}, {"test.jsonl", write_functions}, {NULL, NULL}};

// As the jobs train-cifar10, train-cnn, train-cora, train-imdb-binary, train-text-graph and
// train-pairs have them.
static const struct recipe {
    const char *task; // as in a job, without data
    const struct data_file *file;
    int64_t batch_size;
    enum hn_objective loss;
    double temperature, rate, decay;
    bool outside;
    int steps; // in a repetition
} recipes[] = {
    [HN_BENCH_VIEWS] = {"{views-mlp: {n: 600, views: 2, dim: 512}}", images, 256,
                        HN_OBJECTIVE_NTXENT, 0.2, 0.001, 1e-6, false, 20},
    [HN_BENCH_CNN] = {"{cnn: {n: 600}}", images, 256, HN_OBJECTIVE_NTXENT, 0.2, 0.003, 0, false, 1},
    [HN_BENCH_NODE] = {"node", documents, 0, HN_OBJECTIVE_OTHER_VIEW, 0.5, 0.001, 0.001, false, 1},
    [HN_BENCH_GRAPH] = {"graph", graphs, 256, HN_OBJECTIVE_OTHER_VIEW, 0.2, 0.01, 0, true, 20},
    [HN_BENCH_TEXT] = {"text", sentences, 64, HN_OBJECTIVE_OTHER_VIEW, 0.1, 0.001, 0, false, 100},
    [HN_BENCH_PAIRS] = {"pairs", functions, 64, HN_OBJECTIVE_BOTH_WAYS, 0.05, 0.003, 0, false, 20},
};

static enum hn_code write_file(struct hn_context *ctx, const char *folder,
                               const struct data_file *what, int64_t number) {
    struct hn_new_file file;
    char *path = hn_format(ctx, "%s/%s", folder, what->name);
    if (!path || hn_file_begin(ctx, path, &file))
        return ctx->code;
    what->write(file.out, number);
    return hn_file_end(ctx, &file, HN_OK);
}

static enum hn_code write_data(struct hn_context *ctx, struct hn_bench_training *b) {
    int64_t number = 0;
    b->folder = hn_scratch_make(ctx);
    if (!b->folder)
        return ctx->code;
    for (const struct data_file *f = recipes[b->recipe].file; f->name; f++)
        if (write_file(ctx, b->folder, f, number++))
            return ctx->code;
    return HN_OK;
}

static enum hn_code open_task(struct hn_context *ctx, struct hn_bench_training *b) {
    const struct recipe *r = &recipes[b->recipe];
    struct hn_point *task;
    struct hn_task_setting setting = {
        .data = b->folder,
        .cache = b->folder,
        .seed = 1,
        .batch_size = r->batch_size,
        .loss = {.objective = r->loss, .temperature = r->temperature, .outside = r->outside}};
    if (hn_grid_read_one(ctx, &hn_task_registry, "", r->task, &task))
        return ctx->code;
    const struct hn_task_type *type = task->type;
    if (hn_options_set(ctx, type->options, task->params, "data", b->folder) ||
        hn_task_open(ctx, type, task->params, &setting, &b->task))
        return ctx->code;
    b->open = true;
    b->adam = (struct hn_adam){.rate = r->rate,
                               .beta1 = 0.9,
                               .beta2 = 0.999,
                               .epsilon = 1e-8,
                               .decay = r->decay,
                               .steps = 1000000};
    bool good = HN_ZALLOC(ctx, b->m, b->task.weights.n) &&
                HN_ZALLOC(ctx, b->v, b->task.weights.n) && HN_ALLOC(ctx, b->id, b->task.n);
    return good ? HN_OK : ctx->code;
}

// The next batch of the permutation, which begins again at its end.
static enum hn_code one_step(struct hn_context *ctx, struct hn_bench_training *b) {
    struct hn_task *task = &b->task;
    struct hn_weights *w = &task->weights;
    int64_t batches = task->n / task->batch_size;
    struct hn_task_batch batch = {.id = b->id + b->step % batches * task->batch_size,
                                  .n = task->batch_size,
                                  .step = b->step,
                                  .loss = task->setting.loss};
    double loss;
    if (task->type->step(ctx, task, &batch, &loss, NULL))
        return ctx->code;
    b->touched = w->n_touched;
    hn_adam_update(&b->adam, ctx->threads, b->step++, w, b->m, b->v);
    return HN_OK;
}

static enum hn_code open_bench(struct hn_context *ctx, enum hn_bench_recipe recipe,
                               struct hn_bench_training **kept) {
    hn_bench_training_free(ctx, *kept);
    struct hn_bench_training *b = *kept = hn_zalloc(ctx, 1, sizeof **kept);
    if (!b)
        return ctx->code;
    b->recipe = recipe;
    void *outer = hn_own(ctx, b);
    bool failed = write_data(ctx, b) || open_task(ctx, b);
    hn_own(ctx, outer);
    if (failed)
        return ctx->code;
    hn_permute(1, "bench.batch", b->step, 0, 0, b->id, b->task.n);
    return one_step(ctx, b);
}

// Seconds of a step at the ceilings: its matrix products, or, where it updates rows of a table,
// reading them, their gradients and both moments, and writing all but the gradients.
static double ideal_of(const struct hn_bench *bench, const struct hn_bench_training *b,
                       double flops) {
    const struct hn_weights *w = &b->task.weights;
    double bytes = 7.0 * (double)(b->touched * w->width) * sizeof *w->value;
    return fmax(flops / bench->gflops, bytes / bench->gbs) * 1e-9;
}

enum hn_code hn_bench_training(struct hn_context *ctx, struct hn_bench *bench,
                               const struct hn_bench_kernel *k, struct hn_bench_time *out) {
    enum hn_bench_recipe recipe = (enum hn_bench_recipe)k->argument;
    struct hn_bench_training **kept = &bench->training;
    if ((!*kept || (*kept)->recipe != recipe) && open_bench(ctx, recipe, kept))
        return ctx->code;
    struct hn_bench_training *b = *kept;
    const int steps = recipes[recipe].steps;
    int64_t flops = b->task.flops;
    hn_permute(1, "bench.batch", b->step, 0, 0, b->id, b->task.n);
    int64_t begun = hn_wall_ns();
    for (int i = 0; i < steps; i++)
        if (one_step(ctx, b))
            return ctx->code;
    out->seconds = (double)(hn_wall_ns() - begun) * 1e-9 / steps;
    out->ideal = ideal_of(bench, b, (double)(b->task.flops - flops) / steps);
    bench->shape =
        (struct hn_bench_shape){.n = b->task.n, .dim = b->task.d, .batch = b->task.batch_size};
    return HN_OK;
}

void hn_bench_training_free(struct hn_context *ctx, struct hn_bench_training *b) {
    if (!b)
        return;
    if (b->open)
        hn_task_close(ctx, &b->task);
    hn_scratch_remove(ctx, b->folder);
    hn_free(ctx, b);
}
