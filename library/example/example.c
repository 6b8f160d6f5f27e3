// SPDX-License-Identifier: GPL-3.0-or-later
// Batches of the kNN sampler, and what they are like:
//
//     cc example.c $(pkg-config --cflags --libs hardneg) && ./a.out
#include <hardneg.h>

#include <stdio.h>
#include <stdlib.h>

enum { N = 1000, D = 16, B = 64 };

static int fail(const hardneg *h, const char *what) {
    fprintf(stderr, "%s: %s\n", what, hardneg_message(h));
    return 1;
}

static int draw(hardneg *h, const float *x, const int32_t *labels) {
    struct hardneg_items items = {.size = sizeof items, .n = N, .d = D, .x = x, .labels = labels};
    int64_t batches;
    if (hardneg_build(h, &items))
        return fail(h, "build");
    if (hardneg_epoch(h, 0, &batches))
        return fail(h, "epoch");
    int64_t *ids = malloc((size_t)batches * B * sizeof *ids);
    double value[64];
    int code = !ids || hardneg_next(h, 0, batches, ids) ||
               hardneg_measure_batches(h, ids, batches, B, NULL, value);
    free(ids);
    if (code)
        return fail(h, "measure");
    const char *name;
    printf("%s: %d batches\n", hardneg_sampler(h), (int)batches);
    for (int i = 0; hardneg_column(i, &name, NULL, NULL); i++)
        printf("%s %.6g\n", name, value[i]);
    return 0;
}

int main(void) {
    static float x[N * D];
    static int32_t labels[N];
    for (int i = 0; i < N; i++) {
        labels[i] = i % 10;
        for (int k = 0; k < D; k++)
            x[i * D + k] = (float)((i * 7919 + k * 104729 + i * k * 31) % 1000) - 500 +
                           (float)(k == i % 10) * 300;
    }
    hardneg *h;
    int code = hardneg_open("knn", B, 1, 0, &h);
    code = code ? fail(h, "open") : draw(h, x, labels);
    hardneg_free(h);
    return code;
}
