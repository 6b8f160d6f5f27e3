#include "core/real_text.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REAL_MAX = 32 };

// Of printf's %.1g to %.17g the shortest that reads back equal; the longer digits win ties, so that
// 10000 is not written 1e+04.
static void shortest(double v, char best[REAL_MAX], locale_t c_locale) {
    char text[REAL_MAX];
    snprintf(best, REAL_MAX, "%.17g", v);
    for (int digits = 16; digits > 0; digits--) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod_l(text, NULL, c_locale) == v && strlen(text) < strlen(best))
            memcpy(best, text, sizeof text);
    }
}

int hn_real_text(double v, char *buffer, size_t size) {
    char best[REAL_MAX];
    if (isnan(v)) // its sign, which printf shows, means nothing
        return snprintf(buffer, size, "nan");
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = uselocale(c_locale);
    shortest(v, best, c_locale);
    uselocale(before);
    freelocale(c_locale);
    return snprintf(buffer, size, "%s", best);
}

struct hn_rounded hn_rounded(double value, int digits, bool sign) {
    struct hn_rounded r;
    snprintf(r.text, sizeof r.text, sign ? "%+.*f" : "%.*f", digits, value);
    if (strspn(r.text, "+-0.") == strlen(r.text))
        snprintf(r.text, sizeof r.text, "%.*f", digits, 0.0);
    return r;
}
