// Many points on their way through tree after tree, with what is worked out once for all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "predicting/answers.hpp"
#include "predicting/descent.hpp"
#include "predicting/key_columns.hpp"

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

    TilePart(const Tile<Space>& tile, std::size_t width)
        : sums(tile.size() * width), tile_(&tile) {}

    // The leaf of each point, until the next call.
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
