// SPDX-License-Identifier: GPL-3.0-or-later
// The program: finds the command, parses its options, runs it, prints what went wrong, and gives
// the exit code.
#include "core/files.h"
#include "core/options/option_argv.h"
#include "core/sweep/screen.h"
#include "core/terminal.h"
#include "datasets/h5.h"
#include "harness/cli/command.h"
#include "harness/host/memory.h"
#include "harness/run/item.h"
#include "results/records.h"

#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// Signals that come this close to the first are one request: timeout(1) and many supervisors stop a
// whole group of processes, and signal its leader twice.
enum { SAME_REQUEST_MS = 500 };

// The only state a signal handler may touch.
static volatile sig_atomic_t stop_requested;
static _Atomic int64_t stop_requested_ms;

// jansson leaves out of a document what it has no memory for, and its callers do not look: a
// reserve keeps documents whole, until an output sees that some of it was taken, and is refused.
static _Atomic size_t json_lacked;
static _Alignas(max_align_t) char json_reserve[1 << 20];

static void *allocate_json(size_t size) {
    void *memory = malloc(size);
    if (memory)
        return memory;
    const size_t step = _Alignof(max_align_t);
    size_t at = atomic_fetch_add(&json_lacked, (size / step + 1) * step);
    if (at < sizeof json_reserve && size <= sizeof json_reserve - at)
        return json_reserve + at;
    static const char said[] = "hardneg: out of memory\n";
    (void)!write(STDERR_FILENO, said, sizeof said - 1);
    _exit(hn_exit_code(HN_MEMORY));
}

static void free_json(void *memory) {
    const char *at = memory;
    if (at < json_reserve || at >= json_reserve + sizeof json_reserve)
        free(memory);
}

// The first one asks to stop, a later one ends the program at once.
static void request_stop(int signal_number) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    if (!__atomic_load_n(&stop_requested, __ATOMIC_ACQUIRE)) {
        stop_requested_ms = ms;
        __atomic_store_n(&stop_requested, 1, __ATOMIC_RELEASE);
    } else if (ms - stop_requested_ms > SAME_REQUEST_MS) {
        signal(signal_number, SIG_DFL);
        raise(signal_number); // on return
    }
}

static void catch_signals(void) {
    static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = request_stop};
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
        sigaddset(&action.sa_mask, stops[i]);
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
        if (stops[i] != SIGHUP || signal(SIGHUP, SIG_IGN) != SIG_IGN) // nohup ignores it
            sigaction(stops[i], &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); // a limit on file sizes is a failed write, with a sentence
}

// A file that is opened later would take the number of a closed stream, and what is printed would
// go into it: the number is taken, so that using it fails.
static void hold_closed_streams(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

// True if the reader of standard output, `head` for example, has closed it.
static bool reader_gone(void) {
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) > 0 && out.revents & (POLLERR | POLLHUP);
}

// Flushes stdout; a write error fails. A closed pipe is not an error (*abandoned): the program ends
// by SIGPIPE after it has saved its results.
static enum hn_code finish_output(struct hn_context *ctx, bool *abandoned) {
    if (fflush(stdout) == 0 && !ferror(stdout))
        return hn_check_lacked(ctx);
    *abandoned = reader_gone();
    if (*abandoned)
        return HN_OK;
    if (hn_check_stop(ctx)) // while it waited for its reader
        return ctx->code;
    if ((fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) == O_RDONLY)
        return hn_fail(ctx, HN_IO,
                       "standard output is closed: send it to a terminal, a file or /dev/null");
    return hn_fail(ctx, HN_IO, "standard output could not be written: is the disk full?");
}

static int end_abandoned(void) {
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
    return 128 + SIGPIPE; // it is blocked
}

// With less stack a command would crash, or take a file for damaged on which the process that looks
// at it does.
static enum hn_code check_stack(struct hn_context *ctx) {
    enum { LEAST = 256 }; // KiB
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >> 10 >= LEAST)
        return HN_OK;
    return hn_fail(ctx, HN_USAGE,
                   "the stack is limited to %lld KiB: raise it (ulimit -s %d or more)",
                   (long long)stack.rlim_cur >> 10, LEAST);
}

static const char *const groups[HN_GROUPS] = {
    [HN_GROUP_START] = "start here",
    [HN_GROUP_RESULTS] = "results",
    [HN_GROUP_RETRIEVAL] = "retrieval: queries and a corpus",
    [HN_GROUP_TRAINING] = "training, and the papers",
    [HN_GROUP_DATA] = "data",
    [HN_GROUP_PROGRAM] = "the program",
};

static void print_usage(FILE *out) {
    fprintf(out,
            "hardneg %s: a yardstick for mini-batch and negative samplers in contrastive "
            "learning\n\nusage: hardneg COMMAND [OPTIONS]\n\n",
            hn_version);
    for (int group = HN_GROUP_NONE + 1; group < HN_GROUPS; group++) {
        fprintf(out, "%s:\n", groups[group]);
        for (const struct hn_command *const *c = hn_commands; *c; c++)
            if ((*c)->group == (enum hn_command_group)group)
                fprintf(out, "  %-10s %s\n", (*c)->name, (*c)->summary);
        fputc('\n', out);
    }
    fprintf(out, "`hardneg COMMAND --help` tells more. `hardneg --version` shows the version.\n"
                 "\nexit codes:\n");
    for (const struct hn_exit *e = hn_exits; e->meaning; e++)
        fprintf(out, "  %-10d %s\n", e->code, e->meaning);
}

static void print_help(const struct hn_command *command, const struct hn_option *table) {
    printf("usage: %s\n\n%s\n\n", command->usage, command->summary);
    hn_wrapped_print(command->details, 0, 0, stdout);
    for (const char *line = command->examples; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        printf("%s    %.*s\n", line == command->examples ? "\n" : "", (int)strcspn(line, "\n"),
               line);
    }
    printf("\noptions:\n");
    hn_options_help(table, stdout);
}

static void print_note(void *data, const char *text) {
    const struct hn_call *call = data;
    if (!call->quiet)
        fprintf(stderr, "note: %s\n", text);
}

static int report(struct hn_context *ctx, const char *command, enum hn_code code) {
    if (code && *ctx->message)
        fprintf(stderr, "hardneg %s: %s\n", command, ctx->message);
    return hn_exit_code(code);
}

// The text that an option gives, or number i of a list; NULL beyond them.
static const char *text_of(const struct hn_option *o, const void *params, int64_t i) {
    const void *field = (const char *)params + o->offset;
    const struct hn_text_list *list = field;
    if (o->kind == HN_OPTION_LIST)
        return i < list->count ? list->item[i] : NULL;
    return o->kind == HN_OPTION_TEXT && i == 0 ? *(char *const *)field : NULL;
}

static bool names_file(const struct hn_option *o) {
    return o->writes || (o->metavar && (!strcmp(o->metavar, "FILE") || !strcmp(o->metavar, "JOB")));
}

// A file that is written would replace what else the command reads or writes.
static enum hn_code check_apart(struct hn_context *ctx, const struct hn_command *command,
                                const struct hn_option *table, const struct hn_option *output,
                                const struct hn_call *call, const char *path) {
    struct stat about;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        return HN_OK;
    for (int i = 0; i < call->n_args && !command->takes_names; i++) {
        const char *read = hn_results_path(ctx, call->args[i]);
        if (!read)
            return ctx->code;
        if (hn_same_file(read, path))
            return hn_fail(ctx, HN_USAGE, "%s: is what is read; give --%s another name", path,
                           output->name);
    }
    const char *other;
    for (const struct hn_option *o = table; o->name; o++)
        for (int64_t k = 0; o != output && names_file(o) && (other = text_of(o, call->params, k));
             k++)
            if (hn_same_file(other, path))
                return hn_fail(ctx, HN_USAGE,
                               "%s: is the file of --%s, too; give --%s another name", path,
                               o->name, output->name);
    return HN_OK;
}

// Folders are made where they are needed; files are checked when they are begun.
static enum hn_code check_output(struct hn_context *ctx, const struct hn_command *command,
                                 const struct hn_option *table, const struct hn_call *call) {
    for (const struct hn_option *o = table; o->name; o++) {
        const char *path = o->writes || o->letter == 'o' ? text_of(o, call->params, 0) : NULL;
        if (path && strcmp(path, "-") == 0)
            return hn_output_check(ctx, path);
        if (path && o->writes && check_apart(ctx, command, table, o, call, path))
            return ctx->code;
    }
    return HN_OK;
}

static enum hn_code run_checked(struct hn_context *ctx, const struct hn_command *command,
                                const struct hn_call *call) {
    if (hn_screen_check(ctx))
        return ctx->code;
    if (call->n_args >= command->min_args && call->n_args <= command->max_args)
        return hn_command_run(ctx, command, call);
    // A message is one line.
    const char *usage = command->usage, *more = strchr(usage, '\n') ? " (--help has more)" : "";
    int length = (int)strcspn(usage, "\n");
    if (call->n_args < command->min_args)
        return hn_fail(ctx, HN_USAGE, "missing argument; usage: %.*s%s", length, usage, more);
    return hn_fail(ctx, HN_USAGE, "unexpected argument '%s'; usage: %.*s%s",
                   call->args[command->max_args], length, usage, more);
}

static char *command_line(struct hn_context *ctx, int argc, char **argv) {
    char *line = hn_strdup(ctx, "");
    for (int i = 0; line && i < argc; i++)
        line = hn_format(ctx, "%s%s%s", line, i ? " " : "", argv[i]);
    return line;
}

static enum hn_code run_command(struct hn_context *ctx, const struct hn_command *command, int argc,
                                char **argv, bool *abandoned) {
    size_t shift = (command->params_size + 63) & ~(size_t)63;
    struct hn_option table[HN_COMMAND_OPTIONS];
    hn_command_options(command, shift, table);
    HN_SCOPE(ctx); // files and processes are the command's own to close
    char *params = hn_zalloc(ctx, (int64_t)(shift + sizeof(struct hn_call)), 1);
    const char **args = hn_zalloc(ctx, argc, sizeof *args);
    char *line = command_line(ctx, argc, argv);
    if (!params || !args || !line || hn_options_init(ctx, table, params))
        return HN_MEMORY;
    struct hn_call *call = (struct hn_call *)(void *)(params + shift);
    call->args = args;
    call->line = line;
    call->argc = argc;
    call->argv = argv;
    call->params = params;
    struct hn_told told = {.owner = params};
    ctx->notes = (struct hn_notes){print_note, call, &told};
    enum hn_code code =
        hn_options_argv(ctx, table, params, argc - 1, argv + 1, args, &call->n_args);
    if (call->help)
        print_help(command, table);
    else if (call->version)
        printf("hardneg %s\n", hn_version);
    else if (code || (code = check_output(ctx, command, table, call)) ||
             (code = run_checked(ctx, command, call)))
        return code;
    return finish_output(ctx, abandoned);
}

int main(int argc, char **argv) {
    catch_signals(); // before all that takes time
    hold_closed_streams();
    hn_h5_quiet();
    struct hn_context ctx;
    hn_context_init(&ctx, 0);
    ctx.stop = &stop_requested;
    ctx.lacked = &json_lacked;
    json_set_alloc_funcs(allocate_json, free_json);
    hn_host_limit_data(&ctx, 0, 1); // commands with --memory set their own
    if (check_stack(&ctx) || hn_columns_check(&ctx, NULL))
        return report(&ctx, "start", ctx.code);
    if (argc < 2) {
        print_usage(stderr);
        return HN_USAGE;
    }
    char *help_of[] = {argv[0], argc > 2 ? argv[2] : NULL, "--help", NULL};
    if (strcmp(argv[1], "help") == 0 && argc > 2 && argv[2][0] != '-') { // of a command
        argv = help_of;
        argc = 3;
    }
    bool version = strcmp(argv[1], "--version") == 0, abandoned = false;
    bool help = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
                strcmp(argv[1], "help") == 0;
    const struct hn_command *command = version || help ? NULL : hn_command_find(&ctx, argv[1]);
    if (version)
        printf("hardneg %s\n", hn_version);
    else if (help)
        print_usage(stdout);
    else if (!command) {
        fprintf(stderr, "hardneg: %s\n", ctx.message);
        return HN_USAGE;
    }
    int status = report(&ctx, argv[1],
                        command ? run_command(&ctx, command, argc, argv, &abandoned)
                                : finish_output(&ctx, &abandoned));
    return abandoned ? end_abandoned() : status;
}
