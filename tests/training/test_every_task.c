// SPDX-License-Identifier: GPL-3.0-or-later
// What every task has to keep: a loop over the registry, on small data.
#include "core/text.h"
#include "tests/training_fixture.h"
#include "training/tasks/task.h"

enum { STEPS = 6, STOP = 4, BATCH = 12 };

// Settings that suit small data, of tasks that have an option of the name.
static const struct {
    const char *option, *value;
} small[] = {{"n", "48"},      {"probe", "false"}, {"views", "3"}, {"dim", "16"},
             {"hidden", "24"}, {"width", "8"},     {"out", "8"}};

// The folder of the data for tasks that declare this one.
static void find_data(const char *declared, char *path, size_t size) {
    const char *slash = strrchr(declared, '/');
    snprintf(path, size, "%s/%s", root, slash ? slash + 1 : declared);
    if (mkdir(path, 0777) == 0 && !put_task_data(declared, path)) {
        fprintf(stderr, "    tests/task_data.h has no data of the kind '%s'\n", declared);
        CU_FAIL_FATAL("no data");
    }
}

// A short training of a task, in a folder of its own. What a task needs comes from its entry.
static struct trial *open_short(const struct hn_task_type *type, int threads) {
    static int number;
    char options[256], data[160], folder[32];
    prepare();
    find_data(type->data->folder, data, sizeof data);
    snprintf(options, sizeof options, "data=%s", data);
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++)
        if (hn_options_find(type->options, small[i].option))
            hn_append(options, sizeof options, " %s=%s", small[i].option, small[i].value);
    struct trial *t = open_trial_of(threads, type->name, options, "uniform", "");
    t->spec.setting = (struct hn_task_setting){
        .cache = root, .folder = "", .seed = 2, .batch_size = BATCH, .loss = {.temperature = 0.5}};
    t->spec.adam.rate = 0.003;
    t->spec.adam.steps = STEPS;
    t->spec.uniform_epochs = t->spec.rebuild = 0;
    t->spec.evaluate = t->spec.snapshot = 3;
    t->spec.key = type->name;
    while (!(type->objectives & 1U << t->spec.setting.loss.objective))
        t->spec.setting.loss.objective++;
    snprintf(folder, sizeof folder, "short-%d", number++);
    use_folder(t, folder);
    return t;
}

// Rows and snapshots are the same, to the last bit; times are not compared.
static void check_same_series(struct trial *a, struct trial *b) {
    char one[65], other[65];
    CU_ASSERT_EQUAL(a->table.rows, 1 + STEPS / 3);
    check_same(&a->table, &b->table);
    series_digest(a, one);
    series_digest(b, other);
    CU_ASSERT_STRING_EQUAL(one, other);
}

static void check_objective(const struct hn_task_type *type, enum hn_objective objective) {
    struct trial *one = open_short(type, 1), *many = open_short(type, 3);
    struct trial *broken = open_short(type, 2);
    one->spec.setting.loss.objective = many->spec.setting.loss.objective = objective;
    broken->spec.setting.loss.objective = objective;
    HN_CHECK(&one->ctx, train(one));
    HN_CHECK(&many->ctx, train(many));
    check_same_series(one, many);
    broken->stop_at = STOP;
    HN_CHECK_FAILS(&broken->ctx, train(broken), HN_INTERRUPTED, "interrupted at step 4");
    HN_CHECK(&broken->ctx, train(broken));
    check_same_series(one, broken);
    close_trial(one);
    close_trial(many);
    close_trial(broken);
}

static void test_same(void) {
    for (const struct hn_task_type *const *type = hn_tasks; *type; type++) {
        hn_test_entry((*type)->name);
        for (unsigned o = 0; hn_objectives[o].name; o++)
            if ((*type)->objectives & 1U << o)
                check_objective(*type, (enum hn_objective)o);
    }
}

// Asks for an end as the evaluation of this step begins.
static void stop_evaluation(void *data, int64_t step, int64_t done, int64_t of) {
    struct trial *t = data;
    (void)done;
    t->stop |= of > 0 && step == t->stop_at;
}

static enum hn_code train_to_evaluation(struct trial *t, int64_t step) {
    const struct hn_run_watch watcher = {.evaluation = stop_evaluation, .data = t};
    t->ctx.stop = &t->stop;
    t->stop = 0;
    t->stop_at = step;
    hn_table_free(&t->ctx, &t->table);
    HN_CHECK(&t->ctx, hn_training_table(&t->ctx, t->spec.task, &t->table));
    return hn_train(&t->ctx, &t->spec, &watcher, &t->table, NULL);
}

// Interrupted in an evaluation, with what is evaluated beside, a training goes on to the same rows.
static void test_evaluations(void) {
    static const char *const beside[] = {"wl", "svd"};
    for (const struct hn_task_type *const *type = hn_tasks; *type; type++) {
        hn_test_entry((*type)->name);
        struct trial *pair[2];
        for (int k = 0; k < 2; k++) {
            pair[k] = open_short(*type, 2);
            for (int o = 0; o < 2; o++)
                if (hn_options_find((*type)->options, beside[o]))
                    HN_CHECK(&pair[k]->ctx, hn_options_set(&pair[k]->ctx, (*type)->options,
                                                           pair[k]->task, beside[o], "2"));
        }
        HN_CHECK(&pair[0]->ctx, train(pair[0]));
        for (int64_t step = 0; step <= 3; step += 3)
            HN_CHECK_FAILS(&pair[1]->ctx, train_to_evaluation(pair[1], step), HN_INTERRUPTED,
                           "interrupted");
        pair[1]->stop_at = -1;
        HN_CHECK(&pair[1]->ctx, train(pair[1]));
        check_same_series(pair[0], pair[1]);
        close_trial(pair[0]);
        close_trial(pair[1]);
    }
}

static void test_seed(void) {
    for (const struct hn_task_type *const *type = hn_tasks; *type; type++) {
        hn_test_entry((*type)->name);
        struct trial *one = open_short(*type, 2), *other = open_short(*type, 2);
        other->spec.setting.seed++;
        char digest[2][65];
        HN_CHECK(&one->ctx, train(one));
        HN_CHECK(&other->ctx, train(other));
        series_digest(one, digest[0]);
        series_digest(other, digest[1]);
        CU_ASSERT_STRING_NOT_EQUAL(digest[0], digest[1]);
        close_trial(one);
        close_trial(other);
    }
}

// SupCon, where a task has it, takes no weighting, and its positives stand in the denominator.
static void test_supcon(void) {
    int tasks = 0;
    for (const struct hn_task_type *const *type = hn_tasks; *type; type++) {
        if (!((*type)->objectives & 1U << HN_OBJECTIVE_SUPCON))
            continue;
        hn_test_entry((*type)->name);
        struct trial *t = open_short(*type, 2);
        t->spec.setting.loss.objective = HN_OBJECTIVE_SUPCON;
        t->spec.setting.loss.outside = true;
        HN_CHECK_FAILS(&t->ctx, train(t), HN_USAGE, "take positive inside");
        t->spec.setting.loss.outside = false;
        t->spec.setting.loss.weighting.clamp = HN_CLAMP_EACH;
        HN_CHECK_FAILS(&t->ctx, train(t), HN_USAGE, "take weighting none");
        close_trial(t);
        tasks++;
    }
    CU_ASSERT(tasks > 0);
}

// SigLIP takes no weighting, and has no denominator; its bias counts.
static void test_siglip(void) {
    int tasks = 0;
    for (const struct hn_task_type *const *type = hn_tasks; *type; type++) {
        if (!((*type)->objectives & 1U << HN_OBJECTIVE_SIGLIP))
            continue;
        hn_test_entry((*type)->name);
        struct trial *t = open_short(*type, 2);
        double loss[2];
        t->spec.setting.loss.objective = HN_OBJECTIVE_SIGLIP;
        t->spec.setting.loss.outside = true;
        HN_CHECK_FAILS(&t->ctx, train(t), HN_USAGE, "has no denominator");
        t->spec.setting.loss.outside = false;
        t->spec.setting.loss.weighting.clamp = HN_CLAMP_EACH;
        HN_CHECK_FAILS(&t->ctx, train(t), HN_USAGE, "take weighting none");
        t->spec.setting.loss.weighting = t->spec.weighting->resolve(t->spec.weighting_params, 0);
        for (int k = 0; k < 2; k++) {
            t->spec.folder = NULL;
            t->spec.setting.loss.bias = -k;
            HN_CHECK(&t->ctx, train(t));
            loss[k] = hn_table_real(&t->table, t->table.rows - 1, "loss");
        }
        CU_ASSERT(fabs(loss[0] - loss[1]) > 1e-3);
        close_trial(t);
        tasks++;
    }
    CU_ASSERT(tasks > 0);
}

static void use_fnc(struct trial *t) {
    t->spec.weighting = named_weighting("fnc");
    CU_ASSERT_FATAL(t->spec.weighting->params_size <= sizeof t->weighting);
    HN_CHECK(&t->ctx, hn_options_init(&t->ctx, t->spec.weighting->options, t->weighting));
    const struct hn_option *options = t->spec.weighting->options;
    HN_CHECK(&t->ctx, hn_options_set(&t->ctx, options, t->weighting, "eliminate", "top"));
    HN_CHECK(&t->ctx, hn_options_set(&t->ctx, options, t->weighting, "top", "2"));
    t->spec.setting.loss.weighting = t->spec.weighting->resolve(t->weighting, 0);
}

// Attraction takes a weighting that drops negatives, and no other.
static void test_attract(void) {
    int tasks = 0;
    for (const struct hn_task_type *const *type = hn_tasks; *type; type++) {
        if (!((*type)->objectives & 1U << HN_OBJECTIVE_ATTRACT))
            continue;
        hn_test_entry((*type)->name);
        struct trial *t = open_short(*type, 2);
        t->spec.setting.loss.objective = HN_OBJECTIVE_ATTRACT;
        t->spec.setting.loss.weighting.clamp = HN_CLAMP_EACH;
        HN_CHECK_FAILS(&t->ctx, train(t), HN_USAGE, "take fnc or gist, or none");
        t->spec.setting.loss.weighting = t->spec.weighting->resolve(t->spec.weighting_params, 0);
        t->spec.setting.loss.outside = true;
        HN_CHECK_FAILS(&t->ctx, train(t), HN_USAGE, "take positive inside");
        t->spec.setting.loss.outside = false;
        HN_CHECK(&t->ctx, train(t));
        double plain = hn_table_real(&t->table, t->table.rows - 1, "loss");
        use_fnc(t);
        HN_CHECK(&t->ctx, train(t));
        CU_ASSERT(fabs(hn_table_real(&t->table, t->table.rows - 1, "loss") - plain) > 1e-3);
        close_trial(t);
        tasks++;
    }
    CU_ASSERT(tasks > 0);
}

// Negatives of each anchor, where the task takes them.
static void test_lists(void) {
    for (const struct hn_task_type *const *type = hn_tasks; *type; type++) {
        hn_test_entry((*type)->name);
        struct trial *t = open_short(*type, 2);
        t->spec.sampler = hn_sampler_find("random-negatives");
        HN_CHECK(&t->ctx, hn_options_init(&t->ctx, t->spec.sampler->options, t->sampler));
        HN_CHECK(&t->ctx, hn_options_set(&t->ctx, t->spec.sampler->options, t->sampler, "n", "3"));
        t->spec.setting.loss.objective = HN_OBJECTIVE_OTHER_VIEW;
        if ((*type)->lists)
            HN_CHECK(&t->ctx, train(t));
        else
            HN_CHECK_FAILS(&t->ctx, train(t), HN_NOT_APPLICABLE, "negatives per anchor");
        close_trial(t);
    }
}

static void test_what_does_not_fit(void) {
    for (const struct hn_task_type *const *type = hn_tasks; *type; type++) {
        hn_test_entry((*type)->name);
        struct trial *t = open_short(*type, 1);
        t->spec.setting.batch_size = 1000;
        HN_CHECK_FAILS(&t->ctx, train(t), HN_DATA, "lower batch_size");
        HN_CHECK(&t->ctx,
                 hn_options_set(&t->ctx, (*type)->options, t->task, "data", "/nowhere/at-all"));
        HN_CHECK_FAILS(&t->ctx, train(t), HN_DATA, "/nowhere/at-all");
        HN_CHECK_FAILS(&t->ctx, hn_task_check_data(&t->ctx, *type, t->task, &t->spec.setting),
                       HN_DATA, (*type)->data->origin);
        close_trial(t);
    }
}

// Every entry is complete.
static void test_entry(void) {
    for (const struct hn_task_type *const *type = hn_tasks; *type; type++) {
        const struct hn_task_type *t = *type;
        const struct hn_task_data *data = t->data;
        const struct hn_option *option = hn_options_find(t->options, "data");
        int files = 0;
        hn_test_entry(t->name);
        CU_ASSERT_PTR_EQUAL(hn_task_find(t->name), t);
        CU_ASSERT(t->summary && *t->summary && t->source && *t->source && t->note);
        CU_ASSERT(t->open && t->init && t->step && t->embed && t->evaluate);
        CU_ASSERT(t->n_columns > 0 && t->n_columns <= HN_UNTRAINED_VALUES && t->objectives > 0);
        CU_ASSERT(t->of_data >= 0 && t->of_data < t->n_columns);
        CU_ASSERT((t->of_data > 0) == (t->evaluate_data != NULL));
        CU_ASSERT(option && option->kind == HN_OPTION_TEXT);
        CU_ASSERT_FATAL(data && data->folder && data->origin && data->items && data->files);
        while (data->files[files])
            files++;
        CU_ASSERT(data->required > 0 && data->required <= files);
        CU_ASSERT_PTR_NOT_NULL(strstr(data->origin, "https://"));
        CU_ASSERT_PTR_EQUAL(hn_task_data_find(data->folder), data);
    }
    CU_ASSERT_PTR_NULL(hn_task_find("no such task"));
    CU_ASSERT_PTR_NULL(hn_task_data_find("no such data"));
}

// The loss of a short training of the task in the baseline; NaN: it has no line there.
static double baseline_of(const char *task) {
    char line[256], name[64];
    double loss, found = NAN;
    FILE *file = fopen("tests/training/baseline.txt", "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "%63s %lf", name, &loss) == 2 && strcmp(name, task) == 0)
            found = loss;
    fclose(file);
    return found;
}

// BLAS kernels differ by up to 4e-7 of the loss.
static void test_baseline(void) {
    for (const struct hn_task_type *const *type = hn_tasks; *type; type++) {
        struct trial *t = open_short(*type, 2);
        HN_CHECK(&t->ctx, train(t));
        double loss = hn_table_real(&t->table, t->table.rows - 1, "loss");
        bool same = fabs(baseline_of((*type)->name) - loss) <= 1e-5 * loss;
        if (!same)
            fprintf(stderr, "    not in tests/training/baseline.txt: %s %.9g\n", (*type)->name,
                    loss);
        CU_ASSERT(same);
        close_trial(t);
    }
}

static const struct hn_test tests[] = {
    {"a training of each task is that of the baseline", test_baseline},
    {"every task, its entry", test_entry},
    {"every task, the same for any number of threads and after an interruption", test_same},
    {"every task, interrupted in an evaluation", test_evaluations},
    {"every task, the seed matters", test_seed},
    {"every task, negatives of each anchor", test_lists},
    {"supcon takes no weighting", test_supcon},
    {"attract", test_attract},
    {"siglip", test_siglip},
    {"every task, what does not fit", test_what_does_not_fit},
};
HN_TEST_MAIN("every_task", tests)
