#include "harness/run/shares.h"
#include "harness/run/estimate.h"

#include <inttypes.h>
#include <stdio.h>

enum { FEW = 8, LINE = 256 };

enum hn_code hn_shares_gather(struct hn_context *ctx, const struct hn_file_parts *parts,
                              const char *rows, int64_t begun_ns, struct hn_shares *out) {
    const struct hn_share own = {.count = parts->count,
                                 .clock_ns = hn_wall_ns() - begun_ns,
                                 .peak_bytes = atomic_load(&ctx->memory.peak)};
    int n = hn_ranks_number(parts->ranks) == 0 ? hn_ranks_count(parts->ranks) : 0;
    *out = (struct hn_shares){.rows = rows};
    out->share = hn_zalloc(ctx, n, sizeof *out->share);
    enum hn_code code = hn_ranks_agree(ctx, parts->ranks, out->share ? HN_OK : ctx->code);
    if (code)
        return code;
    hn_ranks_gather(parts->ranks, &own, sizeof own, out->share);
    out->n = n;
    return HN_OK;
}

void hn_shares_free(struct hn_context *ctx, struct hn_shares *s) {
    hn_free(ctx, s->share);
    s->share = NULL;
    s->n = 0;
}

static double seconds(int64_t ns) { return (double)ns * 1e-9; }

double hn_shares_balance(const struct hn_shares *s) {
    double sum = 0, max = 0;
    for (int i = 0; i < s->n; i++) {
        double own = seconds(s->share[i].count.compute_ns);
        sum += own;
        max = own > max ? own : max;
    }
    return sum > 0 ? max * s->n / sum : 1;
}

enum hn_code hn_shares_describe(struct hn_context *ctx, const struct hn_shares *s,
                                struct hn_results *env) {
    HN_SCOPE(ctx);
    char balance[32];
    size_t size = LINE * ((size_t)s->n + 1), at = 0;
    char *text = hn_alloc(ctx, (int64_t)size, 1);
    if (!text)
        return ctx->code;
    at += (size_t)snprintf(text, size,
                           "rank,parts_computed,parts_there,parts_read,bytes_written,bytes_read,"
                           "computing_s,waiting_s,clock_s,peak_bytes");
    for (int i = 0; i < s->n; i++) {
        const struct hn_share *own = &s->share[i];
        const struct hn_parts_count *c = &own->count;
        at += (size_t)snprintf(text + at, size - at,
                               "\n%d,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
                               ",%.6f,%.6f,%.6f,%" PRId64,
                               i, c->computed, c->there, c->read, c->bytes_written, c->bytes_read,
                               seconds(c->compute_ns), seconds(c->wait_ns), seconds(own->clock_ns),
                               own->peak_bytes);
    }
    (void)snprintf(balance, sizeof balance, "%.4f", hn_shares_balance(s));
    void *inner = hn_own(ctx, scope.outer);
    bool failed = hn_results_set_env(ctx, env, "parts", text) ||
                  hn_results_set_env(ctx, env, "parts_balance", balance);
    hn_own(ctx, inner);
    return failed ? ctx->code : HN_OK;
}

static void print_one(const struct hn_shares *s, int i) {
    const struct hn_share *own = &s->share[i];
    const struct hn_parts_count *c = &own->count;
    char name[32], there[48] = "", written[32], read[32], took[32], peak[32];
    hn_bytes_text(c->bytes_written, written, sizeof written);
    hn_bytes_text(c->bytes_read, read, sizeof read);
    hn_bytes_text(own->peak_bytes, peak, sizeof peak);
    hn_seconds_text(seconds(c->compute_ns), took, sizeof took);
    (void)snprintf(name, sizeof name, "rank %d", i);
    if (c->there > 0)
        (void)snprintf(there, sizeof there, " (%" PRId64 " reused)", c->there);
    double waiting = own->clock_ns > 0 ? (double)c->wait_ns / (double)own->clock_ns : 0;
    fprintf(stderr,
            "%s%s: %" PRId64 " parts in %s%s, %s written, %s read, %.0f %% waiting, %s of data\n",
            s->n > 1 ? name : "rows ", s->n > 1 ? "" : s->rows, c->computed, took, there, written,
            read, 100 * waiting, peak);
}

void hn_shares_print(const struct hn_shares *s, bool all) {
    int shown = all || s->n <= FEW ? s->n : FEW;
    struct hn_parts_count sum = {0};
    char written[32], read[32];
    for (int i = 0; i < s->n; i++) {
        sum.computed += s->share[i].count.computed;
        sum.bytes_written += s->share[i].count.bytes_written;
        sum.bytes_read += s->share[i].count.bytes_read;
        if (i < shown)
            print_one(s, i);
    }
    if (s->n < 2)
        return;
    hn_bytes_text(sum.bytes_written, written, sizeof written);
    hn_bytes_text(sum.bytes_read, read, sizeof read);
    fprintf(stderr,
            "%d ranks%s: %" PRId64 " parts, %s written, %s read; largest time of computing %.2f "
            "times the mean\n",
            s->n, shown < s->n ? " (-v shows each)" : "", sum.computed, written, read,
            hn_shares_balance(s));
}
