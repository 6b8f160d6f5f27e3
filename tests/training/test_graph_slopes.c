// SPDX-License-Identifier: GPL-3.0-or-later
// The gradient of the whole task of graph classification against central differences, in double
// precision (Makefile: obj64).
#include "tests/graph_fixture.h"

#include <stdlib.h>

enum { SEGMENTS = 40 };

// Along the gradient of each part of the weights the loss rises as the gradient's length says.
static void check_slopes(enum hn_objective objective) {
    struct hn_context ctx;
    struct opened o;
    hn_context_init(&ctx, 1);
    make_graphs(true);
    HN_CHECK(&ctx, open_task_with(&ctx, folder, 7, objective, &o));
    struct hn_weights *w = &o.task.weights;
    CU_ASSERT(isfinite(loss_of(&ctx, &o.task)));
    size_t bytes = (size_t)w->n * sizeof *w->grad;
    hn_real *grad = malloc(bytes), *value = malloc(bytes);
    CU_ASSERT_FATAL(grad && value);
    memcpy(grad, w->grad, bytes);
    memcpy(value, w->value, bytes);
    int checked = 0;
    for (int part = 0; part < SEGMENTS; part++) {
        int64_t from = w->n * part / SEGMENTS, to = w->n * (part + 1) / SEGMENTS;
        double square = 0, rise = 0;
        const double far = 1e-6;
        for (int64_t i = from; i < to; i++)
            square += (double)grad[i] * (double)grad[i];
        for (int sign = -1; sign <= 1; sign += 2) {
            memcpy(w->value, value, bytes);
            for (int64_t i = from; i < to && square > 0; i++)
                w->value[i] += (hn_real)(sign * far * (double)grad[i] / sqrt(square));
            rise += sign * loss_of(&ctx, &o.task) / (2 * far);
        }
        CU_ASSERT_DOUBLE_EQUAL(rise, sqrt(square), 1e-8 + 1e-6 * sqrt(square));
        checked += square > 1e-3;
    }
    CU_ASSERT(checked > SEGMENTS / 2);
    free(grad);
    free(value);
    close_task(&ctx, &o);
    hn_fixture_remove(folder);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_pairs(void) { check_slopes(HN_OBJECTIVE_OTHER_VIEW); }
static void test_infograph(void) { check_slopes(HN_OBJECTIVE_JSD); }

static const struct hn_test tests[] = {{"pairs", test_pairs}, {"infograph", test_infograph}};
HN_TEST_MAIN("graph_slopes", tests)
