// Routes many points down a tree, by keys where there are keys and the tree is worth laying out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "predicting/key_columns.hpp"
#include "predicting/key_tree.hpp"
#include "predicting/stops.hpp"

namespace riparian {

// The results stay valid until the next call.
class Descent {
public:
    // Routes `count` points from `first` on. `keys` are those of the whole batch, or null.
    template <class Tree>
    void go_down(const Tree& tree, const typename Tree::Batch& batch, const KeyColumns* keys,
                 std::size_t first, std::size_t count) {
        nodes_.resize(KeyColumns::whole_groups(count));
        leaves_.resize(nodes_.size());
        route(tree, batch, keys, first, count);
    }

    // The same, but the results contain the number of each point's stop instead of its leaf.
    template <class Tree>
    void go_down(const Tree& tree, const typename Tree::Batch& batch, const KeyColumns* keys,
                 std::size_t count, const Stops& stops) {
        nodes_.resize(KeyColumns::whole_groups(count));
        leaves_.resize(nodes_.size());
        if constexpr (Tree::columns)
            if (keys && tree.asks_numbers()) {
                tree.lay_out(laid_out_, keys->stride(), stops);
                return laid_out_.route(*keys, 0, count, nodes_.data(), leaves_.data());
            }
        tree.route(batch, 0, count, nodes_.data());
        for (std::size_t i = 0; i < count; ++i) leaves_[i] = stops.at()[nodes_[i]];
    }

    const std::uint32_t* nodes() const { return nodes_.data(); }    // the node of each point's leaf
    const std::uint32_t* leaves() const { return leaves_.data(); }  // the leaf of each point

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

    // Laying out a node takes about as long as a few steps of a descent.
    template <class Tree>
    static bool pays(const Tree& tree, std::size_t count) {
        return tree.asks_numbers() && tree.n_leaves() <= 4 * count;
    }

    KeyTree laid_out_;
    std::vector<std::uint32_t> nodes_, leaves_;  // for whole groups of points
};

}  // namespace riparian
