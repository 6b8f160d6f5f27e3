// SPDX-License-Identifier: GPL-3.0-or-later
// Files that are written under a temporary name, alone or as the outputs of one command.
#include "core/files_private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char attribute[] = "user.hardneg.key";
enum { SIGN = 256 };

static bool sync_path(const char *path, int flags) {
    int fd = open(path, flags | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool good = fsync(fd) == 0;
    return close(fd) == 0 && good;
}

static enum hn_code fail_io(struct hn_context *ctx, const char *path, int reason) {
    return hn_fail(ctx, HN_IO, "%s: writing failed: %s", path, strerror(reason));
}

// Gives a file that is whole its name; a failure leaves it.
static enum hn_code name_file(struct hn_context *ctx, const char *temporary, const char *path) {
    char target[PATH_MAX];
    hn_follow_links(path, target);
    return rename(temporary, target) == 0 ? HN_OK : fail_io(ctx, path, errno);
}

// Not every file system can sync a folder, and the file is there by now: best effort.
static void sync_name(const char *path) {
    char folder[PATH_MAX], target[PATH_MAX];
    hn_follow_links(path, target);
    if (hn_folder_of(target, folder))
        (void)sync_path(folder, O_RDONLY | O_DIRECTORY);
}

static enum hn_code show(struct hn_context *ctx, const char *temporary, const char *path) {
    if (name_file(ctx, temporary, path))
        return ctx->code;
    sync_name(path);
    return HN_OK;
}

// Frees what describes a file, which has its name by now or is removed.
static void forget(struct hn_context *ctx, struct hn_new_file *file) {
    if (file->behind)
        (void)fclose(file->behind);
    free(file->text);
    hn_free(ctx, file->temporary);
    hn_free(ctx, file->path);
    *file = (struct hn_new_file){0};
}

// Undoes the writing: removes the temporary file, or cuts off what was appended.
static void take_back(const struct hn_new_file *file) {
    if (file->temporary)
        (void)unlink(file->temporary);
    else if (truncate(file->path, file->begin) != 0)
        return; // nothing else can be tried
}

void hn_file_abort(struct hn_context *ctx, struct hn_new_file *file) {
    if (file->out) {
        (void)fclose(file->out);
        take_back(file);
    }
    forget(ctx, file);
}

// Keeps what is whole until the outputs end. It belongs to these, no owner. added: NULL, or what is
// added to the end of the file, which is not the caller's any more.
static enum hn_code keep(struct hn_context *ctx, const char *path, const char *temporary,
                         struct hn_new_file *added) {
    struct hn_outputs *all = ctx->outputs;
    void *owner = hn_own(ctx, NULL);
    struct hn_new_file kept = {.path = hn_strdup(ctx, path)};
    kept.temporary = temporary ? hn_strdup(ctx, temporary) : NULL;
    bool good = kept.path && (kept.temporary || !temporary) &&
                !hn_grow(ctx, &all->file, &all->capacity, all->n + 1, sizeof *all->file);
    hn_own(ctx, owner);
    if (!good) {
        forget(ctx, &kept);
        return ctx->code;
    }
    if (added) {
        kept.behind = added->behind;
        kept.begin = added->begin;
        kept.text = added->text;
        kept.length = added->length;
        added->behind = NULL;
        added->text = NULL;
    }
    all->file[all->n++] = kept;
    return HN_OK;
}

enum hn_code hn_file_publish(struct hn_context *ctx, const char *temporary, const char *path) {
    char target[PATH_MAX];
    struct stat before;
    hn_follow_links(path, target);
    if (stat(target, &before) == 0) // its mode is the user's choice
        (void)chmod(temporary, before.st_mode & 07777);
    enum hn_code code = sync_path(temporary, O_RDONLY) ? HN_OK : fail_io(ctx, path, errno);
    if (!code)
        code = ctx->outputs ? keep(ctx, path, temporary, NULL) : show(ctx, temporary, path);
    if (code)
        (void)unlink(temporary);
    return code;
}

enum hn_code hn_file_adopt(struct hn_context *ctx, const char *from, const char *to) {
    int fd = -1;
    if (!ctx->outputs)
        return rename(from, to) == 0 ? HN_OK : fail_io(ctx, to, errno);
    char *temporary = hn_temporary_file(ctx, to, &fd);
    if (!temporary)
        return ctx->code;
    (void)close(fd);
    enum hn_code code = rename(from, temporary) == 0 ? HN_OK : fail_io(ctx, to, errno);
    if (!code)
        code = keep(ctx, to, temporary, NULL);
    if (code)
        (void)unlink(temporary);
    hn_free(ctx, temporary);
    return code;
}

enum hn_code hn_file_begin(struct hn_context *ctx, const char *path, struct hn_new_file *file) {
    int fd = -1;
    hn_temporary_sweep_for(path); // of processes that were killed
    *file = (struct hn_new_file){.path = hn_strdup(ctx, path)};
    file->temporary = file->path ? hn_temporary_file(ctx, path, &fd) : NULL;
    enum hn_code code = file->temporary ? HN_OK : ctx->code;
    file->out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!code && !file->out) {
        code = fail_io(ctx, path, errno);
        (void)close(fd);
        (void)unlink(file->temporary);
    }
    if (code)
        hn_file_abort(ctx, file);
    return code;
}

enum hn_code hn_file_begin_adding(struct hn_context *ctx, const char *path,
                                  struct hn_new_file *file) {
    struct stat about = {0};
    *file = (struct hn_new_file){.path = hn_strdup(ctx, path)};
    enum hn_code code = file->path ? hn_output_check(ctx, path) : ctx->code;
    int fd = code ? -1 : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd >= 0)
        (void)flock(fd, LOCK_EX); // where that is possible
    if (fd >= 0 && fstat(fd, &about) == 0)
        file->behind = fdopen(fd, "a");
    file->begin = about.st_size;
    if (file->behind && (file->out = open_memstream(&file->text, &file->length)))
        return HN_OK;
    code = code ? code : hn_fail_writing(ctx, path, errno);
    if (fd >= 0 && !file->behind)
        (void)close(fd);
    hn_file_abort(ctx, file);
    return code;
}

static bool add_text(const struct hn_new_file *file) {
    return fwrite(file->text, 1, file->length, file->behind) == file->length &&
           fflush(file->behind) == 0;
}

enum hn_code hn_file_commit(struct hn_context *ctx, struct hn_new_file *file) {
    if (hn_check_lacked(ctx)) {
        hn_file_abort(ctx, file);
        return ctx->code;
    }
    bool good = fflush(file->out) == 0 && !ferror(file->out), later = file->behind && ctx->outputs;
    int reason = errno;
    if ((fclose(file->out) != 0 || (file->behind && !later && !add_text(file))) && good) {
        good = false;
        reason = errno;
    }
    file->out = NULL;
    enum hn_code code = HN_OK;
    if (!good) {
        take_back(file);
        code = fail_io(ctx, file->path, reason);
    } else if (file->temporary) {
        code = hn_file_publish(ctx, file->temporary, file->path);
    } else if (later) {
        code = keep(ctx, file->path, NULL, file);
    }
    forget(ctx, file);
    return code;
}

enum hn_code hn_file_end(struct hn_context *ctx, struct hn_new_file *file, enum hn_code code) {
    if (!code)
        return hn_file_commit(ctx, file);
    hn_file_abort(ctx, file);
    return code;
}

enum hn_code hn_file_write_text(struct hn_context *ctx, const char *path, const char *text) {
    struct hn_new_file file;
    if (hn_file_begin(ctx, path, &file))
        return ctx->code;
    (void)fputs(text, file.out); // an error shows in the commit
    return hn_file_commit(ctx, &file);
}

void hn_outputs_begin(struct hn_context *ctx, struct hn_outputs *all) {
    *all = (struct hn_outputs){.outer = ctx->outputs};
    if (!ctx->outputs)
        ctx->outputs = all;
}

const char *hn_outputs_find(const struct hn_context *ctx, const char *path) {
    const struct hn_outputs *all = ctx->outputs;
    for (int64_t i = all ? all->n : 0; i-- > 0;)
        if (all->file[i].temporary && strcmp(all->file[i].path, path) == 0)
            return all->file[i].temporary;
    return path;
}

// Compared by hn_output_is(): a file that was changed since has another time, or size.
static void sign_text(const char *key, const struct stat *about, char text[SIGN]) {
    (void)snprintf(text, SIGN, "%s %" PRId64 " %" PRId64 ".%09ld", key, (int64_t)about->st_size,
                   (int64_t)about->st_mtim.tv_sec, about->st_mtim.tv_nsec);
}

// Best effort: not every file system has attributes.
static void sign(const char *path, const char *key) {
    struct stat about;
    char text[SIGN];
    if (stat(path, &about) != 0)
        return;
    sign_text(key, &about, text);
    (void)setxattr(path, attribute, text, strlen(text), 0);
}

bool hn_output_is(const char *path, const char *key) {
    struct stat about;
    char text[SIGN], found[SIGN];
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return false;
    sign_text(key, &about, text);
    ssize_t length = getxattr(path, attribute, found, sizeof found);
    return length == (ssize_t)strlen(text) && memcmp(found, text, strlen(text)) == 0;
}

// All are whole and checked before the first one is given its name, so that only a name that cannot
// be given, or a kill between two calls of rename(), stops this half-way.
static enum hn_code show_all(struct hn_context *ctx, struct hn_outputs *all) {
    for (int64_t i = 0; i < all->n; i++)
        if (all->file[i].temporary) {
            if (hn_output_check(ctx, all->file[i].path))
                return ctx->code;
            if (all->key)
                sign(all->file[i].temporary, all->key);
        }
    for (int64_t i = 0; i < all->n; i++)
        if (all->file[i].behind && !add_text(&all->file[i]))
            return fail_io(ctx, all->file[i].path, errno);
    for (int64_t i = 0; i < all->n; i++) {
        const struct hn_new_file *file = &all->file[i];
        if (file->temporary && name_file(ctx, file->temporary, file->path))
            return ctx->code;
    }
    for (int64_t i = 0; i < all->n; i++) {
        struct hn_new_file *file = &all->file[i];
        if (file->temporary)
            sync_name(file->path);
        forget(ctx, file);
    }
    all->n = 0;
    return HN_OK;
}

enum hn_code hn_outputs_end(struct hn_context *ctx, struct hn_outputs *all, enum hn_code code) {
    if (all->outer)
        return code;
    ctx->outputs = NULL;
    if (!code)
        code = show_all(ctx, all);
    for (int64_t i = 0; i < all->n; i++) {
        take_back(&all->file[i]);
        forget(ctx, &all->file[i]);
    }
    hn_free(ctx, all->file);
    return code;
}
