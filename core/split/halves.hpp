// R22: the points that the halves of one key send left, as a row of bits for each half. A point is hashed once
// for all of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "space/categories.hpp"

namespace riparian {

class PointsOfHalves {
public:
    // The first so many halves of the key, and n points.
    void set(std::uint64_t key, std::size_t halves, const float* codes, std::size_t n) {
        words_ = (n + 63) / 64;
        rows_.resize(halves * words_);
        for (std::size_t w = 0; w < words_; ++w) {
            std::array<std::uint64_t, 64> block{};
            for (std::size_t i = 0; i < std::min<std::size_t>(64, n - 64 * w); ++i) {
                const float code = codes[64 * w + i];
                block[i] = code == code ? sides_of_code(key, code) : 0;
            }
            transpose(block);
            for (std::size_t b = 0; b < halves; ++b) rows_[b * words_ + w] = block[b];
        }
    }

    std::size_t words() const { return words_; }
    const std::uint64_t* left(std::size_t half) const { return rows_.data() + half * words_; }
    bool is_left(std::size_t half, std::size_t point) const {
        return left(half)[point / 64] >> point % 64 & 1;
    }

private:
    // Bit c of word r becomes bit r of word c: halves of ever smaller blocks change places.
    static void transpose(std::array<std::uint64_t, 64>& words) {
        std::uint64_t low = 0xffffffff;
        for (std::size_t j = 32; j > 0; j /= 2, low ^= low << j)
            for (std::size_t k = 0; k < 64; k = (k + j + 1) & ~j) {
                const std::uint64_t other = (words[k] >> j ^ words[k + j]) & low;
                words[k] ^= other << j;
                words[k + j] ^= other;
            }
    }

    std::size_t words_ = 0;            // of a row
    std::vector<std::uint64_t> rows_;  // by half
};

}  // namespace riparian
