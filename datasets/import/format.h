// SPDX-License-Identifier: GPL-3.0-or-later
// The formats that embeddings and labels are read from. A new one is a file and a line of the list;
// the options, `hardneg list formats`, the fuzz targets and the tests read it.
#pragma once

#include "datasets/import/array.h"

struct hn_format {
    const char *name, *summary;
    const char *const *endings;    // of the names of files, ended by NULL
    const char *magic;             // the first bytes of every file, NULL: none are known
    size_t magic_bytes;            // at most HN_FILE_HEAD
    bool by_name;                  // s->path is opened again, and cannot be standard input
    bool has_labels;               // files may hold labels
    bool rows_named, labels_named; // files hold several, of which one has hn_wanted.name
    // Rows or labels. s stands at the begin of the file. out is zeroed. HN_DATA names file and
    // position and what is wrong. Sizes are bounded by the file.
    enum hn_code (*read)(struct hn_context *ctx, struct hn_source *s, const struct hn_wanted *want,
                         struct hn_array *out);
    // Formats whose rows stand one after the other, else NULL: their type and shape. s then stands
    // at the first value, with the bytes of all of them left. Errors as above.
    enum hn_code (*head)(struct hn_context *ctx, struct hn_source *s, const struct hn_wanted *want,
                         struct hn_array_type *type, struct hn_array *out);
};

#define HN_FORMATS(X)                                                                              \
    X(npy)                                                                                         \
    X(npz)                                                                                         \
    X(safetensors)                                                                                 \
    X(vecs)                                                                                        \
    X(bin)                                                                                         \
    X(tsv)                                                                                         \
    X(hdf5)                                                                                        \
    X(raw)
#define X(name) extern const struct hn_format hn_format_##name;
HN_FORMATS(X)
#undef X
extern const struct hn_format *const hn_formats[]; // ended by NULL
// Choices of an option: "auto" (found by the first bytes and the name of the file), then the names
// in the order of the list; and those of bare values, "none" first.
#define X(name) HN_FORMAT_##name,
enum hn_format_choice { HN_FORMAT_auto, HN_FORMATS(X) };
#undef X
extern const char *const hn_format_names[], *const hn_raw_names[];
extern const struct hn_array_type hn_raw_types[];

// Opens a file of rows that stand one after the other: *good, with `s` at the first value, their
// type and their shape, to be closed by the caller. Others are not open then. HN_DATA as above.
HN_MUST_USE enum hn_code hn_format_open(struct hn_context *ctx, const char *path,
                                        enum hn_format_choice choice, const struct hn_wanted *want,
                                        struct hn_source *s, struct hn_array_type *type,
                                        struct hn_array *out, bool *good);

// Reads a file, or standard input ("-"), in the format hn_format_names[choice]: out is
// real[n x d] of rank 2, or, where labels are wanted, integer or text of rank 1. HN_DATA as above;
// HN_USAGE for bare values without type or dimensions.
HN_MUST_USE enum hn_code hn_format_read(struct hn_context *ctx, const char *path,
                                        enum hn_format_choice choice, const struct hn_wanted *want,
                                        struct hn_array *out);
