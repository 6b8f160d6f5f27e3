// SPDX-License-Identifier: GPL-3.0-or-later
// Handles that threads share, stopped calls, and children of fork(): a batch is right, or refused
// with a sentence. HN_TEST_SECONDS lengthens the test of threads.
#include "core/context.h"
#include "library/hardneg.h"
#include "library/library_private.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 90, D = 6, B = 8, BATCHES = 12, EPOCHS = 3, SETS = 2, THREADS = 4, COLUMNS = 256 };
enum { CAPACITY = 2 }; // of mined, where it is the sampler

static float rows[SETS][N * D];
static int32_t labels[N];

static struct hardneg_items items_of(int set) {
    return (struct hardneg_items){
        .size = sizeof(struct hardneg_items), .n = N, .d = D, .x = rows[set], .labels = labels};
}

static void fill_rows(void) {
    for (int s = 0; s < SETS; s++)
        for (int i = 0; i < N * D; i++)
            rows[s][i] = (float)((i * 7919 + i * i * (31 + 6 * s)) % 1009) - 504.5F;
    for (int i = 0; i < N; i++)
        labels[i] = i % 5;
}

static hardneg *opened(const char *sampler, int threads) {
    hardneg *h;
    fill_rows();
    CU_ASSERT_EQUAL_FATAL(hardneg_open(sampler, B, 3, threads, &h), HARDNEG_OK);
    return h;
}

static hardneg *built(const char *sampler, int threads) {
    hardneg *h = opened(sampler, threads);
    const struct hardneg_items items = items_of(0);
    CU_ASSERT_EQUAL_FATAL(hardneg_build(h, &items), HARDNEG_OK);
    return h;
}

// What each epoch of each build gives, by a handle that nothing else uses.
static int64_t expected[SETS][EPOCHS][BATCHES * B];
static int64_t negatives[SETS][EPOCHS][BATCHES * B * CAPACITY];
static char digests[SETS][HARDNEG_DIGEST];

static void draw_expected(const char *sampler) {
    hardneg *h = opened(sampler, 1);
    for (int s = 0; s < SETS; s++) {
        const struct hardneg_items items = items_of(s);
        int64_t batches;
        CU_ASSERT_EQUAL_FATAL(hardneg_build(h, &items), HARDNEG_OK);
        CU_ASSERT_EQUAL(hardneg_digest(h, digests[s]), HARDNEG_OK);
        for (int e = 0; e < EPOCHS; e++) {
            CU_ASSERT_EQUAL_FATAL(hardneg_epoch(h, e, &batches), HARDNEG_OK);
            CU_ASSERT_EQUAL_FATAL(batches, BATCHES);
            int code = hardneg_capacity(h)
                           ? hardneg_negatives(h, 0, BATCHES, expected[s][e], negatives[s][e], NULL)
                           : hardneg_next(h, 0, BATCHES, expected[s][e]);
            CU_ASSERT_EQUAL(code, HARDNEG_OK);
        }
    }
    hardneg_free(h);
}

enum { QUERIES = 7, MINED = 3 };
static int64_t mined[QUERIES * MINED]; // by a handle that nothing else uses

// Queries over the second set, each with one known positive.
static int mine(hardneg *h, int64_t *negative) {
    int64_t known[QUERIES * 3];
    for (int i = 0; i < QUERIES; i++)
        known[3 * i] = i, known[3 * i + 1] = 5 * i, known[3 * i + 2] = 1;
    const struct hardneg_corpus corpus = {.size = sizeof corpus,
                                          .queries = QUERIES,
                                          .passages = N,
                                          .d = D,
                                          .query = rows[0],
                                          .passage = rows[1],
                                          .known = known,
                                          .known_pairs = QUERIES};
    struct hardneg_mining out = {.size = sizeof out, .width = MINED};
    return hardneg_mine(h, &corpus, (const char *const[]){"negatives", "3", "depth", "20", NULL},
                        negative, NULL, &out);
}

struct shared {
    hardneg *h;
    const char *name;
    int64_t capacity; // of negatives; 0 = batches
    int64_t end;      // hn_wall_ns()
    _Atomic int64_t wrong, drawn, built, refused, stopped;
};
struct own {
    struct shared *shared;
    int number;
};

static void draw(struct shared *s, int epoch) {
    int64_t ids[BATCHES * B], negative[BATCHES * B * CAPACITY], batches;
    if (hardneg_epoch(s->h, epoch, &batches))
        return;
    if (s->capacity ? hardneg_negatives(s->h, 0, BATCHES, ids, negative, NULL)
                    : hardneg_next(s->h, 0, BATCHES, ids)) {
        const char *why = hardneg_message(s->h);
        bool said = strstr(why, "no epoch of this build") || strstr(why, "interrupted");
        atomic_fetch_add(said ? &s->refused : &s->wrong, 1);
        return;
    }
    bool right = false;
    for (int k = 0; k < SETS; k++)
        right = right ||
                (memcmp(ids, expected[k][epoch], sizeof ids) == 0 &&
                 (s->capacity == 0 || memcmp(negative, negatives[k][epoch], sizeof negative) == 0));
    atomic_fetch_add(right ? &s->drawn : &s->wrong, 1);
}

static void rebuild(struct shared *s, int turn, bool spoiled) {
    struct hardneg_items items = items_of(turn % SETS);
    items.d = spoiled ? 0 : D;
    int code = hardneg_build(s->h, &items);
    if (spoiled)
        atomic_fetch_add(strstr(hardneg_message(s->h), "dimensions") ? &s->refused : &s->wrong, 1);
    else
        atomic_fetch_add(code == HARDNEG_OK            ? &s->built
                         : code == HARDNEG_INTERRUPTED ? &s->stopped
                                                       : &s->wrong,
                         1);
}

static void look(struct shared *s) {
    int64_t ids[] = {0, 1, 2, 3}, batches, negative[QUERIES * MINED];
    double value[COLUMNS];
    char digest[HARDNEG_DIGEST];
    struct hardneg_attrition attrition = {.size = sizeof attrition};
    int code = hardneg_measure_batches(s->h, ids, 2, 2, NULL, value);
    atomic_fetch_add(code && code != HARDNEG_INTERRUPTED ? &s->wrong : &s->drawn, 1);
    code = mine(s->h, negative);
    if (code ? code != HARDNEG_INTERRUPTED : memcmp(negative, mined, sizeof mined) != 0)
        atomic_fetch_add(&s->wrong, 1);
    code = hardneg_digest(s->h, digest);
    if (!code && strcmp(digest, digests[0]) != 0 && strcmp(digest, digests[1]) != 0)
        atomic_fetch_add(&s->wrong, 1);
    struct hardneg_option option = {.size = sizeof option};
    const char *name;
    if (hardneg_capacity(s->h) != s->capacity || hardneg_needs(s->h, "labels") ||
        hardneg_attrition(s->h, 0, &attrition) != (s->capacity > 0) ||
        !strstr(hardneg_sampler(s->h), s->name) || !hardneg_type(1, &name, NULL, NULL, NULL) ||
        !hardneg_option(0, 0, &option) || !hardneg_column(0, &name, NULL, NULL) ||
        !*hardneg_version() || hardneg_epoch(s->h, -1, &batches) == HARDNEG_OK ||
        !strstr(hardneg_message(s->h), "numbered from 0"))
        atomic_fetch_add(&s->wrong, 1);
    (void)hardneg_note(s->h);
}

// Threads of a busy machine may have had no turn by the end: they go on until each thing happened.
static bool happened(const struct shared *s) {
    return s->drawn > 0 && s->built > 0 && s->refused > 0;
}
static bool goes_on(const struct shared *s) {
    int64_t late = hn_wall_ns() - s->end;
    return late < 0 || (late < INT64_C(60000000000) && !happened(s));
}

static void *work(void *data) {
    const struct own *own = data;
    struct shared *s = own->shared;
    for (int turn = own->number; goes_on(s); turn++)
        switch ((turn + own->number) % 5) {
        case 0: rebuild(s, turn, turn % 3 == 0); break;
        case 1: look(s); break;
        case 2:
            if (turn % 7 == 0)
                hardneg_stop(s->h);
            break;
        default: draw(s, turn % EPOCHS);
        }
    return NULL;
}

static void share(const char *sampler, const char *name, int64_t capacity, int64_t ms) {
    struct shared s = {.name = name, .capacity = capacity};
    struct own own[THREADS];
    pthread_t thread[THREADS];
    const char *seconds = getenv("HN_TEST_SECONDS");
    draw_expected(sampler);
    s.h = built(sampler, 1);
    CU_ASSERT_EQUAL_FATAL(mine(s.h, mined), HARDNEG_OK);
    s.end = hn_wall_ns() + (seconds ? 1000 * atoi(seconds) : ms) * 1000000;
    for (int t = 0; t < THREADS; t++) {
        own[t] = (struct own){&s, t};
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[t], NULL, work, &own[t]), 0);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    CU_ASSERT_EQUAL(s.wrong, 0);
    CU_ASSERT_TRUE(happened(&s));
    hardneg_free(s.h);
}

static void test_threads(void) {
    share("uniform", "uniform", 0, 400);
    share("knn", "knn", 0, 400);
    share("{gcbs: {quantile: 0.9}}", "gcbs", 0, 400);
    share("{mined: {n: 2, R: 20}}", "mined", CAPACITY, 400);
}

// Each of two threads goes on in the epoch that it began, whatever the other one begins.
static void *begin_another(void *h) {
    int64_t batches;
    CU_ASSERT_EQUAL(hardneg_epoch(h, 2, &batches), HARDNEG_OK);
    return NULL;
}
static void *draw_without(void *h) {
    int64_t ids[B];
    CU_ASSERT_EQUAL(hardneg_next(h, 0, 1, ids), HARDNEG_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(hardneg_message(h), "several epochs"));
    return NULL;
}
static void *draw_first(void *h) {
    int64_t ids[B];
    CU_ASSERT_EQUAL(hardneg_next(h, 0, 1, ids), HARDNEG_OK);
    CU_ASSERT_EQUAL(memcmp(ids, expected[0][1], sizeof ids), 0);
    return NULL;
}
static void in_thread(void *(*run)(void *), hardneg *h) {
    pthread_t thread;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, run, h), 0);
    pthread_join(thread, NULL);
}

static void test_epochs(void) {
    int64_t ids[B], batches;
    draw_expected("knn");
    hardneg *h = built("knn", 1);
    CU_ASSERT_EQUAL(hardneg_epoch(h, 1, &batches), HARDNEG_OK);
    in_thread(draw_first, h); // the only epoch that there is
    in_thread(begin_another, h);
    CU_ASSERT_EQUAL(hardneg_next(h, 3, 1, ids), HARDNEG_OK);
    CU_ASSERT_EQUAL(memcmp(ids, expected[0][1] + (size_t)3 * B, sizeof ids), 0);
    in_thread(draw_without, h);
    hardneg_free(h);
}

// What fails is told to the thread that called, and nothing of the last build is lost.
static void test_failure(void) {
    int64_t ids[B], batches;
    draw_expected("knn");
    hardneg *h = built("knn", 1);
    struct hardneg_items spoiled = items_of(1);
    CU_ASSERT_EQUAL(hardneg_epoch(h, 1, &batches), HARDNEG_OK);
    spoiled.n = 3;
    CU_ASSERT_EQUAL(hardneg_build(h, &spoiled), HARDNEG_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(hardneg_message(h), "exceeds the 3 items"));
    CU_ASSERT_EQUAL(hardneg_next(h, 5, 1, ids), HARDNEG_OK);
    CU_ASSERT_EQUAL(memcmp(ids, expected[0][1] + (size_t)5 * B, sizeof ids), 0);
    hardneg_free(h);
}

enum { MANY = 6000, WIDE = 64 };

// Again and again: a call that begins only then does not heed it.
static void *stop_soon(void *data) {
    struct shared *s = data;
    while (atomic_load(&s->stopped) == 0) {
        usleep(10000);
        hardneg_stop(s->h);
    }
    return NULL;
}

static float many[MANY * WIDE];

static int build_many(hardneg *h) {
    const struct hardneg_items large = {.size = sizeof large, .n = MANY, .d = WIDE, .x = many};
    return hardneg_build(h, &large);
}
static int mine_many(hardneg *h) {
    static int64_t negative[MANY * MINED];
    const struct hardneg_corpus corpus = {.size = sizeof corpus,
                                          .queries = MANY,
                                          .passages = MANY,
                                          .d = WIDE,
                                          .query = many,
                                          .passage = many};
    struct hardneg_mining out = {.size = sizeof out, .width = MINED};
    return hardneg_mine(h, &corpus, (const char *const[]){"negatives", "3", NULL}, negative, NULL,
                        &out);
}

// After a call that was stopped a handle has the build that it had, and mines as before.
static void stop_in(int (*call)(hardneg *h)) {
    int64_t ids[B], batches, negative[QUERIES * MINED];
    pthread_t thread;
    struct shared s = {.h = built("{mosaic: {}}", 1), .stopped = 0};
    CU_ASSERT_EQUAL_FATAL(mine(s.h, mined), HARDNEG_OK);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, stop_soon, &s), 0);
    int code = call(s.h);
    atomic_store(&s.stopped, 1);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(code, HARDNEG_INTERRUPTED);
    CU_ASSERT_EQUAL(hardneg_epoch(s.h, 2, &batches), HARDNEG_OK);
    CU_ASSERT_EQUAL(hardneg_next(s.h, 1, 1, ids), HARDNEG_OK);
    CU_ASSERT_EQUAL(memcmp(ids, expected[0][2] + B, sizeof ids), 0);
    CU_ASSERT_EQUAL(mine(s.h, negative), HARDNEG_OK);
    CU_ASSERT_EQUAL(memcmp(negative, mined, sizeof mined), 0);
    hardneg_free(s.h);
}

static void test_stop(void) {
    for (int i = 0; i < MANY * WIDE; i++)
        many[i] = (float)((i * (int64_t)i * 7919) % 1009) - 504.5F;
    draw_expected("{mosaic: {}}");
    stop_in(build_many);
    stop_in(mine_many);
}

// 0: right batches of a handle of the parent and of an own one.
static int work_as_child(hardneg *h, const char *sampler) {
    int64_t ids[BATCHES * B], batches;
    hardneg *own;
    const struct hardneg_items items = items_of(1);
    alarm(30);
    if (hardneg_epoch(h, 1, &batches) || hardneg_next(h, 0, BATCHES, ids) ||
        memcmp(ids, expected[0][1], sizeof ids) != 0)
        return 1;
    if (hardneg_open(sampler, B, 3, 2, &own) || hardneg_build(own, &items) ||
        hardneg_epoch(own, 0, &batches) || hardneg_next(own, 0, BATCHES, ids) ||
        memcmp(ids, expected[1][0], sizeof ids) != 0)
        return 2;
    hardneg_free(own);
    return 0;
}

static int status_of(pid_t child) {
    int status = -1;
    CU_ASSERT_EQUAL_FATAL(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void test_fork(void) {
    static const char *const samplers[] = {"knn", "{batchsampler: {M: 40, K: 10}}", "stratified"};
    for (size_t i = 0; i < sizeof samplers / sizeof samplers[0]; i++) {
        int64_t ids[BATCHES * B], batches;
        draw_expected(samplers[i]);
        hardneg *h = built(samplers[i], 2);
        CU_ASSERT_EQUAL(hardneg_epoch(h, 0, &batches), HARDNEG_OK);
        CU_ASSERT_EQUAL(hardneg_next(h, 0, BATCHES, ids), HARDNEG_OK);
        pid_t child = fork();
        if (child == 0)
            _exit(work_as_child(h, samplers[i]));
        CU_ASSERT_EQUAL(status_of(child), 0);
        CU_ASSERT_EQUAL(hardneg_next(h, 0, BATCHES, ids), HARDNEG_OK);
        CU_ASSERT_EQUAL(memcmp(ids, expected[0][0], sizeof ids), 0);
        hardneg_free(h);
    }
}

// A lock that a thread of the parent had is told from one that is had.
static void test_fork_in_call(void) {
    hardneg *h = built("knn", 1);
    int64_t batches;
    int code;
    CU_ASSERT_PTR_NOT_NULL(hn_library_enter(h, &code));
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        code = hardneg_epoch(h, 0, &batches);
        _exit(code == HARDNEG_USAGE && strstr(hardneg_message(h), "was forked") ? 0 : 1);
    }
    CU_ASSERT_EQUAL(status_of(child), 0);
    CU_ASSERT_EQUAL(hn_library_leave(h, HN_OK), HARDNEG_OK);
    CU_ASSERT_EQUAL(hardneg_epoch(h, 0, &batches), HARDNEG_OK);
    hardneg_free(h);
}

static const struct hn_test tests[] = {
    {"threads", test_threads},
    {"epochs of threads", test_epochs},
    {"failed builds", test_failure},
    {"stop", test_stop},
    {"fork", test_fork},
    {"fork in a call", test_fork_in_call},
};

HN_TEST_MAIN("sharing", tests)
