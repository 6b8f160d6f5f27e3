// Shared by the suites of the store of results: a context, a scratch folder, and bytes of files.
#ifndef HN_TESTS_STORE_FIXTURE_H
#define HN_TESTS_STORE_FIXTURE_H

#include "datasets/h5.h"
#include "results/store.h"
#include "tests/fixture.h"
#include "tests/results_fixture.h"
#include "tests/test.h"

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

static inline const char *in_folder(const char *name) {
    static char path[4][512];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
    return path[next];
}

// The bytes of a file; *size is -1 if there is none. Owned: free().
static inline char *slurp(const char *path, long *size) {
    *size = -1;
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    *size = ftell(f);
    rewind(f);
    char *bytes = malloc((size_t)*size + 1);
    if (!bytes || fread(bytes, 1, (size_t)*size, f) != (size_t)*size)
        abort();
    fclose(f);
    return bytes;
}

static inline void spill(const char *path, const char *bytes, long size) {
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, (size_t)size, f) != (size_t)size)
        abort();
    fclose(f);
}

#endif
