// The neighbours of many points in all trees (R28). Points in the same cell share them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace riparian {

template <class Target>
class TileNeighbours {
public:
    TileNeighbours(std::size_t points, std::size_t trees)
        : points_(points), trees_(trees), cells_of_points_(points * trees) {}

    // As many points as keep this within some megabytes.
    static std::size_t most_points(std::size_t trees) {
        return std::clamp<std::size_t>((1 << 17) / std::max<std::size_t>(trees, 1), 64, 4096);
    }

    void begin_tree() { cells_.clear(); }
    // read(neighbours) adds those in a cell.
    template <class Read>
    void add_cell(Read&& read) {
        neighbours_.clear();
        read(neighbours_);
        const auto first = static_cast<std::uint32_t>(parts_.size());
        neighbours_.append_to(parts_);
        cells_.push_back({first, static_cast<std::uint32_t>(parts_.size()) - first});
    }
    // Sets the cell of each point in a tree, by its place among those added.
    void set(std::size_t tree, const std::uint32_t* places) {
        for (std::size_t i = 0; i < points_; ++i)
            cells_of_points_[i * trees_ + tree] = cells_[places[i]];
    }
    // The same, where each point has a cell of its own.
    void set(std::size_t tree) {
        for (std::size_t i = 0; i < points_; ++i) cells_of_points_[i * trees_ + tree] = cells_[i];
    }

    // Sets the distribution near a point.
    template <class Distribution>
    void distribute(std::size_t point, Distribution& distribution) const {
        distribution.clear();
        for (std::size_t tree = 0; tree < trees_; ++tree) {
            const Cell& cell = cells_of_points_[point * trees_ + tree];
            distribution.add({parts_.data() + cell.first, cell.count});
        }
    }

private:
    struct Cell {
        std::uint32_t first, count;  // among the parts
    };

    std::size_t points_, trees_;
    typename Target::Intervals::Neighbours neighbours_;
    std::vector<typename Target::Intervals::Part> parts_;
    std::vector<Cell> cells_;            // of a tree
    std::vector<Cell> cells_of_points_;  // of all trees, point after point
};

}  // namespace riparian
