// SPDX-License-Identifier: GPL-3.0-or-later
// Mines all queries in parts, each in pieces that fit the memory.
#include "harness/mining/mining.h"
#include "core/parts.h"
#include "harness/host/progress.h"
#include "harness/mining/output.h"
#include "retrieval/miner.h"
#include "retrieval/ranking.h"
#include "retrieval/streamed.h"
#include "retrieval/take.h"
#include "retrieval/wanted.h"

enum {
    PART_MIN = 4096, // queries, for each part prepares the corpus anew
};

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

// A piece as bytes: this, then of each query its number of negatives, those of all, and their
// scores.
struct head {
    int64_t count, width;
    struct hn_mine_counts counts;
};

static enum hn_code put_piece(struct hn_context *ctx, struct hn_bytes *out,
                              const struct hn_mined *found) {
    const struct head head = {found->count, found->width, found->counts};
    int64_t size = found->count * found->width;
    return hn_bytes_append(ctx, out, &head, sizeof head) ||
                   hn_bytes_append(ctx, out, found->n, found->count * (int64_t)sizeof *found->n) ||
                   hn_bytes_append(ctx, out, found->id, size * (int64_t)sizeof *found->id) ||
                   hn_bytes_append(ctx, out, found->score, size * (int64_t)sizeof *found->score)
               ? ctx->code
               : HN_OK;
}

static enum hn_code write_piece(struct hn_context *ctx, const struct work *w, int64_t from,
                                const struct hn_mined *found) {
    hn_mine_counts_add(&w->m->counts, &found->counts);
    return hn_mine_output_add(ctx, w->m->file, from, found);
}

// Mines a piece into bytes, or (bytes = NULL) the file, whose arrays belong to the owner of the
// time.
static enum hn_code mine_piece(struct hn_context *ctx, struct work *w, int64_t from, int64_t count,
                               struct hn_bytes *bytes) {
    HN_SCOPE(ctx);
    struct hn_pool pool;
    struct hn_mined found = {0};
    hn_progress_show(&w->progress, "mining");
    // Its sweeps are of this process alone.
    const struct hn_parts *parts = ctx->parts;
    ctx->parts = NULL;
    bool good =
        !hn_check_stop(ctx) && !hn_miner_pool(ctx, w->m->miner, from, count, false, &pool) &&
        !(w->m->miner->wanting ? hn_miner_wanted : hn_miner_take)(ctx, w->m->miner, &pool, &found);
    ctx->parts = parts;
    if (!good)
        return ctx->code;
    w->progress.done += count;
    hn_own(ctx, scope.outer);
    return bytes ? put_piece(ctx, bytes, &found) : write_piece(ctx, w, from, &found);
}

static enum hn_code mine_range(struct hn_context *ctx, struct work *w, int64_t from, int64_t end,
                               struct hn_bytes *bytes) {
    for (int64_t count; from < end; from += count) {
        count = hn_min(hn_corpus_part(ctx, &w->m->miner->data, w->queries, w->m->miner->o.depth),
                       end - from);
        if (mine_piece(ctx, w, from, count, bytes))
            return ctx->code;
    }
    return HN_OK;
}

static enum hn_code compute_part(struct hn_context *ctx, void *data, int64_t part,
                                 struct hn_bytes *bytes) {
    struct work *w = data;
    return mine_range(ctx, w, part_from(w, part), part_from(w, part + 1), bytes);
}

// The next piece, of `max` queries or fewer.
static enum hn_code read_piece(struct hn_context *ctx, const struct work *w, struct hn_cursor *from,
                               int64_t max, struct hn_mined *found) {
    const struct hn_miner *m = w->m->miner;
    struct head head;
    int64_t size;
    if (!hn_cursor_take(from, &head, sizeof head) || head.count < 1 || head.count > max ||
        head.width < 0 || head.width > (m->wanting ? hn_wanted_width(m) : m->o.n) ||
        !hn_mul(head.count, head.width, &size))
        return hn_cursor_fail(ctx);
    *found = (struct hn_mined){.count = head.count, .width = head.width, .counts = head.counts};
    if (!HN_ALLOC(ctx, found->n, head.count) || !HN_ALLOC(ctx, found->id, size) ||
        !HN_ALLOC(ctx, found->score, size))
        return ctx->code;
    bool good = hn_cursor_take(from, found->n, head.count * (int64_t)sizeof *found->n) &&
                hn_cursor_take(from, found->id, size * (int64_t)sizeof *found->id) &&
                hn_cursor_take(from, found->score, size * (int64_t)sizeof *found->score);
    for (int64_t i = 0; good && i < head.count; i++)
        good = found->n[i] >= 0 && found->n[i] <= head.width;
    return good ? HN_OK : hn_cursor_fail(ctx);
}

static enum hn_code take_part(struct hn_context *ctx, void *data, int64_t part,
                              struct hn_cursor *bytes) {
    const struct work *w = data;
    int64_t from = part_from(w, part), end = part_from(w, part + 1);
    while (from < end) {
        HN_SCOPE(ctx);
        struct hn_mined found = {0};
        if (read_piece(ctx, w, bytes, end - from, &found))
            return ctx->code;
        hn_own(ctx, scope.outer);
        if (write_piece(ctx, w, from, &found))
            return ctx->code;
        from += found.count;
    }
    return HN_OK;
}

static enum hn_code mine_shared(struct hn_context *ctx, struct work *w) {
    const struct hn_retrieval_data *data = &w->m->miner->data;
    struct hn_digest key;
    // The corpus, which may not be in memory, is known by the digest of the file.
    hn_parts_key(&key, "mined rows", &data->rows[HN_QUERIES], &data->rows[HN_QUERIES]);
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
    enum hn_code code = ctx->parts ? mine_shared(ctx, &w) : mine_range(ctx, &w, 0, w.queries, NULL);
    hn_progress_clear(&w.progress);
    return code;
}
