// SPDX-License-Identifier: GPL-3.0-or-later
// The certificate of a file of negatives: that at most a share of them is false, and by what.
#pragma once

#include "core/digest.h"
#include "harness/mining/corpus.h"
#include "retrieval/certify.h"
#include "retrieval/miner.h"

struct hn_certificate {
    const struct hn_miner *miner;
    const struct hn_corpus *corpus;
    int64_t step, seed; // as options
    double limit;
    struct hn_interval share;
    int64_t pairs, judges;      // judged pairs; judges of one at most
    int64_t negatives, decided; // all; of them judged before, in the snapshot
    double relevant;
    int64_t answered;       // pairs that models judged, too
    const char *models;     // their names; "": none
    const char *sha256;     // of the negatives
    const char *candidates; // of the runs that they are of; NULL: there are none
};
// A row of negatives goes into their digest.
void hn_certificate_add(struct hn_digest *d, int64_t query, const int32_t *id, int64_t n);
HN_MUST_USE enum hn_code hn_certificate_write(struct hn_context *ctx,
                                              const struct hn_certificate *c, const char *path);
// Checks that the certificate of a file is of these negatives, and writes it beside `file`, which
// holds them, with the file's digest and whose scores it has (hn_mine_score_by). HN_DATA: it is
// not.
HN_MUST_USE enum hn_code hn_certificate_check(struct hn_context *ctx, const char *path,
                                              int64_t negatives, const char *sha256);
HN_MUST_USE enum hn_code hn_certificate_attach(struct hn_context *ctx, const char *path,
                                               const char *file, const char *beside,
                                               const char *scores);
