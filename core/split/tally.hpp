// The labels of the structure points that a leaf lists, ready for counting (R20).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "counts/counts.hpp"
#include "split/entropy.hpp"

namespace riparian {

// Each class that occurs has a place, unless its total weight is 1: F(0) = F(1) = 0, so such a class adds
// nothing to G, whichever way its point goes. All of those share the place after the last.
class StructureTally {
public:
    // No weights: all 1. Labels and weights must outlive the tally.
    void set(std::span<const Class> labels, std::span<const Weight> weights) {
        for (const Class y : classes_) place_of_[y] = unknown;
        labels_ = labels;
        weights_ = weights;
        counts_.clear();
        classes_.clear();
        weight_ = labels.size();
        if (weights.empty())
            count([](std::size_t) { return Weight{1}; });
        else
            weigh();
        sum_entropy();
    }

    std::size_t points() const { return labels_.size(); }
    std::uint64_t weight() const { return weight_; }  // N
    bool weighted() const { return !weights_.empty(); }
    std::span<const std::uint64_t> counts() const { return counts_; }  // n_k by place

    // Of all of them: F(N) - Σ F(n_k), which is G for a split that tells the classes apart.
    std::uint64_t entropy() const { return entropy_; }

    // By place, one bit per point; after the last place, the bits of all points.
    void make_masks(std::vector<std::uint64_t>& masks, std::size_t words) const {
        const std::size_t rows = counts_.size();
        masks.assign((rows + 1) * words, 0);
        for (std::size_t i = 0; i < labels_.size(); ++i)
            masks[place_of_[labels_[i]] * words + i / 64] |= std::uint64_t{1} << (i % 64);
        std::fill_n(masks.data() + rows * words, words, ~std::uint64_t{0});
        if (labels_.size() % 64) masks.back() = (std::uint64_t{1} << labels_.size() % 64) - 1;
    }

    // sums[where[i] * columns + place of point i] over all points.
    void add_up(std::span<const std::uint32_t> where, std::size_t columns, std::size_t rows,
                std::vector<std::uint64_t>& sums) const {
        sums.assign(rows * columns, 0);
        const auto at = [&](std::size_t i) -> std::uint64_t& {
            return sums[where[i] * columns + place_of_[labels_[i]]];
        };
        if (weights_.empty())
            for (std::size_t i = 0; i < labels_.size(); ++i) ++at(i);
        else
            for (std::size_t i = 0; i < labels_.size(); ++i) at(i) += weights_[i];
    }

private:
    static constexpr std::uint32_t unknown = std::numeric_limits<std::uint32_t>::max();

    template <class WeightOf>
    void count(WeightOf&& weight_of) {
        for (std::size_t i = 0; i < labels_.size(); ++i) {
            const Class y = labels_[i];
            if (y >= place_of_.size()) [[unlikely]]
                place_of_.resize(y + 1, unknown);
            if (place_of_[y] == unknown) {
                place_of_[y] = static_cast<std::uint32_t>(classes_.size());
                classes_.push_back(y);
                counts_.push_back(0);
            }
            counts_[place_of_[y]] += weight_of(i);
        }
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
        for (const std::uint64_t n : counts_) places += n > 1;
        const std::uint32_t after_last = places;
        places = 0;
        for (std::size_t k = 0; k < classes_.size(); ++k) {
            const std::uint64_t n = counts_[k];
            entropy_ -= F(n);
            place_of_[classes_[k]] = n > 1 ? places : after_last;
            counts_[places] = n;
            places += n > 1;
        }
        counts_.resize(places);
    }

    std::span<const Class> labels_;
    std::span<const Weight> weights_;
    std::vector<std::uint64_t> counts_;
    std::vector<Class> classes_;           // as they are met
    std::vector<std::uint32_t> place_of_;  // by class; unknown, but for those of the last labels
    std::uint64_t weight_ = 0;
    std::uint64_t entropy_ = 0;
};

}  // namespace riparian
