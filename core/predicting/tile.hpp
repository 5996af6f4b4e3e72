// Many points on their way through tree after tree, with what is worked out once for all of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "predicting/answers.hpp"
#include "predicting/key_columns.hpp"
#include "predicting/key_tree.hpp"

namespace riparian {

template <class Space>
class Tile {
public:
    using Batch = typename Space::Batch;

    Tile(const Batch& points, std::size_t n_trees) : points_(points), n_trees_(n_trees) {}

    std::size_t size() const { return points_.size(); }

    // The leaf of each point, until the next call.
    template <class Tree>
    const std::uint32_t* leaves(const Tree& tree) {
        leaves_.resize(KeyColumns::whole_groups(size()));
        route(tree);
        for (std::size_t i = 0; i < size(); ++i) leaves_[i] = tree.leaf_at(leaves_[i]);
        return leaves_.data();
    }

    Answers answers;  // of one tree after the other

private:
    template <class Tree>
    void route(const Tree& tree) {
        if constexpr (Space::columns)
            if (tree.asks_numbers() && KeyColumns::is_worth(points_.columns(), n_trees_)) {
                if (!keys_) keys_.emplace(points_);
                tree.lay_out(laid_out_, keys_->stride());
                laid_out_.route(*keys_, size(), leaves_.data());
                return;
            }
        typename Tree::Lanes at;
        for (std::size_t first = 0; first < size(); first += at.size()) {
            const std::size_t n = std::min(at.size(), size() - first);
            tree.route(points_, first, n, at);
            std::copy_n(at.begin(), n, leaves_.data() + first);
        }
    }

    Batch points_;
    std::size_t n_trees_;
    std::vector<std::uint32_t> leaves_;
    std::optional<KeyColumns> keys_;
    KeyTree laid_out_;
};

}  // namespace riparian
