// SPDX-License-Identifier: GPL-3.0-or-later
// Values of options as texts and stored columns.
#pragma once

#include "core/options/option.h"

struct hn_phrase; // core/text.h

// Writes the value as canonical text (same value, same text: reals in the shortest form that reads
// back equal; unset: ""), and returns its length as snprintf does.
int hn_option_text(const struct hn_option *option, const void *params, char *buffer, size_t size);
// "K=100, M=500, alpha=0.2~0.05": all options that are set, sorted by name. Owned by the caller.
HN_MUST_USE char *hn_options_text(struct hn_context *ctx, const struct hn_option *table,
                                  const void *params);
// One option of such a text: text[0 .. length).
struct hn_option_part {
    const char *text;
    size_t length;
};
// The next one of `rest`, which moves on; false at the end.
bool hn_option_next(const char **rest, struct hn_option_part *o);
// True if it is in the text, with the same value.
bool hn_option_has(const char *params, struct hn_option_part wanted);
// "K" of "K=100"; and the value of an option, "" if it is not there.
struct hn_phrase hn_option_name(struct hn_option_part o);
struct hn_phrase hn_option_value(const char *params, const char *option);
