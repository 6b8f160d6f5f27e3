// SPDX-License-Identifier: GPL-3.0-or-later
// Shared by core/files.c and core/files_new.c.
#pragma once

#include "core/files.h"

#include <limits.h>

// HN_IO where the disk is full, else HN_USAGE; `reason` is an errno.
enum hn_code hn_fail_writing(struct hn_context *ctx, const char *path, int reason);
// The folder that `path` lies in; false if its name is too long.
bool hn_folder_of(const char *path, char folder[PATH_MAX]);
// The file that is written when `path` is: what its symbolic links lead to, even if it does not
// exist yet.
void hn_follow_links(const char *path, char target[PATH_MAX]);
