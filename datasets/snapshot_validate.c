// Everything that a file claims: structure was checked when it was opened, here come the values.
#include "core/digest.h"
#include "datasets/snapshot_private.h"

#include <string.h>

// Only files of this program: others may define the digest otherwise.
enum hn_code hn_snapshot_digest_checked(struct hn_context *ctx, struct hn_snapshot *s, char *text) {
    enum hn_code code = hn_snapshot_digest(ctx, s, text);
    if (code == HN_OK && s->info.stored_sha256[0] &&
        strncmp(s->info.tool_version, "hardneg ", 8) == 0 &&
        strcmp(text, s->info.stored_sha256) != 0)
        code = hn_fail(ctx, HN_DATA,
                       "%s: the values are not those that were written: SHA-256 %s, attribute "
                       "content_sha256 %.64s; make or copy the file again",
                       s->path, text, s->info.stored_sha256);
    return code;
}

enum hn_code hn_snapshot_validate(struct hn_context *ctx, struct hn_snapshot *s) {
    char text[HN_DIGEST_TEXT];
    HN_SCOPE(ctx);
    float *x = hn_alloc(ctx, s->info.n * s->info.d, sizeof *x);
    if (!x)
        return ctx->code;
    for (int which = 0; which < HN_SNAPSHOT_SERIES; which++)
        for (int64_t i = 0; i < s->info.steps && s->series[which].id >= 0; i++)
            if (hn_snapshot_read_unit(ctx, s, which, i, x))
                return ctx->code;
    for (int64_t i = 0; i < s->teacher.steps && s->teacher.id >= 0; i++) {
        struct hn_matrix teacher;
        if (hn_snapshot_read_teacher(ctx, s, i, &teacher))
            return ctx->code;
        hn_free(ctx, (void *)teacher.data);
    }
    return s->info.stored_sha256[0] ? hn_snapshot_digest_checked(ctx, s, text) : HN_OK;
}
