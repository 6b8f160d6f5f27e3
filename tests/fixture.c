// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fixture.h"
#include "core/label_sets.h"
#include "core/random.h"

#include <gsl/gsl_randist.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void must(const void *p) {
    if (!p) {
        fputs("out of memory in a test fixture\n", stderr);
        abort();
    }
}

float *hn_fixture_rows(struct hn_context *ctx, int64_t n, int64_t d, uint64_t seed) {
    float *x = hn_alloc(ctx, n * d, sizeof *x);
    must(x);
    struct hn_stream stream;
    hn_stream_open(&stream, seed, "fixture.rows", 0, 0, 0);
    gsl_rng rng = hn_stream_gsl(&stream);
    for (int64_t i = 0; i < n * d; i++)
        x[i] = (float)gsl_ran_gaussian(&rng, 1.0);
    if (hn_normalize_rows(ctx, x, n, d, "fixture"))
        abort();
    return x;
}

// base rows plus `noise` times Gaussian rows of their own, unit length.
static float *noisy(struct hn_context *ctx, const float *base, int64_t n, int64_t d, float noise,
                    uint64_t seed) {
    float *x = hn_fixture_rows(ctx, n, d, seed);
    for (int64_t i = 0; i < n * d; i++)
        x[i] = base[i] + noise * x[i];
    if (hn_normalize_rows(ctx, x, n, d, "fixture"))
        abort();
    return x;
}

struct hn_items hn_fixture_items(struct hn_context *ctx, int64_t n, int64_t d, int classes,
                                 bool views, uint64_t seed) {
    float *mean = hn_fixture_rows(ctx, classes, d, seed + 1000003);
    float *base = hn_alloc(ctx, n * d, sizeof *base);
    int32_t *labels = hn_alloc(ctx, n, sizeof *labels);
    must(base);
    must(labels);
    for (int64_t i = 0; i < n; i++) {
        labels[i] = (int32_t)(i % classes);
        memcpy(base + i * d, mean + labels[i] * d, (size_t)d * sizeof *base);
    }
    float *x = noisy(ctx, base, n, d, 1.0F, seed + 1);
    struct hn_items items = {.n = n, .d = d, .x = {x, n, d, d}, .labels = labels};
    if (views) {
        items.x1 = (struct hn_matrix){noisy(ctx, x, n, d, 0.5F, seed + 2), n, d, d};
        items.x2 = (struct hn_matrix){noisy(ctx, x, n, d, 0.5F, seed + 3), n, d, d};
    }
    hn_free(ctx, mean);
    hn_free(ctx, base);
    return items;
}

void hn_fixture_items_free(struct hn_context *ctx, struct hn_items *items) {
    hn_free(ctx, (void *)items->x.data);
    hn_free(ctx, (void *)items->x1.data);
    hn_free(ctx, (void *)items->x2.data);
    hn_free(ctx, (void *)items->teacher.data);
    hn_free(ctx, (void *)items->labels);
    memset(items, 0, sizeof *items);
}

void hn_fixture_label_sets_free(struct hn_context *ctx, struct hn_label_sets *sets) {
    hn_free(ctx, sets->start);
    hn_free(ctx, sets->label);
    hn_free(ctx, sets->mask);
    *sets = (struct hn_label_sets){.n = 0};
}

void hn_fixture_repeat(struct hn_items *items, int64_t distinct) {
    const int64_t d = items->d;
    float *rows[] = {(float *)items->x.data, (float *)items->x1.data, (float *)items->x2.data};
    for (int m = 0; m < 3; m++)
        for (int64_t i = distinct; rows[m] && i < items->n; i++)
            memcpy(rows[m] + i * d, rows[m] + i % distinct * d, (size_t)d * sizeof(float));
}

void hn_fixture_crowd(struct hn_context *ctx, struct hn_items *items, float near) {
    const int64_t d = items->d;
    float *x = (float *)items->x.data;
    for (int64_t i = 1; i < items->n; i++)
        for (int64_t k = 0; k < d; k++)
            x[i * d + k] = x[k] + near * x[i * d + k];
    if (hn_normalize_rows(ctx, x, items->n, d, "crowd"))
        abort();
}

void hn_fixture_teacher(struct hn_context *ctx, struct hn_items *items, int64_t d, uint64_t seed) {
    items->teacher = (struct hn_matrix){hn_fixture_rows(ctx, items->n, d, seed), items->n, d, d};
}

void hn_fixture_folder(char *path, size_t size) {
    const char *base = getenv("TMPDIR");
    snprintf(path, size, "%s/hardneg-test-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(path))
        abort();
}

void hn_fixture_remove(const char *path) {
    char command[4096];
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    if (system(command) != 0)
        fprintf(stderr, "    could not remove %s\n", path);
}

int hn_fixture_run(const char *command, char *out, size_t size) {
    FILE *pipe = popen(command, "r");
    if (!pipe)
        return -1;
    size_t used = fread(out, 1, size - 1, pipe);
    out[used] = '\0';
    while (fgetc(pipe) != EOF)
        continue;
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

const char *hn_fixture_shared(const char *file, char *path, size_t size) {
    const char *base = getenv("HN_SHARED");
    snprintf(path, size, "%s/%s", base ? base : "../shared", file);
    struct stat s;
    return stat(path, &s) == 0 ? path : NULL;
}
