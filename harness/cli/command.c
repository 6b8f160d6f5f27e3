// SPDX-License-Identifier: GPL-3.0-or-later
// The commands of the program, and what all of them share.
#include "harness/cli/command.h"

#include "core/files.h"
#include "core/text.h"
#include "harness/host/memory.h"

#include "results/cell_file.h"
#include "results/merge.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

const struct hn_command *const hn_commands[] = {
    &hn_cmd_import,     &hn_cmd_run,    &hn_cmd_report,
    &hn_cmd_choose,     &hn_cmd_plot,   &hn_cmd_export,
    &hn_cmd_paper,      &hn_cmd_sheet,  &hn_cmd_merge,
    &hn_cmd_compare,    &hn_cmd_ab,     &hn_cmd_board,
    &hn_cmd_mine,       &hn_cmd_price,  &hn_cmd_evaluate,
    &hn_cmd_overlap,    &hn_cmd_train,  &hn_cmd_sample,
    &hn_cmd_reproduce,  &hn_cmd_info,   &hn_cmd_validate,
    &hn_cmd_synth,      &hn_cmd_status, &hn_cmd_list,
    &hn_cmd_bench,      &hn_cmd_doctor, &hn_cmd_man,
    &hn_cmd_completion, NULL,
};

const struct hn_exit hn_exits[] = {
    {0, "done"},
    {1, "a gate failed, cells of the baseline are missing, or a limit is passed"},
    {2, "error in the command line, the job file or the plan (K > M)"},
    {3, "bad input data (also a batch larger than the data)"},
    {4, "some cells failed, or parts are missing; the others are in the results"},
    {5, "nothing comparable, no baseline, or nothing shown; not counted as a pass"},
    {6, "gnuplot is missing or failed; scripts and data of the figures are kept"},
    {70, "internal error, or out of memory"},
    {74, "the output could not be written"},
    {130, "interrupted; finished cells are kept"},
    {141, "standard output was closed (SIGPIPE), as by | head"},
    {0, NULL},
};

const struct hn_option hn_memory_options[] = {
    {HN_MEMORY_OPTION(struct hn_memory_params, " (default: what the machine has)")}, {0}};

void hn_limit_memory(struct hn_context *ctx, const struct hn_call *call) {
    const struct hn_memory_params *p = call->params;
    hn_host_limit_data(ctx, p->memory, 1);
}

const struct hn_option hn_no_options[] = {
    {0},
};

static const struct hn_option common_options[] = {
    {HN_BOOL_OPTION(struct hn_call, quiet, "quiet", NULL, "print errors only"), .letter = 'q'},
    {HN_BOOL_OPTION(struct hn_call, verbose, "verbose", NULL, "say more"), .letter = 'v'},
    {HN_BOOL_OPTION(struct hn_call, help, "help", NULL, "show this help"), .letter = 'h'},
    {HN_BOOL_OPTION(struct hn_call, version, "version", NULL, "show the version")},
    {HN_BOOL_OPTION(struct hn_call, json, "json", NULL,
                    "print one JSON document on standard output")},
    {0},
};
enum { COMMON = sizeof common_options / sizeof common_options[0] - 1 };

enum hn_code hn_set_seed(struct hn_context *ctx, const struct hn_text_list *set, int64_t seed,
                         struct hn_text_list *out) {
    *out = *set;
    if (seed == INT64_MIN)
        return HN_OK;
    if (!HN_ALLOC(ctx, out->item, set->count + 1))
        return ctx->code;
    for (int64_t i = 0; i < set->count; i++)
        out->item[i] = set->item[i];
    out->item[out->count] = hn_format(ctx, "seeds=%" PRId64, seed);
    return out->item[out->count++] ? HN_OK : ctx->code;
}

void hn_command_options(const struct hn_command *command, size_t shift,
                        struct hn_option table[HN_COMMAND_OPTIONS]) {
    int n = 0;
    for (const struct hn_option *o = command->options;
         o->name && n < HN_COMMAND_OPTIONS - COMMON - 1; o++)
        table[n++] = *o;
    for (int i = 0; i < COMMON; i++) {
        if (strcmp(common_options[i].name, "json") == 0 && !command->json)
            continue;
        table[n] = common_options[i];
        table[n++].offset += shift;
    }
    table[n] = (struct hn_option){.name = NULL};
}

enum hn_code hn_command_run(struct hn_context *ctx, const struct hn_command *command,
                            const struct hn_call *call) {
    HN_SCOPE(ctx);
    return command->run(ctx, call);
}

int64_t hn_name_find(struct hn_context *ctx, const char *what, const char *word,
                     const char *const *names, int64_t n, const char *hint) {
    for (int64_t i = 0; i < n; i++)
        if (strcmp(word, names[i]) == 0)
            return i;
    const char *meant = hn_suggest(word, names, n);
    (void)hn_fail(ctx, HN_USAGE, "unknown %s '%s'%s%s%s%s", what, hn_quote(word).text,
                  meant ? " (did you mean '" : "", meant ? meant : "", meant ? "'?)" : "", hint);
    return -1;
}

const struct hn_command *hn_command_find(struct hn_context *ctx, const char *word) {
    enum { COMMANDS = sizeof hn_commands / sizeof hn_commands[0] - 1 };
    const char *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++)
        names[i] = hn_commands[i]->name;
    int64_t found =
        hn_name_find(ctx, "command", word, names, COMMANDS, "; `hardneg --help` lists them");
    return found < 0 ? NULL : hn_commands[found];
}

char *hn_results_path(struct hn_context *ctx, const char *argument) {
    struct stat about;
    size_t length = strlen(argument);
    if (stat(argument, &about) != 0 || !S_ISDIR(about.st_mode))
        return hn_strdup(ctx, argument);
    while (length > 1 && argument[length - 1] == '/')
        length--;
    char *path = hn_format(ctx, "%.*s/results.h5", (int)length, argument),
         *cells = hn_format(ctx, "%s/cells", argument);
    if (path && cells && stat(path, &about) != 0 && stat(cells, &about) == 0 &&
        !hn_cell_plan_is_there(argument)) {
        (void)hn_fail(ctx, HN_DATA,
                      "%s: has no results.h5: its run has not ended; give its command again, "
                      "finished cells are kept",
                      argument);
        return NULL;
    }
    return cells ? path : NULL;
}

enum hn_code hn_results_load(struct hn_context *ctx, const char *path, struct hn_results *out) {
    const char *name = hn_base_name(path);
    char *folder =
        name == path ? hn_strdup(ctx, ".") : hn_format(ctx, "%.*s", (int)(name - path - 1), path);
    if (!folder)
        return ctx->code;
    struct stat about;
    bool unfinished = strcmp(name, "results.h5") == 0 && hn_cell_plan_is_there(folder);
    bool there = stat(path, &about) == 0;
    if (unfinished && there)
        hn_note(ctx, "%s is of a run before the last one, which has not ended: its command goes on",
                path);
    if (!unfinished || there)
        return hn_results_read(ctx, path, out);
    if (hn_cell_plan_read(ctx, folder, out))
        return ctx->code;
    const struct hn_merge_share share = hn_merge_share_of(out);
    hn_note(ctx,
            "%s: %" PRId64 " of %s: its run goes on, or was interrupted, and its command goes on "
            "with the rest",
            folder, share.cells, hn_counted(share.of, "cell").text);
    return HN_OK;
}

enum hn_code hn_results_open(struct hn_context *ctx, const char *argument, struct hn_results *out) {
    char *path = hn_results_path(ctx, argument);
    return path ? hn_results_load(ctx, path, out) : ctx->code;
}
