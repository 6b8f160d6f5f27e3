// SPDX-License-Identifier: GPL-3.0-or-later
// Writing groups, arrays and texts by the HDF5 library.
#pragma once

#include "datasets/h5.h"

// Transfer list for texts of variable length, with a buffer of a size for small tables, where HDF5
// would clear a mebibyte for every column. Negative on failure; the caller closes it.
hid_t hn_h5_transfer_list(void);

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
