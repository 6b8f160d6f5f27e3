// SPDX-License-Identifier: GPL-3.0-or-later
// osgd: the batches that are kept against losses written down in double.
#include "tests/sampled.h"

static const struct hn_sampler_type *sampler(void) { return hn_sampler_find("osgd"); }

enum { N = 120, D = 8, SEED = 3, DRAWN = 40, B_MAX = 64 };

struct candidate {
    double loss;
    int32_t id[B_MAX];
    int number;
    bool kept;
};

static double naive_loss(const struct hn_items *items, const int32_t *id, int size, double tau) {
    const struct hn_matrix *x1 = hn_has_positive(items) ? &items->x1 : &items->x;
    const struct hn_matrix *x2 = hn_has_positive(items) ? &items->x2 : &items->x;
    double loss = 0;
    for (int i = 0; i < size; i++) {
        double rows = 0, columns = 0;
        for (int j = 0; j < size; j++) {
            rows += exp(naive_dot(hn_row(x1, id[i]), hn_row(x2, id[j]), D) / tau);
            columns += exp(naive_dot(hn_row(x1, id[j]), hn_row(x2, id[i]), D) / tau);
        }
        loss +=
            log(rows) + log(columns) - 2 * naive_dot(hn_row(x1, id[i]), hn_row(x2, id[i]), D) / tau;
    }
    return loss / size;
}

static int larger(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    return x->loss != y->loss ? (x->loss > y->loss ? -1 : 1) : x->number - y->number;
}

// Every batch that an epoch could draw, by an epoch that keeps them all.
static void draw_all(const struct hn_items *items, const char *settings, int size, int64_t epoch,
                     double tau, struct candidate *all) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct sampled s;
    HN_CHECK(&ctx, sampled_open(&ctx, sampler(), settings, items, size, SEED, &s));
    HN_CHECK(&ctx, sampled_epoch(&ctx, &s, items, epoch));
    CU_ASSERT_EQUAL_FATAL(s.batches, DRAWN);
    for (int b = 0; b < DRAWN; b++) {
        all[b].number = b;
        all[b].kept = false;
        memcpy(all[b].id, sampled_batch(&s, b), (size_t)size * sizeof *all[b].id);
        all[b].loss = naive_loss(items, all[b].id, size, tau);
    }
    sampled_close(&ctx, &s);
}

// Losses that float products hardly tell apart may be ordered either way.
static void compare(const struct hn_items *items, int size, int kept, double tau) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    static struct candidate all[DRAWN];
    char settings[64], every[64];
    struct sampled s;
    snprintf(settings, sizeof settings, "drawn=%d kept=%d tau=%g", DRAWN, kept, tau);
    snprintf(every, sizeof every, "drawn=%d kept=%d tau=%g", DRAWN, DRAWN, tau);
    HN_CHECK(&ctx, sampled_open(&ctx, sampler(), settings, items, size, SEED, &s));
    for (int64_t epoch = 0; epoch < 2; epoch++) {
        HN_CHECK(&ctx, sampled_epoch(&ctx, &s, items, epoch));
        CU_ASSERT_EQUAL_FATAL(s.batches, kept);
        draw_all(items, every, size, epoch, tau, all);
        int at = 0;
        for (int64_t b = 0; b < kept; b++, at++) { // in the order they were drawn in
            while (at < DRAWN &&
                   memcmp(all[at].id, sampled_batch(&s, b), (size_t)size * sizeof *all[at].id) != 0)
                at++;
            CU_ASSERT_FATAL(at < DRAWN);
            all[at].kept = true;
        }
        qsort(all, DRAWN, sizeof *all, larger);
        double margin = 1e-5 * (1 + 1 / tau);
        for (int b = 0; b < DRAWN; b++) {
            bool doubtful = fabs(all[b].loss - all[kept - 1].loss) < margin ||
                            (kept < DRAWN && fabs(all[b].loss - all[kept].loss) < margin);
            CU_ASSERT(all[b].kept == (b < kept) || doubtful);
        }
    }
    sampled_close(&ctx, &s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_kept(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    for (int views = 0; views < 2; views++) {
        struct hn_items items = hn_fixture_items(&ctx, N, D, 5, views, 91);
        const int sizes[] = {2, 17, 32, 64};
        for (int i = 0; i < 4; i++)
            for (int kept = 1; kept <= DRAWN; kept += 13) {
                compare(&items, sizes[i], kept, 1);
                compare(&items, sizes[i], kept, 0.05);
            }
        hn_fixture_items_free(&ctx, &items);
    }
}

// Every item comes equally often where all batches are kept.
static void test_law(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 5, false, 92);
    int64_t times[N] = {0};
    struct sampled s;
    HN_CHECK(&ctx, sampled_open(&ctx, sampler(), "drawn=300 kept=300", &items, 3, SEED, &s));
    for (int e = 0; e < 20; e++) {
        HN_CHECK(&ctx, sampled_epoch(&ctx, &s, &items, e));
        for (int64_t b = 0; b < s.batches; b++)
            for (int i = 0; i < 3; i++)
                times[sampled_batch(&s, b)[i]]++;
    }
    // Draws without replacement spread less than a chi-square says, by 1 - 2 / 119.
    CU_ASSERT(chi_square_fits(chi_square_equal(times, N) / (1 - 2.0 / (N - 1)), N - 1));
    sampled_close(&ctx, &s);
    hn_fixture_items_free(&ctx, &items);
}

static const struct hn_test tests[] = {{"kept", test_kept}, {"law", test_law}};
HN_TEST_MAIN("osgd", tests)
