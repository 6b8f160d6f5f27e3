// SPDX-License-Identifier: GPL-3.0-or-later
// For tests of metrics: hands items, batches and columns to tests/oracle_metrics.py.
#pragma once

#include "tests/measured.h"

#include <libgen.h>
#include <stdio.h>

static inline void append(char *text, size_t size, const char *source) {
    size_t length = strlen(text);
    snprintf(text + length, size - length, "%s", source);
}

static inline void write_file(const char *folder, const char *name, const void *data,
                              size_t bytes) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT_EQUAL(fwrite(data, 1, bytes, f), bytes);
    CU_ASSERT_EQUAL(fclose(f), 0);
}

// name value, a line each.
static inline void write_columns(const char *folder, const struct hn_metric_type *const *metric,
                                 int n_metrics, const double *value) {
    char text[8192] = "", line[128];
    for (int i = 0; i < n_metrics; i++)
        for (int k = 0; k < metric[i]->n_columns; k++) {
            snprintf(line, sizeof line, "%s %.17g\n", metric[i]->columns[k].name, *value++);
            append(text, sizeof text, line);
        }
    write_file(folder, "columns", text, strlen(text));
}

// A Python with NumPy, or NULL.
static inline const char *python(void) {
    static const char *const candidates[] = {"python3", "/usr/bin/python3"};
    for (int k = 0; k < 2; k++) {
        char command[128], out[16];
        snprintf(command, sizeof command, "%s -c 'import numpy' 2>/dev/null", candidates[k]);
        if (hn_fixture_run(command, out, sizeof out) == 0)
            return candidates[k];
    }
    return NULL;
}

// `more`: further arguments. 0 if NumPy agrees.
static inline int run_numpy(const char *folder, const struct hn_items *items, const struct drawn *d,
                            double tau, const char *more) {
    char command[1024], here[] = __FILE__, out[4096];
    size_t rows = (size_t)(items->n * items->d) * sizeof(float);
    write_file(folder, "x", items->x.data, rows);
    write_file(folder, "x1", items->x1.data, rows);
    write_file(folder, "x2", items->x2.data, rows);
    if (items->teacher.data)
        write_file(folder, "teacher", items->teacher.data,
                   (size_t)(items->n * items->teacher.cols) * sizeof(float));
    write_file(folder, "labels", items->labels, (size_t)items->n * sizeof(int32_t));
    write_file(folder, "ids", d->ids, (size_t)d->count * (size_t)d->batch_size * sizeof(int32_t));
    write_file(folder, "size", d->size, (size_t)d->count * sizeof(int32_t));
    snprintf(command, sizeof command, "%s '%s/oracle_metrics.py' '%s' %lld %d %d %.17g %s",
             python(), dirname(here), folder, (long long)items->d, d->batch_size, d->per_epoch, tau,
             more);
    int status = hn_fixture_run(command, out, sizeof out);
    if (status != 0)
        fprintf(stderr, "%s", out);
    return status;
}
