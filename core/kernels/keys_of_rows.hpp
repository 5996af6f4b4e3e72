// The keys of many rows, column by column. For kernels.cpp alone.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "kernels/keys.hpp"

namespace riparian {
namespace {

#if defined(__AVX2__)
// `key_of` of eight values.
inline __m256i keys_of(const float* values) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values));
    const __m256i size = _mm256_and_si256(bits, _mm256_set1_epi32(0x7FFFFFFF));
    const __m256i sign = _mm256_srai_epi32(bits, 31);
    const __m256i signed_size = _mm256_sub_epi32(_mm256_xor_si256(size, sign), sign);
    const __m256i key = _mm256_xor_si256(signed_size, _mm256_set1_epi32(INT32_MIN));
    return _mm256_or_si256(key, _mm256_cmpgt_epi32(size, _mm256_set1_epi32(0x7F800000)));
}

// Eight columns of eight rows, turned over.
inline void eight_keys(const float* values, std::size_t columns, std::uint32_t* to,
                       std::size_t stride) {
    __m256i row[8], two[8], four[8];
    for (std::size_t i = 0; i < 8; ++i) row[i] = keys_of(values + i * columns);
    for (std::size_t i = 0; i < 8; i += 2) {
        two[i] = _mm256_unpacklo_epi32(row[i], row[i + 1]);
        two[i + 1] = _mm256_unpackhi_epi32(row[i], row[i + 1]);
    }
    for (std::size_t i = 0; i < 8; i += 4)
        for (std::size_t j = 0; j < 2; ++j) {
            four[i + 2 * j] = _mm256_unpacklo_epi64(two[i + j], two[i + j + 2]);
            four[i + 2 * j + 1] = _mm256_unpackhi_epi64(two[i + j], two[i + j + 2]);
        }
    for (std::size_t d = 0; d < 4; ++d) {
        auto* low = reinterpret_cast<__m256i*>(to + d * stride);
        auto* high = reinterpret_cast<__m256i*>(to + (d + 4) * stride);
        _mm256_storeu_si256(low, _mm256_permute2x128_si256(four[d], four[d + 4], 0x20));
        _mm256_storeu_si256(high, _mm256_permute2x128_si256(four[d], four[d + 4], 0x31));
    }
}
#endif

// Eight rows at a time, so that they stay in the cache while column after column is read.
void keys(const float* values, std::size_t rows, std::size_t columns, std::uint32_t* to,
          std::size_t stride) {
    for (std::size_t first = 0; first < rows; first += 8) {
        const float* from = values + first * columns;
        const std::size_t some = rows - first < 8 ? rows - first : 8;
        std::size_t d = 0;
#if defined(__AVX2__)
        if (some == 8)
            for (; d + 8 <= columns; d += 8)
                eight_keys(from + d, columns, to + d * stride + first, stride);
#endif
        for (; d < columns; ++d)
            for (std::size_t i = 0; i < some; ++i)
                to[d * stride + first + i] = key_of(from[i * columns + d]);
    }
}

}  // namespace
}  // namespace riparian
