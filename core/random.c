// SPDX-License-Identifier: GPL-3.0-or-later
// Streams of random numbers by a counter and a key, so that any number can be drawn without those
// before it.
#include "core/random.h"
#include "core/bitset.h"

#include <Random123/philox.h>
#include <limits.h>

enum { WORDS = 8 };

uint64_t hn_hash(const char *text) {
    uint64_t h = 14695981039346656037u;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 1099511628211u;
    return h;
}

void hn_stream_open(struct hn_stream *s, uint64_t seed, const char *purpose, int64_t step,
                    int64_t epoch, int64_t index) {
    s->key[0] = seed;
    s->key[1] = hn_hash(purpose); // of a handful of fixed names
    s->counter[0] = 0;
    s->counter[1] = (uint64_t)index;
    s->counter[2] = (uint64_t)epoch;
    s->counter[3] = (uint64_t)step;
    s->used = WORDS;
}

static void fill(struct hn_stream *s) {
    philox4x64_ctr_t counter = {{s->counter[0], s->counter[1], s->counter[2], s->counter[3]}};
    philox4x64_key_t key = {{s->key[0], s->key[1]}};
    philox4x64_ctr_t out = philox4x64(counter, key);
    for (int i = 0; i < WORDS / 2; i++) {
        s->word[2 * i] = (uint32_t)out.v[i];
        s->word[2 * i + 1] = (uint32_t)(out.v[i] >> 32);
    }
    s->counter[0]++;
    s->used = 0;
}

uint32_t hn_stream_word(struct hn_stream *s) {
    if (s->used == WORDS)
        fill(s);
    return s->word[s->used++];
}

uint32_t hn_stream_below(struct hn_stream *s, uint32_t n) {
    uint64_t product = (uint64_t)hn_stream_word(s) * n;
    if ((uint32_t)product < n) {
        uint32_t reject = -n % n;
        while ((uint32_t)product < reject)
            product = (uint64_t)hn_stream_word(s) * n;
    }
    return (uint32_t)(product >> 32);
}

double hn_stream_uniform(struct hn_stream *s) {
    uint64_t high = hn_stream_word(s) >> 5;
    uint64_t low = hn_stream_word(s) >> 6;
    return (double)(high << 26 | low) * 0x1p-53;
}

void hn_stream_shuffle(struct hn_stream *s, int32_t *ids, int64_t n) {
    for (int64_t i = n - 1; i > 0; i--) {
        uint32_t j = hn_stream_below(s, (uint32_t)(i + 1));
        int32_t other = ids[j];
        ids[j] = ids[i];
        ids[i] = other;
    }
}

void hn_stream_distinct(struct hn_stream *s, int64_t n, int64_t k, uint64_t *seen, int32_t *out) {
    for (int64_t i = 0; i < k; i++) {
        int32_t last = (int32_t)(n - k + i), id = (int32_t)hn_stream_below(s, (uint32_t)last + 1);
        out[i] = hn_bitset_has(seen, id) ? last : id;
        hn_bitset_add(seen, out[i]);
    }
    for (int64_t i = 0; i < k; i++)
        hn_bitset_remove(seen, out[i]);
}

int32_t hn_stream_take(struct hn_stream *s, int32_t *ids, int64_t at, int64_t n) {
    int64_t other = at + hn_stream_below(s, (uint32_t)(n - at));
    int32_t taken = ids[other];
    ids[other] = ids[at];
    ids[at] = taken;
    return taken;
}

void hn_permute(uint64_t seed, const char *purpose, int64_t step, int64_t epoch, int64_t index,
                int32_t *ids, int64_t n) {
    struct hn_stream stream;
    hn_stream_open(&stream, seed, purpose, step, epoch, index);
    for (int64_t i = 0; i < n; i++)
        ids[i] = (int32_t)i;
    hn_stream_shuffle(&stream, ids, n);
}

static void gsl_set(void *state, unsigned long seed) {
    hn_stream_open(state, seed, "gsl", 0, 0, 0);
}

static unsigned long gsl_get(void *state) { return hn_stream_word(state); }
static double gsl_get_double(void *state) { return hn_stream_uniform(state); }

static const gsl_rng_type stream_type = {
    "philox4x64-10", UINT32_MAX, 0, sizeof(struct hn_stream), gsl_set, gsl_get, gsl_get_double};
const gsl_rng_type *const hn_stream_type = &stream_type;

gsl_rng hn_stream_gsl(struct hn_stream *s) { return (gsl_rng){.type = hn_stream_type, .state = s}; }
