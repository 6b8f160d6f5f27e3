// SPDX-License-Identifier: GPL-3.0-or-later
// The file is read into memory at once, and its digest compared with that of the plan, so that what
// is measured is what the cell's key says, even if another program writes to it.
#include "datasets/import/given.h"
#include "core/bitset.h"
#include "core/files.h"
#include "core/text.h"
#include "datasets/import/array.h"
#include "datasets/import/format.h"
#include "datasets/import/lines.h"
#include "datasets/import/npy.h"
#include "datasets/import/source.h"
#include "datasets/text.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#define REMEDY "write it before the run, or check `file`"

struct reading {
    const struct hn_given_rules *rules;
    struct hn_given *out;
    int64_t capacity, start_capacity; // of out->ids and out->start
    int64_t *seen;                    // [n] the last list that held an item, from 1
    void *owner;                      // of ids and start
};

static enum hn_code grow(struct hn_context *ctx, struct reading *r, int64_t starts, int64_t ids) {
    void *outer = hn_own(ctx, r->owner);
    enum hn_code code = hn_grow(ctx, &r->out->ids, &r->capacity, ids, sizeof *r->out->ids);
    if (!code)
        code = hn_grow(ctx, &r->out->start, &r->start_capacity, starts, sizeof *r->out->start);
    hn_own(ctx, outer);
    return code ? hn_fail_in(ctx, "%s", r->out->path) : HN_OK;
}

// The remedy for batches of another size than the cell's: of a program whose output has a title, or
// of a file.
static const char *remedy_of_size(const struct hn_given_rules *rules) {
    return rules->title ? "give the program {batch_size}, and see that it keeps to it"
                        : "put {batch_size} into the name of the file, a file for each";
}

static enum hn_code add_list(struct hn_context *ctx, struct reading *r, const int64_t *id,
                             int64_t length) {
    struct hn_given *g = r->out;
    const struct hn_given_rules *rules = r->rules;
    const char *what = rules->negatives ? "the list of anchor" : "batch";
    int64_t list = g->lists, number = rules->negatives ? list % rules->n : list;
    int64_t at = list ? g->start[list] : 0;
    if (length > rules->longest)
        return hn_fail(ctx, HN_DATA,
                       rules->negatives
                           ? "%s: %s %" PRId64 " has %" PRId64 " numbers, and n is %" PRId64
                             ": raise n, or shorten the lists"
                           : "%s: %s %" PRId64 " has %" PRId64 " items, and batch_size is %" PRId64
                             ": %s",
                       g->path, what, number, length, rules->longest, remedy_of_size(rules));
    if (length == 0 && !rules->negatives)
        return hn_fail(ctx, HN_DATA, "%s: %s %" PRId64 " is empty", g->path, what, number);
    if (grow(ctx, r, list + 2, at + length))
        return ctx->code;
    for (int64_t i = 0; i < length; i++) {
        if (id[i] < 0 || id[i] >= rules->n)
            return hn_fail(ctx, HN_DATA,
                           "%s: %s %" PRId64 ", position %" PRId64 ": item %" PRId64
                           ", and the snapshot has items 0 to %" PRId64 " (-1 fills up the end)",
                           g->path, what, number, i, id[i], rules->n - 1);
        if (rules->negatives && id[i] == number)
            return hn_fail(ctx, HN_DATA, "%s: %s %" PRId64 " holds the anchor itself", g->path,
                           what, number);
        if (r->seen[id[i]] == list + 1 && !rules->repeats)
            return hn_fail(ctx, HN_DATA, "%s: %s %" PRId64 " holds item %" PRId64 " twice%s",
                           g->path, what, number, id[i],
                           rules->negatives ? ""
                                            : "; if it was drawn with replacement, say `repeats: "
                                              "true`");
        r->seen[id[i]] = list + 1;
        g->ids[at + i] = (int32_t)id[i];
    }
    g->start[list] = at;
    g->start[++g->lists] = at + length;
    return HN_OK;
}

// Numbers of row `row` in the order of the array.
static void take_row(const struct hn_array *a, bool fortran, int64_t row, int64_t length,
                     int64_t *id) {
    int64_t rows = a->rank == 3 ? a->shape[1] : a->shape[0];
    int64_t epochs = a->rank == 3 ? a->shape[0] : 1, epoch = row / rows, in = row % rows;
    for (int64_t k = 0; k < length; k++)
        id[k] = a->integer[fortran ? (k * rows + in) * epochs + epoch : row * length + k];
}

static enum hn_code read_rows(struct hn_context *ctx, struct reading *r, const struct hn_array *a,
                              bool fortran) {
    int64_t length = a->shape[a->rank - 1], rows = a->shape[0] * (a->rank == 3 ? a->shape[1] : 1);
    int64_t *id = hn_alloc(ctx, length, sizeof *id);
    if (!id)
        return ctx->code;
    for (int64_t row = 0; row < rows; row++) {
        int64_t used = length;
        take_row(a, fortran, row, length, id);
        while (used > 0 && id[used - 1] == -1)
            used--;
        if ((row % 1024 == 0 && hn_check_stop(ctx)) || add_list(ctx, r, id, used))
            return ctx->code;
    }
    return HN_OK;
}

// Reads the values as one long list of labels, whose types, byte order and size it checks.
static enum hn_code read_npy(struct hn_context *ctx, struct reading *r, struct hn_source *s) {
    struct hn_array a = {.rank = 0}, flat;
    struct hn_array_type type;
    const struct hn_wanted want = {.labels = true};
    HN_SCOPE(ctx);
    if (hn_npy_head(ctx, s, &type, &a))
        return ctx->code;
    if ((a.rank != 2 && a.rank != 3) || !strchr("iu", type.kind))
        return hn_fail(ctx, HN_DATA, "%s: is an array of %s of %s; %s", s->path,
                       strchr("iu", type.kind) ? "whole numbers" : "other values",
                       hn_counted(a.rank, "dimension").text,
                       r->rules->negatives
                           ? "negatives are whole numbers, [items, n] or [epochs, items, n]"
                           : "batches are whole numbers, [batches, batch_size] or [epochs, "
                             "batches, batch_size]");
    flat = (struct hn_array){.rank = 1};
    if (!hn_array_count(&a, type.width, &flat.shape[0]) || flat.shape[0] * type.width != s->left)
        return hn_fail(ctx, HN_DATA,
                       "%s: holds %" PRId64 " bytes of numbers, and its header asks for others; "
                       "write it again",
                       s->path, s->left);
    bool fortran = type.fortran;
    if (hn_npy_values(ctx, s, &want, type, &flat))
        return ctx->code;
    if (flat.above)
        return hn_fail(ctx, HN_DATA, "%s: holds a number beyond 2^63", s->path);
    a.integer = flat.integer;
    if (a.rank == 3 && !r->rules->negatives)
        r->out->per_epoch = a.shape[1];
    return read_rows(ctx, r, &a, fortran);
}

static enum hn_code fail_line(struct hn_context *ctx, const struct hn_line *at) {
    return hn_line_fail(ctx, at,
                        "wants a list of whole numbers, [5, 0, 3], or an object with "
                        "\"negatives\"");
}

static enum hn_code take_list(struct hn_context *ctx, struct reading *r, const struct hn_line *at,
                              const json_t *value) {
    HN_SCOPE(ctx);
    const json_t *list = json_is_object(value) ? json_object_get(value, "negatives") : value;
    const json_t *anchor = json_object_get(value, "anchor");
    int64_t length = (int64_t)json_array_size(list), wanted = r->out->lists % r->rules->n;
    if (!json_is_array(list) || (anchor && (!r->rules->negatives || !json_is_integer(anchor))))
        return fail_line(ctx, at);
    if (anchor && json_integer_value(anchor) != wanted)
        return hn_line_fail(ctx, at, "is of anchor %lld where that of anchor %" PRId64 " is due",
                            (long long)json_integer_value(anchor), wanted);
    int64_t *id = hn_alloc(ctx, length, sizeof *id);
    if (!id)
        return ctx->code;
    for (int64_t i = 0; i < length; i++) {
        const json_t *number = json_array_get(list, (size_t)i);
        if (!json_is_integer(number))
            return fail_line(ctx, at);
        id[i] = json_integer_value(number);
    }
    return add_list(ctx, r, id, length);
}

static enum hn_code read_lines(struct hn_context *ctx, struct reading *r, struct hn_source *s) {
    struct hn_lines l;
    char *line;
    enum hn_code code = hn_lines_begin(ctx, *s, &l);
    s->file = NULL;
    while (!code && !(code = hn_lines_next(ctx, &l, &line)) && line) {
        if (line[strspn(line, " \t\r")] == '\0')
            continue;
        json_t *value;
        code = hn_lines_json(ctx, &l, line, &value);
        code = !code             ? take_list(ctx, r, &l.at, value)
               : code == HN_DATA ? fail_line(ctx, &l.at)
                                 : code;
        json_decref(value);
    }
    return hn_lines_end(ctx, &l, code);
}

static enum hn_code check_whole(struct hn_context *ctx, const struct reading *r) {
    const struct hn_given *g = r->out;
    int64_t longest = 0;
    for (int64_t l = 0; l < g->lists; l++)
        longest = hn_max(longest, g->start[l + 1] - g->start[l]);
    if (g->lists == 0)
        return hn_fail(ctx, HN_DATA, "%s: holds no %s", g->path,
                       r->rules->negatives ? "list" : "batch");
    if (!r->rules->negatives && longest < r->rules->longest)
        return hn_fail(ctx, HN_DATA,
                       "%s: its batches hold up to %" PRId64 " items, and batch_size is %" PRId64
                       ": %s",
                       g->path, longest, r->rules->longest, remedy_of_size(r->rules));
    if (r->rules->negatives && g->lists % r->rules->n)
        return hn_fail(ctx, HN_DATA,
                       "%s: holds %" PRId64 " lists, and the snapshot has %" PRId64
                       " items: a list for each, in the order of the items, epoch after epoch",
                       g->path, g->lists, r->rules->n);
    return HN_OK;
}

static char *read_bytes(struct hn_context *ctx, const char *path, int64_t *bytes) {
    FILE *in = hn_input_open(ctx, path, INT64_MAX, "a file", REMEDY, bytes);
    char *data = in ? hn_alloc(ctx, *bytes, 1) : NULL;
    bool whole = data && fread(data, 1, (size_t)*bytes, in) == (size_t)*bytes;
    if (data && !whole)
        (void)hn_fail_reading(ctx, path, ferror(in) ? errno : 0);
    if (in)
        (void)fclose(in);
    return whole ? data : NULL;
}

static void digest_of(const char *data, int64_t bytes, char sha256[HN_DIGEST_TEXT]) {
    struct hn_digest d;
    hn_digest_begin(&d);
    hn_digest_add(&d, data, (size_t)bytes);
    hn_digest_end(&d, sha256);
}

enum hn_code hn_given_digest(struct hn_context *ctx, const char *path,
                             char sha256[HN_DIGEST_TEXT]) {
    int64_t bytes;
    HN_SCOPE(ctx);
    const char *data = read_bytes(ctx, path, &bytes);
    if (!data)
        return ctx->code;
    digest_of(data, bytes, sha256);
    return HN_OK;
}

// A program that was asked for a .npy may write lines, too.
static bool is_lines(const char *path, const char *data, int64_t bytes) {
    return hn_ends_in(path, ".jsonl") || (bytes > 0 && (data[0] == '[' || data[0] == '{'));
}

enum hn_code hn_given_read(struct hn_context *ctx, const char *path, const char *sha256,
                           const struct hn_given_rules *rules, struct hn_given *out) {
    const char *title = rules->title ? rules->title : path;
    struct hn_source s = {.path = title};
    struct reading r = {.rules = rules, .out = out};
    char found[HN_DIGEST_TEXT];
    *out = (struct hn_given){.path = title, .per_epoch = rules->negatives ? rules->n : 0};
    HN_SCOPE(ctx);
    r.owner = scope.outer;
    char *data = read_bytes(ctx, path, &s.left);
    if (!data || !HN_ZALLOC(ctx, r.seen, rules->n))
        return ctx->code;
    digest_of(data, s.left, found);
    if (sha256 && strcmp(found, sha256) != 0)
        return hn_fail(ctx, HN_DATA,
                       "%s: has changed since the run began: run again once it is written", title);
    if (s.left == 0)
        return hn_fail(ctx, HN_DATA, "%s: is empty", title);
    s.file = fmemopen(data, (size_t)s.left, "rb");
    if (!s.file)
        return hn_fail(ctx, HN_MEMORY, "%s: out of memory", title);
    enum hn_code code =
        is_lines(path, data, s.left) ? read_lines(ctx, &r, &s) : read_npy(ctx, &r, &s);
    code = code ? code : check_whole(ctx, &r);
    hn_source_close(&s);
    if (rules->per_epoch > 0)
        out->per_epoch = rules->per_epoch;
    out->per_epoch = out->per_epoch > 0 ? out->per_epoch : out->lists;
    return code;
}
