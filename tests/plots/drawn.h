// SPDX-License-Identifier: GPL-3.0-or-later
// What tests of figures read of the files that drawing leaves.
#pragma once

#include "plots/page/render.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

static inline bool drawn_is_gnuplot(const char *version) {
    char out[64] = "";
    return hn_fixture_run("gnuplot --version 2>/dev/null", out, sizeof out) == 0 &&
           strstr(out, version);
}

static inline void need_gnuplot(void) {
    if (!drawn_is_gnuplot("gnuplot"))
        hn_test_skip("gnuplot is not there (gnuplot-nox)");
}

static inline struct hn_picture as(const char *term) { return (struct hn_picture){term}; }

// Text of a file, "" if there is none. Owned: free().
static inline char *slurp(const char *folder, const char *name) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    char *text = calloc(1, 1 << 20);
    FILE *f = fopen(path, "r");
    if (!text || (f && fread(text, 1, (1 << 20) - 1, f) == 0))
        abort();
    if (f)
        fclose(f);
    return text;
}

// The cells of block `index` of a .tsv: [rows x 5]. Returns the count of rows.
static inline int drawn_block(const char *folder, const char *name, int index, double cell[][5],
                              int max) {
    char *text = slurp(folder, name), *save = NULL;
    int block = -1, rows = 0;
    bool in_data = false;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (*line == '#') {
            in_data = false;
            continue;
        }
        block += !in_data;
        in_data = true;
        if (block != index || rows == max)
            continue;
        for (int c = 0; c < 5; c++)
            cell[rows][c] = strtod(line, &line);
        rows++;
    }
    free(text);
    return rows;
}

// A label that would run commands or end strings if anything took it for more than text.
static const char evil[] = "a\"b'`touch P`$(touch P)@x{/Bold z}_^&~\\n%s|<!\n#\tset output 'P'";

// Hears notes: gnuplot has nothing to warn of.
static inline void no_warning(void *data, const char *note) {
    (void)data;
    if (strstr(note, "gnuplot warns")) {
        printf("    %s\n", note);
        CU_FAIL("gnuplot warns of a figure");
    }
}
