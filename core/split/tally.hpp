// The labels of the structure points that a leaf lists, ready for counting (R20).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
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
    // By class, and the classes as they are met. Whether one is new is a coin toss: no branch asks for it.
    template <class WeightOf>
    void count(WeightOf&& weight_of) {
        n_classes_ = 0;
        for (std::size_t i = 0; i < labels_.size(); ++i) {
            const Class y = labels_[i];
            if (y >= by_class_.size()) [[unlikely]]
                make_room(y);
            const std::uint64_t before = by_class_[y];
            classes_[n_classes_] = y;
            n_classes_ += before == 0;
            by_class_[y] = before + weight_of(i);
        }
    }

    void make_room(Class y) {
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

    std::span<const Class> labels_;
    std::span<const Weight> weights_;
    std::vector<std::uint64_t> counts_;
    std::vector<std::uint64_t> by_class_;  // weights while they are counted, else 0
    std::vector<std::uint32_t> place_of_;  // by class, of those of the last labels
    std::vector<Class> classes_;           // the first n_classes_: as they are met
    std::size_t n_classes_ = 0;
    std::uint64_t weight_ = 0;
    std::uint64_t entropy_ = 0;
};

}  // namespace riparian
