// SPDX-License-Identifier: GPL-3.0-or-later
// A choice as a JSON document, and what it has in common with the choice in words.
#include "harness/choose/choose.h"
#include "harness/choose/choose_private.h"
#include "harness/choose/evidence.h"
#include "harness/job/list.h"
#include "harness/job/resolve.h"
#include "results/records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

char *hn_chosen_line(struct hn_context *ctx, const struct hn_job_sampler *s) {
    const struct hn_point point = {s->type, s->params, s->text};
    struct hn_yaml_text text = {.ctx = ctx, .brief = true};
    hn_yaml_text_point(&text, &hn_sampler_registry, &point);
    char *line = hn_yaml_text_end(&text);
    bool all_defaults = line && strstr(line, ": {}}");
    return all_defaults ? hn_strdup(ctx, s->type->name) : line;
}

static json_t *interval(struct hn_interval i) {
    return json_pack("{s:o, s:o, s:o}", "mean", hn_json_real(i.mean), "lo", hn_json_real(i.lo),
                     "hi", hn_json_real(i.hi));
}

struct hn_interval hn_choice_false(const struct hn_evidence *e, double level) {
    return hn_evidence_false(e, hn_over_of(e->seeds), level);
}

struct hn_interval hn_choice_hard(const struct hn_evidence *e, double level) {
    return hn_evidence_hard(e, hn_over_of(e->seeds), level);
}

const char *hn_choice_error(const struct hn_chosen *c, int64_t arm) {
    bool unknown = c->halving.arm[arm].fate == HN_ARM_FAILED && !c->reason[arm];
    return unknown ? "its batches hold hardly any true negative" : c->reason[arm];
}

static const char *fate_of(const struct hn_chosen *c, int64_t arm) {
    static const char *const names[] = {
        [HN_ARM_LEFT] = "left",        [HN_ARM_FAILED] = "failed", [HN_ARM_FALSE] = "over_fn",
        [HN_ARM_COSTLY] = "over_cost", [HN_ARM_SOFTER] = "softer", [HN_ARM_CUT] = "cut"};
    return arm == c->halving.best ? "chosen" : names[c->halving.arm[arm].fate];
}

static json_t *setting(const struct hn_chosen *c, int64_t i, const char *line) {
    const struct hn_arm *arm = &c->halving.arm[i];
    const struct hn_evidence *e = &arm->evidence;
    const char *why = hn_choice_error(c, i);
    return json_pack(
        "{s:s, s:o, s:s, s:i, s:b, s:b, s:b, s:b, s:b, s:b, s:I, s:I, s:o, s:o, s:o, s:o, s:o, "
        "s:o, s:o}",
        "sampler", c->job.sampler[i].type->name, "job", hn_json_text(line), "fate", fate_of(c, i),
        "rung", arm->rung, "tied", arm->standing == HN_ARM_TIED, "edge", arm->edge, "rival",
        arm->standing == HN_ARM_RIVAL, "open", arm->standing == HN_ARM_OPEN, "refined",
        i >= c->grid, "reference", i == c->halving.reference, "seeds", (json_int_t)e->seeds,
        "batches", (json_int_t)e->batches, "fn_ratio",
        interval(hn_choice_false(e, hn_choice_alone)), "hardness",
        interval(hn_choice_hard(e, hn_choice_alone)), "over_uniform", interval(arm->over_reference),
        "behind", interval(arm->behind), "seconds", hn_json_real(hn_evidence_seconds(e)), "dots",
        hn_json_real(hn_evidence_dots(e)), "error", why ? hn_json_text(why) : json_null());
}

struct ranked {
    const struct hn_halving *h;
    int64_t arm;
};

// The choice; what is left, tied, or a rival; what is less hard, the hardest first; what is over
// the budget, the fewest false negatives first; what failed.
static int rank_of(const struct ranked *p) {
    static const int ranks[] = {[HN_ARM_LEFT] = 1,  [HN_ARM_SOFTER] = 2, [HN_ARM_CUT] = 2,
                                [HN_ARM_FALSE] = 3, [HN_ARM_COSTLY] = 3, [HN_ARM_FAILED] = 4};
    const struct hn_arm *arm = &p->h->arm[p->arm];
    if (p->arm == p->h->best)
        return 0;
    return arm->standing == HN_ARM_TIED || arm->standing == HN_ARM_RIVAL ? 1 : ranks[arm->fate];
}

// The smaller, the earlier among those of a rank.
static double order_of(const struct ranked *p, int rank) {
    const struct hn_evidence *e = &p->h->arm[p->arm].evidence;
    return rank == 3 ? hn_choice_false(e, hn_choice_alone).mean
                     : -hn_choice_hard(e, hn_choice_alone).mean;
}

static int by_rank(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    int rank = rank_of(x), other = rank_of(y);
    if (rank != other)
        return rank - other;
    double p = order_of(x, rank), q = order_of(y, rank);
    if (p < q || p > q)
        return p < q ? -1 : 1;
    return (x->arm > y->arm) - (x->arm < y->arm);
}

enum hn_code hn_choice_list(struct hn_context *ctx, const struct hn_chosen *c,
                            struct hn_choice_list *out) {
    const struct hn_halving *h = &c->halving;
    struct ranked *ranked = hn_alloc(ctx, h->arms, sizeof *ranked);
    if (!ranked || !HN_ALLOC(ctx, out->order, h->arms) || !HN_ALLOC(ctx, out->line, h->arms))
        return ctx->code;
    for (int64_t i = 0; i < h->arms; i++) {
        ranked[i] = (struct ranked){h, i};
        if (!(out->line[i] = hn_chosen_line(ctx, &c->job.sampler[i])))
            return ctx->code;
    }
    qsort(ranked, (size_t)h->arms, sizeof *ranked, by_rank);
    for (int64_t k = 0; k < h->arms; k++)
        out->order[k] = ranked[k].arm;
    return HN_OK;
}

static json_t *settings(const struct hn_chosen *c, const struct hn_choice_list *l) {
    json_t *list = json_array();
    for (int64_t k = 0; k < c->halving.arms; k++)
        json_array_append_new(list, setting(c, l->order[k], l->line[l->order[k]]));
    return list;
}

static json_t *checks(const struct hn_chosen *c, const struct hn_choice_list *l) {
    json_t *list = json_array();
    for (const struct hn_choose_check *check = c->check; check < c->check + c->checks; check++)
        json_array_append_new(
            list, json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "step", (json_int_t)check->step,
                            "fn_ratio", interval(check->false_negatives), "over_uniform",
                            interval(check->over_reference), "hardest",
                            hn_json_text(l->line[check->hardest]), "ahead", interval(check->ahead),
                            "error", check->error ? hn_json_text(check->error) : json_null()));
    return list;
}

struct hn_choice_work hn_choice_work(const struct hn_chosen *c) {
    const struct hn_halving *h = &c->halving;
    struct hn_choice_work work = {0, 0, 0};
    for (int64_t i = 0; i < h->arms; i++) {
        work.seconds += c->seconds[i];
        if (h->arm[i].evidence.seeds == 0)
            continue;
        work.full_seconds += c->seconds[i] / (double)h->arm[i].evidence.seeds * (double)h->seeds;
        work.full_units += h->seeds;
    }
    return work;
}

// The choice, with the intervals that hold for all settings together; null without one.
static json_t *together(const struct hn_halving *h) {
    double level = hn_halving_together(h);
    if (h->best < 0)
        return json_null();
    const struct hn_evidence *e = &h->arm[h->best].evidence;
    return json_pack("{s:f, s:o, s:o, s:o}", "level", level, "fn_ratio",
                     interval(hn_choice_false(e, level)), "hardness",
                     interval(hn_choice_hard(e, level)), "over_uniform", interval(h->best_over));
}

static json_t *work(const struct hn_chosen *c) {
    const struct hn_choice_work w = hn_choice_work(c);
    return json_pack("{s:I, s:f, s:I, s:f, s:f, s:i, s:I, s:f}", "units",
                     (json_int_t)c->halving.units, "dots", c->halving.dots, "full_units",
                     (json_int_t)w.full_units, "seconds", w.seconds, "full_seconds", w.full_seconds,
                     "rungs", c->halving.rungs, "check_units", (json_int_t)c->check_units,
                     "check_seconds", c->check_seconds);
}

json_t *hn_chosen_describe(struct hn_context *ctx, const struct hn_choose_spec *spec,
                           const struct hn_chosen *c) {
    const struct hn_halving *h = &c->halving;
    struct hn_choice_list list;
    HN_SCOPE(ctx);
    if (hn_choice_list(ctx, c, &list))
        return NULL;
    json_t *out = json_pack(
        "{s:o, s:I, s:I, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:I, s:I, s:b, s:b, "
        "s:b, s:o, s:o, s:o, s:o}",
        "file", hn_json_text(spec->path), "step", (json_int_t)c->step, "batch_size",
        (json_int_t)spec->batch_size, "goal", hn_goals[spec->goal], "temperature",
        hn_json_real(spec->goal == HN_GOAL_LME ? spec->temperature : NAN), "max_fn",
        hn_json_real(spec->max_false), "max_excess", hn_json_real(spec->max_excess), "budget",
        hn_json_real(hn_halving_budget(h)), "max_cost", hn_json_real(spec->max_cost),
        "step_seconds", hn_json_real(spec->step_seconds), "false_negatives",
        c->labelled          ? "counted"
        : isnan(spec->prior) ? "unknown"
                             : "bound",
        "prior", hn_json_real(spec->prior), "classes",
        spec->classes == INT64_MIN ? json_null() : json_integer(spec->classes), "seed",
        (json_int_t)spec->seed, "seeds", (json_int_t)spec->seeds, "found", h->best >= 0,
        "uniform_will_do", h->alike, "decided", h->best < 0 || h->harder || h->alike, "together",
        together(h), "settings", settings(c, &list), "checks", checks(c, &list), "work", work(c));
    if (out)
        return out;
    (void)hn_fail(ctx, HN_MEMORY, "no memory for the description of the choice");
    return NULL;
}
