// A candidate of a leaf, by its number (see candidate_shape.hpp). This file contains no functions.
#pragma once

#include <cstddef>
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
    std::uint32_t number;  // 2^32-1 if none is valid
    std::int32_t g;        // G (R14)
    std::int32_t points;   // structure points that its split point has seen
};

// The best candidate of a look (R20).
template <class G>
struct LookChoice {
    std::uint32_t feature = 0;  // its place among the drawn features
    // Its place among the drawn split points; halves come after them.
    std::uint32_t split_point = 0;
    float threshold = 0;
    G g{};  // over all listed structure points
    double gain = 0;
};

// The best split of a few points.
struct BestOfPoints {
    std::size_t dimension;  // the largest number if none is valid
    std::size_t split_point;
    std::uint64_t sum;
};

// The same for numbers.
struct BestOfNumbers {
    std::size_t dimension;  // the largest number: none is valid
    std::size_t split_point;
    double saved;
};

}  // namespace riparian
