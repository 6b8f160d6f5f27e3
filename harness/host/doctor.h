// Checks of `doctor`, one line each.
#ifndef HN_HARNESS_HOST_DOCTOR_H
#define HN_HARNESS_HOST_DOCTOR_H

#include "core/context.h"

enum hn_check_state { HN_CHECK_FINE, HN_CHECK_ADVICE, HN_CHECK_ABSENT };

struct hn_check {
    char name[32], text[256], advice[256]; // advice: "" where there is nothing to do
    enum hn_check_state state;
};

struct hn_checkup {
    struct hn_check check[32]; // as many as are ever added
    int n;
    double noise; // measured A against A, a share; NaN: not measured
};

// advice: NULL = none, and the state is fine. Returns the check, whose state may be changed.
struct hn_check *hn_checkup_add(struct hn_checkup *c, const char *name, const char *advice,
                                const char *fmt, ...) HN_PRINTF(4, 5);

// Processor, BLAS, threads, limits of the control group, clock, frequency, pages, counters.
void hn_checkup_host(struct hn_checkup *c, int threads);

#endif
