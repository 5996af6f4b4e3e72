// What a tree counts of itself.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

namespace riparian {

struct TreeTotals {
    std::uint64_t structure_points = 0, estimation_points = 0, ignored_points = 0;
    std::uint64_t should_splits = 0, must_splits = 0;
    std::uint64_t classes = 0;  // that have arrived; of numbers, the scale (R26)
    std::uint64_t activations = 0, refreshes = 0, evictions = 0;
    std::uint64_t stopped_at = 0;  // the point after which it stopped growing for want of memory
};

// In the order in which snapshots have them.
inline constexpr std::array<std::pair<const char*, std::uint64_t TreeTotals::*>, 10> total_names{{
    {"structure_points", &TreeTotals::structure_points},
    {"estimation_points", &TreeTotals::estimation_points},
    {"ignored_points", &TreeTotals::ignored_points},
    {"should_splits", &TreeTotals::should_splits},
    {"must_splits", &TreeTotals::must_splits},
    {"classes", &TreeTotals::classes},
    {"activations", &TreeTotals::activations},
    {"refreshes", &TreeTotals::refreshes},
    {"evictions", &TreeTotals::evictions},
    {"stopped_at", &TreeTotals::stopped_at},
}};

// What a tree knows of its size without a look at every leaf, which takes a while.
struct TreeSizes {
    std::uint64_t leaves = 0, active = 0;
    std::uint64_t node_bytes = 0, leaf_bytes = 0, fringe_bytes = 0;
};

inline constexpr std::array<std::pair<const char*, std::uint64_t TreeSizes::*>, 5> size_names{{
    {"leaves", &TreeSizes::leaves},
    {"active", &TreeSizes::active},
    {"node_bytes", &TreeSizes::node_bytes},
    {"leaf_bytes", &TreeSizes::leaf_bytes},
    {"fringe_bytes", &TreeSizes::fringe_bytes},
}};

// The totals, and what a tree holds at this moment.
struct TreeStats {
    TreeTotals totals;
    TreeSizes sizes;
    std::uint64_t young = 0, pure = 0, stuck = 0, depth = 0;
    std::uint64_t held_bytes = 0;  // by the pools, with blocks that wait to be used again
};

inline constexpr std::array<std::pair<const char*, std::uint64_t TreeStats::*>, 5> stat_names{{
    {"young", &TreeStats::young},
    {"pure", &TreeStats::pure},
    {"stuck", &TreeStats::stuck},
    {"depth", &TreeStats::depth},
    {"held_bytes", &TreeStats::held_bytes},
}};

}  // namespace riparian
