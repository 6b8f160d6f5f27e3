#include "samplers/space.h"

const char *const hn_space_names[] = {"embeddings", "teacher", NULL};

static enum hn_code fail(struct hn_context *ctx, const char *sampler) {
    return hn_fail(ctx, HN_NOT_APPLICABLE,
                   "%s with space: teacher needs a teacher, which these items do not have",
                   sampler);
}

enum hn_code hn_space_check(struct hn_context *ctx, const char *sampler, int space,
                            const struct hn_sampler_plan *plan) {
    return space == HN_SPACE_TEACHER && !plan->has_teacher ? fail(ctx, sampler) : HN_OK;
}

enum hn_code hn_space_rows(struct hn_context *ctx, const struct hn_sampler *self, int space,
                           const struct hn_items *items, struct hn_matrix *rows) {
    *rows = space == HN_SPACE_TEACHER ? items->teacher : items->x;
    return rows->data ? HN_OK : fail(ctx, self->type->name);
}
