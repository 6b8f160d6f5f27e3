// Text of a real number.
#ifndef HN_CORE_REAL_TEXT_H
#define HN_CORE_REAL_TEXT_H

#include <stddef.h>

// The shortest decimal text that reads back as exactly v ("0.1", "1e-05", "nan"), in every locale.
// Returns its length, also where the buffer is shorter.
int hn_real_text(double v, char *buffer, size_t size);

#endif
