// What the splits of a look save of the squared error (R26). For kernels.cpp alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include <math.h>

#include "counts/candidate.hpp"
#include "kernels/doubles.hpp"

namespace riparian {
namespace {

// As `saved_error`, where there are points on both sides.
inline Doubles saved_of(Doubles n, Doubles sum, Doubles left_n, Doubles left_sum) {
    const Doubles right_n = n - left_n;
    const Doubles difference = left_sum / left_n - (sum - left_sum) / right_n;
    return left_n * right_n / n * (difference * difference);
}

void saved_errors(double n, double sum, const double* left_n, const double* left_sums,
                  std::size_t m, double* saved) {
    for (std::size_t j = 0; j < m; ++j) {
        const double right_n = n - left_n[j];
        const double difference = left_sums[j] / left_n[j] - (sum - left_sums[j]) / right_n;
        const double its = left_n[j] * right_n / n * (difference * difference);
        const bool has_both = left_n[j] > 0.0 && right_n > 0.0;
        saved[j] = has_both ? its : 0.0;
    }
}

// Up to sixteen thresholds of several dimensions.
struct SomeNumbers {
    static constexpr std::size_t dimensions = 8;

    const float* values;
    std::size_t stride, n;
    const double* numbers;
    Doubles all_n, sum, least;
    double thresholds[dimensions][16];
};

// The best of each threshold so far, as its dimension.
template <std::size_t vectors>
struct BestOfThresholds {
    Doubles saved[vectors], dimension[vectors];
};

// Of dimensions d to d + together - 1, which do not wait for each other's sums.
template <std::size_t vectors, std::size_t together>
inline void try_dimensions(const SomeNumbers& some, std::size_t d, double number_of_first,
                           BestOfThresholds<vectors>& best) {
    Doubles thresholds[together][vectors], left[together][vectors], left_n[together][vectors];
    const Doubles zero = Doubles::all(0.0), one = Doubles::all(1.0);
    for (std::size_t k = 0; k < together; ++k)
        for (std::size_t v = 0; v < vectors; ++v) {
            thresholds[k][v] = Doubles::load(some.thresholds[d + k] + v * Doubles::width);
            left[k][v] = left_n[k][v] = zero;
        }
    const float* values = some.values + d * some.stride;
    for (std::size_t i = 0; i < some.n; ++i) {
        const Doubles number = Doubles::all(some.numbers[i]);
        for (std::size_t k = 0; k < together; ++k) {
            const Doubles value = Doubles::all(static_cast<double>(values[k * some.stride + i]));
            for (std::size_t v = 0; v < vectors; ++v) {
                const auto is_left = value <= thresholds[k][v];
                left[k][v].add_where(is_left, number);
                left_n[k][v].add_where(is_left, one);
            }
        }
    }
    for (std::size_t k = 0; k < together; ++k)
        for (std::size_t v = 0; v < vectors; ++v) {
            const Doubles saved = saved_of(some.all_n, some.sum, left_n[k][v], left[k][v]);
            const auto is_valid =
                Doubles::both(some.least <= left_n[k][v], some.least <= some.all_n - left_n[k][v]);
            const auto is_better = Doubles::both(is_valid, best.saved[v] <= saved);
            best.saved[v].replace_where(is_better, saved);
            best.dimension[v].replace_where(is_better,
                                            Doubles::all(number_of_first + static_cast<double>(k)));
        }
}

// `count` thresholds, from split point `first` on.
template <std::size_t vectors>
BestOfNumbers best_of_sixteen_numbers(SomeNumbers& some, std::size_t dims,
                                      const std::uint32_t* split_points, std::size_t count,
                                      std::size_t first) {
    constexpr std::size_t lanes = vectors * Doubles::width;
    BestOfThresholds<vectors> best;
    for (std::size_t v = 0; v < vectors; ++v) {
        best.saved[v] = Doubles::all(-INFINITY);
        best.dimension[v] = Doubles::all(-1.0);
    }
    const float* const values = some.values;
    for (std::size_t d = 0; d < dims; d += SomeNumbers::dimensions) {
        const std::size_t few =
            dims - d < SomeNumbers::dimensions ? dims - d : SomeNumbers::dimensions;
        some.values = values + d * some.stride;
        for (std::size_t k = 0; k < few; ++k)
            for (std::size_t j = 0; j < lanes; ++j)
                some.thresholds[k][j] =
                    j < count ? static_cast<double>(some.values[k * some.stride + split_points[j]])
                              : NAN;
        std::size_t k = 0;
        for (; k + 2 <= few; k += 2)
            try_dimensions<vectors, 2>(some, k, static_cast<double>(d + k), best);
        if (k < few) try_dimensions<vectors, 1>(some, k, static_cast<double>(d + k), best);
    }
    some.values = values;
    double saved[lanes], dimension[lanes];
    for (std::size_t v = 0; v < vectors; ++v) {
        best.saved[v].store(saved + v * Doubles::width);
        best.dimension[v].store(dimension + v * Doubles::width);
    }
    std::size_t j = 0;
    for (std::size_t other = 1; other < count; ++other) j = saved[other] >= saved[j] ? other : j;
    if (dimension[j] < 0.0) return {SIZE_MAX, 0, saved[j]};
    return {static_cast<std::size_t>(dimension[j]), first + j, saved[j]};
}

template <std::size_t vectors>
BestOfNumbers best_by_vectors(SomeNumbers& some, std::size_t dims,
                              const std::uint32_t* split_points, std::size_t count,
                              std::size_t first) {
    if constexpr (vectors > 1)
        if (count <= (vectors - 1) * Doubles::width)
            return best_by_vectors<vectors - 1>(some, dims, split_points, count, first);
    return best_of_sixteen_numbers<vectors>(some, dims, split_points, count, first);
}

BestOfNumbers best_of_numbers(const float* values, std::size_t stride, std::size_t dims,
                              std::size_t n, const std::uint32_t* split_points, std::size_t m,
                              const double* numbers, double sum, std::size_t least) {
    SomeNumbers some{values,
                     stride,
                     n,
                     numbers,
                     Doubles::all(static_cast<double>(n)),
                     Doubles::all(sum),
                     Doubles::all(static_cast<double>(least)),
                     {}};
    BestOfNumbers best{SIZE_MAX, 0, -INFINITY};
    for (std::size_t j = 0; j < m; j += 16) {
        const std::size_t count = m - j < 16 ? m - j : 16;
        const BestOfNumbers next =
            best_by_vectors<16 / Doubles::width>(some, dims, split_points + j, count, j);
        if (next.saved >= best.saved) best = next;
    }
    return best;
}

}  // namespace
}  // namespace riparian
