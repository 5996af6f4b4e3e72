// The votes in every node of an eager tree (R24), since heads answer from inner nodes, too (R25).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/hot.hpp"
#include "memory/array.hpp"
#include "memory/pool.hpp"

namespace riparian {

// Siblings lie together, with what is known of their parent: a climb reads one cache line per
// level.
template <class Statistics>
class NodeVotes {
public:
    // Of both children of a node. The root has a pair for itself.
    struct Pair {
        Statistics above;                          // of the parent, which is an inner node
        std::array<std::uint64_t, 2> points = {};  // that have voted, whatever their weights
        std::uint32_t parent = 0;
    };

    const Pair& around(std::uint32_t node) const { return pairs_[pair_of(node)]; }
    Pair& around(std::uint32_t node) { return pairs_[pair_of(node)]; }
    std::uint64_t points(std::uint32_t node) const { return around(node).points[node % 2]; }
    std::uint64_t& points(std::uint32_t node) { return around(node).points[node % 2]; }
    std::uint32_t parent(std::uint32_t node) const { return around(node).parent; }

    void plant() { pairs_.push_back({}); }
    // Adds the children of a node, which keeps the statistics of its leaf.
    Pair& split(std::uint32_t node, const Statistics& leaf) {
        Pair& pair = pairs_.emplace_back();
        pair.above = leaf;
        pair.parent = node;
        return pair;
    }
    void clear(Pool& pool) {
        for (Pair& pair : pairs_) pair.above.release(pool);
        pairs_.restart();
    }
    void resize(std::size_t nodes) { pairs_.resize(pair_of(nodes)); }
    void trim() { pairs_.trim(); }
    void move_to(Pool& pool) {
        for (Pair& pair : pairs_) pair.above.move_to(pool);
    }
    void prefetch(std::uint32_t node) const { riparian::prefetch(&around(node), sizeof(Pair)); }

    // What a budget charges for this many nodes: 48 bytes each, as when each had statistics of its
    // own, so that a budget gives the same forest.
    static std::size_t charge(std::size_t nodes) {
        return Array<std::array<std::byte, 48>>::bytes(nodes);
    }

private:
    // Children are numbered in pairs, after the root.
    static std::size_t pair_of(std::size_t node) { return (node + 1) / 2; }

    Array<Pair> pairs_;
};

}  // namespace riparian
