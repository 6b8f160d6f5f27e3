// SPDX-License-Identifier: GPL-3.0-or-later
// Errors, notes and counted memory: blocks know their owner, which frees what it has.
#define HN_CONTEXT_C
#include "core/context.h"
#include "core/cgroup.h"
#include "core/random.h"
#include "core/text.h"

#include <ctype.h>
#include <errno.h>
#include <omp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

const char hn_version[] = "0.2.0";

// Every block of memory is preceded by a header that keeps the alignment.
enum { ALIGNMENT = sizeof(struct hn_block), HUGE_PAGE = 1 << 21 };

void hn_context_init(struct hn_context *ctx, int threads) {
    memset(ctx, 0, sizeof *ctx);
    ctx->threads = threads > 0 ? threads : hn_usable_threads();
    const char *screen = getenv("HN_SCREEN");
    ctx->screen = screen && *screen ? screen : NULL; // set to nothing is as good as not set
}

int hn_usable_threads(void) {
    const char *wanted = getenv("OMP_NUM_THREADS");
    long n = wanted ? strtol(wanted, NULL, 10) : 0;
    if (n >= 1 && n <= HN_THREADS_MAX)
        return (int)n;
    cpu_set_t set;
    bool known = sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) >= 1;
    int here = hn_cgroup_threads(&hn_cgroup_own, known ? CPU_COUNT(&set) : omp_get_num_procs());
    return (int)hn_min(here, HN_THREADS_MAX);
}

// Names and texts of a file are in messages, and none of their control characters may reach a
// terminal.
static void put_message(char message[HN_MESSAGE_MAX], const char *text) {
    int i = 0;
    for (; text[i]; i++)
        message[i] = (unsigned char)text[i] < 0x20 || text[i] == 0x7F ? '?' : text[i];
    message[i] = '\0';
}

enum hn_code hn_fail(struct hn_context *ctx, enum hn_code code, const char *fmt, ...) {
    // Built aside: an argument may be the old message.
    char text[HN_MESSAGE_MAX];
    va_list args;
    va_start(args, fmt);
    hn_vput_message(text, sizeof text, fmt, args);
    va_end(args);
    put_message(ctx->message, text);
    ctx->code = code;
    return code;
}

enum hn_code hn_fail_in(struct hn_context *ctx, const char *fmt, ...) {
    char text[HN_MESSAGE_MAX], whole[HN_MESSAGE_MAX];
    va_list args;
    va_start(args, fmt);
    hn_vput_message(text, sizeof text, fmt, args);
    va_end(args);
    hn_put_message(whole, sizeof whole, "%s: %s", text, ctx->message);
    put_message(ctx->message, whole);
    return ctx->code;
}

void hn_note(struct hn_context *ctx, const char *fmt, ...) {
    if (!ctx->notes.to)
        return;
    char text[HN_MESSAGE_MAX];
    va_list args;
    va_start(args, fmt);
    hn_vput_message(text, sizeof text, fmt, args);
    va_end(args);
    put_message(text, text);
    ctx->notes.to(ctx->notes.data, text);
}

// True if it is new, and kept from here on.
static bool is_new(struct hn_context *ctx, struct hn_told *told, uint64_t digest) {
    for (int64_t i = 0; i < told->n; i++)
        if (told->digest[i] == digest)
            return false;
    void *owner = hn_own(ctx, told->owner);
    if (!hn_grow(ctx, &told->digest, &told->capacity, told->n + 1, sizeof *told->digest))
        told->digest[told->n++] = digest;
    hn_own(ctx, owner);
    return true;
}

void hn_note_once(struct hn_context *ctx, const char *fmt, ...) {
    char text[HN_MESSAGE_MAX];
    va_list args;
    if (!ctx->notes.to)
        return; // not told
    va_start(args, fmt);
    hn_vput_message(text, sizeof text, fmt, args);
    va_end(args);
    if (!ctx->notes.told || is_new(ctx, ctx->notes.told, hn_hash(text)))
        hn_note(ctx, "%s", text);
}

void hn_keep_note(void *text, const char *note) { hn_put_text(text, HN_MESSAGE_MAX, "%s", note); }

enum hn_code hn_check_stop(struct hn_context *ctx) {
    return hn_stop_asked(ctx) ? hn_fail(ctx, HN_INTERRUPTED, "interrupted") : HN_OK;
}

enum hn_code hn_check_lacked(struct hn_context *ctx) {
    bool lacked = ctx->lacked && atomic_load(ctx->lacked) > 0;
    return lacked ? hn_fail(ctx, HN_MEMORY, "out of memory: a part of the output is missing")
                  : HN_OK;
}

int hn_exit_code(enum hn_code code) {
    bool left = code == HN_NOT_APPLICABLE || code == HN_WAITING;
    return code == HN_MEMORY ? HN_INTERNAL : left ? HN_PARTIAL : (int)code;
}

const char *hn_memory_remedy(const struct hn_memory *memory) {
    return memory->remedy ? memory->remedy : "raise --memory or limits.memory";
}

// The size with its header, or -1 (with the message) for what may not or cannot be allocated.
static int64_t charged_size(struct hn_context *ctx, int64_t count, size_t size, int64_t returned) {
    struct hn_memory *memory = &ctx->memory;
    int64_t bytes, total;
    if (count < 0 || size > INT64_MAX || !hn_mul(count, (int64_t)size, &bytes) ||
        !hn_add(bytes, 2 * ALIGNMENT - 1, &total)) {
        hn_fail(ctx, HN_MEMORY, "a size overflows: %lld times %zu bytes", (long long)count, size);
        return -1;
    }
    total &= ~(int64_t)(ALIGNMENT - 1);
    int64_t call = atomic_fetch_add(&memory->calls, 1) + 1;
    if (call == memory->fail_at) {
        hn_fail(ctx, HN_MEMORY, "out of memory (%lld bytes wanted)", (long long)bytes);
        return -1;
    }
    int64_t live = atomic_load(&memory->live) - returned;
    if (memory->limit && total > memory->limit - live) {
        bool small = memory->limit < 16 << 20;
        int shift = small ? 10 : 20;
        hn_fail(ctx, HN_MEMORY,
                "the memory limit of %lld %s does not allow %lld %s more (%lld in use): %s",
                (long long)(memory->limit >> shift), small ? "KiB" : "MiB",
                (long long)((total - 1) >> shift) + 1, small ? "KiB" : "MiB",
                (long long)(live >> shift), hn_memory_remedy(memory));
        return -1;
    }
    return total;
}

static void charge(struct hn_memory *memory, int64_t bytes) {
    int64_t live = atomic_fetch_add(&memory->live, bytes) + bytes;
    int64_t peak = atomic_load(&memory->peak);
    while (live > peak && !atomic_compare_exchange_weak(&memory->peak, &peak, live))
        continue;
}

// Large arrays are read in any order: with huge pages most addresses are found without a walk
// through the page tables. Only a wish; whole pages alone are asked for, so that no more memory is
// touched than before.
static void ask_for_huge_pages(char *block, size_t size) {
#if defined(MADV_HUGEPAGE)
    uintptr_t from = ((uintptr_t)block + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
    uintptr_t to = ((uintptr_t)block + size) & ~(uintptr_t)(HUGE_PAGE - 1);
    if (to > from)
        (void)madvise((void *)from, to - from, MADV_HUGEPAGE); // NOLINT(performance-no-int-to-ptr)
#else
    (void)block;
    (void)size;
#endif
}

static struct hn_block *block_of(void *p) { return (struct hn_block *)p - 1; }

// Puts a block where *to is, in front of what stands there. Threads may allocate for one owner at
// the same time: a lock guards every change of a list.
static void put_block(struct hn_block *b, struct hn_block **to) {
    b->next = *to;
    b->linked = to;
    if (b->next)
        b->next->linked = &b->next;
    *to = b;
}

static void unlink_block(struct hn_block *b) {
#pragma omp critical(hn_blocks)
    if (b->linked) {
        *b->linked = b->next;
        if (b->next)
            b->next->linked = b->linked;
        b->linked = NULL;
    }
}

// Writes the header of a block; what comes behind it.
static void *begin_block(struct hn_context *ctx, char *block, const struct hn_block *header) {
    struct hn_block *b = memcpy(block, header, sizeof *b);
    if (ctx->memory.owner)
#pragma omp critical(hn_blocks)
        put_block(b, &block_of(ctx->memory.owner)->owned);
    charge(&ctx->memory, header->total);
    return b + 1;
}

enum hn_code hn_check_memory(struct hn_context *ctx, int64_t count, size_t size) {
    return charged_size(ctx, count, size, 0) < 0 ? ctx->code : HN_OK;
}

void *hn_alloc(struct hn_context *ctx, int64_t count, size_t size) {
    int64_t total = charged_size(ctx, count, size, 0);
    if (total < 0)
        return NULL;
    char *block = aligned_alloc(ALIGNMENT, (size_t)total);
    if (!block) {
        hn_fail(ctx, HN_MEMORY, "out of memory (%lld MiB wanted)", (long long)(total >> 20));
        return NULL;
    }
    if (total >= HUGE_PAGE)
        ask_for_huge_pages(block, (size_t)total);
    return begin_block(ctx, block, &(struct hn_block){.total = total});
}

// The header stands in a page before the bytes, which then is this process's own.
void *hn_map(struct hn_context *ctx, int fd, int64_t bytes) {
    int64_t mapped, total = charged_size(ctx, bytes, 1, 0);
    if (total < 0)
        return NULL;
    char *file =
        hn_add(bytes, HN_MAPPED_FROM, &mapped)
            ? mmap(NULL, (size_t)mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0)
            : MAP_FAILED;
    if (file == MAP_FAILED) {
        hn_fail(ctx, HN_IO, "%lld MiB of a file cannot be mapped: %s", (long long)(bytes >> 20),
                strerror(errno));
        return NULL;
    }
    return begin_block(ctx, file + HN_MAPPED_FROM - ALIGNMENT,
                       &(struct hn_block){.total = total, .mapped = mapped});
}

void *hn_zalloc(struct hn_context *ctx, int64_t count, size_t size) {
    void *p = hn_alloc(ctx, count, size);
    return p ? memset(p, 0, (size_t)count * size) : NULL;
}

void *hn_own(struct hn_context *ctx, void *owner) {
    void *before = ctx->memory.owner;
    ctx->memory.owner = owner;
    return before;
}

void *hn_resize(struct hn_context *ctx, void *old, int64_t count, size_t size) {
    void *p = hn_alloc(ctx, count, size);
    if (!p || !old)
        return p;
    struct hn_block *from = block_of(old), *to = block_of(p);
    memcpy(p, old, (size_t)(hn_min(from->total, to->total) - ALIGNMENT));
    unlink_block(to);
#pragma omp critical(hn_blocks)
    if (from->linked) // it stays with its owner
        put_block(to, from->linked);
    to->owned = from->owned; // and keeps what belongs to it
    from->owned = NULL;
    if (to->owned)
        to->owned->linked = &to->owned;
    hn_free(ctx, old);
    return p;
}

enum hn_code hn_grow(struct hn_context *ctx, void *array, int64_t *capacity, int64_t wanted,
                     size_t size) {
    enum { FIRST = 16 };
    void *elements; // copied byte by byte: the pointer's own type is not known here
    memcpy(&elements, array, sizeof elements);
    if (elements && wanted <= *capacity)
        return HN_OK;
    int64_t doubled, grown = hn_mul(*capacity, 2, &doubled) ? hn_max(wanted, doubled) : wanted;
    grown = hn_max(grown, FIRST);
    elements = hn_resize(ctx, elements, grown, size);
    if (!elements)
        return ctx->code;
    memcpy(array, &elements, sizeof elements);
    *capacity = grown;
    return HN_OK;
}

// Gives back a list of blocks, linked by `next`, and what belongs to them.
static void release(struct hn_context *ctx, struct hn_block *waiting) {
    while (waiting) {
        struct hn_block *b = waiting, **end = &b->owned;
        while (*end)
            end = &(*end)->next;
        *end = b->next;
        waiting = b->owned;
        charge(&ctx->memory, -b->total);
        if (b->mapped)
            (void)munmap((char *)(b + 1) - HN_MAPPED_FROM, (size_t)b->mapped);
        else
            free(b);
    }
}

void hn_free(struct hn_context *ctx, void *p) {
    if (!p)
        return;
    unlink_block(block_of(p));
    block_of(p)->next = NULL;
    release(ctx, block_of(p));
}

void hn_scope_begin(struct hn_context *ctx, struct hn_scope *scope) {
    *scope = (struct hn_scope){.ctx = ctx};
    scope->outer = hn_own(ctx, &scope->memory + 1);
}

void hn_scope_end(struct hn_scope *scope) {
    hn_own(scope->ctx, scope->outer);
    release(scope->ctx, scope->memory.owned);
}

char *hn_strdup(struct hn_context *ctx, const char *text) {
    int64_t length = (int64_t)strlen(text) + 1;
    char *copy = hn_alloc(ctx, length, 1);
    return copy ? memcpy(copy, text, (size_t)length) : NULL;
}

char *hn_vformat(struct hn_context *ctx, const char *fmt, va_list args) {
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, fmt, args);
    char *text = length < 0 ? NULL : hn_alloc(ctx, (int64_t)length + 1, 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, fmt, again);
    va_end(again);
    return text;
}

char *hn_format(struct hn_context *ctx, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    char *text = hn_vformat(ctx, fmt, args);
    va_end(args);
    return text;
}

static int64_t clock_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t hn_wall_ns(void) { return clock_ns(CLOCK_MONOTONIC); }
int64_t hn_cpu_ns(int threads) {
    return clock_ns(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID);
}
