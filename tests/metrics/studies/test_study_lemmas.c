// SPDX-License-Identifier: GPL-3.0-or-later
// The study of lemmas against all permutations, walks and placements, by plain recursion.
#include "metrics/studies/lemmas_private.h"
#include "tests/metrics/studies/study_series.h"

enum { MAX = 8 };

// The row of a statement; the first one with these numbers.
static int64_t row_of(const struct hn_table *t, const char *statement, const char *embeddings,
                      int n, int k) {
    for (int64_t r = 0; r < t->rows; r++)
        if (strcmp(hn_table_text(t, r, "statement"), statement) == 0 &&
            strcmp(hn_table_text(t, r, "embeddings"), embeddings) == 0 &&
            (int)hn_table_real(t, r, "n") == n && (int)hn_table_real(t, r, "k") == k)
            return r;
    CU_FAIL_FATAL("no such row");
    return -1;
}

static void check_sides(const struct hn_table *t, int64_t row, double left, double right) {
    STUDIED_CLOSE(hn_table_real(t, row, "left"), left);
    STUDIED_CLOSE(hn_table_real(t, row, "right"), right);
    CU_ASSERT_EQUAL(hn_table_real(t, row, "held"), left <= right + 1e-9);
    CU_ASSERT_EQUAL(hn_table_real(t, row, "trials"), 1);
}

// GC section 4 as printed: scores xy[n x n], the permutation order[n], blocks of k.
struct assignment {
    int n, k;
    double xy[MAX][MAX];
    int order[MAX];
    bool used[MAX];
    // Of all permutations: the least of both bounds and of the three objectives; then, among those
    // with the least objective, the least and the largest bound.
    double min36, min37, objective[3], low[3], high[3];
    bool second;
};
enum { PRINTED, WITHIN, TRACE };

static double at(const struct assignment *a, int i, int j) {
    return a->xy[a->order[i]][a->order[j]];
}

// Mean over the rows and over the columns of the extreme entry (sign 1: largest) of `within` or
// all.
static double extremes(const struct assignment *a, int sign, bool within) {
    double sum = 0;
    for (int i = 0; i < a->n; i++) {
        double row = -INFINITY, column = -INFINITY;
        for (int j = 0; j < a->n; j++)
            if (!within || i / a->k == j / a->k) {
                row = fmax(row, sign * at(a, i, j));
                column = fmax(column, sign * at(a, j, i));
            }
        sum += sign * (row + column) / a->n;
    }
    return sum;
}

static void objectives(const struct assignment *a, double *objective) {
    objective[PRINTED] = objective[WITHIN] = -INFINITY;
    objective[TRACE] = 0;
    for (int i = 0; i < a->n; i++)
        for (int j = 0; j < a->n; j++) {
            double block = i / a->k == j / a->k, z = fmin(at(a, i, j), at(a, j, i));
            objective[PRINTED] = fmax(objective[PRINTED], -block * z);
            if (block > 0)
                objective[WITHIN] = fmax(objective[WITHIN], -z);
            objective[TRACE] -= block * (at(a, i, j) + at(a, j, i));
        }
}

static void visit(struct assignment *a) {
    double all = extremes(a, 1, false), objective[3], bound[3];
    bound[PRINTED] = bound[WITHIN] = all - extremes(a, -1, true);
    bound[TRACE] = all - extremes(a, 1, true);
    objectives(a, objective);
    a->min36 = fmin(a->min36, bound[WITHIN]);
    a->min37 = fmin(a->min37, bound[TRACE]);
    for (int o = 0; o < 3; o++) {
        if (!a->second)
            a->objective[o] = fmin(a->objective[o], objective[o]);
        else if (objective[o] < a->objective[o] + 1e-10) {
            a->low[o] = fmin(a->low[o], bound[o]);
            a->high[o] = fmax(a->high[o], bound[o]);
        }
    }
}

static void permute(struct assignment *a, int position) {
    if (position == a->n)
        visit(a);
    for (int i = 0; i < a->n && position < a->n; i++)
        if (!a->used[i]) {
            a->used[i] = true;
            a->order[position] = i;
            permute(a, position + 1);
            a->used[i] = false;
        }
}

static void try_all(struct assignment *a) {
    a->min36 = a->min37 = INFINITY;
    for (int o = 0; o < 3; o++) {
        a->objective[o] = a->low[o] = INFINITY;
        a->high[o] = -INFINITY;
    }
    permute(a, 0);
    a->second = true;
    permute(a, 0);
}

// Eight items, of which the study takes one from each eighth: all of them.
static void test_permutations(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct studied_series s = make_series(&ctx, MAX, 4, 3, true, 1);
    struct hn_study_env env = studied_env(&s, 1);
    struct hn_table t;
    env.n_temperatures = 1;
    HN_CHECK(&ctx, studied_run(&ctx, "lemmas", "trials=1", &env, &t));
    for (int k = 2; k <= 4; k += 2) {
        struct assignment a = {.n = MAX, .k = k};
        for (int i = 0; i < MAX; i++)
            for (int j = 0; j < MAX; j++)
                a.xy[i][j] = studied_dot(&s.step[0].x1, i, &s.step[0].x2, j);
        try_all(&a);
        check_sides(&t, row_of(&t, "GC theorem 4.1 as printed", "snapshot", MAX, k),
                    a.high[PRINTED], a.min36);
        check_sides(&t, row_of(&t, "GC theorem 4.1 within blocks", "snapshot", MAX, k),
                    a.low[WITHIN], a.min36);
        check_sides(&t, row_of(&t, "GC theorem 4.2", "snapshot", MAX, k), a.low[TRACE], a.min37);
    }
    hn_table_free(&ctx, &t);
    free_series(&ctx, &s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// The examples of docs/reference/theory.md, four items in pairs.
static void test_examples(void) {
    // x = y = u, u, v, w with v . w = 0 and u at .4 from both.
    struct assignment a = {
        .n = 4, .k = 2, .xy = {{1, 1, .4, .4}, {1, 1, .4, .4}, {.4, .4, 1, 0}, {.4, .4, 0, 1}}};
    try_all(&a);
    CU_ASSERT_DOUBLE_EQUAL(a.objective[PRINTED], 0, 0);
    CU_ASSERT_DOUBLE_EQUAL(a.objective[WITHIN], -.4, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(a.low[WITHIN], 2 - .8, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(a.min36, 2 - 1, 1e-12);
    // Orthonormal y, x of these coordinates and one more: the sum prefers pairs of .2 and .2 to
    // pairs of .5 and -.5.
    struct assignment b = {
        .n = 4, .k = 2, .xy = {{0, .5, .2, 0}, {-.5, 0, 0, .2}, {.2, 0, 0, .5}, {0, .2, -.5, 0}}};
    try_all(&b);
    CU_ASSERT_DOUBLE_EQUAL(b.low[TRACE], .7 - .4, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(b.min37, .7 - .5, 1e-12);
}

// GC lemmas at every temperature: both sides of 3.3, the stray temperature of its print.
static void test_lemma_33(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct studied_series s = make_series(&ctx, MAX, 4, 3, true, 1);
    struct hn_study_env env = studied_env(&s, 1);
    struct hn_table t;
    env.n_temperatures = 1;
    HN_CHECK(&ctx, studied_run(&ctx, "lemmas", "trials=1", &env, &t));
    double tau = studied_temperature[0], lse = 0, top = 0, positive = 0;
    for (int64_t i = 0; i < MAX; i++) {
        double sum = 0, max = -1;
        for (int64_t j = 0; j < MAX; j++) {
            double score = studied_dot(&s.step[0].x1, i, &s.step[0].x2, j);
            sum += exp(score / tau);
            max = fmax(max, score);
        }
        lse += log(sum) / MAX;
        top += max / MAX;
        positive += studied_dot(&s.step[0].x1, i, &s.step[0].x2, i) / MAX;
    }
    check_sides(&t, row_of(&t, "GC lemma 3.3", "snapshot", MAX, 2), lse, top / tau + log(MAX));
    check_sides(&t, row_of(&t, "GC lemma 3.3 as printed", "snapshot", MAX, 2), lse - positive / tau,
                top / tau - positive / tau / tau + log(MAX));
    hn_table_free(&ctx, &t);
    free_series(&ctx, &s);
}

// Whether the lazy walk is outside the set after k steps from u: a sum over all its paths.
static double outside(const bool edge[5][5], unsigned set, int u, int k) {
    double sum = 0, degree = 0;
    if (k == 0)
        return !(set >> u & 1);
    for (int v = 0; v < 5; v++)
        if (edge[u][v]) {
            sum += outside(edge, set, v, k - 1);
            degree++;
        }
    return outside(edge, set, u, k - 1) / 2 + sum / degree / 2;
}

struct walks {
    double trials, held, worst, by_degree;
};

static void walk_set(struct walks *w, const bool edge[5][5], const double *degree, unsigned set,
                     int k) {
    double cut = 0, in = 0, out = 0, sum = 0;
    for (int u = 0; u < 5; u++) {
        *(set >> u & 1 ? &in : &out) += degree[u];
        for (int v = 0; v < 5; v++)
            cut += edge[u][v] && set >> u & 1 && !(set >> v & 1);
    }
    double bound = k * cut / fmin(in, out) / 2;
    for (int u = 0; u < 5 && bound < 1; u++)
        if (set >> u & 1) {
            double escape = outside(edge, set, u, k);
            w->trials++;
            w->held += escape <= bound + 1e-9;
            w->worst = fmax(w->worst, escape - bound);
            sum += degree[u] / in * escape;
        }
    if (bound < 1)
        w->by_degree = fmax(w->by_degree, sum - bound);
}

static void walk_all(struct walks *w, int k) {
    for (int bits = 0; bits < 1024; bits++) {
        bool edge[5][5] = {{0}}, lonely = false;
        double degree[5] = {0};
        for (int u = 0, e = 0; u < 5; u++)
            for (int v = 0; v < u; v++, e++)
                edge[u][v] = edge[v][u] = bits >> e & 1;
        for (int u = 0; u < 5; u++) {
            for (int v = 0; v < 5; v++)
                degree[u] += edge[u][v];
            lonely |= degree[u] < 1;
        }
        for (unsigned set = 1; set < 31 && !lonely; set++)
            walk_set(w, (const bool(*)[5])edge, degree, set, k);
    }
}

static void test_walks(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct studied_series s = make_series(&ctx, 20, 4, 3, false, 1);
    struct hn_study_env env = studied_env(&s, 1);
    struct hn_table t;
    HN_CHECK(&ctx, studied_run(&ctx, "lemmas", "trials=1", &env, &t));
    for (int k = 1; k <= 2; k++) {
        struct walks w = {0, 0, -1, -1};
        walk_all(&w, k);
        int64_t row = row_of(&t, "BS theorem 1", "graphs", 5, k);
        CU_ASSERT_EQUAL(hn_table_real(&t, row, "trials"), w.trials);
        CU_ASSERT_EQUAL(hn_table_real(&t, row, "held"), w.held);
        CU_ASSERT(w.held < w.trials && w.by_degree < 1e-9);
        STUDIED_CLOSE(hn_table_real(&t, row, "left") - hn_table_real(&t, row, "right"), w.worst);
    }
    hn_table_free(&ctx, &t);
    free_series(&ctx, &s);
}

// HC's problem 7 with every class at every position of twelve.
struct problem {
    int n, position[4];
    double share, best;
};

static void place_all(struct problem *p, int next) {
    double sum = 0;
    for (int i = 0; i < p->n && next == p->n; i++) {
        double nearest = 4;
        for (int j = 0; j < p->n; j++)
            if (j != i)
                nearest =
                    fmin(nearest, pow(2 * sin(M_PI * (p->position[i] - p->position[j]) / 12), 2));
        sum += (i == 0 ? p->share : (1 - p->share) / (p->n - 1)) * nearest;
    }
    p->best = fmax(p->best, sum);
    for (int i = 0; i < 12 && next < p->n; i++) {
        p->position[next] = i;
        place_all(p, next + 1);
    }
}

static void test_circle(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct studied_series s = make_series(&ctx, 20, 4, 3, false, 1);
    struct hn_study_env env = studied_env(&s, 1);
    struct hn_table t;
    HN_CHECK(&ctx, studied_run(&ctx, "lemmas", "trials=1", &env, &t));
    for (int n = 3; n <= 4; n++) {
        struct problem p = {.n = n, .share = 1.0 / n};
        place_all(&p, 0);
        double polygon = 4 * pow(sin(M_PI / n), 2);
        CU_ASSERT_DOUBLE_EQUAL(p.best, polygon, 1e-12);
        check_sides(&t, row_of(&t, "HC theorem 4 Tammes", "circle", n, 12), p.best, polygon);
        check_sides(&t, row_of(&t, "HC theorem 5 optimal", "circle", n, 12), 0, 0);
    }
    struct problem rare = {.n = 3, .share = 0.9};
    place_all(&rare, 0);
    CU_ASSERT_DOUBLE_EQUAL(rare.best, 0.9 * 4, 1e-12); // both others at the far point
    check_sides(&t, row_of(&t, "HC theorem 4 Tammes", "circle", 6, 12), 1, 1);
    check_sides(&t, row_of(&t, "HC theorem 4 Tammes", "circle", 7, 12), 6.0 / 7,
                4 * pow(sin(M_PI / 7), 2));
    check_sides(&t, row_of(&t, "HC theorem 5 separated", "circle", 7, 12), 7, 4);
    check_sides(&t, row_of(&t, "HC theorem 5 optimal", "circle", 6, 12), 0.5, 0);
    check_sides(&t, t.rows - 1, 3, 2); // with shares .9, .05 and .05
    hn_table_free(&ctx, &t);
    free_series(&ctx, &s);
}

// Points of classes on the sphere, point p of class p / EACH: the study's draws, from its streams.
enum { SPHERE = 5, EACH = 6, POINTS = SPHERE * EACH };
struct points {
    int classes, n;
    double v[POINTS][SPHERE], beta;
};

static struct points draw_points(int classes, int64_t trial) {
    struct points x = {.classes = classes, .n = classes * EACH};
    struct hn_stream stream;
    hn_stream_open(&stream, (uint64_t)studied_seed[0], "lemmas.clouds", 0, trial, classes);
    double noise = 3 * pow(0.0003, hn_stream_uniform(&stream));
    for (int p = 0; p < x.n; p++) { // around the corners of a simplex
        for (int i = 0; i < classes; i++)
            x.v[p][i] = (i == p / EACH) - 1.0 / classes;
        hn_lemma_disturb(&stream, noise, x.v[p], SPHERE);
    }
    x.beta = 8 * hn_stream_uniform(&stream);
    return x;
}

static double squared(const struct points *x, int p, int q) {
    double sum = 0;
    for (int i = 0; i < SPHERE; i++)
        sum += (x->v[p][i] - x->v[q][i]) * (x->v[p][i] - x->v[q][i]);
    return sum;
}

// Squared distance of p to the nearest point of other classes, or its mean to those of its own.
static double to_others(const struct points *x, int p) {
    double least = INFINITY;
    for (int q = 0; q < x->n; q++)
        least = q / EACH == p / EACH ? least : fmin(least, squared(x, p, q));
    return least;
}

static double to_own(const struct points *x, int p) {
    double sum = 0;
    for (int q = p / EACH * EACH; q < (p / EACH + 1) * EACH; q++)
        sum += squared(x, p, q) / EACH;
    return sum;
}

// Each class's point that is farthest from others, or nearest to its own.
static void stand_for(const struct points *x, bool nearest, int *of) {
    for (int c = 0; c < x->classes; c++) {
        of[c] = c * EACH;
        for (int p = of[c]; p < (c + 1) * EACH; p++)
            if (nearest ? to_own(x, p) < to_own(x, of[c]) : to_others(x, p) > to_others(x, of[c]))
                of[c] = p;
    }
}

// The objective of problem 7 at the points that stand for the classes, less 1, as L* has it.
static double merged(const struct points *x) {
    int of[SPHERE];
    double sum = 0;
    stand_for(x, false, of);
    for (int c = 0; c < x->classes; c++) {
        double least = INFINITY;
        for (int b = 0; b < x->classes; b++)
            least = b == c ? least : fmin(least, squared(x, of[c], of[b]));
        sum += (1 - least / 2) / x->classes;
    }
    return sum;
}

static double misclassified(const struct points *x) {
    int of[SPHERE];
    double wrong = 0;
    stand_for(x, true, of);
    for (int p = 0; p < x->n; p++) {
        bool nearer = false;
        for (int c = 0; c < x->classes; c++)
            nearer |= squared(x, p, of[c]) < squared(x, p, of[p / EACH]);
        wrong += nearer;
    }
    return wrong / x->n;
}

static double tilted_variance(const struct points *x, double tau) {
    double mean = 0, square = 0;
    for (int p = 0; p < x->n; p++) {
        double mass = 0, first = 0, second = 0;
        for (int q = p / EACH * EACH; q < (p / EACH + 1) * EACH; q++) {
            double value = exp(-squared(x, p, q) / 2 / tau), weight = pow(value, x->beta);
            mass += weight;
            first += weight * value;
            second += weight * value * value;
        }
        mean += first / mass / x->n;
        square += second / mass / x->n;
    }
    return square - mean * mean;
}

// Sides of a statement, where left - right is largest.
static void worst(double side[2], double left, double right) {
    if (left - right > side[0] - side[1]) {
        side[0] = left;
        side[1] = right;
    }
}

static void test_sphere(void) {
    enum { TRIALS = 40 };
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct studied_series s = make_series(&ctx, MAX, 4, 3, false, 1);
    struct hn_study_env env = studied_env(&s, 1);
    struct hn_table t;
    HN_CHECK(&ctx, studied_run(&ctx, "lemmas", "trials=40", &env, &t));
    static const char *const statement[] = {"HC theorem 4", "HC theorem 4 simplex", "HC theorem 5",
                                            "HC lemma 11"};
    for (int n = 2; n <= SPHERE; n++) {
        double side[4][2], tau = studied_temperature[0], root = sqrt(tau);
        int near = 0; // the simplex, as theorem 5 has it
        for (int k = 0; k < 4; k++)
            side[k][0] = -INFINITY, side[k][1] = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            struct points x = draw_points(n, trial);
            double align = 0, apart = 0; // the halves of L*, times tau
            for (int p = 0; p < x.n; p++) {
                align += to_own(&x, p) / 2 / x.n;
                apart += to_others(&x, p) / 2 / x.n;
            }
            double loss = align - apart + 1, simplex = -1.0 / (n - 1);
            double eps = fmax(0, loss - simplex) / tau;
            double h = 2 * (1 + sqrt(2) / root) * sqrt(eps), squared_xi = 2.0 * n / (n - 1) / tau;
            worst(side[0], merged(&x), loss);
            worst(side[1], simplex, loss);
            if (eps <= 1 && squared_xi > n * h) {
                near++;
                worst(side[2], misclassified(&x), 8 * eps / (squared_xi - n * h));
            }
            worst(side[3], tilted_variance(&x, tau), 2 / tau * align / tau);
        }
        CU_ASSERT(near > 0);
        for (int k = 0; k < 4; k++) {
            int64_t row = row_of(&t, statement[k], "sphere", n, EACH);
            CU_ASSERT_DOUBLE_EQUAL(hn_table_real(&t, row, "left"), side[k][0], 1e-9);
            CU_ASSERT_DOUBLE_EQUAL(hn_table_real(&t, row, "right"), side[k][1], 1e-9);
            CU_ASSERT_EQUAL(hn_table_real(&t, row, "trials"), k == 2 ? near : TRIALS);
        }
    }
    hn_table_free(&ctx, &t);
    free_series(&ctx, &s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// What is proved holds for other draws too; the loss comes near its least value, the simplex's.
static void test_proved(void) {
    static const char *const proved[] = {"GC lemma 3.3",
                                         "GC lemma 3.4",
                                         "GC lemma 3.5",
                                         "GC theorem 4.1 as a bound",
                                         "GC theorem 4.2 as a bound",
                                         "BS theorem 1 by degree",
                                         "BS theorem 1 for half",
                                         "HC theorem 4",
                                         "HC theorem 4 simplex",
                                         "HC theorem 5",
                                         "HC lemma 11"};
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct studied_series s = make_series(&ctx, 40, 5, 3, false, 1);
    struct hn_study_env env = studied_env(&s, 1);
    struct hn_table t;
    HN_CHECK(&ctx, studied_run(&ctx, "lemmas", "trials=300", &env, &t));
    for (int64_t r = 0; r < t.rows; r++)
        for (size_t i = 0; i < sizeof proved / sizeof proved[0]; i++)
            if (strcmp(hn_table_text(&t, r, "statement"), proved[i]) == 0)
                CU_ASSERT_EQUAL(hn_table_real(&t, r, "holds"), 1);
    for (int n = 2; n <= 5; n++) {
        int64_t row = row_of(&t, "HC theorem 4 simplex", "sphere", n, 6);
        CU_ASSERT_DOUBLE_EQUAL(hn_table_real(&t, row, "left"), -1.0 / (n - 1), 1e-12);
        CU_ASSERT_DOUBLE_EQUAL(hn_table_real(&t, row, "right"), -1.0 / (n - 1), 0.01);
        CU_ASSERT(hn_table_real(&t, row_of(&t, "HC theorem 5", "sphere", n, 6), "trials") > 10);
    }
    hn_table_free(&ctx, &t);
    free_series(&ctx, &s);
    s = make_series(&ctx, MAX - 1, 4, 3, false, 1);
    env = studied_env(&s, 1);
    HN_CHECK_FAILS(&ctx, studied_run(&ctx, "lemmas", "", &env, &t), HN_NOT_APPLICABLE,
                   "lemmas needs 8 items");
    hn_table_free(&ctx, &t);
    free_series(&ctx, &s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"all permutations", test_permutations},
    {"examples of the page", test_examples},
    {"lemma 3.3", test_lemma_33},
    {"all walks", test_walks},
    {"all placements", test_circle},
    {"points on the sphere", test_sphere},
    {"what is proved", test_proved},
};
HN_TEST_MAIN("study_lemmas", tests)
