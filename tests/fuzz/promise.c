// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/promise.h"
#include "datasets/h5.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void broken(const struct hn_context *ctx, const char *what) {
    fprintf(stderr, "promise broken: %s (code %d, message \"%s\")\n", what, (int)ctx->code,
            ctx->message);
    abort();
}

void hn_fuzz_must(const struct hn_context *ctx, bool condition, const char *what) {
    if (!condition)
        broken(ctx, what);
}

int hn_fuzz_memory(const uint8_t *data, size_t size, char path[HN_FUZZ_PATH]) {
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
        perror("fuzz: a file in memory");
        abort();
    }
    snprintf(path, HN_FUZZ_PATH, "/proc/self/fd/%d", fd);
    return fd;
}

void hn_fuzz_begin(struct hn_context *ctx) {
    hn_h5_quiet();
    hn_context_init(ctx, 1);
    ctx->memory.limit = (int64_t)256 << 20;
}

enum { SENTENCES = 4096 };
static struct hn_fuzz_tally tally;
static uint64_t sentence[SENTENCES];

struct hn_fuzz_tally *hn_fuzz_tally(void) {
    return &tally;
}

void hn_fuzz_tally_clear(void) { tally = (struct hn_fuzz_tally){0}; }

// Of a message without digits, what stands in quotes, and what there is before the first colon,
// which is a path.
static uint64_t digest(const char *message) {
    const char *colon = strchr(message, ':');
    uint64_t hash = 14695981039346656037U;
    bool quoted = false;
    for (const char *c = colon ? colon : message; *c; c++) {
        quoted ^= *c == '\'' || *c == '"';
        if (!quoted && !isdigit((unsigned char)*c))
            hash = (hash ^ (unsigned char)*c) * 1099511628211U;
    }
    return hash;
}

void hn_fuzz_count(bool taken, const char *message) {
    tally.inputs++;
    tally.taken += taken;
    uint64_t own = taken ? 0 : digest(message);
    int64_t k = 0;
    while (k < tally.sentences && sentence[k] != own)
        k++;
    if (!taken)
        (void)snprintf(tally.last, sizeof tally.last, "%s", message);
    if (!taken && k == tally.sentences && k < SENTENCES)
        sentence[tally.sentences++] = own;
}

void hn_fuzz_end(struct hn_context *ctx, enum hn_code code, bool bounded) {
    hn_fuzz_count(code == HN_OK, ctx->message);
    hn_fuzz_must(ctx, ctx->memory.live == 0, "nothing stays allocated");
    if (code == HN_OK)
        return;
    hn_fuzz_must(ctx, *ctx->message, "a failure has a message");
    hn_fuzz_must(ctx, code != HN_INTERNAL && code != HN_IO, "bad input is no internal error");
    hn_fuzz_must(ctx, !bounded || code != HN_MEMORY, "sizes are bounded by the file");
}

void hn_fuzz_path(char path[HN_FUZZ_PATH], const char *ending) {
    snprintf(path, HN_FUZZ_PATH, "%s/hardneg-fuzz-%d.%s",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (int)getpid(), ending);
}

void hn_fuzz_put(const char *path, const uint8_t *data, size_t size) {
    FILE *file = fopen(path, "wb");
    if (!file || (size && fwrite(data, 1, size, file) != size) || fclose(file)) {
        perror(path);
        abort();
    }
}
