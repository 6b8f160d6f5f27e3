// SPDX-License-Identifier: GPL-3.0-or-later
// Calls of the library in any order, with any arguments that a caller may give by mistake.
#pragma once

#include <stddef.h>
#include <stdint.h>

// The bytes say which calls. Ends the process where one breaks a promise of library/hardneg.h.
void hn_fuzz_library(const uint8_t *data, size_t size);
