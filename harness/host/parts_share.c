// Bytes that the processes of a machine have in memory once: a file <folder>/rows/<name> that the
// first of them makes, and all map. Other machines that see the folder have it once each.
#include "core/checksum.h"
#include "core/files.h"
#include "harness/host/host.h"
#include "harness/host/parts_private.h"

#include <fcntl.h>
#include <unistd.h>

// The process that stored the last result removes the parts.
enum hn_code hn_file_parts_fail(struct hn_context *ctx, const char *folder) {
    if (access(folder, F_OK) == 0)
        return ctx->code;
    return hn_fail(ctx, HN_WAITING, "%s: removed by another process, which has ended the run",
                   folder);
}

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

const void *hn_file_parts_share(struct hn_context *ctx, void *self, const char *name, int64_t n,
                                const struct hn_parts_fill *fill) {
    const struct hn_file_parts *p = self;
    if ((p->of == 1 && hn_ranks_count(p->ranks) == 1) || n < SHARED_MIN)
        return hn_parts_own(ctx, n, fill);
    char sum[HN_DIGEST_TEXT];
    struct hn_digest digest;
    hn_digest_begin(&digest);
    hn_digest_add_text(&digest, p->scope);
    hn_digest_add_text(&digest, name);
    hn_digest_add_int(&digest, hn_results_code_version);
    hn_digest_add_text(&digest, ctx->program);
    hn_digest_end(&digest, sum);
    HN_SCOPE(ctx);
    char *folder = hn_format(ctx, "%s/rows", p->folder);
    char *path = hn_format(ctx, "%s/rows/%s", p->folder, sum);
    char *line = hn_format(ctx, "hardneg rows 1: %s\n", sum);
    const struct shared s = {path, line, n, fill};
    if (!folder || !path || !line || hn_folder_make(ctx, folder))
        return NULL;
    void *bytes = NULL;
    hn_own(ctx, scope.outer);
    bool good = !map_or_make(ctx, &s, &bytes) || !hn_file_parts_fail(ctx, folder);
    return good ? bytes : NULL;
}
