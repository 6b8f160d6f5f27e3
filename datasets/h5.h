// Small helpers over the HDF5 library, for the snapshot and the result store (the only two users).
#ifndef HN_DATASETS_H5_H
#define HN_DATASETS_H5_H

#include "core/context.h"
#include <hdf5.h>

// Turns off the library's own printing of errors and its clean-up at exit; call first in main().
void hn_h5_quiet(void);
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
// another kind. The text is owned by the caller.
HN_MUST_USE char *hn_h5_get_text(struct hn_context *ctx, hid_t object, const char *name,
                                 const char *fallback);
int64_t hn_h5_get_int(hid_t object, const char *name, int64_t fallback);
double hn_h5_get_real(hid_t object, const char *name, double fallback);

// How texts of variable length are read and written: through a buffer of a size for small tables,
// where HDF5 would clear a mebibyte for every column. Negative on failure; the caller closes it.
hid_t hn_h5_transfer_list(void);

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
// On failure the temporary file is removed (HN_IO).
HN_MUST_USE enum hn_code hn_h5_commit(struct hn_context *ctx, hid_t file, char *temporary,
                                      const char *path);
// The same with a checksum behind the end of the file (core/checksum.h).
HN_MUST_USE enum hn_code hn_h5_commit_sealed(struct hn_context *ctx, hid_t file, char *temporary,
                                             const char *path);
// Closes and removes an unfinished file. Frees temporary (NULL is fine).
void hn_h5_discard(struct hn_context *ctx, hid_t file, char *temporary);

#endif
