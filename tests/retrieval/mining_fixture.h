// SPDX-License-Identifier: GPL-3.0-or-later
// Small corpora for mining whose products are exact: rows of +-1/4 in 16 dimensions, so that scores
// are multiples of 1/8 and many are equal.
#pragma once

#include "core/random.h"
#include "retrieval/mine.h"
#include "retrieval/miner.h"
#include "retrieval/take.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIM = 16, QUERIES = 12, PASSAGES = 40 };

struct small {
    float row[HN_SETS][PASSAGES * DIM], teacher[HN_SETS][PASSAGES * DIM];
    int64_t n[HN_SETS], group[HN_SETS][PASSAGES];
    struct hn_retrieval_data data; // of the arrays above
};

// HN_FUZZ_CASES: how many random cases a suite tries, and HN_FUZZ_SEED: which; else as many as it
// usually takes, of seed 1.
static inline int64_t fuzz_cases(int64_t usual) {
    const char *given = getenv("HN_FUZZ_CASES");
    return given ? atoll(given) : usual;
}
static inline uint64_t fuzz_seed(void) {
    const char *given = getenv("HN_FUZZ_SEED");
    return given ? (uint64_t)atoll(given) : 1;
}

static inline int below(struct hn_stream *s, int n) { return (int)hn_stream_below(s, (uint32_t)n); }

static inline void random_rows(struct hn_stream *s, float *x, int64_t n) {
    for (int64_t k = 0; k < n * DIM; k++)
        x[k] = below(s, 2) ? .25F : -.25F;
}

static inline struct hn_matrix rows_of(const float *x, int64_t n) {
    return (struct hn_matrix){x, n, DIM, DIM};
}

// Defaults of the options, all that is unset left to the preset.
static inline struct hn_mine_options no_options(enum hn_mine_preset preset) {
    return (struct hn_mine_options){.preset = preset,
                                    .n = INT64_MIN,
                                    .depth = INT64_MIN,
                                    .min_rank = INT64_MIN,
                                    .max_rank = INT64_MIN,
                                    .seed = 1,
                                    .absolute_margin = NAN,
                                    .relative_margin = NAN,
                                    .max_score = NAN,
                                    .min_score = NAN,
                                    .guide = NAN};
}

// A random corpus: queries near a passage, some passages equal, texts that are shared, up to three
// positives a query, some judged and not relevant, and more by the complete relevance.
static inline void make_small(struct hn_context *ctx, struct hn_stream *s, struct small *out) {
    struct hn_judgement known[4 * QUERIES], all[6 * QUERIES];
    int64_t nq = 1 + below(s, QUERIES), np = 1 + below(s, PASSAGES), k = 0, a = 0;
    memset(out, 0, sizeof *out);
    out->n[HN_QUERIES] = nq;
    out->n[HN_CORPUS] = np;
    for (int side = 0; side < HN_SETS; side++) {
        random_rows(s, out->row[side], out->n[side]);
        random_rows(s, out->teacher[side], out->n[side]);
    }
    if (below(s, 3) == 0)
        for (int64_t j = 1; j < np / 2; j++)
            memcpy(out->row[HN_CORPUS] + j * DIM, out->row[HN_CORPUS], DIM * sizeof(float));
    int texts = 1 + below(s, 60);
    for (int side = 0; side < HN_SETS; side++)
        for (int64_t i = 0; i < out->n[side]; i++)
            out->group[side][i] = below(s, texts);
    for (int64_t i = 0; i < nq; i++) {
        int close = below(s, (int)np);
        for (int d = 0; d < DIM; d++)
            if (below(s, 5))
                out->row[HN_QUERIES][i * DIM + d] = out->row[HN_CORPUS][close * DIM + d];
        for (int positives = below(s, 4); positives > 0; positives--)
            known[k++] = (struct hn_judgement){(int32_t)i, below(s, (int)np), below(s, 4)};
        for (int positives = below(s, 6); positives > 0; positives--)
            all[a++] = (struct hn_judgement){(int32_t)i, below(s, (int)np), below(s, 3)};
    }
    HN_CHECK(ctx, hn_qrels_build(ctx, known, k, nq, &out->data.qrels));
    HN_CHECK(ctx, hn_qrels_build(ctx, all, a, nq, &out->data.truth));
    for (int side = 0; side < HN_SETS; side++) {
        out->data.rows[side] = rows_of(out->row[side], out->n[side]);
        out->data.teacher[side] = rows_of(out->teacher[side], out->n[side]);
        out->data.group[side] = out->group[side];
    }
}

static inline void mine_all(struct hn_context *ctx, const struct hn_retrieval_data *data,
                            const struct hn_mine_options *o, struct hn_miner *m,
                            struct hn_mined *out) {
    struct hn_pool pool;
    *out = (struct hn_mined){.count = 0};
    HN_CHECK(ctx, hn_miner_open(ctx, data, o, "test", m));
    HN_CHECK(ctx, hn_miner_pool(ctx, m, 0, data->rows[HN_QUERIES].rows, false, &pool));
    HN_CHECK(ctx, hn_miner_take(ctx, m, &pool, out));
}
