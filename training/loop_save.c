// SPDX-License-Identifier: GPL-3.0-or-later
// Checkpoints: everything that the next step depends on, in the machine's own bytes, then a
// checksum (core/files.h). One list of fields serves writing and reading.
#include "core/checksum.h"
#include "core/files.h"
#include "training/loop_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { KEY = 64, FIELDS = 16 };

// Begins the file: one with other sizes is of another run or another build.
struct head {
    char magic[16], key[KEY];
    int64_t n, d, weights, running, columns, stored, steps;
};

struct field {
    void *data;
    size_t bytes;
};

static struct head head_of(const struct hn_loop *loop) {
    struct head h = {.magic = "hardneg-train-4",
                     .n = loop->task.n,
                     .d = loop->task.d,
                     .weights = loop->task.weights.n,
                     .running = loop->task.weights.n_running,
                     .columns = loop->columns,
                     .stored = loop->draw.stored != NULL,
                     .steps = loop->spec->adam.steps};
    if (loop->spec->key)
        strncpy(h.key, loop->spec->key, KEY - 1);
    return h;
}

// Lists all fields but the head and the rows of the table, of which there are loop->rows; returns
// their number.
static int fields_of(struct hn_loop *loop, struct field field[FIELDS]) {
    struct hn_weights *w = &loop->task.weights;
    struct hn_draw *d = &loop->draw;
    size_t weights = (size_t)w->n * sizeof(hn_real);
    size_t items = (size_t)(loop->task.n * loop->task.d) * sizeof(float);
    const struct field all[] = {{w->value, weights},
                                {loop->m, weights},
                                {loop->v, weights},
                                {w->running, (size_t)w->n_running * sizeof(hn_real)},
                                {&loop->step, sizeof loop->step},
                                {&loop->loss, sizeof loop->loss},
                                {&loop->losses, sizeof loop->losses},
                                {&loop->expected, sizeof loop->expected},
                                {&loop->expected_sum, sizeof loop->expected_sum},
                                {&loop->accuracy, sizeof loop->accuracy},
                                {&loop->times, sizeof loop->times},
                                {&d->at, sizeof d->at},
                                {d->built, items},
                                {d->stored, d->stored ? items : 0},
                                {loop->task.kept, (size_t)loop->task.kept_bytes},
                                {&loop->rows, sizeof loop->rows}};
    memcpy(field, all, sizeof all);
    return (int)(sizeof all / sizeof all[0]);
}

// Failures are seen at the commit.
static void write_all(FILE *file, struct hn_loop *loop) {
    struct field field[FIELDS];
    const struct head head = head_of(loop);
    int n = fields_of(loop, field);
    (void)fwrite(&head, sizeof head, 1, file);
    for (int i = 0; i < n; i++)
        if (field[i].bytes > 0) // one that is empty has no data
            (void)fwrite(field[i].data, 1, field[i].bytes, file);
    (void)fwrite(loop->row, sizeof *loop->row, (size_t)(loop->rows * loop->columns), file);
    (void)fflush(file);
}

enum hn_code hn_loop_save(struct hn_context *ctx, const struct hn_loop *loop) {
    struct hn_new_file file;
    struct hn_loop copy = *loop; // fields are listed as what reading may change
    if (hn_file_begin(ctx, loop->checkpoint, &file))
        return ctx->code;
    write_all(file.out, &copy);
    return hn_file_end(ctx, &file, hn_checksum_write(ctx, file.temporary));
}

// Reads all behind the head of a file of `size` bytes, and no more rows than it can hold.
static bool read_all(struct hn_context *ctx, FILE *file, struct hn_loop *loop, int64_t size) {
    struct field field[FIELDS];
    int n = fields_of(loop, field);
    int64_t row = loop->columns * (int64_t)sizeof *loop->row;
    for (int i = 0; i < n; i++)
        if (field[i].bytes > 0 && fread(field[i].data, 1, field[i].bytes, file) != field[i].bytes)
            return false;
    return loop->rows >= 0 && loop->rows <= size / row &&
           !hn_grow(ctx, &loop->row, &loop->row_capacity, loop->rows, (size_t)row) &&
           fread(loop->row, (size_t)row, (size_t)loop->rows, file) == (size_t)loop->rows;
}

enum hn_code hn_loop_restore(struct hn_context *ctx, struct hn_loop *loop, bool *found) {
    const char *path = loop->checkpoint, *why;
    const struct head wanted = head_of(loop);
    struct head head;
    int64_t bytes;
    *found = access(path, F_OK) == 0 || errno != ENOENT;
    if (!*found)
        return HN_OK;
    FILE *file = hn_file_open(path, &bytes, &why);
    if (!file)
        return hn_fail(ctx, HN_DATA, "%s cannot be opened: %s", path, why);
    bool begins = fread(&head, sizeof head, 1, file) == 1;
    enum hn_code code = HN_OK;
    if (begins && memcmp(&head, &wanted, sizeof head) != 0)
        code = hn_fail(ctx, HN_DATA, "%s belongs to another run: remove it, or give another folder",
                       path);
    else if (!begins || !hn_checksum_begins(fileno(file), bytes, wanted.magic) ||
             !read_all(ctx, file, loop, bytes))
        code = hn_fail(ctx, HN_DATA, "%s is damaged: remove it to begin again", path);
    (void)fclose(file);
    return code;
}

enum hn_code hn_loop_forget(struct hn_context *ctx, const struct hn_loop *loop) {
    if (unlink(loop->checkpoint) && errno != ENOENT)
        return hn_fail(ctx, HN_IO, "%s cannot be removed: %s", loop->checkpoint, strerror(errno));
    return HN_OK;
}
