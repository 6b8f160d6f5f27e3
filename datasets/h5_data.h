// SPDX-License-Identifier: GPL-3.0-or-later
// Data sets and texts of HDF5 files that may be hostile.
#pragma once

#include "datasets/h5.h"
#include "datasets/text.h"

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
    bool mapped;                 // onto data sets of other files: see hn_h5_data_open_mapped()
    bool chunked;
    hsize_t chunk[HN_H5_RANK_MAX];
};

// Why a data set is not read; the caller has the words for it.
enum hn_h5_fault {
    HN_H5_GOOD,
    HN_H5_ABSENT,
    HN_H5_LINKED,     // by a soft or external link
    HN_H5_UNFOUND,    // its link cannot be read
    HN_H5_IN_DATA,    // the path goes on behind a data set, as if that were a group
    HN_H5_UNREADABLE, // cannot be opened
    HN_H5_NOT_DATA,   // a group or a type
    HN_H5_NO_TYPE,
    HN_H5_NO_LAYOUT,
    HN_H5_ELSEWHERE, // external or virtual storage
    HN_H5_FILTER,    // compressed by a filter that is not there
    HN_H5_FAULTS
};

// The state of the link at `path`, from a file or group on: HN_H5_GOOD, ABSENT, LINKED, UNFOUND or
// IN_DATA.
// Every part must be a hard link: a soft or external one can lead to any file.
enum hn_h5_fault hn_h5_find(hid_t parent, const char *path);

// Nothing of `out` is open after a fault.
enum hn_h5_fault hn_h5_data_open(hid_t parent, const char *path, struct hn_h5_data *out);
// The same, where a virtual data set will do, which is put together of others, in other files too.
enum hn_h5_fault hn_h5_data_open_mapped(hid_t parent, const char *path, struct hn_h5_data *out);
void hn_h5_data_close(struct hn_h5_data *data); // of one that is not open is fine

// True if a file of so many bytes can hold as many values as the extent claims: unfiltered ones as
// they are, others by the most that deflate can shrink. Up to `exempt` bytes need no proof where
// there are filters (some store a constant in a few bytes).
bool hn_h5_data_holds(const struct hn_h5_data *data, int64_t file_bytes, int64_t exempt);
int64_t hn_h5_file_bytes(hid_t file); // 0: unknown

// HDF5 can crash on damaged texts of variable length: a process of its own reads them first, a few
// at a time (hn_h5_try()). For files from elsewhere, before hn_h5_read_texts(), with its arguments.
HN_MUST_USE enum hn_code hn_h5_try_texts(struct hn_context *ctx, const struct hn_h5_data *data,
                                         int64_t n, int64_t budget);

// Adds the n texts, of fixed or variable length, of a data set of rank 1 that has as many. HDF5 may
// allocate `budget` bytes for them. HN_DATA: unreadable.
HN_MUST_USE enum hn_code hn_h5_read_texts(struct hn_context *ctx, const struct hn_h5_data *data,
                                          int64_t n, int64_t budget, struct hn_strings *out);
// Returns the predicate of a sentence on a data set that is no array of numbers or texts: "holds
// ...".
const char *hn_h5_data_unfit(const struct hn_h5_data *data);
