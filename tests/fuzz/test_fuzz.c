// SPDX-License-Identifier: GPL-3.0-or-later
// Regression of the fuzz targets: every file that once broke a reader, and a seed of every kind,
// keeps every promise of tests/fuzz/targets.c; so does every seed cut short or with a byte changed.
// A seed that stands as it is has to be taken, or what is made of it tries the first check alone;
// the names of those that are damage themselves begin with "refused".
#include "tests/fixture.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/target.h"
#include "tests/test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// HDF5 itself leaks on damaged files that it refuses; nothing else is let off. The sanitizer looks
// for the function by name: it must not be hidden, as all else is.
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libhdf5"; }

enum { FILE_MAX_BYTES = 1 << 17, NAME = 512, VARIANTS = 24 };

static uint8_t bytes[FILE_MAX_BYTES];

static size_t read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    CU_ASSERT_FATAL(feof(file));
    fclose(file);
    return size;
}

// The file itself, and variants of it: cut at VARIANTS places, a byte changed at VARIANTS others.
static void replay(const struct hn_fuzz_target *target, const char *path) {
    size_t size = read_file(path);
    const int64_t before = hn_fuzz_tally()->taken;
    target->run(bytes, size);
    if (hn_fuzz_tally()->taken == before && !strstr(path, "/refused"))
        fprintf(stderr, "    %s is refused as it stands: %s\n", path, hn_fuzz_tally()->last);
    CU_ASSERT(hn_fuzz_tally()->taken > before || strstr(path, "/refused"));
    for (size_t v = 1; v < VARIANTS; v++)
        target->run(bytes, size * v / VARIANTS);
    for (size_t v = 0; v < VARIANTS && size > 0; v++) {
        size_t at = size * (2 * v + 1) / (2 * VARIANTS);
        uint8_t kept = bytes[at];
        bytes[at] = (uint8_t)(kept + 1 + 37 * v);
        target->run(bytes, size);
        bytes[at] = kept;
    }
}

// The files of a folder: all, or of jobs those that train, or the others.
enum which { ALL, TRAININGS, OTHERS };

static bool is_wanted(const struct dirent *entry, enum which which) {
    const bool training = strncmp(entry->d_name, "train", 5) == 0;
    return entry->d_name[0] != '.' && entry->d_type != DT_DIR &&
           (which == ALL || training == (which == TRAININGS));
}

// A broken promise ends the process: the files are counted so that an empty folder is no pass.
static void replay_all(const char *name, const char *folder, enum which which) {
    char path[2 * NAME];
    const struct hn_fuzz_target *target = hn_fuzz_find(name);
    CU_ASSERT_PTR_NOT_NULL_FATAL(target);
    DIR *listing = opendir(folder);
    CU_ASSERT_PTR_NOT_NULL_FATAL(listing);
    int files = 0;
    hn_fuzz_tally_clear();
    for (struct dirent *entry; (entry = readdir(listing));) {
        if (!is_wanted(entry, which))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        replay(target, path);
        files++;
    }
    closedir(listing);
    CU_ASSERT(files > 0);
    const struct hn_fuzz_tally *t = hn_fuzz_tally();
    printf("    %s: %d inputs, of which %d were taken, and %d sentences refused the others\n", name,
           (int)t->inputs, (int)t->taken, (int)t->sentences);
}

static void test_corpus(void) {
    for (const struct hn_fuzz_target *t = hn_fuzz_targets; t->name; t++) {
        char folder[NAME];
        snprintf(folder, sizeof folder, "tests/fuzz/corpus/%s", t->name);
        replay_all(t->name, folder, ALL);
    }
}

// The program's own jobs are seeds as they stand.
static void test_jobs(void) {
    replay_all("job", "harness/jobs", OTHERS);
    replay_all("train", "harness/jobs", TRAININGS);
}

static const struct hn_test tests[] = {{"corpus", test_corpus}, {"jobs", test_jobs}};

HN_TEST_MAIN("fuzz", tests)
