// SPDX-License-Identifier: GPL-3.0-or-later
// The page of a board: who is ahead of the reference, mean ranks as a picture, every entry on every
// kind by the measure that is chosen, pairs of entries, and what an entry is.
#include "core/files.h"
#include "core/text.h"
#include "plots/report/report.h"
#include "plots/report/report_html.h"
#include "plots/report/report_points.h"
#include "results/analysis/board_tables.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>

struct page {
    FILE *html;
    struct hn_context *ctx;
    const struct hn_board *b;
    const struct hn_board_outcome *u; // NULL: none
    struct hn_board_pair *pair;       // [pairs], of the measure at hand
    int64_t pairs;
    double *rank, apart; // [entries], likewise
    int64_t *order;      // [entries] the best first by the measure at hand
    int measure;
};

// By which entries are judged.
static struct hn_mean share_of(const struct page *p, int64_t entry) {
    return hn_board_over_kinds(p->b, entry, (struct hn_board_score){p->measure, HN_BOARD_SHARE},
                               false);
}

static enum hn_code choose_measure(struct page *p, int measure) {
    p->measure = measure;
    hn_board_order(p->b, measure, p->order);
    return hn_board_ranks(p->ctx, p->b, measure, p->rank, &p->apart) ||
                   hn_board_pairs(p->ctx, p->b, measure, p->pair)
               ? p->ctx->code
               : HN_OK;
}

static const char *verdict_of(const struct page *p, int64_t entry) {
    return hn_board_verdict_of(p->b, entry, p->measure);
}

static void put_names(FILE *html, const struct page *p, enum hn_board_verdict wanted,
                      const char *text) {
    int n = 0;
    for (int64_t i = 0; i < p->b->entries; i++)
        if (verdict_of(p, p->order[i]) == hn_board_verdicts[wanted])
            hn_html(html, n++ ? ", <b>%s</b>" : text, p->b->entry[p->order[i]].name);
    fputs(n ? ".</p>\n" : "", html);
}

static void put_answer(struct page *p) {
    fprintf(p->html, "<div class=by data-measure=%d>\n", p->measure);
    put_names(p->html, p, HN_BOARD_AHEAD, "<p>Ahead of the reference: <b>%s</b>");
    put_names(p->html, p, HN_BOARD_TIED,
              "<p>Tied with it within 5 %% or a quarter of a point: <b>%s</b>");
    put_names(p->html, p, HN_BOARD_OPEN, "<p>Not significantly different: <b>%s</b>");
    put_names(p->html, p, HN_BOARD_BEHIND, "<p>Behind it: <b>%s</b>");
    fputs("</div>\n", p->html);
}

// A table of the measure at hand.
static void put_measured(const struct page *p, struct hn_html_table t) {
    fprintf(p->html, "<div class=by data-measure=%d>", p->measure);
    t.id = "";
    hn_html_table(p->html, &t);
    fputs("</div>\n", p->html);
}

static const struct hn_record_column entry_column = {"entry", "Entry", -1,
                                                     .html = "<th scope=row>%s</th>"};

static void put_entry(FILE *html, const struct hn_record_column *c, const json_t *record,
                      const void *of) {
    (void)of;
    hn_html(html, "<th scope=row><a href=\"#e%" PRId64 "\">%s</a></th>",
            (int64_t)json_integer_value(json_object_get(record, "number")),
            json_string_value(json_object_get(record, c->key)));
}

static void put_table(struct page *p) {
    struct hn_record_column column[HN_BOARD_COLUMNS_MAX];
    static const char *const elsewhere[] = {"kept", "rank", "chosen_on"};
    if (hn_board_columns(p->ctx, p->b, p->u, column))
        return;
    column[0].put = put_entry;
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        hn_records_take_out(column, elsewhere[i]);
    put_measured(
        p, (struct hn_html_table){.label = "Entries",
                                  .class = "sortable fixed",
                                  .sorted = INT_MAX,
                                  .column = column,
                                  .row = hn_board_rows(p->b, p->u, p->measure, p->order, NULL)});
}

enum { WIDTH = 480, NAMES = 150, LINE = 22, TOP = 26, END = 20 };

static double at_rank(double rank, int64_t entries) {
    return NAMES + (rank - 1) / fmax(1, (double)(entries - 1)) * (WIDTH - NAMES - END);
}

// The entry of the next rank behind one, the first of several that share it; -1: there is none.
static int64_t next_ranked(const struct page *p, int64_t before) {
    int64_t next = -1;
    for (int64_t i = 0; i < p->b->entries; i++) {
        bool behind = before < 0 ? !isnan(p->rank[i])
                                 : p->rank[i] > p->rank[before] ||
                                       (p->rank[i] == p->rank[before] && i > before);
        if (behind && (next < 0 || p->rank[i] < p->rank[next]))
            next = i;
    }
    return next;
}

// Intervals of mean ranks that do not overlap are told apart, all of them together.
static void put_ranks(const struct page *p) {
    int64_t ranked = 0, line = 0;
    for (int64_t i = 0; i < p->b->entries; i++)
        ranked += !isnan(p->rank[i]);
    if (ranked < 2)
        return;
    fprintf(p->html,
            "<figure class=by data-measure=%d><div class=chart style=\"max-width:42rem\"><svg "
            "viewBox=\"0 0 %d %" PRId64 "\" role=img aria-label=\"Mean ranks\">\n",
            p->measure, WIDTH, TOP + LINE * ranked);
    for (int64_t r = 1; r <= ranked; r++)
        if (ranked <= 12 || r == 1 || r % 5 == 0)
            fprintf(p->html,
                    "<line class=grid x1=%.1f x2=%.1f y1=18 y2=%" PRId64
                    " /><text class=tic text-anchor=middle x=%.1f y=12>%" PRId64 "</text>\n",
                    at_rank((double)r, ranked), at_rank((double)r, ranked), TOP + LINE * ranked,
                    at_rank((double)r, ranked), r);
    for (int64_t i = next_ranked(p, -1); i >= 0; i = next_ranked(p, i)) {
        double rank = p->rank[i], half = p->apart / 2;
        double y = TOP + LINE * ((double)line++ + 0.4);
        hn_html(p->html, "<text text-anchor=end x=%d y=%.1f>%s</text>", NAMES - 12, y + 4,
                p->b->entry[i].name);
        fprintf(p->html,
                "<line class=axis stroke-width=3 x1=%.1f x2=%.1f y1=%.1f y2=%.1f />"
                "<circle r=4.5 cx=%.1f cy=%.1f fill=\"currentColor\" />\n",
                at_rank(fmax(1, rank - half), ranked),
                at_rank(fmin((double)ranked, rank + half), ranked), y, y, at_rank(rank, ranked), y);
    }
    fputs("</svg></div><figcaption><p>Mean ranks over the kinds by the excess, 1 = the least. "
          "Entries whose bars do not overlap are told apart, 95 % for all of them together. Ranks "
          "depend on who else is here: the table's numbers do not.</p></figcaption></figure>\n",
          p->html);
}

static void put_pairs(struct page *p) {
    static const struct hn_record_column columns[] = {
        {"entry", "Entry", -1, .html = "<th scope=row>%s</th>"},
        {"other", "Other", -1},
        {"difference", "Difference (%)", .as = HN_BY_HALF, .digits = 1},
        {"p", "p (Holm)", .digits = 3},
        {"verdict", "Verdict", -1},
        {"better", "Better"},
        {"tied", "Tied"},
        {"worse", "Worse"},
        {0}};
    json_t *rows = json_array();
    for (int64_t i = 0; i < p->pairs; i++) {
        const struct hn_board_pair *pair = &p->pair[i];
        if (isnan(pair->difference.mean))
            continue;
        json_array_append_new(
            rows,
            json_pack("{s:o, s:o, s:o, s:o, s:s, s:I, s:I, s:I}", "entry",
                      hn_json_text(p->b->entry[pair->a].name), "other",
                      hn_json_text(p->b->entry[pair->b].name), "difference",
                      hn_mean_json(pair->difference, true), "p", hn_json_real(pair->p), "verdict",
                      hn_board_verdicts[pair->verdict], "better", (json_int_t)pair->wins, "tied",
                      (json_int_t)pair->ties, "worse", (json_int_t)pair->losses));
    }
    put_measured(p, (struct hn_html_table){.label = "Pairs",
                                           .class = "sortable",
                                           .sorted = INT_MAX,
                                           .tall = true,
                                           .column = columns,
                                           .row = rows});
}

// An outcome over the excess by the measure at hand.
static enum hn_code put_trained(struct page *p, int outcome) {
    HN_SCOPE(p->ctx);
    double *x = hn_alloc(p->ctx, 3 * p->b->entries, sizeof *x);
    const char **label = hn_alloc(p->ctx, p->b->entries, sizeof *label);
    if (!x || !label)
        return p->ctx->code;
    double *y = x + p->b->entries, *half = y + p->b->entries;
    struct hn_html_points q = {p->u->name[outcome], "excess (%)", x, y, half, label, 0, 1};
    for (int64_t i = 0; i < p->b->entries; i++) {
        struct hn_mean trained = hn_board_outcome_of(p->u, i, outcome);
        x[q.n] = share_of(p, i).mean;
        y[q.n] = trained.mean;
        half[q.n] = isfinite(trained.half) ? trained.half : 0;
        label[q.n] = p->b->entry[i].name;
        q.n += isfinite(x[q.n]) && isfinite(y[q.n]);
    }
    if (q.n < 2)
        return HN_OK;
    fputs("<figure>\n", p->html);
    if (hn_html_points(p->html, p->ctx, &q))
        return p->ctx->code;
    hn_html(p->html,
            "<figcaption><p>%s less Uniform's over the excess, a point for each entry, with its "
            "95 %% interval. ",
            p->u->name[outcome]);
    if (hn_board_print_correlations(p->ctx, p->b, p->u, p->measure, outcome, p->html))
        return p->ctx->code;
    fputs("</p></figcaption></figure>\n", p->html);
    return HN_OK;
}

static enum hn_code put_trainings(struct page *p) {
    hn_html_fold(p->html, "trainings", "Trainings", true);
    hn_html(p->html,
            "<p>From %s, of %s. A difference to Uniform is paired by data set and seed; ± is half "
            "of the 95 %% interval over %s. An entry without a value was not trained on all of "
            "them. Less excess and more gain are better: where they go with better encoders, the "
            "rank correlation is below 0 with the excess, and above 0 with a gain; of fewer than "
            "five entries none is told.</p>\n",
            hn_base_name(p->u->path), hn_counted(p->u->data, "data set").text,
            p->u->data > 1 ? "data sets" : "seeds");
    for (int m = 0; m < HN_BOARD_MEASURES; m++) {
        p->measure = m;
        fprintf(p->html, "<div class=by data-measure=%d>\n", m);
        for (int k = 0; k < p->u->measures; k++)
            if (put_trained(p, k))
                return p->ctx->code;
        fputs("</div>\n", p->html);
    }
    fputs("</details>\n", p->html);
    return HN_OK;
}

static void put_entries(const struct page *p) {
    hn_html_fold(p->html, "entries", "Entries", true);
    for (int64_t i = 0; i < p->b->entries; i++) {
        const struct hn_board_entry *e = &p->b->entry[i];
        hn_html(p->html,
                "<h3 id=e%" PRId64 ">%s</h3>\n<p>By %s. Its constants were chosen on: %s.</p>\n"
                "<p class=soft><code>%s</code></p>\n",
                i, e->name, e->authors, e->chosen_on, e->labels);
        if (e->below || e->beyond)
            fprintf(p->html,
                    "<p class=soft>Over all encoders, by mean cosine: %s less hard than all of the "
                    "reference, %" PRId64 " harder than its hardest.</p>\n",
                    hn_counted(e->below, "setting").text, e->beyond);
        if (e->dear)
            fprintf(p->html, "<p class=soft>Left out by cost, over all encoders: %s.</p>\n",
                    hn_counted(e->dear, "setting").text);
    }
    fputs("</details>\n", p->html);
}

// Intervals on a kind are over its encoders.
static void put_kind(const struct page *p, int64_t kind) {
    struct hn_record_column column[HN_BOARD_SCORES + 2] = {entry_column};
    if (hn_board_score_columns(p->ctx, column + 1))
        return;
    json_t *rows = json_array();
    for (int64_t i = 0; i < p->b->entries; i++) {
        json_t *row = json_pack("{s:o}", "entry", hn_json_text(p->b->entry[p->order[i]].name));
        for (int s = 0; s < HN_BOARD_SCORES; s++)
            json_object_set_new(
                row, column[1 + s].key,
                hn_mean_json(hn_board_on_kind(p->b, p->order[i],
                                              (struct hn_board_score){p->measure, s}, kind),
                             true));
        json_array_append_new(rows, row);
    }
    put_measured(p, (struct hn_html_table){.label = p->b->kind[kind].name,
                                           .class = "sortable",
                                           .sorted = INT_MAX,
                                           .column = column,
                                           .row = rows});
}

static enum hn_code put_kinds(struct page *p) {
    hn_html_fold(p->html, "kinds", "Kinds", false);
    fputs("<p>± is half of the 95 % interval over the encoders of a kind.</p>\n", p->html);
    for (int64_t k = 0; k < p->b->kinds; k++) {
        const struct hn_board_kind *kind = &p->b->kind[k];
        hn_html(p->html,
                "<h3>%s%s</h3>\n<p class=soft>%s, Uniform's false negatives %.2f %%.</p>\n",
                kind->name, kind->kept ? " (kept aside)" : "",
                hn_counted(kind->encoders, "encoder").text, kind->uniform);
        for (int m = 0; m < HN_BOARD_MEASURES; m++) {
            if (choose_measure(p, m))
                return p->ctx->code;
            put_kind(p, k);
        }
    }
    fputs("</details>\n", p->html);
    return HN_OK;
}

static void put_suite(const struct page *p) {
    const struct hn_board *b = p->b;
    hn_html_fold(p->html, "suite", "Suite", true);
    hn_html(p->html, "<p>%s, checksum <code>%.12s</code>, results version %d.</p>\n", b->suite,
            b->sha256, b->version);
    fputs("</details>\n", p->html);
}

static enum hn_code for_measures(struct page *p, void (*put)(struct page *p)) {
    for (int m = 0; m < HN_BOARD_MEASURES; m++) {
        if (choose_measure(p, m))
            return p->ctx->code;
        put(p);
    }
    return p->ctx->code;
}

static void put_standing(struct page *p) {
    put_ranks(p);
    put_table(p);
}

static void put_choice(FILE *html) {
    fputs("<p class=measure>Hardness of true negatives:", html);
    for (int m = 0; m < HN_BOARD_MEASURES; m++)
        hn_html(html,
                " <label title=\"%s\"><input type=radio name=measure id=m%d value=%s%s>%s</label>",
                hn_board_measures[m].name, m, hn_board_measures[m].word, m ? "" : " checked",
                hn_board_measures[m].axis);
    fputs("</p>\n", html);
}

static enum hn_code put_page(struct page *p) {
    const struct hn_board *b = p->b;
    int64_t open = b->kinds - b->kept;
    fprintf(p->html, "<section aria-label=\"The answer\" class=answer>\n<p>%s on ",
            hn_counted(b->entries, "entry").text);
    fputs(hn_counted(open, "kind").text, p->html);
    fputs(" of data", p->html);
    if (b->kept)
        fprintf(p->html, ", and beside them %s kept aside, which no score holds",
                hn_counted(b->kept, "kind").text);
    if (isfinite(b->seconds))
        fprintf(p->html,
                ". Of each entry only what costs at most %.4g ms a batch, build included; where "
                "nothing does, it is Uniform; one that is too dear everywhere has no score",
                1e3 * b->seconds);
    fputs(".</p>\n", p->html);
    put_choice(p->html);
    if (for_measures(p, put_answer))
        return p->ctx->code;
    fputs("</section>\n<section aria-labelledby=standing class=wide><h2 id=standing>Entries and "
          "kinds</h2>\n<p>Excess: false negatives beyond those of the reference's front at equal "
          "hardness, so that less is better: in percent of what the reference adds on average over "
          "its range of hardness, by which entries are judged, as kinds differ in scale, and in "
          "points. -100 % is hardness for nothing. ± is half of the 95 % interval over kinds. "
          "Gain: hardness beyond the reference's within so many points of false negatives over "
          "Uniform's, so that more is better. Read both: an entry that is hardly harder than "
          "Uniform has "
          "little excess to lose, and gains nothing. An entry is judged alone, at 5 %: of twenty "
          "that are "
          "level with the reference one is called ahead or behind.</p>\n",
          p->html);
    if (for_measures(p, put_standing))
        return p->ctx->code;
    fputs("</section>\n", p->html);
    if (p->u && put_trainings(p))
        return p->ctx->code;
    hn_html_fold(p->html, "pairs", "Pairs of entries", false);
    fputs("<p>Differences of excess in percent over kinds, Student's test, corrected for all pairs "
          "on this page (Holm). Better, tied, worse: kinds on which the first has less than the "
          "other by more than 5 % and a quarter of a point, as much, or more.</p>\n",
          p->html);
    if (for_measures(p, put_pairs))
        return p->ctx->code;
    fputs("</details>\n", p->html);
    if (put_kinds(p))
        return p->ctx->code;
    put_entries(p);
    put_suite(p);
    return HN_OK;
}

enum hn_code hn_board_write(struct hn_context *ctx, const struct hn_board *b,
                            const struct hn_board_outcome *u, FILE *html) {
    struct page p = {
        .html = html, .ctx = ctx, .b = b, .u = u, .pairs = b->entries * (b->entries - 1) / 2};
    HN_SCOPE(ctx);
    if (!HN_ALLOC(ctx, p.pair, p.pairs) || !HN_ALLOC(ctx, p.rank, b->entries) ||
        !HN_ALLOC(ctx, p.order, b->entries))
        return ctx->code;
    hn_html_begin(html, b->suite, "");
    fputs("</header>\n<main id=main>\n", html);
    if (put_page(&p))
        return ctx->code;
    hn_html_end(html);
    return HN_OK;
}
