// Compiled once for each instruction set, with RIPARIAN_KERNELS naming it. No header is included whose code
// others could share: the linker would be free to keep the copy the oldest machine cannot run.
#include "kernels/kernels.hpp"

#include "kernels/bits_of.hpp"
#include "kernels/few_points.hpp"
#include "kernels/keys.hpp"

#include <stdint.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define RIPARIAN_JOIN_(a, b) a##b
#define RIPARIAN_JOIN(a, b) RIPARIAN_JOIN_(a, b)
#define RIPARIAN_NAME_(a) #a
#define RIPARIAN_NAME(a) RIPARIAN_NAME_(a)

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

    // The low bits of `found`, up to 16, which need not fit.
    void append(std::uint64_t found, std::size_t count) {
        word |= found << used;
        used += count;
        if (used < 64) return;
        *at++ = word;
        used -= 64;
        word = found >> (count - used);
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

// Each bit of a byte as a byte of its own.
struct Spread {
    std::uint64_t bytes[256];
    constexpr Spread() : bytes{} {
        for (unsigned byte = 0; byte < 256; ++byte)
            for (unsigned bit = 0; bit < 8; ++bit)
                if (byte >> bit & 1u) bytes[byte] |= std::uint64_t{1} << (8 * bit);
    }
};
constexpr Spread spread;

// Sixty-four or thirty-two counters at once where the machine can; else, and for the rest, eight in one
// 64-bit word: no counter overflows, so no carry crosses over.
void add8(std::uint8_t* counters, const std::uint64_t* bits, std::size_t n, std::uint64_t weight) {
    std::size_t i = 0;
#if defined(__AVX512BW__)
    const __m512i every_step = _mm512_set1_epi8(static_cast<char>(weight));
    for (; i + 64 <= n; i += 64) {
        const __m512i before = _mm512_loadu_si512(counters + i);
        _mm512_storeu_si512(counters + i,
                            _mm512_mask_add_epi8(before, bits[i / 64], before, every_step));
    }
#endif
#if defined(__AVX2__)
    const __m256i byte_of =
        _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i bit_of = _mm256_set1_epi64x(static_cast<std::int64_t>(0x8040201008040201));
    const __m256i step = _mm256_set1_epi8(static_cast<char>(weight));
    for (; i + 32 <= n; i += 32) {
        const auto some = static_cast<int>(bits[i / 64] >> (i % 64));
        const __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(some), byte_of);
        const __m256i is_set = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit_of), bit_of);
        auto* at = reinterpret_cast<__m256i*>(counters + i);
        const __m256i before = _mm256_loadu_si256(at);
        _mm256_storeu_si256(at, _mm256_add_epi8(before, _mm256_and_si256(is_set, step)));
    }
#endif
    for (; i < n; i += 8) {
        const std::uint64_t byte = bits[i / 64] >> (i % 64) & 0xFF;
        std::uint64_t eight;
        memcpy(&eight, counters + i, 8);
        eight += spread.bytes[byte] * weight;
        memcpy(counters + i, &eight, 8);
    }
}

template <class Count>
void add(Count* counters, const std::uint64_t* bits, std::size_t n, std::uint64_t weight) {
    const Count step = static_cast<Count>(weight);
    for (std::size_t i = 0; i < n; i += 8) {
        const unsigned byte = static_cast<unsigned>(bits[i / 64] >> (i % 64) & 0xFF);
        for (unsigned b = 0; b < 8; ++b) {
            const Count mask = static_cast<Count>(0 - static_cast<Count>(byte >> b & 1u));
            counters[i + b] = static_cast<Count>(counters[i + b] + (step & mask));
        }
    }
}

// Eight counters of two or of four bytes at once, and as many more as the machine can. Counters are stored
// whole: what a masked store wrote cannot be read at once.
void add16(std::uint16_t* counters, const std::uint64_t* bits, std::size_t n,
           std::uint64_t weight) {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
    std::size_t i = 0;
    const __m512i every_step = _mm512_set1_epi16(static_cast<short>(weight));
    for (; i + 32 <= n; i += 32) {
        const __m512i before = _mm512_loadu_si512(counters + i);
        const auto some = static_cast<__mmask32>(bits[i / 64] >> (i % 64));
        _mm512_storeu_si512(counters + i, _mm512_mask_add_epi16(before, some, before, every_step));
    }
    const __m128i step = _mm_set1_epi16(static_cast<short>(weight));
    for (; i < n; i += 8) {
        auto* at = reinterpret_cast<__m128i*>(counters + i);
        const __m128i before = _mm_loadu_si128(at);
        const auto some = static_cast<__mmask8>(bits[i / 64] >> (i % 64));
        _mm_storeu_si128(at, _mm_mask_add_epi16(before, some, before, step));
    }
#elif defined(__AVX2__)
    const __m128i bit_of = _mm_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128);
    const __m128i step = _mm_set1_epi16(static_cast<short>(weight));
    for (std::size_t i = 0; i < n; i += 8) {
        auto* at = reinterpret_cast<__m128i*>(counters + i);
        const __m128i some = _mm_set1_epi16(static_cast<short>(bits[i / 64] >> (i % 64) & 0xFF));
        const __m128i is_set = _mm_cmpeq_epi16(_mm_and_si128(some, bit_of), bit_of);
        _mm_storeu_si128(at, _mm_add_epi16(_mm_loadu_si128(at), _mm_and_si128(is_set, step)));
    }
#else
    add(counters, bits, n, weight);
#endif
}

void add32(std::uint32_t* counters, const std::uint64_t* bits, std::size_t n,
           std::uint64_t weight) {
#if defined(__AVX2__)
    const __m256i bit_of = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i step = _mm256_set1_epi32(static_cast<int>(weight));
    for (std::size_t i = 0; i < n; i += 8) {
        auto* at = reinterpret_cast<__m256i*>(counters + i);
        const __m256i some = _mm256_set1_epi32(static_cast<int>(bits[i / 64] >> (i % 64) & 0xFF));
        const __m256i is_set = _mm256_cmpeq_epi32(_mm256_and_si256(some, bit_of), bit_of);
        _mm256_storeu_si256(
            at, _mm256_add_epi32(_mm256_loadu_si256(at), _mm256_and_si256(is_set, step)));
    }
#else
    add(counters, bits, n, weight);
#endif
}

// A share is far below 2^51: added to 1.5 * 2^52 it is rounded to a whole number, half to even, which
// is then the low bits of the sum. Compilers make vectors of that, unlike of a conversion.
template <class Count>
void shares(std::int64_t* sums, const Count* counts, std::size_t n, double total) {
    const double rounder = 0x1.8p52;
    std::int64_t rounder_bits;
    memcpy(&rounder_bits, &rounder, 8);
    for (std::size_t k = 0; k < n; ++k) {
        const double share = static_cast<double>(counts[k]) / total * 0x1p40;
        const double rounded = share + rounder;
        std::int64_t bits;
        memcpy(&bits, &rounded, 8);
        sums[k] += bits - rounder_bits;
    }
}

template <std::size_t width>
void add_rows_of(std::int64_t* sums, const std::int64_t* table, const std::uint32_t* places,
                 std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        std::int64_t* to = sums + i * width;
        const std::int64_t* row = table + places[i] * width;
        for (std::size_t k = 0; k < width; ++k) to[k] += row[k];
    }
}

// Most rows are short, and the loop would cost more than the sums.
void add_rows(std::int64_t* sums, const std::int64_t* table, const std::uint32_t* places,
              std::size_t n, std::size_t width) {
    switch (width) {
        case 4:
            return add_rows_of<4>(sums, table, places, n);
        case 8:
            return add_rows_of<8>(sums, table, places, n);
        case 12:
            return add_rows_of<12>(sums, table, places, n);
        default:
            break;
    }
    for (std::size_t i = 0; i < n; ++i) {
        std::int64_t* to = sums + i * width;
        const std::int64_t* row = table + places[i] * width;
        for (std::size_t k = 0; k < width; k += 4)
            for (std::size_t j = k; j < k + 4; ++j) to[j] += row[j];
    }
}

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
            const __m256 found = _mm256_hsub_ps(first, second);
            _mm256_storeu_ps(values + d, _mm256_permutevar8x32_ps(found, order));
        }
    }
#endif
    for (; d < n; ++d) values[d] = depth_difference(pairs[d], p);
}

#if !defined(__AVX2__)
// Sixteen bytes, each 0 or 1, as bits. The comparisons before it are done side by side on any machine.
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

// Some features hardly vary: where all thresholds are the same, one sum will do. To look for any repeats took
// longer than their sums.
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

extern const Kernels RIPARIAN_JOIN(RIPARIAN_KERNELS, _kernels);
const Kernels RIPARIAN_JOIN(RIPARIAN_KERNELS, _kernels) = {
    RIPARIAN_NAME(RIPARIAN_KERNELS),
    left_bits,
    mixed_bits,
    row_bits,
    split_point_bits,
    mixed_row_bits,
    add8,
    add16,
    add32,
    add<std::uint64_t>,
    follow_few,
    start_few,
    find_valid,
    sum_kept,
    add_terms,
    finish_terms,
    best_of_few,
    shares<std::uint8_t>,
    shares<std::uint16_t>,
    shares<std::uint32_t>,
    shares<std::uint64_t>,
    add_rows,
    keys,
    depth_differences,
    count_left,
    last_of_equals,
    sum_terms,
    left_words,
    count_both,
    places_among,
};

}  // namespace riparian
