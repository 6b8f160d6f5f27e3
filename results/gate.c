#include "results/gate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *hn_gate_group(enum hn_role role) {
    static const char *const groups[HN_ROLES] = {[HN_ROLE_COUNTER] = "counters",
                                                 [HN_ROLE_QUALITY] = "quality",
                                                 [HN_ROLE_BINNED] = "quality",
                                                 [HN_ROLE_TIME] = "times"};
    return groups[role];
}

bool hn_gate_is_group(const char *metric) {
    for (int role = 0; role < HN_ROLES; role++) {
        const char *group = hn_gate_group((enum hn_role)role);
        if (group && strcmp(metric, group) == 0)
            return true;
    }
    return false;
}

static enum hn_code no_gate(struct hn_context *ctx, const char *text, const char *what) {
    return hn_fail(ctx, HN_USAGE,
                   "--gate %.100s: %s; write METRIC:LIMIT, e.g. n_dot:0%%, fn_ratio:+0.002, "
                   "cost_s:5%%, where METRIC is a column, counters, quality or times",
                   text, what);
}

enum hn_code hn_gate_parse(struct hn_context *ctx, const char *text, struct hn_gate *out) {
    static const char signs[] = "+-=";
    static const enum hn_gate_side side[] = {HN_GATE_RISE, HN_GATE_FALL, HN_GATE_BOTH};
    const char *colon = strchr(text, ':');
    *out = (struct hn_gate){.text = text, .side = HN_GATE_WORSE};
    if (!colon || colon == text || colon - text >= (int64_t)sizeof out->metric)
        return no_gate(ctx, text, "the metric or the limit is missing");
    memcpy(out->metric, text, (size_t)(colon - text));
    const char *number = colon + 1, *sign = *number ? strchr(signs, *number) : NULL;
    if (sign) {
        out->side = side[sign - signs];
        number++;
    }
    char *end;
    out->limit = strtod(number, &end);
    bool digits = end > number && !strchr("+-", *number) && // decimal alone: 0x10 is not a limit
                  (size_t)(end - number) <= strspn(number, "0123456789.eE+-");
    out->percent = *end == '%';
    if (!digits || !isfinite(out->limit) || end[out->percent ? 1 : 0] != '\0')
        return no_gate(ctx, text, "the limit is not a number of 0 or more");
    if (out->percent)
        out->limit /= 100;
    return HN_OK;
}

static enum hn_code forbids_better(struct hn_context *ctx, const struct hn_gate *gate,
                                   const struct hn_column *column) {
    bool smaller = column->direction == HN_SMALLER;
    const char *limit = strchr(gate->text, ':') + 2;
    return hn_fail(ctx, HN_USAGE,
                   "--gate %s: %s is better %s, so that this would only forbid it to get better; "
                   "write %s:%s%s, or %s:=%s for neither way",
                   gate->text, column->name, smaller ? "smaller" : "larger", column->name,
                   smaller ? "+" : "-", limit, column->name, limit);
}

enum hn_code hn_gate_check(struct hn_context *ctx, const struct hn_gate *gate,
                           const struct hn_column *column) {
    bool named = column->role == HN_ROLE_IDENTITY || column->role == HN_ROLE_SETTING;
    if (named || column->kind == HN_COLUMN_TEXT)
        return hn_fail(ctx, HN_USAGE, "--gate %s: %s names what was run and is not a measurement",
                       gate->text, column->name);
    if (column->role == HN_ROLE_DERIVED)
        return hn_fail(ctx, HN_USAGE,
                       "--gate %s: %s is derived from cost_g and has no samples of "
                       "its own; gate cost_g",
                       gate->text, column->name);
    if (column->role == HN_ROLE_TIME && (!gate->percent || gate->side > HN_GATE_RISE))
        return hn_fail(ctx, HN_USAGE,
                       "--gate %s: a time is gated by the least slowdown that counts, in percent, "
                       "e.g. %s:5%%",
                       gate->text, gate->metric);
    if ((gate->side == HN_GATE_RISE && column->direction == HN_LARGER) ||
        (gate->side == HN_GATE_FALL && column->direction == HN_SMALLER))
        return forbids_better(ctx, gate, column);
    return HN_OK;
}

double hn_gate_worse(enum hn_gate_side side, enum hn_direction direction, double base, double now) {
    double change = now - base;
    if (side == HN_GATE_WORSE && direction != HN_NEITHER)
        side = direction == HN_SMALLER ? HN_GATE_RISE : HN_GATE_FALL;
    switch (side) {
    case HN_GATE_RISE: return change;
    case HN_GATE_FALL: return -change;
    default: return fabs(change);
    }
}
