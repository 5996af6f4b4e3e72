// Many points on their way down a tree: by keys, where there are any and that pays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "predicting/key_columns.hpp"
#include "predicting/key_tree.hpp"

namespace riparian {

// What it tells of the points is there until others go down.
class Descent {
public:
    // `count` points from `first` on. `keys` are those of the whole batch, or null.
    template <class Tree>
    void go_down(const Tree& tree, const typename Tree::Batch& batch, const KeyColumns* keys,
                 std::size_t first, std::size_t count) {
        nodes_.resize(KeyColumns::whole_groups(count));
        leaves_.resize(nodes_.size());
        route(tree, batch, keys, first, count);
    }

    const std::uint32_t* nodes() const { return nodes_.data(); }  // of each point: the leaf's node,
    const std::uint32_t* leaves() const { return leaves_.data(); }  // and the leaf

private:
    template <class Tree>
    void route(const Tree& tree, const typename Tree::Batch& batch, const KeyColumns* keys,
               std::size_t first, std::size_t count) {
        if constexpr (Tree::columns)
            if (keys && pays(tree, count)) {
                tree.lay_out(laid_out_, keys->stride());
                return laid_out_.route(*keys, first, count, nodes_.data(), leaves_.data());
            }
        tree.route(batch, first, count, nodes_.data());
        for (std::size_t i = 0; i < count; ++i) leaves_[i] = tree.leaf_at(nodes_[i]);
    }

    // To lay out a node takes about as long as a few steps down.
    template <class Tree>
    static bool pays(const Tree& tree, std::size_t count) {
        return tree.asks_numbers() && tree.n_leaves() <= 4 * count;
    }

    KeyTree laid_out_;
    std::vector<std::uint32_t> nodes_, leaves_;  // of whole groups
};

}  // namespace riparian
