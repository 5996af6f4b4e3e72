// The shares of a leaf, and their sums. For kernels.cpp alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace riparian {
namespace {

// A share is far below 2^51: added to 1.5 * 2^52 it is rounded to a whole number, half to even,
// which is then the low bits of the sum. Compilers make vectors of that, unlike of a conversion.
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

// A share in units of 2^-28 times a weight of up to 2^13 is exact in a double, too.
template <class Count>
void mixed_shares(std::int64_t* sums, const Count* counts, std::size_t n, double total,
                  double weight) {
    const double rounder = 0x1.8p52;
    std::int64_t rounder_bits;
    memcpy(&rounder_bits, &rounder, 8);
    for (std::size_t k = 0; k < n; ++k) {
        const double share = static_cast<double>(counts[k]) / total * 0x1p28;
        const double rounded = ((share + rounder) - rounder) * weight + rounder;
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

}  // namespace
}  // namespace riparian
