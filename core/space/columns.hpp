// The columns of a matrix as a feature space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "draws.hpp"
#include "kernels/hot.hpp"
#include "space/feature_space.hpp"

namespace riparian {

// Rows of a matrix in C order.
class Matrix {
public:
    Matrix(const float* data, std::size_t rows, std::size_t columns)
        : data_(data), rows_(rows), columns_(columns) {}

    std::size_t size() const { return rows_; }
    const float* point(std::size_t row) const { return data_ + row * columns_; }

    Matrix slice(std::size_t first, std::size_t count) const {
        return {data_ + first * columns_, count, columns_};
    }

private:
    const float* data_;
    std::size_t rows_;
    std::size_t columns_;
};

// Axis-aligned: feature d of a point is its d-th coordinate.
class Columns {
public:
    static constexpr bool columns = true;  // a feature is one of finitely many, and has a number
    using Feature = std::uint32_t;
    using Point = const float*;
    using Batch = Matrix;

    Columns(std::uint32_t n_dims, const HowMany& candidates)
        : n_dims_(n_dims), candidates_(candidates) {}

    static float value(Feature dim, Point x) { return x[dim]; }
    RIPARIAN_HOT static void project(const Feature* dims, std::size_t n, Point x, float* values) {
        for (std::size_t d = 0; d < n; ++d) values[d] = x[dims[d]];
    }

    // R2: min(1 + Poisson(λ), D) distinct dimensions, by a partial Fisher-Yates shuffle. Where few
    // are drawn of many, only the places that were swapped are kept.
    void draw(Draws& draws, std::vector<Feature>& drawn) const {
        const std::uint64_t wanted = candidates_.draw(draws);
        const auto count = static_cast<std::uint32_t>(wanted < n_dims_ ? wanted : n_dims_);
        drawn.clear();
        if (count < 64 && n_dims_ > 256)
            draw_few(draws, drawn, count);
        else
            draw_many(draws, drawn, count);
    }

    std::uint32_t n_dims() const { return n_dims_; }

private:
    void draw_many(Draws& draws, std::vector<Feature>& drawn, std::uint32_t count) const {
        drawn.resize(n_dims_);
        std::iota(drawn.begin(), drawn.end(), Feature{0});
        for (std::uint32_t i = 0; i < count; ++i)
            std::swap(drawn[i], drawn[i + draws.below(n_dims_ - i)]);
        drawn.resize(count);
    }

    void draw_few(Draws& draws, std::vector<Feature>& drawn, std::uint32_t count) const {
        std::vector<std::pair<std::uint64_t, Feature>> moved;  // place and what was swapped there
        const auto at = [&](std::uint64_t place) {
            for (auto m = moved.rbegin(); m != moved.rend(); ++m)
                if (m->first == place) return m->second;
            return static_cast<Feature>(place);
        };
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint64_t j = i + draws.below(n_dims_ - i);
            drawn.push_back(at(j));
            moved.emplace_back(j, at(i));
        }
    }

    std::uint32_t n_dims_;  // D, as of now
    HowMany candidates_;
};

static_assert(FeatureSpace<Columns>);

}  // namespace riparian
