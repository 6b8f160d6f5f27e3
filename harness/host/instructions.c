#include "harness/host/host.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void explain(struct hn_instructions *c, int reason) {
    char level[16];
    hn_host_file_value("/proc/sys/kernel/perf_event_paranoid", "", "", level, sizeof level);
    const char *text = reason == ENOENT || reason == EOPNOTSUPP || reason == ENODEV
                           ? "the processor's counters are not there (a virtual machine?)"
                       : reason == ENOSYS ? "the kernel, or the container, does not have it"
                                          : strerror(reason);
    if ((reason == EACCES || reason == EPERM) && atoi(level) > 2)
        snprintf(c->why, sizeof c->why,
                 "perf_event_open: not allowed: kernel.perf_event_paranoid is %s, 2 is enough",
                 level);
    else
        snprintf(c->why, sizeof c->why, "perf_event_open: %s", text);
}

void hn_instructions_open_event(struct hn_instructions *c, uint32_t type, uint64_t event) {
    struct perf_event_attr attr = {.type = type,
                                   .size = sizeof attr,
                                   .config = event,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1,
                                   .inherit = 1};
    *c = (struct hn_instructions){.file = -1};
    long file = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (file < 0)
        explain(c, errno);
    else
        c->file = (int)file;
}

void hn_instructions_open(struct hn_instructions *c) {
    hn_instructions_open_event(c, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
}

void hn_instructions_close(struct hn_instructions *c) {
    if (c->file >= 0)
        (void)close(c->file);
    c->file = -1;
}

double hn_instructions_read(const struct hn_instructions *c) {
    uint64_t count;
    if (c->file < 0 || read(c->file, &count, sizeof count) != (ssize_t)sizeof count)
        return NAN;
    return (double)count;
}
