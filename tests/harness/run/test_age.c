// SPDX-License-Identifier: GPL-3.0-or-later
// Labels of steps: on any of them a graph is less than t steps old, and is said to be old where it
// is. Where every step has its own graph, labels change no value.
#include "core/random.h"
#include "tests/place_fixture.h"

enum { N = 120, DIM = 16, STEPS = 7, SETS = 20, BATCH = 16 };

// Distinct labels in ascending order; some sets are dense, some have gaps beyond every t.
static void draw_labels(int set, int64_t label[STEPS]) {
    static const uint32_t max[] = {12, 300, 5000};
    struct hn_stream stream;
    hn_stream_open(&stream, 1, "test.labels", set, 0, 0);
    label[0] = hn_stream_below(&stream, 3);
    for (int i = 1; i < STEPS; i++)
        label[i] = label[i - 1] + 1 + hn_stream_below(&stream, max[set % 3]);
}

// The same embeddings whatever the labels.
static void write_series(struct hn_context *ctx, const char *path, const int64_t label[STEPS]) {
    int32_t labels[N];
    for (int i = 0; i < N; i++)
        labels[i] = i % 4;
    const struct hn_snapshot_spec spec = {
        .n = N, .d = DIM, .labels = labels, .type = HN_FLOAT32, .tool_version = "hardneg test"};
    struct hn_snapshot_writer *w;
    HN_CHECK(ctx, hn_snapshot_write_begin(ctx, path, &spec, &w));
    for (int i = 0; i < STEPS; i++) {
        float *x = hn_fixture_rows(ctx, N, DIM, (uint64_t)i + 1);
        HN_CHECK(ctx, hn_snapshot_write_step(ctx, w, label[i], x, NULL, NULL));
        hn_free(ctx, x);
    }
    HN_CHECK(ctx, hn_snapshot_write_end(ctx, w, HN_OK));
}

static struct place place_of(struct hn_context *ctx, const char *samplers, int set,
                             int64_t label[STEPS]) {
    struct place p = make_place(ctx, samplers, "batches: 5\n");
    draw_labels(set, label);
    write_series(ctx, p.snapshot, label);
    return p;
}

// The rule, by trying every snapshot: docs/reference/methods.md.
static int64_t built_on(const int64_t label[STEPS], int64_t at, int64_t t) {
    int64_t best = -1;
    for (int64_t i = 0; i < STEPS; i++)
        if (label[i] > label[at] - t && label[i] <= label[at] / t * t)
            best = i;
    return best < 0 ? at : best;
}

static void test_ages(void) {
    static const int64_t t[] = {100, 1, 7, 400};
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    for (int set = 0; set < SETS; set++) {
        int64_t label[STEPS];
        struct place p =
            place_of(&ctx, "[batchsampler: {M: 40, K: 10, t: [100, 1, 7, 400]}]", set, label);
        HN_SCOPE(&ctx);
        struct hn_text_list none = {NULL, 0};
        struct hn_job job;
        struct hn_plan plan;
        HN_CHECK(&ctx, hn_job_read(&ctx, p.job, NULL, &none, NULL, &job));
        HN_CHECK(&ctx, hn_plan_make(&ctx, &job, &plan));
        CU_ASSERT_EQUAL_FATAL(plan.n_cells, STEPS * 4);
        for (int64_t i = 0; i < plan.n_cells; i++) {
            const struct hn_cell *cell = &plan.cell[i];
            CU_ASSERT_EQUAL(cell->build_index, built_on(label, i / 4, t[i % 4]));
            CU_ASSERT(label[i / 4] - label[cell->build_index] < t[i % 4]);
        }
        hn_plan_free(&ctx, &plan);
        hn_fixture_remove(p.folder);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// A graph that is not of its step is named in its row's note; planning says it once for a file.
static void test_age_is_said(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    char note[HN_MESSAGE_MAX] = "";
    ctx.notes = (struct hn_notes){hn_keep_note, note};
    struct place p = make_place(&ctx, "[batchsampler: {M: 40, K: 10, t: 100}, uniform]", "");
    struct hn_results r;
    struct hn_run_summary summary;
    HN_CHECK(&ctx, run_place(&ctx, &p, &summary, &r)); // steps 0, 60 and 120
    CU_ASSERT_PTR_NOT_NULL(strstr(note, "graphs of 2 of 3 steps"));
    CU_ASSERT_PTR_NOT_NULL(strstr(note, "up to 60 steps older"));
    static const char *const said[] = {"", "built on step 0, 60 steps older",
                                       "built on step 60, 60 steps older"};
    for (int64_t i = 0; i < r.runs.rows; i++) {
        bool graph = strcmp(hn_table_text(&r.runs, i, "sampler"), "batchsampler") == 0;
        const char *text = hn_table_text(&r.runs, i, "note");
        int step = (int)(hn_table_real(&r.runs, i, "step") / 60);
        CU_ASSERT(graph && *said[step] ? strstr(text, said[step]) != NULL : !strstr(text, "built"));
    }
    hn_results_free(&ctx, &r);
    hn_fixture_remove(p.folder);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Whether one row's values are another's, to the bit. seen: how many were looked at.
static bool same_values(const struct hn_table *a, const struct hn_table *b, int64_t row,
                        int *seen) {
    bool same = true;
    *seen = 0;
    for (int c = 0; c < a->n_columns; c++) {
        const struct hn_column *column = &a->column[c];
        CU_ASSERT_STRING_EQUAL_FATAL(column->name, b->column[c].name);
        if (column->kind == HN_COLUMN_TEXT || column->role < HN_ROLE_COUNTER ||
            column->role > HN_ROLE_BINNED)
            continue;
        const union hn_column_cells *x = &a->cells[c], *y = &b->cells[c];
        same &= column->kind == HN_COLUMN_INT
                    ? x->count[row] == y->count[row]
                    : memcmp(&x->real[row], &y->real[row], sizeof(double)) == 0;
        ++*seen;
    }
    return same;
}

// Every kind of sampler, on the same embeddings under other labels: random streams are named by the
// place of a step in its series.
static void test_labels_change_no_value(void) {
    static const char samplers[] =
        "[uniform: {draw: [shuffle, iid]}, knn, batchsampler: {M: 40, K: 10, alpha: 0.2, t: 1, "
        "candidates: [independent, dealt, reference]}, gcbs: {quantile: 0.9}, hard-negative, "
        "stratified, random-negatives: {n: 7}, ring: {space: embeddings}, "
        "mined: {take: draw, relative_margin: 0.05}]";
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_results first, other;
    struct hn_run_summary summary;
    for (int set = 0; set < 4; set++) {
        int64_t label[STEPS];
        struct place p = place_of(&ctx, samplers, set, label);
        HN_CHECK(&ctx, run_place(&ctx, &p, &summary, set == 0 ? &first : &other));
        hn_fixture_remove(p.folder);
        if (set == 0)
            continue;
        CU_ASSERT_EQUAL_FATAL(first.runs.rows, other.runs.rows);
        CU_ASSERT_EQUAL_FATAL(first.runs.rows, 12 * STEPS);
        int64_t same = 0;
        for (int64_t row = 0; row < first.runs.rows; row++) {
            int seen;
            same += same_values(&first.runs, &other.runs, row, &seen);
            CU_ASSERT_FATAL(seen > 20);
        }
        CU_ASSERT_EQUAL(same, first.runs.rows);
        hn_results_free(&ctx, &other);
    }
    hn_results_free(&ctx, &first);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"ages", test_ages},
    {"labels change no value", test_labels_change_no_value},
    {"age is said", test_age_is_said},
};

int main(int argc, char **argv) {
    hn_h5_quiet();
    return hn_test_main(argc, argv, "age", tests, (int)(sizeof tests / sizeof tests[0]));
}
