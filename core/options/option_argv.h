// SPDX-License-Identifier: GPL-3.0-or-later
// Options of a command line.
#pragma once

#include "core/options/option.h"

struct hn_phrase; // core/text.h

// Command line: parses argv[1..] into params by `table`; what is not an option is put into
// positional (a list borrowed from argv, space for argc). "--" ends options; "--name=value",
// "--name value",
// "-x value" and "-xvalue" are taken. HN_USAGE as hn_options_set.
HN_MUST_USE enum hn_code hn_options_argv(struct hn_context *ctx, const struct hn_option *table,
                                         void *params, int argc, char **argv,
                                         const char **positional, int *n_positional);

// One line about an option: its help, range and default.
struct hn_phrase hn_option_summary(const struct hn_option *option);

// The option part of a --help screen, aligned, at most 100 columns.
void hn_options_help(const struct hn_option *table, FILE *out);
