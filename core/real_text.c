// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers as texts: the shortest that reads back equal, or of so many digits.
#include "core/real_text.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The shortest of printf's %.1g to %.17g that reads back equal; the longer digits win ties, so that
// 10000 is not written 1e+04.
static struct hn_shortest shortest(double v, locale_t c_locale) {
    struct hn_shortest best, other;
    snprintf(best.text, sizeof best.text, "%.17g", v);
    for (int digits = 16; digits > 0; digits--) {
        snprintf(other.text, sizeof other.text, "%.*g", digits, v);
        if (strtod_l(other.text, NULL, c_locale) == v && strlen(other.text) < strlen(best.text))
            best = other;
    }
    return best;
}

struct hn_shortest hn_real_text(double v) {
    if (isnan(v)) // its sign, which printf shows, means nothing
        return (struct hn_shortest){"nan"};
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = uselocale(c_locale);
    struct hn_shortest best = shortest(v, c_locale);
    uselocale(before);
    freelocale(c_locale);
    return best;
}

bool hn_is_hex(const char *text) {
    text += strspn(text, " \t\n\v\f\r");
    text += *text == '+' || *text == '-';
    return text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

struct hn_rounded hn_rounded(double value, int digits, bool sign) {
    struct hn_rounded r;
    snprintf(r.text, sizeof r.text, sign ? "%+.*f" : "%.*f", digits, value);
    if (strspn(r.text, "+-0.") == strlen(r.text))
        snprintf(r.text, sizeof r.text, "%.*f", digits, 0.0);
    return r;
}
