// The best split of up to 128 points (R20), several thresholds side by side. For kernels.cpp alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include <math.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "counts/candidate.hpp"
#include "kernels/bits_of.hpp"

namespace riparian {
namespace {

// A number for each of some thresholds. Past the last threshold, all are NaN.
#if defined(__AVX512F__)
class Lanes {
public:
    static constexpr std::size_t size = 16;
    using Thresholds = __m512;

    explicit Lanes(std::int32_t number) : numbers_(_mm512_set1_epi32(number)) {}

    // The thresholds are the values at these places. Values are readable up to a multiple of 16.
    static Thresholds thresholds(const float* values, std::size_t n, const std::uint32_t* places,
                                 std::size_t m) {
        const auto wanted = static_cast<__mmask16>((1u << m) - 1u);
        const __m512i at = _mm512_maskz_loadu_epi32(wanted, places);
        const __m512 none = _mm512_set1_ps(NAN);
        if (n > 32) return _mm512_mask_i32gather_ps(none, wanted, at, values, 4);
        const __m512 low = _mm512_loadu_ps(values);
        const __m512 some = n <= 16 ? _mm512_permutexvar_ps(at, low)
                                    : _mm512_permutex2var_ps(low, at, _mm512_loadu_ps(values + 16));
        return _mm512_mask_mov_ps(none, wanted, some);
    }
    // Adds one where the value is left of the threshold.
    void count(float value, Thresholds thresholds) {
        const __mmask16 left = _mm512_cmp_ps_mask(_mm512_set1_ps(value), thresholds, _CMP_LE_OQ);
        numbers_ = _mm512_mask_sub_epi32(numbers_, left, numbers_, _mm512_set1_epi32(-1));
    }
    void operator+=(Lanes other) { numbers_ = _mm512_add_epi32(numbers_, other.numbers_); }
    void operator-=(Lanes other) { numbers_ = _mm512_sub_epi32(numbers_, other.numbers_); }
    // table[i] of each number i <= n. The table is readable up to a multiple of 16.
    Lanes of(const std::uint32_t* table, std::size_t n) const {
        if (n >= 64) return Lanes(_mm512_i32gather_epi32(numbers_, table, 4));
        const __m512i first = _mm512_loadu_si512(table);
        if (n < 16) return Lanes(_mm512_permutexvar_epi32(numbers_, first));
        const __m512i low =
            _mm512_permutex2var_epi32(first, numbers_, _mm512_loadu_si512(table + 16));
        if (n < 32) return Lanes(low);
        const __m512i high = _mm512_permutex2var_epi32(_mm512_loadu_si512(table + 32), numbers_,
                                                       _mm512_loadu_si512(table + 48));
        return Lanes(_mm512_mask_mov_epi32(
            low, _mm512_cmpgt_epi32_mask(numbers_, _mm512_set1_epi32(31)), high));
    }
    // Where these are at least `largest`, and `left` is at least `least` and at most n - `least`,
    // they take the place of `largest`, and d that of the dimension.
    void keep_larger(Lanes left, std::int32_t n, std::int32_t least, std::int32_t d, Lanes& largest,
                     Lanes& dimension) const {
        const __mmask16 valid =
            _mm512_cmple_epu32_mask(_mm512_sub_epi32(left.numbers_, _mm512_set1_epi32(least)),
                                    _mm512_set1_epi32(n - 2 * least));
        const __mmask16 better = _mm512_mask_cmpge_epi32_mask(valid, numbers_, largest.numbers_);
        largest.numbers_ = _mm512_mask_mov_epi32(largest.numbers_, better, numbers_);
        dimension.numbers_ =
            _mm512_mask_mov_epi32(dimension.numbers_, better, _mm512_set1_epi32(d));
    }
    void store(std::int32_t* out) const { _mm512_storeu_si512(out, numbers_); }

private:
    explicit Lanes(__m512i numbers) : numbers_(numbers) {}
    __m512i numbers_;
};
#elif defined(__AVX2__)
class Lanes {
public:
    static constexpr std::size_t size = 8;
    using Thresholds = __m256;

    explicit Lanes(std::int32_t number) : numbers_(_mm256_set1_epi32(number)) {}

    static Thresholds thresholds(const float* values, std::size_t n, const std::uint32_t* places,
                                 std::size_t m) {
        const __m256i wanted = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(m)),
                                                  _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
        const __m256i at =
            _mm256_maskload_epi32(reinterpret_cast<const std::int32_t*>(places), wanted);
        const __m256 none = _mm256_set1_ps(NAN);
        const __m256 some = n <= 8 ? _mm256_permutevar8x32_ps(_mm256_loadu_ps(values), at)
                                   : _mm256_i32gather_ps(values, at, 4);
        return _mm256_blendv_ps(none, some, _mm256_castsi256_ps(wanted));
    }
    void count(float value, Thresholds thresholds) {
        const __m256 left = _mm256_cmp_ps(_mm256_set1_ps(value), thresholds, _CMP_LE_OQ);
        numbers_ = _mm256_sub_epi32(numbers_, _mm256_castps_si256(left));
    }
    void operator+=(Lanes other) { numbers_ = _mm256_add_epi32(numbers_, other.numbers_); }
    void operator-=(Lanes other) { numbers_ = _mm256_sub_epi32(numbers_, other.numbers_); }
    Lanes of(const std::uint32_t* table, std::size_t n) const {
        if (n >= 8)
            return Lanes(
                _mm256_i32gather_epi32(reinterpret_cast<const std::int32_t*>(table), numbers_, 4));
        return Lanes(_mm256_permutevar8x32_epi32(
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(table)), numbers_));
    }
    void keep_larger(Lanes left, std::int32_t n, std::int32_t least, std::int32_t d, Lanes& largest,
                     Lanes& dimension) const {
        const __m256i is_worse = _mm256_or_si256(
            _mm256_or_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(least), left.numbers_),
                            _mm256_cmpgt_epi32(left.numbers_, _mm256_set1_epi32(n - least))),
            _mm256_cmpgt_epi32(largest.numbers_, numbers_));
        largest.numbers_ = _mm256_blendv_epi8(numbers_, largest.numbers_, is_worse);
        dimension.numbers_ = _mm256_blendv_epi8(_mm256_set1_epi32(d), dimension.numbers_, is_worse);
    }
    void store(std::int32_t* out) const {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), numbers_);
    }

private:
    explicit Lanes(__m256i numbers) : numbers_(numbers) {}
    __m256i numbers_;
};
#else
class Lanes {
public:
    static constexpr std::size_t size = 8;
    struct Thresholds {
        float values[size];
    };

    explicit Lanes(std::int32_t number) {
        for (std::int32_t& each : numbers_) each = number;
    }

    static Thresholds thresholds(const float* values, std::size_t, const std::uint32_t* places,
                                 std::size_t m) {
        Thresholds thresholds;
        for (std::size_t j = 0; j < size; ++j)
            thresholds.values[j] = j < m ? values[places[j]] : NAN;
        return thresholds;
    }
    void count(float value, const Thresholds& thresholds) {
        for (std::size_t j = 0; j < size; ++j) numbers_[j] += value <= thresholds.values[j];
    }
    void operator+=(const Lanes& other) {
        for (std::size_t j = 0; j < size; ++j) numbers_[j] += other.numbers_[j];
    }
    void operator-=(const Lanes& other) {
        for (std::size_t j = 0; j < size; ++j) numbers_[j] -= other.numbers_[j];
    }
    Lanes of(const std::uint32_t* table, std::size_t) const {
        Lanes looked_up(0);
        for (std::size_t j = 0; j < size; ++j)
            looked_up.numbers_[j] = static_cast<std::int32_t>(table[numbers_[j]]);
        return looked_up;
    }
    void keep_larger(const Lanes& left, std::int32_t n, std::int32_t least, std::int32_t d,
                     Lanes& largest, Lanes& dimension) const {
        for (std::size_t j = 0; j < size; ++j) {
            const std::int32_t is_worse =
                -static_cast<std::int32_t>(left.numbers_[j] < least) |
                -static_cast<std::int32_t>(left.numbers_[j] > n - least) |
                -static_cast<std::int32_t>(numbers_[j] < largest.numbers_[j]);
            largest.numbers_[j] = (largest.numbers_[j] & is_worse) | (numbers_[j] & ~is_worse);
            dimension.numbers_[j] = (dimension.numbers_[j] & is_worse) | (d & ~is_worse);
        }
    }
    void store(std::int32_t* out) const {
        for (std::size_t j = 0; j < size; ++j) out[j] = numbers_[j];
    }

private:
    std::int32_t numbers_[size];
};
#endif

// No branch asks whether a candidate is valid or the best: it would be guessed wrong too often.
BestOfPoints best_of_few_points(const float* values, std::size_t stride, std::size_t dims,
                                std::size_t n, const std::uint32_t* split_points, std::size_t m,
                                const std::uint64_t* masks, std::size_t n_masks,
                                const std::uint32_t* terms, const std::uint32_t* starts,
                                std::size_t least) {
    const std::size_t words = (n + 63) / 64;
    // The points of a class side by side; those of no mask come last.
    std::uint8_t order[128], ends[64];
    std::size_t ordered = 0;
    std::uint64_t rest[2] = {0, 0};
    const auto append = [&](std::uint64_t points, std::size_t w) {
        for (; points; points &= points - 1)
            order[ordered++] =
                static_cast<std::uint8_t>(64 * w + bits_of((points & (0 - points)) - 1));
    };
    for (std::size_t w = 0; w < words; ++w) rest[w] = masks[n_masks * words + w];
    for (std::size_t k = 0; k < n_masks; ++k) {
        for (std::size_t w = 0; w < words; ++w) {
            append(masks[k * words + w], w);
            rest[w] &= ~masks[k * words + w];
        }
        ends[k] = static_cast<std::uint8_t>(ordered);
    }
    for (std::size_t w = 0; w < words; ++w) append(rest[w], w);
    const std::uint32_t* terms_of_all = terms + starts[n_masks];
    std::int64_t top = INT64_MIN;  // the sum, then the split point
    std::int32_t dimension_of_top = -1;
    for (std::size_t first = 0; first < m; first += Lanes::size) {
        const std::size_t some = m - first < Lanes::size ? m - first : Lanes::size;
        Lanes largest(INT32_MIN), dimension(-1);
        const float* mine = values;
        for (std::size_t d = 0; d < dims; ++d, mine += stride) {
            const auto thresholds = Lanes::thresholds(mine, n, split_points + first, some);
            Lanes left(0), sum(0);
            std::size_t i = 0;
            for (std::size_t k = 0; k < n_masks; ++k) {
                Lanes of_class(0);
                const std::size_t size = ends[k] - i;
                for (; i < ends[k]; ++i) of_class.count(mine[order[i]], thresholds);
                left += of_class;
                sum += of_class.of(terms + starts[k], size);
            }
            for (; i < n; ++i) left.count(mine[order[i]], thresholds);
            sum -= left.of(terms_of_all, n);
            sum.keep_larger(left, static_cast<std::int32_t>(n), static_cast<std::int32_t>(least),
                            static_cast<std::int32_t>(d), largest, dimension);
        }
        std::int32_t sums[Lanes::size], dimensions[Lanes::size];
        largest.store(sums);
        dimension.store(dimensions);
        for (std::size_t j = 0; j < Lanes::size; ++j) {
            const std::int64_t of_both = std::int64_t{sums[j]} * (std::int64_t{1} << 32) +
                                         static_cast<std::int64_t>(first + j);
            const std::int64_t its = dimensions[j] < 0 ? INT64_MIN : of_both;
            dimension_of_top = its > top ? dimensions[j] : dimension_of_top;
            top = its > top ? its : top;
        }
    }
    if (dimension_of_top < 0) return {SIZE_MAX, 0, 0};
    return {static_cast<std::size_t>(dimension_of_top), static_cast<std::size_t>(top & 0xFFFFFFFF),
            static_cast<std::uint64_t>(top >> 32)};
}

}  // namespace
}  // namespace riparian
