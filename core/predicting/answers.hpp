// What the leaves of a tree answer, each worked out once for all points of a tile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/kernels.hpp"

namespace riparian {

// A row of numbers per leaf, to be added to the sums of its points.
class Answers {
public:
    // add(leaf, row) for each leaf, row being zeros. `width` is a multiple of four.
    template <class Add>
    void work_out(std::size_t n_leaves, std::size_t width, Add&& add) {
        width_ = width;
        rows_.assign(n_leaves * width, 0);
        for (std::uint32_t leaf = 0; leaf < n_leaves; ++leaf)
            add(leaf, rows_.data() + leaf * width);
    }

    // sums[i * width + k] += number k of leaf leaves[i], i < n.
    void add_to(std::int64_t* sums, const std::uint32_t* leaves, std::size_t n) const {
        kernels().add_rows(sums, rows_.data(), leaves, n, width_);
    }

private:
    std::size_t width_ = 0;
    std::vector<std::int64_t> rows_;
};

}  // namespace riparian
