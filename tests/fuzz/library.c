// SPDX-License-Identifier: GPL-3.0-or-later
// Arrays have exactly the sizes that a call states, on the heap: a sanitizer sees what is read or
// written beyond them. A caller who lies about sizes cannot be told from one who does not.
#include "tests/fuzz/library.h"
#include "library/hardneg.h"
#include "tests/fuzz/promise.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CALLS = 24,
    EDGES = 16,
    COLUMNS = 256,
    ITEMS = 13,
    NEXT = 160
}; // bytes from NEXT on: do_next()

struct bytes {
    const uint8_t *at, *end;
};

// What was done with the handle so far.
struct state {
    struct bytes in;
    hardneg *h;
    int64_t n, batch_size, batches;
    bool opened;
    bool drawn; // some batches, or lists
};

static unsigned take(struct bytes *b) { return b->at < b->end ? *b->at++ : 0; }
#define PICK(b, list) ((list)[take(b) % (sizeof(list) / sizeof(list)[0])])

static void must(const struct state *s, bool condition, const char *what) {
    if (condition)
        return;
    fprintf(stderr, "promise broken: %s (message \"%s\")\n", what, hardneg_message(s->h));
    abort();
}

static void *array(int64_t count, size_t size) {
    void *p = calloc(count > 0 ? (size_t)count : 1, size);
    if (!p)
        abort();
    return p;
}

// What holds of every call that can fail.
static bool passed(const struct state *s, int code) {
    must(s, code == HARDNEG_OK || code == HARDNEG_USAGE || code == HARDNEG_DATA,
         "wrong arguments are no internal error, and small ones fit");
    must(s, code == HARDNEG_OK || *hardneg_message(s->h), "a failure has a message");
    must(s, strlen(hardneg_note(s->h)) < 4096 && strlen(hardneg_sampler(s->h)) < 4096,
         "notes and names are texts");
    return code == HARDNEG_OK;
}

static void do_open(struct state *s) {
    static const char *const specs[] = {"uniform",
                                        "knn",
                                        "mined",
                                        "random-negatives",
                                        "{mined: {n: 3}}",
                                        "stratified",
                                        "gcbs",
                                        "{batchsampler: {M: 4, K: 2}}",
                                        "{batchsampler: {M: 4, K: 2, alpha: 0.2~0.05}}",
                                        "hops",
                                        "{ring: {space: embeddings}}",
                                        "ring",
                                        "hard-negative",
                                        "file-order",
                                        "",
                                        "knm",
                                        "{knn",
                                        NULL,
                                        "{uniform: {draw: [iid, shuffle]}}",
                                        "\xff\xfe",
                                        "{mined: {n: 99999999999}}"};
    static const int64_t sizes[] = {2, 3, 4, 8, 12, 0, 1, -1, INT64_MAX, INT32_MAX};
    static const int threads[] = {1, 2, 1, 0, -5, INT_MAX, INT_MIN};
    hardneg_free(s->h);
    s->h = NULL;
    s->n = s->batches = 0;
    const char *spec = PICK(&s->in, specs);
    s->batch_size = PICK(&s->in, sizes);
    s->opened =
        passed(s, hardneg_open(spec, s->batch_size, take(&s->in), PICK(&s->in, threads), &s->h));
    must(s, s->h, "a handle that is to be freed");
}

static void fill_rows(struct bytes *b, float *x, int64_t count, bool odd) {
    static const float values[] = {NAN, INFINITY, 0, 1e38F, 1e-38F, -1};
    unsigned seed = take(b);
    for (int64_t i = 0; i < count; i++)
        x[i] = (float)((seed + 37 * (unsigned)i * (unsigned)i) % 101) - 49.5F;
    if (odd && count > 0)
        x[take(b) % (unsigned)count] = PICK(b, values);
}

static void fill_graph(struct bytes *b, int64_t n, int64_t *start, int32_t *edge) {
    bool odd = take(b) % 4 == 0;
    for (int64_t i = 0; i < n; i++) {
        start[i + 1] = start[i] + take(b) % 3;
        if (start[i + 1] > EDGES)
            start[i + 1] = EDGES;
    }
    for (int k = 0; k < EDGES; k++)
        edge[k] = (int32_t)(take(b) % (unsigned)(n > 0 ? n : 1));
    if (odd && n > 0) {
        start[take(b) % (unsigned)n] = (int64_t)take(b) - 20; // the last stays
        edge[take(b) % EDGES] = (int32_t)take(b) - 50;
    }
}

static void do_build(struct state *s) {
    static const int64_t counts[] = {12, 8, 5, ITEMS, 3, 2, 1, 0, -1, INT64_MAX};
    static const int64_t dims[] = {3, 1, 4, 5, 0, -1, INT64_MAX};
    static const size_t sizes[] = {sizeof(struct hardneg_items),
                                   sizeof(struct hardneg_items),
                                   0,
                                   8,
                                   offsetof(struct hardneg_items, view2),
                                   SIZE_MAX};
    static const double progress[] = {0, 0.5, 1, NAN, -1, 2};
    static const int64_t feature_dims[] = {2, 1, 0, -1, INT64_MAX};
    unsigned what = take(&s->in), odd = take(&s->in);
    int64_t n = PICK(&s->in, counts), d = PICK(&s->in, dims);
    bool real = n >= 0 && n <= ITEMS && d >= 0 && d <= 5;
    int64_t rows = real ? n : 0, values = real ? n * d : 0,
            p = odd & 16 ? PICK(&s->in, feature_dims) : 2;
    float *x = array(values, sizeof *x), *view = array(values, sizeof *view);
    float *features = array(rows * (p > 0 && p < 3 ? p : 0), sizeof *features);
    int32_t *labels = array(rows, sizeof *labels), *edge = array(EDGES, sizeof *edge);
    int64_t *start = array(rows + 1, sizeof *start);
    int64_t *label_start = array(rows + 1, sizeof *label_start);
    int32_t *label = array(EDGES, sizeof *label);
    fill_rows(&s->in, x, values, odd & 1);
    fill_rows(&s->in, view, values, odd & 2);
    fill_rows(&s->in, features, rows * (p > 0 && p < 3 ? p : 0), odd & 4);
    fill_graph(&s->in, rows, start, edge);
    for (int64_t i = 0; i < rows; i++)
        labels[i] = odd & 8 ? (int32_t)take(&s->in) - 3 : (int32_t)i % 3;
    if (what & 32)
        fill_graph(&s->in, rows, label_start, label);
    struct hardneg_items items = {.size = odd & 32 ? PICK(&s->in, sizes) : sizeof items,
                                  .n = n,
                                  .d = d,
                                  .x = odd & 64 ? NULL : x,
                                  .view2 = what & 1 ? view : NULL,
                                  .labels = what & 2 ? labels : NULL,
                                  .edge_start = what & 4 ? start : NULL,
                                  .edge = what & 8 ? edge : NULL,
                                  .features = what & 16 ? features : NULL,
                                  .feature_dims = p,
                                  .index = odd & 128 ? -1 : (int64_t)what,
                                  .progress = odd & 128 ? PICK(&s->in, progress) : 0,
                                  .label_start = what & 32 ? label_start : NULL,
                                  .label = what & 64 ? NULL : label,
                                  .zero_rows = odd & 128 ? take(&s->in) % 3 : 0,
                                  .teacher = odd & 2 ? features : NULL,
                                  .teacher_dims = p,
                                  .group = odd & 1 ? labels : NULL};
    if (passed(s, hardneg_build(s->h, what & 128 && odd & 32 ? NULL : &items))) {
        s->n = n;
        s->batches = 0;
    }
    free(x), free(view), free(features), free(labels), free(edge), free(start);
    free(label_start), free(label);
}

static void do_epoch(struct state *s) {
    static const int64_t epochs[] = {0, 1, 2, 7, INT64_MAX, -1, INT64_MIN};
    int64_t epoch = PICK(&s->in, epochs), batches = 0, promised = 0;
    bool null = take(&s->in) % 8 == 7;
    if (!passed(s, hardneg_epoch(s->h, epoch, null ? NULL : &batches)))
        return;
    s->batches = batches;
    must(s, hardneg_sizes(s->h, epoch, 0, NULL, &promised) == HARDNEG_OK && promised == batches,
         "an epoch has as many batches as are promised");
}

static void check_ids(const struct state *s, const int64_t *id, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        must(s, id[i] >= -1 && id[i] < s->n, "ids are items, or -1");
}

static void do_draw(struct state *s, bool lists) {
    static const int64_t odd[] = {-1, INT64_MAX, INT64_MIN, 1000};
    unsigned how = take(&s->in);
    int64_t first = how & 1 ? PICK(&s->in, odd) : 0, count = first < 0 ? 1 : s->batches - first;
    if (how & 2)
        count = PICK(&s->in, odd);
    bool fits = first >= 0 && count >= 0 && first <= s->batches && count <= s->batches - first;
    int64_t capacity = hardneg_capacity(s->h), places = fits ? count * s->batch_size : 0;
    int64_t *ids = array(places, sizeof *ids),
            *negative = array(places * capacity, sizeof *negative);
    float *score = array(places * capacity, sizeof *score);
    int code = lists ? hardneg_negatives(s->h, first, count, how & 4 ? NULL : ids,
                                         how & 8 ? NULL : negative, how & 16 ? NULL : score)
                     : hardneg_next(s->h, first, count, how & 4 ? NULL : ids);
    if (passed(s, code)) {
        must(s, fits && !(how & 4), "what does not fit is refused");
        check_ids(s, ids, places);
        check_ids(s, negative, lists ? places * capacity : 0);
        s->drawn = s->drawn || places > 0;
    }
    free(ids), free(negative), free(score);
}

// What a caller would do next, without an odd argument: most sequences of calls would not get to a
// draw.
static void do_next(struct state *s) {
    static const char *const specs[] = {"uniform", "knn", "mined", "stratified",
                                        "{batchsampler: {M: 4, K: 2}}"};
    enum { N = 12, D = 3 };
    float x[N * D];
    int32_t labels[N];
    for (int i = 0; i < N; i++)
        labels[i] = i % 3;
    fill_rows(&s->in, x, N * D, false);
    const struct hardneg_items items = {
        .size = sizeof items, .n = N, .d = D, .x = x, .labels = labels};
    if (!s->opened) {
        hardneg_free(s->h);
        s->h = NULL;
        s->batch_size = 4;
        s->opened = passed(s, hardneg_open(PICK(&s->in, specs), 4, take(&s->in), 1, &s->h));
        must(s, s->opened, "a sampler is opened");
    } else if (s->n == 0) {
        if (passed(s, hardneg_build(s->h, &items)))
            s->n = N;
    } else if (s->batches == 0) {
        (void)passed(s, hardneg_epoch(s->h, take(&s->in) % 3, &s->batches));
    } else {
        int64_t lists = hardneg_capacity(s->h), places = s->batches * s->batch_size;
        int64_t *ids = array(places, sizeof *ids), *negative = array(places * lists, sizeof *ids);
        int code = lists ? hardneg_negatives(s->h, 0, s->batches, ids, negative, NULL)
                         : hardneg_next(s->h, 0, s->batches, ids);
        if (passed(s, code)) {
            check_ids(s, ids, places);
            check_ids(s, negative, places * lists);
            s->drawn = true;
        }
        free(ids), free(negative);
    }
}

static void do_measure(struct state *s) {
    static const int64_t odd[] = {0, -1, INT64_MAX, INT64_MIN};
    static const char *const losses[] = {"ntxent", "infonce", "other-view", NULL, "", "DCL"};
    static const char *const weights[] = {"{hcl: {beta: 1}}", "debiased", NULL, "none", "{", ""};
    static const double temperatures[] = {0, 0.5, 0.02, 1e-300, -1, NAN, INFINITY, 1e300};
    unsigned how = take(&s->in), wrong = take(&s->in);
    int64_t rows = 1 + take(&s->in) % 3, width = 2 + take(&s->in) % 3, capacity = take(&s->in) % 3;
    int64_t *ids = array(rows * width, sizeof *ids);
    int64_t *negative = array(rows * width * capacity, sizeof *negative);
    double *value = array(COLUMNS, sizeof *value);
    for (int64_t i = 0; i < rows * width; i++)
        ids[i] = wrong & 1 ? (int64_t)take(&s->in) - 2 : (i * 5 + how) % (s->n ? s->n : 1);
    for (int64_t i = 0; i < rows * width * capacity; i++)
        negative[i] = wrong & 2 ? (int64_t)take(&s->in) - 2 : -1;
    struct hardneg_measure m = {.size = wrong & 4 ? take(&s->in) : sizeof m,
                                .temperature = PICK(&s->in, temperatures),
                                .loss = PICK(&s->in, losses),
                                .weighting = PICK(&s->in, weights),
                                .epoch_batches = wrong & 8 ? PICK(&s->in, odd) : 0,
                                .negative = how & 1 ? negative : NULL,
                                .capacity = wrong & 16 ? -5 : capacity};
    (void)passed(s, hardneg_measure_batches(s->h, how & 2 ? NULL : ids,
                                            wrong & 32 ? PICK(&s->in, odd) : rows,
                                            wrong & 64 ? PICK(&s->in, odd) : width,
                                            how & 4 ? NULL : &m, how & 8 ? NULL : value));
    free(ids), free(negative), free(value);
}

// Nothing happens to a handle that is none.
static void do_null(struct state *s) {
    int64_t batches, id;
    double value[1];
    struct hardneg_items items = {.size = sizeof items};
    must(s, hardneg_open("knn", 2, 1, 1, NULL) == HARDNEG_USAGE, "no place for a handle");
    must(s,
         hardneg_build(NULL, &items) == HARDNEG_USAGE &&
             hardneg_epoch(NULL, 0, &batches) == HARDNEG_USAGE &&
             hardneg_next(NULL, 0, 1, &id) == HARDNEG_USAGE && hardneg_capacity(NULL) == 0 &&
             hardneg_negatives(NULL, 0, 1, &id, &id, NULL) == HARDNEG_USAGE &&
             hardneg_measure_batches(NULL, &id, 1, 1, NULL, value) == HARDNEG_USAGE,
         "NULL is refused");
    must(s, *hardneg_message(NULL) && !*hardneg_note(NULL) && !*hardneg_sampler(NULL), "and said");
    hardneg_stop(NULL);
    hardneg_free(NULL);
    const char *name = NULL;
    int i = (int)take(&s->in) - 3;
    must(s, hardneg_column(i, &name, NULL, NULL) == (name != NULL), "columns end");
}

void hn_fuzz_library(const uint8_t *data, size_t size) {
    struct state s = {.in = {data, data + size}};
    do_open(&s);
    for (int i = 0; i < CALLS && s.in.at < s.in.end; i++) {
        const unsigned call = take(&s.in);
        if (call >= NEXT) {
            do_next(&s);
            continue;
        }
        switch (call % 9) {
        case 0: do_open(&s); break;
        case 1:
        case 2: do_build(&s); break;
        case 3: do_epoch(&s); break;
        case 4: do_draw(&s, false); break;
        case 5: do_draw(&s, true); break;
        case 6: do_measure(&s); break;
        case 7: do_null(&s); break;
        default: hardneg_stop(s.h);
        }
    }
    hn_fuzz_count(s.drawn, hardneg_message(s.h));
    hardneg_free(s.h);
}
