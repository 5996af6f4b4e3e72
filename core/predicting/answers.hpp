// The answers of the leaves of a tree, each computed once for all points of a tile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/kernels.hpp"

namespace riparian {

// One row of numbers per leaf, which is added to the sums of the points in that leaf.
class Answers {
public:
    // Calls add(leaf, row) for each leaf, with a row of zeros. `width` is a multiple of four.
    template <class Add>
    void work_out(std::size_t n_leaves, std::size_t width, Add&& add) {
        width_ = width;
        rows_.assign(n_leaves * width, 0);
        for (std::uint32_t leaf = 0; leaf < n_leaves; ++leaf)
            add(leaf, rows_.data() + leaf * width);
    }

    // sums[i * width + k] += number k of leaf leaves[i], for i < n.
    void add_to(std::int64_t* sums, const std::uint32_t* leaves, std::size_t n) const {
        kernels().add_rows(sums, rows_.data(), leaves, n, width_);
    }

private:
    std::size_t width_ = 0;
    std::vector<std::int64_t> rows_;
};

}  // namespace riparian
