// SPDX-License-Identifier: GPL-3.0-or-later
// An HDF5 file whose objects, types, shapes and values are what the bytes say.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Ends the process if the file cannot be written.
void hn_fuzz_write_schema(const char *path, const uint8_t *data, size_t size);
