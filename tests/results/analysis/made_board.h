// SPDX-License-Identifier: GPL-3.0-or-later
// Boards whose scores a test fills in.
#pragma once

#include "results/analysis/board_json.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct hn_context ctx;

enum { ENTRIES_MAX = 14, NAMED = 6, KINDS_MAX = 10, ENCODERS = 3 };

// Scores that tests fill in: value of entry, kind, encoder, by the first measure.
struct made {
    struct hn_board board;
    struct hn_board_kind kind[KINDS_MAX];
    struct hn_board_entry entry[ENTRIES_MAX];
    double value[ENTRIES_MAX * HN_BOARD_MEASURES * HN_BOARD_SCORES * KINDS_MAX * ENCODERS];
};

static const struct hn_board_score excess = {0, HN_BOARD_EXCESS};

static inline void make(struct made *m, int entries, int kinds, int kept) {
    memset(m, 0, sizeof *m);
    m->board = (struct hn_board){.kind = m->kind,
                                 .entry = m->entry,
                                 .kinds = kinds,
                                 .kept = kept,
                                 .entries = entries,
                                 .encoders = (int64_t)kinds * ENCODERS,
                                 .value = m->value};
    for (int k = 0; k < kinds; k++)
        m->kind[k] =
            (struct hn_board_kind){"", k >= kinds - kept, (int64_t)k * ENCODERS, ENCODERS, 0};
}

static inline double *at(struct made *m, int entry, int kind, int encoder) {
    return &m->value[((int64_t)entry * HN_BOARD_MEASURES * HN_BOARD_SCORES + HN_BOARD_EXCESS) *
                         m->board.encoders +
                     kind * ENCODERS + encoder];
}

// Shares of a reference that adds 5 points on every kind, so that both ties are one.
static inline void add_shares(struct made *m) {
    int64_t encoders = m->board.encoders, of_entry = encoders * HN_BOARD_MEASURES * HN_BOARD_SCORES;
    for (int64_t i = 0; i < m->board.entries; i++)
        for (int64_t k = 0; k < encoders; k++)
            m->value[i * of_entry + HN_BOARD_SHARE * encoders + k] =
                20 * m->value[i * of_entry + HN_BOARD_EXCESS * encoders + k];
}

static inline enum hn_code read_trained(const struct made *m, const char *text,
                                        struct hn_board_outcome *u) {
    static char copy[2000];
    snprintf(copy, sizeof copy, "%s", text);
    return hn_board_outcome_read(&ctx, "acc.csv", copy, &m->board, u);
}

// Entries that are worse one by one, Uniform among them, on a kind.
static inline void make_named(struct made *m) {
    static const char *const names[NAMED] = {"a", "b", "uniform", "c", "d", "e"};
    make(m, NAMED, 1, 0);
    m->board.suite = "made";
    m->board.sha256 = "0123456789abcdef";
    m->board.seconds = INFINITY;
    for (int i = 0; i < NAMED; i++) {
        m->entry[i] = (struct hn_board_entry){
            .name = names[i], .authors = "", .chosen_on = "", .labels = "", .file = "", .cost = 1};
        for (int e = 0; e < ENCODERS; e++)
            *at(m, i, 0, e) = i;
    }
    add_shares(m);
}
