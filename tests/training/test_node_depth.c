// SPDX-License-Identifier: GPL-3.0-or-later
// Encoders of nodes of any depth, against dense products in double precision; documents without
// features.
#include "datasets/linqs.h"
#include "tests/training_fixture.h"

enum { LAYERS = 3, WIDE = 64 };

// y[n x out] = Ahat (x[n x in] w), the mean over a node and its neighbours.
static void average_of_product(const struct hn_graph *g, const double *x, const hn_real *w,
                               int64_t in, int64_t out, double *y) {
    double *product = calloc((size_t)(g->n * out), sizeof *product);
    for (int64_t i = 0; i < g->n; i++)
        for (int64_t k = 0; k < in; k++)
            for (int64_t j = 0; j < out; j++)
                product[i * out + j] += x[i * in + k] * (double)w[k * out + j];
    for (int64_t v = 0; v < g->n; v++)
        for (int64_t j = 0; j < out; j++) {
            double sum = product[v * out + j];
            for (int64_t e = g->start[v]; e < g->start[v + 1]; e++)
                sum += product[g->target[e] * out + j];
            y[v * out + j] = sum / (double)(1 + g->start[v + 1] - g->start[v]);
        }
    free(product);
}

static double *features_of(const struct hn_linqs *d) {
    double *x = calloc((size_t)(d->n * WIDE), sizeof *x);
    for (int64_t i = 0; i < d->n; i++)
        for (int64_t k = d->start[i]; k < d->start[i + 1]; k++)
            x[i * d->p + d->index[k]] = 1.0 / (double)(d->start[i + 1] - d->start[i]);
    return x;
}

// H = Ahat ELU( ... ELU(Ahat X W0) ...) W, unit rows; 16 columns between, 8 at the end.
static void check_embedding(const struct hn_linqs *d, int layers, const hn_real *w,
                            const float *z) {
    double *x = features_of(d), *y = calloc((size_t)(d->n * WIDE), sizeof *y);
    int64_t in = d->p;
    for (int l = 0; l < layers; l++) {
        int64_t out = l < layers - 1 ? 16 : 8;
        average_of_product(&d->graph, x, w, in, out, y);
        for (int64_t k = 0; k < d->n * out; k++)
            x[k] = l < layers - 1 && y[k] < 0 ? expm1(y[k]) : y[k];
        w += in * out;
        in = out;
    }
    double all = 0; // not a number if any is
    for (int64_t i = 0; i < d->n; i++) {
        double square = 0;
        for (int64_t j = 0; j < 8; j++)
            square += x[i * 8 + j] * x[i * 8 + j];
        for (int64_t j = 0; j < 8; j++)
            all += fabs(x[i * 8 + j] / sqrt(square) - (double)z[i * 8 + j]);
    }
    CU_ASSERT(all < 1e-5 * (double)d->n);
    free(x);
    free(y);
}

static void test_depths(void) {
    for (int layers = 1; layers <= LAYERS; layers++) {
        char text[64], path[128];
        struct hn_task task;
        struct hn_linqs data;
        struct hn_scope scope;
        snprintf(text, sizeof text, "encoder=mean layers=%d", layers);
        struct trial *t = open_trial(2, text, "uniform", "");
        snprintf(path, sizeof path, "%s/small", root);
        hn_scope_begin(&t->ctx, &scope);
        HN_CHECK(&t->ctx, hn_linqs_read(&t->ctx, path, &data));
        CU_ASSERT_FATAL(data.p <= WIDE);
        HN_CHECK(&t->ctx, hn_task_open(&t->ctx, t->spec.task, t->task, &t->spec.setting, &task));
        float *z = calloc((size_t)(task.n * task.d), sizeof *z);
        HN_CHECK(&t->ctx, hn_task_embed(&t->ctx, &task, 0, 0, task.n, z));
        check_embedding(&data, layers, task.weights.value, z);
        free(z);
        hn_task_close(&t->ctx, &task);
        hn_scope_end(&scope);
        close_trial(t);
    }
}

// Three layers learn, with the same bits for any number of threads and after an interruption.
static void test_training(void) {
    struct trial *one = open_trial(1, "encoder=gcn layers=3", "knn", "");
    struct trial *many = open_trial(3, "encoder=gcn layers=3", "knn", "");
    HN_CHECK(&one->ctx, train(one));
    use_folder(many, "deep");
    many->stop_at = 6;
    HN_CHECK_FAILS(&many->ctx, train(many), HN_INTERRUPTED, "interrupted at step 6");
    HN_CHECK(&many->ctx, train(many));
    check_same(&one->table, &many->table);
    close_trial(one);
    close_trial(many);
}

// Node 0 has no features and no neighbours, node 1 none but neighbours.
static void put_empty(void) {
    prepare();
    char folder[96];
    snprintf(folder, sizeof folder, "%s/empty", root);
    mkdir(folder, 0777);
    FILE *f = open_data(root, "empty/empty.features");
    fprintf(f, "# features=6\n0 0\n1 1\n");
    for (int i = 2; i < 40; i++)
        fprintf(f, "%d %d %d %d\n", i, i % 2, i % 3, 3 + i % 3);
    fclose(f);
    f = open_data(root, "empty/empty.edges");
    for (int i = 2; i < 40; i++)
        fprintf(f, "1 %d\n", i);
    fclose(f);
}

static void test_empty_rows(void) {
    put_empty();
    struct trial *t = open_trial(1, "data=empty encoder=mean drop_edge=0.5", "ring", "lo=0 hi=50");
    struct hn_task task;
    HN_CHECK(&t->ctx, hn_task_open(&t->ctx, t->spec.task, t->task, &t->spec.setting, &task));
    float z[40 * 8];
    for (int view = 0; view <= 2; view++) {
        HN_CHECK(&t->ctx, hn_task_embed(&t->ctx, &task, view, 0, task.n, z));
        for (int j = 0; j < 8; j++)
            CU_ASSERT(fabs((double)z[j] - sqrt(1 / 8.0)) < 1e-6);
        for (int i = 0; i < 40; i++) {
            double square = 0;
            for (int j = 0; j < 8; j++)
                square += (double)z[i * 8 + j] * (double)z[i * 8 + j];
            CU_ASSERT(fabs(square - 1) < 1e-5);
        }
    }
    hn_task_close(&t->ctx, &task);
    HN_CHECK(&t->ctx, train(t));
    CU_ASSERT(isfinite(hn_table_real(&t->table, t->table.rows - 1, "probe_acc")));
    CU_ASSERT(isfinite(hn_table_real(&t->table, 0, "features_probe_acc")));
    close_trial(t);
}

static const struct hn_test tests[] = {
    {"depths", test_depths}, {"training", test_training}, {"empty rows", test_empty_rows}};

HN_TEST_MAIN("node_depth", tests)
