// On which side of the thresholds of a leaf a point lies: a bit for each candidate. For kernels.cpp
// alone.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace riparian {
namespace {

#if defined(__AVX2__)
// How a vector of values is compared with thresholds: R22, or R4.
template <bool equal>
constexpr int side_of = equal ? _CMP_EQ_OQ : _CMP_LE_OQ;
#endif

template <bool equal>
inline bool is_left(float value, float threshold) {
    return equal ? value == threshold : value <= threshold;
}

// The bits of one dimension, j < count <= 16, in the low bits of the result.
template <bool equal>
inline std::uint64_t left_of(float value, const float* thresholds, std::size_t count) {
#if defined(__AVX512F__)
    const __mmask16 wanted = static_cast<__mmask16>((1u << count) - 1u);
    const __m512 row = _mm512_maskz_loadu_ps(wanted, thresholds);
    return _mm512_mask_cmp_ps_mask(wanted, _mm512_set1_ps(value), row, side_of<equal>);
#elif defined(__AVX2__)
    const __m256 x = _mm256_set1_ps(value);
    const __m256 low = _mm256_cmp_ps(x, _mm256_loadu_ps(thresholds), side_of<equal>);
    const __m256 high = _mm256_cmp_ps(x, _mm256_loadu_ps(thresholds + 8), side_of<equal>);
    const unsigned bits = static_cast<unsigned>(_mm256_movemask_ps(low)) |
                          static_cast<unsigned>(_mm256_movemask_ps(high)) << 8;
    return bits & ((1u << count) - 1u);
#else
    std::uint64_t bits = 0;
    for (std::size_t j = 0; j < count; ++j)
        bits |= static_cast<std::uint64_t>(is_left<equal>(value, thresholds[j])) << j;
    return bits;
#endif
}

// The same once the value is threshold n, which has not been written.
inline std::uint64_t left_of_split_point(float value, const float* thresholds, std::size_t count,
                                         std::size_t n) {
#if defined(__AVX512F__)
    const __mmask16 wanted = static_cast<__mmask16>((1u << count) - 1u);
    const __m512 all = _mm512_set1_ps(value);
    const __m512 row = _mm512_mask_blend_ps(static_cast<__mmask16>(1u << n),
                                            _mm512_maskz_loadu_ps(wanted, thresholds), all);
    return _mm512_mask_cmp_ps_mask(wanted, all, row, side_of<false>);
#else
    return left_of<false>(value, thresholds, count) | std::uint64_t{value == value} << n;
#endif
}

// Bits one after the other, in words.
struct Words {
    std::uint64_t* at;
    std::uint64_t word = 0;
    std::size_t used = 0;  // bits of the word, fewer than 64

    // The low bits of `bits`, up to 16, which need not fit.
    void append(std::uint64_t bits, std::size_t count) {
        word |= bits << used;
        used += count;
        if (used < 64) return;
        *at++ = word;
        used -= 64;
        word = bits >> (count - used);
    }
    void finish() const {
        if (used) *at = word;
    }
};

// side(d, thresholds, count) are the bits of some thresholds of dimension d, count <= 16.
template <class Side>
inline void all_bits(std::size_t dims, std::size_t m, const float* thresholds, std::uint64_t* bits,
                     Side side) {
    Words words{bits};
    if (m > 16) {
        for (std::size_t d = 0; d < dims; ++d)
            for (std::size_t j = 0; j < m; j += 16) {
                const std::size_t count = m - j < 16 ? m - j : 16;
                words.append(side(d, thresholds + d * m + j, count), count);
            }
        return words.finish();
    }
    for (std::size_t d = 0;; ++d) {
        // While whole dimensions fit, none waits for another.
        for (; d < dims && words.used + m < 64; ++d, words.used += m)
            words.word |= side(d, thresholds + d * m, m) << words.used;
        if (d == dims) return words.finish();
        words.append(side(d, thresholds + d * m, m), m);
    }
}

void left_bits(const float* values, std::size_t dims, std::size_t m, const float* thresholds,
               std::uint64_t* bits) {
    all_bits(dims, m, thresholds, bits, [=](std::size_t d, const float* some, std::size_t count) {
        return left_of<false>(values[d], some, count);
    });
}

void row_bits(const float* row, const std::uint32_t* columns, std::size_t dims, std::size_t m,
              const float* thresholds, std::uint64_t* bits) {
    all_bits(dims, m, thresholds, bits, [=](std::size_t d, const float* some, std::size_t count) {
        return left_of<false>(row[columns[d]], some, count);
    });
}

// Four rows at a time: they share the thresholds, and none waits for another.
void rows_bits(const float* const* rows, std::size_t n, const std::uint32_t* columns,
               std::size_t dims, std::size_t m, const float* thresholds, std::uint64_t everyone,
               std::uint64_t* bits) {
    for (std::size_t i = 0; i < n; i += 4) {
        const float *a = rows[i], *b = rows[i + 1], *c = rows[i + 2], *d = rows[i + 3];
        std::uint64_t of_a = everyone, of_b = everyone, of_c = everyone, of_d = everyone;
        const float* some = thresholds;
        for (std::size_t k = 0, at = 0; k < dims; ++k, at += m, some += m) {
            const std::size_t column = columns[k];
            of_a |= left_of<false>(a[column], some, m) << at;
            of_b |= left_of<false>(b[column], some, m) << at;
            of_c |= left_of<false>(c[column], some, m) << at;
            of_d |= left_of<false>(d[column], some, m) << at;
        }
        bits[i] = of_a;
        bits[i + 1] = of_b;
        bits[i + 2] = of_c;
        bits[i + 3] = of_d;
    }
}

// A threshold is written once its neighbours were read: together, they would wait for it.
void split_point_bits(const float* row, const std::uint32_t* columns, std::size_t dims,
                      std::size_t m, std::size_t n, float* thresholds, std::uint64_t* bits) {
    all_bits(dims, m, thresholds, bits, [=](std::size_t d, const float* some, std::size_t count) {
        const float value = row[columns[d]];
        const std::uint64_t left = left_of_split_point(value, some, count, n);
        thresholds[d * m + n] = value;
        return left;
    });
}

void mixed_row_bits(const float* row, const std::uint32_t* features, std::size_t dims,
                    std::size_t m, const float* thresholds, std::uint64_t* bits) {
    all_bits(dims, m, thresholds, bits, [=](std::size_t d, const float* some, std::size_t count) {
        const float value = row[features[d] & 0x7FFFFFFF];
        return features[d] >> 31 ? left_of<true>(value, some, count)
                                 : left_of<false>(value, some, count);
    });
}

void mixed_bits(const float* values, const std::uint32_t* features, std::size_t dims, std::size_t m,
                const float* thresholds, std::uint64_t* bits) {
    all_bits(dims, m, thresholds, bits, [=](std::size_t d, const float* some, std::size_t count) {
        return features[d] >> 31 ? left_of<true>(values[d], some, count)
                                 : left_of<false>(values[d], some, count);
    });
}

}  // namespace
}  // namespace riparian
