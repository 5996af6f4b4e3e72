// The points that a tree's leaves list (R19): chains backward in time through one array of W
// numbers per tree. A link is the distance to the next older point of its list. A lost point is
// recognised by its number, so lists need no upkeep while the stream goes on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/hot.hpp"
#include "memory/array.hpp"

namespace riparian {

// The points of one stream in one leaf.
struct PointList {
    std::uint64_t newest = 0;  // the number of the newest point plus one; 0 if there is none
    std::uint64_t oldest = 0;  // likewise for the oldest, which may not be kept any more
    std::uint64_t count = 0;   // points listed, lost ones included until they are dropped

    bool empty() const { return count == 0; }
};

class PointLists {
public:
    explicit PointLists(std::uint32_t size) : size_(size) {}  // W, above 0

    std::uint32_t size() const { return size_; }
    bool is_kept(std::uint64_t t, std::uint64_t received) const { return t + size_ >= received; }

    // Returns whether a listed point is lost.
    bool has_lost(const PointList& list, std::uint64_t received) const {
        return !list.empty() && !is_kept(list.oldest - 1, received);
    }

    // Adds point t, which is later than all points of the list.
    void push(PointList& list, std::uint64_t t) {
        const std::uint64_t slot = slot_of(t);
        make_room(slot);
        const std::uint64_t distance = t + 1 - list.newest;
        // The next older point may be lost already, or there may be none.
        set_link(slot, list.newest != 0 && distance < size_ ? distance : 0);
        list.newest = t + 1;
        if (list.empty()) list.oldest = t + 1;
        ++list.count;
    }

    // Marks a list that was rebuilt from the kept points as one that has lost a point. So more than
    // W points have been received.
    static void set_lost(PointList& list) {
        list.oldest = 1;
        ++list.count;
    }

    // Adds the numbers of the kept points of the list to `ts`, in order of time.
    void read(const PointList& list, std::uint64_t received, std::vector<std::uint64_t>& ts) const {
        Backward to(ts, most_kept(list));
        if (!to.has_room()) return;  // a snapshot may say that nothing has arrived
        walk(list, received, [&](std::uint64_t t) {
            to.add(t);
            return to.has_room();
        });
        to.finish();
    }

    // Calls visitor(t) for the kept points of a list, from the newest on, while it returns true.
    template <class Visitor>
    void walk(const PointList& list, std::uint64_t received, Visitor&& visitor) const {
        for (Walk walk(*this, list, received); walk.goes_on(); walk.step())
            if (!visitor(walk.t())) return;
    }

    // Reads all kept points of two lists. Every step waits for memory, so the lists take turns.
    // Calls visitor(t) as soon as a point is known.
    template <class Visitor>
    void read_both(const PointList& one, std::vector<std::uint64_t>& ts_of_one,
                   const PointList& other, std::vector<std::uint64_t>& ts_of_other,
                   std::uint64_t received, Visitor&& visitor) const {
        Backward to_one(ts_of_one, most_kept(one)), to_other(ts_of_other, most_kept(other));
        Walk in_one(*this, one, received), in_other(*this, other, received);
        const auto advance = [&](Walk& walk, Backward& to) {
            if (!walk.goes_on()) return;
            visitor(walk.t());
            to.add(walk.t());
            walk.step();
        };
        while (in_one.goes_on() || in_other.goes_on()) {
            advance(in_one, to_one);
            advance(in_other, to_other);
        }
        to_one.finish();
        to_other.finish();
    }

    // Drops the lost points.
    void drop_lost(PointList& list, std::uint64_t received) const {
        if (!has_lost(list, received)) return;
        PointList left;
        walk(list, received, [&](std::uint64_t t) {
            if (left.empty()) left.newest = t + 1;
            left.oldest = t + 1;
            ++left.count;
            return true;
        });
        list = left;
    }

    // Returns a new list of kept points, which are given in order of time and leave their old list.
    // The list can be read once its points are linked.
    static PointList list_of(std::span<const std::uint64_t> ts) {
        if (ts.empty()) return {};
        return {ts.back() + 1, ts.front() + 1, ts.size()};
    }
    // Links the points of a list. Each was pushed before, or all W points are kept.
    void link(std::span<const std::uint64_t> ts) {
        if (ts.empty()) return;
        if (ts.back() < size_) make_room(ts.back());
        std::uint64_t slot = slot_of(ts[0]), before = ts[0];
        set_link(slot, 0);
        for (const std::uint64_t t : ts.subspan(1)) {
            const std::uint64_t distance = t - before;
            slot += distance;
            slot = slot >= size_ ? slot - size_ : slot;  // t % W
            set_link(slot, distance);
            before = t;
        }
    }

    std::size_t bytes() const { return low_.bytes() + high_.bytes(); }

    // Prefetches the links when this many points are about to be learned. In a walk, every step
    // waits for the one before, so links should be in the cache; many points share the cost.
    void prefetch(std::size_t points) const {
        if (points < low_.size() / 64) return;
        riparian::prefetch(low_.data(), low_.size() * sizeof low_[0]);
        riparian::prefetch(high_.data(), high_.size() * sizeof high_[0]);
    }

private:
    static constexpr std::size_t step = 64;  // links grow by this many at the least

    // Division of 32-bit numbers is several times as fast.
    std::uint64_t slot_of(std::uint64_t t) const {
        return t >> 32 ? t % size_ : static_cast<std::uint32_t>(t) % size_;
    }

    void make_room(std::uint64_t slot) {
        if (slot < low_.size()) return;
        const std::size_t links = std::min<std::size_t>(size_, slot / step * step + step);
        low_.resize(links);
        if (is_wide()) high_.resize(links);
    }

    // Every link is shorter than W.
    bool is_wide() const { return size_ > std::uint32_t{1} << 16; }
    std::uint32_t link(std::uint64_t slot) const {
        return is_wide() ? std::uint32_t{high_[slot]} << 16 | low_[slot] : low_[slot];
    }
    void set_link(std::uint64_t slot, std::uint64_t distance) {
        low_[slot] = static_cast<std::uint16_t>(distance);
        if (is_wide()) high_[slot] = static_cast<std::uint16_t>(distance >> 16);
    }

    std::uint64_t most_kept(const PointList& list) const {
        return std::min<std::uint64_t>(list.count, size_);
    }

    // Adds up to n numbers, which arrive backward in time, to an array in order of time.
    class Backward {
    public:
        Backward(std::vector<std::uint64_t>& ts, std::uint64_t n) : ts_(ts), start_(ts.size()) {
            ts.resize(start_ + static_cast<std::size_t>(n));
            end_ = ts.data() + start_;
            first_ = ts.data() + ts.size();
        }
        void add(std::uint64_t t) { *--first_ = t; }
        bool has_room() const { return first_ != end_; }
        void finish() {  // removes the places that were not needed
            if (!has_room()) return;
            ts_.erase(ts_.begin() + static_cast<std::ptrdiff_t>(start_),
                      ts_.begin() + (first_ - ts_.data()));
        }

    private:
        std::vector<std::uint64_t>& ts_;
        std::size_t start_;
        std::uint64_t *first_, *end_;
    };

    // Walks through the kept points of a list, from the newest on.
    class Walk {
    public:
        Walk(const PointLists& lists, const PointList& list, std::uint64_t received)
            : lists_(lists), received_(received) {
            if (list.newest == 0) return;
            t_ = list.newest - 1;
            slot_ = lists.slot_of(t_);
            goes_on_ = lists.is_kept(t_, received);
        }
        bool goes_on() const { return goes_on_; }
        std::uint64_t t() const { return t_; }
        void step() {
            const std::uint32_t distance = lists_.link(slot_);
            t_ -= distance;
            // t % W
            slot_ = slot_ >= distance ? slot_ - distance : slot_ + lists_.size_ - distance;
            goes_on_ = distance != 0 && lists_.is_kept(t_, received_);
        }

    private:
        const PointLists& lists_;
        std::uint64_t received_, t_ = 0, slot_ = 0;
        bool goes_on_ = false;
    };

    std::uint32_t size_;  // W
    // The link of point t is at t % W; 0 means that no older point is kept. The high halves exist
    // only if W needs them, so that more links fit in the cache.
    Array<std::uint16_t> low_, high_;
};

}  // namespace riparian
