// SPDX-License-Identifier: GPL-3.0-or-later
// Readers of texts that users write: claims, training jobs, labels of an import, options.
#pragma once

#include <stddef.h>
#include <stdint.h>

// A claim file; claims that are accepted are judged on results that were made up.
void hn_fuzz_claims(const uint8_t *data, size_t size);
// A training job: what is accepted is written out resolved, and that text stands for the same job.
void hn_fuzz_train(const uint8_t *data, size_t size);
// Labels, their names and groups, as `import` takes them, in parts that a byte 0xff ends.
void hn_fuzz_labels(const uint8_t *data, size_t size);
// A sampler, a gate and the texts of a sheet's items, likewise.
void hn_fuzz_words(const uint8_t *data, size_t size);
