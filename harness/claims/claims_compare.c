// SPDX-License-Identifier: GPL-3.0-or-later
// From the two sides of a claim to its parts: every data set, step, value of `each`, and pair of
// settings or of neighbouring values of `along`, with the differences paired by replicate.
#include "core/text.h"
#include "harness/claims/claims_private.h"

#include "core/stats.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

// Replicates of one part.
struct pairs {
    double *value;      // [n] what the part's interval is of
    double left, right; // sums of the two sides
    int64_t n, capacity, step;
    int64_t alike;                       // of the n, pairs whose sides are one cell
    const struct hn_sample *one, *other; // the first of each side; other NULL for a constant
};

struct judge {
    struct hn_context *ctx;
    const struct hn_results *results;
    const struct hn_claim *claim;
    struct hn_claim_result *out;
    int64_t capacity;
    struct hn_claim_samples left, right; // of the combinations that are compared
    struct pairs pairs;                  // of the part that is being made
};

enum hn_code hn_claim_not_tested(struct hn_claim_result *out, const char *why) {
    out->verdict = HN_NOT_TESTED;
    hn_put_message(out->reason, sizeof out->reason, "%s", why);
    return HN_OK;
}

static struct hn_claim_part *add_part(struct judge *j) {
    struct hn_claim_result *out = j->out;
    if (hn_grow(j->ctx, &out->part, &j->capacity, out->parts + 1, sizeof *out->part))
        return NULL;
    out->part[out->parts] = (struct hn_claim_part){.step = -1};
    return &out->part[out->parts++];
}

static double combine(int as, double left, double right) {
    return as == HN_AS_VALUE       ? left
           : as == HN_AS_RATIO     ? left / right
           : as == HN_AS_REDUCTION ? 1 - left / right
                                   : left - right;
}

// Half of a 95 % interval that comes with the columns (over batches of the one seed).
static double own_half(const struct hn_sample *s) { return s ? (s->hi - s->lo) / 2 : 0; }

// One seed: the intervals over batches of both sides, taken as independent.
static void single(struct hn_claim_part *part, const struct pairs *p, bool exact) {
    double half = exact ? 0 : hypot(own_half(p->one), own_half(p->other));
    part->batches = !exact;
    part->lo = part->difference - half;
    part->hi = part->difference + half;
    part->deviation = half / gsl_cdf_ugaussian_Pinv(0.5 + HN_CLAIM_LEVEL / 2);
}

static void fill_part(struct judge *j, struct hn_claim_part *part, const struct pairs *p) {
    struct hn_interval d = hn_mean_interval(p->value, 1, p->n, HN_CLAIM_LEVEL);
    snprintf(part->dataset, sizeof part->dataset, "%s", p->one->dataset);
    part->step = p->step;
    part->left = p->left / (double)p->n;
    part->right = p->right / (double)p->n;
    part->difference = d.mean;
    part->lo = d.lo;
    part->hi = d.hi;
    part->replicates = p->n;
    part->kind = p->one->kind;
    double t = p->n > 1 ? gsl_cdf_tdist_Pinv(0.5 + HN_CLAIM_LEVEL / 2, (double)(p->n - 1)) : 1;
    part->deviation = (d.hi - d.lo) / 2 / t * sqrt((double)p->n);
    if (p->n == 1)
        single(part, p, j->claim->exact);
}

// Joins what names a part: "step 400, M 500 against uniform".
static void name_part(struct hn_claim_part *part, const char *group, const char *left,
                      const char *right) {
    const char *against = !*right ? "" : *group || *left ? " against " : "against ";
    hn_put_text(part->at, sizeof part->at, "%s%s%s%s%s", hn_quote(group).text,
                *group && *left ? ", " : "", hn_quote(left).text, against, hn_quote(right).text);
}

static enum hn_code begin_pairs(struct judge *j, int64_t max) {
    struct pairs *p = &j->pairs;
    *p = (struct pairs){.value = p->value, .capacity = p->capacity};
    return hn_grow(j->ctx, &p->value, &p->capacity, hn_max(max, 1), sizeof *p->value);
}

const char hn_claim_alike[] = "the two settings are one on these data (an option was cut)";

static bool measured(const struct hn_column *c) {
    return c->role == HN_ROLE_COUNTER || c->role == HN_ROLE_QUALITY || c->role == HN_ROLE_BINNED;
}

// True if two rows measured the same in every column: an option above its maximum was cut (M = 4000
// and 6000 of 3,000 items), so that two settings are one.
static bool are_alike(const struct hn_sample *a, const struct hn_sample *b) {
    if (a->table != b->table || a->value != b->value)
        return false;
    for (int c = 0; c < a->table->n_columns; c++)
        if (measured(&a->table->column[c]) && !hn_table_cells_equal(a->table, c, a->row, b->row))
            return false;
    return true;
}

static void push_pair(struct judge *j, const struct hn_sample *one, const struct hn_sample *other,
                      double right) {
    struct pairs *p = &j->pairs;
    p->left += one->value;
    p->right += right;
    p->value[p->n] = combine(j->claim->as, one->value, right);
    p->alike += other && are_alike(one, other);
    if (p->n++ > 0)
        return;
    p->one = one;
    p->other = other;
    p->step = one->step;
}

// Makes a part of the pairs, if there are any.
static enum hn_code end_pairs(struct judge *j, const char *left, const char *right) {
    const struct pairs *p = &j->pairs;
    bool alike = p->n > 0 && p->alike == p->n;
    j->out->alike += alike;
    if (p->n == 0 || alike || j->out->verdict == HN_NOT_TESTED)
        return HN_OK;
    struct hn_claim_part *part = add_part(j);
    if (!part)
        return j->ctx->code;
    fill_part(j, part, p);
    name_part(part, p->one->group, left, right);
    return HN_OK;
}

// The sample of `s` that belongs to `one`: the same match and replicate (any, where there are no
// replicates), and this value of `along` unless it is NaN. NULL: none. *several: more than one, so
// the rows are not told apart.
static const struct hn_sample *partner(const struct hn_claim_samples *s,
                                       const struct hn_sample *one, double along, bool *several) {
    const struct hn_sample *found = NULL;
    for (int64_t i = 0; i < s->n; i++) {
        const struct hn_sample *c = &s->sample[i];
        if (strcmp(c->match, one->match) != 0 || (!isnan(along) && c->along != along) ||
            (s->replicated && c->replicate != one->replicate))
            continue;
        *several |= found != NULL;
        found = c;
    }
    return found;
}

static bool same_group(const struct hn_sample *a, const struct hn_sample *b) {
    return strcmp(a->group, b->group) == 0 && strcmp(a->dataset, b->dataset) == 0;
}

static bool first_of_group(const struct hn_claim_samples *s, int64_t i) {
    for (int64_t k = 0; k < i; k++)
        if (same_group(&s->sample[k], &s->sample[i]))
            return false;
    return true;
}

// Does a sample of the group that begins at `at` have the replicate of sample i before it?
static bool repeated(const struct hn_claim_samples *s, int64_t at, int64_t i) {
    for (int64_t k = at; k < i; k++)
        if (same_group(&s->sample[k], &s->sample[i]) &&
            s->sample[k].replicate == s->sample[i].replicate)
            return true;
    return false;
}

static enum hn_code ambiguous(struct judge *j, const struct hn_sample *s) {
    char why[480];
    hn_put_text(why, sizeof why,
                "several rows of %s%s%s have the same seed: the results hold more settings than "
                "the claim tells apart",
                s->dataset, *s->dataset ? ", " : "", *s->group ? s->group : "one group");
    return hn_claim_not_tested(j->out, why);
}

// The replicates of the group that begins with sample `at`, each with its partner.
static enum hn_code pair_group(struct judge *j, const struct hn_claim_samples *a,
                               const struct hn_claim_samples *b, int64_t at) {
    double constant = j->claim->than.given ? j->claim->than.value : NAN;
    for (int64_t i = at; i < a->n; i++) {
        const struct hn_sample *one = &a->sample[i];
        if (!same_group(one, &a->sample[at]))
            continue;
        bool several = a->replicated ? repeated(a, at, i) : j->pairs.n > 0;
        const struct hn_sample *other = b ? partner(b, one, NAN, &several) : NULL;
        if (several)
            return ambiguous(j, one);
        if (other || !b)
            push_pair(j, one, other, b ? other->value : constant);
    }
    return HN_OK;
}

static struct hn_collect collect_of(const struct judge *j, const struct hn_claim_side *side,
                                    const struct hn_claim_side *other, int64_t member) {
    const struct hn_claim *c = j->claim;
    return (struct hn_collect){.results = j->results,
                               .side = side,
                               .other = other,
                               .member = member,
                               .steps = side->steps >= 0 ? side->steps : c->steps,
                               .each = c->each,
                               .n_each = c->n_each};
}

// A cell that failed leaves a hole in a claim: the others must not speak for it.
static bool lacks(const struct hn_claim_samples *s) { return s->n == 0 || s->failed > 0; }

// One run's curve: samples of a group's match and replicate, in order of steps.
struct curve {
    const struct hn_claim_samples *samples;
    const char *match;
    int64_t replicate;
};

static const struct hn_sample *next_of(const struct curve *c, const struct hn_sample *after) {
    const struct hn_claim_samples *s = c->samples;
    for (int64_t i = after ? after - s->sample + 1 : 0; i < s->n; i++)
        if (s->sample[i].replicate == c->replicate && strcmp(s->sample[i].match, c->match) == 0)
            return &s->sample[i];
    return NULL;
}

static double end_of(const struct curve *c) {
    double end = NAN;
    for (const struct hn_sample *s = next_of(c, NULL); s; s = next_of(c, s))
        end = s->value;
    return end;
}

// Steps to a value, between evaluations by a straight line; one evaluation beyond the end if it is
// never reached, which speaks against "sooner". NaN if two rows share a step.
static double steps_to(const struct curve *c, double target) {
    const struct hn_sample *before = NULL;
    double found = NAN, beyond = NAN;
    for (const struct hn_sample *s = next_of(c, NULL); s; before = s, s = next_of(c, s)) {
        if (before && s->along <= before->along)
            return NAN;
        beyond = before ? 2 * s->along - before->along : s->along;
        if (!isnan(found) || s->value < target)
            continue;
        double share = before ? (target - before->value) / (s->value - before->value) : 1;
        found = before ? before->along + share * (s->along - before->along) : s->along;
    }
    return isnan(found) ? beyond : found;
}

static enum hn_code compare_curves(struct judge *j, const struct hn_claim_samples *a,
                                   const struct hn_claim_samples *b, int64_t at) {
    for (int64_t i = at; i < a->n; i++) {
        const struct hn_sample *one = &a->sample[i];
        const struct curve left = {a, one->match, one->replicate};
        const struct curve right = {b, one->match, one->replicate};
        double target = end_of(&right);
        if (!same_group(one, &a->sample[at]) || next_of(&left, NULL) != one || isnan(target))
            continue;
        struct hn_sample steps = *one;
        steps.value = steps_to(&left, target);
        double other = steps_to(&right, target);
        if (isnan(steps.value) || isnan(other))
            return ambiguous(j, one);
        push_pair(j, &steps, NULL, other);
        j->pairs.one = &a->sample[at];
        j->pairs.step = -1;
    }
    return HN_OK;
}

// Compares two collected sides, group by group. b: NULL for a constant, or for a value alone.
// curves: by the steps to the value that the other side has at its end.
static enum hn_code compare(struct judge *j, const struct hn_claim_samples *a,
                            const struct hn_claim_samples *b, bool curves, const char *left,
                            const char *right) {
    for (int64_t i = 0; i < a->n && j->out->verdict != HN_NOT_TESTED; i++)
        if (first_of_group(a, i) &&
            (begin_pairs(j, a->n) ||
             (curves ? compare_curves(j, a, b, i) : pair_group(j, a, b, i)) ||
             end_pairs(j, left, right)))
            return j->ctx->code;
    return HN_OK;
}

// Every combination of the one side against every combination of the other.
static enum hn_code judge_members(struct judge *j, int64_t left_member, int64_t right_member) {
    const struct hn_claim *c = j->claim;
    bool rows = c->than.given && isnan(c->than.value), curves = c->test == HN_TEST_SOONER;
    struct hn_claim_samples *a = &j->left, *b = &j->right;
    struct hn_collect one = collect_of(j, &c->of, rows ? &c->than : NULL, left_member);
    struct hn_collect two = collect_of(j, &c->than, &c->of, right_member);
    one.along = two.along = curves ? "step" : NULL;
    if (hn_claim_collect(j->ctx, &one, a) || (rows && hn_claim_collect(j->ctx, &two, b)))
        return j->ctx->code;
    if (lacks(a) || (rows && lacks(b)))
        return hn_claim_not_tested(j->out, lacks(a) ? a->why : b->why);
    return compare(j, a, rows || curves ? b : NULL, curves, hn_side_label(&c->of, left_member).text,
                   hn_side_label(&c->than, right_member).text);
}

static enum hn_code judge_pairs(struct judge *j) {
    int64_t lefts = hn_side_members(&j->claim->of), rights = hn_side_members(&j->claim->than);
    for (int64_t m = 0; m < lefts * rights && j->out->verdict != HN_NOT_TESTED; m++)
        if (judge_members(j, m / rights, m % rights))
            return j->ctx->code;
    if (j->out->parts == 0 && j->out->verdict != HN_NOT_TESTED)
        return hn_claim_not_tested(
            j->out, j->out->alike ? hn_claim_alike
                                  : "the two sides have no data set, step and seed in common");
    return HN_OK;
}

// The value of `along` that follows `after` in the group of sample `at`: the least if that is NaN;
// NaN if there is none.
static double next_along(const struct hn_claim_samples *s, int64_t at, double after) {
    double next = NAN;
    for (int64_t i = at; i < s->n; i++) {
        double along = s->sample[i].along;
        if (same_group(&s->sample[i], &s->sample[at]) && !(along <= after) && !(along >= next))
            next = along;
    }
    return next;
}

// From one value of `along` to the next: the later value against the earlier, paired by replicate.
static enum hn_code judge_rise(struct judge *j, const struct hn_claim_samples *s, int64_t at,
                               double from, double to) {
    if (begin_pairs(j, s->n))
        return j->ctx->code;
    for (int64_t i = at; i < s->n; i++) {
        const struct hn_sample *one = &s->sample[i];
        bool several = false;
        if (!same_group(one, &s->sample[at]) || one->along != to)
            continue;
        const struct hn_sample *other = partner(s, one, from, &several);
        if (several)
            return ambiguous(j, one);
        if (other)
            push_pair(j, one, other, other->value);
    }
    char name[96];
    int digits = floor(from) < from || floor(to) < to ? 4 : 17; // shares, or steps and sizes
    hn_put_text(name, sizeof name, "%s %.*g to %.*g", j->claim->along, digits, from, digits, to);
    if (strcmp(j->claim->along, "step") == 0)
        j->pairs.step = hn_whole(to, -1);
    return end_pairs(j, name, "");
}

static enum hn_code judge_along(struct judge *j, const struct hn_claim_samples *s) {
    int64_t before = j->out->parts;
    for (int64_t i = 0; i < s->n; i++) {
        if (!first_of_group(s, i))
            continue;
        double from = next_along(s, i, NAN), to = next_along(s, i, from);
        for (double next = to; j->claim->ends && !isnan(next); next = next_along(s, i, next))
            to = next;
        for (; !isnan(to) && j->out->verdict != HN_NOT_TESTED; to = next_along(s, i, from = to))
            if (judge_rise(j, s, i, from, to))
                return j->ctx->code;
    }
    if (j->out->parts > before || j->out->verdict == HN_NOT_TESTED)
        return HN_OK;
    char why[160];
    hn_put_text(why, sizeof why, "the results have a single value of '%s'",
                hn_quote(j->claim->along).text);
    return hn_claim_not_tested(j->out, j->out->alike ? hn_claim_alike : why);
}

// Least-squares slope of log value over log along, of one replicate of a group; NaN if impossible.
static double slope_of(const struct hn_claim_samples *s, int64_t at, int64_t replicate) {
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (int64_t i = at; i < s->n; i++) {
        const struct hn_sample *c = &s->sample[i];
        if (!same_group(c, &s->sample[at]) || c->replicate != replicate)
            continue;
        double u = log(c->along), v = log(c->value);
        n++;
        x += u;
        y += v;
        xx += u * u;
        xy += u * v;
    }
    double below = n * xx - x * x;
    return n > 1 && below > 0 ? (n * xy - x * y) / below : NAN;
}

static enum hn_code judge_slopes(struct judge *j, const struct hn_claim_samples *s) {
    for (int64_t i = 0; i < s->n; i++) {
        if (!first_of_group(s, i))
            continue;
        if (begin_pairs(j, s->n))
            return j->ctx->code;
        for (int64_t k = i; k < s->n; k++) {
            struct hn_sample one = s->sample[k];
            bool fits = same_group(&one, &s->sample[i]) && !repeated(s, i, k);
            one.value = fits ? slope_of(s, i, one.replicate) : NAN;
            if (isnan(one.value))
                continue;
            push_pair(j, &one, NULL, j->claim->than.value);
            j->pairs.one = &s->sample[i];
            j->pairs.step = s->sample[i].step;
        }
        if (end_pairs(j, "", ""))
            return j->ctx->code;
    }
    return j->out->parts
               ? HN_OK
               : hn_claim_not_tested(j->out, "no replicate has two points to fit a slope to");
}

static enum hn_code judge_series(struct judge *j) {
    const struct hn_claim *c = j->claim;
    int64_t members = hn_side_members(&c->of);
    for (int64_t m = 0; m < members && j->out->verdict != HN_NOT_TESTED; m++) {
        const struct hn_claim_samples *s = &j->left;
        struct hn_collect what = collect_of(j, &c->of, NULL, m);
        what.along = c->along;
        if (hn_claim_collect(j->ctx, &what, &j->left))
            return j->ctx->code;
        int64_t before = j->out->parts;
        if (lacks(s))
            return hn_claim_not_tested(j->out, s->why);
        if (hn_claim_is_slope(c->test) ? judge_slopes(j, s) : judge_along(j, s))
            return j->ctx->code;
        const struct hn_phrase label = hn_side_label(&c->of, m);
        for (int64_t i = before; *label.text && i < j->out->parts; i++)
            name_part(&j->out->part[i], j->out->part[i].at, label.text, "");
    }
    return HN_OK;
}

// Every row for itself; the part that is kept is the one with the least capacity.
static enum hn_code judge_bound(struct judge *j) {
    const struct hn_claim *c = j->claim;
    struct hn_claim_result *out = j->out;
    int64_t members = hn_side_members(&c->of);
    const struct hn_claim_side *than = &c->than;
    double min = INFINITY;
    for (int64_t m = 0; m < members; m++) {
        const struct hn_claim_samples *s = &j->left;
        struct hn_collect what = collect_of(j, &c->of, NULL, m);
        what.beside = isnan(than->value) ? than : NULL;
        what.rows = true;
        if (hn_claim_collect(j->ctx, &what, &j->left))
            return j->ctx->code;
        if (lacks(s))
            return hn_claim_not_tested(j->out, s->why);
        for (int64_t i = 0; i < s->n; i++) {
            const struct hn_sample *one = &s->sample[i];
            double right = isnan(than->value) ? one->beside : than->value;
            double capacity =
                one->value - right + c->tolerance * fmax(fabs(one->value), fabs(right));
            out->compared++;
            out->holding += capacity >= 0;
            out->failing += capacity < 0;
            if (capacity >= min)
                continue;
            min = capacity;
            out->parts = 0;
            struct hn_claim_part *part = add_part(j);
            if (!part)
                return j->ctx->code;
            snprintf(part->dataset, sizeof part->dataset, "%s", one->dataset);
            name_part(part, one->group, "", "");
            part->step = one->step;
            part->left = one->value;
            part->right = right;
            part->difference = part->lo = part->hi = one->value - right;
            part->replicates = hn_samples_encoders(s);
            part->kind = one->kind;
            part->verdict = capacity >= 0 ? HN_HOLDS : HN_FAILS;
        }
    }
    return HN_OK;
}

enum hn_code hn_claim_compare(struct hn_context *ctx, const struct hn_results *r,
                              const struct hn_claim *claim, struct hn_claim_result *out) {
    struct judge j = {.ctx = ctx, .results = r, .claim = claim, .out = out};
    memset(out, 0, sizeof *out);
    out->decided = -1;
    enum hn_code code = claim->test == HN_TEST_BOUND ? judge_bound(&j)
                        : claim->along               ? judge_series(&j)
                                                     : judge_pairs(&j);
    hn_free(ctx, j.pairs.value);
    hn_free(ctx, j.left.sample);
    hn_free(ctx, j.right.sample);
    return code;
}
