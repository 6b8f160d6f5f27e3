// SPDX-License-Identifier: GPL-3.0-or-later
// Processes that share computations in parts, played one after the other in one process, and bytes
// of parts that are not what they should be.
#pragma once

#include "core/parts.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STORED_MAX = 400 };

// What processes have found so far, for all to see: keys, and bytes of parts.
struct store {
    struct stored {
        char key[HN_DIGEST_TEXT];
        int64_t part;
        char *data;
        int64_t n;
    } stored[STORED_MAX];
    int n;
};

// One of `of` processes.
struct player {
    struct hn_parts parts;
    struct store *store;
    int64_t part, of, next, n;
    char key[HN_DIGEST_TEXT];
    int64_t computations, computed;
    // How `get` spoils what it gives.
    int64_t cut;  // bytes that are missing at its end
    int64_t more; // zeros behind it
    bool changes; // the eight bytes at `at` become `word`
    int64_t at, word;
};

static inline const struct stored *player_find(const struct player *p, int64_t part) {
    for (int i = 0; i < p->store->n; i++)
        if (p->store->stored[i].part == part && strcmp(p->store->stored[i].key, p->key) == 0)
            return &p->store->stored[i];
    return NULL;
}

static inline enum hn_code player_begin(struct hn_context *ctx, void *self, const char *key,
                                        int64_t parts) {
    struct player *p = self;
    (void)ctx;
    snprintf(p->key, sizeof p->key, "%s", key);
    p->n = parts;
    p->next = p->part;
    p->computations++;
    return HN_OK;
}

static inline int64_t player_next(void *self) {
    struct player *p = self;
    for (; p->next < p->n; p->next += p->of)
        if (!player_find(p, p->next)) {
            p->next += p->of;
            return p->next - p->of;
        }
    return HN_PARTS_NONE;
}

static inline enum hn_code player_put(struct hn_context *ctx, void *self, int64_t part,
                                      const struct hn_bytes *found) {
    struct player *p = self;
    (void)ctx;
    CU_ASSERT_FATAL(p->store->n < STORED_MAX && !player_find(p, part));
    struct stored *s = &p->store->stored[p->store->n++];
    *s = (struct stored){.part = part, .data = malloc((size_t)found->n + 1), .n = found->n};
    snprintf(s->key, sizeof s->key, "%s", p->key);
    if (found->n > 0)
        memcpy(s->data, found->data, (size_t)found->n);
    p->computed++;
    return HN_OK;
}

static inline enum hn_code player_end(struct hn_context *ctx, void *self, enum hn_code code) {
    const struct player *p = self;
    for (int64_t part = 0; part < p->n && !code; part++)
        if (!player_find(p, part))
            code = hn_fail(ctx, HN_WAITING, "part %lld is missing", (long long)part);
    return code;
}

static inline enum hn_code player_get(struct hn_context *ctx, void *self, int64_t part,
                                      struct hn_bytes *out) {
    const struct player *p = self;
    const struct stored *s = player_find(p, part);
    static const char zeros[64];
    int64_t n = hn_max(0, s->n - p->cut);
    if (hn_bytes_append(ctx, out, s->data, n) || hn_bytes_append(ctx, out, zeros, p->more))
        return ctx->code;
    if (p->changes && p->at + (int64_t)sizeof p->word <= out->n)
        memcpy(out->data + p->at, &p->word, sizeof p->word);
    return HN_OK;
}

static inline void player_open(struct player *p, struct store *store, int64_t part, int64_t of) {
    *p = (struct player){.store = store, .part = part, .of = of};
    p->parts = (struct hn_parts){.self = p,
                                 .begin = player_begin,
                                 .next = player_next,
                                 .put = player_put,
                                 .end = player_end,
                                 .get = player_get};
}

static inline void store_free(struct store *store) {
    for (int i = 0; i < store->n; i++)
        free(store->stored[i].data);
    store->n = 0;
}
