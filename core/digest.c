// SPDX-License-Identifier: GPL-3.0-or-later
// SHA-256 of values; texts go in with their lengths, so that "ab", "c" and "a", "bc" differ.
#include "core/digest.h"
#include "core/real_text.h"

#include <endian.h>
#include <inttypes.h>
#include <nettle/base16.h>
#include <nettle/version.h>
#include <stdio.h>
#include <string.h>

void hn_digest_begin(struct hn_digest *d) { sha256_init(&d->sha); }

void hn_digest_add(struct hn_digest *d, const void *data, size_t bytes) {
    sha256_update(&d->sha, bytes, data);
}

void hn_digest_add_text(struct hn_digest *d, const char *text) {
    uint64_t length = strlen(text), little = htole64(length);
    hn_digest_add(d, &little, sizeof little);
    hn_digest_add(d, text, length);
}

void hn_digest_add_int(struct hn_digest *d, int64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    hn_digest_add_text(d, text);
}

void hn_digest_add_ints(struct hn_digest *d, const int64_t *value, int64_t n) {
    hn_digest_add_int(d, n);
    for (int64_t i = 0; i < n; i++)
        hn_digest_add_int(d, value[i]);
}

void hn_digest_add_real(struct hn_digest *d, double value) {
    hn_digest_add_text(d, hn_real_text(value).text);
}

void hn_digest_end(struct hn_digest *d, char text[HN_DIGEST_TEXT]) {
    uint8_t sum[SHA256_DIGEST_SIZE];
#if NETTLE_VERSION_MAJOR >= 4
    sha256_digest(&d->sha, sum);
#else
    sha256_digest(&d->sha, sizeof sum, sum);
#endif
    base16_encode_update(text, sizeof sum, sum);
    text[HN_DIGEST_TEXT - 1] = '\0';
}
