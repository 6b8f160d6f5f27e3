// SPDX-License-Identifier: GPL-3.0-or-later
// SHA-256 (nettle) as lower-case hexadecimal text. Numbers that make up a key go in as spelt-out
// text, so that a key depends neither on the layout of memory nor on the machine; long arrays of
// data go in as bytes.
#pragma once

#include <nettle/sha2.h>
#include <stddef.h>
#include <stdint.h>

enum { HN_DIGEST_TEXT = 65 };

struct hn_digest {
    struct sha256_ctx sha;
};

void hn_digest_begin(struct hn_digest *d);
void hn_digest_add(struct hn_digest *d, const void *data, size_t bytes);
// Length, then bytes: so that two texts never run into each other.
void hn_digest_add_text(struct hn_digest *d, const char *text);
void hn_digest_add_int(struct hn_digest *d, int64_t value);
void hn_digest_add_ints(struct hn_digest *d, const int64_t *value, int64_t n); // n, then the values
void hn_digest_add_real(struct hn_digest *d, double value); // the shortest text that reads back
void hn_digest_end(struct hn_digest *d, char text[HN_DIGEST_TEXT]);
