#include "datasets/import/collection.h"
#include "datasets/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum hn_code hn_lines_open(struct hn_context *ctx, const char *path, struct hn_lines *out) {
    *out = (struct hn_lines){.line = NULL};
    enum hn_code code = hn_source_open(ctx, path, &out->source);
    out->at.path = out->source.path;
    return code;
}

void hn_lines_close(struct hn_lines *l) {
    free(l->line);
    hn_source_close(&l->source);
    *l = (struct hn_lines){.line = NULL};
}

enum hn_code hn_lines_next(struct hn_context *ctx, struct hn_lines *l, char **line) {
    *line = NULL;
    errno = 0;
    ssize_t length = getline(&l->line, &l->capacity, l->source.file);
    if (length < 0)
        return feof(l->source.file)
                   ? HN_OK
                   : hn_fail(ctx, HN_DATA, "%s: cannot be read: %s", l->at.path, strerror(errno));
    l->at.number++;
    if (hn_text_check(ctx, l->at.path, l->line, length))
        return ctx->code;
    if (!hn_snapshot_is_utf8(l->line))
        return hn_line_fail(ctx, &l->at, "is not UTF-8; save the file so");
    if (l->at.number == 1 && strchr(l->line, '\r') && !strchr(l->line, '\n'))
        return hn_line_fail(
            ctx, &l->at, "has a carriage return, and the file no line feeds: end lines with these");
    if (length > 0 && l->line[length - 1] == '\n')
        l->line[--length] = 0;
    if (length > 0 && l->line[length - 1] == '\r')
        l->line[--length] = 0;
    *line = l->at.number == 1 ? hn_text_begin(l->line) : l->line;
    return l->at.number % 4096 ? HN_OK : hn_check_stop(ctx);
}
