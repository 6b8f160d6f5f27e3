// Files and folders that are made aside and renamed when they are whole, and the removal of those
// that a killed process left behind. A name says who makes it: "<path>.tmp-<mark>-<pid>-<end>",
// where the mark stands for this machine since it was started and for the numbering of processes
// (a container has its own).
#ifndef HN_CORE_FILES_H
#define HN_CORE_FILES_H

#include "core/context.h"

// Makes an empty file beside `path` and opens it for writing in *fd. Returns its name, owned by the
// caller; NULL on failure: HN_USAGE if the folder is missing or not writable, HN_IO if the disk is
// full.
HN_MUST_USE char *hn_temporary_file(struct hn_context *ctx, const char *path, int *fd);
// Makes an empty folder "<path>.tmp-..." in the same way.
HN_MUST_USE char *hn_temporary_folder(struct hn_context *ctx, const char *path);
// Removes from `folder` what such a name beginning with `prefix` ("" = any) shows to be left over:
// made on this machine by a process that is no more, or elsewhere and not changed for an hour.
// Best effort.
void hn_temporary_sweep(const char *folder, const char *prefix);
// The same for what stands beside `path` and was to become it.
void hn_temporary_sweep_for(const char *path);

#endif
