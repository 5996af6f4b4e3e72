// A few rows at a time, stored by columns, and their sums.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "explain/plain_trees.hpp"

namespace riparian::explain {

// The columns of some rows. A test of a path is applied to all of them at once.
class Tile {
public:
    // If `weights` is null, all weights are 1.
    explicit Tile(const Rows& rows, const double* weights = nullptr)
        : rows_(rows.count), values_(rows.count * rows.width), weights_(rows.count, 1.0) {
        if (weights) std::copy_n(weights, rows.count, weights_.begin());
        for (std::size_t row = 0; row < rows.count; ++row)
            for (std::size_t column = 0; column < rows.width; ++column)
                values_[column * rows.count + row] = rows[row][column];
    }

    std::size_t rows() const { return rows_; }
    const float* column(std::size_t feature) const { return values_.data() + feature * rows_; }
    double weight(std::size_t row) const { return weights_[row]; }
    double total() const { return std::accumulate(weights_.begin(), weights_.end(), 0.0); }

private:
    std::size_t rows_;
    std::vector<float> values_;
    std::vector<double> weights_;  // how many rows each of them represents
};

// The contributions of a tile: by features, classes and rows.
class TileSums {
public:
    TileSums(const PlainTrees& trees, std::size_t rows)
        : trees_(trees), rows_(rows), sums_(trees.n_features * trees.n_classes * rows) {}

    // Adds times[kind[row]] times the answer of the leaf to every row.
    void add(std::int64_t leaf, std::size_t feature, const double* times,
             const std::uint32_t* kind) {
        for (auto i = trees_.value_begin[leaf]; i < trees_.value_begin[leaf + 1]; ++i) {
            const std::size_t place =
                feature * trees_.n_classes + static_cast<std::size_t>(trees_.value_class[i]);
            double* sums = sums_.data() + place * rows_;
            const double value = trees_.value[i];
            for (std::size_t row = 0; row < rows_; ++row) sums[row] += value * times[kind[row]];
        }
    }

    // Writes the sums by rows, features and classes.
    void copy(double* out) const {
        const std::size_t places = trees_.n_features * trees_.n_classes;
        for (std::size_t row = 0; row < rows_; ++row)
            for (std::size_t place = 0; place < places; ++place)
                out[row * places + place] = sums_[place * rows_ + row];
    }

private:
    const PlainTrees& trees_;
    std::size_t rows_;
    std::vector<double> sums_;
};

}  // namespace riparian::explain
