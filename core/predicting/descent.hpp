// Many points on their way down a tree: by keys, where there are any and that pays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "predicting/key_columns.hpp"
#include "predicting/key_tree.hpp"

namespace riparian {

class Descent {
public:
    // The node of the leaf of each of `count` points from `first` on, until the next call. `keys` are those of the
    // whole batch, or null.
    template <class Tree>
    std::uint32_t* go_down(const Tree& tree, const typename Tree::Batch& batch,
                           const KeyColumns* keys, std::size_t first, std::size_t count) {
        nodes_.resize(KeyColumns::whole_groups(count));
        if constexpr (Tree::columns)
            if (keys && pays(tree, count)) {
                tree.lay_out(laid_out_, keys->stride());
                laid_out_.route(*keys, first, count, nodes_.data());
                return nodes_.data();
            }
        tree.route(batch, first, count, nodes_.data());
        return nodes_.data();
    }

private:
    // To lay out a node takes about as long as a few steps down.
    template <class Tree>
    static bool pays(const Tree& tree, std::size_t count) {
        return tree.asks_numbers() && tree.n_leaves() <= 4 * count;
    }

    KeyTree laid_out_;
    std::vector<std::uint32_t> nodes_;
};

}  // namespace riparian
