// Successive halving over settings (Jamieson and Talwalkar, AISTATS 2016; Karnin, Koren and Somekh,
// ICML 2013), with intervals: which setting is the hardest within a budget.
//
// A unit of work is a seed of a setting: a build and its batches. Rungs take 1, 2, 4, 8 ... seeds
// in all, the last one `seeds`; what is left has the same seeds. After a rung a setting falls out
//
//   over the budget: its interval of false negatives lies above the budget (or its time does); a
//     budget over the reference is held against the difference to it, whose half interval is the
//     root of the sum of squares of both halves;
//   softer: the interval of its difference in hardness to the leader, which is the hardest of those
//     whose interval lies within the budget, lies below 0;
//   cut: more than max(KEPT, settings / 2^rung) are left, or more than there is work for, and it is
//     among the softest of them, or above the budget. Nothing told it apart: it is held against the
//     choice at the end.
//
// A setting is on the edge of the budget if its interval of 99 % holds it: what was measured
// hardly tells on which side it lies. In a cut those whose mean is within and those on the edge
// above it take turns, the hardest first, before those above it: so the hardest within goes on
// first, and the hardest that may be within next to it. The choice is one whose mean is within; at
// the end settings on the edge above it, by the replicates that are printed, are told, too, if they
// are not less hard than the choice.
//
// All later rungs together take as much as the first one at most, in units and in inner products:
// with 20 seeds a tenth of the full grid. Each rung has an equal share of what is left of that, but
// two settings go on as long as any of it is left for them, and a single one until it has four.
//
// Of the two that intervals decide the error is bounded: intervals are one-sided at error / (2
// settings x rungs), since in a rung the best setting takes part in at most 2 settings - 1
// decisions (its own budget; the budgets of leaders; its difference to each of them). A cut has no
// such bound.
#ifndef HN_HARNESS_CHOOSE_HALVING_H
#define HN_HARNESS_CHOOSE_HALVING_H

#include "harness/choose/evidence.h"

enum hn_arm_fate {
    HN_ARM_LEFT,
    HN_ARM_FAILED, // it could not be measured
    HN_ARM_FALSE,  // over the budget of false negatives
    HN_ARM_COSTLY, // over the budget of time
    HN_ARM_SOFTER,
    HN_ARM_CUT
};

struct hn_arm {
    struct hn_evidence evidence;
    enum hn_arm_fate fate;
    int rung; // from 1, in which it fell out; 0 = it did not
    // Of the end:
    // Within the budget, on its edge above it, or neither is known. A tie or a rival has nearly all
    // of the choice's hardness over the reference (HN_HALVING_TIED) by the upper end of `behind`,
    // and false negatives that are known within HN_HALVING_KNOWN; what is not softer and not known
    // so well is open.
    bool tied, rival, open;
    bool edge;                         // its false negatives are on the edge of the budget
    struct hn_interval behind;         // hardness of the choice less its own, 95 %
    struct hn_interval over_reference; // its own less the reference's, 95 %
};

struct hn_halving {
    struct hn_arm *arm; // [arms], zeroed before, owned by the caller
    int64_t arms;
    int64_t reference;             // of comparisons: measured in every rung, whatever it is like
    int64_t seeds;                 // of the last rung, at most HN_EVIDENCE_SEEDS
    double max_false, max_seconds; // budgets: of the ratio, of a batch; NaN = none
    double max_excess;             // of the ratio less the reference's; NaN = none
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
    bool harder; // than the reference, by an interval at the level of decisions: it is the best of
                 // many, some of which are ahead by chance
};

enum { HN_HALVING_KEPT = 3 };
#define HN_HALVING_TIED 0.2   // of the choice's hardness over the reference, that a tie may lack
#define HN_HALVING_KNOWN 0.02 // half of the interval of false negatives

// Runs all rungs, or until one setting is left that has four seeds. Settings may have seeds already
// or have fallen out: then those that are left are brought to the same seeds.
HN_MUST_USE enum hn_code hn_halving_run(struct hn_context *ctx, struct hn_halving *h);
// Rungs at most: 1, 2, 4 ... seeds.
int hn_halving_rungs(int64_t seeds);
// True if an arm is within the budgets by what was measured, whatever the intervals say.
bool hn_halving_within(const struct hn_halving *h, const struct hn_arm *arm);
// The budget of false negatives as a ratio; NaN without one.
double hn_halving_budget(const struct hn_halving *h);
// True if its false negatives, by those replicates, are on the edge of their budget.
bool hn_halving_on_edge(const struct hn_halving *h, const struct hn_arm *arm, enum hn_replicate by);
// Replicates of the intervals that are printed: seeds, where there are three.
enum hn_replicate hn_halving_replicate(const struct hn_evidence *e);

#endif
