// SPDX-License-Identifier: GPL-3.0-or-later
// The library's handle: a sampler, what it is built on, and the threads that share it.
//
// A build is made aside, by its caller alone, and swapped in when it is whole; all that reads a
// build holds the handle's lock.
#include "core/sweep/blas.h"
#include "core/sweep/screen.h"
#include "core/text.h"
#include "harness/job/grid.h"
#include "harness/job/list.h"
#include "library/library_private.h"

#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { YIELDS = 200, NAP_NS = 100000 };

// This thread's last call, as errno is: threads that share a handle do not read each other's
// messages.
static _Thread_local struct {
    const hardneg *h;
    char message[HN_MESSAGE_MAX], note[HN_MESSAGE_MAX];
    char other_message[HN_MESSAGE_MAX], other_note[HN_MESSAGE_MAX]; // of a handle asked for besides
} last_call;

// In a child of fork() the threads of OpenMP are missing, of which it does not know.
static bool is_child;
static pthread_once_t forks_are_watched = PTHREAD_ONCE_INIT;
static void see_fork(void) { is_child = true; }
static void watch_forks(void) { (void)pthread_atfork(NULL, NULL, see_fork); }
static int threads_here(int threads) { return is_child ? 1 : threads; }

const char *hardneg_version(void) { return hn_version; }

int hn_library_no_handle(void) {
    last_call.h = NULL;
    last_call.note[0] = '\0';
    (void)snprintf(last_call.message, sizeof last_call.message, "%s",
                   "there is no handle: hardneg_open() makes one, if there is memory for it");
    return HARDNEG_USAGE;
}

// Input that lacks something is an argument that is missing here.
static int public_code(enum hn_code code) {
    return code == HN_NOT_APPLICABLE ? HN_USAGE : (int)code;
}

// True if a child of fork() has a lock that a thread of its parent held, and will never release.
static bool lock_is_lost(hardneg *h) {
    pid_t self = getpid();
    if (atomic_load(&h->process) == self)
        return false;
    // A thread of this process that came first has said so before it took the lock.
    if (atomic_load(&h->tickets) != atomic_load(&h->serving) && atomic_load(&h->process) != self)
        return true;
    atomic_store(&h->process, self);
    return false;
}

// False: it is lost. No mutex, which could not tell.
static bool lock(hardneg *h) {
    if (lock_is_lost(h))
        return false;
    const struct timespec nap = {.tv_nsec = NAP_NS};
    unsigned ticket = atomic_fetch_add(&h->tickets, 1);
    for (int waited = 0; atomic_load(&h->serving) != ticket; waited++)
        if (waited < YIELDS)
            sched_yield();
        else
            nanosleep(&nap, NULL);
    return true;
}

static void unlock(hardneg *h) { atomic_fetch_add(&h->serving, 1); }

static const char lost[] = "the process was forked while a thread was in a call of this sampler: "
                           "open and build one in the child";

static int fail_lost(const hardneg *h) {
    last_call.h = h;
    last_call.note[0] = '\0';
    (void)snprintf(last_call.message, sizeof last_call.message, "%s", lost);
    return HARDNEG_USAGE;
}

// A text of the last call of h, for a thread whose own last call was of another handle: that one's
// text stays as it is.
static const char *text_of_other(const hardneg *h, const char *last, char *to) {
    hardneg *shared = (hardneg *)(uintptr_t)h; // NOLINT(performance-no-int-to-ptr): its lock
    if (!lock(shared))
        return last == h->note ? "" : lost;
    (void)snprintf(to, HN_MESSAGE_MAX, "%s", last);
    unlock(shared);
    return to;
}

const char *hardneg_message(const hardneg *h) {
    if (!h)
        (void)hn_library_no_handle();
    return last_call.h == h ? last_call.message
                            : text_of_other(h, h->message, last_call.other_message);
}

const char *hardneg_note(const hardneg *h) {
    if (!h)
        return "";
    return last_call.h == h ? last_call.note : text_of_other(h, h->note, last_call.other_note);
}

const char *hardneg_sampler(const hardneg *h) { return h && h->name ? h->name : ""; }

void hardneg_stop(hardneg *h) {
    if (h)
        __atomic_add_fetch(&h->stops, 1, __ATOMIC_RELAXED);
}

static const char not_opened[] = "the handle was not opened: see the first message";

// Keeps what a call had to say, for its thread and for the handle.
static int keep_texts(hardneg *h, enum hn_code code, const char *message, const char *note) {
    last_call.h = h;
    (void)snprintf(last_call.message, sizeof last_call.message, "%s", code ? message : "");
    (void)snprintf(last_call.note, sizeof last_call.note, "%s", note);
    memcpy(h->message, last_call.message, sizeof h->message);
    memcpy(h->note, last_call.note, sizeof h->note);
    return public_code(code);
}

struct hn_library_build *hn_library_enter(hardneg *h, int *code) {
    *code = h ? HARDNEG_OK : hn_library_no_handle();
    if (!h)
        return NULL;
    sig_atomic_t stops = __atomic_load_n(&h->stops, __ATOMIC_RELAXED);
    if (!lock(h)) {
        *code = fail_lost(h);
        return NULL;
    }
    struct hn_library_build *b = h->built;
    if (!b) {
        *code =
            keep_texts(h, HN_USAGE,
                       h->type ? "nothing is built: hardneg_build() comes first" : not_opened, "");
        unlock(h);
        return NULL;
    }
    b->note[0] = '\0';
    b->ctx.stops_before = stops; // those from now on are for this call
    b->ctx.threads = threads_here(b->ctx.threads);
    return b;
}

int hn_library_leave(hardneg *h, enum hn_code code) {
    int found = keep_texts(h, code, h->built->ctx.message, h->built->note);
    unlock(h);
    return found;
}

// Callback for notes that keeps all of a call, each once, in text[HN_MESSAGE_MAX].
static void add_note(void *text, const char *note) {
    if (!strstr(text, note))
        hn_append(text, HN_MESSAGE_MAX, "%s%s", *(const char *)text ? "; " : "", note);
}

static enum hn_code open_handle(hardneg *h, const char *spec, int64_t batch_size, int threads) {
    struct hn_context *ctx = &h->ctx;
    if (threads < 0 || threads > HN_THREADS_MAX)
        return hn_fail(ctx, HN_USAGE, "threads %d: at most %d, or 0 for all", threads,
                       HN_THREADS_MAX);
    if (!spec)
        return hn_fail(ctx, HN_USAGE, "the sampler is NULL: give a name, e.g. \"knn\"");
    if (batch_size < 2 || batch_size > INT32_MAX)
        return hn_fail(ctx, HN_USAGE,
                       "batch_size %lld: 2 items or more make a batch, and at most %d",
                       (long long)batch_size, INT32_MAX);
    struct hn_point *point;
    if (hn_screen_check(ctx) || hn_blas_load(ctx) ||
        hn_grid_read_one(ctx, &hn_sampler_registry, "", spec, &point))
        return ctx->code;
    h->type = point->type;
    h->params = point->params;
    h->batch_size = (int32_t)batch_size;
    h->name = hn_format(ctx, "%s {%s}", h->type->name, point->text);
    return h->name ? HN_OK : ctx->code;
}

int hardneg_open(const char *spec, int64_t batch_size, uint64_t seed, int threads, hardneg **out) {
    struct hn_context first;
    (void)pthread_once(&forks_are_watched, watch_forks);
    hn_context_init(&first, threads > 0 ? threads : 0);
    if (!out)
        return HARDNEG_USAGE;
    hardneg *h = *out = hn_zalloc(&first, 1, sizeof *h);
    if (!h)
        return HARDNEG_MEMORY;
    hn_context_init(&h->ctx, threads > 0 ? threads : 0);
    h->ctx.notes = (struct hn_notes){hn_keep_note, h->note};
    h->ctx.memory.owner = h;
    h->seed = seed;
    atomic_init(&h->process, getpid());
    return keep_texts(h, open_handle(h, spec, batch_size, threads), h->ctx.message, "");
}

static void free_build(struct hn_library_build *b) {
    if (!b)
        return;
    hn_sampler_close(&b->ctx, &b->sampler);
    struct hn_context last;
    hn_context_init(&last, 1);
    hn_free(&last, b);
}

void hardneg_free(hardneg *h) {
    if (!h)
        return;
    free_build(h->built);
    struct hn_context last;
    hn_context_init(&last, 1);
    hn_free(&last, h);
    if (last_call.h == h)
        last_call.h = NULL;
}

static enum hn_code check_fit(const hardneg *h, struct hn_library_build *b) {
    const struct hn_items *items = &b->items;
    const struct hn_sampler_plan plan = {.n = items->n,
                                         .batch_size = h->batch_size,
                                         .has_positive = hn_has_positive(items),
                                         .has_labels = hn_has_relation(items),
                                         .has_tuples = items->tuples,
                                         .has_graph = items->graph,
                                         .has_features = items->features,
                                         .has_teacher = items->teacher.data,
                                         .has_groups = items->group};
    const char *missing = hn_sampler_missing(h->type, &plan);
    if (missing)
        return hn_fail(&b->ctx, HN_USAGE, "%s needs %s: add it to the items", h->type->name,
                       missing);
    if (h->batch_size > b->items.n)
        return hn_fail(&b->ctx, HN_USAGE, "batch_size %d exceeds the %lld items", h->batch_size,
                       (long long)b->items.n);
    return hn_sampler_check(&b->ctx, h->type, h->params, &plan);
}

enum hn_code hn_library_take_struct(struct hn_context *ctx, const char *name, const void *from,
                                    size_t first, void *to, size_t now) {
    size_t size = 0;
    if (from)
        memcpy(&size, from, sizeof size);
    if (size < first || (size <= now && size % sizeof(int64_t)))
        return hn_fail(ctx, HN_USAGE,
                       "struct %s is NULL, or its size is not set: .size = sizeof(struct %s)", name,
                       name);
    if (size > now) // the further fields cannot be looked at: the size may be wrong
        return hn_fail(ctx, HN_USAGE,
                       "struct %s has %zu bytes, library %s knows %zu of them: use its hardneg.h, "
                       "or a later library",
                       name, size, hardneg_version(), now);
    memcpy(to, from, size);
    return HN_OK;
}

static enum hn_code make_build(hardneg *h, struct hn_library_build *b,
                               const struct hardneg_items *items) {
    struct hardneg_items in = {.size = 0};
    if (hn_library_take_struct(&b->ctx, "hardneg_items", items,
                               offsetof(struct hardneg_items, label_start), &in, sizeof in) ||
        hn_library_take_items(b, &in) || check_fit(h, b))
        return b->ctx.code;
    enum hn_code code =
        hn_sampler_open(&b->ctx, h->type, h->params, in.n, h->batch_size, h->seed, &b->sampler);
    b->made = hn_wall_ns();
    b->sampler.first_epoch = in.epoch;
    code = code ? code : hn_sampler_build(&b->ctx, &b->sampler, &b->items, in.index);
    return code ? code : hn_library_begin_first(b);
}

enum hn_code hn_library_aside(hardneg *h, struct hn_library_build **out) {
    struct hn_context first;
    hn_context_init(&first, 1);
    first.memory.limit = h->ctx.memory.limit;
    struct hn_library_build *b = *out = hn_zalloc(&first, 1, sizeof *b);
    if (!b)
        return HN_MEMORY;
    hn_context_init(&b->ctx, threads_here(h->ctx.threads));
    b->ctx.stop = &h->stops;
    b->ctx.stops_before = __atomic_load_n(&h->stops, __ATOMIC_RELAXED);
    b->ctx.notes = (struct hn_notes){add_note, b->note};
    b->ctx.memory.limit = h->ctx.memory.limit;
    b->ctx.memory.owner = b;
    return h->type ? HN_OK : hn_fail(&b->ctx, HN_USAGE, "%s", not_opened);
}

int hn_library_end_aside(hardneg *h, struct hn_library_build *b, enum hn_code code, bool keep) {
    int found = HARDNEG_USAGE;
    if (lock(h)) {
        found = keep_texts(h, code, b ? b->ctx.message : "not enough memory", b ? b->note : "");
        if (keep && !code) {
            struct hn_library_build *old = h->built;
            h->built = b;
            b = old;
        }
        unlock(h);
    } else
        found = fail_lost(h);
    free_build(b);
    return found;
}

int hardneg_build(hardneg *h, const struct hardneg_items *items) {
    struct hn_library_build *b = NULL;
    if (!h)
        return hn_library_no_handle();
    enum hn_code code = hn_library_aside(h, &b);
    return hn_library_end_aside(h, b, code ? code : make_build(h, b, items), true);
}
