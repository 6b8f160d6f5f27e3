// SPDX-License-Identifier: GPL-3.0-or-later
// Registries as job files see them, and lists of values or of names of a registry.
#pragma once

#include "core/options/yaml.h"

// A registry as job files see it.
struct hn_registry_entry {
    const char *name, *former;       // former: an earlier name, still taken; NULL: none
    const struct hn_option *options; // NULL: a name is all there is
    size_t params_size;
    const void *type;
    bool wants_options; // `rest` leaves it out, and what draws by itself refuses it
};

struct hn_registry {
    const char *one, *many;                                  // "sampler", "samplers"
    int64_t max;                                             // points of a grid
    bool (*entry)(int64_t i, struct hn_registry_entry *out); // false: there are no more than i
    const char *(*refused)(const char *name);                // why a name is, or NULL; optional
    bool alone; // what is read is to draw by itself: nothing that wants options is suggested
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
