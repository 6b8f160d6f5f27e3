// SPDX-License-Identifier: GPL-3.0-or-later
// The keys of a mapping as a table, and their values: names of registries, lists and grids of
// entries. Job files, training jobs and claim files are such tables: one reader, one check for what
// is given twice and one text of what was read serve them all. No value comes twice in a list.
#pragma once

#include "harness/job/list.h"

struct hn_fields;
struct hn_yaml_text;

enum hn_field_kind {
    HN_FIELD_VALUE,  // one value, of the option's kind
    HN_FIELD_LIST,   // one value or several different ones: an array of the kind's type; with a
                     // registry, of names: an array of int, the numbers of its entries
    HN_FIELD_GROUP,  // a mapping: the struct at the offset
    HN_FIELD_GROUPS, // a list of mappings: an array of structs
    HN_FIELD_GRID,   // entries of a registry with their options: an array of points
    HN_FIELD_OWN     // read and written by functions of its own
};

// Form of lists and grids in the resolved text.
enum hn_list_style {
    HN_FLOW,     // seeds: [1, 2]
    HN_FLOW_ONE, // the same, but one item without brackets
    HN_BLOCK     // an item a line
};

struct hn_field {
    enum hn_field_kind kind;
    // Name, default (NULL = unset, or empty), bounds and offset in the struct. metavar: what the
    // values are, for messages ("file names"); NULL = as the kind says.
    struct hn_option option;
    bool required;
    enum hn_list_style layout;
    size_t count;     // LIST, GROUPS, GRID: offset of the number of items, int64_t
    const char *none; // LIST: the word for an empty one ("all" steps); NULL = it cannot be empty
    const struct hn_fields *of;         // GROUP, GROUPS
    const struct hn_registry *registry; // GRID, LIST of names
    // OWN. `in` and `out` are the struct that the table describes; value: NULL if the key is absent
    // and has no default. Optional but for `read`; `write` serves every kind.
    enum hn_code (*read)(struct hn_context *ctx, const struct hn_yaml *value, void *out);
    void (*write)(struct hn_yaml_text *t, const void *in);
};

struct hn_fields {
    const struct hn_field *field; // ends with one whose name is NULL
    size_t size;                  // of the struct
    // Optional. Checks that involve several keys, once all are read.
    enum hn_code (*check)(struct hn_context *ctx, const struct hn_yaml *map, void *out);
    int64_t max;      // product of the lengths of all lists and grids; 0 = any
    const char *many; // what there are so many of: "cells"
};

// Rows of a table; what follows goes into the option (.initial, .min, .max, .choices, .metavar).
#define HN_LIST_FIELD(kind_, element, type, field, n, name_, help_, ...)                           \
    .kind = HN_FIELD_LIST, .count = offsetof(type, n),                                             \
    .option = {HN_OPTION_FIELD(kind_, type, field, name_, help_, element * : 0), __VA_ARGS__}
#define HN_INTS_FIELD(type, field, n, name_, help_, ...)                                           \
    HN_LIST_FIELD(HN_OPTION_INT, int64_t, type, field, n, name_, help_, __VA_ARGS__)
#define HN_REALS_FIELD(type, field, n, name_, help_, ...)                                          \
    HN_LIST_FIELD(HN_OPTION_REAL, double, type, field, n, name_, help_, __VA_ARGS__)
#define HN_NAMES_FIELD(type, field, n, name_, registry_, help_, ...)                               \
    .kind = HN_FIELD_LIST, .count = offsetof(type, n), .registry = &(registry_),                   \
    .option = {.name = (name_),                                                                    \
               .kind = HN_OPTION_CHOICE,                                                           \
               .offset = offsetof(type, field),                                                    \
               .help = help_,                                                                      \
               __VA_ARGS__}
#define HN_GRID_FIELD(type, field, n, name_, registry_, help_, ...)                                \
    .kind = HN_FIELD_GRID, .count = offsetof(type, n), .registry = &(registry_),                   \
    .option = {.name = (name_), .offset = offsetof(type, field), .help = help_, __VA_ARGS__}
#define HN_GROUP_FIELD(type, field, name_, of_)                                                    \
    .kind = HN_FIELD_GROUP, .of = &(of_),                                                          \
    .option = {.name = (name_), .offset = offsetof(type, field)}

// Reads a mapping, in the order of the table, into `out` (zeroed). map: NULL = nothing is given.
// HN_USAGE with the place of what is wrong.
HN_MUST_USE enum hn_code hn_fields_read(struct hn_context *ctx, const struct hn_fields *table,
                                        const struct hn_yaml *map, void *out);
