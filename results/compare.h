// SPDX-License-Identifier: GPL-3.0-or-later
// Comparison of results by cell_key, kinds of values and gates (docs/reference/compare.md).
#pragma once

#include "core/stats.h"
#include "core/table.h"
#include "results/rows.h"
#include "results/slowdown.h"
#include "results/timing.h"

#include <stdio.h>

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
// Size of a change for the worse from base to now, in the value's unit; negative: better.
double hn_gate_worse(enum hn_gate_side side, enum hn_direction direction, double base, double now);

// Tolerance of floats between machines: |a - b| <= 1e-6 max(|a|, |b|) + 1e-7. What is read off a
// histogram of cosines (quantiles, overlaps) moves by more where one value changes its bin: 1e-5.
static const double hn_compare_relative = 1e-6, hn_compare_absolute = 1e-7,
                    hn_compare_binned = 1e-5;
// Times: chance of any false alarm in the whole comparison (the promise is 1 %), the least slowdown
// that counts unless a gate says otherwise, the noise above which times are not judged; the fewest
// samples that can be tested.
static const double hn_compare_alpha = 0.005, hn_compare_min = 0.05, hn_compare_noise_max = 0.5;
// For programs that ran in turn, and for files: draws of a few microseconds move together by 1 to 3
// from one run of the program to the next (docs/notes/comparisons.md).
static const double hn_compare_min_s = 1e-6, hn_compare_min_s_files = 5e-6;
enum { HN_COMPARE_FEWEST = 5, HN_COMPARE_CHANGES = 1000 };

struct hn_compare_options {
    const struct hn_gate *gate; // [n_gates]; none: all is held (docs/reference/compare.md)
    int64_t n_gates;
    double floor; // of the host's noise as the user gave it, a share; 0: only what is measured
    bool by_name; // settings are matched by the name of their data (hn_compare_named())
    bool allow_missing; // cells of BASE that NEW lacks do not fail
    bool rounds;  // files are rounds: a time has one sample of each, its median, be it only one
    bool verbose; // all cells that are missing are named, not a few
    hn_row_default
        *is_default; // options that are not part of a cell's identity, nor label; or NULL
};

// The change of a setting's mean, paired by seed.
struct hn_seeds_change {
    struct hn_interval
        change; // to - from; of those with gates 95 % for all; lo, hi NaN: of one seed
    int64_t seeds;
};

// All values of one column of one table, or of one array.
struct hn_compare_line {
    const char *table, *name; // borrowed from BASE
    int column, other;        // of the tables of BASE and of NEW, -1: NEW has none
    enum hn_role role;
    enum hn_direction direction;
    const struct hn_gate *gate; // NULL: none was given for it
    bool gated, text;           // text: it can only be equal or not
    int64_t compared, differ, failed;
    // The change that is worst (or largest, where nothing fails): rows of hn_compare_cells().
    double worst, from, to; // worst: how much worse, relative to `from` where that is not 0
    int64_t base_row, now_row, part; // part: of BASE's cell, as in struct hn_compare_change
    struct hn_seeds_change over;     // by name
};

// One value that differs, up to HN_COMPARE_CHANGES of them, failed ones first come first served.
struct hn_compare_change {
    int64_t line, base_row, now_row;
    double from, to;
    bool failed;
    int64_t part; // the batch, or the row of a further table of BASE; -1: the cell has one value
    struct hn_seeds_change over; // by name
};

// One cost of one cell.
struct hn_compare_time {
    const char *metric; // "cost_s", "cost_g"
    int64_t base_row, now_row, n_base, n_now;
    double from, to;           // medians, seconds
    double min;                // the slowdown that counted: of the gate, or the noise of the host
    int size;                  // hn_time_size() of it
    double limit;              // the slowdown that is asked about: the gate's, without the noise
    bool gated, noisy, tested; // noisy: the host's noise leaves nothing to judge
    bool unclear;              // tested, not slower, and the interval goes beyond the limit
    struct hn_interval ratio;  // 95 %
    struct hn_time_verdict verdict;
};

// HN_COMPARE_ALLOWED: there is no BASE yet, and that is allowed.
enum hn_compare_end { HN_COMPARE_PASS, HN_COMPARE_FAIL, HN_COMPARE_NOTHING, HN_COMPARE_ALLOWED };

struct hn_comparison {
    const struct hn_results *base, *now;
    hn_row_default *is_default;
    bool verbose;
    struct hn_row_match match[HN_ROW_KINDS];
    int64_t matched, only_base, only_now; // cells of all three
    struct hn_compare_line *line;
    int64_t n_lines;
    struct hn_compare_change *change;
    int64_t n_changes;
    struct hn_compare_time *time;
    int64_t n_times, times_tested, times_failed, times_unclear;
    int64_t samples_needed; // about, to tell half of the unclear times; 0: unknown
    // By name: values are means over a setting's seeds, and a row stands for its setting.
    bool by_name;
    int64_t settings, unclear, seeds_needed; // unclear: neither shown to fail nor to be within
    int64_t values;                          // compared, times apart
    int64_t differ, failed;
    enum hn_time_unit unit; // processes: times have one sample of each
    enum hn_clock clock;
    bool comparable;             // times may be gated: one class of machine, and little noise
    char why_not[256];           // they may not
    double noise[HN_TIME_SIZES]; // of costs of a size, by their samples
    double min_s;                // the least slowdown that counts, in seconds
    double shift;                // of the machine, by its calibrations: comes on top
    double floor; // the largest that a test went by, be it of the user; 0: nothing was tested
    enum hn_compare_end end;
    char left_out[4096];    // columns, names of rows and tables that an older NEW does not know
    const char *said_first; // lines about the files themselves: versions, programs; "": nothing
    char verdict[512];      // one line
};

// Compares now[0] with base[0], and the times of base[n_base] with those of now[n_now]: the samples
// are the medians of processes where there are several files, or rounds (`ab`), or both files hold
// times of several processes, else the repetitions of the first process. The results are borrowed
// for as long as `out` is used. HN_USAGE: a gate on what is in neither file.
HN_MUST_USE enum hn_code hn_compare(struct hn_context *ctx, const struct hn_results *base,
                                    int64_t n_base, const struct hn_results *now, int64_t n_now,
                                    const struct hn_compare_options *options,
                                    struct hn_comparison *out);
// Compares what other data of the same name gave, a checkpoint with the one before: settings at the
// last steps of both files, matched by file name, sampler, options and the like. A value is the
// mean of a setting over the seeds of both files; only gates are held (docs/reference/compare.md,
// "A new checkpoint"). Fills lines, changes and counts but for times.
HN_MUST_USE enum hn_code hn_compare_named(struct hn_context *ctx,
                                          const struct hn_compare_options *options,
                                          struct hn_comparison *out);
// The intervals of all changes that gates hold miss one of these with this chance (Bonferroni).
static const double hn_compare_named_alpha = 0.05;

// The comparison of `now` with a baseline that is not there; `none` is empty.
void hn_compare_nothing(const struct hn_results *none, const struct hn_results *now, bool allowed,
                        struct hn_comparison *out);
// The table whose rows are the cells that the rows of a table, or an array, of BASE belong to.
const struct hn_table *hn_compare_cells(const struct hn_comparison *c, const char *table);

// The part about times (compare_times.c): fills ->time, ->noise, ->floor, ->comparable.
HN_MUST_USE enum hn_code hn_compare_times(struct hn_context *ctx, const struct hn_results *base,
                                          int64_t n_base, const struct hn_results *now,
                                          int64_t n_now, const struct hn_compare_options *options,
                                          struct hn_comparison *out);
// The gate for a column of that role, or NULL: the last one that names it, else the last that names
// its group. name: NULL where gates do not go by it (they name columns of /runs and /snapshots).
const struct hn_gate *hn_compare_gate(const struct hn_compare_options *options, const char *name,
                                      enum hn_role role);

// HN_USAGE for a gate that names no column of BASE, or cannot hold the one it names.
HN_MUST_USE enum hn_code hn_compare_check_gates(struct hn_context *ctx,
                                                const struct hn_results *base,
                                                const struct hn_compare_options *options);
// Fills ->end and ->verdict from what was counted.
void hn_compare_conclude(struct hn_comparison *c, const struct hn_compare_options *options);

// An output format: one constant hn_compare_<name> at the end of its file, and its name in a list.
struct hn_compare_format {
    const char *name;
    bool adds; // to the end of a file, where others replace it
    // Checks whether `out` could be written is for the caller to see.
    enum hn_code (*print)(struct hn_context *ctx, const struct hn_comparison *c, FILE *out);
};
// Formats for files, each an option --NAME FILE. A new one is one file and one line here.
#define HN_COMPARE_REPORTS(X)                                                                      \
    X(markdown)                                                                                    \
    X(junit)                                                                                       \
    X(bmf)                                                                                         \
    X(benchmark)
// All of them: text and JSON are for standard output.
#define HN_COMPARE_FORMATS(X)                                                                      \
    X(text)                                                                                        \
    X(json)                                                                                        \
    HN_COMPARE_REPORTS(X)

#define HN_COMPARE_DECLARE(name) extern const struct hn_compare_format hn_compare_##name;
HN_COMPARE_FORMATS(HN_COMPARE_DECLARE)
extern const struct hn_compare_format *const hn_compare_formats[]; // NULL-terminated
