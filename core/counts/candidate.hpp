// A candidate of a leaf, by its number (see candidate_shape.hpp). This file has no code.
#pragma once

#include <cstdint>

namespace riparian {

struct Candidate {
    std::uint32_t number;
    std::uint32_t split_point;
};

// The best candidate, with its gain: as G of the target (R14), and as a number.
template <class G>
struct Choice {
    std::uint32_t candidate;
    G g;
    double gain;
};

// The best candidate of a leaf that has seen few points.
struct BestOfFew {
    std::uint32_t number;  // 2^32-1: none is valid
    std::int32_t g;        // G (R14)
    std::int32_t points;   // structure points that its split point has seen
};

}  // namespace riparian
