// SPDX-License-Identifier: GPL-3.0-or-later
// The kernel that tests compare the others with, and the choice among the kernels.
#include "core/sweep/screen_kernel.h"

#include "core/sweep/simd.h"

static int32_t product(const int8_t *a, const int8_t *b, int64_t words) {
    int32_t sum = 0;
    for (int64_t q = 0; q < words; q++, a += HN_WORDS_BYTES, b += HN_WORDS_BYTES)
        for (int k = 0; k < HN_WORD; k++)
            sum += a[k] * b[k];
    return sum;
}

static void find_sums(const int8_t *a, const int8_t *b, int64_t words, struct hn_screen_edge rows,
                      struct hn_screen_edge cols, int32_t *sum, int64_t stride) {
    for (int i = 0; i < HN_PANEL; i++)
        for (int j = 0; j < HN_PANEL; j++)
            sum[i * stride + j] =
                rows.start[i] + cols.start[j] + product(a + i * HN_WORD, b + j * HN_WORD, words);
}

static void find_hits(const int8_t *a, const int8_t *b, int64_t words, struct hn_screen_edge rows,
                      struct hn_screen_edge cols, uint32_t hits[HN_PANEL]) {
    int32_t sum[HN_PANEL * HN_PANEL];
    find_sums(a, b, words, rows, cols, sum, HN_PANEL);
    for (int i = 0; i < HN_PANEL; i++) {
        hits[i] = 0;
        for (int j = 0; j < HN_PANEL; j++) {
            int32_t limit = rows.limit[i] < cols.limit[j] ? rows.limit[i] : cols.limit[j];
            hits[i] |= (uint32_t)(sum[i * HN_PANEL + j] >= limit) << j;
        }
    }
}

static const struct hn_screen_kernel plain = {.name = "test-only",
                                              .width = 1,
                                              .max = 127,
                                              .rate = 0.25,
                                              .tile = 1,
                                              .hits = find_hits,
                                              .sums = find_sums};

#if defined(__x86_64__)

#include <cpuid.h>

static bool runs_vnni256(void) {
    unsigned a, b, c, d;
    return hn_simd_path(1) && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1);
}

static bool runs_vnni512(void) { return hn_simd_path(2) && __builtin_cpu_supports("avx512vnni"); }

const struct hn_screen_kernel *hn_screen_kernel(int number) {
    switch (number) {
    case 0: return &plain;
    case 1: return hn_simd_path(1) ? &hn_screen_avx2 : NULL;
    case 2: return runs_vnni256() ? &hn_screen_vnni256 : NULL;
    case 3: return runs_vnni512() ? &hn_screen_vnni512 : NULL;
    case 4: return hn_screen_runs_amx() ? &hn_screen_amx : NULL;
    default: return NULL;
    }
}

#else

const struct hn_screen_kernel *hn_screen_kernel(int number) { return number == 0 ? &plain : NULL; }

#endif

// AVX-512 multiplies floats as fast as older instructions multiply 16 bits.
const struct hn_screen_kernel *hn_screen_kernel_best(void) {
    for (int number = HN_SCREEN_KERNELS - 1; number > 0; number--) {
        const struct hn_screen_kernel *kernel = hn_screen_kernel(number);
        if (kernel && (kernel->rate < 0.5 || !hn_simd_path(2)))
            return kernel;
    }
    return NULL;
}

int64_t hn_screen_words(const struct hn_screen_kernel *kernel, int64_t numbers) {
    int64_t bytes = numbers * kernel->width, tile = kernel->tile * HN_WORD;
    return (bytes + tile - 1) / tile * kernel->tile;
}
