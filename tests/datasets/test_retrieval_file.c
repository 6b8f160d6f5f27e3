// SPDX-License-Identifier: GPL-3.0-or-later
// Snapshots of queries and a corpus: written, read back, and refused where they are not right.
#include "datasets/retrieval_private.h"
#include "tests/snapshot_fixture.h"

#define LONG "https://example.org/a/path/that/is/longer/than/a/message/quotes/of/it/" // of an id

enum { Q = 3, P = 5, DIMS = 2, SERIES = 2 };

static const int64_t group_q[Q] = {7, 1, 9}, group_p[P] = {0, 1, 1, 3, 4};
static const int64_t steps[SERIES] = {0, 50};

// Rows whose first step has lengths 1, 2, ...; no two of the same direction.
static void fill_rows(float *x, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        x[DIMS * i] = (float)(i % 7 + 1);
        x[DIMS * i + 1] = (float)(i / 7 - 1);
    }
}

static void add(struct hn_strings *s, const char *text) {
    HN_CHECK(&ctx, hn_strings_add(&ctx, s, text));
}

static const char *write_one(const char *name, enum hn_float_type type, int compress) {
    float q[SERIES * Q * DIMS], p[SERIES * P * DIMS], tq[Q * 3], tp[P * 3];
    struct hn_judgement known[] = {{2, 4, 1}, {0, 3, 0}, {0, 1, 2}, {2, 4, -1}, {0, 3, 3}};
    struct hn_judgement all[] = {{0, 1, 1}, {1, 0, 1}};
    int64_t start[Q + 1] = {0, 1, 1, 2};
    int32_t passage[] = {2, 0};
    float score[] = {7.5F, -3};
    const struct hn_pair_scores scores = {start, passage, score};
    struct hn_strings id = {0}, text = {0};
    struct hn_qrels qrels, truth;
    fill_rows(q, SERIES * Q);
    fill_rows(p, SERIES * P);
    for (int i = 0; i < P * 3; i++)
        tp[i] = (float)(i + 1);
    memcpy(tq, tp, sizeof tq);
    HN_CHECK(&ctx, hn_qrels_build(&ctx, known, 5, Q, &qrels));
    HN_CHECK(&ctx, hn_qrels_build(&ctx, all, 2, Q, &truth));
    for (int i = 0; i < P; i++) {
        add(&id, ((const char *[]){"007", "7", "a b", "é", LONG "x"})[i]);
        add(&text, ((const char *[]){"", "one\ttwo", "one\ttwo", " one", "\"\n"})[i]);
    }
    const struct hn_retrieval_spec spec = {
        .about = {.title = "a title"},
        .tool_version = "hardneg test",
        .steps = SERIES,
        .step = steps,
        .data = {.rows = {{q, Q, DIMS, DIMS}, {p, P, DIMS, DIMS}},
                 .qrels = qrels,
                 .truth = truth,
                 .group = {group_q, group_p},
                 .id = {{0}, id},
                 .text = {{0}, text},
                 .teacher = {{tq, Q, 3, 3}, {tp, P, 3, 3}},
                 .scores = scores},
        .type = type,
        .compress = compress};
    const char *path = in_folder(name);
    HN_CHECK(&ctx, hn_retrieval_write(&ctx, path, &spec));
    return path;
}

static void check_content(struct hn_retrieval *r) {
    const struct hn_retrieval_info *i = hn_retrieval_info(r);
    struct hn_strings id, text, number;
    struct hn_matrix x;
    CU_ASSERT_EQUAL(i->n[HN_QUERIES], Q);
    CU_ASSERT_EQUAL(i->n[HN_CORPUS], P);
    CU_ASSERT_EQUAL(i->file->d, DIMS);
    CU_ASSERT_EQUAL(i->file->steps, SERIES);
    CU_ASSERT_EQUAL(i->file->step[1], 50);
    CU_ASSERT_EQUAL(i->teacher_d, 3);
    // The last grade of a pair counts; passages ascend.
    CU_ASSERT_EQUAL(i->qrels.start[Q], 3);
    CU_ASSERT_EQUAL(i->qrels.passage[0], 1);
    CU_ASSERT_EQUAL(i->qrels.grade[0], 2);
    CU_ASSERT_EQUAL(i->qrels.grade[1], 3);
    CU_ASSERT_EQUAL(i->qrels.grade[2], -1);
    CU_ASSERT(hn_qrels_relevant(&i->qrels, 0, 3));
    CU_ASSERT_FALSE(hn_qrels_relevant(&i->qrels, 2, 4));
    struct hn_qrels_summary s = hn_qrels_summarize(&i->qrels);
    CU_ASSERT(s.pairs == 3 && s.relevant == 2 && s.without == 2 && s.max == 2);
    CU_ASSERT(hn_qrels_relevant(&i->truth, 1, 0));
    CU_ASSERT_EQUAL(memcmp(i->group[HN_CORPUS], group_p, sizeof group_p), 0);
    CU_ASSERT_EQUAL(i->scores.score[1], -3);
    HN_CHECK(&ctx, hn_retrieval_rows(&ctx, r, HN_CORPUS, 1, &x));
    float last[SERIES * P * DIMS];
    fill_rows(last, SERIES * P);
    const float *row = last + (P + 4) * DIMS;
    double length = sqrt((double)(row[0] * row[0] + row[1] * row[1]));
    CU_ASSERT_DOUBLE_EQUAL(hn_row(&x, 4)[0], row[0] / length, 1e-6);
    HN_CHECK(&ctx, hn_retrieval_ids(&ctx, r, HN_CORPUS, &id));
    CU_ASSERT_STRING_EQUAL(hn_string(&id, 0), "007");
    CU_ASSERT_STRING_EQUAL(hn_string(&id, 3), "é");
    CU_ASSERT_STRING_EQUAL(hn_string(&id, 4), LONG "x");
    HN_CHECK(&ctx, hn_retrieval_ids(&ctx, r, HN_QUERIES, &number));
    CU_ASSERT_STRING_EQUAL(hn_string(&number, 2), "2");
    HN_CHECK(&ctx, hn_retrieval_texts(&ctx, r, HN_CORPUS, &text));
    CU_ASSERT_STRING_EQUAL(hn_string(&text, 4), "\"\n");
    HN_CHECK(&ctx, hn_retrieval_texts(&ctx, r, HN_QUERIES, &text));
    CU_ASSERT_EQUAL(text.n, 0);
}

static void test_round_trip(void) {
    static const enum hn_float_type types[] = {HN_FLOAT16, HN_FLOAT32, HN_FLOAT64};
    begin(2);
    for (int k = 0; k < 3; k++) {
        struct hn_retrieval *r;
        enum hn_snapshot_kind kind;
        HN_SCOPE(&ctx);
        const char *path = write_one("r.h5", types[k], k);
        HN_CHECK(&ctx, hn_snapshot_kind_of(&ctx, path, &kind));
        CU_ASSERT_EQUAL(kind, HN_KIND_RETRIEVAL);
        HN_CHECK(&ctx, hn_retrieval_open(&ctx, path, &r));
        check_content(r);
        HN_CHECK(&ctx, hn_retrieval_validate(&ctx, r));
        hn_retrieval_close(&ctx, r);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static enum hn_code check_retrieval(const char *path) {
    struct hn_retrieval *r;
    enum hn_code code = hn_retrieval_open(&ctx, path, &r);
    if (code == HN_OK)
        code = hn_retrieval_validate(&ctx, r);
    if (code == HN_OK || r)
        hn_retrieval_close(&ctx, r);
    return code;
}

static void test_other_kinds(void) {
    struct hn_snapshot *s;
    enum hn_snapshot_kind kind;
    begin(1);
    HN_SCOPE(&ctx);
    const char *path = write_one("kind.h5", HN_FLOAT32, 0);
    HN_CHECK_FAILS(&ctx, hn_snapshot_open(&ctx, path, &s), HN_DATA, "queries and a corpus");
    const char *items = good_file("items.h5", HN_FLOAT32, 0);
    HN_CHECK(&ctx, hn_snapshot_kind_of(&ctx, items, &kind));
    CU_ASSERT_EQUAL(kind, HN_KIND_ITEMS);
    HN_CHECK_FAILS(&ctx, check_retrieval(items), HN_DATA, "import --queries");
}

// Every change makes the file wrong in one way, which is named.
static void test_bad_files(void) {
    static const int64_t far[] = {1, 3, 9}, few[] = {0, 2}, twice[] = {0, 0};
    const hsize_t two = 2, wide[] = {Q, 3}, flat[] = {P, 3};
    const float nan_row[] = {1, NAN, 1, 1, 1, 1, 1, 1, 1}, zero[P * 3] = {0};
    begin(1);
    for (int k = 0; k < 8; k++) {
        static const char *const part[] = {"/qrels/indices", "grade",          "/truth",
                                           "dimensions",     "/query_teacher", "/corpus_teacher",
                                           "values are not", "ascend"};
        HN_SCOPE(&ctx);
        const char *path = write_one("bad.h5", HN_FLOAT32, 0);
        hid_t f = change(path);
        if (k == 0)
            put_integers(f, "/qrels/indices", 3, far);
        if (k == 1)
            put_integers(f, "/qrels/grade", 2, few);
        if (k == 2)
            drop(f, "/truth/indptr");
        if (k == 3)
            put_data(f, "/queries", H5T_IEEE_F32LE, 2, wide, H5T_NATIVE_FLOAT, nan_row);
        if (k == 4)
            drop(f, "/query_teacher");
        if (k == 5)
            put_data(f, "/corpus_teacher", H5T_IEEE_F32LE, 2, flat, H5T_NATIVE_FLOAT, zero);
        if (k == 6) {
            drop(f, "/corpus_text");
        }
        if (k == 7) {
            int64_t start[] = {0, 2, 2, 2};
            put_integers(f, "/scores/indptr", Q + 1, start);
            put_data(f, "/scores/indices", H5T_STD_I64LE, 1, &two, H5T_NATIVE_INT64, twice);
        }
        H5Fclose(f);
        HN_CHECK_FAILS(&ctx, check_retrieval(path), HN_DATA, part[k]);
    }
}

// What reads ids refuses those that name no row, or two: mined files would not say which is meant.
static void test_ids(void) {
    static const char *const wrong[][P] = {{"a", "b", "c", "a", "d"}, {"a", "b", "", "c", "d"}};
    static const char *const part[] = {"/corpus_id, indices 0 and 3: the id a is there twice",
                                       "/corpus_id, index 2: the id is empty"};
    const hsize_t p = P;
    begin(1);
    for (int k = 0; k < 2; k++) {
        struct hn_retrieval *r;
        struct hn_strings id;
        HN_SCOPE(&ctx);
        const char *path = write_one("ids.h5", HN_FLOAT32, 0);
        hid_t f = change(path), type = hn_h5_text_type();
        put_data(f, "/corpus_id", type, 1, &p, type, wrong[k]);
        H5Tclose(type);
        H5Fclose(f);
        HN_CHECK(&ctx, hn_retrieval_open(&ctx, path, &r));
        HN_CHECK(&ctx, hn_retrieval_ids(&ctx, r, HN_QUERIES, &id));
        HN_CHECK_FAILS(&ctx, hn_retrieval_ids(&ctx, r, HN_CORPUS, &id), HN_DATA, part[k]);
        hn_retrieval_close(&ctx, r);
    }
}

static void test_rows_without_direction(void) {
    const float good[] = {1, 0}, bad[] = {0, 0};
    const int64_t step = 0;
    struct hn_retrieval_spec spec = {.data.rows = {{good, 1, 2, 2}, {bad, 1, 2, 2}},
                                     .steps = 1,
                                     .step = &step,
                                     .type = HN_FLOAT32};
    begin(1);
    HN_CHECK_FAILS(&ctx, hn_retrieval_write(&ctx, in_folder("zero.h5"), &spec), HN_DATA,
                   "row 0 of data set /corpus");
    CU_ASSERT_PTR_NULL(fopen(in_folder("zero.h5"), "rb"));
}

// As items: the pairs of query 0 with passages 1 and 3, whose texts are numbered by the order of
// the groups 0, 1, 3, 4, 7, 9 of both sides; what /truth has besides is hidden.
static void test_tuples(void) {
    static const int32_t query_row[] = {0, 0}, passage_row[] = {1, 3}, query[] = {4, 4},
                         passage[] = {1, 2};
    struct hn_snapshot *s;
    struct hn_items items;
    struct hn_matrix x;
    begin(1);
    {
        HN_SCOPE(&ctx);
        HN_CHECK(&ctx, hn_snapshot_open_any(&ctx, write_one("pairs.h5", HN_FLOAT32, 0), &s));
        const struct hn_tuples *t = &s->retrieval->tuples;
        CU_ASSERT(t->n == 2 && t->texts == 6 && hn_snapshot_info(s)->n == 2);
        CU_ASSERT_EQUAL(memcmp(t->row[HN_QUERIES], query_row, sizeof query_row), 0);
        CU_ASSERT_EQUAL(memcmp(t->row[HN_CORPUS], passage_row, sizeof passage_row), 0);
        CU_ASSERT_EQUAL(memcmp(t->query, query, sizeof query), 0);
        CU_ASSERT_EQUAL(memcmp(t->passage, passage, sizeof passage), 0);
        CU_ASSERT(t->known.n == 6 && t->known.start[6] == 2 && t->known.start[4] == 0);
        CU_ASSERT(hn_qrels_relevant(&t->known, 4, 1) && hn_qrels_relevant(&t->known, 4, 2));
        CU_ASSERT(t->hidden.start[6] == 1 && hn_qrels_relevant(&t->hidden, 1, 0));
        for (int64_t index = 0; index < SERIES; index++) {
            HN_CHECK(&ctx, hn_snapshot_load(&ctx, s, index, &items));
            CU_ASSERT(items.n == 2 && items.tuples == t && items.x1.data == items.x.data);
            for (int side = 0; side < HN_SETS; side++) {
                const struct hn_matrix *rows = side == HN_QUERIES ? &items.x : &items.x2;
                HN_CHECK(&ctx, hn_retrieval_rows(&ctx, s->retrieval, side, index, &x));
                CU_ASSERT(rows->rows == 2 && rows->cols == DIMS);
                for (int i = 0; i < 2; i++)
                    CU_ASSERT_EQUAL(
                        memcmp(hn_row(rows, i), hn_row(&x, t->row[side][i]), DIMS * sizeof *x.data),
                        0);
            }
            hn_items_free(&ctx, &items);
        }
        hn_snapshot_close(&ctx, s);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"round_trip", test_round_trip},
    {"tuples", test_tuples},
    {"other_kinds", test_other_kinds},
    {"bad_files", test_bad_files},
    {"ids", test_ids},
    {"rows_without_direction", test_rows_without_direction},
};

int main(int argc, char **argv) {
    hn_fixture_folder(folder, sizeof folder);
    int rc =
        hn_test_main(argc, argv, "retrieval_file", tests, (int)(sizeof tests / sizeof tests[0]));
    hn_fixture_remove(folder);
    return rc;
}
