// Studies of graphs, against naive versions: probabilities as sums, stationary distributions as
// solutions of a dense system.
#include "core/stats.h"
#include "samplers/proximity.h"
#include "tests/sampled.h"
#include "tests/studied.h"

#include <stdlib.h>

static struct studied_series make_series(struct hn_context *ctx, int64_t n, int64_t d, int classes,
                                         int steps) {
    struct studied_series s = {0};
    for (int i = 0; i < steps; i++) {
        s.step[i] = hn_fixture_items(ctx, n, d, classes, false, 300 + (uint64_t)i);
        s.step[i].step = 10 * i;
        s.step[i].progress = steps > 1 ? (double)i / (steps - 1) : 0;
    }
    return s;
}

static void free_series(struct hn_context *ctx, struct studied_series *s) {
    for (int i = 0; i < 4; i++)
        hn_fixture_items_free(ctx, &s->step[i]);
}

static struct hn_graph build(struct hn_context *ctx, const struct hn_items *items, int64_t m,
                             int64_t k, uint64_t seed) {
    struct hn_proximity spec = {.m = m, .k = k, .seed = seed, .stream_step = items->step};
    struct hn_work work = {0};
    struct hn_graph graph;
    HN_CHECK(ctx, hn_proximity_independent(ctx, &items->x, &spec, &work, &graph));
    return graph;
}

static bool is_text(const struct hn_table *t, int64_t row, const char *column, const char *text) {
    return strcmp(hn_table_text(t, row, column), text) == 0;
}

// Others of item v more similar than s.
static int64_t count_above(const struct hn_items *items, int64_t v, double s) {
    int64_t n = 0;
    for (int64_t j = 0; j < items->n; j++)
        n += j != v && hn_dot_exact(hn_row(&items->x, v), hn_row(&items->x, j), items->d) > s;
    return n;
}

static double log_choose(double n, double k) {
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

// P(at least k of m candidates are among the `above` of n others), term by term.
static double naive_exact(int64_t n, int64_t above, int64_t m, int64_t k) {
    double sum = 0;
    for (int64_t h = k; h <= hn_min(m, above); h++)
        if (m - h <= n - above)
            sum += exp(log_choose((double)above, (double)h) +
                       log_choose((double)(n - above), (double)(m - h)) -
                       log_choose((double)n, (double)m));
    return sum;
}

static double naive_binomial(double p, int64_t m, int64_t k) { // equation 6
    double sum = 1;
    for (int64_t h = 0; h < k; h++)
        sum -=
            exp(log_choose((double)m, (double)h)) * pow(p, (double)(m - h)) * pow(1 - p, (double)h);
    return sum;
}

enum { P_ITEMS = 90, P_M = 20, P_K = 4, P_GRAPHS = 3 };

// Counts of a row of prop1, by the graphs themselves.
static void check_prop1_row(const struct hn_items *items, const struct hn_graph *graph,
                            const struct hn_table *t, int64_t row) {
    bool by_rank = is_text(t, row, "by", "rank");
    double s = hn_table_real(t, row, "s"), exact = 0, binomial = 0, claimed = 0, mean = 0;
    int64_t hits = 0, rank = llround(hn_table_real(t, row, "above"));
    for (int64_t v = 0; v < P_ITEMS; v++) {
        int64_t above = by_rank ? rank : count_above(items, v, s);
        double p = (double)(P_ITEMS - 1 - above) / (P_ITEMS - 1);
        mean += (double)above / P_ITEMS;
        exact += naive_exact(P_ITEMS - 1, above, P_M, P_K) / P_ITEMS;
        binomial += naive_binomial(p, P_M, P_K) / P_ITEMS;
        claimed += pow(1 - pow(p, P_M), P_K) / P_ITEMS;
        for (int g = 0; g < P_GRAPHS; g++) {
            bool all = true; // K neighbours, one by one
            for (int64_t e = graph[g].start[v]; e < graph[g].start[v + 1]; e++) {
                double c = hn_dot_exact(hn_row(&items->x, v), hn_row(&items->x, graph[g].target[e]),
                                        items->d);
                all &= by_rank ? count_above(items, v, c) < rank : c > s;
            }
            hits += all;
        }
    }
    double measured = (double)hits / (P_ITEMS * P_GRAPHS);
    STUDIED_CLOSE(hn_table_real(t, row, "above"), mean);
    STUDIED_CLOSE(hn_table_real(t, row, "p"), 1 - mean / (P_ITEMS - 1));
    STUDIED_CLOSE(hn_table_real(t, row, "measured"), measured);
    STUDIED_CLOSE(hn_table_real(t, row, "exact"), exact);
    STUDIED_CLOSE(hn_table_real(t, row, "binomial"), binomial);
    STUDIED_CLOSE(hn_table_real(t, row, "claimed"), claimed);
    CU_ASSERT(is_text(t, row, "holds_exact", exact >= claimed - 1e-9 ? "yes" : "no"));
    double lo = hn_table_real(t, row, "measured_lo"), hi = hn_table_real(t, row, "measured_hi");
    CU_ASSERT(lo <= measured && measured <= hi);
    CU_ASSERT(is_text(t, row, "holds", lo >= claimed ? "yes" : hi < claimed ? "no" : "open"));
}

static void check_prop1(struct hn_context *ctx, struct studied_series *s) {
    struct hn_study_env env = studied_env(s, 1);
    struct hn_table table;
    struct hn_graph graph[P_GRAPHS];
    struct hn_stream stream;
    HN_CHECK(ctx, studied_run(ctx, "prop1", "M=20 K=4 graphs=3 points=21", &env, &table));
    hn_stream_open(&stream, 11, "prop1.graphs", 0, 0, 0);
    for (int g = 0; g < P_GRAPHS; g++) {
        uint64_t high = hn_stream_word(&stream);
        graph[g] = build(ctx, &s->step[0], P_M, P_K, high << 32 | hn_stream_word(&stream));
    }
    int64_t ranks = 0;
    for (int64_t row = 0; row < table.rows; row++) {
        check_prop1_row(&s->step[0], graph, &table, row);
        ranks += is_text(&table, row, "by", "rank");
    }
    CU_ASSERT_EQUAL(table.rows - ranks, 21);
    CU_ASSERT(ranks > 8);
    for (int g = 0; g < P_GRAPHS; g++)
        hn_graph_free(ctx, &graph[g]);
    hn_table_free(ctx, &table);
}

static void test_prop1(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct studied_series s = make_series(&ctx, P_ITEMS, 8, 3, 1);
    check_prop1(&ctx, &s);
    free_series(&ctx, &s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Six nearly equal rows of each kind: floats cannot tell which is nearer, and must not decide.
static void test_prop1_near_ties(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct studied_series s = make_series(&ctx, P_ITEMS, 8, 3, 1);
    float *x = (float *)s.step[0].x.data;
    for (int64_t i = 15; i < P_ITEMS; i++) {
        memcpy(x + i * 8, x + i % 15 * 8, 8 * sizeof *x);
        for (int64_t ulps = 0; ulps < i / 15; ulps++)
            x[i * 8 + i % 8] = nextafterf(x[i * 8 + i % 8], 0);
    }
    check_prop1(&ctx, &s);
    free_series(&ctx, &s);
}

// Whatever the data, the measured share by rank has the hypergeometric probability.
static void test_prop1_law(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct studied_series s = make_series(&ctx, 300, 6, 3, 1);
    struct hn_study_env env = studied_env(&s, 1);
    struct hn_table table;
    HN_CHECK(&ctx, studied_run(&ctx, "prop1", "M=40 K=8 graphs=100 points=30", &env, &table));
    int64_t inside = 0;
    for (int64_t row = 0; row < table.rows; row++) {
        double exact = hn_table_real(&table, row, "exact");
        if (is_text(&table, row, "by", "similarity") || exact < 1e-3 || exact > 1 - 1e-3)
            continue;
        double error = sqrt(exact * (1 - exact) / 30000);
        CU_ASSERT(fabs(hn_table_real(&table, row, "measured") - exact) < 3 * error);
        inside++;
    }
    CU_ASSERT(inside >= 5);
    hn_table_free(&ctx, &table);
    free_series(&ctx, &s);
}

// K = 1: the claim is the binomial form itself. M = N - 1: the exact kNN graph, without chance.
static void test_prop1_limits(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct studied_series s = make_series(&ctx, 80, 6, 3, 1);
    struct hn_study_env env = studied_env(&s, 1);
    struct hn_table one, all;
    HN_CHECK(&ctx, studied_run(&ctx, "prop1", "M=10 K=1 graphs=1 points=21", &env, &one));
    for (int64_t row = 0; row < one.rows; row++)
        CU_ASSERT_DOUBLE_EQUAL(hn_table_real(&one, row, "binomial"),
                               hn_table_real(&one, row, "claimed"), 1e-12);
    HN_CHECK(&ctx, studied_run(&ctx, "prop1", "M=500 K=6 graphs=1 points=60", &env, &all));
    for (int64_t row = 0; row < all.rows; row++) {
        CU_ASSERT_EQUAL(hn_table_real(&all, row, "M"), 79);
        CU_ASSERT_DOUBLE_EQUAL(hn_table_real(&all, row, "measured"),
                               hn_table_real(&all, row, "exact"), 1e-12);
        if (is_text(&all, row, "by", "rank"))
            CU_ASSERT_EQUAL(hn_table_real(&all, row, "measured"),
                            hn_table_real(&all, row, "above") >= 6);
    }
    hn_table_free(&ctx, &one);
    hn_table_free(&ctx, &all);
    free_series(&ctx, &s);
}

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
        int place = v; // insertion by falling p_u(v) / d(v)
        for (; place > 0 &&
               d->p[u][v] / d->degree[v] > d->p[u][order[place - 1]] / d->degree[order[place - 1]];
             place--)
            order[place] = order[place - 1];
        order[place] = v;
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
    double size = 0, volume = 0, all = 0, sum = 0, most = 0, above = 0, by_degree = 0;
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
        most = fmax(most, escape);
        above += escape > bound + 1e-9;
        by_degree += escape * d->degree[u];
    }
    CU_ASSERT_EQUAL(hn_table_real(t, row, "size"), size);
    STUDIED_CLOSE(hn_table_real(t, row, "volume"), volume / all);
    STUDIED_CLOSE(hn_table_real(t, row, "conductance"), phi);
    STUDIED_CLOSE(hn_table_real(t, row, "bound"), bound);
    CU_ASSERT_DOUBLE_EQUAL(hn_table_real(t, row, "escape_mean"), sum / size, 2e-10);
    CU_ASSERT_DOUBLE_EQUAL(hn_table_real(t, row, "escape_max"), most, 2e-10);
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
    HN_CHECK(ctx, hn_sampler_build(ctx, &s.sampler, built, built->step));
    for (int64_t done = 0, epoch = 0; done < 9; epoch++) {
        int64_t batches;
        HN_CHECK(ctx, hn_sampler_epoch(ctx, &s.sampler, judged, epoch, &batches));
        for (int64_t i = 0; i < batches && done < 9; i++, done++) {
            int32_t size, ids[16];
            struct hn_batches out = {i, 1, b, &size, ids, 0, NULL, NULL};
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
        HN_CHECK(&ctx, hn_proximity_independent(&ctx, &judged->x, &spec, &work, &fresh));
        HN_CHECK(&ctx, hn_proximity_independent(&ctx, &built->x, &spec, &work, &stale));
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

static void note(void *data, const char *text) { snprintf(data, 256, "%s", text); }

static void test_hostile(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct studied_series s = make_series(&ctx, 30, 4, 2, 1);
    struct hn_study_env env = studied_env(&s, 1);
    struct hn_table table;
    char said[256] = "";
    static const char *const graphs[] = {"prop1", "prop2", "staleness", "purity"};
    for (int i = 0; i < 4; i++) {
        HN_CHECK_FAILS(&ctx, studied_run(&ctx, graphs[i], "M=5 K=6", &env, &table), HN_USAGE,
                       "K = 6 exceeds M = 5");
        HN_CHECK_FAILS(&ctx, studied_run(&ctx, graphs[i], "M=0", &env, &table), HN_USAGE, "M");
    }
    HN_CHECK_FAILS(&ctx, studied_run(&ctx, "purity", "M=5 K=2 item=30", &env, &table), HN_USAGE,
                   "item 30 is not among the 30 items");
    HN_CHECK_FAILS(&ctx, studied_run(&ctx, "prop2", "alpha=0", &env, &table), HN_USAGE, "alpha");
    HN_CHECK_FAILS(&ctx, studied_run(&ctx, "prop1", "points=1", &env, &table), HN_USAGE, "points");
    HN_CHECK_FAILS(&ctx, studied_run(&ctx, "random_assignments", "count=0", &env, &table), HN_USAGE,
                   "count");
    ctx.notes = (struct hn_notes){note, said};
    HN_CHECK(&ctx, studied_run(&ctx, "purity", "M=100 K=3", &env, &table));
    CU_ASSERT_STRING_EQUAL(said, "M = 100 taken as 29: an item has no more others");
    hn_table_free(&ctx, &table);
    free_series(&ctx, &s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"prop1, naively", test_prop1},     {"prop1, near ties", test_prop1_near_ties},
    {"prop1, the law", test_prop1_law}, {"prop1, limits", test_prop1_limits},
    {"prop2, densely", test_prop2},     {"prop2, what is proved", test_prop2_proved},
    {"purity, naively", test_purity},   {"staleness, naively", test_staleness},
    {"hostile options", test_hostile},
};
HN_TEST_MAIN("study_graphs", tests)
