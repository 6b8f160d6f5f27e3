// SPDX-License-Identifier: GPL-3.0-or-later
// HDF5 files out of memory, for the readers under test: a file system in between costs several
// times more than reading. The linker leads what datasets/h5.c calls here (--wrap in the Makefile).
#pragma once

#include <stddef.h>
#include <stdint.h>

// The path under which these bytes are found from now on; the bytes are borrowed.
const char *hn_fuzz_image(const uint8_t *data, size_t size);
