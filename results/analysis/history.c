// SPDX-License-Identifier: GPL-3.0-or-later
// The past results of a folder, made into one table.
#include "results/analysis/history.h"
#include "core/options/option.h"
#include "core/text.h"
#include "results/analysis/means.h"
#include "results/compare.h"
#include "results/programs.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { MAX_FILES = 1000, TIME_TEXT = 32 };

// One past result.
struct past {
    char *path;
    char created[TIME_TEXT], commit[16], machine[128], threads[16];
    time_t changed;
    int version;
    bool used;
};

// One cell of it.
struct point {
    char *key, *sampler;
    const struct past *past;
    double value;
};

struct history {
    struct hn_context *ctx;
    const char *metric;
    bool by_name;
    char units[32];
    enum hn_role role;
    struct past *past;
    int64_t n_past, n_used, past_capacity;
    struct point *point;
    int64_t n_points, point_capacity;
};

static enum hn_code add_path(struct history *h, char *path) {
    struct stat about;
    if (!path)
        return h->ctx->code;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return HN_OK;
    if (hn_grow(h->ctx, &h->past, &h->past_capacity, h->n_past + 1, sizeof *h->past))
        return h->ctx->code;
    h->past[h->n_past] = (struct past){.path = path, .changed = about.st_mtime};
    struct tm tm;
    if (gmtime_r(&about.st_mtime, &tm)) // until the file says itself
        (void)strftime(h->past[h->n_past].created, TIME_TEXT, "%Y-%m-%dT%H:%M:%SZ", &tm);
    h->n_past++;
    return HN_OK;
}

// *.h5 in the folder, and results.h5 in the folders in it.
static enum hn_code find_files(struct history *h, const char *folder) {
    struct dirent **entry;
    int n = scandir(folder, &entry, NULL, alphasort);
    if (n < 0)
        return hn_fail(h->ctx, HN_USAGE, "--history %s: cannot be read: %s", folder,
                       strerror(errno));
    enum hn_code code = HN_OK;
    for (int i = 0; i < n; i++) {
        const char *name = entry[i]->d_name, *end = strrchr(name, '.');
        if (code == HN_OK && name[0] != '.')
            code = add_path(h, end && strcmp(end, ".h5") == 0
                                   ? hn_format(h->ctx, "%s/%s", folder, name)
                                   : hn_format(h->ctx, "%s/%s/results.h5", folder, name));
        free(entry[i]);
    }
    free(entry);
    return code;
}

// Names a cell in every file that has it. NULL: out of memory.
static char *key_of(struct history *h, const struct hn_table *runs, int64_t row) {
    if (!h->by_name)
        return hn_strdup(h->ctx, hn_table_text(runs, row, "cell_key"));
    const char *setting = hn_row_setting(h->ctx, runs, row, runs, NULL);
    return setting ? hn_format(h->ctx, "%s|%.0f", setting, hn_table_real(runs, row, "seed")) : NULL;
}

static enum hn_code add_point(struct history *h, const struct hn_table *runs, int64_t row,
                              struct past *past, double value) {
    if (hn_grow(h->ctx, &h->point, &h->point_capacity, h->n_points + 1, sizeof *h->point))
        return h->ctx->code;
    struct point *p = &h->point[h->n_points];
    *p = (struct point){key_of(h, runs, row),
                        hn_strdup(h->ctx, hn_table_text(runs, row, "sampler")), past, value};
    h->n_points++;
    return p->key && p->sampler ? HN_OK : h->ctx->code;
}

static enum hn_code no_column(struct history *h, const struct hn_table *runs) {
    const char *names[1024];
    int64_t n = 0;
    for (int c = 0; c < runs->n_columns && n < 1024; c++)
        if (runs->column[c].kind != HN_COLUMN_TEXT)
            names[n++] = runs->column[c].name;
    const char *meant = hn_suggest(h->metric, names, n);
    return hn_fail(h->ctx, HN_USAGE, "--history: the results have no column of numbers %s%s%s%s",
                   hn_quote(h->metric).text, meant ? ", did you mean " : "", meant ? meant : "",
                   meant ? "?" : "");
}

static void copy_text(char *to, size_t size, const char *from) {
    if (*from)
        snprintf(to, size, "%s", from);
}

static enum hn_code take_points(struct history *h, const struct hn_results *r, struct past *past) {
    int c = hn_table_find(&r->runs, h->metric);
    if (c < 0 || r->runs.column[c].kind == HN_COLUMN_TEXT)
        return no_column(h, &r->runs);
    copy_text(past->created, sizeof past->created, hn_results_get(r, "created"));
    copy_text(past->commit, 8, hn_results_get_env(r, "git_commit"));
    past->version = hn_results_version(r);
    copy_text(past->machine, sizeof past->machine, hn_results_get_env(r, "machine_class"));
    copy_text(past->threads, sizeof past->threads, hn_results_get_env(r, "threads"));
    copy_text(h->units, sizeof h->units, r->runs.column[c].units);
    h->role = r->runs.column[c].role;
    past->used = true;
    const bool *last = h->by_name ? hn_rows_last(h->ctx, &r->runs) : NULL;
    if (h->by_name && !last)
        return h->ctx->code;
    for (int64_t row = 0; row < r->runs.rows; row++) {
        double value = hn_table_real(&r->runs, row, h->metric);
        bool ok = strcmp(hn_table_text(&r->runs, row, "status"), "ok") == 0;
        if (ok && isfinite(value) && (!last || last[row]) &&
            add_point(h, &r->runs, row, past, value))
            return h->ctx->code;
    }
    return HN_OK;
}

static int by_change(const void *a, const void *b) {
    const struct past *x = a, *y = b;
    return x->changed != y->changed ? (x->changed < y->changed) - (x->changed > y->changed)
                                    : strcmp(y->path, x->path);
}

// Keeps those of very many files that were written last.
static void keep_newest(struct history *h) {
    if (h->n_past <= MAX_FILES)
        return;
    hn_note(h->ctx, "left out: all but the newest %d of %" PRId64 " results files", MAX_FILES,
            h->n_past);
    qsort(h->past, (size_t)h->n_past, sizeof *h->past, by_change);
    h->n_past = MAX_FILES;
}

static enum hn_code read_files(struct history *h) {
    keep_newest(h);
    for (int64_t i = 0; i < h->n_past; i++) {
        struct hn_results r;
        enum hn_code code = hn_results_read(h->ctx, h->past[i].path, &r);
        if (code == HN_DATA) { // a snapshot, say
            hn_note(h->ctx, "left out: %s", h->ctx->message);
            continue;
        }
        if (code)
            return code;
        code = take_points(h, &r, &h->past[i]);
        hn_results_free(h->ctx, &r);
        if (code)
            return code;
    }
    return HN_OK;
}

// The newest of the files that are used, or NULL.
static const struct past *newest(const struct history *h) {
    const struct past *last = NULL;
    for (const struct past *p = h->past; p < h->past + h->n_past; p++)
        if (p->used && (!last || strcmp(p->created, last->created) >= 0))
            last = p;
    return last;
}

// Leaves out files of another machine or number of threads than the newest, where that matters.
static void leave_machines_out(struct history *h) {
    const struct past *last = newest(h);
    bool machine = h->role == HN_ROLE_TIME || hn_gate_by_name(h->role);
    h->n_used = 0;
    for (int64_t i = 0; i < h->n_past; i++) {
        struct past *past = &h->past[i];
        bool other = past->used && strcmp(past->machine, last->machine) != 0;
        bool threads = past->used && strcmp(past->threads, last->threads) != 0;
        if (machine && (other || threads)) {
            past->used = false;
            hn_note(h->ctx, "left out: %s is %s", past->path,
                    other ? "from another kind of machine" : "of another number of threads");
        }
        h->n_used += past->used;
    }
}

// Numbers that a change of the program moved are not a trend.
static void note_versions(const struct history *h) {
    int low = INT32_MAX, high = 0;
    for (int64_t i = 0; i < h->n_past; i++)
        if (h->past[i].used) {
            low = (int)hn_min(low, h->past[i].version);
            high = (int)hn_max(high, h->past[i].version);
        }
    if (low < high)
        hn_note(
            h->ctx,
            "files of results versions %d to %d are in one line: compare two of them to see which "
            "numbers changed between",
            low, high);
}

static int by_key(const void *a, const void *b) {
    const struct point *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    return order ? order : (x->past > y->past) - (x->past < y->past);
}

// Leaves the points of cells that all files have. Returns how many cells these are.
static int64_t keep_common(struct history *h) {
    int64_t cells = 0, kept = 0;
    qsort(h->point, (size_t)h->n_points, sizeof *h->point, by_key);
    for (int64_t first = 0, end; first < h->n_points; first = end) {
        int64_t files = 0;
        const struct past *last = NULL;
        for (end = first; end < h->n_points && strcmp(h->point[end].key, h->point[first].key) == 0;
             end++) {
            files += h->point[end].past->used && h->point[end].past != last;
            last = h->point[end].past;
        }
        cells += files == h->n_used;
        for (int64_t i = first; i < end && files == h->n_used; i++)
            if (h->point[i].past->used)
                h->point[kept++] = h->point[i];
    }
    h->n_points = kept;
    return cells;
}

// By sampler, time and file; then by key, so that sums do not depend on how they are sorted.
static int by_sampler(const void *a, const void *b) {
    const struct point *x = a, *y = b;
    int order = strcmp(x->sampler, y->sampler);
    if (!order)
        order = strcmp(x->past->created, y->past->created);
    if (!order)
        order = (x->past > y->past) - (x->past < y->past);
    return order ? order : by_key(a, b);
}

// A row for every sampler and file, in the order of time.
static enum hn_code fill_table(struct history *h, struct hn_table *t) {
    static const struct hn_column column[] = {{"created", HN_COLUMN_TEXT, "", "", HN_NEITHER},
                                              {"commit", HN_COLUMN_TEXT, "", "", HN_NEITHER},
                                              {"sampler", HN_COLUMN_TEXT, "", "", HN_NEITHER},
                                              {"value", HN_COLUMN_REAL, "", "", HN_NEITHER}};
    if (hn_table_init(h->ctx, t, "runs") || hn_table_add_columns(h->ctx, t, column, 4))
        return h->ctx->code;
    HN_SCOPE(h->ctx);
    double *value = hn_alloc(h->ctx, h->n_points, sizeof *value);
    if (!value)
        return h->ctx->code;
    qsort(h->point, (size_t)h->n_points, sizeof *h->point, by_sampler);
    for (int64_t first = 0, end; first < h->n_points; first = end) {
        const struct point *p = &h->point[first];
        for (end = first; end < h->n_points && h->point[end].past == p->past &&
                          strcmp(h->point[end].sampler, p->sampler) == 0;
             end++)
            value[end] = h->point[end].value;
        if (HN_TABLE_PUT(
                h->ctx, t, HN_TEXT_VALUE("created", p->past->created),
                HN_TEXT_VALUE("commit", p->past->commit), HN_TEXT_VALUE("sampler", p->sampler),
                HN_REAL_VALUE("value", hn_values_mean(value + first, end - first, 0).mean)))
            return h->ctx->code;
    }
    return HN_OK;
}

static enum hn_code fill(struct history *h, struct hn_results *out) {
    int64_t cells = keep_common(h);
    if (h->n_used < 2 || cells == 0)
        return hn_fail(h->ctx, HN_DATA,
                       "--history: %" PRId64 " results files with %" PRId64
                       " cells of %s in common; two files and a cell are the least%s",
                       h->n_used, cells, hn_quote(h->metric).text,
                       h->by_name ? ""
                                  : " (--match name follows data of one name from checkpoint "
                                    "to checkpoint)");
    char count[64];
    snprintf(count, sizeof count, "%" PRId64, cells);
    if (fill_table(h, &out->runs) || hn_results_set(h->ctx, out, "metric", h->metric) ||
        hn_results_set(h->ctx, out, "units", h->units) ||
        hn_results_set(h->ctx, out, "cells", count))
        return h->ctx->code;
    return HN_OK;
}

enum hn_code hn_history_collect(struct hn_context *ctx, const char *folder, const char *metric,
                                bool by_name, struct hn_results *out) {
    struct history h = {.ctx = ctx, .metric = metric, .by_name = by_name};
    *out = (struct hn_results){0};
    HN_SCOPE(ctx);
    bool failed = find_files(&h, folder) || read_files(&h);
    hn_own(ctx, scope.outer);
    if (!failed) {
        leave_machines_out(&h);
        note_versions(&h);
    }
    failed = failed || fill(&h, out);
    if (failed)
        hn_results_free(ctx, out);
    return failed ? ctx->code : HN_OK;
}
