// Heads: a tree can answer from its leaf or from larger cells above it (R25). What every target has
// of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace riparian {

// k_j: the votes that a cell must hold for head j to answer from it.
inline constexpr std::array<std::uint64_t, 5> head_sizes{1, 4, 16, 64, 256};
inline constexpr std::size_t n_heads = head_sizes.size();

template <class T>
using PerHead = std::array<T, n_heads>;

inline constexpr double head_share = 0x1p28;  // the units of a share

// What is known of a head, after a point to whose class it has given this share.
inline double faded(double evidence, double share) {
    return 0.999 * evidence - 2.0 * ((1.0 - share) * (1.0 - share));
}

}  // namespace riparian
