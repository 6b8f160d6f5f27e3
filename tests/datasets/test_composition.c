// SPDX-License-Identifier: GPL-3.0-or-later
// Class sizes, the share of pairs of one class, and equal rows, of files with classes of known
// sizes.
#include "core/label_sets.h"
#include "datasets/snapshot.h"
#include "tests/snapshot_fixture.h"

static struct hn_composition composition_of(const struct hn_snapshot_spec *spec, const float *x) {
    struct hn_snapshot_writer *w;
    struct hn_snapshot *s;
    struct hn_composition c = {0};
    HN_CHECK(&ctx, hn_snapshot_write_begin(&ctx, in_folder("made.h5"), spec, &w));
    HN_CHECK(&ctx, hn_snapshot_write_step(&ctx, w, 0, x, NULL, NULL));
    HN_CHECK(&ctx, hn_snapshot_write_end(&ctx, w, HN_OK));
    HN_CHECK(&ctx, hn_snapshot_open(&ctx, in_folder("made.h5"), &s));
    HN_CHECK(&ctx, hn_composition_find(&ctx, s, &c));
    hn_snapshot_close(&ctx, s);
    CU_ASSERT_EQUAL(remove(in_folder("made.h5")), 0);
    return c;
}

static struct hn_snapshot_spec plain(const int32_t *label) {
    struct hn_snapshot_spec spec = spec_of(label, HN_FLOAT32, 0);
    spec.view1 = spec.view2 = spec.normalized = false;
    return spec;
}

// 30 items of class 2, 6 of class 0, 3 of class 7, and one without a label; items 5 and 9 repeat
// item 1, item 39 repeats item 0 but for the sign of its zero.
static void test_unequal_classes(void) {
    int32_t label[N];
    begin(1);
    for (int i = 0; i < N; i++)
        label[i] = i < 30 ? 2 : i < 36 ? 0 : i < 39 ? 7 : -1;
    float *x = rows_of(0, 0);
    x[0] = 0;
    memcpy(x + 5 * D, x + D, D * sizeof *x);
    memcpy(x + 9 * D, x + D, D * sizeof *x);
    memcpy(x + 39 * D, x, D * sizeof *x);
    x[39 * D] = -0.0f;
    struct hn_snapshot_spec spec = plain(label);
    spec.n_label_names = 0;
    struct hn_composition c = composition_of(&spec, x);
    CU_ASSERT_EQUAL(c.classes, 3);
    CU_ASSERT_EQUAL(c.smallest, 3);
    CU_ASSERT_DOUBLE_EQUAL(c.median, 6, 0);
    CU_ASSERT_EQUAL(c.largest, 30);
    CU_ASSERT_EQUAL(c.largest_label, 2);
    CU_ASSERT_EQUAL(c.labelled, 39);
    CU_ASSERT_DOUBLE_EQUAL(c.same_class, (30 * 29 + 6 * 5 + 3 * 2) / (39.0 * 38), 1e-12);
    CU_ASSERT_EQUAL(c.repeated, 3);
    hn_free(&ctx, x);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_unlabelled(void) {
    int32_t label[N];
    begin(1);
    for (int i = 0; i < N; i++)
        label[i] = -1;
    float *x = rows_of(0, 0);
    struct hn_snapshot_spec spec = plain(label);
    struct hn_composition c = composition_of(&spec, x);
    CU_ASSERT_EQUAL(c.classes, 0);
    CU_ASSERT_EQUAL(c.largest_label, -1);
    CU_ASSERT(isnan(c.same_class));
    CU_ASSERT_EQUAL(c.repeated, 0);
    hn_free(&ctx, x);
}

// Items with labels {0}, {1} and {0, 1} in turn: a class counts all items that have its label.
static void test_several_labels(void) {
    int64_t start[N + 1] = {0};
    int32_t all[2 * N], set[N];
    struct hn_label_sets sets;
    begin(1);
    for (int i = 0; i < N; i++) {
        start[i + 1] = start[i];
        for (int32_t l = 0; l < 2; l++)
            if (i % 3 == 2 || i % 3 == l)
                all[start[i + 1]++] = l;
    }
    HN_CHECK(&ctx, hn_label_sets_make(&ctx, N, start, all, set, &sets));
    float *x = rows_of(0, 0);
    struct hn_snapshot_spec spec = plain(set);
    spec.label_sets = &sets;
    struct hn_composition c = composition_of(&spec, x);
    CU_ASSERT_EQUAL(c.classes, 2);
    CU_ASSERT_EQUAL(c.largest, 27); // 14 of {0} and 13 of both
    CU_ASSERT_EQUAL(c.smallest, 26);
    CU_ASSERT_DOUBLE_EQUAL(c.median, 26.5, 0);
    CU_ASSERT_EQUAL(c.labelled, N);
    double apart = 2 * 14 * 13; // {0} and {1} alone share no label
    CU_ASSERT_DOUBLE_EQUAL(c.same_class, 1 - apart / (40.0 * 39), 1e-12);
    hn_free(&ctx, x);
    hn_fixture_label_sets_free(&ctx, &sets);
}

static const struct hn_test tests[] = {
    {"unequal classes", test_unequal_classes},
    {"unlabelled", test_unlabelled},
    {"several labels", test_several_labels},
};

int main(int argc, char **argv) {
    hn_fixture_folder(folder, sizeof folder);
    int status =
        hn_test_main(argc, argv, "composition", tests, (int)(sizeof tests / sizeof *tests));
    hn_fixture_remove(folder);
    return status;
}
