// SPDX-License-Identifier: GPL-3.0-or-later
// Settings that `hardneg price` compared, as a results file.
#include "core/files.h"
#include "core/text.h"
#include "harness/host/host.h"
#include "harness/mining/price_work.h"
#include "results/schema.h"
#include "results/store.h"
#include "retrieval/price.h"
#include "retrieval/recommend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))

struct hn_price_name hn_price_name(const struct hn_price *p) {
    struct hn_price_name name;
    (void)snprintf(name.text, sizeof name.text, "--%s %g", hn_price_option[p->setting.family],
                   p->setting.value);
    return name;
}

// Shares of the false negatives of the first ranks, which the page names settings within.
static const double part[] = {.5, .2, .05};
enum { PARTS = sizeof part / sizeof *part };
static const double none_max = 0.1; // of the queries without a negative, as the page says

// named[k]: the setting that --recommend names within part[k]; NULL: none.
static void find_named(const struct hn_price_work *w, const struct hn_price *named[PARTS]) {
    bool shown[HN_PRICES_MAX];
    for (int k = 0; k < PARTS; k++) {
        double limit = part[k] * w->price[0].false_share.mean;
        int best = hn_price_recommend(w->price, w->n, limit, none_max, shown);
        named[k] = best < 0 ? NULL : &w->price[best];
    }
}

static enum hn_code add_setting(struct hn_context *ctx, const struct hn_price_work *w,
                                const struct hn_price *p, const struct hn_price *const *named,
                                struct hn_results *out) {
    const struct hn_snapshot_info *file = w->corpus.info->file;
    int64_t step = w->p->step == INT64_MIN ? file->step[file->steps - 1] : w->p->step;
    const struct hn_price_name name = hn_price_name(p);
    const struct hn_described cell[] = {
        HN_TEXT_CELL("dataset", "snapshot file", hn_base_name(file->path)),
        HN_INT_CELL("step", "optimizer_step", "training step of the embeddings", step),
        HN_INT_CELL("queries", "queries", "queries", w->corpus.info->n[HN_QUERIES]),
        HN_INT_CELL("wanted", "passages", "negatives of a query that were asked for", w->miner.o.n),
        HN_INT_CELL("depth", "passages", "candidates of a query that were looked at",
                    w->miner.o.depth),
        HN_TEXT_CELL("by", "source of false negatives: truth, judged or ranks", w->by),
        HN_INT_CELL("judged", "pairs", "pairs that were judged", w->sheets.people),
        HN_TEXT_CELL("setting", "options of mine", name.text),
        HN_TEXT_CELL("family", "option that varies", hn_price_option[p->setting.family]),
        HN_REAL_CELL("value", "1", "its value", HN_NEITHER, p->setting.value),
        HN_INT_CELL("negatives", "pairs", "negatives of all queries", p->negatives),
        HN_REAL_CELL("hardness", "1",
                     "mean score over the query's far candidates, in their deviations", HN_LARGER,
                     p->hardness.mean),
        HN_REAL_CELL("hardness_lo", "1", "lower end of its 95 % interval", HN_LARGER,
                     p->hardness.lo),
        HN_REAL_CELL("hardness_hi", "1", "upper end of its 95 % interval", HN_LARGER,
                     p->hardness.hi),
        HN_REAL_CELL("false_negatives", "1", "share of the negatives that are relevant", HN_SMALLER,
                     p->false_share.mean),
        HN_REAL_CELL("false_lo", "1", "lower end of its 95 % interval; NaN by ranks", HN_SMALLER,
                     p->false_share.lo),
        HN_REAL_CELL("false_hi", "1", "upper end of its 95 % interval; NaN by ranks", HN_SMALLER,
                     p->false_share.hi),
        HN_REAL_CELL("model", "1", "the share by the model of judged pairs alone; NaN without",
                     HN_SMALLER, p->model),
        HN_REAL_CELL("fewer", "1", "share of queries with fewer negatives than wanted", HN_SMALLER,
                     p->fewer),
        HN_REAL_CELL("none", "1", "share of queries without a negative", HN_SMALLER, p->none),
        HN_INT_CELL("front", "1", "1: no other setting is harder with fewer false negatives",
                    p->front),
        HN_INT_CELL("within_half", "1",
                    "1: --recommend names it within half of the share of --min-rank 1",
                    named[0] == p),
        HN_INT_CELL("within_fifth", "1", "1: within a fifth", named[1] == p),
        HN_INT_CELL("within_twentieth", "1", "1: within a twentieth", named[2] == p)};
    return hn_results_add_row(ctx, out, "price", cell, LENGTH(cell));
}

static void put_bytes(FILE *out, const char *text) { (void)fputs(text, out); }

void hn_price_path(FILE *out, const char *path) { hn_put_word(out, put_bytes, path); }

void hn_price_command(FILE *out, const struct hn_price_work *w, const char *command) {
    fprintf(out, "hardneg %s ", command);
    hn_price_path(out, w->corpus.info->file->path);
    fprintf(out, " -n %lld --depth %lld", (long long)w->miner.o.n, (long long)w->miner.o.depth);
    if (w->p->o.equal_texts != HN_EQUAL_DEFAULT)
        fprintf(out, " --equal-texts %s", hn_mine_equal_texts[w->p->o.equal_texts]);
    if (w->p->o.self != HN_SELF_DEFAULT)
        fprintf(out, " --self %s", hn_mine_self[w->p->o.self]);
    if (w->p->o.min_grade != 1)
        fprintf(out, " --min-grade %lld", (long long)w->p->o.min_grade);
    if (w->p->step != INT64_MIN)
        fprintf(out, " --step %lld", (long long)w->p->step);
    if (w->corpus.dim > 0)
        fprintf(out, " --dim %lld", (long long)w->corpus.dim);
}

static enum hn_code add_attrition(struct hn_context *ctx, const struct hn_price_work *w,
                                  const struct hn_price *p, struct hn_results *out) {
    const struct hn_price_name name = hn_price_name(p);
    bool complete = w->corpus.info->truth.start != NULL;
    for (int s = 0; s < HN_STAGES; s++) {
        const struct hn_attrition *a = &p->attrition;
        const struct hn_described cell[] = {
            HN_TEXT_CELL("setting", "options of mine", name.text),
            HN_TEXT_CELL("filter", "filter that took the candidates; kept: none did",
                         hn_stage_name[s]),
            HN_INT_CELL("candidates", "pairs", "candidates that it took", a->all[s]),
            HN_INT_CELL("known", "pairs", "of them known positives", a->known[s]),
            HN_REAL_CELL("hidden", "pairs", "of them hidden positives; NaN without /truth",
                         HN_NEITHER, complete ? (double)a->hidden[s] : NAN)};
        if (a->all[s] > 0 && hn_results_add_row(ctx, out, "price_attrition", cell, LENGTH(cell)))
            return ctx->code;
    }
    return HN_OK;
}

// Keeps the command that mines with a setting, but for its option.
static enum hn_code add_command(struct hn_context *ctx, const struct hn_price_work *w,
                                struct hn_results *out) {
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (f)
        hn_price_command(f, w, "mine");
    bool good = f && fclose(f) == 0;
    enum hn_code code = good ? hn_results_set(ctx, out, HN_PRICE_COMMAND, text)
                             : hn_fail(ctx, HN_MEMORY, "out of memory for a command");
    free(text);
    return code;
}

static enum hn_code fill(struct hn_context *ctx, const struct hn_price_work *w, const char *argv,
                         struct hn_results *out) {
    struct hn_results env = {0};
    const struct hn_price *named[PARTS];
    find_named(w, named);
    if (hn_host_describe(ctx, &env, false) || hn_results_describe(ctx, out, "complete", &env) ||
        hn_results_set(ctx, out, "argv", argv) || add_command(ctx, w, out))
        return ctx->code;
    for (int i = 0; i < w->n; i++)
        if (add_setting(ctx, w, &w->price[i], named, out) ||
            add_attrition(ctx, w, &w->price[i], out))
            return ctx->code;
    return HN_OK;
}

enum hn_code hn_price_store(struct hn_context *ctx, const struct hn_price_work *w,
                            const char *argv) {
    struct hn_results out = {0};
    return fill(ctx, w, argv, &out) || hn_results_write(ctx, &out, w->p->output) ? ctx->code
                                                                                 : HN_OK;
}
