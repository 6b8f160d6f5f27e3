// Checkpoints: everything that the next step depends on, in the machine's own bytes, then its
// SHA-256. One list of fields serves writing and reading.
#include "core/digest.h"
#include "core/files.h"
#include "training/loop_private.h"

#include <errno.h>
#include <fcntl.h>
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
    struct head h = {.magic = "hardneg-train-3",
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

// All fields but the head and the rows of the table; returns their number.
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
                                {loop->task.kept, (size_t)loop->task.kept_bytes}};
    memcpy(field, all, sizeof all);
    return (int)(sizeof all / sizeof all[0]);
}

static void put(FILE *file, struct hn_digest *digest, const void *data, size_t bytes) {
    hn_digest_add(digest, data, bytes);
    if (bytes > 0)
        (void)fwrite(data, 1, bytes, file); // what fails is seen at the commit
}

static void write_all(FILE *file, struct hn_loop *loop) {
    struct hn_digest digest;
    struct field field[FIELDS];
    struct head head = head_of(loop);
    char text[HN_DIGEST_TEXT];
    int n = fields_of(loop, field);
    hn_digest_begin(&digest);
    put(file, &digest, &head, sizeof head);
    for (int i = 0; i < n; i++)
        put(file, &digest, field[i].data, field[i].bytes);
    put(file, &digest, &loop->rows, sizeof loop->rows);
    put(file, &digest, loop->row, (size_t)(loop->rows * loop->columns) * sizeof *loop->row);
    hn_digest_end(&digest, text);
    (void)fwrite(text, 1, sizeof text, file);
}

enum hn_code hn_loop_save(struct hn_context *ctx, const struct hn_loop *loop) {
    struct hn_new_file file;
    struct hn_loop copy = *loop; // fields are listed as what reading may change
    if (hn_file_begin(ctx, loop->checkpoint, &file))
        return ctx->code;
    write_all(file.out, &copy);
    return hn_file_commit(ctx, &file);
}

static bool get(FILE *file, struct hn_digest *digest, void *data, size_t bytes) {
    if (bytes > 0 && fread(data, 1, bytes, file) != bytes)
        return false;
    hn_digest_add(digest, data, bytes);
    return true;
}

// The rows of the table: as many as the rest of the file holds, at most.
static bool get_rows(struct hn_context *ctx, FILE *file, struct hn_digest *digest,
                     struct hn_loop *loop, int64_t left) {
    int64_t rows = 0, row = loop->columns * (int64_t)sizeof *loop->row;
    if (!get(file, digest, &rows, sizeof rows) || rows < 0 || rows > left / row)
        return false;
    if (hn_grow(ctx, &loop->row, &loop->row_capacity, rows, (size_t)row))
        return false;
    loop->rows = rows;
    return get(file, digest, loop->row, (size_t)(rows * row));
}

static bool read_all(struct hn_context *ctx, FILE *file, struct hn_loop *loop, int64_t size) {
    struct hn_digest digest;
    struct field field[FIELDS];
    struct head head;
    char text[HN_DIGEST_TEXT], stored[HN_DIGEST_TEXT] = "";
    int n = fields_of(loop, field);
    hn_digest_begin(&digest);
    bool good = get(file, &digest, &head, sizeof head);
    for (int i = 0; i < n; i++)
        good = good && get(file, &digest, field[i].data, field[i].bytes);
    good = good && get_rows(ctx, file, &digest, loop, size);
    hn_digest_end(&digest, text);
    good = good && fread(stored, 1, sizeof stored, file) == sizeof stored;
    return good && memcmp(text, stored, sizeof text) == 0;
}

static enum hn_code read_open(struct hn_context *ctx, FILE *file, struct hn_loop *loop) {
    const char *path = loop->checkpoint;
    struct head wanted = head_of(loop), head;
    if (fread(&head, 1, sizeof head, file) != sizeof head)
        return hn_fail(ctx, HN_DATA, "%s is damaged: remove it to begin again", path);
    if (memcmp(&head, &wanted, sizeof head) != 0)
        return hn_fail(ctx, HN_DATA, "%s belongs to another run: remove it, or give another folder",
                       path);
    int64_t size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (size < 0 || fseek(file, 0, SEEK_SET) != 0)
        return hn_fail(ctx, HN_DATA, "%s cannot be read", path);
    if (read_all(ctx, file, loop, size))
        return HN_OK;
    return hn_fail(ctx, HN_DATA, "%s is damaged: remove it to begin again", path);
}

enum hn_code hn_loop_restore(struct hn_context *ctx, struct hn_loop *loop, bool *found) {
    int64_t bytes;
    const char *why;
    *found = access(loop->checkpoint, F_OK) == 0 || errno != ENOENT;
    if (!*found)
        return HN_OK;
    FILE *file = hn_file_open(loop->checkpoint, &bytes, &why);
    if (!file)
        return hn_fail(ctx, HN_DATA, "%s cannot be opened: %s", loop->checkpoint, why);
    enum hn_code code = read_open(ctx, file, loop);
    fclose(file);
    return code;
}

enum hn_code hn_loop_forget(struct hn_context *ctx, const struct hn_loop *loop) {
    if (unlink(loop->checkpoint) && errno != ENOENT)
        return hn_fail(ctx, HN_IO, "%s cannot be removed: %s", loop->checkpoint, strerror(errno));
    return HN_OK;
}
