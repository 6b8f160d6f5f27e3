// SPDX-License-Identifier: GPL-3.0-or-later
// Memory of the machine, and of the control groups that the process is in, as containers, Slurm and
// systemd set them. A process that exceeds a group's limit is killed without a word, so the limit
// bounds allocation as --memory does.
#include "harness/host/memory.h"

#include "core/text.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// For what is not counted as data: libraries, the buffers of OpenBLAS and HDF5, stacks.
enum { RESERVE = 32 << 20, RESERVE_THREAD = 4 << 20, LINE_BYTES = 1024 };

struct hn_phrase hn_host_file_value(const char *path, const char *key, const char *separators) {
    struct hn_phrase found = {""};
    char line[LINE_BYTES];
    size_t length = strlen(key);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, key, length) != 0 || (*key && !strchr(separators, line[length])))
            continue;
        const char *value = line + length + strspn(line + length, separators);
        hn_put_text(found.text, sizeof found.text, "%.*s", (int)strcspn(value, "\"\n"), value);
        break;
    }
    if (file)
        fclose(file);
    return found;
}

// The files of a version of control groups.
struct version {
    const char *mount; // below the mount point of all
    const char *limit, *used, *stat;
    const char *file[2]; // lines of `stat`: bytes of cached files, which the kernel takes back
};
static const struct version versions[] = {
    {"/memory",
     "memory.limit_in_bytes",
     "memory.usage_in_bytes",
     "memory.stat",
     {"total_inactive_file", "total_active_file"}},
    {"", "memory.max", "memory.current", "memory.stat", {"inactive_file", "active_file"}},
    {"/unified", "memory.max", "memory.current", "memory.stat", {"inactive_file", "active_file"}}};

// A number of a group's file; otherwise where there is none, or "max".
static int64_t number(const char *folder, const char *file, const char *key, int64_t otherwise) {
    char path[PATH_MAX];
    int64_t value;
    if (snprintf(path, sizeof path, "%s/%s", folder, file) >= (int)sizeof path)
        return otherwise;
    return sscanf(hn_host_file_value(path, key, " \t").text, "%" SCNd64, &value) == 1 ? value
                                                                                      : otherwise;
}

static void add_group(const struct version *v, const char *folder, struct hn_group_memory *out) {
    int64_t limit = number(folder, v->limit, "", INT64_MAX);
    int64_t free = limit - number(folder, v->used, "", 0);
    for (int i = 0; i < 2; i++)
        free += hn_min(number(folder, v->stat, v->file[i], 0), limit - free);
    if (limit >= INT64_MAX >> 1) // version 1 writes "none" as the largest number of whole pages
        return;
    out->limit = hn_min(out->limit, limit);
    out->free = hn_min(out->free, hn_max(free, 0));
}

// A group and those above it: each limit holds. In a container the path may be that of the host,
// which is not there; its root is.
static void add_groups(const struct version *v, const char *mount, char *path,
                       struct hn_group_memory *out) {
    char folder[PATH_MAX];
    for (;;) {
        if (snprintf(folder, sizeof folder, "%s%s%s", mount, v->mount, path) < (int)sizeof folder)
            add_group(v, folder, out);
        char *slash = strrchr(path, '/');
        if (!slash)
            return;
        *slash = '\0';
    }
}

struct hn_group_memory hn_group_memory(const char *groups, const char *mount) {
    struct hn_group_memory out = {INT64_MAX, INT64_MAX};
    char line[PATH_MAX];
    FILE *file = fopen(groups, "r");
    while (file && fgets(line, sizeof line, file)) { // "4:memory:/path", "0::/path"
        line[strcspn(line, "\n")] = '\0';
        char *name = strchr(line, ':'), *path = name ? strchr(name + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        if (strcmp(path, "/") == 0)
            *path = '\0';
        bool memory = strstr(name + 1, "memory") != NULL, second = name[1] == '\0';
        for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
            char copy[PATH_MAX];
            memcpy(copy, path, strlen(path) + 1);
            if (i == 0 ? memory : second)
                add_groups(&versions[i], mount, copy, &out);
        }
    }
    if (file)
        (void)fclose(file);
    return out;
}

static struct hn_group_memory own_group(void) {
    return hn_group_memory("/proc/self/cgroup", "/sys/fs/cgroup");
}

static int64_t physical(void) { return (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE); }

int64_t hn_host_memory(void) { return hn_min(physical(), own_group().limit); }

int64_t hn_host_memory_free(void) {
    int64_t kib = number("/proc", "meminfo", "MemAvailable:", INT64_MAX >> 10);
    return hn_min(kib << 10, own_group().free);
}

int64_t hn_host_resident(void) { return number("/proc/self", "status", "VmRSS:", 0) << 10; }

void hn_host_limit_memory(struct hn_context *ctx, int64_t asked, int processes) {
    struct hn_group_memory group = own_group();
    ctx->memory.limit = asked;
    ctx->memory.remedy = NULL;
    if (group.limit >= physical())
        return;
    int64_t reserve = RESERVE + (int64_t)RESERVE_THREAD * ctx->threads;
    int64_t left = hn_max(group.free / processes - reserve, 1) + atomic_load(&ctx->memory.live);
    if (asked > 0 && asked <= left)
        return;
    ctx->memory.limit = left;
    ctx->memory.remedy = "that is what the control group (container, batch job) leaves: raise its "
                         "memory";
}

void hn_host_limit_data(struct hn_context *ctx, int64_t asked, int processes) {
    hn_host_limit_memory(ctx, asked ? asked : hn_host_memory(), processes);
    if (!ctx->memory.remedy)
        ctx->memory.remedy = asked ? "raise --memory"
                                   : "that is what this machine has: give less data, or take a "
                                     "larger one";
}

enum hn_code hn_host_limit_process(struct hn_context *ctx, int64_t asked, int processes) {
    int64_t data = asked - RESERVE - (int64_t)RESERVE_THREAD * ctx->threads;
    hn_host_limit_data(ctx, hn_max(data, 0), processes);
    if (asked && ctx->memory.limit == data)
        ctx->memory.remedy = "raise --memory, of which the program itself has a part";
    return asked == 0 || data > 0
               ? HN_OK
               : hn_fail(ctx, HN_USAGE,
                         "--memory: the program itself takes up to %lld MiB with %s: give more",
                         (long long)(asked - data) >> 20, hn_counted(ctx->threads, "thread").text);
}
