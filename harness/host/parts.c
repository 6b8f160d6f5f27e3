// SPDX-License-Identifier: GPL-3.0-or-later
// Parts of long computations as files of a folder that processes share.
#include "harness/host/parts.h"
#include "core/checksum.h"
#include "core/files.h"
#include "core/text.h"
#include "harness/host/host.h"
#include "harness/host/ranks.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NAME = 32, POLL_MS = 200 }; // digits of a key in names

static char *file_of(struct hn_context *ctx, const struct hn_file_parts *p, int64_t part) {
    return hn_format(ctx, "%s/%" PRId64, p->path, part);
}

static bool is_there(const struct hn_file_parts *p, int64_t part) {
    struct stat about;
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%" PRId64, p->path, part);
    return length < (int)sizeof path && stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

// The first line of a part's file says what it is.
static char *first_line(struct hn_context *ctx, const struct hn_file_parts *p, int64_t part) {
    return hn_format(ctx, "%s part %" PRId64 " of %" PRId64 "\n", p->name, part, p->n);
}

// For what failed in a folder: the process that stored the last result removes the parts.
static enum hn_code fail_part(struct hn_context *ctx, const char *folder) {
    if (access(folder, F_OK) == 0)
        return ctx->code;
    return hn_fail(ctx, HN_WAITING, "%s: removed by another process, which has ended the run",
                   folder);
}

static void forget(struct hn_context *ctx, struct hn_file_parts *p) {
    hn_free(ctx, p->path);
    hn_free(ctx, p->name);
    p->path = p->name = NULL;
}

// Parts of the same computation that another program left.
static void tell_foreign(struct hn_context *ctx, const char *parent, const char *own) {
    DIR *opened = opendir(parent);
    // cppcheck-suppress readdirCalled ; no other thread reads this folder
    for (struct dirent *entry; opened && (entry = readdir(opened)) != NULL;)
        if (strncmp(entry->d_name, own, NAME + 1) == 0 && strcmp(entry->d_name, own) != 0)
            hn_note_once(ctx,
                         "%s: parts here were made by program %s: they are not joined with those "
                         "of this one (%s), which computes its own",
                         parent, entry->d_name + NAME + 1, ctx->program);
    if (opened)
        (void)closedir(opened);
}

// Makes the checksum of what is computed, or shared, of the data.
static void make_sum(const struct hn_file_parts *p, const char *key, char sum[HN_DIGEST_TEXT]) {
    struct hn_digest digest;
    hn_digest_begin(&digest);
    hn_digest_add_text(&digest, p->scope);
    hn_digest_add_text(&digest, key);
    hn_digest_add_int(&digest, hn_results_code_version);
    hn_digest_end(&digest, sum);
}

static enum hn_code make_names(struct hn_context *ctx, struct hn_file_parts *p, const char *key) {
    char sum[HN_DIGEST_TEXT];
    make_sum(p, key, sum);
    forget(ctx, p);
    p->path = hn_format(ctx, "%s/%.*s.%s", p->folder, NAME, sum, ctx->program);
    p->name = hn_format(ctx, "hardneg parts 1: %s of %s", sum, ctx->program);
    if (!p->path || !p->name || hn_folder_make(ctx, p->path))
        return ctx->code;
    hn_temporary_sweep(p->path, "");
    tell_foreign(ctx, p->folder, hn_base_name(p->path));
    return HN_OK;
}

enum hn_code hn_file_parts_same(struct hn_context *ctx, struct hn_file_parts *p, const char *point,
                                enum hn_code code) {
    if (!p->ranks)
        return code;
    int64_t from = hn_wall_ns();
    enum hn_code same = hn_ranks_same(ctx, p->ranks, point, code);
    p->count.wait_ns += hn_wall_ns() - from;
    return same ? same : code;
}

static enum hn_code begin(struct hn_context *ctx, void *self, const char *key, int64_t parts) {
    struct hn_file_parts *p = self;
    void *owner = hn_own(ctx, NULL);
    enum hn_code code = make_names(ctx, p, key);
    p->n = parts;
    p->next = p->part - 1;
    code = hn_file_parts_same(ctx, p, key, code);
    if (p->ranks && !code)
        code = hn_ranks_begin(ctx, p->ranks, parts);
    hn_own(ctx, owner);
    return code;
}

static int64_t next_of_own(struct hn_file_parts *p) {
    int64_t part = p->next;
    p->next += p->of;
    return part < p->n ? part : HN_PARTS_NONE;
}

static int64_t next(void *self) {
    struct hn_file_parts *p = self;
    for (;;) {
        int64_t part = p->ranks ? hn_ranks_next(p->ranks) : next_of_own(p);
        if (part == HN_PARTS_NONE || !is_there(p, part)) {
            p->given_ns = hn_wall_ns();
            return part;
        }
        p->count.there++;
        p->parts.elsewhere = true;
        if (p->ranks)
            hn_ranks_done(p->ranks);
    }
}

static enum hn_code write_part(struct hn_context *ctx, const struct hn_file_parts *p, int64_t part,
                               const struct hn_bytes *found) {
    HN_SCOPE(ctx);
    char *path = file_of(ctx, p, part), *line = first_line(ctx, p, part);
    if (!path || !line)
        return ctx->code;
    return hn_bytes_write(ctx, path, line, 0, found->data, found->n);
}

static enum hn_code put(struct hn_context *ctx, void *self, int64_t part,
                        const struct hn_bytes *found) {
    struct hn_file_parts *p = self;
    int64_t took = hn_wall_ns() - p->given_ns;
    p->count.compute_ns += took;
    if (write_part(ctx, p, part, found))
        return fail_part(ctx, p->path);
    p->count.computed++;
    p->count.bytes_written += found->n;
    if (p->ranks)
        hn_ranks_done(p->ranks);
    return HN_OK;
}

static int64_t count_missing(const struct hn_file_parts *p) {
    int64_t missing = 0;
    for (int64_t part = 0; part < p->n; part++)
        missing += !is_there(p, part);
    return missing;
}

// Until all are there, or none has come for so long.
static enum hn_code wait_for_all(struct hn_context *ctx, struct hn_file_parts *p) {
    const struct timespec pause = {0, POLL_MS * 1000L * 1000L};
    int64_t missing = count_missing(p), since = hn_wall_ns();
    p->parts.elsewhere = p->parts.elsewhere || p->of > 1;
    while (missing > 0 && hn_wall_ns() - since < p->wait_s * 1000000000 &&
           !(p->is_over && p->is_over(p->work))) {
        if (hn_check_stop(ctx))
            return ctx->code;
        (void)nanosleep(&pause, NULL);
        int64_t now = count_missing(p);
        since = now < missing ? hn_wall_ns() : since;
        missing = now;
    }
    if (missing == 0)
        return HN_OK;
    return hn_fail(ctx, HN_WAITING,
                   "parts of a computation are missing, %" PRId64 " of %" PRId64 ": other --rows "
                   "compute them",
                   missing, p->n);
}

static enum hn_code end_ranks(struct hn_context *ctx, struct hn_file_parts *p, enum hn_code code) {
    if (code) {
        hn_ranks_fail(p->ranks);
        while (hn_ranks_next(p->ranks) != HN_RANKS_NONE)
            ; // there is none, as all are stopped
    }
    hn_ranks_end(ctx, p->ranks);
    return hn_ranks_agree(ctx, p->ranks, code);
}

static enum hn_code end(struct hn_context *ctx, void *self, enum hn_code code) {
    struct hn_file_parts *p = self;
    int64_t from = hn_wall_ns();
    if (p->ranks)
        code = end_ranks(ctx, p, code);
    else if (!code)
        code = wait_for_all(ctx, p);
    p->count.wait_ns += hn_wall_ns() - from;
    return code;
}

static enum hn_code get(struct hn_context *ctx, void *self, int64_t part, struct hn_bytes *out) {
    struct hn_file_parts *p = self;
    HN_SCOPE(ctx);
    char *path = file_of(ctx, p, part), *line = first_line(ctx, p, part);
    hn_own(ctx, scope.outer);
    if (!path || !line)
        return ctx->code;
    if (access(path, F_OK) != 0)
        return fail_part(ctx, path);
    enum hn_code code = hn_bytes_read(ctx, path, line, out);
    if (code == HN_DATA) {
        (void)unlink(path);
        return hn_fail(ctx, HN_WAITING, "%s: the file is damaged, and was removed: run again",
                       path);
    }
    p->count.read += code == HN_OK;
    p->count.bytes_read += out->n;
    return code;
}

// Bytes that the processes of a machine have in memory once: a file <folder>/rows/<name> that the
// first of them makes, and all map. Other machines that see the folder have it once each.

enum { SHARED_MIN = 1 << 20 }; // bytes; of fewer each process has its own

struct shared {
    const char *path, *line; // line: the file begins with it
    int64_t n;
    const struct hn_parts_fill *fill;
};

static enum hn_code make(struct hn_context *ctx, const struct shared *s) {
    HN_SCOPE(ctx);
    const void *bytes = hn_parts_own(ctx, s->n, s->fill);
    return bytes ? hn_bytes_write(ctx, s->path, s->line, HN_MAPPED_FROM, bytes, s->n) : ctx->code;
}

// HN_DATA: there is no such file, or it is damaged.
static enum hn_code map(struct hn_context *ctx, const struct shared *s, void **bytes) {
    int fd = open(s->path, O_RDONLY | O_CLOEXEC);
    enum hn_code code = HN_OK;
    if (fd < 0 || !hn_checksum_begins(fd, HN_MAPPED_FROM + s->n + HN_CHECKSUM_BYTES, s->line))
        code = hn_fail(ctx, HN_DATA, "%s: the file is damaged, or was removed: run again", s->path);
    else if (!(*bytes = hn_map(ctx, fd, s->n)))
        code = ctx->code;
    if (fd >= 0)
        (void)close(fd);
    return code;
}

// Maps the file, or makes it first; a process that finds it being made waits.
static enum hn_code map_or_make(struct hn_context *ctx, const struct shared *s, void **bytes) {
    int folder;
    enum hn_code code = map(ctx, s, bytes);
    if (code != HN_DATA)
        return code;
    if (hn_folder_take(ctx, s->path, &folder))
        return ctx->code;
    code = map(ctx, s, bytes);
    if (code == HN_DATA) {
        code = make(ctx, s);
        code = code ? code : map(ctx, s, bytes);
    }
    hn_folder_free(folder);
    return code;
}

static const void *share(struct hn_context *ctx, void *self, const char *name, int64_t n,
                         const struct hn_parts_fill *fill) {
    const struct hn_file_parts *p = self;
    if ((p->of == 1 && hn_ranks_count(p->ranks) == 1) || n < SHARED_MIN)
        return hn_parts_own(ctx, n, fill);
    char sum[HN_DIGEST_TEXT];
    make_sum(p, name, sum);
    HN_SCOPE(ctx);
    char *folder = hn_format(ctx, "%s/rows", p->folder);
    char *path = hn_format(ctx, "%s/rows/%s.%s", p->folder, sum, ctx->program);
    char *line = hn_format(ctx, "hardneg rows 1: %s of %s\n", sum, ctx->program);
    const struct shared s = {path, line, n, fill};
    if (!folder || !path || !line || hn_folder_make(ctx, folder))
        return NULL;
    void *bytes = NULL;
    hn_own(ctx, scope.outer);
    bool good = !map_or_make(ctx, &s, &bytes) || !fail_part(ctx, folder);
    return good ? bytes : NULL;
}

enum hn_code hn_part_parse(struct hn_context *ctx, const char *option, const char *text,
                           int64_t *part, int64_t *of) {
    enum { MAX = 1000000 };
    long long i, n;
    int length = 0;
    if (sscanf(text, "%7lld/%7lld%n", &i, &n, &length) != 2 || text[length] || i < 1 || i > n ||
        n > MAX)
        return hn_fail(ctx, HN_USAGE, "%s %s: give part i of n as i/n, e.g. 1/8 .. 8/8", option,
                       hn_quote(text).text);
    *part = i;
    *of = n;
    return HN_OK;
}

enum hn_code hn_file_parts_open(struct hn_context *ctx, const char *text, struct hn_ranks *ranks,
                                struct hn_file_parts *out) {
    *out = (struct hn_file_parts){.ranks = ranks, .part = 1, .of = 1};
    out->parts = (struct hn_parts){.self = out,
                                   .begin = begin,
                                   .next = next,
                                   .put = put,
                                   .end = end,
                                   .get = get,
                                   .share = share};
    hn_host_program(ctx);
    return text ? hn_part_parse(ctx, "--rows", text, &out->part, &out->of) : HN_OK;
}

void hn_file_parts_begin(struct hn_file_parts *p, const char *data_sha256) {
    (void)snprintf(p->scope, sizeof p->scope, "%s", data_sha256);
    p->parts.elsewhere = false;
}

void hn_file_parts_close(struct hn_context *ctx, struct hn_file_parts *p) { forget(ctx, p); }

void hn_file_parts_remove(struct hn_context *ctx, const struct hn_file_parts *p) {
    hn_scratch_remove(ctx, hn_strdup(ctx, p->folder));
}
