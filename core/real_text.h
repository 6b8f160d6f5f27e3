// SPDX-License-Identifier: GPL-3.0-or-later
// Text of a real number.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// The shortest decimal text that reads back as exactly v ("0.1", "1e-05", "nan"), in every locale.
struct hn_shortest {
    char text[32];
};
struct hn_shortest hn_real_text(double v);

// True if strtod() would read the number as hexadecimal ("0x10"), which no file of numbers means.
bool hn_is_hex(const char *text);

// So many digits behind the point, "+0.50" with `sign`, else "0.50"; what rounds to 0 has no sign.
struct hn_rounded {
    char text[352]; // the longest double, and some digits
};
struct hn_rounded hn_rounded(double value, int digits, bool sign);
