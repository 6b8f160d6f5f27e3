// SPDX-License-Identifier: GPL-3.0-or-later
// Over the HDF5 library, for snapshots and results: attributes, opening files that may be hostile
// (h5.c), their data sets and texts (h5_data.c), writing groups and arrays (h5_write.c).
#pragma once

#include "core/strings.h"
#include "datasets/hdf5_api.h"

// Turns off the library's own printing of errors and its clean-up at exit; call first in main().
void hn_h5_quiet(void);
// Closes identifiers of any kind, in their order; negative ones are fine. False if one failed.
bool hn_h5_close_all(const hid_t *id, size_t n);
#define hn_h5_close(...)                                                                           \
    hn_h5_close_all((const hid_t[]){__VA_ARGS__}, sizeof((hid_t[]){__VA_ARGS__}) / sizeof(hid_t))
// The identifier if all is good; else closes it and returns a negative one.
hid_t hn_h5_keep(hid_t id, bool good);
// Scalar variable-length UTF-8 string attribute.
HN_MUST_USE enum hn_code hn_h5_set_text(struct hn_context *ctx, hid_t object, const char *name,
                                        const char *text);
HN_MUST_USE enum hn_code hn_h5_set_int(struct hn_context *ctx, hid_t object, const char *name,
                                       int64_t value);
// 0 or 1, stored as int8.
HN_MUST_USE enum hn_code hn_h5_set_flag(struct hn_context *ctx, hid_t object, const char *name,
                                        bool value);
HN_MUST_USE enum hn_code hn_h5_set_real(struct hn_context *ctx, hid_t object, const char *name,
                                        double value);
// Attribute of any string or integer kind as text or number; `fallback` if it is absent or of
// another kind. The text is owned by the caller. One that cannot be read is an error.
HN_MUST_USE char *hn_h5_get_text(struct hn_context *ctx, hid_t object, const char *name,
                                 const char *fallback);
HN_MUST_USE enum hn_code hn_h5_get_int(struct hn_context *ctx, hid_t object, const char *name,
                                       int64_t fallback, int64_t *out);
HN_MUST_USE enum hn_code hn_h5_get_real(struct hn_context *ctx, hid_t object, const char *name,
                                        double fallback, double *out);

// Opens `path` read-only. HN_DATA: missing, unreadable, not HDF5 (says which, and the remedy).
HN_MUST_USE enum hn_code hn_h5_open(struct hn_context *ctx, const char *path, hid_t *file);
// HDF5 1.10 can crash on damaged attributes, against which a reader cannot guard itself. So a
// process of its own first goes through all objects and attributes (no values): HN_DATA if it
// breaks down or takes more than five seconds of processor time. For files from elsewhere, before
// hn_h5_open().
HN_MUST_USE enum hn_code hn_h5_probe(struct hn_context *ctx, const char *path);
// The same with another way to look at the file: HN_DATA if look(path, data) breaks down in a
// process of its own, or takes more processor time than five seconds and one for every 10 MiB.
HN_MUST_USE enum hn_code hn_h5_try(struct hn_context *ctx, const char *path,
                                   void (*look)(const char *path, void *data), void *data);
// Creates a file beside `path` under a temporary name (returned, owned by the caller), with link
// creation order kept. HN_USAGE if the folder is missing or not writable.
HN_MUST_USE enum hn_code hn_h5_create(struct hn_context *ctx, const char *path, hid_t *file,
                                      char **temporary);
// Flushes and closes the file, syncs it, renames it to `path`, syncs the folder. Frees temporary.
// with_checksum: with a checksum behind the end of the file (core/files.h). On failure the
// temporary file is removed (HN_IO).
HN_MUST_USE enum hn_code hn_h5_commit(struct hn_context *ctx, hid_t file, char *temporary,
                                      const char *path, bool with_checksum);
// Closes and removes an unfinished file. Frees temporary (NULL is fine).
void hn_h5_discard(struct hn_context *ctx, hid_t file, char *temporary);

// The type of texts of variable length, UTF-8. Negative on failure; the caller closes it.
hid_t hn_h5_text_type(void);

enum { HN_H5_RANK_MAX = 3 }; // of an array that is read or written
