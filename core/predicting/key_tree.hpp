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

namespace riparian {

class KeyTree {
public:
    // Anew; `nodes` of a tree whose splits ask numbers, for columns so far apart.
    template <class Nodes>
    void lay_out(const Nodes& nodes, std::size_t stride) {
        tests_.resize(nodes.size());
        children_.resize(nodes.size());
        // Without a branch, and in plain pointers, several nodes are laid out at once.
        const auto width = static_cast<std::uint32_t>(stride);
        const auto* node = nodes.data();
        Test* test = tests_.data();
        std::uint32_t* child = children_.data();
        for (std::size_t i = 0, n = nodes.size(); i < n; ++i) {
            // A leaf is its own left child, and no key is above the largest: who is there stays.
            const std::uint32_t leaf = node[i].inner() ? 0 : largest_key;
            test[i] = {key_of_threshold(node[i].threshold) | leaf, node[i].feature * width & ~leaf};
            child[i] = node[i].child;
        }
    }

    // The node number of the leaf of each of `count` points from `first` on, of whole groups of points.
    void route(const KeyColumns& points, std::size_t first, std::size_t count,
               std::uint32_t* out) const {
        for (std::size_t i = 0; i < count; i += group)
            route_together(points.from(first + i), out + i);
    }

private:
    static constexpr std::size_t group = KeyColumns::group;

    struct Test {
        std::uint32_t key, column;
    };

    // As `Tree::route_together`, with half the instructions.
    RIPARIAN_HOT void route_together(const std::uint32_t* keys, std::uint32_t* out) const {
        const Test* tests = tests_.data();
        const std::uint32_t* children = children_.data();
        std::array<std::uint32_t, group> at{};
        const auto step = [&](std::size_t i) {
            const Test& test = tests[at[i]];
            return children[at[i]] + (test.key < keys[test.column + i]);
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
    }

    std::vector<Test> tests_;
    std::vector<std::uint32_t> children_;
};

}  // namespace riparian
