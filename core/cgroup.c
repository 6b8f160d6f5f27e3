// SPDX-License-Identifier: GPL-3.0-or-later
// The quota of processors of a process's control groups, of versions 1 and 2.
#include "core/cgroup.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PATH = 4096 };

const struct hn_cgroup hn_cgroup_own = {"/sys/fs/cgroup", "/proc/self/cgroup"};

// True if a list "cpu,cpuacct" names a controller.
static bool lists(const char *list, const char *controller) {
    size_t length = strlen(controller);
    for (; *list; list += strcspn(list, ","), list += *list == ',')
        if (strcspn(list, ",") == length && strncmp(list, controller, length) == 0)
            return true;
    return false;
}

// A group and all above it. A group that cannot be seen, of a container without a view of its own,
// has no files, but the root, which the container sees as its own, has.
static void walk_up(const char *base, char *group, bool second,
                    void (*look)(const char *folder, bool second, void *data), void *data) {
    char folder[2 * PATH];
    for (;;) {
        snprintf(folder, sizeof folder, "%s%s", base, group);
        look(folder, second, data);
        char *last = strrchr(group, '/');
        if (!last)
            return;
        *last = '\0';
    }
}

// Lines are "number:controllers:group", of version 2 "0::group".
void hn_cgroup_walk(const struct hn_cgroup *where, const char *controller,
                    void (*look)(const char *folder, bool second, void *data), void *data) {
    char line[PATH], base[PATH], group[PATH];
    FILE *file = fopen(where->groups, "r");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *rest = line;
        (void)strsep(&rest, ":");
        char *controllers = strsep(&rest, ":");
        bool second = controllers && !*controllers;
        if (!rest || (!second && !lists(controllers, controller)))
            continue;
        const char *mounted[] = {second ? "" : controller, controllers}; // the list, without links
        for (int k = 0; k < (second || strcmp(controllers, controller) == 0 ? 1 : 2); k++) {
            snprintf(base, sizeof base, "%s%s%s", where->mount, second ? "" : "/", mounted[k]);
            snprintf(group, sizeof group, "%s", strcmp(rest, "/") == 0 ? "" : rest);
            walk_up(base, group, second, look, data);
        }
    }
    if (file)
        fclose(file);
}

// Up to two numbers that a file begins with; how many there are.
static int read_numbers(const char *folder, const char *name, double *number) {
    char path[2 * PATH + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    int n = file ? fscanf(file, "%lf %lf", &number[0], &number[1]) : 0;
    if (file)
        fclose(file);
    return n;
}

static void look_for_quota(const char *folder, bool second, void *min) {
    double quota[2] = {0}, *processors = min; // microseconds, of every so many
    bool there = second ? read_numbers(folder, "cpu.max", quota) == 2
                        : read_numbers(folder, "cpu.cfs_quota_us", quota) == 1 &&
                              read_numbers(folder, "cpu.cfs_period_us", quota + 1) == 1;
    double share = there && quota[1] > 0 ? quota[0] / quota[1] : 0;
    if (share > 0 && (*processors == 0 || share < *processors)) // "max" and -1: no limit
        *processors = share;
}

double hn_cgroup_processors(const struct hn_cgroup *where) {
    double min = 0;
    hn_cgroup_walk(where, "cpu", look_for_quota, &min);
    return min;
}

int hn_cgroup_threads(const struct hn_cgroup *where, int processors) {
    double granted = hn_cgroup_processors(where);
    return granted > 0 && granted < processors ? (int)fmax(granted, 1) : processors;
}
