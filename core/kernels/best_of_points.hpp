// The best split of some points (R20), several thresholds side by side. For kernels.cpp alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include <math.h>
#include <string.h>

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

    Lanes() : Lanes(0) {}
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
    // Adds a number where the value is left of the threshold.
    void add_left(float value, Thresholds thresholds, std::uint32_t number) {
        const __mmask16 left = _mm512_cmp_ps_mask(_mm512_set1_ps(value), thresholds, _CMP_LE_OQ);
        numbers_ = _mm512_mask_add_epi32(numbers_, left, numbers_,
                                         _mm512_set1_epi32(static_cast<std::int32_t>(number)));
    }
    // The `bits` bits from bit `at` on.
    Lanes part(unsigned at, unsigned bits) const {
        const __m512i moved = _mm512_srl_epi32(numbers_, _mm_cvtsi32_si128(static_cast<int>(at)));
        return Lanes(_mm512_and_si512(moved, _mm512_set1_epi32((1 << bits) - 1)));
    }
    // numbers[i] |= number where bit i is set, for sixteen numbers.
    static void set_bits(std::uint32_t* numbers, std::uint64_t bits, std::uint32_t number) {
        const __m512i before = _mm512_loadu_si512(numbers);
        const __m512i added = _mm512_set1_epi32(static_cast<std::int32_t>(number));
        _mm512_storeu_si512(
            numbers, _mm512_mask_or_epi32(before, static_cast<__mmask16>(bits), before, added));
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
    // Which lanes have the largest number of those where `wanted` is not negative; the number.
    std::uint32_t which_largest(Lanes wanted, std::int32_t& largest) const {
        const __mmask16 asked = _mm512_cmpge_epi32_mask(wanted.numbers_, _mm512_setzero_si512());
        largest = _mm512_mask_reduce_max_epi32(asked, numbers_);
        return _mm512_mask_cmpeq_epi32_mask(asked, numbers_, _mm512_set1_epi32(largest));
    }
    void store(std::int32_t* out) const { _mm512_storeu_si512(out, numbers_); }
    static Lanes load(const std::int32_t* in) { return Lanes(_mm512_loadu_si512(in)); }

private:
    explicit Lanes(__m512i numbers) : numbers_(numbers) {}
    __m512i numbers_;
};
#elif defined(__AVX2__)
class Lanes {
public:
    static constexpr std::size_t size = 8;
    using Thresholds = __m256;

    Lanes() : Lanes(0) {}
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
    void add_left(float value, Thresholds thresholds, std::uint32_t number) {
        const __m256 left = _mm256_cmp_ps(_mm256_set1_ps(value), thresholds, _CMP_LE_OQ);
        const __m256i added = _mm256_set1_epi32(static_cast<std::int32_t>(number));
        numbers_ = _mm256_add_epi32(numbers_, _mm256_and_si256(_mm256_castps_si256(left), added));
    }
    Lanes part(unsigned at, unsigned bits) const {
        const __m256i moved = _mm256_srl_epi32(numbers_, _mm_cvtsi32_si128(static_cast<int>(at)));
        return Lanes(_mm256_and_si256(moved, _mm256_set1_epi32((1 << bits) - 1)));
    }
    static void set_bits(std::uint32_t* numbers, std::uint64_t bits, std::uint32_t number) {
        const __m256i each = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
        const __m256i added = _mm256_set1_epi32(static_cast<std::int32_t>(number));
        for (unsigned i = 0; i < 16; i += 8) {
            const __m256i some = _mm256_set1_epi32(static_cast<std::int32_t>(bits >> i & 0xFF));
            const __m256i set = _mm256_cmpeq_epi32(_mm256_and_si256(some, each), each);
            auto* eight = reinterpret_cast<__m256i*>(numbers + i);
            const __m256i before = _mm256_loadu_si256(eight);
            _mm256_storeu_si256(eight, _mm256_or_si256(before, _mm256_and_si256(set, added)));
        }
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
    std::uint32_t which_largest(Lanes wanted, std::int32_t& largest) const {
        const __m256i lowest = _mm256_set1_epi32(INT32_MIN);
        const __m256i asked = _mm256_cmpgt_epi32(wanted.numbers_, _mm256_set1_epi32(-1));
        const __m256i numbers = _mm256_blendv_epi8(lowest, numbers_, asked);
        __m256i most = _mm256_max_epi32(numbers, _mm256_permute2x128_si256(numbers, numbers, 1));
        most = _mm256_max_epi32(most, _mm256_shuffle_epi32(most, 0x4E));
        most = _mm256_max_epi32(most, _mm256_shuffle_epi32(most, 0xB1));
        largest = _mm_cvtsi128_si32(_mm256_castsi256_si128(most));
        const __m256i are_largest = _mm256_and_si256(asked, _mm256_cmpeq_epi32(numbers, most));
        return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(are_largest)));
    }
    void store(std::int32_t* out) const {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), numbers_);
    }
    static Lanes load(const std::int32_t* in) {
        return Lanes(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(in)));
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

    Lanes() : Lanes(0) {}
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
    void add_left(float value, const Thresholds& thresholds, std::uint32_t number) {
        for (std::size_t j = 0; j < size; ++j) {
            const auto is_left = static_cast<std::uint32_t>(value <= thresholds.values[j]);
            numbers_[j] = wrapped(bits(numbers_[j]) + ((0u - is_left) & number));
        }
    }
    Lanes part(unsigned at, unsigned bits) const {
        Lanes parts(0);
        for (std::size_t j = 0; j < size; ++j)
            parts.numbers_[j] = wrapped(Lanes::bits(numbers_[j]) >> at & ((1u << bits) - 1));
        return parts;
    }
    static void set_bits(std::uint32_t* numbers, std::uint64_t bits, std::uint32_t number) {
        for (unsigned i = 0; i < 16; ++i)
            numbers[i] |= (0u - static_cast<std::uint32_t>(bits >> i & 1)) & number;
    }
    void operator+=(const Lanes& other) {
        for (std::size_t j = 0; j < size; ++j)
            numbers_[j] = wrapped(bits(numbers_[j]) + bits(other.numbers_[j]));
    }
    void operator-=(const Lanes& other) {
        for (std::size_t j = 0; j < size; ++j)
            numbers_[j] = wrapped(bits(numbers_[j]) - bits(other.numbers_[j]));
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
    std::uint32_t which_largest(const Lanes& wanted, std::int32_t& largest) const {
        std::uint32_t which = 0;
        largest = INT32_MIN;
        for (std::size_t j = 0; j < size; ++j) {
            if (wanted.numbers_[j] < 0 || numbers_[j] < largest) continue;
            which = (numbers_[j] == largest ? which : 0) | 1u << j;
            largest = numbers_[j];
        }
        return which;
    }
    void store(std::int32_t* out) const {
        for (std::size_t j = 0; j < size; ++j) out[j] = numbers_[j];
    }
    static Lanes load(const std::int32_t* in) {
        Lanes loaded(0);
        for (std::size_t j = 0; j < size; ++j) loaded.numbers_[j] = in[j];
        return loaded;
    }

private:
    // Counts that lie side by side may fill all bits, and so may sums on the way to a small
    // difference; numbers without a sign wrap, as those of the vectors do.
    static std::uint32_t bits(std::int32_t number) { return static_cast<std::uint32_t>(number); }
    static std::int32_t wrapped(std::uint32_t number) { return static_cast<std::int32_t>(number); }

    std::int32_t numbers_[size];
};
#endif

// The best of some thresholds at a time, given by sum_left(values of a dimension, thresholds, left)
// the sum of each, and how many points are left of it. No branch asks whether a candidate is valid
// or the best: it would be guessed wrong too often.
template <class SumLeft>
inline BestOfPoints best_by(const float* values, std::size_t stride, std::size_t dims,
                            std::size_t n, const std::uint32_t* split_points, std::size_t m,
                            std::size_t least, const SumLeft& sum_left) {
    BestOfPoints best{SIZE_MAX, 0, 0};
    std::int32_t top = INT32_MIN;
    for (std::size_t first = 0; first < m; first += Lanes::size) {
        const std::size_t some = m - first < Lanes::size ? m - first : Lanes::size;
        Lanes largest(INT32_MIN), dimension(-1);
        const float* mine = values;
        for (std::size_t d = 0; d < dims; ++d, mine += stride) {
            const auto thresholds = Lanes::thresholds(mine, n, split_points + first, some);
            Lanes left(0);
            const Lanes sum = sum_left(mine, thresholds, left);
            sum.keep_larger(left, static_cast<std::int32_t>(n), static_cast<std::int32_t>(least),
                            static_cast<std::int32_t>(d), largest, dimension);
        }
        std::int32_t of_these;
        std::uint32_t which = largest.which_largest(dimension, of_these);
        if (which == 0 || of_these < top) continue;
        for (unsigned i = 1; i < Lanes::size; i *= 2) which |= which >> i;
        const std::size_t last = bits_of(which) - 1;
        std::int32_t dimensions[Lanes::size];
        dimension.store(dimensions);
        top = of_these;
        best = {static_cast<std::size_t>(dimensions[last]), first + last,
                static_cast<std::uint64_t>(std::int64_t{top})};
    }
    return best;
}

// The counts of some classes lie side by side in a number, and those of the others in more of
// these; the last count is that of all points.
template <std::size_t numbers>
BestOfPoints best_by_numbers(const float* values, std::size_t stride, std::size_t dims,
                             std::size_t n, const std::uint32_t* split_points, std::size_t m,
                             const std::uint64_t* masks, std::size_t n_masks,
                             const std::uint32_t* terms, const std::uint32_t* starts,
                             std::size_t least, unsigned bits) {
    const std::size_t words = (n + 63) / 64, room = (n + 15) / 16 * 16, per_number = 32 / bits;
    std::uint32_t of_point[numbers * 256];  // what each adds, zeros past the last
    std::uint32_t sizes[32];
    memset(of_point, 0, numbers * room * sizeof of_point[0]);
    for (std::size_t k = 0; k <= n_masks; ++k) {
        const std::uint64_t* mask = masks + k * words;
        const std::uint32_t one = 1u << k % per_number * bits;
        std::uint32_t* out = of_point + k / per_number * room;
        for (std::size_t i = 0; i < room; i += 16)
            Lanes::set_bits(out + i, mask[i / 64] >> i % 64, one);
        sizes[k] = 0;
        for (std::size_t w = 0; w < words; ++w) sizes[k] += bits_of(mask[w]);
    }
    const auto sum_left = [&](const float* mine, const auto& thresholds, Lanes& left) {
        Lanes counts[numbers];
        for (std::size_t i = 0; i < n; i += 4)
            for (std::size_t w = 0; w < numbers; ++w)
                for (std::size_t of_four = 0; of_four < 4; ++of_four)
                    counts[w].add_left(mine[i + of_four], thresholds,
                                       of_point[w * room + i + of_four]);
        Lanes sum(0);
        const auto part = [&](std::size_t k) {
            Lanes number = counts[0];
            for (std::size_t w = 1; w < numbers; ++w)
                if (k / per_number == w) number = counts[w];
            return number.part(static_cast<unsigned>(k % per_number) * bits, bits);
        };
        for (std::size_t k = 0; k < n_masks; ++k) sum += part(k).of(terms + starts[k], sizes[k]);
        left = part(n_masks);
        sum -= left.of(terms + starts[n_masks], n);
        return sum;
    };
    return best_by(values, stride, dims, n, split_points, m, least, sum_left);
}

// Class by class.
BestOfPoints best_by_classes(const float* values, std::size_t stride, std::size_t dims,
                             std::size_t n, const std::uint32_t* split_points, std::size_t m,
                             const std::uint64_t* masks, std::size_t n_masks,
                             const std::uint32_t* terms, const std::uint32_t* starts,
                             std::size_t least) {
    const std::size_t words = (n + 63) / 64;
    // The points of a class side by side; those of no mask come last.
    std::uint8_t order[256];
    std::uint16_t ends[128];
    std::size_t ordered = 0;
    std::uint64_t rest[4] = {0, 0, 0, 0};
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
        ends[k] = static_cast<std::uint16_t>(ordered);
    }
    for (std::size_t w = 0; w < words; ++w) append(rest[w], w);
    // What is left after each point, and before the first. Where a class ends cannot be guessed, so
    // no loop ends there.
    std::int32_t after[257 * Lanes::size];
    const auto sum_left = [&](const float* mine, const auto& thresholds, Lanes& left) {
        left.store(after);
        for (std::size_t i = 0; i < n; ++i) {
            left.add_left(mine[order[i]], thresholds, 1);
            left.store(after + (i + 1) * Lanes::size);
        }
        Lanes sum(0), before(0);
        std::size_t begin = 0;
        for (std::size_t k = 0; k < n_masks; ++k) {
            const Lanes until = Lanes::load(after + ends[k] * Lanes::size);
            Lanes of_class = until;
            of_class -= before;
            sum += of_class.of(terms + starts[k], ends[k] - begin);
            before = until;
            begin = ends[k];
        }
        sum -= left.of(terms + starts[n_masks], n);
        return sum;
    };
    return best_by(values, stride, dims, n, split_points, m, least, sum_left);
}

BestOfPoints best_of_points(const float* values, std::size_t stride, std::size_t dims,
                            std::size_t n, const std::uint32_t* split_points, std::size_t m,
                            const std::uint64_t* masks, std::size_t n_masks,
                            const std::uint32_t* terms, const std::uint32_t* starts,
                            std::size_t least) {
    unsigned bits = 0;
    while (n >> bits) ++bits;
    const std::size_t needed = n_masks / (32 / bits) + 1;
    if (needed == 1)
        return best_by_numbers<1>(values, stride, dims, n, split_points, m, masks, n_masks, terms,
                                  starts, least, bits);
    if (needed == 2)
        return best_by_numbers<2>(values, stride, dims, n, split_points, m, masks, n_masks, terms,
                                  starts, least, bits);
    return best_by_classes(values, stride, dims, n, split_points, m, masks, n_masks, terms, starts,
                           least);
}

BestOfPoints best_of_many_points(const float* values, std::size_t stride, std::size_t dims,
                                 std::size_t n, const std::uint32_t* split_points, std::size_t m,
                                 const std::uint16_t* order, const std::uint32_t* ends,
                                 std::size_t n_classes, const std::uint64_t* terms,
                                 std::size_t least) {
    BestOfPoints best{SIZE_MAX, 0, 0};
    for (std::size_t first = 0; first < m; first += Lanes::size) {
        const std::size_t some = m - first < Lanes::size ? m - first : Lanes::size;
        const float* mine = values;
        for (std::size_t d = 0; d < dims; ++d, mine += stride) {
            const auto thresholds = Lanes::thresholds(mine, n, split_points + first, some);
            Lanes left(0);
            std::int32_t counts[Lanes::size];
            std::uint64_t sums[Lanes::size] = {};
            std::size_t i = 0;
            for (std::size_t k = 0; k < n_classes; ++k) {
                Lanes of_class(0);
                const std::uint64_t* from = terms + (ends[k] - i);
                for (; i < ends[k]; ++i) of_class.add_left(mine[order[i]], thresholds, 1);
                left += of_class;
                of_class.store(counts);
                for (std::size_t j = 0; j < some; ++j)
                    sums[j] += terms[counts[j]] + *(from - counts[j]);
            }
            for (; i < n; ++i) left.add_left(mine[order[i]], thresholds, 1);
            left.store(counts);
            for (std::size_t j = 0; j < some; ++j) {
                const auto on_left = static_cast<std::size_t>(counts[j]);
                if (on_left < least || n - on_left < least) continue;
                const std::uint64_t sum = sums[j] - terms[on_left] - terms[n - on_left];
                const auto is = static_cast<std::int64_t>(sum);
                const auto was = static_cast<std::int64_t>(best.sum);
                if (best.dimension != SIZE_MAX &&
                    (is < was || (is == was && first + j < best.split_point)))
                    continue;
                best = {d, first + j, sum};
            }
        }
    }
    return best;
}

}  // namespace
}  // namespace riparian
