// The leaves that wait for a place in the fringe (R12): the inactive leaves of one tree in a heap
// by ŝ.
//
// ŝ(A) = errors / (E - E0) sinks by itself as E grows, and rises only when an estimation point
// arrives in A that its prediction gets wrong. So a key may be stale, but never too low: it is
// raised in place when ŝ rises, and when the top turns out to be stale it gets its fresh value and
// another look. No scan of all leaves is needed.
#pragma once

#include <cstdint>

#include "memory/array.hpp"

namespace riparian {

// `Priority` is ŝ in the form of a target: it is compared with `<`.
template <class Priority>
class WaitingLeaves {
public:
    struct Entry {
        Priority key;        // at least ŝ
        std::uint32_t node;  // ties go to the leaf created first
        std::uint32_t leaf;
    };

    void clear() { heap_.clear(); }
    bool empty() const { return heap_.empty(); }
    std::size_t size() const { return heap_.size(); }
    std::size_t bytes() const { return heap_.bytes(); }
    static std::size_t bytes(std::size_t waiting) { return Array<Entry>::bytes(waiting); }
    const Priority& key(std::size_t place) const { return heap_[place].key; }

    // Calls `moved(leaf, place)` when the place of a leaf changes.
    template <class Moved>
    void push(const Entry& entry, Moved&& moved) {
        heap_.push_back(entry);
        rise(heap_.size() - 1, moved);
    }

    // ŝ of the leaf at this place has risen; a higher key stays as it is.
    template <class Moved>
    void raise(std::size_t place, const Priority& fresh, Moved&& moved) {
        if (!(heap_[place].key < fresh)) return;
        heap_[place].key = fresh;
        rise(place, moved);
    }

    // Takes the leaf with the largest ŝ. `fresh(leaf)` returns its present ŝ, and `refreshes`
    // counts the keys that were out of date.
    template <class Fresh, class Moved>
    std::uint32_t take(std::uint64_t& refreshes, Fresh&& fresh, Moved&& moved) {
        for (;; ++refreshes) {
            const Priority now = fresh(heap_[0].leaf);
            if (!(now < heap_[0].key)) break;
            heap_[0].key = now;
            sink(0, moved);
        }
        const std::uint32_t leaf = heap_[0].leaf;
        heap_[0] = heap_.back();
        heap_.pop_back();
        if (!heap_.empty()) sink(0, moved);
        return leaf;
    }

private:
    static bool before(const Entry& a, const Entry& b) {
        if (b.key < a.key) return true;
        if (a.key < b.key) return false;
        return a.node < b.node;
    }

    template <class Moved>
    void rise(std::size_t place, Moved&& moved) {
        const Entry entry = heap_[place];
        while (place > 0) {
            const std::size_t parent = (place - 1) / 2;
            if (!before(entry, heap_[parent])) break;
            heap_[place] = heap_[parent];
            moved(heap_[place].leaf, place);
            place = parent;
        }
        heap_[place] = entry;
        moved(entry.leaf, place);
    }

    template <class Moved>
    void sink(std::size_t place, Moved&& moved) {
        const Entry entry = heap_[place];
        for (;;) {
            std::size_t child = 2 * place + 1;
            if (child >= heap_.size()) break;
            if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) ++child;
            if (!before(heap_[child], entry)) break;
            heap_[place] = heap_[child];
            moved(heap_[place].leaf, place);
            place = child;
        }
        heap_[place] = entry;
        moved(entry.leaf, place);
    }

    Array<Entry> heap_;
};

}  // namespace riparian
