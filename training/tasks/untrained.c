// SPDX-License-Identifier: GPL-3.0-or-later
// An entry is taken with one exchange and read only once it is full, so that no lock is needed: a
// process that is killed while it writes leaves an entry that is never read.
#include "training/tasks/untrained.h"
#include "core/shared.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum state { FREE, TAKEN, FULL };

struct hn_untrained_one {
    atomic_int state;
    int n;
    char key[HN_UNTRAINED_KEY + 1];
    double value[HN_UNTRAINED_VALUES];
};

enum hn_code hn_untrained_open(struct hn_context *ctx, int64_t capacity, struct hn_untrained *out) {
    int64_t bytes;
    *out = (struct hn_untrained){NULL, 0};
    if (!hn_mul(capacity, sizeof *out->one, &bytes))
        return hn_fail(ctx, HN_MEMORY, "a list of %lld accuracies is too long",
                       (long long)capacity);
    out->one = hn_shared_alloc(ctx, bytes); // zeros: FREE
    if (!out->one)
        return ctx->code;
    out->capacity = capacity;
    return HN_OK;
}

bool hn_untrained_find(const struct hn_untrained *u, const char *key, int n, double *value) {
    for (int64_t i = 0; u && i < u->capacity; i++) {
        const struct hn_untrained_one *one = &u->one[i];
        int state = atomic_load_explicit(&one->state, memory_order_acquire);
        if (state == FREE)
            return false;
        if (state == FULL && one->n == n && strcmp(one->key, key) == 0) {
            memcpy(value, one->value, (size_t)n * sizeof *value);
            return true;
        }
    }
    return false;
}

void hn_untrained_keep(struct hn_untrained *u, const char *key, int n, const double *value) {
    for (int64_t i = 0; u && n <= HN_UNTRAINED_VALUES && i < u->capacity; i++) {
        struct hn_untrained_one *one = &u->one[i];
        int wanted = FREE;
        if (!atomic_compare_exchange_strong(&one->state, &wanted, TAKEN))
            continue;
        one->n = n;
        snprintf(one->key, sizeof one->key, "%s", key);
        memcpy(one->value, value, (size_t)n * sizeof *value);
        atomic_store_explicit(&one->state, FULL, memory_order_release);
        return;
    }
}

void hn_untrained_close(struct hn_untrained *u) {
    hn_shared_free(u->one, u->capacity * (int64_t)sizeof *u->one);
    *u = (struct hn_untrained){NULL, 0};
}
