#include "harness/mining/mining.h"
#include "core/parts.h"
#include "harness/host/progress.h"
#include "retrieval/ranking.h"

enum { PART_MIN = 4096 }; // queries, for each part prepares the corpus anew

// Everything that is open while queries are mined.
struct work {
    struct hn_mining *m;
    struct hn_progress progress;
    int64_t queries, parts;
};

static int64_t part_from(const struct work *w, int64_t part) {
    return w->queries * part / w->parts;
}

static int64_t count_parts(const struct hn_context *ctx, const struct work *w) {
    const struct hn_matrix *p = &w->m->miner->data.rows[HN_CORPUS];
    const struct hn_cut cut = {.multiplications =
                                   (double)w->queries * (double)p->rows * (double)p->cols,
                               .coarse = 1,
                               .dealt = true,
                               .rows = w->queries,
                               .block = PART_MIN};
    int64_t rows = hn_ranking_rows(w->queries, p, w->m->miner->o.depth);
    return hn_max(hn_parts_count(ctx, &cut), (w->queries + rows - 1) / rows);
}

// The negatives of a part, whose arrays belong to the owner of the time.
static enum hn_code mine_part(struct hn_context *ctx, struct work *w, int64_t part,
                              struct hn_mined *out) {
    int64_t from = part_from(w, part), count = part_from(w, part + 1) - from;
    struct hn_pool pool;
    hn_progress_show(&w->progress, "mining");
    // Its sweeps are of this process alone.
    const struct hn_parts *parts = ctx->parts;
    ctx->parts = NULL;
    bool good = !hn_check_stop(ctx) &&
                !hn_miner_pool(ctx, w->m->miner, from, count, false, &pool) &&
                !hn_miner_take(ctx, w->m->miner, &pool, out);
    ctx->parts = parts;
    w->progress.done += good ? count : 0;
    return good ? HN_OK : ctx->code;
}

// Arrays of the file belong to `owner`, those of the part do not.
static enum hn_code write_part(struct hn_context *ctx, struct work *w, int64_t part,
                               const struct hn_mined *found, void *owner) {
    hn_mine_counts_add(&w->m->counts, &found->counts);
    void *inner = hn_own(ctx, owner);
    enum hn_code code = hn_mine_output_add(ctx, w->m->file, part_from(w, part), found);
    hn_own(ctx, inner);
    return code;
}

static enum hn_code mine_alone(struct hn_context *ctx, struct work *w) {
    for (int64_t part = 0; part < w->parts; part++) {
        HN_SCOPE(ctx);
        struct hn_mined found = {0};
        if (mine_part(ctx, w, part, &found) || write_part(ctx, w, part, &found, scope.outer))
            return ctx->code;
    }
    return HN_OK;
}

// As bytes: this, then of each query its number of negatives, and these with their scores.
struct head {
    int64_t width;
    struct hn_mine_counts counts;
};

static enum hn_code compute_part(struct hn_context *ctx, void *data, int64_t part,
                                 struct hn_bytes *out) {
    struct hn_mined found = {0};
    if (mine_part(ctx, data, part, &found))
        return ctx->code;
    const struct head head = {found.width, found.counts};
    int64_t n = found.count;
    if (hn_bytes_append(ctx, out, &head, sizeof head) ||
        hn_bytes_append(ctx, out, found.n, n * (int64_t)sizeof *found.n))
        return ctx->code;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = i * found.width, kept = found.n[i];
        if (hn_bytes_append(ctx, out, found.id + at, kept * (int64_t)sizeof *found.id) ||
            hn_bytes_append(ctx, out, found.score + at, kept * (int64_t)sizeof *found.score))
            return ctx->code;
    }
    return HN_OK;
}

static bool read_rows(struct hn_cursor *from, struct hn_mined *out) {
    for (int64_t i = 0; i < out->count; i++) {
        int64_t at = i * out->width, kept = out->n[i];
        if (kept < 0 || kept > out->width ||
            !hn_cursor_take(from, out->id + at, kept * (int64_t)sizeof *out->id) ||
            !hn_cursor_take(from, out->score + at, kept * (int64_t)sizeof *out->score))
            return false;
    }
    return true;
}

static enum hn_code take_part(struct hn_context *ctx, void *data, int64_t part,
                              struct hn_cursor *from) {
    struct work *w = data;
    struct head head;
    int64_t size, n = part_from(w, part + 1) - part_from(w, part);
    if (!hn_cursor_take(from, &head, sizeof head) || head.width < 0 ||
        head.width > w->m->miner->o.n || !hn_mul(n, head.width, &size))
        return hn_cursor_fail(ctx);
    HN_SCOPE(ctx);
    struct hn_mined found = {.count = n, .width = head.width, .counts = head.counts};
    found.n = hn_alloc(ctx, n, sizeof *found.n);
    found.id = hn_alloc(ctx, size, sizeof *found.id);
    found.score = hn_alloc(ctx, size, sizeof *found.score);
    if (!found.n || !found.id || !found.score)
        return ctx->code;
    if (!hn_cursor_take(from, found.n, n * (int64_t)sizeof *found.n) || !read_rows(from, &found))
        return hn_cursor_fail(ctx);
    return write_part(ctx, w, part, &found, scope.outer);
}

static enum hn_code mine_shared(struct hn_context *ctx, struct work *w) {
    const struct hn_mine_data *data = &w->m->miner->data;
    struct hn_digest key;
    hn_parts_key(&key, "mine", &data->rows[HN_QUERIES], &data->rows[HN_CORPUS]);
    hn_digest_add_text(&key, w->m->settings);
    const struct hn_parts_work work = {.key = &key,
                                       .parts = w->parts,
                                       .data = w,
                                       .compute = compute_part,
                                       .take = w->m->file ? take_part : NULL};
    return hn_parts_run(ctx, &work);
}

enum hn_code hn_mining_run(struct hn_context *ctx, struct hn_mining *m) {
    struct work w = {.m = m, .queries = m->miner->data.rows[HN_QUERIES].rows};
    w.parts = count_parts(ctx, &w);
    // Of those who share it, none knows how much falls to it.
    hn_progress_begin(&w.progress, ctx->parts ? 0 : w.queries, 0, m->quiet);
    w.progress.unit = "queries";
    enum hn_code code = ctx->parts ? mine_shared(ctx, &w) : mine_alone(ctx, &w);
    hn_progress_end(&w.progress);
    return code;
}
