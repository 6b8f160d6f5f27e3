// Sub-commands: one constant struct per command at the end of its file, listed in main.c.
#ifndef HN_HARNESS_CLI_COMMAND_H
#define HN_HARNESS_CLI_COMMAND_H

#include "core/options/option.h"
#include "results/store.h"

#include <math.h>
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

// Options that several commands have, at a field of their parameters; `more` is joined to the help.
#define HN_OPTION_THREADS(type, more)                                                              \
    {                                                                                              \
        .name = "threads", .kind = HN_OPTION_INT, .metavar = "N", .min = 1, .max = 4096,           \
        .offset = offsetof(type, threads), .help = "threads (default: all there are)" more         \
    }
#define HN_OPTION_MEMORY(type, more)                                                               \
    {                                                                                              \
        .name = "memory", .kind = HN_OPTION_SIZE, .metavar = "SIZE", .max = INFINITY,              \
        .offset = offsetof(type, memory), .help = "most memory for data, e.g. 4GiB" more           \
    }
#define HN_OPTION_JOB_SEED(type)                                                                   \
    {                                                                                              \
        .name = "seed", .kind = HN_OPTION_INT, .metavar = "S", .max = INFINITY,                    \
        .offset = offsetof(type, seed), .help = "replace the job's seeds by this one"              \
    }

extern const struct hn_option hn_no_options[];

// All commands, NULL-terminated: the program, its manual page and the completion read this list.
extern const struct hn_command *const hn_commands[];
const struct hn_command *hn_command_find(struct hn_context *ctx, const char *word); // as below

// The index of a word in names[n]; -1 (HN_USAGE) with "unknown WHAT 'WORD'", the name that was
// probably meant, and a hint where all of them are found.
int64_t hn_name_find(struct hn_context *ctx, const char *what, const char *word,
                     const char *const *names, int64_t n, const char *hint);

// A results file, or that of the folder of a run; the path is owned by the caller.
HN_MUST_USE char *hn_results_path(struct hn_context *ctx, const char *argument);
HN_MUST_USE enum hn_code hn_results_open(struct hn_context *ctx, const char *argument,
                                         struct hn_results *out);

// The options of a command, ended by a NULL name: its own, and those that every command has, whose
// fields are those of a struct hn_common that lies `shift` bytes behind the command's parameters.
enum { HN_COMMAND_OPTIONS = 64 };
void hn_command_options(const struct hn_command *command, size_t shift,
                        struct hn_option table[HN_COMMAND_OPTIONS]);

// The full command line, for provenance, owned by the caller; and the same put into results, as
// attribute argv.
HN_MUST_USE char *hn_command_line(struct hn_context *ctx, const struct hn_common *common);
HN_MUST_USE enum hn_code hn_command_describe(struct hn_context *ctx, const struct hn_common *common,
                                             struct hn_results *results);

// What the exit codes mean, ended by a NULL meaning.
struct hn_exit {
    int code;
    const char *meaning;
};
extern const struct hn_exit hn_exits[];

extern const struct hn_command hn_cmd_run, hn_cmd_validate, hn_cmd_info, hn_cmd_list, hn_cmd_synth,
    hn_cmd_import, hn_cmd_plot, hn_cmd_bench, hn_cmd_sample, hn_cmd_report, hn_cmd_compare,
    hn_cmd_export, hn_cmd_merge, hn_cmd_ab, hn_cmd_doctor, hn_cmd_reproduce, hn_cmd_train,
    hn_cmd_man, hn_cmd_completion;

#endif
