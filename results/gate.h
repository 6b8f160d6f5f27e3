// Gates of `compare`: --gate METRIC:LIMIT.
//
//   METRIC  a column of /runs or /snapshots, or a group of them: counters, quality, times
//   LIMIT   [+|-|=] NUMBER [%]
//
// Without a sign the value may get worse by at most NUMBER, in the direction that the column says
// is worse (columns where neither is better: either way). "+": it may rise by at most that; "-":
// fall;
// "=": neither. "%": of the value in BASE. A sign that would only forbid getting better is an
// error.
#ifndef HN_RESULTS_GATE_H
#define HN_RESULTS_GATE_H

#include "core/table.h"

enum hn_gate_side { HN_GATE_WORSE, HN_GATE_RISE, HN_GATE_FALL, HN_GATE_BOTH };

struct hn_gate {
    const char *text; // as given, borrowed
    char metric[64];
    double limit; // of the value's own unit, or a share of the value where `percent`
    bool percent;
    enum hn_gate_side side;
};

// The group of the columns of a role: "counters", "quality", "times", or NULL.
const char *hn_gate_group(enum hn_role role);
// True for such a group, which is not a column.
bool hn_gate_is_group(const char *metric);
// True if values depend on the machine and have no samples: shown, gated by name alone.
static inline bool hn_gate_by_name(enum hn_role role) {
    return role == HN_ROLE_MACHINE || role == HN_ROLE_DERIVED;
}

// HN_USAGE, with the grammar, for an invalid text. Whether the metric exists is not checked.
HN_MUST_USE enum hn_code hn_gate_parse(struct hn_context *ctx, const char *text,
                                       struct hn_gate *out);
// Checks whether the gate makes sense for the column: HN_USAGE for a sign that forbids getting
// better, a time without %, a column that is derived from another.
HN_MUST_USE enum hn_code hn_gate_check(struct hn_context *ctx, const struct hn_gate *gate,
                                       const struct hn_column *column);
// Size of a change for the worse from base to now, in the value's unit; negative: better.
double hn_gate_worse(enum hn_gate_side side, enum hn_direction direction, double base, double now);

#endif
