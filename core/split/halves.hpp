// R22: the points that the halves of one key send left, as a row of bits for each half. Each point
// is hashed once for all halves.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "space/categories.hpp"

namespace riparian {

class PointsOfHalves {
public:
    // Computes the first `halves` halves of the key for n points.
    void set(std::uint64_t key, std::size_t halves, const float* codes, std::size_t n) {
        words_ = (n + 63) / 64;
        rows_.resize(halves * words_);
        for (std::size_t w = 0; w < words_; ++w) {
            const std::size_t points = std::min<std::size_t>(64, n - 64 * w);
            const std::size_t side = std::bit_ceil(points);
            std::array<std::uint64_t, 64> block;
            for (std::size_t i = 0; i < points; ++i) {
                const float code = codes[64 * w + i];
                block[i] = code == code ? sides_of_code(key, code) : 0;
            }
            std::fill(block.begin() + points, block.begin() + side, 0);
            transpose(block, side);
            const std::uint64_t first = ~std::uint64_t{0} >> (64 - side);
            for (std::size_t b = 0; b < halves; ++b)
                rows_[b * words_ + w] = block[b % side] >> (b - b % side) & first;
        }
    }

    const std::uint64_t* left(std::size_t half) const { return rows_.data() + half * words_; }
    std::uint64_t count_left(std::size_t half) const {
        int count = 0;
        for (std::size_t w = 0; w < words_; ++w) count += std::popcount(left(half)[w]);
        return static_cast<std::uint64_t>(count);
    }
    bool is_left(std::size_t half, std::size_t point) const {
        return left(half)[point / 64] >> point % 64 & 1;
    }

private:
    // Transposes squares of bits in the first `side` words, a power of two: in each square, bit c
    // of word r becomes bit r of word c. It swaps parts of ever smaller squares.
    static void transpose(std::array<std::uint64_t, 64>& words, std::size_t side) {
        for (std::size_t j = side / 2; j > 0; j /= 2) {
            const std::uint64_t low = ~std::uint64_t{0} / ((std::uint64_t{1} << j) + 1);
            for (std::size_t k = 0; k < side; k = (k + j + 1) & ~j) {
                const std::uint64_t other = (words[k] >> j ^ words[k + j]) & low;
                words[k] ^= other << j;
                words[k + j] ^= other;
            }
        }
    }

    std::size_t words_ = 0;            // words per row
    std::vector<std::uint64_t> rows_;  // one row per half
};

}  // namespace riparian
