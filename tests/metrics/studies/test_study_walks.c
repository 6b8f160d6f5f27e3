// SPDX-License-Identifier: GPL-3.0-or-later
// Walks on graphs, neighbours that age, and purity, against naive versions: stationary
// distributions as solutions of a dense system.
#include "tests/metrics/studies/naive_graph.h"

enum { W_ITEMS = 70, W_M = 12, W_K = 3 };

// The undirected graph as a matrix, and the stationary distributions of all starts:
// p[u] = alpha (I - (1 - alpha) M)^-1 1_u by elimination.
struct dense {
    double edge[W_ITEMS][W_ITEMS], degree[W_ITEMS], p[W_ITEMS][W_ITEMS];
};

static void fill_edges(struct hn_context *ctx, const struct hn_items *items, struct dense *d) {
    struct hn_graph g = build(ctx, items, W_M, W_K, 11);
    memset(d, 0, sizeof *d);
    for (int v = 0; v < W_ITEMS; v++)
        for (int64_t e = g.start[v]; e < g.start[v + 1]; e++)
            d->edge[v][g.target[e]] = d->edge[g.target[e]][v] = 1;
    for (int v = 0; v < W_ITEMS; v++)
        for (int w = 0; w < W_ITEMS; w++)
            d->degree[v] += d->edge[v][w];
    hn_graph_free(ctx, &g);
}

static void solve_dense(struct dense *d, double alpha) {
    static double a[W_ITEMS][2 * W_ITEMS]; // [system | alpha I]
    for (int i = 0; i < W_ITEMS; i++)
        for (int j = 0; j < W_ITEMS; j++) {
            a[i][j] = (i == j) - (1 - alpha) * ((i == j) + d->edge[i][j] / d->degree[j]) / 2;
            a[i][W_ITEMS + j] = i == j ? alpha : 0;
        }
    for (int k = 0; k < W_ITEMS; k++) { // diagonally dominant by columns: no pivoting needed
        double pivot = a[k][k];
        for (int j = 0; j < 2 * W_ITEMS; j++)
            a[k][j] /= pivot;
        for (int i = 0; i < W_ITEMS; i++) {
            double factor = i == k ? 0 : a[i][k];
            for (int j = 0; factor != 0 && j < 2 * W_ITEMS; j++)
                a[i][j] -= factor * a[k][j];
        }
    }
    for (int u = 0; u < W_ITEMS; u++)
        for (int v = 0; v < W_ITEMS; v++)
            d->p[u][v] = a[v][W_ITEMS + u];
}

static double conductance(const struct dense *d, const bool *inside) {
    double cut = 0, in = 0, out = 0;
    for (int v = 0; v < W_ITEMS; v++) {
        *(inside[v] ? &in : &out) += d->degree[v];
        for (int w = 0; w < W_ITEMS; w++)
            cut += inside[v] && !inside[w] ? d->edge[v][w] : 0;
    }
    return cut / fmin(in, out);
}

// The set of a row, by its definition.
static void find_set(const struct hn_items *items, const struct dense *d, const struct hn_table *t,
                     int64_t row, bool *inside) {
    int u = (int)hn_table_real(t, row, "set"), order[W_ITEMS];
    bool prefix[W_ITEMS] = {false};
    double best = INFINITY, volume = 0, all = 0;
    memset(inside, 0, W_ITEMS * sizeof *inside);
    for (int v = 0; v < W_ITEMS; v++) {
        all += d->degree[v];
        inside[v] = is_text(t, row, "set_kind", "class") && items->labels[v] == u;
        int position = v; // insertion by falling p_u(v) / d(v)
        for (; position > 0 && d->p[u][v] / d->degree[v] >
                                   d->p[u][order[position - 1]] / d->degree[order[position - 1]];
             position--)
            order[position] = order[position - 1];
        order[position] = v;
    }
    bool ball = is_text(t, row, "set_kind", "ball"), sweep = is_text(t, row, "set_kind", "sweep");
    for (int i = 0; i < W_ITEMS && (ball || sweep); i++) {
        volume += d->degree[order[i]];
        prefix[order[i]] = true;
        bool wanted = ball ? i + 1 == studied_batch_size[0]
                           : volume <= all / 2 && conductance(d, prefix) < best;
        if (wanted) {
            best = conductance(d, prefix);
            memcpy(inside, prefix, sizeof prefix);
        }
    }
}

static void check_prop2_row(const struct hn_items *items, const struct dense *d, double alpha,
                            const struct hn_table *t, int64_t row) {
    bool inside[W_ITEMS];
    find_set(items, d, t, row, inside);
    double phi = conductance(d, inside), bound = (1 - alpha) / (2 * alpha) * phi;
    double size = 0, volume = 0, all = 0, sum = 0, max = 0, above = 0, by_degree = 0;
    for (int u = 0; u < W_ITEMS; u++) {
        double escape = 0;
        all += d->degree[u];
        if (!inside[u])
            continue;
        for (int v = 0; v < W_ITEMS; v++)
            escape += inside[v] ? 0 : d->p[u][v];
        size++;
        volume += d->degree[u];
        sum += escape;
        max = fmax(max, escape);
        above += escape > bound + 1e-9;
        by_degree += escape * d->degree[u];
    }
    CU_ASSERT_EQUAL(hn_table_real(t, row, "size"), size);
    STUDIED_CLOSE(hn_table_real(t, row, "volume"), volume / all);
    STUDIED_CLOSE(hn_table_real(t, row, "conductance"), phi);
    STUDIED_CLOSE(hn_table_real(t, row, "bound"), bound);
    CU_ASSERT_DOUBLE_EQUAL(hn_table_real(t, row, "escape_mean"), sum / size, 2e-10);
    CU_ASSERT_DOUBLE_EQUAL(hn_table_real(t, row, "escape_max"), max, 2e-10);
    CU_ASSERT_DOUBLE_EQUAL(hn_table_real(t, row, "escape_by_degree"), by_degree / volume, 2e-10);
    STUDIED_CLOSE(hn_table_real(t, row, "violating"), above / size);
    CU_ASSERT(is_text(t, row, "holds", above > 0 ? "no" : "yes"));
    CU_ASSERT(is_text(t, row, "holds_by_degree", "yes"));
}

static void test_prop2(void) {
    static const char *const alphas[] = {"0.05", "0.3", "0.9", "1"};
    static struct dense dense;
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct studied_series s = make_series(&ctx, W_ITEMS, 8, 3, 1);
    struct hn_study_env env = studied_env(&s, 1);
    int64_t failing = 0;
    for (int64_t i = 0; i < W_ITEMS; i++) // one class has more than half of the volume
        if (i % 7 < 5)
            ((int32_t *)s.step[0].labels)[i] = 2;
    fill_edges(&ctx, &s.step[0], &dense);
    for (int a = 0; a < 4; a++) {
        char settings[64];
        struct hn_table table;
        snprintf(settings, sizeof settings, "M=12 K=3 sweeps=5 alpha=%s", alphas[a]);
        HN_CHECK(&ctx, studied_run(&ctx, "prop2", settings, &env, &table));
        solve_dense(&dense, atof(alphas[a]));
        // At alpha = 1 all ranks but that of the start are equal: the sets are anything's.
        int64_t rows = a == 3 ? 3 : table.rows;
        CU_ASSERT_EQUAL(table.rows, 3 + 2 * 5);
        for (int64_t row = 0; row < rows; row++) {
            check_prop2_row(&s.step[0], &dense, atof(alphas[a]), &table, row);
            failing += is_text(&table, row, "holds", "no");
        }
        hn_table_free(&ctx, &table);
    }
    CU_ASSERT(failing > 0); // for every start the claim fails: both answers were seen
    free_series(&ctx, &s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// What is proved holds for any data and any set; unlabelled items are in no class.
static void test_prop2_proved(void) {
    static const char *const settings[] = {"M=30 K=2 alpha=0.01 sweeps=20",
                                           "M=10 K=10 alpha=0.5 sweeps=20",
                                           "M=199 K=5 alpha=0.95 sweeps=20"};
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct studied_series s = make_series(&ctx, 200, 4, 5, 1);
    struct hn_study_env env = studied_env(&s, 1);
    for (int64_t i = 0; i < 200; i += 5)
        ((int32_t *)s.step[0].labels)[i] = -1;
    for (int i = 0; i < 3; i++) {
        struct hn_table table;
        HN_CHECK(&ctx, studied_run(&ctx, "prop2", settings[i], &env, &table));
        CU_ASSERT_EQUAL(table.rows, 4 + 40);
        for (int64_t row = 0; row < table.rows; row++) {
            CU_ASSERT(is_text(&table, row, "holds_by_degree", "yes"));
            CU_ASSERT(hn_table_real(&table, row, "escape_by_degree") <=
                      hn_table_real(&table, row, "bound") + 1e-9);
        }
        hn_table_free(&ctx, &table);
    }
    free_series(&ctx, &s);
}

// Share of one label among neighbours of ranks [lo, hi], of all items or one.
static double naive_purity(const struct hn_items *items, const struct hn_graph *g, int64_t lo,
                           int64_t hi, int64_t item, double *pairs) {
    double same = 0;
    *pairs = 0;
    for (int64_t v = 0; v < items->n; v++)
        for (int64_t r = lo; r <= hi; r++) {
            int32_t other = g->target[g->start[v] + r - 1];
            bool known = items->labels[v] >= 0 && items->labels[other] >= 0;
            if ((item >= 0 && v != item) || !known)
                continue;
            *pairs += 1;
            same += items->labels[v] == items->labels[other];
        }
    return *pairs > 0 ? same / *pairs : NAN;
}

static void test_purity(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct studied_series s = make_series(&ctx, 120, 8, 3, 1);
    struct hn_items *items = &s.step[0];
    struct hn_study_env env = studied_env(&s, 1);
    struct hn_table table;
    for (int64_t i = 0; i < 120; i += 7)
        ((int32_t *)items->labels)[i] = -1;
    double chance = 0, known = 0;
    for (int64_t i = 0; i < 120; i++)
        for (int64_t j = 0; j < 120; j++)
            if (i != j && items->labels[i] >= 0 && items->labels[j] >= 0) {
                known++;
                chance += items->labels[i] == items->labels[j];
            }
    HN_CHECK(&ctx, studied_run(&ctx, "purity", "M=30 K=11 item=4", &env, &table));
    struct hn_graph near = build(&ctx, items, 119, 11, 11), drawn = build(&ctx, items, 30, 11, 11);
    CU_ASSERT_EQUAL(table.rows, 2 * 2 * 5); // all ranks, then 1, 2-3, 4-7, 8-11
    for (int64_t row = 0; row < table.rows; row++) {
        const struct hn_graph *g = is_text(&table, row, "graph", "knn") ? &near : &drawn;
        double pairs, item = hn_table_real(&table, row, "item");
        int64_t lo = llround(hn_table_real(&table, row, "rank_lo"));
        int64_t hi = llround(hn_table_real(&table, row, "rank_hi"));
        double purity = naive_purity(items, g, lo, hi, (int64_t)item, &pairs);
        STUDIED_CLOSE(hn_table_real(&table, row, "purity"), purity);
        CU_ASSERT_EQUAL(hn_table_real(&table, row, "pairs"), pairs);
        STUDIED_CLOSE(hn_table_real(&table, row, "chance"), chance / known);
        CU_ASSERT_EQUAL(isnan(hn_table_real(&table, row, "purity_lo")), item >= 0);
    }
    hn_graph_free(&ctx, &near);
    hn_graph_free(&ctx, &drawn);
    hn_table_free(&ctx, &table);
    static const char *const one[] = {"M=30 K=11", "M=30 K=11 item=0", "M=30 K=11 item=119"};
    for (int i = 0; i < 3; i++) { // no item, the first and the last
        int64_t own = 0;
        HN_CHECK(&ctx, studied_run(&ctx, "purity", one[i], &env, &table));
        for (int64_t row = 0; row < table.rows; row++)
            own += hn_table_real(&table, row, "item") == (i == 1 ? 0 : 119);
        CU_ASSERT_EQUAL(own, i == 0 ? 0 : 2 * 5);
        hn_table_free(&ctx, &table);
    }
    free_series(&ctx, &s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Edges of `a` that `b` has, one by one.
static double naive_overlap(const struct hn_graph *a, const struct hn_graph *b) {
    double shared = 0;
    for (int64_t v = 0; v < a->n; v++)
        for (int64_t e = a->start[v]; e < a->start[v + 1]; e++)
            for (int64_t f = b->start[v]; f < b->start[v + 1]; f++)
                shared += a->target[e] == b->target[f];
    return shared / (double)hn_graph_edges(a);
}

// Mean in-batch cosine on `judged` of the first nine batches of a graph built on `built`.
static double naive_cosine(struct hn_context *ctx, const struct hn_items *built,
                           const struct hn_items *judged, int32_t b, uint64_t seed) {
    struct sampled s = {0};
    const struct hn_sampler_type *type = hn_sampler_find("batchsampler");
    double sum = 0, pairs = 0;
    s.params = hn_zalloc(ctx, 1, type->params_size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s.params);
    HN_CHECK(ctx, sampled_params(ctx, type, "M=20 K=4 alpha=0.3~0.1", s.params));
    HN_CHECK(ctx, hn_sampler_open(ctx, type, s.params, built->n, b, seed, &s.sampler));
    HN_CHECK(ctx, hn_sampler_build(ctx, &s.sampler, built, built->index));
    for (int64_t done = 0, epoch = 0; done < 9; epoch++) {
        int64_t batches;
        HN_CHECK(ctx, hn_sampler_epoch(ctx, &s.sampler, judged, epoch, &batches));
        for (int64_t i = 0; i < batches && done < 9; i++, done++) {
            int32_t size, ids[16];
            struct hn_batches out = {
                .first = i, .count = 1, .batch_size = b, .size = &size, .ids = ids};
            HN_CHECK(ctx, hn_sampler_next(ctx, &s.sampler, &out));
            for (int x = 0; x < size; x++)
                for (int y = 0; y < x; y++, pairs++)
                    sum += studied_dot(&judged->x, ids[x], &judged->x, ids[y]);
        }
    }
    hn_sampler_close(ctx, &s.sampler);
    hn_options_free(ctx, type->options, s.params);
    hn_free(ctx, s.params);
    return sum / pairs;
}

static void test_staleness(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct studied_series s = make_series(&ctx, 60, 8, 3, 3);
    struct hn_study_env env = studied_env(&s, 3);
    struct hn_table table;
    HN_CHECK(&ctx,
             studied_run(&ctx, "staleness", "M=20 K=4 alpha=0.3~0.1 batches=9", &env, &table));
    CU_ASSERT_EQUAL(table.rows, 3 * 2 * 2); // steps built on, batch sizes, seeds
    for (int64_t row = 0; row < table.rows; row++) {
        const struct hn_items *built = &s.step[row / 4], *judged = &s.step[2];
        int64_t b = studied_batch_size[row / 2 % 2], seed = studied_seed[row % 2];
        // The same candidates on the other embeddings: streams named by the step built on.
        struct hn_proximity spec = {20, 4, (uint64_t)seed, built->step, false, 0};
        struct hn_work work = {0};
        struct hn_graph fresh, stale;
        HN_CHECK(&ctx, proximity_graph(&ctx, HN_CANDIDATES_INDEPENDENT, &judged->x, &spec, &work,
                                       &fresh));
        HN_CHECK(&ctx,
                 proximity_graph(&ctx, HN_CANDIDATES_INDEPENDENT, &built->x, &spec, &work, &stale));
        CU_ASSERT_EQUAL(hn_table_real(&table, row, "build_step"), (double)built->step);
        CU_ASSERT_EQUAL(hn_table_real(&table, row, "age"), (double)(20 - built->step));
        CU_ASSERT_EQUAL(hn_table_real(&table, row, "batch_size"), (double)b);
        CU_ASSERT_EQUAL(hn_table_real(&table, row, "seed"), (double)seed);
        STUDIED_CLOSE(hn_table_real(&table, row, "alpha"), 0.1);
        STUDIED_CLOSE(hn_table_real(&table, row, "graph_overlap"), naive_overlap(&fresh, &stale));
        STUDIED_CLOSE(hn_table_real(&table, row, "cos_mean"),
                      naive_cosine(&ctx, built, judged, (int32_t)b, (uint64_t)seed));
        CU_ASSERT(hn_table_real(&table, row, "graph_overlap") < 0.9 || row >= 8);
        hn_graph_free(&ctx, &fresh);
        hn_graph_free(&ctx, &stale);
    }
    hn_table_free(&ctx, &table);
    free_series(&ctx, &s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"prop2, densely", test_prop2},
    {"prop2, what is proved", test_prop2_proved},
    {"purity, naively", test_purity},
    {"staleness, naively", test_staleness},
};
HN_TEST_MAIN("study_walks", tests)
