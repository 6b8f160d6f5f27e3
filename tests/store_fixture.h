// Shared by the suites of the store of results: a context, a scratch folder, and bytes of files.
#pragma once

#include "results/store.h"
#include "tests/results_fixture.h"
#include "tests/scratch.h"

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
