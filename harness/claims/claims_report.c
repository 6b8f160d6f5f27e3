// SPDX-License-Identifier: GPL-3.0-or-later
// Outcomes of claims as tables of a results file, as text and as JSON.
#include "core/terminal.h"
#include "core/text.h"
#include "harness/claims/claims.h"
#include "plots/page/paper.h"
#include "results/records.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

static enum hn_code store_id(struct hn_context *ctx, const struct hn_claim_outcome *o,
                             struct hn_results *r) {
    const struct hn_claim_entry *e = o->entry;
    const struct hn_described cell[] = {
        HN_TEXT_CELL("id", "identifier of the figure or table", e->id),
        HN_TEXT_CELL("paper", "short name of the paper", e->paper),
        HN_TEXT_CELL("title", "what it shows", e->title),
        HN_TEXT_CELL("source", "figures and tables of the papers", e->source),
        HN_TEXT_CELL("kind", "snapshots, training or listed", hn_claim_kinds[e->kind]),
        HN_TEXT_CELL("verdict", "holds, fails, inconclusive or not tested",
                     hn_verdicts[o->verdict]),
        HN_TEXT_CELL("corrected", "the same, all entries of the report corrected together (Holm)",
                     hn_verdicts[o->corrected]),
        HN_REAL_CELL("p", "1", "of the verdict, one-sided; 1 if inconclusive", HN_NEITHER, o->p),
        HN_TEXT_CELL("reason", "what the verdict rests on", o->reason),
        HN_INT_CELL("claims", "1", "claims of the paper", o->claims),
        HN_INT_CELL("holding", "1", "claims of the paper that hold", o->holding),
        HN_INT_CELL("failing", "1", "claims of the paper that fail", o->failing),
        HN_INT_CELL("encoders", "1", "that every comparison rests on, at least", o->encoders),
        HN_INT_CELL("datasets", "1", "data sets that the claims were judged on", o->datasets),
        HN_INT_CELL("broken", "1", "identities that fail: mistakes of this program", o->broken)};
    return hn_results_add_row(ctx, r, "claim_ids", cell, COUNT(cell));
}

// "fn_ratio" or "pos_prob - pos_prob_global".
static struct hn_phrase statistic(const struct hn_claim_side *side) {
    struct hn_phrase text;
    hn_put_text(text.text, sizeof text.text, "%s", side->column);
    if (side->with)
        hn_append(text.text, sizeof text.text, " %c ", side->op);
    if (side->with && side->times != 1)
        hn_append(text.text, sizeof text.text, "%g * ", side->times);
    hn_append(text.text, sizeof text.text, "%s", side->with ? side->with : "");
    return text;
}

// The published number of a claim or level, and as "22 percent"; "" if it has none.
struct published {
    struct hn_published number;
    char text[64];
};

static struct published published(const struct hn_claim_entry *e,
                                  const struct hn_claim_published *p) {
    struct published out = {.number = {.value = NAN, .deviation = NAN}};
    if (p->series && hn_paper_number(e->id, p->series, p->x, &out.number))
        snprintf(out.text, sizeof out.text, "%g %s", out.number.value,
                 strcmp(out.number.unit, "1") == 0 ? "" : out.number.unit);
    return out;
}

static enum hn_code store_claim(struct hn_context *ctx, const struct hn_claim_outcome *o, int64_t i,
                                struct hn_results *r) {
    static const struct hn_claim_part none = {
        .left = NAN, .right = NAN, .difference = NAN, .lo = NAN, .hi = NAN};
    const struct hn_claim *c = &o->entry->claim[i];
    const struct hn_claim_result *result = &o->claim[i];
    const struct hn_claim_part *p = result->decided >= 0 ? &result->part[result->decided] : &none;
    const struct published paper = published(o->entry, &c->published);
    char at[HN_CLAIM_DATASET + HN_CLAIM_AT + 2];
    hn_put_text(at, sizeof at, "%s%s%s", p->dataset, *p->dataset && *p->at ? ", " : "", p->at);
    const struct hn_described cell[] = {
        HN_TEXT_CELL("id", "identifier of the figure or table", o->entry->id),
        HN_TEXT_CELL("claim", "short name of the claim", c->name),
        HN_TEXT_CELL("statement", "the claim", c->statement),
        HN_TEXT_CELL("kind", "claim (of the paper), identity or ours", hn_claim_owners[c->owner]),
        HN_TEXT_CELL("statistic", "column, or expression of columns", statistic(&c->of).text),
        HN_TEXT_CELL("test", "how it is compared", hn_claim_tests[c->test]),
        HN_TEXT_CELL("verdict", "holds, fails, inconclusive or not tested",
                     hn_verdicts[result->verdict]),
        HN_TEXT_CELL("reason", "what the verdict rests on", result->reason),
        HN_TEXT_CELL("at", "the comparison that decided", at),
        HN_REAL_CELL("left", "1", "mean of the first side there", HN_NEITHER, p->left),
        HN_REAL_CELL("right", "1", "mean of the second side there", HN_NEITHER, p->right),
        HN_REAL_CELL("own", "1", "difference there", HN_NEITHER, p->difference),
        HN_REAL_CELL("own_lo", "1", "lower end of its 95 % interval", HN_NEITHER, p->lo),
        HN_REAL_CELL("own_hi", "1", "upper end of its 95 % interval", HN_NEITHER, p->hi),
        HN_REAL_CELL("margin", "1", "how far apart is equal there; 0 for a direction", HN_NEITHER,
                     p->margin),
        HN_INT_CELL("replicates", "1", "seeds, or encoders of a family", p->replicates),
        HN_INT_CELL("parts", "1", "comparisons", result->compared),
        HN_INT_CELL("parts_holding", "1", "comparisons that hold", result->holding),
        HN_INT_CELL("parts_failing", "1", "comparisons that fail", result->failing),
        HN_INT_CELL("needed", "1",
                    "replicates that decide with probability .9; 0 none, -1 more than 100000",
                    result->needed),
        HN_REAL_CELL("p_holds", "1", "one-sided, largest of the comparisons", HN_NEITHER,
                     result->p_holds),
        HN_REAL_CELL("p_fails", "1", "one-sided, smallest of them times their number", HN_NEITHER,
                     result->p_fails),
        HN_TEXT_CELL("paper", "the published value", paper.text),
        HN_TEXT_CELL("paper_table", "where it is published", paper.number.table)};
    return hn_results_add_row(ctx, r, "claims", cell, COUNT(cell));
}

static enum hn_code store_parts(struct hn_context *ctx, const struct hn_claim_outcome *o, int64_t i,
                                struct hn_results *r) {
    const struct hn_claim_result *result = &o->claim[i];
    for (int64_t k = 0; k < result->parts; k++) {
        const struct hn_claim_part *p = &result->part[k];
        const struct hn_described cell[] = {
            HN_TEXT_CELL("id", "identifier of the figure or table", o->entry->id),
            HN_TEXT_CELL("claim", "short name of the claim", o->entry->claim[i].name),
            HN_TEXT_CELL("dataset", "snapshot file", p->dataset),
            HN_TEXT_CELL("at", "step, setting or pair of settings", p->at),
            HN_INT_CELL("step", "1", "training step of the embeddings, -1 = none", p->step),
            HN_REAL_CELL("left", "1", "mean of the first side", HN_NEITHER, p->left),
            HN_REAL_CELL("right", "1", "mean of the second side", HN_NEITHER, p->right),
            HN_REAL_CELL("difference", "1", "mean difference", HN_NEITHER, p->difference),
            HN_REAL_CELL("lo", "1", "lower end of its 95 % interval", HN_NEITHER, p->lo),
            HN_REAL_CELL("hi", "1", "upper end of its 95 % interval", HN_NEITHER, p->hi),
            HN_TEXT_CELL("verdict", "holds, fails or inconclusive", hn_verdicts[p->verdict]),
            HN_INT_CELL("replicates", "1", "seeds, or encoders of a family", p->replicates),
            HN_REAL_CELL("se", "1", "standard error of the difference", HN_NEITHER, p->error),
            HN_REAL_CELL("detectable", "1", "difference shown with probability .9, about",
                         HN_NEITHER, p->detectable),
            HN_REAL_CELL("p", "1", "paired t-test of no difference, two-sided", HN_NEITHER, p->p)};
        if (hn_results_add_row(ctx, r, "claim_parts", cell, COUNT(cell)))
            return ctx->code;
    }
    return HN_OK;
}

static enum hn_code store_level(struct hn_context *ctx, const struct hn_claim_outcome *o, int64_t i,
                                struct hn_results *r) {
    const struct hn_claim *l = &o->entry->level[i];
    const struct published paper = published(o->entry, &l->published);
    for (int64_t k = 0; k < o->level[i].parts; k++) {
        const struct hn_claim_part *p = &o->level[i].part[k];
        const struct hn_described cell[] = {
            HN_TEXT_CELL("id", "identifier of the figure or table", o->entry->id),
            HN_TEXT_CELL("what", "which number", l->name),
            HN_TEXT_CELL("dataset", "snapshot file", p->dataset),
            HN_TEXT_CELL("at", "step and setting", p->at),
            HN_REAL_CELL("own", "1", "measured", HN_NEITHER, p->difference),
            HN_REAL_CELL("own_lo", "1", "lower end of its 95 % interval", HN_NEITHER, p->lo),
            HN_REAL_CELL("own_hi", "1", "upper end of its 95 % interval", HN_NEITHER, p->hi),
            HN_TEXT_CELL("unit", "unit", l->unit),
            HN_REAL_CELL("paper", "1", "published", HN_NEITHER, paper.number.value),
            HN_TEXT_CELL("paper_table", "where it is published", paper.number.table)};
        if (hn_results_add_row(ctx, r, "claim_levels", cell, COUNT(cell)))
            return ctx->code;
    }
    return HN_OK;
}

enum hn_code hn_claims_store(struct hn_context *ctx, const struct hn_claim_outcome *o,
                             struct hn_results *r) {
    if (store_id(ctx, o, r))
        return ctx->code;
    for (int64_t i = 0; i < o->entry->claims; i++)
        if (store_claim(ctx, o, i, r) || store_parts(ctx, o, i, r))
            return ctx->code;
    for (int64_t i = 0; i < o->entry->levels; i++)
        if (store_level(ctx, o, i, r))
            return ctx->code;
    return HN_OK;
}

static void print_level(const struct hn_claim_outcome *o, int64_t i) {
    const struct hn_claim *l = &o->entry->level[i];
    const struct published paper = published(o->entry, &l->published);
    char line[512];
    for (int64_t k = 0; k < o->level[i].parts; k++) {
        const struct hn_claim_part *p = &o->level[i].part[k];
        hn_put_text(line, sizeof line, "%s%s%s%s%s: %.4g", l->name,
                    *p->dataset || *p->at ? ", " : "", p->dataset,
                    *p->dataset && *p->at ? ", " : "", p->at, p->difference);
        if (p->hi > p->lo)
            hn_append(line, sizeof line, " [%.4g, %.4g]", p->lo, p->hi);
        hn_append(line, sizeof line, "%s%s", *l->unit ? " " : "", l->unit);
        if (*paper.text)
            hn_append(line, sizeof line, "; paper %s (%s)", paper.text, paper.number.table);
        printf("  %-13s%s\n", "level", line);
    }
    if (o->level[i].parts == 0 && *paper.text)
        printf("  %-13s%s: not measured; paper %s (%s)\n", "level", l->name, paper.text,
               paper.number.table);
}

// ", on 8 encoders of 1 data set"; "" where there is no encoder.
static void print_rests(const struct hn_claim_outcome *o) {
    if (o->encoders == 1)
        printf(", on one encoder of %s", o->datasets == 1 ? "one data set" : "each data set");
    else if (o->encoders > 1)
        printf(", on %" PRId64 " encoders of %s", o->encoders,
               hn_counted(o->datasets, "data set").text);
}

void hn_claims_print(const struct hn_claim_outcome *o) {
    const struct hn_claim_entry *e = o->entry;
    printf("%s  %s (%s)\n", e->id, e->title, e->source);
    if (e->statement)
        printf("  %-13s%s\n", e->claims ? "" : hn_verdicts[o->verdict], e->statement);
    for (int64_t i = 0; i < e->claims; i++) {
        const struct hn_claim_result *result = &o->claim[i];
        const struct published paper = published(e, &e->claim[i].published);
        int owner = e->claim[i].owner;
        printf("  %-13s%s%s\n", hn_verdicts[result->verdict],
               owner == HN_CLAIM_IDENTITY ? "identity: "
               : owner == HN_CLAIM_OURS   ? "ours: "
                                          : "",
               e->claim[i].statement);
        if (strcmp(result->reason, o->reason) != 0)
            hn_wrapped_print(result->reason, 15, 0, stdout);
        if (*paper.text)
            printf("%15spaper: %s (%s)\n", "", paper.text, paper.number.table);
    }
    for (int64_t i = 0; i < e->levels; i++)
        print_level(o, i);
    printf("  verdict: %s", hn_verdicts[o->verdict]);
    print_rests(o);
    if (o->verdict == HN_NOT_TESTED)
        printf("; %s", o->reason);
    if (o->broken > 0)
        printf("; an identity fails: a mistake of this program, please report it");
    printf("\n\n");
}

// "1 holds, 2 fail, 0 inconclusive": a verb that agrees with its number.
static void print_totals(const char *what, const int64_t *total) {
    static const char *const several[] = {"hold", "fail"};
    for (int v = 0; v <= HN_NOT_CORRECTED; v++)
        if (total[v] || v < HN_NOT_CORRECTED)
            printf("%s%" PRId64 " %s", v ? ", " : what, total[v],
                   v < 2 && total[v] != 1 ? several[v] : hn_verdicts[v]);
    printf("\n");
}

void hn_claims_print_summary(const struct hn_claim_outcome *outcome, int64_t n) {
    int64_t total[HN_NOT_CORRECTED + 1] = {0}, corrected[HN_NOT_CORRECTED + 1] = {0};
    printf("%-13s %-12s %-13s %6s %8s  %s\n", "id", "verdict", "corrected", "claims", "encoders",
           "what it rests on");
    for (int64_t i = 0; i < n; i++) {
        const struct hn_claim_outcome *o = &outcome[i];
        char claims[32], rests[124];
        snprintf(claims, sizeof claims, "%" PRId64 "/%" PRId64, o->holding, o->claims);
        total[o->verdict]++;
        corrected[o->corrected]++;
        hn_put_text(rests, sizeof rests, "%s", o->reason);
        printf("%-13s %-12s %-13s %6s %8" PRId64 "  %s\n", o->entry->id, hn_verdicts[o->verdict],
               hn_verdicts[o->corrected], claims, o->encoders, rests);
    }
    print_totals("\n", total);
    if (!corrected[HN_NOT_CORRECTED])
        print_totals("corrected together (Holm): ", corrected);
}

void hn_claims_print_changes(const struct hn_claim_outcome *outcome, int64_t n,
                             const struct hn_results *earlier, const char *name) {
    const struct hn_table *ids = hn_results_table(earlier, "claim_ids");
    int64_t known = 0, changed = 0;
    for (int64_t i = 0; i < n; i++) {
        const char *id = outcome[i].entry->id, *now = hn_verdicts[outcome[i].verdict];
        int64_t row = hn_table_row_with(ids, "id", id);
        const char *before = row < 0 ? now : hn_table_text(ids, row, "verdict");
        known += row >= 0;
        if (strcmp(before, now) != 0)
            printf("%s%-13s %-12s -> %s\n", changed++ ? "" : "\n", id, before, now);
    }
    printf("%" PRId64 " of %" PRId64 " verdicts differ from those of %s\n", changed, known, name);
}

// The rows of an outcome: those of its claims and their parts, and of its levels, within its own.
static json_t *outcome_json(const struct hn_claim_outcome *o, const struct hn_results *r) {
    json_t *entry = hn_table_json(hn_results_table(r, "claim_ids"), 0);
    json_t *claims = json_array(), *levels = json_array();
    int64_t part = 0, level = 0;
    for (int64_t i = 0; i < o->entry->claims; i++) {
        json_t *claim = hn_table_json(hn_results_table(r, "claims"), i), *parts = json_array();
        for (int64_t k = 0; k < o->claim[i].parts; k++)
            json_array_append_new(parts, hn_table_json(hn_results_table(r, "claim_parts"), part++));
        json_object_set_new(claim, "parts", parts);
        json_array_append_new(claims, claim);
    }
    for (int64_t i = 0; i < o->entry->levels; i++)
        for (int64_t k = 0; k < o->level[i].parts; k++)
            json_array_append_new(levels,
                                  hn_table_json(hn_results_table(r, "claim_levels"), level++));
    json_object_set_new(entry, "claims", claims);
    json_object_set_new(entry, "levels", levels);
    return entry;
}

enum hn_code hn_claims_json(struct hn_context *ctx, const struct hn_claim_outcome *o,
                            json_t *list) {
    struct hn_results r = {0};
    enum hn_code code = hn_claims_store(ctx, o, &r);
    if (!code)
        json_array_append_new(list, outcome_json(o, &r));
    hn_results_free(ctx, &r);
    return code;
}
