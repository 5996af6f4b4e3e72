// R20: a young leaf looks at the points it lists for the best valid split. Of estimation points it is
// handed values and weights, never a label: what it chooses cannot depend on them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "counts/counts.hpp"
#include "kernels/kernels.hpp"
#include "space/categories.hpp"
#include "split/entropy.hpp"
#include "split/halves.hpp"
#include "split/tally.hpp"

namespace riparian {

// The estimation points that a leaf lists, without their labels.
struct ListedEstimation {
    std::size_t points = 0;
    std::span<const Weight> weights = {};  // empty: all 1

    std::uint64_t weight() const {
        std::uint64_t sum = weights.empty() ? points : 0;
        for (const Weight w : weights) sum += w;
        return sum;
    }
};

struct LookChoice {
    std::uint32_t feature = 0;      // its place among the features drawn
    std::uint32_t split_point = 0;  // its place among the split points drawn; after them come halves
    float threshold = 0;
    std::uint64_t g = 0;  // G, over all listed structure points (R14)
    double gain = 0;
};

struct LookResult {
    bool any_valid = false;          // if not, the next attempt draws other candidates
    std::optional<LookChoice> best;  // of the valid ones, if its gain is above what was asked for
};

// R20: a look is passed over where not even a split that told all classes apart would have a gain above
// τ; nothing is drawn for it.
inline bool look_can_succeed(const StructureTally& structure, double min_gain) {
    return gain(structure.entropy(), structure.weight()) > min_gain;
}

// Searches, one after the other. It keeps nothing from one to the next but its memory.
class Look {
public:
    // `features` were drawn, and then the structure points at `split_points` of the list: candidates are
    // ordered by split point, then by feature (R9). Values are asked for by
    // values.structure(features, out, stride) and values.estimation(features, out, stride), which write
    // out[d * stride + i]; values.equals(feature) says whether it is categorical, and values.halves(feature)
    // which key its halves have (R22). Valid is a candidate with at least α estimation points on both sides
    // (R6); the best has the largest gain and was created last among equals. `above` is τ, or nothing if
    // any gain will do.
    template <class Feature, class Values>
    LookResult search(std::span<const Feature> features,
                      std::span<const std::uint32_t> split_points, const StructureTally& structure,
                      const ListedEstimation& estimation, const Values& values, std::uint64_t alpha,
                      std::optional<double> above) {
        begin(structure, estimation, split_points.size(), alpha, above);
        if (estimation_weight_ / 2 < alpha) return {};
        const std::size_t stride = padded(structure.points());
        const std::size_t estimation_stride = padded(estimation.points);
        const std::size_t group = std::clamp<std::size_t>(
            floats_at_once / (stride + estimation_stride + 1), 1, features.size() + 1);
        make_room(structure_values_, group * stride);
        make_room(estimation_values_, group * estimation_stride);
        for (std::size_t d = 0; d < features.size(); d += group) {
            const auto some = features.subspan(d, std::min(group, features.size() - d));
            group_ = {d, some.size(), stride, estimation_stride};
            values.structure(some, structure_values_.data(), stride);
            values.estimation(some, estimation_values_.data(), estimation_stride);
            for (std::size_t k = 0; k < some.size(); ++k) {
                const auto feature = static_cast<std::uint32_t>(d + k);
                float* mine = structure_values_.data() + k * stride;
                const float* estimated = estimation_values_.data() + k * estimation_stride;
                equal_ = values.equals(some[k]);
                try_feature(feature, mine, estimated, split_points);
                if (equal_) try_halves(feature, values.halves(some[k]), mine, estimated);
            }
        }
        return finish(above);
    }

    // What the last search was told of a feature, unless it was too much to be still there.
    struct Values {
        const float *structure, *estimation;
    };
    std::optional<Values> values_of(std::uint32_t feature) const {
        const std::size_t k = feature - group_.first;
        if (feature < group_.first || k >= group_.count) return std::nullopt;
        return Values{structure_values_.data() + k * group_.stride,
                      estimation_values_.data() + k * group_.estimation_stride};
    }

private:
    // Features whose values were asked for at once.
    struct Group {
        std::size_t first = 0, count = 0, stride = 0, estimation_stride = 0;
    };

    static constexpr std::size_t floats_at_once = 1 << 16;  // values that stay in the cache
    static constexpr std::size_t most_classes_by_masks = 64;  // a half by masks: a pass per class
    static constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
    // Up to this weight, candidates with different G have different gains: one divisor for all of them,
    // and G has fewer digits than a float64.
    static constexpr std::uint64_t most_points_exact = std::uint64_t{1} << 24;

    static std::size_t padded(std::size_t n) { return (n + 15) / 16 * 16; }

    static void make_room(std::vector<float>& values, std::size_t n) {
        if (values.size() < n) values.resize(n);
    }

    // Kernels that count sixteen values at a time must not count what is past the last: a missing value is
    // left of nothing.
    static void pad(float* values, std::size_t n) {
        std::fill(values + n, values + padded(n), std::numeric_limits<float>::quiet_NaN());
    }

    void begin(const StructureTally& structure, const ListedEstimation& estimation,
               std::size_t split_points, std::uint64_t alpha, std::optional<double> above) {
        structure_ = &structure;
        estimation_ = &estimation;
        estimation_weight_ = estimation.weight();
        alpha_ = alpha;
        thresholds_.assign(padded(split_points), std::numeric_limits<float>::quiet_NaN());
        valid_.resize(split_points);
        sums_.resize(split_points);
        masks_.clear();
        starts_.clear();
        any_valid_ = false;
        chosen_ = false;
        exact_ = structure.weight() <= most_points_exact;
        least_ = exact_ && above ? least_g(*above, structure.weight()) : lowest;
    }

    LookResult finish(std::optional<double> above) {
        if (!chosen_) return {any_valid_, std::nullopt};
        best_.gain = gain(best_.g, structure_->weight());
        if (above && !(best_.gain > *above)) return {any_valid_, std::nullopt};
        return {any_valid_, best_};
    }

    // -- one feature ------------------------------------------------------------------------------

    void try_feature(std::uint32_t feature, float* structure, const float* estimation,
                     std::span<const std::uint32_t> split_points) {
        for (std::size_t j = 0; j < split_points.size(); ++j)
            thresholds_[j] = structure[split_points[j]];
        n_valid_ = estimation_->weights.empty() ? count_valid(estimation, split_points.size())
                                                : weigh_valid(estimation, split_points.size());
        if (n_valid_ == 0) return;
        any_valid_ = true;
        if (structure_->weighted() || places_are_faster())
            evaluate_by_places(feature, structure);
        else if (structure_->points() <= SideTerms::most)
            evaluate_by_terms(feature, structure);
        else
            evaluate_by_masks(feature, structure);
    }

    // The split points whose candidates are valid, into valid_. Of equal thresholds the last will do: it
    // has the gain of the others.
    std::size_t count_valid(const float* estimation, std::size_t m) {
        return kernels().valid_thresholds(estimation, estimation_->points, thresholds_.data(), m,
                                          alpha_, estimation_weight_ - alpha_, equal_, valid_.data());
    }

    std::size_t weigh_valid(const float* estimation, std::size_t m) {
        std::size_t n_valid = 0;
        for (std::uint32_t j = 0; j < m; ++j) {
            std::uint64_t left = 0;
            for (std::size_t i = 0; i < estimation_->points; ++i)
                left += is_left(estimation[i], thresholds_[j]) ? estimation_->weights[i] : 0;
            valid_[n_valid] = j;
            n_valid += left >= alpha_ && estimation_weight_ - left >= alpha_;
        }
        return n_valid;
    }

    bool is_left(float value, float threshold) const {
        return equal_ ? value == threshold : value <= threshold;
    }

    // -- gains of the valid candidates -----------------------------------------------------------

    // Masks take a pass over the words per class and candidate, places one over the points.
    bool places_are_faster() const {
        const std::size_t points = structure_->points();
        return points > SideTerms::most && n_valid_ * structure_->counts().size() > 256;
    }

    // G is a sum of terms, one per class, less one of all points, each a function of how many points are on
    // the left: for few points there is a table of them.
    void evaluate_by_terms(std::uint32_t feature, const float* structure) {
        if (starts_.empty()) find_terms();
        kernels().sum_terms(structure, structure_->points(), thresholds_.data(), valid_.data(),
                            n_valid_, masks_.data(), starts_.size() - 1, SideTerms::get().data(),
                            starts_.data(), equal_, sums_.data());
        for (std::size_t v = 0; v < n_valid_; ++v)
            consider(feature, valid_[v], thresholds_[valid_[v]], structure_->entropy() + sums_[v]);
    }

    void find_terms() {
        make_masks();
        for (const std::uint64_t n : structure_->counts()) starts_.push_back(SideTerms::row(n));
        starts_.push_back(SideTerms::row(structure_->weight()));
    }

    // Returns the words per mask.
    std::size_t make_masks() {
        const std::size_t words = (structure_->points() + 63) / 64;
        if (masks_.empty()) structure_->make_masks(masks_, words);
        return words;
    }

    // Structure points as bits: those on the left, and those of a class.
    void evaluate_by_masks(std::uint32_t feature, float* structure) {
        pad(structure, structure_->points());
        const auto counts = structure_->counts();
        const std::size_t words = make_masks();
        sort_thresholds();
        words_left_.resize(n_valid_ * words);
        totals_.resize(n_valid_);
        kernels().left_words(structure, structure_->points(), sorted_.data(), n_valid_, equal_,
                             words_left_.data(), totals_.data());
        counts_.resize(counts.size());
        for (std::size_t v = 0; v < n_valid_; ++v) {
            const std::uint64_t sides = entropy_of_sides(totals_[v]);
            if (cannot_be_best(sides)) continue;
            kernels().count_both(words_left_.data() + v * words, masks_.data(), words,
                                 counts.size(), counts_.data());
            consider(feature, order_[v].second, sorted_[v], scaled_gain(sides, counts_.data()));
        }
    }

    // Structure points by their places among the thresholds: those up to a threshold's place are on its
    // left; of categories, those at it.
    void evaluate_by_places(std::uint32_t feature, const float* structure) {
        const std::size_t columns =
            structure_->counts().size() + 1;  // the last: classes without a place of their own
        sort_thresholds();
        places_.resize(padded(structure_->points()));
        if (equal_)
            find_categories(structure);
        else
            kernels().places_among(structure, structure_->points(), sorted_.data(), n_valid_,
                                   places_.data());
        structure_->add_up(places_, columns, n_valid_ + 1, weights_);
        left_.assign(columns, 0);
        for (std::size_t v = 0; v < n_valid_; ++v) {
            std::uint64_t total = 0;
            if (equal_) std::fill(left_.begin(), left_.end(), 0);
            for (std::size_t k = 0; k < columns; ++k)
                total += left_[k] += weights_[v * columns + k];
            const std::uint64_t sides = entropy_of_sides(total);
            if (cannot_be_best(sides)) continue;
            consider(feature, order_[v].second, sorted_[v], scaled_gain(sides, left_.data()));
        }
    }

    // The place of each structure point among the categories; n_valid_ if it has another.
    void find_categories(const float* structure) {
        for (std::size_t i = 0; i < structure_->points(); ++i) {
            const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), structure[i]);
            const bool found = at != sorted_.end() && *at == structure[i];
            places_[i] = static_cast<std::uint32_t>(found ? at - sorted_.begin()
                                                          : sorted_.end() - sorted_.begin());
        }
    }

    // The valid ones; each category once, and of equal ones the last.
    void sort_thresholds() {
        order_.resize(n_valid_);
        for (std::size_t v = 0; v < n_valid_; ++v) order_[v] = {thresholds_[valid_[v]], valid_[v]};
        std::sort(order_.begin(), order_.end());
        if (equal_) {
            const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
            order_.erase(order_.begin(), std::unique(order_.rbegin(), order_.rend(), same).base());
            n_valid_ = order_.size();
        }
        sorted_.resize(n_valid_);
        for (std::size_t v = 0; v < n_valid_; ++v) sorted_[v] = order_[v].first;
    }

    // -- halves of a categorical feature (R22) -----------------------------------------------------

    // They come after all split points, whose categories are the thresholds now.
    void try_halves(std::uint32_t feature, std::uint64_t key, const float* structure,
                    const float* estimation) {
        const auto have = std::count_if(thresholds_.begin(), thresholds_.end(),
                                        [](float code) { return code >= first_code_with_halves; });
        const std::size_t halves =
            std::min(halves_of_split_point * static_cast<std::size_t>(have), halves_of_key);
        if (halves == 0) return;
        estimation_of_halves_.set(key, halves, estimation, estimation_->points);
        structure_of_halves_.set(key, halves, structure, structure_->points());
        counts_.resize(structure_->counts().size());
        for (std::size_t b = 0; b < halves; ++b) {
            const std::uint64_t left = estimation_left(b);
            if (left < alpha_ || estimation_weight_ - left < alpha_) continue;
            any_valid_ = true;
            const auto order = static_cast<std::uint32_t>(valid_.size() + b);
            if (structure_->weighted() || structure_->counts().size() > most_classes_by_masks)
                evaluate_half_by_places(feature, order, half_threshold(key, b), b);
            else
                evaluate_half_by_masks(feature, order, half_threshold(key, b), b);
        }
    }

    std::uint64_t estimation_left(std::size_t half) const {
        if (estimation_->weights.empty()) return estimation_of_halves_.count_left(half);
        std::uint64_t left = 0;
        for (std::size_t i = 0; i < estimation_->points; ++i)
            left += estimation_of_halves_.is_left(half, i) ? estimation_->weights[i] : 0;
        return left;
    }

    void evaluate_half_by_masks(std::uint32_t feature, std::uint32_t order, float threshold,
                                std::size_t half) {
        const std::uint64_t sides = entropy_of_sides(structure_of_halves_.count_left(half));
        if (cannot_be_best(sides)) return;
        const std::size_t words = make_masks();
        kernels().count_both(structure_of_halves_.left(half), masks_.data(), words, counts_.size(),
                             counts_.data());
        consider(feature, order, threshold, scaled_gain(sides, counts_.data()));
    }

    void evaluate_half_by_places(std::uint32_t feature, std::uint32_t order, float threshold,
                                 std::size_t half) {
        const std::size_t columns = structure_->counts().size() + 1;
        places_.resize(padded(structure_->points()));
        for (std::size_t i = 0; i < structure_->points(); ++i)
            places_[i] = !structure_of_halves_.is_left(half, i);
        structure_->add_up(places_, columns, 2, weights_);
        std::uint64_t total = 0;
        for (std::size_t k = 0; k < columns; ++k) total += weights_[k];
        const std::uint64_t sides = entropy_of_sides(total);
        if (cannot_be_best(sides)) return;
        consider(feature, order, threshold, scaled_gain(sides, weights_.data()));
    }

    // -- the best of them -----------------------------------------------------------------------------

    // G, from what is on the left by class, and what `entropy_of_sides` says of it.
    template <class Count>
    std::uint64_t scaled_gain(std::uint64_t sides, const Count* left) const {
        const auto& F = EntropyTable::get();
        const auto counts = structure_->counts();
        std::uint64_t g = structure_->entropy() + sides - F(structure_->weight());
        for (std::size_t k = 0; k < counts.size(); ++k) g += F(left[k]) + F(counts[k] - left[k]);
        return g;
    }

    // F(N) - F(n') - F(n'')
    std::uint64_t entropy_of_sides(std::uint64_t left) const {
        const auto& F = EntropyTable::get();
        const std::uint64_t all = structure_->weight();
        return F(all) - F(left) - F(all - left);
    }

    // The side of a point tells no more about its class than there is to know of the side. Each F is
    // rounded, so that G may be a little above that.
    bool cannot_be_best(std::uint64_t sides) const {
        const auto slack = static_cast<std::int64_t>(4 * structure_->counts().size() + 4);
        return exact_ && static_cast<std::int64_t>(sides) + slack < least_;
    }

    void consider(std::uint32_t feature, std::uint32_t j, float threshold, std::uint64_t g) {
        if (exact_ && static_cast<std::int64_t>(g) < least_) return;
        if (chosen_ && !is_better(g, j)) return;
        chosen_ = true;
        best_ = {feature, j, threshold, g, 0};
        if (exact_) least_ = static_cast<std::int64_t>(g);
    }

    // R9; features come in order.
    bool is_better(std::uint64_t g, std::uint32_t j) const {
        if (exact_) {
            const auto now = static_cast<std::int64_t>(g),
                       then = static_cast<std::int64_t>(best_.g);
            return now > then || (now == then && j >= best_.split_point);
        }
        const double now = gain(g, structure_->weight()),
                     then = gain(best_.g, structure_->weight());
        return now > then || (now == then && j >= best_.split_point);
    }

    const StructureTally* structure_ = nullptr;
    const ListedEstimation* estimation_ = nullptr;
    std::uint64_t estimation_weight_ = 0;
    std::uint64_t alpha_ = 0;
    bool exact_ = false;  // G alone tells which gain is larger
    bool any_valid_ = false;
    bool chosen_ = false;  // there is a best one
    LookChoice best_;
    std::int64_t least_ = lowest;  // a candidate of less G is not the best

    Group group_;                                              // the last
    std::vector<float> structure_values_, estimation_values_;  // a row per feature of it
    // Of one feature:
    std::vector<float> thresholds_;  // by split point
    std::vector<std::uint32_t>
        valid_;  // the first n_valid_: split points whose candidates are valid
    std::size_t n_valid_ = 0;
    bool equal_ = false;  // it is categorical: left is what equals a threshold
    std::vector<float> sorted_;                           // thresholds of the valid ones
    std::vector<std::pair<float, std::uint32_t>> order_;  // and their split points
    // By terms and by masks:
    std::vector<std::uint64_t> masks_;       // the points of each class, and all points
    std::vector<std::uint32_t> starts_;      // of the terms of each class, and of all points
    std::vector<std::uint64_t> sums_;        // of terms, by valid candidate
    std::vector<std::uint64_t> words_left_;  // the points on the left of each valid candidate
    std::vector<std::uint32_t> totals_;      // how many they are
    std::vector<std::uint32_t> counts_;      // and how many of each class
    // Of halves:
    PointsOfHalves structure_of_halves_, estimation_of_halves_;
    // By places:
    std::vector<std::uint32_t> places_;   // of each point
    std::vector<std::uint64_t> weights_;  // by place and class
    std::vector<std::uint64_t> left_;     // by class
};

}  // namespace riparian
