// The parts of reading a job file: its meaning (job.c), grids (job_grid.c) of samplers and
// weightings (job_sampler.c), and the canonical text (job_resolve.c).
#ifndef HN_HARNESS_JOB_JOB_PRIVATE_H
#define HN_HARNESS_JOB_JOB_PRIVATE_H

#include "core/options/yaml.h"
#include "harness/job/job.h"

// Bounds on what a file may ask for: far above any real job, low enough that a hostile file costs
// neither memory nor time.
enum {
    HN_JOB_POINTS_MAX = 100000, // of all samplers together, or all weightings
    HN_JOB_STUDIES_MAX = 1000,  // points of all studies together
    HN_JOB_CELLS_MAX = 1000000  // product of everything that has a list
};

// Sets option `option` from a scalar node; a number in quotes is a text, and refused.
HN_MUST_USE enum hn_code hn_job_set(struct hn_context *ctx, const struct hn_option *table,
                                    void *params, const struct hn_option *option,
                                    const struct hn_yaml *value);

// A mapping of options, such as `timing`, into params (uninitialised before). NULL value: defaults.
HN_MUST_USE enum hn_code hn_job_read_group(struct hn_context *ctx, const char *name,
                                           const struct hn_option *table,
                                           const struct hn_yaml *value, void *params);
// The metrics that `value` names (NULL = all), into job->metric and job->snapshot_metric, and the
// studies, with their options, into job->study.
HN_MUST_USE enum hn_code hn_job_read_metrics(struct hn_context *ctx, const struct hn_yaml *value,
                                             struct hn_job *job);

// A scalar stands for a list of one: number of items and the first of them (count them: the last
// item of a scalar has a ->next of its own). HN_USAGE for an empty list.
HN_MUST_USE enum hn_code hn_job_items(struct hn_context *ctx, const char *key,
                                      const struct hn_yaml *value, const struct hn_yaml **first,
                                      int64_t *n);

// job_grid.c: what a grid may hold.
struct hn_grid_family {
    const char *one, *many;                            // "sampler", "samplers"
    bool (*type)(int64_t i, struct hn_grid_type *out); // false: there are no more than i
    const char *(*refused)(const char *name);          // why a name is, or NULL; optional
    // Optional. Sets what a preset among the parameters stands for; what is given is set again
    // after.
    enum hn_code (*preset)(struct hn_context *ctx, const void *type, void *params);
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

// The tree of a job file with the overrides `set` (NULL = none), a mapping; owned by the caller,
// also after a failure.
HN_MUST_USE enum hn_code hn_job_parse_file(struct hn_context *ctx, const char *path,
                                           const struct hn_text_list *set, struct hn_yaml **root);

extern const struct hn_option hn_job_timing_options[]; // of struct hn_job_timing

// job_resolve.c: fills job->resolved and its digest.
HN_MUST_USE enum hn_code hn_job_resolve(struct hn_context *ctx, struct hn_job *job);

#endif
