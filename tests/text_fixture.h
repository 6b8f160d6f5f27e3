// SPDX-License-Identifier: GPL-3.0-or-later
// For tests of the task `text`: a few pairs of sentences, in which some sentences come again, and
// the task on them.
#pragma once

#include "tests/fixture.h"
#include "tests/opened_task.h"
#include "tests/task_data.h"
#include "training/tasks/text_items.h"

#include <stdio.h>

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

static inline enum hn_code open_text(struct hn_context *ctx, int64_t batch,
                                     enum hn_objective objective, const char *const *options,
                                     struct opened *o) {
    return open_task(ctx, "text", folder, batch, objective, options, o);
}
