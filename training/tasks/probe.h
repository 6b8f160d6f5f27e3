// SPDX-License-Identifier: GPL-3.0-or-later
// Support-vector machine with folds: the evaluation of graph vectors (GraphCL; RECIPES D).
#pragma once

#include "core/matrix.h"

// fold[n] = 0 .. folds - 1 such that every class is spread over the folds as evenly as can be
// (sizes of a class differ by at most one from fold to fold), drawn by seed. label[n] >= 0.
HN_MUST_USE enum hn_code hn_folds_draw(struct hn_context *ctx, const int32_t *label, int64_t n,
                                       int folds, uint64_t seed, int32_t *fold);

enum { HN_SVM_FOLDS_MAX = 100, HN_SVM_ITEMS_MAX = 20000 };

// x[n x d], label[n] (class numbers from 0), fold[n]: the fold that tests an item, -1 = none (it is
// in every training part). Each fold in turn is tested by an SVM with the kernel exp(-gamma |u -
// v|^2) on columns standardised by the training part (columns that do not vary there become zero);
// its C is the one of c[n_c] (ascending) with the best accuracy over `inner` folds of the training
// part, drawn by seed and spread by class, the smallest of equals. LIBSVM does the work, from the
// kernel's matrix: 16 n^2 bytes, hence at most HN_SVM_ITEMS_MAX items. Deterministic, for any
// number of threads.
struct hn_svm_probe {
    struct hn_matrix x;   // with `kernel` only its rows count
    const double *kernel; // [n x n] taken instead, or NULL
    const int32_t *label, *fold;
    int folds, inner;
    const double *c;
    int n_c;
    double gamma; // 0: 1 / d
    uint64_t seed;
    void (*tell)(void *data, int64_t done, int64_t of); // fits; by one thread alone. NULL: nobody
    void *tell_data;
    double accuracy;                        // out: mean over the folds
    double deviation;                       // out: over the folds, n - 1
    double fold_accuracy[HN_SVM_FOLDS_MAX]; // out
    double chosen[HN_SVM_FOLDS_MAX];        // out: C
};
// HN_DATA: a fold without items or training items, features that are not finite, too many items.
HN_MUST_USE enum hn_code hn_svm_probe_run(struct hn_context *ctx, struct hn_svm_probe *probe);
