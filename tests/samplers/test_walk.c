// SPDX-License-Identifier: GPL-3.0-or-later
// The walks of BatchSampler against the exact chain of BS algorithm 3, and against orders and
// branches that are worked out by hand.
#include "core/bitset.h"
#include "tests/sampled.h"
#include "tests/samplers/walk_scratch.h"

enum { NODES = 6, MAX = 4, WALKS = 20000 };

// A small directed graph with weights of either sign; node 4 has negative ones only.
static int64_t small_start[NODES + 1] = {0, 3, 5, 8, 10, 12, 14};
static int32_t small_target[] = {1, 2, 3, 0, 2, 0, 4, 5, 2, 5, 0, 3, 1, 4};
static float small_weight[] = {0.5F,  0.25F, 0.1F,  0.9F,  0.3F,  0.2F, 0.4F,
                               -0.2F, 0.8F,  0.15F, -0.1F, -0.5F, 0.3F, 0.6F};
static const struct hn_graph small = {NODES, small_start, small_target, small_weight};

// What BS algorithm 3 says, as a Markov chain.
struct chain {
    double move[NODES][NODES]; // probability of the move when there is no restart
    double alpha;
    int collect; // items wanted, the start among them
    double
        probability[NODES * NODES * NODES * NODES]; // by the items behind the start, in base NODES
    double steps;                                   // expected number until all are collected
};

static void chain_moves(struct chain *chain, bool by_weight) {
    for (int v = 0; v < NODES; v++) {
        double total = 0;
        for (int64_t e = small_start[v]; e < small_start[v + 1]; e++)
            total += fmax((double)small_weight[e], 0);
        for (int64_t e = small_start[v]; e < small_start[v + 1]; e++)
            chain->move[v][small_target[e]] =
                by_weight && total > 0 ? fmax((double)small_weight[e], 0) / total
                                       : 1 / (double)(small_start[v + 1] - small_start[v]);
    }
}

// Solves a[n x n] z = b[n] by elimination with pivots.
static void solve(int n, double a[NODES][NODES], double *b) {
    for (int i = 0; i < n; i++) {
        int pivot = i;
        for (int r = i + 1; r < n; r++)
            if (fabs(a[r][i]) > fabs(a[pivot][i]))
                pivot = r;
        for (int k = 0; k < n; k++) {
            double t = a[i][k];
            a[i][k] = a[pivot][k];
            a[pivot][k] = t;
        }
        double t = b[i];
        b[i] = b[pivot];
        b[pivot] = t;
        for (int r = 0; r < n; r++) {
            double f = r == i ? 0 : a[r][i] / a[i][i];
            for (int k = i; k < n; k++)
                a[r][k] -= f * a[i][k];
            b[r] -= f * b[i];
        }
    }
    for (int i = 0; i < n; i++)
        b[i] /= a[i][i];
}

// Expected value, from each visited node, of: 1 per step (next < 0), or of the event that `next` is
// the first new node; for a walk that restarts at u. z[] by node, visited ones only.
static void chain_until_new(const struct chain *c, int u, unsigned visited, int next, double *z) {
    double a[NODES][NODES] = {0};
    for (int v = 0; v < NODES; v++) {
        a[v][v] = 1;
        z[v] = 0;
        if (!(visited >> v & 1))
            continue;
        z[v] = next < 0 ? 1 : (1 - c->alpha) * c->move[v][next];
        a[v][u] -= c->alpha;
        for (int w = 0; w < NODES; w++)
            if (visited >> w & 1)
                a[v][w] -= (1 - c->alpha) * c->move[v][w];
    }
    solve(NODES, a, z);
}

// Follows all sequences of items from `at`; code: the sequence so far in base NODES.
static void chain_follow(struct chain *c, int u, int at, unsigned visited, int count, int code,
                         double p) {
    if (count == c->collect) {
        c->probability[code] += p;
        return;
    }
    double z[NODES];
    chain_until_new(c, u, visited, -1, z);
    c->steps += p * z[at];
    for (int next = 0; next < NODES; next++) {
        if (visited >> next & 1)
            continue;
        chain_until_new(c, u, visited, next, z);
        if (z[at] > 1e-12)
            chain_follow(c, u, next, visited | 1U << next, count + 1, code * NODES + next,
                         p * z[at]);
    }
}

// The same for a walk depth first, with the branch it is on: from its end to a node that is new, by
// the law among those; without one, back.
static void depth_follow(struct chain *c, const int *branch, int depth, unsigned visited, int count,
                         int code, double p) {
    if (count == c->collect) {
        c->probability[code] += p;
        return;
    }
    CU_ASSERT_FATAL(depth > 0); // no stalls here
    const int at = branch[depth - 1];
    double total = 0, vacant = 0;
    for (int64_t e = small_start[at]; e < small_start[at + 1]; e++)
        if (!(visited >> small_target[e] & 1)) {
            total += c->move[at][small_target[e]];
            vacant++;
        }
    if (vacant == 0) {
        depth_follow(c, branch, depth - 1, visited, count, code, p);
        return;
    }
    for (int64_t e = small_start[at]; e < small_start[at + 1]; e++) {
        int next = small_target[e], longer[NODES];
        double move = total > 0 ? c->move[at][next] / total : 1 / vacant;
        if (visited >> next & 1 || move <= 0)
            continue;
        memcpy(longer, branch, (size_t)depth * sizeof *branch);
        longer[depth] = next;
        depth_follow(c, longer, depth + 1, visited | 1U << next, count + 1, code * NODES + next,
                     p * move);
    }
}

enum { CODES = NODES * NODES * NODES * NODES };

// What was seen in WALKS walks.
struct seen {
    int64_t count[CODES]; // by the items behind the start
    double steps, squares;
};

static void run_walks(const struct hn_walk *walk, int u, uint64_t seed, struct seen *seen) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_walk_scratch scratch;
    HN_CHECK(&ctx, hn_walk_scratch_open(&ctx, NODES, walk->kind, walk->alpha >= 1, &scratch));
    memset(seen, 0, sizeof *seen);
    for (int i = 0; i < WALKS; i++) {
        struct hn_stream stream;
        struct hn_walk_tally tally = {0};
        int32_t ids[MAX];
        int code = 0;
        hn_stream_open(&stream, seed, "test.walk", 0, 0, i);
        hn_walk_run_many(walk, 1, &(int32_t){u}, &stream, &scratch, ids, &tally);
        CU_ASSERT_EQUAL_FATAL(ids[0], u);
        CU_ASSERT_EQUAL(tally.stalls, 0);
        for (int k = 1; k < walk->batch_size; k++)
            code = code * NODES + ids[k];
        seen->count[code]++;
        seen->steps += (double)tally.step;
        seen->squares += (double)tally.step * (double)tally.step;
    }
    free_scratch(&ctx, &scratch);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Chi-square over the sequences, those expected less than ten times taken together.
static void compare_sequences(const struct seen *seen, const double *probability) {
    double statistic = 0, rare_expected = 0, total = 0, cells = 0;
    int64_t rare = 0;
    for (int code = 0; code < CODES; code++) {
        double expected = WALKS * probability[code];
        total += probability[code];
        if (expected < 10) {
            rare += seen->count[code];
            rare_expected += expected;
        } else {
            statistic += pow((double)seen->count[code] - expected, 2) / expected;
            cells++;
        }
    }
    CU_ASSERT_DOUBLE_EQUAL(total, 1, 1e-6);
    CU_ASSERT(cells >= 2);
    if (rare_expected > 5) {
        statistic += pow((double)rare - rare_expected, 2) / rare_expected;
        cells++;
    } else {
        CU_ASSERT(rare <= 20);
    }
    CU_ASSERT(chi_square_fits(statistic, cells - 1));
}

// Walks from node u against the chain: the sequences of items, and the mean number of steps.
// `limit`: the walk gets alpha = 1, the chain stays as near to it as doubles allow.
static void compare_walks(int u, double alpha, bool by_weight, bool limit, int collect) {
    static struct chain chain;
    static struct seen seen;
    memset(&chain, 0, sizeof chain);
    chain.alpha = alpha;
    chain.collect = collect;
    chain_moves(&chain, by_weight);
    chain_follow(&chain, u, u, 1U << u, 1, 0, 1);

    double cumulative[sizeof small_target / sizeof small_target[0]];
    hn_walk_cumulate(&small, cumulative, 1);
    struct hn_walk walk = {
        &small,         by_weight ? cumulative : NULL, limit ? 1 : alpha, 1000000, collect,
        HN_WALK_RESTART};
    run_walks(&walk, u, 99, &seen);
    compare_sequences(&seen, chain.probability);
    if (limit)
        return;
    double mean = seen.steps / WALKS, variance = seen.squares / WALKS - mean * mean;
    CU_ASSERT(fabs(mean - chain.steps) < 3 * sqrt(variance / WALKS));
}

// Walks depth first against all the branches they can take.
static void compare_depth(int u, bool by_weight) {
    static struct chain chain;
    static struct seen seen;
    memset(&chain, 0, sizeof chain);
    chain.collect = MAX;
    chain_moves(&chain, by_weight);
    depth_follow(&chain, &u, 1, 1U << u, 1, 0, 1);
    double cumulative[sizeof small_target / sizeof small_target[0]];
    hn_walk_cumulate(&small, cumulative, 1);
    struct hn_walk walk = {&small, by_weight ? cumulative : NULL, 0.9, 1, MAX, HN_WALK_DEPTH};
    run_walks(&walk, u, 96, &seen);
    compare_sequences(&seen, chain.probability);
}

static void test_depth_first(void) {
    for (int u = 0; u < 3; u++) {
        compare_depth(u, false);
        compare_depth(u, true);
    }
}

// One walk of `kind` on g; the number of stalls.
static int64_t walk_once(struct hn_context *ctx, const struct hn_graph *g, enum hn_walk_kind kind,
                         int32_t start, int64_t number, int32_t batch_size, int32_t *ids) {
    struct hn_walk walk = {g, NULL, 0.3, 50, batch_size, kind};
    struct hn_walk_scratch scratch;
    struct hn_walk_tally tally = {0};
    struct hn_stream stream;
    HN_CHECK(ctx, hn_walk_scratch_open(ctx, g->n, kind, false, &scratch));
    hn_stream_open(&stream, 95, "test.once", 0, 0, number);
    hn_walk_run_many(&walk, 1, &(int32_t){start}, &stream, &scratch, ids, &tally);
    for (int64_t i = 0; i < hn_bitset_words(g->n); i++)
        CU_ASSERT_EQUAL(scratch.collected[i], 0);
    free_scratch(ctx, &scratch);
    return tally.stalls;
}

// A tree with neighbours in an order that is not that of their numbers, links back, a repeated
// neighbour and one that is its own; nodes 8 and 9 are out of reach.
//   0: 3 1 3    3: 5 3 2    1: 0 4 6    5: 7
static void test_orders(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    int64_t start[] = {0, 3, 6, 6, 9, 9, 10, 10, 10, 11, 11};
    int32_t target[] = {3, 1, 3, 0, 4, 6, 5, 3, 2, 7, 9};
    const struct hn_graph g = {10, start, target, NULL};
    const int32_t levels[] = {0, 3, 1, 5, 2, 4, 6, 7};
    int32_t ids[10];
    for (int32_t size = 2; size <= 8; size++) {
        CU_ASSERT_EQUAL(walk_once(&ctx, &g, HN_WALK_BREADTH, 0, 0, size, ids), 0);
        CU_ASSERT_EQUAL(memcmp(ids, levels, (size_t)size * sizeof *ids), 0);
    }
    int64_t through_3 = 0;
    for (int64_t i = 0; i < WALKS; i++) {
        int64_t stalls = walk_once(&ctx, &g, HN_WALK_BREADTH, 0, i, 10, ids);
        // From 8 a walk reaches 9, from 9 nothing.
        CU_ASSERT(ids[8] == 8 ? stalls == 1 && ids[9] == 9 : stalls == 2 && ids[9] == 8);
        // Depth first all of 3's branch comes before 1's, or after; 7 comes right behind 5.
        CU_ASSERT_EQUAL(walk_once(&ctx, &g, HN_WALK_DEPTH, 0, i, 8, ids), 0);
        int at[10];
        for (int k = 0; k < 8; k++)
            at[ids[k]] = k;
        CU_ASSERT_FATAL(at[0] == 0 && at[7] == at[5] + 1);
        CU_ASSERT_FATAL(at[3] == 1 ? at[2] < 5 && at[7] < 5 && at[1] == 5
                                   : at[1] == 1 && at[4] < 4 && at[6] < 4 && at[3] == 4);
        through_3 += at[3] == 1;
    }
    // 3 is listed twice.
    CU_ASSERT(fabs((double)through_3 - WALKS * 2 / 3.0) < 3 * sqrt(WALKS * 2 / 9.0));
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_restart_chain(void) {
    compare_walks(0, 0, false, false, 4);
    compare_walks(0, 0.2, false, false, 4);
    compare_walks(0, 0.7, false, false, 3);
}

static void test_weight_chain(void) {
    compare_walks(0, 0.3, true, false, 4);
    compare_walks(0, 0, true, false, 3);
}

// alpha = 1 is the limit: from node 0 its three neighbours come first, from node 3 its two and then
// one of the level behind them, from node 2 the same with a neighbour that is out of reach by
// weight.
static void test_limit_chain(void) {
    for (int u = 0; u <= 3; u++) {
        compare_walks(u, 1 - 1e-7, false, true, 4);
        compare_walks(u, 1 - 1e-7, true, true, 4);
    }
}

// Second level: from u = 0, level 1 is {1, 2}, level 2 {3, 4, 5} reached with masses 1/4 : 1/2 :
// 1/4.
static void test_limit_levels(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    int64_t start[] = {0, 2, 4, 6, 7, 8, 9};
    int32_t target[] = {1, 2, 3, 4, 4, 5, 0, 0, 0};
    const struct hn_graph g = {6, start, target, NULL};
    struct hn_walk walk = {&g, NULL, 1, 50, 6, HN_WALK_RESTART};
    struct hn_walk_scratch scratch;
    struct hn_walk_tally tally = {0};
    HN_CHECK(&ctx, hn_walk_scratch_open(&ctx, 6, HN_WALK_RESTART, true, &scratch));
    int64_t first[3] = {0}, second_after_4[2] = {0}, swapped = 0;
    for (int i = 0; i < WALKS; i++) {
        struct hn_stream stream;
        int32_t ids[6];
        hn_stream_open(&stream, 98, "test.levels", 0, 0, i);
        hn_walk_run_many(&walk, 1, &(int32_t){0}, &stream, &scratch, ids, &tally);
        CU_ASSERT_FATAL(ids[0] == 0 && ids[1] + ids[2] == 3 && ids[1] * ids[2] == 2);
        CU_ASSERT_FATAL(ids[3] >= 3 && ids[3] <= 5);
        swapped += ids[1] == 2;
        first[ids[3] - 3]++;
        if (ids[3] == 4)
            second_after_4[ids[4] == 5]++;
    }
    CU_ASSERT_EQUAL(tally.stalls, 0);
    CU_ASSERT(fabs((double)swapped - WALKS / 2.0) < 3 * sqrt(WALKS / 4.0));
    CU_ASSERT(fabs((double)first[1] - WALKS / 2.0) < 3 * sqrt(WALKS / 4.0));
    CU_ASSERT(fabs((double)first[0] - WALKS / 4.0) < 3 * sqrt(WALKS * 3 / 16.0));
    double split = (double)(second_after_4[0] + second_after_4[1]);
    CU_ASSERT(fabs((double)second_after_4[0] - split / 2) < 3 * sqrt(split / 4));
    free_scratch(&ctx, &scratch);
}

// Three rings of three nodes: a walk that has seen its ring goes on from a random new item, and
// stays there until it has seen that ring.
static void check_stalls(struct hn_context *ctx, double alpha) {
    int64_t start[10];
    int32_t target[9];
    for (int v = 0; v <= 9; v++)
        start[v] = v;
    for (int v = 0; v < 9; v++)
        target[v] = v / 3 * 3 + (v + 1) % 3;
    const struct hn_graph g = {9, start, target, NULL};
    enum { B = 8, CAP = 4 };
    struct hn_walk walk = {&g, NULL, alpha, CAP, B, HN_WALK_RESTART};
    struct hn_walk_scratch scratch;
    HN_CHECK(ctx, hn_walk_scratch_open(ctx, 9, HN_WALK_RESTART, alpha >= 1, &scratch));
    int64_t landed[9] = {0}, stalls = 0;
    for (int i = 0; i < WALKS / 4; i++) {
        struct hn_stream stream;
        struct hn_walk_tally tally = {0};
        int32_t ids[B];
        unsigned seen = 0;
        hn_stream_open(&stream, 97, "test.stalls", 0, 0, i);
        hn_walk_run_many(&walk, 1, &(int32_t){0}, &stream, &scratch, ids, &tally);
        for (int k = 0; k < B; k++)
            seen |= 1U << ids[k];
        CU_ASSERT_EQUAL_FATAL(__builtin_popcount(seen), B);
        stalls += tally.stalls;
        if (tally.stalls == 2) { // no ring took longer than the cap
            CU_ASSERT(ids[0] / 3 == ids[2] / 3 && ids[3] / 3 == ids[5] / 3);
            CU_ASSERT(tally.step >= 2 * CAP * B || alpha >= 1);
            landed[ids[3]]++;
        }
    }
    CU_ASSERT(stalls >= 2 * (WALKS / 4));
    CU_ASSERT_EQUAL(landed[0] + landed[1] + landed[2], 0);
    CU_ASSERT(landed[3] > 100);
    CU_ASSERT(chi_square_fits(chi_square_equal(landed + 3, 6), 5));
    free_scratch(ctx, &scratch);
}

static void test_stalls(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    check_stalls(&ctx, 0);
    check_stalls(&ctx, 0.2);
    check_stalls(&ctx, 1);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// A node without neighbours is a trap like any other.
static void test_dead_ends(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    const struct hn_graph g = {5, (int64_t[6]){0}, (int32_t[1]){0}, NULL};
    const double alphas[] = {0, 0.5, 1, 0, 0};
    const enum hn_walk_kind kind[] = {HN_WALK_RESTART, HN_WALK_RESTART, HN_WALK_RESTART,
                                      HN_WALK_BREADTH, HN_WALK_DEPTH};
    for (int a = 0; a < 5; a++) {
        struct hn_walk walk = {&g, NULL, alphas[a], 2, 5, kind[a]};
        struct hn_walk_scratch scratch;
        struct hn_walk_tally tally = {0};
        struct hn_stream stream;
        int32_t ids[5];
        unsigned seen = 0;
        HN_CHECK(&ctx, hn_walk_scratch_open(&ctx, 5, kind[a], alphas[a] >= 1, &scratch));
        hn_stream_open(&stream, 1, "test.dead", 0, 0, a);
        hn_walk_run_many(&walk, 1, &(int32_t){3}, &stream, &scratch, ids, &tally);
        for (int k = 0; k < 5; k++)
            seen |= 1U << ids[k];
        CU_ASSERT_EQUAL(seen, 31);
        CU_ASSERT_EQUAL(tally.stalls, 4);
        free_scratch(&ctx, &scratch);
    }
}

static const struct hn_test tests[] = {
    {"restart_chain", test_restart_chain},
    {"weight_chain", test_weight_chain},
    {"limit_chain", test_limit_chain},
    {"limit_levels", test_limit_levels},
    {"depth_first", test_depth_first},
    {"orders", test_orders},
    {"stalls", test_stalls},
    {"dead_ends", test_dead_ends},
};
HN_TEST_MAIN("walk", tests)
