// What a job file's grids hold: samplers and weightings, each with parameters of its own type.
#include "harness/job/job_private.h"

#include <string.h>

static bool sampler_type(int64_t i, struct hn_grid_type *out) {
    const struct hn_sampler_type *type = hn_samplers[i];
    if (type)
        *out = (struct hn_grid_type){type->name, type->options, type->params_size, type};
    return type;
}

static enum hn_code sampler_preset(struct hn_context *ctx, const void *type, void *params) {
    return hn_sampler_preset(ctx, type, params);
}

static const struct hn_grid_family samplers = {"sampler", "samplers", sampler_type, NULL,
                                               sampler_preset};

enum hn_code hn_job_read_samplers(struct hn_context *ctx, const struct hn_yaml *value,
                                  struct hn_job *job) {
    struct hn_grid_point *point;
    int64_t n;
    if (hn_grid_read(ctx, &samplers, value, &point, &n))
        return ctx->code;
    job->sampler = hn_alloc(ctx, n, sizeof *job->sampler);
    if (!job->sampler) {
        hn_grid_free(ctx, point, n);
        return ctx->code;
    }
    for (; job->n_samplers < n; job->n_samplers++) {
        const struct hn_grid_point *p = &point[job->n_samplers];
        job->sampler[job->n_samplers] = (struct hn_job_sampler){p->type.type, p->params, p->text};
    }
    hn_free(ctx, point); // what the points own has moved
    return HN_OK;
}

void hn_job_sampler_free(struct hn_context *ctx, struct hn_job_sampler *s) {
    if (s->type)
        hn_options_free(ctx, s->type->options, s->params);
    hn_free(ctx, s->params);
    hn_free(ctx, s->text);
    memset(s, 0, sizeof *s);
}

static bool weighting_type(int64_t i, struct hn_grid_type *out) {
    const struct hn_weighting_type *type = hn_weightings[i];
    if (type)
        *out = (struct hn_grid_type){type->name, type->options, type->params_size, type};
    return type;
}

static const struct hn_grid_family weightings = {"weighting", "weightings", weighting_type,
                                                 hn_ambiguous_loss, NULL};

enum hn_code hn_job_read_weightings(struct hn_context *ctx, const struct hn_yaml *value,
                                    struct hn_job *job) {
    struct hn_grid_point *point;
    int64_t n;
    if (hn_grid_read(ctx, &weightings, value, &point, &n))
        return ctx->code;
    job->weighting = hn_alloc(ctx, n, sizeof *job->weighting);
    if (!job->weighting) {
        hn_grid_free(ctx, point, n);
        return ctx->code;
    }
    for (; job->n_weightings < n; job->n_weightings++) {
        const struct hn_grid_point *p = &point[job->n_weightings];
        job->weighting[job->n_weightings] =
            (struct hn_job_weighting){p->type.type, p->params, p->text};
    }
    hn_free(ctx, point); // what the points own has moved
    return HN_OK;
}

void hn_job_weighting_free(struct hn_context *ctx, struct hn_job_weighting *w) {
    if (w->type)
        hn_options_free(ctx, w->type->options, w->params);
    hn_free(ctx, w->params);
    hn_free(ctx, w->text);
    memset(w, 0, sizeof *w);
}
