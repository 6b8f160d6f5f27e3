// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg reproduce`: claims of papers, run and judged.
#include "core/files.h"
#include "core/sweep/blas.h"
#include "core/text.h"
#include "harness/cli/command.h"
#include "harness/cli/summary.h"
#include "harness/host/host.h"
#include "harness/host/processes.h"
#include "harness/reproduce/reproduce.h"
#include "plots/page/figure.h"
#include "plots/page/paper.h"
#include "plots/page/render.h"
#include "results/cell_file.h"
#include "results/records.h"

#include <string.h>

struct reproduce_params {
    bool all, training, list, ready, dry_run, replicates, quick, full;
    char *data, *output, *results, *against;
    struct hn_text_list claims;
    int64_t seeds, threads, workers;
    int term;
};

static const char *const terms[] = {"svg", "pdf", "png", "none", NULL};

static const char usual_data[] = "datasets";

#define OPTION(kind, ...) HN_##kind##_OPTION(struct reproduce_params, __VA_ARGS__)
static const struct hn_option reproduce_options[] = {
    {OPTION(BOOL, all, "all", NULL, "everything that snapshots can show")},
    {OPTION(BOOL, training, "training", NULL, "everything that needs training runs")},
    {OPTION(BOOL, list, "list", NULL,
            "list the identifiers and what is missing for each; runs nothing")},
    {OPTION(BOOL, ready, "ready", NULL, "with --list: only what the data in DIR suffice for")},
    {OPTION(BOOL, dry_run, "dry-run", NULL,
            "estimate what trainings will take, by identifier and in all, and stop"),
     .letter = 'n'},
    {OPTION(FOLDER, data, "data",
            "folder of snapshots, or one snapshot; for trainings: of data sets"),
     .letter = 'd', .initial = usual_data},
    {OPTION(BOOL, replicates, "replicates", NULL,
            "the snapshots of --data are encoders trained alike with other seeds: claims "
            "are judged over encoders, and the sampler's seeds averaged within each")},
    {OPTION(OUTPUT, "DIR", "folder of the run; cells that exist are not run again"),
     .initial = "results/reproduce"},
    {OPTION(FILE, results, "results",
            "judge these results, or those of a run's folder, instead of running anything")},
    {OPTION(FILE, against, "against",
            "earlier results, of one encoder perhaps: say which verdicts changed")},
    {OPTION(BOOL, quick, "quick", NULL, "3 seeds of 40 batches, and small trainings")},
    {OPTION(BOOL, full, "full", NULL,
            "10 seeds of 300 batches (20 of trainings), and costs at all the papers' sizes")},
    {OPTION(COUNT, seeds, "seeds", NULL, 1, 100, "seeds 1 to N (default: 5)")},
    {OPTION(FILES, claims, "claims",
            "a claim file of your own, beside the papers' (docs/reference/claims.md)")},
    {OPTION(CHOICE, term, "term", "svg", terms, "format of the figures"), .metavar = "T"},
    {OPTION(THREADS, "")},
    {OPTION(WORKERS, "trainings")},
    {0},
};

struct work {
    const struct hn_call *call;
    const struct reproduce_params *p;
    const struct hn_claim_entry **known; // [n_known] of all claim files
    const struct hn_claim_entry **entry; // [entries <= n_known] asked for
    int64_t n_known, known_capacity, entries;
    struct hn_reproduce rep;
    struct hn_cell_store kept;        // of the folder
    struct hn_results all;            // every cell once, and the claims
    int64_t cells;                    // of them
    struct hn_claim_outcome *outcome; // [entries]
    int64_t outcomes;
};

// Claim files.

static enum hn_code add_book(struct hn_context *ctx, struct work *w, const char *name,
                             const char *text) {
    struct hn_claim_book book;
    if (hn_claims_read(ctx, name, text, &book) ||
        hn_grow(ctx, &w->known, &w->known_capacity, w->n_known + book.entries, sizeof *w->known))
        return ctx->code;
    for (int64_t i = 0; i < book.entries; i++)
        w->known[w->n_known++] = &book.entry[i];
    return HN_OK;
}

static enum hn_code read_books(struct hn_context *ctx, struct work *w) {
    const char *name;
    for (int64_t i = 0; (name = hn_paper_name(i)) != NULL; i++) {
        bool claims = hn_ends_in(name, ".yaml") && !strchr(name, '/');
        if (claims && add_book(ctx, w, name, hn_paper_text(name)))
            return ctx->code;
    }
    for (int64_t i = 0; i < w->p->claims.count; i++)
        if (add_book(ctx, w, w->p->claims.item[i], NULL))
            return ctx->code;
    return hn_reproduce_expand(ctx, &w->rep, w->known, w->n_known);
}

// Which entries.

static void add_entry(struct work *w, const struct hn_claim_entry *entry) {
    for (int64_t i = 0; i < w->entries; i++)
        if (w->entry[i] == entry)
            return;
    w->entry[w->entries++] = entry;
}

// The entry that shows the same, where one only refers to it; NULL if no claim file has it.
static const struct hn_claim_entry *meant_by(const struct work *w, const struct hn_claim_entry *e) {
    for (int64_t i = 0; e->as && i < w->n_known; i++)
        if (strcmp(w->known[i]->id, e->as) == 0)
            return w->known[i];
    return e->as ? NULL : e;
}

static enum hn_code add_meant(struct hn_context *ctx, struct work *w,
                              const struct hn_claim_entry *entry) {
    const struct hn_claim_entry *meant = meant_by(w, entry);
    if (!meant)
        return hn_fail(ctx, HN_USAGE, "%s: is the same as '%s', which no claim file has", entry->id,
                       entry->as);
    add_entry(w, w->p->list ? entry : meant);
    return HN_OK;
}

static enum hn_code choose(struct hn_context *ctx, struct work *w) {
    const struct hn_call *call = w->call;
    bool everything = w->p->list && call->n_args == 0 && !w->p->all && !w->p->training;
    const char **ids = hn_alloc(ctx, w->n_known, sizeof *ids);
    if (!ids || !HN_ALLOC(ctx, w->entry, w->n_known))
        return ctx->code;
    for (int64_t i = 0; i < w->n_known; i++) {
        ids[i] = w->known[i]->id;
        int kind = w->known[i]->kind;
        if (everything || (w->p->all && kind == HN_KIND_SNAPSHOTS) ||
            (w->p->training && kind == HN_KIND_TRAINING))
            add_entry(w, w->known[i]);
    }
    for (int a = 0; a < call->n_args; a++) {
        if (hn_name_find(ctx, "identifier", call->args[a], ids, w->n_known, "; --list shows all") <
            0)
            return ctx->code;
        for (int64_t i = 0; i < w->n_known; i++)
            if (strcmp(ids[i], call->args[a]) == 0 && add_meant(ctx, w, w->known[i]))
                return ctx->code;
    }
    if (w->entries == 0)
        return hn_fail(ctx, HN_USAGE,
                       "nothing asked for: give identifiers, --all, --training or "
                       "--list, which shows the identifiers");
    return HN_OK;
}

static enum hn_code list_entries(struct hn_context *ctx, struct work *w) {
    struct hn_listed *listed = hn_alloc(ctx, w->entries, sizeof *listed);
    if (!listed)
        return ctx->code;
    for (int64_t i = 0; i < w->entries; i++) {
        const struct hn_claim_entry *meant = meant_by(w, w->entry[i]);
        listed[i] = (struct hn_listed){w->entry[i], meant ? meant : w->entry[i]};
    }
    return hn_print_listed(ctx, &w->rep, listed, w->entries, w->p->ready, w->call->json);
}

// Results: every cell once, as of the first identifier that measures it. Others measure more of it:
// their own files have that.

static bool has_cell(const struct work *w, const struct hn_table *t, int64_t row) {
    static const char *const keys[] = {"run_key", "cell_key"};
    const struct hn_table *all = hn_results_table(&w->all, t->name);
    bool has = false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !has; i++) {
        const char *key = hn_table_text(t, row, keys[i]);
        has = *key && hn_table_row_with(all, keys[i], key) >= 0;
    }
    return has;
}

static enum hn_code add_cells(struct hn_context *ctx, struct work *w, const struct hn_table *t) {
    for (int64_t row = 0; t && row < t->rows; row++) {
        const char *key = hn_table_text(t, row, "run_key");
        if (!*key || has_cell(w, t, row))
            continue;
        w->cells++;
        if (hn_cell_store_append(ctx, &w->kept, key, &w->all))
            return ctx->code;
    }
    return HN_OK;
}

// Tables that no shard holds are copied.
static enum hn_code add_datasets(struct hn_context *ctx, struct work *w,
                                 const struct hn_results *r) {
    const struct hn_table *from = hn_results_table(r, "datasets");
    if (!from)
        return HN_OK;
    struct hn_table *to =
        hn_results_need_table(ctx, &w->all, "datasets", from->column, from->n_columns);
    for (int64_t row = 0; to && row < from->rows; row++)
        if (hn_table_row_with(to, "dataset", hn_table_text(from, row, "dataset")) < 0 &&
            hn_table_append_rows(ctx, to, from, &row, 1))
            return ctx->code;
    return to ? HN_OK : ctx->code;
}

static enum hn_code merge(struct hn_context *ctx, struct work *w, const struct hn_results *r) {
    static const char *const tables[] = {"runs", "snapshots", "studies", "costs"};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (add_cells(ctx, w, hn_results_table(r, tables[i])))
            return ctx->code;
    return add_datasets(ctx, w, r);
}

static enum hn_code write_results(struct hn_context *ctx, struct work *w, struct hn_results *r,
                                  const char *format, const char *id) {
    char *path = hn_format(ctx, format, w->rep.folder, id);
    return !path || hn_results_set(ctx, r, "argv", w->call->line) ||
                   hn_results_describe(ctx, r, "complete", &w->rep.env) ||
                   hn_results_write(ctx, r, path)
               ? ctx->code
               : HN_OK;
}

// A figure that cannot be drawn takes no verdict away.
static void draw_one(struct hn_context *ctx, const struct work *w, const struct hn_figure *figure,
                     const struct hn_results *r, bool must) {
    char *folder = hn_format(ctx, "%s/figures", w->rep.folder);
    enum hn_code code = folder ? hn_folder_make(ctx, folder) : ctx->code;
    if (!code)
        code = hn_figure_draw(ctx, figure, r, folder, (struct hn_picture){terms[w->p->term]});
    if (code && (must || code != HN_NOT_APPLICABLE))
        hn_note(ctx, "figure %s is left out: %s", figure->id, ctx->message);
}

// A training without a figure of its own gets the general ones under its name.
static void draw(struct hn_context *ctx, const struct work *w, const struct hn_claim_entry *entry,
                 const struct hn_results *r) {
    const struct hn_figure *own = hn_figure_find(entry->id);
    if (strcmp(terms[w->p->term], "none") == 0)
        return;
    if (own)
        draw_one(ctx, w, own, r, true);
    char name[HN_FIGURE_NAME];
    struct hn_figure general;
    bool trained = !own && hn_results_table(r, "training");
    for (int i = 0; trained && hn_figure_of_training(i, entry->id, name, &general); i++)
        draw_one(ctx, w, &general, r, i == 0);
}

static enum hn_code keep(struct hn_context *ctx, struct work *w,
                         const struct hn_claim_outcome *outcome, struct hn_results *r) {
    char *folder = hn_format(ctx, "%s/ids", w->rep.folder);
    if (!folder || merge(ctx, w, r) || hn_claims_store(ctx, outcome, r))
        return ctx->code;
    if (r->runs.rows == 0 && !hn_results_table(r, "costs"))
        return HN_OK;
    if (hn_folder_make(ctx, folder) || write_results(ctx, w, r, "%s/ids/%s.h5", outcome->entry->id))
        return ctx->code;
    draw(ctx, w, outcome->entry, r);
    return HN_OK;
}

// On standard output; of a training every setting, too, the untrained encoder among them.
static enum hn_code print_outcome(struct hn_context *ctx, const struct hn_claim_outcome *outcome,
                                  const struct hn_results *r, bool measured) {
    hn_claims_print(outcome);
    if (outcome->entry->kind == HN_KIND_TRAINING && r->runs.rows > 0 && measured) {
        if (hn_results_table(r, "training") && hn_train_print(ctx, r))
            return ctx->code;
        printf("\n");
    }
    return HN_OK;
}

// One entry: measured, judged, told, kept.
static enum hn_code reproduce(struct hn_context *ctx, struct work *w,
                              const struct hn_claim_entry *entry, const struct hn_results *given) {
    struct hn_results r = {0};
    const struct hn_results *judged = given ? given : &r;
    struct hn_claim_outcome *outcome = &w->outcome[w->outcomes];
    char why[HN_MESSAGE_MAX] = "";
    if (given && entry->missing)
        snprintf(why, sizeof why, "%s", entry->missing);
    bool failed = (!given && hn_reproduce_run(ctx, &w->rep, entry, &r, why)) ||
                  hn_claims_judge(ctx, entry, judged, why, outcome);
    w->outcomes += !failed;
    failed = failed || (!w->call->json && print_outcome(ctx, outcome, judged, !*why));
    fflush(stdout);
    failed = failed || (!given && keep(ctx, w, outcome, &r));
    hn_results_free(ctx, &r);
    return failed ? ctx->code : HN_OK;
}

static enum hn_code finish(struct hn_context *ctx, struct work *w) {
    for (int64_t i = 0; i < w->outcomes; i++)
        if (hn_claims_store(ctx, &w->outcome[i], &w->all))
            return ctx->code;
    if (write_results(ctx, w, &w->all, "%s/results.h5", ""))
        return ctx->code;
    hn_cell_store_pack(ctx, &w->kept);
    return HN_OK;
}

static enum hn_code tell_changes(struct hn_context *ctx, const struct work *w) {
    struct hn_results earlier;
    if (hn_results_open(ctx, w->p->against, &earlier))
        return ctx->code;
    hn_claims_print_changes(w->outcome, w->outcomes, &earlier, w->p->against);
    return HN_OK;
}

static enum hn_code tell(struct hn_context *ctx, const struct work *w) {
    if (!w->call->json) {
        if (w->outcomes > 1)
            hn_claims_print_summary(w->outcome, w->outcomes);
        return w->p->against ? tell_changes(ctx, w) : HN_OK;
    }
    json_t *rows = json_array();
    enum hn_code code = HN_OK;
    for (int64_t i = 0; i < w->outcomes && !code; i++)
        code = hn_claims_json(ctx, &w->outcome[i], rows);
    json_t *document = json_pack("{s:o}", "entries", rows);
    if (!code)
        return hn_json_print(ctx, document, stdout);
    json_decref(document);
    return code;
}

static enum hn_code reproduce_all(struct hn_context *ctx, struct work *w) {
    struct hn_results given = {0};
    bool measures = !w->p->results;
    if (!measures && hn_results_open(ctx, w->p->results, &given))
        return ctx->code;
    if (!HN_ZALLOC(ctx, w->outcome, w->entries) ||
        (measures && (hn_cell_store_prepare(ctx, w->rep.folder) ||
                      hn_reproduce_train_all(ctx, &w->rep, w->entry, w->entries))))
        return ctx->code;
    for (int64_t i = 0; i < w->entries; i++)
        if (reproduce(ctx, w, w->entry[i], measures ? NULL : &given))
            return ctx->code;
    if (hn_claims_correct(ctx, w->outcome, w->outcomes) || (measures && finish(ctx, w)) ||
        tell(ctx, w))
        return ctx->code;
    if (measures && !w->call->quiet)
        fprintf(stderr, "%s/results.h5: %s and the claims\n", w->rep.folder,
                hn_counted(w->cells, "cell").text);
    return HN_OK;
}

static enum hn_code foresee(struct hn_context *ctx, struct work *w) {
    int64_t rows;
    struct hn_foreseen *row = hn_alloc(ctx, w->entries, sizeof *row);
    if (!row || hn_reproduce_foresee(ctx, &w->rep, w->entry, w->entries, row, &rows))
        return ctx->code;
    return hn_print_foreseen(ctx, row, rows, w->rep.workers, w->call->json);
}

static enum hn_code run(struct hn_context *ctx, const struct hn_call *call) {
    const struct reproduce_params *p = call->params;
    if (p->quick && p->full)
        return hn_fail(ctx, HN_USAGE, "--quick and --full exclude each other: give one");
    if (call->n_args > 0 && (p->all || p->training))
        return hn_fail(ctx, HN_USAGE,
                       "%s runs more than the identifiers given: leave out one or the other",
                       p->all ? "--all" : "--training");
    if (p->ready && !p->list)
        return hn_fail(ctx, HN_USAGE, "--ready belongs to --list: give both");
    ctx->threads = (int)hn_given(p->threads, ctx->threads);
    if (!p->list && !p->results && hn_blas_open(ctx))
        return ctx->code;
    struct work *w = hn_zalloc(ctx, 1, sizeof *w);
    if (!w)
        return ctx->code;
    w->call = call;
    w->p = p;
    w->kept.folder = p->output;
    w->rep = (struct hn_reproduce){.folder = p->output,
                                   .data = p->data,
                                   .data_optional = p->list && strcmp(p->data, usual_data) == 0,
                                   .effort = p->quick  ? HN_EFFORT_QUICK
                                             : p->full ? HN_EFFORT_FULL
                                                       : HN_EFFORT_USUAL,
                                   .seeds = hn_given(p->seeds, 0),
                                   .replicates = p->replicates,
                                   .workers = (int)hn_given(p->workers, 0),
                                   .quiet = call->quiet};
    bool failed = read_books(ctx, w) || choose(ctx, w) ||
                  (p->list      ? list_entries
                   : p->dry_run ? foresee
                                : reproduce_all)(ctx, w);
    hn_untrained_close(&w->rep.untrained);
    hn_cell_store_close(ctx, &w->kept);
    return failed ? ctx->code : HN_OK;
}

const struct hn_command hn_cmd_reproduce = {
    .name = "reproduce",
    .group = HN_GROUP_TRAINING,
    .usage =
        "hardneg reproduce ID... | --all | --training | --list [--data DIR] [-o DIR] [options]",
    .summary = "measure figures and tables of the papers on your data, and judge their claims",
    .details =
        "Runs the cells of a figure or table of a paper on your snapshots, and judges the paper's "
        "claims: holds (the 95 % interval lies wholly on the claimed side), fails (wholly on the "
        "other), inconclusive (with the number of seeds that would settle it), or not tested (and "
        "what is missing). A claim that fails is a finding, not an error: the exit code is 0. "
        "Leaves in DIR: results.h5 with the claims, ids/ (one results file for each identifier), "
        "figures/, jobs/ and cells/; repeat the command to resume.",
    .examples = "hardneg reproduce bs-fig4 gc-fig3 --data snapshots -o results/reproduce\n"
                "hardneg reproduce --list",
    .options = reproduce_options,
    .params_size = sizeof(struct reproduce_params),
    .json = true,
    .max_args = 256,
    .takes_names = true,
    .run = run,
};
