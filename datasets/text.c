#include "datasets/text.h"
#include "core/files.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const int64_t bytes_max = (int64_t)1 << 30;
static const char blanks[] = " \t,";

enum hn_code hn_text_fail(struct hn_context *ctx, const struct hn_text *t, const char *what) {
    return hn_fail(ctx, HN_DATA, "%s: line %lld: %s", t->path, (long long)t->number, what);
}

static enum hn_code load(struct hn_context *ctx, struct hn_text *t) {
    struct stat about;
    FILE *file = fopen(t->path, "rb");
    if (!file)
        return hn_fail(ctx, HN_DATA, "%s: cannot be opened: %s; check the path", t->path,
                       strerror(errno));
    enum hn_code code = HN_OK;
    if (fstat(fileno(file), &about) != 0 || !S_ISREG(about.st_mode) || about.st_size > bytes_max)
        code = hn_fail(ctx, HN_DATA, "%s: is not a text file of at most 1 GiB", t->path);
    else if (!(t->text = hn_zalloc(ctx, about.st_size + 1, 1)))
        code = ctx->code;
    else if (fread(t->text, 1, (size_t)about.st_size, file) != (size_t)about.st_size)
        code = hn_fail(ctx, HN_DATA, "%s: cannot be read", t->path);
    (void)fclose(file);
    if (code)
        return code;
    if (strlen(t->text) != (size_t)about.st_size)
        return hn_fail(ctx, HN_DATA, "%s: holds a zero byte; it is no text file", t->path);
    t->bytes = about.st_size;
    t->lines = 1;
    for (const char *c = t->text; *c; c++)
        t->lines += *c == '\n';
    t->rest = t->text;
    return HN_OK;
}

enum hn_code hn_text_open(struct hn_context *ctx, const char *folder, const char *name,
                          const char *ending, struct hn_text *t) {
    *t = (struct hn_text){.path = hn_format(ctx, "%s/%s%s", folder, name, ending)};
    return t->path ? load(ctx, t) : ctx->code;
}

void hn_text_close(struct hn_context *ctx, struct hn_text *t) {
    hn_free(ctx, t->path);
    hn_free(ctx, t->text);
}

bool hn_text_line(struct hn_text *t) {
    char *line;
    while ((line = strsep(&t->rest, "\n"))) {
        t->number++;
        line[strcspn(line, "\r")] = 0;
        t->word = line + strspn(line, blanks);
        if (*t->word)
            return true;
    }
    return false;
}

char *hn_text_word(struct hn_text *t) {
    char *word = t->word;
    if (!*word)
        return NULL;
    t->word += strcspn(word, blanks);
    if (*t->word)
        *t->word++ = 0;
    t->word += strspn(t->word, blanks);
    return word;
}

enum hn_code hn_text_number(struct hn_context *ctx, struct hn_text *t, const char *what, int64_t lo,
                            int64_t hi, int64_t *out) {
    const char *word = hn_text_word(t);
    char *end;
    *out = lo;
    if (!word)
        return hn_fail(ctx, HN_DATA, "%s: line %lld: the %s is missing", t->path,
                       (long long)t->number, what);
    errno = 0;
    *out = strtoll(word, &end, 10);
    if (end == word || *end || errno == ERANGE || *out < lo || *out > hi)
        return hn_fail(ctx, HN_DATA,
                       "%s: line %lld: the %s is '%.40s', not a whole number from %lld to %lld",
                       t->path, (long long)t->number, what, word, (long long)lo, (long long)hi);
    return HN_OK;
}

enum hn_code hn_text_end(struct hn_context *ctx, struct hn_text *t) {
    return *t->word ? hn_text_fail(ctx, t, "there is more than the line should hold") : HN_OK;
}

enum hn_code hn_text_find(struct hn_context *ctx, const char *folder, const char *ending,
                          char **name) {
    glob_t found;
    char *pattern = hn_format(ctx, "%s/*%s", folder, ending);
    if (!pattern)
        return ctx->code;
    enum hn_code code = HN_OK;
    int status = glob(pattern, 0, NULL, &found);
    hn_free(ctx, pattern);
    if (status != 0 && status != GLOB_NOMATCH)
        return hn_fail(ctx, HN_DATA, "%s: cannot be searched", folder);
    size_t n = status == 0 ? found.gl_pathc : 0;
    if (n == 1) {
        const char *file = hn_base_name(found.gl_pathv[0]);
        *name = hn_format(ctx, "%.*s", (int)(strlen(file) - strlen(ending)), file);
        code = *name ? HN_OK : ctx->code;
    } else {
        code = hn_fail(ctx, HN_DATA, "%s: holds %zu files NAME%s; it should hold one", folder, n,
                       ending);
    }
    if (status == 0)
        globfree(&found);
    return code;
}
