// SPDX-License-Identifier: GPL-3.0-or-later
// The registries that only runs and trainings know: the library has none of these.
#include "harness/job/list.h"
#include "metrics/studies/study.h"
#include "metrics/weighting.h"
#include "training/net/loss.h"
#include "training/tasks/task.h"

HN_REGISTRY_ENTRIES(study, hn_studies)
HN_REGISTRY_ENTRIES(task, hn_tasks)
HN_REGISTRY_NAMES(objective, hn_objectives)

const struct hn_registry hn_study_registry = {
    .one = "study", .many = "studies", .max = 1000, .entry = study};
const struct hn_registry hn_task_registry = {
    .one = "task", .many = "tasks", .max = HN_POINTS_MAX, .entry = task};
const struct hn_registry hn_objective_registry = {
    .one = "loss", .many = "losses", .entry = objective, .refused = hn_ambiguous_loss};
