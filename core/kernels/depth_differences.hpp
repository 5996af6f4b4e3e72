// Differences of depths (R16). For kernels.cpp alone.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "space/pixel.hpp"

namespace riparian {
namespace {

#if defined(__AVX2__)
// Whole numbers of two pairs, row and column in turn: where their places are.
inline __m256i places_of(const OffsetPair* pairs, __m256 scale, __m256i from) {
    static_assert(sizeof(OffsetPair) == 4 * sizeof(float));
    const __m256 most = _mm256_set1_ps(farthest_offset);
    __m256 by = _mm256_mul_ps(_mm256_loadu_ps(&pairs->u_row), scale);
    by = _mm256_max_ps(_mm256_min_ps(by, most), _mm256_set1_ps(-farthest_offset));
    return _mm256_add_epi32(from, _mm256_cvttps_epi32(by));
}

inline __m256i inside_of(__m256i places, __m256i sizes) {
    return _mm256_and_si256(_mm256_cmpgt_epi32(sizes, places),
                            _mm256_cmpgt_epi32(places, _mm256_set1_epi32(-1)));
}

// The depths at both places of four pairs, in the order 0, 2 | 1, 3.
inline __m256 depths_of(const Pixel& p, const OffsetPair* pairs, __m256 scale, __m256i from,
                        __m256i sizes, __m256i strides) {
    const __m256i a = places_of(pairs, scale, from), b = places_of(pairs + 2, scale, from);
    const __m256i at =
        _mm256_hadd_epi32(_mm256_mullo_epi32(a, strides), _mm256_mullo_epi32(b, strides));
    // Minus one for row and for column, if they are inside.
    const __m256i both = _mm256_hadd_epi32(inside_of(a, sizes), inside_of(b, sizes));
    const __m256i inside = _mm256_cmpeq_epi32(both, _mm256_set1_epi32(-2));
    return _mm256_mask_i32gather_ps(_mm256_set1_ps(p.far), p.image, at, _mm256_castsi256_ps(inside),
                                    sizeof(float));
}
#endif

void depth_differences(const Pixel& p, const OffsetPair* pairs, std::size_t n, float* values) {
    std::size_t d = 0;
#if defined(__AVX2__)
    if (std::int64_t{p.height} * p.width < INT32_MAX) {
        const __m256 scale = _mm256_set1_ps(p.scale);
        const __m256i from =
            _mm256_setr_epi32(p.row, p.column, p.row, p.column, p.row, p.column, p.row, p.column);
        const __m256i sizes = _mm256_setr_epi32(p.height, p.width, p.height, p.width, p.height,
                                                p.width, p.height, p.width);
        const __m256i strides = _mm256_setr_epi32(p.width, 1, p.width, 1, p.width, 1, p.width, 1);
        const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
        for (; d + 8 <= n; d += 8) {
            const __m256 first = depths_of(p, pairs + d, scale, from, sizes, strides);
            const __m256 second = depths_of(p, pairs + d + 4, scale, from, sizes, strides);
            const __m256 differences = _mm256_hsub_ps(first, second);
            _mm256_storeu_ps(values + d, _mm256_permutevar8x32_ps(differences, order));
        }
    }
#endif
    for (; d < n; ++d) values[d] = depth_difference(pairs[d], p);
}

}  // namespace
}  // namespace riparian
