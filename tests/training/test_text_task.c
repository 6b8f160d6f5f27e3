// SPDX-License-Identifier: GPL-3.0-or-later
// The task `text` on a few pairs: items, groups, the loss against its definition, views.
#include "tests/text_fixture.h"

enum { ITEMS = 8, OUT = 16 };
static const char *const plain[] = {"items=pairs", "word_drop=0", "drop=0", NULL};

struct read {
    struct hn_context ctx;
    struct hn_scope scope;
    struct hn_sts sts;
    struct hn_text_items items;
};

static void open_read(struct read *r) {
    memset(r, 0, sizeof *r);
    hn_context_init(&r->ctx, 2);
    hn_scope_begin(&r->ctx, &r->scope);
    make_sentences();
    HN_CHECK(&r->ctx, hn_sts_read(&r->ctx, folder, hn_text_files, &r->sts));
    HN_CHECK(&r->ctx, hn_text_items_pairs(&r->ctx, &r->sts, false, true, &r->items));
}

static void close_read(struct read *r) {
    hn_scope_end(&r->scope);
    hn_fixture_remove(folder);
    CU_ASSERT_EQUAL(r->ctx.memory.live, 0);
}

static void test_items(void) {
    static const char *const wanted[ITEMS][3] = {
        {"red dog runs", "a dog is running", "red dog sleeps"},
        {"a dog is running", "red dog runs", "red dog sleeps"},
        {"a cat sits", "the cat is sitting down", "no cat sits"},
        {"the cat is sitting down", "a cat sits", "no cat sits"},
        {"the dog runs fast", "red dog runs", "red dog sleeps"},
        {"red dog runs", "the dog runs fast", "red dog sleeps"},
        {"two birds", "a pair of birds", NULL},
        {"a pair of birds", "two birds", NULL},
    };
    struct read r;
    open_read(&r);
    CU_ASSERT_EQUAL_FATAL(r.items.n, ITEMS);
    for (int i = 0; i < ITEMS; i++) {
        CU_ASSERT_STRING_EQUAL(r.sts.sentence[r.items.query[i]], wanted[i][0]);
        CU_ASSERT_STRING_EQUAL(r.sts.sentence[r.items.key[i]], wanted[i][1]);
        CU_ASSERT_EQUAL(r.items.hard[i] < 0, wanted[i][2] == NULL);
        if (wanted[i][2])
            CU_ASSERT_STRING_EQUAL(r.sts.sentence[r.items.hard[i]], wanted[i][2]);
    }
    HN_CHECK(&r.ctx, hn_text_items_pairs(&r.ctx, &r.sts, true, false, &r.items));
    CU_ASSERT(r.items.n == 6 && r.items.hard[0] == -1);
    close_read(&r);
}

static void test_groups(void) {
    static const char *const together[] = {"red dog runs", "a dog is running", "the dog runs fast"};
    struct read r;
    int32_t group[64], of[3] = {-1, -1, -1}, dogs = 0;
    open_read(&r);
    CU_ASSERT_FATAL(r.sts.n <= 64);
    hn_text_groups(&r.sts, group);
    for (int32_t s = 0; s < r.sts.n; s++)
        for (int k = 0; k < 3; k++)
            if (strcmp(r.sts.sentence[s], together[k]) == 0)
                of[k] = group[s];
    CU_ASSERT(of[0] == of[1] && of[1] == of[2]);
    for (int32_t s = 0; s < r.sts.n; s++)
        dogs += group[s] == of[0];
    CU_ASSERT_EQUAL(dogs, 3);
    // The dogs, both of the birds; all others alone.
    CU_ASSERT_EQUAL(group[r.sts.n - 1], r.sts.n - 1 - 2 - 1);
    close_read(&r);
}

static double cosine(const float *z, int64_t a, int64_t b) {
    double sum = 0;
    for (int k = 0; k < OUT; k++)
        sum += (double)z[a * OUT + k] * (double)z[b * OUT + k];
    return sum / 0.2; // the temperature
}

// L of a batch of all items, from the embeddings of sentences z.
static double slow_loss(const struct hn_text_items *items, const float *z, bool hard, bool mask) {
    double loss = 0;
    for (int i = 0; i < ITEMS; i++) {
        double own = cosine(z, items->query[i], items->key[i]), sum = exp(own);
        for (int j = 0; j < 2 * ITEMS; j++) {
            int32_t key = j < ITEMS ? items->key[j] : items->hard[j - ITEMS];
            bool again = false;
            for (int k = ITEMS; k < j; k++)
                again = again || items->hard[k - ITEMS] == key;
            if (j == i || key < 0 || (j >= ITEMS && (!hard || again)) ||
                (mask && (key == items->query[i] || key == items->key[i])))
                continue;
            sum += exp(cosine(z, items->query[i], key));
        }
        loss += (log(sum) - own) / ITEMS;
    }
    return loss;
}

// Without dropped words: with and without hard negatives, with and without masks.
static void test_loss(void) {
    static const int32_t id[ITEMS] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct read r;
    double last = NAN;
    open_read(&r);
    for (int kind = 0; kind < 4; kind++) {
        const char *options[] = {plain[0],
                                 plain[1],
                                 plain[2],
                                 kind & 1 ? "hard=true" : "hard=false",
                                 kind & 2 ? "mask=true" : "mask=false",
                                 NULL};
        struct opened o;
        float z[64 * OUT];
        HN_CHECK(&r.ctx, open_text(&r.ctx, ITEMS, HN_OBJECTIVE_OTHER_VIEW, options, &o));
        CU_ASSERT_FATAL(o.task.n == ITEMS && o.task.n_all == ITEMS + r.sts.n && o.task.n_all <= 64);
        HN_CHECK(&r.ctx, hn_task_embed(&r.ctx, &o.task, 0, 0, o.task.n_all, z));
        double wanted = slow_loss(&r.items, z + ITEMS * OUT, kind & 1, kind & 2);
        CU_ASSERT_DOUBLE_EQUAL(loss_of(&r.ctx, &o.task, id, ITEMS), wanted, 1e-5);
        CU_ASSERT(!(fabs(wanted - last) < 1e-3));
        last = wanted;
        close_task(&r.ctx, &o);
    }
    close_read(&r);
}

// Rows of embeddings: queries, then sentences; view 2 has the keys; views leave words out.
static void test_embeddings(void) {
    static const char *const dropping[] = {"items=pairs", "word_drop=0.5", NULL};
    struct read r;
    struct opened o;
    float z[64 * OUT], keys[64 * OUT], again[64 * OUT];
    size_t row = OUT * sizeof *z;
    open_read(&r);
    HN_CHECK(&r.ctx, open_text(&r.ctx, ITEMS, HN_OBJECTIVE_OTHER_VIEW, plain, &o));
    HN_CHECK(&r.ctx, hn_task_embed(&r.ctx, &o.task, 0, 0, o.task.n_all, z));
    HN_CHECK(&r.ctx, hn_task_embed(&r.ctx, &o.task, 2, 0, ITEMS, keys));
    for (int i = 0; i < ITEMS; i++) {
        CU_ASSERT_EQUAL(memcmp(z + i * OUT, z + (ITEMS + r.items.query[i]) * OUT, row), 0);
        CU_ASSERT_EQUAL(memcmp(keys + i * OUT, z + (ITEMS + r.items.key[i]) * OUT, row), 0);
        CU_ASSERT_EQUAL(o.task.label[i], o.task.label[ITEMS + r.items.query[i]]);
    }
    close_task(&r.ctx, &o);
    HN_CHECK(&r.ctx, open_text(&r.ctx, ITEMS, HN_OBJECTIVE_OTHER_VIEW, dropping, &o));
    HN_CHECK(&r.ctx, hn_task_embed(&r.ctx, &o.task, 1, 3, ITEMS, keys));
    HN_CHECK(&r.ctx, hn_task_embed(&r.ctx, &o.task, 1, 3, ITEMS, again));
    CU_ASSERT_EQUAL(memcmp(keys, again, ITEMS * row), 0);
    HN_CHECK(&r.ctx, hn_task_embed(&r.ctx, &o.task, 1, 4, ITEMS, again));
    CU_ASSERT(memcmp(keys, again, ITEMS * row) != 0);
    CU_ASSERT(memcmp(keys, z, ITEMS * row) != 0);
    close_task(&r.ctx, &o);
    close_read(&r);
}

static void test_faults(void) {
    static const char *const svd[] = {"items=pairs", "svd=15", NULL};
    struct read r;
    struct opened o;
    open_read(&r);
    HN_CHECK_FAILS(
        &r.ctx, open_text(&r.ctx, ITEMS, HN_OBJECTIVE_NTXENT, plain, &o), HN_USAGE,
        "take loss other-view, both-ways or siglip, not ntxent: set hard and mask to false");
    close_task(&r.ctx, &o);
    HN_CHECK_FAILS(&r.ctx, open_text(&r.ctx, ITEMS, HN_OBJECTIVE_OTHER_VIEW, svd, &o), HN_DATA,
                   "training sentences: lower svd (15)");
    close_task(&r.ctx, &o);
    put_text(folder, "sick-train.tsv", rest);
    put_text(folder, "sts12-train.tsv", HEAD PAIR("5", "a", "a"));
    HN_CHECK_FAILS(&r.ctx, open_text(&r.ctx, ITEMS, HN_OBJECTIVE_OTHER_VIEW, plain, &o), HN_DATA,
                   "sick-train.tsv has no pair with ENTAILMENT, sts12-train.tsv none with a score");
    close_task(&r.ctx, &o);
    close_read(&r);
}

static const struct hn_test tests[] = {
    {"items", test_items},   {"groups", test_groups},         {"loss", test_loss},
    {"faults", test_faults}, {"embeddings", test_embeddings},
};
HN_TEST_MAIN("text_task", tests)
