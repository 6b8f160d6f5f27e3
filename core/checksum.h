// SPDX-License-Identifier: GPL-3.0-or-later
// A checksum behind the end of a file: "hardneg-seal sha256 <64 digits>\n", SHA-256 of all bytes
// before it. HDF5 ignores what stands behind the end that its own header states (and drops it when
// it writes to the file), so that a results file with one is read by every HDF5 program; without it
// a bit that flips in a column of numbers would go unseen. By hand: `head -c -85 results.h5 |
// sha256sum` against `tail -c 65 results.h5`.
#pragma once

#include "core/context.h"

enum { HN_CHECKSUM_BYTES = 85 };

// Appends the checksum to a file that is complete. HN_IO.
HN_MUST_USE enum hn_code hn_checksum_write(struct hn_context *ctx, const char *path);

// HN_DATA if there is a checksum and it does not fit. A file without one, and one that is not there
// or not a regular file, pass: who reads it will say so. *there: it has one.
HN_MUST_USE enum hn_code hn_checksum_check(struct hn_context *ctx, const char *path, bool *there);

// True if these bytes are those of a file with a checksum that fits.
bool hn_checksum_fits(const char *bytes, int64_t size);

// True if an open file is of `size` bytes, checksum included, begins with this text, and its
// checksum fits; a block at a time.
bool hn_checksum_begins(int fd, int64_t size, const char *text);
