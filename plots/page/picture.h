// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures between gnuplot and the disk. gnuplot does not notice where its picture cannot be
// written: it ends well, and a part of it is there. So it draws into memory, which links lead to
// from where its script says, and the pictures are written here.
#pragma once

#include "core/context.h"

enum { HN_PICTURES = 2 }; // of a figure, at most

struct hn_pictures {
    char *path[HN_PICTURES];
    int memory[HN_PICTURES]; // -1: there is no /proc, or there are no links: gnuplot writes the
                             // file
    int n;
};

// Prepares that gnuplot, started next, writes <folder>/<id>.<ending>; endings end with NULL.
HN_MUST_USE enum hn_code hn_pictures_begin(struct hn_context *ctx, const char *folder,
                                           const char *id, const char *const *endings,
                                           struct hn_pictures *all);
// Writes what it has drawn there if `code` is HN_OK, else nothing; the code of either. HN_IO, which
// names a file of `dir`: it cannot be written, or is not whole. Nothing stays in memory.
HN_MUST_USE enum hn_code hn_pictures_end(struct hn_context *ctx, struct hn_pictures *all,
                                         const char *dir, enum hn_code code);
