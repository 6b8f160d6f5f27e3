// The keys of a mapping as a table, and their values: names of registries, lists and grids of
// entries. Job files, training jobs and claim files are such tables: one reader, one check for what
// is given twice and one text of what was read serve them all. No value comes twice in a list.
#pragma once

#include "core/bytes.h"
#include "core/options/yaml.h"

// A registry as job files see it.
struct hn_registry_entry {
    const char *name, *former;       // former: an earlier name, still taken; NULL: none
    const struct hn_option *options; // NULL: a name is all there is
    size_t params_size;
    const void *type;
    bool wants_options; // `rest` leaves it out
};
struct hn_registry {
    const char *one, *many;                                  // "sampler", "samplers"
    int64_t max;                                             // points of a grid
    bool (*entry)(int64_t i, struct hn_registry_entry *out); // false: there are no more than i
    const char *(*refused)(const char *name);                // why a name is, or NULL; optional
    // Sets what a preset among the parameters stands for; what is given is set again after.
    // Optional.
    enum hn_code (*preset)(struct hn_context *ctx, const void *type, void *params);
};
enum { HN_POINTS_MAX = 100000 };
// The function `entry` of a list of pointers to types with options, and of a list of types that
// ends with a NULL name.
#define HN_REGISTRY_ENTRIES(function, list)                                                        \
    static bool function(int64_t i, struct hn_registry_entry *out) {                               \
        if ((list)[i])                                                                             \
            *out = (struct hn_registry_entry){(list)[i]->name, NULL, (list)[i]->options,           \
                                              (list)[i]->params_size, (list)[i]};                  \
        return (list)[i];                                                                          \
    }
#define HN_REGISTRY_NAMES(function, list)                                                          \
    static bool function(int64_t i, struct hn_registry_entry *out) {                               \
        *out = (struct hn_registry_entry){.name = (list)[i].name, .type = &(list)[i]};             \
        return (list)[i].name;                                                                     \
    }
extern const struct hn_registry hn_sampler_registry, hn_weighting_registry, hn_study_registry,
    hn_task_registry, hn_loss_registry, hn_objective_registry;

// True if a node is the name of the entry.
bool hn_registry_names(const struct hn_registry_entry *entry, const struct hn_yaml *node);
// The entry that a node names, and its number. HN_USAGE with the nearest name.
HN_MUST_USE enum hn_code hn_registry_find(struct hn_context *ctx,
                                          const struct hn_registry *registry,
                                          const struct hn_yaml *name,
                                          struct hn_registry_entry *entry, int *number);
// The entry of that type.
struct hn_registry_entry hn_registry_entry_of(const struct hn_registry *registry, const void *type);

// A list of values of an option's kind, or of names of a registry. The caller frees the array, to
// which its texts belong, also after a failure.
struct hn_list {
    char *item; // [count] of hn_list_step() bytes
    int64_t count;
};
HN_MUST_USE enum hn_code hn_list_read(struct hn_context *ctx, const struct hn_option *option,
                                      const struct hn_registry *names, const struct hn_yaml *value,
                                      struct hn_list *out);
size_t hn_list_step(const struct hn_option *option);

// Value of a key of a mapping, or NULL.
const struct hn_yaml *hn_yaml_value(const struct hn_yaml *map, const char *key);
bool hn_yaml_is(const struct hn_yaml *value, const char *word); // a text, and this one
// A scalar stands for a list of one: number of items and the first of them (count them: the last
// item of a scalar has a ->next of its own). HN_USAGE for an empty list.
HN_MUST_USE enum hn_code hn_yaml_items(struct hn_context *ctx, const char *key,
                                       const struct hn_yaml *value, const struct hn_yaml **first,
                                       int64_t *n);
// HN_USAGE for what is no list of texts, or a text that stands for a list of one.
HN_MUST_USE enum hn_code hn_yaml_check_texts(struct hn_context *ctx, const struct hn_option *option,
                                             const struct hn_yaml *value);
// Sets an option from a scalar; a number in quotes is a text, and refused. A LIST from a list.
HN_MUST_USE enum hn_code hn_yaml_set(struct hn_context *ctx, const struct hn_option *option,
                                     const struct hn_yaml *value, void *params);

// Grids: an option that is given a list is an axis, and nested loops over the axes, in the order in
// which they are written, give the points.
//
// A point: an entry of a registry with its parameters. Points of all registries have one layout, by
// which they are read.
#define HN_POINT(type_)                                                                            \
    {                                                                                              \
        const type_ *type;                                                                         \
        void *params;                                                                              \
        char *text; /* canonical parameters ("K=100, M=500") */                                    \
    }
struct hn_point HN_POINT(void);

// Expands a list of entries into points, none of them twice. The item `rest` stands for every entry
// that the list does not name, with its defaults. others: items that name no entry are
// skipped. The caller frees the array, to which its points belong, also after a failure.
HN_MUST_USE enum hn_code hn_grid_read(struct hn_context *ctx, const struct hn_registry *registry,
                                      const struct hn_yaml *value, bool others,
                                      struct hn_list *out);
// The one point that a text stands for; the caller frees it. before: what messages put before the
// text ("sampler ").
HN_MUST_USE enum hn_code hn_grid_read_one(struct hn_context *ctx,
                                          const struct hn_registry *registry, const char *before,
                                          const char *text, struct hn_point **out);

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
// HN_USAGE with the place of what is wrong. What is allocated belongs to the owner of now
// (hn_own()), also after a failure.
HN_MUST_USE enum hn_code hn_fields_read(struct hn_context *ctx, const struct hn_fields *table,
                                        const struct hn_yaml *map, void *out);

// Text that grows. After a failed allocation nothing is added, and there will be no text.
struct hn_yaml_text {
    struct hn_context *ctx;
    struct hn_bytes bytes;
    bool failed, quoted; // quoted: names of entries and texts always stand in quotes
    bool brief;          // options that have their defaults are left out of points
};
void hn_yaml_text_put(struct hn_yaml_text *t, const char *text);
void hn_yaml_text_name(struct hn_yaml_text *t, const char *name); // in quotes where YAML wants them
char *hn_yaml_text_end(struct hn_yaml_text *t); // owned by the caller; NULL: out of memory
// "{batchsampler: {K: 100, M: 500}}"
void hn_yaml_text_point(struct hn_yaml_text *t, const struct hn_registry *registry,
                        const struct hn_point *point);

// The values as YAML, with every default: read again it gives the same, and the same text. Owned by
// the caller. quoted: names of entries and texts are always quoted.
HN_MUST_USE enum hn_code hn_fields_text(struct hn_context *ctx, const struct hn_fields *table,
                                        const void *in, bool quoted, char **out);
