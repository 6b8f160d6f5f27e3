// SPDX-License-Identifier: GPL-3.0-or-later
// Counter-based random streams: Philox4x64-10 of Random123 (Salmon et al., SC 2011), named by what
// is drawn and never by the thread that draws.
#pragma once

#include <gsl/gsl_rng.h>
#include <stdint.h>

uint64_t hn_hash(const char *text); // FNV-1a

// A stream is a sequence of 32-bit words, named by (seed, purpose, step, epoch, index). The seed
// and a hash of the purpose are the key; step, epoch and index are counter words: different names
// give disjoint sequences, without any hashing of the numbers.
struct hn_stream {
    uint64_t key[2];
    uint64_t counter[4]; // block, index, epoch, step
    uint32_t word[8];    // the current block
    uint32_t used;       // words of it used, 8 = none left
};

// purpose: a fixed name such as "uniform.shuffle".
void hn_stream_open(struct hn_stream *s, uint64_t seed, const char *purpose, int64_t step,
                    int64_t epoch, int64_t index);

// The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
static inline uint64_t hn_mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

uint32_t hn_stream_word(struct hn_stream *s);
// Uniform on 0 .. n-1 without bias (Lemire 2019, nearly divisionless); 1 <= n <= 2^31.
uint32_t hn_stream_below(struct hn_stream *s, uint32_t n);
// Uniform on [0, 1): 53 random bits.
double hn_stream_uniform(struct hn_stream *s);
// Fisher-Yates shuffle of ids[n].
void hn_stream_shuffle(struct hn_stream *s, int32_t *ids, int64_t n);

// out[k]: distinct numbers of 0 .. n - 1, every set of them equally probable, in k draws: Floyd's
// algorithm (Bentley and Floyd, CACM 30(9), 1987). seen: a set of n (core/bitset.h), clear before
// and after.
void hn_stream_distinct(struct hn_stream *s, int64_t n, int64_t k, uint64_t *seen, int32_t *out);
// ids[at] changes places with a random one of ids[at .. n), which is returned: called for at = 0,
// 1, ... it shuffles ids as far as that is needed.
int32_t hn_stream_take(struct hn_stream *s, int32_t *ids, int64_t at, int64_t n);

// ids[n] becomes a random order of 0 .. n - 1, drawn from the stream of that name: n - 1 draws.
void hn_permute(uint64_t seed, const char *purpose, int64_t step, int64_t epoch, int64_t index,
                int32_t *ids, int64_t n);

// The same stream for gsl_ran_*: `gsl_rng r = hn_stream_gsl(&s);`. r borrows s and needs no free.
extern const gsl_rng_type *const hn_stream_type;
gsl_rng hn_stream_gsl(struct hn_stream *s);
