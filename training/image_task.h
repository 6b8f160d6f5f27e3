// What tasks of images share: their columns and their evaluation.
#ifndef HN_TRAINING_IMAGE_TASK_H
#define HN_TRAINING_IMAGE_TASK_H

#include "training/task.h"

enum { HN_IMAGE_COLUMNS = 3 };
extern const struct hn_column hn_image_columns[HN_IMAGE_COLUMNS];

// value[HN_IMAGE_COLUMNS]: kNN accuracy of z[n_all x d] and of h[n_all x hidden] (what stands
// before the head), and that of a linear probe on h unless `probe` is false.
HN_MUST_USE enum hn_code hn_evaluate_images(struct hn_context *ctx, const struct hn_task *task,
                                            const float *z, const float *h, int64_t hidden,
                                            bool probe, double *value);
// Splits items into training (the first n) and test; split[n_all].
void hn_split_images(const struct hn_task *task, int8_t *split);

#endif
