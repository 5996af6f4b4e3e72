// Values as whole numbers in their order: a value is <= a threshold if its key is (R4). Zeros have
// one key, and NaN, which is not <= anything, has the largest.
#pragma once

#include <stdint.h>
#include <string.h>

namespace riparian {

inline constexpr uint32_t largest_key = 0xFFFFFFFF;

static inline uint32_t key_or(uint32_t key_of_nan, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t size = bits & 0x7FFFFFFF;
    const uint32_t sign = 0 - (bits >> 31);
    const uint32_t key = 0x80000000 + ((size ^ sign) - sign);
    return size > 0x7F800000 ? key_of_nan : key;
}

static inline uint32_t key_of(float value) { return key_or(largest_key, value); }

// Nothing is <= NaN.
static inline uint32_t key_of_threshold(float threshold) { return key_or(0, threshold); }

}  // namespace riparian
