// SPDX-License-Identifier: GPL-3.0-or-later
// While there is work, a thread of each rank is the only one that calls MPI: a rank that is in a
// long cell would answer nobody. It looks every millisecond, as do collective calls: a rank that
// waits leaves its processors to those that work.
#include "harness/host/ranks.h"

#include <stdlib.h>
#include <string.h>

void hn_ranks_none(struct hn_context *ctx) {
    const char *count = getenv("OMPI_COMM_WORLD_SIZE"), *number = getenv("OMPI_COMM_WORLD_RANK");
    if (count && atoi(count) > 1 && number && atoi(number) == 0)
        hn_note(ctx,
                "mpirun started %s processes, and each does the whole job: --mpi shares it out",
                count);
}

enum hn_code hn_ranks_describe(struct hn_context *ctx, const struct hn_ranks *r,
                               struct hn_results *env) {
    char count[16];
    snprintf(count, sizeof count, "%d", hn_ranks_count(r));
    return r ? hn_results_set_env(ctx, env, "n_ranks", count) : HN_OK;
}

#ifdef HN_MPI

#include "core/cgroup.h"

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

enum { UNIT_OPEN, UNIT_DONE, UNIT_TOLD };                             // states on rank 0
enum { NOTHING = HN_RANKS_NONE, WANTED = -2, ASKED = -3, IDLE = -4 }; // in place of a unit

struct hn_ranks {
    int number, count;
    int threads; // that fall to this rank
    int beside;  // ranks of its machine, itself included
    bool over;   // all know of a failure
    int *code;   // [count] of all ranks
    // From begin to end. What both threads use is atomic, the rest belongs to the one that serves.
    const volatile sig_atomic_t *outer; // stop flag of the process
    volatile sig_atomic_t stop;         // and of all ranks
    atomic_bool failed;                 // this rank
    _Atomic int64_t given;              // a unit of this rank, or NOTHING, WANTED, ASKED, IDLE
    _Atomic int64_t done;               // a unit that rank 0 has to be told, or NOTHING
    bool told_stop;                     // rank 0 was, or all were
    pthread_t thread;
    // On rank 0.
    int64_t units;
    _Atomic int64_t next;
    atomic_char *state; // [units]
    bool *ended;        // [count] ranks that were given NOTHING
    int n_ended;
};

static void pause_ms(void) {
    const struct timespec pause = {0, 1000 * 1000};
    (void)nanosleep(&pause, NULL);
}

int hn_ranks_number(const struct hn_ranks *r) { return r ? r->number : 0; }
int hn_ranks_count(const struct hn_ranks *r) { return r ? r->count : 1; }
int hn_ranks_beside(const struct hn_ranks *r) { return r ? r->beside : 1; }

int hn_ranks_threads(const struct hn_ranks *r, int threads) {
    return r && !getenv("OMP_NUM_THREADS") ? r->threads : threads;
}

int64_t hn_ranks_next(struct hn_ranks *r) {
    r->given = WANTED;
    while (r->given == WANTED || r->given == ASKED)
        pause_ms();
    return r->given;
}

void hn_ranks_done(struct hn_ranks *r) {
    if (r->number == 0)
        return;
    r->done = r->given;
    while (r->done != NOTHING)
        pause_ms();
}

void hn_ranks_fail(struct hn_ranks *r) { r->failed = true; }

int64_t hn_ranks_told(struct hn_ranks *r) {
    for (int64_t i = 0, n = hn_min(r->next, r->units); i < n; i++)
        if (r->state[i] == UNIT_DONE) {
            r->state[i] = UNIT_TOLD;
            return i;
        }
    return NOTHING;
}

void hn_ranks_end(struct hn_context *ctx, struct hn_ranks *r) {
    (void)pthread_join(r->thread, NULL);
    ctx->stop = r->outer;
    hn_free(ctx, r->state);
}

enum { ASK = 1, GIVE, DONE, STOP }; // tags of messages
// Errors of MPI itself end all ranks, with its message (MPI_ERRORS_ARE_FATAL): without messages
// there is nobody to tell. Finished cells are files.
static void sleep_until_done(MPI_Request request) {
    int done = 0;
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done)
        pause_ms();
}

// The ranks of a machine, and the processors that they may use, dealt out evenly where they are the
// same.
static void find_machine(struct hn_ranks *r) {
    MPI_Comm machine;
    cpu_set_t own, all;
    CPU_ZERO(&own);
    if (sched_getaffinity(0, sizeof own, &own) != 0)
        CPU_SET(0, &own);
    int usable = CPU_COUNT(&own), sum = 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Allreduce(&own, &all, sizeof own, MPI_BYTE, MPI_BOR, machine);
    MPI_Allreduce(&usable, &sum, 1, MPI_INT, MPI_SUM, machine);
    MPI_Comm_size(machine, &r->beside);
    MPI_Comm_free(&machine);
    int64_t granted = hn_cgroup_threads(&hn_cgroup_own, CPU_COUNT(&all));
    r->threads = (int)hn_max(usable * granted / sum, 1);
}

enum hn_code hn_ranks_open(struct hn_context *ctx, struct hn_ranks **out) {
    int provided = MPI_THREAD_SINGLE;
    struct hn_ranks *r = hn_zalloc(ctx, 1, sizeof *r);
    if (!r)
        return ctx->code;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &r->number);
    MPI_Comm_size(MPI_COMM_WORLD, &r->count);
    r->code = hn_zalloc(ctx, r->count, sizeof *r->code);
    r->ended = hn_zalloc(ctx, r->count, sizeof *r->ended);
    if (!ctx->code && provided < MPI_THREAD_SERIALIZED)
        (void)hn_fail(ctx, HN_USAGE, "--mpi: this MPI takes no calls from a further thread");
    // The others would wait for a rank that leaves.
    int own = (int)ctx->code, worst = HN_OK;
    MPI_Allreduce(&own, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (worst != HN_OK) {
        MPI_Finalize();
        return ctx->code ? ctx->code
                         : hn_fail(ctx, (enum hn_code)worst,
                                   "--mpi: another rank cannot begin (its message says why)");
    }
    find_machine(r);
    if (r->number > 0)
        ctx->notes.to = NULL;
    *out = r;
    return HN_OK;
}

// The first rank that failed by itself; else one that was interrupted; else none.
static int find_failed(const int *code, int count) {
    int found = NOTHING;
    for (int i = count - 1; i >= 0; i--)
        if (code[i] != HN_OK &&
            (code[i] != HN_INTERRUPTED || found == NOTHING || code[found] == HN_INTERRUPTED))
            found = i;
    return found;
}

// All ranks end with what the failed one says.
static enum hn_code tell_failure(struct hn_context *ctx, struct hn_ranks *r, int failed) {
    MPI_Request request;
    char message[HN_MESSAGE_MAX];
    r->over = true;
    memcpy(message, ctx->message, sizeof message);
    MPI_Ibcast(message, sizeof message, MPI_CHAR, failed, MPI_COMM_WORLD, &request);
    sleep_until_done(request);
    return hn_fail(ctx, (enum hn_code)r->code[failed], "%s", message);
}

// The codes of all ranks. False if they are not all at one place (0: where any failure is one of
// all) with one code.
static bool gather(struct hn_ranks *r, int point, int code) {
    enum { POINT = 1 << 12 }; // above all codes
    MPI_Request request;
    bool same = true;
    int own = point * POINT + code;
    MPI_Iallgather(&own, 1, MPI_INT, r->code, 1, MPI_INT, MPI_COMM_WORLD, &request);
    sleep_until_done(request);
    for (int i = 0; i < r->count; i++)
        same = same && r->code[i] == own;
    for (int i = 0; i < r->count; i++)
        r->code[i] %= POINT;
    return same;
}

enum hn_code hn_ranks_same(struct hn_context *ctx, struct hn_ranks *r, const char *point,
                           enum hn_code code) {
    enum { HASHED = 1 << 16 };
    int at = 0;
    if (r->over)
        return hn_failure(ctx);
    for (const char *c = point; *c; c++)
        at = (at * 31 + (unsigned char)*c) % HASHED;
    if (gather(r, at + 1, code))
        return HN_OK;
    int failed = find_failed(r->code, r->count);
    if (failed == NOTHING) {
        failed = 0;
        r->code[0] = HN_INTERNAL;
        (void)hn_fail(ctx, HN_INTERNAL, "--mpi: ranks have come apart at %s", point);
    }
    return tell_failure(ctx, r, failed);
}

enum hn_code hn_ranks_agree(struct hn_context *ctx, struct hn_ranks *r, enum hn_code code) {
    if (!r || r->over)
        return code;
    bool same = gather(r, 0, code);
    int failed = find_failed(r->code, r->count);
    if (failed != NOTHING)
        return tell_failure(ctx, r, failed);
    if (same)
        return HN_OK;
    r->code[0] = HN_INTERNAL;
    (void)hn_fail(ctx, HN_INTERNAL, "--mpi: ranks have come apart");
    return tell_failure(ctx, r, 0);
}

void hn_ranks_share(struct hn_ranks *r, void *data, int64_t bytes) {
    enum { MAX = 1 << 30 }; // an MPI count is an int
    for (char *p = data; r && bytes > 0; p += MAX, bytes -= MAX) {
        MPI_Request request;
        MPI_Ibcast(p, (int)hn_min(bytes, MAX), MPI_BYTE, 0, MPI_COMM_WORLD, &request);
        sleep_until_done(request);
    }
}

void hn_ranks_gather(struct hn_ranks *r, const void *own, int bytes, void *all) {
    MPI_Request request;
    if (!r) {
        memcpy(all, own, (size_t)bytes);
        return;
    }
    MPI_Igather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    sleep_until_done(request);
}

// The thread.

static void tell(int rank, int tag, int64_t unit) {
    MPI_Send(&unit, 1, MPI_INT64_T, rank, tag, MPI_COMM_WORLD); // so short that it does not wait
}

// On rank 0: what a rank is given.
static int64_t take(struct hn_ranks *r, int rank) {
    if (!r->stop && r->next < r->units)
        return r->next++;
    r->ended[rank] = true;
    r->n_ended++;
    return NOTHING;
}

// Ranks that have ended receive no messages.
static void stop_all(struct hn_ranks *r) {
    __atomic_store_n(&r->stop, 1, __ATOMIC_RELAXED);
    if (r->told_stop)
        return;
    r->told_stop = true;
    if (r->number > 0)
        tell(0, STOP, NOTHING);
    for (int i = 1; r->number == 0 && i < r->count; i++)
        if (!r->ended[i])
            tell(i, STOP, NOTHING);
}

static bool answer(struct hn_ranks *r) {
    MPI_Status about;
    int there = 0;
    int64_t unit;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &about);
    if (!there)
        return false;
    MPI_Recv(&unit, 1, MPI_INT64_T, about.MPI_SOURCE, about.MPI_TAG, MPI_COMM_WORLD, &about);
    if (about.MPI_TAG == STOP && r->number == 0)
        stop_all(r);
    else if (about.MPI_TAG == STOP)
        __atomic_store_n(&r->stop, 1, __ATOMIC_RELAXED);
    else if (about.MPI_TAG == DONE)
        r->state[unit] = UNIT_DONE;
    else if (about.MPI_TAG == ASK)
        tell(about.MPI_SOURCE, GIVE, take(r, about.MPI_SOURCE));
    else
        r->given = unit;
    return true;
}

// Sends the messages of this rank's work. `given` is read first: a rank that fails sets `failed`
// before it wants another unit. Nothing follows a question but its answer, which may be the last
// message.
static void speak(struct hn_ranks *r) {
    int64_t given = r->given, done = r->done;
    if (given == ASKED)
        return;
    if (r->failed || (r->outer && __atomic_load_n(r->outer, __ATOMIC_RELAXED)))
        stop_all(r);
    if (done != NOTHING) {
        tell(0, DONE, done);
        r->done = NOTHING;
    }
    if (given != WANTED)
        return;
    r->given = ASKED;
    if (r->number > 0)
        tell(0, ASK, NOTHING);
    else
        r->given = take(r, 0);
}

static void *serve(void *data) {
    struct hn_ranks *r = data;
    while (r->number == 0 ? r->n_ended < r->count : r->given != NOTHING) {
        speak(r);
        if (!answer(r))
            pause_ms();
    }
    return NULL;
}

enum hn_code hn_ranks_begin(struct hn_context *ctx, struct hn_ranks *r, int64_t units) {
    r->units = units;
    r->next = r->n_ended = r->stop = 0;
    r->failed = r->told_stop = false;
    memset(r->ended, 0, (size_t)r->count * sizeof *r->ended);
    r->done = NOTHING;
    r->given = IDLE;
    r->outer = ctx->stop;
    r->state = hn_zalloc(ctx, units, sizeof *r->state);
    if (hn_ranks_agree(ctx, r, r->state ? HN_OK : ctx->code))
        return ctx->code;
    if (pthread_create(&r->thread, NULL, serve, r) != 0) {
        r->failed = true;
        r->given = WANTED;
        (void)serve(r); // the others have to hear of it
        return hn_fail(ctx, HN_INTERNAL, "--mpi: no further thread can be had");
    }
    ctx->stop = &r->stop;
    return HN_OK;
}

enum hn_code hn_ranks_close(struct hn_context *ctx, struct hn_ranks *r, enum hn_code code) {
    if (!r)
        return code;
    code = hn_ranks_agree(ctx, r, code);
    MPI_Finalize();
    return r->number == 0 ? code : HN_OK;
}

#else

enum hn_code hn_ranks_open(struct hn_context *ctx, struct hn_ranks **out) {
    *out = NULL;
    return hn_fail(
        ctx, HN_USAGE,
        "--mpi: this program was built without MPI: make MPI=1 builds it with Open MPI "
        "(libopenmpi-dev); processes without it take parts with --rows i/n or --shard i/n");
}

// No rank was opened: what is left is one process, alone.
int hn_ranks_number(const struct hn_ranks *r) { return (void)r, 0; }
int hn_ranks_count(const struct hn_ranks *r) { return (void)r, 1; }
int hn_ranks_beside(const struct hn_ranks *r) { return (void)r, 1; }
int hn_ranks_threads(const struct hn_ranks *r, int threads) { return (void)r, threads; }
enum hn_code hn_ranks_agree(struct hn_context *ctx, struct hn_ranks *r, enum hn_code code) {
    return (void)ctx, (void)r, code;
}
void hn_ranks_share(struct hn_ranks *r, void *data, int64_t bytes) {
    (void)r, (void)data, (void)bytes;
}
void hn_ranks_gather(struct hn_ranks *r, const void *own, int bytes, void *all) {
    (void)r;
    memcpy(all, own, (size_t)bytes);
}
enum hn_code hn_ranks_close(struct hn_context *ctx, struct hn_ranks *r, enum hn_code code) {
    return (void)ctx, (void)r, code;
}

// Nobody calls the others.
enum hn_code hn_ranks_same(struct hn_context *ctx, struct hn_ranks *r, const char *point,
                           enum hn_code code) {
    return (void)ctx, (void)r, (void)point, code;
}
enum hn_code hn_ranks_begin(struct hn_context *ctx, struct hn_ranks *r, int64_t units) {
    return (void)r, (void)units, hn_fail(ctx, HN_INTERNAL, "no ranks were opened");
}
int64_t hn_ranks_next(struct hn_ranks *r) { return (void)r, HN_RANKS_NONE; }
void hn_ranks_done(struct hn_ranks *r) { (void)r; }
void hn_ranks_fail(struct hn_ranks *r) { (void)r; }
int64_t hn_ranks_told(struct hn_ranks *r) { return (void)r, HN_RANKS_NONE; }
void hn_ranks_end(struct hn_context *ctx, struct hn_ranks *r) { (void)ctx, (void)r; }

#endif
