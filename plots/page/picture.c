// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures that gnuplot draws into memory, and files that hold them whole or are not there.
#include "plots/page/picture.h"

#include "core/files.h"
#include "core/text.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// A file in memory, which gnuplot inherits, behind a link; or -1.
static int open_memory(const char *path) {
    char name[64];
    int fd = memfd_create("picture", 0);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    if (fd >= 0 && (access(name, W_OK) || symlink(name, path))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

enum hn_code hn_pictures_begin(struct hn_context *ctx, const char *folder, const char *id,
                               const char *const *endings, struct hn_pictures *all) {
    *all = (struct hn_pictures){0};
    for (; endings[all->n]; all->n++) {
        char *path = hn_format(ctx, "%s/%s.%s", folder, id, endings[all->n]);
        if (!path)
            return hn_pictures_end(ctx, all, folder, ctx->code);
        all->path[all->n] = path;
        all->memory[all->n] = open_memory(path);
    }
    return HN_OK;
}

// Looks for what ends a whole file among its last bytes.
static bool is_whole(const char *path, const char *bytes, size_t n) {
    static const char *const last[][2] = {
        {".svg", "</svg>"}, {".pdf", "%%EOF"}, {".png", "IEND"}, {".tex", "\\endgroup"}};
    size_t tail = n < 16 ? n : 16;
    for (size_t i = 0; i < sizeof last / sizeof last[0]; i++)
        if (hn_ends_in(path, last[i][0]))
            return memmem(bytes + n - tail, tail, last[i][1], strlen(last[i][1])) != NULL;
    return true;
}

// The same results give the same bytes: a PDF has the moment it was made, which is set to one.
static void undate(char *bytes, size_t n) {
    static const char date[] = "/CreationDate (D:", none[] = "19700101000000";
    char *at = memmem(bytes, n, date, sizeof date - 1);
    if (at && (size_t)(bytes + n - at) > sizeof date + sizeof none)
        memcpy(at + sizeof date - 1, none, sizeof none - 1);
}

// In place of the link, or of what gnuplot wrote itself.
static bool write_bytes(const char *path, const char *bytes, size_t n) {
    FILE *f = unlink(path) == 0 ? fopen(path, "wx") : NULL;
    if (!f)
        return false;
    bool good = fwrite(bytes, 1, n, f) == n;
    return fclose(f) == 0 && good;
}

static enum hn_code keep(struct hn_context *ctx, const char *path, const char *dir) {
    const char *why, *name = hn_base_name(path);
    int64_t size = 0;
    HN_SCOPE(ctx);
    FILE *f = hn_file_open(path, &size, &why);
    if (!f)
        return hn_fail(ctx, HN_IO, "%s/%s: gnuplot's picture cannot be read: %s", dir, name, why);
    char *bytes = hn_alloc(ctx, size, 1);
    size_t n = bytes ? fread(bytes, 1, (size_t)size, f) : 0;
    fclose(f);
    if (!bytes)
        return ctx->code;
    if (n != (size_t)size || !is_whole(path, bytes, n))
        return hn_fail(ctx, HN_IO, "%s/%s: gnuplot left a part of a picture: is the disk full?",
                       dir, name);
    undate(bytes, n);
    return write_bytes(path, bytes, n)
               ? HN_OK
               : hn_fail(ctx, HN_IO, "%s/%s: writing failed: is the disk full?", dir, name);
}

enum hn_code hn_pictures_end(struct hn_context *ctx, struct hn_pictures *all, const char *dir,
                             enum hn_code code) {
    for (int i = 0; i < all->n; i++) {
        if (code == HN_OK)
            code = keep(ctx, all->path[i], dir);
        if (all->memory[i] >= 0)
            close(all->memory[i]);
    }
    all->n = 0;
    return code;
}
