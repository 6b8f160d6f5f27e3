// The .fvecs and .bvecs files of the TEXMEX corpora (SIFT1M and others): every row is its length as
// a little-endian int32, then as many little-endian float32 or uint8 values.
#ifndef HN_DATASETS_VECS_H
#define HN_DATASETS_VECS_H

#include "core/context.h"

// Whether the name ends in .fvecs or .bvecs.
bool hn_vecs_named(const char *path);
// x[n x d], owned by the caller. HN_DATA names file and row and what is wrong: a missing file, rows
// that are cut short or not of one length. No allocation is larger than the file warrants (uint8
// rows become float: four times the file).
HN_MUST_USE enum hn_code hn_vecs_read(struct hn_context *ctx, const char *path, float **x,
                                      int64_t *n, int64_t *d);

#endif
