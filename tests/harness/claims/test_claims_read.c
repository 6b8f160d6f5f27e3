// SPDX-License-Identifier: GPL-3.0-or-later
// Claim files: malformed ones, and the papers' own with their published numbers.
#include "core/text.h"
#include "harness/claims/claims.h"
#include "harness/run/train.h"
#include "plots/page/paper.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct hn_context ctx;

static void refuse(const char *text, const char *place_and_part) {
    HN_SCOPE(&ctx);
    struct hn_claim_book book;
    HN_CHECK_FAILS(&ctx, hn_claims_read(&ctx, "c.yaml", text, &book), HN_USAGE, place_and_part);
}

#define ENTRY "paper: T\nentries:\n  - id: a\n    title: t\n    source: s\n"
#define CLAIM ENTRY "    claims:\n      - {name: n, statement: s, "

static void test_malformed(void) {
    refuse("", "c.yaml:1:1: the claim file is empty");
    refuse(ENTRY "    jobs: [{job: x, set: [a=1, b, a=1]}]\n",
           "c.yaml:6:35: 'a=1' is given twice in 'set'");
    refuse("[1]", "a claim file is a mapping");
    refuse("paper: T\n", "c.yaml:1:1: the required key 'entries' is missing");
    refuse("paper: T\nentrys: []\n", "c.yaml:2:1: unknown key 'entrys' (did you mean 'entries'?)");
    refuse("paper: T\nentries: 3\n", "'entries' wants a list");
    refuse("paper: T\nentries: [{id: a}]\n", "c.yaml:2:11: the required key 'title' is missing");
    refuse(ENTRY "  - {id: a, title: t, source: s}\n", "two entries are called 'a'");
    refuse(ENTRY "    kind: snapshot\n", "c.yaml:6:11: option 'kind': 'snapshot' is not snapshots, "
                                         "training or listed (did you mean 'snapshots'?)");
    refuse(ENTRY "    kind: listed\n", "says what is 'missing'");
    refuse(ENTRY "    kind: listed\n    missing: m\n    as: b\n", "or is the same 'as' another");
    refuse(
        ENTRY "    needs: time\n",
        "c.yaml:6:12: option 'needs': 'time' is not data, code, encoder, method, machine or look");
    refuse(ENTRY "    jobs: [{labels: true}]\n", "c.yaml:6:12: the required key 'job' is missing");
    refuse(ENTRY "    jobs: [{job: x, labels: maybe}]\n",
           "c.yaml:6:29: option 'labels': 'maybe' is not true");
    refuse(ENTRY "    jobs: [{job: x, steps: two}]\n",
           "c.yaml:6:28: option 'steps': 'two' is not a number");
    refuse(ENTRY "    costs: [{name: x, sampler: s, items: 1, dims: 2, batch: 2}]\n",
           "out of range");
    refuse(ENTRY "    costs: [{name: x, sampler: s, items: 4, dims: 2, batch: 2, entries: norm}]\n",
           "'entries' is normal or uniform, not norm");
    refuse(ENTRY "    jobs: [{job: x, seeds: 101}]\n",
           "c.yaml:6:28: option 'seeds': 101 is out of range (0 to 100)");
    refuse(ENTRY "    jobs: [{job: x, full_seeds: -1}]\n", "out of range (0 to 100)");
    refuse(CLAIM "test: over, of: {column: x}}\n",
           "c.yaml:7:39: option 'test': 'over' is not above, ");
    refuse(CLAIM "test: above, of: {column: x}}\n", "test 'above' wants 'than'");
    refuse(CLAIM "test: above, of: {rows: {}}, than: {value: 1}}\n", "'of' names no 'column'");
    refuse(CLAIM "test: rises, of: {column: x}}\n", "test 'rises' wants 'along'");
    refuse(CLAIM "test: equal, of: {column: x}, than: {value: 1}}\n", "wants a 'margin'");
    refuse(CLAIM "test: slope, along: M, margin: 1, of: {column: x}, than: {column: y}}\n",
           "wants a value");
    refuse(CLAIM "test: above, of: {column: a + b + c}, than: {value: 1}}\n", "'column' is");
    refuse(CLAIM "test: rises, along: M, of: {column: a b}}\n", "'column' is");
    refuse(CLAIM "test: above, of: {column: a ^ b}, than: {value: 1}}\n", "'column' is");
    refuse(CLAIM "test: above, of: {column: a + x * b}, than: {value: 1}}\n", "'column' is");
    refuse(CLAIM "test: above, of: {column: x, rows: {M: []}}, than: {value: 1}}\n",
           "c.yaml:7:72: 'M' is empty");
    refuse(CLAIM "test: above, of: {column: x, rows: {M: {a: 1}}}, than: {value: 1}}\n",
           "'M' wants a value or a list");
    refuse(CLAIM "test: above, of: {column: x}, than: {value: \"1\"}}\n", "'value' wants a number");
    refuse(CLAIM "test: above, of: x, than: {value: 1}}\n",
           "c.yaml:7:50: 'of' wants a mapping, not a text");
    refuse(CLAIM "test: above\n", "c.yaml:");
}

// Columns that are an expression of some other form, and bounds of what costs are measured on.
static void test_forms(void) {
    static const char *const columns[] = {
        "a +",         "a ++ b",  "a + 2x * b", "a + two * b",   "a + 2 / b",
        "a + 2 * b c", "a + 2 *", "a & b",      "a + 2 * b * c", "a +  * b"};
    static const struct {
        const char *items, *dims, *batch, *reps;
    } costs[] = {{"1", "2", "2", "1"},     {"1e9", "2", "2", "1"}, {"8", "0", "2", "1"},
                 {"8", "65537", "2", "1"}, {"8", "2", "1", "1"},   {"8", "2", "9", "1"},
                 {"8", "2", "2", "0"},     {"8", "2", "2", "1001"}};
    char text[500];
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        snprintf(text, sizeof text, CLAIM "test: above, of: {column: %s}, than: {value: 1}}\n",
                 columns[i]);
        refuse(text, "'column' is");
    }
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
        snprintf(text, sizeof text,
                 ENTRY
                 "    costs: [{name: x, sampler: s, items: %s, dims: %s, batch: %s, reps: %s}]\n",
                 costs[i].items, costs[i].dims, costs[i].batch, costs[i].reps);
        refuse(text, "items, dims, batch or reps out of range");
    }
    refuse(CLAIM "test: above, of: {column: x, rows: [M]}, than: {value: 1}}\n",
           "'rows' is a mapping of columns to values");
    refuse(CLAIM "test: rises, along: M, of: {column: x}, than: {value: 1}}\n",
           "test 'rises' has no 'than'");
    // Limits: 8 columns of `each`, 24 of `rows`, 4,096 combinations, which three of 16 values are.
    refuse(CLAIM "test: above, of: {column: x}, than: {value: 1}, each: [a, b, c, d, e, f, g, h, "
                 "i]}\n",
           "c.yaml:7:87: 'each' has 9 columns, and 8 are possible");
    refuse(CLAIM "test: above, than: {value: 1}, of: {column: x, rows: {a: 1, b: 1, c: 1, d: 1, "
                 "e: 1, f: 1, g: 1, h: 1, i: 1, j: 1, k: 1, l: 1, m: 1, n: 1, o: 1, p: 1, q: 1, "
                 "r: 1, s: 1, t: 1, u: 1, v: 1, w: 1, x: 1, y: 1}}}\n",
           "'rows' has 25 columns, and 24 are possible");
#define VALUES "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16"
#define COMBINED                                                                                   \
    CLAIM "test: above, than: {value: 1}, of: {column: x, rows: {a: " VALUES "], b: " VALUES       \
          "], c: " VALUES
    refuse(COMBINED ", 17]}}}\n", "the values of 'rows' have more than 4096 combinations");
    struct hn_claim_book book;
    HN_SCOPE(&ctx);
    HN_CHECK(&ctx, hn_claims_read(&ctx, "c.yaml", COMBINED "]}}}\n", &book));
    refuse(ENTRY "    levels: [{what: n, as: ratio, of: {column: x}}]\n",
           "a level as ratio wants 'than'");
}

// Every allocation of reading what uses each part of a claim file.
static enum hn_code read_whole(struct hn_context *own, void *data) {
    struct hn_claim_book book;
    (void)data;
    HN_SCOPE(own);
    if (hn_claims_read(own, "c.yaml",
                       ENTRY
                       "    jobs: [{job: x, set: [a=1], quick: [b=2], full: [c=3], data: [d]}]\n"
                       "    costs: [{name: x, sampler: s, items: 8, dims: 2, batch: 2}]\n"
                       "    levels: [{what: n, as: ratio, of: {column: x}, than: {column: y}}]\n"
                       "    claims:\n      - {name: n, statement: s, test: above, each: [M], "
                       "of: {column: a + 2 * b, rows: {M: [1, 2]}}, than: {value: 1}}\n",
                       &book))
        return own->code;
    const struct hn_claim *c = &book.entry[0].claim[0];
    CU_ASSERT(book.entries == 1 && c->of.op == '+' && c->of.times == 2);
    CU_ASSERT(strcmp(c->of.column, "a") == 0 && strcmp(c->of.with, "b") == 0);
    CU_ASSERT(c->of.filters == 1 && c->of.filter[0].values == 2);
    return HN_OK;
}
static void test_lacks(void) { CU_ASSERT(hn_test_lacks(&ctx, read_whole, NULL) > 40); }

// --- The papers' own files ---

static void check_published(const char *id, const struct hn_claim_published *p) {
    struct hn_published number;
    if (!p->series)
        return;
    bool found = hn_paper_number(id, p->series, p->x, &number);
    if (!found)
        fprintf(stderr, "    %s: no published number '%s', '%s'\n", id, p->series, p->x);
    CU_ASSERT(found);
    CU_ASSERT(isfinite(number.value));
}

static void check_entry(const struct hn_claim_entry *e) {
    for (int64_t i = 0; i < e->jobs; i++) {
        char name[128], path[192];
        struct hn_job job;
        struct hn_train_job training;
        snprintf(name, sizeof name, "jobs/%s.yaml", e->job[i].job);
        snprintf(path, sizeof path, "harness/jobs/reproduce/%s.yaml", e->job[i].job);
        CU_ASSERT_PTR_NOT_NULL(hn_paper_text(name));
        if (e->kind == HN_KIND_TRAINING) {
            struct hn_text_list set = {(char **)e->job[i].set, e->job[i].n_set};
            struct hn_text_list quick = {(char **)e->job[i].quick, e->job[i].n_quick};
            HN_CHECK(&ctx, hn_train_job_read(&ctx, path, &set, &training));
            HN_CHECK(&ctx, hn_train_job_read(&ctx, path, &quick, &training));
            CU_ASSERT(e->job[i].n_data > 0);
            continue;
        }
        HN_CHECK(&ctx, hn_job_read(&ctx, path, NULL, NULL, NULL, &job));
    }
    for (int64_t i = 0; i < e->costs; i++) {
        struct hn_job_sampler *sampler;
        HN_CHECK(&ctx, hn_job_parse_sampler(&ctx, e->cost[i].sampler, &sampler));
        hn_free(&ctx, sampler);
    }
    for (int64_t i = 0; i < e->claims; i++)
        check_published(e->id, &e->claim[i].published);
    for (int64_t i = 0; i < e->levels; i++)
        check_published(e->id, &e->level[i].published);
    if (e->kind == HN_KIND_SNAPSHOTS)
        CU_ASSERT(e->jobs + e->costs > 0);
    if (e->kind == HN_KIND_TRAINING)
        CU_ASSERT(e->claims > 0 || (e->statement && e->missing));
}

// Every identifier in back quotes that begins a row of FIGURES.md is an entry.
static void check_figures(const char *ids) {
    char path[512], line[4096];
    const char *file = hn_fixture_shared("FIGURES.md", path, sizeof path);
    FILE *figures = file ? fopen(file, "r") : NULL;
    if (!figures)
        return;
    int rows = 0;
    while (fgets(line, sizeof line, figures)) {
        char *end = strchr(line + 1, '|');
        if (strncmp(line, "| `", 3) != 0 || !end)
            continue;
        *end = '\0';
        strtok(line, "`");
        for (char *id = strtok(NULL, "`"); id; strtok(NULL, "`"), id = strtok(NULL, "`")) {
            char wanted[64];
            if (strlen(id) < 3)
                break;
            snprintf(wanted, sizeof wanted, " %.50s ", id);
            if (!strstr(ids, wanted))
                fprintf(stderr, "    FIGURES.md has '%s', the claims have not\n", id);
            CU_ASSERT_PTR_NOT_NULL(strstr(ids, wanted));
            rows++;
        }
    }
    fclose(figures);
    CU_ASSERT(rows > 40);
}

// --- What of the papers the entries cover ---

enum { BOOKS_MAX = 16, PLACES_MAX = 512 };

struct places {
    char name[PLACES_MAX][96];
    int count;
};

// Places are separated by semicolons: "GC theorem 3.6; GC theorem 3.7".
static void add_places(struct places *all, const char *source) {
    while (*source && all->count < PLACES_MAX) {
        size_t length = strcspn(source, ";");
        snprintf(all->name[all->count++], sizeof all->name[0], "%.*s", (int)length, source);
        source += length + strspn(source + length, "; ");
    }
}

// "BS table 3" holds "BS table 3 (MUTAG)".
static bool within(const char *part, const char *whole) {
    size_t length = strlen(whole);
    return strncmp(part, whole, length) == 0 &&
           (part[length] == '\0' || strncmp(part + length, " (", 2) == 0);
}

static void check_no_place_twice(const struct places *all) {
    for (int i = 0; i < all->count; i++)
        for (int k = 0; k < all->count; k++) {
            bool twice = i != k && within(all->name[i], all->name[k]);
            if (twice)
                fprintf(stderr, "    two entries have '%s'\n", all->name[i]);
            CU_ASSERT(!twice);
        }
}

// What is not there measures nothing: drawings of a method, pseudocode, settings and sizes of data.
static const struct {
    const char *what;
    int last;
    int without[8]; // 0 ends it
} numbered[] = {
    {"BS figure", 16, {1, 2, 3}}, {"BS table", 15, {13, 14, 15}}, {"PS figure", 13, {1, 2}},
    {"PS table", 15, {6, 7, 8}},  {"GC figure", 7, {2}},          {"GC table", 14, {7, 8, 9, 10}},
    {"NS figure", 4, {1}},        {"NS table", 4, {1}},           {"HC figure", 14, {1, 13, 14}},
    {"HC table", 4, {3, 4}},      {"BS proposition", 2, {0}},     {"PS proposition", 2, {0}},
};

static bool left_out(const int *without, int number) {
    for (; *without; without++)
        if (*without == number)
            return true;
    return false;
}

// Whether an entry has "NS figure 2", or a part of it: "NS figure 2a", "NS figure 2 (...)".
static bool has_place(const struct places *all, const char *place) {
    size_t length = strlen(place);
    for (int i = 0; i < all->count; i++)
        if (strncmp(all->name[i], place, length) == 0 &&
            strspn(all->name[i] + length, "0123456789") == 0)
            return true;
    return false;
}

static void check_complete(const struct places *all) {
    for (size_t i = 0; i < sizeof numbered / sizeof numbered[0]; i++)
        for (int number = 1; number <= numbered[i].last; number++) {
            char place[64];
            snprintf(place, sizeof place, "%s %d", numbered[i].what, number);
            bool wanted = !left_out(numbered[i].without, number);
            if (has_place(all, place) != wanted)
                fprintf(stderr, "    %s: %s\n", place, wanted ? "no entry has it" : "unexpected");
            CU_ASSERT_EQUAL(has_place(all, place), wanted);
        }
}

static const struct hn_claim_entry *find_entry(const struct hn_claim_book *book, int books,
                                               const char *id) {
    for (int b = 0; b < books; b++)
        for (int64_t i = 0; i < book[b].entries; i++)
            if (strcmp(book[b].entry[i].id, id) == 0)
                return &book[b].entry[i];
    return NULL;
}

// One that is the same as another leads to what can be run, or to what is missing, in one step.
static void check_as(const struct hn_claim_book *book, int books, const struct hn_claim_entry *e) {
    const struct hn_claim_entry *meant = find_entry(book, books, e->as);
    if (!meant)
        fprintf(stderr, "    %s: no entry '%s'\n", e->id, e->as);
    CU_ASSERT_PTR_NOT_NULL(meant);
    CU_ASSERT(meant && !meant->as);
    CU_ASSERT(e->jobs + e->costs + e->claims == 0);
}

static void check_coverage(const struct hn_claim_entry *e) {
    const struct hn_phrase coverage = hn_claim_coverage(e);
    const char *text = coverage.text;
    bool listed = e->kind == HN_KIND_LISTED;
    CU_ASSERT_EQUAL(strcmp(text, "covered") == 0, !listed && !e->on);
    CU_ASSERT_EQUAL(strncmp(text, "on other data: ", 15) == 0, !listed && e->on);
    CU_ASSERT_EQUAL(strncmp(text, "as ", 3) == 0, e->as != NULL);
    bool says_why =
        strncmp(text, "needs ", 6) == 0 || strncmp(text, "visual check only: ", 19) == 0;
    CU_ASSERT_EQUAL(says_why, e->missing != NULL);
    CU_ASSERT(strlen(text) < sizeof coverage.text - 1);
}

static int read_books(struct hn_claim_book *book) {
    const char *name;
    int books = 0;
    for (int64_t i = 0; (name = hn_paper_name(i)) != NULL && books < BOOKS_MAX; i++) {
        if (strchr(name, '/') || strcmp(name + strlen(name) - 5, ".yaml") != 0)
            continue;
        HN_CHECK(&ctx, hn_claims_read(&ctx, name, hn_paper_text(name), &book[books++]));
    }
    return books;
}

static void test_papers(void) {
    HN_SCOPE(&ctx);
    static char ids[16384];
    struct hn_claim_book book[BOOKS_MAX];
    int books = read_books(book);
    CU_ASSERT_EQUAL(books, 6); // five papers and our own
    strcpy(ids, " ");
    for (int b = 0; b < books; b++)
        for (int64_t k = 0; k < book[b].entries; k++) {
            char wanted[64];
            snprintf(wanted, sizeof wanted, " %.50s ", book[b].entry[k].id);
            CU_ASSERT_PTR_NULL(strstr(ids, wanted)); // no identifier twice
            CU_ASSERT_FATAL(strlen(ids) + sizeof wanted < sizeof ids);
            strcat(ids, wanted + 1);
            check_entry(&book[b].entry[k]);
        }
    check_figures(ids);
}

static void test_covered(void) {
    HN_SCOPE(&ctx);
    static struct places all;
    struct hn_claim_book book[BOOKS_MAX];
    int books = read_books(book);
    for (int b = 0; b < books; b++)
        for (int64_t k = 0; k < book[b].entries; k++) {
            const struct hn_claim_entry *e = &book[b].entry[k];
            check_coverage(e);
            if (e->as)
                check_as(book, books, e);
            add_places(&all, e->source);
        }
    CU_ASSERT(all.count < PLACES_MAX);
    check_no_place_twice(&all);
    check_complete(&all);
}

static void test_numbers(void) {
    struct hn_published number;
    CU_ASSERT(hn_paper_number("bs-table3", "GraphCL BatchSampler", "MUTAG", &number));
    CU_ASSERT_EQUAL(number.value, 87.78);
    CU_ASSERT_EQUAL(number.deviation, 0.93);
    CU_ASSERT_STRING_EQUAL(number.unit, "percent");
    CU_ASSERT_STRING_EQUAL(number.table, "BS table 3");
    CU_ASSERT(hn_paper_number("gc-table11", "1 A40", "500000", &number));
    CU_ASSERT_EQUAL(number.value, 322.52);
    CU_ASSERT(isnan(number.deviation));
    CU_ASSERT(!hn_paper_number("gc-table11", "1 A4", "500000", &number));
    CU_ASSERT(!hn_paper_number("gc-table11", "series", "y", &number));
    CU_ASSERT(!hn_paper_number("no-such", "a", "b", &number));
    CU_ASSERT(hn_paper_number("bs-table4-text", "Wikipedia", "M=1000", &number)); // of bs-table4
    CU_ASSERT_EQUAL(number.value, 76.69);
    // Every row of every table: six fields, a number in the third.
    const char *name;
    int64_t rows = 0;
    for (int64_t i = 0; (name = hn_paper_name(i)) != NULL; i++) {
        if (!strstr(name, ".tsv"))
            continue;
        bool header = true;
        for (const char *line = hn_paper_text(name); *line; line = strchr(line, '\n') + 1) {
            int tabs = 0;
            const char *value = line;
            for (const char *c = line; *c != '\n'; c++) {
                tabs += *c == '\t';
                value = tabs == 2 && c[0] == '\t' ? c + 1 : value;
            }
            if (*line == '#')
                continue;
            CU_ASSERT_EQUAL(tabs, 5);
            CU_ASSERT(header || strspn(value, "-.0123456789") == strcspn(value, "\t"));
            header = false;
            rows++;
        }
    }
    CU_ASSERT(rows > 500);
}

static const struct hn_test tests[] = {
    {"malformed files", test_malformed},
    {"forms", test_forms},
    {"lacks", test_lacks},
    {"the papers' files", test_papers},
    {"every figure and table is covered or says what it needs", test_covered},
    {"published numbers", test_numbers},
};

int main(int argc, char **argv) {
    hn_context_init(&ctx, 1);
    return hn_test_main(argc, argv, "claims_read", tests, (int)(sizeof tests / sizeof tests[0]));
}
