// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg price --for`: the price of the negatives that `mine` would write with these options, and
// whether few enough of them are false, by judging some until it is known.
#include "core/files.h"
#include "core/options/option_argv.h"
#include "core/random.h"
#include "core/text.h"
#include "harness/mining/certificate.h"
#include "harness/mining/corpus.h"
#include "harness/mining/price_work.h"
#include "harness/mining/sources.h"
#include "results/records.h"
#include "retrieval/certify_model.h"
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

// Options of mine that decide its negatives.
struct mine_options {
    struct hn_mine_options o;
    struct hn_source_rules from;
};
static const struct hn_option option_table[] = {
    HN_MINE_OPTIONS(struct mine_options, o.), HN_SOURCE_OPTIONS(struct mine_options, from.), {0}};

struct work {
    struct hn_price_work *w;
    struct mine_options mine;
    struct hn_source_runs runs; // of its --candidates
    const char *candidates;     // their digest; NULL: there are none
    struct hn_mined mined;
    struct hn_price price;
    struct negatives all;
    double *relevant;              // [judged] of the first pairs in order, by people
    double *model;                 // [answered] likewise, by models; all pairs, or none
    int64_t judged, judges, drawn; // drawn: rows of the next sheet
    int64_t answered;
    const char *models; // names; "": none
    double sum;
    struct hn_interval share;
    enum hn_certify verdict;
};

// Splits the text at blanks; `mine` reads its options likewise.
static enum hn_code parse(struct hn_context *ctx, const char *text, struct mine_options *o) {
    int n = 1, positional = 0;
    char *copy = hn_strdup(ctx, text), *rest = copy;
    char **argv = hn_alloc(ctx, (int64_t)strlen(text) + 2, sizeof *argv);
    const char **other = hn_alloc(ctx, (int64_t)strlen(text) + 2, sizeof *other);
    if (!copy || !argv || !other || hn_options_init(ctx, option_table, o))
        return ctx->code;
    static char name[] = "mine";
    argv[0] = name;
    for (char *word; (word = strtok_r(rest, " \t\n", &rest)); n++)
        argv[n] = word;
    if (hn_options_argv(ctx, option_table, o, n, argv, other, &positional))
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
    if (parse(ctx, w->p->mine, &c->mine) || hn_source_check(ctx, &c->mine.from, &c->mine.o.n) ||
        hn_price_open(ctx, w, path) ||
        hn_miner_open(ctx, &w->corpus.data, &c->mine.o, path, &w->miner) ||
        hn_source_runs_open(ctx, &w->corpus, &c->mine.from, &w->miner, &c->runs, &c->candidates) ||
        hn_miner_pool(ctx, &w->miner, 0, w->corpus.info->n[HN_QUERIES], true, &w->pool) ||
        hn_miner_take(ctx, &w->miner, &w->pool, &c->mined) ||
        hn_mine_check(ctx, &w->miner, &c->mined.counts, path) ||
        hn_price_mined(ctx, &w->miner, &w->pool, &c->mined, &c->price))
        return ctx->code;
    return list(ctx, c);
}

// Verdicts of people, or of models, on pairs in order.
struct verdicts {
    double *mean, *judges; // [pairs] judges: 0: none
    int64_t n;             // the last that is judged
};

// The pair that a row of a sheet is to be; judges of the same one are added.
static enum hn_code add_row(struct hn_context *ctx, const struct work *c,
                            const struct hn_sheet_row *row, struct verdicts *to) {
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
    to->mean[row->number - 1] += row->sum;
    to->judges[row->number - 1] += row->judges;
    to->n = hn_max(to->n, row->number);
    return HN_OK;
}

// who: " of a model", or "".
static enum hn_code find_means(struct hn_context *ctx, struct verdicts *v, const char *who) {
    for (int64_t k = 0; k < v->n; k++) {
        if (v->judges[k] == 0)
            return hn_fail(
                ctx, HN_DATA,
                "row %lld is in no sheet%s, and later ones are: give all sheets from the "
                "first",
                (long long)k + 1, who);
        v->mean[k] /= v->judges[k];
    }
    return HN_OK;
}

static enum hn_code read_judged(struct hn_context *ctx, struct work *c) {
    struct hn_sheet_row *row;
    struct verdicts people = {0}, models = {0};
    int64_t n, all = c->all.n;
    if (hn_sheet_read(ctx, &c->w->corpus, &c->w->p->judged, &row, &n) ||
        !(c->models = hn_sheet_models(ctx, row, n)) || !HN_ZALLOC(ctx, people.mean, all) ||
        !HN_ZALLOC(ctx, people.judges, all) || !HN_ZALLOC(ctx, models.mean, all) ||
        !HN_ZALLOC(ctx, models.judges, all))
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        if (add_row(ctx, c, &row[i], row[i].model ? &models : &people))
            return ctx->code;
    if (find_means(ctx, &people, "") || find_means(ctx, &models, " of a model"))
        return ctx->code;
    if (models.n > 0 && models.n < all)
        return hn_fail(
            ctx, HN_DATA,
            "%s judged the first %lld of %lld pairs, and a certificate takes its verdict "
            "on every one: draw all with --sheet %lld, without --judged, into another "
            ".jsonl",
            c->models, (long long)models.n, (long long)all, (long long)all);
    c->relevant = people.mean;
    c->judged = people.n;
    c->model = models.mean;
    c->answered = models.n;
    for (int64_t k = 0; k < people.n; k++) {
        c->sum += people.mean[k];
        c->judges = hn_max(c->judges, (int64_t)people.judges[k]);
    }
    return HN_OK;
}

// limit: of these pairs; NaN: none is asked for.
static enum hn_code find_share(struct hn_context *ctx, struct work *c, double limit) {
    if (c->answered > 0) {
        const struct hn_double_verdicts all = {c->relevant, c->model, c->judged, c->all.n};
        c->share = hn_certified_share_by_model(&all);
        c->verdict = isnan(limit) ? HN_CERTIFY_OPEN : hn_certify_by_model(&all, limit);
        return HN_OK;
    }
    struct hn_certifier test = {0};
    if (hn_certified_share(ctx, c->relevant, c->judged, c->all.n, &c->share) ||
        (!isnan(limit) && hn_certify(ctx, c->relevant, c->judged, c->all.n, limit, &test)))
        return ctx->code;
    c->verdict = isnan(limit) ? HN_CERTIFY_OPEN : hn_certifier_says(&test);
    return HN_OK;
}

// By judged pairs; or, where all is known, for certain.
static enum hn_code decide(struct hn_context *ctx, struct work *c) {
    const struct hn_price_work *w = c->w;
    double limit = w->p->max_fn, truth = c->price.false_share.mean;
    double all = (double)(c->all.n + c->all.decided), open = (double)c->all.n / all;
    bool judged = w->p->judged.count > 0 && open > limit;
    if (find_share(ctx, c, judged ? limit / open : NAN))
        return ctx->code;
    c->share = (struct hn_interval){c->share.mean * open, c->share.lo * open, c->share.hi * open};
    if (isnan(limit))
        return HN_OK;
    if (open <= limit)
        c->verdict = HN_CERTIFY_SHOWN;
    else if (!judged && !isnan(truth))
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

// Prints the share that the model calls relevant, and how often people say otherwise.
static void print_model(const struct work *c) {
    double sum = 0, said = 0, both = 0, relevant = 0;
    if (c->answered == 0)
        return;
    for (int64_t k = 0; k < c->all.n; k++)
        sum += c->model[k];
    for (int64_t k = 0; k < c->judged; k++) {
        said += c->model[k];
        both += c->model[k] * c->relevant[k];
        relevant += c->relevant[k];
    }
    printf("%s judged all %lld, and calls %.2f %% relevant", c->models, (long long)c->answered,
           100 * sum / (double)c->answered);
    if (c->judged == 0)
        printf("; nobody knows how often it is wrong: have people judge some, without seeing what "
               "it says.\n");
    else
        printf("; of the %lld that people judged, too, %g are relevant by both, %g by people "
               "alone, %g by it alone. Its errors are in the interval.\n",
               (long long)c->judged, both, relevant - both, said - both);
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
    print_model(c);
    if (c->judged > 0)
        printf("%s judged by people: %.2f %% are false [%.2f, %.2f], wherever one stops.\n",
               hn_counted(c->judged, "pair").text, 100 * c->share.mean, 100 * c->share.lo,
               100 * c->share.hi);
}

static void print_sheet(const struct work *c) {
    const struct hn_price_params *p = c->w->p;
    const char *fill = hn_ends_in(p->output ? p->output : "", ".jsonl")
                           ? "Write the answer to prompt into relevant, and the name of the model, "
                             "or person, into judge (a model judges all pairs)"
                           : "Write 1 into relevant if the passage answers the query, else 0";
    if (c->drawn > 0)
        printf("%s: rows %lld to %lld of %lld. %s; then give it in --judged, with all sheets "
               "before it.\n",
               p->output, (long long)c->judged + 1, (long long)(c->judged + c->drawn),
               (long long)c->all.n, fill);
    else if (p->sheet > 0)
        printf("No more pairs are to be judged: %s is not written.\n", p->output);
}

static json_t *document(const struct work *c) {
    const struct hn_price *p = &c->price;
    return json_pack(
        "{s:o, s:s, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:f, s:o, s:o, s:o, s:o, s:s, "
        "s:I, s:I, s:I, s:s, s:o}",
        "file", hn_json_text(c->w->corpus.info->file->path), "for", c->w->p->mine, "queries",
        (json_int_t)c->mined.count, "negatives", (json_int_t)p->negatives, "hardness",
        hn_json_real(p->hardness.mean), "fewer", hn_json_real(p->fewer), "none",
        hn_json_real(p->none), "truth", hn_json_real(p->false_share.mean), "truth_lo",
        hn_json_real(p->false_share.lo), "truth_hi", hn_json_real(p->false_share.hi), "judged",
        (json_int_t)c->judged, "relevant", c->sum, "share", hn_json_real(c->share.mean), "share_lo",
        hn_json_real(c->share.lo), "share_hi", hn_json_real(c->share.hi), "max_fn",
        hn_json_real(c->w->p->max_fn), "verdict",
        isnan(c->w->p->max_fn) ? "" : verdict_name[c->verdict], "drawn", (json_int_t)c->drawn,
        "decided", (json_int_t)c->all.decided, "answered", (json_int_t)c->answered, "models",
        c->models, "sources",
        hn_source_runs_list(&c->runs, &c->mined.counts, c->w->miner.truth.start != NULL));
}

// Exit codes: 0: within the limit; 1: above it; 5: more pairs are to be judged.
static enum hn_code say(struct hn_context *ctx, const struct work *c) {
    double limit = 100 * c->w->p->max_fn;
    if (isnan(limit) || (c->verdict == HN_CERTIFY_OPEN && !c->w->p->judged.count))
        return HN_OK;
    if (c->verdict == HN_CERTIFY_PASSED)
        return hn_fail(ctx, HN_GATE, "more than %g %% of these negatives are false", limit);
    if (c->verdict == HN_CERTIFY_OPEN && c->judged == 0)
        return hn_fail(ctx, HN_NOTHING,
                       "undecided: nobody knows how often %s is wrong; have people judge some of "
                       "the pairs, too, with --sheet 50 -o NEXT.tsv",
                       c->models);
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
                                            .answered = c->answered,
                                            .models = c->models,
                                            .candidates = c->candidates,
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
        if (c.runs.sources.n > 0)
            hn_source_runs_print(&c.runs, &c.mined.counts, c.w->miner.truth.start != NULL);
        if (!isnan(w->p->max_fn) && c.verdict == HN_CERTIFY_SHOWN)
            printf("Shown: at most %g %% of them are false.\n", 100 * w->p->max_fn);
        print_sheet(&c);
    }
    return say(ctx, &c);
}
