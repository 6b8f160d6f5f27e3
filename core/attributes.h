// SPDX-License-Identifier: GPL-3.0-or-later
// Attributes of functions.
#pragma once

#define HN_MUST_USE __attribute__((warn_unused_result))
#define HN_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
