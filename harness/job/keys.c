#include "harness/job/keys.h"
#include "core/options/option.h"

#include <inttypes.h>

void hn_key_add_int(struct hn_digest *d, int64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    hn_digest_add_text(d, text);
}

void hn_key_add_ints(struct hn_digest *d, const int64_t *value, int64_t n) {
    hn_key_add_int(d, n);
    for (int64_t i = 0; i < n; i++)
        hn_key_add_int(d, value[i]);
}

void hn_key_add_real(struct hn_digest *d, double value) {
    char text[64];
    hn_real_text(value, text, sizeof text);
    hn_digest_add_text(d, text);
}
