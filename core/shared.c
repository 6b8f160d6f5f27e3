// SPDX-License-Identifier: GPL-3.0-or-later
// Memory that a process shares with those that it forks.
#include "core/shared.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

void *hn_shared_alloc(struct hn_context *ctx, int64_t bytes) {
    const int access = PROT_READ | PROT_WRITE, kind = MAP_SHARED | MAP_ANONYMOUS;
    // cppcheck-suppress invalidFunctionArg ; anonymous memory has no file
    void *map = mmap(NULL, (size_t)bytes, access, kind, -1, 0);
    if (map != MAP_FAILED)
        return map;
    (void)hn_fail(ctx, HN_MEMORY, "%lld bytes to share between processes cannot be had: %s",
                  (long long)bytes, strerror(errno));
    return NULL;
}

void hn_shared_free(void *p, int64_t bytes) {
    if (p)
        (void)munmap(p, (size_t)bytes);
}
