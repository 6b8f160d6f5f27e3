// The sentences that the report opens with: which sampler is hardest, at what price, and which is
// hardest at no price in false negatives. And what the filters of the miner leave.
#include "plots/page/curves.h"
#include "plots/report/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MOST_PLACES = 4, MOST_TIES = 6, NAME = 96 };

// Of runs: a data set at its last step with one batch size; loss, weighting and temperature do not
// change what batches there are.
struct place {
    const struct hn_overview *o;
    int64_t first, uniform; // settings; uniform: -1 = none
    const char *hardness;
};

static bool has_value(struct hn_mean m) { return isfinite(m.mean); }

static bool is_candidate(const struct place *p, int64_t s) {
    return hn_overview_same_place(p->o, p->first, s) &&
           has_value(hn_overview_mean(p->o, s, p->hardness));
}

// The hardest that `fits`; -1 = none.
static int64_t hardest(const struct place *p, bool (*fits)(const struct place *p, int64_t s)) {
    int64_t best = -1;
    for (int64_t s = 0; s < p->o->settings; s++)
        if (is_candidate(p, s) && (!fits || fits(p, s)) &&
            (best < 0 || hn_overview_mean(p->o, s, p->hardness).mean >
                             hn_overview_mean(p->o, best, p->hardness).mean))
            best = s;
    return best;
}

// Whether its false negatives are not above Uniform's, as far as the interval tells.
static bool is_free(const struct place *p, int64_t s) {
    struct hn_mean d = hn_overview_difference(p->o, s, p->uniform, "fn_ratio");
    return s != p->uniform && has_value(d) && d.mean - (isfinite(d.half) ? d.half : 0) <= 0;
}

static void put_half(FILE *html, const char *format, double half) {
    if (!isfinite(half))
        return;
    fputs(" ± ", html);
    fprintf(html, format, half);
}

static void put_time(FILE *html, const struct place *p, int64_t s) {
    double build = hn_overview_mean(p->o, s, "cost_g_over_t").mean;
    double seconds = hn_overview_mean(p->o, s, "cost_s").mean + (isfinite(build) ? build : 0);
    if (seconds < 0.9995e-3) // three digits of 999.5 and more have an exponent
        fprintf(html, "%.3g µs", 1e6 * seconds);
    else if (seconds < 0.9995)
        fprintf(html, "%.3g ms", 1e3 * seconds);
    else
        fprintf(html, "%.*f s", seconds < 99.95 ? 1 : 0, seconds);
}

// "; false negatives: 26.4 % ± 2.3, Uniform's 10.0 % (+16.5 ± 2.3 points); 0.99 ms a batch".
static void put_price(FILE *html, const struct place *p, int64_t s) {
    struct hn_mean fn = hn_overview_mean(p->o, s, "fn_ratio"), base = hn_no_mean, d = base;
    if (p->uniform >= 0 && p->uniform != s) {
        base = hn_overview_mean(p->o, p->uniform, "fn_ratio");
        d = hn_overview_difference(p->o, s, p->uniform, "fn_ratio");
    }
    if (has_value(fn)) {
        fprintf(html, "; false negatives: %.1f %%", 100 * fn.mean);
        put_half(html, "%.1f", 100 * fn.half);
    }
    if (has_value(d)) {
        fprintf(html, ", Uniform's %.1f %% (%+.1f", 100 * base.mean, 100 * d.mean);
        put_half(html, "%.1f", 100 * d.half);
        fputs(" points)", html);
    }
    if (!has_value(hn_overview_mean(p->o, s, "cost_s")))
        return;
    fputs("; cost: ", html);
    put_time(html, p, s);
    fputs(" a batch", html);
    if (has_value(d) && has_value(hn_overview_mean(p->o, p->uniform, "cost_s"))) {
        fputs(", Uniform's ", html);
        put_time(html, p, p->uniform);
    }
}

static void put_harder(FILE *html, const struct place *p, int64_t s) {
    struct hn_mean d = hn_no_mean;
    if (p->uniform >= 0 && p->uniform != s)
        d = hn_overview_difference(p->o, s, p->uniform, p->hardness);
    if (!has_value(d))
        return;
    fprintf(html, ", %.3f", fabs(d.mean));
    put_half(html, "%.3f", d.half);
    fputs(d.mean < 0 ? " below Uniform's" : " above Uniform's", html);
}

// Of those that are tied with the best, the first ones by name. n: of those so far.
static void put_tie(FILE *html, int n, const char *name, bool has_interval) {
    if (n == 0)
        fputs(has_interval ? " A tie, by its interval, with " : " A tie with ", html);
    if (n < MOST_TIES)
        hn_html(html, n == 0 ? "%s" : ", %s", name);
}

static void end_ties(FILE *html, int n) {
    if (n > MOST_TIES)
        fprintf(html, " and %d more", n - MOST_TIES);
    fputs(n > 0 ? "." : "", html);
}

static void put_rest(FILE *html, int places, const char *which) {
    if (places > MOST_PLACES)
        fprintf(html, "<p>%d more %s stand in the table.</p>\n", places - MOST_PLACES, which);
}

// Those whose difference to the best has an interval with 0 in it; without an interval, equal ones.
static void put_ties(FILE *html, const struct place *p, int64_t best) {
    char name[NAME];
    int n = 0;
    for (int64_t s = 0; s < p->o->settings; s++) {
        if (s == best || !is_candidate(p, s))
            continue;
        struct hn_mean d = hn_overview_difference(p->o, s, best, p->hardness);
        if (!(fabs(d.mean) <= (isfinite(d.half) ? d.half : 0)))
            continue;
        hn_overview_label(p->o, s, name, sizeof name);
        put_tie(html, n++, name, isfinite(d.half));
    }
    end_ties(html, n);
}

static void put_free(FILE *html, const struct place *p, int64_t best) {
    char name[NAME];
    if (p->uniform < 0 || best == p->uniform || is_free(p, best) ||
        !has_value(hn_overview_difference(p->o, best, p->uniform, "fn_ratio")))
        return;
    int64_t s = hardest(p, is_free);
    struct hn_mean d = hn_no_mean;
    if (s >= 0)
        d = hn_overview_difference(p->o, s, p->uniform, p->hardness);
    if (s >= 0 && !isfinite(d.half))
        return; // nothing tells
    if (!(d.mean - d.half > 0)) {
        fputs(" None is harder than Uniform without more false negatives, as far as the intervals "
              "tell.",
              html);
        return;
    }
    hn_overview_label(p->o, s, name, sizeof name);
    hn_html(html,
            " Without more false negatives than Uniform, as far as their interval tells, "
            "<b>%s</b> is the hardest",
            name);
    put_harder(html, p, s);
    put_price(html, p, s);
    fputs(".", html);
}

static void put_place(FILE *html, const struct place *p) {
    char name[NAME];
    bool labelled = strcmp(p->hardness, "hard_true_mean") == 0;
    int64_t best = hardest(p, NULL);
    if (best < 0)
        return;
    const struct hn_table *runs = &p->o->results->runs;
    int64_t cell = p->o->first[p->first];
    hn_dataset_title(hn_table_text(runs, cell, "dataset"), name, sizeof name);
    hn_html(html, "<p>%s", name);
    fprintf(html, ", step %.0f, batches of %.0f: ", hn_table_real(runs, cell, "step"),
            hn_table_real(runs, cell, "batch_size"));
    hn_overview_label(p->o, best, name, sizeof name);
    struct hn_mean m = hn_overview_mean(p->o, best, p->hardness);
    hn_html(html,
            labelled ? "<b>%s</b> has the hardest true negatives, at a mean cosine of "
                     : "<b>%s</b> has the hardest batches, at a mean cosine of ",
            name);
    fprintf(html, "%.3f", m.mean);
    put_half(html, "%.3f", m.half);
    put_harder(html, p, best);
    put_price(html, p, best);
    fputs(".", html);
    put_ties(html, p, best);
    put_free(html, p, best);
    if (!isfinite(m.half))
        fprintf(html, " Hardness has no interval with %" PRId64 " seed%s: three give one.", m.n,
                m.n == 1 ? "" : "s");
    fputs("</p>\n", html);
}

static bool is_known(const struct hn_overview *o, int64_t s) {
    const struct hn_table *runs = &o->results->runs;
    static const char *const names[] = {"dataset", "batch_size", NULL};
    for (int64_t k = 0; k < s; k++)
        if (o->last[k] && hn_rows_agree(runs, o->first[k], o->first[s], names))
            return true;
    return false;
}

static void put_places(FILE *html, const struct hn_overview *o) {
    int places = 0;
    for (int64_t s = 0; s < o->settings; s++) {
        if (!o->last[s] || is_known(o, s))
            continue;
        if (places++ < MOST_PLACES)
            put_place(html, &(struct place){o, s, o->base[s], hn_overview_hardness(o)});
    }
    put_rest(html, places, "files and batch sizes");
}

enum hn_code hn_html_answer(FILE *html, struct hn_context *ctx, const struct hn_overview *o) {
    (void)ctx;
    put_places(html, o);
    return HN_OK;
}

// The miner: candidates by the filter that each fails first.

struct stage {
    const struct hn_overview *o;
    const struct hn_table *t;
    int64_t setting, row; // a row of the table, whose filter it is
};

static bool is_of(const struct stage *s, int64_t row) {
    double run = hn_table_real(s->t, row, "run");
    struct hn_replicates cells = hn_overview_cells(s->o, s->setting);
    for (int64_t i = 0; i < cells.n; i++)
        if (fabs(run - (double)cells.row[i]) < 0.5)
            return true;
    return false;
}

static void put_stage_name(FILE *html, const struct hn_html_column *c, const void *of) {
    const struct stage *s = of;
    char name[NAME];
    (void)c;
    hn_overview_label(s->o, s->setting, name, sizeof name);
    hn_html(html, "<th scope=row>%s</th>", name);
}

static void put_filter(FILE *html, const struct hn_html_column *c, const void *of) {
    const struct stage *s = of;
    hn_html(html, "<td>%s</td>", hn_table_text(s->t, s->row, c->from));
}

static struct hn_html_number candidates(const struct hn_html_column *c, const void *of) {
    const struct stage *s = of;
    double sum = 0;
    for (int64_t row = 0; row < s->t->rows; row++)
        if (is_of(s, row) &&
            strcmp(hn_table_text(s->t, row, "filter"), hn_table_text(s->t, s->row, "filter")) == 0)
            sum += hn_table_real(s->t, row, c->from);
    return (struct hn_html_number){sum, NAN, NAN};
}

// Its first finished cell, whose filters are those of all; -1: none.
static int64_t first_ok(const struct hn_overview *o, int64_t setting) {
    struct hn_replicates cells = hn_overview_cells(o, setting);
    int64_t i = 0;
    while (i < cells.n && !hn_overview_is_ok(o, cells.row[i]))
        i++;
    return i < cells.n ? cells.row[i] : -1;
}

void hn_html_attrition(FILE *html, const struct hn_overview *o) {
    static const struct hn_html_column columns[] = {
        {"Setting", .put = put_stage_name},
        {"Filter", "what a candidate fails first; kept: nothing", "filter", .put = put_filter},
        {"True negatives", NULL, "true_negatives", "%.0f", .number = candidates},
        {"False negatives", NULL, "false_negatives", "%.0f", .number = candidates},
        {"Unlabelled", NULL, "unlabelled", "%.0f", .number = candidates}};
    enum { COLUMNS = sizeof columns / sizeof columns[0] };
    const struct hn_table *t = hn_results_table(o->results, "attrition");
    if (!t || t->rows == 0)
        return;
    fputs("<details><summary>What the filters of the miner drop, at the last step</summary>\n"
          "<div class=scroll role=region tabindex=0 aria-label=Attrition><table>\n",
          html);
    hn_html_heads(html, columns, COLUMNS, 0);
    for (int64_t s = 0; s < o->settings; s++)
        for (int64_t row = 0; row < t->rows && o->last[s]; row++)
            if (fabs(hn_table_real(t, row, "run") - (double)first_ok(o, s)) < 0.5)
                hn_html_row(html, columns, COLUMNS, &(struct stage){o, t, s, row});
    fputs("</tbody></table></div></details>\n", html);
}
