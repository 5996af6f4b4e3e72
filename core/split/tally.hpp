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
// nothing to G, whichever way its point goes.
class StructureTally {
public:
    static constexpr std::uint32_t no_place = std::numeric_limits<std::uint32_t>::max();

    // No weights: all 1. They must outlive the tally.
    void set(std::span<const Class> labels, std::span<const Weight> weights) {
        weights_ = weights;
        places_.resize(labels.size());
        counts_.clear();
        classes_.clear();
        count(labels);
        sum_entropy();
        for (std::size_t i = 0; i < labels.size(); ++i) places_[i] = place_of_[labels[i]];
        for (const Class y : classes_) place_of_[y] = no_place;
    }

    std::size_t points() const { return places_.size(); }
    std::uint64_t weight() const { return weight_; }  // N
    bool weighted() const { return !weights_.empty(); }
    Weight weight(std::size_t i) const { return weights_.empty() ? 1 : weights_[i]; }
    std::span<const std::uint64_t> counts() const { return counts_; }  // n_k by place

    // Of all of them: F(N) - Σ F(n_k), which is G for a split that tells the classes apart.
    std::uint64_t entropy() const { return entropy_; }

    // By place, one bit per point.
    void make_masks(std::vector<std::uint64_t>& masks, std::size_t words) const {
        masks.assign(counts_.size() * words, 0);
        for (std::size_t i = 0; i < places_.size(); ++i)
            if (places_[i] != no_place)
                masks[places_[i] * words + i / 64] |= std::uint64_t{1} << (i % 64);
    }

    // sums[where[i] * columns + place of point i] over all points; those without a place come last.
    void add_up(std::span<const std::uint32_t> where, std::size_t columns, std::size_t rows,
                std::vector<std::uint64_t>& sums) const {
        sums.assign(rows * columns, 0);
        const auto at = [&](std::size_t i) -> std::uint64_t& {
            return sums[where[i] * columns + std::min<std::size_t>(places_[i], columns - 1)];
        };
        if (weights_.empty())
            for (std::size_t i = 0; i < places_.size(); ++i) ++at(i);
        else
            for (std::size_t i = 0; i < places_.size(); ++i) at(i) += weights_[i];
    }

private:
    void count(std::span<const Class> labels) {
        weight_ = 0;
        for (std::size_t i = 0; i < labels.size(); ++i) {
            const Class y = labels[i];
            if (y >= place_of_.size()) place_of_.resize(y + 1, no_place);
            if (place_of_[y] == no_place) {
                place_of_[y] = static_cast<std::uint32_t>(classes_.size());
                classes_.push_back(y);
                counts_.push_back(0);
            }
            counts_[place_of_[y]] += weight(i);
            weight_ += weight(i);
        }
    }

    void sum_entropy() {
        const auto& F = EntropyTable::get();
        entropy_ = F(weight_);
        std::uint32_t places = 0;
        for (std::size_t k = 0; k < classes_.size(); ++k) {
            const std::uint64_t n = counts_[k];
            entropy_ -= F(n);
            place_of_[classes_[k]] = n > 1 ? places : no_place;
            if (n > 1) counts_[places++] = n;
        }
        counts_.resize(places);
    }

    std::span<const Weight> weights_;
    std::vector<std::uint32_t> places_;
    std::vector<std::uint64_t> counts_;
    std::vector<Class> classes_;           // as they are met
    std::vector<std::uint32_t> place_of_;  // by class; no_place between tallies
    std::uint64_t weight_ = 0;
    std::uint64_t entropy_ = 0;
};

}  // namespace riparian
