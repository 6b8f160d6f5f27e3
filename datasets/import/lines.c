#include "datasets/import/collection.h"
#include "datasets/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum hn_code hn_lines_open(struct hn_context *ctx, const char *path, struct hn_lines *out) {
    *out = (struct hn_lines){.line = NULL};
    return hn_source_open(ctx, path, &out->source);
}

void hn_lines_close(struct hn_lines *l) {
    free(l->line);
    hn_source_close(&l->source);
    *l = (struct hn_lines){.line = NULL};
}

enum hn_code hn_lines_fail(struct hn_context *ctx, const struct hn_lines *l, const char *fmt, ...) {
    char text[HN_MESSAGE_MAX];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return hn_fail(ctx, HN_DATA, "%s: line %lld: %s", l->source.path, (long long)l->number, text);
}

enum hn_code hn_lines_next(struct hn_context *ctx, struct hn_lines *l, char **line) {
    *line = NULL;
    errno = 0;
    ssize_t length = getline(&l->line, &l->capacity, l->source.file);
    if (length < 0)
        return feof(l->source.file) ? HN_OK
                                    : hn_fail(ctx, HN_DATA, "%s: cannot be read: %s",
                                              l->source.path, strerror(errno));
    l->number++;
    if (strlen(l->line) != (size_t)length)
        return hn_text_not(ctx, l->source.path, l->line);
    if (!hn_snapshot_is_utf8(l->line))
        return hn_lines_fail(ctx, l, "is not UTF-8; save the file so");
    if (l->number == 1 && strchr(l->line, '\r') && !strchr(l->line, '\n'))
        return hn_lines_fail(
            ctx, l, "has a carriage return, and the file no line feeds: end lines with these");
    if (length > 0 && l->line[length - 1] == '\n')
        l->line[--length] = 0;
    if (length > 0 && l->line[length - 1] == '\r')
        l->line[--length] = 0;
    *line = l->number == 1 ? hn_text_begin(l->line) : l->line;
    return l->number % 4096 ? HN_OK : hn_check_stop(ctx);
}
