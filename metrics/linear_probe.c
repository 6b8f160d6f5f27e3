// SPDX-License-Identifier: GPL-3.0-or-later
// Multinomial logistic regression by memoryless BFGS (Shanno 1978; Nocedal and Wright, Numerical
// Optimization, 2nd ed., section 7.2) with an Armijo line search, on the objective divided by
// C n, so that the gradient norm at which to stop does not depend on the number of rows. The
// update begins with the inverse of a bound of the second derivatives (preconditioner.c): an eighth
// of the steps on an encoder's features. With it, ten steps remembered are hardly better than one.
//
// Rows are cut into at most PARTS parts for any number of threads; a part passes block by block
// through two matrix products, scores and gradient, and the parts are added in order in double: so
// results do not depend on the number of threads.
//
// Not liblinear: its logistic regression is one class against the rest, it draws on rand() in some
// solvers, and it takes 16 bytes per value of dense rows.
#include "metrics/linear_probe.h"
#include "core/exp.h"
#include "core/random.h"
#include "core/sweep/blas.h"
#include "metrics/preconditioner.h"

#include <math.h>
#include <string.h>

enum { PARTS = 32, BLOCK = 256, ITERATIONS = 1000, HALVINGS = 30, HELD_OUT = 10 };
static const double sufficient = 1e-4, rounding = 1e-7, default_tolerance = 1e-5;

// A fit in work. Vectors have `size` = classes x (d + 1) doubles.
struct fit {
    const struct hn_labelled *data;
    int32_t classes;
    int64_t d, size, parts, part_rows;
    double penalty;       // 1 / (C n)
    float *weight;        // [classes x d] of the point that is evaluated
    float *bias;          // [classes]
    float *score;         // [parts x BLOCK x classes]
    float *part_gradient; // [parts x classes x d]
    double *part_bias;    // [parts x classes]
    double part_loss[PARTS];
    double *point, *gradient, *trial, *trial_gradient, *direction;
    double *s, *y, *scaled; // the last step, and that of the gradient
    double curvature;       // s y; 0: there is no step to learn from
    struct hn_preconditioner scale;
};

static enum hn_code fit_open(struct hn_context *ctx, struct fit *f) {
    int64_t n = f->data->x.rows, features, all;
    f->d = f->data->x.cols;
    f->part_rows = hn_max(BLOCK, (n + PARTS - 1) / PARTS);
    f->parts = (n + f->part_rows - 1) / f->part_rows;
    if (!hn_mul(f->classes, f->d, &features) || !hn_mul(features, PARTS, &all) ||
        !hn_mul(f->classes, f->d + 1, &f->size))
        return hn_fail(ctx, HN_MEMORY, "a size overflows");
    double share = 1.0 / f->classes;
    bool good = HN_ALLOC(ctx, f->weight, features) && HN_ZALLOC(ctx, f->gradient, f->size) &&
                HN_ZALLOC(ctx, f->trial, f->size) && HN_ZALLOC(ctx, f->trial_gradient, f->size) &&
                HN_ZALLOC(ctx, f->direction, f->size) && HN_ZALLOC(ctx, f->scaled, f->size) &&
                HN_ALLOC(ctx, f->bias, f->classes) &&
                HN_ALLOC(ctx, f->score, f->parts * BLOCK * f->classes) &&
                HN_ALLOC(ctx, f->part_gradient, f->parts * features) &&
                HN_ALLOC(ctx, f->part_bias, f->parts * f->classes) &&
                HN_ZALLOC(ctx, f->s, f->size) && HN_ZALLOC(ctx, f->y, f->size);
    return good ? hn_preconditioner_open(ctx, &f->data->x, share * (1 - share), f->penalty,
                                         &f->scale)
                : ctx->code;
}

// Turns the scores of a row into probabilities minus the label's one; the row's loss.
static double row_loss(float *score, const float *bias, int32_t classes, int32_t label) {
    double largest = -INFINITY;
    for (int32_t c = 0; c < classes; c++) {
        score[c] += bias[c];
        largest = fmax(largest, (double)score[c]);
    }
    double own = (double)score[label] - largest;
    double sum = 0;
    for (int32_t c = 0; c < classes; c++)
        sum += hn_exp((double)score[c] - largest);
    for (int32_t c = 0; c < classes; c++)
        score[c] = (float)(hn_exp((double)score[c] - largest) / sum - (c == label));
    // cppcheck-suppress invalidFunctionArg // there is a class
    return log(sum) - own;
}

// Loss and gradient sums over the rows of one part.
static void evaluate_part(struct fit *f, int64_t part) {
    const struct hn_labelled *data = f->data;
    const int32_t classes = f->classes;
    float *score = f->score + part * BLOCK * classes;
    float *gradient = f->part_gradient + part * classes * f->d;
    double *bias = f->part_bias + part * classes, loss = 0;
    int64_t from = part * f->part_rows, to = hn_min(data->x.rows, from + f->part_rows);
    memset(gradient, 0, (size_t)(classes * f->d) * sizeof *gradient);
    memset(bias, 0, (size_t)classes * sizeof *bias);
    for (int64_t at = from; at < to; at += BLOCK) {
        int64_t rows = hn_min(BLOCK, to - at);
        const float *x = hn_row(&data->x, at);
        hn_gemm_nt(x, data->x.stride, f->weight, f->d, rows, classes, f->d, score, classes);
        for (int64_t i = 0; i < rows; i++) {
            float *own = score + i * classes;
            loss += row_loss(own, f->bias, classes, data->label[at + i]);
            for (int32_t c = 0; c < classes; c++)
                bias[c] += (double)own[c];
        }
        hn_gemm_tn_add(score, classes, x, data->x.stride, classes, f->d, rows, gradient, f->d);
    }
    f->part_loss[part] = loss;
}

// Row c of the gradient of mean loss and penalty at `point`; its share of the penalty.
static double collect_class(const struct fit *f, int32_t c, const double *point, double *gradient) {
    int64_t features = f->classes * f->d;
    double scale = 1.0 / (double)f->data->x.rows, square = 0;
    const double *w = point + c * (f->d + 1);
    double *g = gradient + c * (f->d + 1);
    for (int64_t k = 0; k < f->d; k++) {
        double sum = 0;
        for (int64_t p = 0; p < f->parts; p++)
            sum += (double)f->part_gradient[p * features + c * f->d + k];
        g[k] = sum * scale + f->penalty * w[k];
        square += w[k] * w[k];
    }
    g[f->d] = 0;
    for (int64_t p = 0; p < f->parts; p++)
        g[f->d] += f->part_bias[p * f->classes + c] * scale;
    return 0.5 * f->penalty * square;
}

// The objective at `point`, and its gradient.
static double evaluate(struct hn_context *ctx, struct fit *f, const double *point,
                       double *gradient) {
    for (int32_t c = 0; c < f->classes; c++) {
        for (int64_t k = 0; k < f->d; k++)
            f->weight[c * f->d + k] = (float)point[c * (f->d + 1) + k];
        f->bias[c] = (float)point[c * (f->d + 1) + f->d];
    }
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 1)
    for (int64_t p = 0; p < f->parts; p++)
        evaluate_part(f, p);
    double loss = 0, penalty = 0;
    for (int64_t p = 0; p < f->parts; p++)
        loss += f->part_loss[p];
    for (int32_t c = 0; c < f->classes; c++)
        penalty += collect_class(f, c, point, gradient);
    return loss / (double)f->data->x.rows + penalty;
}

static double inner(const double *a, const double *b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void add_scaled(double *a, double factor, const double *b, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        a[i] += factor * b[i];
}

static double largest_entry(const double *a, int64_t n) {
    double largest = 0;
    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(a[i]));
    return largest;
}

// direction = -H gradient, where H is the scaled preconditioner, updated by the last step.
static void take_direction(struct fit *f) {
    double *q = f->direction, curvature = f->curvature;
    for (int64_t i = 0; i < f->size; i++)
        q[i] = -f->gradient[i];
    double alpha = curvature > 0 ? inner(f->s, q, f->size) / curvature : 0;
    add_scaled(q, -alpha, f->y, f->size);
    hn_preconditioner_apply(&f->scale, q, f->classes);
    if (!(curvature > 0))
        return;
    memcpy(f->scaled, f->y, (size_t)f->size * sizeof *f->scaled);
    hn_preconditioner_apply(&f->scale, f->scaled, f->classes);
    double scale = curvature / inner(f->y, f->scaled, f->size);
    for (int64_t i = 0; i < f->size; i++)
        q[i] *= scale;
    add_scaled(q, alpha - inner(f->y, q, f->size) / curvature, f->s, f->size);
}

// Takes the step from point to trial, and remembers it if it tells of curvature.
static void take_step(struct fit *f) {
    for (int64_t i = 0; i < f->size; i++) {
        f->s[i] = f->trial[i] - f->point[i];
        f->y[i] = f->trial_gradient[i] - f->gradient[i];
    }
    memcpy(f->point, f->trial, (size_t)f->size * sizeof *f->point);
    memcpy(f->gradient, f->trial_gradient, (size_t)f->size * sizeof *f->gradient);
    f->curvature = inner(f->s, f->y, f->size);
    if (f->curvature <= 1e-12 * inner(f->y, f->y, f->size))
        f->curvature = 0;
}

// True if the trial point will do: the objective fell enough (Armijo), or, where its fall drowns in
// the rounding of float products, the slope along the direction did (Hager and Zhang 2005, the
// approximate Wolfe conditions).
static bool falls(const struct fit *f, double value, double there, double step, double slope) {
    if (there <= value + sufficient * step * slope)
        return true;
    return there <= value + rounding * fabs(value) &&
           fabs(inner(f->direction, f->trial_gradient, f->size)) <= 0.9 * fabs(slope);
}

// Goes along the direction as far as that; false if it does not fall.
static bool search(struct hn_context *ctx, struct fit *f, double *value) {
    double slope = inner(f->direction, f->gradient, f->size);
    bool scaled = f->curvature > 0 || f->scale.factor;
    double step = scaled ? 1 : fmin(1, 1 / sqrt(inner(f->gradient, f->gradient, f->size)));
    for (int k = 0; k < HALVINGS && slope < 0; k++, step /= 2) {
        memcpy(f->trial, f->point, (size_t)f->size * sizeof *f->trial);
        add_scaled(f->trial, step, f->direction, f->size);
        double there = evaluate(ctx, f, f->trial, f->trial_gradient);
        if (falls(f, *value, there, step, slope)) {
            *value = there;
            return true;
        }
    }
    return false;
}

static enum hn_code descend(struct hn_context *ctx, struct fit *f, double tolerance,
                            struct hn_logistic *model) {
    double value = evaluate(ctx, f, f->point, f->gradient);
    bool falling = isfinite(value);
    if (!falling)
        return hn_fail(ctx, HN_DATA,
                       "the linear probe's loss is not finite: a feature is NaN, "
                       "infinite or beyond 1e18");
    model->slope = largest_entry(f->gradient, f->size);
    for (model->iterations = 0;
         falling && model->slope > tolerance && model->iterations < ITERATIONS;
         model->iterations++) {
        if (hn_check_stop(ctx))
            return ctx->code;
        take_direction(f);
        falling = search(ctx, f, &value);
        if (falling)
            take_step(f);
        model->slope = largest_entry(f->gradient, f->size);
    }
    return HN_OK;
}

static enum hn_code check_data(struct hn_context *ctx, const struct hn_labelled *data,
                               int32_t classes) {
    if (data->x.rows == 0)
        return hn_fail(ctx, HN_DATA, "the linear probe has no training rows");
    for (int64_t i = 0; i < data->x.rows; i++)
        if (data->label[i] < 0 || data->label[i] >= classes)
            return hn_fail(ctx, HN_INTERNAL, "linear probe: class %d of row %lld is not below %d",
                           (int)data->label[i], (long long)i, (int)classes);
    return HN_OK;
}

enum hn_code hn_logistic_fit(struct hn_context *ctx, const struct hn_labelled *data,
                             int32_t classes, double c, double tolerance,
                             struct hn_logistic *model) {
    if (check_data(ctx, data, classes))
        return ctx->code;
    struct fit f = {.data = data, .classes = classes, .penalty = 1 / (c * (double)data->x.rows)};
    HN_SCOPE(ctx);
    if (fit_open(ctx, &f))
        return ctx->code;
    hn_own(ctx, scope.outer);
    if (!model->weight) {
        *model = (struct hn_logistic){.classes = classes, .d = data->x.cols};
        model->weight = hn_zalloc(ctx, f.size, sizeof *model->weight);
    }
    f.point = model->weight;
    return f.point ? descend(ctx, &f, tolerance > 0 ? tolerance : default_tolerance, model)
                   : ctx->code;
}

static int64_t count_right(const struct hn_logistic *model, const float *weight,
                           const struct hn_labelled *data, int64_t at, float *score) {
    int64_t rows = hn_min(BLOCK, data->x.rows - at), right = 0;
    hn_gemm_nt(hn_row(&data->x, at), data->x.stride, weight, model->d, rows, model->classes,
               model->d, score, model->classes);
    for (int64_t i = 0; i < rows; i++) {
        int32_t best = 0;
        float highest = -INFINITY;
        for (int32_t c = 0; c < model->classes; c++) {
            float own =
                score[i * model->classes + c] + (float)model->weight[c * (model->d + 1) + model->d];
            best = own > highest ? c : best;
            highest = own > highest ? own : highest;
        }
        right += best == data->label[at + i];
    }
    return right;
}

enum hn_code hn_logistic_accuracy(struct hn_context *ctx, const struct hn_logistic *model,
                                  const struct hn_labelled *data, double *accuracy) {
    int64_t right = 0;
    HN_SCOPE(ctx);
    float *weight = hn_alloc(ctx, model->classes * model->d, sizeof *weight);
    float *score = hn_alloc(ctx, (int64_t)BLOCK * model->classes, sizeof *score);
    if (!weight || !score)
        return ctx->code;
    for (int32_t c = 0; c < model->classes; c++)
        for (int64_t k = 0; k < model->d; k++)
            weight[c * model->d + k] = (float)model->weight[c * (model->d + 1) + k];
    for (int64_t at = 0; at < data->x.rows; at += BLOCK)
        right += count_right(model, weight, data, at, score);
    *accuracy = data->x.rows ? (double)right / (double)data->x.rows : NAN;
    return HN_OK;
}

void hn_logistic_free(struct hn_context *ctx, struct hn_logistic *model) {
    hn_free(ctx, model->weight);
    memset(model, 0, sizeof *model);
}

// Training rows parted by seed: a tenth to validate by.
struct parted {
    struct hn_labelled fit, validation; // their rows and labels are the ones below
    float *rows;
    int32_t *label, *order;
};

static enum hn_code part_rows(struct hn_context *ctx, const struct hn_linear_probe *probe,
                              struct parted *p) {
    const struct hn_matrix *x = &probe->train.x;
    int64_t n = x->rows, d = x->cols, held = n / HELD_OUT, size;
    if (!hn_mul(n, d, &size))
        return hn_fail(ctx, HN_MEMORY, "a size overflows");
    if (!HN_ALLOC(ctx, p->rows, size) || !HN_ALLOC(ctx, p->label, n) || !HN_ALLOC(ctx, p->order, n))
        return ctx->code;
    hn_permute(probe->seed, "probe.validation", 0, 0, 0, p->order, n);
    for (int64_t i = 0; i < n; i++) {
        memcpy(p->rows + i * d, hn_row(x, p->order[i]), (size_t)d * sizeof *p->rows);
        p->label[i] = probe->train.label[p->order[i]];
    }
    p->validation = (struct hn_labelled){{p->rows, held, d, d}, p->label};
    p->fit = (struct hn_labelled){{p->rows + held * d, n - held, d, d}, p->label + held};
    return HN_OK;
}

// Fits every C in turn, each from the one before, and keeps the C of the best accuracy.
static enum hn_code choose(struct hn_context *ctx, struct hn_linear_probe *probe,
                           const struct hn_labelled *fit, const struct hn_labelled *validation) {
    struct hn_logistic model = {0};
    enum hn_code code = HN_OK;
    double best = -1, accuracy;
    for (int k = 0; code == HN_OK && k < probe->n_c; k++) {
        code = hn_logistic_fit(ctx, fit, probe->classes, probe->c[k], 0, &model);
        if (code == HN_OK)
            code = hn_logistic_accuracy(ctx, &model, validation, &accuracy);
        probe->iterations += model.iterations;
        if (code == HN_OK && accuracy > best) {
            probe->validation_accuracy = best = accuracy;
            probe->chosen = probe->c[k];
        }
    }
    hn_logistic_free(ctx, &model);
    return code;
}

static enum hn_code choose_c(struct hn_context *ctx, struct hn_linear_probe *probe) {
    struct parted p = {0};
    if (probe->n_c == 1)
        return HN_OK;
    if (probe->validation.x.rows > 0)
        return choose(ctx, probe, &probe->train, &probe->validation);
    if (probe->train.x.rows < HELD_OUT)
        return HN_OK;
    HN_SCOPE(ctx);
    return part_rows(ctx, probe, &p) || choose(ctx, probe, &p.fit, &p.validation) ? ctx->code
                                                                                  : HN_OK;
}

enum hn_code hn_linear_probe_run(struct hn_context *ctx, struct hn_linear_probe *probe) {
    struct hn_logistic model = {0};
    probe->iterations = 0;
    probe->chosen = probe->c[0];
    probe->accuracy = probe->train_accuracy = probe->validation_accuracy = NAN;
    bool good = !choose_c(ctx, probe) &&
                !hn_logistic_fit(ctx, &probe->train, probe->classes, probe->chosen, 0, &model) &&
                !hn_logistic_accuracy(ctx, &model, &probe->train, &probe->train_accuracy) &&
                !hn_logistic_accuracy(ctx, &model, &probe->test, &probe->accuracy);
    probe->iterations += model.iterations;
    hn_logistic_free(ctx, &model);
    return good ? HN_OK : ctx->code;
}
