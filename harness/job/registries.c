// The registries that job files name entries of.
#include "harness/job/list.h"
#include "metrics/studies/study.h"
#include "samplers/sampler.h"
#include "training/net/loss.h"
#include "training/tasks/task.h"

#define ENTRY(function, list)                                                                      \
    static bool function(int64_t i, struct hn_registry_entry *out) {                               \
        if ((list)[i])                                                                             \
            *out = (struct hn_registry_entry){(list)[i]->name, (list)[i]->options,                 \
                                              (list)[i]->params_size, (list)[i]};                  \
        return (list)[i];                                                                          \
    }
#define NAMED_ENTRY(function, list)                                                                \
    static bool function(int64_t i, struct hn_registry_entry *out) {                               \
        *out = (struct hn_registry_entry){.name = (list)[i].name, .type = &(list)[i]};             \
        return (list)[i].name;                                                                     \
    }
ENTRY(sampler, hn_samplers)
ENTRY(weighting, hn_weightings)
ENTRY(study, hn_studies)
ENTRY(task, hn_tasks)
NAMED_ENTRY(loss, hn_losses)
NAMED_ENTRY(objective, hn_objectives)

static enum hn_code preset(struct hn_context *ctx, const void *type, void *params) {
    return hn_sampler_preset(ctx, type, params);
}

enum { POINTS_MAX = 100000 };
const struct hn_registry hn_sampler_registry = {
    .one = "sampler", .many = "samplers", .max = POINTS_MAX, .entry = sampler, .preset = preset};
const struct hn_registry hn_weighting_registry = {.one = "weighting",
                                                  .many = "weightings",
                                                  .max = POINTS_MAX,
                                                  .entry = weighting,
                                                  .refused = hn_ambiguous_loss};
const struct hn_registry hn_study_registry = {
    .one = "study", .many = "studies", .max = 1000, .entry = study};
const struct hn_registry hn_task_registry = {
    .one = "task", .many = "tasks", .max = POINTS_MAX, .entry = task};
const struct hn_registry hn_loss_registry = {
    .one = "loss", .many = "losses", .entry = loss, .refused = hn_ambiguous_loss};
const struct hn_registry hn_objective_registry = {
    .one = "loss", .many = "losses", .entry = objective, .refused = hn_ambiguous_loss};
