// SPDX-License-Identifier: GPL-3.0-or-later
// The sentences that a page opens with, held against results whose truth is known.
#include "tests/plots/answered.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

static const double none[3] = {0, 0, 0}, little[3] = {0.001, 0, 0.002},
                    noisy[3] = {0.19 - 0.096, 0.29 - 0.096, 0.2 - 0.096},
                    unsure[3] = {0.03, 0, 0.06}, some[3] = {0.1, 0.101, 0.102},
                    more[3] = {0.2, 0.201, 0.202}, many[3] = {0.3, 0.301, 0.302};

// Twice the false negatives with a wide interval are not "no more".
static void noise_is_no_excuse(void) {
    begin();
    put_sampler("uniform", none, none);
    put_sampler("batchsampler", noisy, some);
    put_sampler("gcbs", noisy, more); // harder, so it comes first
    says(sentences(),
         "At most 10 points more false negatives: no sampler within this limit is shown to be "
         "harder than Uniform. To decide: <code>hardneg choose dir/f.h5 --step 0 --batch-size 8 "
         "--max-excess 10 --goal hardest</code>, which adds seeds where they are "
         "needed.</li>\n</ul>",
         "erhaps"); // by means they are beyond
    begin();
    put_sampler("uniform", none, none);
    put_sampler("batchsampler", (const double[]){-0.08, 0.02, 0.01}, some);
    put_sampler("gcbs", (const double[]){-0.005, 0.005, 0.01}, more);
    says(sentences(),
         "harder than Uniform. Harder, and perhaps within the limit: gcbs (+0.3 ± 2.7 points), "
         "batchsampler (-1.7 ± 19.7 points). About three more seeds would probably decide on the "
         "first.",
         "will do");
    begin();
    put_sampler("uniform", none, none);
    put_sampler("batchsampler", little, some);
    put_sampler("b3", little, some);
    put_sampler("knn", many, more);
    char *text = sentences();
    CU_ASSERT_PTR_NOT_NULL(strstr(
        text, "<b>batchsampler</b> is the hardest shown to be within: hardness "
              "0.6010 (+0.1010 ± 0.0044), "
              "false negatives 9.70 % (+0.10 ± 0.44 points); 2.00 ms a batch, build included. "
              "Not significantly harder than b3."));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "At most 10 points more false negatives: still "
                                        "<b>batchsampler</b>."));
    says(text, "hardness: cosine of the hardest true negative of each anchor.", "knn");
}

// Nothing harder: uniform batches will do. One seed: by means, and that is said.
static void uniform_will_do(void) {
    begin();
    put_sampler("uniform", none, none);
    put_sampler("knn", little, little);
    says(sentences(),
         "no sampler within this limit is shown to be harder than Uniform. Uniform batches will "
         "do: none within the "
         "limit is harder by 0.02.",
         "is the hardest");
    begin();
    put_sampler("uniform", none, none);
    put_sampler("knn", little, unsure);
    says(sentences(),
         "no sampler within this limit is shown to be harder than Uniform. Perhaps harder: "
         "knn (+0.030 ± 0.075). About ten more seeds would probably decide.",
         "will do");
    struct cell cells[] = {at("uniform", 1, 0.1, 0.5), at("knn", 1, 0.11, 0.7),
                           at("gcbs", 1, 0.3, 0.9), at("b3", 1, 0.11, 0.7)};
    char *text = sentences_on(cells, 4);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "points). Not significantly harder than b3."));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "0.5 points more false negatives: none; every sampler has "
                                        "more."));
    says(text, "At most 2 points more false negatives: <b>knn</b> is the hardest", "gcbs");
}

// The table above the sentences: a row a budget, and hidden ones from where the answer changes.
static void table(void) {
    begin();
    put_sampler("uniform", none, none);
    put_sampler("batchsampler", (const double[]){-0.08, 0.02, 0.01}, some);
    put_sampler("knn", little, little);
    char *text = opening();
    CU_ASSERT_PTR_NOT_NULL(strstr(
        text, "<th scope=row>+0.5</th><td colspan=4><a href=\"#why\" data-command=\"hardneg "
              "choose dir/f.h5 --step 0 --batch-size 8 --max-excess 0.5 --goal hardest\">not "
              "decided: <code>choose</code> decides</a></td>"));
    CU_ASSERT_PTR_NULL(strstr(text, "data-yaml=\"knn\""));
    free(text);
    begin();
    put_sampler("uniform", none, none);
    put_sampler("knn", unsure, many);
    put_sampler("b3", little, some);
    text = opening();
    CU_ASSERT_PTR_NOT_NULL(strstr(text,
                                  "<th scope=row>+2</th><td><a href=\"#s2\" data-yaml=\"b3\">"
                                  "b3</a></td><td class=n data-v=\"0.101\">+0.1010 ± 0.0036</td>"
                                  "<td class=n data-v=\"0.097\" data-h=\"0.002484\">9.70</td>"));
    says(text, "<tr hidden data-budget=13.7", "decides</a></td></tr>\n<tr data-budget=10");
    begin();
    put_sampler("uniform", none, none);
    put_sampler("knn", many, many);
    says(opening(), "+10</th><td colspan=4>none: every sampler has more",
         "+10</th><td colspan=4>not decided");
}

// Names of files and options that a shell, YAML or HTML would read as something else.
static void odd_names(void) {
    static const double wide[3] = {0.1, -0.1, 0.12};
    dataset = "it's <b>\"a&b\".h5";
    begin();
    put_sampler("uniform", none, none);
    for (int seed = 0; seed < 3; seed++) {
        struct cell c = at("given", seed, 0.096, 0.6 + 0.001 * seed);
        c.params = "file=<i>'\"";
        put(&c);
    }
    put_sampler("knn", wide, many);
    char *text = opening();
    CU_ASSERT_PTR_NOT_NULL(
        strstr(text, "data-yaml=\"given: {file: &#34;&#60;i&#62;&#39;\\&#34;&#34;}\""));
    free(text);
    begin();
    put_sampler("uniform", none, none);
    put_sampler("knn", wide, many);
    says(opening(),
         "hardneg choose &#39;it&#39;\\&#39;&#39;s &#60;b&#62;&#34;a&#38;b&#34;.h5&#39; --step",
         "<b>\"a");
    dataset = "dir/f.h5";
}

// A gain that is shown to be below the margin is not taken; the harder one is not decided.
static void little_is_not_taken(void) {
    static const double wide[3] = {0.001, -0.03, 0.03};
    begin();
    put_sampler("uniform", none, none);
    put_sampler("knn", none, (const double[]){0.004, 0.005, 0.006});
    put_sampler("b3", wide, some);
    says(opening(), "<th scope=row>+0.5</th><td colspan=4><a href=\"#why\"", "data-yaml=\"knn\"");
}

// Settings with the same values, which an option did not touch, are one.
static void twins(void) {
    static const char *const of[] = {"uniform", "knn", "knn", "knn"}, *const params[] = {
                                                                          "", "alpha=0.1, walk=bfs",
                                                                          "alpha=0.3, walk=bfs",
                                                                          "alpha=0.3, walk=rwr"};
    begin();
    for (int i = 0; i < 12; i++) {
        struct cell c = at(of[i / 3], i % 3, 0.1, 0.5 + (i / 3 == 0 ? 0 : i / 9 ? 0.1 : 0.12));
        c.hard += 0.0001 * (i % 3) * (i / 9);
        c.params = params[i / 3];
        put(&c);
    }
    says(sentences(), "counted once: knn alpha=0.3, walk=bfs as knn alpha=0.1, walk=bfs.</p>",
         "harder than knn alpha=0.3, walk=bfs");
}

// The same among so many others that intervals learn from them, and are not 0 where all differences
// are.
static void twins_that_learn(void) {
    static const char *const of[] = {"uniform", "gcbs", "b3",     "ngame",
                                     "tas-b",   "cde",  "mosaic", "hard-negative"};
    begin();
    for (int i = 0; i < 30; i++) {
        bool twin = i >= 24;
        struct cell c = at(twin ? "knn" : of[i / 3], i % 3, 0.1 + 0.001 * (i % 3),
                           0.5 + 0.01 * (i / 3) + 0.001 * (i * i % 7));
        c.wide = 0.001;
        c.fn += twin ? 0 : 0.0002 * (i * i % 5);
        c.mean = twin ? 0.7 + 0.001 * (i % 3) : c.hard;
        c.hard = c.mean;
        c.params = i >= 27 ? "alpha=0.3, walk=bfs" : twin ? "alpha=0.1, walk=bfs" : "";
        put(&c);
    }
    says(sentences(), "counted once: knn alpha=0.3 as knn alpha=0.1.</p>", "<b>knn alpha=0.3</b>");
}

// Three files at two batch sizes have a table each, and sentences.
static void every_front(void) {
    begin();
    for (int i = 0; i < 36; i++) {
        char file[] = "f0.h5";
        struct cell c = at(i / 3 % 2 ? "knn" : "uniform", i % 3, 0.1, 0.5 + 0.1 * (i / 3 % 2));
        file[1] = (char)('0' + i / 12);
        dataset = file;
        c.batch_size = i / 6 % 2 ? 16 : 8;
        put(&c);
    }
    dataset = "dir/f.h5";
    char *text = opening();
    for (int f = 0; f < 6; f++) {
        char title[64];
        snprintf(title, sizeof title, "f%d, step 0, batches of %d", f / 2, f % 2 ? 16 : 8);
        const char *table = strstr(text, title);
        CU_ASSERT_PTR_NOT_NULL_FATAL(table);
        CU_ASSERT_PTR_NOT_NULL(strstr(table + 1, title));
    }
    free(text);
}

// A table without an answer says why.
static void no_answer(void) {
    begin();
    for (int i = 0; i < 2; i++) {
        struct cell c = at(i ? "knn" : "uniform", 0, 0.1, 0.5 + 0.1 * i);
        put(&c);
    }
    says(opening(), "<td colspan=5>too few seeds to name a setting: run three (<code>", NULL);
    begin();
    struct cell lone = at("knn", 0, 0.1, 0.5);
    put(&lone);
    says(opening(), "<td colspan=5>nothing to compare with: add <code>uniform</code>", NULL);
}

// With one or two seeds nothing is named, whatever the intervals over batches are.
static void few_seeds(void) {
    for (int seeds = 1; seeds <= 2; seeds++) {
        begin();
        for (int i = 0; i < 3 * seeds; i++) {
            struct cell c = at((const char *[]){"uniform", "knn", "b3"}[i % 3], i / 3,
                               0.1 + 0.001 * (i % 3), 0.5 + 0.1 * (i % 3));
            c.wide = 0.0001;
            put(&c);
        }
        says(sentences(), seeds == 1 ? "1 seed was run, and how " : "2 seeds were run, and how ",
             "<li>");
    }
    begin();
    struct cell lone = at("b3", 0, 0.1, 0.5);
    put(&lone);
    says(sentences(), "no Uniform in these results to compare with. 1 seed was run", "<b>b3</b>");
}

// A seed without true negatives is said, and counts in the ratio.
static void without_true_negatives(void) {
    static const double all[3] = {0.001, 0.002, 1 - 0.096}, lost[3] = {0.1, 0.1, NAN};
    begin();
    put_sampler("uniform", none, none);
    put_sampler("knn", all, lost);
    says(sentences(),
         "which adds seeds where they are needed.</li>\n</ul>\n<p>In some seeds no batch "
         "had a "
         "true negative, so these have no hardness: knn (1 of 3 seeds).",
         "<b>knn</b>");
}

// Anchors without a true negative are left out of the mean, and that is said.
static void few_anchors(void) {
    struct cell cells[] = {at("uniform", 1, 0.9, 0.5), at("knn", 1, 0.91, 0.7),
                           at("gcbs", 1, 0.91, 0.6)};
    cells[0].anchors = 0.999;
    cells[1].anchors = 0.0132;
    says(sentences_on(cells, 3), "that have a true negative: of knn 1.3 %.</p>", "uniform (");
    cells[1].anchors = NAN; // from before the column
    says(sentences_on(cells, 3), "<b>knn</b> is the hardest", "that have a true");
}

// Cells of a run that is not done: fewer seeds than Uniform's, or none of them.
static void unequal_seeds(void) {
    static const double hard[] = {0.5, 0.5, 0.5, 0.701, 0.702, 0.703, 0.6, 0.6};
    static const char *const names[] = {"uniform", "knn", "b3"};
    begin();
    put_sampler("b3", little, none);
    for (int i = 0; i < 5; i++) {
        struct cell c =
            at(i < 3 ? "uniform" : "knn", i % 3, i < 3 ? 0.096 : 0.3, i < 3 ? 0.5 : 0.7);
        c.wide = 0.01;
        put(&c);
    }
    says(sentences(), "harder than Uniform. To decide: ", "will do"); // two seeds
    begin();
    put_sampler("uniform", none, none);
    put_sampler("b3", little, none);
    struct cell c = at("gcbs", 7, 0.1, 0.9);
    put(&c);
    says(sentences(), "so they are not compared: gcbs.</p>", "will do");
    begin(); // what two seeds do not show to be within is no tie
    for (int i = 0; i < 8; i++) {
        c = at(names[i / 3], i % 3, 0.1, hard[i]);
        c.wide = 0.0001;
        put(&c);
    }
    says(sentences(), "<b>knn</b> is the hardest", "b3");
}

// All items of one class: nothing is ranked by the cosine of false negatives.
static void one_class(void) {
    struct cell cells[] = {at("uniform", 1, 1, NAN), at("knn", 1, 1, NAN)};
    cells[0].anchors = cells[1].anchors = 0;
    says(sentences_on(cells, 2), "Nothing is ranked: no batch had a true negative.", "hardest:");
}

// Samplers of which all have too many false negatives are not ranked by hardness alone, and anchors
// that do not count are told of them, too.
static void too_many_false(void) {
    struct cell cells[] = {at("uniform", 1, 0.1, 0.5), at("mined", 1, 0.9, 0.9)};
    cells[1].anchors = 0.025;
    char *text = sentences_on(cells, 2);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "At most 10 points more false negatives than Uniform: "
                                        "none; every sampler has more."));
    says(text, "that have a true negative: of mined 2.5 %.</p>", "is the hardest");
    cells[1].sampler = "knn";
    says(sentences_on(cells, 2), "none; every sampler has more.", "will do");
    cells[1] = at("mined", 1, 1, NAN);
    cells[1].anchors = 0;
    says(sentences_on(cells, 2), "no hardness: mined (3 of 3 seeds).", "is the hardest");
    struct cell small[] = {at("uniform", 1, 1, NAN), at("b3", 1, 0.9, 0.4)};
    small[0].anchors = 0;
    says(sentences_on(small, 2),
         "Uniform had no true negative, so nothing is compared with it. <b>b3</b> is the hardest",
         "At most");
}

// Of many samplers with one thing in common the first six are named.
static void many_named(void) {
    enum { SAMPLERS = 9, OTHER_SEEDS = 0, NO_HARDNESS, FEW_ANCHORS, KINDS };
    static const char *const says[KINDS] = {
        "No seed has values of Uniform and of these, so they are not compared: s0, s1, s2, s3, s4, "
        "s5 and 3 more.",
        "these have no hardness: s0 (1 of 3 seeds), s1 (1 of 3 seeds)",
        "the mean over the anchors that have a true negative: of "};
    static char name[SAMPLERS][8];
    for (int kind = 0; kind < KINDS; kind++) {
        begin();
        for (int seed = 0; seed < 3; seed++) {
            struct cell c = at("uniform", seed, 0.1, 0.5);
            put(&c);
            c = at("knn", seed, 0.12, 0.7);
            put(&c);
            for (int i = 0; i < SAMPLERS; i++) {
                snprintf(name[i], sizeof name[i], "s%d", i);
                c = at(name[i], seed + (kind == OTHER_SEEDS ? 5 : 0), 0.11, 0.6 + 0.001 * i);
                c.hard = kind == NO_HARDNESS && seed == 0 ? NAN : c.hard;
                c.anchors = kind == FEW_ANCHORS ? 0.9 : 1;
                put(&c);
            }
        }
        char *text = opening();
        CU_ASSERT_PTR_NOT_NULL(strstr(text, " and 3 more."));
        if (!strstr(text, says[kind]))
            fprintf(stderr, "no \"%s\" in %s\n", says[kind], text);
        CU_ASSERT_PTR_NOT_NULL(strstr(text, says[kind]));
        free(text);
    }
}

// Whole batches and negatives of each anchor, and batch sizes, are apart; without labels or without
// Uniform nothing is said of an excess.
static void unlike_things(void) {
    begin();
    put_sampler("uniform", none, none);
    put_sampler("b3", little, some);
    put_sampler("mined", little, many);
    char *text = sentences();
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "ranked among themselves.</p>\n<ul>\n<li>At most 0.5 "
                                        "points more false negatives than Uniform: <b>mined</b>"));
    says(text, "<b>b3</b> is the hardest", "too uncertain");
    begin();
    put_sampler("mined", little, many);
    says(sentences(), "ranked among themselves. There is no Uniform", "At most");
    struct cell cells[] = {at("uniform", 1, NAN, 0.5), at("knn", 1, NAN, 0.7)};
    says(sentences_on(cells, 2), "Without labels nothing is known of false negatives. <b>knn</b>",
         "At most");
    cells[0].sampler = "b3";
    says(sentences_on(cells, 2), "There is no Uniform", "At most");
    cells[1].batch_size = 16;
    cells[0].sampler = cells[1].sampler = "uniform";
    cells[0].fn = cells[1].fn = 0.1;
    says(sentences_on(cells, 2), "batches of 16; ", "is the hardest");
    cells[0].hard = cells[1].hard = NAN;
    says(sentences_on(cells, 2), "Hardness was not measured", "At most");
}

// Both measures have their sentences; the first is that of `choose`.
static void measures(void) {
    struct cell cells[] = {at("uniform", 1, 0.1, 0.5), at("knn", 1, 0.1, 0.7),
                           at("b3", 1, 0.1, 0.6)};
    cells[0].mean = 0.1;
    cells[1].mean = 0.2;
    cells[2].mean = 0.3;
    char *text = sentences_on(cells, 3);
    char *second = strstr(text, "<div class=by data-measure=1>");
    CU_ASSERT_PTR_NOT_NULL_FATAL(second);
    CU_ASSERT_PTR_NOT_NULL(strstr(second, "<b>knn</b> is the hardest"));
    *second = '\0';
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "<b>b3</b> is the hardest"));
    says(text, "hardness: mean cosine of true negatives.", "<b>knn</b>");
}

// Where samplers differ, they come first; weightings are compared on Uniform, once.
static void samplers_before_weightings(void) {
    begin();
    for (int i = 0; i < 12; i++) {
        struct cell c =
            at(i < 6 ? "uniform" : "knn", i / 2 % 3, i < 6 ? 0.1 : 0.11, i < 6 ? 0.5 : 0.7);
        c.weighting = i % 2 ? "hcl" : "none";
        c.loss = i % 2 ? 0.1 : 0.2;
        put(&c);
    }
    char *text = sentences(), *samplers = strstr(text, "<b>knn</b> is the hardest"),
         *weightings = strstr(text, "<p>Weightings on");
    CU_ASSERT(samplers && samplers < weightings && !strstr(weightings + 1, "<p>Weightings on"));
    says(text, "See the table for weightings with other samplers and losses (1).", NULL);
}

// Sentences of results drawn from a known truth: which are false?

struct truth {
    const char *sampler;
    double fn, hard; // excess over Uniform
};
enum { SAMPLERS = 13, DRAWS = 2000 };
struct world {
    const struct truth *truth; // the first one is Uniform
    int samplers;
};
static const struct truth mixed[] = {{"uniform", 0, 0},           {"file-order", 0, 0},
                                     {"gcbs", 0, 0.03},           {"knn", 0.01, 0.05},
                                     {"batchsampler", 0.03, 0.1}, {"tas-b", 0.1, 0.2}};

static const struct truth *truth_of(const struct world *w, const char *name) {
    size_t length = strcspn(name, "<");
    for (const struct truth *is = w->truth; is < w->truth + w->samplers; is++)
        if (strlen(is->sampler) == length && memcmp(name, is->sampler, length) == 0)
            return is;
    return NULL;
}

// Noise of a seed, which samplers share in part, and of its batches.
static void put_draw(gsl_rng *random, const struct world *w) {
    for (int seed = 0; seed < 3; seed++) {
        double shared = gsl_ran_gaussian(random, 0.002);
        for (int i = 0; i < w->samplers; i++) {
            const struct truth *is = &w->truth[i];
            double build = gsl_ran_gaussian(random, i ? 0.003 : 0),
                   batches = gsl_ran_gaussian(random, 0.001);
            struct cell c = at(is->sampler, seed, 0.1 + is->fn + shared + build + batches,
                               0.3 + is->hard + gsl_ran_gaussian(random, 0.005));
            c.wide = 1.96 * 0.001;
            put(&c);
        }
    }
}

// What a page says, and how often that is false. Intervals: those beside the hardest.
enum claim { WITHIN, HARDER, HARDEST, TIES, WILL_DO, UNSURE, INTERVALS, CLAIMS };
struct tally {
    int said[CLAIMS], wrong[CLAIMS];
};

static void count(struct tally *t, enum claim claim, bool wrong) {
    t->said[claim]++;
    t->wrong[claim] += wrong;
}

// Whether a sampler within the limit is harder than `hard`, and the line does not name it.
static bool is_missed(const struct world *w, const char *line, double limit, double hard) {
    for (const struct truth *is = w->truth; is < w->truth + w->samplers; is++)
        if (is->fn <= limit && is->hard > hard && !strstr(line, is->sampler))
            return true;
    return false;
}

// Samplers that are called harder, but too uncertain in false negatives.
static void check_unsure(const struct world *w, const char *line, struct tally *t) {
    const char *named = strstr(line, "perhaps within the limit: "), *end = strstr(line, " Perhaps");
    for (int i = 0; named && i < w->samplers; i++) {
        const char *at = strstr(named, w->truth[i].sampler);
        if (at && !(end && at > end))
            count(t, UNSURE, w->truth[i].hard <= 0);
    }
}

static void check_intervals(const char *line, const struct truth *best, struct tally *t) {
    double hard, hard_half, fn, fn_half;
    const char *text = strstr(line, "hardness ");
    if (!text)
        return; // "again"
    CU_ASSERT_EQUAL_FATAL(
        sscanf(text, "hardness %*f (%lf ± %lf), false negatives %*f %% (%lf ± %lf points)", &hard,
               &hard_half, &fn, &fn_half),
        4);
    count(t, INTERVALS,
          fabs(hard - best->hard) > hard_half || fabs(fn / 100 - best->fn) > fn_half / 100);
}

// Samplers far within a wide limit that are no less hard are to be among the ties: how many are.
static void check_ties(const struct world *w, const char *line, double limit,
                       const struct truth *best, struct tally *t) {
    const char *named = strstr(line, "Not significantly harder than ");
    int wanted = -1, listed = named != NULL;
    for (const struct truth *is = w->truth + 1; is < w->truth + w->samplers; is++)
        wanted += is->fn <= limit - 0.05 && is->hard >= best->hard;
    for (; named && *named != '.'; named++)
        listed += *named == ',' ? 1 : strncmp(named, " and ", 5) == 0 ? atoi(named + 5) : 0;
    count(t, TIES, listed < wanted);
}

static void check_line(const struct world *w, const char *line, struct tally *t) {
    double limit = strtod(line, NULL) / 100 + 1e-12;
    check_unsure(w, line, t);
    const char *name = strstr(line, "<b>");
    count(t, WILL_DO, strstr(line, "will do") && is_missed(w, line, limit, 0)); // of all lines
    if (!name)
        return;
    const struct truth *best = truth_of(w, name + 3);
    CU_ASSERT_PTR_NOT_NULL_FATAL(best);
    count(t, WITHIN, best->fn > limit);
    count(t, HARDER, best->hard <= 0);
    // Those so near to the limit that their means may lie beyond it are not named.
    count(t, HARDEST, is_missed(w, line, limit - 0.005, best->hard));
    if (limit >= 0.1)
        check_ties(w, line, limit, best, t);
    check_intervals(line, best, t);
}

static void check_pages(gsl_rng *random, const struct world *w, int pages, struct tally *t) {
    for (int page = 0; page < pages; page++) {
        begin();
        put_draw(random, w);
        char *text = sentences(), *rest = NULL;
        for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
            if (strncmp(line, "<li>At most ", 12) == 0)
                check_line(w, line + 12, t);
        free(text);
    }
}

static void show(const struct tally *t) {
    for (int i = 0; i < CLAIMS && getenv("HN_SHOW"); i++)
        fprintf(stderr, "claim %d: %d of %d\n", i, t->wrong[i], t->said[i]);
}

static void rarely_false(void) {
    struct tally tally = {{0}, {0}};
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    check_pages(random, &(struct world){mixed, sizeof mixed / sizeof *mixed}, DRAWS, &tally);
    gsl_rng_free(random);
    for (int i = 0; i < CLAIMS; i++)
        CU_ASSERT(tally.said[i] > DRAWS / 2 && tally.wrong[i] <= 0.05 * tally.said[i]);
    show(&tally);
}

// Twelve samplers alike, where the best is ahead by luck alone: none harder than Uniform, and all
// just beyond the first limit. Of all pages at most one in twenty is wrong. Ties: one is left out
// on 1.0 and 3.2 % of the pages (8.6 and 9.2 % if intervals hold for differences to one sampler
// alone).
static void rarely_by_luck(void) {
    static const double alike[][2] = {{0, 0}, {0.006, 0.1}, {0, 0.1}};
    enum { PAGES = 500 };
    struct truth truth[SAMPLERS] = {{"uniform", 0, 0}};
    char name[SAMPLERS][16];
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t k = 0; k < sizeof alike / sizeof *alike; k++) {
        struct tally tally = {{0}, {0}};
        for (int i = 1; i < SAMPLERS; i++) {
            snprintf(name[i], sizeof name[i], "s%02d", i);
            truth[i] = (struct truth){name[i], alike[k][0], alike[k][1]};
        }
        check_pages(random, &(struct world){truth, SAMPLERS}, PAGES, &tally);
        show(&tally);
        for (int i = 0; i < CLAIMS; i++)
            CU_ASSERT(tally.wrong[i] <= 0.05 * PAGES);
        CU_ASSERT(tally.said[WILL_DO] > 2 * PAGES && tally.said[WILL_DO] <= 3 * PAGES);
    }
    gsl_rng_free(random);
}

static const struct hn_test tests[] = {
    {"noise_is_no_excuse", noise_is_no_excuse},
    {"uniform_will_do", uniform_will_do},
    {"too_many_false", too_many_false},
    {"unlike_things", unlike_things},
    {"measures", measures},
    {"without_true_negatives", without_true_negatives},
    {"few_anchors", few_anchors},
    {"many named", many_named},
    {"few_seeds", few_seeds},
    {"twins", twins},
    {"twins that learn", twins_that_learn},
    {"every front", every_front},
    {"no answer", no_answer},
    {"table", table},
    {"odd_names", odd_names},
    {"little_is_not_taken", little_is_not_taken},
    {"unequal_seeds", unequal_seeds},
    {"one_class", one_class},
    {"samplers before weightings", samplers_before_weightings},
    {"rarely_false", rarely_false},
    {"rarely_by_luck", rarely_by_luck},
};
HN_TEST_MAIN("answer", tests)
