// SPDX-License-Identifier: GPL-3.0-or-later
// Training, validation and test rows of labelled items, of the file or drawn.
#include "core/classes.h"
#include "core/random.h"
#include "metrics/metric.h"

#include <math.h>

enum { TEST_SHARE = 5, TRAIN = 0, VALIDATION = 1, TEST = 2 };

// True if the file's split has both parts among the labelled items.
static bool split_serves(const struct hn_snapshot_env *env) {
    bool train = false, test = false;
    for (int64_t i = 0; env->split && i < env->items->n; i++) {
        train |= env->split[i] == TRAIN && env->items->labels[i] >= 0;
        test |= env->split[i] == TEST && env->items->labels[i] >= 0;
    }
    return train && test;
}

static int64_t take_part(const struct hn_snapshot_env *env, int part, int32_t *id) {
    int64_t count = 0;
    for (int64_t i = 0; i < env->items->n; i++)
        if (env->items->labels[i] >= 0 && env->split[i] == part)
            id[count++] = (int32_t)i;
    return count;
}

static void take_split(const struct hn_snapshot_env *env, struct hn_split *s) {
    s->train = take_part(env, TRAIN, s->id);
    s->test = take_part(env, TEST, s->id + s->train);
    s->validation = take_part(env, VALIDATION, s->id + s->train + s->test);
}

static void draw_split(const struct hn_snapshot_env *env, struct hn_split *s) {
    int64_t labelled = 0;
    for (int64_t i = 0; i < env->items->n; i++)
        if (env->items->labels[i] >= 0)
            s->id[labelled++] = (int32_t)i;
    struct hn_stream stream;
    hn_stream_open(&stream, env->seed, "knn_acc.split", 0, 0, 0);
    hn_stream_shuffle(&stream, s->id, labelled);
    s->test = labelled / TEST_SHARE;
    s->train = s->test > 0 ? labelled - s->test : 0;
}

// Numbers the distinct labels from 0 in ascending order, so that what is kept per class fits a
// short array however large the labels are.
static enum hn_code number_labels(struct hn_context *ctx, const int32_t *label, int64_t n,
                                  struct hn_split *s) {
    struct hn_classes classes;
    HN_SCOPE(ctx);
    if (hn_classes_find(ctx, label, n, &classes))
        return ctx->code;
    s->classes = (int32_t)classes.n;
    for (int64_t i = 0; i < n; i++)
        s->class_of[i] = hn_classes_index(&classes, label[i]);
    return HN_OK;
}

static enum hn_code take(struct hn_context *ctx, const struct hn_snapshot_env *env,
                         struct hn_split *s) {
    int64_t n = env->items->n, size;
    if (!HN_ALLOC(ctx, s->id, n) || !HN_ALLOC(ctx, s->class_of, n) ||
        number_labels(ctx, env->items->labels, n, s))
        return ctx->code;
    if (split_serves(env))
        take_split(env, s);
    else
        draw_split(env, s);
    n = s->test > 0 ? s->train + s->test + s->validation : 0;
    if (!hn_mul(n, env->items->d, &size))
        return hn_fail(ctx, HN_MEMORY, "a size overflows");
    if (!HN_ALLOC(ctx, s->rows, size))
        return ctx->code;
    hn_gather_rows(&env->items->x, s->id, n, s->rows);
    return HN_OK;
}

enum hn_code
hn_split_measure(struct hn_context *ctx, const struct hn_snapshot_env *env, int temperature,
                 enum hn_code (*classify)(struct hn_context *ctx, const struct hn_snapshot_env *env,
                                          const struct hn_split *split, double *accuracy),
                 double *known, double *value) {
    HN_SCOPE(ctx);
    if (temperature == 0) {
        struct hn_split *split = hn_zalloc(ctx, 1, sizeof *split);
        *known = NAN;
        if (!split || take(ctx, env, split) ||
            (split->test > 0 && classify(ctx, env, split, known)))
            return ctx->code;
    }
    *value = *known;
    return HN_OK;
}
