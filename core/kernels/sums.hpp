// Sums of numbers, several at a time, each in order. For kernels.cpp alone.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "kernels/sides.hpp"

namespace riparian {
namespace {

// Of sixteen thresholds. A sum that starts at 0 is never -0, so to add 0 changes nothing.
template <bool equal>
void sum_left_of_sixteen(const float* values, std::size_t n, const float* thresholds,
                         const double* numbers, double* sums, double* points) {
#if defined(__AVX512F__)
    const __m512 all = _mm512_loadu_ps(thresholds);
    const __m512i one = _mm512_set1_epi32(1);
    __m512d low = _mm512_setzero_pd(), high = _mm512_setzero_pd();
    __m512i count = _mm512_setzero_si512();
    for (std::size_t i = 0; i < n; ++i) {
        const __mmask16 left = _mm512_cmp_ps_mask(_mm512_set1_ps(values[i]), all, side_of<equal>);
        const __m512d number = _mm512_set1_pd(numbers[i]);
        low = _mm512_mask_add_pd(low, static_cast<__mmask8>(left), low, number);
        high = _mm512_mask_add_pd(high, static_cast<__mmask8>(left >> 8), high, number);
        count = _mm512_mask_add_epi32(count, left, count, one);
    }
    _mm512_storeu_pd(sums, low);
    _mm512_storeu_pd(sums + 8, high);
    _mm512_storeu_pd(points, _mm512_cvtepi32_pd(_mm512_castsi512_si256(count)));
    _mm512_storeu_pd(points + 8, _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(count, 1)));
#elif defined(__AVX2__)
    const __m256 first = _mm256_loadu_ps(thresholds), last = _mm256_loadu_ps(thresholds + 8);
    __m256d sum[4];
    __m256i count[2];
    for (auto& each : sum) each = _mm256_setzero_pd();
    for (auto& each : count) each = _mm256_setzero_si256();
    for (std::size_t i = 0; i < n; ++i) {
        const __m256 x = _mm256_set1_ps(values[i]);
        const __m256i low = _mm256_castps_si256(_mm256_cmp_ps(x, first, side_of<equal>));
        const __m256i high = _mm256_castps_si256(_mm256_cmp_ps(x, last, side_of<equal>));
        const __m256d number = _mm256_set1_pd(numbers[i]);
        const auto add = [number](__m256d& to, __m128i mask) {
            const __m256d wide = _mm256_castsi256_pd(_mm256_cvtepi32_epi64(mask));
            to = _mm256_add_pd(to, _mm256_and_pd(wide, number));
        };
        add(sum[0], _mm256_castsi256_si128(low));
        add(sum[1], _mm256_extracti128_si256(low, 1));
        add(sum[2], _mm256_castsi256_si128(high));
        add(sum[3], _mm256_extracti128_si256(high, 1));
        count[0] = _mm256_sub_epi32(count[0], low);
        count[1] = _mm256_sub_epi32(count[1], high);
    }
    for (std::size_t k = 0; k < 4; ++k) {
        _mm256_storeu_pd(sums + 4 * k, sum[k]);
        const __m128i four = k % 2 ? _mm256_extracti128_si256(count[k / 2], 1)
                                   : _mm256_castsi256_si128(count[k / 2]);
        _mm256_storeu_pd(points + 4 * k, _mm256_cvtepi32_pd(four));
    }
#else
    double sum[16] = {};
    std::uint32_t count[16] = {};
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < 16; ++j) {
            const bool left = is_left<equal>(values[i], thresholds[j]);
            sum[j] += left ? numbers[i] : 0.0;
            count[j] += left;
        }
    for (std::size_t j = 0; j < 16; ++j) {
        sums[j] = sum[j];
        points[j] = count[j];
    }
#endif
}

void sum_left(const float* values, std::size_t n, const float* thresholds, std::size_t m,
              bool equal, const double* numbers, double* sums, double* points) {
    const auto run = equal ? sum_left_of_sixteen<true> : sum_left_of_sixteen<false>;
    for (std::size_t j = 0; j < m; j += 16)
        run(values, n, thresholds + j, numbers, sums + j, points + j);
}

void add_doubles(double* sums, const std::uint64_t* bits, std::size_t n, double number) {
    for (std::size_t i = 0; i < n; i += 8) {
        const std::uint64_t byte = bits[i / 64] >> (i % 64) & 0xFF;
#if defined(__AVX512F__)
        const __m512d before = _mm512_loadu_pd(sums + i);
        const __m512d step = _mm512_set1_pd(number);
        _mm512_storeu_pd(sums + i,
                         _mm512_mask_add_pd(before, static_cast<__mmask8>(byte), before, step));
#else
        for (std::size_t k = 0; k < 8; ++k) sums[i + k] += byte >> k & 1 ? number : 0.0;
#endif
    }
}

}  // namespace
}  // namespace riparian
