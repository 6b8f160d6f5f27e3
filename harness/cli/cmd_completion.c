// `hardneg completion`: what a shell needs to complete commands, options and their values, made
// from the tables that the program itself reads.
#include "harness/cli/command.h"

#include <string.h>

// Words that a command takes as arguments, where they are not files.
static const char *argument_words(const char *command) {
    if (strcmp(command, "list") == 0)
        return "samplers losses weightings metrics tasks figures formats";
    return strcmp(command, "completion") == 0 ? "bash zsh" : "";
}

static void options_of(const struct hn_command *command, struct hn_option *table) {
    hn_command_options(command, 0, table);
}

static void print_flags(const struct hn_command *command) {
    struct hn_option table[HN_COMMAND_OPTIONS];
    options_of(command, table);
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

static enum hn_code run(struct hn_context *ctx, const struct hn_call *call) {
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
    .usage = "hardneg completion bash|zsh",
    .summary = "print the completion of a shell",
    .details = "`make install` puts both in place; without it:",
    .examples = "source <(hardneg completion bash)",
    .options = hn_no_options,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
