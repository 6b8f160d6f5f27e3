// Non-inferiority: whether a setting has at most so many more than another. "Not different" is not
// "equal": an interval that holds 0 says nothing while it is wide, so what is called no more has
// the upper end of its interval below a stated margin.
#ifndef HN_RESULTS_ANALYSIS_JUDGE_H
#define HN_RESULTS_ANALYSIS_JUDGE_H

#include "results/analysis/means.h"

#define HN_MARGIN 0.005         // of the false-negative ratio: half a point
#define HN_HARDNESS_MARGIN 0.02 // of a cosine: what is harder by less is as good as Uniform

enum hn_within { HN_UNDETERMINED, HN_WITHIN, HN_BEYOND };

// Judges a paired difference against a margin: within if its interval's upper end is at most the
// margin, beyond if its lower end lies above. Undetermined without an interval over seeds, as
// batches of one seed say nothing of other builds (means.h).
enum hn_within hn_judge(struct hn_mean difference, double margin);
// About how many seeds would tell, if mean and deviation stay as they are; 0: more than 999, or the
// deviation is unknown.
int64_t hn_judge_seeds(struct hn_mean difference, double margin);
// The sign of a difference that its interval over seeds tells, 0 if it does not. Without such an
// interval the sign of the mean.
int hn_told_apart(struct hn_mean difference);
// True if a setting with these differences to another, or their signs, is better in one and no
// worse in the other. A front is what nothing beats.
bool hn_beats(double false_negatives, double hardness);

#endif
