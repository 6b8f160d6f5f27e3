// Replicate of a row: an encoder if its file is one of a family of encoders, trained alike with
// other seeds (the table `datasets` says so), else a seed.
#include "harness/claims/claims_private.h"

#include <math.h>
#include <string.h>

void hn_sample_replicate(const struct hn_results *r, const char *dataset, double seed,
                         struct hn_sample *s) {
    const struct hn_table *files = hn_results_table(r, "datasets");
    int64_t file = hn_table_row_with(files, "dataset", dataset);
    const char *family = file < 0 ? "" : hn_table_text(files, file, "family");
    bool trained = file < 0 && hn_results_table(r, "training");
    s->replicate = s->seed = hn_whole(seed, 0);
    s->kind = trained ? HN_BY_TRAINING : HN_BY_SEED;
    if (*family) {
        s->kind = HN_BY_ENCODER;
        s->replicate = hn_whole(hn_table_real(files, file, "encoder"), 0);
    } else if (!*dataset) {
        s->kind = HN_BY_REPETITION;
    }
    snprintf(s->dataset, sizeof s->dataset, "%s", *family ? family : dataset);
}

static bool same_value(const struct hn_sample *a, const struct hn_sample *b) {
    return a->replicate == b->replicate && strcmp(a->dataset, b->dataset) == 0 &&
           strcmp(a->group, b->group) == 0 && strcmp(a->match, b->match) == 0 &&
           (a->along == b->along || (isnan(a->along) && isnan(b->along)));
}

// The sample before i that is of the same encoder, group and `along`, -1 = none.
static int64_t sample_before(const struct hn_claim_samples *s, int64_t i, bool same_seed) {
    for (int64_t k = 0; k < i; k++)
        if (same_value(&s->sample[k], &s->sample[i]) &&
            (!same_seed || s->sample[k].seed == s->sample[i].seed))
            return k;
    return -1;
}

// Samples that share their seed too are settings that the claim does not tell apart: all stay, and
// the comparison says so.
void hn_samples_average(struct hn_claim_samples *s) {
    for (int64_t i = 0; i < s->n; i++)
        if (sample_before(s, i, true) >= 0)
            return;
    int64_t n = 0;
    for (int64_t i = 0; i < s->n; i++) {
        s->sample[n] = s->sample[i];
        s->sample[n].averaged = 1;
        int64_t first = sample_before(s, n, false);
        if (first < 0) {
            n++;
            continue;
        }
        struct hn_sample *mean = &s->sample[first];
        mean->value += (s->sample[n].value - mean->value) / (double)++mean->averaged;
    }
    s->n = n;
}

int64_t hn_samples_encoders(const struct hn_claim_samples *s) {
    int64_t n = 0;
    for (int64_t i = 0; i < s->n; i++) {
        int64_t k = 0;
        while (k < i && s->sample[k].replicate != s->sample[i].replicate)
            k++;
        n += k == i;
    }
    return s->n > 0 && s->sample[0].kind != HN_BY_SEED ? n : 1;
}

const char hn_claim_alike[] = "the two settings are one on these data (an option was cut)";

static bool measured(const struct hn_column *c) {
    return c->role == HN_ROLE_COUNTER || c->role == HN_ROLE_QUALITY || c->role == HN_ROLE_BINNED;
}

bool hn_samples_alike(const struct hn_sample *a, const struct hn_sample *b) {
    if (!a->table || a->table != b->table || a->value != b->value)
        return false;
    for (int c = 0; c < a->table->n_columns; c++)
        if (measured(&a->table->column[c]) && !hn_table_cells_equal(a->table, c, a->row, b->row))
            return false;
    return true;
}
