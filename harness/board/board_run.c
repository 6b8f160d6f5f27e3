// SPDX-License-Identifier: GPL-3.0-or-later
// Measures an entry on a suite: a job for each kind, of which steps differ, and one file of
// results.
#include "core/files.h"
#include "core/text.h"
#include "harness/board/board.h"
#include "harness/host/host.h"
#include "harness/job/resolve.h"
#include "harness/run/cells.h"
#include "results/analysis/board.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct measuring {
    struct hn_context *ctx;
    const struct hn_suite *suite;
    const struct hn_suite_entry *entry;
    const char *folder;
    bool quiet;
    struct hn_cell_state state;
    struct hn_results env, all;
};

static void put_int(struct hn_yaml_text *t, const char *before, int64_t n) {
    char text[48];
    snprintf(text, sizeof text, "%s%" PRId64, before, n);
    hn_yaml_text_put(t, text);
}

// A path that does not depend on the folder of the entry, against which a job's are.
static void put_path(const struct measuring *m, struct hn_yaml_text *t, const char *file) {
    char *beside = hn_path_beside(m->ctx, m->suite->path, file);
    char *whole = beside ? realpath(beside, NULL) : NULL;
    t->failed = t->failed || !beside;
    if (beside)
        hn_yaml_text_name(t, whole ? whole : beside);
    free(whole);
}

// The job of a kind as YAML.
static char *job_of(const struct measuring *m, const struct hn_suite_kind *kind) {
    const struct hn_suite *s = m->suite;
    struct hn_yaml_text t = {.ctx = m->ctx, .quoted = true};
    char temperature[48];
    hn_yaml_text_put(&t, "snapshots: [");
    for (int64_t i = 0; i < kind->encoders; i++) {
        hn_yaml_text_put(&t, i ? ", " : "");
        put_path(m, &t, kind->encoder[i].file);
    }
    put_int(&t, "]\nsteps: [", kind->step);
    put_int(&t, "]\nbatch_size: ", s->batch_size);
    put_int(&t, "\nbatches: ", s->batches);
    hn_yaml_text_put(&t, "\nseeds: ");
    for (int64_t i = 0; i < s->n_seeds; i++)
        put_int(&t, i ? ", " : "[", s->seed[i]);
    snprintf(temperature, sizeof temperature, "]\ntemperature: %.17g\n", s->temperature);
    hn_yaml_text_put(&t, temperature);
    hn_yaml_text_put(&t, "metrics: [fn_ratio, hardness, true_hardness]\n"
                         "timing: {reps: 1, warmup: 0, interleave: false}\nfigures: none\n"
                         "samplers:\n");
    for (int64_t i = 0; i < m->entry->settings; i++) {
        struct hn_point point;
        memcpy(&point, &m->entry->setting[i], sizeof point);
        hn_yaml_text_put(&t, "  - ");
        hn_yaml_text_point(&t, &hn_sampler_registry, &point);
        hn_yaml_text_put(&t, "\n");
    }
    return hn_yaml_text_end(&t);
}

static enum hn_code check_encoders(const struct measuring *m, const struct hn_suite_kind *kind,
                                   const struct hn_plan *plan) {
    for (int64_t i = 0; i < plan->n_data; i++)
        if (strcmp(plan->data[i].sha256, kind->encoder[i].sha256) != 0)
            return hn_fail(m->ctx, HN_DATA,
                           "%s: %s has the checksum %.12s, and not %.12s as the suite says: take "
                           "the encoder of the suite, or make a suite of your own",
                           m->suite->path, kind->encoder[i].file, plan->data[i].sha256,
                           kind->encoder[i].sha256);
    return HN_OK;
}

static enum hn_code check_whole(const struct measuring *m, const struct hn_suite_kind *kind,
                                const struct hn_results *part) {
    for (int64_t i = 0; i < part->runs.rows; i++) {
        const char *status = hn_table_text(&part->runs, i, "status");
        if (strcmp(status, "failed") == 0)
            return hn_fail(m->ctx, HN_PARTIAL, "%s on %s: %s: %s", m->entry->name, kind->name,
                           hn_table_text(&part->runs, i, "sampler"),
                           hn_table_text(&part->runs, i, "error"));
    }
    return HN_OK;
}

static enum hn_code run_kind(struct measuring *m, const struct hn_suite_kind *kind) {
    struct hn_context *ctx = m->ctx;
    struct hn_plan plan = {0};
    struct hn_run_summary summary;
    struct hn_results part = {0};
    struct hn_job job;
    HN_SCOPE(ctx);
    char *text = job_of(m, kind);
    if (!text || hn_job_read(ctx, m->entry->path, text, NULL, NULL, &job) ||
        hn_plan_make(ctx, &job, &plan))
        return ctx->code;
    struct hn_runner run = hn_plan_runner(&plan);
    run.folder = m->folder;
    run.quiet = m->quiet;
    enum hn_code code = check_encoders(m, kind, &plan);
    code = code ? code : hn_run_cells(ctx, &run, &m->state, &summary);
    code = code ? code : hn_run_collect(ctx, &run, &part, &summary);
    code = code ? code : check_whole(m, kind, &part);
    hn_own(ctx, scope.outer);
    code = code ? code : hn_results_append(ctx, &m->all, &part);
    hn_plan_free(ctx, &plan);
    return code;
}

static enum hn_code add_suite(struct measuring *m) {
    for (int64_t k = 0; k < m->suite->kinds; k++) {
        const struct hn_suite_kind *kind = &m->suite->kind[k];
        for (int64_t i = 0; i < kind->encoders; i++) {
            const struct hn_described cell[] = {
                HN_TEXT_CELL("kind", "kind of data", kind->name),
                HN_INT_CELL("encoder", "1", "encoder of the kind, from 1", i + 1),
                HN_TEXT_CELL("sha256", "checksum of its contents", kind->encoder[i].sha256),
                HN_INT_CELL("step", "1", "step of its series", kind->step),
                HN_INT_CELL("kept", "1", "1: kept aside", kind->kept)};
            if (hn_results_add_row(m->ctx, &m->all, HN_BOARD_TABLE, cell,
                                   sizeof cell / sizeof *cell))
                return m->ctx->code;
        }
    }
    return HN_OK;
}

// The settings without their defaults: "knn; {mosaic: {lambda: 0.5}}".
static char *settings_of(const struct measuring *m) {
    struct hn_yaml_text t = {.ctx = m->ctx, .brief = true};
    for (int64_t i = 0; i < m->entry->settings; i++) {
        struct hn_point point;
        memcpy(&point, &m->entry->setting[i], sizeof point);
        hn_yaml_text_put(&t, i ? "; " : "");
        hn_yaml_text_point(&t, &hn_sampler_registry, &point);
    }
    return hn_yaml_text_end(&t);
}

static enum hn_code store(struct measuring *m, const char *output) {
    char *settings = settings_of(m);
    if (!settings)
        return m->ctx->code;
    const struct {
        const char *name, *value;
    } said[] = {{HN_BOARD_SUITE, m->suite->name},          {HN_BOARD_SHA256, m->suite->sha256},
                {HN_BOARD_ENTRY, m->entry->name},          {HN_BOARD_AUTHORS, m->entry->authors},
                {HN_BOARD_CHOSEN_ON, m->entry->chosen_on}, {HN_BOARD_SETTINGS_TEXT, settings}};
    if (add_suite(m) || hn_results_describe(m->ctx, &m->all, "complete", &m->env))
        return m->ctx->code;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (hn_results_set(m->ctx, &m->all, said[i].name, said[i].value))
            return m->ctx->code;
    return hn_results_write(m->ctx, &m->all, output);
}

enum hn_code hn_entry_measure(struct hn_context *ctx, const struct hn_suite *suite,
                              const struct hn_suite_entry *entry, const char *folder, bool quiet,
                              const char *output) {
    struct measuring m = {
        .ctx = ctx, .suite = suite, .entry = entry, .folder = folder, .quiet = quiet};
    if (hn_host_describe(ctx, &m.env, true))
        return ctx->code;
    m.state.sgemm_gflops = atof(hn_results_get_env(&m.env, "sgemm_gflops"));
    for (int64_t k = 0; k < suite->kinds; k++)
        if (run_kind(&m, &suite->kind[k]))
            return ctx->code;
    return store(&m, output);
}
