// For tests of the task `text`: a few pairs of sentences, in which some sentences come again, and
// the task on them.
#ifndef HN_TESTS_TEXT_FIXTURE_H
#define HN_TESTS_TEXT_FIXTURE_H

#include "tests/fixture.h"
#include "tests/task_data.h"
#include "training/tasks/task.h"
#include "training/tasks/text_items.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HEAD "set\tsubset\tscore\tsentence1\tsentence2"
#define PAIR(score, first, second) "\nX\tall\t" score "\t" first "\t" second

static char folder[256];

// Of sick-train: contradictions of "red dog runs" (first: "red dog sleeps") and of "a cat sits".
static const char sick_train[] =
    HEAD "\tentailment" PAIR("4.5", "red dog runs", "a dog is running") "\tENTAILMENT" //
    PAIR("3.9", "red dog sleeps", "red dog runs") "\tCONTRADICTION"                    //
    PAIR("4", "a dog is running", "the dog runs fast") "\tNEUTRAL"                     //
    PAIR("3", "red dog runs", "no dog runs") "\tCONTRADICTION"                         //
    PAIR("2", "a cat sits", "the cat is sitting down") "\tENTAILMENT"                  //
    PAIR("1", "no cat sits", "a cat sits") "\tCONTRADICTION"                           //
    PAIR("4.9", "the dog runs fast", "red dog runs") "\tENTAILMENT\n";
static const char sts12_train[] = HEAD PAIR("5", "two birds", "two birds") //
    PAIR("4.2", "two birds", "a pair of birds") PAIR("3.99", "a fish", "some fish") "\n";
static const char rest[] = HEAD PAIR("5", "a dog runs", "the dog is running") //
    PAIR("1", "a cat", "an old house") PAIR("3", "birds sing", "many birds sing songs") "\n";

static inline void make_sentences(void) {
    hn_fixture_folder(folder, sizeof folder);
    for (int k = 0; k < HN_TEXT_SETS; k++) {
        char name[32];
        snprintf(name, sizeof name, "%s.tsv", hn_text_files[k]);
        put_text(folder, name,
                 k == HN_TEXT_SICK_TRAIN    ? sick_train
                 : k == HN_TEXT_STS12_TRAIN ? sts12_train
                                            : rest);
    }
}

struct opened {
    struct hn_task task;
    void *params;
};

// options: "name=value" ..., up to a NULL.
static inline enum hn_code open_task(struct hn_context *ctx, int64_t batch,
                                     enum hn_objective objective, const char *const *options,
                                     struct opened *o) {
    const struct hn_task_type *type = hn_task_find("text");
    const struct hn_task_setting setting = {.folder = "",
                                            .seed = 5,
                                            .batch_size = batch,
                                            .loss = {.objective = objective, .temperature = 0.2}};
    memset(o, 0, sizeof *o);
    o->params = hn_zalloc(ctx, 1, type->params_size);
    if (!o->params || hn_options_init(ctx, type->options, o->params) ||
        hn_options_set(ctx, type->options, o->params, "data", folder) ||
        hn_options_set(ctx, type->options, o->params, "out", "16"))
        return ctx->code;
    for (; *options; options++) {
        char name[32];
        const char *equals = strchr(*options, '=');
        snprintf(name, sizeof name, "%.*s", (int)(equals - *options), *options);
        if (hn_options_set(ctx, type->options, o->params, name, equals + 1))
            return ctx->code;
    }
    return hn_task_open(ctx, type, o->params, &setting, &o->task);
}

static inline void close_task(struct hn_context *ctx, struct opened *o) {
    if (o->task.type)
        hn_task_close(ctx, &o->task);
    if (o->params)
        hn_options_free(ctx, hn_task_find("text")->options, o->params);
    hn_free(ctx, o->params);
}

static inline double loss_of(struct hn_context *ctx, struct hn_task *task, const int32_t *id,
                             int64_t n) {
    const struct hn_task_batch batch = {.id = id, .n = n, .step = 4, .loss = task->setting.loss};
    double loss = NAN;
    hn_weights_clear(&task->weights);
    HN_CHECK(ctx, task->type->step(ctx, task, &batch, &loss, NULL));
    return loss;
}

#endif
