// SPDX-License-Identifier: GPL-3.0-or-later
// Texts that two collections share: equal ones, and nearly equal ones, by their words.
#pragma once

#include "core/strings.h"

// A text of `b` beside the text of `a` that is most like it.
struct hn_shared_text {
    int64_t a, b;
    bool equal;
    double likeness; // share of the words of both that they have in common (Jaccard)
};
struct hn_overlap {
    int64_t equal, alike; // texts of b
    struct hn_shared_text
        *shared; // [equal + alike] by index in b; belongs to the owner of the time
};

// Texts are compared in lower case (ASCII), as words between blanks. A text of b is equal to one of
// a with the same words in the same order, nearly equal to one with a likeness of `min` or more,
// from 0 to 1; of several the first most alike counts. Exact; texts without words are left out. The
// same for any number of threads.
HN_MUST_USE enum hn_code hn_overlap_find(struct hn_context *ctx, const struct hn_strings *a,
                                         const struct hn_strings *b, double min,
                                         struct hn_overlap *out);
