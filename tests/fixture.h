// SPDX-License-Identifier: GPL-3.0-or-later
// Data for tests: random unit rows, labelled clusters, scratch folders.
#pragma once

#include "core/label_sets.h"
#include "datasets/items.h"

// x[n x d] unit rows, Gaussian directions, from the seed. Owned: hn_free().
float *hn_fixture_rows(struct hn_context *ctx, int64_t n, int64_t d, uint64_t seed);

// n items in `classes` clusters (label i % classes) about random means, with two views if wanted;
// all rows of unit length. Owned: hn_fixture_items_free().
struct hn_items hn_fixture_items(struct hn_context *ctx, int64_t n, int64_t d, int classes,
                                 bool views, uint64_t seed);
void hn_fixture_items_free(struct hn_context *ctx, struct hn_items *items);
void hn_fixture_label_sets_free(struct hn_context *ctx,
                                struct hn_label_sets *sets); // may be zeroed
// Changes of such items. Rows from `distinct` on become copies of those before, in turn, and so do
// their views. Rows come so close to the first one that floats hardly tell their products apart:
// x_0 + near x_i, of unit length. They get a teacher of d columns.
void hn_fixture_repeat(struct hn_items *items, int64_t distinct);
void hn_fixture_crowd(struct hn_context *ctx, struct hn_items *items, float near);
void hn_fixture_teacher(struct hn_context *ctx, struct hn_items *items, int64_t d, uint64_t seed);

// A new empty folder under $TMPDIR or /tmp: path[size]. Removed, with what is in it, by the second.
void hn_fixture_folder(char *path, size_t size);
void hn_fixture_remove(const char *path);

// Runs a command line with the shell, collects stdout (at most size - 1 bytes), returns exit
// status.
int hn_fixture_run(const char *command, char *out, size_t size);

// Path of a file of the shared real data (variable HN_SHARED, or ../shared beside the checkout), or
// NULL if it is not there.
const char *hn_fixture_shared(const char *file, char *path, size_t size);
