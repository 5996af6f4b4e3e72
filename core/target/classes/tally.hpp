// The classes of the structure points that a leaf lists, and the information gain of a look's
// candidates (R14, R20).
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "counts/streams.hpp"
#include "kernels/kernels.hpp"
#include "split/halves.hpp"
#include "split/thresholds.hpp"
#include "target/classes/entropy.hpp"
#include "target/classes/labels.hpp"

namespace riparian {

// Each class that occurs has a place, unless its total weight is 1: F(0) = F(1) = 0, so such a
// class adds nothing to G, whichever way its point goes. All of those share the place after the
// last.
class ClassTally {
public:
    using G = std::uint64_t;  // R14

    // No weights: all 1. Labels and weights must outlive the tally.
    void set(std::span<const Class> labels, std::span<const Weight> weights) {
        labels_ = labels;
        weights_ = weights;
        weight_ = labels.size();
        if (weights.empty())
            count([](std::size_t) { return Weight{1}; });
        else
            weigh();
        sum_entropy();
    }

    std::size_t points() const { return labels_.size(); }

    // R20: a look is passed over where not even a split that told all classes apart would have a
    // gain above τ; nothing is drawn for it.
    bool can_succeed(double min_gain) const { return gain(entropy_) > min_gain; }
    double gain(G g) const { return riparian::gain(g, weight_); }

    // -- a search ---------------------------------------------------------------------------------

    // `above`: gains up to this will not do.
    void begin(std::optional<double> above) {
        masks_.clear();
        starts_.clear();
        exact_ = weight_ <= most_points_exact;
        least_ = exact_ && above ? least_g(*above, weight_) : lowest;
    }

    // Which gain is larger.
    std::partial_ordering compare(G g, G than) const {
        if (exact_) return static_cast<std::int64_t>(g) <=> static_cast<std::int64_t>(than);
        return gain(g) <=> gain(than);
    }
    // It is not the best, as far as G alone tells.
    bool is_too_small(G g) const { return exact_ && static_cast<std::int64_t>(g) < least_; }
    // There is a valid candidate of this G: less will not do any more.
    void expect(G g) {
        if (exact_) least_ = static_cast<std::int64_t>(g);
    }

    // G is a sum of terms, one per class, less one of all points, each a function of how many
    // points are on the left: for few points there is a table of them.
    bool evaluates_at_once() const { return weights_.empty() && points() <= SideTerms::most; }

    // The split point with the largest sum, the last among equals; and of each its sum, from which
    // G follows. NaN as a threshold has G of 0, and is never valid.
    std::size_t evaluate_at_once(const float* values, std::span<const std::uint32_t> split_points,
                                 bool equal, G* sums) {
        if (starts_.empty()) find_terms();
        return kernels().sum_terms(values, points(), split_points.data(), split_points.size(),
                                   masks_.data(), starts_.size() - 1, SideTerms::get().data(),
                                   starts_.data(), equal, sums);
    }
    G g_of_sum(G sum) const { return sum + entropy_; }

    // G of the thresholds that may be the best.
    void evaluate(Thresholds<G>& thresholds, float* values) {
        if (!weights_.empty() || places_are_faster(thresholds.tried()))
            evaluate_by_places(thresholds, values);
        else
            evaluate_by_masks(thresholds, values);
    }

    // G of a half (R22), unless it cannot be the best.
    std::optional<G> evaluate_half(const PointsOfHalves& points_of, std::size_t half) {
        return !weights_.empty() || counts_.size() > most_classes_by_masks
                   ? evaluate_half_by_places(points_of, half)
                   : evaluate_half_by_masks(points_of, half);
    }

private:
    static constexpr std::size_t most_classes_by_masks = 64;  // a half by masks: a pass per class
    static constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();

    // -- the classes ------------------------------------------------------------------------------

    // By class, and the classes as they are met. Whether one is new is a coin toss: no branch asks
    // for it.
    template <class WeightOf>
    void count(WeightOf&& weight_of) {
        n_classes_ = 0;
        for (std::size_t i = 0; i < labels_.size(); ++i) {
            const Class y = labels_[i];
            if (y >= by_class_.size()) [[unlikely]]
                make_room_for(y);
            const std::uint64_t before = by_class_[y];
            classes_[n_classes_] = y;
            n_classes_ += before == 0;
            by_class_[y] = before + weight_of(i);
        }
    }

    void make_room_for(Class y) {
        by_class_.resize(y + std::size_t{1});
        place_of_.resize(by_class_.size());
        classes_.resize(by_class_.size() + 1);
    }

    void weigh() {
        weight_ = 0;
        for (const Weight weight : weights_) weight_ += weight;
        count([this](std::size_t i) { return weights_[i]; });
    }

    void sum_entropy() {
        const auto& F = EntropyTable::get();
        entropy_ = F(weight_);
        std::uint32_t places = 0;
        for (std::size_t k = 0; k < n_classes_; ++k) places += by_class_[classes_[k]] > 1;
        const std::uint32_t after_last = places;
        counts_.resize(n_classes_);
        places = 0;
        for (std::size_t k = 0; k < n_classes_; ++k) {
            const std::uint64_t n = std::exchange(by_class_[classes_[k]], 0);
            entropy_ -= F(n);
            place_of_[classes_[k]] = n > 1 ? places : after_last;
            counts_[places] = n;
            places += n > 1;
        }
        counts_.resize(places);
    }

    // -- gains ------------------------------------------------------------------------------------

    // Masks take a pass over the words per class and candidate, places one over the points.
    bool places_are_faster(std::size_t candidates) const {
        return candidates * counts_.size() > 256;
    }

    // By place, one bit per point; after the last place, the bits of all points. Returns the words
    // per mask.
    std::size_t make_masks() {
        const std::size_t words = (points() + 63) / 64, rows = counts_.size();
        if (!masks_.empty()) return words;
        masks_.assign((rows + 1) * words, 0);
        for (std::size_t i = 0; i < points(); ++i)
            masks_[place_of_[labels_[i]] * words + i / 64] |= std::uint64_t{1} << (i % 64);
        std::fill_n(masks_.data() + rows * words, words, ~std::uint64_t{0});
        if (points() % 64) masks_.back() = (std::uint64_t{1} << points() % 64) - 1;
        return words;
    }

    void find_terms() {
        make_masks();
        for (const std::uint64_t n : counts_) starts_.push_back(SideTerms::row(n));
        starts_.push_back(SideTerms::row(weight_));
    }

    // sums_[where[i] * columns + place of point i] over all points. The last column has the classes
    // without a place of their own.
    void add_up(std::span<const std::uint32_t> where, std::size_t columns, std::size_t rows) {
        sums_.assign(rows * columns, 0);
        const auto at = [&](std::size_t i) -> std::uint64_t& {
            return sums_[where[i] * columns + place_of_[labels_[i]]];
        };
        if (weights_.empty())
            for (std::size_t i = 0; i < points(); ++i) ++at(i);
        else
            for (std::size_t i = 0; i < points(); ++i) at(i) += weights_[i];
    }

    // The points on the left as bits, and those of a class.
    void evaluate_by_masks(Thresholds<G>& thresholds, float* values) {
        thresholds.find_left(values, points());
        const std::size_t words = make_masks();
        make_room(on_left_, counts_.size());
        thresholds.keep([&](std::size_t v) -> std::optional<G> {
            const std::uint64_t sides = entropy_of_sides(thresholds.n_left(v));
            if (cannot_be_best(sides)) return std::nullopt;
            kernels().count_both(thresholds.left(v), masks_.data(), words, counts_.size(),
                                 on_left_.data());
            return scaled_gain(sides, on_left_.data());
        });
    }

    void evaluate_by_places(Thresholds<G>& thresholds, const float* values) {
        const std::size_t columns = counts_.size() + 1;
        const auto& places = thresholds.find_places(values, points());
        add_up(places, columns, thresholds.tried() + 1);
        left_.assign(columns, 0);
        thresholds.keep([&](std::size_t v) -> std::optional<G> {
            std::uint64_t total = 0;
            if (thresholds.equal()) std::fill(left_.begin(), left_.end(), 0);
            for (std::size_t k = 0; k < columns; ++k) total += left_[k] += sums_[v * columns + k];
            const std::uint64_t sides = entropy_of_sides(total);
            if (cannot_be_best(sides)) return std::nullopt;
            return scaled_gain(sides, left_.data());
        });
    }

    std::optional<G> evaluate_half_by_masks(const PointsOfHalves& points_of, std::size_t half) {
        const std::uint64_t sides = entropy_of_sides(points_of.count_left(half));
        if (cannot_be_best(sides)) return std::nullopt;
        const std::size_t words = make_masks();
        make_room(on_left_, counts_.size());
        kernels().count_both(points_of.left(half), masks_.data(), words, counts_.size(),
                             on_left_.data());
        return scaled_gain(sides, on_left_.data());
    }

    std::optional<G> evaluate_half_by_places(const PointsOfHalves& points_of, std::size_t half) {
        const std::size_t columns = counts_.size() + 1;
        make_room(is_right_, points());
        for (std::size_t i = 0; i < points(); ++i) is_right_[i] = !points_of.is_left(half, i);
        add_up(is_right_, columns, 2);
        std::uint64_t total = 0;
        for (std::size_t k = 0; k < columns; ++k) total += sums_[k];
        const std::uint64_t sides = entropy_of_sides(total);
        if (cannot_be_best(sides)) return std::nullopt;
        return scaled_gain(sides, sums_.data());
    }

    // G, from what is on the left by class, and what `entropy_of_sides` says about it.
    template <class Count>
    G scaled_gain(std::uint64_t sides, const Count* left) const {
        const auto& F = EntropyTable::get();
        G g = entropy_ + sides - F(weight_);
        for (std::size_t k = 0; k < counts_.size(); ++k) g += F(left[k]) + F(counts_[k] - left[k]);
        return g;
    }

    // F(N) - F(n') - F(n'')
    std::uint64_t entropy_of_sides(std::uint64_t left) const {
        const auto& F = EntropyTable::get();
        return F(weight_) - F(left) - F(weight_ - left);
    }

    // The side of a point tells no more about its class than there is to know about the side. Each
    // F is rounded, so that G may be a little above that.
    bool cannot_be_best(std::uint64_t sides) const {
        const auto slack = static_cast<std::int64_t>(4 * counts_.size() + 4);
        return exact_ && static_cast<std::int64_t>(sides) + slack < least_;
    }

    std::span<const Class> labels_;
    std::span<const Weight> weights_;      // empty: all 1
    std::vector<std::uint64_t> counts_;    // n_k by place
    std::vector<std::uint64_t> by_class_;  // weights while they are counted, else 0
    std::vector<std::uint32_t> place_of_;  // by class, of those of the last labels
    std::vector<Class> classes_;           // the first n_classes_: as they are met
    std::size_t n_classes_ = 0;
    std::uint64_t weight_ = 0;  // N
    std::uint64_t entropy_ =
        0;  // F(N) - Σ F(n_k), which is G for a split that tells the classes apart
    // Of a search:
    bool exact_ = false;                   // G alone tells which gain is larger
    std::int64_t least_ = lowest;          // a candidate of less G is not the best
    std::vector<std::uint64_t> masks_;     // the points of each class, and all points
    std::vector<std::uint32_t> starts_;    // of the terms of each class, and of all points
    std::vector<std::uint32_t> on_left_;   // points of each class, by masks
    std::vector<std::uint64_t> sums_;      // by place of a point and class,
    std::vector<std::uint64_t> left_;      // and those up to a threshold, by class
    std::vector<std::uint32_t> is_right_;  // of each point, of a half
};

}  // namespace riparian
