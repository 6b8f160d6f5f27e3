// SPDX-License-Identifier: GPL-3.0-or-later
// Limits of the control groups of Linux, under which containers and batch systems run a process.
#pragma once

#include <stdbool.h>

// Paths at which the kernel shows the groups, and those of a process: /sys/fs/cgroup and
// /proc/self/cgroup.
struct hn_cgroup {
    const char *mount, *groups;
};
extern const struct hn_cgroup hn_cgroup_own;

// Calls look(folder, second, data) for the process's group of a controller ("cpu", "memory") and
// for every group above it, whose limits hold as well. second: version 2, else 1.
void hn_cgroup_walk(const struct hn_cgroup *where, const char *controller,
                    void (*look)(const char *folder, bool second, void *data), void *data);

// Processors that the groups grant, the smallest quota (2.5 for 250 ms every 100 ms); 0: no limit.
double hn_cgroup_processors(const struct hn_cgroup *where);
// So many of `processors` as they grant: whole ones, at least one.
int hn_cgroup_threads(const struct hn_cgroup *where, int processors);
