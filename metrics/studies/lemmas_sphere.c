// SPDX-License-Identifier: GPL-3.0-or-later
// HC theorems 4 and 5 and lemma 11, for the study `lemmas`: random points around the corners of a
// simplex, and every placement of 3 to 7 classes on 12 positions of a circle.
//
// HC's sphere has radius 1/t. Here it is the unit sphere, and tau = t^2.
#include "metrics/studies/lemmas_private.h"

#include <math.h>

enum { MAX = 5, POINTS = 6, CLOUDS = MAX * POINTS };

struct cloud {
    int classes, points; // points of all classes, p is of class p / POINTS
    double v[CLOUDS][MAX], s[CLOUDS][CLOUDS];
    double own[CLOUDS], apart[CLOUDS]; // mean cosine to the class, -(largest to another class)
};

static void draw_points(struct hn_stream *stream, struct cloud *c) {
    double noise = 3 * pow(0.0003, hn_stream_uniform(stream));
    for (int p = 0; p < c->points; p++) {
        for (int i = 0; i < MAX; i++)
            c->v[p][i] = (i == p / POINTS) - 1.0 / c->classes * (i < c->classes);
        hn_lemma_disturb(stream, noise, c->v[p], MAX);
    }
}

static void measure_points(struct cloud *c) {
    for (int p = 0; p < c->points; p++) {
        c->own[p] = 0;
        c->apart[p] = 1;
        for (int q = 0; q < c->points; q++) {
            c->s[p][q] = hn_lemma_dot(c->v[p], c->v[q], MAX);
            if (p / POINTS == q / POINTS)
                c->own[p] += c->s[p][q] / POINTS;
            else
                c->apart[p] = fmin(c->apart[p], -c->s[p][q]);
        }
    }
}

// The point of a class with the largest value.
static int pick(const double *value, int of) {
    int best = of * POINTS;
    for (int p = best; p < (of + 1) * POINTS; p++)
        best = value[p] > value[best] ? p : best;
    return best;
}

// The loss when every class is merged into its point with the easiest negatives.
static double merged_loss(const struct cloud *c) {
    double loss = 0;
    for (int a = 0; a < c->classes; a++) {
        double max = -1;
        for (int b = 0; b < c->classes; b++)
            if (b != a)
                max = fmax(max, c->s[pick(c->apart, a)][pick(c->apart, b)]);
        loss += max / c->classes;
    }
    return loss;
}

// Share of the points that are nearer to the point that stands for another class.
static double risk(const struct cloud *c) {
    double wrong = 0;
    for (int p = 0; p < c->points; p++) {
        double max = -1;
        for (int a = 0; a < c->classes; a++)
            max = fmax(max, c->s[p][pick(c->own, a)]);
        wrong += c->s[p][pick(c->own, p / POINTS)] < max;
    }
    return wrong / c->points;
}

// The variance of e^(f(x) f(v)) / e^(1/tau), v from the class of x tilted by beta.
static double variance(const struct cloud *c, double tau, double beta) {
    double mean = 0, square = 0;
    for (int p = 0; p < c->points; p++) {
        double mass = 0, sum[2] = {0};
        for (int q = p - p % POINTS; q < p - p % POINTS + POINTS; q++) {
            double x = exp((c->s[p][q] - 1) / tau), weight = pow(x, beta);
            mass += weight;
            sum[0] += weight * x;
            sum[1] += weight * x * x;
        }
        mean += sum[0] / mass / c->points;
        square += sum[1] / mass / c->points;
    }
    return square - mean * mean;
}

// The loss is L* of equation 8 times tau, plus 1; -1 / (n - 1) is its least value.
static void judge_cloud(struct hn_lemmas *w, const struct cloud *c, double beta) {
    double n = c->classes, tau = w->temperature, align = 0, apart = 0;
    for (int p = 0; p < c->points; p++) {
        align += (1 - c->own[p]) / c->points;
        apart += c->apart[p] / c->points;
    }
    double excess = fmax(0, align - apart + 1 / (n - 1)) / tau;
    double base = 2 * n / (n - 1) / tau - 2 * n * (1 + sqrt(2 / tau)) * sqrt(excess);
    hn_lemma_try(w, "HC theorem 4", merged_loss(c), align - apart);
    hn_lemma_try(w, "HC theorem 4 simplex", -1 / (n - 1), align - apart);
    if (excess <= 1 && base > 0)
        hn_lemma_try(w, "HC theorem 5", risk(c), 8 * excess / base);
    hn_lemma_try(w, "HC lemma 11", variance(c, tau, beta), 2 / tau * align / tau);
}

enum hn_code hn_lemmas_clouds(struct hn_context *ctx, struct hn_lemmas *w, struct hn_table *table) {
    w->embeddings = "sphere";
    w->k = POINTS;
    for (int classes = 2; classes <= MAX; classes++) {
        struct cloud c = {.classes = classes, .points = classes * POINTS};
        w->n = classes;
        for (int64_t trial = 0; trial < w->trials && !hn_check_stop(ctx); trial++) {
            struct hn_stream stream;
            hn_stream_open(&stream, (uint64_t)w->env->seed[0], "lemmas.clouds",
                           w->env->items->index, trial, classes);
            draw_points(&stream, &c);
            measure_points(&c);
            judge_cloud(w, &c, 8 * hn_stream_uniform(&stream));
        }
        if (hn_lemma_rows(ctx, w, table))
            return ctx->code;
    }
    return HN_OK;
}

// HC's problem 7 on the circle: n classes at positions position[0] = 0 <= position[1] <= ... of
// POSITIONS.
enum { POSITIONS = 12, CIRCLE = 7 };

static double chord(double positions) { return 2 - 2 * cos(2 * M_PI * positions / POSITIONS); }

// The objective, the first class with this share and the others alike; how many positions are
// taken.
static double spread(const int *position, int n, double share, int *taken) {
    double sum = 0;
    *taken = 0;
    for (int i = 0; i < n; i++) {
        double before = chord(position[i] - position[(i + n - 1) % n]);
        double after = chord(position[(i + 1) % n] - position[i]);
        sum += (i == 0 ? share : (1 - share) / (n - 1)) * fmin(before, after);
        *taken += before > 1e-9;
    }
    return sum;
}

static bool next_placement(int *position, int n) {
    int i = n - 1;
    while (i > 0 && position[i] == POSITIONS - 1)
        i--;
    for (int j = n - 1; j >= i && i > 0; j--)
        position[j] = position[i] + 1;
    return i > 0;
}

static enum hn_code try_circle(struct hn_context *ctx, struct hn_lemmas *w, int n, double share,
                               struct hn_table *table) {
    int position[CIRCLE] = {0}, taken;
    struct hn_lemma_choice best = {INFINITY, 0, 0};
    do {
        double objective = -spread(position, n, share, &taken);
        hn_lemma_choose(&best, objective, taken);
    } while (next_placement(position, n));
    w->embeddings = "circle";
    w->n = n;
    w->k = POSITIONS;
    w->share = share;
    if (share * n > 1.5) // theorem 5 and Tammes have equal classes
        hn_lemma_try(w, "HC theorem 4 separated", n, best.high);
    else {
        hn_lemma_try(w, "HC theorem 4 Tammes", -best.objective, chord((double)POSITIONS / n));
        hn_lemma_try(w, "HC theorem 5 separated", n, best.high);
    }
    if ((int)best.high == n)
        hn_lemma_try(w, "HC theorem 5 optimal", 1 - best.low / n, 0);
    return hn_lemma_rows(ctx, w, table);
}

// The regular polygon of each number of classes but the last is among the placements.
enum hn_code hn_lemmas_circle(struct hn_context *ctx, struct hn_lemmas *w, struct hn_table *table) {
    static const int classes[] = {3, 4, 6, 7};
    for (int i = 0; i < 4; i++)
        if (try_circle(ctx, w, classes[i], 1.0 / classes[i], table))
            return ctx->code;
    return try_circle(ctx, w, 3, 0.9, table);
}
