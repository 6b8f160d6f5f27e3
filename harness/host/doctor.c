// Reads what the kernel says of itself (/proc, /sys); what cannot be read is said to be unknown.
#include "core/cgroup.h"
#include "core/sweep/blas.h"
#include "harness/host/host.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct hn_check *hn_checkup_add(struct hn_checkup *c, const char *name, const char *advice,
                                const char *fmt, ...) {
    enum { CHECKS = sizeof c->check / sizeof c->check[0] };
    struct hn_check *check = &c->check[c->n < CHECKS ? c->n++ : CHECKS - 1];
    va_list args;
    va_start(args, fmt);
    vsnprintf(check->text, sizeof check->text, fmt, args);
    va_end(args);
    snprintf(check->name, sizeof check->name, "%s", name);
    snprintf(check->advice, sizeof check->advice, "%s", advice ? advice : "");
    check->state = advice ? HN_CHECK_ADVICE : HN_CHECK_FINE;
    return check;
}

// Of a file of the kernel: where it is not there, the check is absent.
static void add_setting(struct hn_checkup *c, const char *name, const char *advice,
                        const char *value, const char *otherwise) {
    struct hn_check *check = hn_checkup_add(c, name, advice, "%s", *value ? value : otherwise);
    if (!*value)
        check->state = HN_CHECK_ABSENT;
}

static void first_line(const char *path, char *text, size_t size) {
    hn_host_file_value(path, "", "", text, size);
}

static void add_blas(struct hn_checkup *c) {
    const char *better = hn_blas_better_core(hn_blas_core());
    const char *set = getenv("OPENBLAS_CORETYPE");
    char advice[160];
    if (better)
        snprintf(advice, sizeof advice,
                 "%s would be faster: unset OPENBLAS_CORETYPE, or set it to it", better);
    hn_checkup_add(c, "BLAS kernels", better ? advice : NULL, "%s%s%s%s", hn_blas_core(),
                   set ? " (OPENBLAS_CORETYPE=" : "", set ? set : "", set ? ")" : "");
    hn_checkup_add(c, "BLAS library", NULL, "%.200s", hn_blas_config());
}

static void add_threads(struct hn_checkup *c, int threads) {
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    double quota = hn_cgroup_processors(&hn_cgroup_own), load[1] = {0};
    bool many = threads > online || (quota > 0 && threads > quota + 0.01);
    hn_checkup_add(c, "threads",
                   many ? "more threads than processors only wait: --threads, or OMP_NUM_THREADS"
                        : NULL,
                   "%d of %ld processors", threads, online);
    if (quota > 0)
        hn_checkup_add(c, "group's quota", NULL, "%.2f processors", quota);
    else
        hn_checkup_add(c, "group's quota", NULL, "none");
    if (getloadavg(load, 1) == 1) {
        bool busy = load[0] > 0.5 * (double)online;
        hn_checkup_add(c, "load",
                       busy ? "other programs run: times measured now mean little" : NULL,
                       "%.2f in the last minute", load[0]);
    }
}

static void add_memory(struct hn_checkup *c) {
    char line[128];
    const double gib = 1 << 30;
    double all = (double)hn_host_memory();
    bool group = hn_group_memory("/proc/self/cgroup", "/sys/fs/cgroup").limit <= hn_host_memory();
    hn_checkup_add(c, "memory", NULL, "%.3g GiB%s, %.3g GiB free", all / gib,
                   group ? ", the limit of the control group" : "",
                   (double)hn_host_memory_free() / gib);
    first_line("/sys/kernel/mm/transparent_hugepage/enabled", line, sizeof line);
    const char *chosen = strchr(line, '[');
    bool never = chosen && strncmp(chosen, "[never]", 7) == 0;
    add_setting(c, "huge pages",
                never ? "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled (as root): "
                        "random reads of large embeddings are faster"
                      : NULL,
                line, "unknown");
}

static void add_clock(struct hn_checkup *c) {
    char line[128];
    first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", line,
               sizeof line);
    bool slow = *line && strcmp(line, "tsc") != 0 && strcmp(line, "kvm-clock") != 0 &&
                strcmp(line, "arch_sys_counter") != 0;
    int64_t begun = hn_wall_ns(), calls = 0, now;
    do {
        now = hn_wall_ns();
        calls++;
    } while (now - begun < 1000000);
    hn_checkup_add(
        c, "clock",
        slow ? "a slow clock source (tsc is the fast one): short phases are overstated" : NULL,
        "%s, %.0f ns a reading", *line ? line : "unknown", (double)(now - begun) / (double)calls);
    first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", line, sizeof line);
    bool saving = *line && strcmp(line, "performance") != 0;
    add_setting(c, "frequency",
                saving ? "cpupower frequency-set -g performance (as root) makes times steadier"
                       : NULL,
                line, "governor unknown (a virtual machine?)");
}

static void add_counters(struct hn_checkup *c) {
    struct hn_instructions counter;
    hn_instructions_open(&counter);
    bool counts = counter.file >= 0;
    struct hn_check *instructions =
        hn_checkup_add(c, "instructions",
                       counts ? NULL
                              : "counts of work (n_dot, n_draw ...) gate without it; "
                                "docs/guide/ci/README.md shows callgrind instead",
                       "%s", counts ? "counted per phase (perf_event_open)" : counter.why);
    if (!counts)
        instructions->state = HN_CHECK_ABSENT;
    hn_instructions_close(&counter);
}

void hn_checkup_host(struct hn_checkup *c, int threads) {
    char model[128];
    hn_host_processor(model, sizeof model);
    hn_checkup_add(c, "processor", NULL, "%s", model);
    add_threads(c, threads);
    add_memory(c);
    add_blas(c);
    add_clock(c);
    add_counters(c);
}
