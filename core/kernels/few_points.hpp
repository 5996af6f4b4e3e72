// The kernels of a leaf that has seen few points: its gains, and which split is the best. For
// kernels.cpp alone.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "counts/candidate.hpp"
#include "kernels/bits_of.hpp"

namespace riparian {
namespace {

// Bits i to i+n-1, n <= 16, with others above them.
inline std::uint64_t some_bits(const std::uint64_t* bits, std::size_t i, std::size_t n) {
    const std::size_t at = i % 64;
    const std::uint64_t low = bits[i / 64] >> at;
    return at + n <= 64 ? low : low | bits[i / 64 + 1] << (64 - at);
}

#if defined(__AVX512BW__) && defined(__AVX512VL__)
// A table of 64 numbers that is looked up sixteen times at once.
class Table {
public:
    explicit Table(const std::uint32_t* numbers)
        : first_(_mm512_loadu_si512(numbers)),
          second_(_mm512_loadu_si512(numbers + 16)),
          third_(_mm512_loadu_si512(numbers + 32)),
          fourth_(_mm512_loadu_si512(numbers + 48)) {}

    __m512i operator()(__m512i n) const {
        const __m512i low = _mm512_permutex2var_epi32(first_, n, second_);
        const __m512i high = _mm512_permutex2var_epi32(third_, n, fourth_);
        return _mm512_mask_blend_epi32(_mm512_test_epi32_mask(n, _mm512_set1_epi32(32)), low, high);
    }
    __m512i operator()(__m128i bytes) const { return (*this)(_mm512_cvtepu8_epi32(bytes)); }

private:
    __m512i first_, second_, third_, fourth_;
};

// The first half of one.
class HalfTable {
public:
    explicit HalfTable(const std::uint32_t* numbers)
        : first_(_mm512_loadu_si512(numbers)), second_(_mm512_loadu_si512(numbers + 16)) {}

    __m512i operator()(__m512i n) const { return _mm512_permutex2var_epi32(first_, n, second_); }

private:
    __m512i first_, second_;
};

inline __m512i sixteen_counts(const std::uint8_t* counts, __mmask16 wanted) {
    return _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(wanted, counts));
}

inline void store_wide(void* to, __m512i sixteen, __mmask16 wanted) {
    const __m512i low = _mm512_cvtepi32_epi64(_mm512_castsi512_si256(sixteen));
    const __m512i high = _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(sixteen, 1));
    _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(wanted), low);
    _mm512_mask_storeu_epi64(static_cast<char*>(to) + 64, static_cast<__mmask8>(wanted >> 8), high);
}

// Eight sums grow; returns them.
inline __m512i grow_eight(std::uint64_t* sums, __mmask8 wanted, __m256i steps) {
    const __m512i grown =
        _mm512_add_epi64(_mm512_maskz_loadu_epi64(wanted, sums), _mm512_cvtepi32_epi64(steps));
    _mm512_mask_storeu_epi64(sums, wanted, grown);
    return grown;
}

void follow_few(std::uint64_t* sums, const std::uint8_t* label, const std::uint8_t* all,
                const std::uint64_t* bits, std::size_t dims, std::size_t m, std::size_t n,
                const std::uint32_t* steps, std::int64_t* largest) {
    const Table step(steps);
    const auto wanted = static_cast<__mmask16>((1u << n) - 1u);
    const auto low = static_cast<__mmask8>(wanted), high = static_cast<__mmask8>(wanted >> 8);
    const __m128i label_of_everyone = _mm_maskz_loadu_epi8(wanted, label + dims * m);
    const __m128i all_of_everyone = _mm_maskz_loadu_epi8(wanted, all + dims * m);
    __m512i low_largest = _mm512_set1_epi64(INT64_MIN), high_largest = low_largest;
    for (std::size_t d = 0; d < dims; ++d) {
        const std::size_t i = d * m;
        const auto right = static_cast<__mmask16>(~some_bits(bits, i, n));
        const __m128i left_label = _mm_maskz_loadu_epi8(wanted, label + i);
        const __m128i left_all = _mm_maskz_loadu_epi8(wanted, all + i);
        const __m512i growth = _mm512_sub_epi32(
            step(_mm_mask_sub_epi8(left_label, right, label_of_everyone, left_label)),
            step(_mm_mask_sub_epi8(left_all, right, all_of_everyone, left_all)));
        low_largest = _mm512_max_epi64(low_largest,
                                       grow_eight(sums + i, low, _mm512_castsi512_si256(growth)));
        if (high)
            high_largest = _mm512_max_epi64(
                high_largest, grow_eight(sums + i + 8, high, _mm512_extracti64x4_epi64(growth, 1)));
    }
    const __m512i growth = _mm512_sub_epi32(step(all_of_everyone), step(label_of_everyone));
    std::uint64_t* shared = sums + dims * m;
    const __m512i low_shared = grow_eight(shared, low, _mm512_castsi512_si256(growth));
    const __m512i high_shared = grow_eight(shared + 8, high, _mm512_extracti64x4_epi64(growth, 1));
    _mm512_storeu_si512(largest, _mm512_add_epi64(low_largest, low_shared));
    _mm512_storeu_si512(largest + 8, _mm512_add_epi64(high_largest, high_shared));
}

void start_few(std::uint64_t* sums, const std::uint8_t* c, std::size_t dims, std::size_t m,
               std::size_t n, const std::uint32_t* terms, bool less) {
    const Table term(terms);
    const auto wanted = static_cast<__mmask16>((1u << n) - 1u);
    const auto low = static_cast<__mmask8>(wanted), high = static_cast<__mmask8>(wanted >> 8);
    const auto grow = [&](std::size_t i, __m512i by, bool down) {
        if (down) by = _mm512_sub_epi32(_mm512_setzero_si512(), by);
        grow_eight(sums + i, low, _mm512_castsi512_si256(by));
        if (high) grow_eight(sums + i + 8, high, _mm512_extracti64x4_epi64(by, 1));
    };
    const __m128i everyone = _mm_maskz_loadu_epi8(wanted, c + dims * m);
    for (std::size_t i = 0; i < dims * m; i += m) {
        const __m128i left = _mm_maskz_loadu_epi8(wanted, c + i);
        grow(i, _mm512_add_epi32(term(left), term(_mm_sub_epi8(everyone, left))), less);
    }
    grow(dims * m, term(everyone), !less);
}
#else
void start_few(std::uint64_t* sums, const std::uint8_t* c, std::size_t dims, std::size_t m,
               std::size_t n, const std::uint32_t* terms, bool less) {
    const std::uint8_t* everyone = c + dims * m;
    const std::uint64_t sign = less ? ~std::uint64_t{0} : 1;
    for (std::size_t i = 0; i < dims * m; i += m)
        for (std::size_t j = 0; j < n; ++j)
            sums[i + j] += sign * (terms[c[i + j]] + terms[everyone[j] - c[i + j]]);
    for (std::size_t j = 0; j < n; ++j) sums[dims * m + j] -= sign * terms[everyone[j]];
}

void follow_few(std::uint64_t* sums, const std::uint8_t* label, const std::uint8_t* all,
                const std::uint64_t* bits, std::size_t dims, std::size_t m, std::size_t n,
                const std::uint32_t* steps, std::int64_t* largest) {
    const std::uint8_t *label_of_everyone = label + dims * m, *all_of_everyone = all + dims * m;
    for (std::size_t j = 0; j < n; ++j) largest[j] = INT64_MIN;
    for (std::size_t d = 0; d < dims; ++d) {
        const std::uint64_t left = some_bits(bits, d * m, n);
        for (std::size_t j = 0; j < n; ++j) {
            const std::size_t i = d * m + j;
            // All bits, or none: the side of a point is a coin toss, so no branch asks for it.
            const std::uint32_t right = static_cast<std::uint32_t>(left >> j & 1) - 1;
            const auto on_its_side = [right](std::uint32_t on_left, std::uint32_t in_all) {
                return (on_left ^ right) - right + (in_all & right);
            };
            sums[i] += std::uint64_t{steps[on_its_side(label[i], label_of_everyone[j])]} -
                       steps[on_its_side(all[i], all_of_everyone[j])];
            const auto sum = static_cast<std::int64_t>(sums[i]);
            largest[j] = sum > largest[j] ? sum : largest[j];
        }
    }
    for (std::size_t j = 0; j < n; ++j) {
        std::uint64_t& shared = sums[dims * m + j];
        shared += std::uint64_t{steps[all_of_everyone[j]]} - steps[label_of_everyone[j]];
        largest[j] += static_cast<std::int64_t>(shared);
    }
}
#endif

#if defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512DQ__)
void grow_few(std::uint64_t* bounds, std::uint8_t* all, const std::uint8_t* label, std::size_t n,
              const std::uint32_t* steps, std::uint32_t rounding, std::int64_t* now,
              std::uint8_t* all_now) {
    const Table step(steps);
    const auto wanted = static_cast<__mmask16>((1u << n) - 1u);
    const auto low = static_cast<__mmask8>(wanted), high = static_cast<__mmask8>(wanted >> 8);
    const __m128i grown = _mm_add_epi8(_mm_maskz_loadu_epi8(wanted, all), _mm_set1_epi8(1));
    _mm_mask_storeu_epi8(all, wanted, grown);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(all_now), grown);
    const __m512i growth =
        _mm512_add_epi32(_mm512_sub_epi32(step(grown), step(_mm_maskz_loadu_epi8(wanted, label))),
                         _mm512_set1_epi32(static_cast<int>(rounding)));
    _mm512_storeu_si512(now, grow_eight(bounds, low, _mm512_castsi512_si256(growth)));
    _mm512_storeu_si512(now + 8,
                        grow_eight(bounds + 8, high, _mm512_extracti64x4_epi64(growth, 1)));
}

std::uint32_t which_above(const std::int64_t* now, const std::uint8_t* all_now, std::size_t n,
                          double g_of_point) {
    const __m512i all =
        _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(all_now)));
    const auto are_above = [&](const std::int64_t* eight, __m256i of_all) {
        const __m512d g = _mm512_mul_pd(_mm512_set1_pd(g_of_point), _mm512_cvtepi32_pd(of_all));
        return std::uint32_t{
            _mm512_cmpge_epi64_mask(_mm512_loadu_si512(eight), _mm512_cvttpd_epi64(g))};
    };
    const std::uint32_t above = are_above(now, _mm512_castsi512_si256(all)) |
                                are_above(now + 8, _mm512_extracti64x4_epi64(all, 1)) << 8;
    return above & ((1u << n) - 1u);
}
#else
void grow_few(std::uint64_t* bounds, std::uint8_t* all, const std::uint8_t* label, std::size_t n,
              const std::uint32_t* steps, std::uint32_t rounding, std::int64_t* now,
              std::uint8_t* all_now) {
    for (std::size_t j = 0; j < n; ++j) {
        all_now[j] = static_cast<std::uint8_t>(all[j] + 1);
        bounds[j] += std::uint64_t{steps[all_now[j]]} - steps[label[j]] + rounding;
        now[j] = static_cast<std::int64_t>(bounds[j]);
    }
    for (std::size_t j = 0; j < n; ++j) all[j] = all_now[j];
}

std::uint32_t which_above(const std::int64_t* now, const std::uint8_t* all_now, std::size_t n,
                          double g_of_point) {
    std::uint32_t above = 0;
    for (std::size_t j = 0; j < n; ++j)
        above |= std::uint32_t{now[j] >= static_cast<std::int64_t>(g_of_point * all_now[j])} << j;
    return above;
}
#endif

// No branch asks whether one is valid: it would be guessed wrong too often.
#if defined(__AVX512BW__) && defined(__AVX512VL__)
std::size_t find_valid(const std::uint8_t* left, std::size_t dims, std::size_t m, std::size_t n,
                       std::uint8_t alpha, Candidate* valid) {
    static_assert(sizeof(Candidate) == 8);
    const auto wanted = static_cast<__mmask16>((1u << n) - 1u);
    const __m128i least = _mm_set1_epi8(static_cast<char>(alpha));
    const __m128i everyone = _mm_maskz_loadu_epi8(wanted, left + dims * m);
    const __m512i next_dimension = _mm512_set1_epi64(static_cast<std::int64_t>(m));
    const __m512i eight = _mm512_set1_epi64(std::int64_t{8} << 32 | 8);
    __m512i low = _mm512_set_epi32(7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0);
    Candidate* end = valid;
    for (std::size_t d = 0; d < dims; ++d, low = _mm512_add_epi64(low, next_dimension)) {
        const __m128i on_left = _mm_maskz_loadu_epi8(wanted, left + d * m);
        const __mmask16 enough = _mm_mask_cmpge_epu8_mask(wanted, on_left, least);
        const __mmask16 both =
            _mm_mask_cmpge_epu8_mask(enough, _mm_sub_epi8(everyone, on_left), least);
        const auto first = static_cast<__mmask8>(both), second = static_cast<__mmask8>(both >> 8);
        _mm512_storeu_si512(end, _mm512_maskz_compress_epi64(first, low));
        end += bits_of(first);
        if (n <= 8) continue;
        _mm512_storeu_si512(end, _mm512_maskz_compress_epi64(second, _mm512_add_epi64(low, eight)));
        end += bits_of(second);
    }
    return static_cast<std::size_t>(end - valid);
}
#else
std::size_t find_valid(const std::uint8_t* left, std::size_t dims, std::size_t m, std::size_t n,
                       std::uint8_t alpha, Candidate* valid) {
    const std::uint8_t* everyone = left + dims * m;
    Candidate* end = valid;
    for (std::size_t first = 0; first < dims * m; first += m)
        for (std::size_t j = 0; j < n; ++j) {
            const std::uint8_t on_left = left[first + j];
            *end = {static_cast<std::uint32_t>(first + j), static_cast<std::uint32_t>(j)};
            end += static_cast<int>(on_left >= alpha) &
                   static_cast<int>(everyone[j] - on_left >= alpha);
        }
    return static_cast<std::size_t>(end - valid);
}
#endif

// Those of up to 64 points whose bit i is set; past the last, any.
inline std::uint64_t points_with(std::size_t i, const std::uint64_t* bits, std::size_t words,
                                 std::size_t points) {
    const std::uint64_t* of_points = bits + i / 64;
    std::uint64_t points_set = 0;
#if defined(__AVX512DQ__)
    const __m512i bit = _mm512_set1_epi64(static_cast<std::int64_t>(std::uint64_t{1} << (i % 64)));
    const __m512i places = _mm512_mullo_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7),
                                              _mm512_set1_epi64(static_cast<std::int64_t>(words)));
    for (std::size_t p = 0; p < points; p += 8) {
        const std::uint64_t* first = of_points + p * words;
        const __m512i eight =
            words == 1 ? _mm512_loadu_si512(first) : _mm512_i64gather_epi64(places, first, 8);
        points_set |= std::uint64_t{_mm512_test_epi64_mask(eight, bit)} << p;
    }
#else
    for (std::size_t p = 0; p < points; ++p)
        points_set |= (of_points[p * words] >> (i % 64) & 1) << p;
#endif
    return points_set;
}

void sum_kept(const std::uint64_t* bits, std::size_t words, std::size_t points,
              const std::uint64_t* labels, std::size_t n_labels, const Candidate* candidates,
              std::size_t n, std::size_t everyone, const std::uint64_t* terms, std::uint64_t* g,
              std::uint64_t* points_met) {
    const std::uint64_t all = points < 64 ? (std::uint64_t{1} << points) - 1 : ~std::uint64_t{0};
    for (std::size_t c = 0; c < n; ++c) {
        const auto [i, j] = candidates[c];
        const std::uint64_t left = points_with(i, bits, words, points);
        const std::uint64_t met = points_with(everyone + j, bits, words, points);
        const auto term = [&](std::uint64_t some) {
            const std::uint32_t on_left = bits_of(left & some), in_all = bits_of(met & some);
            return terms[on_left] + terms[in_all - on_left] - terms[in_all];
        };
        std::uint64_t sum = 0 - term(all);
        for (std::size_t k = 0; k < n_labels; ++k) sum += term(labels[k]);
        g[i] = sum;
        points_met[j] = bits_of(met & all);
    }
}

#if defined(__AVX512BW__) && defined(__AVX512VL__)
// Of the best candidates of sixteen split points, those that are `there`: the one with the largest
// gain, the last of equals. To divide G by the points is enough: the unit of G is the same for all.
inline BestOfFew best_of_sixteen(__mmask16 there, __m512i number, __m512i g, __m512i points) {
    if (!there) return {UINT32_MAX, 0, 0};
    const __m512d none = _mm512_set1_pd(-1e300);
    const auto gains = [&](__mmask8 some, __m256i eight, __m256i by) {
        return _mm512_mask_div_pd(none, some, _mm512_cvtepi32_pd(eight), _mm512_cvtepi32_pd(by));
    };
    const __m512d low = gains(static_cast<__mmask8>(there), _mm512_castsi512_si256(g),
                              _mm512_castsi512_si256(points));
    const __m512d high = gains(static_cast<__mmask8>(there >> 8), _mm512_extracti64x4_epi64(g, 1),
                               _mm512_extracti64x4_epi64(points, 1));
    const __m512d top = _mm512_set1_pd(_mm512_reduce_max_pd(_mm512_max_pd(low, high)));
    std::uint64_t equal = _mm512_cmp_pd_mask(low, top, _CMP_EQ_OQ) |
                          static_cast<unsigned>(_mm512_cmp_pd_mask(high, top, _CMP_EQ_OQ)) << 8;
    for (int by = 1; by < 16; by *= 2) equal |= equal >> by;  // and all below
    const __m512i last = _mm512_set1_epi32(static_cast<int>(bits_of(equal)) - 1);
    const auto at_last = [&](__m512i sixteen) {
        return _mm_cvtsi128_si32(_mm512_castsi512_si128(_mm512_permutexvar_epi32(last, sixteen)));
    };
    return {static_cast<std::uint32_t>(at_last(number)), at_last(g), at_last(points)};
}

// `F`: the table of terms.
template <class Terms>
BestOfFew best_by(const Terms& F, __m512i all, const std::uint8_t* const* rows, std::size_t n_rows,
                  const std::uint8_t* estimation, std::size_t dims, std::size_t m, std::size_t n,
                  std::uint32_t alpha, std::int64_t* largest, std::uint64_t* points) {
    const auto wanted = static_cast<__mmask16>((1u << m) - 1u);
    __m512i shared = F(all);
    for (std::size_t r = 0; r < n_rows; ++r)
        shared = _mm512_sub_epi32(shared, F(sixteen_counts(rows[r] + dims * m, wanted)));
    const __m512i least = _mm512_set1_epi32(static_cast<int>(alpha));
    const __m512i everyone = sixteen_counts(estimation + dims * m, wanted);
    const auto so_far = static_cast<__mmask16>((1u << n) - 1u);
    __m512i number = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m512i top = _mm512_set1_epi32(INT32_MIN), winner = _mm512_set1_epi32(-1);
    __m512i most = _mm512_setzero_si512();
    __mmask16 there = 0;
    for (std::size_t i = 0; i < dims * m; i += m) {
        __m512i g = shared, left = _mm512_setzero_si512();
        for (std::size_t r = 0; r < n_rows; ++r) {
            const __m512i of_all = sixteen_counts(rows[r] + dims * m, wanted);
            const __m512i on_left = sixteen_counts(rows[r] + i, wanted);
            g = _mm512_add_epi32(
                g, _mm512_add_epi32(F(on_left), F(_mm512_sub_epi32(of_all, on_left))));
            left = _mm512_add_epi32(left, on_left);
        }
        g = _mm512_sub_epi32(g, _mm512_add_epi32(F(left), F(_mm512_sub_epi32(all, left))));
        most = _mm512_max_epi32(most, g);
        const __m512i some = sixteen_counts(estimation + i, wanted);
        const __mmask16 is_valid =
            _mm512_mask_cmpge_epi32_mask(_mm512_mask_cmpge_epi32_mask(so_far, some, least),
                                         _mm512_sub_epi32(everyone, some), least);
        const __mmask16 is_better = _mm512_mask_cmpge_epi32_mask(is_valid, g, top);
        top = _mm512_mask_mov_epi32(top, is_better, g);
        winner = _mm512_mask_mov_epi32(winner, is_better, number);
        there = static_cast<__mmask16>(there | is_valid);
        number = _mm512_add_epi32(number, _mm512_set1_epi32(static_cast<int>(m)));
    }
    store_wide(largest, most, wanted);
    store_wide(points, all, wanted);
    return best_of_sixteen(there, winner, top, all);
}

BestOfFew best_of_few(const std::uint8_t* const* rows, std::size_t n_rows,
                      const std::uint8_t* estimation, std::size_t dims, std::size_t m,
                      std::size_t n, std::uint32_t alpha, const std::uint32_t* terms,
                      std::int64_t* largest, std::uint64_t* points) {
    const auto wanted = static_cast<__mmask16>((1u << m) - 1u);
    __m512i all = _mm512_setzero_si512();
    for (std::size_t r = 0; r < n_rows; ++r)
        all = _mm512_add_epi32(all, sixteen_counts(rows[r] + dims * m, wanted));
    if (_mm512_cmpge_epi32_mask(all, _mm512_set1_epi32(32)))
        return best_by(Table(terms), all, rows, n_rows, estimation, dims, m, n, alpha, largest,
                       points);
    return best_by(HalfTable(terms), all, rows, n_rows, estimation, dims, m, n, alpha, largest,
                   points);
}
#else
BestOfFew best_of_few(const std::uint8_t* const* rows, std::size_t n_rows,
                      const std::uint8_t* estimation, std::size_t dims, std::size_t m,
                      std::size_t n, std::uint32_t alpha, const std::uint32_t* terms,
                      std::int64_t* largest, std::uint64_t* points) {
    // Sixteen at a time, whatever m is, and without a branch.
    const auto least = static_cast<std::int32_t>(alpha);
    std::uint32_t all[16] = {}, shared[16] = {}, g[16] = {}, left[16];
    std::int32_t everyone[16] = {}, some[16] = {}, top[16], winner[16], most[16] = {};
    for (std::size_t r = 0; r < n_rows; ++r)
        for (std::size_t j = 0; j < m; ++j) {
            all[j] += rows[r][dims * m + j];
            shared[j] -= terms[rows[r][dims * m + j]];
        }
    for (std::size_t j = 0; j < m; ++j) shared[j] += terms[all[j]];
    for (std::size_t j = 0; j < n; ++j) everyone[j] = estimation[dims * m + j];
    for (std::size_t j = 0; j < 16; ++j) {
        top[j] = INT32_MIN;
        winner[j] = -1;
    }
    for (std::size_t d = 0; d < dims; ++d) {
        for (std::size_t j = 0; j < m; ++j) {
            g[j] = shared[j];
            left[j] = 0;
        }
        for (std::size_t r = 0; r < n_rows; ++r)
            for (std::size_t j = 0; j < m; ++j) {
                const std::uint32_t on_left = rows[r][d * m + j];
                g[j] += terms[on_left] + terms[rows[r][dims * m + j] - on_left];
                left[j] += on_left;
            }
        for (std::size_t j = 0; j < m; ++j) g[j] -= terms[left[j]] + terms[all[j] - left[j]];
        for (std::size_t j = 0; j < m; ++j) some[j] = estimation[d * m + j];
        for (std::size_t j = 0; j < 16; ++j) {
            const auto this_g = static_cast<std::int32_t>(g[j]);
            most[j] = this_g > most[j] ? this_g : most[j];
            const std::int32_t is_worse =
                -static_cast<std::int32_t>(some[j] < least) |
                -static_cast<std::int32_t>(everyone[j] - some[j] < least) |
                -static_cast<std::int32_t>(this_g < top[j]);
            top[j] = (top[j] & is_worse) | (this_g & ~is_worse);
            winner[j] = (winner[j] & is_worse) | (static_cast<std::int32_t>(d) & ~is_worse);
        }
    }
    BestOfFew best{UINT32_MAX, 0, 0};
    double best_gain = 0;
    for (std::size_t j = 0; j < m; ++j) {
        largest[j] = most[j];
        points[j] = all[j];
        if (winner[j] < 0 || j >= n) continue;
        const double gain = static_cast<double>(top[j]) / static_cast<double>(all[j]);
        if (best.number != UINT32_MAX && gain < best_gain) continue;
        const std::size_t number = static_cast<std::size_t>(winner[j]) * m + j;
        best = {static_cast<std::uint32_t>(number), top[j], static_cast<std::int32_t>(all[j])};
        best_gain = gain;
    }
    return best;
}
#endif

}  // namespace
}  // namespace riparian
