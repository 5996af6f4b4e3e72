// R20: a young leaf looks at its listed points for the best valid split. This file has the geometry
// of a look: candidates, thresholds, sides, halves and validity. The tally of the target says what
// a candidate is worth. A look receives values and weights of estimation points but never a label,
// so its choice cannot depend on their labels.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "counts/candidate.hpp"
#include "counts/streams.hpp"
#include "kernels/kernels.hpp"
#include "space/categories.hpp"
#include "split/halves.hpp"
#include "split/thresholds.hpp"

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

template <class G>
struct LookResult {
    bool any_valid = false;             // if false, the next attempt draws other candidates
    std::optional<LookChoice<G>> best;  // the best valid candidate, if its gain is above the bound

    // A look that cannot succeed counts as one that lacked points.
    static LookResult passed_over() { return {.any_valid = true, .best = std::nullopt}; }
};

// Makes one search after the other and keeps only its memory between them. `Tally` is the tally of
// a target (see target/target.hpp).
//
// Gains come first. Values of estimation points are needed only for a feature that has a better
// candidate than the best so far: with k features, for about ln(k) of them.
template <class Tally>
class Look {
public:
    using G = typename Tally::G;
    using Result = LookResult<G>;

    // Searches the drawn `features` and the structure points at `split_points` of the list.
    // Candidates are ordered by split point, then by feature (R9). values.structure(features, out,
    // stride) and values.estimation(features, out, stride) write the values to out[d * stride + i];
    // values.equals(feature) says whether a feature is categorical, and values.halves(feature)
    // returns the key of its halves (R22). A candidate is valid if it has at least α > 0 estimation
    // points on both sides (R6). The best has the largest gain and was created last among equals.
    // `above` is τ, or empty if any gain is enough.
    template <class Feature, class Values>
    Result search(std::span<const Feature> features, std::span<const std::uint32_t> split_points,
                  Tally& structure, const ListedEstimation& estimation, const Values& values,
                  std::uint64_t alpha, std::optional<double> above) {
        begin(structure, estimation, split_points.size(), alpha, above);
        if (estimation_weight_ / 2 < alpha) return {};
        for_each(features, values, [&](std::uint32_t feature, float* mine) {
            const auto estimate = [&] { return ask_estimation(features, feature, values); };
            if constexpr (Tally::always_at_once)
                try_at_once(feature, mine, split_points, estimate);
            else if (structure.evaluates_at_once())
                try_at_once(feature, mine, split_points, estimate);
            else
                try_feature(feature, mine, split_points, estimate);
            if (thresholds_.equal()) {
                thresholds_.set(mine, split_points);
                try_halves(feature, values.halves(features[feature]), mine, estimate);
            }
            return true;
        });
        if (!chosen_) return {any_is_valid(features, split_points, values), std::nullopt};
        best_.gain = structure.gain(best_.g);
        if (above && !(best_.gain > *above)) return {true, std::nullopt};
        return {true, best_};
    }

    // The values that the last search has read for the feature that it chose. Those of structure
    // points are empty if there were too many to keep.
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
    // Features whose values of structure points are read together.
    struct Group {
        std::size_t first = 0, count = 0, stride = 0;
    };

    // The number of values that stay in the cache.
    static constexpr std::size_t floats_at_once = 1 << 15;
    static constexpr std::uint32_t nothing = std::numeric_limits<std::uint32_t>::max();

    void begin(Tally& structure, const ListedEstimation& estimation, std::size_t split_points,
               std::uint64_t alpha, std::optional<double> above) {
        structure_ = &structure;
        estimation_ = &estimation;
        estimation_weight_ = estimation.weight();
        alpha_ = alpha;
        m_ = split_points;
        thresholds_.begin(m_);
        for (auto& values : estimation_values_) make_room(values, padded(estimation.points));
        asked_ = nothing;
        chosen_ = false;
        structure.begin(above);
    }

    // Calls visitor(feature, values of structure points) while it returns true.
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
                structure_of_feature_ = mine;
                thresholds_.set_equal(values.equals(some[k]));
                if (!visitor(static_cast<std::uint32_t>(d + k), mine)) return;
            }
        }
    }

    // -- estimation points ------------------------------------------------------------------------

    // The values of the best feature are kept. If all points are on one list, values that were read
    // to choose a split are not read again.
    template <class Feature, class Values>
    const float* ask_estimation(std::span<const Feature> features, std::uint32_t feature,
                                const Values& values) {
        if (values.are_of_one_list()) {
            if (asked_ != feature) {
                pad(structure_of_feature_, estimation_->points);
                halves_of_estimation_ = false;
            }
            asked_ = feature;
            return structure_of_feature_;
        }
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
                                                    thresholds_.equal())
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
        return thresholds_.equal() ? value == threshold : value <= threshold;
    }

    // If no candidate is valid, the next attempt draws other ones.
    template <class Feature, class Values>
    bool any_is_valid(std::span<const Feature> features,
                      std::span<const std::uint32_t> split_points, const Values& values) {
        bool any = false;
        for_each(features, values, [&](std::uint32_t feature, const float* structure) {
            thresholds_.set(structure, split_points);
            const float* estimation = ask_estimation(features, feature, values);
            for (std::size_t j = 0; j < m_ && !any; ++j) any = is_valid(estimation, thresholds_[j]);
            const std::size_t halves = any || !thresholds_.equal() ? 0 : count_halves();
            for (std::size_t b = 0; b < halves && !any; ++b)
                any = is_half_valid(values.halves(features[feature]), halves, b, estimation);
            return !any;
        });
        return any;
    }

    // -- one feature ------------------------------------------------------------------------------

    // The tally finds the best of all thresholds in one pass. If that one is not valid, the others
    // are tried one by one.
    template <class Estimate>
    void try_at_once(std::uint32_t feature, const float* structure,
                     std::span<const std::uint32_t> split_points, Estimate&& estimate) {
        auto& sums = thresholds_.g_by_split_point();
        const std::size_t best =
            structure_->evaluate_at_once(structure, split_points, thresholds_.equal(), sums.data());
        const G g = structure_->g_of_sum(sums[best]);
        const auto j = static_cast<std::uint32_t>(best);
        if (!may_be_best(g, j)) return;
        const float threshold = structure[split_points[best]];
        if (is_valid(estimate(), threshold)) return take(feature, j, threshold, g);
        thresholds_.set(structure, split_points);
        thresholds_.try_distinct();
        for (std::size_t v = 0; v < thresholds_.tried(); ++v)
            thresholds_.g(v) = structure_->g_of_sum(sums[thresholds_.split_point(v)]);
        choose(feature, estimate);
    }

    template <class Estimate>
    void try_feature(std::uint32_t feature, float* structure,
                     std::span<const std::uint32_t> split_points, Estimate&& estimate) {
        thresholds_.set(structure, split_points);
        thresholds_.try_distinct();
        if (thresholds_.tried() == 0) return;
        structure_->evaluate(thresholds_, structure);
        choose(feature, estimate);
    }

    // Returns the best of the thresholds that were tried, if it is valid, or else the next best.
    template <class Estimate>
    void choose(std::uint32_t feature, Estimate&& estimate) {
        while (thresholds_.tried() > 0) {
            std::size_t v = 0;
            for (std::size_t other = 1; other < thresholds_.tried(); ++other)
                if (is_better(thresholds_.g(other), thresholds_.split_point(other),
                              thresholds_.g(v), thresholds_.split_point(v)))
                    v = other;
            const G g = thresholds_.g(v);
            const std::uint32_t j = thresholds_.split_point(v);
            if (!may_be_best(g, j)) return;
            if (is_valid(estimate(), thresholds_[j])) return take(feature, j, thresholds_[j], g);
            thresholds_.drop(v);
        }
    }

    // -- halves of a categorical feature (R22) ----------------------------------------------------

    // Halves come after all split points, whose categories have been tried as thresholds.
    std::size_t count_halves() const {
        const auto codes = thresholds_.all();
        const auto have = std::count_if(codes.begin(), codes.end(),
                                        [](float code) { return code >= first_code_with_halves; });
        return std::min(halves_of_split_point * static_cast<std::size_t>(have), halves_of_key);
    }

    template <class Estimate>
    void try_halves(std::uint32_t feature, std::uint64_t key, const float* structure,
                    Estimate&& estimate) {
        const std::size_t halves = count_halves();
        if (halves == 0) return;
        structure_of_halves_.set(key, halves, structure, structure_->points());
        for (std::size_t b = 0; b < halves; ++b) {
            const std::optional<G> g = structure_->evaluate_half(structure_of_halves_, b);
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

    // -- the best of them -------------------------------------------------------------------------

    // Takes the candidate if it is valid. Features come in order.
    bool may_be_best(const G& g, std::uint32_t j) const {
        if (structure_->is_too_small(g)) return false;
        return !chosen_ || !is_better(best_.g, best_.split_point, g, j);
    }

    void take(std::uint32_t feature, std::uint32_t j, float threshold, const G& g) {
        chosen_ = true;
        best_ = {feature, j, threshold, g, 0};
        best_at_ = asked_at_;
        structure_->expect(g);
    }

    // R9 for the candidates of one feature.
    bool is_better(const G& g, std::uint32_t j, const G& than_g, std::uint32_t than_j) const {
        const auto order = structure_->compare(g, than_g);
        return order > 0 || (order == 0 && j > than_j);
    }

    Tally* structure_ = nullptr;
    const ListedEstimation* estimation_ = nullptr;
    std::uint64_t estimation_weight_ = 0;
    std::uint64_t alpha_ = 0;
    std::size_t m_ = 0;    // split points
    bool chosen_ = false;  // whether there is a best candidate
    LookChoice<G> best_;

    Group group_;                            // the last one
    std::vector<float> structure_values_;    // one row per feature of it
    float* structure_of_feature_ = nullptr;  // the row of the current feature
    // For the feature whose values were read last, and for the best one:
    std::array<std::vector<float>, 2> estimation_values_;
    std::size_t asked_at_ = 0, best_at_ = 0;  // the indices of these two
    std::uint32_t asked_ = nothing;
    Thresholds<G> thresholds_;  // of one feature
    PointsOfHalves structure_of_halves_, estimation_of_halves_;
    // Whether the halves are those of the feature that was read last.
    bool halves_of_estimation_ = false;
};

}  // namespace riparian
