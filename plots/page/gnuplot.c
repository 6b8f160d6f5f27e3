// SPDX-License-Identifier: GPL-3.0-or-later
// Starts gnuplot on a script, without a shell, and waits for it.
#include "core/text.h"
#include "plots/page/page_private.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { COMPLAINT_MAX = 600 };

static const char errors_file[] = "stderr";

// Variables that change gnuplot's defaults.
static bool is_foreign(const char *variable) {
    static const char *const names[] = {"GNUTERM=", "GNUPLOT_", "LANG=", "LC_", "CAIRO_DEBUG_PDF="};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(variable, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

// The environment without them, and in UTF-8, without which gnuplot warns. Cairo from 1.18 on packs
// the date of a PDF where it cannot be set to another, unless it is told to pack nothing.
static char **clean_environment(struct hn_context *ctx) {
    static char locale[] = "LC_ALL=C.UTF-8", plain[] = "CAIRO_DEBUG_PDF=1";
    int64_t n = 0, kept = 0;
    while (environ[n])
        n++;
    char **clean = hn_alloc(ctx, n + 3, sizeof *clean);
    if (!clean)
        return NULL;
    for (int64_t i = 0; i < n; i++)
        if (!is_foreign(environ[i]))
            clean[kept++] = environ[i];
    clean[kept++] = locale;
    clean[kept++] = plain;
    clean[kept] = NULL;
    return clean;
}

// Time limit of a figure.
static int seconds_allowed(void) {
    const char *given = getenv("HARDNEG_GNUPLOT_SECONDS");
    int seconds = given ? atoi(given) : 0;
    return seconds > 0 ? seconds : 60;
}

// Waits for a process. Its group is killed when time is over or a stop is asked for, and its rest,
// which would keep standard output open, at the end. Returns 0, or errno: ETIMEDOUT, EINTR.
static int wait_for(const struct hn_context *ctx, pid_t child, int *status) {
    const struct timespec pause = {.tv_nsec = 2000000};
    struct timespec now, begin;
    int failed = 0;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (;;) {
        siginfo_t ended = {0};
        if (waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT | (failed ? 0 : WNOHANG)) &&
            errno != EINTR)
            return errno;
        if (ended.si_pid == child) {
            kill(-child, SIGKILL); // before its number is free
            return waitpid(child, status, 0) == child ? failed : errno;
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (hn_stop_asked(ctx))
            failed = EINTR;
        else if (now.tv_sec - begin.tv_sec > seconds_allowed())
            failed = ETIMEDOUT;
        if (failed)
            kill(-child, SIGKILL);
        else
            nanosleep(&pause, NULL);
    }
}

// Starts gnuplot in the folder, where its complaints go into a file, and in a process group that
// Ctrl-C does not reach: it would leave half a picture, without an error. Returns 0 or errno.
static int spawn(const char *folder, char **argv, char **environment, pid_t *child) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t own_group;
    int failed = posix_spawn_file_actions_init(&actions);
    if (failed)
        return failed;
    failed = posix_spawnattr_init(&own_group);
    if (!failed) {
        failed = posix_spawnattr_setflags(&own_group, POSIX_SPAWN_SETPGROUP);
        if (!failed)
            failed = posix_spawn_file_actions_addchdir_np(&actions, folder);
        if (!failed)
            failed =
                posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        if (!failed)
            failed = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors_file,
                                                      O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (!failed)
            failed = posix_spawnp(child, argv[0], &actions, &own_group, argv, environment);
        posix_spawnattr_destroy(&own_group);
    }
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

// The first lines of gnuplot's complaint, in one, without what fontconfig says about its cache.
static void read_complaint(const char *path, char *text, size_t size) {
    char line[256];
    text[0] = '\0';
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        char *start = line + strspn(line, " \t^\n");
        start[strcspn(start, "\n")] = '\0';
        if (*start && strncmp(start, "Fontconfig ", 11) != 0)
            hn_append(text, size, "%s%s", *text ? "; " : "", start);
    }
    if (f)
        fclose(f);
}

enum hn_code hn_gnuplot_run(struct hn_context *ctx, const char *folder, const char *id,
                            const char *dir) {
    char complaint[COMPLAINT_MAX], script[128];
    char *argv[] = {"gnuplot", "-d", script, NULL};
    pid_t child;
    int status = 0;
    if (hn_check_stop(ctx))
        return ctx->code;
    char *errors = hn_format(ctx, "%s/%s", folder, errors_file);
    char **environment = errors ? clean_environment(ctx) : NULL;
    if (!environment)
        return ctx->code;
    snprintf(script, sizeof script, "%s.gp", id);
    fflush(stdout); // what gnuplot prints follows what has been printed
    int failed = spawn(folder, argv, environment, &child);
    failed = failed ? failed : wait_for(ctx, child, &status);
    read_complaint(errors, complaint, sizeof complaint);
    if (hn_check_stop(ctx)) // of a gnuplot that ended, too
        return ctx->code;
    if (failed == ETIMEDOUT)
        return hn_fail(ctx, HN_GNUPLOT,
                       "gnuplot took more than %d s on %s/%s.gp and was stopped; "
                       "HARDNEG_GNUPLOT_SECONDS gives it longer",
                       seconds_allowed(), dir, id);
    if (failed)
        return hn_fail(ctx, HN_GNUPLOT,
                       "gnuplot cannot be started (%s): install it (gnuplot-nox); the script "
                       "%s.gp and its data are in %s",
                       strerror(failed), id, dir);
    if (status != 0)
        return hn_fail(ctx, HN_GNUPLOT, "gnuplot failed on %s/%s.gp: %s", dir, id,
                       complaint[0] ? complaint : "it ended with an error");
    if (complaint[0])
        hn_note(ctx, "gnuplot warns of %s/%s.gp: %s", dir, id, complaint);
    return HN_OK;
}
