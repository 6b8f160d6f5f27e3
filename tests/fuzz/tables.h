// SPDX-License-Identifier: GPL-3.0-or-later
// What is done with results that were read: compared, merged, drawn, written as pages and tables,
// judged. The bytes say which of it, and of which results (tests/fuzz/made.h).
#pragma once

#include <stddef.h>
#include <stdint.h>

void hn_fuzz_tables(const uint8_t *data, size_t size);
