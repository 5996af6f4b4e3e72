// Which of the listed structure points become thresholds (R20).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "draws.hpp"

namespace riparian {

// m of n places, or all if they are fewer, in the order they are drawn: a partial Fisher-Yates shuffle.
// Where few are drawn of many, only the places that were swapped are kept.
inline void draw_split_points(Draws& draws, std::uint32_t n, std::uint32_t m,
                              std::vector<std::uint32_t>& drawn) {
    const std::uint32_t count = std::min(m, n);
    if (std::uint64_t{count} * count > 4 * std::uint64_t{n}) {
        drawn.resize(n);
        std::iota(drawn.begin(), drawn.end(), 0u);
        for (std::uint32_t i = 0; i < count; ++i)
            std::swap(drawn[i], drawn[i + draws.below(n - i)]);
    } else {
        drawn.resize(3 * std::size_t{count});
        std::uint32_t* place = drawn.data() + count;  // the i-th swap changed this place
        std::uint32_t* now = place + count;           // to hold this
        for (std::uint32_t i = 0; i < count; ++i) {
            const auto at = [&](std::uint32_t wanted) {
                for (std::uint32_t k = i; k-- > 0;)
                    if (place[k] == wanted) return now[k];
                return wanted;
            };
            const auto j = static_cast<std::uint32_t>(i + draws.below(n - i));
            drawn[i] = at(j);
            now[i] = at(i);
            place[i] = j;
        }
    }
    drawn.resize(count);
}

}  // namespace riparian
