// SPDX-License-Identifier: GPL-3.0-or-later
// The screen's kernel for AMX: tiles of 16 rows of 16 words, and of 16 words of 16 columns, of
// which an instruction adds the 16 x 16 sums of products.
#include "core/sweep/screen_kernel.h"

#if defined(__x86_64__)

#include "core/sweep/simd.h"

#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SCREEN __attribute__((target("amx-tile,amx-int8,avx512f,avx512dq,avx512bw,avx512vl")))

enum {
    TILE = 16,                  // rows, words or columns
    TILE_BYTES = TILE * 64,     // of rows
    STEP_BYTES = 2 * TILE_BYTES // of a panel
};

// As the processor reads it: eight tiles of 16 rows of 64 bytes.
struct shape {
    uint8_t palette, start, unused[14];
    uint16_t bytes[TILE];
    uint8_t rows[TILE];
};

SCREEN static void enter(void) {
    static const struct shape shape = {.palette = 1,
                                       .bytes = {64, 64, 64, 64, 64, 64, 64, 64},
                                       .rows = {16, 16, 16, 16, 16, 16, 16, 16}};
    _tile_loadconfig(&shape);
}

SCREEN static void leave(void) { _tile_release(); }

// sum[i * stride + j], without starts.
SCREEN static void multiply(const int8_t *a, const int8_t *b, int64_t words, int32_t *sum,
                            int64_t stride) {
    const int64_t bytes = stride * (int64_t)sizeof *sum;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int64_t q = 0; q < words; q += TILE, a += STEP_BYTES, b += STEP_BYTES) {
        _tile_loadd(4, a, 64);
        _tile_loadd(5, a + TILE_BYTES, 64);
        _tile_loadd(6, b, HN_WORDS_BYTES);
        _tile_loadd(7, b + TILE * HN_WORD, HN_WORDS_BYTES);
        _tile_dpbssd(0, 4, 6);
        _tile_dpbssd(1, 4, 7);
        _tile_dpbssd(2, 5, 6);
        _tile_dpbssd(3, 5, 7);
    }
    _tile_stored(0, sum, bytes);
    _tile_stored(1, sum + TILE, bytes);
    _tile_stored(2, sum + TILE * stride, bytes);
    _tile_stored(3, sum + TILE * stride + TILE, bytes);
}

SCREEN static void find_hits(const int8_t *a, const int8_t *b, int64_t words,
                             struct hn_screen_edge rows, struct hn_screen_edge cols,
                             uint32_t hits[HN_PANEL]) {
    _Alignas(64) int32_t sum[HN_PANEL * HN_PANEL];
    multiply(a, b, words, sum, HN_PANEL);
    __m512i start[2], limit[2];
    for (int h = 0; h < 2; h++) {
        start[h] = _mm512_load_si512(cols.start + h * TILE);
        limit[h] = _mm512_load_si512(cols.limit + h * TILE);
    }
    for (int i = 0; i < HN_PANEL; i++) {
        uint32_t bits[2];
        for (int h = 0; h < 2; h++) {
            __m512i own = _mm512_add_epi32(start[h], _mm512_set1_epi32(rows.start[i]));
            __m512i all = _mm512_add_epi32(own, _mm512_load_si512(sum + i * HN_PANEL + h * TILE));
            __m512i min = _mm512_min_epi32(limit[h], _mm512_set1_epi32(rows.limit[i]));
            bits[h] = _cvtmask16_u32(_mm512_cmpge_epi32_mask(all, min));
        }
        hits[i] = bits[0] | bits[1] << TILE;
    }
}

SCREEN static void find_sums(const int8_t *a, const int8_t *b, int64_t words,
                             struct hn_screen_edge rows, struct hn_screen_edge cols, int32_t *sum,
                             int64_t stride) {
    multiply(a, b, words, sum, stride);
    for (int i = 0; i < HN_PANEL; i++)
        for (int j = 0; j < HN_PANEL; j++) {
            uint32_t starts = (uint32_t)rows.start[i] + (uint32_t)cols.start[j];
            sum[i * stride + j] = (int32_t)((uint32_t)sum[i * stride + j] + starts);
        }
}

// The system has to be asked, once for the process, as threads then keep 8 KiB more.
bool hn_screen_runs_amx(void) {
    enum { REQUEST = 0x1023, TILE_DATA = 18, BOTH = 3 << 24 };
    unsigned a, b, c, d;
    return hn_simd_path(2) && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & BOTH) == BOTH &&
           syscall(SYS_arch_prctl, REQUEST, TILE_DATA) == 0;
}

const struct hn_screen_kernel hn_screen_amx = {.name = "amx",
                                               .width = 1,
                                               .max = 127,
                                               .rate = 0.04,
                                               .tile = TILE,
                                               .enter = enter,
                                               .leave = leave,
                                               .hits = find_hits,
                                               .sums = find_sums};

#endif
