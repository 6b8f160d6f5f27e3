#include "training/image_task.h"

enum { KNN_Z, KNN_H, PROBE_H };

const struct hn_column hn_image_columns[HN_IMAGE_COLUMNS] = {
    [KNN_Z] = {"knn_acc", HN_COLUMN_REAL, "1",
               "weighted 200-nearest-neighbour accuracy of z on the test images", HN_LARGER},
    [KNN_H] = {"knn_h_acc", HN_COLUMN_REAL, "1",
               "weighted 200-nearest-neighbour accuracy of h on the test images", HN_LARGER},
    [PROBE_H] = {"probe_acc", HN_COLUMN_REAL, "1",
                 "accuracy of a linear probe on h on the test images", HN_LARGER},
};

enum hn_code hn_evaluate_images(struct hn_context *ctx, const struct hn_task *task, const float *z,
                                const float *h, int64_t hidden, bool probe, double *value) {
    struct hn_evaluation e = {.n = task->n_all,
                              .d = task->d,
                              .z = z,
                              .label = task->label,
                              .split = task->split,
                              .seed = task->setting.seed};
    if (hn_evaluate(ctx, &e, "knn_acc", &value[KNN_Z]))
        return ctx->code;
    e.z = h;
    e.d = hidden;
    if (hn_evaluate(ctx, &e, "knn_acc", &value[KNN_H]))
        return ctx->code;
    return probe ? hn_evaluate(ctx, &e, "probe_acc", &value[PROBE_H]) : HN_OK;
}

void hn_split_images(const struct hn_task *task, int8_t *split) {
    for (int64_t i = 0; i < task->n_all; i++)
        split[i] = i < task->n ? 0 : 2;
}
