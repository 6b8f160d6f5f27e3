// The parts of reading a job file, shared by harness/job*.c and (the node tree) claims_read.c: a
// node tree that knows its places (job_yaml.c), overrides (job_set.c), its meaning (job.c), grids
// (job_grid.c) of samplers and weightings (job_sampler.c), and the canonical text (job_resolve.c).
#ifndef HN_HARNESS_JOB_JOB_PRIVATE_H
#define HN_HARNESS_JOB_JOB_PRIVATE_H

#include "harness/job/job.h"

// Bounds on what a file may ask for: far above any real job, low enough that a hostile file costs
// neither memory nor time.
enum {
    HN_JOB_FILE_MAX = 1 << 20,      // bytes
    HN_JOB_POINTS_MAX = 100000,     // of all samplers together, or all weightings
    HN_JOB_STUDIES_MAX = 1000,      // points of all studies together
    HN_JOB_CELLS_MAX = 1000000,     // product of everything that has a list
    HN_YAML_DEPTH_MAX = 32,         // mappings and lists within each other
    HN_YAML_NODES_MAX = 100000,     // in one file
    HN_YAML_CHILDREN_MAX = 2 * 4096 // of one node: 4096 keys with their values
};

enum hn_yaml_kind { HN_YAML_SCALAR, HN_YAML_LIST, HN_YAML_MAP };

// Where a text came from, for messages: "job.yaml:12:5", "--set batches=20".
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

// Parses one document of `length` bytes. *out is NULL for an empty one. HN_USAGE with the place for
// bad syntax, bad UTF-8, duplicate keys, anchors, tags and anything beyond the bounds above.
HN_MUST_USE enum hn_code hn_yaml_parse(struct hn_context *ctx, const char *text, int64_t length,
                                       struct hn_yaml_origin origin, struct hn_yaml **out);
void hn_yaml_free(struct hn_context *ctx, struct hn_yaml *node); // with its children
// Key node of a mapping (its value is ->next), or NULL.
struct hn_yaml *hn_yaml_find(const struct hn_yaml *map, const char *key);
// Replaces or appends `key` with `value`: both move into the mapping.
void hn_yaml_put(struct hn_context *ctx, struct hn_yaml *map, struct hn_yaml *key,
                 struct hn_yaml *value);
void hn_yaml_remove(struct hn_context *ctx, struct hn_yaml *map, const char *key);
// A node that is in no tree yet.
HN_MUST_USE struct hn_yaml *hn_yaml_new(struct hn_context *ctx, enum hn_yaml_kind kind,
                                        struct hn_yaml_origin origin, const char *text,
                                        int64_t length);
const char *hn_yaml_kind_name(const struct hn_yaml *node); // "a list"

// HN_USAGE, with the place of the node before the message.
enum hn_code hn_yaml_fail(struct hn_context *ctx, const struct hn_yaml *at, const char *fmt, ...)
    HN_PRINTF(3, 4);
// Puts the place of the node before the recorded message.
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

// Sets option `option` from a scalar node; a number in quotes is a text, and refused.
HN_MUST_USE enum hn_code hn_job_set(struct hn_context *ctx, const struct hn_option *table,
                                    void *params, const struct hn_option *option,
                                    const struct hn_yaml *value);

// A mapping of options, such as `timing`, into params (uninitialised before). NULL value: defaults.
HN_MUST_USE enum hn_code hn_job_read_group(struct hn_context *ctx, const char *name,
                                           const struct hn_option *table,
                                           const struct hn_yaml *value, void *params);
// The tree of a job file, a mapping; owned by the caller, also after a failure.
HN_MUST_USE enum hn_code hn_job_parse_file(struct hn_context *ctx, const char *path,
                                           struct hn_yaml **root);
// Texts of the file are in the message: no control character of theirs reaches a terminal.
void hn_job_clean_message(struct hn_context *ctx);

// The metrics that `value` names (NULL = all), into job->metric and job->snapshot_metric, and the
// studies, with their options, into job->study.
HN_MUST_USE enum hn_code hn_job_read_metrics(struct hn_context *ctx, const struct hn_yaml *value,
                                             struct hn_job *job);

// A scalar stands for a list of one: number of items and the first of them (count them: the last
// item of a scalar has a ->next of its own). HN_USAGE for an empty list.
HN_MUST_USE enum hn_code hn_job_items(struct hn_context *ctx, const char *key,
                                      const struct hn_yaml *value, const struct hn_yaml **first,
                                      int64_t *n);

// job_grid.c: what a grid may hold, an entry of a registry as far as a grid is concerned.
struct hn_grid_type {
    const char *name;
    const struct hn_option *options;
    size_t params_size;
    const void *type; // the registry's entry
};
struct hn_grid_family {
    const char *one, *many;                            // "sampler", "samplers"
    bool (*type)(int64_t i, struct hn_grid_type *out); // false: there are no more than i
    const char *(*refused)(const char *name);          // why a name is, or NULL; optional
    // Optional. Sets what a preset among the parameters stands for; what is given is set again
    // after.
    enum hn_code (*preset)(struct hn_context *ctx, const void *type, void *params);
};
struct hn_grid_point {
    struct hn_grid_type type;
    void *params; // owned
    char *text;   // canonical parameters, owned
};
// Expands a list of entries; the points are owned by the caller.
HN_MUST_USE enum hn_code hn_grid_read(struct hn_context *ctx, const struct hn_grid_family *family,
                                      const struct hn_yaml *value, struct hn_grid_point **point,
                                      int64_t *points);
void hn_grid_point_free(struct hn_context *ctx, struct hn_grid_point *point); // zeroed is fine
void hn_grid_free(struct hn_context *ctx, struct hn_grid_point *point, int64_t points);

// job_sampler.c: expands the samplers into job->sampler, the weightings into job->weighting.
HN_MUST_USE enum hn_code hn_job_read_samplers(struct hn_context *ctx, const struct hn_yaml *value,
                                              struct hn_job *job);
HN_MUST_USE enum hn_code hn_job_read_weightings(struct hn_context *ctx, const struct hn_yaml *value,
                                                struct hn_job *job);

// job_set.c: applies "key=value" to the root of a job file. Errors name "--set key=value".
HN_MUST_USE enum hn_code hn_job_override(struct hn_context *ctx, const char *text,
                                         struct hn_yaml *root);

extern const struct hn_option hn_job_timing_options[]; // of struct hn_job_timing

// job_resolve.c: fills job->resolved and its digest.
HN_MUST_USE enum hn_code hn_job_resolve(struct hn_context *ctx, struct hn_job *job);

#endif
