// SPDX-License-Identifier: GPL-3.0-or-later
// YAML as a tree in which every node knows its position, and overrides of it from the command line:
// job files, training jobs and claim files are read through it.
#pragma once

#include "core/options/option.h"

// Bounds on what a file may ask for: far above any real file, low enough that a hostile one costs
// neither memory nor time.
enum {
    HN_YAML_FILE_MAX = 1 << 20,     // bytes
    HN_YAML_DEPTH_MAX = 32,         // mappings and lists within each other
    HN_YAML_NODES_MAX = 100000,     // in one file
    HN_YAML_CHILDREN_MAX = 2 * 4096 // of one node: 4096 keys with their values
};

enum hn_yaml_kind { HN_YAML_SCALAR, HN_YAML_LIST, HN_YAML_MAP };

// Origin of a text, for messages: "job.yaml:12:5", "--set batches=20".
struct hn_yaml_origin {
    const char *before; // "--set ", "sampler " or ""
    const char *name;   // borrowed: the file, or the text itself
    bool lines;         // a file, where line and column help
};

// One node. Children form a list; those of a mapping alternate between key (a scalar) and value.
struct hn_yaml {
    enum hn_yaml_kind kind;
    bool plain; // a scalar without quotes
    struct hn_yaml_origin origin;
    int64_t line, column; // from 1
    int64_t count;        // children, keys and values counted
    struct hn_yaml *first, *last, *next;
    char text[]; // of a scalar: UTF-8 without NUL
};

// Parses one document of `length` bytes. *out is NULL for an empty one. Nodes belong to the owner
// of the time, also after a failure and when they are replaced. HN_USAGE with the position for bad
// syntax, bad UTF-8, duplicate keys, anchors, tags and anything beyond the bounds above.
HN_MUST_USE enum hn_code hn_yaml_parse(struct hn_context *ctx, const char *text, int64_t length,
                                       struct hn_yaml_origin origin, struct hn_yaml **out);
// Key node of a mapping (its value is ->next), or NULL.
struct hn_yaml *hn_yaml_find(const struct hn_yaml *map, const char *key);
// Replaces or appends `key` with `value`: both move into the mapping.
void hn_yaml_put(struct hn_yaml *map, struct hn_yaml *key, struct hn_yaml *value);
void hn_yaml_remove(struct hn_yaml *map, const char *key);
// A node that is in no tree yet.
HN_MUST_USE struct hn_yaml *hn_yaml_new(struct hn_context *ctx, enum hn_yaml_kind kind,
                                        struct hn_yaml_origin origin, const char *text,
                                        int64_t length);
const char *hn_yaml_kind_name(const struct hn_yaml *node); // "a list"
// True for a value that YAML takes for none: nothing, ~ or null without quotes.
bool hn_yaml_is_null(const struct hn_yaml *node);

// HN_USAGE, with the position of the node before the message.
enum hn_code hn_yaml_fail(struct hn_context *ctx, const struct hn_yaml *at, const char *fmt, ...)
    HN_PRINTF(3, 4);
// Puts the position of the node before the recorded message.
enum hn_code hn_yaml_fail_in(struct hn_context *ctx, const struct hn_yaml *at);
// Bytes of a text to print in a message ("%.*s"): at most 60, not ending within a character.
int hn_yaml_clip(const char *text);

// Names that would have been right. A longer registry only loses suggestions.
struct hn_names {
    const char *name[128];
    int64_t n;
};
void hn_names_add(struct hn_names *names, const char *name);
// "unknown <what> 'batchs' (did you mean 'batches'?)", or with all names where none is near.
enum hn_code hn_yaml_fail_unknown(struct hn_context *ctx, const struct hn_yaml *at,
                                  const char *what, const struct hn_names *names);
