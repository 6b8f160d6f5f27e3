// SPDX-License-Identifier: GPL-3.0-or-later
// Data of tasks: their digest, and that they are found by what tasks declare, here and by
// `reproduce`.
#include "harness/reproduce/reproduce.h"
#include "harness/reproduce/reproduce_private.h"
#include "tests/training_fixture.h"
#include "training/tasks/task.h"

enum { MANY = 70 }; // files

// The digest is that of the files' contents, whatever the folder is called.
static void test_data_digest(void) {
    struct trial *t = open_trial(1, "", "uniform", "");
    struct hn_task_setting setting = {.data = root};
    char own[65], moved[65], other[65];
    char from[128], to[128];
    HN_CHECK(&t->ctx, hn_task_digest(&t->ctx, t->spec.task, t->task, &setting, own));
    CU_ASSERT_EQUAL(strlen(own), 64);
    snprintf(from, sizeof from, "%s/small", root);
    snprintf(to, sizeof to, "%s/moved", root);
    rename(from, to);
    set(t, t->options[0], t->task, "data=moved");
    HN_CHECK(&t->ctx, hn_task_digest(&t->ctx, t->spec.task, t->task, &setting, moved));
    CU_ASSERT_STRING_EQUAL(own, moved);
    rename(to, from);
    HN_CHECK(&t->ctx, hn_task_digest(&t->ctx, t->spec.task, t->task, &setting, other));
    CU_ASSERT_STRING_EQUAL(other, ""); // not there: the task itself says so
    FILE *file = open_part("extra.edges");
    set(t, t->options[0], t->task, "data=small");
    HN_CHECK(&t->ctx, hn_task_digest(&t->ctx, t->spec.task, t->task, &setting, other));
    CU_ASSERT_STRING_NOT_EQUAL(own, other);
    fclose(file);
    snprintf(to, sizeof to, "%s/small/small.extra.edges", root);
    unlink(to);
    // A file that cannot be read, and more files than are taken: the content is not known.
    CU_ASSERT_EQUAL(mkdir(to, 0777), 0);
    HN_CHECK(&t->ctx, hn_task_digest(&t->ctx, t->spec.task, t->task, &setting, other));
    CU_ASSERT_STRING_EQUAL(other, "");
    CU_ASSERT_EQUAL(rmdir(to), 0);
    for (int k = 0; k < 2 * MANY; k++) {
        snprintf(to, sizeof to, "%s/small/small.extra%d.edges", root, k % MANY);
        if (k < MANY)
            fclose(fopen(to, "w"));
        if (k == MANY - 1) {
            HN_CHECK(&t->ctx, hn_task_digest(&t->ctx, t->spec.task, t->task, &setting, other));
            CU_ASSERT_STRING_EQUAL(other, "");
            HN_CHECK(&t->ctx, hn_task_check_data(&t->ctx, t->spec.task, t->task, &setting));
        }
        if (k >= MANY)
            CU_ASSERT_EQUAL(unlink(to), 0);
    }
    HN_CHECK(&t->ctx, hn_task_digest(&t->ctx, t->spec.task, t->task, &setting, other));
    CU_ASSERT_STRING_EQUAL(own, other);
    close_trial(t);
}

struct digested {
    struct trial *trial;
    char wanted[65];
};

static enum hn_code digest(struct hn_context *ctx, void *data) {
    struct digested *d = data;
    struct hn_task_setting setting = {.data = root};
    char text[65];
    if (hn_task_digest(ctx, d->trial->spec.task, d->trial->task, &setting, text) ||
        hn_task_check_data(ctx, d->trial->spec.task, d->trial->task, &setting))
        return ctx->code;
    CU_ASSERT_STRING_EQUAL(text, d->wanted);
    return HN_OK;
}

// Without memory there is no digest, rather than one of less.
static void test_short_memory(void) {
    struct digested d = {.trial = open_trial(1, "", "uniform", "")};
    struct hn_task_setting setting = {.data = root};
    HN_CHECK(&d.trial->ctx,
             hn_task_digest(&d.trial->ctx, d.trial->spec.task, d.trial->task, &setting, d.wanted));
    CU_ASSERT_EQUAL(strlen(d.wanted), 64);
    CU_ASSERT(hn_test_lacks(&d.trial->ctx, digest, &d) > 5);
    close_trial(d.trial);
}

// A task that is in no list, with files of its own: their lack is said in its words.
static void test_declared(void) {
    static const char *const files[] = {"*.first", "second", "*.optional", NULL};
    static const struct hn_task_data data = {.folder = "small",
                                             .folders = {"small"},
                                             .files = files,
                                             .required = 2,
                                             .items = "rows",
                                             .origin = "from somewhere"};
    static const struct hn_option none[] = {{.name = NULL}};
    const struct hn_task_type made_up = {.name = "made-up", .options = none, .data = &data};
    struct hn_context ctx;
    struct hn_task_setting setting = {.data = root};
    char wanted[160];
    hn_context_init(&ctx, 1);
    prepare();
    HN_CHECK_FAILS(&ctx, hn_task_check_data(&ctx, &made_up, NULL, &setting), HN_DATA,
                   "task made-up: no *.first in the folder");
    CU_ASSERT_PTR_NOT_NULL(strstr(ctx.message, "put there from somewhere"));
    fclose(open_part("first"));
    HN_CHECK_FAILS(&ctx, hn_task_check_data(&ctx, &made_up, NULL, &setting), HN_DATA,
                   "no second in the folder");
    snprintf(wanted, sizeof wanted, "%s/small/second", root);
    fclose(fopen(wanted, "w"));
    HN_CHECK(&ctx, hn_task_check_data(&ctx, &made_up, NULL, &setting));
    unlink(wanted);
    snprintf(wanted, sizeof wanted, "%s/small/small.first", root);
    unlink(wanted);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Puts an empty file below root; `folder` may be two deep.
static void put(const char *folder, const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, folder);
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
    mkdir(path, 0777);
    strncat(path, "/", sizeof path - strlen(path) - 1);
    strncat(path, name, sizeof path - strlen(path) - 1);
    FILE *file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fclose(file);
}

static void check_located(struct hn_context *ctx, const char *wanted, const char *below) {
    char path[256], *found;
    snprintf(path, sizeof path, "%s/%s", root, below ? below : "");
    HN_CHECK(ctx, hn_task_data_locate(ctx, root, wanted, &found));
    CU_ASSERT_EQUAL(found != NULL, below != NULL);
    if (found && below)
        CU_ASSERT_STRING_EQUAL(found, path);
    hn_free(ctx, found);
}

// Every layout of folders; one data set is not taken for another of its kind.
static void test_located(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    prepare();
    static const char *const sets[] = {"cora", "cifar10", "tudataset/MUTAG", "tudataset/PROTEINS"};
    for (int i = 0; i < 4; i++)
        check_located(&ctx, sets[i], NULL);
    check_located(&ctx, "no such data", NULL);
    put(".", "cora.features");
    check_located(&ctx, "cora", ".");
    put("cora", "cora.features");
    check_located(&ctx, "cora", "cora");
    put("cifar-10-batches-bin", "data_batch_1.bin");
    check_located(&ctx, "cifar10", "cifar-10-batches-bin");
    put("MUTAG", "MUTAG_A.txt");
    check_located(&ctx, "tudataset/MUTAG", "MUTAG");
    put("tudataset/MUTAG", "MUTAG_A.txt");
    check_located(&ctx, "tudataset/MUTAG", "tudataset/MUTAG");
    put(".", "MUTAG_A.txt");
    check_located(&ctx, "tudataset/PROTEINS", NULL);
    for (int64_t k = 1; k <= 2; k++) {
        char *found;
        ctx.memory.fail_at = ctx.memory.calls + k;
        HN_CHECK_FAILS(&ctx, hn_task_data_locate(&ctx, root, "cora", &found), HN_MEMORY, "");
        CU_ASSERT_PTR_NULL(found);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// What `reproduce` says of missing data is what the task of the data declares.
static void test_reproduced(void) {
    struct hn_context ctx;
    struct hn_reproduce rep = {.data = "/nowhere"};
    hn_context_init(&ctx, 1);
    for (const struct hn_task_type *const *t = hn_tasks; *t; t++) {
        char why[HN_MESSAGE_MAX] = "";
        const char *folder = (*t)->data->folder;
        struct hn_claim_job job = {.job = "a job", .data = &folder, .n_data = 1};
        HN_CHECK(&ctx, hn_reproduce_job_missing(&ctx, &rep, &job, why));
        CU_ASSERT_PTR_NOT_NULL(strstr(why, folder));
        CU_ASSERT_PTR_NOT_NULL(strstr(why, (*t)->data->origin));
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"data digest", test_data_digest}, {"short memory", test_short_memory},
    {"declared", test_declared},       {"located", test_located},
    {"reproduced", test_reproduced},
};
HN_TEST_MAIN("tasks", tests)
