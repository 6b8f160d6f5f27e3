// SPDX-License-Identifier: GPL-3.0-or-later
// The argument of every function that can fail: an account of memory, the error message, the
// number of threads, and the flag of an interrupt. There is no global state besides it.
#pragma once

#include "core/attributes.h"

#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

extern const char hn_version[]; // of the program and of the library

// Status of a fallible call. Values up to 130 are the program's exit codes; see hn_exit_code().
enum hn_code {
    HN_OK = 0,
    HN_GATE = 1,             // a gate of `compare` failed
    HN_USAGE = 2,            // command line or job file, or what planning found (K > M)
    HN_DATA = 3,             // bad input data
    HN_PARTIAL = 4,          // some cells failed
    HN_NOTHING = 5,          // nothing comparable, or nothing shown
    HN_GNUPLOT = 6,          // gnuplot missing or failed
    HN_INTERNAL = 70,        // a bug here
    HN_IO = 74,              // the output could not be written (disk full, I/O error)
    HN_INTERRUPTED = 130,    // SIGINT or SIGTERM
    HN_MEMORY = 200,         // out of memory or over the budget (exit code 70)
    HN_NOT_APPLICABLE = 201, // the input lacks what this sampler needs: never leaves a cell
    HN_WAITING = 202 // parts that other processes compute are missing (core/parts.h): likewise
};

enum { HN_MESSAGE_MAX = 1024 };

// Ways to compute the same, where there are several: each needs less memory than the one before it,
// and more time.
enum hn_memory_mode {
    HN_MEMORY_ANY,
    HN_MEMORY_LOW,   // lists of neighbours in bands of rows, pools one after the other
    HN_MEMORY_LOWEST // and sweeps without a screen, which keeps copies of the rows
};

// Counted allocation. `calls` counts every allocation; the one numbered `fail_at` fails (tests).
struct hn_memory {
    _Atomic int64_t live; // bytes
    _Atomic int64_t peak; // bytes
    _Atomic int64_t calls;
    int64_t limit;      // bytes, 0 = none
    const char *remedy; // how the limit is raised; NULL: by --memory or limits.memory
    int64_t fail_at;    // 0 = never
    void *owner;        // of what is allocated now; NULL = none
    enum hn_memory_mode mode;
};

// "raise --memory or limits.memory", or the remedy of the limit.
const char *hn_memory_remedy(const struct hn_memory *memory);

// Notes that hn_note_once() told a callback; zeroed but for the owner: none.
struct hn_told {
    void *owner;      // of its memory; NULL = none: free `digest`
    uint64_t *digest; // [n] of texts
    int64_t n, capacity;
};

// Callback for notes; save and restore it to redirect them.
struct hn_notes {
    void (*to)(void *data, const char *text); // NULL = dropped
    void *data;                               // borrowed
    struct hn_told *told;                     // borrowed; NULL: it hears all again
};

struct hn_outputs;
struct hn_parts;

struct hn_context {
    struct hn_memory memory;
    int threads;                       // >= 1; every OpenMP region names it
    const volatile sig_atomic_t *stop; // borrowed; NULL = never interrupted
    sig_atomic_t stops_before;         // its value without a request: 0, or a count of earlier ones
    const _Atomic size_t *lacked; // bytes that a library lacked whose callers are not told of it
                                  // (jansson: what it has none for is left out); borrowed, or NULL
    const char *screen; // kernel of the sweep's screen (core/sweep/screen.h); "off": none; NULL:
                        // the best, where it pays. Borrowed, first of the environment: HN_SCREEN
    int64_t deadline;   // of hn_wall_ns(), for what is only tried; 0 = none
    const struct hn_parts *parts; // who computes which part of long computations (core/parts.h);
                                  // NULL: this process, all. Borrowed
    struct hn_outputs *outputs;   // that become visible together (core/files.h); NULL: each alone
    struct hn_notes notes;
    char program[48];             // which program this is, once a command has asked; "": not yet
    enum hn_code code;            // of the last failure
    char message[HN_MESSAGE_MAX]; // one sentence: file, position, remedy
};

// A context with the given number of threads (0 = as many as the process may use) and no limit.
void hn_context_init(struct hn_context *ctx, int threads);

// Monotonic wall clock in nanoseconds, and CPU time: of the calling thread where that is the only
// one of `threads` that works, else of the process, which a limit of it (ulimit -t) makes coarse.
int64_t hn_wall_ns(void);
int64_t hn_cpu_ns(int threads);

// Records the message, as hn_put_message() makes it fit and with '?' for control characters, and
// returns `code`, so that callers write `return hn_fail(...)`.
enum hn_code hn_fail(struct hn_context *ctx, enum hn_code code, const char *fmt, ...)
    HN_PRINTF(3, 4);
// Puts "<text>: " before the recorded message and returns the recorded code.
enum hn_code hn_fail_in(struct hn_context *ctx, const char *fmt, ...) HN_PRINTF(2, 3);
#if defined HN_ANALYZE && !defined HN_CONTEXT_C // the analyzer does not look into other files
#define hn_fail(ctx, code, ...) ((void)!(hn_fail)(ctx, code, __VA_ARGS__), (code))
#endif
// The code of the failure that was just seen: never HN_OK, whatever was recorded.
static inline enum hn_code hn_failure(const struct hn_context *ctx) {
    return ctx->code == HN_OK ? HN_INTERNAL : ctx->code;
}
// Tells the user something that is not a failure ("M taken as 1999").
void hn_note(struct hn_context *ctx, const char *fmt, ...) HN_PRINTF(2, 3);
// The same, but for what `told` of this callback holds, be it of a process above: of data that are
// read many times. Without memory to keep it in, it is told again.
void hn_note_once(struct hn_context *ctx, const char *fmt, ...) HN_PRINTF(2, 3);
// Callback for notes that keeps the last one in text[HN_MESSAGE_MAX].
void hn_keep_note(void *text, const char *note);
// True if a stop was asked for, or the deadline over. Any thread may ask, while another one, or a
// signal handler, sets it: an atomic load, for which volatile alone is not a substitute.
static inline bool hn_stop_asked(const struct hn_context *ctx) {
    return (ctx->stop && __atomic_load_n(ctx->stop, __ATOMIC_RELAXED) != ctx->stops_before) ||
           (ctx->deadline && hn_wall_ns() > ctx->deadline);
}
// HN_INTERRUPTED (with a message) once hn_stop_asked(), HN_OK otherwise.
HN_MUST_USE enum hn_code hn_check_stop(struct hn_context *ctx);
// HN_MEMORY (with a message) once ctx->lacked is above 0: before an output is whole.
HN_MUST_USE enum hn_code hn_check_lacked(struct hn_context *ctx);
// The process exit code for a status.
int hn_exit_code(enum hn_code code);
// OpenBLAS, as Debian builds it, takes 512 threads and crashes with 1,024.
enum { HN_THREADS_MAX = 512 };
// The threads this process may use, at most HN_THREADS_MAX: OMP_NUM_THREADS if set, else its CPU
// affinity, bounded by the quota of its control groups.
int hn_usable_threads(void);

// Allocation. count * size is checked for overflow; memory is aligned to 64 bytes and owned by the
// caller, who gives it back with hn_free(). NULL means failure, with the message recorded
// (HN_MEMORY). count = 0 gives a valid pointer. Not to be called inside a parallel region.
HN_MUST_USE void *hn_alloc(struct hn_context *ctx, int64_t count, size_t size);  // not zeroed
HN_MUST_USE void *hn_zalloc(struct hn_context *ctx, int64_t count, size_t size); // zeroed
// The same for elements of an array's type: true if `array`, a pointer, now has `count` of them, or
// rows of `cols` each.
#define HN_ALLOC(ctx, array, count) (((array) = hn_alloc(ctx, count, sizeof *(array))) != NULL)
#define HN_ZALLOC(ctx, array, count) (((array) = hn_zalloc(ctx, count, sizeof *(array))) != NULL)
#define HN_ALLOC_ROWS(ctx, array, rows, cols)                                                      \
    (((array) = hn_alloc(ctx, rows, (size_t)(cols) * sizeof *(array))) != NULL)
// Keeps the old contents up to the smaller size, and what belongs to it; on failure `old` stays
// valid.
HN_MUST_USE void *hn_resize(struct hn_context *ctx, void *old, int64_t count, size_t size);
// Resizes an array for at least `wanted` elements, at least doubling it, so that many appends cost
// linear time: array is the address of the pointer to its elements, of `size` bytes each, and
// *capacity counts them. On failure both stay as they are.
HN_MUST_USE enum hn_code hn_grow(struct hn_context *ctx, void *array, int64_t *capacity,
                                 int64_t wanted, size_t size);
void hn_free(struct hn_context *ctx, void *p); // p may be NULL
// HN_OK if the limit allows so much now: asked before what takes long to read.
HN_MUST_USE enum hn_code hn_check_memory(struct hn_context *ctx, int64_t count, size_t size);
// `bytes` bytes of an open file, from its position HN_MAPPED_FROM on: in memory once for all
// processes of a machine that map it. What is written to them is this process's own. Owned, counted
// and freed like allocations. NULL: HN_IO, HN_MEMORY.
enum { HN_MAPPED_FROM = 1 << 16 };
HN_MUST_USE void *hn_map(struct hn_context *ctx, int fd, int64_t bytes);
// From here on allocations are owned by `owner`, one of this context's (NULL: by none), and are
// freed with it unless they were before. Returns the owner so far, which is to be put back.
//
// Memory that a function allocates for its caller is owned by the owner at the call, also where it
// fails, unless its comment names another.
void *hn_own(struct hn_context *ctx, void *owner);

// Header in front of the memory of every allocation.
struct hn_block {
    _Alignas(64) int64_t total; // bytes that are counted, these included
    struct hn_block *owned;     // the first of those that belong to it
    struct hn_block *next;      // the next of those of its owner
    struct hn_block **linked;   // the pointer that points here, or NULL
    int64_t mapped;             // bytes of a file, HN_MAPPED_FROM included; 0: allocated
};
// Memory for the length of a function: what is allocated from HN_SCOPE(ctx) on, by those that it
// calls too, is freed wherever the function returns. What stays is allocated
// before, belongs to another owner, or to the one before: hn_own(ctx, scope.outer).
struct hn_scope {
    struct hn_context *ctx;
    void *outer;
    struct hn_block memory; // owns what is allocated
};
#define HN_SCOPE(ctx)                                                                              \
    __attribute__((cleanup(hn_scope_end))) struct hn_scope scope;                                  \
    hn_scope_begin(ctx, &scope)
void hn_scope_begin(struct hn_context *ctx, struct hn_scope *scope);
void hn_scope_end(struct hn_scope *scope);

HN_MUST_USE char *hn_strdup(struct hn_context *ctx, const char *text);
HN_MUST_USE char *hn_format(struct hn_context *ctx, const char *fmt, ...) HN_PRINTF(2, 3);
HN_MUST_USE char *hn_vformat(struct hn_context *ctx, const char *fmt, va_list args) HN_PRINTF(2, 0);

// Checked size arithmetic: false on overflow of int64.
static inline bool hn_mul(int64_t a, int64_t b, int64_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}
static inline bool hn_add(int64_t a, int64_t b, int64_t *out) {
    return !__builtin_add_overflow(a, b, out);
}
static inline int64_t hn_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t hn_max(int64_t a, int64_t b) { return a > b ? a : b; }
