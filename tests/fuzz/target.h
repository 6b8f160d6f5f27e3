// SPDX-License-Identifier: GPL-3.0-or-later
// Fuzz targets: each gives bytes to one reader, as the file that it would read, and ends the
// process if the reader breaks a promise. One list; libFuzzer (tests/fuzz/run.sh) and the
// regression test (tests/fuzz/test_fuzz.c) read it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hn_fuzz_target {
    const char *name;
    void (*run)(const uint8_t *data, size_t size);
    bool hdf5; // the bytes are an HDF5 file
};

extern const struct hn_fuzz_target hn_fuzz_targets[]; // ends with a NULL name
const struct hn_fuzz_target *hn_fuzz_find(const char *name);
