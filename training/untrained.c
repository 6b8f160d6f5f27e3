// A list: there are as many entries as tasks times seeds.
#include "training/untrained.h"

#include <stdio.h>
#include <string.h>

struct hn_untrained_one {
    struct hn_untrained_one *next;
    char key[HN_UNTRAINED_KEY + 1];
    int n;
    double value[];
};

bool hn_untrained_find(const struct hn_untrained *u, const char *key, int n, double *value) {
    for (const struct hn_untrained_one *one = u ? u->first : NULL; one; one = one->next)
        if (one->n == n && strcmp(one->key, key) == 0) {
            memcpy(value, one->value, (size_t)n * sizeof *value);
            return true;
        }
    return false;
}

enum hn_code hn_untrained_keep(struct hn_context *ctx, struct hn_untrained *u, const char *key,
                               int n, const double *value) {
    if (!u)
        return HN_OK;
    struct hn_untrained_one *one = hn_alloc(ctx, 1, sizeof *one + (size_t)n * sizeof one->value[0]);
    if (!one)
        return ctx->code;
    *one = (struct hn_untrained_one){.next = u->first, .n = n};
    snprintf(one->key, sizeof one->key, "%s", key);
    memcpy(one->value, value, (size_t)n * sizeof *value);
    u->first = one;
    return HN_OK;
}

void hn_untrained_free(struct hn_context *ctx, struct hn_untrained *u) {
    while (u->first) {
        struct hn_untrained_one *one = u->first;
        u->first = one->next;
        hn_free(ctx, one);
    }
}
