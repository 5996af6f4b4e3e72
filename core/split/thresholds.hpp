// The thresholds of one feature in a look (R20), and which structure points are left of each (R4,
// R22). Nothing here knows a label.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kernels/kernels.hpp"

namespace riparian {

// Kernels work on sixteen values at a time.
inline std::size_t padded(std::size_t n) { return (n + 15) / 16 * 16; }

// Places past the last value must not count: a missing value is left of no threshold.
inline void pad(float* values, std::size_t n) {
    std::fill(values + n, values + padded(n), std::numeric_limits<float>::quiet_NaN());
}

template <class T>
void make_room(std::vector<T>& values, std::size_t n) {
    if (values.size() < n) values.resize(n);
}

// `G` is the value of a threshold according to the tally of a look. Thresholds that cannot be the
// best are dropped. The others are *tried*, and numbered from 0 to tried() - 1.
template <class G>
class Thresholds {
public:
    // Starts a search with m split points.
    void begin(std::size_t m) {
        m_ = m;
        make_room(by_split_point_, padded(m));
        pad(by_split_point_.data(), m);
        make_room(tried_, m);
        make_room(g_, m);
    }

    // Starts the next feature. If it is categorical, the points that equal a threshold are left of
    // it.
    void set_equal(bool equal) { equal_ = equal; }
    bool equal() const { return equal_; }

    // `values` are those of the structure points, some of which are the split points.
    void set(const float* values, std::span<const std::uint32_t> split_points) {
        for (std::size_t j = 0; j < m_; ++j) by_split_point_[j] = values[split_points[j]];
    }
    // Of split point j.
    float operator[](std::size_t j) const { return by_split_point_[j]; }
    std::span<const float> all() const { return {by_split_point_.data(), m_}; }

    // -- those that are tried ---------------------------------------------------------------------

    std::size_t tried() const { return n_tried_; }
    std::uint32_t split_point(std::size_t v) const { return tried_[v]; }
    G& g(std::size_t v) { return g_[v]; }
    // One per split point, before any is dropped.
    std::vector<G>& g_by_split_point() { return g_; }

    // One per value that is not missing. Of equal thresholds, the last is kept (R9).
    void try_distinct() {
        n_tried_ = kernels().last_of_equals(by_split_point_.data(), m_, tried_.data());
    }

    // Calls g_of(v) for each threshold. A threshold without a result cannot be the best and is
    // dropped.
    template <class GOf>
    void keep(GOf&& g_of) {
        std::size_t kept = 0;
        for (std::size_t v = 0; v < n_tried_; ++v) {
            const std::optional<G> g = g_of(v);
            if (!g) continue;
            g_[kept] = *g;
            tried_[kept++] = tried_[v];
        }
        n_tried_ = kept;
    }

    void drop(std::size_t v) {
        --n_tried_;
        tried_[v] = tried_[n_tried_];
        g_[v] = g_[n_tried_];
    }

    // -- which points are left of them ------------------------------------------------------------

    // As bits: ceil(n / 64) words for each threshold. Values are padded.
    void find_left(float* values, std::size_t n) {
        pad(values, n);
        words_ = (n + 63) / 64;
        make_room(sorted_, n_tried_);
        for (std::size_t v = 0; v < n_tried_; ++v) sorted_[v] = by_split_point_[tried_[v]];
        make_room(left_, n_tried_ * words_);
        make_room(n_left_, n_tried_);
        kernels().left_words(values, n, sorted_.data(), n_tried_, equal_, left_.data(),
                             n_left_.data());
    }
    const std::uint64_t* left(std::size_t v) const { return left_.data() + v * words_; }
    std::uint32_t n_left(std::size_t v) const { return n_left_[v]; }

    // As places: threshold v is at place v, in ascending order. Points up to the place of a
    // threshold are left of it; for a category, the points at its place are. tried() is the place
    // of a point beyond all thresholds.
    const std::vector<std::uint32_t>& find_places(const float* values, std::size_t n) {
        sort();
        make_room(places_, padded(n));
        if (equal_)
            find_categories(values, n);
        else
            kernels().places_among(values, n, sorted_.data(), n_tried_, places_.data());
        return places_;
    }

private:
    void find_categories(const float* values, std::size_t n) {
        const auto end = sorted_.begin() + static_cast<std::ptrdiff_t>(n_tried_);
        for (std::size_t i = 0; i < n; ++i) {
            const auto at = std::lower_bound(sorted_.begin(), end, values[i]);
            const bool is_one = at != end && *at == values[i];
            places_[i] =
                static_cast<std::uint32_t>(is_one ? at - sorted_.begin() : end - sorted_.begin());
        }
    }

    // Keeps each category once, the last of equal ones.
    void sort() {
        order_.resize(n_tried_);
        for (std::size_t v = 0; v < n_tried_; ++v)
            order_[v] = {by_split_point_[tried_[v]], tried_[v]};
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

    std::size_t m_ = 0;   // split points
    bool equal_ = false;  // whether the feature is categorical
    std::vector<float> by_split_point_;
    std::size_t n_tried_ = 0;
    std::vector<std::uint32_t>
        tried_;                  // the first n_tried_ entries: split points of the tried thresholds
    std::vector<G> g_;           // what the tally says about each
    std::vector<float> sorted_;  // the thresholds in order
    std::vector<std::pair<float, std::uint32_t>> order_;
    std::size_t words_ = 0;
    std::vector<std::uint64_t> left_;    // the points left of each
    std::vector<std::uint32_t> n_left_;  // how many there are
    std::vector<std::uint32_t> places_;  // of each point
};

}  // namespace riparian
