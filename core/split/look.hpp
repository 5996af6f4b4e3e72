// R20: a young leaf looks at the points it lists for the best valid split. Of estimation points it is
// handed values and weights, never a label: what it chooses cannot depend on them.
#pragma once

#include <algorithm>
#include <array>
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
//
// Gains come first, and estimation points are asked for their values only in a feature that has a candidate
// better than the best so far: with k features, in about ln(k) of them.
class Look {
public:
    // `features` were drawn, and then the structure points at `split_points` of the list: candidates are
    // ordered by split point, then by feature (R9). Values are asked for by
    // values.structure(features, out, stride) and values.estimation(features, out, stride), which write
    // out[d * stride + i]; values.equals(feature) says whether it is categorical, and values.halves(feature)
    // which key its halves have (R22). Valid is a candidate with at least α > 0 estimation points on both
    // sides (R6); the best has the largest gain and was created last among equals. `above` is τ, or nothing
    // if any gain will do.
    template <class Feature, class Values>
    LookResult search(std::span<const Feature> features,
                      std::span<const std::uint32_t> split_points, const StructureTally& structure,
                      const ListedEstimation& estimation, const Values& values, std::uint64_t alpha,
                      std::optional<double> above) {
        begin(structure, estimation, split_points.size(), alpha, above);
        if (estimation_weight_ / 2 < alpha) return {};
        for_each(features, values, [&](std::uint32_t feature, float* mine) {
            const auto estimate = [&] { return ask_estimation(features, feature, values); };
            if (!structure.weighted() && structure.points() <= SideTerms::most)
                try_few_points(feature, mine, split_points, estimate);
            else
                try_feature(feature, mine, split_points, estimate);
            if (equal_) {
                set_thresholds(mine, split_points);
                try_halves(feature, values.halves(features[feature]), mine, estimate);
            }
            return true;
        });
        if (!chosen_) return {any_is_valid(features, split_points, values), std::nullopt};
        best_.gain = gain(best_.g, structure_->weight());
        if (above && !(best_.gain > *above)) return {true, std::nullopt};
        return {true, best_};
    }

    // What the last search was told of the feature that it chose; of structure points nothing if it was too
    // much to be still there.
    struct Values {
        const float *structure, *estimation;
    };
    Values values_of_best() const {
        const std::size_t k = best_.feature - group_.first;
        const bool there = best_.feature >= group_.first && k < group_.count;
        return {there ? structure_values_.data() + k * group_.stride : nullptr,
                estimation_values_[best_at_].data()};
    }

private:
    // Features whose structure points were asked at once.
    struct Group {
        std::size_t first = 0, count = 0, stride = 0;
    };

    static constexpr std::size_t floats_at_once = 1 << 15;  // values that stay in the cache
    static constexpr std::size_t most_classes_by_masks = 64;  // a half by masks: a pass per class
    static constexpr std::uint32_t nothing = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();

    static std::size_t padded(std::size_t n) { return (n + 15) / 16 * 16; }

    template <class T>
    static void make_room(std::vector<T>& values, std::size_t n) {
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
        m_ = split_points;
        make_room(thresholds_, padded(m_));
        pad(thresholds_.data(), m_);
        make_room(tried_, m_);
        make_room(sums_, m_);
        for (auto& values : estimation_values_) make_room(values, padded(estimation.points));
        asked_ = nothing;
        masks_.clear();
        starts_.clear();
        chosen_ = false;
        exact_ = structure.weight() <= most_points_exact;
        least_ = exact_ && above ? least_g(*above, structure.weight()) : lowest;
    }

    // visitor(feature, values of structure points) while it says so.
    template <class Feature, class Values, class Visitor>
    void for_each(std::span<const Feature> features, const Values& values, Visitor&& visitor) {
        const std::size_t stride = padded(structure_->points());
        const std::size_t group =
            std::clamp<std::size_t>(floats_at_once / (stride + 1), 1, features.size() + 1);
        make_room(structure_values_, std::min(group, features.size()) * stride);
        for (std::size_t d = 0; d < features.size(); d += group) {
            const auto some = features.subspan(d, std::min(group, features.size() - d));
            group_ = {d, some.size(), stride};
            values.structure(some, structure_values_.data(), stride);
            for (std::size_t k = 0; k < some.size(); ++k) {
                float* mine = structure_values_.data() + k * stride;
                equal_ = values.equals(some[k]);
                if (!visitor(static_cast<std::uint32_t>(d + k), mine)) return;
            }
        }
    }

    void set_thresholds(const float* structure, std::span<const std::uint32_t> split_points) {
        for (std::size_t j = 0; j < m_; ++j) thresholds_[j] = structure[split_points[j]];
    }

    // -- estimation points --------------------------------------------------------------------------

    // Those of the best feature stay where they are.
    template <class Feature, class Values>
    const float* ask_estimation(std::span<const Feature> features, std::uint32_t feature,
                                const Values& values) {
        if (asked_ != feature) {
            asked_ = feature;
            asked_at_ = 1 - best_at_;
            float* out = estimation_values_[asked_at_].data();
            values.estimation(features.subspan(feature, 1), out, padded(estimation_->points));
            pad(out, estimation_->points);
            halves_of_estimation_ = false;
        }
        return estimation_values_[asked_at_].data();
    }

    bool is_valid(const float* estimation, float threshold) const {
        return is_enough(estimation_->weights.empty()
                             ? kernels().count_left(estimation, estimation_->points, threshold,
                                                    equal_)
                             : weigh_left(estimation, threshold));
    }
    bool is_enough(std::uint64_t left) const {
        return left >= alpha_ && estimation_weight_ - left >= alpha_;
    }
    std::uint64_t weigh_left(const float* estimation, float threshold) const {
        std::uint64_t left = 0;
        for (std::size_t i = 0; i < estimation_->points; ++i)
            left += is_left(estimation[i], threshold) ? estimation_->weights[i] : 0;
        return left;
    }
    bool is_left(float value, float threshold) const {
        return equal_ ? value == threshold : value <= threshold;
    }

    // Where none is the best: if no candidate is valid, the next attempt draws other ones.
    template <class Feature, class Values>
    bool any_is_valid(std::span<const Feature> features,
                      std::span<const std::uint32_t> split_points, const Values& values) {
        bool found = false;
        for_each(features, values, [&](std::uint32_t feature, const float* structure) {
            set_thresholds(structure, split_points);
            const float* estimation = ask_estimation(features, feature, values);
            for (std::size_t j = 0; j < m_ && !found; ++j)
                found = is_valid(estimation, thresholds_[j]);
            const std::size_t halves = found || !equal_ ? 0 : count_halves();
            for (std::size_t b = 0; b < halves && !found; ++b)
                found = is_half_valid(values.halves(features[feature]), halves, b, estimation);
            return !found;
        });
        return found;
    }

    // -- one feature ------------------------------------------------------------------------------

    // G is a sum of terms, one per class, less one of all points, each a function of how many points are on
    // the left: for few points there is a table of them. NaN as a threshold has G of 0, and is never valid.
    template <class Estimate>
    void try_few_points(std::uint32_t feature, const float* structure,
                        std::span<const std::uint32_t> split_points, Estimate&& estimate) {
        if (starts_.empty()) find_terms();
        const std::size_t best = kernels().sum_terms(
            structure, structure_->points(), split_points.data(), m_, masks_.data(),
            starts_.size() - 1, SideTerms::get().data(), starts_.data(), equal_, sums_.data());
        const std::uint64_t g = sums_[best] + structure_->entropy();
        const auto j = static_cast<std::uint32_t>(best);
        if (!may_be_best(g, j)) return;
        const float threshold = structure[split_points[best]];
        if (is_valid(estimate(), threshold)) return take(feature, j, threshold, g);
        set_thresholds(structure, split_points);
        n_tried_ = kernels().last_of_equals(thresholds_.data(), m_, tried_.data());
        for (std::size_t v = 0; v < n_tried_; ++v)
            sums_[v] = sums_[tried_[v]] + structure_->entropy();
        choose(feature, estimate);
    }

    void find_terms() {
        make_masks();
        for (const std::uint64_t n : structure_->counts()) starts_.push_back(SideTerms::row(n));
        starts_.push_back(SideTerms::row(structure_->weight()));
    }

    template <class Estimate>
    void try_feature(std::uint32_t feature, float* structure,
                     std::span<const std::uint32_t> split_points, Estimate&& estimate) {
        set_thresholds(structure, split_points);
        n_tried_ = kernels().last_of_equals(thresholds_.data(), m_, tried_.data());
        if (n_tried_ == 0) return;
        if (structure_->weighted() || places_are_faster())
            evaluate_by_places(structure);
        else
            evaluate_by_masks(structure);
        choose(feature, estimate);
    }

    // The best of those that were tried, if it is valid; or else the next best.
    template <class Estimate>
    void choose(std::uint32_t feature, Estimate&& estimate) {
        while (n_tried_ > 0) {
            std::size_t v = 0;
            for (std::size_t other = 1; other < n_tried_; ++other)
                if (is_better(sums_[other], tried_[other], sums_[v], tried_[v])) v = other;
            if (!may_be_best(sums_[v], tried_[v])) return;
            const float threshold = thresholds_[tried_[v]];
            if (is_valid(estimate(), threshold))
                return take(feature, tried_[v], threshold, sums_[v]);
            --n_tried_;
            tried_[v] = tried_[n_tried_];
            sums_[v] = sums_[n_tried_];
        }
    }

    // -- gains --------------------------------------------------------------------------------------

    // Masks take a pass over the words per class and candidate, places one over the points.
    bool places_are_faster() const {
        return n_tried_ * structure_->counts().size() > 256;
    }

    // Returns the words per mask.
    std::size_t make_masks() {
        const std::size_t words = (structure_->points() + 63) / 64;
        if (masks_.empty()) structure_->make_masks(masks_, words);
        return words;
    }

    // Structure points as bits: those on the left, and those of a class.
    void evaluate_by_masks(float* structure) {
        pad(structure, structure_->points());
        const auto counts = structure_->counts();
        const std::size_t words = make_masks();
        make_room(sorted_, n_tried_);
        for (std::size_t v = 0; v < n_tried_; ++v) sorted_[v] = thresholds_[tried_[v]];
        make_room(words_left_, n_tried_ * words);
        make_room(totals_, n_tried_);
        kernels().left_words(structure, structure_->points(), sorted_.data(), n_tried_, equal_,
                             words_left_.data(), totals_.data());
        make_room(counts_, counts.size());
        keep_hopeful([&](std::size_t v) { return entropy_of_sides(totals_[v]); },
                     [&](std::size_t v, std::uint64_t sides) {
                         kernels().count_both(words_left_.data() + v * words, masks_.data(), words,
                                              counts.size(), counts_.data());
                         return scaled_gain(sides, counts_.data());
                     });
    }

    // Structure points by their places among the thresholds: those up to a threshold's place are on its
    // left; of categories, those at it.
    void evaluate_by_places(const float* structure) {
        const std::size_t columns =
            structure_->counts().size() + 1;  // the last: classes without a place of their own
        sort_thresholds();
        make_room(places_, padded(structure_->points()));
        if (equal_)
            find_categories(structure);
        else
            kernels().places_among(structure, structure_->points(), sorted_.data(), n_tried_,
                                   places_.data());
        structure_->add_up(places_, columns, n_tried_ + 1, weights_);
        left_.assign(columns, 0);
        const auto sides = [&](std::size_t v) {
            std::uint64_t total = 0;
            if (equal_) std::fill(left_.begin(), left_.end(), 0);
            for (std::size_t k = 0; k < columns; ++k)
                total += left_[k] += weights_[v * columns + k];
            return entropy_of_sides(total);
        };
        keep_hopeful(sides, [&](std::size_t, std::uint64_t of_sides) {
            return scaled_gain(of_sides, left_.data());
        });
    }

    // G of those that may be the best, as far as their sides tell.
    template <class Sides, class G>
    void keep_hopeful(Sides&& sides, G&& g) {
        std::size_t kept = 0;
        for (std::size_t v = 0; v < n_tried_; ++v) {
            const std::uint64_t of_sides = sides(v);
            if (cannot_be_best(of_sides)) continue;
            sums_[kept] = g(v, of_sides);
            tried_[kept++] = tried_[v];
        }
        n_tried_ = kept;
    }

    // The place of each structure point among the categories; n_tried_ if it has another.
    void find_categories(const float* structure) {
        const auto end = sorted_.begin() + static_cast<std::ptrdiff_t>(n_tried_);
        for (std::size_t i = 0; i < structure_->points(); ++i) {
            const auto at = std::lower_bound(sorted_.begin(), end, structure[i]);
            const bool found = at != end && *at == structure[i];
            places_[i] = static_cast<std::uint32_t>(found ? at - sorted_.begin()
                                                          : end - sorted_.begin());
        }
    }

    // Those that are tried; each category once, and of equal ones the last.
    void sort_thresholds() {
        order_.resize(n_tried_);
        for (std::size_t v = 0; v < n_tried_; ++v) order_[v] = {thresholds_[tried_[v]], tried_[v]};
        std::sort(order_.begin(), order_.end());
        if (equal_) {
            const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
            order_.erase(order_.begin(), std::unique(order_.rbegin(), order_.rend(), same).base());
            n_tried_ = order_.size();
        }
        make_room(sorted_, n_tried_);
        for (std::size_t v = 0; v < n_tried_; ++v) {
            sorted_[v] = order_[v].first;
            tried_[v] = order_[v].second;
        }
    }

    // -- halves of a categorical feature (R22) -----------------------------------------------------

    // They come after all split points, whose categories are the thresholds now.
    std::size_t count_halves() const {
        const auto have = std::count_if(thresholds_.data(), thresholds_.data() + m_,
                                        [](float code) { return code >= first_code_with_halves; });
        return std::min(halves_of_split_point * static_cast<std::size_t>(have), halves_of_key);
    }

    template <class Estimate>
    void try_halves(std::uint32_t feature, std::uint64_t key, const float* structure,
                    Estimate&& estimate) {
        const std::size_t halves = count_halves();
        if (halves == 0) return;
        structure_of_halves_.set(key, halves, structure, structure_->points());
        counts_.resize(structure_->counts().size());
        for (std::size_t b = 0; b < halves; ++b) {
            const std::optional<std::uint64_t> g =
                structure_->weighted() || structure_->counts().size() > most_classes_by_masks
                    ? evaluate_half_by_places(b)
                    : evaluate_half_by_masks(b);
            const auto order = static_cast<std::uint32_t>(m_ + b);
            if (g && may_be_best(*g, order) && is_half_valid(key, halves, b, estimate()))
                take(feature, order, half_threshold(key, b), *g);
        }
    }

    bool is_half_valid(std::uint64_t key, std::size_t halves, std::size_t half,
                       const float* estimation) {
        if (!halves_of_estimation_)
            estimation_of_halves_.set(key, halves, estimation, estimation_->points);
        halves_of_estimation_ = true;
        return is_enough(estimation_left(half));
    }

    std::uint64_t estimation_left(std::size_t half) const {
        if (estimation_->weights.empty()) return estimation_of_halves_.count_left(half);
        std::uint64_t left = 0;
        for (std::size_t i = 0; i < estimation_->points; ++i)
            left += estimation_of_halves_.is_left(half, i) ? estimation_->weights[i] : 0;
        return left;
    }

    // G, unless the sides tell that it is too small.
    std::optional<std::uint64_t> evaluate_half_by_masks(std::size_t half) {
        const std::uint64_t sides = entropy_of_sides(structure_of_halves_.count_left(half));
        if (cannot_be_best(sides)) return std::nullopt;
        const std::size_t words = make_masks();
        kernels().count_both(structure_of_halves_.left(half), masks_.data(), words,
                             structure_->counts().size(), counts_.data());
        return scaled_gain(sides, counts_.data());
    }

    std::optional<std::uint64_t> evaluate_half_by_places(std::size_t half) {
        const std::size_t columns = structure_->counts().size() + 1;
        make_room(places_, padded(structure_->points()));
        for (std::size_t i = 0; i < structure_->points(); ++i)
            places_[i] = !structure_of_halves_.is_left(half, i);
        structure_->add_up(places_, columns, 2, weights_);
        std::uint64_t total = 0;
        for (std::size_t k = 0; k < columns; ++k) total += weights_[k];
        const std::uint64_t sides = entropy_of_sides(total);
        if (cannot_be_best(sides)) return std::nullopt;
        return scaled_gain(sides, weights_.data());
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

    // If it is valid. Features come in order.
    bool may_be_best(std::uint64_t g, std::uint32_t j) const {
        if (exact_ && static_cast<std::int64_t>(g) < least_) return false;
        return !chosen_ || !is_better(best_.g, best_.split_point, g, j);
    }

    void take(std::uint32_t feature, std::uint32_t j, float threshold, std::uint64_t g) {
        chosen_ = true;
        best_ = {feature, j, threshold, g, 0};
        best_at_ = asked_at_;
        if (exact_) least_ = static_cast<std::int64_t>(g);
    }

    // R9: among those of one feature.
    bool is_better(std::uint64_t g, std::uint32_t j, std::uint64_t than_g,
                   std::uint32_t than_j) const {
        if (exact_) {
            const auto now = static_cast<std::int64_t>(g), then = static_cast<std::int64_t>(than_g);
            return now > then || (now == then && j > than_j);
        }
        const double now = gain(g, structure_->weight()), then = gain(than_g, structure_->weight());
        return now > then || (now == then && j > than_j);
    }

    const StructureTally* structure_ = nullptr;
    const ListedEstimation* estimation_ = nullptr;
    std::uint64_t estimation_weight_ = 0;
    std::uint64_t alpha_ = 0;
    std::size_t m_ = 0;   // split points
    bool exact_ = false;  // G alone tells which gain is larger
    bool chosen_ = false;  // there is a best one
    LookChoice best_;
    std::int64_t least_ = lowest;  // a candidate of less G is not the best

    Group group_;                          // the last
    std::vector<float> structure_values_;  // a row per feature of it
    // Of the feature that was asked for last, and of the best:
    std::array<std::vector<float>, 2> estimation_values_;
    std::size_t asked_at_ = 0, best_at_ = 0;  // which is which
    std::uint32_t asked_ = nothing;
    // Of one feature:
    std::vector<float> thresholds_;  // by split point
    std::vector<std::uint32_t> tried_;  // the first n_tried_: split points that may be the best
    std::vector<std::uint64_t> sums_;   // and their G
    std::size_t n_tried_ = 0;
    bool equal_ = false;  // it is categorical: left is what equals a threshold
    std::vector<float> sorted_;                           // their thresholds
    std::vector<std::pair<float, std::uint32_t>> order_;  // and their split points
    // By terms and by masks:
    std::vector<std::uint64_t> masks_;       // the points of each class, and all points
    std::vector<std::uint32_t> starts_;      // of the terms of each class, and of all points
    std::vector<std::uint64_t> words_left_;  // the points on the left of each candidate
    std::vector<std::uint32_t> totals_;      // how many they are
    std::vector<std::uint32_t> counts_;      // and how many of each class
    // Of halves:
    PointsOfHalves structure_of_halves_, estimation_of_halves_;
    bool halves_of_estimation_ = false;  // they are those of the feature that was asked for
    // By places:
    std::vector<std::uint32_t> places_;   // of each point
    std::vector<std::uint64_t> weights_;  // by place and class
    std::vector<std::uint64_t> left_;     // by class
};

}  // namespace riparian
