// SPDX-License-Identifier: GPL-3.0-or-later
// Quotas of control groups of both versions, in folders like those of the kernel.
#include "core/cgroup.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH = 512 };

static char folder[256], groups[PATH];
static struct hn_cgroup where;

static void put(const char *name, const char *text) {
    char path[PATH];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        (void)mkdir(path, 0700);
    }
    FILE *file = fopen(path, "w");
    CU_ASSERT_FATAL(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void begin(const char *of_process) {
    hn_fixture_folder(folder, sizeof folder);
    snprintf(groups, sizeof groups, "%s/groups", folder);
    where = (struct hn_cgroup){folder, groups};
    put("groups", of_process);
}

static void test_second(void) {
    begin("0::/job/step\n");
    CU_ASSERT_EQUAL(hn_cgroup_processors(&where), 0);
    CU_ASSERT_EQUAL(hn_cgroup_threads(&where, 8), 8);
    put("job/step/cpu.max", "max 100000\n");
    CU_ASSERT_EQUAL(hn_cgroup_processors(&where), 0);
    put("job/cpu.max", "250000 100000\n"); // of the group above
    CU_ASSERT_DOUBLE_EQUAL(hn_cgroup_processors(&where), 2.5, 1e-12);
    CU_ASSERT_EQUAL(hn_cgroup_threads(&where, 8), 2);
    CU_ASSERT_EQUAL(hn_cgroup_threads(&where, 1), 1); // affinity is narrower
    put("job/step/cpu.max", "50000 100000\n");
    CU_ASSERT_DOUBLE_EQUAL(hn_cgroup_processors(&where), 0.5, 1e-12);
    CU_ASSERT_EQUAL(hn_cgroup_threads(&where, 8), 1);
    put("job/cpu.max", "25000 100000\n"); // narrower than the group in it
    CU_ASSERT_DOUBLE_EQUAL(hn_cgroup_processors(&where), 0.25, 1e-12);
    hn_fixture_remove(folder);
}

static void test_first(void) {
    // As Docker shows it: the group's name is the host's, its files are at the root.
    begin("11:memory:/docker/f00\n4:cpu,cpuacct:/docker/f00\n3:cpuset:/docker/f00\n0::/system\n");
    put("cpu/cpu.cfs_period_us", "50000\n");
    put("cpu/cpu.cfs_quota_us", "-1\n");
    CU_ASSERT_EQUAL(hn_cgroup_processors(&where), 0);
    put("cpu/cpu.cfs_quota_us", "150000\n");
    CU_ASSERT_DOUBLE_EQUAL(hn_cgroup_processors(&where), 3, 1e-12);
    put("cpuset/cpu.cfs_quota_us", "1\n"); // another controller
    put("cpuset/cpu.cfs_period_us", "50000\n");
    CU_ASSERT_EQUAL(hn_cgroup_threads(&where, 64), 3);
    hn_fixture_remove(folder);
    // Mounted under the list of its controllers, without a link for each; the quota is of a group
    // above.
    begin("4:cpu,cpuacct:/slurm/job_7/step:0\n");
    put("cpu,cpuacct/slurm/job_7/step:0/cpu.cfs_quota_us", "-1\n");
    put("cpu,cpuacct/slurm/job_7/step:0/cpu.cfs_period_us", "100000\n");
    put("cpu,cpuacct/slurm/job_7/cpu.cfs_quota_us", "399999\n");
    put("cpu,cpuacct/slurm/job_7/cpu.cfs_period_us", "100000\n");
    CU_ASSERT_EQUAL(hn_cgroup_threads(&where, 64), 3);
    hn_fixture_remove(folder);
}

static void test_odd(void) {
    begin("no colons\n\n0:\n7:cpu\n2:cpux:/a\n3:net:/a\n0::/\n");
    put("cpu.max", "nonsense\n");
    CU_ASSERT_EQUAL(hn_cgroup_processors(&where), 0);
    put("cpu.max", "100000 0\n"); // no period: no number of processors
    CU_ASSERT_EQUAL(hn_cgroup_threads(&where, 5), 5);
    put("cpu.max", "200000 100000\n");
    CU_ASSERT_EQUAL(hn_cgroup_threads(&where, 5), 2);
    where.groups = "/nowhere/groups";
    CU_ASSERT_EQUAL(hn_cgroup_threads(&where, 5), 5);
    hn_fixture_remove(folder);
}

static const struct hn_test tests[] = {
    {"quotas of version 2", test_second},
    {"quotas of version 1", test_first},
    {"files that are no groups", test_odd},
};

int main(int argc, char **argv) {
    return hn_test_main(argc, argv, "cgroup", tests, (int)(sizeof tests / sizeof *tests));
}
