// SPDX-License-Identifier: GPL-3.0-or-later
// For suites whose tests share a context and a scratch folder.
#pragma once

#include "datasets/h5.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

static struct hn_context ctx;
static char folder[256];

static inline void begin(void) {
    hn_context_init(&ctx, 1);
    hn_h5_quiet();
    hn_fixture_folder(folder, sizeof folder);
}

static inline void end(void) {
    CU_ASSERT_EQUAL(atomic_load(&ctx.memory.live), 0);
    hn_fixture_remove(folder);
}

// One of the four last paths.
static inline const char *in_folder(const char *name) {
    static char path[4][512];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
    return path[next];
}

static inline const char *put(const char *name, const char *text) {
    const char *path = in_folder(name);
    FILE *f = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT(fputs(text, f) >= 0);
    CU_ASSERT_EQUAL(fclose(f), 0);
    return path;
}
