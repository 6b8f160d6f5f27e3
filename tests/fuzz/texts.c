// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/texts.h"
#include "core/label_sets.h"
#include "core/text.h"
#include "tests/figures_fixture.h"
#include "tests/fuzz/promise.h"

#include "datasets/import/import_private.h"
#include "harness/claims/claims.h"
#include "harness/job/train_job.h"
#include "harness/sheet/sheet.h"
#include "results/compare.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

enum { SEPARATOR = 0xff, ROWS = 8, TEXT = 4096 };

// The bytes up to a separator, ended by 0; those behind it are left. Cut at TEXT.
struct parts {
    const uint8_t *at;
    size_t left;
};
static size_t part_size(const struct parts *p) {
    const uint8_t *stop = p->left ? memchr(p->at, SEPARATOR, p->left) : NULL;
    return stop ? (size_t)(stop - p->at) : p->left;
}
static void go_on(struct parts *p, size_t size) {
    size_t used = size < p->left ? size + 1 : size;
    p->at += used;
    p->left -= used;
}
static char *take_text(struct parts *p, char text[TEXT]) {
    size_t size = part_size(p), kept = size < TEXT ? size : TEXT - 1;
    memcpy(text, p->at, kept);
    text[kept] = '\0';
    go_on(p, size);
    return text;
}

// Results to judge claims on; they stay for all inputs.
static const struct hn_results *made_up(void) {
    static struct hn_context ctx;
    static struct hn_results made;
    if (made.n_tables == 0) {
        hn_context_init(&ctx, 1);
        made = figures_results(&ctx);
    }
    return &made;
}

static enum hn_code judge(struct hn_context *ctx, const struct hn_claim_book *book) {
    struct hn_results stored = {0};
    enum hn_code code = HN_OK;
    for (int64_t i = 0; i < book->entries && code == HN_OK; i++) {
        struct hn_claim_outcome outcome = {0};
        (void)hn_claim_coverage(&book->entry[i]);
        code = hn_claims_judge(ctx, &book->entry[i], made_up(), "", &outcome);
        if (code == HN_OK)
            code = hn_claims_correct(ctx, &outcome, 1);
        if (code == HN_OK)
            code = hn_claims_store(ctx, &outcome, &stored);
        json_t *list = json_array();
        if (code == HN_OK)
            code = hn_claims_json(ctx, &outcome, list);
        json_decref(list);
    }
    hn_results_free(ctx, &stored);
    return code;
}

static enum hn_code read_claims(struct hn_context *ctx, const char *text) {
    struct hn_claim_book book;
    HN_SCOPE(ctx);
    if (hn_claims_read(ctx, "claims.yaml", text, &book))
        return ctx->code;
    enum hn_code code = judge(ctx, &book);
    hn_fuzz_must(ctx, code == HN_OK, "claims that can be read have a verdict");
    return code;
}

void hn_fuzz_claims(const uint8_t *data, size_t size) {
    struct hn_context ctx;
    hn_fuzz_begin(&ctx);
    char *text = malloc(size + 1); // as long as it is, so that a sanitizer sees its end
    if (!text)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    enum hn_code code = read_claims(&ctx, text);
    free(text);
    hn_fuzz_end(&ctx, code, true);
}

void hn_fuzz_train(const uint8_t *data, size_t size) {
    struct hn_context ctx;
    struct hn_train_job job, again;
    char path[HN_FUZZ_PATH];
    hn_fuzz_begin(&ctx);
    void *memory = hn_alloc(&ctx, 0, 1);
    hn_own(&ctx, memory);
    int fd = hn_fuzz_memory(data, size, path);
    enum hn_code code = hn_train_job_read(&ctx, path, NULL, &job);
    close(fd);
    if (code == HN_OK) {
        fd = hn_fuzz_memory((const uint8_t *)job.resolved, strlen(job.resolved), path);
        hn_fuzz_must(&ctx, hn_train_job_read(&ctx, path, NULL, &again) == HN_OK,
                     "a resolved training job can be read");
        hn_fuzz_must(&ctx, strcmp(job.resolved, again.resolved) == 0, "and resolves to itself");
        close(fd);
    }
    hn_own(&ctx, NULL);
    hn_free(&ctx, memory);
    hn_fuzz_end(&ctx, code, true);
}

static void must_be_labels(const struct hn_context *ctx, const struct hn_import_input *in) {
    const struct hn_label_sets *sets = &in->label_sets;
    for (int64_t i = 0; i < in->n && in->labels; i++) {
        hn_fuzz_must(ctx, in->labels[i] >= -1, "labels are numbers");
        if (!in->several_labels || in->labels[i] < 0)
            continue;
        int32_t set = in->labels[i];
        for (int64_t k = sets->start[set]; k < sets->start[set + 1]; k++)
            hn_fuzz_must(ctx, sets->label[k] >= 0 && (!in->name || sets->label[k] < in->n_names),
                         "labels of a set are named");
    }
    for (int64_t i = 0; i < in->n && in->group; i++)
        hn_fuzz_must(ctx, in->group[i] >= 0, "groups are numbered");
    for (int64_t i = 0; i < in->n_names; i++)
        hn_fuzz_must(ctx, hn_snapshot_keeps_text(in->name[i]), "names can be kept");
}

// The first byte says what there is: of an import of as many rows as the byte has in its upper
// half, names, a separator of labels, groups.
void hn_fuzz_labels(const uint8_t *data, size_t size) {
    static const char *const file[] = {"labels.txt", "names.tsv", "groups.txt"};
    struct hn_context ctx;
    char path[3][HN_FUZZ_PATH], separator[TEXT], *item[3] = {path[0], path[1], path[2]};
    unsigned how = size ? *data : 0;
    struct parts parts = {data + (size > 0), size - (size > 0)};
    hn_fuzz_begin(&ctx);
    for (int i = 0; i < 3; i++) {
        size_t part = part_size(&parts);
        hn_fuzz_path(path[i], file[i]);
        hn_fuzz_put(path[i], parts.at, part);
        go_on(&parts, part);
    }
    take_text(&parts, separator);
    struct hn_import_input in = {.from = "x.npy", .n = how >> 4};
    struct hn_import o = {.labels = {&item[0], 1},
                          .label_names = how & 1 ? item[1] : NULL,
                          .label_separator = how & 2 ? separator : NULL,
                          .label_tensor = how & 8 ? "a,b" : NULL,
                          .group = {&item[2], how & 4 ? 1 : 0}};
    struct hn_scope scope;
    hn_scope_begin(&ctx, &scope);
    enum hn_code code = hn_import_labels(&ctx, &o, &in);
    if (code == HN_OK)
        code = hn_import_groups(&ctx, &o, &in);
    if (code == HN_OK)
        must_be_labels(&ctx, &in);
    hn_scope_end(&scope);
    for (int i = 0; i < 3; i++)
        unlink(path[i]);
    hn_fuzz_end(&ctx, code, true);
}

void hn_fuzz_words(const uint8_t *data, size_t size) {
    struct hn_context ctx;
    struct hn_job_sampler *sampler;
    struct hn_gate gate;
    struct hn_sheet_source source = {0};
    char text[TEXT], path[HN_FUZZ_PATH];
    struct parts parts = {data, size};
    hn_fuzz_begin(&ctx);
    enum hn_code code = hn_job_parse_sampler(&ctx, take_text(&parts, text), &sampler);
    if (code == HN_OK) {
        hn_fuzz_must(&ctx, sampler->type && sampler->text, "a sampler has its options as text");
        hn_free(&ctx, sampler);
    }
    hn_fuzz_end(&ctx, code, true);
    code = hn_gate_parse(&ctx, take_text(&parts, text), &gate);
    hn_fuzz_must(&ctx, code || (gate.limit >= 0 && strlen(gate.metric)), "a gate has a limit");
    hn_fuzz_end(&ctx, code, true);
    hn_fuzz_path(path, "txt");
    hn_fuzz_put(path, parts.at, parts.left);
    struct hn_scope scope;
    hn_scope_begin(&ctx, &scope);
    code = hn_sheet_texts(&ctx, path, ROWS, &source);
    for (int i = 0; i < ROWS && code == HN_OK; i++)
        hn_fuzz_must(&ctx, strlen(source.text[i]) <= parts.left, "an item has a line");
    hn_scope_end(&scope);
    unlink(path);
    hn_fuzz_end(&ctx, code, true);
}
