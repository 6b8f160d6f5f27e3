// The kernels of core/sweep/screen_kernel.h for x86-64.
#ifndef HN_CORE_SWEEP_SCREEN_KERNEL_PRIVATE_H
#define HN_CORE_SWEEP_SCREEN_KERNEL_PRIVATE_H

#include "core/sweep/screen_kernel.h"

#if defined(__x86_64__)
extern const struct hn_screen_kernel hn_screen_avx2, hn_screen_vnni256, hn_screen_vnni512,
    hn_screen_amx;
bool hn_screen_runs_amx(void);
#endif

// vpdpbusd takes unsigned bytes on one side: numbers are raised by this.
#define HN_SCREEN_RAISED 128

#endif
