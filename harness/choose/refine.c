// Settings between two of the grid of which one is within the budget of false negatives and the
// other is not.
#include "core/options/option.h"
#include "harness/choose/choose_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 1024, THIRDS = 3 };

// An option in which two settings of a sampler differ, alone: "alpha" from 0.5 to 0.2.
struct step {
    int64_t within, over; // settings
    double from, to;      // of the option: of `within` and of `over`
    int at, length;       // of its value in the text of `within`
    double hardness;      // of `within`
};

// NAN if the text is not a number.
static double number_of(const char *text, size_t length) {
    char *end;
    double value = strtod(text, &end);
    return length > 0 && end == text + length ? value : NAN;
}

// True if two canonical texts, "K=100, M=500", differ in one number alone, which is put into *s.
static bool differ_in_one(const char *a, const char *b, struct step *s) {
    const char *begin = a;
    struct hn_option_part x, y;
    for (bool found = false;;) {
        bool one = hn_option_next(&a, &x), other = hn_option_next(&b, &y);
        if (!one || !other)
            return one == other && found;
        if (x.length == y.length && memcmp(x.text, y.text, x.length) == 0)
            continue;
        const char *equals = memchr(x.text, '=', x.length);
        size_t name = equals ? (size_t)(equals + 1 - x.text) : 0;
        if (found || name == 0 || name > y.length || memcmp(x.text, y.text, name) != 0)
            return false;
        s->at = (int)(x.text + name - begin);
        s->length = (int)(x.length - name);
        s->from = number_of(x.text + name, x.length - name);
        s->to = number_of(y.text + name, y.length - name);
        if (isnan(s->from) || isnan(s->to))
            return false;
        found = true;
    }
}

static double hardness_of(const struct hn_arm *arm) {
    return hn_evidence_hard(&arm->evidence, HN_BY_BATCH, 0.95).mean;
}

// From a setting over the budget, harder than the choice, to the next one within that differs in
// one number; false: there is none.
static bool find_step(const struct hn_halving *h, const struct hn_job *job, int64_t over,
                      struct step *out) {
    const struct hn_arm *arm = &h->arm[over];
    bool found = false;
    if (arm->fate == HN_ARM_FAILED || hn_halving_within(h, arm) ||
        !(hardness_of(arm) > hardness_of(&h->arm[h->best])))
        return false;
    for (int64_t i = 0; i < h->arms; i++) {
        struct step s = {.within = i, .over = over, .hardness = hardness_of(&h->arm[i])};
        if (job->sampler[i].type != job->sampler[over].type || h->arm[i].fate == HN_ARM_FAILED ||
            !hn_halving_within(h, &h->arm[i]) ||
            !differ_in_one(job->sampler[i].text, job->sampler[over].text, &s))
            continue;
        if (!found || fabs(s.to - s.from) < fabs(out->to - out->from))
            *out = s;
        found = true;
    }
    return found;
}

// The hardest settings within the budget first.
static int by_hardness(const void *a, const void *b) {
    const struct step *x = a, *y = b;
    if (x->hardness != y->hardness)
        return x->hardness > y->hardness ? -1 : 1;
    return (x->over > y->over) - (x->over < y->over);
}

// "{mosaic: {pool: 2500, lambda: 0.6}}", a number of thirds of the way; integers stay integers.
static void write_between(const struct hn_job_sampler *within, const struct step *s, int thirds,
                          char line[LINE]) {
    double value = s->from + (s->to - s->from) * thirds / THIRDS;
    bool whole = fmod(s->from, 1) == 0 && fmod(s->to, 1) == 0 && fabs(s->to - s->from) >= THIRDS;
    const char *rest = within->text + s->at + s->length;
    snprintf(line, LINE, "{%s: {", within->type->name);
    for (const char *c = within->text; c < within->text + s->at; c++)
        hn_append(line, LINE, *c == '=' ? ": " : "%c", *c);
    hn_append(line, LINE, whole ? "%.0f" : "%.2g", value);
    for (; *rest; rest++)
        hn_append(line, LINE, *rest == '=' ? ": " : "%c", *rest);
    hn_append(line, LINE, "}}");
}

static bool is_there(const struct hn_job *job, const struct hn_job_sampler *s) {
    for (int64_t i = 0; i < job->n_samplers; i++)
        if (job->sampler[i].type == s->type && strcmp(job->sampler[i].text, s->text) == 0)
            return true;
    return false;
}

static enum hn_code add_between(struct hn_context *ctx, struct hn_job *job, const struct step *s,
                                int thirds) {
    char line[LINE];
    struct hn_job_sampler *between;
    write_between(&job->sampler[s->within], s, thirds, line);
    if (hn_job_parse_sampler(ctx, line, &between))
        return ctx->code;
    if (!is_there(job, between))
        job->sampler[job->n_samplers++] = *between;
    return HN_OK;
}

static enum hn_code add_steps(struct hn_context *ctx, struct hn_job *job, const struct step *step,
                              int64_t n) {
    int64_t max = job->n_samplers + HN_CHOOSE_REFINED;
    struct hn_job_sampler *all = hn_alloc(ctx, max, sizeof *all);
    if (!all)
        return ctx->code;
    memcpy(all, job->sampler, (size_t)job->n_samplers * sizeof *all);
    job->sampler = all;
    for (int64_t i = 0; i < n; i++)
        for (int thirds = 1; thirds < THIRDS; thirds++)
            if (job->n_samplers < max && add_between(ctx, job, &step[i], thirds))
                return ctx->code;
    return HN_OK;
}

enum hn_code hn_choose_refine(struct hn_context *ctx, const struct hn_halving *h,
                              struct hn_job *job) {
    struct step *step = hn_alloc(ctx, h->arms, sizeof *step);
    int64_t n = 0;
    if (!step)
        return ctx->code;
    for (int64_t i = 0; i < h->arms; i++)
        n += find_step(h, job, i, &step[n]);
    qsort(step, (size_t)n, sizeof *step, by_hardness);
    return n > 0 ? add_steps(ctx, job, step, n) : HN_OK;
}
