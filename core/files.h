// SPDX-License-Identifier: GPL-3.0-or-later
// Files and folders that are made aside and renamed when they are whole, and the removal of those
// that a killed process left behind. A name says who makes it:
// "<path>.tmp-<mark>-<pid>-<start>-<end>", where the mark identifies this machine since it was
// started and the numbering of processes (a container has its own), and <start> is when the process
// began. Symbolic links are followed: the file that they lead to is replaced, and keeps its mode.
#pragma once

#include "core/context.h"
#include <stdio.h>
#include <sys/stat.h>

// The part of a path after its last '/'.
const char *hn_base_name(const char *path);
// True if a name, of a file or of anything else, has that ending behind something.
bool hn_ends_in(const char *name, const char *ending);
// `path` as a process opens it if `file` names it: relative to that file's folder. Belongs to the
// owner; NULL: out of memory.
HN_MUST_USE char *hn_path_beside(struct hn_context *ctx, const char *file, const char *path);

// Opens a regular file for reading; folders, devices and named pipes are refused at once, not
// waited for. *bytes is its size; NULL if the caller reads to the end, and then a pipe that the
// program was given open (/dev/stdin, /dev/fd/63) will do. Returns NULL on failure, with the reason
// in *why: "No such file or directory", "it is a folder; give a regular file".
HN_MUST_USE FILE *hn_file_open(const char *path, int64_t *bytes, const char **why);
// A file as it is at one moment; zeroed: not known, as of standard input.
struct hn_file_state {
    bool known;
    struct stat about; // of it, not of a link to it
};
// Looks at an open file: the state is not known of what is no regular file.
void hn_file_look(FILE *file, struct hn_file_state *out);
// HN_DATA: since a state was looked at, the file `path` was written, removed or replaced, so that
// what was read of it may be parts of two. HN_OK for one that is not known.
HN_MUST_USE enum hn_code hn_file_check_same(struct hn_context *ctx, const char *path,
                                            const struct hn_file_state *before);
// HN_DATA, "x.npy: cannot be read: Input/output error"; reason: of errno, 0: the file ends early.
enum hn_code hn_fail_reading(struct hn_context *ctx, const char *path, int reason);

// Returns what the first n bytes of a file (HN_FILE_HEAD, or all that it has) show it to be in
// place of the file that was wanted, with the remedy: "is compressed (gzip): unpack it, with gunzip
// -k"; NULL: not known. packed: a pointer of Git LFS, or compressed, as no file that is read
// begins; pickled: of Python or PyTorch; other: those, an archive, a table of columns, a data base,
// a web page, or empty.
enum { HN_FILE_HEAD = 512 };
const char *hn_file_packed(const char *head, size_t n);
const char *hn_file_pickled(const char *head, size_t n);
const char *hn_file_other(const char *head, size_t n);
// HN_DATA: an open file is packed. Else it stands at its begin.
HN_MUST_USE enum hn_code hn_file_check_packed(struct hn_context *ctx, const char *path, FILE *file);

// 0, or errno of why a file cannot be locked to be read, as HDF5 locks it: EWOULDBLOCK while
// another program may write it, ENOLCK and others on disks without locks.
int hn_file_lock_fault(const char *path);
// HN_DATA for a file that another program may write.
enum hn_code hn_file_fail_locked(struct hn_context *ctx, const char *path);

// A file that is written under a temporary name, and is either whole or not there; or what is added
// to one, which is added whole or not at all.
struct hn_new_file {
    FILE *out;              // to be written by the caller
    char *path, *temporary; // temporary: NULL where something is added
    // Private, of a file that something is added to: locked, its length, and what is added.
    FILE *behind;
    int64_t begin;
    char *text;
    size_t length;
};
// Starts a file that is to become `path`, and removes what killed processes left of it. HN_USAGE if
// it cannot be written there, HN_IO if the disk is full.
HN_MUST_USE enum hn_code hn_file_begin(struct hn_context *ctx, const char *path,
                                       struct hn_new_file *file);
// Starts what is added to the end of `path`, which is made if it is not there; fails likewise.
// Another process that adds to it waits until that has ended.
HN_MUST_USE enum hn_code hn_file_begin_adding(struct hn_context *ctx, const char *path,
                                              struct hn_new_file *file);
// Syncs and renames it; on failure (HN_IO) removes it. In both cases what it holds is freed.
HN_MUST_USE enum hn_code hn_file_commit(struct hn_context *ctx, struct hn_new_file *file);
// Commits it if `code` is HN_OK, else removes it; the code of either.
HN_MUST_USE enum hn_code hn_file_end(struct hn_context *ctx, struct hn_new_file *file,
                                     enum hn_code code);
// The same for a file that holds this text.
HN_MUST_USE enum hn_code hn_file_write_text(struct hn_context *ctx, const char *path,
                                            const char *text);
void hn_file_abort(struct hn_context *ctx,
                   struct hn_new_file *file); // a zeroed or ended one is fine

// The outputs of a command, which become visible together: from hn_outputs_begin() to
// hn_outputs_end() a file of this context that is whole keeps its temporary name, and text that is
// added stays in memory; the end adds the texts and gives all names, one right after the other, or
// takes all back. Within outputs that have begun, those that begin are a part of these.
struct hn_outputs {
    const char *key; // of what they are the results, 200 letters at most; NULL: not said. Borrowed
    // Private:
    struct hn_outputs *outer;
    struct hn_new_file *file; // [n]
    int64_t n, capacity;
};
void hn_outputs_begin(struct hn_context *ctx, struct hn_outputs *all);
// HN_IO, HN_USAGE (something else than a file stands where one is to be), or `code`.
HN_MUST_USE enum hn_code hn_outputs_end(struct hn_context *ctx, struct hn_outputs *all,
                                        enum hn_code code);
// Gives a whole file that was made elsewhere on the disk of `to` that name: at once, or as one of
// the outputs. HN_IO; HN_USAGE.
HN_MUST_USE enum hn_code hn_file_adopt(struct hn_context *ctx, const char *from, const char *to);
// The name under which what is to become `path` can be read now; `path` itself without outputs.
const char *hn_outputs_find(const struct hn_context *ctx, const char *path);
// True if outputs with this key wrote the file, and nothing has changed it since. The key is an
// extended attribute, user.hardneg.key; on file systems without these it is always false.
bool hn_output_is(const char *path, const char *key);

// True if two names are those of one file, or would be if it were there.
bool hn_same_file(const char *a, const char *b);

// Checks whether a file can be renamed over `path`: HN_USAGE if something else than a file is
// there, or if it is empty or "-".
HN_MUST_USE enum hn_code hn_output_check(struct hn_context *ctx, const char *path);

// Makes a folder, and those above it, unless they are there. HN_USAGE if it cannot be made, HN_IO
// if the disk is full.
HN_MUST_USE enum hn_code hn_folder_make(struct hn_context *ctx, const char *path);
// Waits until no other process has the folder of `path` in this way, and has it until
// hn_folder_free() or the end of the process: for files that are read, added to and written again,
// where the later one of two would undo the earlier. HN_INTERRUPTED. Where folders cannot be locked
// *folder is -1, and nothing is waited for.
HN_MUST_USE enum hn_code hn_folder_take(struct hn_context *ctx, const char *path, int *folder);
void hn_folder_free(int folder); // -1 is fine

// The same in parts, for libraries that open files by name.
//
// Makes an empty file beside `path` and opens it for writing in *fd. Returns its name, owned by the
// caller; NULL on failure: HN_USAGE if `path` is empty or not a regular file, or its folder is
// missing or not writable, HN_IO if the disk is full.
HN_MUST_USE char *hn_temporary_file(struct hn_context *ctx, const char *path, int *fd);
// Syncs the closed file and gives it its name; removes it on failure (HN_IO).
HN_MUST_USE enum hn_code hn_file_publish(struct hn_context *ctx, const char *temporary,
                                         const char *path);
// Makes an empty folder "<path>.tmp-..." in the same way.
HN_MUST_USE char *hn_temporary_folder(struct hn_context *ctx, const char *path);
// Removes from `folder` what such a name beginning with `prefix` ("" = any) shows to be left over:
// made on this machine by a process that has ended, or elsewhere and not changed for a day. Best
// effort.
void hn_temporary_sweep(const char *folder, const char *prefix);
// The same for what stands beside `path` and was to become it.
void hn_temporary_sweep_for(const char *path);

// A new folder below $TMPDIR or /tmp, after those of killed processes have been removed; and its
// removal with all in it.
HN_MUST_USE char *hn_scratch_make(struct hn_context *ctx);
void hn_scratch_remove(struct hn_context *ctx, char *folder); // NULL is fine
