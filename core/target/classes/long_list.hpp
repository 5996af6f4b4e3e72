// A long list of points, counted candidate by candidate: a word of bits holds 64 points. Counting
// point by point would take many times as long, and a leaf whose points are all alike draws again,
// and counts its list again, many times (R8, R20).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "counts/candidate_shape.hpp"
#include "counts/streams.hpp"
#include "kernels/kernels.hpp"
#include "target/classes/labels.hpp"

namespace riparian {

// Counts lists of one stream, one after the other, and keeps only its memory between them.
class LongList {
public:
    // The points of one label.
    struct Row {
        Class label;
        const std::uint64_t* left;  // their weight left of each candidate; at the places of all
                                    // points, the weight of all of them
    };

    // The distance between two dimensions: values are read in groups of sixteen.
    static std::size_t stride(std::size_t points) { return (points + 15) / 16 * 16; }

    // Whether the list is long enough and has few enough classes. Without weights, all are 1.
    bool set(std::span<const Class> labels, std::span<const Weight> weights) {
        if (labels.size() < least_points) return false;
        const Weight heaviest =
            weights.empty() ? 1 : *std::max_element(weights.begin(), weights.end());
        planes_ = static_cast<std::size_t>(std::bit_width(heaviest));
        n_labels_ = *std::max_element(labels.begin(), labels.end()) + std::size_t{1};
        if (n_labels_ * planes_ > most_masks) return false;
        points_ = labels.size();
        words_ = (points_ + 63) / 64;
        make_masks(labels, weights);
        return true;
    }

    std::uint64_t weight() const {
        std::uint64_t sum = 0;
        for (const std::uint64_t weight : weights_) sum += weight;
        return sum;
    }

    // Calls visitor(row) for each label, for the first `split_points` thresholds. values[d * stride
    // + i] is the value of point i in dimension d, and places past the last point are overwritten;
    // equals(d) says whether the dimension is categorical (R22).
    template <class Equals, class Visitor>
    void for_each_row(const CandidateShape& shape, std::size_t split_points,
                      const float* thresholds, std::span<float> values, Equals&& equals,
                      Visitor&& visitor) {
        counts_.assign(n_labels_ * shape.counters(), 0);
        const std::size_t m = shape.split_points;
        for (std::size_t d = 0; d < shape.dims; ++d) {
            float* mine = values.data() + d * stride(points_);
            std::fill(mine + points_, mine + stride(points_),
                      std::numeric_limits<float>::quiet_NaN());
            count_dimension(shape, d * m, thresholds + d * m, mine, equals(d));
        }
        for (Class y = 0; y < n_labels_; ++y) {
            if (weights_[y] == 0) continue;
            std::uint64_t* row = counts_.data() + y * shape.counters();
            std::fill_n(row + shape.everyone(0), split_points, weights_[y]);
            visitor(Row{y, row});
        }
    }

private:
    // Shorter lists are as fast point by point. Each mask takes a pass over all words per
    // candidate.
    static constexpr std::size_t least_points = 128, most_masks = 256;

    // For each label, one mask per binary digit of the weights: the points with a one there.
    void make_masks(std::span<const Class> labels, std::span<const Weight> weights) {
        masks_.assign(n_labels_ * planes_ * words_, 0);
        weights_.assign(n_labels_, 0);
        for (std::size_t i = 0; i < points_; ++i) {
            const Weight weight = weights.empty() ? Weight{1} : weights[i];
            weights_[labels[i]] += weight;
            for (Weight left = weight; left; left &= left - 1)
                masks_[mask(labels[i], static_cast<std::size_t>(std::countr_zero(left))) * words_ +
                       i / 64] |= std::uint64_t{1} << (i % 64);
        }
    }
    std::size_t mask(Class y, std::size_t plane) const { return y * planes_ + plane; }

    void count_dimension(const CandidateShape& shape, std::size_t first, const float* thresholds,
                         const float* values, bool equal) {
        const std::size_t m = shape.split_points;
        left_.resize(m * words_);
        totals_.resize(m);
        by_mask_.resize(n_labels_ * planes_);
        kernels().left_words(values, points_, thresholds, m, equal, left_.data(), totals_.data());
        for (std::size_t j = 0; j < m; ++j) {
            kernels().count_both(left_.data() + j * words_, masks_.data(), words_, by_mask_.size(),
                                 by_mask_.data());
            for (Class y = 0; y < n_labels_; ++y)
                for (std::size_t plane = 0; plane < planes_; ++plane)
                    counts_[y * shape.counters() + first + j] +=
                        std::uint64_t{by_mask_[mask(y, plane)]} << plane;
        }
    }

    std::size_t points_ = 0, words_ = 0, n_labels_ = 0, planes_ = 0;
    std::vector<std::uint64_t> masks_;
    std::vector<std::uint64_t> weights_;  // by label
    std::vector<std::uint64_t> left_;     // the points left of a threshold
    std::vector<std::uint32_t> totals_;   // how many there are
    std::vector<std::uint32_t> by_mask_;  // and how many in each mask
    std::vector<std::uint64_t> counts_;   // a row of counters for each label
};

}  // namespace riparian
