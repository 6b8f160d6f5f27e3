// SPDX-License-Identifier: GPL-3.0-or-later
// Workers take the next item from a counter that all of them share, so that none waits for another.
// They ignore the signals of a terminal: this process handles them and sets a flag in shared
// memory. Workers end with this process, even if it is killed.
#include "harness/host/processes.h"
#include "core/shared.h"
#include "harness/host/memory.h"
#include "harness/host/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NONE = -1, SHOWN_MAX = 8, LABEL_MAX = 256 };

static const int64_t own_bytes = (int64_t)2 << 30; // of memory, for each process
static const long pause_ns = 20 * 1000 * 1000;

struct hn_process {
    _Atomic int64_t item; // NONE: between two
    atomic_int permille;  // of the item
    atomic_int evaluated; // percent of an evaluation, -1: there is none
    enum hn_code code;    // to be read when the worker has ended
    char message[HN_MESSAGE_MAX];
};

enum item_state { WAITING, BEGUN, DONE, TOLD };

struct shared {
    volatile sig_atomic_t stop;
    _Atomic int64_t next;
    struct hn_process worker[HN_PROCESSES_MAX];
    atomic_char state[]; // [items]
};

struct pool {
    const struct hn_processes *w;
    struct shared *shared;
    int processes; // begun
    pid_t pid[HN_PROCESSES_MAX];
    struct hn_progress progress;
};

int hn_processes_fit(const struct hn_context *ctx, int64_t items, int wanted) {
    int64_t n = wanted;
    if (wanted <= 0) {
        int64_t limit = ctx->memory.limit > 0 ? ctx->memory.limit : INT64_MAX;
        n = hn_min(ctx->threads, hn_min(hn_host_memory_free(), limit) / own_bytes);
    }
    return (int)hn_max(hn_min(hn_min(n, items), HN_PROCESSES_MAX), 1);
}

void hn_process_tell(struct hn_process *self, int64_t done, int64_t of) {
    if (of > 0)
        atomic_store(&self->permille, (int)(1000 * done / of));
}

void hn_process_tell_evaluation(struct hn_process *self, int64_t done, int64_t of) {
    atomic_store(&self->evaluated, of > 0 ? (int)(100 * done / of) : -1);
}

// A worker.

static enum hn_code work(struct hn_context *ctx, struct pool *p, struct hn_process *self) {
    const struct hn_processes *w = p->w;
    for (;;) {
        int64_t item = atomic_fetch_add(&p->shared->next, 1);
        if (item >= w->items)
            return HN_OK;
        if (hn_check_stop(ctx))
            return ctx->code;
        atomic_store(&self->permille, 0);
        atomic_store(&self->evaluated, -1);
        atomic_store(&self->item, item);
        atomic_store(&p->shared->state[item], BEGUN);
        enum hn_code code = w->work(ctx, w->data, item, self);
        atomic_store(&self->item, NONE);
        if (code && code != HN_MEMORY)
            return code;
        atomic_store(&p->shared->state[item], code ? WAITING : DONE);
    }
}

// The progress line of this program stands where a note is to begin.
struct own_line {
    struct hn_notes said;
    bool terminal;
};

static void note_on_own_line(void *data, const char *text) {
    const struct own_line *own = data;
    if (own->terminal)
        fputs("\r\033[K", stderr);
    if (own->said.to)
        own->said.to(own->said.data, text);
}

// Does not return. No handler of this program's end may run twice, so _exit().
static void be_worker(struct hn_context *ctx, struct pool *p, int number, pid_t parent) {
    struct hn_process *self = &p->shared->worker[number];
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) // it ended before that
        _exit(1);
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    struct own_line own = {ctx->notes, p->progress.terminal};
    // cppcheck-suppress autoVariables ; this function does not return
    ctx->notes.to = note_on_own_line; // which tells the same reader: what it was told stays told
    ctx->notes.data = &own;
    ctx->stop = &p->shared->stop;
    ctx->threads = (int)hn_max(ctx->threads / p->w->processes, 1);
    ctx->memory.limit /= p->w->processes;
    self->code = work(ctx, p, self);
    if (self->code)
        memcpy(self->message, ctx->message, sizeof self->message);
    fflush(NULL);
    _exit(0);
}

// This process.

// As many as can be had: what no worker does is left to the caller.
static void begin(struct hn_context *ctx, struct pool *p) {
    pid_t parent = getpid();
    fflush(NULL); // or every worker would write it again
    for (; p->processes < p->w->processes; p->processes++) {
        p->shared->worker[p->processes].item = NONE;
        pid_t pid = fork();
        if (pid < 0) {
            hn_note(ctx, "%d processes instead of %d: %s", p->processes, p->w->processes,
                    strerror(errno));
            return;
        }
        if (pid == 0)
            be_worker(ctx, p, p->processes, parent);
        p->pid[p->processes] = pid;
    }
}

// "2 at once (45 %, 12 %), <the item that is furthest>"
static void describe(const struct pool *p, char *text, size_t size) {
    char part[SHOWN_MAX * 24] = "", label[LABEL_MAX] = "";
    int busy = 0, max = -1, used = 0;
    for (int i = 0; i < p->processes; i++) {
        const struct hn_process *worker = &p->shared->worker[i];
        int64_t item = atomic_load(&worker->item);
        int permille = atomic_load(&worker->permille);
        if (item == NONE)
            continue;
        int evaluated = atomic_load(&worker->evaluated);
        if (busy++ < SHOWN_MAX)
            used += snprintf(part + used, sizeof part - (size_t)used, "%s%s%d %%",
                             used > 0 ? ", " : "", evaluated < 0 ? "" : "evaluating ",
                             evaluated < 0 ? permille / 10 : evaluated);
        if (permille > max) {
            max = permille;
            p->w->name(p->w->data, item, label, sizeof label);
        }
    }
    snprintf(text, size, "%d at once (%s), %s", busy, busy > SHOWN_MAX ? "..." : part, label);
}

static void tell(struct pool *p) {
    char text[LABEL_MAX + SHOWN_MAX * 24 + 64];
    describe(p, text, sizeof text);
    for (int64_t i = 0, n = hn_min(atomic_load(&p->shared->next), p->w->items); i < n; i++)
        if (atomic_load(&p->shared->state[i]) == DONE) {
            atomic_store(&p->shared->state[i], TOLD);
            hn_progress_clear(&p->progress);
            if (p->w->done)
                p->w->done(p->w->data, i);
            hn_progress_step(&p->progress, false, text);
        }
    hn_progress_show(&p->progress, text);
}

// True if worker i has ended; 0 afterwards in its place.
static bool ended(struct hn_context *ctx, struct pool *p, int i) {
    int status = 0;
    pid_t got = waitpid(p->pid[i], &status, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR))
        return false;
    const struct hn_process *worker = &p->shared->worker[i];
    p->pid[i] = 0;
    if (got > 0 && WIFSIGNALED(status)) {
        char label[LABEL_MAX] = "nothing";
        int64_t item = atomic_load(&worker->item);
        if (item != NONE)
            p->w->name(p->w->data, item, label, sizeof label);
        hn_progress_clear(&p->progress);
        hn_note(ctx, "a process was ended by signal %d at %s: it is done again, alone",
                WTERMSIG(status), label);
    }
    return true;
}

// Until all have ended. The first failure tells the others to stop.
static enum hn_code watch(struct hn_context *ctx, struct pool *p) {
    const struct hn_process *failed = NULL;
    for (int left = p->processes; left > 0;) {
        const struct timespec pause = {0, pause_ns};
        (void)nanosleep(&pause, NULL);
        if (hn_stop_asked(ctx))
            __atomic_store_n(&p->shared->stop, 1, __ATOMIC_RELAXED);
        tell(p);
        for (int i = 0; i < p->processes; i++) {
            if (p->pid[i] == 0 || !ended(ctx, p, i))
                continue;
            left--;
            const struct hn_process *worker = &p->shared->worker[i];
            if (worker->code && (!failed || failed->code == HN_INTERRUPTED))
                failed = worker;
            p->shared->stop |= failed != NULL;
        }
    }
    tell(p);
    if (!failed || failed->code == HN_INTERRUPTED)
        return hn_check_stop(ctx);
    return hn_fail(ctx, failed->code, "%s", failed->message);
}

enum hn_code hn_processes_run(struct hn_context *ctx, const struct hn_processes *w) {
    struct pool p = {.w = w};
    int64_t bytes;
    if (!hn_add(w->items, sizeof *p.shared, &bytes))
        return hn_fail(ctx, HN_MEMORY, "%" PRId64 " %s are too many", w->items, w->unit);
    p.shared = hn_shared_alloc(ctx, bytes);
    if (!p.shared)
        return ctx->code;
    hn_progress_begin(&p.progress, w->items, 0, w->quiet);
    p.progress.unit = w->unit;
    begin(ctx, &p);
    enum hn_code code = watch(ctx, &p);
    hn_progress_clear(&p.progress);
    hn_shared_free(p.shared, bytes);
    return code;
}
