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
// another kind. The text is owned by the caller.
HN_MUST_USE char *hn_h5_get_text(struct hn_context *ctx, hid_t object, const char *name,
                                 const char *fallback);
int64_t hn_h5_get_int(hid_t object, const char *name, int64_t fallback);
double hn_h5_get_real(hid_t object, const char *name, double fallback);

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

enum { HN_H5_RANK_MAX = 3 };

// An open data set of a file that is not trusted; its values stand in that file.
struct hn_h5_data {
    hid_t id, type; // negative: not open
    H5T_class_t class;
    int64_t size;                // bytes of one value
    int rank;                    // 0: no array
    hsize_t dim[HN_H5_RANK_MAX]; // 1 beyond the rank; 0 where the rank is larger
    int64_t stored;              // bytes of the values in the file
    int filters, missing_filter; // the latter where the fault is HN_H5_FILTER
    int deflate;                 // level, 0: not compressed so
    bool chunked;
    hsize_t chunk[HN_H5_RANK_MAX];
};
// Why a data set is not read; the caller has the words for it.
enum hn_h5_fault {
    HN_H5_GOOD,
    HN_H5_ABSENT,
    HN_H5_LINKED,     // by a soft or external link
    HN_H5_UNFOUND,    // its link cannot be read
    HN_H5_UNREADABLE, // cannot be opened
    HN_H5_NOT_DATA,   // a group or a type
    HN_H5_NO_TYPE,
    HN_H5_NO_LAYOUT,
    HN_H5_ELSEWHERE, // external or virtual storage
    HN_H5_FILTER,    // compressed by a filter that is not there
    HN_H5_FAULTS
};
// Of the link at `path`, from a file or group on: HN_H5_GOOD, ABSENT, LINKED or UNFOUND. Every part
// must be a hard link: a soft or external one can lead to any file.
enum hn_h5_fault hn_h5_find(hid_t parent, const char *path);
// Nothing of `out` is open after a fault.
enum hn_h5_fault hn_h5_data_open(hid_t parent, const char *path, struct hn_h5_data *out);
void hn_h5_data_close(struct hn_h5_data *data); // of one that is not open is fine
// True if a file of so many bytes can hold as many values as the extent claims: unfiltered ones as
// they are, others by the most that deflate can shrink. Up to `exempt` bytes need no proof where
// there are filters (some store a constant in a few bytes).
bool hn_h5_data_holds(const struct hn_h5_data *data, int64_t file_bytes, int64_t exempt);
int64_t hn_h5_file_bytes(hid_t file); // 0: unknown

// Adds the n texts, of fixed or variable length, of a data set of rank 1 that has as many. HDF5 may
// allocate `budget` bytes for them. HN_DATA: unreadable.
HN_MUST_USE enum hn_code hn_h5_read_texts(struct hn_context *ctx, const struct hn_h5_data *data,
                                          int64_t n, int64_t budget, struct hn_strings *out);

// Transfer list for texts of variable length, with a buffer of a size for small tables, where HDF5
// would clear a mebibyte for every column. Negative on failure; the caller closes it.
hid_t hn_h5_transfer_list(void);
hid_t hn_h5_text_type(void); // variable length, UTF-8; likewise

// An array to be written below a group: data[dim], of type `memory`, stored as `type`.
struct hn_h5_array {
    const char *name; // or path
    hid_t type, memory;
    int rank;
    hsize_t dim[HN_H5_RANK_MAX];
    const void *data;              // NULL: written later
    hsize_t chunk[HN_H5_RANK_MAX]; // chunk[0] = 0: contiguous
    int deflate;                   // level, with shuffle, of chunks; 0: none
    bool grows;                    // along its first axis
    hid_t transfer;                // 0: the library's
};
// These return an open identifier, or a negative one on failure, without a message.
hid_t hn_h5_write_group(hid_t parent, const char *path);
hid_t hn_h5_write_array(hid_t parent, const struct hn_h5_array *array);
// The same as a dimension scale of that name.
hid_t hn_h5_write_scale(hid_t parent, const struct hn_h5_array *array, const char *name);
// Attribute of n texts.
bool hn_h5_write_texts(hid_t object, const char *name, const char *const *text, int64_t n);
