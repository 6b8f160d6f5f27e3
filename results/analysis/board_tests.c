// SPDX-License-Identifier: GPL-3.0-or-later
// The statistic of the board over kinds: intervals, verdicts, pairs of entries, mean ranks.
#include "core/rank_tests.h"
#include "results/analysis/board.h"

#include <math.h>

const char *const hn_board_verdicts[] = {"open", "ahead", "tied", "behind"};

// The kinds of a mean: those kept aside, or the others.
struct span {
    int64_t first, n;
};

static struct span span_of(const struct hn_board *b, bool kept) {
    return kept ? (struct span){b->kinds - b->kept, b->kept} : (struct span){0, b->kinds - b->kept};
}

static struct hn_mean over(const double *value, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (isnan(value[i]))
            return hn_no_mean;
    return hn_values_mean(value, n, 0);
}

struct hn_mean hn_board_over_kinds(const struct hn_board *b, int64_t entry,
                                   struct hn_board_score of, bool kept) {
    double value[HN_BOARD_KINDS_MAX];
    struct span span = span_of(b, kept);
    for (int64_t k = 0; k < span.n; k++)
        value[k] = hn_board_on_kind(b, entry, of, span.first + k).mean;
    return over(value, span.n);
}

static bool is_within(struct hn_mean m, double tie) { return m.lo >= -tie && m.hi <= tie; }

enum hn_board_verdict hn_board_judge(struct hn_mean share, struct hn_mean points, double p) {
    if (is_within(share, HN_BOARD_TIE) || is_within(points, HN_BOARD_TIE_POINTS))
        return HN_BOARD_TIED;
    return !(p <= 0.05) ? HN_BOARD_OPEN : share.mean < 0 ? HN_BOARD_AHEAD : HN_BOARD_BEHIND;
}

const char *hn_board_verdict_of(const struct hn_board *b, int64_t entry, int measure) {
    const struct hn_board_score share = {measure, HN_BOARD_SHARE},
                                points = {measure, HN_BOARD_EXCESS};
    struct hn_mean m = hn_board_over_kinds(b, entry, share, false);
    if (isnan(m.mean))
        return hn_board_is_dear(b, entry) ? "too dear" : "not measured";
    return hn_board_verdicts[hn_board_judge(m, hn_board_over_kinds(b, entry, points, false),
                                            hn_mean_p(m))];
}

// Differences of two entries over kinds, a minus b.
static struct hn_mean differences(const struct hn_board *b, struct hn_board_score of, int64_t one,
                                  int64_t other, double value[HN_BOARD_KINDS_MAX]) {
    struct span span = span_of(b, false);
    for (int64_t k = 0; k < span.n; k++)
        value[k] = hn_board_on_kind(b, one, of, k).mean - hn_board_on_kind(b, other, of, k).mean;
    return over(value, span.n);
}

static struct hn_board_pair compare(const struct hn_board *b, int measure, int64_t one,
                                    int64_t other) {
    struct hn_board_pair pair = {.a = one, .b = other};
    const struct hn_board_score share = {measure, HN_BOARD_SHARE},
                                points = {measure, HN_BOARD_EXCESS};
    double value[HN_BOARD_KINDS_MAX], in_points[HN_BOARD_KINDS_MAX];
    pair.difference = differences(b, share, one, other, value);
    pair.points = differences(b, points, one, other, in_points);
    for (int64_t k = 0; k < span_of(b, false).n; k++) {
        bool tied = fabs(value[k]) <= HN_BOARD_TIE || fabs(in_points[k]) <= HN_BOARD_TIE_POINTS;
        pair.wins += !tied && value[k] < 0;
        pair.losses += !tied && value[k] > 0;
        pair.ties += tied;
    }
    pair.p = hn_mean_p(pair.difference);
    return pair;
}

enum hn_code hn_board_pairs(struct hn_context *ctx, const struct hn_board *b, int measure,
                            struct hn_board_pair *pair) {
    int64_t n = 0;
    HN_SCOPE(ctx);
    double *p = hn_alloc(ctx, b->entries * b->entries, sizeof *p);
    if (!p)
        return ctx->code;
    for (int64_t i = 0; i < b->entries; i++)
        for (int64_t k = i + 1; k < b->entries; k++, n++) {
            pair[n] = compare(b, measure, i, k);
            p[n] = pair[n].p;
        }
    if (hn_holm(ctx, p, n))
        return ctx->code;
    for (int64_t i = 0; i < n; i++) {
        pair[i].p = p[i];
        pair[i].verdict = hn_board_judge(pair[i].difference, pair[i].points, p[i]);
    }
    return HN_OK;
}

// The rank of an entry on a kind among those that are ranked; equal ones share theirs.
static double rank_on(const struct hn_board *b, struct hn_board_score of, const double *rank,
                      int64_t entry, int64_t kind) {
    double own = hn_board_on_kind(b, entry, of, kind).mean, at = 0.5;
    for (int64_t i = 0; i < b->entries; i++) {
        double other = hn_board_on_kind(b, i, of, kind).mean;
        if (!isnan(rank[i]))
            at += other == own ? 0.5 : other < own;
    }
    return at;
}

enum hn_code hn_board_ranks(struct hn_context *ctx, const struct hn_board *b, int measure,
                            double *rank, double *apart) {
    struct hn_board_score of = {measure, HN_BOARD_SHARE};
    struct span span = span_of(b, false);
    int64_t n = 0;
    HN_SCOPE(ctx);
    double *on = hn_alloc(ctx, b->entries * span.n, sizeof *on);
    if (!on)
        return ctx->code;
    for (int64_t i = 0; i < b->entries; i++)
        rank[i] = hn_board_over_kinds(b, i, of, false).mean; // NaN: it has none
    for (int64_t i = 0; i < b->entries; i++) {
        double sum = 0;
        for (int64_t k = 0; k < span.n && !isnan(rank[i]); k++)
            sum += on[n * span.n + k] = rank_on(b, of, rank, i, k);
        n += !isnan(rank[i]);
        rank[i] = isnan(rank[i]) ? NAN : sum / (double)span.n;
    }
    return hn_ranks_apart(ctx, on, n, span.n, apart);
}
