// Settings between two of the grid of which one is within the budget of false negatives and the
// other is not.
#include "harness/choose/choose_private.h"
#include "harness/job/list.h"

#include <math.h>
#include <stdio.h>
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

// The number at `text`, up to a comma or the end; NAN if it is not a number.
static double number_at(const char *text, int *length) {
    char *end;
    double value = strtod(text, &end);
    *length = (int)strcspn(text, ",");
    return end == text + *length && end > text ? value : NAN;
}

// True if two canonical texts, "K=100, M=500", differ in one number alone, which is put into *s.
static bool differ_in_one(const char *a, const char *b, struct step *s) {
    const char *begin = a;
    bool found = false;
    while (*a || *b) {
        int same = 0;
        while (a[same] && a[same] == b[same] && a[same] != ',')
            same++;
        bool equal = a[same] == b[same] && (a[same] == ',' || !a[same]);
        const char *x = strchr(a, '='), *y = strchr(b, '=');
        if (!equal && (found || !x || !y || x - a != y - b || strncmp(a, b, (size_t)(x - a)) != 0))
            return false;
        if (!equal) {
            int other;
            found = true;
            s->at = (int)(x + 1 - begin);
            s->from = number_at(x + 1, &s->length);
            s->to = number_at(y + 1, &other);
            if (isnan(s->from) || isnan(s->to))
                return false;
        }
        a += strcspn(a, ",");
        b += strcspn(b, ",");
        a += strspn(a, ", ");
        b += strspn(b, ", ");
    }
    return found;
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
    void *outer = hn_own(ctx, job->path);
    enum hn_code code = n > 0 ? add_steps(ctx, job, step, n) : HN_OK;
    hn_own(ctx, outer);
    hn_free(ctx, step);
    return code;
}
