// SPDX-License-Identifier: GPL-3.0-or-later
// The task `pairs`: what it reads, its loss and its measures against slow ones of their
// definitions, slopes, masks.
#include "tests/fixture.h"
#include "tests/named_weighting.h"
#include "tests/opened_task.h"
#include "tests/task_data.h"
#include "training/loop.h"
#include "training/net/net.h"
#include "training/tasks/pairs_overlap.h"

#include <sys/stat.h>

enum { OUT = 16, BATCH = 12, ALL = 512 };
static char folder[256];

struct trial {
    struct hn_context ctx;
    struct opened o;
    float z[ALL * OUT];
};

static enum hn_code open_pairs(struct trial *t, enum hn_objective objective,
                               const char *const *options) {
    memset(t, 0, sizeof *t);
    hn_context_init(&t->ctx, 2);
    return open_task(&t->ctx, "pairs", folder, BATCH, objective, options, &t->o);
}

static void close_pairs(struct trial *t) {
    close_task(&t->ctx, &t->o);
    CU_ASSERT_EQUAL(t->ctx.memory.live, 0);
}

// Two queries of one document, a document alone, an unjudged and a judged one, hidden relevance.
static void put_beir(void) {
    char path[300];
    hn_fixture_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/qrels", folder);
    CU_ASSERT_EQUAL_FATAL(mkdir(path, 0777), 0);
    FILE *q = open_data(folder, "queries.jsonl"), *p = open_data(folder, "corpus.jsonl");
    FILE *train = open_data(folder, "qrels/train.tsv"),
         *truth = open_data(folder, "qrels/truth.tsv");
    fprintf(train, "query-id\tcorpus-id\tscore\n");
    fprintf(truth, "query-id\tcorpus-id\tscore\n");
    for (int i = 0; i < 40; i++) {
        fprintf(q, "{\"_id\": \"q%d\", \"text\": \"find the %c%c of %d\"}\n", i, 'a' + i % 7,
                'k' + i % 11, i);
        fprintf(p, "{\"_id\": \"d%d\", \"title\": \"of%dNumber\", \"text\": \"get%c%c(x) + %d\"}\n",
                i, i % 5, 'A' + i % 7, 'k' + i % 11, i % 3);
        fprintf(train, "q%d\td%d\t1\n", i, i);
        if (i % 4 == 0)
            fprintf(train, "q%d\td%d\t0\n", i, (i + 1) % 40);
        fprintf(truth, "q%d\td%d\t2\nq%d\td%d\t1\n", i, i, i, (i + 7) % 40);
    }
    fclose(q);
    fclose(p);
    fclose(train);
    fclose(truth);
}

static void embed_all(struct trial *t) {
    struct hn_task *task = &t->o.task;
    CU_ASSERT_FATAL(task->n_all <= ALL);
    HN_CHECK(&t->ctx, hn_task_embed(&t->ctx, task, 0, 0, task->n_all, t->z));
}

static double dot(const float *a, const float *b) {
    double sum = 0;
    for (int k = 0; k < OUT; k++)
        sum += (double)a[k] * (double)b[k];
    return sum;
}

// The reciprocal place of the first of the wanted documents, 0 beyond `depth`; no two score alike.
static double reciprocal(const float *q, const float *p, int n, const bool *wanted,
                         const bool *among, int depth) {
    double best = -2;
    int at = -1, place = 1;
    for (int d = 0; d < n; d++)
        if (wanted[d] && dot(q, p + d * OUT) > best) {
            at = d;
            best = dot(q, p + d * OUT);
        }
    for (int d = 0; d < n; d++)
        if (among[d] && d != at) {
            double s = dot(q, p + d * OUT);
            place += s > best;
        }
    return place <= depth ? 1.0 / place : 0;
}

// Measures against their definitions; which queries are held is told by the rows there are.
static void test_measures(void) {
    static const char *const options[] = {"svd=4", NULL};
    static struct trial t;
    double value[32], mrr = 0, mrr_test = 0, mrr_10 = 0, true_mrr = 0;
    put_beir();
    HN_CHECK(&t.ctx, open_pairs(&t, HN_OBJECTIVE_BOTH_WAYS, options));
    int held = (int)t.o.task.n_all - (int)t.o.task.n - 40, rows = (int)t.o.task.n;
    CU_ASSERT_FATAL(held > 8 && held < 32 && t.o.task.n == 40 - held);
    embed_all(&t);
    const float *q = t.z + rows * OUT, *p = q + held * OUT;
    int query[40];
    bool all[40], own[40] = {false};
    // Labels number groups of training pairs in the order of queries: an item's is unlike that of
    // any other text here, so that those of the documents tell which queries are trained on.
    for (int d = 0, h = 0; d < 40; d++) {
        bool trained = false;
        for (int i = 0; i < rows; i++)
            trained = trained || t.o.task.label[i] == t.o.task.label[rows + held + d];
        all[d] = true;
        own[d] = !trained;
        if (!trained)
            query[h++] = d;
    }
    for (int h = 0; h < held; h++) {
        bool label[40] = {false}, truth[40] = {false};
        label[query[h]] = truth[query[h]] = truth[(query[h] + 7) % 40] = true;
        mrr += reciprocal(q + h * OUT, p, 40, label, all, 1000) / held;
        mrr_10 += reciprocal(q + h * OUT, p, 40, label, all, 10) / held;
        mrr_test += reciprocal(q + h * OUT, p, 40, label, own, 1000) / held;
        true_mrr += reciprocal(q + h * OUT, p, 40, truth, all, 1000) / held;
    }
    HN_CHECK(&t.ctx, t.o.task.type->evaluate(&t.ctx, &t.o.task, 0, t.z, value));
    CU_ASSERT_DOUBLE_EQUAL(value[0], mrr, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(value[1], mrr_test, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(value[2], mrr_10, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(value[3], 1, 1e-12); // of 40 documents all are among 100
    CU_ASSERT_DOUBLE_EQUAL(value[4], true_mrr, 1e-12);
    CU_ASSERT(mrr < mrr_test && mrr < true_mrr && mrr_10 < mrr);
    HN_CHECK(&t.ctx, t.o.task.type->evaluate_data(&t.ctx, &t.o.task, value + 7));
    for (int c = 7; c < 21; c++)
        CU_ASSERT(value[c] > 0 && value[c] <= 1);
    close_pairs(&t);
    hn_fixture_remove(folder);
}

// The mean of both directions, with and without what is relevant elsewhere in the batch.
static void test_loss(void) {
    static struct trial t;
    double last = NAN;
    hn_fixture_folder(folder, sizeof folder);
    put_pairs(folder);
    for (int mask = 0; mask < 2; mask++) {
        const char *options[] = {mask ? "mask=true" : "mask=false", "hidden=6", NULL};
        static float keys[ALL * OUT];
        HN_CHECK(&t.ctx, open_pairs(&t, HN_OBJECTIVE_BOTH_WAYS, options));
        int n = (int)t.o.task.n;
        int32_t id[BATCH];
        embed_all(&t);
        HN_CHECK(&t.ctx, hn_task_embed(&t.ctx, &t.o.task, 2, 0, n, keys));
        double wanted = 0;
        for (int i = 0; i < BATCH; i++)
            id[i] = i;
        for (int i = 0; i < BATCH; i++) {
            double own = dot(t.z + i * OUT, keys + i * OUT) / 0.2, sum[2] = {exp(own), exp(own)};
            for (int j = 0; j < BATCH; j++) {
                // Equal rows of texts, or an item of their own, tell relevance here.
                bool same = false;
                for (int k = 0; k < n && mask; k++)
                    same = same || (memcmp(t.z + k * OUT, t.z + i * OUT, OUT * 4) == 0 &&
                                    memcmp(keys + k * OUT, keys + j * OUT, OUT * 4) == 0);
                if (j != i && !same)
                    sum[0] += exp(dot(t.z + i * OUT, keys + j * OUT) / 0.2);
                same = false;
                for (int k = 0; k < n && mask; k++)
                    same = same || (memcmp(t.z + k * OUT, t.z + j * OUT, OUT * 4) == 0 &&
                                    memcmp(keys + k * OUT, keys + i * OUT, OUT * 4) == 0);
                if (j != i && !same)
                    sum[1] += exp(dot(t.z + j * OUT, keys + i * OUT) / 0.2);
            }
            wanted += (log(sum[0]) + log(sum[1]) - 2 * own) / (2 * BATCH);
        }
        CU_ASSERT_DOUBLE_EQUAL(loss_of(&t.ctx, &t.o.task, id, BATCH), wanted, 1e-5);
        CU_ASSERT(!(fabs(wanted - last) < 1e-4));
        last = wanted;
        close_pairs(&t);
    }
    hn_fixture_remove(folder);
}

static bool is_equal(const float *a, const float *b) { return memcmp(a, b, OUT * sizeof *a) == 0; }

// True if an item is of the query of item i and the document of item j: equal texts have equal
// rows.
static bool is_pair(const float *q, const float *p, int n, int i, int j) {
    bool found = false;
    for (int k = 0; k < n && !found; k++)
        found = is_equal(q + k * OUT, q + i * OUT) && is_equal(p + k * OUT, p + j * OUT);
    return found;
}

// Two queries of which one document of the first is the second one's, too.
static void append_one_sided(void) {
    static const char *const pair[][2] = {{"open", "shut"}, {"open", "lift"}, {"drop", "lift"}};
    char path[300];
    snprintf(path, sizeof path, "%s/train.jsonl", folder);
    FILE *file = fopen(path, "a");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    for (int i = 0; i < 3; i++)
        fprintf(file,
                "{\"docstring_tokens\": [\"%s\", \"zebra\"], \"code_tokens\": [\"%s\", \"yak\"], "
                "\"url\": \"one-sided-%d\"}\n",
                pair[i][0], pair[i][1], i);
    fclose(file);
}

// By same_side the sums of queries, of documents, or both have the batch's others of the same side,
// without equal texts and those that known relevance connects; mask is of the other side alone.
static void test_same_side(void) {
    static const char *const sides[] = {"none", "queries", "documents", "both"};
    static struct trial t;
    static float keys[ALL * OUT];
    int dropped = 0;
    double last = NAN;
    hn_fixture_folder(folder, sizeof folder);
    put_pairs(folder);
    append_one_sided();
    for (int of = 0; of < 8; of++) {
        char side[32];
        const char *options[] = {of % 2 ? "mask=true" : "mask=false", side, NULL};
        snprintf(side, sizeof side, "same_side=%s", sides[of / 2]);
        HN_CHECK(&t.ctx, open_pairs(&t, HN_OBJECTIVE_BOTH_WAYS, options));
        int n = (int)t.o.task.n;
        int32_t id[BATCH];
        embed_all(&t);
        HN_CHECK(&t.ctx, hn_task_embed(&t.ctx, &t.o.task, 2, 0, n, keys));
        const float *row[2] = {t.z, keys};
        double wanted = 0;
        for (int i = 0; i < BATCH; i++)
            id[i] = n - BATCH + i;
        for (int i = 0; i < 2 * BATCH; i++) {
            int way = i / BATCH, a = id[i % BATCH];
            const float *x = row[way] + a * OUT;
            double own = dot(x, row[1 - way] + a * OUT) / 0.2, sum = exp(own);
            for (int j = n - BATCH; j < n; j++) {
                bool there = is_pair(t.z, keys, n, a, j), back = is_pair(t.z, keys, n, j, a);
                bool same = is_equal(x, row[way] + j * OUT);
                if (j != a && !(of % 2 && (way ? back : there)))
                    sum += exp(dot(x, row[1 - way] + j * OUT) / 0.2);
                if (of / 2 & (way ? 2 : 1) && !same && !there && !back)
                    sum += exp(dot(x, row[way] + j * OUT) / 0.2);
                dropped += !same && there != back;
            }
            wanted += (log(sum) - own) / (2 * BATCH);
        }
        CU_ASSERT_DOUBLE_EQUAL(loss_of(&t.ctx, &t.o.task, id, BATCH), wanted, 1e-5);
        CU_ASSERT(!(fabs(wanted - last) < 1e-4));
        last = wanted;
        close_pairs(&t);
    }
    CU_ASSERT(dropped > 0);
    static const char *const documents[] = {"same_side=documents", NULL};
    HN_CHECK_FAILS(&t.ctx, open_pairs(&t, HN_OBJECTIVE_OTHER_VIEW, documents), HN_USAGE,
                   "take both-ways, or same_side: queries");
    close_pairs(&t);
    HN_CHECK_FAILS(&t.ctx, open_pairs(&t, HN_OBJECTIVE_NTXENT, documents), HN_USAGE, "not ntxent");
    close_pairs(&t);
    hn_fixture_remove(folder);
}

// One table for both sides, or two that begin alike.
static void test_tables(void) {
    static const char *const one[] = {"shared=true", NULL}, *const two[] = {NULL};
    static struct trial a, b;
    hn_fixture_folder(folder, sizeof folder);
    put_pairs(folder);
    HN_CHECK(&a.ctx, open_pairs(&a, HN_OBJECTIVE_BOTH_WAYS, one));
    HN_CHECK(&b.ctx, open_pairs(&b, HN_OBJECTIVE_BOTH_WAYS, two));
    CU_ASSERT_EQUAL(b.o.task.weights.n, 2 * a.o.task.weights.n);
    embed_all(&a);
    embed_all(&b);
    CU_ASSERT_EQUAL(memcmp(a.z, b.z, (size_t)(a.o.task.n_all * OUT) * sizeof *a.z), 0);
    close_pairs(&a);
    close_pairs(&b);
    hn_fixture_remove(folder);
}

// An item's negative is the document nearest to its query, from a rank on, that is not relevant.
static void test_mined(void) {
    static const char *const third[] = {"mined=true", "min_rank=3", NULL};
    static struct trial t;
    put_beir();
    HN_CHECK(&t.ctx, open_pairs(&t, HN_OBJECTIVE_BOTH_WAYS, third));
    const int32_t *hard = t.o.task.kept;
    int n = (int)t.o.task.n;
    int held = (int)t.o.task.n_all - n - 40, verdicts = 0;
    int32_t id[BATCH];
    for (int i = 0; i < BATCH; i++)
        id[i] = (i * 5) % n;
    embed_all(&t);
    const struct hn_task_batch batch = {
        .id = id, .n = BATCH, .step = 0, .loss = t.o.task.setting.loss};
    double loss, wanted = 0;
    hn_weights_clear(&t.o.task.weights);
    HN_CHECK(&t.ctx, t.o.task.type->step(&t.ctx, &t.o.task, &batch, &loss, NULL));
    const float *p = t.z + (n + held) * OUT;
    for (int i = 0; i < n; i++) {
        int before = 0, own = -1, found = hard[i] - 40;
        for (int d = 0; d < 40; d++)
            if (t.o.task.label[i] == t.o.task.label[n + held + d])
                own = d;
        CU_ASSERT_FATAL(own >= 0 && found >= 0 && found != own);
        for (int d = 0; d < 40; d++)
            before += d != own && d != found &&
                      dot(t.z + i * OUT, p + d * OUT) > dot(t.z + i * OUT, p + found * OUT);
        // One that was judged not relevant is taken from any rank.
        bool judged = own % 4 == 0 && found == (own + 1) % 40;
        CU_ASSERT(before == 2 || (judged && before < 2));
        verdicts += judged && before < 2;
    }
    CU_ASSERT(verdicts > 0); // else they were not seen
    bool used[40] = {false}; // by the batch: all queries see it once
    for (int i = 0; i < BATCH; i++)
        used[hard[id[i]] - 40] = true;
    for (int i = 0; i < BATCH; i++) {
        double sum[2] = {0, 0}, own = 0;
        for (int j = 0; j < BATCH; j++) {
            int key[2] = {0, 0};
            for (int d = 0; d < 40; d++)
                for (int k = 0; k < 2; k++)
                    if (t.o.task.label[id[k ? j : i]] == t.o.task.label[n + held + d])
                        key[k] = d;
            sum[0] += exp(dot(t.z + id[i] * OUT, p + key[1] * OUT) / 0.2);
            sum[1] += exp(dot(t.z + id[j] * OUT, p + key[0] * OUT) / 0.2);
            if (j == i)
                own = dot(t.z + id[i] * OUT, p + key[0] * OUT) / 0.2;
        }
        for (int d = 0; d < 40; d++)
            sum[0] += used[d] ? exp(dot(t.z + id[i] * OUT, p + d * OUT) / 0.2) : 0;
        wanted += (log(sum[0]) + log(sum[1]) - 2 * own) / (2 * BATCH);
    }
    CU_ASSERT_DOUBLE_EQUAL(loss, wanted, 1e-5);
    close_pairs(&t);
    hn_fixture_remove(folder);
}

// A training, of which a watcher may stop a step.
struct run {
    struct hn_context ctx;
    volatile sig_atomic_t stop;
    int64_t stop_at;
    struct hn_table table;
};

static void watch(void *data, int64_t done, int64_t steps, double loss, double accuracy) {
    struct run *r = data;
    CU_ASSERT(done <= steps && isfinite(loss) && accuracy >= 0);
    r->stop = done == r->stop_at;
}

static void train(struct run *r, const struct hn_run_spec *spec) {
    const struct hn_run_watch watcher = {.step = watch, .data = r};
    for (int attempt = r->stop_at ? 0 : 1; attempt < 2; attempt++) {
        r->stop = 0;
        hn_table_free(&r->ctx, &r->table);
        HN_CHECK(&r->ctx, hn_training_table(&r->ctx, spec->task, &r->table));
        enum hn_code code = hn_train(&r->ctx, spec, &watcher, &r->table, NULL);
        CU_ASSERT_EQUAL(code, attempt ? HN_OK : HN_INTERRUPTED);
    }
}

// With drop_last every batch is full, also of samplers whose batches may be short before the last
// one: steps take as many operations as those of `uniform`. Where none is full that is said.
static void train_of_few_texts(int texts, const char *option, enum hn_code wanted, double *flops) {
    static const char *const none[] = {NULL};
    static struct trial t;
    hn_fixture_folder(folder, sizeof folder);
    put_pairs(folder);
    FILE *f = open_data(folder, "train.jsonl");
    for (int i = 0; i < 50; i++)
        fprintf(f, "{\"docstring\": \"find rows of %c\", \"code\": \"def get%d(x) + %d\"}\n",
                'a' + i % texts, i, i % 3);
    fclose(f);
    HN_CHECK(&t.ctx, open_pairs(&t, HN_OBJECTIVE_BOTH_WAYS, none));
    _Alignas(64) char sampler[256] = {0}, weighting[64] = {0};
    const struct hn_sampler_type *uniform = hn_sampler_find("uniform");
    struct hn_run_spec spec = {
        .task = t.o.type,
        .task_params = t.o.params,
        .sampler = uniform,
        .sampler_params = sampler,
        .weighting = named_weighting("none"),
        .weighting_params = weighting,
        .setting = t.o.task.setting,
        .adam = {.rate = 0.01, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .steps = 23},
        .drop_last = true};
    struct hn_run_times times;
    struct hn_table table = {0};
    spec.setting.batch_size = 10;
    HN_CHECK(&t.ctx, hn_options_init(&t.ctx, uniform->options, sampler));
    HN_CHECK(&t.ctx, hn_options_set(&t.ctx, uniform->options, sampler, option, "true"));
    HN_CHECK(&t.ctx, hn_training_table(&t.ctx, spec.task, &table));
    enum hn_code code = hn_train(&t.ctx, &spec, NULL, &table, &times);
    CU_ASSERT_EQUAL(code, wanted);
    CU_ASSERT(wanted == HN_OK || strstr(t.ctx.message, "drop_last leaves nothing of epoch 0"));
    *flops = times.flops;
    hn_table_free(&t.ctx, &table);
    close_pairs(&t);
    hn_fixture_remove(folder);
}

static void test_drop_last(void) {
    double full, some;
    train_of_few_texts(25, "keep_apart", HN_OK, &full);
    train_of_few_texts(25, "no_duplicates", HN_OK, &some);
    CU_ASSERT_EQUAL(some, full);
    train_of_few_texts(7, "no_duplicates", HN_DATA, &some);
}

// Mined at step 3, stopped at 4: what was mined goes on.
static void test_resume(void) {
    static struct run whole, broken;
    static const char *const options[] = {"mined=true", "mine_every=3", "words=20", NULL};
    static struct trial t;
    char kept[256];
    hn_fixture_folder(folder, sizeof folder);
    hn_fixture_folder(kept, sizeof kept);
    put_pairs(folder);
    HN_CHECK(&t.ctx, open_pairs(&t, HN_OBJECTIVE_BOTH_WAYS, options));
    _Alignas(64) char sampler[256] = {0}, weighting[64] = {0};
    struct hn_run_spec spec = {
        .task = t.o.type,
        .task_params = t.o.params,
        .sampler = hn_sampler_find("uniform"),
        .sampler_params = sampler,
        .weighting = named_weighting("none"),
        .weighting_params = weighting,
        .setting = t.o.task.setting,
        .adam = {.rate = 0.01, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .steps = 7},
        .evaluate = 5,
        .folder = kept,
        .key = "mined"};
    HN_CHECK(&t.ctx, hn_options_init(&t.ctx, spec.sampler->options, sampler));
    hn_context_init(&whole.ctx, 1);
    hn_context_init(&broken.ctx, 3);
    whole.ctx.stop = &whole.stop;
    broken.ctx.stop = &broken.stop;
    broken.stop_at = 4;
    train(&whole, &spec);
    train(&broken, &spec);
    for (int64_t r = 0; r < 3; r++)
        for (int c = 0; c < 2; c++) {
            const char *name = c ? "loss" : "mrr";
            double a = hn_table_real(&whole.table, r, name);
            double b = hn_table_real(&broken.table, r, name);
            CU_ASSERT((isnan(a) && isnan(b)) || a == b);
        }
    hn_table_free(&whole.ctx, &whole.table);
    hn_table_free(&broken.ctx, &broken.table);
    CU_ASSERT(whole.ctx.memory.live == 0 && broken.ctx.memory.live == 0);
    close_pairs(&t);
    hn_fixture_remove(kept);
    hn_fixture_remove(folder);
}

static void check_fault(const char *file, const char *content, const char *message) {
    static const char *const none[] = {NULL};
    static struct trial t;
    hn_fixture_folder(folder, sizeof folder);
    put_pairs(folder);
    put_text(folder, file, content);
    HN_CHECK_FAILS(&t.ctx, open_pairs(&t, HN_OBJECTIVE_BOTH_WAYS, none), HN_DATA, message);
    close_pairs(&t);
    hn_fixture_remove(folder);
}

static void test_faults(void) {
    static const char *const svd[] = {"svd=2000", NULL};
    static struct trial t;
    check_fault("test.jsonl", "{\"docstring\": \"a\", \"code\": 5}\n",
                "test.jsonl: line 1: is not a pair");
    check_fault("train.jsonl", "{\"docstring\": [\"a\"], \"code\": \"b\"}\n",
                "train.jsonl: line 1: is not a pair");
    check_fault("train.jsonl", "{\"docstring\": \" \", \"code\": \"b\"}\n", "no pair to train on");
    check_fault("test.jsonl", "{\"code\": \"b\"}\n", "has no pair to evaluate with");
    check_fault("train.jsonl", "{\"docstring\": \n", "train.jsonl: line 1: is not JSON");
    check_fault("codebase.jsonl", "", "codebase.jsonl: holds no pair");
    hn_fixture_folder(folder, sizeof folder);
    put_pairs(folder);
    HN_CHECK_FAILS(&t.ctx, open_pairs(&t, HN_OBJECTIVE_BOTH_WAYS, svd), HN_DATA,
                   "lower svd (2000)");
    close_pairs(&t);
    hn_fixture_remove(folder);
}

// Of four evaluated queries one is trained on, and one has the text of another that is.
static void test_overlap(void) {
    static const int64_t train_left[] = {3, 1, 3}, test_left[] = {4, 4, 2};
    char path[300], note[HN_MESSAGE_MAX] = "";
    struct hn_context own;
    hn_context_init(&own, 1);
    own.notes = (struct hn_notes){hn_keep_note, note};
    hn_fixture_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/qrels", folder);
    CU_ASSERT_EQUAL_FATAL(mkdir(path, 0777), 0);
    FILE *q = open_data(folder, "queries.jsonl"), *p = open_data(folder, "corpus.jsonl");
    FILE *train = open_data(folder, "qrels/train.tsv"), *test = open_data(folder, "qrels/test.tsv");
    for (int i = 0; i < 7; i++) {
        fprintf(q, "{\"_id\": \"q%d\", \"text\": \"text %d\"}\n", i, i == 4 ? 1 : i);
        fprintf(p, "{\"_id\": \"d%d\", \"text\": \"passage %d\"}\n", i, i);
        fprintf(i < 3 ? train : test, "q%d\td%d\t1\n", i, i);
    }
    fprintf(train, "q3\td6\t0\n"); // judged, and not trained on
    fprintf(test, "q0\td5\t1\nq6\td6\t0\n");
    fclose(q);
    fclose(p);
    fclose(train);
    fclose(test);
    for (int side = HN_PAIRS_KEEP; side <= HN_PAIRS_OUT_OF_TEST; side++) {
        const struct hn_pair_folder_rules rules = {.held = .5, .seed = 1, .min_grade = 1};
        struct hn_pair_folder data;
        struct hn_pairs_overlap found;
        HN_SCOPE(&own);
        HN_CHECK(&own, hn_pair_folder_read(&own, folder, &rules, &data));
        HN_CHECK(&own,
                 hn_pairs_overlap_find(&own, folder, (enum hn_pairs_side)side, &data, &found));
        CU_ASSERT_EQUAL(found.evaluated, 4);
        CU_ASSERT_EQUAL(found.queries, 2);
        CU_ASSERT_PTR_NOT_NULL(strstr(note, "2 of 4 evaluated queries have the text of one"));
        CU_ASSERT_EQUAL(hn_qrels_summarize(&data.train).relevant, train_left[side]);
        CU_ASSERT_EQUAL(hn_qrels_summarize(&data.test).relevant, test_left[side]);
    }
}

// The document of item i: its label tells.
static int own_of(const struct hn_task *task, int i) {
    int own = -1;
    for (int d = 0; d < 40; d++)
        if (task->label[i] == task->label[task->n_all - 40 + d])
            own = d;
    CU_ASSERT_FATAL(own >= 0);
    return own;
}

// How many documents but the item's own are nearer to it than document `to`.
static int nearer_than(const struct trial *t, int i, int own, int to) {
    const float *p = t->z + (t->o.task.n_all - 40) * OUT, *q = t->z + i * OUT;
    int n = 0;
    for (int d = 0; d < 40; d++)
        n += d != own && d != to && dot(q, p + d * OUT) > dot(q, p + to * OUT);
    return n;
}

// One step: negatives are mined before it.
static void step_once(struct trial *t, int64_t step) {
    int32_t id[BATCH];
    double loss = NAN;
    for (int i = 0; i < BATCH; i++)
        id[i] = i;
    const struct hn_task_batch batch = {
        .id = id, .n = BATCH, .step = step, .loss = t->o.task.setting.loss};
    hn_weights_clear(&t->o.task.weights);
    HN_CHECK(&t->ctx, t->o.task.type->step(&t->ctx, &t->o.task, &batch, &loss, NULL));
    CU_ASSERT(isfinite(loss));
}

// Several negatives of each item, drawn from a window of ranks, differ by item and by mining.
static void test_window(void) {
    static const char *const options[] = {"mined=true",  "min_rank=4",   "max_rank=12",
                                          "negatives=3", "mine_after=1", "mine_every=2",
                                          NULL};
    static struct trial t;
    int32_t before[40 * 3] = {0};
    int judged = 0, other = 0;
    put_beir();
    HN_CHECK(&t.ctx, open_pairs(&t, HN_OBJECTIVE_BOTH_WAYS, options));
    const int32_t *hard = t.o.task.kept;
    int n = (int)t.o.task.n, epoch = n / BATCH;
    CU_ASSERT_EQUAL(t.o.task.kept_bytes, n * 3 * (int64_t)sizeof *hard);
    embed_all(&t);
    step_once(&t, 0);
    for (int i = 0; i < 3 * n; i++)
        CU_ASSERT_EQUAL(hard[i], -1); // within the first epoch
    step_once(&t, epoch);
    memcpy(before, hard, (size_t)n * 3 * sizeof *hard);
    for (int i = 0; i < n; i++) {
        int own = own_of(&t.o.task, i);
        for (int k = 0; k < 3; k++) {
            int found = hard[i * 3 + k] - 40, rank = nearer_than(&t, i, own, found) + 1;
            bool no = own % 4 == 0 && found == (own + 1) % 40; // judged: taken from any rank
            judged += no;
            CU_ASSERT_FATAL(found >= 0 && found < 40 && found != own);
            CU_ASSERT(no || (rank >= 4 && rank <= 12));
            for (int j = 0; j < k; j++)
                CU_ASSERT_NOT_EQUAL(hard[i * 3 + j], hard[i * 3 + k]);
        }
    }
    step_once(&t, epoch + 1);
    CU_ASSERT_EQUAL(memcmp(before, hard, (size_t)n * 3 * sizeof *hard), 0);
    step_once(&t, epoch + 2);
    for (int i = 0; i < 3 * n; i++)
        other += before[i] != hard[i];
    CU_ASSERT(other > n && judged < n);
    close_pairs(&t);
    hn_fixture_remove(folder);
}

// At random: any document but those that are relevant; of the training's pairs alone if asked for.
static void test_at_random(void) {
    static const char *const all[] = {"mined=random", "negatives=16", "mine_every=1", NULL},
                             *const train[] = {"mined=random", "negatives=4", "mine_every=1",
                                               "among=train", NULL},
                             *const near[] = {"mined=true", "negatives=4", "mine_every=1",
                                              "among=train", NULL};
    static const char *const *const options[] = {all, train, near};
    static struct trial t;
    for (int of = 0; of < 3; of++) {
        int64_t width = of == 0 ? 16 : 4;
        bool trained[40] = {false};
        int seen[40] = {0}, held = 0;
        put_beir();
        char note[HN_MESSAGE_MAX] = "";
        HN_CHECK(&t.ctx, open_pairs(&t, HN_OBJECTIVE_BOTH_WAYS, options[of]));
        t.ctx.notes = (struct hn_notes){hn_keep_note, note};
        const int32_t *hard = t.o.task.kept;
        for (int i = 0; i < t.o.task.n; i++)
            trained[own_of(&t.o.task, i)] = true;
        for (int64_t step = 0; step < 6; step++) {
            step_once(&t, step);
            for (int64_t i = 0; i < t.o.task.n * width; i++) {
                int d = hard[i] - 40;
                CU_ASSERT_FATAL(d >= 0 && d < 40 && d != own_of(&t.o.task, (int)(i / width)));
                seen[d]++;
                held += !trained[d];
                for (int64_t j = i - i % width; j < i; j++)
                    CU_ASSERT_NOT_EQUAL(hard[j], hard[i]);
            }
        }
        CU_ASSERT(of == 0 ? held > 0 : held == 0);
        CU_ASSERT_EQUAL(strstr(note, "training pushes them away") != NULL, of == 0);
        for (int d = 0; d < 40 && of < 2; d++)
            CU_ASSERT(seen[d] > 0 || (of == 1 && !trained[d]));
        close_pairs(&t);
        hn_fixture_remove(folder);
    }
}

// Queries to choose by are taken from the training alone, and measured as the others are.
static void test_valid(void) {
    static const char *const options[] = {"valid=0.4", NULL}, *const none[] = {NULL},
                             *const other[] = {"data_seed=9", NULL};
    static struct trial whole, t;
    double value[32], mrr_10 = 0, mrr_test = 0, recall = 0;
    put_beir();
    HN_CHECK(&whole.ctx, open_pairs(&whole, HN_OBJECTIVE_BOTH_WAYS, none));
    HN_CHECK(&t.ctx, open_pairs(&t, HN_OBJECTIVE_BOTH_WAYS, options));
    int n = (int)t.o.task.n, valid = (int)whole.o.task.n - n;
    int held = (int)t.o.task.n_all - n - valid - 40;
    CU_ASSERT_FATAL(valid > 3 && n > 3 && held == whole.o.task.n_all - whole.o.task.n - 40);
    embed_all(&whole);
    embed_all(&t);
    const float *q = t.z + (n + held) * OUT, *p = t.z + (t.o.task.n_all - 40) * OUT;
    int query[40], v = 0;
    bool all[40], own[40] = {false};
    for (int d = 0; d < 40; d++) {
        bool before = false, now = false;
        for (int i = 0; i < whole.o.task.n; i++)
            before |= own_of(&whole.o.task, i) == d;
        for (int i = 0; i < n; i++)
            now |= own_of(&t.o.task, i) == d;
        CU_ASSERT(before || !now);
        all[d] = true;
        own[d] = before && !now;
        if (own[d])
            query[v++] = d;
    }
    CU_ASSERT_EQUAL_FATAL(v, valid);
    for (int h = 0; h < valid; h++) {
        bool label[40] = {false};
        label[query[h]] = true;
        mrr_10 += reciprocal(q + h * OUT, p, 40, label, all, 10) / valid;
        mrr_test += reciprocal(q + h * OUT, p, 40, label, own, 1000) / valid;
        recall += 1.0 / valid; // of 40 documents
    }
    for (int k = 0; k < 32; k++)
        value[k] = NAN;
    HN_CHECK(&t.ctx, t.o.type->evaluate(&t.ctx, &t.o.task, 1, t.z, value));
    CU_ASSERT_DOUBLE_EQUAL(value[8], mrr_test, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(value[9], mrr_10, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(value[10], recall, 1e-9);
    CU_ASSERT(isfinite(value[0]) && isnan(value[11]));
    HN_CHECK(&whole.ctx, whole.o.type->evaluate(&whole.ctx, &whole.o.task, 1, whole.z, value + 11));
    CU_ASSERT(isnan(value[11 + 7]));
    int rows = (int)whole.o.task.n;
    close_pairs(&t);
    close_pairs(&whole);
    HN_CHECK(&t.ctx, open_pairs(&t, HN_OBJECTIVE_BOTH_WAYS, other));
    CU_ASSERT_NOT_EQUAL(t.o.task.n, rows); // another draw
    close_pairs(&t);
    hn_fixture_remove(folder);
}

// Groups of queries stay on one side.
static void test_groups(void) {
    static const char *const options[] = {"split=group", "valid=0.3", "data_seed=3", "held=0.3",
                                          NULL};
    static struct trial t;
    int sides[20][2] = {{0}};
    put_beir();
    HN_CHECK_FAILS(&t.ctx, open_pairs(&t, HN_OBJECTIVE_BOTH_WAYS, options), HN_DATA, "groups.txt");
    close_pairs(&t);
    FILE *groups = open_data(folder, "groups.txt");
    for (int i = 0; i < 40; i++)
        fprintf(groups, "package %d\n", i % 20);
    fclose(groups);
    HN_CHECK(&t.ctx, open_pairs(&t, HN_OBJECTIVE_BOTH_WAYS, options));
    bool trained[40] = {false};
    for (int i = 0; i < t.o.task.n; i++)
        trained[own_of(&t.o.task, i)] = true;
    for (int d = 0; d < 40; d++)
        sides[d % 20][trained[d]]++;
    for (int g = 0; g < 20; g++)
        CU_ASSERT(sides[g][0] == 0 || sides[g][1] == 0);
    close_pairs(&t);
    groups = open_data(folder, "groups.txt");
    fprintf(groups, "one\n");
    fclose(groups);
    HN_CHECK_FAILS(&t.ctx, open_pairs(&t, HN_OBJECTIVE_BOTH_WAYS, options), HN_DATA,
                   "groups.txt: 1 lines for 40 queries");
    close_pairs(&t);
    hn_fixture_remove(folder);
}

static void put_few(const char *name, int from, int to) {
    FILE *f = open_data(folder, name);
    for (int i = from; i < to; i++)
        fprintf(f, "{\"docstring\": \"find %c%c%c\", \"code\": \"get%c(x) + %d\"}\n", 'a' + i,
                'g' + i, 'p' + i, 'A' + i, i);
    CU_ASSERT_EQUAL(fclose(f), 0);
}

// Of a corpus that has fewer documents than negatives are asked for all are taken, however many
// that is.
static void test_few_negatives(void) {
    static struct trial t;
    int32_t id[BATCH];
    for (int i = 0; i < BATCH; i++)
        id[i] = i;
    hn_fixture_folder(folder, sizeof folder);
    put_few("train.jsonl", 0, BATCH);
    put_few("test.jsonl", BATCH, BATCH + 3);
    for (int random = 0; random < 2; random++) {
        double loss[3];
        for (int k = 0; k < 3; k++) {
            static const char *const numbers[] = {"negatives=2", "negatives=14", "negatives=16"};
            const char *options[] = {random ? "mined=random" : "mined=true", numbers[k], NULL};
            HN_CHECK(&t.ctx, open_pairs(&t, HN_OBJECTIVE_BOTH_WAYS, options));
            loss[k] = loss_of(&t.ctx, &t.o.task, id, BATCH);
            close_pairs(&t);
        }
        CU_ASSERT(isfinite(loss[0]));
        CU_ASSERT_DOUBLE_EQUAL(loss[1], loss[2], 1e-6);
        CU_ASSERT(loss[1] > loss[0] + 1e-3);
    }
    hn_fixture_remove(folder);
}

// Options that do not go together, and overlaps that leave nothing.
static void test_refused(void) {
    static struct trial t;
    static const struct {
        enum hn_objective objective;
        const char *options[3];
        enum hn_code code;
        const char *message;
    } cases[] = {
        {HN_OBJECTIVE_SIGLIP,
         {"same_side=documents"},
         HN_USAGE,
         "documents have no negatives in loss siglip"},
        {HN_OBJECTIVE_INFONCE,
         {"mask=true"},
         HN_USAGE,
         "hard negatives and `mask` take loss other-view, both-ways or siglip, not infonce"},
        {HN_OBJECTIVE_BOTH_WAYS,
         {"mined=true", "min_rank=5", "max_rank=5"},
         HN_USAGE,
         "max_rank 5 is not above min_rank 5"},
        {HN_OBJECTIVE_BOTH_WAYS,
         {"overlap=out-of-train"},
         HN_DATA,
         "overlap: out-of-train leaves no pair"},
        {HN_OBJECTIVE_BOTH_WAYS,
         {"overlap=out-of-test"},
         HN_DATA,
         "overlap: out-of-test leaves no pair"},
    };
    hn_fixture_folder(folder, sizeof folder);
    put_few("train.jsonl", 0, BATCH);
    put_few("test.jsonl", 0, BATCH);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *options[4] = {cases[i].options[0], cases[i].options[1], cases[i].options[2]};
        HN_CHECK_FAILS(&t.ctx, open_pairs(&t, cases[i].objective, options), cases[i].code,
                       cases[i].message);
        close_pairs(&t);
    }
    hn_fixture_remove(folder);
}

static const struct hn_test tests[] = {
    {"few negatives", test_few_negatives},
    {"refused", test_refused},
    {"measures", test_measures},

    {"loss", test_loss},
    {"same_side", test_same_side},
    {"tables", test_tables},
    {"mined", test_mined},
    {"mined, and interrupted", test_resume},
    {"drop_last", test_drop_last},
    {"faults", test_faults},
    {"overlap", test_overlap},
    {"window", test_window},
    {"at random", test_at_random},
    {"valid", test_valid},
    {"groups", test_groups},
};
HN_TEST_MAIN("pairs_task", tests)
