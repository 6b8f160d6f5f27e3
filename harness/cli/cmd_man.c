// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg man` and `hardneg completion`: the manual page, and what a shell needs to complete
// commands, options and their values; made from the tables that the program itself reads.
#include "core/options/option_argv.h"
#include "core/text.h"
#include "harness/cli/command.h"
#include "harness/host/host.h"

#include <string.h>

// Text for roff: a backslash, a hyphen and a line that begins with a dot or a quote mean
// themselves.
static void put_text(const char *text) {
    bool line_start = true;
    for (; *text; text++) {
        char c = *text;
        if (line_start && (c == '.' || c == '\''))
            fputs("\\&", stdout);
        if (c == '\\')
            fputs("\\e", stdout);
        else if (c == '-')
            fputs("\\-", stdout);
        else
            putchar(c);
        line_start = c == '\n';
    }
}

static void put_option(const struct hn_option *o) {
    puts(".TP");
    fputs(".B ", stdout);
    if (o->letter)
        printf("\\-%c, ", o->letter);
    fputs("\\-\\-", stdout);
    put_text(o->name);
    if (o->kind != HN_OPTION_BOOL)
        printf(" \\fI%s\\fR", o->metavar ? o->metavar : "VALUE");
    putchar('\n');
    put_text(hn_option_summary(o).text);
    putchar('\n');
}

static void put_command(const struct hn_command *command) {
    printf(".SS %s\n", command->name);
    put_text(command->summary);
    puts("\n.PP\n.nf\n.B");
    put_text(command->usage);
    puts("\n.fi\n.PP");
    put_text(command->details);
    puts("");
    if (command->examples) {
        puts(".IP\n.nf");
        put_text(command->examples);
        puts("\n.fi");
    }
    for (const struct hn_option *o = command->options; o->name; o++)
        put_option(o);
}

static void put_common(void) {
    const struct hn_command none = {.options = hn_no_options, .json = true};
    struct hn_option table[HN_COMMAND_OPTIONS];
    hn_command_options(&none, 0, table);
    puts(".SH OPTIONS OF EVERY COMMAND");
    for (const struct hn_option *o = table; o->name; o++)
        put_option(o);
}

static void put_exits(void) {
    puts(".SH EXIT STATUS");
    for (const struct hn_exit *e = hn_exits; e->meaning; e++) {
        printf(".TP\n.B %d\n", e->code);
        put_text(e->meaning);
        putchar('\n');
    }
}

static void put_environment(void) {
    static const struct {
        const char *name, *meaning;
    } variables[] = {
        {"OPENBLAS_CORETYPE", "kernel of the matrix products; unset, the program chooses by itself "
                              "where OpenBLAS would take a slow one"},
        {"HN_SCREEN", "off: compute every product of a sweep, without a screen of rounded ones; or "
                      "the name of its kernel; the results are the same"},
        {"OMP_NUM_THREADS", "threads, unless --threads says"},
        {"NO_COLOR", "no colour on a terminal"},
        {"TMPDIR", "folder for temporary files, /tmp unless set"},
    };
    puts(".SH ENVIRONMENT");
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        printf(".TP\n.B %s\n", variables[i].name);
        put_text(variables[i].meaning);
        putchar('\n');
    }
}

static enum hn_code run_man(struct hn_context *ctx, const struct hn_call *call) {
    (void)ctx, (void)call;
    printf(".TH HARDNEG 1 \"\" \"hardneg %s\" \"User Commands\"\n", hn_version);
    puts(".SH NAME\nhardneg \\- a yardstick for mini\\-batch and negative samplers in contrastive "
         "learning");
    puts(".SH SYNOPSIS\n.B hardneg\n.I COMMAND\n.RI [ OPTIONS ]");
    puts(".SH DESCRIPTION\nRuns samplers of mini\\-batches and negatives on labelled embedding "
         "snapshots, and\nsays how hard the batches are, how many false negatives they hold, how "
         "much of the data\nthey cover and what they cost. Data go to standard output, everything "
         "else to standard error.");
    puts(".SH COMMANDS");
    for (const struct hn_command *const *c = hn_commands; *c; c++)
        put_command(*c);
    put_common();
    put_exits();
    put_environment();
    puts(".SH SEE ALSO\n.BR gnuplot (1),\n.BR h5dump (1)");
    return HN_OK;
}

const struct hn_command hn_cmd_man = {
    .name = "man",
    .group = HN_GROUP_PROGRAM,
    .usage = "hardneg man",
    .summary = "print the manual page, in roff",
    .details = "`make install` puts it in place.",
    .examples = "hardneg man | man -l -",
    .options = hn_no_options,
    .run = run_man,
};

// Words that a command takes as arguments, where they are not files.
static const char *argument_words(const char *command) {
    if (strcmp(command, "list") == 0)
        return "samplers losses weightings metrics tasks figures formats sampler loss weighting "
               "metric task "
               "figure format";
    return strcmp(command, "completion") == 0 ? "bash zsh" : "";
}

static void print_flags(const struct hn_command *command) {
    struct hn_option table[HN_COMMAND_OPTIONS];
    hn_command_options(command, 0, table);
    for (const struct hn_option *o = table; o->name; o++) {
        printf(" --%s", o->name);
        if (o->letter)
            printf(" -%c", o->letter);
    }
}

// "    run:--term|run:-t) words=..." for options that take one of a few words.
static void print_choices(const struct hn_command *command, const char *assign) {
    for (const struct hn_option *o = command->options; o->name; o++) {
        if (o->kind != HN_OPTION_CHOICE)
            continue;
        printf("    %s:--%s) %s", command->name, o->name, assign);
        for (int i = 0; o->choices[i]; i++)
            printf("%s%s", i ? " " : "", o->choices[i]);
        printf("\" ;;\n");
    }
}

static void print_tables(void) {
    printf("_hardneg_words() {\n    case $1 in\n");
    for (const struct hn_command *const *c = hn_commands; *c; c++)
        print_choices(*c, "echo \"");
    printf("    esac\n}\n");
    printf("_hardneg_flags() {\n    case $1 in\n");
    for (const struct hn_command *const *c = hn_commands; *c; c++) {
        printf("    %s) echo \"", (*c)->name);
        printf("%s", argument_words((*c)->name));
        print_flags(*c);
        printf("\" ;;\n");
    }
    printf("    esac\n}\n");
    printf("_hardneg_commands=\"");
    for (const struct hn_command *const *c = hn_commands; *c; c++)
        printf("%s%s", c == hn_commands ? "" : " ", (*c)->name);
    printf("\"\n");
}

static void print_bash(void) {
    printf("# bash completion for hardneg\n");
    print_tables();
    fputs("_hardneg() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words\n"
          "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
          "        words=$_hardneg_commands\n"
          "    else\n"
          "        words=$(_hardneg_words \"${COMP_WORDS[1]}:$before\")\n"
          "        [ -n \"$words\" ] || words=$(_hardneg_flags \"${COMP_WORDS[1]}\")\n"
          "    fi\n"
          "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
          "}\n"
          "complete -o default -F _hardneg hardneg\n",
          stdout);
}

static void print_zsh(void) {
    printf("#compdef hardneg\n");
    print_tables();
    fputs("_hardneg() {\n"
          "    local found\n"
          "    if (( CURRENT == 2 )); then\n"
          "        compadd -- ${=_hardneg_commands}\n"
          "        return\n"
          "    fi\n"
          "    found=$(_hardneg_words \"${words[2]}:${words[CURRENT - 1]}\")\n"
          "    [[ -n $found ]] || found=$(_hardneg_flags \"${words[2]}\")\n"
          "    compadd -- ${=found}\n"
          "    _files\n"
          "}\n"
          "compdef _hardneg hardneg\n",
          stdout);
}

static enum hn_code run_completion(struct hn_context *ctx, const struct hn_call *call) {
    if (strcmp(call->args[0], "bash") == 0)
        print_bash();
    else if (strcmp(call->args[0], "zsh") == 0)
        print_zsh();
    else
        return hn_fail(ctx, HN_USAGE, "unknown shell '%s': bash or zsh", call->args[0]);
    return HN_OK;
}

const struct hn_command hn_cmd_completion = {
    .name = "completion",
    .group = HN_GROUP_PROGRAM,
    .usage = "hardneg completion bash|zsh",
    .summary = "print the completion of a shell",
    .details = "`make install` puts both in place; without it:",
    .examples = "source <(hardneg completion bash)",
    .options = hn_no_options,
    .min_args = 1,
    .max_args = 1,
    .run = run_completion,
};
