// SPDX-License-Identifier: GPL-3.0-or-later
// Where code looks whether it is to stop, so that each place finds once that it is. For suites that
// the linker gives --wrap=hn_check_stop.
#pragma once

#include "core/context.h"

enum { PLACES_MAX = 1024 };
static const void *place[PLACES_MAX]; // [places] that were met while `noting`
static int places, stop_at = -1;      // -1: none; else the place before whose look ask() is called
static bool noting;
static void ask(void); // the suite's: asks whatever runs to stop

enum hn_code __real_hn_check_stop(struct hn_context *ctx);
enum hn_code __wrap_hn_check_stop(struct hn_context *ctx);
enum hn_code __wrap_hn_check_stop(struct hn_context *ctx) {
    const void *from = __builtin_return_address(0);
    int i = 0;
    while (i < places && place[i] != from)
        i++;
    if (i == places && noting && places < PLACES_MAX)
        place[places++] = from;
    if (i == stop_at)
        ask();
    return __real_hn_check_stop(ctx);
}
