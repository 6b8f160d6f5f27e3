// SPDX-License-Identifier: GPL-3.0-or-later
// Gates and the verdict of a comparison.
#include "core/text.h"
#include "results/compare.h"
#include "results/slowdown.h"

#include "core/options/option.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
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
                   "--gate %s: %s; write METRIC:LIMIT, e.g. n_dot:0%%, fn_ratio:+0.002, "
                   "cost_s:5%%, where METRIC is a column, counters, quality or times",
                   hn_quote(text).text, what);
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

static bool is_measurement(const struct hn_column *column) {
    return column->role != HN_ROLE_IDENTITY && column->role != HN_ROLE_SETTING &&
           column->kind != HN_COLUMN_TEXT;
}

// HN_USAGE for a sign that forbids getting better, a time without %, a column derived from another.
static enum hn_code check_gate(struct hn_context *ctx, const struct hn_gate *gate,
                               const struct hn_column *column) {
    if (!is_measurement(column))
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

const struct hn_gate *hn_compare_gate(const struct hn_compare_options *options, const char *name,
                                      enum hn_role role) {
    const char *group = hn_gate_group(role);
    const struct hn_gate *named = NULL, *grouped = NULL;
    for (int64_t i = 0; i < options->n_gates; i++) {
        const struct hn_gate *gate = &options->gate[i];
        if (name && strcmp(gate->metric, name) == 0)
            named = gate;
        else if (group && strcmp(gate->metric, group) == 0)
            grouped = gate;
    }
    return named ? named : grouped;
}

// Suggests what check_gate() takes.
static enum hn_code unknown_metric(struct hn_context *ctx, const struct hn_results *r,
                                   const struct hn_gate *gate) {
    const struct hn_table *table[] = {&r->runs, hn_results_table(r, "snapshots")};
    const char *names[1024] = {"counters", "quality", "times"};
    int64_t n = 3;
    for (int t = 0; t < 2; t++)
        for (int c = 0; table[t] && c < table[t]->n_columns && n < 1024; c++)
            if (is_measurement(&table[t]->column[c]) && table[t]->column[c].role != HN_ROLE_DERIVED)
                names[n++] = table[t]->column[c].name;
    const char *meant = hn_suggest(gate->metric, names, n);
    return hn_fail(ctx, HN_USAGE,
                   "--gate %s: BASE has no column %s%s%s%s; hardneg list metrics names them, "
                   "and counters, quality and times stand for all of a kind",
                   hn_quote(gate->text).text, gate->metric, meant ? " (did you mean '" : "",
                   meant ? meant : "", meant ? "'?)" : "");
}

enum hn_code hn_compare_check_gates(struct hn_context *ctx, const struct hn_results *base,
                                    const struct hn_compare_options *options) {
    const struct hn_table *table[] = {&base->runs, hn_results_table(base, "snapshots")};
    for (int64_t i = 0; i < options->n_gates; i++) {
        const struct hn_gate *gate = &options->gate[i];
        bool found = hn_gate_is_group(gate->metric);
        if (strcmp(gate->metric, "times") == 0 && (!gate->percent || gate->side > HN_GATE_RISE))
            return hn_fail(ctx, HN_USAGE, "--gate %s: times are gated in percent, e.g. times:5%%",
                           gate->text);
        for (int t = 0; t < 2; t++) {
            int c = table[t] ? hn_table_find(table[t], gate->metric) : -1;
            if (c < 0)
                continue;
            found = true;
            if (check_gate(ctx, gate, &table[t]->column[c]))
                return ctx->code;
        }
        if (!found)
            return unknown_metric(ctx, base, gate);
    }
    return HN_OK;
}

// A gate that matched nothing, which fails unless only times could not be compared. NULL: none.
static const struct hn_gate *idle_gate(const struct hn_comparison *c,
                                       const struct hn_compare_options *options) {
    for (int64_t g = 0; g < options->n_gates; g++) {
        const struct hn_gate *gate = &options->gate[g];
        bool worked = false,
             of_time = strcmp(gate->metric, "times") == 0 || strncmp(gate->metric, "cost_", 5) == 0;
        for (int64_t i = 0; i < c->n_lines; i++)
            worked |= c->line[i].gate == gate && c->line[i].compared > 0;
        worked |= of_time && (c->times_tested > 0 || (!c->comparable && c->values > 0));
        // A gate may be overruled in every column by later ones.
        bool overruled = false;
        for (int64_t o = g + 1; o < options->n_gates; o++)
            overruled |= strcmp(options->gate[o].metric, gate->metric) == 0;
        if (!worked && !overruled)
            return gate;
    }
    return NULL;
}

// True if anything at all was held by a gate.
static bool held_any(const struct hn_comparison *c) {
    for (int64_t i = 0; i < c->n_lines; i++)
        if (c->line[i].gated && c->line[i].compared > 0 && strcmp(c->line[i].name, "status") != 0)
            return true;
    return c->times_tested > 0;
}

// Puts a text behind the verdict so far.
#define say(c, ...) hn_append((c)->verdict, sizeof(c)->verdict, __VA_ARGS__)

// Repetitions of one process say nothing of what the next process would measure.
static const char *one_process(const struct hn_comparison *c) {
    return c->unit == HN_TIME_REPETITIONS
               ? " (one process each: timing.processes times several, as hardneg ab does)"
               : "";
}

// Why no time was tested.
static const char *why_untested(const struct hn_comparison *c) {
    bool gated = false;
    for (int64_t i = 0; i < c->n_times; i++)
        gated |= c->time[i].gated;
    return !c->comparable    ? c->why_not
           : c->n_times == 0 ? "there are none"
           : gated           ? "too few samples"
                             : "no gate is on them";
}

static void say_failed(struct hn_comparison *c, bool missing) {
    const char *between = " ";
    int shown = 0, more = 0;
    say(c, "FAIL:");
    for (int64_t i = 0; i < c->n_lines; i++) {
        if (c->line[i].failed == 0)
            continue;
        if (shown++ < 4)
            say(c, "%s%s in %" PRId64 " of %" PRId64, between, hn_quote(c->line[i].name).text,
                c->line[i].failed, c->line[i].compared);
        else
            more++;
        between = ", ";
    }
    if (more > 0)
        say(c, " and %d more columns", more);
    if (c->times_failed > 0) {
        say(c, "%s%" PRId64 " of %s slower%s", between, c->times_failed,
            hn_counted(c->times_tested, "time").text, one_process(c));
        between = ", ";
    }
    if (missing)
        say(c, "%s%s of BASE missing in NEW", between, hn_counted(c->only_base, "cell").text);
}

// Counts the times within their limits, and says what would tell of the others.
static void say_within(struct hn_comparison *c, const char *samples) {
    if (c->times_unclear == 0) {
        say(c, "none slower");
        return;
    }
    say(c, "%" PRId64 " not slower, %" PRId64 " too uncertain to tell",
        c->times_tested - c->times_unclear, c->times_unclear);
    if (c->samples_needed > 0)
        say(c, " (about %" PRId64 " %s would tell%s)", c->samples_needed, samples,
            c->times_unclear > 1 ? " of half of these" : "");
}

// Says in a named comparison how many of the means that gates hold are shown to be within them.
static void say_named(struct hn_comparison *c) {
    int64_t held = 0, seeds = 0;
    for (const struct hn_compare_line *line = c->line; line < c->line + c->n_lines; line++)
        if (line->gated && !line->text) {
            held += line->compared;
            seeds = hn_max(seeds, line->over.seeds);
        }
    say(c, "PASS: %s by name, %" PRId64 " of %" PRId64 " means within the gates",
        hn_counted(c->settings, "setting").text, held - c->unclear, held);
    if (c->unclear > 0)
        say(c, ", %" PRId64 " too uncertain to tell", c->unclear);
    if (c->unclear > 0 && c->seeds_needed > 0)
        say(c, " (about %" PRId64 " seeds would tell%s)", c->seeds_needed,
            c->unclear > 1 ? " of half of these" : "");
    if (seeds == 1)
        say(c, "; one seed: changes have no interval");
    say(c, "; ");
}

static void say_passed(struct hn_comparison *c, bool rounds) {
    if (c->by_name)
        say_named(c);
    else
        say(c, "PASS: %s, %s, %s; ", hn_counted(c->matched, "cell").text,
            hn_counted(c->values, "value").text,
            c->differ ? "differences within the gates" : "no difference");
    if (c->times_tested == 0) {
        say(c, "times: not judged: %s", why_untested(c));
        return;
    }
    if (c->times_tested < c->n_times)
        say(c, "%" PRId64 " of %s judged, ", c->times_tested, hn_counted(c->n_times, "time").text);
    else
        say(c, "%s, ", hn_counted(c->n_times, "time").text);
    say_within(c, rounds ? "rounds" : c->unit == HN_TIME_PROCESSES ? "processes" : "repetitions");
    say(c, "%s", one_process(c));
}

void hn_compare_nothing(const struct hn_results *none, const struct hn_results *now, bool allowed,
                        struct hn_comparison *out) {
    *out = (struct hn_comparison){.base = none,
                                  .now = now,
                                  .floor = NAN,
                                  .said_first = "",
                                  .end = allowed ? HN_COMPARE_ALLOWED : HN_COMPARE_NOTHING};
    snprintf(out->why_not, sizeof out->why_not, "there is no baseline");
    say(out, "NOTHING COMPARED: there is no baseline yet%s",
        allowed ? "" : " (--if-no-baseline=ok lets that pass)");
}

void hn_compare_conclude(struct hn_comparison *c, const struct hn_compare_options *options) {
    const struct hn_gate *idle = idle_gate(c, options);
    bool missing = c->only_base > 0 && !options->allow_missing;
    if (c->matched > 0 && (c->failed > 0 || c->times_failed > 0 || missing)) {
        c->end = HN_COMPARE_FAIL;
        say_failed(c, missing);
    } else if (c->matched == 0 || idle || !held_any(c)) {
        c->end = HN_COMPARE_NOTHING;
        if (c->matched == 0 && c->by_name)
            say(c, "NOTHING COMPARABLE: no setting of the one file is in the other (the name of "
                   "the data, parameters and seed must agree)");
        else if (c->by_name && options->n_gates == 0)
            say(c, "NOTHING HELD: other data give other values, so --match name holds gates alone; "
                   "give one, e.g. --gate fn_ratio:+0.002");
        else if (c->matched == 0)
            say(c, "NOTHING COMPARABLE: no cell of the one file is in the other (data, parameters "
                   "and seed must agree)");
        else if (idle)
            say(c, "NOTHING COMPARABLE: gate %s held nothing%s%s", hn_quote(idle->text).text,
                c->comparable ? "" : ": ", c->comparable ? "" : c->why_not);
        else
            say(c, "NOTHING COMPARABLE: no value to hold%s%s",
                c->comparable ? "" : "; times: ", c->comparable ? "" : c->why_not);
    } else {
        c->end = HN_COMPARE_PASS;
        say_passed(c, options->rounds);
    }
}
