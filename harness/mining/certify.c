// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg price --for`: the price of the negatives that `mine` would write with these options, and
// whether few enough of them are false, by judging some until it is known.
#include "core/options/option_argv.h"
#include "core/random.h"
#include "core/text.h"
#include "harness/mining/certificate.h"
#include "harness/mining/corpus.h"
#include "harness/mining/price_work.h"
#include "results/records.h"
#include "retrieval/listed.h"
#include "retrieval/miner.h"
#include "retrieval/price.h"
#include "retrieval/take.h"

#include <math.h>
#include <string.h>

static const char *const verdict_name[] = {"undecided", "shown", "passed"};

// The negatives of queries that have a positive, in the order of queries: those that no relevance
// decides as pairs to be judged. Judged before, they are not false; nor are included positives.
struct negatives {
    struct hn_sheet_row *pair;
    int32_t *order; // in which they are judged
    int64_t n, decided;
    char sha256[HN_DIGEST_TEXT];
};

struct work {
    struct hn_price_work *w;
    struct hn_mine_options o;
    struct hn_mined mined;
    struct hn_price price;
    struct negatives all;
    double *relevant;              // [judged] of the first pairs in order
    int64_t judged, judges, drawn; // drawn: rows of the next sheet
    double sum;
    struct hn_interval share;
    enum hn_certify verdict;
};

// Splits the text at blanks; `mine` reads its options likewise.
static enum hn_code parse(struct hn_context *ctx, const char *text, struct hn_mine_options *o) {
    int n = 1, positional = 0;
    char *copy = hn_strdup(ctx, text), *rest = copy;
    char **argv = hn_alloc(ctx, (int64_t)strlen(text) + 2, sizeof *argv);
    const char **other = hn_alloc(ctx, (int64_t)strlen(text) + 2, sizeof *other);
    if (!copy || !argv || !other || hn_options_init(ctx, hn_mine_table, o))
        return ctx->code;
    static char name[] = "mine";
    argv[0] = name;
    for (char *word; (word = strtok_r(rest, " \t\n", &rest)); n++)
        argv[n] = word;
    if (hn_options_argv(ctx, hn_mine_table, o, n, argv, other, &positional))
        return hn_fail_in(ctx, "--for");
    if (positional > 0)
        return hn_fail(ctx, HN_USAGE, "--for: %s is no option of mine that decides its negatives",
                       hn_quote(other[0]).text);
    return HN_OK;
}

static enum hn_code list(struct hn_context *ctx, struct work *c) {
    const struct hn_mined *m = &c->mined;
    const struct hn_miner *miner = &c->w->miner;
    struct negatives *all = &c->all;
    struct hn_digest digest;
    int64_t total = 0;
    for (int64_t i = 0; i < m->count; i++)
        total += m->n[i];
    if (total > INT32_MAX)
        return hn_fail(ctx, HN_DATA, "--for: %lld negatives are more than can be drawn from",
                       (long long)total);
    if (!HN_ALLOC(ctx, all->pair, total) || !HN_ALLOC(ctx, all->order, total))
        return ctx->code;
    hn_digest_begin(&digest);
    for (int64_t i = 0; i < m->count; i++) {
        const int32_t *id = m->id + i * m->width;
        if (m->n[i] == 0 || !hn_qrels_any_relevant(&miner->data.qrels, i))
            continue;
        hn_certificate_add(&digest, i, id, m->n[i]);
        for (int64_t k = 0; k < m->n[i]; k++) {
            bool decided =
                hn_relevance_grade(&miner->known, i, hn_miner_merged(miner, id[k])) != INT32_MIN;
            all->decided += decided;
            if (!decided)
                all->pair[all->n++] = (struct hn_sheet_row){
                    .query = (int32_t)i, .passage = id[k], .probability = NAN};
        }
    }
    hn_digest_end(&digest, all->sha256);
    hn_permute((uint64_t)c->w->p->seed, "price.certify", 0, 0, 0, all->order, (int32_t)all->n);
    return all->n + all->decided > 0
               ? HN_OK
               : hn_fail(ctx, HN_DATA, "%s: these options leave no query a negative",
                         c->w->corpus.info->file->path);
}

static enum hn_code load(struct hn_context *ctx, struct work *c, const char *path) {
    struct hn_price_work *w = c->w;
    if (parse(ctx, w->p->mine, &c->o) || hn_price_open(ctx, w, path) ||
        hn_miner_open(ctx, &w->corpus.data, &c->o, path, &w->miner) ||
        hn_miner_pool(ctx, &w->miner, 0, w->corpus.info->n[HN_QUERIES], true, &w->pool) ||
        hn_miner_take(ctx, &w->miner, &w->pool, &c->mined) ||
        hn_mine_check(ctx, &w->miner, &c->mined.counts, path) ||
        hn_price_mined(ctx, &w->miner, &w->pool, &c->mined, &c->price))
        return ctx->code;
    return list(ctx, c);
}

// The pair that a row of a sheet is to be; judges of the same one are added.
static enum hn_code add_row(struct hn_context *ctx, const struct work *c,
                            const struct hn_sheet_row *row, double *sum, double *judges) {
    const char *sheet = c->w->p->judged.item[row->sheet];
    const struct negatives *all = &c->all;
    const struct hn_sheet_row *pair =
        row->number >= 1 && row->number <= all->n ? &all->pair[all->order[row->number - 1]] : NULL;
    if (!pair || pair->query != row->query || pair->passage != row->passage)
        return hn_fail(
            ctx, HN_DATA,
            "%s: line %lld: the pair is not row %lld of the negatives of these options: "
            "give the --for, --seed, --step and --dim of the sheet, and the file that it was "
            "drawn from",
            sheet, (long long)row->line, (long long)row->number);
    sum[row->number - 1] += row->sum;
    judges[row->number - 1] += row->judges;
    return HN_OK;
}

static enum hn_code read_judged(struct hn_context *ctx, struct work *c) {
    struct hn_sheet_row *row;
    int64_t n;
    if (hn_sheet_read(ctx, &c->w->corpus, &c->w->p->judged, &row, &n))
        return ctx->code;
    double *judges = hn_zalloc(ctx, c->all.n, sizeof *judges);
    c->relevant = hn_zalloc(ctx, c->all.n, sizeof *c->relevant);
    if (!judges || !c->relevant)
        return ctx->code;
    for (int64_t i = 0; i < n; i++) {
        if (add_row(ctx, c, &row[i], c->relevant, judges))
            return ctx->code;
        c->judged = hn_max(c->judged, row[i].number);
    }
    for (int64_t k = 0; k < c->judged; k++) {
        if (judges[k] == 0)
            return hn_fail(ctx, HN_DATA,
                           "row %lld is in no sheet, and later ones are: give all sheets from the "
                           "first",
                           (long long)k + 1);
        c->relevant[k] /= judges[k];
        c->sum += c->relevant[k];
        c->judges = hn_max(c->judges, (int64_t)judges[k]);
    }
    return HN_OK;
}

// By judged pairs; or, where all is known, for certain.
static enum hn_code decide(struct hn_context *ctx, struct work *c) {
    const struct hn_price_work *w = c->w;
    double limit = w->p->max_fn, truth = c->price.false_share.mean;
    double all = (double)(c->all.n + c->all.decided), open = (double)c->all.n / all;
    if (hn_certified_share(ctx, c->relevant, c->judged, c->all.n, &c->share))
        return ctx->code;
    c->share = (struct hn_interval){c->share.mean * open, c->share.lo * open, c->share.hi * open};
    if (isnan(limit))
        return HN_OK;
    if (open <= limit)
        c->verdict = HN_CERTIFY_SHOWN;
    else if (w->p->judged.count) {
        struct hn_certifier test;
        if (hn_certify(ctx, c->relevant, c->judged, c->all.n, limit / open, &test))
            return ctx->code;
        c->verdict = hn_certifier_says(&test);
    } else if (!isnan(truth))
        c->verdict = truth <= limit ? HN_CERTIFY_SHOWN : HN_CERTIFY_PASSED;
    return HN_OK;
}

static enum hn_code draw(struct hn_context *ctx, struct work *c) {
    const struct negatives *all = &c->all;
    int64_t n = hn_min(c->w->p->sheet, all->n - c->judged);
    struct hn_sheet_row *row = hn_alloc(ctx, n, sizeof *row);
    if (!row)
        return ctx->code;
    for (int64_t i = 0; i < n; i++) {
        row[i] = all->pair[all->order[c->judged + i]];
        row[i].number = c->judged + i + 1;
    }
    c->drawn = n;
    return hn_sheet_write(ctx, &c->w->corpus, row, n, c->w->p->output);
}

static void print_price(const struct work *c) {
    const struct hn_price *p = &c->price;
    printf("%s: %lld negatives of %s by %s: hardness %.2f; %.1f %% of the queries get fewer than "
           "%lld, %.1f %% none",
           c->w->corpus.info->file->path, (long long)p->negatives,
           hn_counted(c->mined.count, "query").text, *c->w->p->mine ? c->w->p->mine : "default",
           p->hardness.mean, 100 * p->fewer, (long long)c->w->miner.o.n, 100 * p->none);
    if (!isnan(p->false_share.mean))
        printf("; by /truth %.3f %% are false [%.3f, %.3f]", 100 * p->false_share.mean,
               100 * p->false_share.lo, 100 * p->false_share.hi);
    printf(".\n");
    if (c->all.decided > 0)
        printf("Of them %lld were judged before and need no verdict, %lld were not.\n",
               (long long)c->all.decided, (long long)c->all.n);
    if (c->judged > 0)
        printf("%s judged: %.2f %% are false [%.2f, %.2f], wherever one stops.\n",
               hn_counted(c->judged, "pair").text, 100 * c->share.mean, 100 * c->share.lo,
               100 * c->share.hi);
}

static void print_sheet(const struct work *c) {
    const struct hn_price_params *p = c->w->p;
    if (c->drawn > 0)
        printf("%s: rows %lld to %lld of %lld. Write 1 into relevant if the passage answers the "
               "query, "
               "else 0; then give it in --judged, with all sheets before it.\n",
               p->output, (long long)c->judged + 1, (long long)(c->judged + c->drawn),
               (long long)c->all.n);
    else if (p->sheet > 0)
        printf("No more pairs are to be judged: %s is not written.\n", p->output);
}

static json_t *document(const struct work *c) {
    const struct hn_price *p = &c->price;
    return json_pack(
        "{s:o, s:s, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:f, s:o, s:o, s:o, s:o, s:s, "
        "s:I, s:I}",
        "file", hn_json_text(c->w->corpus.info->file->path), "for", c->w->p->mine, "queries",
        (json_int_t)c->mined.count, "negatives", (json_int_t)p->negatives, "hardness",
        hn_json_real(p->hardness.mean), "fewer", hn_json_real(p->fewer), "none",
        hn_json_real(p->none), "truth", hn_json_real(p->false_share.mean), "truth_lo",
        hn_json_real(p->false_share.lo), "truth_hi", hn_json_real(p->false_share.hi), "judged",
        (json_int_t)c->judged, "relevant", c->sum, "share", hn_json_real(c->share.mean), "share_lo",
        hn_json_real(c->share.lo), "share_hi", hn_json_real(c->share.hi), "max_fn",
        hn_json_real(c->w->p->max_fn), "verdict",
        isnan(c->w->p->max_fn) ? "" : verdict_name[c->verdict], "drawn", (json_int_t)c->drawn,
        "decided", (json_int_t)c->all.decided);
}

// Exit codes: 0: within the limit; 1: above it; 5: more pairs are to be judged.
static enum hn_code say(struct hn_context *ctx, const struct work *c) {
    double limit = 100 * c->w->p->max_fn;
    if (isnan(limit) || (c->verdict == HN_CERTIFY_OPEN && !c->w->p->judged.count))
        return HN_OK;
    if (c->verdict == HN_CERTIFY_PASSED)
        return hn_fail(ctx, HN_GATE, "more than %g %% of these negatives are false", limit);
    if (c->verdict == HN_CERTIFY_OPEN)
        return hn_fail(ctx, HN_NOTHING,
                       "undecided whether at most %g %% of these negatives are false: judge more, "
                       "with all sheets in --judged and --sheet 25 -o NEXT.tsv",
                       limit);
    return HN_OK;
}

static enum hn_code certify(struct hn_context *ctx, struct work *c, const char *path) {
    const struct hn_price_params *p = c->w->p;
    if (load(ctx, c, path) || read_judged(ctx, c) || decide(ctx, c))
        return ctx->code;
    bool more =
        p->sheet > 0 && c->judged < c->all.n && (c->verdict == HN_CERTIFY_OPEN || !p->judged.count);
    if (more && draw(ctx, c))
        return ctx->code;
    if (p->certificate && c->verdict == HN_CERTIFY_SHOWN && p->judged.count) {
        const struct hn_certificate made = {.miner = &c->w->miner,
                                            .corpus = &c->w->corpus,
                                            .step = p->step,
                                            .seed = p->seed,
                                            .limit = p->max_fn,
                                            .share = c->share,
                                            .pairs = c->judged,
                                            .relevant = c->sum,
                                            .judges = c->judges,
                                            .negatives = c->all.n + c->all.decided,
                                            .decided = c->all.decided,
                                            .sha256 = c->all.sha256};
        return hn_certificate_write(ctx, &made, p->certificate);
    }
    return HN_OK;
}

enum hn_code hn_certify_run(struct hn_context *ctx, struct hn_price_work *w, const char *path,
                            bool json) {
    struct work c = {.w = w};
    if (certify(ctx, &c, path))
        return ctx->code;
    if (json && hn_json_print(ctx, document(&c), stdout))
        return ctx->code;
    if (!json && !w->quiet) {
        print_price(&c);
        if (!isnan(w->p->max_fn) && c.verdict == HN_CERTIFY_SHOWN)
            printf("Shown: at most %g %% of them are false.\n", 100 * w->p->max_fn);
        print_sheet(&c);
    }
    return say(ctx, &c);
}
