// SPDX-License-Identifier: GPL-3.0-or-later
// The registries that job files name samplers, weightings and losses of.
#include "harness/job/fields.h"
#include "harness/job/list.h"
#include "metrics/weighting.h"
#include "samplers/given.h"

HN_REGISTRY_ENTRIES(own_sampler, hn_samplers)
HN_REGISTRY_ENTRIES(given_sampler, hn_given_samplers)
HN_REGISTRY_ENTRIES(weighting, hn_weightings)
HN_REGISTRY_NAMES(loss, hn_losses)

static bool sampler(int64_t i, struct hn_registry_entry *out) {
    int64_t own = 0;
    while (hn_samplers[own])
        own++;
    if (i < own && own_sampler(i, out)) {
        out->former = hn_samplers[i]->former;
        return true;
    }
    bool found = given_sampler(i - own, out);
    out->wants_options = found;
    return found;
}

static enum hn_code preset(struct hn_context *ctx, const void *type, void *params) {
    return hn_sampler_preset(ctx, type, params);
}

const struct hn_registry hn_sampler_registry = {
    .one = "sampler", .many = "samplers", .max = HN_POINTS_MAX, .entry = sampler, .preset = preset};
const struct hn_registry hn_weighting_registry = {.one = "weighting",
                                                  .many = "weightings",
                                                  .max = HN_POINTS_MAX,
                                                  .entry = weighting,
                                                  .refused = hn_ambiguous_loss};
const struct hn_registry hn_loss_registry = {
    .one = "loss", .many = "losses", .entry = loss, .refused = hn_ambiguous_loss};
