// SPDX-License-Identifier: GPL-3.0-or-later
// Memory of the machine and of this process.
#pragma once

#include "core/context.h"

struct hn_phrase; // core/text.h

// Memory of this machine in bytes, or of the control group that the process is in, if that is less.
int64_t hn_host_memory(void);

// The part of it that programs may still take, without others being moved out.
int64_t hn_host_memory_free(void);
int64_t hn_host_resident(void); // bytes of this process

// Sets the limit of ctx->memory: `asked` bytes (0: none), or what the control group still grants,
// if that is less; of `processes` that begin together in one group each has its share.
void hn_host_limit_memory(struct hn_context *ctx, int64_t asked, int processes);
// The same where 0 is what the machine has.
void hn_host_limit_data(struct hn_context *ctx, int64_t asked, int processes);
// As that, where `asked` is for the whole process, of ctx->threads: part
// of it is left for what is not counted as data. HN_USAGE: nothing is left.
HN_MUST_USE enum hn_code hn_host_limit_process(struct hn_context *ctx, int64_t asked,
                                               int processes);

// The smallest limit of the groups in a file such as /proc/self/cgroup and of those above them
// (versions 1 and 2, below the folder `mount`), and the smallest number of bytes that they still
// grant; INT64_MAX: no limit.
struct hn_group_memory {
    int64_t limit, free;
};
struct hn_group_memory hn_group_memory(const char *groups, const char *mount);

// Value in a file of the kernel: the rest of the first line that begins with `key` ("": the first
// line), after `separators`; "" if no line does.
struct hn_phrase hn_host_file_value(const char *path, const char *key, const char *separators);
