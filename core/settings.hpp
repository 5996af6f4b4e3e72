// What the trees of every rule are told before the first point. The rules add their own.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace riparian {

class KeyColumns;

struct Nothing {};

inline constexpr std::uint64_t unbounded = std::numeric_limits<std::uint64_t>::max();

// All of it was checked at the Python door.
struct TreeSettings {
    std::uint64_t seed = 0;
    std::uint32_t split_points = 0;  // m
    double min_gain = 0;             // τ
};

// What a tree needs at hand to learn a point, beside itself.
template <class Space, class Rule>
struct Context {
    const typename Rule::Settings& settings;
    const Space& space;
    const std::vector<std::uint32_t>& rank;  // of each class that has arrived, in the public order
    const typename Rule::template Shared<Space>& shared;  // what all trees read
    typename Rule::template Scratch<Space>& scratch;
    const KeyColumns* keys = nullptr;  // of the points of the block, if trees may go by them
    std::uint64_t received = 0;  // points of the stream, the arriving one included
};

}  // namespace riparian
