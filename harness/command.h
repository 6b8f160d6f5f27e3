// Sub-commands: one constant struct per command at the end of its file, listed in main.c.
#ifndef HN_HARNESS_COMMAND_H
#define HN_HARNESS_COMMAND_H

#include "core/option.h"
#include <stdio.h>

// Options that every command has (--help, --version, --quiet, --verbose, --json where `json`).
struct hn_common {
    bool quiet, verbose, json, help, version;
    int argc; // the full command line, for provenance
    char **argv;
};

struct hn_command {
    const char *name;
    const char *usage;               // "hardneg run -c JOB [-o DIR] ..."
    const char *summary;             // one line
    const char *details;             // a paragraph or two for --help, with an example
    const struct hn_option *options; // own options, never NULL
    size_t params_size;
    bool json;              // takes --json
    int min_args, max_args; // positional arguments
    // params are filled from options; args[n_args] are the positional arguments. Data go to stdout,
    // everything else to stderr. Errors are recorded in ctx, main prints them.
    enum hn_code (*run)(struct hn_context *ctx, const struct hn_common *common, void *params,
                        int n_args, const char **args);
};

extern const struct hn_command hn_cmd_run, hn_cmd_validate, hn_cmd_info, hn_cmd_list, hn_cmd_synth,
    hn_cmd_import, hn_cmd_plot, hn_cmd_bench, hn_cmd_sample;

#endif
