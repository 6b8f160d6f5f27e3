// SPDX-License-Identifier: GPL-3.0-or-later
// Files that become visible whole or not at all, under names that show which process makes them.
#include "core/digest.h"
#include "core/files_private.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 1000, MARK = 8, PATIENCE = 24 * 3600, END_MAX = 6, LINKS = 40 };

static const char infix[] = ".tmp-";

int hn_file_lock_fault(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int fault = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 ? errno : 0;
    if (fd >= 0)
        (void)close(fd);
    return fault;
}

enum hn_code hn_file_fail_locked(struct hn_context *ctx, const char *path) {
    return hn_fail(ctx, HN_DATA,
                   "%s: is open in another program that may write it (its lock: %s); close it "
                   "there, or, if nothing writes it, set HDF5_USE_FILE_LOCKING=FALSE",
                   path, strerror(EWOULDBLOCK));
}

// One process number may be alive on two machines that share a disk.
static void find_mark(char mark[HN_DIGEST_TEXT]) {
    char text[256] = "";
    FILE *boot = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (!boot || !fgets(text, sizeof text, boot))
        (void)gethostname(text, sizeof text - 1);
    if (boot)
        (void)fclose(boot);
    struct hn_digest digest;
    hn_digest_begin(&digest);
    hn_digest_add_text(&digest, text);
    ssize_t length = readlink("/proc/self/ns/pid", text, sizeof text);
    if (length > 0)
        hn_digest_add(&digest, text, (size_t)length);
    hn_digest_end(&digest, mark);
    mark[MARK] = '\0';
}

// When a process began, in clock ticks since the machine was started; 0: not known, or it has ended
// and nobody has waited for it. With it a number that was given to another process is not taken for
// the first one.
static long long began(pid_t pid) {
    char path[64], text[1024] = "";
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        (void)fclose(file);
    text[length] = '\0';
    const char *field = strrchr(text, ')'); // the end of the second field, the program's name
    if (field && strncmp(field, ") Z", 3) == 0)
        return 0;
    for (int i = 2; field && i < 22; i++)
        field = strchr(field + 1, ' ');
    return field ? strtoll(field, NULL, 10) : 0;
}

// The beginning of what a temporary file of this process adds to a name.
static char *maker_of(struct hn_context *ctx, const char *path) {
    char mark[HN_DIGEST_TEXT];
    find_mark(mark);
    return hn_format(ctx, "%s%s%s-%ld-%lld", path, infix, mark, (long)getpid(), began(getpid()));
}

bool hn_ends_in(const char *name, const char *ending) {
    size_t length = strlen(name), own = strlen(ending);
    return length > own && strcmp(name + length - own, ending) == 0;
}

const char *hn_base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *hn_path_beside(struct hn_context *ctx, const char *file, const char *path) {
    int folder = path[0] == '/' ? 0 : (int)(hn_base_name(file) - file);
    return hn_format(ctx, "%.*s%s", folder, file, path);
}

// True for a path that names an open descriptor, such as a shell's <(command).
static bool is_given_open(const char *path) {
    static const char *const position[] = {"/dev/stdin", "/dev/fd/", "/proc/self/fd/"};
    for (size_t i = 0; i < sizeof position / sizeof *position; i++)
        if (strncmp(path, position[i], strlen(position[i])) == 0)
            return true;
    return false;
}

static const char *why_irregular(mode_t mode) {
    return S_ISDIR(mode)    ? "it is a folder; give a regular file"
           : S_ISFIFO(mode) ? "it is a named pipe; give a regular file"
                            : "it is a device; give a regular file";
}

FILE *hn_file_open(const char *path, int64_t *bytes, const char **why) {
    struct stat about;
    FILE *file = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a named pipe must not block
    bool there = fd >= 0 && fstat(fd, &about) == 0;
    bool stream = there && !bytes && S_ISFIFO(about.st_mode) && is_given_open(path);
    if (there && !stream && !S_ISREG(about.st_mode))
        *why = why_irregular(about.st_mode);
    else if (!there || (stream && fcntl(fd, F_SETFL, 0) != 0) || !(file = fdopen(fd, "rb")))
        *why = strerror(errno);
    else if (bytes)
        *bytes = about.st_size;
    if (!file && fd >= 0)
        (void)close(fd);
    return file;
}

void hn_file_look(FILE *file, struct hn_file_state *out) {
    int fd = fileno(file); // below 0: in memory
    *out = (struct hn_file_state){.known = false};
    out->known = fd >= 0 && fstat(fd, &out->about) == 0 && S_ISREG(out->about.st_mode);
}

enum hn_code hn_file_check_same(struct hn_context *ctx, const char *path,
                                const struct hn_file_state *before) {
    const struct stat *a = &before->about;
    struct stat b;
    bool same =
        !before->known || (stat(path, &b) == 0 && a->st_dev == b.st_dev && a->st_ino == b.st_ino &&
                           a->st_size == b.st_size && a->st_mtim.tv_sec == b.st_mtim.tv_sec &&
                           a->st_mtim.tv_nsec == b.st_mtim.tv_nsec);
    return same ? HN_OK
                : hn_fail(ctx, HN_DATA,
                          "%s: changed while it was read; read it again once it is written", path);
}

struct beginning {
    const char *bytes, *is;
};

static bool begins(const char *head, size_t n, const char *bytes) {
    return n >= strlen(bytes) && strncasecmp(head, bytes, strlen(bytes)) == 0;
}

static const char *find_beginning(const struct beginning *list, const char *head, size_t n) {
    while (list->bytes && !begins(head, n, list->bytes))
        list++;
    return list->is;
}

// A digit, the level, stands between the name of the format and its first block, or end.
static bool is_bzip2(const char *head, size_t n) {
    return begins(head, n, "BZh") && n > 3 &&
           (begins(head + 4, n - 4, "1AY&SY") || begins(head + 4, n - 4, "\x17rE8P\x90"));
}

const char *hn_file_packed(const char *head, size_t n) {
    static const struct beginning list[] = {
        {"version https://git-lfs",
         "is a pointer of Git LFS, not the file itself; get it with git lfs pull"},
        {"\x1f\x8b", "is compressed (gzip): unpack it, with gunzip -k"},
        {"\x28\xb5\x2f\xfd", "is compressed (zstd): unpack it, with unzstd"},
        {"\xfd"
         "7zXZ",
         "is compressed (xz): unpack it, with unxz -k"},
        {"7z\xbc\xaf\x27\x1c", "is compressed (7z): unpack it, with 7z x"},
        {"\x04\x22\x4d\x18", "is compressed (lz4): unpack it, with unlz4"},
        {NULL, NULL}};
    return is_bzip2(head, n) ? "is compressed (bzip2): unpack it, with bunzip2 -k"
                             : find_beginning(list, head, n);
}

// A pickle of protocol 4 or 5 begins with a frame, whose length has eight bytes: two beginnings of
// an array of bytes would do. A file of PyTorch is a zip archive with a pickle as its first member.
const char *hn_file_pickled(const char *head, size_t n) {
    enum { FRAME = 0x95, LENGTH = 3 };
    if (n >= LENGTH + 8 && head[0] == '\x80' && (head[1] == 4 || head[1] == 5) &&
        (unsigned char)head[2] == FRAME && memcmp(head + LENGTH + 4, "\0\0\0\0", 4) == 0)
        return "is a pickle of Python, which could run any program; save its array with numpy.save";
    if (n >= 2 && memcmp(head, "PK", 2) == 0 && memmem(head, n, "data.pkl", 8))
        return "is a file of PyTorch, a pickle; save the tensor with numpy.save(FILE, x.numpy())";
    return NULL;
}

// Servers send these in place of a file: a page, or an error of a store of objects.
static const char *find_markup(const char *head, size_t n) {
    static const char page[] = "is a web page, of a login or an error perhaps; download the file "
                               "itself";
    static const struct beginning list[] = {
        {"<!doctype html", page},
        {"<html", page},
        {"<head", page},
        {"<!--", page},
        {"<?xml", "is XML, of an error perhaps; download the file itself"},
        {NULL, NULL}};
    const char *const end = head + n;
    if (begins(head, n, "\xef\xbb\xbf"))
        head += 3;
    while (head < end && isspace((unsigned char)*head))
        head++;
    return find_beginning(list, head, (size_t)(end - head));
}

const char *hn_file_other(const char *head, size_t n) {
    enum { TAR_AT = 257 };
    static const char columns[] = "is a table of columns (Parquet, Arrow or Feather), which is not "
                                  "read; save the embeddings with numpy.save";
    static const struct beginning list[] = {
        {"PK\x03\x04", "is compressed (zip): unpack it, with unzip"},
        {"PK\x05\x06", "is an empty archive (zip); make or copy it again"},
        {"Rar!\x1a\x07", "is compressed (rar): unpack it, with unrar x"},
        {"PAR1", columns},
        {"ARROW1", columns},
        {"FEA1", columns},
        {"\x89HDF\r\n\x1a\n", "is an HDF5 file, not text; a job names snapshots under `snapshots`"},
        {"SQLite format 3", "is a data base of SQLite; export what is wanted"},
        {"%PDF", "is a PDF, no data"},
        {"MATLAB 5.0", "is a .mat of MATLAB before version 7.3: save it with -v7.3"},
        {NULL, NULL}};
    const char *is = n == 0 ? "is empty; make or copy it again" : hn_file_packed(head, n);
    is = is ? is : hn_file_pickled(head, n);
    is = is ? is : find_beginning(list, head, n);
    if (!is && n > TAR_AT && begins(head + TAR_AT, n - TAR_AT, "ustar"))
        is = "is an archive (tar): unpack it, with tar xf";
    return is ? is : find_markup(head, n);
}

enum hn_code hn_file_check_packed(struct hn_context *ctx, const char *path, FILE *file) {
    char head[HN_FILE_HEAD];
    const char *is = hn_file_packed(head, fread(head, 1, sizeof head, file));
    rewind(file);
    return is ? hn_fail(ctx, HN_DATA, "%s: %s", path, is) : HN_OK;
}

enum hn_code hn_output_check(struct hn_context *ctx, const char *path) {
    struct stat about;
    if (!path[0])
        return hn_fail(ctx, HN_USAGE, "the name of the output file is empty; give one");
    if (strcmp(path, "-") == 0)
        return hn_fail(ctx, HN_USAGE,
                       "'-' is not standard output here; give the name of a file (./- for one of "
                       "that name)");
    bool there = stat(path, &about) == 0;
    if (!there && errno == ELOOP)
        return hn_fail(ctx, HN_USAGE, "%s: is a loop of symbolic links; give another name", path);
    if (there && !S_ISREG(about.st_mode))
        return hn_fail(ctx, HN_USAGE, "%s: is there and is not a regular file; give another name",
                       path);
    return HN_OK;
}

enum hn_code hn_fail_writing(struct hn_context *ctx, const char *path, int reason) {
    bool full = reason == ENOSPC || reason == EDQUOT || reason == EIO || reason == EFBIG;
    const char *advice = full ? "check the disk" : "check the folder";
    if (reason == EEXIST || reason == ENOTDIR)
        advice = "a file is where a folder is needed: move it, or name another";
    return hn_fail(ctx, full ? HN_IO : HN_USAGE, "%s: cannot be written: %s; %s", path,
                   strerror(reason), advice);
}

enum hn_code hn_fail_reading(struct hn_context *ctx, const char *path, int reason) {
    return hn_fail(ctx, HN_DATA, "%s: cannot be read: %s", path,
                   reason ? strerror(reason) : "it ends early; is it being written?");
}

// A folder whose parents are there: its own parent is to blame if it cannot be made.
static enum hn_code make_one(struct hn_context *ctx, const char *path) {
    struct stat about;
    char parent[PATH_MAX];
    if (mkdir(path, 0777) == 0)
        return HN_OK;
    int reason = errno;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        return HN_OK;
    bool barred = reason == EACCES || reason == EPERM || reason == EROFS;
    return barred && hn_folder_of(path, parent)
               ? hn_fail(ctx, HN_USAGE,
                         "%s: cannot be made in the folder %s: %s; name another folder", path,
                         parent, strerror(reason))
               : hn_fail_writing(ctx, path, reason);
}

enum hn_code hn_folder_make(struct hn_context *ctx, const char *path) {
    HN_SCOPE(ctx);
    char *part = hn_strdup(ctx, path);
    for (char *slash = part; part && (slash = strchr(slash + 1, '/')); *slash = '/') {
        *slash = '\0';
        if (make_one(ctx, part))
            return ctx->code;
    }
    return part ? make_one(ctx, path) : ctx->code;
}

bool hn_folder_of(const char *path, char folder[PATH_MAX]) {
    int64_t length = hn_base_name(path) - path;
    if (length >= PATH_MAX)
        return false;
    (void)snprintf(folder, PATH_MAX, "%.*s", length ? (int)length : 1, length ? path : ".");
    return true;
}

bool hn_same_file(const char *a, const char *b) {
    struct stat x, y;
    char of_a[PATH_MAX], of_b[PATH_MAX];
    bool has_a = stat(a, &x) == 0, has_b = stat(b, &y) == 0;
    if (!has_a && !has_b && strcmp(hn_base_name(a), hn_base_name(b)) == 0 &&
        hn_folder_of(a, of_a) && hn_folder_of(b, of_b)) {
        has_a = stat(of_a, &x) == 0;
        has_b = stat(of_b, &y) == 0;
    }
    return has_a && has_b && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

void hn_follow_links(const char *path, char target[PATH_MAX]) {
    char link[PATH_MAX], joined[2 * PATH_MAX];
    snprintf(target, PATH_MAX, "%s", path);
    for (int i = 0; i < LINKS; i++) {
        ssize_t length = readlink(target, link, sizeof link - 1);
        if (length <= 0)
            return;
        link[length] = '\0';
        int folder = link[0] == '/' ? 0 : (int)(hn_base_name(target) - target);
        if (snprintf(joined, sizeof joined, "%.*s%s", folder, target, link) >= PATH_MAX)
            return;
        memcpy(target, joined, PATH_MAX);
    }
}

// Not mkstemp(), which would leave the file unreadable for others whatever the umask says.
char *hn_temporary_file(struct hn_context *ctx, const char *path, int *fd) {
    char target[PATH_MAX];
    if (hn_output_check(ctx, path))
        return NULL;
    if (strlen(path) >= sizeof target) {
        (void)hn_fail_writing(ctx, path, ENAMETOOLONG);
        return NULL;
    }
    hn_follow_links(path, target);
    HN_SCOPE(ctx);
    const char *maker = maker_of(ctx, target);
    hn_own(ctx, scope.outer);
    for (int i = 0; maker && i < TRIES; i++) {
        char *name = hn_format(ctx, "%s-%d", maker, i);
        if (!name)
            return NULL;
        *fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (*fd >= 0)
            return name;
        int reason = errno;
        hn_free(ctx, name);
        if (reason != EEXIST) {
            (void)hn_fail_writing(ctx, path, reason);
            return NULL;
        }
    }
    if (maker)
        (void)hn_fail(ctx, HN_USAGE, "%s: %d temporary files stand beside it; remove %s%s*", path,
                      TRIES, target, infix);
    return NULL;
}

enum hn_code hn_folder_take(struct hn_context *ctx, const char *path, int *folder) {
    char name[PATH_MAX];
    *folder = hn_folder_of(path, name) ? open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    while (*folder >= 0 && flock(*folder, LOCK_EX) != 0) {
        bool interrupted = errno == EINTR;
        if (interrupted && !hn_stop_asked(ctx))
            continue;
        hn_folder_free(*folder);
        *folder = -1;
        return interrupted ? hn_check_stop(ctx) : HN_OK;
    }
    return HN_OK;
}

void hn_folder_free(int folder) {
    if (folder >= 0)
        (void)close(folder);
}

char *hn_temporary_folder(struct hn_context *ctx, const char *path) {
    HN_SCOPE(ctx);
    const char *maker = maker_of(ctx, path);
    hn_own(ctx, scope.outer);
    char *name = maker ? hn_format(ctx, "%s-XXXXXX", maker) : NULL;
    if (!name || mkdtemp(name))
        return name;
    (void)hn_fail_writing(ctx, path, errno);
    hn_free(ctx, name);
    return NULL;
}

// The process that made a temporary file, parsed from its name. Strict: a file of the user must not
// be taken for one of ours.
struct maker {
    char mark[MARK + 1];
    pid_t pid;
    long long began;
};

static bool parse(const char *name, struct maker *maker) {
    char pid[9 + 1], begun[18 + 1], end[END_MAX + 1];
    const char *last = NULL;
    int length = 0;
    for (const char *at = name; (at = strstr(at, infix)); at += strlen(infix))
        last = at + strlen(infix);
    if (!last || sscanf(last, "%8[0-9a-f]-%9[0-9]-%18[0-9]-%6[0-9a-zA-Z]%n", maker->mark, pid,
                        begun, end, &length) != 4)
        return false;
    maker->pid = (pid_t)strtol(pid, NULL, 10);
    maker->began = strtoll(begun, NULL, 10);
    return strlen(maker->mark) == MARK && maker->pid > 0 && last[length] == '\0';
}

// A process of this machine is looked at: it may have been stopped, or the clock put forward, and
// its file is its own for as long as it lives. Of others only the age of the file is known.
static bool is_left_over(const struct maker *maker, const char *mark, const struct stat *about) {
    if (strncmp(maker->mark, mark, MARK) != 0)
        return about->st_mtime < time(NULL) - PATIENCE;
    bool gone = kill(maker->pid, 0) != 0 && errno == ESRCH;
    return gone || began(maker->pid) != maker->began;
}

// A folder of ours holds files, folders in which a figure was drawn, and runs with theirs: no more
// levels than that, whatever else somebody has put there.
enum { LEVELS = 4, ROUNDS = 100 };
static bool empty_folder(DIR *folder, int levels);
static bool remove_folder(int parent, const char *name, int levels) {
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (!folder) {
        if (fd >= 0)
            (void)close(fd);
        return false;
    }
    // A gnuplot that outlives the process that started it may put a file there meanwhile. Once the
    // folder is gone it cannot.
    bool gone = false;
    for (int round = 0; !gone && round < ROUNDS && empty_folder(folder, levels); round++)
        gone = unlinkat(parent, name, AT_REMOVEDIR) == 0;
    (void)closedir(folder);
    return gone;
}

// True if all that was seen could be removed.
static bool empty_folder(DIR *folder, int levels) {
    bool all = true;
    rewinddir(folder);
    // cppcheck-suppress readdirCalled ; no other thread reads this folder
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            all &= unlinkat(dirfd(folder), entry->d_name, 0) == 0 ||
                   (levels > 1 && remove_folder(dirfd(folder), entry->d_name, levels - 1));
    return all;
}

void hn_temporary_sweep(const char *folder, const char *prefix) {
    char mark[HN_DIGEST_TEXT];
    DIR *listing = opendir(folder);
    if (!listing)
        return;
    find_mark(mark);
    // cppcheck-suppress readdirCalled ; no other thread reads this folder
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        struct stat about;
        struct maker maker;
        const char *name = entry->d_name;
        if (strncmp(name, prefix, strlen(prefix)) != 0 || !parse(name, &maker) ||
            fstatat(dirfd(listing), name, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
            !is_left_over(&maker, mark, &about))
            continue;
        if (S_ISDIR(about.st_mode))
            remove_folder(dirfd(listing), name, LEVELS);
        else
            (void)unlinkat(dirfd(listing), name, 0);
    }
    (void)closedir(listing);
}

void hn_temporary_sweep_for(const char *path) {
    char folder[PATH_MAX], prefix[NAME_MAX + 1], target[PATH_MAX];
    hn_follow_links(path, target);
    int used = snprintf(prefix, sizeof prefix, "%s%s", hn_base_name(target), infix);
    if (hn_folder_of(target, folder) && used > 0 && used < (int)sizeof prefix)
        hn_temporary_sweep(folder, prefix);
}

char *hn_scratch_make(struct hn_context *ctx) {
    const char *base = getenv("TMPDIR");
    HN_SCOPE(ctx);
    const char *path = hn_format(ctx, "%s/hardneg", base && *base ? base : "/tmp");
    hn_own(ctx, scope.outer);
    if (!path)
        return NULL;
    hn_temporary_sweep_for(path); // of processes that were killed
    char *folder = hn_temporary_folder(ctx, path);
    if (!folder && ctx->code != HN_MEMORY)
        (void)hn_fail(ctx, HN_IO, "%s: no folder can be made beside it; set TMPDIR", path);
    return folder;
}

void hn_scratch_remove(struct hn_context *ctx, char *folder) {
    if (folder)
        remove_folder(AT_FDCWD, folder, LEVELS);
    hn_free(ctx, folder);
}
