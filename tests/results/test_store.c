// SPDX-License-Identifier: GPL-3.0-or-later
// Results files: written, read, joined and read by other programs; disks and memory that run out.
#include "core/files.h"
#include "datasets/h5.h"
#include "tests/store_fixture.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int files_in_folder(void) {
    char command[512], out[32];
    snprintf(command, sizeof command, "ls -A '%s' | wc -l", folder);
    CU_ASSERT_EQUAL(hn_fixture_run(command, out, sizeof out), 0);
    return atoi(out);
}

static void round_trip(void) {
    begin();
    struct hn_results whole = fixture_results(&ctx, 0, FIXTURE_ROWS), back;
    HN_CHECK(&ctx, hn_results_write(&ctx, &whole, in_folder("a.h5")));
    HN_CHECK(&ctx, hn_results_read(&ctx, in_folder("a.h5"), &back));
    CU_ASSERT(same_results(&whole, &back));
    CU_ASSERT_EQUAL(back.n_attributes, whole.n_attributes);
    CU_ASSERT_EQUAL(back.n_env, whole.n_env);
    CU_ASSERT_STRING_EQUAL(hn_results_get(&back, "config"), hn_results_get(&whole, "config"));
    CU_ASSERT_STRING_EQUAL(hn_results_get(&back, "absent"), "");
    CU_ASSERT_STRING_EQUAL(hn_results_get_env(&back, "tool_version"), "2.7");
    CU_ASSERT_STRING_EQUAL(hn_results_get_env(&back, "sgemm_gflops"), "1234.5");
    CU_ASSERT_STRING_EQUAL(hn_results_get_env(&back, "n_cpu"), "16");
    // Written again, from what was read and from a copy made anew: the same bytes.
    struct hn_results again = fixture_results(&ctx, 0, FIXTURE_ROWS);
    HN_CHECK(&ctx, hn_results_write(&ctx, &back, in_folder("b.h5")));
    HN_CHECK(&ctx, hn_results_write(&ctx, &again, in_folder("c.h5")));
    CU_ASSERT(same_files(in_folder("a.h5"), in_folder("b.h5")));
    CU_ASSERT(same_files(in_folder("a.h5"), in_folder("c.h5")));
    hn_results_free(&ctx, &whole);
    hn_results_free(&ctx, &back);
    hn_results_free(&ctx, &again);
    end();
}

// What a file cannot hold is refused before it is there; histograms of other bins are not joined;
// what looks like a number and is none stays a text.
static void odd_parts(void) {
    begin();
    const char *const columns[] = {"row", "a/b"};
    for (int i = 0; i < 2; i++) {
        const struct hn_column column = {columns[i], HN_COLUMN_REAL, "1", "", HN_NEITHER};
        struct hn_results r = fixture_results(&ctx, 0, 2);
        fixture_columns(&ctx, &r.runs, &column, 1);
        HN_CHECK_FAILS(&ctx, hn_results_write(&ctx, &r, in_folder("odd.h5")), HN_INTERNAL,
                       "table runs: a column cannot be called ");
        hn_results_free(&ctx, &r);
    }
    struct hn_results r = fixture_results(&ctx, 0, 2), back;
    struct hn_table *t = hn_results_add_table(&ctx, &r);
    CU_ASSERT_PTR_NOT_NULL_FATAL(t);
    HN_CHECK(&ctx, hn_table_init(&ctx, t, "x/y"));
    HN_CHECK_FAILS(&ctx, hn_results_write(&ctx, &r, in_folder("odd.h5")), HN_INTERNAL,
                   "a table cannot be called x/y");
    CU_ASSERT(access(in_folder("odd.h5"), F_OK) != 0);
    hn_results_free(&ctx, &r);
    for (int i = 0; i < 3; i++) {
        struct hn_results other = fixture_results(&ctx, 2, 2);
        r = fixture_results(&ctx, 0, 2);
        other.bin_lo -= i == 0 ? 0.5 : 0;
        other.bin_hi -= i == 1 ? 0.5 : 0;
        other.bin_lo += i == 2 ? 0.5 : 0;
        HN_CHECK_FAILS(&ctx, hn_results_append(&ctx, &r, &other), HN_DATA, "cannot be merged");
        hn_results_free(&ctx, &other);
        hn_results_free(&ctx, &r);
    }
    static const char *const env[][2] = {{"n_cpu", "many"}, {"load_s", "1.5"}, {"n_none", ""}};
    r = fixture_results(&ctx, 0, 2);
    for (int i = 0; i < 3; i++)
        HN_CHECK(&ctx, hn_results_set_env(&ctx, &r, env[i][0], env[i][1]));
    HN_CHECK(&ctx, hn_results_write(&ctx, &r, in_folder("odd.h5")));
    hn_results_free(&ctx, &r);
    HN_CHECK(&ctx, hn_results_read(&ctx, in_folder("odd.h5"), &back));
    for (int i = 0; i < 3; i++)
        CU_ASSERT_STRING_EQUAL(hn_results_get_env(&back, env[i][0]), env[i][1]);
    hn_results_free(&ctx, &back);
    end();
}

// Rows read one by one from shards and joined are the file written at once.
static void append_equals_whole(void) {
    begin();
    struct hn_results whole = fixture_results(&ctx, 0, FIXTURE_ROWS), joined = {0};
    for (int row = 0; row < FIXTURE_ROWS; row++) {
        struct hn_results shard = fixture_results(&ctx, row, 1), read;
        HN_CHECK(&ctx, hn_results_set(&ctx, &shard, "run_key", "abc"));
        HN_CHECK(&ctx, hn_results_write(&ctx, &shard, in_folder("shard.h5")));
        HN_CHECK(&ctx, hn_results_read(&ctx, in_folder("shard.h5"), &read));
        HN_CHECK(&ctx, hn_results_append(&ctx, &joined, &read));
        hn_results_free(&ctx, &shard);
        hn_results_free(&ctx, &read);
    }
    CU_ASSERT(same_results(&whole, &joined));
    HN_CHECK(&ctx, hn_results_write(&ctx, &whole, in_folder("whole.h5")));
    HN_CHECK(&ctx, hn_results_write(&ctx, &joined, in_folder("joined.h5")));
    CU_ASSERT(same_files(in_folder("whole.h5"), in_folder("joined.h5")));
    hn_results_free(&ctx, &whole);
    hn_results_free(&ctx, &joined);
    end();
}

// Arrays may move only when they double: 1,000 appends move them about ten times.
static void append_is_linear(void) {
    begin();
    struct hn_results one = fixture_results(&ctx, 3, 1), joined = {0};
    int moved = 0;
    for (int i = 0; i < 1000; i++) {
        const void *histogram = joined.histogram, *batches = joined.batch_fn_ratio;
        HN_CHECK(&ctx, hn_results_append(&ctx, &joined, &one));
        moved += (joined.histogram != histogram) + (joined.batch_fn_ratio != batches);
    }
    CU_ASSERT(moved <= 2 * 11);
    CU_ASSERT_EQUAL(joined.runs.rows, 1000);
    CU_ASSERT_EQUAL(joined.batch_start[1000], 3000);
    CU_ASSERT_EQUAL(joined.timing.cells[0].count[1999], 999);
    CU_ASSERT_EQUAL(joined.histogram[999 * 800 + 250], one.histogram[250]);
    hn_results_free(&ctx, &one);
    hn_results_free(&ctx, &joined);
    end();
}

// Files without histograms, batches or tables, joined with files that have them.
static void append_fills_what_is_missing(void) {
    begin();
    struct hn_results full = fixture_results(&ctx, 2, 2), bare = {0}, joined = {0};
    fixture_runs(&ctx, &bare.runs);
    fixture_fill_row(&ctx, &bare.runs, 7);
    HN_CHECK(&ctx, hn_results_append(&ctx, &joined, &bare));
    HN_CHECK(&ctx, hn_results_append(&ctx, &joined, &full));
    HN_CHECK(&ctx, hn_results_append(&ctx, &joined, &bare));
    CU_ASSERT_EQUAL(joined.runs.rows, 4);
    uint64_t in_gaps = 0;
    for (int b = 0; b < 800; b++)
        in_gaps += joined.histogram[b] + joined.histogram[3 * 800 + b];
    CU_ASSERT_EQUAL(in_gaps, 0);
    CU_ASSERT_EQUAL(memcmp(joined.histogram + 800, full.histogram, 1600 * sizeof(uint64_t)), 0);
    const int64_t start[] = {0, 0, 2, 5, 5};
    CU_ASSERT_EQUAL(memcmp(joined.batch_start, start, sizeof start), 0);
    CU_ASSERT_EQUAL(joined.timing.cells[0].count[0], 1); // the run of `full` that is row 1 now
    CU_ASSERT_EQUAL(joined.table[1].cells[0].count[0], 1);
    CU_ASSERT_EQUAL(joined.table[1].cells[1].count[0], 0);
    full.bins = 100;
    HN_CHECK_FAILS(&ctx, hn_results_append(&ctx, &joined, &full), HN_DATA, "bins");
    hn_results_free(&ctx, &full);
    hn_results_free(&ctx, &bare);
    hn_results_free(&ctx, &joined);
    end();
}

static void empty_results(void) {
    begin();
    struct hn_results empty = {0}, back;
    HN_CHECK(&ctx, hn_results_write(&ctx, &empty, in_folder("empty.h5")));
    HN_CHECK(&ctx, hn_results_read(&ctx, in_folder("empty.h5"), &back));
    CU_ASSERT_EQUAL(back.runs.rows, 0);
    CU_ASSERT_EQUAL(back.n_tables + back.n_env + back.kinds, 0);
    hn_results_free(&ctx, &back);
    struct hn_results columns = fixture_results(&ctx, 0, 0);
    HN_CHECK(&ctx, hn_results_write(&ctx, &columns, in_folder("empty.h5")));
    HN_CHECK(&ctx, hn_results_read(&ctx, in_folder("empty.h5"), &back));
    CU_ASSERT(same_results(&columns, &back));
    hn_results_free(&ctx, &columns);
    hn_results_free(&ctx, &back);
    end();
}

enum { LONG_ROWS = 20000 };

// A table of many rows with three columns of texts: few that come again, all empty but one, and one
// that is longer than all others together.
static struct hn_results long_results(void) {
    struct hn_results r = fixture_results(&ctx, 0, FIXTURE_ROWS);
    char *longest = calloc(64 * LONG_ROWS, 1);
    if (!longest)
        abort();
    memset(longest, 'x', 64 * LONG_ROWS - 1);
    for (int64_t row = 0; row < LONG_ROWS; row++) {
        const struct hn_described cell[] = {
            HN_TEXT_CELL("few", "come again", row % 3 ? "Größe" : "data set of a long name"),
            HN_TEXT_CELL("empty", "all but one", row == 7 ? "7" : ""),
            HN_TEXT_CELL("one", "longer than all others", row == 9 ? longest : "short")};
        HN_CHECK(&ctx, hn_results_add_row(&ctx, &r, "long", cell, 3));
    }
    free(longest);
    return r;
}

// Texts of many rows take little room, and are what they were, however they are stored.
static void texts_of_many_rows(void) {
    begin();
    struct hn_results whole = long_results(), back;
    HN_CHECK(&ctx, hn_results_write(&ctx, &whole, in_folder("long.h5")));
    HN_CHECK(&ctx, hn_results_read(&ctx, in_folder("long.h5"), &back));
    CU_ASSERT(same_results(&whole, &back));
    HN_CHECK(&ctx, hn_results_write(&ctx, &back, in_folder("again.h5")));
    CU_ASSERT(same_files(in_folder("long.h5"), in_folder("again.h5")));
    hid_t file = H5Fopen(in_folder("long.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    static const char *const name[] = {"tables/long/few", "tables/long/empty", "tables/long/one"};
    for (int c = 0; c < 3; c++) {
        hid_t set = H5Dopen2(file, name[c], H5P_DEFAULT), type = H5Dget_type(set);
        CU_ASSERT_EQUAL(H5Tis_variable_str(type) > 0, c == 2);
        CU_ASSERT_EQUAL(H5Tget_cset(type), H5T_CSET_UTF8);
        if (c < 2)
            CU_ASSERT(H5Dget_storage_size(set) < LONG_ROWS);
        H5Tclose(type);
        H5Dclose(set);
    }
    H5Fclose(file);
    hn_results_free(&ctx, &whole);
    hn_results_free(&ctx, &back);
    end();
}

static void opens_in_h5py(void) {
    begin();
    char command[1024], out[4096];
    struct hn_results whole = long_results();
    HN_CHECK(&ctx, hn_results_write(&ctx, &whole, in_folder("a.h5")));
    hn_results_free(&ctx, &whole);
    snprintf(command, sizeof command,
             "PYTHON=/usr/bin/python3; [ -x $PYTHON ] || PYTHON=python3; "
             "env -u LD_PRELOAD $PYTHON tests/h5py_results.py '%s' 2>&1",
             in_folder("a.h5"));
    int status = hn_fixture_run(command, out, sizeof out);
    end();
    if (status == 77 || status == 127)
        hn_test_skip("Python with h5py is not there (python3-h5py)");
    if (status != 0)
        fprintf(stderr, "%s\n", out);
    CU_ASSERT_EQUAL(status, 0);
}

static void unwritable(void) {
    begin();
    struct hn_results r = fixture_results(&ctx, 0, 1);
    HN_CHECK_FAILS(&ctx, hn_results_write(&ctx, &r, "/nowhere/a.h5"), HN_USAGE, "/nowhere/a.h5");
    HN_CHECK_FAILS(&ctx, hn_results_write(&ctx, &r, folder), HN_USAGE, folder);
    hn_results_free(&ctx, &r);
    CU_ASSERT_EQUAL(files_in_folder(), 0);
    end();
}

// A full disk, as a limit on the size of files: in a child, which reports by its exit status.
static void disk_full(void) {
    begin();
    struct hn_results r = fixture_results(&ctx, 0, FIXTURE_ROWS);
    for (rlim_t capacity = 0; capacity <= 40000; capacity += 10000) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            struct rlimit limit = {capacity, capacity};
            (void)signal(SIGXFSZ, SIG_IGN);
            enum hn_code code = setrlimit(RLIMIT_FSIZE, &limit)
                                    ? HN_INTERNAL
                                    : hn_results_write(&ctx, &r, in_folder("a.h5"));
            _exit(code == HN_IO && strstr(ctx.message, "a.h5") ? 0 : 1);
        }
        int status = -1;
        CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
        CU_ASSERT_EQUAL(status, 0);
        CU_ASSERT_EQUAL(files_in_folder(), 0);
    }
    hn_results_free(&ctx, &r);
    end();
}

// What a killed process left of a file is removed by the next one that writes it.
static void left_over(void) {
    begin();
    struct hn_results r = fixture_results(&ctx, 0, 1);
    HN_CHECK(&ctx, hn_results_write(&ctx, &r, in_folder("a.h5")));
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int fd;
        _exit(hn_temporary_file(&ctx, in_folder("a.h5"), &fd) ? 0 : 1);
    }
    int status = -1;
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    CU_ASSERT_EQUAL(status, 0);
    CU_ASSERT_EQUAL(files_in_folder(), 2);
    HN_CHECK(&ctx, hn_results_write(&ctx, &r, in_folder("a.h5")));
    CU_ASSERT_EQUAL(files_in_folder(), 1);
    hn_results_free(&ctx, &r);
    end();
}

// A number that names no row of another table is none after appending, whatever it was.
static void append_of_no_row(void) {
    begin();
    struct hn_results r = fixture_results(&ctx, 0, 2), all = {0};
    int run = hn_table_find(&r.timing, "run");
    r.timing.cells[run].count[1] = INT64_MAX;
    HN_CHECK(&ctx, hn_results_append(&ctx, &all, &r));
    HN_CHECK(&ctx, hn_results_append(&ctx, &all, &r));
    CU_ASSERT_EQUAL(all.timing.cells[run].count[1], INT64_MAX);
    CU_ASSERT_EQUAL(all.timing.cells[run].count[r.timing.rows], 2);
    CU_ASSERT_EQUAL(all.timing.cells[run].count[r.timing.rows + 1], -1);
    hn_results_free(&ctx, &all);
    hn_results_free(&ctx, &r);
    end();
}

static enum hn_code write_one(const struct hn_results *one) {
    return hn_results_write(&ctx, one, in_folder("a.h5"));
}

static enum hn_code read_and_append(const struct hn_results *one) {
    struct hn_results back, joined = {0};
    enum hn_code code = hn_results_read(&ctx, in_folder("a.h5"), &back);
    if (code != HN_OK)
        return code;
    code = hn_results_append(&ctx, &joined, one);
    if (code == HN_OK)
        code = hn_results_append(&ctx, &joined, &back);
    hn_results_free(&ctx, &joined);
    hn_results_free(&ctx, &back);
    return code;
}

static void failing_allocations(void) {
    begin();
    struct hn_results one = fixture_results(&ctx, 1, 1);
    CU_ASSERT(fail_each(write_one, &one) > 5);
    CU_ASSERT_EQUAL(files_in_folder(), 1);
    CU_ASSERT(fail_each(read_and_append, &one) > 200);
    hn_results_free(&ctx, &one);
    end();
}

static const struct hn_test tests[] = {
    {"odd parts", odd_parts},
    {"round_trip", round_trip},
    {"append_equals_whole", append_equals_whole},
    {"append_is_linear", append_is_linear},
    {"append_fills_what_is_missing", append_fills_what_is_missing},
    {"empty_results", empty_results},
    {"texts_of_many_rows", texts_of_many_rows},
    {"opens_in_h5py", opens_in_h5py},
    {"unwritable", unwritable},
    {"disk_full", disk_full},
    {"left_over", left_over},
    {"append_of_no_row", append_of_no_row},
    {"failing_allocations", failing_allocations},
};
HN_TEST_MAIN("store", tests)
