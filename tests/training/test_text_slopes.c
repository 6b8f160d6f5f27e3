// SPDX-License-Identifier: GPL-3.0-or-later
// The gradient of the whole tasks of sentences and of pairs against central differences, in double
// precision (Makefile: obj64).
#include "tests/text_fixture.h"

#include <stdlib.h>

enum { EVERY = 7 }; // of the rows with a gradient, which are some hundred

static const int32_t id[] = {0, 3, 5, 2, 7, 3, 1}; // one item twice
enum { IDS = sizeof id / sizeof *id };

// Along the gradient of a row the loss rises as the gradient's length says.
static void check_row(struct hn_context *ctx, struct hn_task *task, int32_t row,
                      const hn_real *grad) {
    struct hn_weights *w = &task->weights;
    hn_real kept[64], *value = w->value + row * w->width;
    double square = 0, rise = 0;
    const double far = 1e-6;
    for (int64_t j = 0; j < w->width; j++) {
        kept[j] = value[j];
        square += (double)grad[j] * (double)grad[j];
    }
    for (int sign = -1; sign <= 1; sign += 2) {
        for (int64_t j = 0; j < w->width; j++)
            value[j] = kept[j] + (hn_real)(sign * far * (double)grad[j] / sqrt(square));
        rise += sign * loss_of(ctx, task, id, IDS) / (2 * far);
    }
    memcpy(value, kept, (size_t)w->width * sizeof *kept);
    CU_ASSERT(square > 0);
    CU_ASSERT_DOUBLE_EQUAL(rise, sqrt(square), 1e-9 + 1e-6 * sqrt(square));
}

// The rows that have a gradient: the touched ones of the table, each once, and all that follow it.
// Returns their number.
static int64_t list_rows(const struct hn_weights *w, int32_t *of) {
    int64_t n = 0;
    bool *touched = calloc((size_t)w->table, sizeof *touched);
    CU_ASSERT_PTR_NOT_NULL_FATAL(touched);
    for (int64_t k = 0; k < w->n_touched; k++) {
        CU_ASSERT(!touched[w->touched[k]]);
        touched[w->touched[k]] = true;
        of[n++] = w->touched[k];
    }
    for (int64_t row = w->table; row < w->n / w->width; row++)
        of[n++] = (int32_t)row;
    free(touched);
    return n;
}

static void check_task(const char *name, enum hn_objective objective, const char *const *options) {
    struct hn_context ctx;
    struct opened o;
    hn_context_init(&ctx, 1);
    make_sentences();
    put_pairs(folder);
    HN_CHECK(&ctx, open_task(&ctx, name, folder, IDS, objective, options, &o));
    const struct hn_weights *w = &o.task.weights;
    CU_ASSERT(isfinite(loss_of(&ctx, &o.task, id, IDS)));
    int32_t *of = malloc((size_t)(w->n / w->width) * sizeof *of);
    CU_ASSERT_PTR_NOT_NULL_FATAL(of);
    int64_t rows = list_rows(w, of), touched = w->n_touched;
    CU_ASSERT_FATAL(touched > 50 && w->width <= 64);
    size_t bytes = (size_t)w->width * sizeof *w->grad;
    hn_real *grad = malloc((size_t)rows * bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(grad);
    hn_sparse_times(1, w->input_t, w->dy, w->width, w->width, false, grad, w->width);
    memcpy(grad + touched * w->width, w->grad, (size_t)(rows - touched) * bytes);
    for (int64_t k = 0; k < rows; k += EVERY)
        check_row(&ctx, &o.task, of[k], grad + k * w->width);
    free(grad);
    free(of);
    close_task(&ctx, &o);
    hn_fixture_remove(folder);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_single(void) {
    static const char *const options[] = {"items=single", NULL};
    check_task("text", HN_OBJECTIVE_NTXENT, options);
    check_task("text", HN_OBJECTIVE_INFONCE, options);
    check_task("text", HN_OBJECTIVE_OTHER_VIEW, options);
}

static void test_pairs(void) {
    static const char *const options[] = {"items=pairs", "idf=true", NULL};
    static const char *const masked[] = {"items=pairs", "mask=true", "drop=0", NULL};
    check_task("text", HN_OBJECTIVE_OTHER_VIEW, options);
    check_task("text", HN_OBJECTIVE_OTHER_VIEW, masked);
}

static void test_code(void) {
    static const char *const two[] = {"hidden=12", "mask=true", "drop=0.2", NULL};
    static const char *const one[] = {"shared=true", "word_drop=0.2", NULL};
    static const char *const both[] = {"same_side=both", "mined=random", "negatives=2", NULL};
    static const char *const queries[] = {"same_side=queries", "mask=true", NULL};
    check_task("pairs", HN_OBJECTIVE_BOTH_WAYS, two);
    check_task("pairs", HN_OBJECTIVE_BOTH_WAYS, one);
    check_task("pairs", HN_OBJECTIVE_OTHER_VIEW, two);
    check_task("pairs", HN_OBJECTIVE_BOTH_WAYS, both);
    check_task("pairs", HN_OBJECTIVE_SIGLIP, queries);
}

static const struct hn_test tests[] = {
    {"single", test_single},
    {"pairs", test_pairs},
    {"queries and documents", test_code},
};
HN_TEST_MAIN("text_slopes", tests)
