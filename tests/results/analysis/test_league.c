// SPDX-License-Identifier: GPL-3.0-or-later
// What to take within a budget of false negatives, and which settings are compared.
#include "results/analysis/league.h"
#include "tests/results/analysis/overview_fixture.h"

// Over Uniform's, in three seeds; noise: of hardness.
static void put_sampler(const char *sampler, double fn, double hard, double noise) {
    for (int seed = 0; seed < 3; seed++) {
        struct cell c =
            at(sampler, seed, 0.1 + 0.001 * seed + (fn > 0 ? fn + 0.0001 * (seed == 1) : 0),
               0.5 + hard + noise * (seed - 1));
        put(&c, "ok");
    }
}

static struct hn_league league_of(const struct hn_overview *o) {
    return hn_league_make(o, hn_hardness_measure(o->results, 0), HN_MARGIN, 0);
}

static void is_answered(const struct hn_league *p, double budget, int64_t setting,
                        enum hn_answer_none none) {
    struct hn_answer answer = hn_league_answer(p, budget);
    CU_ASSERT_EQUAL(answer.setting, setting);
    if (setting < 0)
        CU_ASSERT_EQUAL(answer.none, none);
}

// The hardest within each budget; between two ends of intervals the answer stays.
static void budgets(void) {
    struct hn_overview o;
    begin();
    put_sampler("uniform", 0, 0, 0);
    put_sampler("gcbs", 0.01, 0.1, 0);
    put_sampler("knn", 0.05, 0.3, 0);
    make(&o);
    struct hn_league p = league_of(&o);
    CU_ASSERT(p.judged && hn_league_is_tabled(&p));
    is_answered(&p, 0.005, -1, HN_NONE_WITHIN);
    is_answered(&p, 0.02, 1, HN_NONE_OPEN);
    is_answered(&p, 0.1, 2, HN_NONE_OPEN);
    int ends = 0;
    for (double at = 0, next; at <= 1; at = next) {
        next = hn_league_next_budget(&p, at);
        double between = isfinite(next) ? 0.5 * (at + next) : at + 0.01;
        CU_ASSERT_EQUAL(hn_league_answer(&p, at).setting, hn_league_answer(&p, between).setting);
        ends += isfinite(next);
    }
    CU_ASSERT_EQUAL(ends, 4); // both ends of two intervals
    end();
}

// A sampler that is harder by less than the margin is no reason to leave Uniform; one whose
// hardness its seeds do not show leaves the budget open.
static void nothing_to_take(void) {
    struct hn_overview o;
    struct hn_uncertain named[HN_UNCERTAIN_MAX];
    begin();
    put_sampler("uniform", 0, 0, 0);
    put_sampler("gcbs", 0, 0.5 * HN_HARDNESS_MARGIN, 0);
    make(&o);
    struct hn_league p = league_of(&o);
    is_answered(&p, 0.1, -1, HN_NONE_NEEDED);
    CU_ASSERT_EQUAL(hn_league_uncertain(&p, -1, 0.1, false, named), 0);
    end();
    begin();
    put_sampler("uniform", 0, 0, 0);
    put_sampler("knn", 0, 0.1, 0.1);
    put_sampler("b3", 0, 0.1, 0.07);
    put_sampler("gcbs", 0, 0.1, 0.09);
    put_sampler("osgd", 0, 0.1, 0.08);
    make(&o);
    p = league_of(&o);
    is_answered(&p, 0.1, -1, HN_NONE_OPEN);
    CU_ASSERT_EQUAL(hn_league_uncertain(&p, -1, 0.1, false, named), 4);
    for (int i = 0; i < HN_UNCERTAIN_MAX; i++) // the fewest seeds first
        CU_ASSERT_EQUAL(named[i].setting, ((const int64_t[]){2, 4, 3})[i]);
    CU_ASSERT(0 < named[0].seeds && named[0].seeds <= named[1].seeds);
    end();
}

// The hardest, and one that is not shown to be less hard within the same budget.
static void ties(void) {
    struct hn_overview o;
    begin();
    put_sampler("uniform", 0, 0, 0);
    put_sampler("knn", 0.01, 0.3, 0.001);
    put_sampler("b3", 0.01, 0.299, -0.001);
    put_sampler("gcbs", 0.01, 0.1, 0.001);
    put_sampler("osgd", 0.2, 0.3, 0.002);
    make(&o);
    struct hn_league p = league_of(&o);
    is_answered(&p, 0.02, 1, HN_NONE_OPEN);
    for (int64_t s = 0; s < 5; s++) {
        CU_ASSERT_EQUAL(hn_league_ties(&p, s, 1, 0.02), s == 2);
        CU_ASSERT_EQUAL(hn_league_ties(&p, s, 1, NAN), s == 2 || s == 4);
    }
    end();
}

// A league begins with its first setting of the last step; earlier steps and other weightings of
// the same batches are found, or are not of it.
static void beginnings(void) {
    static const struct {
        const char *sampler, *weighting;
        int step, batch_size, first;
        bool begins;
    } row[] = {{"uniform", "none", 0, 8, 1, false}, {"uniform", "none", 5, 8, 1, true},
               {"knn", "none", 5, 8, 1, false},     {"knn", "hcl", 5, 8, -1, false},
               {"uniform", "none", 5, 16, 4, true}, {"mined", "none", 5, 8, 5, true},
               {"mined", "none", 0, 8, 5, false}};
    struct hn_overview o;
    begin();
    for (int i = 0; i < 7; i++) {
        struct cell c = at(row[i].sampler, 0, 0.1, 0.5);
        c.step = row[i].step;
        c.batch_size = row[i].batch_size;
        c.weighting = row[i].weighting;
        put(&c, "ok");
    }
    make(&o);
    for (int64_t s = 0; s < 7; s++) {
        CU_ASSERT_EQUAL(hn_league_begins(&o, s), row[s].begins);
        CU_ASSERT_EQUAL(hn_league_first(&o, s), row[s].first);
    }
    end();
}

// The twin of a setting is an earlier one of its sampler with the same values in the same seeds.
static void twins(void) {
    static const struct {
        double fn, hard;
        int seeds[2], twin; // of setting 1
    } second[] = {{0.2, 0.6, {0, 1}, 0},  {0.2, 0.6, {0, 2}, -1}, {0.3, 0.6, {0, 1}, -1},
                  {0.2, 0.7, {0, 1}, -1}, {0.2, 0.5, {0, 1}, -1}, {NAN, 0.6, {0, 1}, -1}};
    for (int none = 0; none < 2; none++)
        for (size_t i = 0; i < sizeof second / sizeof *second; i++) {
            struct hn_overview o;
            begin();
            for (int k = 0; k < 4; k++) {
                struct cell c = at("walk", k < 2 ? k : second[i].seeds[k - 2],
                                   k < 2 ? 0.2 : second[i].fn, k < 2 ? 0.6 : second[i].hard);
                c.params = k < 2 ? "M=1" : "M=2";
                c.fn = none && k < 2 ? NAN : c.fn;
                put(&c, "ok");
            }
            make(&o);
            struct hn_league p = league_of(&o);
            CU_ASSERT_EQUAL(hn_league_twin(&p, 0), -1);
            bool both_none = none && isnan(second[i].fn);
            CU_ASSERT_EQUAL(hn_league_twin(&p, 1), none ? (both_none ? 0 : -1) : second[i].twin);
            end();
        }
}

static const struct hn_test tests[] = {
    {"twins", twins}, {"budgets", budgets},       {"nothing_to_take", nothing_to_take},
    {"ties", ties},   {"beginnings", beginnings},
};

HN_TEST_MAIN("league", tests)
