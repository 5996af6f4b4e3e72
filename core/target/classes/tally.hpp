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

#include "counts/candidate.hpp"
#include "counts/streams.hpp"
#include "kernels/bits_of.hpp"
#include "kernels/kernels.hpp"
#include "split/halves.hpp"
#include "split/thresholds.hpp"
#include "target/classes/entropy.hpp"
#include "target/classes/labels.hpp"

namespace riparian {

// Each class that occurs has a place, unless its total weight is 1. Since F(0) = F(1) = 0, such a
// class adds nothing to G, whichever side its point is on. All of these classes share the place
// after the last.
class ClassTally {
public:
    using G = std::uint64_t;  // R14

    static constexpr bool always_at_once = false;

    // Without weights, all are 1. Labels and weights must outlive the tally.
    void set(std::span<const Class> labels, std::span<const Weight> weights) {
        labels_ = labels;
        weights_ = weights;
        weight_ = labels.size();
        has_masks_ = has_starts_ = false;
        if (weights.empty() && labels.size() <= 64) return set_few();
        if (weights.empty())
            count([](std::size_t) { return Weight{1}; });
        else
            weigh();
        sum_entropy();
    }

    std::size_t points() const { return labels_.size(); }

    // R20: if not even a split that separates all classes would have a gain above τ, the look is
    // passed over, and nothing is drawn for it.
    bool can_succeed(double min_gain) const { return gain(entropy_) > min_gain; }
    double gain(G g) const { return riparian::gain(g, weight_); }

    // -- a search ---------------------------------------------------------------------------------

    // Starts a search. Gains up to `above` are too small.
    void begin(std::optional<double> above) {
        exact_ = weight_ <= most_points_exact;
        least_ = exact_ && above ? least_g(*above, weight_) : lowest;
    }

    // Compares two gains.
    std::partial_ordering compare(G g, G than) const {
        if (exact_) return static_cast<std::int64_t>(g) <=> static_cast<std::int64_t>(than);
        return gain(g) <=> gain(than);
    }
    // Whether G alone shows that a candidate is not the best.
    bool is_too_small(G g) const { return exact_ && static_cast<std::int64_t>(g) < least_; }
    // A valid candidate with this G exists, so a smaller G is too small from now on.
    void expect(G g) {
        if (exact_) least_ = static_cast<std::int64_t>(g);
    }

    // G is a sum of terms, one per class, minus one of all points. Each is a function of the number
    // of points on the left, and for few points there is a table of these functions.
    bool evaluates_at_once() const { return weights_.empty() && points() <= SideTerms::most; }

    // Returns the split point with the largest sum, the last among equals, and the sum of each,
    // from which G follows. NaN as a threshold has a G of 0 and is never valid.
    std::size_t evaluate_at_once(const float* values, std::span<const std::uint32_t> split_points,
                                 bool equal, G* sums) {
        if (!has_starts_) find_terms();
        return kernels().sum_terms(values, points(), split_points.data(), split_points.size(),
                                   masks_.data(), counts_.size(), SideTerms::get().data(),
                                   starts_.data(), equal, sums);
    }
    // Of this many features, none of them categorical. Their values must not fill the caches.
    bool chooses_at_once(std::size_t features) const {
        return evaluates_at_once() || (weights_.empty() && points() < EntropyTable::size &&
                                       features * padded(points()) <= most_values);
    }
    // The same for a whole search without categorical features, in which a candidate is valid with
    // at least `least` > 0 of the points themselves on either side. The values of consecutive
    // features are a stride apart.
    std::optional<LookChoice<G>> choose_at_once(const float* values, std::size_t stride,
                                                std::size_t features,
                                                std::span<const std::uint32_t> split_points,
                                                std::size_t least) {
        if (labels_.size() == 2) return separate_two(values, stride, features, split_points);
        const auto [feature, j, sum] =
            evaluates_at_once()
                ? best_of_points(values, stride, features, split_points, least)
                : best_of_many_points(values, stride, features, split_points, least);
        if (feature >= features) return std::nullopt;
        return LookChoice<G>{static_cast<std::uint32_t>(feature), static_cast<std::uint32_t>(j),
                             values[feature * stride + split_points[j]], g_of_sum(sum), 0};
    }
    G g_of_sum(G sum) const { return sum + entropy_; }

    // Computes G of the thresholds that may be the best.
    void evaluate(Thresholds<G>& thresholds, float* values) {
        if (!weights_.empty() || places_are_faster(thresholds.tried()))
            evaluate_by_places(thresholds, values);
        else
            evaluate_by_masks(thresholds, values);
    }

    // Returns G of a half (R22), or nothing if it cannot be the best.
    std::optional<G> evaluate_half(const PointsOfHalves& points_of, std::size_t half) {
        return !weights_.empty() || counts_.size() > most_classes_by_masks
                   ? evaluate_half_by_places(points_of, half)
                   : evaluate_half_by_masks(points_of, half);
    }

private:
    // Masks take one pass per class for a half.
    static constexpr std::size_t most_classes_by_masks = 64;
    static constexpr std::size_t most_values = 1 << 15;  // of a look in one pass
    static constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();

    // -- the classes ------------------------------------------------------------------------------

    // Places by class, and the classes in order of their first point. Whether a class is new is
    // random, so there is no branch on it.
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

    // Up to 64 unweighted points, as in most looks: the points of each class are one word.
    void set_few() {
        const std::size_t n = labels_.size();
        const Class* labels = labels_.data();
        if (n == 2 && labels[0] != labels[1]) return set_two();
        Class largest = 0;
        for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, labels[i]);
        if (largest >= by_class_.size()) [[unlikely]]
            make_room_for(largest);
        // Plain pointers, because the compiler assumes that a write may change the pointers of a
        // vector.
        std::uint64_t* by_class = by_class_.data();
        Class* classes = classes_.data();
        std::size_t n_classes = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const Class y = labels[i];
            const std::uint64_t before = by_class[y];
            classes[n_classes] = y;
            n_classes += before == 0;
            by_class[y] = before | std::uint64_t{1} << i;
        }
        make_room(masks_, n_classes + 1);
        make_room(starts_, n_classes + 1);
        counts_.resize(n_classes);
        std::uint64_t *masks = masks_.data(), *counts = counts_.data();
        std::uint32_t* starts = starts_.data();
        const std::uint64_t* F = EntropyTable::get().terms();
        std::uint64_t entropy = F[n];
        std::size_t places = 0;
        for (std::size_t k = 0; k < n_classes; ++k) {
            const std::uint64_t mask = std::exchange(by_class[classes[k]], 0);
            const std::uint32_t its = bits_of(mask);
            entropy -= F[its];
            masks[places] = mask;
            counts[places] = its;
            starts[places] = SideTerms::row(its);
            places += its > 1;
        }
        counts_.resize(places);
        masks[places] = n < 64 ? (std::uint64_t{1} << n) - 1 : ~std::uint64_t{0};
        starts[places] = SideTerms::row(n);
        entropy_ = entropy;
        n_classes_ = n_classes;
        has_masks_ = has_starts_ = true;
    }

    void set_two() {
        make_room(masks_, 1);
        make_room(starts_, 1);
        masks_[0] = 3;
        starts_[0] = SideTerms::row(2);
        counts_.clear();
        entropy_ = EntropyTable::get().terms()[2];
        n_classes_ = 2;
        has_masks_ = has_starts_ = true;
    }

    // -- gains ------------------------------------------------------------------------------------

    BestOfPoints best_of_points(const float* values, std::size_t stride, std::size_t features,
                                std::span<const std::uint32_t> split_points, std::size_t least) {
        if (!has_starts_) find_terms();
        return kernels().best_of_points(values, stride, features, points(), split_points.data(),
                                        split_points.size(), masks_.data(), counts_.size(),
                                        SideTerms::get().cut(), starts_.data(), least);
    }
    BestOfPoints best_of_many_points(const float* values, std::size_t stride, std::size_t features,
                                     std::span<const std::uint32_t> split_points,
                                     std::size_t least) {
        order_by_class();
        return kernels().best_of_many_points(
            values, stride, features, points(), split_points.data(), split_points.size(),
            order_.data(), ends_.data(), counts_.size(), EntropyTable::get().terms(), least);
    }
    // The points of each place side by side; those that share the place after the last come last.
    void order_by_class() {
        make_room(order_, points());
        make_room(ends_, counts_.size() + 1);
        std::uint32_t end = 0;
        for (std::size_t k = 0; k < counts_.size(); ++k) {
            ends_[k] = end;
            end += static_cast<std::uint32_t>(counts_[k]);
        }
        ends_[counts_.size()] = end;
        for (std::size_t i = 0; i < points(); ++i)
            order_[ends_[place_of_[labels_[i]]]++] = static_cast<std::uint16_t>(i);
    }

    // Whatever separates two points gains the same: the last split point that does, and then the
    // last feature.
    std::optional<LookChoice<G>> separate_two(const float* values, std::size_t stride,
                                              std::size_t features,
                                              std::span<const std::uint32_t> split_points) const {
        for (std::size_t j = split_points.size(); j-- > 0;)
            for (std::size_t d = features; d-- > 0;) {
                const float threshold = values[d * stride + split_points[j]];
                const float other = values[d * stride + 1 - split_points[j]];
                if (threshold == threshold && !(other <= threshold))
                    return LookChoice<G>{static_cast<std::uint32_t>(d),
                                         static_cast<std::uint32_t>(j), threshold, entropy_, 0};
            }
        return std::nullopt;
    }

    // Masks take a pass over the words per class and candidate; places take one pass over the
    // points.
    bool places_are_faster(std::size_t candidates) const {
        return candidates * counts_.size() > 256;
    }

    // One mask per place, with one bit per point; after the last place, the bits of all points.
    // Returns the words per mask.
    std::size_t make_masks() {
        const std::size_t words = (points() + 63) / 64, rows = counts_.size();
        if (has_masks_) return words;
        has_masks_ = true;
        make_room(masks_, (rows + 1) * words);
        std::fill_n(masks_.data(), (rows + 1) * words, 0);
        for (std::size_t i = 0; i < points(); ++i)
            masks_[place_of_[labels_[i]] * words + i / 64] |= std::uint64_t{1} << (i % 64);
        std::fill_n(masks_.data() + rows * words, words, ~std::uint64_t{0});
        if (points() % 64) masks_[(rows + 1) * words - 1] = (std::uint64_t{1} << points() % 64) - 1;
        return words;
    }

    void find_terms() {
        make_masks();
        has_starts_ = true;
        starts_.clear();
        for (const std::uint64_t n : counts_) starts_.push_back(SideTerms::row(n));
        starts_.push_back(SideTerms::row(weight_));
    }

    // sums_[where[i] * columns + place of point i] is summed over all points. The last column has
    // the classes without a place of their own.
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

    // Given the points on the left as bits, and those of a class.
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

    // Returns G, given the points on the left by class, and the result of `entropy_of_sides`.
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

    // The side of a point tells no more about its class than the entropy of the sides. Each F is
    // rounded, so G may be a little larger.
    bool cannot_be_best(std::uint64_t sides) const {
        const auto slack = static_cast<std::int64_t>(4 * counts_.size() + 4);
        return exact_ && static_cast<std::int64_t>(sides) + slack < least_;
    }

    std::span<const Class> labels_;
    std::span<const Weight> weights_;    // empty: all are 1
    std::vector<std::uint64_t> counts_;  // n_k by place
    std::vector<std::uint64_t>
        by_class_;  // weights, or points as bits, during a computation; otherwise 0
    std::vector<std::uint32_t> place_of_;  // by class, for classes of the last labels
    std::vector<Class> classes_;  // the first n_classes_ entries: in order of their first point
    std::size_t n_classes_ = 0;
    std::uint64_t weight_ = 0;  // N
    // F(N) - Σ F(n_k), which is G of a split that separates all classes.
    std::uint64_t entropy_ = 0;
    // Of a search:
    bool exact_ = false;                // whether G alone decides which gain is larger
    std::int64_t least_ = lowest;       // a candidate with a smaller G is not the best
    bool has_masks_ = false;            // whether masks_ belongs to these labels
    bool has_starts_ = false;           // the same for starts_
    std::vector<std::uint64_t> masks_;  // the points of each class, and all points
    std::vector<std::uint32_t>
        starts_;  // where the terms of each class begin, and those of all points
    std::vector<std::uint16_t> order_;     // the points, class by class
    std::vector<std::uint32_t> ends_;      // of the classes among them
    std::vector<std::uint32_t> on_left_;   // points of each class, by masks
    std::vector<std::uint64_t> sums_;      // by threshold and class: points between two thresholds
    std::vector<std::uint64_t> left_;      // and points up to a threshold, by class
    std::vector<std::uint32_t> is_right_;  // for each point, whether it is right of a half
};

}  // namespace riparian
