// SPDX-License-Identifier: GPL-3.0-or-later
// A process that is alone, with or without MPI: it is rank 0 of one.
#include "harness/host/ranks.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

static void test_alone(void) {
    struct hn_context ctx;
    struct hn_results env = {0};
    int own = 7, all = 0, shared = 3;
    hn_context_init(&ctx, 1);
    CU_ASSERT_EQUAL(hn_ranks_number(NULL), 0);
    CU_ASSERT_EQUAL(hn_ranks_count(NULL), 1);
    CU_ASSERT_EQUAL(hn_ranks_beside(NULL), 1);
    CU_ASSERT_EQUAL(hn_ranks_threads(NULL, 5), 5);
    HN_CHECK(&ctx, hn_ranks_describe(&ctx, NULL, &env));
    CU_ASSERT_EQUAL(env.n_env, 0);
    hn_ranks_share(NULL, &shared, sizeof shared);
    hn_ranks_gather(NULL, &own, sizeof own, &all);
    CU_ASSERT(shared == 3 && all == 7);
    for (enum hn_code code = HN_OK; code <= HN_DATA; code++) {
        CU_ASSERT_EQUAL(hn_ranks_agree(&ctx, NULL, code), code);
        CU_ASSERT_EQUAL(hn_ranks_close(&ctx, NULL, code), code);
    }
}

// The first process of several that mpirun started, and that share nothing, says so.
static void test_note(void) {
    static const struct {
        const char *size, *rank;
        bool told;
    } cases[] = {{NULL, NULL, false},
                 {"1", "0", false},
                 {"3", "0", true},
                 {"3", "1", false},
                 {"3", NULL, false}};
    char note[HN_MESSAGE_MAX];
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    ctx.notes = (struct hn_notes){hn_keep_note, note, NULL};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        (void)(cases[i].size ? setenv("OMPI_COMM_WORLD_SIZE", cases[i].size, 1)
                             : unsetenv("OMPI_COMM_WORLD_SIZE"));
        (void)(cases[i].rank ? setenv("OMPI_COMM_WORLD_RANK", cases[i].rank, 1)
                             : unsetenv("OMPI_COMM_WORLD_RANK"));
        *note = '\0';
        hn_ranks_none(&ctx);
        CU_ASSERT_EQUAL(*note != '\0', cases[i].told);
        CU_ASSERT(!cases[i].told || strstr(note, "mpirun started 3 processes"));
    }
    (void)unsetenv("OMPI_COMM_WORLD_SIZE");
    (void)unsetenv("OMPI_COMM_WORLD_RANK");
}

static const struct hn_test tests[] = {{"alone", test_alone}, {"note", test_note}};

HN_TEST_MAIN("ranks", tests)
