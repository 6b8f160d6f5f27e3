// SPDX-License-Identifier: GPL-3.0-or-later
// A teacher's rows and groups in the training loop: they reach the sampler at every build, the loss
// as a guide, and the series; interrupted runs go on to the same bits; files that do not fit are
// refused.
#include "datasets/snapshot.h"
#include "tests/training_fixture.h"

enum { DIMS = 3 };

// Value of the teacher's row i at dimension c, by the position of the row.
static double value(int seed, int i, int c) {
    return sin(1.7 * (i + 1) * (c + 1) + 10.0 * seed) + 0.1;
}

static void write_teacher(const char *name, int seed, int rows, int nan_at) {
    FILE *f = open_data(root, name);
    for (int i = 0; i < rows; i++)
        for (int c = 0; c < DIMS; c++)
            if (i == nan_at && c == 1)
                fprintf(f, "nan\t");
            else
                fprintf(f, "%.9g%c", value(seed, i, c), c == DIMS - 1 ? '\n' : '\t');
    fclose(f);
}

static void write_groups(const char *name, int groups, int rows) {
    FILE *f = open_data(root, name);
    for (int i = 0; i < rows; i++)
        fprintf(f, "source %d\n", i % groups);
    fclose(f);
}

static const struct {
    const char *sampler, *options;
    bool guided; // the loss, too
} taught[] = {{"b3", "space=teacher p=3 m=10 cluster=4"},
              {"tas-b", "space=teacher cluster=20"},
              {"cde", "space=teacher"},
              {"jest", "score=learnable"},
              {"grit", ""},
              {"uniform", "", true}};
enum { TAUGHT = sizeof taught / sizeof taught[0] };

static char teacher[2][128], group[2][128];

// GISTEmbed's mask by the teacher, on all pairs of which its cosine is above .2.
static void guide(struct trial *t) {
    const struct hn_weighting_type *gist = named_weighting("gist");
    const struct hn_option *options = gist->options;
    CU_ASSERT_FATAL(gist->params_size <= sizeof t->weighting);
    t->spec.weighting = gist;
    HN_CHECK(&t->ctx, hn_options_init(&t->ctx, options, t->weighting));
    HN_CHECK(&t->ctx, hn_options_set(&t->ctx, options, t->weighting, "guide", "teacher"));
    HN_CHECK(&t->ctx, hn_options_set(&t->ctx, options, t->weighting, "margin", "0.8"));
    t->spec.setting.loss.weighting = gist->resolve(t->weighting, 0);
}

static struct trial *open_taught(int i, int threads, int file) {
    struct trial *t = open_trial(threads, "encoder=gcn", taught[i].sampler, taught[i].options);
    for (int k = 0; k < 2; k++) {
        snprintf(teacher[k], sizeof teacher[k], "%s/teacher-%d.tsv", root, k);
        snprintf(group[k], sizeof group[k], "%s/group-%d.tsv", root, k);
        write_teacher(strrchr(teacher[k], '/') + 1, k, NODES, -1);
        write_groups(strrchr(group[k], '/') + 1, 2 + k, NODES);
    }
    t->spec.teacher = teacher[file];
    t->spec.group = group[file];
    if (taught[i].guided)
        guide(t);
    return t;
}

// Broken off at every other step.
static void test_interruption(void) {
    for (int i = 0; i < TAUGHT; i++) {
        hn_test_entry(taught[i].sampler);
        struct trial *whole = open_taught(i, 2, 0), *t = open_taught(i, 1, 0);
        HN_CHECK(&whole->ctx, train(whole));
        use_folder(t, "broken");
        for (t->stop_at = 1; t->stop_at < 12; t->stop_at += 2)
            HN_CHECK_FAILS(&t->ctx, train(t), HN_INTERRUPTED, "interrupted at step");
        HN_CHECK(&t->ctx, train(t));
        check_same(&whole->table, &t->table);
        close_trial(t);
        close_trial(whole);
    }
}

static double last_loss(const struct trial *t) {
    return hn_table_real(&t->table, t->table.rows - 1, "loss");
}

// What another file says changes the batches.
static void test_files_matter(void) {
    for (int i = 0; i < TAUGHT; i++) {
        hn_test_entry(taught[i].sampler);
        struct trial *a = open_taught(i, 1, 0), *b = open_taught(i, 1, 1);
        HN_CHECK(&a->ctx, train(a));
        HN_CHECK(&b->ctx, train(b));
        CU_ASSERT_NOT_EQUAL(last_loss(a), last_loss(b));
        close_trial(b);
        close_trial(a);
    }
}

// A guided loss has fewer negatives than the plain one of the same batch, and is refused where keys
// are no items of the batch.
static void test_guided_losses(void) {
    struct trial *guided = open_taught(TAUGHT - 1, 1, 0), *plain = open_taught(TAUGHT - 1, 1, 0);
    plain->spec.weighting = named_weighting("none");
    plain->spec.setting.loss.weighting = (struct hn_weighting_params){.clamp = HN_CLAMP_NONE};
    guided->spec.adam.steps = plain->spec.adam.steps = 1;
    HN_CHECK(&guided->ctx, train(guided));
    HN_CHECK(&plain->ctx, train(plain));
    CU_ASSERT(last_loss(guided) < last_loss(plain)); // of the same batch, with fewer negatives
    close_trial(plain);
    close_trial(guided);
    double all[2]; // of all nodes at once, in either order
    for (int k = 0; k < 2; k++) {
        struct trial *t = open_trial(1, "encoder=mean", k ? "uniform" : "file-order", "");
        t->spec.teacher = teacher[0];
        t->spec.setting.batch_size = NODES;
        t->spec.adam.steps = 1;
        t->spec.uniform_epochs = 0;
        guide(t);
        HN_CHECK(&t->ctx, train(t));
        all[k] = last_loss(t);
        close_trial(t);
    }
    CU_ASSERT_DOUBLE_EQUAL(all[0], all[1], 1e-6);
    static const struct {
        enum hn_objective objective;
        const char *sampler, *words;
    } refused[] = {{HN_OBJECTIVE_OTHER_VIEW, "random-negatives", "takes a sampler of batches"},
                   {HN_OBJECTIVE_SIAMESE, "uniform", "takes a sampler of batches and loss ntxent"}};
    for (int k = 0; k < 2; k++) {
        struct trial *t = open_trial(1, "encoder=mean", refused[k].sampler, "");
        t->spec.teacher = teacher[0];
        guide(t);
        t->spec.setting.loss.objective = refused[k].objective;
        HN_CHECK_FAILS(&t->ctx, train(t), HN_USAGE, refused[k].words);
        close_trial(t);
    }
    struct trial *t = open_trial(1, "encoder=mean", "uniform", "");
    guide(t);
    HN_CHECK_FAILS(&t->ctx, train(t), HN_NOT_APPLICABLE,
                   "gist with guide: teacher needs a teacher: name a file with one by the job's "
                   "key 'teacher'");
    close_trial(t);
}

// The series has both, so that `hardneg run` takes the same samplers.
static void test_series(void) {
    struct trial *t = open_taught(0, 1, 1);
    struct hn_snapshot *s;
    struct hn_items items;
    char path[160];
    t->spec.snapshot = 6;
    use_folder(t, "series");
    HN_CHECK(&t->ctx, train(t));
    snprintf(path, sizeof path, "%s/series.h5", t->folder);
    HN_CHECK(&t->ctx, hn_snapshot_open(&t->ctx, path, &s));
    HN_CHECK(&t->ctx, hn_snapshot_load(&t->ctx, s, 1, &items));
    CU_ASSERT_EQUAL_FATAL(items.teacher.cols, DIMS);
    for (int i = 0; i < NODES; i++) {
        double x[DIMS], norm = 0;
        for (int c = 0; c < DIMS; c++) {
            x[c] = value(1, i, c);
            norm += x[c] * x[c];
        }
        for (int c = 0; c < DIMS; c++)
            CU_ASSERT_DOUBLE_EQUAL(hn_row(&items.teacher, i)[c], x[c] / sqrt(norm), 1e-6);
        CU_ASSERT_EQUAL(items.group[i], i % 3);
    }
    hn_items_free(&t->ctx, &items);
    hn_snapshot_close(&t->ctx, s);
    // Of a snapshot: the embeddings of its last step, and its groups.
    t->spec.snapshot = 0;
    t->spec.folder = NULL;
    t->spec.teacher = t->spec.group = path;
    HN_CHECK(&t->ctx, train(t));
    struct trial *bare = open_trial(1, "encoder=mean", "uniform", "");
    char other[160];
    bare->spec.snapshot = 6;
    use_folder(bare, "bare");
    HN_CHECK(&bare->ctx, train(bare));
    close_trial(bare);
    snprintf(other, sizeof other, "%s/bare/series.h5", root);
    t->spec.group = other;
    HN_CHECK_FAILS(&t->ctx, train(t), HN_DATA, "has no groups (data set /group)");
    close_trial(t);
}

static void fails(const char *sampler, const char *options, const char *rows, const char *groups,
                  enum hn_code code, const char *words) {
    struct trial *t = open_trial(1, "encoder=mean", sampler, options);
    t->spec.teacher = rows;
    t->spec.group = groups;
    HN_CHECK_FAILS(&t->ctx, train(t), code, words);
    close_trial(t);
}

static void test_refused(void) {
    close_trial(open_taught(0, 1, 0)); // writes the files that fit
    char bad[128];
    snprintf(bad, sizeof bad, "%s/bad.tsv", root);
    write_teacher("bad.tsv", 0, NODES - 1, -1);
    fails("b3", "space=teacher p=3", bad, NULL, HN_DATA,
          "bad.tsv has 59 rows but the data of task node has 60; they must agree");
    write_teacher("bad.tsv", 0, NODES, 17);
    fails("b3", "space=teacher p=3", bad, NULL, HN_DATA, "bad.tsv: row 17 holds NaN at column");
    write_groups("bad.tsv", 2, NODES + 1);
    fails("grit", "", NULL, bad, HN_DATA, "bad.tsv has 61 groups but the data of task node has 60");
    fails("b3", "space=teacher p=3", NULL, group[0], HN_NOT_APPLICABLE,
          "b3 with space: teacher needs a teacher, which these items do not have: name a file with "
          "them by the job's key 'teacher'");
    fails("grit", "", teacher[0], NULL, HN_NOT_APPLICABLE, "by the job's key 'groups'");
}

// Every allocation of a short run fails once, those of reading both files among them.
static void test_failing_allocations(void) {
    int64_t failed = 0;
    for (int64_t k = 1; k < 400; k++) {
        struct trial *t = open_taught(0, 1, 0);
        t->spec.adam.steps = 1;
        t->ctx.memory.fail_at = t->ctx.memory.calls + k;
        hn_table_free(&t->ctx, &t->table);
        t->stop_at = -1;
        enum hn_code code = hn_training_table(&t->ctx, t->spec.task, &t->table);
        code = code ? code : hn_train(&t->ctx, &t->spec, NULL, &t->table, &t->times);
        CU_ASSERT(code == HN_OK || code == HN_MEMORY);
        failed += code == HN_MEMORY;
        close_trial(t); // nothing is left
        if (code == HN_OK)
            break;
    }
    CU_ASSERT(failed > 40);
}

static const struct hn_test tests[] = {
    {"interruption", test_interruption},
    {"files_matter", test_files_matter},
    {"guided_losses", test_guided_losses},
    {"series", test_series},
    {"refused", test_refused},
    {"failing_allocations", test_failing_allocations},
};
HN_TEST_MAIN("extras", tests)
