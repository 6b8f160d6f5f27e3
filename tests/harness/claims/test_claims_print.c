// SPDX-License-Identifier: GPL-3.0-or-later
// What people and programs are told of verdicts: entries, the table of all, what changed, JSON.
#include "tests/claims_fixture.h"

#include <jansson.h>
#include <unistd.h>

static const char book_text[] =
    "paper: T\nentries:\n"
    "  - id: ns-table2\n    title: a table\n    source: NS\n    statement: what it is about\n"
    "    claims:\n"
    "      - {name: a, statement: knn is above, test: above, of: {column: fn, rows: {sampler: "
    "knn}}, than: {rows: {sampler: uniform}}, published: {series: GraphCL, x: Cora}}\n"
    "      - {name: b, kind: ours, statement: knn is below, test: below, of: {column: fn, rows: "
    "{sampler: knn}}, than: {rows: {sampler: uniform}}}\n"
    "      - {name: c, kind: identity, statement: fn is 9, test: equal, exact: true, within: "
    "0.01, of: {column: fn, rows: {sampler: knn}}, than: {value: 9}}\n"
    "    levels:\n"
    "      - {what: GraphCL, unit: percent, scale: 100, of: {column: fn, rows: {sampler: "
    "uniform}}, published: {series: GraphCL, x: Cora}}\n"
    "      - {what: none, unit: percent, of: {column: fn, rows: {sampler: no-such}}, published: "
    "{series: GraphCL, x: Cora}}\n"
    "      - {what: nothing, of: {column: fn, rows: {sampler: no-such}}}\n"
    "  - id: other\n    title: o\n    source: s\n"
    "    claims:\n"
    "      - {name: a, statement: x, test: above, of: {column: no_such}, than: {value: 0}}\n"
    "  - {id: listed, title: t, source: s, kind: listed, needs: code, statement: not ours, "
    "missing: another program}\n";
enum { ENTRIES = 3, TEXT = 4096 };

struct report {
    struct hn_claim_book book;
    struct hn_claim_outcome outcome[ENTRIES];
    struct hn_results earlier;
};

static void make_report(struct report *o, const struct hn_results *r) {
    *o = (struct report){.book = {0}};
    HN_CHECK(&ctx, hn_claims_read(&ctx, "t.yaml", book_text, &o->book));
    for (int i = 0; i < ENTRIES; i++)
        HN_CHECK(&ctx, hn_claims_judge(&ctx, &o->book.entry[i], r, i == 2 ? "needs code" : "",
                                       &o->outcome[i]));
    HN_CHECK(&ctx, hn_claims_correct(&ctx, o->outcome, ENTRIES));
}

// What `print` writes to standard output.
static void collect(const struct report *o, void (*print)(const struct report *o),
                    char text[TEXT]) {
    FILE *file = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    CU_ASSERT_FATAL(kept >= 0 && dup2(fileno(file), STDOUT_FILENO) >= 0);
    print(o);
    fflush(stdout);
    CU_ASSERT_FATAL(dup2(kept, STDOUT_FILENO) >= 0 && close(kept) == 0);
    rewind(file);
    text[fread(text, 1, TEXT - 1, file)] = '\0';
    CU_ASSERT_EQUAL(fclose(file), 0);
}

static void check_says(const char *text, const char *const *parts) {
    for (; *parts; parts++) {
        const char *at = strstr(text, *parts);
        if (!at)
            fprintf(stderr, "    lacks, or out of order: %s\n    in: %s\n", *parts, text);
        CU_ASSERT_PTR_NOT_NULL_FATAL(at);
        text = at + strlen(*parts);
    }
}

static void print_entries(const struct report *o) {
    for (int i = 0; i < ENTRIES; i++)
        hn_claims_print(&o->outcome[i]);
}
static void print_summary(const struct report *o) { hn_claims_print_summary(o->outcome, ENTRIES); }
static void print_changes(const struct report *o) {
    hn_claims_print_changes(o->outcome, ENTRIES, &o->earlier, "before.h5");
}

static struct hn_results make_rows(void) {
    struct hn_results r = begin();
    put_seeds(&r, 0, "knn", (double[]){.30, .33, .36}, 3);
    put_seeds(&r, 0, "uniform", (double[]){.10, .11, .12}, 3);
    return r;
}

static void test_printed(void) {
    static const char *const entries[] = {"ns-table2  a table (NS)\n",
                                          "  holds        knn is above\n",
                                          "paper: ",
                                          "  fails        ours: knn is below\n",
                                          "  fails        identity: fn is 9\n",
                                          "  level        GraphCL, d.h5, step 0: 11 [",
                                          "] percent; paper ",
                                          "  level        none: not measured; paper ",
                                          "  verdict: holds",
                                          "; an identity fails: a mistake of this program",
                                          "other  o (s)\n",
                                          "  not tested   x\n",
                                          "  verdict: not tested; a: column 'no_such' is missing",
                                          "listed  t (s)\n  not tested   not ours\n",
                                          "  verdict: not tested; needs code",
                                          NULL};
    static const char *const summary[] = {"id            verdict",
                                          "ns-table2     holds        holds            1/1",
                                          "other         not tested   not tested       0/1",
                                          "listed        not tested   not tested       0/0",
                                          "\n1 holds, 0 fail, 0 inconclusive, 2 not tested\n",
                                          "corrected together (Holm): 1 holds, 0 fail",
                                          NULL};
    static struct report o;
    char text[TEXT];
    struct hn_results r = make_rows();
    {
        HN_SCOPE(&ctx);
        make_report(&o, &r);
        collect(&o, print_entries, text);
        check_says(text, entries);
        CU_ASSERT_PTR_NULL(strstr(text, "level        nothing"));
        collect(&o, print_summary, text);
        check_says(text, summary);
    }
    hn_results_free(&ctx, &r);
}

// Of three entries, one of which was not there before.
static void test_changes(void) {
    static struct report o;
    static const char *const none[] = {"0 of 2 verdicts differ from those of before.h5\n", NULL};
    static const char *const one[] = {"\nns-table2     fails        -> holds\n",
                                      "1 of 2 verdicts differ from those of before.h5\n", NULL};
    char text[TEXT];
    struct hn_results r = make_rows();
    {
        HN_SCOPE(&ctx);
        make_report(&o, &r);
        for (int i = 0; i < 2; i++)
            HN_CHECK(&ctx, hn_claims_store(&ctx, &o.outcome[i], &o.earlier));
        collect(&o, print_changes, text);
        check_says(text, none);
        hn_results_free(&ctx, &o.earlier);
        o.earlier = (struct hn_results){.n_env = 0};
        o.outcome[0].verdict = HN_FAILS;
        for (int i = 0; i < 2; i++)
            HN_CHECK(&ctx, hn_claims_store(&ctx, &o.outcome[i], &o.earlier));
        o.outcome[0].verdict = HN_HOLDS;
        collect(&o, print_changes, text);
        check_says(text, one);
        hn_results_free(&ctx, &o.earlier);
    }
    hn_results_free(&ctx, &r);
}

static void test_json(void) {
    static struct report o;
    struct hn_results r = make_rows();
    json_t *list = json_array();
    {
        HN_SCOPE(&ctx);
        make_report(&o, &r);
        for (int i = 0; i < ENTRIES; i++)
            HN_CHECK(&ctx, hn_claims_json(&ctx, &o.outcome[i], list));
    }
    json_t *first = json_array_get(list, 0), *claims = json_object_get(first, "claims"),
           *levels = json_object_get(first, "levels");
    CU_ASSERT(json_array_size(list) == ENTRIES && json_array_size(claims) == 3);
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(first, "verdict")), "holds");
    for (size_t i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(json_array_size(json_object_get(json_array_get(claims, i), "parts")), 1);
    CU_ASSERT_EQUAL(json_array_size(levels), 1); // those that were measured
    CU_ASSERT_EQUAL(json_array_size(json_object_get(json_array_get(list, 2), "claims")), 0);
    json_decref(list);
    hn_results_free(&ctx, &r);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"printed", test_printed}, {"changes", test_changes}, {"json", test_json}};
int main(int argc, char **argv) {
    hn_context_init(&ctx, 1);
    return hn_test_main(argc, argv, "claims_print", tests, 3);
}
