// The loops of a look (R20). For kernels.cpp alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "kernels/bits_of.hpp"
#include "kernels/sides.hpp"

namespace riparian {
namespace {

#if !defined(__AVX2__)
// Sixteen bytes, each 0 or 1, as bits. The comparisons before it are done side by side on any
// machine.
inline std::uint32_t sixteen_bits(const std::uint8_t* bytes) {
    std::uint64_t low, high;
    memcpy(&low, bytes, 8);
    memcpy(&high, bytes + 8, 8);
    const std::uint64_t gather = 0x0102040810204080;  // the lowest bits of eight bytes, at the top
    return static_cast<std::uint32_t>(low * gather >> 56 | high * gather >> 56 << 8);
}
#endif

// Which of sixteen values are left of the threshold.
template <bool equal>
inline std::uint32_t sixteen_left(const float* values, float threshold) {
#if defined(__AVX512F__)
    return _mm512_cmp_ps_mask(_mm512_loadu_ps(values), _mm512_set1_ps(threshold), side_of<equal>);
#elif defined(__AVX2__)
    const __m256 t = _mm256_set1_ps(threshold);
    const __m256 low = _mm256_cmp_ps(_mm256_loadu_ps(values), t, side_of<equal>);
    const __m256 high = _mm256_cmp_ps(_mm256_loadu_ps(values + 8), t, side_of<equal>);
    return static_cast<std::uint32_t>(_mm256_movemask_ps(low)) |
           static_cast<std::uint32_t>(_mm256_movemask_ps(high)) << 8;
#else
    std::uint8_t bytes[16];
    for (unsigned i = 0; i < 16; ++i) bytes[i] = is_left<equal>(values[i], threshold);
    return sixteen_bits(bytes);
#endif
}

// Of up to 64 values.
template <bool equal>
inline std::uint64_t word_left(const float* values, std::size_t n, float threshold) {
    std::uint64_t word = sixteen_left<equal>(values, threshold);
    for (std::size_t i = 16; i < n; i += 16)
        word |= std::uint64_t{sixteen_left<equal>(values + i, threshold)} << i;
    return word;
}

template <bool equal>
std::size_t count_left_of(const float* values, std::size_t n, float threshold) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < n; i += 16)
        count += bits_of(sixteen_left<equal>(values + i, threshold));
    return count;
}

std::size_t count_left(const float* values, std::size_t n, float threshold, bool equal) {
    return equal ? count_left_of<true>(values, n, threshold)
                 : count_left_of<false>(values, n, threshold);
}

// Repeats are looked for among sixteen.
std::size_t last_of_equals(const float* thresholds, std::size_t m, std::uint32_t* last) {
    std::size_t kept = 0;
    for (std::size_t first = 0; first < m; first += 16) {
        const float* some = thresholds + first;
        const std::size_t count = m - first < 16 ? m - first : 16;
        for (std::size_t j = 0; j < count; ++j) {
            last[kept] = static_cast<std::uint32_t>(first + j);
            kept += sixteen_left<true>(some, some[j]) >> j == 1;
        }
    }
    return kept;
}

// Some features hardly vary: where all thresholds are the same, one sum will do. To look for any
// repeats took longer than their sums.
template <std::size_t words, bool equal>
std::size_t sum_terms_of(const float* values, std::size_t n, const std::uint32_t* split_points,
                         std::size_t m, const std::uint64_t* masks, std::size_t n_masks,
                         const std::uint64_t* terms, const std::uint32_t* starts,
                         std::uint64_t* sums) {
    std::size_t best = 0;
    std::int64_t largest = INT64_MIN;
    bool same = true;
    for (std::size_t j = 0; j + 1 < m; ++j)
        same &= values[split_points[j]] == values[split_points[m - 1]];
    for (std::size_t j = same ? m - 1 : 0; j < m; ++j) {
        const float threshold = values[split_points[j]];
        std::uint64_t left[words];
        for (std::size_t w = 0; w + 1 < words; ++w)
            left[w] = word_left<equal>(values + 64 * w, 64, threshold);
        left[words - 1] =
            word_left<equal>(values + 64 * (words - 1), n - 64 * (words - 1), threshold);
        const auto term = [&](std::size_t k) {
            std::uint32_t count = 0;
            for (std::size_t w = 0; w < words; ++w)
                count += bits_of(left[w] & masks[k * words + w]);
            return terms[starts[k] + count];
        };
        std::uint64_t sum = 0 - term(n_masks);
        for (std::size_t k = 0; k < n_masks; ++k) sum += term(k);
        sums[j] = sum;
        const bool is_best = static_cast<std::int64_t>(sum) >= largest;
        best = is_best ? j : best;
        largest = is_best ? static_cast<std::int64_t>(sum) : largest;
    }
    return best;
}

template <bool equal>
auto terms_by_words(std::size_t n) {
    return n <= 64    ? sum_terms_of<1, equal>
           : n <= 128 ? sum_terms_of<2, equal>
           : n <= 192 ? sum_terms_of<3, equal>
                      : sum_terms_of<4, equal>;
}

std::size_t sum_terms(const float* values, std::size_t n, const std::uint32_t* split_points,
                      std::size_t m, const std::uint64_t* masks, std::size_t n_masks,
                      const std::uint64_t* terms, const std::uint32_t* starts, bool equal,
                      std::uint64_t* sums) {
    const auto run = equal ? terms_by_words<true>(n) : terms_by_words<false>(n);
    return run(values, n, split_points, m, masks, n_masks, terms, starts, sums);
}

template <bool equal>
void left_words_of(const float* values, std::size_t n, const float* thresholds, std::size_t m,
                   std::uint64_t* words, std::uint32_t* counts) {
    for (std::size_t j = 0; j < m; ++j) {
        std::uint32_t count = 0;
        for (std::size_t i = 0; i < n; i += 64) {
            const std::size_t some = n - i < 64 ? n - i : 64;
            *words = word_left<equal>(values + i, some, thresholds[j]);
            count += bits_of(*words++);
        }
        counts[j] = count;
    }
}

void left_words(const float* values, std::size_t n, const float* thresholds, std::size_t m,
                bool equal, std::uint64_t* words, std::uint32_t* counts) {
    const auto run = equal ? left_words_of<true> : left_words_of<false>;
    run(values, n, thresholds, m, words, counts);
}

void count_both(const std::uint64_t* left, const std::uint64_t* masks, std::size_t words,
                std::size_t n_masks, std::uint32_t* counts) {
    for (std::size_t k = 0; k < n_masks; ++k) {
        std::uint32_t count = 0;
        for (std::size_t w = 0; w < words; ++w) count += bits_of(left[w] & masks[k * words + w]);
        counts[k] = count;
    }
}

void places_among(const float* values, std::size_t n, const float* thresholds, std::size_t m,
                  std::uint32_t* places) {
    for (std::size_t i = 0; i < n; i += 16) {
        std::uint32_t beyond[16] = {};
        for (std::size_t j = 0; j < m; ++j)
            for (std::size_t k = 0; k < 16; ++k) beyond[k] += !(values[i + k] <= thresholds[j]);
        memcpy(places + i, beyond, sizeof beyond);
    }
}

}  // namespace
}  // namespace riparian
