// Rounding the rows of a screen to a few bits, and the bound that goes with it.
#include "core/sweep/screen_private.h"

#include "core/clones.h"
#include "core/random.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum {
    SAMPLE_MOST = 4096, // rows of each matrix that mean and scale are taken from
    LANES = 8
};
static const double scale_least = 1e-4; // terms of unit rows then fit 32 bits
static const double deviations = 4;     // that the kernel's largest number stands for

// How rows are rounded, and what one of them came to.
struct rounding {
    const float *mean; // [d]
    double scale, mean_square;
    double most; // of a number
};
struct rounded {
    double square, error; // |u q|^2, |e|^2
    double middle;        // a
    int32_t sum;          // of q
};

static int64_t sampled(const struct hn_matrix *x) { return hn_min(x->rows, SAMPLE_MOST); }
static const float *sampled_row(const struct hn_matrix *x, int64_t i) {
    return hn_row(x, i * x->rows / sampled(x));
}

// sum[d] += the sampled rows; returns how many.
static int64_t add_sampled(const struct hn_matrix *x, double *sum) {
    for (int64_t i = 0; i < sampled(x); i++)
        for (int64_t k = 0; k < x->cols; k++)
            sum[k] += (double)sampled_row(x, i)[k];
    return sampled(x);
}

static double add_squares(const struct hn_matrix *x, const float *mean) {
    double sum = 0;
    for (int64_t i = 0; i < sampled(x); i++)
        for (int64_t k = 0; k < x->cols; k++) {
            double off = (double)sampled_row(x, i)[k] - (double)mean[k];
            sum += off * off;
        }
    return sum;
}

// sum: scratch [d], zeros.
static void choose_rounding(const struct hn_matrix *const matrix[2], int matrices, double most,
                            double *sum, float *mean, struct rounding *r) {
    int64_t n = 0, d = matrix[0]->cols;
    double squares = 0;
    *r = (struct rounding){.mean = mean, .most = most};
    for (int m = 0; m < matrices; m++)
        n += add_sampled(matrix[m], sum);
    for (int64_t k = 0; k < d; k++) {
        mean[k] = (float)(sum[k] / (double)n);
        r->mean_square += (double)mean[k] * (double)mean[k];
    }
    for (int m = 0; m < matrices; m++)
        squares += add_squares(matrix[m], mean);
    double scale = deviations / most * sqrt(squares / (double)(n * d));
    r->scale = (double)(float)fmax(scale, scale_least); // its products with q are then exact
}

// In double, where differences of floats are exact but for far smaller ones.
HN_CLONES
static struct rounded round_row(const float *x, int64_t d, const struct rounding *r, int16_t *q) {
    const double magic = 0x1.8p52, scale = r->scale, inverse = 1 / scale, // rounds when added
        most = r->most;
    double square[LANES] = {0}, error[LANES] = {0}, middle[LANES] = {0};
    int32_t sum = 0;
    for (int64_t k0 = 0; k0 < d; k0 += LANES) {
        int64_t n = hn_min(LANES, d - k0);
        float row[LANES] = {0}, mean[LANES] = {0};
        memcpy(row, x + k0, (size_t)n * sizeof *row);
        memcpy(mean, r->mean + k0, (size_t)n * sizeof *mean);
        for (int l = 0; l < LANES; l++) {
            double m = (double)mean[l], off = (double)row[l] - m, v = off * inverse;
            v = v > most ? most : v < -most ? -most : v;
            double whole = (v + magic) - magic, rest = off - scale * whole;
            square[l] += whole * whole;
            error[l] += rest * rest;
            middle[l] += off * m;
            int32_t number = (int32_t)whole;
            q[k0 + l] = (int16_t)number; // behind the row: 0
            sum += number;
        }
    }
    for (int l = 1; l < LANES; l++) {
        square[0] += square[l];
        error[0] += error[l];
        middle[0] += middle[l];
    }
    return (struct rounded){square[0] * scale * scale, error[0], middle[0] + r->mean_square / 2,
                            sum};
}

// The words of row i of a panel from its numbers, which zeros follow.
static void pack_row(const int16_t *q, int width, int64_t words, int64_t i, int8_t *panel) {
    for (int64_t w = 0; w < words; w++, panel += HN_WORDS_BYTES) {
        const int16_t *from = q + w * HN_WORD / width;
        int8_t *word = panel + i * HN_WORD;
        for (int l = 0; l < HN_WORD && width == 1; l++)
            word[l] = (int8_t)from[l];
        if (width > 1)
            memcpy(word, from, HN_WORD);
    }
}

// Panel p from the rows of a matrix, and what they came to. q: scratch.
static void round_panel(const struct hn_screen *s, const struct hn_screen_rows *rows,
                        const struct hn_matrix *from, const struct rounding *r, int64_t p,
                        int16_t *q, struct rounded *out) {
    for (int64_t i = 0; i < HN_PANEL; i++) {
        int64_t place = p * HN_PANEL + i, d = from->cols;
        if (place < from->rows) {
            const float *row = hn_row(from, hn_screen_id(rows, place));
            out[place] = round_row(row, d, r, q);
            if (rows->copy)
                memcpy(rows->copy + place * d, row, (size_t)d * sizeof *row);
        } else {
            memset(q, 0, (size_t)(d + LANES) * sizeof *q);
        }
        pack_row(q, s->kernel->width, s->words, i, rows->panels + p * s->words * HN_WORDS_BYTES);
    }
}

// *most: the largest of the terms so far; false: too large for 32 bits.
static bool set_terms(const struct hn_screen_rows *rows, const struct rounded *rounded,
                      const struct hn_screen *s, double longest, double *most) {
    for (int64_t i = 0; i < rows->rows.rows; i++) {
        const struct rounded *one = &rounded[i];
        double slack = sqrt(one->error) * longest + one->error / 2;
        double middle = floor(one->middle / s->unit);
        double upper = ceil((one->middle + slack + HN_SCREEN_MARGIN) / s->unit);
        *most = fmax(*most, fmax(fabs(middle), fabs(upper)));
        if (!(*most < INT32_MAX / 2))
            return false;
        // Of many thousand dimensions it may leave 32 bits; sums come back into them (make_edge()).
        uint32_t raise = (uint32_t)s->kernel->raised * (uint32_t)one->sum;
        rows->term[i] =
            (struct hn_screen_term){(int32_t)middle, (int32_t)(upper - middle), (int32_t)raise};
    }
    return true;
}

static enum hn_code allocate(struct hn_context *ctx, const struct hn_matrix *x, bool shuffled,
                             int64_t words, struct hn_screen_rows *rows) {
    int64_t bytes, panels = hn_panels(x->rows);
    *rows = (struct hn_screen_rows){.rows = *x};
    if (!hn_mul(words, HN_WORDS_BYTES, &bytes) || !hn_mul(bytes, panels, &bytes))
        return hn_fail(ctx, HN_MEMORY, "%lld embeddings of %lld dimensions are too large to pack",
                       (long long)x->rows, (long long)x->cols);
    if (!(rows->panels = hn_alloc(ctx, bytes, sizeof *rows->panels)) ||
        !(rows->term = hn_zalloc(ctx, panels * HN_PANEL, sizeof *rows->term)) ||
        (shuffled && (!(rows->id = hn_alloc(ctx, x->rows, sizeof *rows->id)) ||
                      !(rows->copy = hn_alloc(ctx, x->rows * x->cols, sizeof *rows->copy)))))
        return HN_MEMORY;
    if (!shuffled)
        return HN_OK;
    rows->rows = (struct hn_matrix){rows->copy, x->rows, x->cols, x->cols};
    struct hn_stream stream;
    hn_stream_open(&stream, 0, "screen.order", 0, 0, 0);
    for (int64_t i = 0; i < x->rows; i++)
        rows->id[i] = (int32_t)i;
    hn_stream_shuffle(&stream, rows->id, x->rows);
    return HN_OK;
}

// What is needed until the terms are there.
struct scratch {
    double *sum;                // [d]
    float *mean;                // [d]
    int16_t *q;                 // [threads x row]
    struct rounded *rounded[2]; // [rows] of each matrix
    int64_t row;
};

static bool round_all(const struct hn_context *ctx, struct hn_screen *s,
                      const struct hn_matrix *const matrix[2], int matrices,
                      const struct scratch *scratch) {
    struct rounding r;
    choose_rounding(matrix, matrices, s->kernel->most, scratch->sum, scratch->mean, &r);
    s->unit = r.scale * r.scale;
    if (r.scale <= scale_least)
        return false;
    double square = 0;
    for (int m = 0; m < matrices; m++) {
        struct rounded *out = scratch->rounded[m];
        int64_t rows = s->own[m].rows.rows;
#pragma omp parallel for num_threads(ctx->threads)
        for (int64_t p = 0; p < hn_panels(rows); p++)
            round_panel(s, &s->own[m], matrix[m], &r, p,
                        scratch->q + omp_get_thread_num() * scratch->row, out);
        for (int64_t i = 0; i < rows; i++)
            square = fmax(square, out[i].square);
    }
    double most = 0;
    for (int m = 0; m < matrices; m++)
        if (!set_terms(&s->own[m], scratch->rounded[m], s, sqrt(square), &most))
            return false;
    return square / s->unit + 2 * most < INT32_MAX - 1;
}

enum hn_code hn_screen_round(struct hn_context *ctx, struct hn_screen *s,
                             const struct hn_matrix *const matrix[2], int matrices, bool shuffled,
                             bool *good) {
    int64_t d = matrix[0]->cols;
    struct scratch scratch = {.row = d + LANES};
    enum hn_code code = HN_OK;
    for (int m = 0; m < matrices && !code; m++) {
        code = allocate(ctx, matrix[m], shuffled, s->words, &s->own[m]);
        if (!code && !(scratch.rounded[m] = hn_alloc(ctx, matrix[m]->rows, sizeof(struct rounded))))
            code = HN_MEMORY;
    }
    if (!code && (scratch.sum = hn_zalloc(ctx, d, sizeof *scratch.sum)) &&
        (scratch.mean = hn_alloc(ctx, d, sizeof *scratch.mean)) &&
        (scratch.q = hn_alloc(ctx, ctx->threads * scratch.row, sizeof *scratch.q)))
        *good = round_all(ctx, s, matrix, matrices, &scratch);
    else
        code = HN_MEMORY;
    hn_free(ctx, scratch.sum);
    hn_free(ctx, scratch.mean);
    hn_free(ctx, scratch.q);
    hn_free(ctx, scratch.rounded[0]);
    hn_free(ctx, scratch.rounded[1]);
    return code;
}
