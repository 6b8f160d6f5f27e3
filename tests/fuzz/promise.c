// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/promise.h"
#include "datasets/h5.h"

#include <stdio.h>
#include <stdlib.h>
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

void hn_fuzz_end(struct hn_context *ctx, enum hn_code code, bool bounded) {
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
