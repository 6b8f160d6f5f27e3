// NumPy .npy files (format versions 1.0 to 3.0), C order.
#ifndef HN_DATASETS_NPY_H
#define HN_DATASETS_NPY_H

#include "core/files.h"

enum { HN_NPY_RANK_MAX = 4 };

// An array read from a file. Floats (f2, f4, f8, either byte order) become float; integers (i1 to
// i8, u1 to u4, b1) become int64. Owned; free with hn_npy_free().
struct hn_npy {
    int rank;
    int64_t shape[HN_NPY_RANK_MAX];
    float *real; // one of the two is set
    int64_t *integer;
};

// HN_DATA names file and what is wrong: magic, header, type, Fortran order, size of the file.
// No allocation is larger than the file warrants.
HN_MUST_USE enum hn_code hn_npy_read(struct hn_context *ctx, const char *path, struct hn_npy *out);
void hn_npy_free(struct hn_context *ctx, struct hn_npy *a);

// Writes an array of int64, value[product of shape[rank]] in C order, to a file that has begun, and
// commits it, or aborts it on failure (HN_IO). 1 <= rank <= HN_NPY_RANK_MAX.
HN_MUST_USE enum hn_code hn_npy_write(struct hn_context *ctx, struct hn_new_file *file, int rank,
                                      const int64_t *shape, const int64_t *value);

#endif
