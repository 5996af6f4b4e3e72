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

// The points, for all threads.
template <class Space>
struct Tile {
    using Batch = typename Space::Batch;

    Batch points;
    std::optional<KeyColumns> keys = std::nullopt;  // the same, if that is worth it

    std::size_t size() const { return points.size(); }
    void make_keys(std::size_t n_trees) {
        if constexpr (Space::columns)
            if (KeyColumns::is_worth(points.columns(), n_trees)) keys.emplace(points);
    }
};

// What one thread has of them: the sums over its trees, and room for the next one.
template <class Space>
class TilePart {
public:
    std::vector<std::int64_t> sums;  // a row per point
    Answers answers;                 // of one tree after the other

    TilePart(const Tile<Space>& tile, std::size_t width) : sums(tile.size() * width), tile_(&tile) {}

    // The leaf of each point, until the next call.
    template <class Tree>
    const std::uint32_t* leaves(const Tree& tree) {
        leaves_.resize(KeyColumns::whole_groups(tile_->size()));
        route(tree);
        for (std::size_t i = 0; i < tile_->size(); ++i) leaves_[i] = tree.leaf_at(leaves_[i]);
        return leaves_.data();
    }

private:
    template <class Tree>
    void route(const Tree& tree) {
        if constexpr (Space::columns)
            if (tile_->keys && tree.asks_numbers()) {
                tree.lay_out(laid_out_, tile_->keys->stride());
                laid_out_.route(*tile_->keys, tile_->size(), leaves_.data());
                return;
            }
        typename Tree::Lanes at;
        for (std::size_t first = 0; first < tile_->size(); first += at.size()) {
            const std::size_t n = std::min(at.size(), tile_->size() - first);
            tree.route(tile_->points, first, n, at);
            std::copy_n(at.begin(), n, leaves_.data() + first);
        }
    }

    const Tile<Space>* tile_;
    std::vector<std::uint32_t> leaves_;
    KeyTree laid_out_;
};

}  // namespace riparian
