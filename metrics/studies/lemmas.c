// SPDX-License-Identifier: GPL-3.0-or-later
// The papers' lemmas and theorems in cases so small that everything can be tried.
//
//   GC lemmas 3.3 to 3.5, theorems 4.1, 4.2   every partition of 8 items into batches of 2 and of 4
//   BS theorem 1                              every graph on 5 nodes that all have a neighbour
//   HC theorems 4, 5, lemma 11                lemmas_sphere.c
//
// A row is a statement left <= right: how often it was tried and held, and both sides where it came
// closest to failing, or failed most. docs/reference/theory.md derives the statements and says
// which of them the papers print.
//
// Deviation: partitions stand for permutations, which cut into batches in order give each partition
// equally often. Scores are x1_i . x2_j where there is a second view, else x_i . x_j.
#include "metrics/metric.h"
#include "metrics/studies/lemmas_private.h"

#include <math.h>
#include <string.h>

struct params {
    int64_t trials;
};

// GC.
enum { ITEMS = 8, PARTITIONS = 105, SPACE = 3 };

struct partitions {
    int k, count;
    int batch[PARTITIONS][ITEMS]; // of an item
};

// Item i joins every batch in turn that has capacity, or opens the next; size[] is left as it was.
static void divide(struct partitions *p, int *batch, int *size, int i) {
    if (i == ITEMS)
        memcpy(p->batch[p->count++], batch, ITEMS * sizeof *batch);
    for (int b = 0; i < ITEMS && b < ITEMS / p->k && (b == 0 || size[b - 1] > 0); b++)
        if (size[b] < p->k) {
            batch[i] = b;
            size[b]++;
            divide(p, batch, size, i + 1);
            size[b]--;
        }
}

// Over the keys j in the batch of row i, means over the rows; `all_min` is the least of all.
struct means {
    double positive, lse, max, min, mean, all_min;
};

static struct means row_means(const double s[ITEMS][ITEMS], const int *batch, int k, double tau) {
    struct means m = {.all_min = 1};
    for (int i = 0; i < ITEMS; i++) {
        double own = s[i][i], max = own, min = own, others = 0;
        for (int j = 0; j < ITEMS; j++)
            if (batch[j] == batch[i]) {
                others += j == i ? 0 : exp((s[i][j] - own) / tau);
                m.mean += s[i][j] / k / ITEMS;
                max = fmax(max, s[i][j]);
                min = fmin(min, s[i][j]);
            }
        m.positive += own / ITEMS;
        m.lse += (own / tau + log1p(others)) / ITEMS;
        m.max += max / ITEMS;
        m.min += min / ITEMS;
        m.all_min = fmin(m.all_min, min);
    }
    return m;
}

// s[0]: rows of x, s[1]: rows of y. Theorems 4.1 and 4.2 are about the bounds 3.6 and 3.7 over
// both, here times tau and without their logarithms, which are the same for all partitions.
static void judge_partitions(struct hn_lemmas *w, const double s[2][ITEMS][ITEMS],
                             const struct partitions *p) {
    static const int everyone[ITEMS] = {0};
    const struct hn_lemma_choice none = {INFINITY, 0, 0};
    struct hn_lemma_choice printed = none, within = none, trace = none;
    double min36 = INFINITY, min37 = INFINITY;
    double tau = w->temperature;
    struct means all = row_means(s[0], everyone, ITEMS, tau);
    double top = all.max + row_means(s[1], everyone, ITEMS, tau).max;
    hn_lemma_try(w, "GC lemma 3.3", all.lse, all.max / tau + log(ITEMS));
    hn_lemma_try(w, "GC lemma 3.3 as printed", all.lse - all.positive / tau,
                 (all.max - all.positive / tau) / tau + log(ITEMS));
    for (int i = 0; i < p->count; i++) {
        struct means x = row_means(s[0], p->batch[i], p->k, tau);
        struct means y = row_means(s[1], p->batch[i], p->k, tau);
        double bound36 = top - x.min - y.min, bound37 = top - x.max - y.max;
        hn_lemma_try(w, "GC lemma 3.4", x.min / tau + log(p->k), x.lse);
        hn_lemma_try(w, "GC lemma 3.5", x.max / tau, x.lse);
        hn_lemma_try(w, "GC theorem 4.1 as a bound", bound36, top - 2 * x.all_min);
        hn_lemma_try(w, "GC theorem 4.2 as a bound", bound37, top - x.mean - y.mean);
        hn_lemma_choose(&printed, fmax(-x.all_min, 0), bound36); // -A o Z is 0 off the blocks
        hn_lemma_choose(&within, -x.all_min, bound36);
        hn_lemma_choose(&trace, -x.mean - y.mean, bound37);
        min36 = fmin(min36, bound36);
        min37 = fmin(min37, bound37);
    }
    hn_lemma_try(w, "GC theorem 4.1 as printed", printed.high, min36);
    hn_lemma_try(w, "GC theorem 4.1 within blocks", within.low, min36);
    hn_lemma_try(w, "GC theorem 4.2", trace.low, min37);
}

// Scores of items drawn at random, one from each eighth of the file.
static void snapshot_scores(const struct hn_items *items, struct hn_stream *stream,
                            double s[2][ITEMS][ITEMS]) {
    const struct hn_matrix *x = hn_has_positive(items) ? &items->x1 : &items->x;
    const struct hn_matrix *y = hn_has_positive(items) ? &items->x2 : &items->x;
    int64_t id[ITEMS], eighth = items->n / ITEMS;
    for (int i = 0; i < ITEMS; i++)
        id[i] = i * eighth + hn_stream_below(stream, (uint32_t)eighth);
    for (int i = 0; i < ITEMS; i++)
        for (int j = 0; j < ITEMS; j++)
            s[0][i][j] = s[1][j][i] = hn_dot_exact(hn_row(x, id[i]), hn_row(y, id[j]), items->d);
}

// Scores of random points on the sphere and a second view of them.
static void free_scores(struct hn_stream *stream, double s[2][ITEMS][ITEMS]) {
    double x[ITEMS][SPACE] = {{0}}, y[ITEMS][SPACE];
    for (int i = 0; i < ITEMS; i++) {
        hn_lemma_disturb(stream, 1, x[i], SPACE);
        memcpy(y[i], x[i], sizeof y[i]);
        hn_lemma_disturb(stream, 0.5, y[i], SPACE);
    }
    for (int i = 0; i < ITEMS; i++)
        for (int j = 0; j < ITEMS; j++)
            s[0][i][j] = s[1][j][i] = hn_lemma_dot(x[i], y[j], SPACE);
}

static enum hn_code try_partitions(struct hn_context *ctx, struct hn_lemmas *w, bool snapshot,
                                   int k, struct hn_table *table) {
    int batch[ITEMS], size[ITEMS] = {0};
    struct partitions p = {.k = k};
    divide(&p, batch, size, 0);
    w->embeddings = snapshot ? "snapshot" : "sphere";
    w->n = ITEMS;
    w->k = k;
    for (int64_t trial = 0; trial < w->trials && !hn_check_stop(ctx); trial++) {
        double s[2][ITEMS][ITEMS];
        struct hn_stream stream;
        hn_stream_open(&stream, (uint64_t)w->env->seed[0], "lemmas.scores", w->env->items->index,
                       trial, snapshot);
        if (snapshot)
            snapshot_scores(w->env->items, &stream, s);
        else
            free_scores(&stream, s);
        judge_partitions(w, s, &p);
    }
    return hn_lemma_rows(ctx, w, table);
}

// BS.
enum { NODES = 5, EDGES = 10, STEPS = 4 };

struct small_graph {
    double edge[NODES][NODES], degree[NODES];
    double at[NODES][NODES]; // [start][node]: the law of the lazy walk
};

// The graph whose edges are the bits; false if a node has none.
static bool make_graph(struct small_graph *g, int bits) {
    bool every = true;
    memset(g, 0, sizeof *g);
    for (int u = 0; u < NODES; u++) {
        g->at[u][u] = 1;
        for (int v = u + 1; v < NODES; v++, bits >>= 1)
            g->edge[u][v] = g->edge[v][u] = bits & 1;
        for (int v = 0; v < NODES; v++)
            g->degree[u] += g->edge[u][v];
        every &= g->degree[u] > 0;
    }
    return every;
}

static void walk(struct small_graph *g) {
    double now[NODES][NODES];
    memcpy(now, g->at, sizeof now);
    for (int u = 0; u < NODES; u++)
        for (int to = 0; to < NODES; to++) {
            g->at[u][to] = now[u][to] / 2;
            for (int v = 0; v < NODES; v++)
                g->at[u][to] += now[u][v] * g->edge[v][to] / g->degree[v] / 2;
        }
}

// The set whose nodes are the bits, after k steps. A bound of 1 says nothing.
static void judge_set(struct hn_lemmas *w, const struct small_graph *g, unsigned set, int k) {
    double volume[2] = {0}, cut = 0, outside[NODES] = {0}, mean = 0, above = 0;
    for (int u = 0; u < NODES; u++) {
        volume[set >> u & 1] += g->degree[u];
        for (int v = 0; v < NODES; v++)
            if (!(set >> v & 1)) {
                cut += (set >> u & 1) * g->edge[u][v];
                outside[u] += g->at[u][v];
            }
    }
    double bound = k * cut / fmin(volume[0], volume[1]) / 2;
    if (bound >= 1)
        return;
    for (int u = 0; u < NODES; u++)
        if (set >> u & 1) {
            hn_lemma_try(w, "BS theorem 1", outside[u], bound);
            mean += g->degree[u] / volume[1] * outside[u];
            above += outside[u] > 2 * bound ? g->degree[u] / volume[1] : 0;
        }
    hn_lemma_try(w, "BS theorem 1 by degree", mean, bound);
    hn_lemma_try(w, "BS theorem 1 for half", above, 0.5);
}

static enum hn_code try_graphs(struct hn_context *ctx, struct hn_lemmas *w,
                               struct hn_table *table) {
    w->embeddings = "graphs";
    w->temperature = NAN;
    w->n = NODES;
    for (int k = 1; k <= STEPS; k++) {
        for (int bits = 0; bits < 1 << EDGES; bits++) {
            struct small_graph g;
            if (!make_graph(&g, bits))
                continue;
            for (int step = 0; step < k; step++)
                walk(&g);
            for (unsigned set = 1; set < (1u << NODES) - 1; set++)
                judge_set(w, &g, set, k);
        }
        w->k = k;
        if (hn_lemma_rows(ctx, w, table))
            return ctx->code;
    }
    return HN_OK;
}

static enum hn_code run(struct hn_context *ctx, const void *p, const struct hn_study_env *env,
                        struct hn_table *table) {
    const struct params *params = p;
    struct hn_lemmas w = {.trials = params->trials, .env = env, .share = NAN};
    if (env->items->n < ITEMS)
        return hn_fail(ctx, HN_NOT_APPLICABLE, "lemmas needs %d items", ITEMS);
    for (int64_t t = 0; t < env->n_temperatures; t++) {
        w.temperature = env->temperature[t];
        for (int k = 2; k <= 4; k += 2)
            if (try_partitions(ctx, &w, true, k, table) || try_partitions(ctx, &w, false, k, table))
                return ctx->code;
        if (hn_lemmas_clouds(ctx, &w, table))
            return ctx->code;
    }
    return try_graphs(ctx, &w, table) || hn_lemmas_circle(ctx, &w, table) ? ctx->code : HN_OK;
}

static const struct hn_option options[] = {
    {HN_INT_OPTION(struct params, trials, "trials", "200", 1, 1000000,
                   "random subsets of the items, and random embeddings")},
    {0}};

static const struct hn_column columns[] = {
    {"statement", HN_COLUMN_TEXT, "", "paper and statement, of the form left <= right", HN_NEITHER},
    {"embeddings", HN_COLUMN_TEXT, "", "snapshot, sphere, graphs or circle", HN_NEITHER},
    {"n", HN_COLUMN_INT, "1", "items, nodes or classes", HN_NEITHER},
    {"k", HN_COLUMN_INT, "1", "batch size, steps, points of a class or places", HN_NEITHER},
    {"temperature", HN_COLUMN_REAL, "1", "temperature; NaN where there is none", HN_NEITHER},
    {"share", HN_COLUMN_REAL, "1",
     "share of one class, the others being alike; NaN where there are none", HN_NEITHER},
    {"trials", HN_COLUMN_INT, "1", "cases tried", HN_NEITHER},
    {"held", HN_COLUMN_INT, "1", "cases where it holds", HN_NEITHER},
    {"holds", HN_COLUMN_REAL, "1", "their share", HN_NEITHER},
    {"left", HN_COLUMN_REAL, "1", "left side where left - right is largest", HN_NEITHER},
    {"right", HN_COLUMN_REAL, "1", "right side there", HN_NEITHER},
};

const struct hn_study_type hn_study_lemmas = {
    .name = "lemmas",
    .summary = "lemmas and theorems in small cases, by brute force",
    .source = "GC lemmas 3.3 to 3.5, theorems 4.1, 4.2; BS theorem 1; HC theorems 4, 5, lemma 11",
    .note = "",
    .uses = HN_STUDY_TEMPERATURES,
    .options = options,
    .params_size = sizeof(struct params),
    .columns = columns,
    .n_columns = sizeof columns / sizeof columns[0],
    .run = run,
};
