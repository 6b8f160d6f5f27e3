// SPDX-License-Identifier: GPL-3.0-or-later
// Tells how evenly processes that share computations were loaded.
#include "core/text.h"
#include "harness/host/ranks.h"
#include "harness/run/estimate.h"
#include "harness/run/runner.h"

#include <inttypes.h>

enum { FEW = 8, LINE = 256 };

struct share {
    struct hn_parts_count count;
    int64_t clock_ns;   // of its run
    int64_t peak_bytes; // allocated at most
};

struct shares {
    const char *rows;    // "ranks", or "i/n" of a process alone
    struct share *share; // [n] in the order of ranks; one of a process alone
    int n;               // 0 on ranks other than the first
};

static enum hn_code gather(struct hn_context *ctx, const struct hn_file_parts *parts,
                           int64_t begun_ns, struct shares *out) {
    const struct share own = {.count = parts->count,
                              .clock_ns = hn_wall_ns() - begun_ns,
                              .peak_bytes = atomic_load(&ctx->memory.peak)};
    out->n = hn_ranks_number(parts->ranks) == 0 ? hn_ranks_count(parts->ranks) : 0;
    out->share = hn_zalloc(ctx, out->n, sizeof *out->share);
    enum hn_code code = hn_ranks_agree(ctx, parts->ranks, out->share ? HN_OK : ctx->code);
    if (!code)
        hn_ranks_gather(parts->ranks, &own, sizeof own, out->share);
    return code;
}

static double seconds(int64_t ns) { return (double)ns * 1e-9; }

// Largest time of computing divided by the mean; 1 where nothing was computed.
static double balance_of(const struct shares *s) {
    double sum = 0, max = 0;
    for (int i = 0; i < s->n; i++) {
        double own = seconds(s->share[i].count.compute_ns);
        sum += own;
        max = own > max ? own : max;
    }
    return sum > 0 ? max * s->n / sum : 1;
}

static char *as_text(struct hn_context *ctx, const struct shares *s) {
    size_t size = LINE * ((size_t)s->n + 1);
    char *text = hn_zalloc(ctx, (int64_t)size, 1);
    if (!text)
        return NULL;
    hn_append(text, size,
              "rank,parts_computed,parts_there,parts_read,bytes_written,bytes_read,computing_s,"
              "waiting_s,clock_s,peak_bytes");
    for (int i = 0; i < s->n; i++) {
        const struct share *own = &s->share[i];
        const struct hn_parts_count *c = &own->count;
        hn_append(text, size,
                  "\n%d,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
                  ",%.6f,%.6f,%.6f,%" PRId64,
                  i, c->computed, c->there, c->read, c->bytes_written, c->bytes_read,
                  seconds(c->compute_ns), seconds(c->wait_ns), seconds(own->clock_ns),
                  own->peak_bytes);
    }
    return text;
}

static void print_one(const struct shares *s, int i) {
    const struct share *own = &s->share[i];
    const struct hn_parts_count *c = &own->count;
    char name[32], there[48] = "";
    (void)snprintf(name, sizeof name, "rank %d", i);
    if (c->there > 0)
        (void)snprintf(there, sizeof there, " (%" PRId64 " reused)", c->there);
    double waiting = own->clock_ns > 0 ? (double)c->wait_ns / (double)own->clock_ns : 0;
    fprintf(stderr, "%s%s: %s in %s%s, %s written, %s read, %.0f %% waiting, %s of data\n",
            s->n > 1 ? name : "rows ", s->n > 1 ? "" : s->rows,
            hn_counted(c->computed, "part").text, hn_seconds_text(seconds(c->compute_ns)).text,
            there, hn_bytes_text(c->bytes_written).text, hn_bytes_text(c->bytes_read).text,
            100 * waiting, hn_bytes_text(own->peak_bytes).text);
}

static void print_all(const struct shares *s, bool all) {
    int shown = all || s->n <= FEW ? s->n : FEW;
    struct hn_parts_count sum = {0};
    for (int i = 0; i < s->n; i++) {
        sum.computed += s->share[i].count.computed;
        sum.bytes_written += s->share[i].count.bytes_written;
        sum.bytes_read += s->share[i].count.bytes_read;
        if (i < shown)
            print_one(s, i);
    }
    if (s->n < 2)
        return;
    fprintf(stderr,
            "%d ranks%s: %s, %s written, %s read; largest time of computing %.2f times the mean\n",
            s->n, shown < s->n ? " (-v shows each)" : "", hn_counted(sum.computed, "part").text,
            hn_bytes_text(sum.bytes_written).text, hn_bytes_text(sum.bytes_read).text,
            balance_of(s));
}

enum hn_code hn_shares_tell(struct hn_context *ctx, const struct hn_file_parts *parts,
                            const char *rows, int64_t begun_ns, bool quiet, bool all,
                            struct hn_results *env) {
    struct shares s = {.rows = rows};
    char balance[32];
    HN_SCOPE(ctx);
    if (gather(ctx, parts, begun_ns, &s))
        return ctx->code;
    if (!quiet)
        print_all(&s, all);
    if (!env || s.n == 0)
        return HN_OK;
    (void)snprintf(balance, sizeof balance, "%.4f", balance_of(&s));
    char *text = as_text(ctx, &s);
    hn_own(ctx, scope.outer);
    return text && !hn_results_set_env(ctx, env, "parts", text)
               ? hn_results_set_env(ctx, env, "parts_balance", balance)
               : ctx->code;
}
