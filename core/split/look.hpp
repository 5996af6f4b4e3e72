// R20: a young leaf looks at the points it lists for the best valid split. Of estimation points it is
// handed values and weights, never a label: what it chooses cannot depend on them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "counts/counts.hpp"
#include "kernels/kernels.hpp"
#include "split/entropy.hpp"
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
    std::uint32_t split_point = 0;  // its place among the split points drawn
    float threshold = 0;
    std::uint64_t g = 0;  // G, over all listed structure points (R14)
    double gain = 0;
};

struct LookResult {
    bool any_valid = false;  // if not, the next attempt draws other candidates
    std::optional<LookChoice>
        best;  // of the valid candidates, if its gain is above what was asked for
};

// R20: a look is passed over where not even a split that told all classes apart would have a gain above
// τ; nothing is drawn for it.
inline bool look_can_succeed(const StructureTally& structure, double min_gain) {
    return gain(structure.entropy(), structure.weight()) > min_gain;
}

// Searches, one after the other. Between them it is only room.
class Look {
public:
    // `features` were drawn, and then the structure points at `split_points` of the list: candidates are
    // ordered by split point, then by feature (R9). Values are asked for by
    // values.structure(features, out, stride) and values.estimation(features, out, stride), which write
    // out[d * stride + i]. Valid is a candidate with at least α estimation points on both sides (R6);
    // the best has the largest gain and was created last among equals. `above` is τ, or nothing if any
    // gain will do.
    template <class Feature, class Values>
    LookResult search(std::span<const Feature> features,
                      std::span<const std::uint32_t> split_points, const StructureTally& structure,
                      const ListedEstimation& estimation, const Values& values, std::uint64_t alpha,
                      std::optional<double> above) {
        begin(structure, estimation, alpha, above);
        const std::size_t stride = padded(structure.points());
        const std::size_t estimation_stride = padded(estimation.points);
        const std::size_t group = std::clamp<std::size_t>(
            floats_at_once / (stride + estimation_stride + 1), 1, features.size() + 1);
        structure_values_.resize(group * stride);
        estimation_values_.resize(group * estimation_stride);
        for (std::size_t d = 0; d < features.size(); d += group) {
            const auto some = features.subspan(d, std::min(group, features.size() - d));
            values.structure(some, structure_values_.data(), stride);
            values.estimation(some, estimation_values_.data(), estimation_stride);
            for (std::size_t k = 0; k < some.size(); ++k) {
                const float* on_structure = pad(structure_values_, k * stride, structure.points());
                const float* on_estimation =
                    pad(estimation_values_, k * estimation_stride, estimation.points);
                try_feature(static_cast<std::uint32_t>(d + k), on_structure, on_estimation,
                            split_points);
            }
        }
        return finish(above);
    }

private:
    static constexpr std::size_t floats_at_once = 1 << 14;  // values that stay in the cache
    static constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
    // Up to this weight, candidates with different G have different gains: one divisor for all of them,
    // and G has fewer digits than a float64.
    static constexpr std::uint64_t most_points_exact = std::uint64_t{1} << 24;

    static std::size_t padded(std::size_t n) { return (n + 15) / 16 * 16; }

    // The kernels read sixteen values at a time; a missing one is left of nothing.
    static const float* pad(std::vector<float>& values, std::size_t first, std::size_t n) {
        float* row = values.data() + first;
        std::fill(row + n, row + padded(n), std::numeric_limits<float>::quiet_NaN());
        return row;
    }

    void begin(const StructureTally& structure, const ListedEstimation& estimation,
               std::uint64_t alpha, std::optional<double> above) {
        structure_ = &structure;
        estimation_ = &estimation;
        estimation_weight_ = estimation.weight();
        alpha_ = alpha;
        words_ = (structure.points() + 63) / 64;
        masks_.clear();
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

    void try_feature(std::uint32_t feature, const float* structure, const float* estimation,
                     std::span<const std::uint32_t> split_points) {
        thresholds_.resize(split_points.size());
        for (std::size_t j = 0; j < split_points.size(); ++j)
            thresholds_[j] = structure[split_points[j]];
        keep_valid(estimation);
        if (valid_.empty()) return;
        any_valid_ = true;
        if (structure_->weighted() || places_are_faster())
            evaluate_by_places(feature, structure);
        else
            evaluate_by_masks(feature, structure);
    }

    // The split points whose candidates are valid, and their thresholds. Of equal thresholds, the last
    // alone: it has the gain of the others.
    void keep_valid(const float* estimation) {
        const std::size_t m = thresholds_.size();
        if (estimation_->weights.empty()) {
            counts_.resize(m);
            kernels().count_left(estimation, estimation_->points, thresholds_.data(), m,
                                 counts_.data());
            left_.assign(counts_.begin(), counts_.end());
        } else {
            weigh_left(estimation);
        }
        valid_.clear();
        for (std::uint32_t j = 0; j < m; ++j)
            if (left_[j] >= alpha_ && estimation_weight_ - left_[j] >= alpha_ && is_last(j))
                valid_.push_back(j);
        for (std::size_t v = 0; v < valid_.size(); ++v) thresholds_[v] = thresholds_[valid_[v]];
        thresholds_.resize(valid_.size());
    }

    bool is_last(std::uint32_t j) const {
        constexpr std::size_t most = 32;  // beyond, looking for repeats costs more than it saves
        if (thresholds_.size() > most) return true;
        for (std::size_t later = j + 1; later < thresholds_.size(); ++later)
            if (thresholds_[later] == thresholds_[j]) return false;
        return true;
    }

    void weigh_left(const float* estimation) {
        left_.assign(thresholds_.size(), 0);
        for (std::size_t j = 0; j < thresholds_.size(); ++j)
            for (std::size_t i = 0; i < estimation_->points; ++i)
                left_[j] += estimation[i] <= thresholds_[j] ? estimation_->weights[i] : 0;
    }

    // -- gains of the valid candidates -----------------------------------------------------------

    // Masks take a pass over the words per class and candidate, places one over the points.
    bool places_are_faster() const {
        return valid_.size() * structure_->counts().size() * words_ >
               3 * structure_->points() + 500;
    }

    // Structure points as bits: those on the left, and those of a class.
    void evaluate_by_masks(std::uint32_t feature, const float* structure) {
        const auto& F = EntropyTable::get();
        const auto counts = structure_->counts();
        if (masks_.empty()) structure_->make_masks(masks_, words_);
        words_left_.resize(valid_.size() * words_);
        totals_.resize(valid_.size());
        kernels().left_words(structure, structure_->points(), thresholds_.data(), valid_.size(),
                             words_left_.data(), totals_.data());
        counts_.resize(counts.size());
        for (std::size_t v = 0; v < valid_.size(); ++v) {
            const std::uint64_t sides = entropy_of_sides(totals_[v]);
            if (cannot_be_best(sides)) continue;
            kernels().count_both(words_left_.data() + v * words_, masks_.data(), words_,
                                 counts.size(), counts_.data());
            std::uint64_t g = sides + structure_->entropy() - F(structure_->weight());
            for (std::size_t k = 0; k < counts.size(); ++k)
                g += F(counts_[k]) + F(counts[k] - counts_[k]);
            consider(feature, v, g);
        }
    }

    // Structure points by their places among the thresholds: those up to a threshold's place are on its
    // left.
    void evaluate_by_places(std::uint32_t feature, const float* structure) {
        const auto& F = EntropyTable::get();
        const auto counts = structure_->counts();
        sort_thresholds();
        const std::size_t columns = counts.size() + 1;  // the last: classes without a place
        places_.resize(padded(structure_->points()));
        kernels().places_among(structure, structure_->points(), thresholds_.data(), valid_.size(),
                               places_.data());
        weights_.assign((valid_.size() + 1) * columns, 0);
        for (std::size_t i = 0; i < structure_->points(); ++i) {
            const std::size_t column = std::min<std::size_t>(structure_->place(i), counts.size());
            weights_[places_[i] * columns + column] += structure_->weight(i);
        }
        left_.assign(columns, 0);
        for (std::size_t v = 0; v < valid_.size(); ++v) {
            std::uint64_t total = 0;
            for (std::size_t k = 0; k < columns; ++k)
                total += left_[k] += weights_[v * columns + k];
            const std::uint64_t sides = entropy_of_sides(total);
            if (cannot_be_best(sides)) continue;
            std::uint64_t g = sides + structure_->entropy() - F(structure_->weight());
            for (std::size_t k = 0; k < counts.size(); ++k)
                g += F(left_[k]) + F(counts[k] - left_[k]);
            consider(feature, v, g);
        }
    }

    void sort_thresholds() {
        order_.resize(valid_.size());
        for (std::size_t v = 0; v < valid_.size(); ++v) order_[v] = {thresholds_[v], valid_[v]};
        std::sort(order_.begin(), order_.end());
        for (std::size_t v = 0; v < valid_.size(); ++v)
            std::tie(thresholds_[v], valid_[v]) = order_[v];
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

    void consider(std::uint32_t feature, std::size_t v, std::uint64_t g) {
        const std::uint32_t j = valid_[v];
        if (chosen_ && !is_better(g, j)) return;
        if (exact_ && static_cast<std::int64_t>(g) < least_) return;
        chosen_ = true;
        best_ = {feature, j, thresholds_[v], g, 0};
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

    std::vector<float> structure_values_, estimation_values_;  // a row per feature
    std::vector<float> thresholds_;                            // of one feature
    std::vector<std::uint64_t>
        left_;  // by threshold: estimation points; by class: structure points
    std::vector<std::uint32_t> valid_;  // split points
    std::vector<std::uint32_t> counts_, totals_;
    std::size_t words_ = 0;                  // of 64 structure points
    std::vector<std::uint64_t> masks_;       // by class
    std::vector<std::uint64_t> words_left_;  // by valid candidate
    std::vector<std::uint32_t> places_;      // by structure point
    std::vector<std::uint64_t> weights_;     // by place and class
    std::vector<std::pair<float, std::uint32_t>> order_;
};

}  // namespace riparian
