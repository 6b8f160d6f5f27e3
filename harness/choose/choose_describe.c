// A choice as a JSON document; what is printed for people is read from it.
#include "harness/choose/choose.h"
#include "harness/job/resolve.h"
#include "results/records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double printed_level = 0.95;
static const char *const goal_names[HN_GOALS] = {"hardness", "p99", "hardest", "lme"};

char *hn_chosen_line(struct hn_context *ctx, const struct hn_chosen *c, int64_t arm) {
    const struct hn_job_sampler *s = &c->job.sampler[arm];
    const struct hn_point point = {s->type, s->params, s->text};
    struct hn_yaml_text text = {.ctx = ctx, .brief = true};
    hn_yaml_text_point(&text, &hn_sampler_registry, &point);
    if (text.failed)
        return NULL;
    if (strstr(text.data, ": {}}")) // all defaults: the name alone
        return hn_strdup(ctx, s->type->name);
    return text.data;
}

static json_t *interval(struct hn_interval i) {
    return json_pack("{s:o, s:o, s:o}", "mean", hn_json_real(i.mean), "lo", hn_json_real(i.lo),
                     "hi", hn_json_real(i.hi));
}

// Interval of the false-negative ratio; NaN without labels and without a prior.
static struct hn_interval false_of(const struct hn_evidence *e) {
    return hn_evidence_false(e, hn_halving_replicate(e), printed_level);
}

static struct hn_interval hard_of(const struct hn_evidence *e) {
    return hn_evidence_hard(e, hn_halving_replicate(e), printed_level);
}

static const char *fate_of(const struct hn_chosen *c, int64_t arm) {
    static const char *const names[] = {
        [HN_ARM_LEFT] = "left",        [HN_ARM_FAILED] = "failed", [HN_ARM_FALSE] = "over_fn",
        [HN_ARM_COSTLY] = "over_cost", [HN_ARM_SOFTER] = "softer", [HN_ARM_CUT] = "cut"};
    return arm == c->halving.best ? "chosen" : names[c->halving.arm[arm].fate];
}

static json_t *setting(struct hn_context *ctx, const struct hn_chosen *c, int64_t i) {
    const struct hn_arm *arm = &c->halving.arm[i];
    const struct hn_evidence *e = &arm->evidence;
    HN_SCOPE(ctx);
    const char *line = hn_chosen_line(ctx, c, i), *why = c->reason[i];
    if (!line)
        return NULL;
    if (arm->fate == HN_ARM_FAILED && !why)
        why = "its batches hold hardly any true negative";
    return json_pack(
        "{s:s, s:o, s:s, s:i, s:b, s:b, s:b, s:b, s:b, s:b, s:I, s:I, s:o, s:o, s:o, s:o, s:o, "
        "s:o, "
        "s:o}",
        "sampler", c->job.sampler[i].type->name, "job", hn_json_text(line), "fate", fate_of(c, i),
        "rung", arm->rung, "tied", arm->tied, "edge", arm->edge, "rival", arm->rival, "open",
        arm->open, "refined", i >= c->grid, "reference", i == c->halving.reference, "seeds",
        (json_int_t)e->seeds, "batches", (json_int_t)e->batches, "fn_ratio", interval(false_of(e)),
        "hardness", interval(hard_of(e)), "over_uniform", interval(arm->over_reference), "behind",
        interval(arm->behind), "seconds", hn_json_real(hn_evidence_seconds(e)), "dots",
        hn_json_real(hn_evidence_dots(e)), "error", why ? hn_json_text(why) : json_null());
}

struct place {
    const struct hn_halving *h;
    int64_t arm;
};

// The choice; what is left, tied, or a rival; what is less hard, the hardest first; what is over
// the budget, the fewest false negatives first; what failed.
static int rank_of(const struct place *p) {
    static const int ranks[] = {[HN_ARM_LEFT] = 1,  [HN_ARM_SOFTER] = 2, [HN_ARM_CUT] = 2,
                                [HN_ARM_FALSE] = 3, [HN_ARM_COSTLY] = 3, [HN_ARM_FAILED] = 4};
    const struct hn_arm *arm = &p->h->arm[p->arm];
    if (p->arm == p->h->best)
        return 0;
    return arm->tied || arm->rival ? 1 : ranks[arm->fate];
}

// The smaller, the earlier among those of a rank.
static double order_of(const struct place *p, int rank) {
    const struct hn_evidence *e = &p->h->arm[p->arm].evidence;
    return rank == 3 ? false_of(e).mean : -hard_of(e).mean;
}

static int by_place(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    int rank = rank_of(x), other = rank_of(y);
    if (rank != other)
        return rank - other;
    double p = order_of(x, rank), q = order_of(y, rank);
    if (p < q || p > q)
        return p < q ? -1 : 1;
    return (x->arm > y->arm) - (x->arm < y->arm);
}

static json_t *settings(struct hn_context *ctx, const struct hn_chosen *c) {
    HN_SCOPE(ctx);
    const struct hn_halving *h = &c->halving;
    struct place *place = hn_alloc(ctx, h->arms, sizeof *place);
    json_t *list = json_array();
    for (int64_t i = 0; place && i < h->arms; i++)
        place[i] = (struct place){h, i};
    if (place)
        qsort(place, (size_t)h->arms, sizeof *place, by_place);
    for (int64_t i = 0; place && i < h->arms; i++)
        json_array_append_new(list, setting(ctx, c, place[i].arm)); // NULL is not appended
    return list;
}

static json_t *checks(struct hn_context *ctx, const struct hn_chosen *c) {
    json_t *list = json_array();
    for (int64_t i = 0; i < c->checks; i++) {
        HN_SCOPE(ctx);
        const struct hn_choose_check *check = &c->check[i];
        const char *hardest = hn_chosen_line(ctx, c, check->hardest);
        json_array_append_new(
            list, json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "step", (json_int_t)check->step,
                            "fn_ratio", interval(check->false_negatives), "over_uniform",
                            interval(check->over_reference), "hardest",
                            hardest ? hn_json_text(hardest) : json_null(), "ahead",
                            interval(check->ahead), "error",
                            check->error ? hn_json_text(check->error) : json_null()));
    }
    return list;
}

// Units and seconds, and what the whole grid would take at the seeds of the last rung.
static json_t *work(const struct hn_chosen *c) {
    const struct hn_halving *h = &c->halving;
    double seconds = 0, full = 0;
    int64_t measured = 0;
    for (int64_t i = 0; i < h->arms; i++) {
        seconds += c->seconds[i];
        if (h->arm[i].evidence.seeds == 0)
            continue;
        full += c->seconds[i] / (double)h->arm[i].evidence.seeds * (double)h->seeds;
        measured++;
    }
    return json_pack("{s:I, s:f, s:I, s:f, s:f, s:i, s:I, s:f}", "units", (json_int_t)h->units,
                     "dots", h->dots, "full_units", (json_int_t)(measured * h->seeds), "seconds",
                     seconds, "full_seconds", full, "rungs", h->rungs, "check_units",
                     (json_int_t)c->check_units, "check_seconds", c->check_seconds);
}

json_t *hn_chosen_describe(struct hn_context *ctx, const struct hn_choose_spec *spec,
                           const struct hn_chosen *c) {
    const struct hn_halving *h = &c->halving;
    bool common = h->best >= 0 && !h->harder;
    json_t *out = json_pack(
        "{s:o, s:I, s:I, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:I, s:I, s:b, s:b, "
        "s:o, "
        "s:o, s:o}",
        "file", hn_json_text(spec->path), "step", (json_int_t)c->step, "batch_size",
        (json_int_t)spec->batch_size, "goal", goal_names[spec->goal], "temperature",
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
        "uniform_will_do", common, "settings", settings(ctx, c), "checks", checks(ctx, c), "work",
        work(c));
    if (out)
        return out;
    (void)hn_fail(ctx, HN_MEMORY, "no memory for the description of the choice");
    return NULL;
}
