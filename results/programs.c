// SPDX-License-Identifier: GPL-3.0-or-later
// Which programs made the rows of results, and which version of the code's results that was.
#include "results/programs.h"

#include "core/text.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const int hn_results_code_version = 27;

// Changes of numbers, newest last; `compare` prints those between two files.
static const struct hn_results_change changes[] = {
    {3,
     "the interval of fn_ratio is corrected for skewness; studies bin cosines by exact products"},
    {4, "kernels of the sweep"},
    {5, "short chains beyond 128 dimensions; global losses in single precision"},
    {6, "the linear probe comes closer to its optimum"},
    {7, "the linear probe of images is fitted to h without normalisation"},
    {8, "ages of graphs; claims on snapshots are judged with t: 1"},
    {9, "random streams are named by the place of a step"},
    {11, "sums of exponentials over all pairs do not depend on the order of tiles"},
    {12, "cosines above 1 by rounding count as 1; gist's margin below a negative score"},
    {13, "exponentials of losses and gaps by vectors: columns move by rounding, 1e-14 of them"},
    {14, "the probe has no accuracy where classes have fewer than two training items on average"},
    {15, "true_p99 is exact; it was read off bins of 2^-11"},
    {16,
     "spectral's first epoch counts in every cell that shares its build; losses move by rounding"},
    {17,
     "overlap_label takes no products where no two items share a label; losses move by rounding"},
    {18, "products of training are cut otherwise: encoders move by rounding without AVX-512"},
    {19, "less than an epoch of gcbs or file-order is a random sample of its batches"},
    {20,
     "products of training are sums of chains, batch norm joins groups: encoders move by rounding"},
    {21, "convolutions sum gradients and statistics otherwise: encoders of cnn move by rounding"},
    {22, "encoders of images, the linear probe and rank correlations move by rounding"},
    {23, "encoders move by rounding: lengths of embeddings and statistics of batch norm"},
    {24, "encoders that NT-Xent trains move by rounding: powers of scores are relative to 1"},
    {25, "spectral, texts' projections and losses under gist and fnc move by rounding"},
    {26,
     "pairs: documents of equal score count in all of their orders, those of equal text are one"},
    {27,
     "progcl is fitted under loss moco; clip and progcl look at the negatives that anchors have"},
};
enum { CHANGES = sizeof changes / sizeof *changes };

int hn_results_version(const struct hn_results *r) {
    long version = strtol(hn_results_get_env(r, "results_version"), NULL, 10);
    return (int)hn_max(0, hn_min(version, INT_MAX));
}

void hn_results_changes(const struct hn_results *a, const struct hn_results *b,
                        struct hn_results_changes *out) {
    int was = hn_results_version(a), is = hn_results_version(b);
    *out = (struct hn_results_changes){.first = &changes[CHANGES]};
    if (was == is)
        return;
    int low = was < is ? was : is, high = was < is ? is : was;
    for (int i = CHANGES - 1; i >= 0; i--)
        if (changes[i].version > low && changes[i].version <= high) {
            out->first = &changes[i];
            out->n++;
        }
}

// Files from before rows said it: the commit of the whole file.
static void program_of(const struct hn_results *r, const struct hn_table *t, int64_t row,
                       char text[HN_PROGRAM]) {
    const char *own = hn_table_text(t, row, "program");
    const char *commit = hn_results_get_env(r, "git_commit");
    if (*own)
        snprintf(text, HN_PROGRAM, "%s", own);
    else
        snprintf(text, HN_PROGRAM, "%.12s%s", *commit ? commit : "unknown",
                 strcmp(hn_results_get_env(r, "git_dirty"), "1") == 0 ? "+changes" : "");
}

static enum hn_code count_row(struct hn_context *ctx, struct hn_programs *p,
                              const char text[HN_PROGRAM]) {
    for (int64_t i = 0; i < p->n; i++)
        if (strcmp(p->program[i].text, text) == 0) {
            p->program[i].rows++;
            return HN_OK;
        }
    if (hn_grow(ctx, &p->program, &p->capacity, p->n + 1, sizeof *p->program))
        return ctx->code;
    p->program[p->n] = (struct hn_program){.rows = 1};
    memcpy(p->program[p->n++].text, text, HN_PROGRAM);
    return HN_OK;
}

enum hn_code hn_programs_add(struct hn_context *ctx, const struct hn_results *r,
                             struct hn_programs *p) {
    char text[HN_PROGRAM];
    for (const struct hn_row_owner *o = hn_row_owners; o->column; o++) {
        const struct hn_table *t = hn_results_table(r, o->table);
        for (int64_t row = 0; t && row < t->rows; row++) {
            program_of(r, t, row, text);
            if (count_row(ctx, p, text))
                return ctx->code;
        }
    }
    return HN_OK;
}

struct hn_phrase hn_programs_text(const struct hn_programs *p) {
    enum { SHOWN = 8 };
    struct hn_phrase all = {""};
    for (int64_t i = 0; i < p->n && i < SHOWN; i++)
        if (p->n == 1)
            hn_append(all.text, sizeof all.text, "%s", p->program[i].text);
        else
            hn_append(all.text, sizeof all.text, "%s%s (%s)", i ? ", " : "", p->program[i].text,
                      hn_counted(p->program[i].rows, "row").text);
    if (p->n > SHOWN)
        hn_append(all.text, sizeof all.text, " and %" PRId64 " more", p->n - SHOWN);
    return all;
}

enum hn_code hn_programs_describe(struct hn_context *ctx, struct hn_results *r) {
    // Attributes of the build of one program, and of its measurements of the machine.
    static const char *const of_one[] = {"tool_version", "git_commit",   "git_dirty", "compiler",
                                         "cflags",       "sgemm_gflops", "read_gbs"};
    struct hn_programs p = {0};
    HN_SCOPE(ctx);
    if (hn_programs_add(ctx, r, &p))
        return ctx->code;
    const char *own = hn_results_get_env(r, "program");
    bool one = p.n == 0 || (p.n == 1 && (!*own || strcmp(p.program[0].text, own) == 0));
    if (one)
        return HN_OK;
    hn_own(ctx, scope.outer);
    for (size_t i = 0; i < sizeof of_one / sizeof *of_one; i++)
        hn_results_drop_env(ctx, r, of_one[i]);
    return hn_results_set_env(ctx, r, "program", hn_programs_text(&p).text);
}
