// Compiled once for each instruction set, with RIPARIAN_KERNELS naming it. No header with code of
// its own is included: the linker would be free to keep the copy the oldest machine cannot run.
#include "kernels.hpp"

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

// The bits of one dimension, j < count <= 16, in the low bits of the result.
inline std::uint64_t left_of(float value, const float* thresholds, std::size_t count) {
#if defined(__AVX512F__)
    const __mmask16 wanted = static_cast<__mmask16>((1u << count) - 1u);
    const __m512 row = _mm512_maskz_loadu_ps(wanted, thresholds);
    return _mm512_mask_cmp_ps_mask(wanted, _mm512_set1_ps(value), row, _CMP_LE_OQ);
#elif defined(__AVX2__)
    const __m256 x = _mm256_set1_ps(value);
    const __m256 low = _mm256_cmp_ps(x, _mm256_loadu_ps(thresholds), _CMP_LE_OQ);
    const __m256 high = _mm256_cmp_ps(x, _mm256_loadu_ps(thresholds + 8), _CMP_LE_OQ);
    const unsigned bits = static_cast<unsigned>(_mm256_movemask_ps(low)) |
                          static_cast<unsigned>(_mm256_movemask_ps(high)) << 8;
    return bits & ((1u << count) - 1u);
#else
    std::uint64_t bits = 0;
    for (std::size_t j = 0; j < count; ++j)
        bits |= static_cast<std::uint64_t>(value <= thresholds[j]) << j;
    return bits;
#endif
}

void left_bits(const float* values, std::size_t dims, std::size_t m, const float* thresholds,
               std::uint64_t* bits) {
    std::uint64_t word = 0;
    std::size_t used = 0;  // bits of `word`
    for (std::size_t d = 0; d < dims; ++d) {
        for (std::size_t j = 0; j < m; j += 16) {
            const std::size_t count = m - j < 16 ? m - j : 16;
            const std::uint64_t found = left_of(values[d], thresholds + d * m + j, count);
            word |= found << used;
            used += count;
            if (used >= 64) {
                *bits++ = word;
                used -= 64;
                word = found >> (count - used);
            }
        }
    }
    if (used) *bits = word;
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

// Eight counters at once in one 64-bit word: no counter overflows, so no carry crosses over.
void add8(std::uint8_t* counters, const std::uint64_t* bits, std::size_t n, std::uint64_t weight) {
    for (std::size_t i = 0; i < n; i += 8) {
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

template <class Count>
void shares(double* sums, const Count* counts, std::size_t n, double total) {
    for (std::size_t k = 0; k < n; ++k) sums[k] += static_cast<double>(counts[k]) / total;
}

}  // namespace

extern const Kernels RIPARIAN_JOIN(RIPARIAN_KERNELS, _kernels);
const Kernels RIPARIAN_JOIN(RIPARIAN_KERNELS, _kernels) = {
    RIPARIAN_NAME(RIPARIAN_KERNELS),
    left_bits,
    add8,
    add<std::uint16_t>,
    add<std::uint32_t>,
    add<std::uint64_t>,
    shares<std::uint8_t>,
    shares<std::uint16_t>,
    shares<std::uint32_t>,
    shares<std::uint64_t>,
};

}  // namespace riparian
