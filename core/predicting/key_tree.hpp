// A tree laid out for points that are keys. Its nodes have their own numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/hot.hpp"
#include "kernels/keys.hpp"
#include "predicting/key_columns.hpp"
#include "predicting/stops.hpp"

namespace riparian {

class KeyTree {
public:
    // Fills it from the nodes of a tree that splits by numbers. Columns are `stride` keys apart. A
    // node where rows stop is treated as a leaf, and its number takes the place of the leaf's.
    template <class Nodes>
    void lay_out(const Nodes& nodes, std::size_t stride, const std::vector<std::uint32_t>& stops) {
        lay_out(nodes, stride);
        for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
            nodes_[i].leaf = stops[i];
            if (stops[i] == Stops::none) continue;
            nodes_[i].column = 0;
            nodes_[i].key = largest_key;
            nodes_[i].child = i;
        }
    }
    template <class Nodes>
    void lay_out(const Nodes& nodes, std::size_t stride) {
        nodes_.resize(nodes.size());
        // Without branches and with plain pointers, several nodes are laid out in parallel.
        const auto width = static_cast<std::uint32_t>(stride);
        const auto* from = nodes.data();
        Node* to = nodes_.data();
        for (std::size_t i = 0, n = nodes.size(); i < n; ++i) {
            // A leaf is its own left child, and no key is above the largest, so a point that has
            // arrived stays.
            const std::uint32_t leaf = from[i].inner() ? 0 : largest_key;
            to[i].column = from[i].feature * width & ~leaf;
            to[i].key = key_of_threshold(from[i].threshold) | leaf;
            to[i].child = from[i].child;
            to[i].leaf = from[i].leaf;
        }
    }

    // Computes the node number of the leaf and the leaf of each of `count` points from `first` on,
    // for whole groups of points.
    void route(const KeyColumns& points, std::size_t first, std::size_t count, std::uint32_t* nodes,
               std::uint32_t* leaves) const {
        for (std::size_t i = 0; i < count; i += group)
            route_together(points.from(first + i), nodes + i, leaves + i);
    }

private:
    static constexpr std::size_t group = KeyColumns::group;

    // Numbered like those of a tree.
    struct Node {
        std::uint32_t column, key, child, leaf;
    };

    // Like `Tree::route_together`, with half as many instructions.
    RIPARIAN_HOT void route_together(const std::uint32_t* keys, std::uint32_t* out,
                                     std::uint32_t* leaves) const {
        const Node* nodes = nodes_.data();
        std::array<std::uint32_t, group> at{};
        const auto step = [&](std::size_t i) {
            const Node& node = nodes[at[i]];
            return node.child + (node.key < keys[node.column + i]);
        };
        std::uint32_t moving;
        do {
            moving = 0;
            for (std::size_t i = 0; i < group; ++i) at[i] = step(i);
            for (std::size_t i = 0; i < group; ++i) {
                const std::uint32_t next = step(i);
                moving |= next ^ at[i];
                at[i] = next;
            }
        } while (moving);
        std::copy_n(at.begin(), group, out);
        for (std::size_t i = 0; i < group; ++i) leaves[i] = nodes[at[i]].leaf;
    }

    std::vector<Node> nodes_;
};

}  // namespace riparian
