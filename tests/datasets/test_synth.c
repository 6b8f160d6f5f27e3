// SPDX-License-Identifier: GPL-3.0-or-later
// Synthetic series: the same for any number of threads, and shaped as promised.
#include "core/digest.h"
#include "datasets/h5.h"
#include "datasets/snapshot.h"
#include "datasets/synth.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 320 };

static char folder[256], output[PATH];
static struct hn_context ctx;

static void set_up(struct hn_synth *o, int threads) {
    hn_h5_quiet();
    hn_context_init(&ctx, threads);
    memset(o, 0, sizeof *o);
    HN_CHECK(&ctx, hn_options_init(&ctx, hn_synth_options, o));
    snprintf(output, sizeof output, "%s/synth.h5", folder);
    HN_CHECK(&ctx, hn_options_set(&ctx, hn_synth_options, o, "output", output));
    o->n = 600;
    o->dim = 64;
    o->classes = 6;
    o->super_classes = 2;
    o->steps = 3;
}

static void tear_down(struct hn_synth *o) {
    hn_options_free(&ctx, hn_synth_options, o);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void digest_of(char text[HN_DIGEST_TEXT]) {
    struct hn_snapshot *s;
    HN_CHECK(&ctx, hn_snapshot_open(&ctx, output, &s));
    HN_CHECK(&ctx, hn_snapshot_validate(&ctx, s));
    HN_CHECK(&ctx, hn_snapshot_digest(&ctx, s, text));
    hn_snapshot_close(&ctx, s);
}

static void test_reproducible(void) {
    char text[3][HN_DIGEST_TEXT];
    struct hn_synth o;
    for (int run = 0; run < 3; run++) {
        set_up(&o, run == 1 ? 3 : 1);
        o.seed = run == 2 ? 8 : 7;
        HN_CHECK(&ctx, hn_synth_write(&ctx, &o));
        digest_of(text[run]);
        tear_down(&o);
    }
    CU_ASSERT_STRING_EQUAL(text[0], text[1]);
    CU_ASSERT_STRING_NOT_EQUAL(text[0], text[2]);
}

// Mean cosine over pairs of the same class, of sibling classes and of others.
struct means {
    double same, sibling, other;
};

static struct means means_of(const struct hn_items *items, const struct hn_synth *o) {
    double sum[3] = {0}, count[3] = {0};
    for (int64_t i = 0; i < items->n; i++)
        for (int64_t j = 0; j < i; j++) {
            int a = items->labels[i], b = items->labels[j];
            int kind = a == b ? 0 : a % o->super_classes == b % o->super_classes ? 1 : 2;
            sum[kind] += hn_dot_exact(hn_row(&items->x, i), hn_row(&items->x, j), items->d);
            count[kind]++;
        }
    return (struct means){sum[0] / count[0], sum[1] / count[1], sum[2] / count[2]};
}

// Mean resultant length of von Mises-Fisher for large d, see synth.c.
static double resultant(double kappa, double d) {
    double r = 2 * kappa / d;
    return r / (1 + sqrt(1 + r * r));
}

// Two items of a class have the mean cosine A^2, of sibling classes A^2 times the cosine between
// the class means. Three standard errors: a cosine of two items has deviation about 1 / sqrt(d) at
// most, and the items count as independent, not the pairs.
static void test_law(void) {
    struct hn_synth o;
    set_up(&o, 2);
    o.kappa_from = 8;
    o.kappa_to = 64;
    HN_CHECK(&ctx, hn_synth_write(&ctx, &o));
    struct hn_snapshot *s;
    struct hn_items items;
    struct means before = {0};
    HN_CHECK(&ctx, hn_snapshot_open(&ctx, output, &s));
    double error = 3 / sqrt((double)o.dim * (double)o.n);
    for (int64_t k = 0; k < 3; k++) {
        HN_CHECK(&ctx, hn_snapshot_load(&ctx, s, k, &items));
        CU_ASSERT_EQUAL(items.step, 100 * k);
        struct means m = means_of(&items, &o);
        double a = resultant(8 * pow(8, (double)k / 2), (double)o.dim);
        CU_ASSERT_DOUBLE_EQUAL(m.same, a * a, error);
        CU_ASSERT_TRUE(m.same > m.sibling && m.sibling > m.other);
        CU_ASSERT_TRUE(m.same > before.same && m.sibling > before.sibling);
        before = m;
        hn_items_free(&ctx, &items);
    }
    hn_snapshot_close(&ctx, s);
    tear_down(&o);
}

// Items stay who they are: the part across the class mean keeps its direction from step to step, so
// that the items of one step are nearer to themselves than to their class at another.
static void test_identity(void) {
    struct hn_synth o;
    set_up(&o, 2);
    HN_CHECK(&ctx, hn_synth_write(&ctx, &o));
    struct hn_snapshot *s;
    struct hn_items first, last;
    HN_CHECK(&ctx, hn_snapshot_open(&ctx, output, &s));
    HN_CHECK(&ctx, hn_snapshot_load(&ctx, s, 0, &first));
    HN_CHECK(&ctx, hn_snapshot_load(&ctx, s, 2, &last));
    int lost = 0;
    for (int64_t i = 0; i < o.n; i++) {
        double own = hn_dot_exact(hn_row(&first.x, i), hn_row(&last.x, i), o.dim);
        for (int64_t j = 0; j < o.n; j++)
            lost += j != i && hn_dot_exact(hn_row(&first.x, i), hn_row(&last.x, j), o.dim) >= own;
    }
    CU_ASSERT_EQUAL(lost, 0);
    hn_items_free(&ctx, &first);
    hn_items_free(&ctx, &last);
    hn_snapshot_close(&ctx, s);
    tear_down(&o);
}

// A view is the item with noise of relative length v: cosine about 1 / sqrt(1 + v^2) with the item,
// 1 / (1 + v^2) between two views.
static void test_views(void) {
    struct hn_synth o;
    set_up(&o, 2);
    o.view_noise = 0.5;
    HN_CHECK(&ctx, hn_synth_write(&ctx, &o));
    struct hn_snapshot *s;
    struct hn_items items;
    HN_CHECK(&ctx, hn_snapshot_open(&ctx, output, &s));
    HN_CHECK(&ctx, hn_snapshot_load(&ctx, s, 1, &items));
    double sum = 0, sum2 = 0, between = 0;
    for (int64_t i = 0; i < o.n; i++) {
        double c = hn_dot_exact(hn_row(&items.x, i), hn_row(&items.x1, i), o.dim);
        sum += c;
        sum2 += c * c;
        between += hn_dot_exact(hn_row(&items.x1, i), hn_row(&items.x2, i), o.dim);
    }
    double n = (double)o.n, mean = sum / n, error = 3 * sqrt((sum2 / n - mean * mean) / n);
    // 1 / d: the terms that are left out, of the length of the noise about its mean.
    CU_ASSERT_DOUBLE_EQUAL(mean, 1 / sqrt(1.25), error + 1.0 / 64);
    CU_ASSERT_DOUBLE_EQUAL(between / n, 1 / 1.25, 2 * error + 1.0 / 64);
    hn_items_free(&ctx, &items);
    hn_snapshot_close(&ctx, s);
    tear_down(&o);
}

static void test_labels(void) {
    struct hn_synth o;
    set_up(&o, 1);
    o.views = 1;
    o.n = 602; // not a multiple of the classes
    o.type = HN_FLOAT16;
    o.compress = 4;
    HN_CHECK(&ctx, hn_synth_write(&ctx, &o));
    struct hn_snapshot *s;
    HN_CHECK(&ctx, hn_snapshot_open(&ctx, output, &s));
    const struct hn_snapshot_info *info = hn_snapshot_info(s);
    CU_ASSERT_TRUE(info->classes == 6 && info->unlabelled == 0 && info->n_label_names == 6);
    CU_ASSERT_TRUE(!info->has_view1 && !info->has_view2);
    CU_ASSERT_STRING_EQUAL(info->dtype, "float16");
    int64_t count[6] = {0}, sorted = 0;
    const int32_t *labels = hn_snapshot_info(s)->labels;
    for (int64_t i = 0; i < o.n; i++) {
        count[labels[i]]++;
        sorted += i > 0 && labels[i] >= labels[i - 1];
    }
    for (int c = 0; c < 6; c++)
        CU_ASSERT_TRUE(count[c] == 100 || count[c] == 101);
    CU_ASSERT_TRUE(sorted < 450); // about 7 / 12 of 601 in random order
    hn_snapshot_close(&ctx, s);
    tear_down(&o);
}

static void test_extras(void) {
    struct hn_synth o;
    struct hn_snapshot *s;
    struct hn_items items;
    set_up(&o, 2);
    o.force = true;
    o.teacher_dim = 5;
    o.groups = true;
    HN_CHECK(&ctx, hn_synth_write(&ctx, &o));
    HN_CHECK(&ctx, hn_snapshot_open(&ctx, output, &s));
    HN_CHECK(&ctx, hn_snapshot_load(&ctx, s, 1, &items));
    CU_ASSERT_TRUE_FATAL(items.group && items.teacher.data);
    CU_ASSERT_TRUE(items.teacher.rows == o.n && items.teacher.cols == 5);
    for (int64_t i = 0; i < o.n; i++)
        CU_ASSERT_EQUAL(items.group[i], items.labels[i]);
    hn_items_free(&ctx, &items);
    hn_snapshot_close(&ctx, s);
    tear_down(&o);
}

static void test_refused(void) {
    struct hn_synth o;
    set_up(&o, 1);
    unlink(output);
    o.classes = 601;
    HN_CHECK_FAILS(&ctx, hn_synth_write(&ctx, &o), HN_USAGE, "--classes 601");
    o.classes = 6;
    o.super_classes = 7;
    HN_CHECK_FAILS(&ctx, hn_synth_write(&ctx, &o), HN_USAGE, "--super-classes 7");
    o.super_classes = 2;
    char *kept = o.output;
    o.output = NULL;
    HN_CHECK_FAILS(&ctx, hn_synth_write(&ctx, &o), HN_USAGE, "--output");
    o.output = kept;
    HN_CHECK_FAILS(&ctx, hn_options_set(&ctx, hn_synth_options, &o, "type", "float8"), HN_USAGE,
                   "float16");
    tear_down(&o);
}

static void test_memory(void) {
    struct hn_synth o;
    set_up(&o, 1);
    unlink(output);
    o.n = 20;
    o.dim = 4;
    int64_t live = ctx.memory.live, k = 0;
    enum hn_code code = HN_MEMORY;
    while (code == HN_MEMORY && k < 500) {
        CU_ASSERT_NOT_EQUAL(access(output, F_OK), 0);
        ctx.memory.calls = 0;
        ctx.memory.fail_at = ++k;
        code = hn_synth_write(&ctx, &o);
        CU_ASSERT_EQUAL(ctx.memory.live, live);
    }
    CU_ASSERT_EQUAL(code, HN_OK);
    CU_ASSERT_TRUE(k > 20);
    ctx.memory.fail_at = 0;
    tear_down(&o);
}

static const struct hn_test tests[] = {
    {"the same for any number of threads", test_reproducible},
    {"cosines within and across classes", test_law},
    {"items keep their identity", test_identity},
    {"views", test_views},
    {"labels", test_labels},
    {"a teacher and groups", test_extras},
    {"options that are refused", test_refused},
    {"every allocation fails once", test_memory},
};

int main(int argc, char **argv) {
    hn_fixture_folder(folder, sizeof folder);
    int status = hn_test_main(argc, argv, "synth", tests, (int)(sizeof tests / sizeof *tests));
    hn_fixture_remove(folder);
    return status;
}
