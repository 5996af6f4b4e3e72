// The columns of a matrix as a feature space.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "draws.hpp"
#include "kernels/hot.hpp"
#include "shuffle.hpp"
#include "space/categories.hpp"
#include "space/feature_space.hpp"

namespace riparian {

// Rows of a matrix in C order.
class Matrix {
public:
    Matrix(const float* data, std::size_t rows, std::size_t columns)
        : data_(data), rows_(rows), columns_(columns) {}

    std::size_t size() const { return rows_; }
    std::size_t columns() const { return columns_; }
    const float* point(std::size_t row) const { return data_ + row * columns_; }

    Matrix slice(std::size_t first, std::size_t count) const {
        return {data_ + first * columns_, count, columns_};
    }

private:
    const float* data_;
    std::size_t rows_;
    std::size_t columns_;
};

// Axis-aligned: feature d of a point is its d-th coordinate. Some columns may be categorical (R22).
class Columns {
public:
    // There are finitely many features, and each has a number.
    static constexpr bool columns = true;
    using Feature = std::uint32_t;  // a column; the top bit is set if it is categorical
    using Point = const float*;
    using Batch = Matrix;

    // There are fewer than 2^31 columns; `categorical` lists some of them.
    Columns(std::uint32_t n_dims, const HowMany& candidates,
            std::vector<std::uint32_t> categorical = {})
        : n_dims_(n_dims), candidates_(candidates), categorical_(std::move(categorical)) {
        std::sort(categorical_.begin(), categorical_.end());
    }

    static std::uint32_t column(Feature feature) { return feature & ~categorical_bit; }
    static bool equals(Feature feature) { return feature >> 31; }
    static float value(Feature feature, Point x) { return x[column(feature)]; }
    RIPARIAN_HOT static void project(const Feature* dims, std::size_t n, Point x, float* values) {
        for (std::size_t d = 0; d < n; ++d) values[d] = x[column(dims[d])];
    }

    // Without a branch.
    template <Asks asks>
    static std::uint32_t goes_right(Feature feature, float threshold, Point x) {
        if constexpr (asks == Asks::numbers) return !(x[feature] <= threshold);
        const float v = value(feature, x);
        const std::uint32_t right =
            static_cast<std::uint32_t>(!(v <= threshold)) | (feature >> 31 & (v < threshold));
        if constexpr (asks == Asks::categories) return right;
        // Every code is above the threshold of a half, so `right` is true for all of them so far.
        const std::uint32_t is_half = feature >> 31 & (threshold < 0) & (v == v);
        return right & ~(is_half & is_in_half(v, threshold));
    }

    // Saved arrays have plain column numbers.
    static Feature saved(Feature feature) { return column(feature); }
    Feature restored(Feature column) const {
        const bool is_one = std::binary_search(categorical_.begin(), categorical_.end(), column);
        return is_one ? column | categorical_bit : column;
    }

    // R2: min(1 + Poisson(λ), D) distinct dimensions.
    void draw(Draws& draws, Shuffle& shuffle, std::vector<Feature>& drawn) const {
        const std::uint64_t wanted = candidates_.draw(draws);
        const auto count = static_cast<std::uint32_t>(wanted < n_dims_ ? wanted : n_dims_);
        shuffle.draw(draws, n_dims_, count, drawn);
        if (!categorical_.empty())
            for (Feature& feature : drawn) feature = restored(feature);
    }

    std::uint32_t n_dims() const { return n_dims_; }

private:
    static constexpr Feature categorical_bit = Feature{1} << 31;

    std::uint32_t n_dims_;  // D at present
    HowMany candidates_;
    std::vector<std::uint32_t> categorical_;  // columns, ascending
};

static_assert(FeatureSpace<Columns>);

}  // namespace riparian
