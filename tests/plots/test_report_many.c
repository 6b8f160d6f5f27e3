// One page over several results: names that tell them apart, accuracies of the last evaluation.
#include "datasets/h5.h"
#include "plots/report/report.h"
#include "tests/figures_fixture.h"
#include "tests/test.h"

static struct hn_context ctx;

// The page of the same results under two names; to be freed.
static char *page_of(const struct hn_results *r, const char *first, const char *second) {
    struct hn_report_of report[] = {{r, first, "one.h5"}, {r, second, "two.h5"}};
    char *page = NULL;
    size_t size;
    FILE *html = open_memstream(&page, &size);
    HN_CHECK(&ctx, hn_report_write_many(&ctx, report, 2, html));
    fclose(html);
    return page;
}

static int count(const char *text, const char *part) {
    int n = 0;
    for (; (text = strstr(text, part)); text++)
        n++;
    return n;
}

// Whatever titles and names two results have, their cells are never taken for those of one.
static void names(void) {
    static const char *const name[][2] = {{"a", "b"}, {"same", "same"}, {"a", "T (a)"}};
    hn_context_init(&ctx, 1);
    struct hn_results r = figures_results(&ctx);
    int settings = (int)r.runs.rows / FIGURES_SEEDS;
    char title[120];
    memset(title, 'x', sizeof title - 1);
    title[sizeof title - 1] = '\0';
    for (int i = 0; i < 6; i++) {
        HN_CHECK(&ctx, hn_results_set(&ctx, &r, "title", i < 3 ? "T" : title));
        char *page = page_of(&r, name[i % 3][0], name[i % 3][1]);
        CU_ASSERT_EQUAL(count(page, "data-sampler="), 2 * settings);
        CU_ASSERT_EQUAL(count(page, "<td class=n data-v=\"6\">6</td>"), 0); // seeds of both
        free(page);
    }
    hn_results_free(&ctx, &r);
    CU_ASSERT_EQUAL(atomic_load(&ctx.memory.live), 0);
}

// A run whose last evaluation has no value has none, whatever it had before.
static void last_evaluation(void) {
    hn_context_init(&ctx, 1);
    struct hn_results r = figures_results(&ctx);
    struct hn_table *t = NULL;
    for (int64_t i = 0; i < r.n_tables; i++)
        t = strcmp(r.table[i].name, "training") == 0 ? &r.table[i] : t;
    CU_ASSERT_FATAL(t != NULL);
    const char *accuracy = t->column[hn_table_find(t, "learning_rate") + 1].name;
    int64_t last = t->rows - 1, before = last - 1;
    double run = hn_table_real(t, last, "run");
    CU_ASSERT(hn_table_real(t, before, "run") == run && !isnan(hn_table_real(t, before, accuracy)));
    char *page = page_of(&r, "a", "b");
    CU_ASSERT_EQUAL(count(page, "Accuracy (%)"), 1);
    free(page);
    HN_CHECK(&ctx, hn_table_set_real(&ctx, t, last, accuracy, NAN));
    char *without_last = page_of(&r, "a", "b");
    for (int64_t row = 0; row < t->rows; row++)
        if (hn_table_real(t, row, "run") == run)
            HN_CHECK(&ctx, hn_table_set_real(&ctx, t, row, accuracy, NAN));
    char *without = page_of(&r, "a", "b");
    CU_ASSERT_STRING_EQUAL(without_last, without);
    free(without_last);
    free(without);
    hn_results_free(&ctx, &r);
    CU_ASSERT_EQUAL(atomic_load(&ctx.memory.live), 0);
}

static const struct hn_test tests[] = {
    {"names", names},
    {"last_evaluation", last_evaluation},
};
HN_TEST_MAIN("report_many", tests)
