// SPDX-License-Identifier: GPL-3.0-or-later
// Turning rows before they are rounded: an orthogonal matrix after which the numbers of a row are
// about as large, whatever its columns were, so that one scale suits all.
//
// Signs drawn at random, then Hadamard's matrix over as many columns as a power of two. If these
// are not all, then the same over the last ones, which overlap, and once more with odd columns
// dealt to the end, as the two ends of a row may still differ.
#include "core/sweep/screen_private.h"

#include "core/clones.h"
#include "core/random.h"

#include <math.h>
#include <string.h>

enum { PASSES = 4, DEALT = 2 }; // passes; dealt before this one

enum hn_code hn_screen_turn_open(struct hn_context *ctx, int64_t d, struct hn_screen_turn *turn) {
    int64_t stages = 0;
    *turn = (struct hn_screen_turn){.d = d, .block = 1};
    for (; 2 * turn->block <= d; turn->block *= 2)
        stages++;
    turn->passes = turn->block < d ? PASSES : 1;
    if (!HN_ALLOC(ctx, turn->sign, turn->passes * turn->block))
        return HN_MEMORY;
    struct hn_stream stream;
    hn_stream_open(&stream, 0, "screen.turn", 0, 0, 0);
    float size = (float)(1 / sqrt((double)turn->block));
    for (int64_t i = 0; i < turn->passes * turn->block; i++)
        turn->sign[i] = hn_stream_word(&stream) & 1 ? size : -size;
    // A pass rounds its factor, its product and each stage; 1: what it is given was rounded.
    turn->error = 1.01 * (double)(turn->passes * (stages + 2) + 1) * 0x1p-24;
    return HN_OK;
}

// A stage of Hadamard's matrix in the order that is the same for all of them.
HN_CLONES
static void add_halves(const float *from, int64_t half, float *to) {
    for (int64_t i = 0; i < half; i++) {
        to[2 * i] = from[i] + from[half + i];
        to[2 * i + 1] = from[i] - from[half + i];
    }
}

// Even columns first.
HN_CLONES
static void deal(float *row, int64_t d, float *scratch) {
    int64_t even = (d + 1) / 2;
    for (int64_t k = 0; k < even; k++)
        scratch[k] = row[2 * k];
    for (int64_t k = 0; k < d / 2; k++)
        scratch[even + k] = row[2 * k + 1];
    memcpy(row, scratch, (size_t)d * sizeof *row);
}

void hn_screen_turn_row(const struct hn_screen_turn *turn, float *row, float *scratch) {
    int64_t n = turn->block;
    for (int64_t pass = 0; pass < turn->passes; pass++) {
        if (pass == DEALT)
            deal(row, turn->d, scratch);
        float *block = row + pass % 2 * (turn->d - n), *from = block, *to = scratch;
        for (int64_t i = 0; i < n; i++)
            block[i] *= turn->sign[pass * n + i];
        for (int64_t k = 1; k < n; k *= 2) {
            add_halves(from, n / 2, to);
            float *other = from;
            from = to;
            to = other;
        }
        if (from != block)
            memcpy(block, from, (size_t)n * sizeof *block);
    }
}
