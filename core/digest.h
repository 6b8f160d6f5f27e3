// SHA-256 (nettle) as lower-case hexadecimal text.
#ifndef HN_CORE_DIGEST_H
#define HN_CORE_DIGEST_H

#include <nettle/sha2.h>
#include <stddef.h>

enum { HN_DIGEST_TEXT = 65 };

struct hn_digest {
    struct sha256_ctx sha;
};

void hn_digest_begin(struct hn_digest *d);
void hn_digest_add(struct hn_digest *d, const void *data, size_t bytes);
// Length, then bytes: so that two texts never run into each other.
void hn_digest_add_text(struct hn_digest *d, const char *text);
void hn_digest_end(struct hn_digest *d, char text[HN_DIGEST_TEXT]);

#endif
