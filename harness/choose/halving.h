// SPDX-License-Identifier: GPL-3.0-or-later
// Successive halving over settings (Jamieson and Talwalkar, AISTATS 2016; Karnin, Koren and Somekh,
// ICML 2013), with intervals: which setting is the hardest within a budget?
//
// A unit of work is one seed of a setting: a build and its batches. After the rungs every setting
// that is left has 1, 2, 4, 8 ... seeds, in the last one `seeds`. A rung rules a setting out as
//
//   over the budget: its interval of false negatives lies above the budget (or its time does). A
//     budget over the reference applies to the difference, whose half interval is the root of the
//     sum of squares of both halves;
//   less hard: the interval of its difference in hardness to the leader lies below 0. The leader is
//     the hardest of those whose interval lies within the budget;
//   cut: more than max(KEPT, settings / 2^rung) are left, or more than the work allows, and it is
//     among the least hard of them, or above the budget. No interval says so, so it is compared
//     with the choice at the end.
//
// A setting is on the edge of the budget if its 99 % interval contains the budget. In a cut the
// settings whose mean is within the budget and those on the edge above it take turns, the hardest
// first; settings above it come last. The mean of the choice is within the budget. At the end
// settings on the edge above it, by the replicates that are printed, are named as well, unless they
// are less hard than the choice.
//
// All later rungs together cost at most as much as the first one, in units and in inner products:
// with 20 seeds a tenth of the full grid. Each rung has an equal share of what remains, but two
// settings go on as long as anything remains, and a single one until it has four seeds.
//
// The choice has four seeds at least (or all there are): where one was left behind with fewer, it
// is given them, and takes part again. Batches of one build do not tell how builds differ, and by
// them the best of many within the budget was above it in up to 30 % of runs.
//
// If this shows no setting to be harder than the reference, those that may be, by the margin and
// within the budget, have more seeds, all that are allowed if need be: that none is
// harder wants evidence as well.
//
// The error of decisions by intervals is bounded: intervals are one-sided at error / (2 settings x
// rungs), since in a rung the best setting takes part in at most 2 settings - 1 decisions (its own
// budget; the budgets of leaders; its difference to each of them). A cut has no such bound.
#pragma once

#include "harness/choose/evidence.h"

enum hn_arm_fate {
    HN_ARM_LEFT,
    HN_ARM_FAILED, // it could not be measured
    HN_ARM_FALSE,  // over the budget of false negatives
    HN_ARM_COSTLY, // over the budget of time
    HN_ARM_SOFTER,
    HN_ARM_CUT
};

// Standing of a setting beside the choice. Tied: within the budget; rival: on its edge, above it.
// Both have nearly all of the choice's hardness over the reference (HN_HALVING_TIED) by the upper
// end of `behind`, and false negatives that are known within HN_HALVING_KNOWN. Open: not less hard,
// and known less well.
enum hn_arm_standing { HN_ARM_BEHIND, HN_ARM_TIED, HN_ARM_RIVAL, HN_ARM_OPEN };

struct hn_arm {
    struct hn_evidence evidence;
    enum hn_arm_fate fate;
    int rung; // from 1, that ruled it out; 0 = none did
    // At the end:
    enum hn_arm_standing standing;
    bool edge;                         // its false negatives are on the edge of the budget
    struct hn_interval behind;         // hardness of the choice less its own, 95 %
    struct hn_interval over_reference; // its own less the reference's, 95 %
    struct hn_interval together;       // the same at hn_halving_together()
};

struct hn_halving {
    struct hn_arm *arm; // [arms], zeroed before, owned by the caller
    int64_t arms;
    int64_t reference;             // of comparisons: measured in every rung, whatever it is like
    int64_t seeds;                 // of the last rung, at most HN_EVIDENCE_SEEDS
    double max_false, max_seconds; // budgets: of the ratio, of a batch; NaN = none
    double max_excess;             // of the ratio less the reference's; NaN = none
    double margin;                 // of hardness: what is harder by less is as good
    double error;                  // probability that an interval drops the best setting
    // Adds seed number `seed` (from 0) of an arm to its evidence. Sets `fate` to HN_ARM_FAILED if
    // it cannot be measured.
    enum hn_code (*measure)(struct hn_context *ctx, void *of, int64_t arm, int64_t seed,
                            struct hn_arm *out);
    void *of;
    // Out:
    int rungs;     // that were run
    int64_t units; // seeds of settings that were measured
    double dots;   // inner products of these
    int64_t best;  // the hardest within the budget, -1 = none is
    bool harder; // than the reference, by an interval at the level of decisions, as it is the best
                 // of many
    bool alike;  // none that may be within the budget is harder than the reference by the margin
    struct hn_interval best_over; // its hardness over the reference's, at hn_halving_together()
};

enum { HN_HALVING_KEPT = 3 };
#define HN_HALVING_TIED 0.2   // of the choice's hardness over the reference, that a tie may lack
#define HN_HALVING_KNOWN 0.02 // half of the interval of false negatives

// Runs all rungs, or until one setting is left that has four seeds. Settings may have seeds
// already, or be ruled out: then those that are left are brought to the same seeds.
HN_MUST_USE enum hn_code hn_halving_run(struct hn_context *ctx, struct hn_halving *h);
// Rungs at most: 1, 2, 4 ... seeds.
int hn_halving_rungs(int64_t seeds);
// True if a setting may be within the budgets and harder than the reference by the margin: no
// interval over seeds, at hn_halving_together(), ends below it.
bool hn_halving_undecided(const struct hn_halving *h, int64_t arm);
// True if an arm is within the budgets by what was measured, whatever the intervals say.
bool hn_halving_within(const struct hn_halving *h, const struct hn_arm *arm);
// The budget of false negatives as a ratio; NaN without one.
double hn_halving_budget(const struct hn_halving *h);
// True if its false negatives, by those replicates, are on the edge of their budget.
bool hn_halving_on_edge(const struct hn_halving *h, const struct hn_arm *arm, enum hn_over by);
// Level of intervals of what is picked: those of all settings hold together with 95 % (Bonferroni).
double hn_halving_together(const struct hn_halving *h);
