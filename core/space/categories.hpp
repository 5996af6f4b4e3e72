// R22: splits in a categorical column. A threshold of 0 or more is a code, and what equals it goes
// left. A threshold below zero is a half: a random half of all codes, by a hash of each. NaN goes
// right in both cases.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "draws.hpp"

namespace riparian {

// The kinds of splits in a tree. Each kind includes those before it.
enum class Asks : std::uint8_t { numbers, categories, halves };

inline constexpr std::size_t halves_of_key = 64;         // one for each bit of a hash
inline constexpr std::size_t halves_of_split_point = 4;  // besides its category,
inline constexpr float first_code_with_halves = 32;      // if that is not among the first

// Returns the number itself, if it is a whole one below 2^24. It has no branch and is defined for
// all floats.
inline std::uint64_t whole(float number) {
    return std::bit_cast<std::uint64_t>(static_cast<double>(number) + 0x1p52) & 0xffffff;
}

// Returns the key, of 18 bits, of the halves that a look has in a column; `draws` is the key of the
// draws of the look (R13).
constexpr std::uint64_t key_of_halves(std::uint64_t draws, std::uint32_t column) {
    return fold(draws, std::uint64_t{1} << 63 | column) >> 46;
}

// Returns half b of a key as a threshold, which is exact in float32.
inline float half_threshold(std::uint64_t key, std::size_t b) {
    return -1.0f - static_cast<float>(key * halves_of_key + b);
}

// Bit b says whether half b of the key sends this code left. The code must not be NaN.
inline std::uint64_t sides_of_code(std::uint64_t key, float code) {
    return fold(0, key << 24 | whole(code));
}

// The code must not be NaN. The result is meaningless if the threshold is not a half.
inline std::uint32_t is_in_half(float code, float threshold) {
    const std::uint64_t half = whole(-1.0f - threshold);
    return sides_of_code(half / halves_of_key, code) >> half % halves_of_key & 1;
}

// Returns whether a code goes right at a split in a categorical column.
inline bool category_goes_left(float code, float threshold) {
    if (!(threshold < 0)) return code == threshold;
    return code == code && is_in_half(code, threshold);
}

}  // namespace riparian
