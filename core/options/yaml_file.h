// SPDX-License-Identifier: GPL-3.0-or-later
// YAML files, and overrides of what they say.
#pragma once

#include "core/options/yaml.h"

// The tree of a file, or of a text, whose root is a mapping. what: "job file", for messages. set:
// overrides "key=value", or NULL: the value is YAML, the key dotted where it is nested
// ("timing.reps=3"), and what is there is replaced; errors name "--set key=value".
HN_MUST_USE enum hn_code hn_yaml_read(struct hn_context *ctx, const char *what, const char *path,
                                      const struct hn_text_list *set, struct hn_yaml **root);
HN_MUST_USE enum hn_code hn_yaml_read_text(struct hn_context *ctx, const char *what,
                                           const char *name, const char *text, int64_t length,
                                           struct hn_yaml **root);

// Overrides in a tree that was read.
HN_MUST_USE enum hn_code hn_yaml_override(struct hn_context *ctx, const struct hn_text_list *set,
                                          struct hn_yaml *root);
