// Many points that pass through tree after tree, with what is computed once for all trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "predicting/answers.hpp"
#include "predicting/descent.hpp"
#include "predicting/key_columns.hpp"
#include "predicting/stops.hpp"

namespace riparian {

// The points, shared by all threads.
template <class Space>
struct Tile {
    using Batch = typename Space::Batch;

    Batch points;
    std::optional<KeyColumns> keys = std::nullopt;  // the same points, if keys are worth it

    std::size_t size() const { return points.size(); }
    void make_keys(std::size_t n_trees) {
        if constexpr (Space::columns)
            if (KeyColumns::is_worth(points.columns(), n_trees)) keys.emplace(points);
    }
};

// The state of one thread: the sums over its trees, and memory for the next tree.
template <class Space>
class TilePart {
public:
    std::vector<std::int64_t> sums;  // one row per point
    Answers answers;                 // of the current tree

    TilePart(const Tile<Space>& tile, std::size_t width)
        : sums(tile.size() * width), tile_(&tile) {}

    Stops stops;  // stops of the current tree, where rows stop early

    // Returns the stop of each point, valid until the next call.
    template <class Tree>
    const std::uint32_t* stops_of_points(const Tree& tree) {
        const KeyColumns* keys = tile_->keys ? &*tile_->keys : nullptr;
        descent_.go_down(tree, tile_->points, keys, tile_->size(), stops);
        return descent_.leaves();
    }

    // Returns the leaf of each point, valid until the next call.
    template <class Tree>
    const std::uint32_t* leaves(const Tree& tree) {
        const KeyColumns* keys = tile_->keys ? &*tile_->keys : nullptr;
        descent_.go_down(tree, tile_->points, keys, 0, tile_->size());
        return descent_.leaves();
    }

private:
    const Tile<Space>* tile_;
    Descent descent_;
};

}  // namespace riparian
