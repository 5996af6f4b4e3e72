// The targets of the structure points of a look (R20), and what a candidate saves by them (R26).
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "counts/streams.hpp"
#include "kernels/kernels.hpp"
#include "split/halves.hpp"
#include "split/thresholds.hpp"
#include "target/numbers/counts.hpp"
#include "target/numbers/statistics.hpp"

namespace riparian {

// Sums run over the points in their order, for several candidates at a time.
class NumberTally {
public:
    using G = double;  // the gain times the points

    static constexpr bool always_at_once = true;

    void set(std::span<const Number> labels, std::span<const Weight> weights) {
        points_ = labels.size();
        weighted_ = !weights.empty();
        numbers_ = labels;
        if (weighted_) {
            weights_.resize(points_);
            products_.resize(points_);
            for (std::size_t i = 0; i < points_; ++i) {
                weights_[i] = static_cast<double>(weights[i]);
                products_[i] = weights_[i] * labels[i];
            }
            numbers_ = products_;
        }
        double n = 0.0, sum = 0.0, squares = 0.0;
        for (std::size_t i = 0; i < points_; ++i) {
            n += weighted_ ? weights_[i] : 1.0;
            sum += numbers_[i];
            squares += numbers_[i] * labels[i];
        }
        n_ = n;
        sum_ = sum;
        error_ = squared_error(n, sum, squares);
    }

    std::size_t points() const { return points_; }

    // No split saves more than all of the error.
    bool can_succeed(double min_gain) const { return share_of_error(error_, error_) > min_gain; }
    double gain(G g) const { return share_of_error(g, error_); }

    // -- a search ---------------------------------------------------------------------------------

    // `above`: gains up to this will not do; those that are nearly as large are compared later.
    void begin(std::optional<double> above) {
        least_ =
            above ? *above * error_ * (1.0 - 0x1p-50) : -std::numeric_limits<double>::infinity();
    }
    std::partial_ordering compare(G g, G than) const { return g <=> than; }
    bool is_too_small(G g) const { return g < least_; }
    void expect(G g) { least_ = g; }

    bool evaluates_at_once() const { return true; }

    // The split point that saves the most, the last among equals; and what each saves. NaN as a
    // threshold saves 0, and is never valid.
    std::size_t evaluate_at_once(const float* values, std::span<const std::uint32_t> split_points,
                                 bool equal, G* saved) {
        const std::size_t m = split_points.size(), room = padded(m);
        make_room(thresholds_, room);
        for (auto* column : {&left_, &left_n_}) make_room(*column, room);
        for (std::size_t j = 0; j < m; ++j) thresholds_[j] = values[split_points[j]];
        pad(thresholds_.data(), m);
        kernels().sum_left(values, points_, thresholds_.data(), m, equal, numbers_.data(),
                           left_.data(), left_n_.data());
        if (weighted_) {
            make_room(left_points_, room);
            kernels().sum_left(values, points_, thresholds_.data(), m, equal, weights_.data(),
                               left_n_.data(), left_points_.data());
        }
        std::size_t best = 0;
        kernels().saved_errors(n_, sum_, left_n_.data(), left_.data(), m, saved);
        for (std::size_t j = 0; j < m; ++j) best = saved[j] >= saved[best] ? j : best;
        return best;
    }
    // Their values must not fill the caches.
    bool chooses_at_once(std::size_t features) const {
        return !weighted_ && features * padded(points_) <= most_values;
    }
    std::optional<LookChoice<G>> choose_at_once(const float* values, std::size_t stride,
                                                std::size_t features,
                                                std::span<const std::uint32_t> split_points,
                                                std::size_t least) const {
        const auto [feature, j, saved] =
            kernels().best_of_numbers(values, stride, features, points_, split_points.data(),
                                      split_points.size(), numbers_.data(), sum_, least);
        if (feature >= features) return std::nullopt;
        return LookChoice<G>{static_cast<std::uint32_t>(feature), static_cast<std::uint32_t>(j),
                             values[feature * stride + split_points[j]], saved, 0};
    }
    static G g_of_sum(G saved) { return saved; }

    std::optional<G> evaluate_half(const PointsOfHalves& points_of, std::size_t half) const {
        double left_n = 0.0, left = 0.0;
        for (std::size_t i = 0; i < points_; ++i) {
            const bool is_left = points_of.is_left(half, i);
            left_n += is_left ? (weighted_ ? weights_[i] : 1.0) : 0.0;
            left += is_left ? numbers_[i] : 0.0;
        }
        return saved_error(n_, sum_, left_n, left);
    }

private:
    static constexpr std::size_t most_values = 1 << 17;

    std::size_t points_ = 0;
    bool weighted_ = false;            // some point has another weight than 1
    std::span<const double> numbers_;  // k·z of each point
    std::vector<double> weights_, products_;
    double n_ = 0.0, sum_ = 0.0, error_ = 0.0;
    double least_ = 0.0;  // a candidate that saves less is not the best
    // Of each split point: its threshold, and what is left of it.
    std::vector<float> thresholds_;
    std::vector<double> left_, left_n_, left_points_;
};

}  // namespace riparian
