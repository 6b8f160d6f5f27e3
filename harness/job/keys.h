// Keys of work (cells, trainings): digests of spelt-out text, so that they depend neither on the
// layout of memory nor on the machine. Texts go in with hn_digest_add_text().
#ifndef HN_HARNESS_JOB_KEYS_H
#define HN_HARNESS_JOB_KEYS_H

#include "core/digest.h"
#include <stdint.h>

void hn_key_add_int(struct hn_digest *d, int64_t value);
void hn_key_add_ints(struct hn_digest *d, const int64_t *value, int64_t n); // n, then the values
void hn_key_add_real(struct hn_digest *d, double value); // the shortest text that reads back equal

#endif
