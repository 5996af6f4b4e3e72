// The last points of a stream in segments of 1024, by number. A segment is made when its first
// point arrives, and removed when no tree can read any of its points, so memory follows the kept
// points.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kernels/hot.hpp"

namespace riparian {

inline constexpr std::size_t segment_points = 1024;

// What every kind of segment has: labels, and weights as soon as one of them is not 1.
template <class Label>
struct Labelled {
    std::array<Label, segment_points> labels;
    std::vector<double> weights;

    void set(std::size_t row, Label label, double weight) {
        labels[row] = label;
        if (weights.empty() && weight == 1.0) return;
        if (weights.empty()) weights.assign(segment_points, 1.0);
        weights[row] = weight;
    }
    double weight(std::size_t row) const { return weights.empty() ? 1.0 : weights[row]; }

    std::size_t heap_bytes() const { return weights.capacity() * sizeof(double); }
};

// Segments in order of time. A shift and a mask find the one that holds point t.
template <class Segment>
class Segments {
public:
    const Segment& of(std::uint64_t t) const { return *table_[place(t)]; }
    Segment& of(std::uint64_t t) { return *table_[place(t)]; }
    std::size_t place(std::uint64_t t) const { return t / segment_points & mask_; }

    // Returns the segment for t, which is the next point or the first of all.
    Segment& reach(std::uint64_t t) {
        const std::uint64_t number = t / segment_points;
        if (first_ == end_) first_ = end_ = number;
        if (number == end_) append();
        return of(t);
    }

    // Drops the points before t. Their segments wait to be reused.
    void drop_before(std::uint64_t t) {
        for (; first_ < end_ && first_ < t / segment_points; ++first_)
            spare_.push_back(std::exchange(table_[first_ & mask_], nullptr));
    }
    void forget_spare() { spare_.clear(); }

    // Calls visitor(segment, place), in order of time.
    template <class Visitor>
    void for_each(Visitor&& visitor) const {
        for (std::uint64_t number = first_; number < end_; ++number)
            visitor(*table_[number & mask_], number & mask_);
    }

    // The place of a segment is its number modulo this, which is a power of two.
    std::size_t places() const { return table_.size(); }

private:
    void append() {
        if (end_ - first_ == table_.size()) widen();
        auto& place = table_[end_ & mask_];
        if (spare_.empty()) {
            place = std::make_unique<Segment>();
        } else {
            place = std::move(spare_.back());
            spare_.pop_back();
            place->weights.clear();
        }
        ++end_;
    }

    void widen() {
        std::vector<std::unique_ptr<Segment>> wider(std::max<std::size_t>(2 * table_.size(), 4));
        for (std::uint64_t number = first_; number < end_; ++number)
            wider[number & (wider.size() - 1)] = std::move(table_[number & mask_]);
        table_ = std::move(wider);
        mask_ = table_.size() - 1;
    }

    std::vector<std::unique_ptr<Segment>> table_;  // as a ring; its size is a power of two
    std::uint64_t mask_ = 0;                       // of the numbers of places
    std::vector<std::unique_ptr<Segment>> spare_;  // only while points are added
    std::uint64_t first_ = 0, end_ = 0;            // numbers of the segments that are there
};

// The numbers, labels and weights of the kept points (R19), whatever else is kept. A tree that has
// received r points, including the arriving one, may read point t while t + W >= r. Trees learn a
// block after it was added, so the points that its first point may need stay until the next block.
template <class Segment, class Label>
class KeptStream {
public:
    explicit KeptStream(std::uint64_t size) : size_(size) {}

    std::uint64_t size() const { return size_; }     // W
    std::uint64_t received() const { return end_; }  // points that the stream has had
    std::uint64_t first() const { return first_; }   // of the points that are stored
    std::uint64_t first_kept() const {               // after all points have been learned
        return std::max(first_, end_ > size_ ? end_ - size_ : 0);
    }

    Label label(std::uint64_t t) const { return segments_.of(t).labels[t % segment_points]; }
    double weight(std::uint64_t t) const {
        return weighted_ ? segments_.of(t).weight(t % segment_points) : 1.0;
    }
    void prefetch_label(std::uint64_t t) const {
        riparian::prefetch(&segments_.of(t).labels[t % segment_points]);
    }
    bool weighted() const { return weighted_; }  // whether a weight other than 1 was ever kept

    // The same for several points.
    void labels(std::span<const std::uint64_t> ts, std::span<Label> out) const {
        for (std::size_t i = 0; i < ts.size(); ++i) out[i] = label(ts[i]);
    }

protected:
    // Calls store(segment, row, i) for each point i of a block that a tree may read, and drop(t)
    // for each point that no tree may read any more.
    template <class Drop, class Store>
    void add_block(std::size_t n, const Label* labels, const double* weights, std::uint64_t first_t,
                   Drop&& drop, Store&& store) {
        if (first_ == end_) first_ = end_ = first_t;
        // The points that the first point of the block may read stay.
        const std::uint64_t needed = first_t > size_ ? first_t - size_ : 0;
        for (; first_ < end_ && first_ < needed; ++first_) drop(first_);
        segments_.drop_before(first_);
        for (std::size_t i = 0; i < n; ++i) {
            Segment& segment = segments_.reach(end_);
            const std::size_t row = end_ % segment_points;
            store(segment, row, i);
            segment.set(row, labels[i], weights ? weights[i] : 1.0);
            weighted_ |= weights && weights[i] != 1.0;
            ++end_;
        }
        segments_.forget_spare();
    }

    // The labels of the kept points, in order of time.
    std::vector<Label> kept_labels() const {
        std::vector<Label> labels;
        for (std::uint64_t t = first_kept(); t < end_; ++t) labels.push_back(label(t));
        return labels;
    }
    // The weights; empty if all are 1.
    std::vector<double> kept_weights() const {
        std::vector<double> weights;
        for (std::uint64_t t = first_kept(); t < end_; ++t) weights.push_back(weight(t));
        const bool all_one =
            std::all_of(weights.begin(), weights.end(), [](double w) { return w == 1.0; });
        return all_one ? std::vector<double>{} : weights;
    }

    std::uint64_t size_;                 // W
    std::uint64_t first_ = 0, end_ = 0;  // the points that are there
    bool weighted_ = false;
    Segments<Segment> segments_;
};

}  // namespace riparian
