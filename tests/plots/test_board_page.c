// SPDX-License-Identifier: GPL-3.0-or-later
// The page of a board with kinds kept aside, a limit of cost, many entries, and trainings.
#include "plots/report/report.h"
#include "tests/results/analysis/made_board.h"

#include <stdlib.h>

static int count(const char *text, const char *part) {
    int n = 0;
    for (; (text = strstr(text, part)) != NULL; text++)
        n++;
    return n;
}

// Owned: free().
static char *page_of(const struct made *m, const struct hn_board_outcome *u) {
    char *page;
    size_t size;
    FILE *html = open_memstream(&page, &size);
    HN_CHECK(&ctx, hn_board_write(&ctx, &m->board, u, html));
    CU_ASSERT_EQUAL(fclose(html), 0);
    return page;
}

static void expect(char *page, const char *part, int times) {
    if (count(page, part) != times)
        fprintf(stderr, "    \"%s\" %d times, not %d\n", part, count(page, part), times);
    CU_ASSERT_EQUAL(count(page, part), times);
}

// Entry 13 has no score, and 3 and 4 have one rank; settings of entry 0 are below and beyond the
// reference, and some of entry 1 too dear.
static void make_many(struct made *m) {
    static char names[ENTRIES_MAX][8];
    make(m, ENTRIES_MAX, 3, 1);
    m->board.suite = "made";
    m->board.sha256 = "0123456789abcdef";
    m->board.seconds = 0.004;
    for (int k = 0; k < 3; k++)
        m->kind[k].name = ((const char *[]){"one", "two", "aside"})[k];
    for (int i = 0; i < ENTRIES_MAX; i++) {
        snprintf(names[i], sizeof names[i], "e<%d>", i);
        m->entry[i] = (struct hn_board_entry){.name = names[i],
                                              .authors = "A & B",
                                              .chosen_on = "nothing",
                                              .labels = "sampler",
                                              .file = "",
                                              .settings = 2,
                                              .cost = 1e-3,
                                              .below = i == 0,
                                              .beyond = i == 0 ? 2 : 0,
                                              .dear = i == 1};
        for (int k = 0; k < 3; k++)
            for (int e = 0; e < ENCODERS; e++)
                *at(m, i, k, e) = i == ENTRIES_MAX - 1 ? NAN : (i == 4 ? 3 : i) + 0.1 * e;
    }
    add_shares(m);
}

static void many(void) {
    static struct made m;
    hn_context_init(&ctx, 1);
    make_many(&m);
    {
        HN_SCOPE(&ctx);
        char *page = page_of(&m, NULL);
        expect(page, "14 entries on 2 kinds of data, and beside them 1 kind kept aside, which no",
               1);
        expect(page, "Of each entry only what costs at most 4 ms a batch, build included", 1);
        expect(page, "Left out by cost, over all encoders: 1 setting.", 1);
        expect(page, "1 setting less hard than all of the reference, 2 harder than its hardest", 1);
        expect(page, "<h3>aside (kept aside)</h3>", 1);
        expect(page, "<h3>one</h3>", 1);
        expect(page, "e<0>", 0); // names are texts
        CU_ASSERT(count(page, "e&#60;0&#62;") > 3);
        // Thirteen ranks: lines at 1, 5 and 10.
        CU_ASSERT(strstr(page, "y=12>10</text>") && !strstr(page, "y=12>2</text>"));
        free(page);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void trained(void) {
    static struct made m;
    struct hn_board_outcome u;
    hn_context_init(&ctx, 1);
    make_named(&m);
    m.kind[0].name = "only";
    {
        HN_SCOPE(&ctx);
        HN_CHECK(&ctx, read_trained(&m, "entry,acc\nuniform,0\na,9\nb,8\nc,7\nd,5\ne,6\n", &u));
        char *page = page_of(&m, &u);
        expect(page, "acc less Uniform's over the excess, a point for each entry",
               HN_BOARD_MEASURES);
        expect(page,
               "Rank correlation over 5 entries, with its 95 % interval: with the excess -0.90", 1);
        expect(page, "kept aside", 0);
        expect(page, "Of each entry only what costs", 0);
        CU_ASSERT(strstr(page, "y=12>2</text>") != NULL); // six ranks: a line each
        free(page);
    }
    {
        HN_SCOPE(&ctx); // with intervals, of two entries, and of one, which is no picture
        HN_CHECK(&ctx, read_trained(&m,
                                    "entry,seed,acc\nuniform,1,1\nuniform,2,2\nuniform,3,3\n"
                                    "a,1,2\na,2,4\na,3,6\nb,1,2\nb,2,2\nb,3,5\n",
                                    &u));
        char *page = page_of(&m, &u);
        expect(page, "2 entries are too few for a rank correlation.", HN_BOARD_MEASURES);
        free(page);
        HN_CHECK(&ctx, read_trained(&m, "entry,acc\nuniform,0\na,9\n", &u));
        page = page_of(&m, &u);
        expect(page, "a point for each entry", 0);
        free(page);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Labels of more points at one place than there are places around it stand on one another.
static void crowded(void) {
    static struct made m;
    struct hn_board_outcome u;
    char text[400];
    int at_end = snprintf(text, sizeof text, "entry,acc\nuniform,1\n");
    hn_context_init(&ctx, 1);
    make_many(&m);
    for (int i = 0; i < ENTRIES_MAX; i++) {
        at_end += snprintf(text + at_end, sizeof text - (size_t)at_end, "%s,2\n", m.entry[i].name);
        for (int k = 0; k < 3; k++)
            for (int e = 0; e < ENCODERS; e++)
                *at(&m, i, k, e) = 1;
    }
    add_shares(&m);
    {
        HN_SCOPE(&ctx);
        HN_CHECK(&ctx, read_trained(&m, text, &u));
        char *page = page_of(&m, &u);
        expect(page,
               "Rank correlation over 14 entries, with its 95 % interval: with the excess none",
               HN_BOARD_MEASURES);
        char *picture = strstr(page, "acc less Uniform's");
        CU_ASSERT_PTR_NOT_NULL_FATAL(picture);
        *picture = '\0';
        char *begin = picture;
        while (begin > page && strncmp(begin, "<figure", 7) != 0)
            begin--;
        expect(begin, "e&#60;", 2 * ENTRIES_MAX); // a label and a title each
        free(page);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {{"crowded", crowded}, {"many", many}, {"trained", trained}};
HN_TEST_MAIN("board_page", tests)
