// The rows of a tile, column by column, as whole numbers in the order of their values: many points
// go down side by side without a special case for NaN or for a leaf.
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
    // Points go down in groups of this many; the last group is filled up.
    static constexpr std::size_t group = 8;
    // What is turned over once must be read by trees enough; and a place must fit four bytes.
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
    std::size_t stride() const { return stride_; }  // from a column to the next
    const std::uint32_t* from(std::size_t point) const { return keys_.get() + point; }

private:
    // Columns that lie a power of two apart would share their places in the cache.
    static constexpr std::size_t skew = 16;

    std::size_t stride_;
    std::unique_ptr<std::uint32_t[]> keys_;
};

}  // namespace riparian
