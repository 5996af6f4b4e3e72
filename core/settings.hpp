// The settings that every rule's trees have, and what a tree needs to learn a point. Rules add
// their own settings.
#pragma once

#include <cstdint>
#include <limits>

namespace riparian {

class KeyColumns;

inline constexpr std::uint64_t unbounded = std::numeric_limits<std::uint64_t>::max();

// Python has validated all of them.
struct TreeSettings {
    std::uint64_t seed = 0;
    std::uint32_t split_points = 0;  // m
    double min_gain = 0;             // τ
};

// What a tree needs to learn a point, besides the tree itself.
template <class Space, class Rule, class Target>
struct Context {
    const typename Rule::Settings& settings;
    const Space& space;
    const typename Target::Order& order;  // what the forest knows about its labels
    const typename Rule::template Shared<Space, Target>& shared;  // what all trees read
    typename Rule::template Scratch<Space, Target>& scratch;
    const KeyColumns* keys = nullptr;  // keys of the points of the block, if trees may use them
    std::uint64_t received = 0;        // points of the stream, including the arriving one
};

}  // namespace riparian
