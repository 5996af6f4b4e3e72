// A candidate of a leaf by its number (see candidate_shape.hpp). Nothing here has code.
#pragma once

#include <cstdint>

namespace riparian {

struct Candidate {
    std::uint32_t number;
    std::uint32_t split_point;
};

// The best of them, with what it gains: G as a target has it (R14), and as a number.
template <class G>
struct Choice {
    std::uint32_t candidate;
    G g;
    double gain;
};

// The best of them in a leaf that has seen few points.
struct BestOfFew {
    std::uint32_t number;  // 2^32-1: none is valid
    std::int32_t g;        // G (R14)
    std::int32_t points;   // structure points that its split point has seen
};

}  // namespace riparian
