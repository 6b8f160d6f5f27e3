// SPDX-License-Identifier: GPL-3.0-or-later
// Three processes: this one waits; its child, the guard, is the parent of the program and of
// whatever loses its own parent below it; a pipe of this process that nobody writes to ends when
// it does. The guard, between fork and _exit, calls only what a signal handler may.
#include "harness/host/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds_since(int64_t begun) { return (double)(hn_wall_ns() - begun) * 1e-9; }

enum { PAUSE_MS = 5, LINE_MAX_BYTES = 300, NOT_STARTED = 127 };

struct pipes {
    int guarded[2]; // ends with this process, or when it wants the program to end
    int errors[2];  // standard error of the program
    int status[2];  // its status, from the guard
};

static void close_pipes(struct pipes *p) {
    int *end = p->guarded;
    for (int i = 0; i < 6; i++, end++)
        if (*end >= 0)
            (void)close(*end);
}

static bool open_pipes(struct pipes *p) {
    *p = (struct pipes){{-1, -1}, {-1, -1}, {-1, -1}};
    return !pipe2(p->guarded, O_CLOEXEC) && !pipe2(p->errors, O_CLOEXEC) &&
           !pipe2(p->status, O_CLOEXEC);
}

// The program.

// May be called between fork and exec: strerror() of glibc takes locks, that of others has a table.
static const char *description(int error) {
#ifdef __GLIBC__
    return strerrordesc_np(error);
#else
    return strerror(error);
#endif
}

static void become(const struct hn_child *c, int errors) {
    const struct rlimit file = {HN_CHILD_FILE_BYTES, HN_CHILD_FILE_BYTES}, none = {0, 0};
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)setpgid(0, 0);
    (void)setrlimit(RLIMIT_FSIZE, &file);
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)signal(SIGINT, SIG_DFL); // a worker ignores them
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGHUP, SIG_DFL);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)signal(SIGXFSZ, SIG_DFL);
    int nothing = open("/dev/null", O_RDWR);
    if (nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(nothing, STDOUT_FILENO) >= 0 &&
        dup2(errors, STDERR_FILENO) >= 0 && (!*c->folder || chdir(c->folder) == 0)) {
        (void)syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0); // not in every C library
        (void)execvp(c->argv[0], c->argv);
    }
    const char *why = description(errno);
    (void)!write(STDERR_FILENO, why, strlen(why));
    _exit(NOT_STARTED);
}

// The guard.

static bool wants_end(int guarded) {
    struct pollfd end = {.fd = guarded};
    return poll(&end, 1, PAUSE_MS) > 0; // POLLHUP
}

// Kills the processes whose parent this one is: they may have left the program's group.
static void kill_children(void) {
    char text[512];
    int list = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    ssize_t n = list >= 0 ? read(list, text, sizeof text) : 0;
    pid_t pid = 0;
    for (ssize_t i = 0; i < n; i++) {
        if (text[i] >= '0' && text[i] <= '9')
            pid = 10 * pid + (text[i] - '0');
        else if (pid > 0) {
            (void)kill(pid, SIGKILL);
            pid = 0;
        }
    }
    if (list >= 0)
        (void)close(list);
}

static void kill_all(pid_t program) {
    (void)kill(-program, SIGKILL); // it has not been waited for: its number is its own
    for (;;) {
        pid_t ended;
        kill_children();
        while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
            ;
        if (ended < 0)
            return;
        (void)poll(NULL, 0, 1);
    }
}

static void guard(const struct hn_child *c, const struct pipes *p) {
    siginfo_t ended = {0};
    int status = 0;
    (void)setpgid(0, 0); // Ctrl-C is for this process's parent, which asks for an end
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    (void)close(p->guarded[1]);
    (void)close(p->errors[0]);
    pid_t program = fork();
    if (program == 0)
        become(c, p->errors[1]);
    (void)close(p->errors[1]);
    while (program > 0 && !ended.si_pid && !wants_end(p->guarded[0]))
        (void)waitid(P_PID, (id_t)program, &ended, WEXITED | WNOWAIT | WNOHANG);
    if (ended.si_pid) {
        status = ended.si_code == CLD_EXITED ? ended.si_status << 8 : ended.si_status;
        (void)!write(p->status[1], &status, sizeof status);
    }
    if (program > 0)
        kill_all(program);
    _exit(0);
}

// This process.

struct wait {
    const struct hn_child *child;
    int64_t begun;
    char line[LINE_MAX_BYTES]; // the last one of the program's errors that says something
    char next[LINE_MAX_BYTES];
    size_t n; // of `next`
    bool late, open;
};

// Keeps the beginning of the last line.
static void take_errors(struct wait *w, const char *text, ssize_t n) {
    for (ssize_t i = 0; i < n; i++) {
        if (text[i] != '\n' && text[i] != '\r') {
            if (w->n + 1 < sizeof w->next)
                w->next[w->n++] = text[i];
            continue;
        }
        w->next[w->n] = '\0';
        if (w->next[strspn(w->next, " \t")])
            memcpy(w->line, w->next, w->n + 1);
        w->n = 0;
    }
}

static void read_errors(struct wait *w, int fd, int timeout) {
    char text[1 << 14];
    struct pollfd errors = {.fd = fd, .events = POLLIN};
    if (!w->open) {
        (void)poll(NULL, 0, timeout);
        return;
    }
    if (poll(&errors, 1, timeout) <= 0)
        return;
    ssize_t n = read(fd, text, sizeof text);
    w->open = n > 0 || (n < 0 && errno == EINTR);
    take_errors(w, text, n);
}

// Waits for the guard, which ends when all that the program has started has ended.
static void wait_for(const struct hn_context *ctx, struct wait *w, struct pipes *p, pid_t guard) {
    while (waitpid(guard, NULL, WNOHANG) == 0) {
        w->late = w->late || seconds_since(w->begun) > (double)w->child->seconds;
        if ((w->late || hn_stop_asked(ctx)) && p->guarded[1] >= 0) {
            (void)close(p->guarded[1]);
            p->guarded[1] = -1;
        }
        read_errors(w, p->errors[0], PAUSE_MS);
    }
    for (int i = 0; i < 4 && w->open; i++) // what is left in the pipe
        read_errors(w, p->errors[0], 0);
    take_errors(w, "\n", 1);
}

static enum hn_code fail(struct hn_context *ctx, const struct wait *w, int status, bool known) {
    const char *name = w->child->argv[0], *line = w->line, *colon = *line ? ": " : "";
    if (w->late)
        return hn_fail(ctx, HN_DATA,
                       "%s took more than %lld s, and was stopped%s%s: raise `timeout`", name,
                       (long long)w->child->seconds, colon, line);
    if (!known)
        return hn_fail(ctx, HN_DATA, "%s was lost: its guard was killed", name);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ)
        return hn_fail(ctx, HN_DATA, "%s wrote a file of more than %d MiB, and was stopped", name,
                       HN_CHILD_FILE_BYTES >> 20);
    if (WIFSIGNALED(status))
        return hn_fail(ctx, HN_DATA, "%s was ended by signal %d (%s)%s%s", name, WTERMSIG(status),
                       strsignal(WTERMSIG(status)), colon, line);
    if (WEXITSTATUS(status) == NOT_STARTED)
        return hn_fail(ctx, HN_DATA, "%s cannot be started%s%s", name, colon, line);
    return hn_fail(ctx, HN_DATA, "%s ended with code %d%s%s", name, WEXITSTATUS(status), colon,
                   line);
}

static double children_seconds(void) {
    struct rusage used;
    (void)getrusage(RUSAGE_CHILDREN, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

enum hn_code hn_child_run(struct hn_context *ctx, const struct hn_child *child,
                          struct hn_child_cost *cost) {
    struct wait w = {.child = child, .begun = hn_wall_ns(), .open = true};
    struct pipes p;
    int status = 0;
    double cpu = children_seconds();
    pid_t guarding = hn_check_stop(ctx) ? -2 : open_pipes(&p) ? fork() : -1;
    if (guarding == -2)
        return ctx->code;
    if (guarding == 0)
        guard(child, &p);
    if (guarding < 0) {
        close_pipes(&p);
        return hn_fail(ctx, HN_IO, "%s: cannot be started: %s", child->argv[0], strerror(errno));
    }
    (void)close(p.errors[1]);
    (void)close(p.status[1]);
    p.errors[1] = p.status[1] = -1;
    wait_for(ctx, &w, &p, guarding);
    bool known = read(p.status[0], &status, sizeof status) == (ssize_t)sizeof status;
    *cost = (struct hn_child_cost){seconds_since(w.begun), children_seconds() - cpu};
    close_pipes(&p);
    if (hn_check_stop(ctx))
        return ctx->code;
    return known && status == 0 && !w.late ? HN_OK : fail(ctx, &w, status, known);
}
