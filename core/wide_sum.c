#include "core/wide_sum.h"

#include <math.h>
#include <stdbool.h>

enum { DIGIT = 32, FRACTION = 52, TOUCHED = 3 }; // digits that a term is added to

// The last digit takes in the 31 bits by which a sum may exceed its largest term.
struct hn_wide_layout hn_wide_layout(int min, int max) {
    return (struct hn_wide_layout){min - FRACTION, (max - min) / DIGIT + TOUCHED};
}

// From the last digit up what exceeds 32 bits is carried: the digits are then those of the sum,
// however it came about. The first is not cut.
double hn_wide_value(const struct hn_wide_layout *layout, const int64_t *digit) {
    double sum = 0;
    int64_t carry = 0;
    for (int k = 0; k < layout->digits; k++) {
        int64_t value = digit[k] + carry, rest = value & UINT32_MAX;
        bool last = k + 1 == layout->digits;
        carry = value >> DIGIT;
        sum += ldexp((double)(last ? value : rest), layout->lowest + DIGIT * k);
    }
    return sum;
}
