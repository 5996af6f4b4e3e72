// The rows of a tile as columns of integers in the order of the values. With them, many points go
// down a tree side by side, without special cases for NaN or for leaves.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/kernels.hpp"
#include "space/columns.hpp"

namespace riparian {

class KeyColumns {
public:
    // Points go down in groups of this size; the last group is padded.
    static constexpr std::size_t group = 8;
    // Transposing pays only if enough trees read the columns, and a place must fit into four bytes.
    static bool is_worth(std::size_t columns, std::size_t n_trees) {
        return columns > 0 && columns <= 32 * n_trees && columns <= 1 << 16;
    }

    explicit KeyColumns(const Matrix& rows)
        : stride_(whole_groups(rows.size()) + skew),
          keys_(std::make_unique_for_overwrite<std::uint32_t[]>(stride_ * rows.columns())) {
        kernels().keys(rows.point(0), rows.size(), rows.columns(), keys_.get(), stride_);
        for (std::size_t d = 0; d < rows.columns(); ++d)
            std::fill(keys_.get() + d * stride_ + rows.size(), keys_.get() + (d + 1) * stride_, 0);
    }

    static std::size_t whole_groups(std::size_t n) { return (n + group - 1) / group * group; }
    std::size_t stride() const { return stride_; }  // the distance from a column to the next
    const std::uint32_t* from(std::size_t point) const { return keys_.get() + point; }

private:
    // Columns whose distance is a power of two would compete for the same cache lines.
    static constexpr std::size_t skew = 16;

    std::size_t stride_;
    std::unique_ptr<std::uint32_t[]> keys_;
};

}  // namespace riparian
