// SPDX-License-Identifier: GPL-3.0-or-later
// Memory that this process shares with those it forks.
#pragma once

#include "core/context.h"

// Zeroed; costs nothing until it is written. NULL with the message recorded (HN_MEMORY). Outside of
// the account of ctx->memory. To be freed by hn_shared_free() with the same size.
HN_MUST_USE void *hn_shared_alloc(struct hn_context *ctx, int64_t bytes);
void hn_shared_free(void *p, int64_t bytes); // p may be NULL
