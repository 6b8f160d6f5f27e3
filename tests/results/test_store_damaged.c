// SPDX-License-Identifier: GPL-3.0-or-later
// Results files that are missing, cut, damaged or hostile: refused with their name.
#include "tests/store_fixture.h"

#include <sys/wait.h>
#include <unistd.h>

static void no_such_file(void) {
    begin();
    struct hn_results r;
    HN_CHECK_FAILS(&ctx, hn_results_read(&ctx, in_folder("none.h5"), &r), HN_DATA, "none.h5");
    spill(in_folder("text.h5"), "not hdf5", 8);
    HN_CHECK_FAILS(&ctx, hn_results_read(&ctx, in_folder("text.h5"), &r), HN_DATA, "HDF5");
    end();
}

static void truncated(void) {
    begin();
    long size;
    struct hn_results r = fixture_results(&ctx, 0, 6), back;
    HN_CHECK(&ctx, hn_results_write(&ctx, &r, in_folder("a.h5")));
    hn_results_free(&ctx, &r);
    char *bytes = slurp(in_folder("a.h5"), &size);
    for (int percent = 0; percent < 100; percent++) {
        spill(in_folder("cut.h5"), bytes, size * percent / 100);
        HN_CHECK_FAILS(&ctx, hn_results_read(&ctx, in_folder("cut.h5"), &back), HN_DATA, "cut.h5");
    }
    free(bytes);
    end();
}

// Turns over a byte of every object header in turn and reads the file: how many headers there are,
// how many of them were not missed, and whether every refusal was as it should be.
struct damage {
    int headers, missed;
    bool clean;
};

static struct damage damage_headers(char *bytes, long size) {
    struct damage d = {0, 0, true};
    for (long place = 0; place + 16 < size; place++) {
        if (memcmp(bytes + place, "OHDR", 4) != 0)
            continue;
        struct hn_results back;
        bytes[place + 12] = (char)(bytes[place + 12] ^ 0x55);
        spill(in_folder("cut.h5"), bytes, size);
        bytes[place + 12] = (char)(bytes[place + 12] ^ 0x55);
        enum hn_code code = hn_results_read(&ctx, in_folder("cut.h5"), &back);
        d.headers++;
        d.missed += code == HN_OK;
        d.clean &= code == HN_OK || (code == HN_DATA && strstr(ctx.message, "cut.h5"));
        if (code == HN_OK)
            hn_results_free(&ctx, &back);
    }
    return d;
}

// Every object header carries a checksum: damage in any that is read is found. (Damage to the sizes
// in the library's global heap, where texts stand, is not: HDF5 1.10 trusts them.) And every bit of
// the file is under the checksum. In a child, since the library leaks a damaged header.
static void damaged(void) {
    begin();
    long size;
    struct hn_results r = fixture_results(&ctx, 0, 1);
    HN_CHECK(&ctx, hn_results_write(&ctx, &r, in_folder("a.h5")));
    hn_results_free(&ctx, &r);
    char *bytes = slurp(in_folder("a.h5"), &size);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        // Without the checksum, as other programs leave a file, the scales hist/bin, hist/kind and
        // batch/batch are not looked at; with it nothing is missed.
        struct damage open = damage_headers(bytes, size - 85),
                      with_checksum = damage_headers(bytes, size);
        bool good = open.clean && open.headers > 30 && open.missed == 3;
        _exit(good && with_checksum.clean && with_checksum.headers > 30 && with_checksum.missed == 0
                  ? 0
                  : 1);
    }
    int status = -1;
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    CU_ASSERT_EQUAL(status, 0);
    free(bytes);
    end();
}

// A bit that flips anywhere before the checksum is found; so is one in the digits of the checksum.
// A file without checksum is read: other programs drop it when they write.
static void with_checksum(void) {
    begin();
    long size;
    struct hn_results r = fixture_results(&ctx, 0, 3), back;
    HN_CHECK(&ctx, hn_results_write(&ctx, &r, in_folder("a.h5")));
    hn_results_free(&ctx, &r);
    char *bytes = slurp(in_folder("a.h5"), &size);
    for (long i = 0; i < 200; i++) {
        long place = i * (size - 86) / 199;
        bytes[place] = (char)(bytes[place] ^ (1 << (i % 8)));
        spill(in_folder("bad.h5"), bytes, size);
        bytes[place] = (char)(bytes[place] ^ (1 << (i % 8)));
        HN_CHECK_FAILS(&ctx, hn_results_read(&ctx, in_folder("bad.h5"), &back), HN_DATA, "SHA-256");
    }
    bytes[size - 2] ^= 1;
    spill(in_folder("bad.h5"), bytes, size);
    HN_CHECK_FAILS(&ctx, hn_results_read(&ctx, in_folder("bad.h5"), &back), HN_DATA, "SHA-256");
    spill(in_folder("bad.h5"), bytes, size - 85);
    HN_CHECK(&ctx, hn_results_read(&ctx, in_folder("bad.h5"), &back));
    CU_ASSERT_EQUAL(back.runs.rows, 3);
    hn_results_free(&ctx, &back);
    free(bytes);
    end();
}

// A file that a function has changed is refused with a message that names the place.
static void refuse(void (*change)(hid_t file), const char *part) {
    struct hn_results r = fixture_results(&ctx, 0, 3), back;
    const char *path = in_folder("changed.h5");
    HN_CHECK(&ctx, hn_results_write(&ctx, &r, path));
    hn_results_free(&ctx, &r);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    CU_ASSERT_FATAL(file >= 0);
    change(file);
    CU_ASSERT(H5Fclose(file) >= 0);
    HN_CHECK_FAILS(&ctx, hn_results_read(&ctx, path, &back), HN_DATA, part);
    CU_ASSERT_PTR_NOT_NULL(strstr(ctx.message, "changed.h5"));
}

// Puts an array of `n` numbers (zeros, or none stored if `lazy`) in the place of a dataset.
static void replace(hid_t file, const char *name, hid_t type, hsize_t n, bool lazy) {
    hsize_t chunk = 1024;
    hid_t space = H5Screate_simple(1, &n, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
    if (lazy)
        CU_ASSERT(H5Pset_chunk(list, 1, &chunk) >= 0);
    CU_ASSERT(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
    hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    int64_t zeros[FIXTURE_BINS + 1] = {0};
    if (!lazy)
        CU_ASSERT(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros) >= 0);
    H5Dclose(set);
    H5Pclose(list);
    H5Sclose(space);
}

static void set_schema(hid_t f) {
    CU_ASSERT_EQUAL(hn_h5_set_text(&ctx, f, "schema", "hardneg-snapshot"), HN_OK);
}
static void set_version(hid_t f) {
    CU_ASSERT_EQUAL(hn_h5_set_int(&ctx, f, "schema_version", 2), HN_OK);
}
static void drop_runs(hid_t f) { CU_ASSERT(H5Ldelete(f, "runs", H5P_DEFAULT) >= 0); }
static void wrong_length(hid_t f) { replace(f, "runs/M", H5T_NATIVE_DOUBLE, 4, false); }
static void huge_runs(hid_t f) { replace(f, "runs/row", H5T_NATIVE_INT64, (hsize_t)1 << 50, true); }
static void huge_batches(hid_t f) {
    replace(f, "batch/fn_ratio", H5T_NATIVE_DOUBLE, (hsize_t)1 << 40, true);
}
static void wrong_splits(hid_t f) { replace(f, "batch/row_splits", H5T_NATIVE_INT64, 4, false); }
static void float_splits(hid_t f) { replace(f, "batch/row_splits", H5T_NATIVE_DOUBLE, 4, false); }
static void wrong_counts(hid_t f) { replace(f, "hist/counts", H5T_NATIVE_UINT64, 4, false); }
static void reference_column(hid_t f) { replace(f, "runs/M", H5T_STD_REF_OBJ, 3, false); }
static void flat_edges(hid_t f) {
    replace(f, "hist/bin_edge", H5T_NATIVE_DOUBLE, FIXTURE_BINS + 1, false);
}
static void external_link(hid_t f) {
    drop_runs(f);
    CU_ASSERT(H5Lcreate_external("other.h5", "/runs", f, "runs", H5P_DEFAULT, H5P_DEFAULT) >= 0);
}
static void external_column(hid_t f) {
    CU_ASSERT(H5Ldelete(f, "runs/M", H5P_DEFAULT) >= 0);
    CU_ASSERT(H5Lcreate_external("other.h5", "/M", f, "runs/M", H5P_DEFAULT, H5P_DEFAULT) >= 0);
}
static void external_storage(hid_t f) {
    hsize_t n = 3;
    hid_t space = H5Screate_simple(1, &n, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
    CU_ASSERT(H5Pset_external(list, "/etc/passwd", 0, 24) >= 0);
    CU_ASSERT(H5Ldelete(f, "runs/M", H5P_DEFAULT) >= 0);
    hid_t set = H5Dcreate2(f, "runs/M", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    CU_ASSERT(set >= 0);
    H5Dclose(set);
    H5Pclose(list);
    H5Sclose(space);
}

static void many_columns(hid_t f) {
    char name[24];
    hid_t group = H5Gopen2(f, "runs", H5P_DEFAULT);
    for (int i = 0; i <= 4096; i++) {
        snprintf(name, sizeof name, "more%d", i);
        CU_ASSERT(H5Lcreate_soft("/runs/M", group, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
    }
    H5Gclose(group);
}
static void root_table(hid_t f) {
    H5Gclose(H5Gcreate2(f, "tables/training", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
}
static void no_schema(hid_t f) { CU_ASSERT_EQUAL(hn_h5_set_text(&ctx, f, "schema", ""), HN_OK); }
static void many_attributes(hid_t f) {
    char name[24];
    for (int i = 0; i <= 1024; i++) {
        snprintf(name, sizeof name, "more%d", i);
        CU_ASSERT_EQUAL(hn_h5_set_int(&ctx, f, name, i), HN_OK);
    }
}
// Counts of any shape and type, of which nothing is stored.
static void shape_counts(hid_t f, hid_t type, hsize_t a, hsize_t b, hsize_t c) {
    const hsize_t dim[] = {a, b, c};
    hid_t space = H5Screate_simple(3, dim, NULL);
    CU_ASSERT(H5Ldelete(f, "hist/counts", H5P_DEFAULT) >= 0);
    hid_t set = H5Dcreate2(f, "hist/counts", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    static const int64_t zeros[4 * 4 * FIXTURE_BINS];
    CU_ASSERT(H5Dwrite(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros) >= 0);
    H5Dclose(set);
    H5Sclose(space);
}
static void real_counts(hid_t f) { shape_counts(f, H5T_NATIVE_DOUBLE, 3, 4, FIXTURE_BINS); }
static void counts_of_rows(hid_t f) { shape_counts(f, H5T_NATIVE_INT64, 4, 4, FIXTURE_BINS); }
static void counts_of_kinds(hid_t f) { shape_counts(f, H5T_NATIVE_INT64, 3, 3, FIXTURE_BINS); }
static void counts_of_none(hid_t f) { shape_counts(f, H5T_NATIVE_INT64, 3, 4, 0); }

static void store(hid_t file, const char *name, hid_t type, const void *values);
static void endless_edges(hid_t f) {
    double edge[FIXTURE_BINS + 1] = {0};
    edge[FIXTURE_BINS] = INFINITY;
    store(f, "hist/bin_edge", H5T_NATIVE_DOUBLE, edge);
}

static void hostile(void) {
    begin();
    refuse(set_schema, "hardneg-snapshot");
    refuse(set_version, "version 2");
    refuse(drop_runs, "runs is missing");
    refuse(wrong_length, "runs/M has the wrong length");
    refuse(huge_runs, "runs/row claims more values");
    refuse(huge_batches, "batch/fn_ratio claims more values");
    refuse(wrong_splits, "batch/fn_ratio has the wrong length");
    refuse(float_splits, "batch/row_splits is of the wrong type");
    refuse(wrong_counts, "hist/counts has the wrong shape");
    refuse(reference_column, "runs/M holds neither");
    refuse(real_counts, "hist/counts is of the wrong type");
    refuse(counts_of_rows, "hist/counts has the wrong shape");
    refuse(counts_of_kinds, "hist/counts has the wrong shape");
    refuse(counts_of_none, "hist/counts has the wrong shape");
    refuse(many_columns, "runs has more than 4096 members");
    refuse(root_table, "tables/training belongs to the root of the file");
    refuse(no_schema, "is not a results file but another kind of HDF5 file");
    refuse(many_attributes, "attributes cannot be read");
    refuse(flat_edges, "hist/bin_edge does not bound bins");
    refuse(endless_edges, "hist/bin_edge does not bound bins");
    refuse(external_link, "runs is not a group of this file");
    refuse(external_column, "runs/M is not a dataset of this file");
    refuse(external_storage, "runs/M is not a dataset of this file");
    end();
}

// Writes values over those of a dataset.
static void store(hid_t file, const char *name, hid_t type, const void *values) {
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    CU_ASSERT(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(set);
}
static void negative_count(hid_t f) {
    store(f, "runs/n_dot", H5T_NATIVE_INT64, (const int64_t[]){1, -5, 2});
}
static void beyond_int64(hid_t f) {
    replace(f, "runs/n_dot", H5T_NATIVE_UINT64, 3, false);
    store(f, "runs/n_dot", H5T_NATIVE_UINT64, (const uint64_t[]){1, 2, UINT64_MAX});
}
static void huge_counts(hid_t f) {
    static uint64_t count[3 * 4 * FIXTURE_BINS] = {[7] = UINT64_MAX};
    store(f, "hist/counts", H5T_NATIVE_UINT64, count);
}
static void no_share(hid_t f) {
    store(f, "batch/fn_ratio", H5T_NATIVE_DOUBLE, (const double[]){0.1, 7, NAN});
}
static void no_cosine(hid_t f) {
    store(f, "batch/cos_mean", H5T_NATIVE_DOUBLE, (const double[]){-INFINITY, 0, 0});
}
static void no_such_row(hid_t f) {
    store(f, "timing/run", H5T_NATIVE_INT64, (const int64_t[]){0, 0, 99, 1, 2, 2});
}
static void number_status(hid_t f) { replace(f, "runs/status", H5T_NATIVE_DOUBLE, 3, false); }
static void number_note(hid_t f) { replace(f, "runs/note", H5T_NATIVE_DOUBLE, 3, false); }
static void real_rows(hid_t f) { replace(f, "timing/run", H5T_NATIVE_DOUBLE, 6, false); }
static void drop_seed(hid_t f) { CU_ASSERT(H5Ldelete(f, "runs/seed", H5P_DEFAULT) >= 0); }
static void twice(hid_t f) {
    hid_t type = hn_h5_text_type();
    store(f, "runs/cell_key", type, (const char *[]){"a", "b", "a"});
    H5Tclose(type);
}

static void no_temperature(hid_t f) {
    store(f, "runs/temperature", H5T_NATIVE_DOUBLE, (const double[]){0.5, -1, 0.5});
}
static void no_batch(hid_t f) {
    store(f, "runs/batch_size", H5T_NATIVE_INT64, (const int64_t[]){4, 4, 0});
}
static void real_batch(hid_t f) { replace(f, "runs/batch_size", H5T_NATIVE_DOUBLE, 3, false); }
static void no_status(hid_t f) {
    hid_t type = hn_h5_text_type();
    store(f, "runs/status", type, (const char *[]){"ok", "fine", "ok"});
    H5Tclose(type);
}
static void set_attribute(hid_t f, const char *name, const char *text) {
    hid_t set = H5Dopen2(f, "runs/n_dot", H5P_DEFAULT);
    CU_ASSERT_EQUAL(hn_h5_set_text(&ctx, set, name, text), HN_OK);
    H5Dclose(set);
}
static void no_snapshot(hid_t f) {
    store(f, "tables/staleness/snapshot", H5T_NATIVE_INT64, (const int64_t[]){0, 9, 1});
}
static void falling_splits(hid_t f) {
    store(f, "batch/row_splits", H5T_NATIVE_INT64, (const int64_t[]){0, 2, 1, 3});
}
static void late_splits(hid_t f) {
    store(f, "batch/row_splits", H5T_NATIVE_INT64, (const int64_t[]){1, 2, 3, 3});
}
static void text_units(hid_t f) {
    hid_t set = H5Dopen2(f, "runs/note", H5P_DEFAULT);
    CU_ASSERT_EQUAL(hn_h5_set_text(&ctx, set, "units", "s"), HN_OK);
    H5Dclose(set);
}
static void no_direction(hid_t f) { set_attribute(f, "direction", "smaler"); }
static void no_role(hid_t f) { set_attribute(f, "role", "count"); }
static void other_direction(hid_t f) { set_attribute(f, "direction", "larger"); }

// What is possible, but not as it was written, is read with a note; of versions that wrote no
// checksums, without.
static void changed(void) {
    char note[HN_MESSAGE_MAX] = "";
    struct hn_results r;
    begin();
    ctx.notes = (struct hn_notes){hn_keep_note, note};
    for (int version = 2; version <= 4; version += 2) {
        r = fixture_results(&ctx, 0, 3);
        HN_CHECK(&ctx, hn_results_set_env(&ctx, &r, "results_version", version < 4 ? "2" : "4"));
        HN_CHECK(&ctx, hn_results_write(&ctx, &r, in_folder("new.h5")));
        hn_results_free(&ctx, &r);
        HN_CHECK(&ctx, hn_results_read(&ctx, in_folder("new.h5"), &r));
        hn_results_free(&ctx, &r);
        CU_ASSERT_STRING_EQUAL(note, "");
        hid_t file = H5Fopen(in_folder("new.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
        other_direction(file);
        H5Fclose(file);
        HN_CHECK(&ctx, hn_results_read(&ctx, in_folder("new.h5"), &r));
        hn_results_free(&ctx, &r);
    }
    CU_ASSERT_PTR_NOT_NULL(strstr(note, "new.h5: has no checksum, so another program"));
    end();
}

// Right shapes, but written by no run.
static void impossible(void) {
    begin();
    refuse(negative_count, "runs/n_dot holds -5 in row 1, which is below 0");
    refuse(beyond_int64, "runs/n_dot holds 9.22337e+18 in row 2");
    refuse(huge_counts, "hist/counts holds 9.22337e+18 in row 7");
    refuse(no_share, "batch/fn_ratio holds 7 in row 1, which is above 1");
    refuse(no_cosine, "batch/cos_mean holds -inf in row 0, which is below -1");
    refuse(no_such_row, "timing/run holds 99 in row 2, which is above 2");
    refuse(number_status, "runs/status is missing or of the wrong type");
    refuse(number_note, "runs/note is of the wrong type");
    refuse(real_rows, "timing/run is of the wrong type");
    refuse(drop_seed, "runs/seed is missing");
    refuse(twice, "runs/cell_key names a cell twice");
    refuse(no_temperature, "runs/temperature holds -1 in row 1, which is below 0.003");
    refuse(no_batch, "runs/batch_size holds 0 in row 2, which is below 1");
    refuse(real_batch, "runs/batch_size is of the wrong type");
    refuse(no_status, "runs/status holds a word that is no status");
    refuse(no_snapshot, "staleness/snapshot holds 9 in row 1, which is above 2");
    refuse(falling_splits, "batch/row_splits does not rise from 0");
    refuse(late_splits, "batch/row_splits does not rise from 0");
    refuse(text_units, "runs/note is of the wrong type");
    refuse(no_direction, "runs/n_dot has an attribute direction or role that is none");
    refuse(no_role, "runs/n_dot has an attribute direction or role that is none");
    struct hn_results r = fixture_results(&ctx, 0, 3), back;
    HN_CHECK(&ctx, hn_results_set_env(&ctx, &r, "results_version", "1099511627776"));
    HN_CHECK(&ctx, hn_results_write(&ctx, &r, in_folder("new.h5")));
    HN_CHECK_FAILS(&ctx, hn_results_read(&ctx, in_folder("new.h5"), &back), HN_DATA,
                   "use a program that is as new");
    hn_results_free(&ctx, &r);
    end();
}

static const struct hn_test tests[] = {
    {"no_such_file", no_such_file}, {"truncated", truncated}, {"damaged", damaged},
    {"sealed", with_checksum},      {"hostile", hostile},     {"impossible", impossible},
    {"changed", changed},
};
HN_TEST_MAIN("store_damaged", tests)
