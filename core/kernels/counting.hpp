// Counters that grow where a bit is set. For kernels.cpp alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace riparian {
namespace {

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

// Sixty-four or thirty-two counters at once where the machine can; else, and for the rest, eight in
// one 64-bit word: no counter overflows, so no carry crosses over.
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

void count8(std::uint8_t* counters, const std::uint64_t* bits, std::size_t words,
            std::size_t points, std::size_t n) {
#if defined(__AVX512BW__)
    const __m512i one = _mm512_set1_epi8(1);
    for (std::size_t i = 0; i < n; i += 64, ++bits) {
        __m512i sum = _mm512_setzero_si512();
        for (std::size_t p = 0; p < points; ++p)
            sum = _mm512_mask_add_epi8(sum, bits[p * words], sum, one);
        const __mmask64 wanted = n - i < 64 ? (__mmask64{1} << (n - i)) - 1 : ~__mmask64{0};
        _mm512_mask_storeu_epi8(counters + i, wanted, sum);
    }
#else
    memset(counters, 0, n);
    for (std::size_t p = 0; p < points; ++p) add8(counters, bits + p * words, n, 1);
#endif
}

void count_rows8(std::uint8_t* rows, std::size_t n, const std::uint64_t* bits, std::size_t words,
                 const std::uint32_t* labels, std::size_t points) {
    for (std::size_t p = 0; p < points; ++p) add8(rows + labels[p] * n, bits + p * words, n, 1);
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

// Eight counters of two or of four bytes at once, and as many more as the machine can. Counters are
// stored whole: what a masked store wrote cannot be read at once.
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

}  // namespace
}  // namespace riparian
