// SPDX-License-Identifier: GPL-3.0-or-later
// Linear probe and SVM with folds: scikit-learn on the same rows, and properties.
#include "core/random.h"
#include "metrics/linear_probe.h"
#include "metrics/metric.h"
#include "metrics/preconditioner.h"
#include "tests/numpy_oracle.h"
#include "tests/test.h"
#include "training/tasks/probe.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 700, DIMS = 12, CLASSES = 4 };

// Overlapping clusters, not of unit length: some rows are always classified wrongly.
struct cloud {
    float x[ROWS * DIMS];
    int32_t y[ROWS], fold[ROWS];
};

static struct cloud make_cloud(uint64_t seed) {
    static struct cloud made;
    struct hn_stream stream;
    hn_stream_open(&stream, seed, "test.cloud", 0, 0, 0);
    gsl_rng r = hn_stream_gsl(&stream);
    for (int i = 0; i < ROWS; i++) {
        made.y[i] = i % CLASSES;
        for (int k = 0; k < DIMS; k++)
            made.x[i * DIMS + k] =
                (float)(gsl_ran_gaussian(&r, 1) + 1.5 * (k == made.y[i]) + 3 * (k == 5));
        made.fold[i] = i % 11 == 10 ? -1 : i % 11;
    }
    return made;
}

static struct hn_labelled part(const struct cloud *c, int64_t from, int64_t rows) {
    return (struct hn_labelled){{c->x + from * DIMS, rows, DIMS, DIMS}, c->y + from};
}

static const char *oracle(void) {
    static char found[256];
    char command[256], here[] = __FILE__, out[64];
    const char *interpreter = python();
    snprintf(command, sizeof command, "%s -c 'import sklearn' 2>/dev/null",
             interpreter ? interpreter : "false");
    if (hn_fixture_run(command, out, sizeof out) != 0) {
        interpreter = "/usr/bin/python3";
        if (hn_fixture_run("/usr/bin/python3 -c 'import sklearn' 2>/dev/null", out, sizeof out))
            hn_test_skip("scikit-learn is not installed");
    }
    snprintf(found, sizeof found, "%s '%s/oracle_probe.py'", interpreter, dirname(here));
    return found;
}

static void test_optimum(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct cloud cloud = make_cloud(1);
    struct hn_labelled all = part(&cloud, 0, ROWS);
    const double strength[] = {0.01, 1, 100};
    char folder[256], command[1024], out[512];
    const char *script = oracle();
    hn_fixture_folder(folder, sizeof folder);
    write_file(folder, "x", cloud.x, sizeof cloud.x);
    write_file(folder, "y", cloud.y, sizeof cloud.y);
    struct hn_logistic model = {0};
    for (int k = 0; k < 3; k++) {
        HN_CHECK(&ctx, hn_logistic_fit(&ctx, &all, CLASSES, strength[k], 1e-6, &model));
        CU_ASSERT(model.slope < 1e-5 && model.iterations > 0);
        write_file(folder, "weight", model.weight,
                   (size_t)(CLASSES * (DIMS + 1)) * sizeof *model.weight);
        snprintf(command, sizeof command, "%s logistic '%s' %d %d %g", script, folder, DIMS,
                 CLASSES, strength[k]);
        int status = hn_fixture_run(command, out, sizeof out);
        if (status)
            fprintf(stderr, "    C = %g: %s", strength[k], out);
        CU_ASSERT_EQUAL(status, 0);
    }
    hn_logistic_free(&ctx, &model);
    hn_fixture_remove(folder);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// The chosen C and the accuracy, with validation rows of their own.
static void test_chosen(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct cloud cloud = make_cloud(2);
    const double strength[] = {0.001, 0.1, 10};
    struct hn_linear_probe probe = {.train = part(&cloud, 0, 300),
                                    .test = part(&cloud, 300, 250),
                                    .validation = part(&cloud, 550, 150),
                                    .classes = CLASSES,
                                    .c = strength,
                                    .n_c = 3};
    char folder[256], command[1024], out[512];
    const char *script = oracle();
    HN_CHECK(&ctx, hn_linear_probe_run(&ctx, &probe));
    hn_fixture_folder(folder, sizeof folder);
    write_file(folder, "x", cloud.x, sizeof cloud.x);
    write_file(folder, "y", cloud.y, sizeof cloud.y);
    snprintf(command, sizeof command, "%s accuracy '%s' %d 300 250 0.001 0.1 10", script, folder,
             DIMS);
    CU_ASSERT_EQUAL(hn_fixture_run(command, out, sizeof out), 0);
    CU_ASSERT_DOUBLE_EQUAL(probe.accuracy, atof(out), 1.001 / 250); // a row at the border at most
    CU_ASSERT(probe.accuracy > 0.5 && probe.accuracy < 0.95);
    CU_ASSERT(probe.train_accuracy > probe.accuracy - 0.1 && probe.validation_accuracy > 0.5);
    hn_fixture_remove(folder);
}

// The snapshot's metric: parts of the file's split, labels numbered from 0, unit rows.
static void test_metric(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    enum { ITEMS = 260 };
    struct hn_items items = hn_fixture_items(&ctx, ITEMS, 6, 4, false, 2);
    int32_t *label = (int32_t *)items.labels;
    int8_t split[ITEMS];
    double value = NAN, tau[] = {0.5};
    for (int i = 0; i < ITEMS; i++) {
        split[i] = i < 120 ? 0 : i < 200 ? 2 : 1;
        label[i] = 1000 + 7 * label[i];
    }
    char folder[256], command[1024], out[512], why[HN_MESSAGE_MAX];
    const char *script = oracle();
    const struct hn_snapshot_metric_type *metric[] = {hn_snapshot_metric_find("probe_acc")};
    struct hn_snapshot_env env = {
        .items = &items, .split = split, .temperature = tau, .n_temperatures = 1};
    struct hn_global global[1];
    struct hn_snapshot_measured measured = {.value = &value, .global = global, .why = why};
    HN_CHECK(&ctx, hn_snapshot_measure(&ctx, metric, 1, &env, &measured));
    hn_fixture_folder(folder, sizeof folder);
    write_file(folder, "x", items.x.data, ITEMS * 6 * sizeof(float));
    write_file(folder, "y", label, ITEMS * sizeof *label);
    snprintf(command, sizeof command, "%s accuracy '%s' 6 120 80 1 10 100", script, folder);
    CU_ASSERT_EQUAL(hn_fixture_run(command, out, sizeof out), 0);
    CU_ASSERT_DOUBLE_EQUAL(value, atof(out), 1.001 / 80);
    CU_ASSERT(value > 0.4 && value < 1);
    env.probe_c = 1e4; // fixed: nothing is chosen
    HN_CHECK(&ctx, hn_snapshot_measure(&ctx, metric, 1, &env, &measured));
    snprintf(command, sizeof command, "%s accuracy '%s' 6 120 80 10000", script, folder);
    CU_ASSERT_EQUAL(hn_fixture_run(command, out, sizeof out), 0);
    CU_ASSERT_DOUBLE_EQUAL(value, atof(out), 1.001 / 80);
    hn_fixture_remove(folder);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Features that tell everything, or nothing; a class that no training row has.
static void test_limits(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct cloud cloud = make_cloud(3);
    const double strength[] = {1, 10, 100};
    struct hn_linear_probe probe = {.train = part(&cloud, 0, 400),
                                    .test = part(&cloud, 400, 300),
                                    .classes = CLASSES + 1,
                                    .c = strength,
                                    .n_c = 3};
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < DIMS; k++)
            cloud.x[i * DIMS + k] = k == cloud.y[i];
    HN_CHECK(&ctx, hn_linear_probe_run(&ctx, &probe));
    CU_ASSERT_EQUAL(probe.accuracy, 1);
    CU_ASSERT_EQUAL(probe.chosen, 1); // the smallest of equals
    memset(cloud.x, 0, sizeof cloud.x);
    HN_CHECK(&ctx, hn_linear_probe_run(&ctx, &probe));
    CU_ASSERT_DOUBLE_EQUAL(probe.accuracy, 0.25, 0.01); // one class is as good as another
    cloud.x[7] = NAN;
    HN_CHECK_FAILS(&ctx, hn_linear_probe_run(&ctx, &probe), HN_DATA, "not finite");
    probe.train.x.rows = 0;
    HN_CHECK_FAILS(&ctx, hn_linear_probe_run(&ctx, &probe), HN_DATA, "no training rows");
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_threads(void) {
    struct hn_context ctx;
    struct hn_logistic first = {0}, other = {0};
    struct cloud cloud = make_cloud(4);
    struct hn_labelled all = part(&cloud, 0, ROWS);
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_logistic_fit(&ctx, &all, CLASSES, 1, 0, &first));
    ctx.threads = 3;
    HN_CHECK(&ctx, hn_logistic_fit(&ctx, &all, CLASSES, 1, 0, &other));
    CU_ASSERT_EQUAL(memcmp(first.weight, other.weight, CLASSES * (DIMS + 1) * sizeof *first.weight),
                    0);
    hn_logistic_free(&ctx, &first);
    hn_logistic_free(&ctx, &other);
}

// Rows times dimensions that end within a block and within a panel.
enum { MANY = 2100, WIDE = 150, VECTORS = 3 };

static void draw_rows(float *x, double *v) {
    struct hn_stream stream;
    hn_stream_open(&stream, 11, "test.scale", 0, 0, 0);
    gsl_rng r = hn_stream_gsl(&stream);
    for (int64_t i = 0; i < MANY; i++) // far from round: each dimension varies less than the last
        for (int64_t k = 0; k < WIDE; k++)
            x[i * WIDE + k] = (float)(gsl_ran_gaussian(&r, pow(0.97, (double)k)) + (k == 3));
    for (int64_t i = 0; i < VECTORS * (WIDE + 1); i++)
        v[i] = gsl_ran_gaussian(&r, 1);
}

// (curvature X1^T X1 / n + penalty I) v, straight from the rows; no penalty on the bias.
static void multiply_plainly(const float *x, double curvature, double penalty, const double *v,
                             double *out) {
    for (int k = 0; k <= WIDE; k++)
        out[k] = k < WIDE ? penalty * v[k] : 0;
    for (int64_t i = 0; i < MANY; i++) {
        const float *row = x + i * WIDE;
        double product = v[WIDE];
        for (int k = 0; k < WIDE; k++)
            product += (double)row[k] * v[k];
        for (int k = 0; k <= WIDE; k++)
            out[k] += curvature / MANY * product * (k < WIDE ? (double)row[k] : 1);
    }
}

// What the inverse gives, multiplied by the matrix, is the vector again.
static void test_preconditioner(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    const double curvature = 0.09, penalty = 1e-3;
    float *x = hn_alloc(&ctx, MANY * WIDE, sizeof *x);
    double v[VECTORS * (WIDE + 1)], scaled[2][VECTORS * (WIDE + 1)], back[WIDE + 1];
    struct hn_matrix rows = {x, MANY, WIDE, WIDE};
    struct hn_preconditioner p;
    CU_ASSERT_PTR_NOT_NULL_FATAL(x);
    draw_rows(x, v);
    for (int t = 0; t < 2; t++) {
        ctx.threads = 1 + 2 * t;
        HN_CHECK(&ctx, hn_preconditioner_open(&ctx, &rows, curvature, penalty, &p));
        CU_ASSERT_PTR_NOT_NULL_FATAL(p.factor);
        memcpy(scaled[t], v, sizeof v);
        hn_preconditioner_apply(&p, scaled[t], VECTORS);
        hn_preconditioner_free(&ctx, &p);
    }
    CU_ASSERT_EQUAL(memcmp(scaled[0], scaled[1], sizeof v), 0);
    for (int c = 0; c < VECTORS; c++) {
        const double *wanted = v + c * (WIDE + 1);
        multiply_plainly(x, curvature, penalty, scaled[0] + c * (WIDE + 1), back);
        for (int k = 0; k <= WIDE; k++)
            CU_ASSERT_DOUBLE_EQUAL(back[k], wanted[k], 1e-3);
    }
    hn_free(&ctx, x);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Where there is none, vectors stay: too many dimensions, or numbers that are none.
static void test_no_preconditioner(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    enum { TOO_WIDE = HN_PRECONDITIONER_DIM + 1 };
    float *x = hn_zalloc(&ctx, TOO_WIDE, sizeof *x);
    double v[] = {3, 4, 5};
    struct hn_preconditioner p;
    CU_ASSERT_PTR_NOT_NULL_FATAL(x);
    struct hn_matrix wide = {x, 1, TOO_WIDE, TOO_WIDE}, bad = {x, 1, 2, 2};
    HN_CHECK(&ctx, hn_preconditioner_open(&ctx, &wide, 0.25, 1, &p));
    CU_ASSERT_PTR_NULL(p.factor);
    x[0] = NAN;
    HN_CHECK(&ctx, hn_preconditioner_open(&ctx, &bad, 0.25, 1, &p));
    CU_ASSERT_PTR_NULL(p.factor);
    hn_preconditioner_apply(&p, v, 1);
    CU_ASSERT(v[0] == 3 && v[1] == 4 && v[2] == 5);
    hn_preconditioner_free(&ctx, &p);
    hn_free(&ctx, x);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static struct hn_svm_probe svm_of(const struct cloud *c, int n_c) {
    static const double strength[] = {1, 0.1, 10, 100};
    return (struct hn_svm_probe){.x = {c->x, ROWS, DIMS, DIMS},
                                 .label = c->y,
                                 .fold = c->fold,
                                 .folds = 10,
                                 .inner = 3,
                                 .c = strength,
                                 .n_c = n_c,
                                 .seed = 5};
}

// Folds as given, items of no fold in every training part, columns standardised.
static void test_svm(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct cloud cloud = make_cloud(6);
    struct hn_svm_probe probe = svm_of(&cloud, 1);
    char folder[256], command[1024], out[512], *rest = out;
    const char *script = oracle();
    HN_CHECK(&ctx, hn_svm_probe_run(&ctx, &probe));
    hn_fixture_folder(folder, sizeof folder);
    write_file(folder, "x", cloud.x, sizeof cloud.x);
    write_file(folder, "y", cloud.y, sizeof cloud.y);
    write_file(folder, "fold", cloud.fold, sizeof cloud.fold);
    snprintf(command, sizeof command, "%s svm '%s' %d 10 1", script, folder, DIMS);
    CU_ASSERT_EQUAL(hn_fixture_run(command, out, sizeof out), 0);
    for (int f = 0; f < 10; f++)
        CU_ASSERT_DOUBLE_EQUAL(probe.fold_accuracy[f], strtod(rest, &rest), 1e-6);
    CU_ASSERT(probe.accuracy > 0.5 && probe.accuracy < 0.95 && probe.deviation > 0);
    hn_fixture_remove(folder);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Told fits: they grow, and the last is the last.
struct told {
    int64_t done, of;
    int calls;
    bool grows;
};

static void note_fits(void *data, int64_t done, int64_t of) {
    struct told *told = data;
    told->grows = (told->calls++ == 0 || told->grows) && done > told->done && done <= of;
    told->done = done;
    told->of = of;
}

static void test_svm_tells(void) {
    struct hn_context ctx;
    struct cloud cloud = make_cloud(8);
    for (int threads = 1; threads <= 3; threads += 2)
        for (int n_c = 1; n_c <= 4; n_c += 3) {
            struct hn_svm_probe probe = svm_of(&cloud, n_c);
            struct told told = {.done = 0};
            hn_context_init(&ctx, threads);
            probe.tell = note_fits;
            probe.tell_data = &told;
            HN_CHECK(&ctx, hn_svm_probe_run(&ctx, &probe));
            CU_ASSERT(told.grows && told.done == told.of && told.calls >= 10);
            CU_ASSERT_EQUAL(told.of, n_c == 1 ? 10 : 10 * (1 + 4 * 3));
        }
}

static void test_svm_chooses(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct cloud cloud = make_cloud(7);
    struct hn_svm_probe probe = svm_of(&cloud, 4), other = probe;
    HN_CHECK(&ctx, hn_svm_probe_run(&ctx, &probe));
    ctx.threads = 3;
    HN_CHECK(&ctx, hn_svm_probe_run(&ctx, &other));
    CU_ASSERT_EQUAL(memcmp(probe.fold_accuracy, other.fold_accuracy, 10 * sizeof(double)), 0);
    CU_ASSERT_EQUAL(memcmp(probe.chosen, other.chosen, 10 * sizeof(double)), 0);
    // Labels that the features do not tell: at chance. Features that tell them: right.
    for (int i = 0; i < ROWS; i++)
        cloud.x[i * DIMS] = (float)(10 * cloud.y[i]);
    HN_CHECK(&ctx, hn_svm_probe_run(&ctx, &probe));
    CU_ASSERT(probe.accuracy > 0.97);
    probe.folds = 12;
    HN_CHECK_FAILS(&ctx, hn_svm_probe_run(&ctx, &probe), HN_DATA, "fold 11 of 12 tests 0");
    cloud.x[5 * DIMS + 3] = INFINITY;
    HN_CHECK_FAILS(&ctx, hn_svm_probe_run(&ctx, &probe), HN_DATA,
                   "row 5 is not finite at column 3");
}

static void test_folds(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    int32_t label[103], fold[103], again[103], count[3][10] = {{0}};
    for (int i = 0; i < 103; i++)
        label[i] = i < 50 ? 2 : i % 2;
    HN_CHECK(&ctx, hn_folds_draw(&ctx, label, 103, 10, 3, fold));
    HN_CHECK(&ctx, hn_folds_draw(&ctx, label, 103, 10, 3, again));
    CU_ASSERT_EQUAL(memcmp(fold, again, sizeof fold), 0);
    for (int i = 0; i < 103; i++)
        count[label[i]][fold[i]]++;
    for (int f = 0; f < 10; f++) {
        CU_ASSERT_EQUAL(count[2][f], 5);
        CU_ASSERT(count[0][f] >= 2 && count[0][f] <= 3 && count[1][f] >= 2 && count[1][f] <= 3);
        int all = count[0][f] + count[1][f] + count[2][f];
        CU_ASSERT(all == 10 || all == 11);
    }
    HN_CHECK(&ctx, hn_folds_draw(&ctx, label, 103, 10, 4, again));
    CU_ASSERT(memcmp(fold, again, sizeof fold) != 0);
}

static void test_allocations_may_fail(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct cloud cloud = make_cloud(8);
    const double strength[] = {1, 10};
    enum hn_code code;
    int64_t points = 0;
    do {
        struct hn_linear_probe probe = {.train = part(&cloud, 0, 60),
                                        .test = part(&cloud, 60, 40),
                                        .classes = CLASSES,
                                        .c = strength,
                                        .n_c = 2};
        struct hn_svm_probe svm = svm_of(&cloud, 2);
        svm.x.rows = 88;
        ctx.memory.calls = 0;
        ctx.memory.fail_at = ++points;
        code = hn_linear_probe_run(&ctx, &probe);
        if (code == HN_OK)
            code = hn_svm_probe_run(&ctx, &svm);
        CU_ASSERT(code == HN_OK || code == HN_MEMORY);
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
    } while (code != HN_OK && points < 1000);
    CU_ASSERT(points > 40 && points < 1000);
}

static const struct hn_test tests[] = {
    {"optimum", test_optimum},
    {"chosen", test_chosen},
    {"metric", test_metric},
    {"limits", test_limits},
    {"threads", test_threads},
    {"preconditioner", test_preconditioner},
    {"no preconditioner", test_no_preconditioner},
    {"svm", test_svm},
    {"svm chooses", test_svm_chooses},
    {"svm tells", test_svm_tells},
    {"folds", test_folds},
    {"allocations may fail", test_allocations_may_fail},
};
HN_TEST_MAIN("probe", tests)
