// SPDX-License-Identifier: GPL-3.0-or-later
// The way into libFuzzer: the variable HN_FUZZ names the target, HN_FUZZ_TALLY a file to which
// every process adds a line of what became of its inputs: how many, how many were taken, kinds of
// refusals.
#include "tests/fuzz/edit.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/target.h"

#include "datasets/hdf5_api.h"
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

static const struct hn_fuzz_target *target(void) {
    const char *name = getenv("HN_FUZZ");
    const struct hn_fuzz_target *t = name ? hn_fuzz_find(name) : NULL;
    if (t)
        return t;
    fprintf(stderr, "HN_FUZZ names no target; there are:");
    for (t = hn_fuzz_targets; t->name; t++)
        fprintf(stderr, " %s", t->name);
    fprintf(stderr, "\n");
    exit(2);
}

static void write_tally(void) {
    const char *path = getenv("HN_FUZZ_TALLY");
    const struct hn_fuzz_tally *t = hn_fuzz_tally();
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    fprintf(file, "%lld %lld %lld\n", (long long)t->inputs, (long long)t->taken,
            (long long)t->sentences);
    (void)fclose(file);
}

static const struct hn_fuzz_target *chosen(void) {
    static const struct hn_fuzz_target *kept;
    if (!kept) {
        kept = target();
        (void)atexit(write_tally);
        // HDF5 keeps what it frees: half a megabyte for every file would be mapped and cleared
        // again.
        (void)H5set_free_list_limits(-1, -1, -1, -1, -1, -1);
    }
    return kept;
}

// HDF5 files are changed through the library, one time in 64 byte by byte: much more of
// that, and most of the time goes into starting again after HDF5 broke down.
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) {
    if (!chosen()->hdf5)
        return LLVMFuzzerMutate(data, size, max);
    size_t length = seed % 64 ? hn_fuzz_edit(data, size, max, seed, LLVMFuzzerMutate) : 0;
    return length ? length : hn_fuzz_damage(data, size, max, LLVMFuzzerMutate);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    chosen()->run(data ? data : (const uint8_t *)"", size); // nothing to add an offset to
    return 0;
}
