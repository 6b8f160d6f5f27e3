// SPDX-License-Identifier: GPL-3.0-or-later
// Cells of a folder: files of their own, and the pack that they are put into.
#include "results/cell_bytes.h"
#include "results/cell_file.h"
#include "results/cell_pack.h"
#include "tests/store_fixture.h"

#include <limits.h>
#include <unistd.h>
#include <zlib.h>

static char run[PATH_MAX];

static void begin_run(void) {
    begin();
    snprintf(run, sizeof run, "%s", in_folder("run"));
    HN_CHECK(&ctx, hn_cell_store_prepare(&ctx, run));
}

// A cell's file counts if it is whole and its own, whichever way one looks.
static void cell_state(void) {
    static const char key[] = "0123456789abcdef", other[] = "fedcba9876543210";
    begin_run();
    struct hn_results cell = fixture_results(&ctx, 0, 1);
    const struct hn_column column = {"run_key", HN_COLUMN_TEXT, "", "", HN_NEITHER};
    struct hn_cell_status is;
    struct hn_cell_store cells = {.folder = run};
    HN_CHECK(&ctx, hn_results_set(&ctx, &cell, "run_key", key));
    HN_CHECK(&ctx, hn_table_add_column(&ctx, &cell.runs, &column));
    HN_CHECK(&ctx, hn_table_set_text(&ctx, &cell.runs, 0, "run_key", key));
    HN_CHECK(&ctx, hn_cell_store_write(&ctx, run, key, &cell));
    HN_CHECK(&ctx, hn_cell_store_write(&ctx, run, other, &cell));
    HN_CHECK(&ctx, hn_cell_store_state(&ctx, &cells, key, &is));
    CU_ASSERT(is.present && !is.failed);
    HN_CHECK(&ctx, hn_cell_store_state(&ctx, &cells, other, &is));
    CU_ASSERT(!is.present); // the file of another cell
    HN_CHECK(&ctx, hn_cell_store_state(&ctx, &cells, "none", &is));
    CU_ASSERT(!is.present);
    FILE *file = fopen(in_folder("run/cells/0123456789abcdef.cell"), "r+");
    CU_ASSERT_FATAL(file && fseek(file, 1000, SEEK_SET) == 0 && fputs("x", file) >= 0);
    CU_ASSERT_EQUAL(fclose(file), 0);
    HN_CHECK(&ctx, hn_cell_store_state(&ctx, &cells, key, &is));
    CU_ASSERT(!is.present);
    hn_cell_store_close(&ctx, &cells);
    hn_results_free(&ctx, &cell);
    end();
}

static enum hn_code write_and_read_cell(const struct hn_results *one) {
    struct hn_cell_store cells = {.folder = run};
    const struct hn_results *back;
    enum hn_code code = hn_cell_store_write(&ctx, run, "key", one);
    if (code == HN_OK)
        code = hn_cell_store_read(&ctx, &cells, "key", &back);
    hn_cell_store_close(&ctx, &cells);
    return code;
}

// What a cell file gives back is what was put in: written whole, it has the same bytes.
static void cell_files(void) {
    begin_run();
    struct hn_cell_store cells = {.folder = run};
    for (int rows = 0; rows <= FIXTURE_ROWS; rows += FIXTURE_ROWS / 2) {
        struct hn_results r = fixture_results(&ctx, 0, rows);
        const struct hn_results *back;
        HN_CHECK(&ctx, hn_cell_store_write(&ctx, run, "key", &r));
        HN_CHECK(&ctx, hn_cell_store_read(&ctx, &cells, "key", &back));
        CU_ASSERT(same_results(&r, back));
        HN_CHECK(&ctx, hn_results_write(&ctx, &r, in_folder("a.h5")));
        HN_CHECK(&ctx, hn_results_write(&ctx, back, in_folder("b.h5")));
        CU_ASSERT(same_files(in_folder("a.h5"), in_folder("b.h5")));
        hn_results_free(&ctx, &r);
    }
    hn_cell_store_close(&ctx, &cells);
    struct hn_results one = fixture_results(&ctx, 1, 1);
    CU_ASSERT(fail_each(write_and_read_cell, &one) > 50);
    hn_results_free(&ctx, &one);
    end();
}

// Bytes that are cut are refused; with a byte changed they are results or refused. Nothing stays
// allocated.
static void cell_bytes_damaged(void) {
    begin();
    struct hn_results r = fixture_results(&ctx, 0, 2), back;
    struct hn_bytes bytes = {0};
    HN_CHECK(&ctx, hn_cell_bytes_put(&ctx, &r, &bytes, &bytes));
    int64_t live = atomic_load(&ctx.memory.live);
    bool refused = true, clean = true;
    for (int64_t n = 0; n < bytes.n; n += 7) {
        struct hn_cursor cut = {bytes.data, n}, changed = {bytes.data, bytes.n};
        refused &= hn_cell_bytes_take(&ctx, &cut, &cut, &back) == HN_DATA;
        bytes.data[n] = (char)(bytes.data[n] ^ (1 << n % 8));
        enum hn_code code = hn_cell_bytes_take(&ctx, &changed, &changed, &back);
        bytes.data[n] = (char)(bytes.data[n] ^ (1 << n % 8));
        clean &= code == HN_OK || code == HN_DATA;
        if (code == HN_OK)
            hn_results_free(&ctx, &back);
        clean &= atomic_load(&ctx.memory.live) == live;
    }
    CU_ASSERT(refused && clean);
    hn_free(&ctx, bytes.data);
    hn_results_free(&ctx, &r);
    end();
}

// --- The pack ---

enum { CELLS = 256 }; // the least that are packed

static const char *key_of(int i) {
    static char key[32];
    snprintf(key, sizeof key, "%08x", (unsigned)i * 2654435761U);
    return key;
}

// Cell i has row i % FIXTURE_ROWS of the fixture, a key of its own, and in every fifth another
// column.
static struct hn_results cell_of(int i, const char *status) {
    struct hn_results cell = fixture_results(&ctx, i % FIXTURE_ROWS, 1);
    static const char *const name[] = {"run_key", "cell_key", "status", "program"};
    const char *const value[] = {key_of(i), key_of(i), status, ctx.program};
    for (int c = 0; c < 4; c++) {
        const struct hn_column column = {name[c], HN_COLUMN_TEXT, "", "", HN_NEITHER};
        if (hn_table_find(&cell.runs, name[c]) < 0)
            HN_CHECK(&ctx, hn_table_add_column(&ctx, &cell.runs, &column));
        HN_CHECK(&ctx, hn_table_set_text(&ctx, &cell.runs, 0, name[c], value[c]));
    }
    const struct hn_column odd = {"odd", HN_COLUMN_REAL, "1", "", HN_NEITHER};
    if (i % 5 == 0)
        HN_CHECK(&ctx, hn_table_add_column(&ctx, &cell.runs, &odd));
    HN_CHECK(&ctx, hn_results_set(&ctx, &cell, "run_key", key_of(i)));
    return cell;
}

static void write_cells(int from, int to, const char *status) {
    for (int i = from; i < to; i++) {
        struct hn_results cell = cell_of(i, status);
        HN_CHECK(&ctx, hn_cell_store_write(&ctx, run, key_of(i), &cell));
        hn_results_free(&ctx, &cell);
    }
}

static int files_of_cells(void) {
    char command[PATH_MAX + 64], out[32];
    snprintf(command, sizeof command, "ls '%s/cells' | grep -c 'cell$'", run);
    (void)hn_fixture_run(command, out, sizeof out);
    return atoi(out);
}

// The number of cells below n that are there, are what was written, and have that status.
static int right_cells(struct hn_cell_store *cells, int n, const char *status) {
    int right = 0;
    for (int i = 0; i < n; i++) {
        struct hn_cell_status is;
        struct hn_results wanted = cell_of(i, status);
        const struct hn_results *got;
        HN_CHECK(&ctx, hn_cell_store_state(&ctx, cells, key_of(i), &is));
        right += is.present && !is.foreign && is.failed == (strcmp(status, "failed") == 0) &&
                 !hn_cell_store_read(&ctx, cells, key_of(i), &got) && same_results(&wanted, got);
        hn_results_free(&ctx, &wanted);
    }
    return right;
}

static void pack(void) {
    struct hn_cell_store cells = {.folder = run};
    hn_cell_store_pack(&ctx, &cells);
}

// Fewer than that many keep their files; packed ones are what they were, in any order and for who
// looked into the folder before. A later file counts before the pack, until it is in it.
static void packed_cells(void) {
    begin_run();
    struct hn_cell_store before = {.folder = run}, after = {.folder = run};
    struct hn_cell_status is;
    struct hn_cell_list list;
    write_cells(0, CELLS - 1, "ok");
    pack();
    CU_ASSERT_EQUAL(files_of_cells(), CELLS - 1);
    HN_CHECK(&ctx, hn_cell_store_state(&ctx, &before, "none", &is));
    CU_ASSERT(!is.present);
    write_cells(CELLS - 1, CELLS, "ok");
    pack();
    CU_ASSERT_EQUAL(files_of_cells(), 0);
    CU_ASSERT_EQUAL(right_cells(&before, CELLS, "ok"), CELLS);
    CU_ASSERT_EQUAL(right_cells(&after, CELLS, "ok"), CELLS);
    HN_CHECK(&ctx, hn_cell_store_list(&ctx, &after, &list));
    CU_ASSERT(list.n == CELLS && hn_cell_list_has(&list, key_of(7)));
    for (int64_t i = 0; i < list.n; i++)
        hn_free(&ctx, list.key[i]);
    hn_free(&ctx, list.key);
    write_cells(0, 10, "failed");
    CU_ASSERT_EQUAL(right_cells(&before, 10, "failed"), 10);
    write_cells(10, CELLS, "failed");
    pack();
    CU_ASSERT_EQUAL(files_of_cells(), 0);
    CU_ASSERT_EQUAL(right_cells(&before, CELLS, "failed"), CELLS);
    hn_cell_store_close(&ctx, &before);
    hn_cell_store_close(&ctx, &after);
    end();
}

// A damaged file of its own is not in the pack, and does not keep others from it; a damaged pack
// has no cells.
static void packs_damaged(void) {
    begin_run();
    char path[PATH_MAX + 64];
    struct hn_cell_store cells = {.folder = run};
    struct hn_cell_status is;
    long size;
    write_cells(0, CELLS + 1, "ok");
    snprintf(path, sizeof path, "%s/cells/%s.cell", run, key_of(CELLS));
    spill(path, "damaged", 7);
    pack();
    CU_ASSERT_EQUAL(files_of_cells(), 1);
    CU_ASSERT_EQUAL(right_cells(&cells, CELLS, "ok"), CELLS);
    HN_CHECK(&ctx, hn_cell_store_state(&ctx, &cells, key_of(CELLS), &is));
    CU_ASSERT(!is.present);
    snprintf(path, sizeof path, "%s/cells/packed", run);
    char *bytes = slurp(path, &size);
    CU_ASSERT_FATAL(size > 1000 && size < CELLS * 2000L);
    bytes[size / 2] = (char)(bytes[size / 2] ^ 1);
    CU_ASSERT_EQUAL(unlink(path), 0);
    spill(path, bytes, size);
    free(bytes);
    HN_CHECK(&ctx, hn_cell_store_state(&ctx, &cells, key_of(0), &is));
    CU_ASSERT(!is.present);
    write_cells(0, CELLS, "failed");
    pack();
    CU_ASSERT_EQUAL(right_cells(&cells, CELLS, "failed"), CELLS);
    hn_cell_store_close(&ctx, &cells);
    end();
}

// Bytes of a pack that were changed by hand, the checksum too, do no harm.
static void packs_forged(void) {
    static const char line[] = "hardneg cells 1\n";
    begin_run();
    char path[PATH_MAX + 64];
    write_cells(0, CELLS, "ok");
    pack();
    snprintf(path, sizeof path, "%s/cells/packed", run);
    struct hn_bytes bytes;
    HN_CHECK(&ctx, hn_bytes_read(&ctx, path, line, &bytes));
    int64_t live = atomic_load(&ctx.memory.live);
    bool clean = true;
    ctx.notes.to = NULL;
    for (int64_t at = 0; at < bytes.n; at += 1 + bytes.n / 60) {
        struct hn_cell_store cells = {.folder = run};
        const struct hn_results *got;
        bytes.data[at] = (char)(bytes.data[at] ^ (1 << at % 8));
        HN_CHECK(&ctx, hn_bytes_write(&ctx, path, line, 0, bytes.data, bytes.n));
        bytes.data[at] = (char)(bytes.data[at] ^ (1 << at % 8));
        for (int i = 0; i < CELLS; i += 17) {
            enum hn_code code = hn_cell_store_read(&ctx, &cells, key_of(i), &got);
            clean &= code == HN_OK || code == HN_DATA;
        }
        hn_cell_store_close(&ctx, &cells);
        clean &= atomic_load(&ctx.memory.live) == live;
    }
    CU_ASSERT(clean);
    hn_free(&ctx, bytes.data);
    end();
}

// Deflates n bytes, or inflates them to at most `size`; returns how many bytes that made.
static int64_t deflated(const char *from, int64_t n, char *to, int64_t size) {
    z_stream z = {.next_in = (Bytef *)from, .avail_in = (uInt)n, .next_out = (Bytef *)to};
    z.avail_out = (uInt)size;
    CU_ASSERT_EQUAL_FATAL(deflateInit2(&z, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    CU_ASSERT_EQUAL_FATAL(deflate(&z, Z_FINISH), Z_STREAM_END);
    CU_ASSERT_EQUAL(deflateEnd(&z), Z_OK);
    return (int64_t)z.total_out;
}
static void inflated(const char *from, int64_t n, char *to, int64_t size) {
    z_stream z = {.next_in = (Bytef *)from, .avail_in = (uInt)n, .next_out = (Bytef *)to};
    z.avail_out = (uInt)size;
    CU_ASSERT_EQUAL_FATAL(inflateInit2(&z, -MAX_WBITS), Z_OK);
    CU_ASSERT_EQUAL_FATAL(inflate(&z, Z_FINISH), Z_STREAM_END);
    CU_ASSERT_EQUAL(inflateEnd(&z), Z_OK);
}

// A pack with this index, deflated again, in front of the bytes of its cells. Returns the number of
// cells that are found in it; -1: none can be read of those.
static int64_t cells_of_index(const char *path, const char *index, int64_t n, const char *rest,
                              int64_t rest_n) {
    static const char line[] = "hardneg cells 1\n";
    struct hn_bytes all = {0};
    struct hn_cell_pack *pack;
    HN_SCOPE(&ctx);
    char *packed = hn_alloc(&ctx, 2 * n + 100, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(packed);
    int64_t packed_n = deflated(index, n, packed, 2 * n + 100);
    HN_CHECK(&ctx, hn_bytes_append(&ctx, &all, &n, sizeof n));
    HN_CHECK(&ctx, hn_bytes_append(&ctx, &all, &packed_n, sizeof packed_n));
    HN_CHECK(&ctx, hn_bytes_append(&ctx, &all, packed, packed_n));
    HN_CHECK(&ctx, hn_bytes_append(&ctx, &all, rest, rest_n));
    HN_CHECK(&ctx, hn_bytes_write(&ctx, path, line, 0, all.data, all.n));
    HN_CHECK(&ctx, hn_cell_pack_open(&ctx, path, &pack));
    int64_t found = hn_cell_pack_count(pack);
    for (int64_t i = 0, cells = found; i < cells; i++) {
        const struct hn_results *got;
        enum hn_code code = hn_cell_pack_results(&ctx, pack, i, &got);
        CU_ASSERT(code == HN_OK || code == HN_DATA);
        found = code ? -1 : found;
    }
    hn_cell_pack_close(&ctx, pack);
    return found;
}

// The index of a pack with numbers that nothing writes, and one that ends early: the cells are
// those that were written, cannot be read, or are not there.
static void packs_of_other_indices(void) {
    static const int64_t wrong[] = {-1, INT64_MIN, INT64_MAX, INT64_MAX / 8, 1 << 20, 3, 0};
    begin_run();
    char path[PATH_MAX + 64];
    struct hn_cell_pack *pack;
    struct hn_bytes bytes;
    snprintf(path, sizeof path, "%s/one", run);
    HN_CHECK(&ctx, hn_cell_pack_open(&ctx, path, &pack));
    for (int i = 1; i <= 2; i++) { // of one layout
        struct hn_results cell = cell_of(i, "ok");
        const struct hn_cell_head head = {key_of(i), "cell", "ok", "program"};
        HN_CHECK(&ctx, hn_cell_pack_add(&ctx, pack, head, &cell));
        hn_results_free(&ctx, &cell);
    }
    HN_CHECK(&ctx, hn_cell_pack_write(&ctx, pack, path));
    hn_cell_pack_close(&ctx, pack);
    HN_CHECK(&ctx, hn_bytes_read(&ctx, path, "hardneg cells 1\n", &bytes));
    int64_t n, packed, tally[4] = {0};
    memcpy(&n, bytes.data, sizeof n);
    memcpy(&packed, bytes.data + sizeof n, sizeof packed);
    char *index = hn_alloc(&ctx, n, 1), *changed = hn_alloc(&ctx, n, 1);
    const char *rest = bytes.data + 16 + packed;
    int64_t rest_n = bytes.n - 16 - packed;
    CU_ASSERT_FATAL(index && changed && n > 100);
    inflated(bytes.data + 16, packed, index, n);
    CU_ASSERT_EQUAL(cells_of_index(path, index, n, rest, rest_n), 2);
    CU_ASSERT_EQUAL(cells_of_index(path, index, n, rest, rest_n / 2), 0); // bytes are missing
    char said[HN_MESSAGE_MAX] = "";
    ctx.notes = (struct hn_notes){hn_keep_note, said, NULL};
    for (int64_t at = 0; at + 8 <= n; at += at < 16 || at > n - 160 ? 1 : 37)
        for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
            memcpy(changed, index, (size_t)n);
            memcpy(changed + at, &wrong[w], sizeof *wrong);
            tally[1 + cells_of_index(path, changed, n, rest, rest_n)]++;
        }
    CU_ASSERT(tally[0] > 0 && tally[1] > 0 && tally[3] > 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "cells that it held are run again"));
    for (int64_t cut = 1; cut < n; cut += cut < 170 ? 1 : n / 40)
        CU_ASSERT_EQUAL(cells_of_index(path, index, n - cut, rest, rest_n), 0);
    hn_free(&ctx, index);
    hn_free(&ctx, changed);
    hn_free(&ctx, bytes.data);
    end();
}

static enum hn_code read_packed(const struct hn_results *one) {
    struct hn_cell_store cells = {.folder = run};
    const struct hn_results *got;
    (void)one;
    enum hn_code code = hn_cell_store_read(&ctx, &cells, key_of(3), &got);
    if (!code)
        code = hn_cell_store_read(&ctx, &cells, key_of(4), &got);
    hn_cell_store_close(&ctx, &cells);
    return code;
}

// Without memory nothing is lost: cells stay where they are.
static void packs_without_memory(void) {
    begin_run();
    struct hn_cell_store cells = {.folder = run};
    write_cells(0, CELLS, "ok");
    for (int k = 1; k < 4000; k += 397) {
        ctx.memory.fail_at = atomic_load(&ctx.memory.calls) + k;
        pack();
        ctx.memory.fail_at = 0;
        CU_ASSERT_EQUAL(files_of_cells(), CELLS);
    }
    pack();
    CU_ASSERT_EQUAL(right_cells(&cells, CELLS, "ok"), CELLS);
    hn_cell_store_close(&ctx, &cells);
    CU_ASSERT(fail_each(read_packed, NULL) > 20);
    end();
}

static const struct hn_test tests[] = {
    {"cell_state", cell_state},
    {"cell_files", cell_files},
    {"cell_bytes_damaged", cell_bytes_damaged},
    {"packed_cells", packed_cells},
    {"packs_damaged", packs_damaged},
    {"packs_forged", packs_forged},
    {"packs_of_other_indices", packs_of_other_indices},
    {"packs_without_memory", packs_without_memory},
};
HN_TEST_MAIN("cells", tests)
