// SPDX-License-Identifier: GPL-3.0-or-later
// Runs two programs in turn, so that both meet the same machine.
#include "harness/host/alternate.h"
#include "core/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

// Waits for a child, which is asked to stop where this program is. Returns its status, or -1.
static int wait_for(struct hn_context *ctx, pid_t child) {
    int status;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            return -1;
        if (hn_stop_asked(ctx))
            kill(child, SIGTERM);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Returns the program's exit status, 128 + the signal that killed it, or -1 if it could not be
// started.
static int spawn(struct hn_context *ctx, char *const *argv, const char *errors) {
    posix_spawn_file_actions_t actions;
    pid_t child;
    if (posix_spawn_file_actions_init(&actions))
        return -1;
    bool failed =
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) ||
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) ||
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors,
                                         O_WRONLY | O_CREAT | O_TRUNC, 0600) ||
        posix_spawnp(&child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failed ? -1 : wait_for(ctx, child);
}

enum { LINE = 2 * HN_MESSAGE_MAX }; // a message, and the program's name before it

static void last_line(const char *path, char text[LINE]) {
    char line[LINE];
    text[0] = '\0';
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (*line)
            memcpy(text, line, sizeof line);
    }
    if (file)
        fclose(file);
}

enum hn_code hn_alternate_call(struct hn_context *ctx, char *const *argv, const char *errors) {
    char why[LINE];
    int status = spawn(ctx, argv, errors);
    if (status < 0)
        return hn_fail(ctx, HN_USAGE, "%s: cannot be started; give the path of a hardneg program",
                       argv[0]);
    last_line(errors, why);
    (void)unlink(errors);
    if (hn_check_stop(ctx)) // of a program that ended before it could say so, too
        return ctx->code;
    if (status == HN_INTERRUPTED)
        return hn_fail(ctx, HN_INTERRUPTED, "interrupted");
    if (status != HN_OK && status != HN_PARTIAL)
        return hn_fail(ctx, HN_USAGE, "%s ended with code %d: %s", argv[0], status,
                       *why ? why : "without a word");
    return HN_OK;
}

enum hn_code hn_alternate_program(struct hn_context *ctx, char *const *argv, const char *folder,
                                  struct hn_results *out) {
    char *errors = hn_format(ctx, "%s.err", folder);
    char *path = hn_format(ctx, "%s/results.h5", folder);
    return !errors || !path || hn_alternate_call(ctx, argv, errors) ||
                   hn_results_read(ctx, path, out)
               ? ctx->code
               : HN_OK;
}

enum { ARGS = 64 };

static enum hn_code run_one(struct hn_context *ctx, const struct hn_alternate_spec *spec,
                            const char *program, const char *folder, struct hn_results *out) {
    char *argv[ARGS] = {(char *)program, "run",    "-c", (char *)spec->job, "-o",
                        (char *)folder,  "--quiet"};
    char threads[32];
    int n = 7;
    snprintf(threads, sizeof threads, "%" PRId64, spec->threads);
    for (int64_t i = 0; i < spec->n_set && n < ARGS - 5; i++) {
        argv[n++] = "--set";
        argv[n++] = (char *)spec->set[i];
    }
    if (spec->threads > 0) {
        argv[n++] = "--threads";
        argv[n++] = threads;
    }
    return hn_alternate_program(ctx, argv, folder, out);
}

// One round: both programs, the second first in every other round, so that neither always finds the
// machine as the other has left it.
static enum hn_code run_round(struct hn_context *ctx, const struct hn_alternate_spec *spec,
                              const char *scratch, int64_t round, struct hn_alternate *out) {
    for (int turn = 0; turn < 2; turn++) {
        bool is_new = (round + turn) % 2 != 0;
        if (hn_check_stop(ctx))
            return ctx->code;
        char *folder = hn_format(ctx, "%s/%" PRId64 "-%s", scratch, round, is_new ? "new" : "old");
        if (!folder)
            return ctx->code;
        if (run_one(ctx, spec, is_new ? spec->new : spec->old, folder,
                    is_new ? &out->now[round] : &out->base[round]))
            return ctx->code;
        if (!spec->quiet)
            fprintf(stderr, "round %" PRId64 " of %" PRId64 ": %s\n", round + 1, spec->rounds,
                    is_new ? "new" : "old");
    }
    return HN_OK;
}

enum hn_code hn_alternate_run(struct hn_context *ctx, const struct hn_alternate_spec *spec,
                              struct hn_alternate *out) {
    *out = (struct hn_alternate){.base = hn_zalloc(ctx, spec->rounds, sizeof *out->base),
                                 .now = hn_zalloc(ctx, spec->rounds, sizeof *out->now),
                                 .n = spec->rounds};
    char *scratch = hn_scratch_make(ctx);
    enum hn_code code = out->base && out->now && scratch ? HN_OK : ctx->code;
    for (int64_t i = 0; code == HN_OK && i < spec->rounds; i++)
        code = run_round(ctx, spec, scratch, i, out);
    hn_scratch_remove(ctx, scratch);
    return code;
}
