// SPDX-License-Identifier: GPL-3.0-or-later
// Sub-commands: one constant struct per command at the end of its file, listed in command.c.
#pragma once

#include "core/options/option.h"
#include "plots/page/figure.h"
#include "results/store.h"

#include <math.h>

// One call of a command: the options that every command has (--json where `json`), and the rest.
struct hn_call {
    bool quiet, verbose, json, help, version;
    int n_args;
    char *line; // the full command line, for provenance
    int argc;   // and its words
    char **argv;
    const char **args; // [n_args] positional arguments
    void *params;      // of the command, filled from its options
};

// Headings of the general help, in its order.
enum hn_command_group {
    HN_GROUP_NONE, // of no command
    HN_GROUP_START,
    HN_GROUP_RESULTS,
    HN_GROUP_RETRIEVAL,
    HN_GROUP_TRAINING,
    HN_GROUP_DATA,
    HN_GROUP_PROGRAM,
    HN_GROUPS
};

struct hn_command {
    const char *name;
    enum hn_command_group group;
    const char *usage;               // "hardneg run -c JOB [-o DIR] ..."
    const char *summary;             // one line
    const char *details;             // a paragraph for --help
    const char *examples;            // what to type, one on a line; NULL = none
    const struct hn_option *options; // own options, never NULL
    size_t params_size;
    bool json;              // takes --json
    int min_args, max_args; // positional arguments
    bool takes_names;       // these are names of what the program has, not of files
    // Data go to stdout, everything else to stderr. Errors are recorded in ctx, main prints them.
    // Memory that it allocates is freed after it; files and processes are its own to close.
    enum hn_code (*run)(struct hn_context *ctx, const struct hn_call *call);
};
HN_MUST_USE enum hn_code hn_command_run(struct hn_context *ctx, const struct hn_command *command,
                                        const struct hn_call *call);

// The value of an option without a default, or what holds where it is not given.
static inline int64_t hn_given(int64_t value, int64_t otherwise) {
    return value == INT64_MIN ? otherwise : value;
}

// Options whose values are of a kind that --help names.
#define HN_FILE_OPTION(...) HN_TEXT_OPTION(__VA_ARGS__), .metavar = "FILE"
#define HN_FILES_OPTION(...) HN_LIST_OPTION(__VA_ARGS__), .metavar = "FILE"
#define HN_FOLDER_OPTION(...) HN_TEXT_OPTION(__VA_ARGS__), .metavar = "DIR"
#define HN_WORDS_OPTION(...) HN_TEXT_OPTION(__VA_ARGS__), .metavar = "TEXT"
#define HN_COUNT_OPTION(...) HN_INT_OPTION(__VA_ARGS__), .metavar = "N"
// Options that several commands have, at a field of their parameters; `more` is joined to the help.
#define HN_THREADS_OPTION(type, more)                                                              \
    HN_INT_OPTION(type, threads, "threads", NULL, 1, HN_THREADS_MAX,                               \
                  "threads (default: all)" more),                                                  \
        .metavar = "N"
#define HN_MEMORY_OPTION(type, more)                                                               \
    HN_SIZE_OPTION(type, memory, "memory", NULL, 0, INFINITY,                                      \
                   "maximum memory for data, e.g. 4GiB" more),                                     \
        .metavar = "SIZE"
#define HN_STEP_OPTION(type)                                                                       \
    HN_INT_OPTION(type, step, "step", NULL, 0, INFINITY,                                           \
                  "step of the series (default: the last)"),                                       \
        .letter = 's', .metavar = "STEP"
#define HN_JOB_SEED_OPTION(type)                                                                   \
    HN_INT_OPTION(type, seed, "seed", NULL, 0, INFINITY, "short for --set seeds=S"), .metavar = "S"
#define HN_WORKERS_OPTION(type, what)                                                              \
    HN_INT_OPTION(type, workers, "workers", NULL, 1, HN_PROCESSES_MAX,                             \
                  what " trained at the same time, which share the threads; with 1 each is alone " \
                       "(default: one for each thread that has 2 GiB of memory)"),                 \
        .metavar = "N"
#define HN_FRESH_HELP                                                                              \
    "recompute results that another program left in DIR (the default where CI=true)"
#define HN_CONFIG_OPTION(type, help)                                                               \
    HN_TEXT_OPTION(type, job, "config", help), .letter = 'c', .metavar = "JOB"
#define HN_OUTPUT_OPTION(type, value, help)                                                        \
    HN_TEXT_OPTION(type, output, "output", help), .letter = 'o', .metavar = value, .writes = true
#define HN_SET_OPTION(type, help) HN_LIST_OPTION(type, set, "set", help), .metavar = "KEY=VALUE"

extern const struct hn_option hn_no_options[]; // of commands that have none of their own
// For commands that read a file and have no other option: sets the limit, by default the machine's.
struct hn_memory_params {
    int64_t memory;
};
extern const struct hn_option hn_memory_options[];
void hn_limit_memory(struct hn_context *ctx, const struct hn_call *call);

// All commands, NULL-terminated: the program, its manual page and the completion read this list.
extern const struct hn_command *const hn_commands[];
const struct hn_command *hn_command_find(struct hn_context *ctx, const char *word); // as below

// The values that replace the job's, with "seeds=SEED" behind them unless it is INT64_MIN: so the
// job that is stored is the one that ran.
HN_MUST_USE enum hn_code hn_set_seed(struct hn_context *ctx, const struct hn_text_list *set,
                                     int64_t seed, struct hn_text_list *out);

// The index of a word in names[n]; -1 (HN_USAGE) with "unknown WHAT 'WORD'", the name that was
// probably meant, and a hint where all of them are found.
int64_t hn_name_find(struct hn_context *ctx, const char *what, const char *word,
                     const char *const *names, int64_t n, const char *hint);

// A results file, or that of the folder of a run; the path is owned by the caller.
HN_MUST_USE char *hn_results_path(struct hn_context *ctx, const char *argument);
// Reads what hn_results_path() gave; of a run that goes on or was interrupted the cells that are
// finished, and a note says how many.
HN_MUST_USE enum hn_code hn_results_load(struct hn_context *ctx, const char *path,
                                         struct hn_results *out);
HN_MUST_USE enum hn_code hn_results_open(struct hn_context *ctx, const char *argument,
                                         struct hn_results *out);

// The options of a command, ended by a NULL name: its own, and those that every command has, whose
// fields are those of a struct hn_call that lies `shift` bytes behind the command's parameters.
enum { HN_COMMAND_OPTIONS = 64 };
void hn_command_options(const struct hn_command *command, size_t shift,
                        struct hn_option table[HN_COMMAND_OPTIONS]);

// Meanings of the exit codes, ended by a NULL meaning.
struct hn_exit {
    int code;
    const char *meaning;
};
extern const struct hn_exit hn_exits[];

extern const struct hn_command hn_cmd_run, hn_cmd_validate, hn_cmd_info, hn_cmd_list, hn_cmd_synth,
    hn_cmd_import, hn_cmd_plot, hn_cmd_paper, hn_cmd_sheet, hn_cmd_bench, hn_cmd_board,
    hn_cmd_sample, hn_cmd_report, hn_cmd_compare, hn_cmd_export, hn_cmd_merge, hn_cmd_ab,
    hn_cmd_doctor, hn_cmd_reproduce, hn_cmd_train, hn_cmd_choose, hn_cmd_man, hn_cmd_completion,
    hn_cmd_mine, hn_cmd_evaluate, hn_cmd_price, hn_cmd_overlap, hn_cmd_status;
