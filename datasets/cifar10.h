// CIFAR-10 in the official binary layout (Krizhevsky 2009): data_batch_1.bin, data_batch_2.bin and
// so on, test_batch.bin and batches.meta.txt in one folder. A record is 3073 bytes: the label, then
// the red, the green and the blue plane, 32 rows of 32 bytes each.
#ifndef HN_DATASETS_CIFAR10_H
#define HN_DATASETS_CIFAR10_H

#include "core/context.h"

enum {
    HN_CIFAR10_SIDE = 32,
    HN_CIFAR10_BYTES = 3 * HN_CIFAR10_SIDE * HN_CIFAR10_SIDE,
    HN_CIFAR10_CLASSES = 10
};

// Owned: hn_cifar10_free(). Training records first, in the order of the files.
struct hn_cifar10 {
    int64_t n, test;
    uint8_t *image;   // [(n + test) x HN_CIFAR10_BYTES]
    int32_t *label;   // [n + test]
    char *names_text; // what label_name points into
    const char *label_name[HN_CIFAR10_CLASSES];
    int64_t n_label_names; // 10, or 0 where the folder has no batches.meta.txt
};

// HN_DATA names file and record (or line of batches.meta.txt) and what is wrong: a file that is
// missing or cut short, a label above 9, names that are not ten. Memory is bounded by the files.
HN_MUST_USE enum hn_code hn_cifar10_read(struct hn_context *ctx, const char *folder,
                                         struct hn_cifar10 *out);
void hn_cifar10_free(struct hn_context *ctx, struct hn_cifar10 *c); // zeroed is fine

#endif
