// SPDX-License-Identifier: GPL-3.0-or-later
// The board: entries of a suite of data, each scored against the frozen reference of the suite and
// never against another entry (docs/board.md). The unit is the kind of data: values are averaged
// over seeds, then over the encoders of a kind, and intervals are over kinds.
#pragma once

#include "results/analysis/overview.h"

enum { HN_BOARD_MEASURES = 3, HN_BOARD_BUDGETS = 3, HN_BOARD_KINDS_MAX = 64 };
extern const struct hn_hardness hn_board_measures[HN_BOARD_MEASURES];
extern const double hn_board_budgets[HN_BOARD_BUDGETS]; // points of false negatives over Uniform's

// Scores of an entry, for each measure of hardness: false negatives beyond those of the reference
// at equal hardness (less is better), in percent of what the reference adds on average over its
// range of hardness, by which entries are judged, and in points; and from HN_BOARD_GAIN on hardness
// beyond that of the reference within each budget (more is better).
enum {
    HN_BOARD_SHARE,
    HN_BOARD_EXCESS,
    HN_BOARD_GAIN,
    HN_BOARD_SCORES = HN_BOARD_GAIN + HN_BOARD_BUDGETS
};

#define HN_BOARD_REFERENCE "reference" // the name that no entry has
#define HN_BOARD_TIE 5.0               // percent, or
#define HN_BOARD_TIE_POINTS 0.25       // points by which entries may differ and are tied
#define HN_BOARD_PAYS_MIN 0.5          // points that the reference counts as adding at least
#define HN_BOARD_TABLE "board"         // of a file: the encoders of the suite, a row each

// Attributes of a file of the board. The suite's checksum is that of the bytes of its file.
#define HN_BOARD_SUITE "board_suite"
#define HN_BOARD_SHA256 "board_suite_sha256"
#define HN_BOARD_ENTRY "board_entry"
#define HN_BOARD_AUTHORS "board_authors"
#define HN_BOARD_CHOSEN_ON "board_chosen_on"
#define HN_BOARD_SETTINGS_TEXT "board_settings" // as in a job

struct hn_board_file {
    const struct hn_results *results; // borrowed
    const char *name;                 // for messages
};

struct hn_board_kind {
    const char *name;
    bool kept;               // kept aside: in no score over kinds, shown beside
    int64_t first, encoders; // of the board's
    double uniform;          // false negatives in percent, the mean over its encoders
};
struct hn_board_entry {
    const char *name, *authors, *chosen_on, *labels, *file; // labels: its settings
    int64_t settings;
    double cost; // seconds of a batch, the mean over encoders and settings
    // Settings on encoders, by the first measure: less hard than all of the reference, and harder.
    int64_t below, beyond;
    int64_t dear; // settings on encoders that the limit of cost left out
};
// Texts are borrowed from the results. Of kinds those kept aside stand last.
struct hn_board {
    const char *suite, *sha256;
    int version; // of the results
    struct hn_board_kind *kind;
    struct hn_board_entry *entry; // by name
    int64_t kinds, kept, entries, encoders;
    double seconds; // the most that a batch of an entry may cost, INFINITY: any cost
    double *value;  // [entries x measures x scores x encoders], NaN: not measured
};

// Settings that a board makes its scores of. One whose batch costs more than `seconds` on an
// encoder, or whose cost was not measured, is left out there, and an entry of which none is left is
// Uniform there. An entry of which none is left anywhere has no score. The reference keeps its
// settings: what it costs moves no score.
struct hn_board_wish {
    const struct hn_text_list *kinds; // NULL or none: all
    double seconds;                   // a batch, build included; INFINITY: any cost
};
// Reads file[n], one of them the reference. HN_USAGE or HN_DATA with the file and what is wrong: no
// file of a board, another suite, another version of results, no checksum, no reference, twice the
// same entry, cells of other data.
HN_MUST_USE enum hn_code hn_board_read(struct hn_context *ctx, const struct hn_board_file *file,
                                       int64_t n, struct hn_board_wish wish, struct hn_board *out);

// True if the limit of cost left out all settings of an entry on all encoders.
bool hn_board_is_dear(const struct hn_board *b, int64_t entry);

// Score `score` by measure `measure`.
struct hn_board_score {
    int measure, score;
};
// On a kind: the mean over its encoders with Student's interval; no value unless all have one.
struct hn_mean hn_board_on_kind(const struct hn_board *b, int64_t entry, struct hn_board_score of,
                                int64_t kind);
// Over kinds: the mean of the above with Student's interval over kinds, which holds whatever varies
// within a kind. No value unless all kinds have one. kept: over those kept aside, not the others.
struct hn_mean hn_board_over_kinds(const struct hn_board *b, int64_t entry,
                                   struct hn_board_score of, bool kept);

enum hn_board_verdict { HN_BOARD_OPEN, HN_BOARD_AHEAD, HN_BOARD_TIED, HN_BOARD_BEHIND };
extern const char *const hn_board_verdicts[]; // "open", "ahead", "tied", "behind"
// Judges a mean share over kinds and the same excess in points, or differences of two: tied if
// either interval lies within its HN_BOARD_TIE, else ahead or behind if `p`, of the share, is at
// most .05.
enum hn_board_verdict hn_board_judge(struct hn_mean share, struct hn_mean points, double p);
// The verdict of an entry against the reference; else "too dear" or "not measured".
const char *hn_board_verdict_of(const struct hn_board *b, int64_t entry, int measure);

// Two entries by the share, a minus b.
struct hn_board_pair {
    int64_t a, b;
    struct hn_mean difference;  // over kinds, paired; no value unless all have both
    struct hn_mean points;      // the same of the excess in points
    double p;                   // of Student's test, after Holm's correction for all pairs
    int64_t wins, ties, losses; // kinds on which a has less, as much within either tie, or more
    enum hn_board_verdict verdict;
};
// All pairs, a < b: pair[entries (entries - 1) / 2].
HN_MUST_USE enum hn_code hn_board_pairs(struct hn_context *ctx, const struct hn_board *b,
                                        int measure, struct hn_board_pair *pair);
// rank[entries] by the share, 1 = the least, the mean over kinds; NaN: not on all kinds. *apart:
// mean ranks that differ by more are told apart, with 95 % for all of them together.
HN_MUST_USE enum hn_code hn_board_ranks(struct hn_context *ctx, const struct hn_board *b,
                                        int measure, double *rank, double *apart);
