// SPDX-License-Identifier: GPL-3.0-or-later
// LIBSVM (Chang and Lin 2011) on a precomputed kernel. svm_train() without probabilities draws no
// random numbers and keeps no state, so that several may run at once; what it prints is dropped.
#include "training/tasks/probe.h"
#include "core/random.h"
#include "training/tasks/same_class.h"

#include <libsvm/svm.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>

enum { CACHE_MIB = 100, JOBS_MAX = 1024 };
// With LIBSVM's default of 1e-3, rounding of the kernel decides items near the border.
static const double stop_at = 1e-5;

static void drop(const char *text) { (void)text; }
static void silence(void) { svm_set_print_string_function(drop); }
static pthread_once_t silenced = PTHREAD_ONCE_INIT;

enum hn_code hn_folds_draw(struct hn_context *ctx, const int32_t *label, int64_t n, int folds,
                           uint64_t seed, int32_t *fold) {
    HN_SCOPE(ctx);
    int32_t *order = hn_alloc(ctx, n, sizeof *order), classes = 0;
    if (!order)
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        classes = label[i] >= classes ? label[i] + 1 : classes;
    hn_permute(seed, "svm.folds", 0, 0, 0, order, n);
    int64_t next = 0; // continued from class to class: folds differ by at most one
    for (int32_t c = 0; c < classes; c++)
        for (int64_t i = 0; i < n; i++)
            if (label[order[i]] == c)
                fold[order[i]] = (int32_t)(next++ % folds);
    return HN_OK;
}

struct work {
    struct hn_svm_probe *probe;
    int64_t n;
    double *z;                     // [n x d] standardised
    double *square;                // [n] squared lengths of its rows
    struct svm_node *node;         // [n x (n + 1)] serial number, then a row of the kernel
    struct hn_same_class by_class; // LIBSVM breaks ties of its votes by the order in which it first
                                   // meets the classes
    int32_t *train, *test;         // ids of the parts of the outer fold, likewise
    int64_t n_train, n_test;
    int32_t *inner;        // [n] inner fold of a training item, by its position in train
    int32_t *part_label;   // [n] labels of the training part
    struct svm_node **row; // [jobs x n] of the items that a job fits
    double *y;             // [jobs x n]
    int64_t jobs;
    _Atomic int64_t done; // fits, of all folds
};

static enum hn_code work_open(struct hn_context *ctx, struct work *w) {
    int64_t n = w->n, size;
    w->jobs = (int64_t)w->probe->n_c * w->probe->inner;
    if (!hn_mul(n, w->probe->x.cols, &size))
        return hn_fail(ctx, HN_MEMORY, "a size overflows");
    bool good = HN_ALLOC(ctx, w->z, size) && HN_ALLOC(ctx, w->square, n) &&
                HN_ALLOC(ctx, w->node, n * (n + 1)) && HN_ALLOC(ctx, w->train, n) &&
                HN_ALLOC(ctx, w->test, n) && HN_ALLOC(ctx, w->inner, n) &&
                HN_ALLOC(ctx, w->part_label, n) && HN_ALLOC(ctx, w->row, w->jobs * n) &&
                HN_ALLOC(ctx, w->y, w->jobs * n);
    return good ? hn_same_class_open(ctx, w->probe->label, n, &w->by_class) : ctx->code;
}

// Column k, less its mean over its deviation among the training items.
static void standardise(struct work *w, int64_t k) {
    int64_t d = w->probe->x.cols;
    double sum = 0, square = 0;
    for (int64_t i = 0; i < w->n_train; i++)
        sum += (double)hn_row(&w->probe->x, w->train[i])[k];
    double mean = sum / (double)w->n_train;
    for (int64_t i = 0; i < w->n_train; i++) {
        double v = (double)hn_row(&w->probe->x, w->train[i])[k] - mean;
        square += v * v;
    }
    double deviation = sqrt(square / (double)w->n_train);
    // A constant column varies by rounding alone.
    double scale = deviation > 1e-12 * fabs(mean) ? 1 / deviation : 0;
    for (int64_t i = 0; i < w->n; i++)
        w->z[i * d + k] = ((double)hn_row(&w->probe->x, i)[k] - mean) * scale;
}

static double inner(const double *a, const double *b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void take_kernel(struct work *w) {
    int64_t n = w->n;
    for (int64_t i = 0; i < n; i++) {
        struct svm_node *own = w->node + i * (n + 1);
        own[0] = (struct svm_node){0, (double)(i + 1)};
        for (int64_t j = 0; j < n; j++)
            own[j + 1] = (struct svm_node){(int)(j + 1), w->probe->kernel[i * n + j]};
    }
}

static void fill_kernel(struct hn_context *ctx, struct work *w) {
    int64_t n = w->n, d = w->probe->x.cols;
    double gamma = w->probe->gamma > 0 ? w->probe->gamma : 1.0 / (double)d;
    for (int64_t k = 0; k < d; k++)
        standardise(w, k);
    for (int64_t i = 0; i < n; i++)
        w->square[i] = inner(w->z + i * d, w->z + i * d, d);
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 16)
    for (int64_t i = 0; i < n; i++) {
        struct svm_node *own = w->node + i * (n + 1);
        own[0] = (struct svm_node){0, (double)(i + 1)};
        for (int64_t j = 0; j < n; j++) {
            double product = inner(w->z + i * d, w->z + j * d, d);
            double distance = w->square[i] + w->square[j] - 2 * product;
            own[j + 1] = (struct svm_node){(int)(j + 1), exp(-gamma * fmax(0, distance))};
        }
    }
}

// Fits the training items whose inner fold is not `leave` (-1: all of them) in the buffers of
// `job`.
static struct svm_model *fit(const struct work *w, int64_t job, int leave, double c) {
    struct svm_node **row = w->row + job * w->n;
    double *y = w->y + job * w->n;
    struct svm_problem problem = {.y = y, .x = row};
    const struct svm_parameter parameter = {.svm_type = C_SVC,
                                            .kernel_type = PRECOMPUTED,
                                            .cache_size = CACHE_MIB,
                                            .eps = stop_at,
                                            .C = c,
                                            .shrinking = 1};
    for (int64_t i = 0; i < w->n_train; i++)
        if (leave < 0 || w->inner[i] != leave) {
            row[problem.l] = w->node + w->train[i] * (w->n + 1);
            y[problem.l++] = w->part_label[i];
        }
    return svm_train(&problem, &parameter);
}

static bool right(const struct work *w, const struct svm_model *model, int32_t id) {
    return (int32_t)svm_predict(model, w->node + (int64_t)id * (w->n + 1)) == w->probe->label[id];
}

static void tell(struct work *w) {
    const struct hn_svm_probe *probe = w->probe;
    int64_t done = ++w->done, of = probe->folds * (1 + (probe->n_c > 1 ? w->jobs : 0));
    if (probe->tell && omp_get_thread_num() == 0)
        probe->tell(probe->tell_data, done, of);
}

// Right answers on inner fold `leave` of a fit to the others.
static int64_t try_inner(const struct work *w, int64_t job, int leave, double c) {
    struct svm_model *model = fit(w, job, leave, c);
    int64_t count = 0;
    for (int64_t i = 0; i < w->n_train; i++)
        if (w->inner[i] == leave)
            count += right(w, model, w->train[i]);
    svm_free_and_destroy_model(&model);
    return count;
}

static enum hn_code choose_c(struct hn_context *ctx, struct work *w, int at) {
    struct hn_svm_probe *probe = w->probe;
    int64_t count[JOBS_MAX], best = -1;
    probe->chosen[at] = probe->c[0];
    if (probe->n_c == 1)
        return HN_OK;
    if (hn_folds_draw(ctx, w->part_label, w->n_train, probe->inner, probe->seed + 1 + (uint64_t)at,
                      w->inner))
        return ctx->code;
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 1)
    for (int64_t job = 0; job < w->jobs; job++) {
        count[job] = try_inner(w, job, (int)(job % probe->inner), probe->c[job / probe->inner]);
        tell(w);
    }
    for (int k = 0; k < probe->n_c; k++) {
        int64_t sum = 0;
        for (int f = 0; f < probe->inner; f++)
            sum += count[k * probe->inner + f];
        if (sum > best) {
            best = sum;
            probe->chosen[at] = probe->c[k];
        }
    }
    return HN_OK;
}

static enum hn_code run_fold(struct hn_context *ctx, struct work *w, int at) {
    struct hn_svm_probe *probe = w->probe;
    w->n_train = w->n_test = 0;
    for (int32_t k = 0; k < w->n; k++) {
        int32_t i = w->by_class.member[k];
        if (probe->fold[i] == at) {
            w->test[w->n_test++] = i;
        } else {
            w->part_label[w->n_train] = probe->label[i];
            w->train[w->n_train++] = i;
        }
    }
    if (w->n_test == 0 || w->n_train < probe->inner)
        return hn_fail(ctx, HN_DATA, "fold %d of %d tests %lld items and leaves %lld to train with",
                       at + 1, probe->folds, (long long)w->n_test, (long long)w->n_train);
    if (probe->kernel)
        take_kernel(w);
    else
        fill_kernel(ctx, w);
    enum hn_code code = choose_c(ctx, w, at);
    if (code != HN_OK)
        return code;
    struct svm_model *model = fit(w, 0, -1, probe->chosen[at]);
    int64_t count = 0;
    for (int64_t i = 0; i < w->n_test; i++)
        count += right(w, model, w->test[i]);
    svm_free_and_destroy_model(&model);
    probe->fold_accuracy[at] = (double)count / (double)w->n_test;
    tell(w);
    return hn_check_stop(ctx);
}

static enum hn_code check(struct hn_context *ctx, const struct hn_svm_probe *probe) {
    if (probe->folds < 2 || probe->folds > HN_SVM_FOLDS_MAX || probe->n_c < 1 || probe->inner < 2 ||
        (int64_t)probe->n_c * probe->inner > JOBS_MAX)
        return hn_fail(ctx, HN_INTERNAL, "SVM: folds, inner folds or number of C out of range");
    if (probe->x.rows > HN_SVM_ITEMS_MAX)
        return hn_fail(ctx, HN_DATA, "the SVM takes at most %d items, not %lld", HN_SVM_ITEMS_MAX,
                       (long long)probe->x.rows);
    for (int64_t i = 0; i < probe->x.rows; i++)
        if (probe->label[i] < 0 || probe->label[i] >= HN_SVM_ITEMS_MAX)
            return hn_fail(ctx, HN_INTERNAL, "SVM: label %d of item %lld is not a class number",
                           (int)probe->label[i], (long long)i);
    for (int64_t i = 0; i < probe->x.rows; i++)
        for (int64_t k = 0; k < probe->x.cols; k++)
            if (!isfinite(hn_row(&probe->x, i)[k]))
                return hn_fail(ctx, HN_DATA, "the SVM's row %lld is not finite at column %lld",
                               (long long)i, (long long)k);
    return HN_OK;
}

static void summarise(struct hn_svm_probe *probe) {
    double sum = 0, square = 0;
    for (int f = 0; f < probe->folds; f++)
        sum += probe->fold_accuracy[f];
    probe->accuracy = sum / probe->folds;
    for (int f = 0; f < probe->folds; f++)
        square += pow(probe->fold_accuracy[f] - probe->accuracy, 2);
    probe->deviation = sqrt(square / (probe->folds - 1)); // check(): there are two at least
}

enum hn_code hn_svm_probe_run(struct hn_context *ctx, struct hn_svm_probe *probe) {
    struct work w = {.probe = probe, .n = probe->x.rows};
    HN_SCOPE(ctx);
    (void)pthread_once(&silenced, silence);
    if (check(ctx, probe) || work_open(ctx, &w))
        return ctx->code;
    for (int f = 0; f < probe->folds; f++)
        if (run_fold(ctx, &w, f))
            return ctx->code;
    summarise(probe);
    return HN_OK;
}
