// SPDX-License-Identifier: GPL-3.0-or-later
// Successive halving over settings: rungs, budgets, and decisions by intervals.
#include "harness/choose/halving.h"

#include "harness/choose/evidence.h"

#include <math.h>
#include <stdlib.h>

// Seeds from which on they are the replicates of decisions, at whose levels Student's quantiles of
// fewer are useless; and seeds of a lone setting.
enum { SEEDS_TELL = 8, SEEDS_ALONE = 4 };

static const double printed_level = 0.95;
static const double edge_level = 0.99; // a setting is looked at in several rungs

int hn_halving_rungs(int64_t seeds) {
    int rungs = 1;
    for (int64_t have = 1; have < seeds; have *= 2)
        rungs++;
    return rungs;
}

static enum hn_over decides(int64_t seeds) {
    return seeds >= SEEDS_TELL ? HN_OVER_SEEDS : HN_OVER_BATCHES;
}

static double level_of(const struct hn_halving *h) {
    return 1 - h->error / ((double)h->arms * hn_halving_rungs(h->seeds));
}

double hn_halving_together(const struct hn_halving *h) {
    return 1 - (1 - printed_level) / (double)hn_max(1, h->arms - 1); // the reference is not picked
}

static double hardness(const struct hn_arm *arm) {
    return hn_evidence_hard(&arm->evidence, HN_OVER_BATCHES, printed_level).mean;
}

static double false_negatives(const struct hn_arm *arm) {
    return hn_evidence_false(&arm->evidence, HN_OVER_BATCHES, printed_level).mean;
}

static bool has_limit(double budget) { return !isnan(budget); }

static bool in_time(const struct hn_halving *h, const struct hn_arm *arm) {
    return !has_limit(h->max_seconds) || hn_evidence_seconds(&arm->evidence) <= h->max_seconds;
}

double hn_halving_budget(const struct hn_halving *h) {
    return has_limit(h->max_false) ? h->max_false
                                   : false_negatives(&h->arm[h->reference]) + h->max_excess;
}

static bool has_budget(const struct hn_halving *h) {
    return has_limit(h->max_false) || has_limit(h->max_excess);
}

// False negatives less their budget.
static struct hn_interval over_budget(const struct hn_halving *h, const struct hn_arm *arm,
                                      enum hn_over by, double level) {
    struct hn_interval fn = hn_evidence_false(&arm->evidence, by, level);
    double half = (fn.hi - fn.lo) / 2, mean = fn.mean - hn_halving_budget(h);
    if (has_limit(h->max_excess)) {
        const struct hn_evidence *r = &h->arm[h->reference].evidence;
        struct hn_interval reference = hn_evidence_false(r, by, level);
        half = arm == &h->arm[h->reference] ? 0 : hypot(half, (reference.hi - reference.lo) / 2);
    }
    return (struct hn_interval){mean, mean - half, mean + half};
}

bool hn_halving_within(const struct hn_halving *h, const struct hn_arm *arm) {
    return (!has_budget(h) || over_budget(h, arm, HN_OVER_BATCHES, printed_level).mean <= 0) &&
           in_time(h, arm);
}

bool hn_halving_on_edge(const struct hn_halving *h, const struct hn_arm *arm, enum hn_over by) {
    struct hn_interval over = over_budget(h, arm, by, edge_level);
    return has_budget(h) && over.lo <= 0 && over.hi > 0;
}

// Above the budget of false negatives, and perhaps within.
static bool may_be_within(const struct hn_halving *h, const struct hn_arm *arm, enum hn_over by) {
    return !hn_halving_within(h, arm) && in_time(h, arm) && hn_halving_on_edge(h, arm, by);
}

// Other work on the machine only lengthens times: the least of them counts until the end. A single
// one may be that of a cold cache, and is given half of its value.
static bool is_costly(const struct hn_halving *h, const struct hn_evidence *e) {
    double min = INFINITY;
    for (int64_t s = 0; s < e->seeds; s++)
        min = fmin(min, e->seconds[s]);
    return has_limit(h->max_seconds) && min > h->max_seconds * (e->seeds == 1 ? 2 : 1);
}

static void fall(struct hn_arm *arm, enum hn_arm_fate fate, int rung) {
    arm->fate = fate;
    arm->rung = rung;
}

// Budgets. Returns the leader: the hardest that is surely within them; -1 = none.
static int64_t judge_budgets(struct hn_halving *h, int rung) {
    int64_t leader = -1;
    for (int64_t i = 0; i < h->arms; i++) {
        struct hn_arm *arm = &h->arm[i];
        if (arm->fate != HN_ARM_LEFT)
            continue;
        struct hn_interval over = over_budget(h, arm, decides(arm->evidence.seeds), level_of(h));
        if (has_budget(h) && over.lo > 0)
            fall(arm, HN_ARM_FALSE, rung);
        else if (is_costly(h, &arm->evidence))
            fall(arm, HN_ARM_COSTLY, rung);
        else if ((!has_budget(h) || over.hi <= 0) && in_time(h, arm) &&
                 (leader < 0 || hardness(arm) > hardness(&h->arm[leader])))
            leader = i;
    }
    return leader;
}

static enum hn_code judge_hardness(struct hn_context *ctx, struct hn_halving *h, int rung,
                                   int64_t seeds, int64_t leader) {
    for (int64_t i = 0; i < h->arms && leader >= 0; i++) {
        struct hn_arm *arm = &h->arm[i];
        struct hn_interval ahead;
        if (arm->fate != HN_ARM_LEFT || i == leader)
            continue;
        if (hn_evidence_difference(ctx, &h->arm[leader].evidence, &arm->evidence, decides(seeds),
                                   level_of(h), &ahead))
            return ctx->code;
        if (ahead.lo > 0)
            fall(arm, HN_ARM_SOFTER, rung);
    }
    return HN_OK;
}

struct rank {
    int64_t arm;
    enum { WITHIN, EDGE, ABOVE } side;
    double hardness;
    int64_t turn; // of those within and on the edge, 0 = its side's hardest
};

// The hardest first, then in their order.
static int by_hardness(const void *a, const void *b) {
    const struct rank *x = a, *y = b;
    if (x->hardness != y->hardness)
        return x->hardness > y->hardness ? -1 : 1;
    return (x->arm > y->arm) - (x->arm < y->arm);
}

static int by_turn(const void *a, const void *b) {
    const struct rank *x = a, *y = b;
    if ((x->side == ABOVE) != (y->side == ABOVE))
        return x->side == ABOVE ? 1 : -1;
    if (x->turn != y->turn)
        return x->turn < y->turn ? -1 : 1;
    return (x->side > y->side) - (x->side < y->side);
}

// Puts what is left of the settings into rank[], in the order in which they go on; their number.
static int64_t rank_left(const struct hn_halving *h, struct rank *rank) {
    int64_t n = 0, turns[] = {0, 0, 0};
    for (int64_t i = 0; i < h->arms; i++) {
        const struct hn_arm *arm = &h->arm[i];
        if (arm->fate == HN_ARM_LEFT)
            rank[n++] =
                (struct rank){.arm = i,
                              .side = hn_halving_within(h, arm)                             ? WITHIN
                                      : may_be_within(h, arm, decides(arm->evidence.seeds)) ? EDGE
                                                                                            : ABOVE,
                              .hardness = hardness(arm)};
    }
    qsort(rank, (size_t)n, sizeof *rank, by_hardness);
    for (int64_t i = 0; i < n; i++)
        rank[i].turn = turns[rank[i].side]++;
    qsort(rank, (size_t)n, sizeof *rank, by_turn);
    return n;
}

static int64_t count_left(const struct hn_halving *h) {
    int64_t n = 0;
    for (int64_t i = 0; i < h->arms; i++)
        n += h->arm[i].fate == HN_ARM_LEFT;
    return n;
}

// Inner products of a seed of a setting.
static double dots_of(const struct hn_arm *arm) {
    const struct hn_evidence *e = &arm->evidence;
    return e->seeds > 0 ? hn_evidence_dots(e) * (double)e->end[0] : 0;
}

struct work {
    double units, dots;
};

static bool fits(struct work need, struct work capacity) {
    return need.units <= capacity.units && need.dots <= capacity.dots;
}

// Work of the first rung less that of later ones so far. The reference does not count: it is always
// measured.
static struct work work_left(const struct hn_halving *h) {
    struct work left = {0, 0};
    for (int64_t i = 0; i < h->arms; i++) {
        double seeds = (double)h->arm[i].evidence.seeds, dots = dots_of(&h->arm[i]);
        if (seeds < 1 || i == h->reference)
            continue;
        left.units += 1 - (seeds - 1);
        left.dots += dots - (seeds - 1) * dots;
    }
    return left;
}

// Number of rank[n] that the next rung can measure, with `seeds` more of each; `rungs` are left,
// this one included.
static int64_t affordable(const struct hn_halving *h, const struct rank *rank, int64_t n,
                          int64_t seeds, int rungs) {
    enum { GO_ON = 2 };
    struct work left = work_left(h), share = {left.units / rungs, left.dots / rungs};
    struct work need = {0, 0};
    for (int64_t i = 0; i < n; i++) {
        if (rank[i].arm != h->reference) {
            need.units += (double)seeds;
            need.dots += (double)seeds * dots_of(&h->arm[rank[i].arm]);
        }
        if (!fits(need, i < GO_ON ? left : share))
            return i;
    }
    return n;
}

// Before the rung that brings `want` seeds of `have`.
static enum hn_code cut(struct hn_context *ctx, struct hn_halving *h, int64_t have, int64_t want) {
    HN_SCOPE(ctx);
    struct rank *rank = hn_alloc(ctx, h->arms, sizeof *rank);
    int64_t kept = h->arms;
    if (!rank)
        return ctx->code;
    for (int r = 0; r < h->rungs; r++)
        kept = (kept + 1) / 2;
    int64_t n = rank_left(h, rank);
    kept = hn_min(n, hn_max(kept, HN_HALVING_KEPT));
    kept = hn_max(1, affordable(h, rank, kept, want - have, hn_halving_rungs(h->seeds) - h->rungs));
    for (int64_t i = kept; i < n; i++)
        fall(&h->arm[rank[i].arm], HN_ARM_CUT, h->rungs);
    return HN_OK;
}

// True if the settings that are left may have that many more seeds: a single one has a few in any
// case.
static bool goes_on(const struct hn_halving *h, int64_t seeds) {
    struct work need = {0, 0};
    if (count_left(h) == 1)
        return true;
    for (int64_t i = 0; i < h->arms; i++)
        if (h->arm[i].fate == HN_ARM_LEFT && i != h->reference) {
            need.units += (double)seeds;
            need.dots += (double)seeds * dots_of(&h->arm[i]);
        }
    return fits(need, work_left(h));
}

// True if a few batches hold all that hardness is measured on, as where nearly all negatives are
// false: then no interval tells anything. Counted as if all had the same weight (Kish).
static bool is_measurable(const struct hn_halving *h, const struct hn_arm *arm) {
    double sum = 0, squares = 0;
    for (int64_t b = 0; b < arm->evidence.batches; b++) {
        double counted = arm->evidence.batch[b].counted;
        sum += counted;
        squares += counted * counted;
    }
    return isfinite(hardness(arm)) &&
           sum * sum >= squares * fmin(4, (double)arm->evidence.batches) / 2 &&
           (!has_budget(h) || isfinite(false_negatives(arm)));
}

static enum hn_code measure_one(struct hn_context *ctx, struct hn_halving *h, int64_t i,
                                int64_t seed) {
    struct hn_arm *arm = &h->arm[i];
    if (arm->fate == HN_ARM_FAILED || (arm->fate != HN_ARM_LEFT && i != h->reference) ||
        arm->evidence.seeds > seed)
        return HN_OK;
    if (hn_check_stop(ctx) || h->measure(ctx, h->of, i, seed, arm))
        return ctx->code;
    h->units++;
    if (arm->evidence.seeds > 0)
        h->dots += dots_of(arm);
    if (!is_measurable(h, arm))
        fall(arm, HN_ARM_FAILED, h->rungs);
    return HN_OK;
}

// The reference comes first.
static enum hn_code measure_all(struct hn_context *ctx, struct hn_halving *h, int64_t seed) {
    if (measure_one(ctx, h, h->reference, seed))
        return ctx->code;
    for (int64_t i = 0; i < h->arms; i++)
        if (i != h->reference && measure_one(ctx, h, i, seed))
            return ctx->code;
    return HN_OK;
}

// Finds the best of those that are left; where more seeds took all of these over a budget, of those
// that were cut or less hard.
static void find_best(struct hn_halving *h) {
    h->best = -1;
    for (int all = 0; all < 2 && h->best < 0; all++)
        for (int64_t i = 0; i < h->arms; i++) {
            struct hn_arm *arm = &h->arm[i];
            bool taken = all ? arm->fate == HN_ARM_CUT || arm->fate == HN_ARM_SOFTER
                             : arm->fate == HN_ARM_LEFT;
            if (taken && hn_halving_within(h, arm) &&
                (h->best < 0 || hardness(arm) > hardness(&h->arm[h->best])))
                h->best = i;
        }
}

// Holds a setting against the choice, whose hardness over the reference is `gain`, and against the
// reference.
static enum hn_code hold_one(struct hn_context *ctx, struct hn_halving *h, int64_t i, double gain) {
    struct hn_arm *arm = &h->arm[i];
    const struct hn_evidence *e = &arm->evidence;
    enum hn_over by = hn_over_of(e->seeds);
    bool counts =
        i != h->best && i != h->reference && (arm->fate == HN_ARM_LEFT || arm->fate == HN_ARM_CUT);
    arm->behind = (struct hn_interval){NAN, NAN, NAN};
    arm->edge = arm->fate != HN_ARM_FAILED && hn_halving_on_edge(h, arm, by);
    if (hn_evidence_difference(ctx, e, &h->arm[h->reference].evidence, by, printed_level,
                               &arm->over_reference) ||
        hn_evidence_difference(ctx, e, &h->arm[h->reference].evidence, by, hn_halving_together(h),
                               &arm->together))
        return ctx->code;
    if (h->best >= 0 && i != h->best && arm->fate != HN_ARM_FAILED &&
        hn_evidence_difference(ctx, &h->arm[h->best].evidence, e, by, printed_level, &arm->behind))
        return ctx->code;
    bool within = hn_halving_within(h, arm) && h->best >= 0, edge = may_be_within(h, arm, by);
    struct hn_interval fn = hn_evidence_false(e, by, printed_level);
    bool known = !has_budget(h) || fn.hi - fn.lo <= 2 * HN_HALVING_KNOWN;
    bool close = h->best < 0 || arm->behind.hi <= HN_HALVING_TIED * gain;
    if (!counts || !(within || edge) || arm->behind.lo > 0)
        arm->standing = HN_ARM_BEHIND;
    else
        arm->standing = !known || !close ? HN_ARM_OPEN : within ? HN_ARM_TIED : HN_ARM_RIVAL;
    return HN_OK;
}

static enum hn_code hold_together(struct hn_context *ctx, struct hn_halving *h) {
    struct hn_interval over = {0, 0, 0};
    h->best_over = over;
    if (h->best >= 0) {
        const struct hn_evidence *e = &h->arm[h->best].evidence;
        const struct hn_evidence *reference = &h->arm[h->reference].evidence;
        if (hn_evidence_difference(ctx, e, reference, hn_over_of(e->seeds), hn_halving_together(h),
                                   &h->best_over) ||
            hn_evidence_difference(ctx, e, reference, decides(e->seeds), level_of(h), &over))
            return ctx->code;
    }
    h->harder = h->best != h->reference && over.lo > 0;
    for (int64_t i = 0; i < h->arms; i++)
        if (hold_one(ctx, h, i, h->best_over.mean))
            return ctx->code;
    h->alike = h->best >= 0 && !h->harder;
    for (int64_t i = 0; i < h->arms; i++)
        h->alike &= !hn_halving_undecided(h, i);
    return HN_OK;
}

bool hn_halving_undecided(const struct hn_halving *h, int64_t i) {
    const struct hn_arm *arm = &h->arm[i];
    enum hn_over by = hn_over_of(arm->evidence.seeds);
    bool within =
        in_time(h, arm) && (!has_budget(h) || !(over_budget(h, arm, by, edge_level).lo > 0));
    return i != h->reference && arm->fate != HN_ARM_FAILED && within &&
           !(by == HN_OVER_SEEDS && arm->together.hi <= h->margin);
}

// The seeds to which undecided settings are brought next; 0: they have all.
static int64_t next_seeds(const struct hn_halving *h) {
    int64_t min = h->seeds;
    for (int64_t i = 0; i < h->arms; i++)
        if (hn_halving_undecided(h, i))
            min = hn_min(min, h->arm[i].evidence.seeds);
    return min < h->seeds ? hn_min(h->seeds, hn_max(SEEDS_ALONE, 2 * min)) : 0;
}

static enum hn_code measure_undecided(struct hn_context *ctx, struct hn_halving *h, int64_t want) {
    for (int64_t seed = 0; seed < want; seed++)
        if (measure_one(ctx, h, h->reference, seed))
            return ctx->code;
    for (int64_t i = 0; i < h->arms; i++) {
        if (!hn_halving_undecided(h, i))
            continue;
        h->arm[i].fate = HN_ARM_LEFT;
        for (int64_t seed = 0; seed < want; seed++)
            if (measure_one(ctx, h, i, seed))
                return ctx->code;
    }
    return HN_OK;
}

// Batches of one build do not tell how builds differ: the choice has seeds enough that these are
// its replicates, or is another one.
static enum hn_code confirm(struct hn_context *ctx, struct hn_halving *h) {
    int64_t want = hn_min(SEEDS_ALONE, h->seeds);
    find_best(h);
    while (h->best >= 0 && h->arm[h->best].evidence.seeds < want) {
        struct hn_arm *arm = &h->arm[h->best];
        arm->fate = HN_ARM_LEFT;
        for (int64_t seed = 0; seed < want; seed++)
            if (measure_one(ctx, h, h->reference, seed) || measure_one(ctx, h, h->best, seed))
                return ctx->code;
        judge_budgets(h, h->rungs);
        find_best(h);
    }
    return HN_OK;
}

// The end of the rungs shows no setting to be harder: see the header.
static enum hn_code settle(struct hn_context *ctx, struct hn_halving *h) {
    int64_t want;
    while (h->best >= 0 && !h->harder && !h->alike && (want = next_seeds(h)) > 0) {
        h->rungs++;
        if (measure_undecided(ctx, h, want))
            return ctx->code;
        judge_budgets(h, h->rungs);
        if (confirm(ctx, h) || hold_together(ctx, h))
            return ctx->code;
    }
    return HN_OK;
}

enum hn_code hn_halving_run(struct hn_context *ctx, struct hn_halving *h) {
    int64_t have = 0, want = 1;
    for (h->rungs = 0; have < h->seeds; want = hn_min(h->seeds, 2 * have)) {
        h->rungs++;
        for (; have < want; have++)
            if (measure_all(ctx, h, have))
                return ctx->code;
        int64_t next = hn_min(h->seeds, 2 * have), leader = judge_budgets(h, h->rungs);
        if (judge_hardness(ctx, h, h->rungs, have, leader) ||
            (have < h->seeds && cut(ctx, h, have, next)))
            return ctx->code;
        int64_t left = count_left(h);
        if (left == 0 || (left == 1 && have >= SEEDS_ALONE) || !goes_on(h, next - have))
            break;
    }
    return confirm(ctx, h) || hold_together(ctx, h) ? ctx->code : settle(ctx, h);
}
